//! The programs at the two halves of a call.

use super::super::asm::{Asm, If, Label, Op, R1, R2, R6, R7, R8, R9, STACK, Width};
use super::super::recorded::Half;
use super::super::wire::{MAX_CALLS, MAX_FETCHES, PLACES, head, spec, task};
use super::calls::{Contents, record};
use super::output::send_half;
use super::pieces::{Fetch, Scratch, fetch, start_record};
use super::rest::go_on_with_rest;
use super::standing::array;
use super::tasks::{claim, copy_registers};
use super::{
    CONTEXT, Copy, Names, Other, RESULT, copy_arguments, current_task, find_spec, go_on_with,
    is_first, program,
};

/// On the raw tracepoint `sys_enter(regs, number)`.
pub(in crate::capture) fn enter(names: &Names, copy: Copy) -> Option<Vec<u64>> {
    program(|a| {
        let (out, stranger, send) = (a.label(), a.label(), a.label());
        let nothing = a.label();
        entered(a, names, Some(copy), (out, stranger, nothing));
        continue_for_exec(a, names, Other::Enter(copy));
        start_record(a, names, Scratch::Enter(copy), out);
        array(a, send);
        fetch(a, Fetch::At(0), send);
        more(a, names, head::ENTER, 1, send);
        a.here(send);
        send_entry(a, names);
        a.exit(0);
        a.here(nothing);
        record_alone(a, names, Half::Enter);
        a.here(out);
        a.exit(0);
        a.here(stranger);
        claim(a, names);
        a.exit(0);
    })
}

/// Records a half of a call for which nothing is read.
fn record_alone(a: &mut Asm, names: &Names, half: Half) {
    if let Some(recording) = &names.recording {
        let done = a.label();
        record(a, names, (recording, half), Contents::None, done);
        a.here(done);
    }
}

/// Goes on if there is something to read at this place.
fn more(a: &mut Asm, names: &Names, what: i32, place: usize, none: Label) {
    let kind = spec::FETCHES + spec::FETCH_SIZE * place as i16 + spec::KIND;
    a.load(Width::B, R1, R8, kind);
    a.jump_if(If::Eq, R1, 0, none);
    go_on_with_rest(a, names, what, place);
}

/// `R6 = ` the task, with the call's number and words; `R8 = ` what is to be read. `copy` is that
/// of the program that is run, `None` in one that another goes on with.
pub(super) fn entered(
    a: &mut Asm,
    names: &Names,
    copy: Option<Copy>,
    (out, stranger, nothing): (Label, Label, Label),
) {
    a.store(Width::D, STACK, CONTEXT, R1);
    a.load(Width::D, R9, R1, 8);
    current_task(a, names, stranger);
    if let Some(copy) = copy {
        is_first(a, copy, out);
    }
    a.store(Width::W, R6, task::NUMBER, R9);
    a.store_number(Width::W, R6, task::OWED, 0);
    a.store_number(Width::W, R6, task::SENT, 0);
    a.store_number(Width::W, R6, task::INTERRUPTED, 0);
    if names.recording.is_some() {
        copy_registers(a, names, out);
        a.load(Width::W, R9, R6, task::NUMBER);
    }
    find_spec(a, names, MAX_CALLS, nothing);
    copy_arguments(a, names, nothing);
}

/// A record of the exit follows if anything is read there, or again.
pub(super) fn send_entry(a: &mut Asm, names: &Names) {
    let (no_more, marked) = (a.label(), a.label());
    a.load(Width::B, R2, R8, spec::AT_EXIT);
    a.load(Width::W, R1, R6, task::OWED);
    a.jump_if(If::Eq, R2, 0, marked);
    a.op(Op::Or, R1, task::AT_EXIT);
    a.store(Width::W, R6, task::OWED, R1);
    a.here(marked);
    a.jump_if(If::Eq, R1, 0, no_more);
    a.store_number(Width::B, R7, head::MORE, 1);
    a.here(no_more);
    send_half(a, names, Half::Enter);
    a.store_number(Width::W, R6, task::SENT, 1);
}

pub(super) fn send_exit(a: &mut Asm, names: &Names) {
    a.store_number(Width::W, R6, task::OWED, 0);
    send_half(a, names, Half::Leave);
}

/// Leaves the program for another if the call of `R6` executes a program.
fn continue_for_exec(a: &mut Asm, names: &Names, other: Other) {
    let (exec, stay) = (a.label(), a.label());
    a.load(Width::W, R1, R6, task::NUMBER);
    for place in names.calls.execve.into_iter().chain(names.calls.execveat) {
        a.jump_if(If::Eq, R1, place, exec);
    }
    a.jump(stay);
    a.here(exec);
    go_on_with(a, names, other);
    a.here(stay);
}

/// On the raw tracepoint `sys_exit(regs, result)`. What one copy has done the next finds done.
pub(in crate::capture) fn exit(names: &Names, copy: Copy) -> Option<Vec<u64>> {
    program(|a| {
        let (out, send, none_owed) = (a.label(), a.label(), a.label());
        let nothing = a.label();
        left(a, names, Some(copy), (out, nothing));
        continue_for_exec(a, names, Other::Exit(copy));
        start_record(a, names, Scratch::Exit(copy), out);
        a.load(Width::W, R1, R6, task::OWED);
        a.op(Op::And, R1, (1 << MAX_FETCHES) - 1);
        a.jump_if(If::Eq, R1, 0, none_owed);
        go_on_with_rest(a, names, head::EXIT, 0);
        a.here(none_owed);
        // What a call that failed would have given is not there.
        a.load(Width::D, R1, STACK, RESULT);
        a.jump_if(If::Slt, R1, 0, send);
        fetch(a, Fetch::At(MAX_FETCHES), send);
        more(a, names, head::EXIT, MAX_FETCHES + 1, send);
        a.here(send);
        send_exit(a, names);
        a.exit(0);
        a.here(nothing);
        record_alone(a, names, Half::Leave);
        a.here(out);
        a.exit(0);
    })
}

/// `R6 = ` the task; `R8 = ` what is to be read at this call's exit. `copy` as for [`entered`].
pub(super) fn left(a: &mut Asm, names: &Names, copy: Option<Copy>, (out, nothing): (Label, Label)) {
    a.store(Width::D, STACK, CONTEXT, R1);
    a.load(Width::D, R9, R1, 8);
    // Loaded twice: what a comparison says of one, the verifier would follow for the other.
    a.load(Width::D, R2, R1, 8);
    a.store(Width::D, STACK, RESULT, R2);
    current_task(a, names, out);
    if let Some(copy) = copy {
        is_first(a, copy, out);
    }
    // Whoever is preempted in here is not within the call any more.
    a.store_number(Width::W, R6, task::SENT, 0);
    // -516 to -512: interrupted, by what comes next.
    let not_interrupted = a.label();
    a.jump_if(If::Sgt, R9, -512, not_interrupted);
    a.jump_if(If::Slt, R9, -516, not_interrupted);
    a.store_number(Width::W, R6, task::INTERRUPTED, 1);
    a.here(not_interrupted);
    a.mov(R9, 0);
    if names.recording.is_some() && copy.is_some() {
        copy_registers(a, names, out);
        a.mov(R9, 0);
    }
    a.load(Width::W, R1, R6, task::OWED);
    a.jump_if(If::Eq, R1, 0, nothing);
    a.load(Width::W, R9, R6, task::NUMBER);
    find_spec(a, names, PLACES, nothing);
}
