//! The rest of what is read for a call, a fetch at a time.
//!
//! Most calls have one thing to read at their entry and one at their exit, and the programs there
//! do that by themselves. For what else there is they go on with a program that reads one thing and
//! goes on with itself: ten such stretches one behind the other take the verifier longer than all
//! programs together.

use super::super::asm::{Asm, If, Label, Op, R0, R1, R2, R3, R6, R7, R8, R9, STACK, Width};
use super::super::recorded::Half;
use super::super::wire::{MAX_AT_EXIT, MAX_FETCHES, PLACES, head, spec, task};
use super::halves::{send_entry, send_exit};
use super::output::send_record;
use super::pieces::{Fetch, bit, fetch};
use super::structures::has_turn;
use super::tasks::copy_registers;
use super::{
    CONTEXT, KEY, Names, OFFSET, Other, RESULT, current_task, find_spec, go_on_with, look_up,
    program,
};

/// Goes on with the fetches from a place on, in the record that has been started. At the exit and
/// within a call those of the entry are read that are owed.
pub(super) fn go_on_with_rest(a: &mut Asm, names: &Names, what: i32, place: usize) {
    a.store_number(Width::B, R7, head::WHAT, what);
    a.store_number(Width::W, R6, task::PLACE, place as i32);
    a.store_number(Width::W, R6, task::TURN, 0);
    a.load(Width::W, R1, STACK, OFFSET);
    a.store(Width::W, R6, task::OFFSET, R1);
    go_on_with(a, names, Other::Rest);
}

/// Reads for one fetch and goes on with itself, or sends the record.
pub(in crate::capture) fn rest(names: &Names) -> Option<Vec<u64>> {
    program(|a| {
        let (out, send, next, wanted) = (a.label(), a.label(), a.label(), a.label());
        let (of_exit, within, leaves, again) = (a.label(), a.label(), a.label(), a.label());
        a.store(Width::D, STACK, CONTEXT, R1);
        a.load(Width::D, R1, R1, 8);
        a.store(Width::D, STACK, RESULT, R1);
        current_task(a, names, out);
        a.load(Width::W, R9, R6, task::NUMBER);
        find_spec(a, names, PLACES, out);
        started_record(a, names, out);

        a.load(Width::W, R2, R6, task::PLACE);
        a.jump_if(If::Gt, R2, (MAX_FETCHES + MAX_AT_EXIT) as i32 - 1, send);
        a.load(Width::W, R1, R6, task::TURN);
        a.jump_if(If::Ne, R1, 0, wanted);
        a.load(Width::B, R1, R7, head::WHAT);
        a.jump_if(If::Gt, R2, MAX_FETCHES as i32 - 1, of_exit);
        a.jump_if(If::Eq, R1, head::ENTER, wanted);
        a.load(Width::W, R1, R6, task::OWED);
        bit(a, R3, R2);
        a.op_reg(Op::And, R3, R1);
        a.jump_if(If::Eq, R3, 0, next);
        a.op_reg(Op::Sub, R1, R3);
        a.store(Width::W, R6, task::OWED, R1);
        a.jump(wanted);

        // What a call that failed would have given is not there.
        a.here(of_exit);
        a.jump_if(If::Ne, R1, head::EXIT, send);
        a.load(Width::D, R1, STACK, RESULT);
        a.jump_if(If::Slt, R1, 0, send);

        a.here(wanted);
        a.op(Op::Mul, R2, spec::FETCH_SIZE.into());
        a.op_reg(Op::Add, R8, R2);
        a.load(Width::B, R1, R8, spec::FETCHES + spec::KIND);
        a.jump_if(If::Eq, R1, 0, send);
        fetch(a, Fetch::Kept, send);
        next_of_several(a, (next, again));

        a.here(next);
        a.store_number(Width::W, R6, task::TURN, 0);
        a.load(Width::W, R2, R6, task::PLACE);
        a.op(Op::Add, R2, 1);
        a.store(Width::W, R6, task::PLACE, R2);
        a.here(again);
        a.load(Width::W, R1, STACK, OFFSET);
        a.store(Width::W, R6, task::OFFSET, R1);
        go_on_with(a, names, Other::Rest);

        a.here(send);
        a.load(Width::B, R1, R7, head::WHAT);
        a.jump_if(If::Eq, R1, head::EXIT, leaves);
        a.jump_if(If::Eq, R1, head::WITHIN, within);
        go_on_to_send(a, names, Half::Enter);
        a.exit(0);
        // The entry has promised a record of the exit.
        a.here(within);
        a.load(Width::W, R1, R6, task::OWED);
        a.op(Op::Or, R1, task::AT_EXIT);
        a.store(Width::W, R6, task::OWED, R1);
        send_record(a, names, head::WITHIN);
        a.exit(0);
        a.here(leaves);
        go_on_to_send(a, names, Half::Leave);
        a.here(out);
        a.exit(0);
    })
}

/// Has the next of several structures have its turn, if there is one.
fn next_of_several(a: &mut Asm, (none, again): (Label, Label)) {
    a.load(Width::B, R1, R8, spec::FETCHES + spec::KIND);
    a.jump_if(If::Le, R1, spec::BEHIND - 1, none);
    a.load(Width::B, R1, R8, spec::FETCHES + spec::OF);
    a.jump_if(If::Eq, R1, 0, none);
    a.load(Width::W, R1, R6, task::TURN);
    a.op(Op::Add, R1, 1);
    a.store(Width::W, R6, task::TURN, R1);
    has_turn(a, spec::FETCHES, none);
    a.jump(again);
}

/// Goes on with the program that sends what was read.
pub(super) fn go_on_to_send(a: &mut Asm, names: &Names, half: Half) {
    a.load(Width::W, R1, STACK, OFFSET);
    a.store(Width::W, R6, task::OFFSET, R1);
    go_on_with(a, names, Other::Send(half));
}

/// Sends what other programs have read.
pub(in crate::capture) fn send(names: &Names, half: Half) -> Option<Vec<u64>> {
    program(|a| {
        let out = a.label();
        a.store(Width::D, STACK, CONTEXT, R1);
        current_task(a, names, out);
        if names.recording.is_some() {
            copy_registers(a, names, out);
        }
        started_record(a, names, out);
        match half {
            Half::Enter => {
                a.load(Width::W, R9, R6, task::NUMBER);
                find_spec(a, names, PLACES, out);
                send_entry(a, names);
            }
            Half::Leave => send_exit(a, names),
        }
        a.here(out);
        a.exit(0);
    })
}

/// `R7 = ` the buffer in which another program has started the record of the task `R6`.
pub(super) fn started_record(a: &mut Asm, names: &Names, out: Label) {
    a.load(Width::W, R1, R6, task::SCRATCH);
    a.store(Width::W, STACK, KEY, R1);
    look_up(a, names.scratch, out);
    a.mov_reg(R7, R0);
    a.load(Width::W, R1, R6, task::OFFSET);
    a.store(Width::W, STACK, OFFSET, R1);
}
