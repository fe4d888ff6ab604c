//! Calls of i386 that stand for others, whose words are in memory or by which it is said which.

use super::super::asm::{Asm, Helper, If, Label, Op, R0, R1, R2, R3, R6, R8, R9, STACK, Width};
use super::super::wire::{PLACES, piece, spec, task};
use super::pieces::{PIECES, argument, finish_piece, next_piece};
use super::{Names, RESULT, find_spec};
use syscall_model::many;

/// The argument under which the words are known, behind the six that a call has.
const ARRAY: i16 = many::ARRAY as i16;

/// Where the call of the place [`task::NUMBER`] stands for another, that becomes the call, and its
/// words the task's: what is read is what those lead to. Where they cannot be read now, the call
/// stays what it is.
pub(super) fn stand_for(a: &mut Asm, names: &Names) {
    let (whole, found, told) = (a.label(), a.label(), a.label());
    let (back, done) = (a.label(), a.label());
    a.load(Width::B, R1, R8, spec::WHICH);
    a.jump_if(If::Eq, R1, 0, done);
    a.load(Width::H, R9, R8, spec::FIRST);
    a.jump_if(If::Eq, R1, spec::THIS, found);
    a.load(Width::D, R2, R6, task::ARGS);
    a.jump_if(If::Eq, R1, spec::BY_WORD, whole);
    a.op(Op::And, R2, 0xffff);
    a.here(whole);
    a.jump_if(If::Gt, R2, 31, done);
    a.op_reg(Op::Add, R9, R2);
    a.here(found);
    a.store(Width::D, STACK, RESULT, R8);
    find_spec(a, names, PLACES, back);
    a.load(Width::B, R1, R8, spec::ARRAY);
    a.jump_if(If::Eq, R1, 0, told);
    argument(a, 0, spec::POINTER);
    a.store(Width::D, R6, task::ARGS + 8 * ARRAY, R3);
    a.load(Width::B, R2, R8, spec::ARRAY);
    a.op(Op::And, R2, 31);
    for at in (0..24).step_by(8) {
        a.store_number(Width::D, R6, task::ARRAY + at, 0);
    }
    a.lea(R1, R6, task::ARRAY.into());
    a.call(Helper::ProbeReadUser);
    a.jump_if(If::Ne, R0, 0, back);
    for word in 0..6 {
        a.load(Width::W, R1, R6, task::ARRAY + 4 * word);
        a.store(Width::D, R6, task::ARGS + 8 * word, R1);
    }
    a.here(told);
    a.store(Width::W, R6, task::NUMBER, R9);
    a.jump(done);
    a.here(back);
    a.load(Width::D, R8, STACK, RESULT);
    a.here(done);
}

/// A piece of the words that the call of the task `R6` has in memory, where it has some: those by
/// which the rest is read.
pub(super) fn array(a: &mut Asm, end: Label) {
    const WORDS: i16 = 24;
    let none = a.label();
    a.load(Width::B, R1, R8, spec::ARRAY);
    a.jump_if(If::Eq, R1, 0, none);
    next_piece(a, R9, end);
    a.load(Width::D, R1, R6, task::ARGS + 8 * ARRAY);
    a.store(Width::D, R9, PIECES + piece::ADDRESS, R1);
    a.store_number(Width::B, R9, PIECES + piece::ARGUMENT, ARRAY.into());
    a.store_number(Width::B, R9, PIECES + piece::STATE, piece::WHOLE);
    a.store_number(Width::H, R9, PIECES + piece::ELEMENT, 0);
    for at in (0..WORDS).step_by(8) {
        a.load(Width::D, R1, R6, task::ARRAY + at);
        a.store(Width::D, R9, PIECES + piece::SIZE + at, R1);
    }
    a.mov(R0, WORDS.into());
    finish_piece(a, R9);
    a.here(none);
}
