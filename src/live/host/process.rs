//! What procfs says of a process that may end at any moment.

use super::{Host, HostError};
use perf_records::units::Pid;
use std::io::Read;
use std::time::Duration;

// `USER_HZ`, the unit of times in `/proc/PID/stat`, is 100 on all architectures that are followed
// here (include/asm-generic/param.h).
pub(super) const TICK_IN_MILLISECONDS: u64 = 10;

// include/linux/sched.h: getting shut down; killed by a signal, which may take long where it dumps
// its memory.
const PF_EXITING: u64 = 0x4;
const PF_SIGNALED: u64 = 0x400;

// How much of a command line is read: a program can make it as long as its memory, and reports need
// no more.
const LONGEST_COMMAND: u64 = 4096;

/// A process at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessStatus {
    /// Its name, as `/proc/PID/status` has it.
    pub name: String,
    /// Its ids, from the namespace of the asking process inwards to its own.
    pub ids: Vec<i32>,
    /// When it was created, counted from the start of the machine as `CLOCK_BOOTTIME` does, to 10
    /// ms.
    pub started: Duration,
    /// Whether it is dead, on its way out, or has been killed and cannot but go: so is each of its
    /// threads.
    pub is_ending: bool,
    /// How long its first thread was ready to run and had no CPU since it was created
    /// (`/proc/PID/schedstat`); zero where the kernel does not tell.
    pub starved: Duration,
}

impl Host {
    fn starved(&self, pid: Pid) -> Option<Duration> {
        let times = self.read_lossy(&format!("proc/{pid}/schedstat"))?;
        let waited = times.split_whitespace().nth(1)?;
        waited.parse().ok().map(Duration::from_nanos)
    }

    /// A process; `None` where there is none of that id. Never waits for the process.
    #[must_use]
    pub fn process(&self, pid: Pid) -> Option<ProcessStatus> {
        let stat = self.read_lossy(&format!("proc/{pid}/stat"))?;
        let status = self.read_lossy(&format!("proc/{pid}/status"))?;
        let ids = value(&status, "NSpid:")?.split_whitespace();
        let ticks = stat_field(&stat, 22)?;
        Some(ProcessStatus {
            name: value(&status, "Name:")?.to_owned(),
            ids: ids.filter_map(|id| id.parse().ok()).collect(),
            started: Duration::from_millis(ticks.saturating_mul(TICK_IN_MILLISECONDS)),
            is_ending: self.is_ending(pid),
            starved: self.starved(pid).unwrap_or_default(),
        })
    }

    /// A process' command line; `None` where it has none or is gone.
    ///
    /// It lies in the process' own memory: one that handles its page faults itself
    /// (`userfaultfd(2)`) makes the caller wait, until it is killed.
    #[must_use]
    pub fn command_line(&self, pid: Pid) -> Option<Vec<String>> {
        let file = std::fs::File::open(self.root.join(format!("proc/{pid}/cmdline"))).ok()?;
        let mut bytes = Vec::new();
        file.take(LONGEST_COMMAND).read_to_end(&mut bytes).ok()?;
        let text = bytes.strip_suffix(b"\0").unwrap_or(&bytes);
        let words = text.split(|byte| *byte == 0);
        let words = words.map(|word| String::from_utf8_lossy(word).into_owned());
        (!text.is_empty()).then(|| words.collect())
    }

    /// Whether this process is numbered otherwise than tracepoints number it: they know the first
    /// namespace of pids alone.
    #[must_use]
    pub fn has_own_pid_namespace(&self) -> bool {
        // PROC_PID_INIT_INO, include/linux/proc_ns.h.
        const FIRST: &str = "pid:[4026531836]";
        let link = std::fs::read_link(self.root.join("proc/self/ns/pid"));
        !link.is_ok_and(|link| link.as_os_str() == FIRST)
    }

    /// Refuses to go on where `CLOCK_MONOTONIC` or `CLOCK_BOOTTIME` of this process is not that of
    /// the kernel, by which it makes records and tells when a process was created.
    ///
    /// # Errors
    /// [`HostError::Clock`].
    ///
    /// # References
    /// `time_namespaces(7)`.
    pub fn has_the_kernels_clocks(&self) -> Result<(), HostError> {
        let namespace = |name| std::fs::read_link(self.root.join("proc/self/ns").join(name)).ok();
        // The offsets are those of the namespace that children are born into.
        let is_own = namespace("time") == namespace("time_for_children");
        let offsets = self.read_lossy("proc/self/timens_offsets");
        let offsets = offsets.filter(|_| is_own).unwrap_or_default();
        let is_zero = |line: &str| line.split_whitespace().skip(1).all(|word| word == "0");
        match offsets.lines().all(is_zero) {
            true => Ok(()),
            false => Err(HostError::Clock),
        }
    }

