//! Pieces of a record: one for each thing that is read.

use super::super::asm::{
    Asm, Helper, If, Label, Op, R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, Reg, STACK, Width,
};
use super::super::wire::{BODY, MAX_FETCHES, PIECE_MASK, head, piece, spec, task};
use super::structures::{
    before_turn, behind_structure, is_narrow, move_to_turn, number_at, word_at,
};
use super::{Copy, KEY, Names, OFFSET, RESULT, WORD, look_up};

const COPIES: i32 = Copy::ALL.len() as i32;

/// Where a piece starts in the scratch buffer, given its offset in the body.
pub(super) const PIECES: i16 = head::SIZE;

/// The buffers in which records are made, on each CPU. From Linux 6.19 on a program can be
/// preempted by another task that comes to run one too. The same one is then not run (the kernel
/// counts that as a miss), so that each has a buffer to itself; a program that another goes on with
/// (`bpf_tail_call`) is not counted, and has the buffer of the one that was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::capture) enum Scratch {
    /// Of a copy of the program on `sys_enter`, and of what that goes on with.
    Enter(Copy),
    /// The same on `sys_exit`.
    Exit(Copy),
    /// Of a copy of the program on `sched_process_exec`.
    Exec(Copy),
    /// Of a copy of the program on `signal_deliver`.
    Signal(Copy),
    Switch,
}

impl Scratch {
    /// The number of these buffers.
    pub(in crate::capture) const NUMBER: u32 = 4 * COPIES as u32 + 1;

    /// Its place in the map of buffers.
    fn place(self) -> i32 {
        match self {
            Self::Enter(copy) => copy as i32,
            Self::Exit(copy) => COPIES + copy as i32,
            Self::Exec(copy) => 2 * COPIES + copy as i32,
            Self::Signal(copy) => 3 * COPIES + copy as i32,
            Self::Switch => 4 * COPIES,
        }
    }
}

/// `R7 = ` this CPU's scratch buffer, with an empty record in it.
pub(super) fn start_record(a: &mut Asm, names: &Names, whose: Scratch, out: Label) {
    a.store_number(Width::W, STACK, KEY, whose.place());
    look_up(a, names.scratch, out);
    a.mov_reg(R7, R0);
    a.store_number(Width::D, R7, head::LENGTH, 0);
    a.store_number(Width::D, R7, head::SIGNAL, 0);
    a.store_number(Width::W, STACK, OFFSET, 0);
    a.store_number(Width::W, R6, task::SCRATCH, whose.place());
}

/// `to = ` the next piece, as long as there is room for one. Kept on the stack in 32 bits, the
/// offset is any number to the verifier, which makes all ways to this place equal to it.
pub(super) fn next_piece(a: &mut Asm, to: Reg, full: Label) {
    a.load(Width::W, R2, STACK, OFFSET);
    a.jump_if(If::Gt, R2, BODY, full);
    a.mov_reg(to, R7);
    a.op_reg(Op::Add, to, R2);
}

/// `R3 = ` the word of the argument that the byte at `field` of this fetch names.
pub(super) fn argument(a: &mut Asm, at: i16, field: i16) {
    a.load(Width::B, R1, R8, at + field);
    a.op(Op::And, R1, 7);
    a.op(Op::Lsh, R1, 3);
    a.op_reg(Op::Add, R1, R6);
    a.load(Width::D, R3, R1, task::ARGS);
}

/// `to = min(to, limit)`.
pub(super) fn at_most(a: &mut Asm, to: Reg, limit: i32) {
    let within = a.label();
    a.jump_if(If::Le, to, limit, within);
    a.mov(to, limit);
    a.here(within);
}

/// Which fetch of a call: from [`MAX_FETCHES`] on they are those of the exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fetch {
    /// This one.
    At(usize),
    /// The one at the task's [`task::PLACE`], which `R8` has been moved to.
    Kept,
}

impl Fetch {
    /// How far from `R8` it is.
    fn offset(self) -> i16 {
        match self {
            Self::At(place) => spec::FETCHES + spec::FETCH_SIZE * place as i16,
            Self::Kept => spec::FETCHES,
        }
    }
}

