//! What is known of one thread between two records: the call that it is in, and what was read for
//! it.

use super::call::{Actor, Call, Entry, Observation, Outcome, Shares, ThreadId};
use super::files::Files;
use super::injected::Injected;
use super::many;
use super::names::{self, Abi};
use crate::memory::{Handled, Memory, Moment};
use perf_records::units::Nanos;

#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub(super) abi: Abi,
    pub(super) number: i32,
    /// When it was entered, or was under way.
    pub(super) time: Nanos,
    /// Whether it was under way when recording began.
    pub(super) was_under_way: bool,
    pub(super) args: [u64; 6],
    pub(super) memory: Memory,
    /// Whether more is read when it is left, which may come behind the leaving half.
    pub(super) more: bool,
    /// What was done to it while it was held.
    pub(super) injected: Injected,
}

/// Contents of a call that has not been seen to enter.
#[derive(Clone, Debug)]
pub(super) struct Early {
    /// Its convention and number.
    pub(super) call: (Abi, i32),
    pub(super) memory: Memory,
    pub(super) more: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Thread {
    pub(super) actor: Actor,
    pub(super) pending: Option<Pending>,
    /// Read for the call whose entering half comes next: the two probes of a tracepoint fire in any
    /// order.
    pub(super) early: Option<Early>,
    /// Returned, but what is read at its end did not come yet. It comes before the thread does
    /// anything else.
    pub(super) returned: Option<Box<Call>>,
    /// Created by this thread in the call that it is in.
    pub(super) child: Option<ThreadId>,
    /// Between the name that an exec gave it and the exec's return.
    pub(super) executing: bool,
    /// Its id in the initial namespace, once a record told it.
    pub(super) global: i32,
    /// Nothing of it was seen yet: its first half may be the second one of its creator's call.
    pub(super) fresh: bool,
    /// A seccomp filter has just sent it `SIGSYS` for a call that it has not left.
    pub(super) refused: bool,
    /// A leader that ended while others of its process live, one of which may take its place by an
    /// exec.
    pub(super) ended: bool,
}

impl Thread {
    /// What was read for the call that is entered now.
    pub(super) fn early(&mut self, abi: Abi, number: i32) -> (Memory, bool) {
        let early = self.early.take();
        let is_it = |early: &Early| many::made_as(early.call.0, early.call.1) == (abi, number);
        let early = early.filter(is_it);
        early.map_or_else(Default::default, |early| (early.memory, early.more))
    }
}

impl Pending {
    pub(super) fn has_contents(&self) -> bool {
        self.memory.is_read()
    }

    /// Whether what was read for a call of that convention and number was read for this one.
    pub(super) fn is_read_as(&self, abi: Abi, number: i32) -> bool {
        (self.abi, self.number) == many::made_as(abi, number)
    }

    /// Whether a half that leaves with this number and result is this call's. One that has executed
    /// a program leaves as an `execve` of the program's convention, whatever it was
    /// (`set_personality_64bit()`, `set_personality_ia32()`); `rt_sigreturn`, and any call whose
    /// number a tracer replaced, leaves as -1.
    pub(super) fn leaves_as(&self, number: i32, value: i64) -> bool {
        number == self.number
            || number == -1
            || value == 0 && executes(self.abi, self.number) && leaves_an_exec(number)
    }

    /// What was read of the call between its halves. The kernel's own name for a program that
    /// `execveat` finds by a directory begins with `/dev/fd/` and the directory (`alloc_bprm()`),
    /// which the program did not give.
    pub(super) fn add_within(&mut self, mut memory: Memory) {
        if is_one_of(self.abi, self.number, &["execveat"]) {
            let directory = format!("/dev/fd/{}", self.args[0] as i32);
            memory.change(1, |path| {
                let below = path.strip_prefix(directory.as_bytes());
                let given = match below {
                    Some([b'/', rest @ ..]) => rest,
                    Some([]) => &[],
                    _ => path,
                };
                given.into()
            });
        }
        self.memory.extend(memory);
    }

