//! Guesses why calls vary, from what they do and which process makes them.

use crate::trace::{Block, Deed, Value};
use std::fmt;

/// Why calls differ between runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// Threads of one process run side by side.
    Threads,
    /// Processes share a pipe or a socket.
    Stream,
    /// Children end in any order.
    Children,
    /// Signals arrive at any time.
    Signals,
    /// They tell the time.
    Time,
    /// They read random numbers.
    Random,
    /// They make up names.
    Names,
    /// They get memory.
    Memory,
    /// Other processes run side by side.
    Processes,
    /// The reason is not known.
    Unknown,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Threads => "its threads compete, and another one comes first",
            Self::Stream => {
                "how much a pipe or socket holds when it is used depends on which side is faster"
            }
            Self::Children => "another child ends first, or ends earlier",
            Self::Signals => "a signal arrives at another moment",
            Self::Time => "it depends on the time that something takes",
            Self::Random => "how many random numbers it takes depends on what they are",
            Self::Names => "a file has another name in each run",
            Self::Memory => "it asks for memory at other moments, or for another amount",
            Self::Processes => "another process does its part earlier or later",
            Self::Unknown => "no reason is known",
        })
    }
}

/// The process that makes the calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    /// Whether the process has more than one thread in any run.
    pub(super) has_threads: bool,
    /// Whether there are other processes in any run.
    pub(super) has_company: bool,
}

/// Calls that only wait for other threads or wake them: their number says nothing about what a
/// program does.
pub(super) const WAITING: [&str; 4] = ["futex", "futex_waitv", "sched_yield", "restart_syscall"];

/// Calls by which a program gets memory and gives it back.
pub(super) const MEMORY: [&str; 6] = ["brk", "madvise", "mmap", "mprotect", "mremap", "munmap"];

/// Calls that read from a pipe or socket, or write to it.
const TRANSFER: [&str; 18] = [
    "poll",
    "ppoll",
    "select",
    "pselect6",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "read",
    "readv",
    "write",
    "writev",
    "recvfrom",
    "recvmsg",
    "sendto",
    "sendmsg",
    "splice",
    "tee",
    "sendfile",
];

impl Setting {
    /// Returns the reason for calls of a name, two lines of which differ.
    pub(super) fn reason(
        self,
        name: &str,
        example: Option<&(String, String)>,
        runs: &[Vec<&Block>],
    ) -> Reason {
        let is_interrupted = example.is_some_and(|(a, b)| {
            let ends = ["EINTR", "ERESTART"];
            ends.iter().any(|end| a.contains(end) != b.contains(end))
        });
        match name {
            _ if is_interrupted => Reason::Signals,
            "futex" | "futex_waitv" | "sched_yield" if self.has_threads => Reason::Threads,
            "futex" | "futex_waitv" | "sched_yield" | "flock" if self.has_company => {
                Reason::Processes
            }
            "wait4" | "waitid" | "waitpid" => Reason::Children,
            "rt_sigreturn" | "rt_sigsuspend" | "rt_sigtimedwait" | "kill" | "tkill" | "tgkill"
            | "pause" => Reason::Signals,
            "nanosleep" | "clock_nanosleep" | "clock_gettime" | "gettimeofday" | "time"
            | "setitimer" | "alarm" | "timerfd_settime" | "timer_settime" | "restart_syscall"
            | "times" | "getrusage" => Reason::Time,
            "getrandom" => Reason::Random,
            _ if example.is_some_and(|(a, b)| differs_in_path(a, b)) => Reason::Names,
            _ if MEMORY.contains(&name) && !self.has_threads => Reason::Memory,
            _ if TRANSFER.contains(&name) && self.has_company && uses_streams(name, runs) => {
                Reason::Stream
            }
            _ if self.has_threads => Reason::Threads,
            _ if self.has_company => Reason::Processes,
            _ => Reason::Unknown,
        }
    }
}

/// Whether calls of a name use pipes or sockets.
fn uses_streams(name: &str, runs: &[Vec<&Block>]) -> bool {
    let is_stream = |deed: &Deed| {
        let values = deed.fields.iter().map(|part| &part.value);
        let streams: [&[u8]; 7] = [
            b"pipe", b"unix", b"tcp", b"udp", b"netlink", b"socket", b"fifo",
        ];
        values.into_iter().any(|value| match value {
            Value::File { name, .. } => streams.iter().any(|stream| name.starts_with(stream)),
            _ => false,
        })
    };
    let blocks = runs.iter().flatten();
    let mut deeds = blocks.flat_map(|block| &block.deeds);
    deeds.any(|deed| *deed.name == *name && is_stream(deed))
}

/// Whether two lines of a call differ in paths only.
fn differs_in_path(a: &str, b: &str) -> bool {
    let words = |line: &str| {
        let is_end = |character: char| " ,()\"<>".contains(character);
        line.split(is_end).map(str::to_owned).collect::<Vec<_>>()
    };
    let (a, b) = (words(a), words(b));
    let mut pairs = a.iter().zip(&b).filter(|(a, b)| a != b).peekable();
    a.len() == b.len()
        && pairs.peek().is_some()
        && pairs.all(|(a, b)| a.contains('/') && b.contains('/'))
}