/// One fetch.
pub(super) fn fetch(a: &mut Asm, which: Fetch, end: Label) {
    let at = which.offset();
    let of_exit = match which {
        Fetch::At(MAX_FETCHES..) => piece::OF_EXIT,
        _ => 0,
    };
    let (next, string, read, failed) = (a.label(), a.label(), a.label(), a.label());
    let beyond = a.label();
    a.load(Width::B, R4, R8, at + spec::KIND);
    a.jump_if(If::Eq, R4, 0, next);
    argument(a, at, spec::ARGUMENT);
    a.jump_if(If::Eq, R3, 0, next);
    let has_structures = which == Fetch::Kept;
    if has_structures {
        behind_structure(a, at, next);
    }
    next_piece(a, R9, end);
    a.store(Width::D, R9, PIECES + piece::ADDRESS, R3);
    a.load(Width::B, R1, R8, at + spec::ARGUMENT);
    a.store(Width::B, R9, PIECES + piece::ARGUMENT, R1);
    a.store_number(Width::B, R9, PIECES + piece::STATE, piece::WHOLE | of_exit);
    a.store_number(Width::H, R9, PIECES + piece::ELEMENT, 0);
    if has_structures {
        let (of_argument, once, behind) = (a.label(), a.label(), a.label());
        a.jump_if(If::Le, R4, spec::BEHIND - 1, of_argument);
        a.load(Width::B, R1, R8, at + spec::OTHER);
        is_narrow(a, R2, at);
        a.op_reg(Op::Lsh, R1, R2);
        a.op(Op::Add, R1, 1);
        a.load(Width::B, R2, R8, at + spec::NUMBER);
        a.jump_if(If::Gt, R2, spec::WIDE | spec::NARROW, behind);
        a.op(Op::Add, R1, 0x80);
        a.here(behind);
        a.jump_if(If::Ne, R4, spec::TWICE, once);
        a.op(Op::Add, R1, 0x100);
        a.here(once);
        before_turn(a, at);
        a.op_reg(Op::Add, R1, R2);
        a.store(Width::H, R9, PIECES + piece::ELEMENT, R1);
        a.here(of_argument);
    }
    a.jump_if(If::Eq, R4, spec::STRING, string);
    if has_structures {
        a.jump_if(If::Eq, R4, spec::TEXT, string);
    }
    size_of_bytes(a, at, has_structures, next);
    let whole = a.label();
    a.load(Width::H, R2, R8, at + spec::LIMIT);
    a.jump_if_reg(If::Le, R5, R2, whole);
    a.mov_reg(R5, R2);
    a.store_number(Width::B, R9, PIECES + piece::STATE, piece::CUT | of_exit);
    a.here(whole);
    a.op(Op::And, R5, PIECE_MASK);
    a.store(Width::W, R9, PIECES + piece::LENGTH, R5);
    a.lea(R1, R9, i32::from(PIECES + piece::SIZE));
    a.mov_reg(R2, R5);
    a.load(Width::D, R3, R9, PIECES + piece::ADDRESS);
    a.call(Helper::ProbeReadUser);
    a.jump_if(If::Ne, R0, 0, beyond);
    a.load(Width::W, R0, R9, PIECES + piece::LENGTH);
    a.jump(read);

    a.here(beyond);
    read_to_the_end_of_the_page(a, of_exit, failed);
    try_again_at_exit(a, which);
    a.load(Width::W, R0, R9, PIECES + piece::LENGTH);
    a.jump(read);

    a.here(string);
    read_string(a, at, of_exit, failed);
    a.jump(read);

    a.here(failed);
    a.store_number(Width::B, R9, PIECES + piece::STATE, piece::UNREAD | of_exit);
    try_again_at_exit(a, which);
    a.mov(R0, 0);
    a.here(read);
    if which == Fetch::Kept {
        let entry = a.label();
        a.load(Width::W, R1, R6, task::PLACE);
        a.jump_if(If::Le, R1, MAX_FETCHES as i32 - 1, entry);
        a.load(Width::B, R1, R9, PIECES + piece::STATE);
        a.op(Op::Or, R1, piece::OF_EXIT);
        a.store(Width::B, R9, PIECES + piece::STATE, R1);
        a.here(entry);
    }
    finish_piece(a, R9);
    a.here(next);
}

/// Reads what the page holds at whose end the bytes lie that the piece `R9` is to have. No limit is
/// longer than a page, so that there are two at most.
fn read_to_the_end_of_the_page(a: &mut Asm, of_exit: i32, failed: Label) {
    const PAGE: i32 = 4096;
    a.load(Width::D, R3, R9, PIECES + piece::ADDRESS);
    a.mov_reg(R1, R3);
    a.op(Op::And, R1, PAGE - 1);
    a.mov(R5, PAGE);
    a.op_reg(Op::Sub, R5, R1);
    a.load(Width::W, R2, R9, PIECES + piece::LENGTH);
    a.jump_if_reg(If::Le, R2, R5, failed);
    a.op(Op::And, R5, PIECE_MASK);
    a.store(Width::W, R9, PIECES + piece::LENGTH, R5);
    a.store_number(Width::B, R9, PIECES + piece::STATE, piece::PART | of_exit);
    a.lea(R1, R9, i32::from(PIECES + piece::SIZE));
    a.mov_reg(R2, R5);
    a.call(Helper::ProbeReadUser);
    a.jump_if(If::Ne, R0, 0, failed);
}