    /// What became of it if the thread goes on and its end is not in the records. Tracepoints of
    /// calls never tell that `rt_sigreturn` was left, as its number is gone by then
    /// (`trace_get_syscall_nr()`).
    pub(super) fn without_end(&self, by_own_tracepoints: bool) -> Outcome {
        if by_own_tracepoints && is_one_of(self.abi, self.number, &["rt_sigreturn"]) {
            Outcome::NeverReturned
        } else {
            Outcome::Missing
        }
    }

    pub(super) fn entry(&self) -> Entry {
        self.entry_with(self.args)
    }

    fn entry_with(&self, args: [u64; 6]) -> Entry {
        match self.was_under_way {
            false => Entry::Seen {
                time: self.time,
                args,
            },
            true => Entry::UnderWay {
                since: self.time,
                args,
            },
        }
    }

    pub(super) fn entered(&self, actor: Actor) -> Observation {
        let made = (self.number, self.args);
        let told = many::words((self.abi, self.number), &self.args, &self.memory);
        let (number, args) = told.unwrap_or(made);
        Observation::Entered {
            actor,
            abi: self.abi,
            number,
            entry: self.entry_with(args),
            is_answered: self.injected.answer.is_some(),
        }
    }

    pub(super) fn call(self, actor: Actor, outcome: Outcome) -> Call {
        Call {
            actor,
            abi: self.abi,
            number: self.number,
            entry: self.entry(),
            outcome,
            memory: self.memory,
            files: Files::default(),
            places: Default::default(),
            injected: self.injected,
        }
    }

