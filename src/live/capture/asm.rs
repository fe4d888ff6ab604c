//! An assembler for the little that our programs need: one method an instruction, labels for jumps.
//!
//! Instructions are those of `Documentation/bpf/standardization/instruction-set.rst`. Whether a
//! program is right, the kernel's verifier says.

/// A register: 0 is the result of calls, 1 to 5 their arguments (lost in a call), 6 to 9 are kept,
/// 10 points behind the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reg(pub u8);

pub(super) const R0: Reg = Reg(0);
pub(super) const R1: Reg = Reg(1);
pub(super) const R2: Reg = Reg(2);
pub(super) const R3: Reg = Reg(3);
pub(super) const R4: Reg = Reg(4);
pub(super) const R5: Reg = Reg(5);
pub(super) const R6: Reg = Reg(6);
pub(super) const R7: Reg = Reg(7);
pub(super) const R8: Reg = Reg(8);
pub(super) const R9: Reg = Reg(9);
pub(super) const STACK: Reg = Reg(10);

/// How wide a load or store is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    B = 0x10,
    H = 0x08,
    W = 0x00,
    D = 0x18,
}

/// An operation on 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Add = 0x00,
    Sub = 0x10,
    Mul = 0x20,
    Or = 0x40,
    And = 0x50,
    Lsh = 0x60,
    Rsh = 0x70,
    Mov = 0xb0,
    /// To the right, with the sign.
    Arsh = 0xc0,
}

/// A condition of a jump; `S*` compare signed numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum If {
    Eq = 0x10,
    Gt = 0x20,
    Set = 0x40,
    Ne = 0x50,
    Sgt = 0x60,
    Le = 0xb0,
    Slt = 0xc0,
}

/// A helper function of the kernel (`enum bpf_func_id`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Helper {
    MapLookup = 1,
    MapUpdate = 2,
    MapDelete = 3,
    KtimeNs = 5,
    CurrentCpu = 8,
    TailCall = 12,
    CurrentPidTgid = 14,
    PerfEventOutput = 25,
    CurrentTask = 35,
    ProbeReadUser = 112,
    ProbeReadKernel = 113,
    ProbeReadUserStr = 114,
    ProbeReadKernelStr = 115,
}

/// A place in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label(usize);

/// A program in the making.
#[derive(Debug, Default)]
pub(super) struct Asm {
    instructions: Vec<u64>,
    labels: Vec<Option<usize>>,
    jumps: Vec<(usize, Label)>,
}

impl Asm {
    fn put(&mut self, code: u8, to: Reg, from: Reg, offset: i16, immediate: i32) {
        let registers = to.0 | from.0 << 4;
        let word = u64::from(code)
            | u64::from(registers) << 8
            | u64::from(offset as u16) << 16
            | u64::from(immediate as u32) << 32;
        self.instructions.push(word);
    }

    pub(super) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Puts a label here.
    pub(super) fn here(&mut self, label: Label) {
        let place = self.instructions.len();
        if let Some(slot) = self.labels.get_mut(label.0) {
            *slot = Some(place);
        }
    }

    /// `to op= number`.
    pub(super) fn op(&mut self, op: Op, to: Reg, number: i32) {
        self.put(0x07 | op as u8, to, R0, 0, number);
    }

    /// `to op= from`.
    pub(super) fn op_reg(&mut self, op: Op, to: Reg, from: Reg) {
        self.put(0x0f | op as u8, to, from, 0, 0);
    }

    pub(super) fn mov(&mut self, to: Reg, number: i32) {
        self.op(Op::Mov, to, number);
    }

    pub(super) fn mov_reg(&mut self, to: Reg, from: Reg) {
        self.op_reg(Op::Mov, to, from);
    }

    /// `to = from + number`.
    pub(super) fn lea(&mut self, to: Reg, from: Reg, number: i32) {
        self.mov_reg(to, from);
        self.op(Op::Add, to, number);
    }

    /// `to = *(from + offset)`.
    pub(super) fn load(&mut self, width: Width, to: Reg, from: Reg, offset: i16) {
        self.put(0x61 | width as u8, to, from, offset, 0);
    }

    /// `*(to + offset) = from`.
    pub(super) fn store(&mut self, width: Width, to: Reg, offset: i16, from: Reg) {
        self.put(0x63 | width as u8, to, from, offset, 0);
    }

