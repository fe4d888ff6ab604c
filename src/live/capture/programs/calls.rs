//! Records of calls: what perf's event of their tracepoint would leave, with what was read of the
//! task's memory behind the raw data, in the ring of the task's run on this CPU.
//!
//! No other task comes between a record's time and its place in the ring: the kernel does not
//! preempt a program, or the program forbids it to. So a ring is in the order of time.

use super::super::asm::{
    Asm, Helper, If, Label, Op, R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, Reg, STACK, Width,
};
use super::super::recorded::Half;
use super::super::wire::{SCRATCH, selection, task};
use super::room::Room;
use super::{CONTEXT, KEY, Names, OFFSET, REGS, STATUS, TS_COMPAT, WHO, look_up, regs};
use crate::ring::calls::{LONGEST, SHORTEST, control};
use syscall_model::select::Admitted;

/// What programs that record calls refer to.
#[derive(Clone, Copy, Debug)]
pub(in crate::capture) struct Recording {
    pub(in crate::capture) selections: i32,
    pub(in crate::capture) controls: i32,
    pub(in crate::capture) rings: i32,
    /// Events that wake the readers of rings.
    pub(in crate::capture) bells: i32,
    /// By which a program forbids to be preempted; `None` where the kernel does not do it.
    pub(in crate::capture) preemption: Option<Preemption>,
}

/// The functions by which a program forbids to be preempted, where the kernel might do it: places
/// in the description of its types.
#[derive(Clone, Copy, Debug)]
pub(in crate::capture) struct Preemption {
    pub(in crate::capture) forbid: i32,
    pub(in crate::capture) allow: i32,
}

// The stack, beside that of every program.
pub(super) const PLACE: i16 = -8;
pub(super) const PIECE: i16 = -12;

/// The bits of the length of contents, which no buffer exceeds.
const LENGTH_MASK: i32 = (LONGEST - SHORTEST) as i32 - 1;
const _: () = assert!(SCRATCH as i32 <= LENGTH_MASK);

// Where `struct pt_regs` of x86_64 has what is copied of it.
const BP: i16 = 32;
const BX: i16 = 40;
const R10_OF_USER: i16 = 56;
const R9_OF_USER: i16 = 64;
const R8_OF_USER: i16 = 72;
const CX: i16 = 88;
const DX: i16 = 96;
const SI: i16 = 104;
const DI: i16 = 112;
const ORIG_AX: i16 = 120;
const IP: i16 = 128;
const CS: i16 = 136;

/// The arguments of a call of the native convention, and of the 32-bit one
/// (`syscall_get_arguments()`, `arch/x86/include/asm/syscall.h`).
const NATIVE: [i16; 6] = [DI, SI, DX, R10_OF_USER, R8_OF_USER, R9_OF_USER];
const COMPAT: [i16; 6] = [BX, CX, DX, SI, DI, BP];

/// `__USER_CS`, and `FLAT_USER_CS64` of a guest of Xen: what 64-bit code runs with
/// (`user_64bit_mode()`).
const CODE_64: [i32; 2] = [0x33, 0xe033];
/// `PERF_SAMPLE_REGS_ABI_32` and `_64`.
const ABI_32: i32 = 1;
const ABI_64: i32 = 2;
/// `PERF_RECORD_SAMPLE` and `PERF_RECORD_MISC_KERNEL`.
const SAMPLE: i32 = 9;
const IN_KERNEL: i32 = 1;

// The record: header, identifier, process and thread, time, raw data with its length, registers.
const ID: i16 = 8;
const TASK: i16 = 16;
const TIME: i16 = 24;
const RAW: i16 = 32;
const RAW_DATA: i16 = RAW + 4;
/// Behind the fields that all tracepoints have.
const RAW_NUMBER: i16 = RAW_DATA + 8;
const RAW_WORDS: i16 = RAW_NUMBER + 8;

impl Half {
    fn place(self) -> usize {
        self as usize
    }

    /// The words behind the number: arguments, or the result.
    fn n_words(self) -> i16 {
        match self {
            Self::Enter => 6,
            Self::Leave => 1,
        }
    }

