//! Decides which tasks are followed.

use super::super::asm::{
    Asm, Helper, If, Label, Op, R0, R1, R2, R3, R4, R6, R8, R9, Reg, STACK, Width,
};
use super::super::wire::{slot, task};
use super::{
    CONTEXT, Copy, KEY, NEW_TASK, Names, Place, REGS, STATUS, WORD, count, current_task, is_first,
    look_up, program, regs,
};

/// On `sched_process_fork(parent, child)`: what a followed task creates is followed.
pub(in crate::capture) fn fork(names: &Names, place: Place, copy: Copy) -> Option<Vec<u64>> {
    program(|a| {
        let (out, full) = (a.label(), a.label());
        a.store(Width::D, STACK, CONTEXT, R1);
        current_task(a, names, out);
        is_first(a, copy, out);
        a.load(Width::D, R1, STACK, CONTEXT);
        match place {
            Place::Record(offsets) => a.load(Width::W, R9, R1, offsets.child),
            Place::Tracepoint(members) => {
                a.load(Width::D, R3, R1, 8);
                a.op(Op::Add, R3, members.pid);
                a.lea(R1, STACK, WORD.into());
                a.mov(R2, 4);
                a.call(Helper::ProbeReadKernel);
                a.jump_if(If::Ne, R0, 0, out);
                a.load(Width::W, R9, STACK, WORD);
            }
        }
        a.load(Width::W, R8, R6, task::SLOT);
        add_task(a, names, R9, Some(R6), full);
        a.jump(out);
        a.here(full);
        count(a, names, slot::LOST, R8);
        a.here(out);
        a.exit(1);
    })
}

/// On the raw tracepoint `sched_process_exit`: the current task is about to go. What one copy has
/// done the next finds done.
pub(in crate::capture) fn gone(names: &Names) -> Option<Vec<u64>> {
    program(|a| {
        let out = a.label();
        current_task(a, names, out);
        // The next task with its id is not recorded, even if the map cannot let go of it.
        a.store_number(Width::W, R6, task::RECORDED, 0);
        a.map(R1, names.tasks);
        a.lea(R2, STACK, KEY.into());
        a.call(Helper::MapDelete);
        a.here(out);
        a.exit(0);
    })
}

/// Follows the task of id `id`, in the slot `R8`; its calls are recorded if its parent's are.
fn add_task(a: &mut Asm, names: &Names, id: Reg, parent: Option<Reg>, full: Label) {
    a.store(Width::W, STACK, KEY, id);
    for at in (0..task::SIZE as i16).step_by(8) {
        a.store_number(Width::D, STACK, NEW_TASK + at, 0);
    }
    if let Some(parent) = parent {
        a.load(Width::W, R1, parent, task::RECORDED);
        a.store(Width::W, STACK, NEW_TASK + task::RECORDED, R1);
    }
    a.store(Width::W, STACK, NEW_TASK + task::SLOT, R8);
    a.map(R1, names.tasks);
    a.lea(R2, STACK, KEY.into());
    a.lea(R3, STACK, NEW_TASK.into());
    a.mov(R4, 0);
    a.call(Helper::MapUpdate);
    a.jump_if(If::Ne, R0, 0, full);
}

/// A thread that is not the leader has executed a program and has the leader's id now, `R9`: what
/// is known of `R6` is known of that.
pub(super) fn rename_task(a: &mut Asm, names: &Names, out: Label) {
    for at in (0..task::SIZE as i16).step_by(8) {
        a.load(Width::D, R1, R6, at);
        a.store(Width::D, STACK, NEW_TASK + at, R1);
    }
    a.store_number(Width::W, R6, task::RECORDED, 0);
    a.map(R1, names.tasks);
    a.lea(R2, STACK, KEY.into());
    a.call(Helper::MapDelete);
    a.store(Width::W, STACK, KEY, R9);
    a.map(R1, names.tasks);
    a.lea(R2, STACK, KEY.into());
    a.lea(R3, STACK, NEW_TASK.into());
    a.mov(R4, 0);
    a.call(Helper::MapUpdate);
    look_up(a, names.tasks, out);
    a.mov_reg(R6, R0);
}

/// Copies the registers with which a call was made to the stack, and by which convention the kernel
/// made it, where that is known; leaves `R9` at the registers.
pub(super) fn copy_registers(a: &mut Asm, names: &Names, failed: Label) {
    copy_status(a, names, failed);
    copy_saved(a, failed);
}

/// The convention alone.
pub(super) fn copy_status(a: &mut Asm, names: &Names, failed: Label) {
    if let Some(compat) = names.compat {
        a.call(Helper::CurrentTask);
        a.lea(R1, STACK, STATUS.into());
        a.mov(R2, 4);
        a.mov_reg(R3, R0);
        a.op(Op::Add, R3, compat);
        a.call(Helper::ProbeReadKernel);
        a.jump_if(If::Ne, R0, 0, failed);
    }
}

/// The registers alone.
pub(super) fn copy_saved(a: &mut Asm, failed: Label) {
    a.load(Width::D, R9, STACK, CONTEXT);
    a.load(Width::D, R9, R9, 0);
    a.lea(R1, STACK, REGS.into());
    a.mov(R2, regs::COPY_SIZE);
    a.lea(R3, R9, regs::COPY_FROM);
    a.call(Helper::ProbeReadKernel);
    a.jump_if(If::Ne, R0, 0, failed);
}

/// Lets a task that is not followed ask for it, by `prctl(CLAIM, token)` with a token from the map
/// of claims. The call number is in `R9`.
pub(super) fn claim(a: &mut Asm, names: &Names) {
    let (out, full) = (a.label(), a.label());
    a.jump_if(If::Ne, R9, names.calls.prctl, out);
    copy_registers(a, names, out);
    a.load(Width::D, R1, STACK, REGS + regs::ARGS[0]);
    a.jump_if(If::Ne, R1, crate::sys::process::CLAIM, out);
    a.load(Width::D, R1, STACK, REGS + regs::ARGS[1]);
    a.store(Width::D, STACK, WORD, R1);
    a.map(R1, names.claims);
    a.lea(R2, STACK, WORD.into());
    a.call(Helper::MapLookup);
    a.jump_if(If::Eq, R0, 0, out);
    a.load(Width::W, R8, R0, 0);
    a.call(Helper::CurrentPidTgid);
    a.mov_reg(R9, R0);
    add_task(a, names, R9, None, full);
    a.jump(out);
    a.here(full);
    count(a, names, slot::LOST, R8);
    a.here(out);
}
