//! From a frame to its caller, as the compiler says where that is (`.eh_frame`, or `.debug_frame`
//! where that has nothing; DWARF 5, 6.4).
//!
//! All registers are kept, as some functions find their caller by one that is no pointer to a
//! frame. Nothing is guessed: where nothing says where the caller is, the way ends.

use gimli::{
    BaseAddresses, CfaRule, DebugFrame, EhFrame, EhFrameHdr, EndianSlice, Evaluation,
    EvaluationResult, FrameDescriptionEntry, NativeEndian, Register, RegisterRule, UnwindContext,
    UnwindExpression, UnwindSection, Value,
};
use perf_records::space::End;

type Slice<'a> = EndianSlice<'a, NativeEndian>;
type Entry<'a> = FrameDescriptionEntry<Slice<'a>>;

/// What a file says of its frames: sections with their addresses.
#[derive(Debug, Default)]
pub(super) struct CallFrames {
    pub(super) header: Option<(u64, Vec<u8>)>,
    pub(super) frames: Option<(u64, Vec<u8>)>,
    /// `.debug_frame`, which has no address.
    pub(super) debug: Option<Vec<u8>>,
    pub(super) text: u64,
    pub(super) got: u64,
}

/// How many registers DWARF numbers that a caller may be found by.
const REGISTERS: usize = 33;

/// Which of a machine's registers are which.
#[derive(Clone, Copy, Debug)]
pub(super) struct Machine {
    /// The number in DWARF of a register of `PERF_REG_*`.
    dwarf: fn(u32) -> Option<usize>,
    stack: usize,
    /// `PERF_REG_*_IP`.
    instruction: u32,
}

/// `arch/x86/include/uapi/asm/perf_regs.h`, and the numbers of the System V ABI.
const X86_64: Machine = Machine {
    dwarf: |register| match register {
        0 => Some(0),
        1 => Some(3),
        2 => Some(2),
        3 => Some(1),
        4 => Some(4),
        5 => Some(5),
        6 => Some(6),
        7 => Some(7),
        // R8 to R15 stand behind the segments.
        16..=23 => Some(register as usize - 8),
        _ => None,
    },
    stack: 7,
    instruction: 8,
};

/// `arch/arm64/include/uapi/asm/perf_regs.h`.
const AARCH64: Machine = Machine {
    dwarf: |register| (register <= 31).then_some(register as usize),
    stack: 31,
    instruction: 32,
};

/// That of this build: files are read where they were recorded, or beside the same programs.
pub(super) const MACHINE: Machine = if cfg!(target_arch = "aarch64") {
    AARCH64
} else {
    X86_64
};

/// Where a thread is: its registers, and the end of its stack.
#[derive(Debug)]
pub(super) struct State<'a> {
    registers: [Option<u64>; REGISTERS],
    instruction: u64,
    /// Whether the address is that of the next instruction to be executed, and not behind a call.
    is_exact: bool,
    bottom: u64,
    stack: &'a [u8],
}

impl<'a> State<'a> {
    /// `None` where a register that is needed was not recorded.
    pub(super) fn new(
        machine: Machine,
        mask: u64,
        mut values: impl Iterator<Item = u64>,
        stack: &'a [u8],
    ) -> Option<Self> {
        let mut registers = [None; REGISTERS];
        let mut instruction = None;
        for bit in (0..64_u32).filter(|bit| mask >> bit & 1 != 0) {
            let value = values.next()?;
            if bit == machine.instruction {
                instruction = Some(value);
            } else if let Some(slot) =
                (machine.dwarf)(bit).and_then(|number| registers.get_mut(number))
            {
                *slot = Some(value);
            }
        }
        Some(Self {
            bottom: registers.get(machine.stack).copied().flatten()?,
            registers,
            instruction: instruction?,
            is_exact: true,
            stack,
        })
    }

    /// Where it is: of a caller the last byte of its call.
    pub(super) fn address(&self) -> u64 {
        self.instruction.wrapping_sub(u64::from(!self.is_exact))
    }