    /// Where the raw data of perf's record end: four bytes behind the words, so that they have a
    /// multiple of eight with their length. Contents lie there, and the registers behind them.
    fn registers(self) -> i16 {
        RAW_WORDS + 8 * self.n_words() + 4
    }

    /// Behind the mark of their convention come `cx`, `si` where the arguments are, and `ip`.
    fn size(self) -> i16 {
        self.registers() + if self == Self::Enter { 32 } else { 24 }
    }

    fn field(self, enter: u16, leave: u16) -> i16 {
        match self {
            Self::Enter => enter as i16,
            Self::Leave => leave as i16,
        }
    }
}

/// What was read of the task's memory for a half of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contents {
    /// Nothing.
    None,
    /// What lies in the task's buffer, [`OFFSET`] bytes with its head.
    InBuffer,
}

impl Contents {
    /// The bytes of the longest record with them.
    pub(super) fn longest(self) -> i32 {
        match self {
            Self::None => SHORTEST as i32,
            Self::InBuffer => LONGEST as i32,
        }
    }
}

/// Writes the record of a call's half to the ring of the task `R6` on this CPU, and goes on at
/// `done`, if calls of the task are recorded and this one is among them; goes on behind it if not.
/// [`CONTEXT`], [`WHO`] and the registers are on the stack. What decided a jump is read anew where
/// it is written: the verifier would follow each way with what it knows of the value.
pub(super) fn record(
    a: &mut Asm,
    names: &Names,
    (recording, half): (&Recording, Half),
    contents: Contents,
    done: Label,
) {
    let (other, lost, written) = (a.label(), a.label(), a.label());
    let room = Room::new(a);
    a.load(Width::W, R1, R6, task::RECORDED);
    a.jump_if(If::Eq, R1, 0, other);
    a.load(Width::W, R1, R6, task::SLOT);
    a.store(Width::W, STACK, KEY, R1);
    look_up(a, recording.selections, other);
    a.mov_reg(R8, R0);
    a.load(Width::B, R1, R8, selection::ON);
    a.jump_if(If::Eq, R1, 0, other);
    number(a, half, R9);
    is_selected(a, half, other);
    if let Some(preemption) = recording.preemption {
        a.call_kernel(preemption.forbid);
    }
    // `R8 = ` the ring's control block.
    a.load(Width::W, R9, R6, task::SLOT);
    a.op(Op::Mul, R9, names.n_cpus);
    a.call(Helper::CurrentCpu);
    // One that came during the run has no ring.
    a.jump_if(If::Gt, R0, names.n_cpus - 1, written);
    a.op_reg(Op::Add, R9, R0);
    a.store(Width::W, STACK, KEY, R9);
    a.store(Width::W, STACK, PLACE, R9);
    look_up(a, recording.controls, written);
    a.mov_reg(R8, R0);
    room.find(a, recording, contents, lost);
    write(a, names, half, contents, lost);
    publish(a, recording, half, contents);
    a.jump(written);
    room.go_on(a, recording, contents, lost);
    a.here(lost);
    a.mov(R1, 1);
    let field = half.field(control::LOST_ENTER, control::LOST_LEAVE);
    a.add_atomically(R8, field, R1);
    a.here(written);
    if let Some(preemption) = recording.preemption {
        a.call_kernel(preemption.allow);
    }
    a.jump(done);
    a.here(other);
}

/// Where the stack has a register's copy.
fn copied(register: i16) -> i16 {
    REGS + register - regs::COPY_FROM as i16
}

/// `to = ` the call's number, as the tracepoint has it.
fn number(a: &mut Asm, half: Half, to: Reg) {
    match half {
        Half::Enter => {
            a.load(Width::D, to, STACK, CONTEXT);
            a.load(Width::D, to, to, 8);
        }
        Half::Leave => {
            a.load(Width::W, to, STACK, copied(ORIG_AX));
            a.op(Op::Lsh, to, 32);
            a.op(Op::Arsh, to, 32);
        }
    }
}

