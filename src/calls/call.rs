//! What comes out of the records: calls, and what became of the tasks that made them.

use super::files::Files;
use super::injected::Injected;
use super::kinds::{ReturnKind, return_kind};
use super::layout;
use super::many;
use super::mappings::Places;
use super::names::{self, Abi};
use super::relatives;
use super::starts::Role;
use crate::memory::Memory;
use perf_records::units::{Nanos, Pid, Tid};

/// A thread of this run, never reused, numbered as they were first seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(pub u32);

/// A thread's name, `TASK_COMM_LEN` bytes at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShortName {
    bytes: [u8; 16],
    length: u8,
}

impl ShortName {
    /// Takes the first 16 bytes.
    #[must_use]
    pub fn new(name: &[u8]) -> Self {
        let mut short = Self::default();
        for (to, from) in short.bytes.iter_mut().zip(name) {
            *to = *from;
            short.length += 1;
        }
        short
    }

    /// The name.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes
            .get(..usize::from(self.length))
            .unwrap_or_default()
    }
}

/// The task that did something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Actor {
    /// The thread, for good.
    pub thread: ThreadId,
    /// Its process.
    pub pid: Pid,
    /// Its id; after an exec by another thread that of the leader.
    pub tid: Tid,
    /// Its name at that time.
    pub comm: ShortName,
}

/// The entering half of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Its entering half is there.
    Seen {
        /// The time of the entry.
        time: Nanos,
        /// The six words of its arguments; how many mean something is for the call's signature to
        /// say.
        args: [u64; 6],
    },
    /// The thread was in it when recording began; procfs told its arguments
    /// (`proc_pid_syscall(5)`), and when it was entered is not known.
    UnderWay {
        /// A moment at which the thread was in it, after the beginning.
        since: Nanos,
        /// The six words of its arguments.
        args: [u64; 6],
    },
    /// The workload's own first `execve`, entered before anything was recorded.
    Uncorking,
    /// There is no entering half: the call was refused before it (seccomp, ptrace), or the half was
    /// lost.
    Missing,
}

impl Entry {
    /// The six words of its arguments, where they are known.
    pub fn args(&self) -> Option<&[u64; 6]> {
        match self {
            Self::Seen { args, .. } | Self::UnderWay { args, .. } => Some(args),
            Self::Uncorking | Self::Missing => None,
        }
    }
}

/// The outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With this value; -4095 to -1 are errors.
    Returned {
        /// The time of the return.
        time: Nanos,
        /// The value.
        value: i64,
    },
    /// Interrupted by a signal and made again: the program does not see this one return. The number
    /// is one of `ERESTART*`.
    Restarted {
        /// The time of the interruption.
        time: Nanos,
        /// 512 to 516.
        errno: i32,
    },
    /// Interrupted by a signal: whether it is made again, or the program gets `EINTR`, is not in
    /// the records.
    Interrupted {
        /// The time of the end.
        time: Nanos,
        /// 512 to 516.
        errno: i32,
    },
    /// A seccomp filter refused it by `SIGSYS` (`SECCOMP_RET_TRAP`, `SECCOMP_RET_KILL_*`): it was
    /// not made, and has no result.
    Refused {
        /// The time of the record that tells.
        time: Nanos,
    },
    /// A seccomp filter answered it or refused it by `SIGSYS`; which of both is not in the records.
    Untold {
        /// The time of the record that tells.
        time: Nanos,
    },
    /// The thread ended in it, or was replaced by an exec.
    NeverReturned,
    /// The other half is not in the records.
    Missing,
}

/// A system call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The task that made it.
    pub actor: Actor,
    /// The convention that it was made by.
    pub abi: Abi,
    /// Its number in that convention; -1 where the kernel no longer knew it.
    pub number: i32,
    /// Its entering half.
    pub entry: Entry,
    /// Its outcome.
    pub outcome: Outcome,
    /// What its pointers pointed to.
    pub memory: Memory,
    /// What its descriptors referred to.
    pub files: Files,
    /// Which mappings its addresses lay in.
    pub places: Places,
    /// What was done to it while it was held.
    pub injected: Injected,
}

