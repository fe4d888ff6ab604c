//! Pieces of a record: one for each thing that is read.

use super::super::asm::{
    Asm, Helper, If, Label, Op, R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, Reg, STACK, Width,
};
use super::super::wire::{
    BODY, MAX_FETCHES, MAX_PIECE, MAX_STRINGS, PIECE_MASK, head, piece, spec, task,
};
use super::{CONTEXT, KEY, Names, OFFSET, Offsets, REGS, RESULT, SHIFT, WORD, look_up, regs};

/// Where a piece starts in the scratch buffer, given its offset in the body.
const PIECES: i16 = head::SIZE;

/// `R7 = ` this CPU's scratch buffer, with an empty record in it.
pub(super) fn start_record(a: &mut Asm, names: &Names, out: Label) {
    a.store_number(Width::W, STACK, KEY, 0);
    look_up(a, names.scratch, out);
    a.mov_reg(R7, R0);
    a.store_number(Width::D, R7, head::LENGTH, 0);
    a.store_number(Width::D, R7, head::SIGNAL, 0);
    a.store_number(Width::W, STACK, OFFSET, 0);
}

/// `to = ` the next piece, as long as there is room for one. Kept on the stack in 32 bits, the offset is any number to the verifier, which
/// makes all ways to this place equal to it.
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

/// One fetch: place 0 to 5 at the entry, 6 to 11 at the exit.
pub(super) fn fetch(a: &mut Asm, place: usize, end: Label) {
    let at = spec::FETCHES + spec::FETCH_SIZE * place as i16;
    let of_exit = if place < MAX_FETCHES {
        0
    } else {
        piece::OF_EXIT
    };
    let (next, string, read, failed) = (a.label(), a.label(), a.label(), a.label());
    a.load(Width::B, R4, R8, at + spec::KIND);
    a.jump_if(If::Eq, R4, 0, next);
    argument(a, at, spec::ARGUMENT);
    a.jump_if(If::Eq, R3, 0, next);
    next_piece(a, R9, end);
    a.store(Width::D, R9, PIECES + piece::ADDRESS, R3);
    a.load(Width::B, R1, R8, at + spec::ARGUMENT);
    a.store(Width::B, R9, PIECES + piece::ARGUMENT, R1);
    a.store_number(Width::B, R9, PIECES + piece::STATE, piece::WHOLE | of_exit);
    a.store_number(Width::H, R9, PIECES + piece::ELEMENT, 0);
    a.jump_if(If::Eq, R4, spec::STRING, string);
    size_of_bytes(a, at, next);
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
    a.jump_if(If::Ne, R0, 0, failed);
    a.load(Width::W, R0, R9, PIECES + piece::LENGTH);
    a.jump(read);

    a.here(string);
    read_string(a, at, of_exit, failed);
    a.jump(read);

    a.here(failed);
    a.store_number(Width::B, R9, PIECES + piece::STATE, piece::UNREAD | of_exit);
    try_again_at_exit(a, place);
    a.mov(R0, 0);
    a.here(read);
    finish_piece(a, R9);
    a.here(next);
}

