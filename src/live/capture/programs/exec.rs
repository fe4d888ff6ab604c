//! The calls that execute a program: a path and a vector of strings.
//!
//! A loop is expensive to verify, so that the vector is read by a program that reads a few strings
//! and goes on with itself.

use super::super::asm::{
    Asm, Helper, If, Label, Op, R0, R1, R2, R3, R4, R6, R7, R8, R9, STACK, Width,
};
use super::super::recorded::Half;
use super::super::wire::{MAX_CALLS, MAX_PIECE, MAX_STRINGS, PLACES, head, piece, spec, task};
use super::halves::{entered, left};
use super::output::send_record;
use super::pieces::{
    Fetch, PIECES, Scratch, count_the_zero, fetch, finish_piece, next_piece, start_record,
    try_again_at_exit,
};
use super::rest::{go_on_to_send, started_record};
use super::tasks::rename_task;
use super::{
    CONTEXT, Copy, KEY, Names, OFFSET, Other, Place, REGS, RESULT, WORD, current_task, find_spec,
    go_on_with, is_first, look_up, program, regs,
};

/// The places of path and vector among a call's fetches.
const PATH: usize = 0;
const VECTOR: usize = 1;
const VECTOR_AT: i16 = spec::FETCHES + spec::FETCH_SIZE * VECTOR as i16;

/// Strings that [`strings`] reads before it goes on with itself: the kernel lets it do so 32 times.
const AT_ONCE: usize = 3;

/// More interpreters than this in front of a script the kernel does not allow, each with one
/// argument.
const MOST_IN_FRONT: i32 = 16;

/// What a copy of `enter` goes on with for a call that executes a program.
pub(in crate::capture) fn enter_exec(names: &Names, copy: Copy) -> Option<Vec<u64>> {
    program(|a| {
        let (out, send) = (a.label(), a.label());
        entered(a, names, None, (out, out, out));
        start_record(a, names, Scratch::Enter(copy), out);
        fetch(a, Fetch::At(PATH), send);
        a.store_number(Width::W, R6, task::STRINGS, 0);
        given_vector(a, names, head::ENTER, send);
        a.here(send);
        go_on_to_send(a, names, Half::Enter);
        a.here(out);
        a.exit(0);
    })
}

/// What a copy of `exit` goes on with for a call that executes a program.
pub(in crate::capture) fn exit_exec(names: &Names, copy: Copy) -> Option<Vec<u64>> {
    program(|a| {
        let (out, send, failed) = (a.label(), a.label(), a.label());
        let path_read = a.label();
        left(a, names, None, (out, out));
        start_record(a, names, Scratch::Exit(copy), out);
        a.load(Width::D, R1, STACK, RESULT);
        a.jump_if(If::Ne, R1, 0, failed);
        is_owed(a, VECTOR, send);
        new_vector(a, names, send);
        a.here(failed);
        is_owed(a, PATH, path_read);
        fetch(a, Fetch::At(PATH), send);
        a.here(path_read);
        is_owed(a, VECTOR, send);
        given_vector(a, names, head::EXIT, send);
        a.here(send);
        go_on_to_send(a, names, Half::Leave);
        a.here(out);
        a.exit(0);
    })
}

fn is_owed(a: &mut Asm, place: usize, not: Label) {
    let wanted = a.label();
    a.load(Width::W, R1, R6, task::OWED);
    a.jump_if(If::Set, R1, 1 << place, wanted);
    a.jump(not);
    a.here(wanted);
}

/// Goes on with the vector that the program gives.
fn given_vector(a: &mut Asm, names: &Names, what: i32, none: Label) {
    a.load(Width::B, R1, R8, VECTOR_AT + spec::KIND);
    a.jump_if(If::Ne, R1, spec::STRINGS, none);
    // Masked, so that the verifier sees that it is one of the six words.
    a.load(Width::B, R1, R8, VECTOR_AT + spec::ARGUMENT);
    a.op(Op::And, R1, 7);
    a.op(Op::Lsh, R1, 3);
    a.op_reg(Op::Add, R1, R6);
    a.load(Width::D, R3, R1, task::ARGS);
    a.jump_if(If::Eq, R3, 0, none);
    a.store(Width::D, R6, task::VECTOR, R3);
    a.store_number(Width::W, R6, task::PLACE, 0);
    go_on_with_strings(a, names, what);
}

