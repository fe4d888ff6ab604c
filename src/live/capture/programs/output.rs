//! Records on their way.

use super::super::asm::{
    Asm, Helper, If, Op, R0, R1, R2, R3, R4, R5, R6, R7, R8, Reg, STACK, Width,
};
use super::super::recorded::Half;
use super::super::wire::{SCRATCH, head, slot, task};
use super::calls::{Contents, record};
use super::pieces::at_most;
use super::{CONTEXT, KEY, Names, OFFSET, look_up};

/// Sends the record `R7` of what was read at a half of the call of the task `R6`: with the call's,
/// where that is recorded by a program.
pub(super) fn send_half(a: &mut Asm, names: &Names, half: Half) {
    let sent = a.label();
    complete(a, what(half));
    if let Some(recording) = &names.recording {
        record(a, names, (recording, half), Contents::InBuffer, sent);
    }
    output(a, names);
    a.here(sent);
}

/// What a record of a half says that it is.
fn what(half: Half) -> i32 {
    match half {
        Half::Enter => head::ENTER,
        Half::Leave => head::EXIT,
    }
}

/// Sends the record `R7`, which belongs to no half of a call.
pub(super) fn send_record(a: &mut Asm, names: &Names, what: i32) {
    complete(a, what);
    output(a, names);
}

/// Fills in the head of the record `R7`; [`OFFSET`] is its length from here on.
fn complete(a: &mut Asm, what: i32) {
    a.load(Width::W, R5, STACK, OFFSET);
    a.op(Op::Add, R5, head::SIZE.into());
    a.store(Width::W, R7, head::LENGTH, R5);
    a.load(Width::W, R1, R6, task::NUMBER);
    a.store(Width::H, R7, head::NUMBER, R1);
    a.store_number(Width::B, R7, head::WHAT, what);
    a.store(Width::W, STACK, OFFSET, R5);
}

/// Writes the record `R7` to perf's ring of the task's slot on this CPU, and counts what became of
/// it.
fn output(a: &mut Asm, names: &Names) {
    let lost = a.label();
    let counted = a.label();
    a.load(Width::W, R8, R6, task::SLOT);
    a.call(Helper::CurrentCpu);
    a.mov_reg(R3, R8);
    a.op(Op::Mul, R3, names.n_cpus);
    a.op_reg(Op::Add, R3, R0);
    a.load(Width::D, R1, STACK, CONTEXT);
    a.map(R2, names.output);
    a.mov_reg(R4, R7);
    a.load(Width::W, R5, STACK, OFFSET);
    at_most(a, R5, SCRATCH as i32);
    a.call(Helper::PerfEventOutput);
    a.jump_if(If::Ne, R0, 0, lost);
    count(a, names, slot::SENT, R8);
    a.jump(counted);
    a.here(lost);
    count(a, names, slot::LOST, R8);
    a.here(counted);
}

/// Adds one to a number of the slot in a register that is kept.
pub(super) fn count(a: &mut Asm, names: &Names, field: i16, of: Reg) {
    let none = a.label();
    a.store(Width::W, STACK, KEY, of);
    look_up(a, names.slots, none);
    a.mov(R1, 1);
    a.add_atomically(R0, field, R1);
    a.here(none);
}
