//! The cork and what follows it.

use super::cgroup::Members;
use super::error::LaunchError;
use super::process::{Process, nonblocking};
use super::running::Running;
use super::status::{failed, message};
use super::stdio::{self, Stdio};
use super::world::{Layout, World};
use super::{Cgroup, Program};
use crate::gate::{AllowedCalls, Denial, HeldCalls};
use crate::host;
use crate::sys::gate::Listener;
use crate::sys::landlock::Ruled;
use crate::sys::process::{self, Message, Own, ResourceLimit, Spawn, Stage};
use crate::units::Usage;
use perf_records::units::Pid;
use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

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
    /// Which descriptors of the harness it inherits beside these, on the bare host alone.
    pub inherited: Vec<i32>,
    /// Bare host or a world of its own.
    pub world: World,
    /// The file mode creation mask; `None` keeps that of the harness.
    pub umask: Option<u32>,
    /// Whether address space randomisation is off.
    pub fixed_addresses: bool,
    /// The limits of single processes to start it with; those of the harness otherwise.
    pub limits: Vec<ResourceLimit>,
    /// The control group that it is born in; `None` for that of the harness. It must be dead when
    /// the last of these goes.
    pub group: Option<Arc<Cgroup>>,
    /// The calls that are held in front of the kernel; empty for none.
    pub held: HeldCalls,
    /// How long a world of its own lasts at most from the go on, also where the harness is stopped
    /// meanwhile; `None` for any time. On the bare host nothing but the harness ends it.
    pub lasts: Option<Duration>,
    /// The calls that alone are allowed, and what becomes of the others; `None` to allow all.
    pub allowed: Option<(AllowedCalls, Denial)>,
    /// The rules of Landlock that it is kept to.
    pub ruled: Option<Ruled>,
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
    world: World,
    layout: Option<Layout>,
    gate: Option<OwnedFd>,
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
    let is_captured = outputs.is_some();
    let streams = is_captured.then(|| stdio::inodes([&stdin, &stdout, &stderr]));
    let streams = streams.transpose().map_err(LaunchError::Stdio)?;
    let program = c_string(workload.program.path().as_os_str())?;
    let directory = workload
        .directory
        .as_ref()
        .map(|path| c_string(workload.world.inside(path).as_os_str()))
        .transpose()?;
    let own = match &workload.world {
        World::Host => None,
        World::Own(own) => {
            let has_input = workload.stdio != Stdio::Captured { input: None };
            let layout = own.layout(workload.directory.as_deref(), has_input);
            Some((layout, own.user.as_ref()))
        }
    };
    let world = match &own {
        None => process::World::Host,
        Some((layout, user)) => process::World::Own(Own {
            namespaces: layout.namespaces,
            steps: &layout.steps,
            user: *user,
            words: layout.words,
            lasts: workload.lasts,
        }),
    };
    let token = process::token();
    let gate = (!workload.held.is_empty()).then(|| workload.held.program(token));
    let allowed = workload.allowed.as_ref();
    let refusing = allowed.map(|(calls, denial)| calls.program(*denial, token));
    let refusing = refusing.transpose()?;
    let parked = process::park(&Spawn {
        program: &program,
        arguments: &workload.arguments,
        environment: &workload.environment,
        directory: directory.as_deref(),
        stdio: [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()],
        inherited: &workload.inherited,
        world,
        own_session: is_captured,
        is_as_ours: !is_captured,
        umask: workload.umask,
        fixed_addresses: workload.fixed_addresses,
        limits: &workload.limits,
        group: workload.group.as_ref().map(|group| group.as_fd()),
        gate: gate.as_deref(),
        refusing: refusing.as_deref(),
        ruled: workload.ruled.as_ref(),
        token,
    })
    .map_err(|source| LaunchError::Fork {
        namespace: own.is_some(),
        source,
    })?;
    let mut process = Process {
        pid: parked.pid,
        pidfd: parked.pidfd,
        main_pid: own.is_none().then_some(parked.pid.0 as i32),
        exit: None,
        usage: Usage::default(),
        killed: false,
        reaped: false,
        obituary: parked.obituary,
        outputs,
        streams,
        has_init: own.is_some(),
        is_overdue: false,
        group: None,
        home: workload.group.clone(),
        mounts: Vec::new(),
    };
    if process.has_init {
        // That of its birth, which it leaves for a copy in its own user namespace.
        process.keep_mounts();
    }
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
        token,
        status: parked.status,
        program: workload.program.clone(),
        directory,
        world: workload.world.clone(),
        layout: own.map(|(layout, _)| layout),
        gate: parked.gate,
    })
}