/// Reads the string at the address of the piece `R9` into it; `R0 = ` its length.
pub(super) fn read_string(a: &mut Asm, at: i16, of_exit: i32, failed: Label) {
    let whole = a.label();
    a.lea(R1, R9, i32::from(PIECES + piece::SIZE));
    a.load(Width::H, R2, R8, at + spec::LIMIT);
    a.op(Op::And, R2, PIECE_MASK);
    a.load(Width::D, R3, R9, PIECES + piece::ADDRESS);
    a.call(Helper::ProbeReadUserStr);
    a.jump_if(If::Slt, R0, 1, failed);
    // One that fills it all is longer.
    a.load(Width::H, R2, R8, at + spec::LIMIT);
    a.op_reg(Op::Sub, R2, R0);
    a.op(Op::Sub, R0, 1);
    a.jump_if(If::Ne, R2, 0, whole);
    a.store_number(Width::B, R9, PIECES + piece::STATE, piece::CUT | of_exit);
    a.here(whole);
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

pub(super) fn try_again_at_exit(a: &mut Asm, place: usize) {
    if place < MAX_FETCHES {
        a.load(Width::W, R1, R6, task::OWED);
        a.op(Op::Or, R1, 1 << place);
        a.store(Width::W, R6, task::OWED, R1);
    }
}

/// `R5 = ` how many bytes are to be read, any number.
pub(super) fn size_of_bytes(a: &mut Asm, at: i16, none: Label) {
    let (counted, sized, returned, multiply, done) =
        (a.label(), a.label(), a.label(), a.label(), a.label());
    a.load(Width::H, R5, R8, at + spec::UNIT);
    a.jump_if(If::Eq, R4, spec::COUNTED, counted);
    a.jump_if(If::Eq, R4, spec::SIZED, sized);
    a.jump_if(If::Eq, R4, spec::RETURNED, returned);
    a.jump_if(If::Eq, R4, spec::FIXED, done);
    a.jump(none);

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

/// A vector of strings: a piece for each, and one for its end. `R9` keeps the place in it, which the verifier must know to see an end.
pub(super) fn vector(a: &mut Asm, place: usize, next: Label) {
    let at = spec::FETCHES + spec::FETCH_SIZE * place as i16;
    let unreadable = a.label();
    argument(a, at, spec::ARGUMENT);
    a.jump_if(If::Eq, R3, 0, next);
    a.store_number(Width::W, R6, task::STRINGS, 0);
    a.mov(R9, 0);
    let (again, end) = (a.label(), a.label());
    a.here(again);
    a.jump_if(If::Gt, R9, MAX_STRINGS - 1, next);
    argument(a, at, spec::ARGUMENT);
    a.mov_reg(R1, R9);
    a.op(Op::Mul, R1, 8);
    a.op_reg(Op::Add, R3, R1);
    a.lea(R1, STACK, WORD.into());
    a.mov(R2, 8);
    a.call(Helper::ProbeReadUser);
    a.jump_if(If::Ne, R0, 0, unreadable);
    next_piece(a, R4, next);
    element_head(a, at);
    a.load(Width::D, R3, STACK, WORD);
    a.store(Width::D, R4, PIECES + piece::ADDRESS, R3);
    a.jump_if(If::Eq, R3, 0, end);
    element(a, Some(place), next);
    a.op(Op::Add, R9, 1);
    a.store(Width::W, R6, task::STRINGS, R9);
    a.jump(again);

    a.here(end);
    a.store_number(Width::B, R4, PIECES + piece::STATE, piece::END);
    a.mov(R0, 0);
    finish_piece(a, R4);
    a.jump(next);

    a.here(unreadable);
    next_piece(a, R4, next);
    element_head(a, at);
    a.store_number(Width::D, R4, PIECES + piece::ADDRESS, 0);
    a.store_number(Width::B, R4, PIECES + piece::STATE, piece::UNREAD);
    a.store_number(Width::W, R6, task::STRINGS, 0);
    try_again_at_exit(a, place);
    a.mov(R0, 0);
    finish_piece(a, R4);
}

/// The head of the piece `R4` for the string at place `R9`.
pub(super) fn element_head(a: &mut Asm, at: i16) {
    a.load(Width::B, R1, R8, at + spec::ARGUMENT);
    a.store(Width::B, R4, PIECES + piece::ARGUMENT, R1);
    a.store_number(Width::B, R4, PIECES + piece::STATE, piece::WHOLE);
    a.store(Width::H, R4, PIECES + piece::ELEMENT, R9);
}

/// Reads the string at `R3` into the piece `R4` and finishes it.
pub(super) fn element(a: &mut Asm, retry: Option<usize>, full: Label) {
    let (failed, read) = (a.label(), a.label());
    a.lea(R1, R4, i32::from(PIECES + piece::SIZE));
    a.mov(R2, MAX_PIECE + 1);
    a.call(Helper::ProbeReadUserStr);
    next_piece(a, R4, full);
    a.jump_if(If::Slt, R0, 1, failed);
    a.op(Op::Sub, R0, 1);
    a.jump_if(If::Ne, R0, MAX_PIECE, read);
    a.store_number(Width::B, R4, PIECES + piece::STATE, piece::CUT);
    a.jump(read);
    a.here(failed);
    a.store_number(Width::B, R4, PIECES + piece::STATE, piece::UNREAD);
    if let Some(place) = retry {
        try_again_at_exit(a, place);
    }
    a.mov(R0, 0);
    a.here(read);
    finish_piece(a, R4);
}

/// After a successful exec the arguments stand on the new stack: their number, then pointers to them. A script has got others in front
/// (its interpreter), which take the place of the first.
pub(super) fn new_arguments(a: &mut Asm, end: Label) {
    let at = spec::FETCHES + spec::FETCH_SIZE;
    a.load(Width::W, R1, R6, task::OWED);
    let wanted = a.label();
    a.jump_if(If::Set, R1, 2, wanted);
    a.jump(end);
    a.here(wanted);
    a.load(Width::D, R3, STACK, CONTEXT);
    a.load(Width::D, R3, R3, 0);
    a.op(Op::Add, R3, regs::STACK_POINTER);
    a.lea(R1, STACK, REGS.into());
    a.mov(R2, 8);
    a.call(Helper::ProbeReadKernel);
    a.jump_if(If::Ne, R0, 0, end);
    a.lea(R1, STACK, WORD.into());
    a.mov(R2, 8);
    a.load(Width::D, R3, STACK, REGS);
    a.call(Helper::ProbeReadUser);
    a.jump_if(If::Ne, R0, 0, end);
    a.load(Width::D, R1, STACK, WORD);
    a.load(Width::W, R2, R6, task::STRINGS);
    a.op_reg(Op::Sub, R1, R2);
    // Fewer than there were, or many more: something else than a script.
    a.jump_if(If::Gt, R1, 16, end);
    a.store(Width::D, STACK, SHIFT, R1);
    a.mov(R9, 0);
    let (again, skip) = (a.label(), a.label());
    a.here(again);
    a.jump_if(If::Gt, R9, MAX_STRINGS - 1, end);
    a.load(Width::W, R1, R6, task::STRINGS);
    let more = a.label();
    a.jump_if_reg(If::Gt, R1, R9, more);
    a.jump(end);
    a.here(more);
    a.load(Width::D, R2, STACK, SHIFT);
    let not_first = a.label();
    a.jump_if(If::Ne, R9, 0, not_first);
    a.jump_if(If::Ne, R2, 0, skip);
    a.here(not_first);
    a.op_reg(Op::Add, R2, R9);
    a.op(Op::Mul, R2, 8);
    a.load(Width::D, R3, STACK, REGS);
    a.op_reg(Op::Add, R3, R2);
    a.op(Op::Add, R3, 8);
    a.lea(R1, STACK, WORD.into());
    a.mov(R2, 8);
    a.call(Helper::ProbeReadUser);
    a.jump_if(If::Ne, R0, 0, end);
    next_piece(a, R4, end);
    element_head(a, at);
    a.load(Width::D, R3, STACK, WORD);
    a.store(Width::D, R4, PIECES + piece::ADDRESS, R3);
    element(a, None, end);
    a.here(skip);
    a.op(Op::Add, R9, 1);
    a.jump(again);
}

/// The piece for the path of an exec, from the record of `sched_process_exec`.
pub(super) fn exec_path(a: &mut Asm, offsets: Offsets) {
    let (failed, done) = (a.label(), a.label());
    a.store_number(Width::B, R7, PIECES + piece::ARGUMENT, 0);
    a.store_number(Width::B, R7, PIECES + piece::STATE, piece::WHOLE);
    a.store_number(Width::H, R7, PIECES + piece::ELEMENT, 0);
    a.store_number(Width::D, R7, PIECES + piece::ADDRESS, 0);
    a.lea(R1, R7, i32::from(PIECES + piece::SIZE));
    a.mov(R2, MAX_PIECE);
    a.load(Width::D, R3, STACK, CONTEXT);
    a.load(Width::W, R4, R3, offsets.exec_file);
    a.op(Op::And, R4, 0xffff);
    a.op_reg(Op::Add, R3, R4);
    a.call(Helper::ProbeReadKernelStr);
    a.jump_if(If::Slt, R0, 1, failed);
    a.op(Op::Sub, R0, 1);
    a.jump(done);
    a.here(failed);
    a.store_number(Width::B, R7, PIECES + piece::STATE, piece::UNREAD);
    a.mov(R0, 0);
    a.here(done);
    finish_piece(a, R7);
}

/// Reads again what could not be read at the entry.
pub(super) fn again(a: &mut Asm, places: std::ops::Range<usize>, end: Label) {
    for place in places {
        let (wanted, skip) = (a.label(), a.label());
        a.load(Width::W, R1, R6, task::OWED);
        a.jump_if(If::Set, R1, 1 << place, wanted);
        a.jump(skip);
        a.here(wanted);
        fetch(a, place, end);
        a.here(skip);
    }
}