    fn register(&self, register: Register) -> Option<u64> {
        *self.registers.get(usize::from(register.0))?
    }

    /// A word of the stack.
    fn read(&self, address: u64, size: u8) -> Result<u64, End> {
        let into = address.checked_sub(self.bottom).ok_or(End::Lost)?;
        let at = usize::try_from(into).map_err(|_| End::Lost)?;
        let size = usize::from(size);
        let end = at.checked_add(size).ok_or(End::Lost)?;
        // What is far off the stack is not cut from it.
        let bytes =
            self.stack
                .get(at..end)
                .ok_or(if into < 1 << 23 { End::Cut } else { End::Lost })?;
        let mut word = [0; 8];
        word.get_mut(..size)
            .ok_or(End::Lost)?
            .copy_from_slice(bytes);
        // Of a shorter one the rest is zero where the least byte comes first.
        Ok(u64::from_le_bytes(word))
    }

    /// Goes to the caller; `slide` is how far the file was moved.
    pub(super) fn step(
        &mut self,
        machine: Machine,
        frames: &CallFrames,
        context: &mut UnwindContext<usize>,
        slide: u64,
    ) -> Result<(), End> {
        let at = self.address().wrapping_sub(slide);
        if let Some((section, entry)) = frames.of_exceptions(at)? {
            return self.leave(machine, section, (&entry, &frames.bases()), context, at);
        }
        let (section, entry) = frames.of_debugging(at)?.ok_or(End::NoTable)?;
        self.leave(machine, section, (&entry, &frames.bases()), context, at)
    }

    /// Goes to the caller by what a section has for the function.
    fn leave<'f, S: UnwindSection<Slice<'f>>>(
        &mut self,
        machine: Machine,
        section: S,
        (entry, bases): (&Entry<'f>, &BaseAddresses),
        context: &mut UnwindContext<usize>,
        at: u64,
    ) -> Result<(), End> {
        let row = entry.unwind_info_for_address(&section, bases, context, at);
        let row = row.map_err(|_| End::Lost)?;
        let return_register = entry.cie().return_address_register();
        let cfa = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                let value = self.register(*register).ok_or(End::Lost)?;
                value.wrapping_add_signed(*offset)
            }
            CfaRule::Expression(expression) => self.evaluate(&section, *expression, None)?,
        };
        let mut caller = self.registers;
        let mut is_outermost = false;
        let mut return_address = self.register(return_register);
        for (register, rule) in row.registers() {
            let value = match self.rule(&section, rule, *register, cfa) {
                Ok(value) => value,
                // A register that cannot be had is needed by few.
                Err(_) if *register != return_register => None,
                Err(end) => return Err(end),
            };
            if *register == return_register {
                is_outermost = matches!(rule, RegisterRule::Undefined);
                return_address = value;
            }
            if let Some(slot) = caller.get_mut(usize::from(register.0)) {
                *slot = value;
            }
        }
        if is_outermost {
            return Err(End::Outermost);
        }
        if let Some(slot) = caller.get_mut(machine.stack) {
            *slot = Some(cfa);
        }
        let return_address = return_address.ok_or(End::Lost)?;
        if return_address == 0 {
            return Err(End::Outermost);
        }
        // A frame that is its own caller would have no end.
        let before = self.registers.get(machine.stack).copied().flatten();
        if before == Some(cfa) && return_address == self.instruction {
            return Err(End::Lost);
        }
        self.registers = caller;
        self.instruction = return_address;
        self.is_exact = entry.is_signal_trampoline();
        Ok(())
    }

    fn rule<'f, S: UnwindSection<Slice<'f>>>(
        &self,
        section: &S,
        rule: &RegisterRule<usize>,
        register: Register,
        cfa: u64,
    ) -> Result<Option<u64>, End> {
        Ok(match rule {
            RegisterRule::Undefined => None,
            RegisterRule::SameValue => self.register(register),
            RegisterRule::Offset(offset) => Some(self.read(cfa.wrapping_add_signed(*offset), 8)?),
            RegisterRule::ValOffset(offset) => Some(cfa.wrapping_add_signed(*offset)),
            RegisterRule::Register(other) => self.register(*other),
            RegisterRule::Expression(expression) => {
                let address = self.evaluate(section, *expression, Some(cfa))?;
                Some(self.read(address, 8)?)
            }
            RegisterRule::ValExpression(expression) => {
                Some(self.evaluate(section, *expression, Some(cfa))?)
            }
            RegisterRule::Constant(value) => Some(*value),
            _ => return Err(End::Lost),
        })
    }

    fn evaluate<'f, S: UnwindSection<Slice<'f>>>(
        &self,
        section: &S,
        expression: UnwindExpression<usize>,
        initial: Option<u64>,
    ) -> Result<u64, End> {
        let expression = expression.get(section).map_err(|_| End::Lost)?;
        let encoding = gimli::Encoding {
            address_size: 8,
            format: gimli::Format::Dwarf32,
            version: 5,
        };
        let mut evaluation: Evaluation<Slice<'f>> = expression.evaluation(encoding);
        // A loop in it has an end.
        evaluation.set_max_iterations(1000);
        if let Some(initial) = initial {
            evaluation.set_initial_value(initial);
        }
        let mut state = evaluation.evaluate();
        loop {
            state = match state.map_err(|_| End::Lost)? {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresMemory { address, size, .. } => {
                    let word = self.read(address, size)?;
                    evaluation.resume_with_memory(Value::Generic(word))
                }
                EvaluationResult::RequiresRegister { register, .. } => {
                    let value = self.register(register).ok_or(End::Lost)?;
                    evaluation.resume_with_register(Value::Generic(value))
                }
                _ => return Err(End::Lost),
            };
        }
        match evaluation.value_result() {
            Some(Value::Generic(value)) => Ok(value),
            _ => Err(End::Lost),
        }
    }
}