    /// Whether procfs numbers processes otherwise than the kernel does for this one: it is that of
    /// another namespace of pids, so that an id there is another process'.
    #[must_use]
    pub fn numbers_otherwise(&self) -> bool {
        let link = std::fs::read_link(self.root.join("proc/self"));
        link.is_ok_and(|link| link.as_os_str() != std::process::id().to_string().as_str())
    }

    /// Returns the processes below one, including those that it did not start: the kernel gives
    /// orphans to the init of their namespace. Empty if the kernel does not list children
    /// (`CONFIG_PROC_CHILDREN`).
    #[must_use]
    pub fn descendants(&self, of: Pid) -> Vec<Pid> {
        self.tree(of, u64::MAX).processes
    }

    /// A process may have any bytes for a name.
    pub(super) fn read_lossy(&self, path: &str) -> Option<String> {
        let bytes = super::text::bytes(&self.root.join(path)).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    pub(super) fn threads(&self, pid: Pid) -> Vec<u32> {
        let entries = std::fs::read_dir(self.root.join(format!("proc/{pid}/task")));
        let names = entries.into_iter().flatten().flatten();
        names
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .collect()
    }

    /// Whether a thread is on its way out, or gone.
    #[must_use]
    pub fn is_thread_ending(&self, thread: u32) -> bool {
        let read = |file: &str| self.read_lossy(&format!("proc/{thread}/{file}"));
        read("stat")
            .zip(read("status"))
            .is_none_or(|(stat, status)| is_thread_ending(&stat, &status))
    }

    fn is_ending(&self, pid: Pid) -> bool {
        let mut threads = self.threads(pid).into_iter();
        threads.all(|thread| {
            let read = |file: &str| self.read_lossy(&format!("proc/{pid}/task/{thread}/{file}"));
            let (Some(stat), Some(status)) = (read("stat"), read("status")) else {
                return true;
            };
            is_thread_ending(&stat, &status)
        })
    }
}

/// A killed task has its `SIGKILL` pending until it next leaves the kernel, and then
/// [`PF_SIGNALED`].
fn is_thread_ending(stat: &str, status: &str) -> bool {
    let flags = stat_field(stat, 9).unwrap_or(0);
    let is_killed = ["SigPnd:", "ShdPnd:"].iter().any(|set| {
        let signals = value(status, set).and_then(|set| u64::from_str_radix(set, 16).ok());
        signals.is_some_and(|signals| signals >> (libc::SIGKILL - 1) & 1 == 1)
    });
    flags & (PF_EXITING | PF_SIGNALED) != 0 || is_killed
}

/// A number in `/proc/PID/stat`, counted from 1 as in `proc_pid_stat(5)`; behind the name, which
/// may hold anything.
pub(super) fn stat_field(stat: &str, number: usize) -> Option<u64> {
    let (_, behind) = stat.rsplit_once(')')?;
    let mut fields = behind.split_whitespace();
    fields.nth(number.checked_sub(3)?)?.parse().ok()
}

pub(super) fn value<'a>(status: &'a str, key: &str) -> Option<&'a str> {
    let mut lines = status.lines();
    lines.find_map(|line| line.strip_prefix(key)).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Field 9 is the flags, field 22 the start; taken from a running kernel.
    fn stat(name: &str, flags: u64) -> String {
        format!("7 ({name}) S 1 7 7 0 -1 {flags} 121 0 0 0 0 0 0 0 20 0 1 0 12345 2465792 230 0\n")
    }

    fn status(pending: &str) -> String {
        format!("Name:\tx\nNSpid:\t7\t3\nSigPnd:\t{pending}\nShdPnd:\t0000000000000000\n")
    }

    const NONE: &str = "0000000000000000";
    const KILL: &str = "0000000000000100";

    fn tree(threads: &[(&str, String, String)]) -> (tempfile::TempDir, Host) {
        let tree = tempfile::tempdir().unwrap();
        let write = |path: String, text: &str| {
            let path = tree.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            // As Latin-1, so that a name need not be text.
            let bytes: Vec<u8> = text.chars().map(|letter| letter as u8).collect();
            std::fs::write(path, bytes).unwrap();
        };
        for (at, (thread, stat, status)) in threads.iter().enumerate() {
            write(format!("proc/7/task/{thread}/stat"), stat);
            write(format!("proc/7/task/{thread}/status"), status);
            if at == 0 {
                write("proc/7/stat".to_owned(), stat);
                write("proc/7/status".to_owned(), status);
                write("proc/7/cmdline".to_owned(), "sleep\0 100\0");
                write("proc/7/task/7/children".to_owned(), "8 9 ");
                write("proc/9/task/9/children".to_owned(), "8 10 ");
            }
        }
        let host = Host::at(tree.path());
        (tree, host)
    }

    #[test]
    fn clocks_are_the_kernels_where_their_namespace_moves_none() {
        let (root, host) = tree(&[]);
        let own = root.path().join("proc/self");
        std::fs::create_dir_all(own.join("ns")).unwrap();
        for (offsets, children, is_ok) in [
            (
                "monotonic           0         0\nboottime            0         0\n",
                1,
                true,
            ),
            (
                "monotonic      100000         0\nboottime            0         0\n",
                1,
                false,
            ),
            (
                "monotonic           0         0\nboottime           -5         0\n",
                1,
                false,
            ),
            // Those of its children to come.
            (
                "monotonic      100000         0\nboottime            0         0\n",
                2,
                true,
            ),
        ] {
            std::fs::write(own.join("timens_offsets"), offsets).unwrap();
            for (name, number) in [("time", 1), ("time_for_children", children)] {
                let link = own.join("ns").join(name);
                let _before = std::fs::remove_file(&link);
                std::os::unix::fs::symlink(format!("time:[{number}]"), link).unwrap();
            }
            assert_eq!(host.has_the_kernels_clocks().is_ok(), is_ok, "{offsets}");
        }
        std::fs::remove_file(own.join("timens_offsets")).unwrap();
        assert!(host.has_the_kernels_clocks().is_ok(), "Linux before 5.6");
    }

    #[test]
    fn ids_and_start_are_read_behind_any_name() {
        for name in ["sleep", "a) R 9 9 (9)", "x y", "\u{ff}\n"] {
            let (root, host) = tree(&[("7", stat(name, 0x40_0000), status(NONE))]);
            let expected = ProcessStatus {
                name: "x".to_owned(),
                ids: vec![7, 3],
                started: Duration::from_millis(123_450),
                is_ending: false,
                starved: Duration::ZERO,
            };
            assert_eq!(host.process(Pid(7)), Some(expected.clone()), "{name}");
            let times = root.path().join("proc/7/schedstat");
            std::fs::write(times, "9000 2500 3\n").unwrap();
            let expected = ProcessStatus {
                starved: Duration::from_nanos(2500),
                ..expected
            };
            assert_eq!(host.process(Pid(7)), Some(expected), "{name}");
            assert_eq!(host.process(Pid(8)), None);
        }
    }

    #[test]
    fn a_process_ends_when_each_of_its_threads_does() {
        let lives = || ("7", stat("x", 0x40_0000), status(NONE));
        let exits = || ("8", stat("x", 0x40_0004), status(NONE));
        let is_killed = || ("9", stat("x", 0x40_0000), status(KILL));
        let dumps = || ("10", stat("x", 0x40_0400), status(NONE));
        for (threads, is_ending) in [
            (vec![lives()], false),
            (vec![exits()], true),
            (vec![is_killed()], true),
            (vec![dumps()], true),
            (vec![exits(), is_killed(), dumps()], true),
            (vec![exits(), lives()], false),
        ] {
            let (_tree, host) = tree(&threads);
            let process = host.process(Pid(7)).unwrap();
            assert_eq!(process.is_ending, is_ending, "{threads:?}");
        }
    }

    #[test]
    fn a_command_line_has_its_words_and_descendants_are_found_once() {
        let (_tree, host) = tree(&[("7", stat("x", 0), status(NONE))]);
        let words = ["sleep", " 100"].map(str::to_owned).to_vec();
        assert_eq!(host.command_line(Pid(7)), Some(words));
        assert_eq!(host.command_line(Pid(8)), None);
        let mut descendants = host.descendants(Pid(7));
        descendants.sort();
        assert_eq!(descendants, [8, 9, 10].map(Pid));
    }
}
