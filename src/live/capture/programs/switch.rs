//! What was not resident at a call's entry, read when the thread gives up its CPU within the call.

use super::super::asm::{If, Op, R1, R6, R9, STACK, Width};
use super::super::wire::{MAX_FETCHES, PLACES, head, task};
use super::pieces::{Scratch, start_record};
use super::rest::go_on_with_rest;
use super::{CONTEXT, Names, current_task, find_spec, program};

/// On the raw tracepoint `sched_switch(preempted, from, to)`: the current task gives up its CPU,
/// perhaps in the midst of a call.
pub(in crate::capture) fn switch(names: &Names) -> Option<Vec<u64>> {
    program(|a| {
        let out = a.label();
        a.store(Width::D, STACK, CONTEXT, R1);
        current_task(a, names, out);
        a.load(Width::W, R1, R6, task::SENT);
        a.jump_if(If::Eq, R1, 0, out);
        a.load(Width::W, R1, R6, task::OWED);
        a.op(Op::And, R1, (1 << MAX_FETCHES) - 1);
        a.jump_if(If::Eq, R1, 0, out);
        a.load(Width::W, R9, R6, task::NUMBER);
        for place in names.calls.execve.into_iter().chain(names.calls.execveat) {
            a.jump_if(If::Eq, R9, place, out);
        }
        find_spec(a, names, PLACES, out);
        start_record(a, names, Scratch::Switch, out);
        go_on_with_rest(a, names, head::WITHIN, 0);
        a.here(out);
        a.exit(0);
    })
}
