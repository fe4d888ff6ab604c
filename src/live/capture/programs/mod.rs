//! The programs, one instruction a line.
//!
//! All programs run for every task of the machine, and so first look the task up and return at once
//! for one that is not followed. Programs on raw tracepoints stand beside the events of a
//! tracepoint and cannot hide its records. If the kernel does not describe its types, a fork and an
//! exec must be seen through their tracepoints' records, which name the new id by a stable layout:
//! then the programs return 1.
//!
//! A read may not sleep. Memory that is not resident at a call's entry (such as a constant that was
//! never touched) is read again when the kernel has brought it in: at the call's exit, or before it
//! if the thread gives up its CPU within the call. The thread that it waits for may change what the
//! kernel has long read (and so may a thread on another CPU). After a successful `execve` the path
//! comes with `sched_process_exec`, the rest from the new stack.

mod calls;
mod exec;
mod halves;
mod other;
mod output;
mod pieces;
mod rest;
mod room;
mod standing;
mod structures;
mod switch;
mod tasks;

use output::{count, send_record};
use pieces::start_record;

pub(super) use calls::{Preemption, Recording};
pub(super) use pieces::Scratch;
pub(super) use switch::switch;
use tasks::{copy_saved, copy_status};
pub(super) use tasks::{fork, gone};

pub(super) use exec::exec;
pub(super) use halves::{enter, exit};
pub(super) use other::Other;

use super::asm::{Asm, Helper, If, Label, Op, R0, R1, R2, R3, R6, R7, R8, R9, STACK, Width};
use super::wire::{PLACES, head, spec, task};

/// What the programs refer to: descriptors of maps, and facts about the machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names {
    pub(super) tasks: i32,
    pub(super) claims: i32,
    pub(super) specs: i32,
    pub(super) slots: i32,
    pub(super) scratch: i32,
    pub(super) output: i32,
    /// The programs that others go on with, at these places.
    pub(super) programs: i32,
    /// One more than the largest number of a CPU.
    pub(super) n_cpus: i32,
    pub(super) calls: Calls,
    /// Where a task has its mark of a 32-bit call; `None` where that is not known.
    pub(super) compat: Option<i32>,
    /// Of programs that record calls; `None` where perf does.
    pub(super) recording: Option<Recording>,
}

/// The calls that the programs know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calls {
    /// The number of the native `prctl(2)`.
    pub(super) prctl: i32,
    /// The places of `execve(2)`.
    pub(super) execve: [i32; 2],
    /// The places of `execveat(2)`.
    pub(super) execveat: [i32; 2],
}

/// Where the records of `sched_process_fork` and `sched_process_exec` have what is needed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offsets {
    pub(super) child: i16,
    pub(super) exec_file: i16,
    pub(super) exec_pid: i16,
    pub(super) exec_old_pid: i16,
}

/// Where the kernel's structures have it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Members {
    /// `task_struct.pid`.
    pub(super) pid: i32,
    /// `linux_binprm.filename`.
    pub(super) exec_file: i32,
}

/// What a program for forks or execs stands on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// The tracepoint itself, which hands over the kernel's structures.
    Tracepoint(Members),
    /// An event of it, which hands over its record.
    Record(Offsets),
}

// Where struct pt_regs has things; the layout is that of ptrace(2) and will not change.
#[cfg(target_arch = "x86_64")]
mod regs {
    /// di, si, dx, r10, r8, r9, from the copy's start.
    pub(super) const ARGS: [i16; 6] = [80, 72, 64, 24, 40, 32];
    /// bx, cx, dx, si, di, bp.
    pub(super) const COMPAT_ARGS: [i16; 6] = [8, 56, 64, 72, 80, 0];
    /// From `bp` to `cs`.
    pub(super) const COPY_FROM: i32 = 32;
    pub(super) const COPY_SIZE: i32 = 112;
    /// `cx` and `ip` from the copy's start: equal after the `syscall` instruction.
    pub(super) const CX: i16 = 56;
    pub(super) const IP: i16 = 96;
    pub(super) const STACK_POINTER: i32 = 152;
}
#[cfg(not(target_arch = "x86_64"))]
mod regs {
    /// x0 to x5, from the copy's start.
    pub(super) const ARGS: [i16; 6] = [0, 8, 16, 24, 32, 40];
    /// r0 to r5, which are their lower halves.
    pub(super) const COMPAT_ARGS: [i16; 6] = ARGS;
    pub(super) const COPY_FROM: i32 = 0;
    pub(super) const COPY_SIZE: i32 = 48;
    pub(super) const STACK_POINTER: i32 = 248;
    /// The processor's state, with the mark of 32-bit code.
    pub(super) const STATE: i32 = 264;
    pub(super) const MODE32: i32 = 0x10;
}