/// Reads the string at the address of the piece `R9` into it; `R0 = ` its length.
pub(super) fn read_string(a: &mut Asm, at: i16, of_exit: i32, failed: Label) {
    let whole = a.label();
    a.lea(R1, R9, i32::from(PIECES + piece::SIZE));
    a.load(Width::H, R2, R8, at + spec::LIMIT);
    a.op(Op::And, R2, PIECE_MASK);
    a.load(Width::D, R3, R9, PIECES + piece::ADDRESS);
    a.call(Helper::ProbeReadUserStr);
    a.jump_if(If::Slt, R0, 0, failed);
    count_the_zero(a);
    // One that fills it all is longer.
    a.load(Width::H, R2, R8, at + spec::LIMIT);
    a.op_reg(Op::Sub, R2, R0);
    a.op(Op::Sub, R0, 1);
    a.jump_if(If::Ne, R2, 0, whole);
    a.store_number(Width::B, R9, PIECES + piece::STATE, piece::CUT | of_exit);
    a.here(whole);
}

/// Of an empty string older kernels say that it has no bytes, where newer ones count its zero byte
/// as they all do for others.
pub(super) fn count_the_zero(a: &mut Asm) {
    let counted = a.label();
    a.jump_if(If::Ne, R0, 0, counted);
    a.mov(R0, 1);
    a.here(counted);
}

/// The piece at `R9` or `R4` has `R0` bytes: the next one starts behind it.
pub(super) fn finish_piece(a: &mut Asm, at: Reg) {
    a.op(Op::And, R0, PIECE_MASK);
    a.store(Width::W, at, PIECES + piece::LENGTH, R0);
    a.load(Width::W, R2, STACK, OFFSET);
    a.op_reg(Op::Add, R2, R0);
    a.op(Op::Add, R2, i32::from(piece::SIZE) + 7);
    a.op(Op::And, R2, !7);
    a.store(Width::W, STACK, OFFSET, R2);
}

pub(super) fn try_again_at_exit(a: &mut Asm, which: Fetch) {
    let exit = a.label();
    match which {
        Fetch::At(MAX_FETCHES..) => {}
        Fetch::At(place) => {
            a.load(Width::W, R1, R6, task::OWED);
            a.op(Op::Or, R1, 1 << place);
            a.store(Width::W, R6, task::OWED, R1);
        }
        Fetch::Kept => {
            a.load(Width::W, R2, R6, task::PLACE);
            a.jump_if(If::Gt, R2, MAX_FETCHES as i32 - 1, exit);
            bit(a, R3, R2);
            a.load(Width::W, R1, R6, task::OWED);
            a.op_reg(Op::Or, R1, R3);
            a.store(Width::W, R6, task::OWED, R1);
        }
    }
    a.here(exit);
}

/// `to = 1 << of`.
pub(super) fn bit(a: &mut Asm, to: Reg, of: Reg) {
    a.mov(to, 1);
    a.op_reg(Op::Lsh, to, of);
}

/// `R5 = ` how many bytes are to be read, any number.
fn size_of_bytes(a: &mut Asm, at: i16, has_structures: bool, none: Label) {
    let (counted, sized, returned, multiply, done) =
        (a.label(), a.label(), a.label(), a.label(), a.label());
    a.load(Width::H, R5, R8, at + spec::UNIT);
    a.jump_if(If::Eq, R4, spec::COUNTED, counted);
    a.jump_if(If::Eq, R4, spec::SIZED, sized);
    a.jump_if(If::Eq, R4, spec::RETURNED, returned);
    a.jump_if(If::Eq, R4, spec::FIXED, done);
    if has_structures {
        let once = a.label();
        a.jump_if(If::Le, R4, spec::BEHIND - 1, none);
        argument(a, at, spec::ARGUMENT);
        move_to_turn(a, at);
        a.jump_if(If::Ne, R4, spec::TWICE, once);
        a.load(Width::B, R1, R8, at + spec::OTHER);
        a.op_reg(Op::Add, R3, R1);
        word_at(a, at, none);
        a.here(once);
        number_at(a, at, none);
        a.load(Width::B, R5, R8, at + spec::UNIT);
        a.jump(multiply);
    } else {
        a.jump(none);
    }

    a.here(sized);
    argument(a, at, spec::OTHER);
    a.jump_if(If::Eq, R3, 0, none);
    a.lea(R1, STACK, WORD.into());
    a.mov(R2, 4);
    a.call(Helper::ProbeReadUser);
    a.jump_if(If::Ne, R0, 0, none);
    a.load(Width::W, R5, STACK, WORD);
    a.jump(done);

    a.here(returned);
    a.load(Width::D, R3, STACK, RESULT);
    a.jump(multiply);
    a.here(counted);
    argument(a, at, spec::OTHER);
    a.here(multiply);
    // So that the product does not overflow: more than that is cut anyway.
    at_most(a, R3, 1 << 20);
    a.op_reg(Op::Mul, R5, R3);
    a.here(done);
}
