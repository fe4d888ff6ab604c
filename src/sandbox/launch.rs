//! The cork and what follows it.

use super::error::LaunchError;
use super::output::Reader;
use super::stdio::{self, Stdio};
use super::{Captured, Program};
use crate::sys::process::{self, Failure, Spawn, Stage, World};
use crate::units::{ExitKind, Pid};
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// What is to be run, with nothing left open.
#[derive(Clone, Debug)]
pub struct Workload {
    /// The file.
    pub program: Program,
    /// `argv`, from `argv[0]` on.
    pub arguments: Vec<CString>,
    /// `envp`.
    pub environment: Vec<CString>,
    /// The working directory; `None` keeps that of the harness.
    pub directory: Option<PathBuf>,
    /// Descriptors 0, 1 and 2.
    pub stdio: Stdio,
    /// Bare host or namespace.
    pub world: World,
    /// The file mode creation mask; `None` keeps that of the harness.
    pub umask: Option<u32>,
    /// Whether address space randomisation is off.
    pub fixed_addresses: bool,
    /// The limits of `RLIMIT_NOFILE` to start it with; `None` keeps those of the harness.
    pub open_files: Option<(u64, u64)>,
}

/// A workload that waits at its cork.
#[derive(Debug)]
pub struct Corked {
    process: Process,
    go: OwnedFd,
    token: u64,
    status: OwnedFd,
    program: Program,
    directory: PathBuf,
}

/// A workload on its way.
#[derive(Debug)]
pub struct Running {
    process: Process,
}

/// A workload that has come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exited {
    /// How the main process ended.
    pub exit: ExitKind,
    /// Its pid in its own namespace, where it got as far as having one.
    pub main_pid: Option<i32>,
    /// What it and its descendants wrote to standard output; empty where that was inherited.
    pub stdout: Captured,
    /// And to standard error.
    pub stderr: Captured,
}

/// The process and our ends of its pipes; ended and reaped when dropped.
#[derive(Debug)]
struct Process {
    pid: Pid,
    pidfd: OwnedFd,
    main_pid: Option<i32>,
    exit: Option<ExitKind>,
    killed: bool,
    reaped: bool,
    obituary: Option<OwnedFd>,
    outputs: Option<[Reader; 2]>,
    world: World,
}

/// Starts the workload's process and parks it in front of its `execve(2)`.
///
/// # Errors
/// [`LaunchError`].
pub fn launch(workload: &Workload) -> Result<Corked, LaunchError> {
    let c_string = |text: &OsStr| {
        let invalid = |_| LaunchError::Stdio(io::ErrorKind::InvalidInput.into());
        CString::new(text.as_bytes()).map_err(invalid)
    };
    let (stdin, stdout, stderr, outputs) =
        stdio::open(&workload.stdio).map_err(LaunchError::Stdio)?;
    let program = c_string(workload.program.path().as_os_str())?;
    let directory = workload
        .directory
        .as_ref()
        .map(|path| c_string(path.as_os_str()))
        .transpose()?;
    let parked = process::park(&Spawn {
        program: &program,
        arguments: &workload.arguments,
        environment: &workload.environment,
        directory: directory.as_deref(),
        stdio: [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()],
        world: workload.world,
        umask: workload.umask,
        fixed_addresses: workload.fixed_addresses,
        open_files: workload.open_files,
    })
    .map_err(|source| LaunchError::Fork {
        namespace: workload.world == World::PidNamespace,
        source,
    })?;
    let process = Process {
        pid: parked.pid,
        pidfd: parked.pidfd,
        main_pid: (workload.world == World::Host).then_some(parked.pid.0 as i32),
        exit: None,
        killed: false,
        reaped: false,
        obituary: parked.obituary,
        outputs,
        world: workload.world,
    };
    if let Some(pipe) = &process.obituary {
        nonblocking(pipe).map_err(LaunchError::Pipe)?;
    }
    let directory = match &workload.directory {
        Some(directory) => directory.clone(),
        None => PathBuf::from("."),
    };
    Ok(Corked {
        process,
        go: parked.go,
        token: parked.token,
        status: parked.status,
        program: workload.program.clone(),
        directory,
    })
}

