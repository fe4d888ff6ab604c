//! What structures point to: addresses and numbers that stand in them, of several in a row one
//! after the other.

use super::super::asm::{
    Asm, Helper, If, Label, Op, R0, R1, R2, R3, R4, R5, R6, R8, Reg, STACK, Width,
};
use super::super::wire::{spec, task};
use super::{RESULT, WORD};
use syscall_model::memory::Several;

/// `R3 = ` the address that the structure at `R3` has, where that is wanted.
pub(super) fn behind_structure(a: &mut Asm, at: i16, none: Label) {
    let (of_argument, once) = (a.label(), a.label());
    a.jump_if(If::Le, R4, spec::BEHIND - 1, of_argument);
    has_turn(a, at, none);
    move_to_turn(a, at);
    a.load(Width::B, R1, R8, at + spec::OTHER);
    a.op_reg(Op::Add, R3, R1);
    word_at(a, at, none);
    a.jump_if(If::Eq, R3, 0, none);
    a.load(Width::B, R4, R8, at + spec::KIND);
    a.jump_if(If::Ne, R4, spec::TWICE, once);
    word_at(a, at, none);
    a.jump_if(If::Eq, R3, 0, none);
    a.here(once);
    a.load(Width::B, R4, R8, at + spec::KIND);
    a.here(of_argument);
}

/// Goes on if there is a structure that has its turn; `R3` stays as it is.
pub(super) fn has_turn(a: &mut Asm, at: i16, none: Label) {
    let (alone, known) = (a.label(), a.label());
    a.load(Width::W, R2, R6, task::TURN);
    a.load(Width::B, R1, R8, at + spec::OF);
    a.jump_if(If::Eq, R1, 0, alone);
    a.jump_if(If::Gt, R2, i32::from(Several::MOST) - 1, none);
    a.op(Op::Sub, R1, 1);
    a.op(Op::And, R1, 7);
    a.load(Width::D, R5, STACK, RESULT);
    a.jump_if(If::Eq, R1, Several::RESULT.into(), known);
    a.op(Op::Lsh, R1, 3);
    a.op_reg(Op::Add, R1, R6);
    a.load(Width::D, R5, R1, task::ARGS);
    a.here(known);
    a.jump_if_reg(If::Le, R5, R2, none);
    a.here(alone);
}

/// `R2 = ` how far from the first structure that is which has its turn, as 64-bit programs have it.
pub(super) fn before_turn(a: &mut Asm, at: i16) {
    a.load(Width::W, R2, R6, task::TURN);
    a.load(Width::B, R3, R8, at + spec::OF);
    a.op(Op::Rsh, R3, spec::APART);
    a.op_reg(Op::Lsh, R2, R3);
}

/// `R3 = ` the address of the structure that has its turn, given that of the first.
pub(super) fn move_to_turn(a: &mut Asm, at: i16) {
    a.mov_reg(R1, R3);
    before_turn(a, at);
    is_narrow(a, R3, at);
    a.op_reg(Op::Rsh, R2, R3);
    a.mov_reg(R3, R1);
    a.op_reg(Op::Add, R3, R2);
}

/// `to = ` 1 where addresses in the structure have 32 bits, else 0.
pub(super) fn is_narrow(a: &mut Asm, to: Reg, at: i16) {
    a.load(Width::B, to, R8, at + spec::NUMBER);
    a.op(Op::And, to, spec::NARROW);
    a.op(Op::Rsh, to, 1);
}

/// `R3 = ` the address that stands at the address `R3`.
pub(super) fn word_at(a: &mut Asm, at: i16, none: Label) {
    // 8 bytes or 4.
    is_narrow(a, R1, at);
    a.op(Op::Lsh, R1, 2);
    a.mov(R2, 8);
    a.op_reg(Op::Sub, R2, R1);
    a.store_number(Width::D, STACK, WORD, 0);
    a.lea(R1, STACK, WORD.into());
    a.call(Helper::ProbeReadUser);
    a.jump_if(If::Ne, R0, 0, none);
    a.load(Width::D, R3, STACK, WORD);
}

/// `R3 = ` the number that the structure at `R3` has.
pub(super) fn number_at(a: &mut Asm, at: i16, none: Label) {
    a.load(Width::B, R1, R8, at + spec::NUMBER);
    a.mov_reg(R2, R1);
    a.op(Op::And, R1, !(spec::WIDE | spec::NARROW));
    a.op_reg(Op::Add, R3, R1);
    // 4 bytes or 8.
    a.op(Op::And, R2, spec::WIDE);
    a.op(Op::Lsh, R2, 2);
    a.op(Op::Add, R2, 4);
    a.store_number(Width::D, STACK, WORD, 0);
    a.lea(R1, STACK, WORD.into());
    a.call(Helper::ProbeReadUser);
    a.jump_if(If::Ne, R0, 0, none);
    a.load(Width::D, R3, STACK, WORD);
}