impl Call {
    /// The call's name in its convention, if the number has one: that of the call that it stands
    /// for, where its arguments are known.
    #[must_use]
    pub fn name(&self) -> Option<&'static str> {
        names::name_of(self.abi, self.number)
    }

    /// The name of the call in whose places its arguments are: that of the native one, where that
    /// does the same under another name (`unlinkat` of `unlink` on arm); else its own.
    #[must_use]
    pub fn form(&self) -> Option<&'static str> {
        let (abi, number) = layout::form(self.abi, self.number);
        names::name_of(abi, number)
    }

    /// The convention and number that it was made by; it is told by another where it stands for a
    /// call that has one.
    #[must_use]
    pub fn made_as(&self) -> (Abi, i32) {
        many::made_as(self.abi, self.number)
    }

    /// The name of the operation, of a call that is many: `socketcall.bind`. It may be told as the
    /// call that it stands for.
    #[must_use]
    pub fn operation(&self) -> Option<&'static str> {
        let [first, ..] = self.entry.args()?;
        relatives::operation(self.abi, self.number, *first).map(|operation| operation.name)
    }

    /// Whether it stands for a call whose arguments are not known.
    #[must_use]
    pub fn is_untold(&self) -> bool {
        let number = u32::try_from(self.number).ok();
        number.is_some_and(|number| many::which(self.abi, number).is_some())
    }

    /// What its operation returns, of a call that is many.
    pub(super) fn operation_returns(&self) -> Option<ReturnKind> {
        let native = relatives::natives(Abi::native(), self.operation()?);
        Some(return_kind(native.first()?))
    }

    /// Whether what it returned is no answer to what its relatives return: of a `shmat` by `ipc`
    /// the address is in memory.
    pub fn returns_elsewhere(&self) -> bool {
        self.operation() == Some("ipc.shmat")
    }

    /// When it was entered; where that was not seen, when it ended, a moment at which it was under
    /// way where that was not seen either, and else 0.
    #[must_use]
    pub fn time(&self) -> Nanos {
        match (self.entry, self.outcome) {
            (Entry::Seen { time, .. }, _)
            | (
                _,
                Outcome::Returned { time, .. }
                | Outcome::Restarted { time, .. }
                | Outcome::Interrupted { time, .. }
                | Outcome::Refused { time }
                | Outcome::Untold { time },
            ) => time,
            (Entry::UnderWay { since, .. }, _) => since,
            (_, Outcome::NeverReturned | Outcome::Missing) => Nanos(0),
        }
    }

    /// Whether its entry is in no record and what it returned is no error: a seccomp filter of the
    /// workload's own answered it, and the kernel did not make it.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        let is_unseen = matches!(self.entry, Entry::Missing) && self.injected.answer.is_none();
        is_unseen
            && match self.outcome {
                Outcome::Returned { .. } => self.error().is_none(),
                Outcome::Interrupted { .. } | Outcome::Untold { .. } | Outcome::Missing => true,
                Outcome::Restarted { .. } | Outcome::Refused { .. } | Outcome::NeverReturned => {
                    false
                }
            }
    }

    /// The number of the error that it returned; one of `ERESTART*` where a signal interrupted it.
    #[must_use]
    pub fn error(&self) -> Option<i32> {
        match self.outcome {
            Outcome::Returned { value, .. } => {
                let error = i32::try_from(value.checked_neg()?).ok()?;
                (1..=4095).contains(&error).then_some(error)
            }
            Outcome::Restarted { errno, .. } | Outcome::Interrupted { errno, .. } => Some(errno),
            Outcome::Refused { .. }
            | Outcome::Untold { .. }
            | Outcome::NeverReturned
            | Outcome::Missing => None,
        }
    }
}

#[cfg(test)]
impl Call {
    /// A call with these words that has not returned.
    pub(crate) fn entered_as(abi: Abi, number: i32, args: [u64; 6]) -> Self {
        Self {
            actor: Actor {
                thread: ThreadId(0),
                pid: Pid(1),
                tid: Tid(1),
                comm: ShortName::default(),
            },
            abi,
            number,
            entry: Entry::Seen {
                time: Nanos(1),
                args,
            },
            outcome: Outcome::Missing,
            memory: Memory::default(),
            files: Files::default(),
            places: Places::default(),
            injected: Injected::default(),
        }
    }
}

/// What a new task shares with its creator, as far as the call tells that made it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    /// The table of descriptors (`CLONE_FILES`); `None` if the flags are not known.
    pub files: Option<bool>,
    /// The working directory (`CLONE_FS`).
    pub directory: Option<bool>,
    /// The address space (`CLONE_VM`).
    pub memory: Option<bool>,
}

/// Something that came out of the records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// A call was entered; [`Observation::Call`] follows when its end is known. Holds the place of
    /// the call in its thread's order.
    Entered {
        /// The task.
        actor: Actor,
        /// The convention of the call.
        abi: Abi,
        /// The call's number in it.
        number: i32,
        /// The entering half.
        entry: Entry,
        /// Whether it is answered in place of being made.
        is_answered: bool,
    },
    /// A call is whole, or as whole as it gets.
    Call(Call),
    /// A thread was created.
    Born {
        /// The new one.
        child: Actor,
        /// Its creator; `None` for the workload itself.
        parent: Option<ThreadId>,
        /// What it shares with that one.
        shares: Shares,
    },
    /// The id that a thread has in its own pid namespace, by the return value of the call that made
    /// it.
    Named {
        /// The thread.
        thread: ThreadId,
        /// Its id there.
        id: i32,
    },
    /// The id by which the kernel's tracepoints speak of a thread, where that is not its `tid`: the
    /// harness is in a pid namespace itself.
    Global {
        /// The thread.
        thread: ThreadId,
        /// Its id in the initial namespace (`common_pid`).
        id: i32,
    },
    /// A process executes another program (`PERF_RECORD_COMM` with its exec bit).
    Executed(Actor),
    /// What the call is that a thread has just entered to the start of its program; told only where
    /// that was asked for.
    Starting(ThreadId, Role),
    /// A process executed a program that its events do not follow: the kernel ends all events of a
    /// task that is not root and executes a set-user-ID program (`perf_event_exit_task()` in
    /// `begin_new_exec()`).
    OutOfSight(Actor),
    /// A thread ends in no call: a signal or another thread ends it, or a seccomp filter
    /// (`SECCOMP_RET_KILL_THREAD`), at a call of which there is no record. Told of all where the
    /// calls that end threads are not recorded.
    Vanished(ThreadId),
    /// A thread ended.
    Gone(ThreadId),
}
