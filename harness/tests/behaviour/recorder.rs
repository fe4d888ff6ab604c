//! `harness record --overwrite` and `--switch-output`: who asks gets a file, and each file is a
//! whole one.

mod files;
mod requests;
mod trouble;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use perf_records::perfdata::Reader;
use perf_records::record::{self, Record};

use crate::support::PATIENCE;
use crate::support::process::is_ready;
use crate::support::project::Project;

/// The recorded program: for each line that it reads it makes so many calls, whose first argument
/// goes on from its last value, and prints that value.
const COUNTER: &str = "$| = 1; my $next = 100000; while (<STDIN>) { \
    if (/^unlink/) { syscall(87, my $path = '/nonexistent') } else { syscall(3, $next++) for 1..$_ } print \"$next\\n\" }";

/// The number of close(2) on x86-64, which the counter makes with descriptors that are not open;
/// that of unlink(2) is 87.
const CLOSE: u64 = 3;
const FIRST: u64 = 100_000;

/// A process that makes calls when it is told to.
struct Counter {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Counter {
    fn new(project: &Project) -> Self {
        let mut command = project.command("perl");
        command.args(["-e", COUNTER]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("perl");
        Self {
            input: child.stdin.take().expect("a pipe"),
            output: BufReader::new(child.stdout.take().expect("a pipe")),
            child,
        }
    }

    fn tell(&mut self, word: &str) -> u64 {
        writeln!(self.input, "{word}").expect("a pipe");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        line.trim().parse().expect("a number")
    }

    /// Has it make so many calls, and gives the argument of the next.
    fn count(&mut self, calls: u64) -> u64 {
        self.tell(&calls.to_string())
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        let _ended = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// Whether the process is the harness, and has blocked the signals that ask for files, and those
/// that end it.
fn blocks_signals(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
    if !status.starts_with("Name:\tharness\n") {
        return false;
    }
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigBlk:\t"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask, 16).ok());
    let mask = mask.expect("a mask");
    let is_blocked = |signal: &Signal| mask >> (*signal as i32 - 1) & 1 == 1;
    [Signal::SIGUSR2, Signal::SIGTERM].iter().all(is_blocked)
}

/// A recording that is under way.
struct Session {
    child: Child,
    said: BufReader<ChildStderr>,
    /// As root has it: it may be in a world of its own.
    folder: PathBuf,
}

impl Session {
    /// Records the counter into `x.data` in the project's folder.
    fn new(project: &Project, counter: &Counter, options: &[&str]) -> Self {
        let pid = counter.child.id().to_string();
        let mut words = vec!["record", "-p", &pid, "-o", "x.data"];
        words.extend(options);
        Self::start(project.program(&words), project.path())
    }

    fn start(mut command: Command, folder: &Path) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().expect("harness");
        // Nothing tells but its mask: before, the signal would end it.
        let end = Instant::now() + PATIENCE;
        while !blocks_signals(child.id()) {
            assert!(Instant::now() < end, "it does not start");
            std::thread::yield_now();
        }
        Self {
            said: BufReader::new(child.stderr.take().expect("a pipe")),
            child,
            folder: folder.to_owned(),
        }
    }

    /// The next line that it says.
    fn line(&mut self) -> String {
        let mut line = String::new();
        let is_there = !self.said.buffer().is_empty() || is_ready(self.said.get_ref(), PATIENCE);
        assert!(is_there, "it says nothing");
        self.said.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    }

    fn send(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id().cast_signed());
        kill(pid, signal).expect("kill");
    }

    /// Asks for a file, and waits for what is said of it.
    fn request(&mut self) -> Told {
        self.send(Signal::SIGUSR2);
        self.told()
    }

    /// What is said of the next file.
    fn told(&mut self) -> Told {
        let line = self.line();
        let (_, behind) = line.split_once(" -> ").expect(&line);
        let name = behind.split([';', ' ']).next().expect("a name");
        Told {
            path: self.folder.join(name),
            line,
        }
    }

    /// Ends it, and gives its status and what it said since.
    fn end_by(mut self, signal: Signal) -> (i32, Vec<Told>) {
        self.send(signal);
        let mut told = Vec::new();
        while self.said.fill_buf().is_ok_and(|rest| !rest.is_empty()) {
            told.push(self.told());
        }
        let status = self.child.wait().expect("an end");
        (status.code().expect("no signal"), told)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ended = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// A file, and what was said of it.
struct Told {
    path: PathBuf,
    line: String,
}

impl Told {
    /// The number in front of these words.
    fn number(&self, before: &str) -> u64 {
        let (number, _) = self.line.split_once(before).expect(&self.line);
        let number = number.rsplit(' ').next().expect("a word");
        number.parse().expect(&self.line)
    }

    /// Of the calls of the counter, in the order of their times: the time, and the argument.
    fn calls(&self) -> Vec<(u64, u64)> {
        let bytes = std::fs::read(&self.path).expect(&self.line);
        let mut reader = Reader::file(std::io::Cursor::new(bytes)).expect("a recording");
        let mut calls = Vec::new();
        while let Some(item) = reader.next().expect("a record") {
            let Some((_, layout)) = item.event() else {
                continue;
            };
            if let Ok(Record::Sample(sample)) = record::parse(item.bytes, layout)
                && let (Some(time), Some(raw)) = (sample.time, sample.raw)
            {
                let word = |at: usize| raw.get(at..)?.first_chunk().copied();
                let number = word(8).map(u64::from_ne_bytes);
                let argument = word(16).map(u64::from_ne_bytes).expect("an argument");
                if number == Some(CLOSE) && (FIRST..1 << 32).contains(&argument) {
                    calls.push((time.0, argument));
                }
            }
        }
        calls.sort_unstable();
        calls
    }

    /// The arguments, which are in their order.
    fn arguments(&self) -> Vec<u64> {
        self.calls()
            .into_iter()
            .map(|(_, argument)| argument)
            .collect()
    }
}

/// The names of the recording's files.
fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<_> = names
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| name.starts_with("x.data"))
        .collect();
    names.sort();
    names
}

const CALLS: &str = "raw_syscalls:sys_enter";