impl Corked {
    /// The task to open events on, with `inherit`: the parked process itself, or the namespace's init that will fork it.
    #[must_use]
    pub fn pid(&self) -> Pid {
        self.process.pid
    }

    /// The number by which it asks to be followed when it is let go ([`CLAIM`](crate::sys::process::CLAIM)).
    #[must_use]
    pub fn token(&self) -> u64 {
        self.token
    }

    /// Whether [`pid`](Self::pid) is an init, whose own doings are none of the workload's.
    #[must_use]
    pub fn has_init(&self) -> bool {
        self.process.world == World::PidNamespace
    }

    /// Lets it go and waits until its program runs.
    ///
    /// # Errors
    /// The stage that failed and why; the process is gone then. [`LaunchError::TimedOut`] after `patience`.
    pub fn uncork(self, patience: std::time::Duration) -> Result<Running, LaunchError> {
        let Self {
            mut process,
            go,
            token: _,
            status,
            program,
            directory,
        } = self;
        // A child that has failed already has closed its end (SIGPIPE is ignored in a Rust program): its message is in the status pipe.
        match nix::unistd::write(&go, b"g") {
            Ok(_) | Err(nix::Error::EPIPE) => drop(go),
            Err(error) => return Err(LaunchError::Pipe(error.into())),
        }
        let milliseconds = u16::try_from(patience.as_millis()).unwrap_or(u16::MAX);
        let mut ready = [PollFd::new(status.as_fd(), PollFlags::POLLIN)];
        loop {
            match poll(&mut ready, PollTimeout::from(milliseconds)) {
                Ok(0) => return Err(LaunchError::TimedOut),
                Ok(_) => break,
                Err(nix::Error::EINTR) => {}
                Err(error) => return Err(LaunchError::Pipe(error.into())),
            }
        }
        let mut message = [0; 8];
        let got = nix::unistd::read(&status, &mut message)
            .map_err(|error| LaunchError::Pipe(error.into()))?;
        match (got, Failure::from_bytes(message)) {
            (0, _) => {
                process.collect().map_err(LaunchError::Pipe)?;
                Ok(Running { process })
            }
            (
                8,
                Some(Failure {
                    stage: Stage::Exec,
                    error,
                }),
            ) => Err(program.explain(error, &directory).into()),
            (8, Some(Failure { stage, error })) => Err(LaunchError::Stage {
                stage,
                source: error,
            }),
            _ => Err(LaunchError::Vanished),
        }
    }
}

impl Running {
    /// The descriptors whose readiness makes [`collect`](Self::collect) worth a call.
    #[must_use]
    pub fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let process = &self.process;
        let outputs = process
            .outputs
            .iter()
            .flatten()
            .filter_map(|reader| reader.pipe.as_ref());
        let end = (!process.reaped).then_some(&process.pidfd);
        process
            .obituary
            .iter()
            .chain(outputs)
            .chain(end)
            .map(AsFd::as_fd)
            .collect()
    }

    /// Takes what has come: output, the main process' end. Never waits.
    ///
    /// # Errors
    /// Those of `read(2)` and `waitid(2)`.
    pub fn collect(&mut self) -> io::Result<()> {
        self.process.collect()
    }

    /// How the main process ended, once it has; descendants may live on.
    #[must_use]
    pub fn exit(&self) -> Option<ExitKind> {
        self.process.exit
    }

    /// Whether nothing is left of it: on the host the main process reaped, in a namespace all of it dead but for an init on its way out.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.process.is_over()
    }

    /// Sends a signal to the main process on the host; in a namespace to its init, for which only `SIGKILL` counts, and ends everything.
    ///
    /// # Errors
    /// Those of `pidfd_send_signal(2)`.
    pub fn signal(&mut self, signal: i32) -> io::Result<()> {
        self.process.killed |= signal == libc::SIGKILL;
        process::signal(self.process.pidfd.as_fd(), signal)
    }

    /// Waits for the end of a workload that is dead or dying, takes the rest of its output, and says how the main process ended: as
    /// killed where everything was killed before it could end by itself.
    ///
    /// # Errors
    /// Those of `read(2)` and `waitid(2)`.
    pub fn finish(mut self) -> io::Result<Exited> {
        let process = &mut self.process;
        if process.is_over() {
            process.reap_in_background()?;
        } else {
            process.reap(true)?;
        }
        process.collect()?;
        let [stdout, stderr] = match process.outputs.take() {
            Some(readers) => readers.map(|reader| reader.captured),
            None => Default::default(),
        };
        Ok(Exited {
            exit: process.exit.unwrap_or(ExitKind::Signal(libc::SIGKILL)),
            main_pid: process.main_pid,
            stdout,
            stderr,
        })
    }
}