/// After a successful exec the arguments stand on the new stack: their number, then pointers to
/// them. A script has got others in front (its interpreter), which take the place of the first.
fn new_vector(a: &mut Asm, names: &Names, none: Label) {
    // The new program may have other addresses than the 32-bit one that has executed it.
    a.load(Width::W, R1, R6, task::NUMBER);
    a.jump_if(If::Gt, R1, MAX_CALLS as i32 - 1, none);
    // How many there are more than were given; that is known only of a vector whose end was seen.
    a.load(Width::W, R1, R6, task::STRINGS);
    a.jump_if(If::Eq, R1, 0, none);
    a.load(Width::D, R3, STACK, CONTEXT);
    a.load(Width::D, R3, R3, 0);
    a.op(Op::Add, R3, regs::STACK_POINTER);
    a.lea(R1, STACK, REGS.into());
    a.mov(R2, 8);
    a.call(Helper::ProbeReadKernel);
    a.jump_if(If::Ne, R0, 0, none);
    a.lea(R1, STACK, WORD.into());
    a.mov(R2, 8);
    a.load(Width::D, R3, STACK, REGS);
    a.call(Helper::ProbeReadUser);
    a.jump_if(If::Ne, R0, 0, none);
    a.load(Width::D, R1, STACK, WORD);
    a.load(Width::W, R2, R6, task::STRINGS);
    a.op_reg(Op::Sub, R1, R2);
    // Fewer than there were, or many more: something else than a script.
    a.jump_if(If::Gt, R1, MOST_IN_FRONT, none);
    a.load(Width::D, R3, STACK, REGS);
    a.mov_reg(R2, R1);
    a.op(Op::Mul, R2, 8);
    a.op_reg(Op::Add, R3, R2);
    a.op(Op::Add, R3, 8);
    a.store(Width::D, R6, task::VECTOR, R3);
    let all = a.label();
    a.mov(R2, 0);
    a.jump_if(If::Eq, R1, 0, all);
    a.mov(R2, 1);
    a.here(all);
    a.store(Width::W, R6, task::PLACE, R2);
    go_on_with_strings(a, names, head::EXIT);
}

fn go_on_with_strings(a: &mut Asm, names: &Names, what: i32) {
    a.store_number(Width::B, R7, head::WHAT, what);
    a.load(Width::W, R1, STACK, OFFSET);
    a.store(Width::W, R6, task::OFFSET, R1);
    go_on_with(a, names, Other::Strings);
}

/// A piece for each string of a vector, and one for its end.
pub(in crate::capture) fn strings(names: &Names) -> Option<Vec<u64>> {
    program(|a| {
        let (out, send, last, unreadable) = (a.label(), a.label(), a.label(), a.label());
        let leaves = a.label();
        a.store(Width::D, STACK, CONTEXT, R1);
        current_task(a, names, out);
        a.load(Width::W, R9, R6, task::NUMBER);
        find_spec(a, names, PLACES, out);
        started_record(a, names, out);
        for _ in 0..AT_ONCE {
            one_string(a, send, last, unreadable);
        }
        a.load(Width::W, R1, STACK, OFFSET);
        a.store(Width::W, R6, task::OFFSET, R1);
        go_on_with(a, names, Other::Strings);
        a.jump(send);

        a.here(last);
        a.store_number(Width::B, R4, PIECES + piece::STATE, piece::END);
        a.load(Width::W, R1, R6, task::PLACE);
        a.store(Width::W, R6, task::STRINGS, R1);
        a.mov(R0, 0);
        finish_piece(a, R4);
        a.jump(send);

        a.here(unreadable);
        next_string(a, send);
        a.store_number(Width::D, R4, PIECES + piece::ADDRESS, 0);
        a.store_number(Width::B, R4, PIECES + piece::STATE, piece::UNREAD);
        try_again_at_exit(a, Fetch::At(VECTOR));
        a.mov(R0, 0);
        finish_piece(a, R4);

        a.here(send);
        a.load(Width::B, R1, R7, head::WHAT);
        a.jump_if(If::Ne, R1, head::ENTER, leaves);
        go_on_to_send(a, names, Half::Enter);
        a.exit(0);
        a.here(leaves);
        go_on_to_send(a, names, Half::Leave);
        a.here(out);
        a.exit(0);
    })
}

fn one_string(a: &mut Asm, full: Label, end: Label, unreadable: Label) {
    let sized = a.label();
    a.mov(R2, 8);
    a.load(Width::W, R1, R6, task::NUMBER);
    a.jump_if(If::Le, R1, MAX_CALLS as i32 - 1, sized);
    a.mov(R2, 4);
    a.store_number(Width::D, STACK, WORD, 0);
    a.here(sized);
    a.load(Width::W, R1, R6, task::PLACE);
    a.op_reg(Op::Mul, R1, R2);
    a.load(Width::D, R3, R6, task::VECTOR);
    a.op_reg(Op::Add, R3, R1);
    a.lea(R1, STACK, WORD.into());
    a.call(Helper::ProbeReadUser);
    a.jump_if(If::Ne, R0, 0, unreadable);
    next_string(a, full);
    a.load(Width::D, R3, STACK, WORD);
    a.store(Width::D, R4, PIECES + piece::ADDRESS, R3);
    a.jump_if(If::Eq, R3, 0, end);
    a.load(Width::W, R1, R6, task::PLACE);
    a.jump_if(If::Gt, R1, MAX_STRINGS - 1, full);
    contents(a, full);
    a.load(Width::W, R1, R6, task::PLACE);
    a.op(Op::Add, R1, 1);
    a.store(Width::W, R6, task::PLACE, R1);
}

