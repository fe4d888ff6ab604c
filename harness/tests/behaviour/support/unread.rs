//! Records that nobody reads while a workload makes its calls, on a machine of any speed: the
//! harness is stopped for that time, or waits for the workload's end.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, PipeReader, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use perf_live::sandbox::Running;
use trace_harness::run::{Control, Next};

use super::PATIENCE;
use super::process::any_is_ready;
use super::project::{Project, Run};

/// The two pipes that a workload and its test speak by. Both ends of each are held open, so that no
/// opening waits, and none comes to its end.
pub(crate) struct Unread {
    said: (PathBuf, BufReader<File>),
    go: (PathBuf, File),
}

impl Unread {
    pub(crate) fn new(project: &Project) -> Self {
        let [said, go] = ["said", "go"].map(|name| {
            let path = project.join(name);
            nix::unistd::mkfifo(&path, Mode::empty()).expect("mkfifo");
            // Everybody's, whatever the mask of new files is.
            fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).expect("permissions");
            let file = OpenOptions::new().read(true).write(true).open(&path);
            (path, file.expect("the pipe"))
        });
        Self {
            said: (said.0, BufReader::new(said.1)),
            go,
        }
    }

    /// What a shell runs to have a command run while nobody reads. It has no quotes of any kind.
    pub(crate) fn shell(&self, command: &str) -> String {
        let [said, go] = [&self.said.0, &self.go.0].map(|path| path.display());
        format!("echo ready > {said}; read go < {go}; {command} > /dev/null; echo done > {said}")
    }

    /// Runs the harness to its end, and stops it whenever a workload is ready, until it is done.
    pub(crate) fn run(&mut self, command: &mut Command) -> Run {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let harness = command.spawn().expect("the program");
        let pid = Pid::from_raw(harness.id().cast_signed());
        let mut ends = self.said.1.get_ref().try_clone().expect("a descriptor");
        std::thread::scope(|scope| {
            let ended = scope.spawn(move || {
                let output = harness.wait_with_output();
                ends.write_all(b"ended\n").expect("the pipe");
                output.expect("the end").into()
            });
            while self.line() == "ready" {
                kill(pid, Signal::SIGSTOP).expect("kill");
                let stopped = waitpid(pid, Some(WaitPidFlag::WUNTRACED)).expect("waitpid");
                assert_eq!(stopped, WaitStatus::Stopped(pid, Signal::SIGSTOP));
                self.go.1.write_all(b"go\n").expect("the pipe");
                assert_eq!(self.line(), "done");
                kill(pid, Signal::SIGCONT).expect("kill");
            }
            ended.join().expect("a thread")
        })
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.said.1.read_line(&mut line).expect("the pipe");
        line.trim_end().to_owned()
    }
}

/// Waits for a workload's end before anything is read of what perf recorded, and asks for something
/// then: to go on, once, or for an end, from then on.
pub(crate) struct OnlyWhenOver {
    asks: Option<PipeReader>,
    then: Next,
}

impl OnlyWhenOver {
    pub(crate) fn new(then: Next) -> Self {
        let (asks, mut writer) = io::pipe().expect("a pipe");
        writer.write_all(b"x").expect("a pipe");
        Self {
            asks: Some(asks),
            then,
        }
    }
}

impl Control for OnlyWhenOver {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.asks.as_ref().map(AsFd::as_fd)
    }
    fn ready(&mut self, running: &mut Running) -> io::Result<Next> {
        while !running.is_gone() {
            assert!(any_is_ready(&running.descriptors(), PATIENCE), "no end");
            running.collect()?;
        }
        if self.then == Next::Follow {
            self.asks = None;
        }
        Ok(self.then)
    }
}