impl Corked {
    /// The task to open events on, with `inherit`: the parked process itself, or the namespace's
    /// init that will fork it.
    #[must_use]
    pub fn pid(&self) -> Pid {
        self.process.pid
    }

    /// The number by which it asks to be followed when it is let go
    /// ([`CLAIM`](crate::sys::process::CLAIM)).
    #[must_use]
    pub fn token(&self) -> u64 {
        self.token
    }

    /// Makes a control group, which it has joined, end with it: whatever it creates is then ended
    /// as one, on the bare host, too.
    pub fn end_with(&mut self, group: Members) {
        self.process.group = Some(group);
    }

    /// Whether [`pid`](Self::pid) is an init, whose own doings are none of the workload's.
    #[must_use]
    pub fn has_init(&self) -> bool {
        self.process.has_init
    }

    /// Why it is gone before it was let go, if it is and has said so.
    #[must_use]
    pub fn failure(&self) -> Option<LaunchError> {
        let layout = self.layout.as_ref()?;
        match message(&self.status, Instant::now()).ok()?? {
            Message::Ready => None,
            Message::Failed { stage, error } => Some(layout.failed(stage, error)),
        }
    }

    /// Lets it go and waits until its program runs.
    ///
    /// # Errors
    /// The stage that failed and why; the process is gone then. [`LaunchError::TimedOut`] after
    /// `patience`.
    pub fn uncork(self, patience: std::time::Duration) -> Result<Running, LaunchError> {
        let Self {
            mut process,
            go,
            status,
            ..
        } = self;
        let deadline = Instant::now() + patience;
        if let Some(layout) = &self.layout {
            match message(&status, deadline)? {
                Some(Message::Ready) => {}
                Some(Message::Failed { stage, error }) => return Err(layout.failed(stage, error)),
                None => return Err(LaunchError::Vanished),
            }
            process.keep_mounts();
            if let Some(maps) = &layout.maps {
                host::map_ids(process.pid, maps).map_err(LaunchError::Map)?;
            }
        }
        // A child that has failed already has closed its end (SIGPIPE is ignored in a Rust
        // program): its message is in the status pipe.
        match nix::unistd::write(&go, b"g") {
            Ok(_) | Err(nix::Error::EPIPE) => drop(go),
            Err(error) => return Err(LaunchError::Pipe(error.into())),
        }
        match message(&status, deadline)? {
            None => {
                process.collect().map_err(LaunchError::Pipe)?;
                let listener = match &self.gate {
                    None => None,
                    Some(socket) => {
                        process.know_main(deadline).map_err(LaunchError::Pipe)?;
                        let patience = deadline.saturating_duration_since(Instant::now());
                        let got = Listener::receive(socket.as_fd(), patience);
                        let got = got.map_err(LaunchError::Gate)?;
                        let none = || LaunchError::Gate(io::ErrorKind::UnexpectedEof.into());
                        Some(got.ok_or_else(none)?)
                    }
                };
                Ok(Running {
                    process,
                    listener,
                    lifeline: None,
                    is_lost: false,
                })
            }
            Some(Message::Failed {
                stage: Stage::Exec,
                error,
            }) => {
                let (directory, world) = (&self.directory, &self.world);
                Err(self.program.explain(error, directory, world).into())
            }
            other => Err(failed(other)),
        }
    }
}
