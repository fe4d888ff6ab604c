//! What procfs says of a process in the middle of its life.

use super::process::value;
use super::{Host, Living};
use perf_records::units::{Pid, Tid};

/// A process that was found in the middle of its life. Each part is of its own moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Midlife {
    /// Its id.
    pub pid: Pid,
    /// Its open descriptors, in the order of their numbers.
    pub descriptors: Vec<Open>,
    /// Whether these may not be read.
    pub is_closed: bool,
    /// Its working directory; `None` if that has no name, or its root is not this process'.
    pub directory: Option<Vec<u8>>,
    /// Its threads.
    pub threads: Threads,
    /// The calls that threads were waiting in: number and arguments, of the native convention.
    pub calls: Vec<(Tid, i32, [u64; 6])>,
}

/// An open descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// Its number.
    pub number: u32,
    /// What the kernel calls the file: a path, `pipe:[17]`.
    pub name: Vec<u8>,
    /// Whether an exec closes it; `None` where it was closed before that was read.
    pub closes_on_exec: Option<bool>,
}

/// The threads of a process, and how many there were just before these were listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Threads {
    /// `Threads:` in `/proc/PID/status`.
    pub n: usize,
    /// Those in `/proc/PID/task`, sorted.
    pub listed: Vec<Tid>,
}

impl Host {
    /// The threads of a process; `None` where there is no living process of that id. They are
    /// listed some times where their number is another: then one ended meanwhile, at which a list
    /// may break off (`next_tid()`, `fs/proc/base.c`).
    #[must_use]
    pub fn threads_of(&self, pid: Pid) -> Option<Threads> {
        const LOOKS: usize = 100;
        let mut looks = 0;
        loop {
            let status = self.read_lossy(&format!("proc/{pid}/status"))?;
            // A thread's id has a folder as well, though it is not listed.
            let is_process = value(&status, "Tgid:")?.parse() == Ok(pid.0);
            let n = value(&status, "Threads:")?.parse().ok()?;
            let is_dead = n == 1 && value(&status, "State:")?.starts_with('Z');
            if !is_process || is_dead {
                return None;
            }
            let mut listed: Vec<Tid> = self.threads(pid).into_iter().map(Tid).collect();
            listed.sort_unstable();
            looks += 1;
            if n == listed.len() || looks == LOOKS {
                return Some(Threads { n, listed });
            }
        }
    }

    /// What a process has; what may not be read of it, and of one that is gone, is left out.
    #[must_use]
    pub fn midlife(&self, process: &Living) -> Midlife {
        let pid = process.pid;
        let threads = self.threads_of(pid).unwrap_or_default();
        let entries = std::fs::read_dir(self.root.join(format!("proc/{pid}/fd")));
        let denied = |error: &std::io::Error| error.kind() == std::io::ErrorKind::PermissionDenied;
        let is_closed = entries.as_ref().is_err_and(denied);
        let entries = entries.into_iter().flatten().flatten();
        let descriptors = entries.filter_map(|entry| {
            let number: u32 = entry.file_name().to_str()?.parse().ok()?;
            let name = self.link(&format!("proc/{pid}/fd/{number}")).ok()?;
            let flags = self.descriptor_flags(pid.0, number.cast_signed());
            Some(Open {
                number,
                name,
                // `seq_show()`, `fs/proc/fd.c`.
                closes_on_exec: flags.map(|flags| flags & libc::O_CLOEXEC != 0),
            })
        });
        let mut descriptors: Vec<_> = descriptors.collect();
        descriptors.sort_unstable_by_key(|open| open.number);
        let root = |process: &str| self.link(&format!("proc/{process}/root")).ok();
        let own_root = root("self");
        let directory = self.directory_of(pid.0).ok();
        let directory =
            directory.filter(|_| own_root.is_some() && root(&pid.to_string()) == own_root);
        let calls = process.threads.iter().filter_map(|thread| {
            let tid = thread.tid;
            let read = |name: &str| self.read_lossy(&format!("proc/{pid}/task/{tid}/{name}"));
            // One that is stopped has left its call, though procfs still tells it.
            let waits = || read("stat").is_some_and(|stat| is_waiting(&stat));
            let before = waits();
            let (number, args) = waiting_in(&read("syscall")?)?;
            (before && waits()).then_some((tid, number, args))
        });
        Midlife {
            pid,
            descriptors,
            is_closed,
            directory,
            calls: calls.collect(),
            threads,
        }
    }
}

/// Whether a thread sleeps, by `/proc/PID/stat`: `S` or `D` in `proc_pid_stat(5)`.
fn is_waiting(stat: &str) -> bool {
    let state = stat
        .rsplit_once(") ")
        .and_then(|(_, behind)| behind.chars().next());
    matches!(state, Some('S' | 'D'))
}

/// Reads `/proc/PID/syscall` (`proc_pid_syscall()`, `fs/proc/base.c`): `running`, or the number of
/// the call, six arguments, the stack pointer and the program counter. The number is -1 outside of
/// calls. Which convention the number is of is not told: that of a program whose stack lies below
/// 4 GiB may be the 32-bit one.
fn waiting_in(line: &str) -> Option<(i32, [u64; 6])> {
    let mut words = line.split_whitespace();
    let number: i32 = words.next()?.parse().ok()?;
    let mut word = || u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
    let mut args = [0; 6];
    for arg in &mut args {
        *arg = word()?;
    }
    let stack = word()?;
    (number >= 0 && stack > u64::from(u32::MAX)).then_some((number, args))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn a_call_is_told_of_a_thread_that_waits_in_one() {
        // Captured: a shell in wait4, a process that runs, one in a page fault, a 32-bit program.
        let waits = "61 0xffffffff 0x7ffc47edf80c 0x0 0x0 0x0 0x7f1f3b6f1710 0x7ffc47edf7e8 0x7f1f3b7b5a3a\n";
        let args = [0xffff_ffff, 0x7ffc_47ed_f80c, 0, 0, 0, 0x7f1f_3b6f_1710];
        assert_eq!(waiting_in(waits), Some((61, args)));
        assert_eq!(waiting_in("running\n"), None);
        assert_eq!(waiting_in("-1 0x7ffc47edf7e8 0x7f1f3b7b5a3a\n"), None);
        let narrow = "162 0xffb0d0b8 0xffb0d0b8 0x0 0x0 0x0 0x0 0xffb0d080 0xf7f0c579\n";
        assert_eq!(waiting_in(narrow), None);
    }

    #[test]
    fn this_process_has_threads_descriptors_and_a_directory() {
        let host = Host::running();
        let own = Pid(std::process::id());
        let threads = host.threads_of(own).unwrap();
        assert!(threads.listed.contains(&Tid(own.0)) && threads.n > 0);
        let living = host.living(own).unwrap();
        let midlife = host.midlife(&living);
        assert!(!midlife.descriptors.is_empty());
        let here = std::env::current_dir().unwrap().into_os_string().into_vec();
        assert_eq!(midlife.directory, Some(here));
        assert_eq!(host.threads_of(Pid(u32::MAX)), None);
    }
}