// The stack of every program.
const KEY: i16 = -4;
const OFFSET: i16 = -16;
const WORD: i16 = -24;
const CONTEXT: i16 = -32;
const RESULT: i16 = -40;
/// The ids of the current task.
const WHO: i16 = -48;
/// `thread_info.status` of the current task, with the mark of a call by the 32-bit convention.
const STATUS: i16 = -56;
const TS_COMPAT: i32 = 2;
const REGS: i16 = -176;
const NEW_TASK: i16 = -184;

fn program(build: impl FnOnce(&mut Asm)) -> Option<Vec<u64>> {
    let mut asm = Asm::default();
    build(&mut asm);
    asm.finish()
}

/// Which of the copies of a program, attached one behind the other. From Linux 6.19 on a program
/// can be preempted, and the kernel skips it for another task that comes to its tracepoint
/// meanwhile; the next copy is there for that task. Only as many tasks as there are copies can be
/// preempted so on one CPU at a time before one finds none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copy {
    First,
    Second,
    Third,
    Fourth,
}

impl Copy {
    pub(super) const ALL: [Self; 4] = [Self::First, Self::Second, Self::Third, Self::Fourth];

    /// The copies that a kernel needs.
    pub(super) fn needed(may_preempt: bool) -> &'static [Self] {
        match may_preempt {
            true => &Self::ALL,
            false => &[Self::First],
        }
    }
}

/// Goes on if no copy in front of this one was here for the same event of the task: they are run in
/// the order of their numbers. Where the last one was skipped at the event before, and the first at
/// this one, the event is not seen; none is seen twice.
fn is_first(a: &mut Asm, copy: Copy, out: Label) {
    let fresh = a.label();
    let number = copy as i32 + 1;
    a.load(Width::W, R1, R6, task::LAST);
    a.store_number(Width::W, R6, task::LAST, number);
    a.jump_if(If::Eq, R1, 0, fresh);
    a.jump_if(If::Le, R1, number - 1, out);
    a.here(fresh);
}

/// On `signal_deliver(signal, info, action)`: how an interrupted call goes on.
pub(super) fn signal(names: &Names, copy: Copy) -> Option<Vec<u64>> {
    program(|a| {
        let (out, send) = (a.label(), a.label());
        a.store(Width::D, STACK, CONTEXT, R1);
        a.load(Width::D, R9, R1, 16);
        current_task(a, names, out);
        is_first(a, copy, out);
        a.load(Width::W, R1, R6, task::INTERRUPTED);
        a.jump_if(If::Eq, R1, 0, out);
        // sa_handler and sa_flags of struct k_sigaction.
        a.lea(R1, STACK, REGS.into());
        a.mov(R2, 16);
        a.mov_reg(R3, R9);
        a.call(Helper::ProbeReadKernel);
        a.jump_if(If::Ne, R0, 0, out);
        start_record(a, names, Scratch::Signal(copy), out);
        a.mov(R2, 0);
        a.load(Width::D, R1, STACK, REGS);
        // SIG_DFL and SIG_IGN.
        a.jump_if(If::Le, R1, 1, send);
        a.load(Width::D, R2, STACK, REGS + 8);
        a.op(Op::Or, R2, head::HANDLED);
        a.store_number(Width::W, R6, task::INTERRUPTED, 0);
        a.here(send);
        a.store(Width::D, R7, head::SIGNAL, R2);
        send_record(a, names, head::DELIVERED);
        a.here(out);
        a.exit(0);
    })
}