/// Goes on if the selection `R8` has the number `R9`.
fn is_selected(a: &mut Asm, half: Half, out: Label) {
    let (special, selected) = (a.label(), a.label());
    let (bits, flags) = (
        selection::BITS[half.place()],
        selection::FLAGS[half.place()],
    );
    a.jump_if(If::Gt, R9, Admitted::PLAIN as i32 - 1, special);
    a.mov_reg(R1, R9);
    a.op(Op::Rsh, R1, 6);
    a.op(Op::Lsh, R1, 3);
    a.mov_reg(R2, R8);
    a.op_reg(Op::Add, R2, R1);
    a.load(Width::D, R2, R2, bits);
    a.mov_reg(R1, R9);
    a.op(Op::And, R1, 63);
    a.op_reg(Op::Rsh, R2, R1);
    a.op(Op::And, R2, 1);
    a.jump_if(If::Eq, R2, 0, out);
    a.jump(selected);

    a.here(special);
    let (other, decided) = (a.label(), a.label());
    a.load(Width::B, R1, R8, flags + selection::MINUS_ONE);
    a.jump_if(If::Eq, R9, -1, decided);
    a.jump_if(If::Slt, R9, Admitted::X32 as i32, other);
    a.load(Width::B, R1, R8, flags + selection::X32);
    a.jump(decided);
    a.here(other);
    a.load(Width::B, R1, R8, flags + selection::OTHERS);
    a.here(decided);
    a.jump_if(If::Eq, R1, 0, out);
    a.here(selected);
}

/// Writes the record to `R7`.
fn write(a: &mut Asm, names: &Names, half: Half, contents: Contents, lost: Label) {
    let registers = half.registers();
    if contents == Contents::InBuffer {
        a.load(Width::W, R1, R6, task::SCRATCH);
        a.store(Width::W, STACK, KEY, R1);
        look_up(a, names.scratch, lost);
        a.lea(R1, R7, registers.into());
        length(a, R2);
        a.mov_reg(R3, R0);
        a.call(Helper::ProbeReadKernel);
        a.jump_if(If::Ne, R0, 0, lost);
    }
    a.store_number(Width::W, R7, 0, SAMPLE);
    a.mov(R1, IN_KERNEL | i32::from(half.size()) << 16);
    a.mov(R2, (registers - RAW_DATA).into());
    if contents == Contents::InBuffer {
        length(a, R3);
        a.op_reg(Op::Add, R2, R3);
        a.op(Op::Lsh, R3, 16);
        a.op_reg(Op::Add, R1, R3);
    }
    a.store(Width::W, R7, 4, R1);
    a.store(Width::W, R7, RAW, R2);
    a.load(
        Width::D,
        R1,
        R8,
        half.field(control::ENTER_ID, control::LEAVE_ID),
    );
    a.store(Width::D, R7, ID, R1);
    a.load(Width::D, R1, STACK, WHO);
    a.mov_reg(R2, R1);
    a.op(Op::Rsh, R2, 32);
    a.store(Width::W, R7, TASK, R2);
    a.store(Width::W, R7, TASK + 4, R1);
    a.call(Helper::KtimeNs);
    a.store(Width::D, R7, TIME, R0);
    // Type, no flags, no preemption that is forbidden; the thread.
    a.load(
        Width::D,
        R1,
        R8,
        half.field(control::ENTER_TYPE, control::LEAVE_TYPE),
    );
    a.store(Width::W, R7, RAW_DATA, R1);
    a.load(Width::D, R1, STACK, WHO);
    a.store(Width::W, R7, RAW_DATA + 4, R1);
    number(a, half, R1);
    a.store(Width::D, R7, RAW_NUMBER, R1);
    a.store_number(Width::W, R7, registers - 4, 0);
    a.load(Width::D, R5, STACK, copied(IP));
    convention(a, names);
    match half {
        Half::Leave => {
            a.load(Width::D, R1, STACK, CONTEXT);
            a.load(Width::D, R1, R1, 8);
            a.store(Width::D, R7, RAW_WORDS, R1);
        }
        Half::Enter => {
            let (compat, written) = (a.label(), a.label());
            a.jump_if(If::Ne, R3, ABI_64, compat);
            a.jump_if_reg(If::Ne, R4, R5, compat);
            words(a, NATIVE);
            a.jump(written);
            a.here(compat);
            words(a, COMPAT);
            a.here(written);
        }
    }
    if contents == Contents::InBuffer {
        length(a, R1);
        a.op_reg(Op::Add, R7, R1);
    }
    a.store(Width::D, R7, registers, R3);
    a.store(Width::D, R7, registers + 8, R4);
    if half == Half::Enter {
        a.load(Width::D, R1, STACK, copied(SI));
        a.store(Width::D, R7, registers + 16, R1);
    }
    a.store(Width::D, R7, half.size() - 8, R5);
}

