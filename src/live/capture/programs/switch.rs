//! What was not resident at a call's entry, read when the thread gives up its CPU within the call.

use super::super::asm::{If, Op, R1, R6, R9, STACK, Width};
use super::super::wire::{MAX_FETCHES, head, task};
use super::output::send_record;
use super::pieces::{Scratch, early, start_record};
use super::{CONTEXT, NEW_TASK, Names, RESULT, current_task, find_spec, program};

/// On the raw tracepoint `sched_switch(preempted, from, to)`: the current task gives up its CPU,
/// perhaps in the midst of a call.
pub(in crate::capture) fn switch(names: &Names) -> Option<Vec<u64>> {
    const OWED: i16 = NEW_TASK;
    program(|a| {
        let (out, send) = (a.label(), a.label());
        a.store(Width::D, STACK, CONTEXT, R1);
        current_task(a, names, out);
        a.load(Width::W, R1, R6, task::SENT);
        a.jump_if(If::Eq, R1, 0, out);
        a.load(Width::W, R1, R6, task::OWED);
        a.op(Op::And, R1, (1 << MAX_FETCHES) - 1);
        a.jump_if(If::Eq, R1, 0, out);
        a.store(Width::W, STACK, OWED, R1);
        a.store_number(Width::D, STACK, RESULT, 0);
        a.load(Width::W, R9, R6, task::NUMBER);
        a.jump_if(If::Eq, R9, names.calls.execve, out);
        a.jump_if(If::Eq, R9, names.calls.execveat, out);
        find_spec(a, names, out);
        start_record(a, names, Scratch::Switch, out);
        early(a, OWED, send);
        a.here(send);
        // The entry has promised a record of the exit.
        a.load(Width::W, R1, R6, task::OWED);
        a.op(Op::Or, R1, task::AT_EXIT);
        a.store(Width::W, R6, task::OWED, R1);
        send_record(a, names, head::WITHIN);
        a.here(out);
        a.exit(0);
    })
}