/// Leaves the program for another.
fn go_on_with(a: &mut Asm, names: &Names, other: Other) {
    a.load(Width::D, R1, STACK, CONTEXT);
    a.map(R2, names.programs);
    a.mov(R3, other.place() as i32);
    a.call(Helper::TailCall);
}

/// `R0 = ` the value in a map of the key at [`KEY`].
fn look_up(a: &mut Asm, map: i32, missing: Label) {
    a.map(R1, map);
    a.lea(R2, STACK, KEY.into());
    a.call(Helper::MapLookup);
    a.jump_if(If::Eq, R0, 0, missing);
}

/// `R6 = ` the current task, if it is followed; [`KEY`] is its id, [`WHO`] its ids.
fn current_task(a: &mut Asm, names: &Names, stranger: Label) {
    a.call(Helper::CurrentPidTgid);
    a.store(Width::D, STACK, WHO, R0);
    a.store(Width::W, STACK, KEY, R0);
    look_up(a, names.tasks, stranger);
    a.mov_reg(R6, R0);
}

/// `R8 = ` what is to be read for the call at the place `R9`, of which the first so many are looked
/// for.
fn find_spec(a: &mut Asm, names: &Names, places: u32, nothing: Label) {
    a.jump_if(If::Gt, R9, places as i32 - 1, nothing);
    a.load(Width::W, R1, R6, task::SLOT);
    a.op(Op::Mul, R1, PLACES as i32);
    a.op_reg(Op::Add, R1, R9);
    a.store(Width::W, STACK, KEY, R1);
    look_up(a, names.specs, nothing);
    a.mov_reg(R8, R0);
    a.load(Width::B, R1, R8, spec::ANY);
    a.jump_if(If::Eq, R1, 0, nothing);
}

/// Copies the six words of a call to the task. The numbers of other conventions mean other calls:
/// with that of a 32-bit call `R8` becomes what is to be read for it, and [`task::NUMBER`] its
/// place.
fn copy_arguments(a: &mut Asm, names: &Names, nothing: Label) {
    let copied = a.label();
    if names.recording.is_none() {
        let wanted = a.label();
        copy_status(a, names, nothing);
        // Of most calls with nothing to read the registers are not copied.
        if names.compat.is_some() {
            a.load(Width::W, R1, STACK, STATUS);
            a.jump_if(If::Set, R1, TS_COMPAT, wanted);
            a.load(Width::B, R1, R8, spec::OWN);
            a.jump_if(If::Eq, R1, 0, nothing);
        }
        a.here(wanted);
        copy_saved(a, nothing);
    }
    let compat = a.label();
    native_or(a, names, compat);
    a.load(Width::B, R1, R8, spec::OWN);
    a.jump_if(If::Eq, R1, 0, nothing);
    copy_words(a, Width::D, regs::ARGS);
    a.jump(copied);
    a.here(compat);
    compat_arguments(a, names, nothing);
    a.here(copied);
}

fn copy_words(a: &mut Asm, width: Width, registers: [i16; 6]) {
    for (place, from) in registers.iter().enumerate() {
        a.load(width, R1, STACK, REGS + from);
        a.store(Width::D, R6, task::ARGS + 8 * place as i16, R1);
    }
}

/// The kernel looks at the lower half of each register alone.
fn compat_arguments(a: &mut Asm, names: &Names, nothing: Label) {
    // Without the kernel's own mark it is not sure on x86_64 that it is one.
    if cfg!(target_arch = "x86_64") && names.compat.is_none() {
        return a.jump(nothing);
    }
    a.load(Width::W, R9, R6, task::NUMBER);
    a.op(Op::Add, R9, super::wire::MAX_CALLS as i32);
    a.store(Width::W, R6, task::NUMBER, R9);
    find_spec(a, names, PLACES, nothing);
    copy_words(a, Width::W, regs::COMPAT_ARGS);
    if cfg!(target_arch = "x86_64") {
        standing::stand_for(a, names);
    }
    a.load(Width::B, R1, R8, spec::OWN);
    a.jump_if(If::Eq, R1, 0, nothing);
}