impl Process {
    fn collect(&mut self) -> io::Result<()> {
        for reader in self.outputs.iter_mut().flatten() {
            reader.take()?;
        }
        self.read_obituary()?;
        self.reap(false)
    }

    /// Two messages of eight bytes: the main process' pid, then its wait status.
    fn read_obituary(&mut self) -> io::Result<()> {
        while let Some(pipe) = &self.obituary {
            let mut message = [0; 8];
            match nix::unistd::read(pipe, &mut message) {
                Ok(8) => {
                    let [a, b, c, d, is_status, ..] = message;
                    let word = i32::from_ne_bytes([a, b, c, d]);
                    if is_status == 1 {
                        self.exit = ExitKind::from_wait_status(word);
                    } else {
                        self.main_pid = Some(word);
                    }
                }
                Ok(_) => self.obituary = None,
                Err(nix::Error::EAGAIN) => break,
                Err(nix::Error::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// In a namespace init closes its pipe when it has reaped everybody else. One that was killed closes it before the others are dead.
    fn is_over(&self) -> bool {
        let init_has_ended = self.world == World::PidNamespace && self.obituary.is_none();
        self.reaped || (init_has_ended && self.exit.is_some() && !self.killed)
    }

    /// Leaves init to a thread: to take a namespace and its mounts down costs the kernel some milliseconds, for which nobody need wait.
    fn reap_in_background(&mut self) -> io::Result<()> {
        use nix::sys::wait::{Id, WaitPidFlag, waitid};
        if !std::mem::replace(&mut self.reaped, true) {
            let pidfd = self.pidfd.try_clone()?;
            let reap = move || waitid(Id::PIDFd(pidfd.as_fd()), WaitPidFlag::WEXITED);
            std::thread::Builder::new()
                .name("reaper".to_owned())
                .spawn(reap)?;
        }
        Ok(())
    }

    fn reap(&mut self, wait: bool) -> io::Result<()> {
        use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
        while !self.reaped {
            let no_wait = if wait {
                WaitPidFlag::empty()
            } else {
                WaitPidFlag::WNOHANG
            };
            match waitid(
                Id::PIDFd(self.pidfd.as_fd()),
                WaitPidFlag::WEXITED | no_wait,
            ) {
                Ok(WaitStatus::StillAlive) => break,
                Ok(status) => {
                    self.reaped = true;
                    if self.world == World::Host {
                        self.exit = exit_kind(status);
                    }
                }
                Err(nix::Error::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.reaped {
            // Errors have nobody to go to here, and a process that cannot be signalled is dead already.
            let _ended = process::signal(self.pidfd.as_fd(), libc::SIGKILL);
            // A second, no more: what not even SIGKILL ends at once (a frozen group, a device that hangs) must not hang the harness.
            let mut end = [PollFd::new(self.pidfd.as_fd(), PollFlags::POLLIN)];
            let _waited = poll(&mut end, PollTimeout::from(1000_u16));
            let _reaped = self.reap(false);
        }
    }
}

fn exit_kind(status: nix::sys::wait::WaitStatus) -> Option<ExitKind> {
    use nix::sys::wait::WaitStatus;
    match status {
        WaitStatus::Exited(_, code) => Some(ExitKind::Code(code)),
        WaitStatus::Signaled(_, signal, _) => Some(ExitKind::Signal(signal as i32)),
        _ => None,
    }
}

fn nonblocking(pipe: &OwnedFd) -> io::Result<()> {
    nix::fcntl::fcntl(pipe, nix::fcntl::FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok(())
}