impl CallFrames {
    fn bases(&self) -> BaseAddresses {
        let bases = BaseAddresses::default()
            .set_text(self.text)
            .set_got(self.got);
        match &self.frames {
            Some((at, _)) => bases.set_eh_frame(*at),
            None => bases,
        }
    }

    /// What `.eh_frame` has for the function at an address of the file, if it has anything.
    fn of_exceptions(&self, address: u64) -> Result<Option<(EhFrame<Slice<'_>>, Entry<'_>)>, End> {
        let Some((_, bytes)) = &self.frames else {
            return Ok(None);
        };
        let section = EhFrame::new(bytes, NativeEndian);
        let bases = self.bases();
        let entry = match &self.header {
            Some((at, header)) => {
                let bases = bases.clone().set_eh_frame_hdr(*at);
                let header = EhFrameHdr::new(header, NativeEndian);
                let parsed = header.parse(&bases, 8).map_err(|_| End::Lost)?;
                match parsed.table() {
                    Some(table) => {
                        table.fde_for_address(&section, &bases, address, EhFrame::cie_from_offset)
                    }
                    None => section.fde_for_address(&bases, address, EhFrame::cie_from_offset),
                }
            }
            None => section.fde_for_address(&bases, address, EhFrame::cie_from_offset),
        };
        Ok(found(entry)?.map(|entry| (section, entry)))
    }

    /// The same of `.debug_frame`.
    fn of_debugging(
        &self,
        address: u64,
    ) -> Result<Option<(DebugFrame<Slice<'_>>, Entry<'_>)>, End> {
        let Some(bytes) = &self.debug else {
            return Ok(None);
        };
        let mut section = DebugFrame::new(bytes, NativeEndian);
        section.set_address_size(8);
        let entry = section.fde_for_address(&self.bases(), address, DebugFrame::cie_from_offset);
        Ok(found(entry)?.map(|entry| (section, entry)))
    }
}

/// An entry, if there is one for the address.
fn found(entry: gimli::Result<Entry<'_>>) -> Result<Option<Entry<'_>>, End> {
    match entry {
        Ok(entry) => Ok(Some(entry)),
        Err(gimli::Error::NoUnwindInfoForAddress) => Ok(None),
        Err(_) => Err(End::Lost),
    }
}