#[cfg(target_arch = "x86_64")]
fn native_or(a: &mut Asm, names: &Names, other: Label) {
    if names.compat.is_some() {
        a.load(Width::W, R1, STACK, STATUS);
        a.jump_if(If::Set, R1, TS_COMPAT, other);
        return;
    }
    a.load(Width::D, R1, STACK, REGS + regs::CX);
    a.load(Width::D, R2, STACK, REGS + regs::IP);
    a.jump_if_reg(If::Ne, R1, R2, other);
}

#[cfg(not(target_arch = "x86_64"))]
fn native_or(a: &mut Asm, _: &Names, other: Label) {
    a.lea(R1, STACK, WORD.into());
    a.mov(R2, 8);
    a.lea(R3, R9, regs::STATE);
    a.call(Helper::ProbeReadKernel);
    a.jump_if(If::Ne, R0, 0, other);
    a.load(Width::D, R1, STACK, WORD);
    a.jump_if(If::Set, R1, regs::MODE32, other);
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::capture) const NAMES: Names = Names {
        tasks: 1,
        claims: 2,
        specs: 3,
        slots: 4,
        scratch: 5,
        output: 6,
        programs: 7,
        n_cpus: 2,
        calls: Calls {
            prctl: 157,
            execve: [59, 523],
            execveat: [322, 870],
        },
        compat: Some(16),
        recording: None,
    };

    /// The buffer in which a program begins its records: what it stores to `R6`, in the task.
    fn buffers(program: Option<Vec<u64>>) -> Vec<u64> {
        let program = program.expect("a program");
        let stores = program.iter().filter(|word| {
            let offset = (*word >> 16 & 0xffff) as i16;
            *word & 0xfff == 0x662 && offset == task::SCRATCH
        });
        stores.map(|word| word >> 32).collect()
    }

    #[test]
    fn a_copy_and_what_it_goes_on_with_have_a_buffer_that_no_other_program_has() {
        let mut seen = Vec::new();
        for copy in Copy::ALL {
            let enter = buffers(enter(&NAMES, copy));
            assert_eq!(enter, buffers(Other::Enter(copy).program(&NAMES)));
            let exit = buffers(exit(&NAMES, copy));
            assert_eq!(exit, buffers(Other::Exit(copy).program(&NAMES)));
            let place = Place::Tracepoint(Members {
                pid: 8,
                exec_file: 8,
            });
            let others = [exec(&NAMES, place, copy), signal(&NAMES, copy)].map(buffers);
            seen.extend([enter, exit].concat());
            seen.extend(others.concat());
        }
        seen.extend(buffers(switch(&NAMES)));
        assert_eq!(seen.len(), Scratch::NUMBER as usize);
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), Scratch::NUMBER as usize, "{seen:?}");
    }

    #[test]
    fn the_verifier_has_little_to_follow() {
        let others = Other::needed(&[Copy::First]).map(|other| other.program(&NAMES));
        let first = [enter, exit].map(|program| program(&NAMES, Copy::First));
        let all = others
            .chain(first)
            .chain([switch(&NAMES), signal(&NAMES, Copy::First)]);
        let lengths: Vec<_> = all
            .map(|program| program.map_or(0, |it| it.len()))
            .collect();
        assert!(
            lengths.iter().all(|length| (1..480).contains(length)),
            "{lengths:?}"
        );
    }

    #[test]
    fn each_program_that_others_go_on_with_has_a_place_of_its_own() {
        let mut places: Vec<_> = Other::needed(&Copy::ALL).map(Other::place).collect();
        places.sort_unstable();
        assert_eq!(places, (0..Other::NUMBER).collect::<Vec<_>>());
    }
}