    /// What a task that is created in this call shares with its creator: the flags of `clone(2)`.
    pub(super) fn shares(&self) -> Shares {
        let flags = match names::name_of(self.abi, self.number) {
            Some("fork") => Some(0),
            Some("vfork") => Some(libc::CLONE_VM as u64),
            Some("clone") => Some(self.args[0]),
            Some("clone3") => self
                .memory
                .piece(0, Moment::Enter)
                .and_then(|piece| piece.bytes.first_chunk())
                .map(|flags| u64::from_ne_bytes(*flags)),
            _ => None,
        };
        let has = |flag: libc::c_int| flags.map(|flags| flags & flag as u64 != 0);
        Shares {
            files: has(libc::CLONE_FILES),
            directory: has(libc::CLONE_FS),
            memory: has(libc::CLONE_VM),
        }
    }
}

/// A thread does something else: what is read at the end of its last call has come, or never will.
pub(super) fn settle(thread: &mut Thread, out: &mut Vec<Observation>) {
    if let Some(call) = thread.returned.take() {
        out.push(over(*call));
    }
}

/// A call is over, and told as what it is.
pub(super) fn over(call: Call) -> Observation {
    Observation::Call(many::told(call))
}

/// A thread enters a call. One that was interrupted and is the same was made again by the kernel,
/// without the program.
pub(super) fn settle_before(next: &Pending, thread: &mut Thread, out: &mut Vec<Observation>) {
    if let Some(call) = &mut thread.returned
        && let Outcome::Interrupted { time, errno } = call.outcome
    {
        let is_same = call.entry.args() == Some(&next.args)
            && (call.abi, call.number) == (next.abi, next.number);
        if is_same || is_one_of(next.abi, next.number, &["restart_syscall"]) {
            call.outcome = Outcome::Restarted { time, errno };
        }
    }
    settle(thread, out);
}

/// A signal came for a thread whose last call was interrupted: what the program sees of the call
/// follows from how it handles the signal (`handle_signal()`, `arch/x86/kernel/signal.c`). Where it
/// does not, nothing is decided yet.
pub(super) fn signalled(thread: &mut Thread, handled: Handled, out: &mut Vec<Observation>) {
    // ERESTARTSYS, ERESTARTNOINTR: include/linux/errno.h.
    const RESTART_SYS: i32 = 512;
    const RESTART_NO_INTR: i32 = 513;
    if let Some(call) = &mut thread.returned
        && let Outcome::Interrupted { time, errno } = call.outcome
    {
        call.outcome = match errno {
            RESTART_NO_INTR => Outcome::Restarted { time, errno },
            RESTART_SYS if handled.restarts => Outcome::Restarted { time, errno },
            _ => Outcome::Returned {
                time,
                value: -i64::from(libc::EINTR),
            },
        };
        settle(thread, out);
    }
}

/// A thread ends: the call that it is in never returns.
pub(super) fn abandon(thread: &mut Thread, out: &mut Vec<Observation>) {
    if let Some(call) = &mut thread.returned
        && matches!(call.outcome, Outcome::Interrupted { .. })
    {
        call.outcome = Outcome::NeverReturned;
    }
    settle(thread, out);
    if let Some(pending) = thread.pending.take() {
        out.push(over(pending.call(thread.actor, Outcome::NeverReturned)));
    }
}

// ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK: include/linux/errno.h.
pub(super) fn outcome(time: Nanos, value: i64) -> Outcome {
    match value {
        -514..=-512 | -516 => Outcome::Interrupted {
            time,
            errno: -value as i32,
        },
        _ => Outcome::Returned { time, value },
    }
}

pub(super) fn is_one_of(abi: Abi, number: i32, wanted: &[&str]) -> bool {
    names::name_of(abi, number).is_some_and(|name| wanted.contains(&name))
}

pub(super) fn executes(abi: Abi, number: i32) -> bool {
    is_one_of(abi, number, &["execve", "execveat"])
}

/// Whether a call that has executed a program leaves under this number, in whichever convention the
/// program is.
pub(super) fn leaves_an_exec(number: i32) -> bool {
    let conventions = [Some(Abi::native()), Abi::native().compat(), Some(Abi::X32)];
    let mut conventions = conventions.into_iter().flatten();
    conventions.any(|abi| is_one_of(abi, number, &["execve"]))
}

/// Whether a number is that of a call that creates tasks, in either convention: the child's half
/// does not say which.
pub(super) fn makes_tasks(number: i32) -> bool {
    std::iter::once(Abi::native())
        .chain(Abi::native().compat())
        .any(|abi| names::makes_tasks(abi, number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Observation, Tracker};
    use perf_records::record::{Comm, Task};
    use perf_records::units::{Pid, Tid};

    /// What a thread shares that is made in this call.
    fn shares(call: &str, flags: u64) -> Shares {
        let (mut tracker, mut out) = (Tracker::default(), Vec::new());
        let number = |call| names::number(Abi::native(), call).expect("a number") as i32;
        let who = (Pid(10), Tid(10));
        let program = Comm {
            pid: who.0,
            tid: who.1,
            name: b"program",
            exec: true,
        };
        tracker.comm(&program, &mut out);
        tracker.leave(
            who,
            Nanos(0),
            (Abi::native(), number("execve")),
            0,
            &mut out,
        );
        out.clear();
        let words = [flags, 0, 0, 0, 0, 0];
        tracker.enter(who, Nanos(1), Abi::native(), number(call), words, &mut out);
        let task = Task {
            pid: Pid(10),
            tid: Tid(11),
            parent_pid: Pid(10),
            parent_tid: Tid(10),
            time: Nanos(2),
        };
        tracker.fork(&task, &mut out);
        let born = out.iter().find_map(|it| match it {
            Observation::Born { shares, .. } => Some(*shares),
            _ => None,
        });
        born.expect("a birth")
    }

    #[test]
    fn a_thread_shares_what_its_clone_says_and_its_memory() {
        let of_thread = (libc::CLONE_VM | libc::CLONE_SIGHAND | libc::CLONE_THREAD) as u64;
        let (fs, files) = (libc::CLONE_FS as u64, libc::CLONE_FILES as u64);
        for (call, flags, shared) in [
            ("clone", of_thread, (Some(false), Some(false))),
            ("clone", of_thread | fs, (Some(true), Some(false))),
            ("clone", of_thread | files, (Some(false), Some(true))),
            // Its flags were not read.
            ("clone3", 0x1000, (None, None)),
            // It was entered before anything was recorded.
            ("getpid", 0, (None, None)),
        ] {
            let born = shares(call, flags);
            assert_eq!((born.directory, born.files), shared, "{call} {flags:#x}");
            assert_eq!(born.memory, Some(true));
        }
    }
}