    /// `*(to + offset) = number`.
    pub(super) fn store_number(&mut self, width: Width, to: Reg, offset: i16, number: i32) {
        self.put(0x62 | width as u8, to, R0, offset, number);
    }

    /// `*(u64 *)(to + offset) += from`, atomically.
    pub(super) fn add_atomically(&mut self, to: Reg, offset: i16, from: Reg) {
        self.put(0xdb, to, from, offset, 0);
    }

    pub(super) fn jump(&mut self, to: Label) {
        self.jumps.push((self.instructions.len(), to));
        self.put(0x05, R0, R0, 0, 0);
    }

    /// Jumps where the condition holds of a register and a number.
    pub(super) fn jump_if(&mut self, condition: If, reg: Reg, number: i32, to: Label) {
        self.jumps.push((self.instructions.len(), to));
        self.put(0x05 | condition as u8, reg, R0, 0, number);
    }

    /// Jumps where the condition holds of two registers.
    pub(super) fn jump_if_reg(&mut self, condition: If, a: Reg, b: Reg, to: Label) {
        self.jumps.push((self.instructions.len(), to));
        self.put(0x0d | condition as u8, a, b, 0, 0);
    }

    pub(super) fn call(&mut self, helper: Helper) {
        self.put(0x85, R0, R0, 0, helper as i32);
    }

    /// Calls a function of the kernel's that is no helper, by its place in the description of the
    /// kernel's types.
    pub(super) fn call_kernel(&mut self, function: i32) {
        const PSEUDO_KFUNC_CALL: Reg = R2;
        self.put(0x85, R0, PSEUDO_KFUNC_CALL, 0, function);
    }

    /// `to = ` a map, by its descriptor.
    pub(super) fn map(&mut self, to: Reg, fd: i32) {
        const PSEUDO_MAP_FD: Reg = R1;
        self.put(0x18, to, PSEUDO_MAP_FD, 0, fd);
        self.put(0, R0, R0, 0, 0);
    }

    /// Returns this number. A program on an event must return 1: with 0 the record is kept from
    /// every event of the machine.
    pub(super) fn exit(&mut self, number: i32) {
        self.mov(R0, number);
        self.put(0x95, R0, R0, 0, 0);
    }

    /// The program, jumps filled in; `None` where a label was never placed or a jump is too far.
    pub(super) fn finish(mut self) -> Option<Vec<u64>> {
        for (at, label) in self.jumps {
            let target = (*self.labels.get(label.0)?)?;
            let distance = i16::try_from(target as i64 - at as i64 - 1).ok()?;
            *self.instructions.get_mut(at)? |= u64::from(distance as u16) << 16;
        }
        Some(self.instructions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `llvm-mc -arch=bpfel -show-encoding` and `include/uapi/linux/bpf.h` have them.
    #[test]
    fn instructions_are_encoded_as_the_kernel_reads_them() {
        let mut asm = Asm::default();
        let end = asm.label();
        asm.load(Width::D, R6, R1, 8);
        asm.jump_if(If::Eq, R6, 0, end);
        asm.lea(R2, STACK, -4);
        asm.store(Width::W, STACK, -4, R0);
        asm.here(end);
        asm.exit(1);
        let bytes: Vec<u8> = asm
            .finish()
            .unwrap()
            .into_iter()
            .flat_map(u64::to_le_bytes)
            .collect();
        let expected = [
            [0x79, 0x16, 8, 0, 0, 0, 0, 0],
            [0x15, 0x06, 3, 0, 0, 0, 0, 0],
            [0xbf, 0xa2, 0, 0, 0, 0, 0, 0],
            [0x07, 0x02, 0, 0, 0xfc, 0xff, 0xff, 0xff],
            [0x63, 0x0a, 0xfc, 0xff, 0, 0, 0, 0],
            [0xb7, 0x00, 0, 0, 1, 0, 0, 0],
            [0x95, 0x00, 0, 0, 0, 0, 0, 0],
        ];
        assert_eq!(bytes, expected.concat());
    }

    #[test]
    fn a_jump_to_nowhere_gives_no_program() {
        let mut asm = Asm::default();
        let nowhere = asm.label();
        asm.jump(nowhere);
        assert_eq!(asm.finish(), None);
    }
}