/// `to = ` the length of the contents, a multiple of eight; masked, which changes nothing, so that
/// the verifier sees a limit.
pub(super) fn length(a: &mut Asm, to: Reg) {
    a.load(Width::W, to, STACK, OFFSET);
    a.op(Op::And, to, LENGTH_MASK);
}

/// `R3 = ` what the task runs: 64-bit code or 32-bit code; `R4 = R5` for a native call, as the
/// `syscall` instruction leaves `cx`. Any program may put that there in front of another: so the
/// kernel's own mark decides, where it can be read.
fn convention(a: &mut Asm, names: &Names) {
    let (known, made) = (a.label(), a.label());
    a.load(Width::D, R4, STACK, copied(CX));
    if names.compat.is_some() {
        a.mov_reg(R4, R5);
        a.load(Width::W, R1, STACK, STATUS);
        a.op(Op::And, R1, TS_COMPAT);
        a.jump_if(If::Eq, R1, 0, made);
        a.op(Op::Add, R4, 1);
        a.here(made);
    }
    a.load(Width::D, R1, STACK, copied(CS));
    a.op(Op::And, R1, 0xffff);
    a.mov(R3, ABI_64);
    for code in CODE_64 {
        a.jump_if(If::Eq, R1, code, known);
    }
    a.mov(R3, ABI_32);
    a.here(known);
}

fn words(a: &mut Asm, registers: [i16; 6]) {
    for (place, register) in (0..).zip(registers) {
        a.load(Width::D, R1, STACK, copied(register));
        a.store(Width::D, R7, RAW_WORDS + 8 * place, R1);
    }
}

/// Lets the reader see the record, and wakes it now and then.
fn publish(a: &mut Asm, recording: &Recording, half: Half, contents: Contents) {
    let (quiet, done) = (a.label(), a.label());
    a.mov(R3, half.size().into());
    if contents == Contents::InBuffer {
        length(a, R1);
        a.op_reg(Op::Add, R3, R1);
    }
    a.op_reg(Op::Add, R9, R3);
    // Behind all of the record, as the processor keeps the order of stores.
    a.store(Width::D, R8, control::HEAD as i16, R9);
    let written = half.field(control::WRITTEN_ENTER, control::WRITTEN_LEAVE);
    a.load(Width::D, R1, R8, written);
    a.op(Op::Add, R1, 1);
    a.store(Width::D, R8, written, R1);
    a.load(Width::D, R1, R8, control::PENDING as i16);
    a.op_reg(Op::Add, R1, R3);
    a.load(Width::D, R2, R8, control::WAKE as i16);
    a.jump_if_reg(If::Le, R1, R2, quiet);
    a.store_number(Width::D, R8, control::PENDING as i16, 0);
    a.load(Width::D, R1, STACK, CONTEXT);
    a.map(R2, recording.bells);
    a.load(Width::W, R3, STACK, PLACE);
    a.lea(R4, STACK, WHO.into());
    a.mov(R5, 8);
    // It has a ring of its own, which is overwritten.
    a.call(Helper::PerfEventOutput);
    a.jump(done);
    a.here(quiet);
    a.store(Width::D, R8, control::PENDING as i16, R1);
    a.here(done);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_have_the_sizes_that_perf_gives_them() {
        assert_eq!((Half::Enter.registers(), Half::Enter.size()), (104, 136));
        assert_eq!((Half::Leave.registers(), Half::Leave.size()), (64, 88));
        assert_eq!(Half::Enter.size() as u64, SHORTEST);
    }
}