/// `R4 = ` a piece for the string at this place.
fn next_string(a: &mut Asm, full: Label) {
    next_piece(a, R4, full);
    a.load(Width::B, R1, R8, VECTOR_AT + spec::ARGUMENT);
    a.store(Width::B, R4, PIECES + piece::ARGUMENT, R1);
    a.store_number(Width::B, R4, PIECES + piece::STATE, piece::WHOLE);
    a.load(Width::W, R1, R6, task::PLACE);
    a.store(Width::H, R4, PIECES + piece::ELEMENT, R1);
}

/// Reads the string at `R3` into the piece `R4` and finishes it.
fn contents(a: &mut Asm, full: Label) {
    let (failed, read) = (a.label(), a.label());
    a.lea(R1, R4, i32::from(PIECES + piece::SIZE));
    a.mov(R2, MAX_PIECE + 1);
    a.call(Helper::ProbeReadUserStr);
    next_piece(a, R4, full);
    a.jump_if(If::Slt, R0, 0, failed);
    count_the_zero(a);
    a.op(Op::Sub, R0, 1);
    a.jump_if(If::Ne, R0, MAX_PIECE, read);
    a.store_number(Width::B, R4, PIECES + piece::STATE, piece::CUT);
    a.jump(read);
    a.here(failed);
    a.store_number(Width::B, R4, PIECES + piece::STATE, piece::UNREAD);
    try_again_at_exit(a, Fetch::At(VECTOR));
    a.mov(R0, 0);
    a.here(read);
    finish_piece(a, R4);
}

/// On `sched_process_exec(task, old_pid, bprm)`: the task may have another id now, and it is the
/// place to learn the path.
pub(in crate::capture) fn exec(names: &Names, place: Place, copy: Copy) -> Option<Vec<u64>> {
    program(|a| {
        let (out, known) = (a.label(), a.label());
        a.store(Width::D, STACK, CONTEXT, R1);
        match place {
            Place::Record(offsets) => a.load(Width::W, R1, R1, offsets.exec_old_pid),
            Place::Tracepoint(_) => a.load(Width::D, R1, R1, 8),
        }
        a.store(Width::W, STACK, KEY, R1);
        look_up(a, names.tasks, out);
        a.mov_reg(R6, R0);
        is_first(a, copy, out);
        match place {
            Place::Record(offsets) => {
                a.load(Width::D, R1, STACK, CONTEXT);
                a.load(Width::W, R9, R1, offsets.exec_pid);
            }
            Place::Tracepoint(_) => {
                a.call(Helper::CurrentPidTgid);
                // The id of the thread is the lower half.
                a.store(Width::W, STACK, WORD, R0);
                a.load(Width::W, R9, STACK, WORD);
            }
        }
        a.load(Width::W, R1, STACK, KEY);
        a.jump_if_reg(If::Eq, R1, R9, known);
        rename_task(a, names, out);
        a.here(known);
        a.store_number(Width::W, R6, task::RECORDED, 1);
        a.load(Width::W, R1, R6, task::OWED);
        let wanted = a.label();
        a.jump_if(If::Set, R1, 1, wanted);
        a.jump(out);
        a.here(wanted);
        start_record(a, names, Scratch::Exec(copy), out);
        exec_path(a, names, place);
        send_record(a, names, head::WITHIN);
        a.here(out);
        a.exit(1);
    })
}

/// The piece for the path of an exec, from the record of `sched_process_exec`.
fn exec_path(a: &mut Asm, names: &Names, place: Place) {
    let (failed, done, first, second) = (a.label(), a.label(), a.label(), a.label());
    a.store_number(Width::B, R7, PIECES + piece::ARGUMENT, 0);
    a.load(Width::W, R1, R6, task::NUMBER);
    for place in names.calls.execveat {
        a.jump_if(If::Eq, R1, place, second);
    }
    a.jump(first);
    a.here(second);
    a.store_number(Width::B, R7, PIECES + piece::ARGUMENT, 1);
    a.here(first);
    a.store_number(Width::B, R7, PIECES + piece::STATE, piece::WHOLE);
    a.store_number(Width::H, R7, PIECES + piece::ELEMENT, 0);
    a.store_number(Width::D, R7, PIECES + piece::ADDRESS, 0);
    a.load(Width::D, R3, STACK, CONTEXT);
    match place {
        Place::Record(offsets) => {
            a.load(Width::W, R4, R3, offsets.exec_file);
            a.op(Op::And, R4, 0xffff);
            a.op_reg(Op::Add, R3, R4);
        }
        Place::Tracepoint(members) => {
            a.load(Width::D, R3, R3, 16);
            a.op(Op::Add, R3, members.exec_file);
            a.lea(R1, STACK, WORD.into());
            a.mov(R2, 8);
            a.call(Helper::ProbeReadKernel);
            a.jump_if(If::Ne, R0, 0, failed);
            a.load(Width::D, R3, STACK, WORD);
        }
    }
    a.lea(R1, R7, i32::from(PIECES + piece::SIZE));
    a.mov(R2, MAX_PIECE);
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
