//! Starting a workload that waits at its cork, and ending it.
//!
//! ```text
//! harness ---- go pipe (one byte: run; end of file: give up) ------> the parked child
//!         <--- status pipe (8 bytes: ready, or a stage and its errno; end of file: execve succeeded or the child died) ---
//!         <--- obituary pipe (namespace only: the main process' pid there, its wait status, what was used) --- the namespace's init
//! ```
//!
//! The child closes whatever it inherited of the harness *before* it parks, so that corks waiting
//! side by side never hold each other's ends open: the end of file that cancels one arrives
//! whatever the others do. A harness that dies closes its end as well, and the child leaves by
//! itself.

mod child;
mod descriptors;
mod fork;
mod gate;
mod janitor;
mod landlock;
mod limit;
mod message;
mod parcel;
mod prepared;
mod reap;
mod room;
mod starter;
mod step;
mod urgent;

pub use descriptors::outlives_exec;
pub use fork::without_forks;
pub use janitor::{Duty, Janitor, ProbeDuty};
pub use limit::{ResourceLimit, raise_open_files};
pub use message::{Message, OVERDUE, Stage};
pub use reap::{Reaped, add_to, reap};
pub use starter::{begin as begin_starter, end as end_starter};
pub use step::{FIRST_SLOT, NO_DEVICES, READ_ONLY, SLOTS, Step, has_mount_attributes};
pub use urgent::make_urgent;

use super::gate::Instruction;
use super::landlock::Ruled;
use super::rights::{Raised, Right};
use super::{check, disposed, pidfd};
use crate::units::User;
use fork::fork;
use perf_records::units::Pid;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// Of what runs between `clone(2)` and `execve(2)` in a world, in bytes.
const STACK: usize = 64 << 10;

/// What a parked child says to `prctl(2)` when it is let go, with its token, which the kernel
/// refuses and a BPF program hears: the child asks to be followed
/// ([`crate::capture`](../../capture/index.html)), whichever pid namespaces there are between it
/// and the program.
pub const CLAIM: i32 = 0x6872_6e73;

/// Where the workload lives: on the host or in namespaces.
#[derive(Clone, Copy, Debug)]
pub enum World<'a> {
    /// On the bare host, as the direct child of the harness.
    Host,
    /// In namespaces of its own, under an init that reaps whatever is orphaned there. The end of
    /// that init is the end of everything in its pid namespace (`zap_pid_ns_processes()`), and init
    /// ends when the harness does.
    Own(Own<'a>),
}

/// A world of the workload's own.
#[derive(Clone, Copy, Debug)]
pub struct Own<'a> {
    /// The namespaces that its init is born into (`CLONE_NEW*`), a pid namespace among them.
    pub namespaces: i32,
    /// What init does before it is ready.
    pub steps: &'a [Step],
    /// The user that the workload runs as; `None` for the user of the harness.
    pub user: Option<&'a User>,
    /// The address and the length in bytes of the harness' command line and environment. Init
    /// overwrites its copy of them, which `/proc/1/cmdline` shows to all processes of the world.
    pub words: Option<(usize, usize)>,
    /// How many whole seconds, and one more, init lets others live; `None` for any time.
    pub lasts: Option<Duration>,
}

/// Brings the loopback interface of this network namespace up.
///
/// # Errors
/// `EPERM` without `CAP_NET_ADMIN` over it.
///
/// # References
/// `SIOCSIFFLAGS`, `netdevice(7)`.
pub fn loopback() -> io::Result<()> {
    step::loopback().map_err(io::Error::from_raw_os_error)
}

/// Lets a command that is to be started end with the thread that starts it, by `SIGKILL`.
///
/// # References
/// `PR_SET_PDEATHSIG`, `prctl(2)`.
pub fn end_with_us(command: &mut std::process::Command) {
    let ask = || {
        // SAFETY: prctl takes numbers.
        let asked = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        check(asked.into()).map(drop)
    };
    // SAFETY: between fork and exec it makes one system call and nothing else.
    unsafe { std::os::unix::process::CommandExt::pre_exec(command, ask) };
}

/// Lets a command that is to be started have a file, and returns the path that it has there. The
/// file needs no name of its own.
///
/// # References
/// `FD_CLOEXEC`, `fcntl(2)`; `/dev/fd`, `proc_pid_fd(5)`.
pub fn hand(command: &mut std::process::Command, file: OwnedFd) -> PathBuf {
    let path = PathBuf::from(format!("/dev/fd/{}", file.as_raw_fd()));
    let keep = move || {
        // SAFETY: fcntl takes numbers; the descriptor is open, as the closure owns it.
        let kept = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFD, 0) };
        check(kept.into()).map(drop)
    };
    // SAFETY: between fork and exec it makes one system call and nothing else.
    unsafe { std::os::unix::process::CommandExt::pre_exec(command, keep) };
    path
}

/// Everything the child needs, laid out beforehand: between `clone3(2)` and `execve(2)` nothing may
/// be allocated.
#[derive(Debug)]
pub struct Spawn<'a> {
    /// The file to execute; no search in `PATH` happens.
    pub program: &'a CStr,
    /// `argv`, from `argv[0]` on.
    pub arguments: &'a [CString],
    /// `envp`, `NAME=value` each.
    pub environment: &'a [CString],
    /// The working directory; `None` keeps the harness'.
    pub directory: Option<&'a CStr>,
    /// What becomes descriptors 0, 1 and 2.
    pub stdio: [BorrowedFd<'a>; 3],
    /// Which others it inherits, on the bare host alone: open, and not to be closed by `execve(2)`.
    pub inherited: &'a [i32],
    /// Where it lives: on the host or in namespaces.
    pub world: World<'a>,
    /// Whether it leads a session of its own on the bare host, as it always does in a namespace:
    /// what it sends to its process group and what a terminal sends to the harness' then stay
    /// apart.
    pub own_session: bool,
    /// Whether those of its first three descriptors are closed that were closed for the harness,
    /// and on the bare host those signals ignored and blocked that were so for the harness.
    /// Otherwise no descriptor is closed, and no signal is ignored or blocked.
    pub is_as_ours: bool,
    /// The file mode creation mask; `None` keeps the harness'.
    pub umask: Option<u32>,
    /// Whether address space randomisation is switched off for it (`personality(2)`,
    /// `ADDR_NO_RANDOMIZE`).
    pub fixed_addresses: bool,
    /// The limits of single processes to start it with; those of the harness otherwise.
    pub limits: &'a [ResourceLimit],
    /// The control group to be born in, open for reading; `None` for that of the harness. To be
    /// moved there later costs milliseconds (`cgroup_threadgroup_rwsem`).
    pub group: Option<BorrowedFd<'a>>,
    /// The filter by which calls of the workload are held; `None` to hold none. It lets calls pass
    /// whose last word is [`Spawn::token`].
    pub gate: Option<&'a [Instruction]>,
    /// The filter that refuses calls of the workload; `None` to refuse none. It lets calls pass
    /// whose last word is [`Spawn::token`].
    pub refusing: Option<&'a [Instruction]>,
    /// The rules that it is kept to.
    pub ruled: Option<&'a Ruled>,
    /// A number that no other process has ([`token`]).
    pub token: u64,
}

/// A child that waits for its go.
#[derive(Debug)]
pub struct Parked {
    /// Its pid, as the harness sees it: of the main process on the host, of init in a namespace.
    /// Events opened on it with `inherit` follow all that it comes to create.
    pub pid: Pid,
    /// The same process as a descriptor, which no reuse of pids can confuse.
    pub pidfd: OwnedFd,
    /// The write end of the go pipe.
    pub go: OwnedFd,
    /// The read end of the status pipe.
    pub status: OwnedFd,
    /// The read end of the obituary pipe; only in a namespace.
    pub obituary: Option<OwnedFd>,
    /// The end of the socket by which its listener comes, if calls are to be held.
    pub gate: Option<OwnedFd>,
}

/// Starts the child and leaves it parked.
///
/// # Errors
/// Those of `pipe2(2)` and `clone3(2)`: `EPERM` for a namespace without the right to it, `EAGAIN`
/// at a process limit. What fails later, in the child, comes as a [`Message`] through the status
/// pipe.
///
/// # References
/// `clone3` in `clone(2)`; `pid_namespaces(7)`.
pub fn park(spawn: &Spawn<'_>) -> io::Result<Parked> {
    disposed::keep_children()?;
    let argv = pointers(spawn.arguments);
    let envp = pointers(spawn.environment);
    let (go_read, go_write) = pipe()?;
    let (status_read, status_write) = pipe()?;
    let obituary = match spawn.world {
        World::Host => None,
        World::Own(_) => Some(pipe()?),
    };
    let gate = spawn.gate.map(|_| UnixStream::pair()).transpose()?;
    let ends = [go_read.as_raw_fd(), status_write.as_raw_fd()];
    let far = gate.as_ref().map(|(_, far)| far.as_raw_fd());
    let mut kept = [&[0, 1, 2], &ends[..], spawn.inherited, far.as_slice()].concat();
    kept.sort_unstable();
    let mut stack: Vec<u128> = Vec::with_capacity(STACK / size_of::<u128>());
    let steps = match spawn.world {
        World::Host => &[],
        World::Own(own) => own.steps,
    };
    let steps: Vec<_> = steps
        .iter()
        .map(|step| step.keeping(&mut |text| text))
        .collect();
    let prepared = prepared::Prepared {
        // SAFETY: the end of the allocation. Nothing is there until the child writes to its copy.
        stack: unsafe { stack.as_mut_ptr().add(stack.capacity()) },
        kept: &kept,
        program: spawn.program.as_ptr(),
        argv: argv.as_ptr(),
        envp: envp.as_ptr(),
        directory: spawn.directory.map_or(std::ptr::null(), CStr::as_ptr),
        stdio: spawn.stdio.map(|fd| fd.as_raw_fd()),
        go: go_read.as_raw_fd(),
        status: status_write.as_raw_fd(),
        obituary: obituary.as_ref().map(|(_, write)| write.as_raw_fd()),
        gate: spawn.gate.zip(far).map(|(filter, socket)| gate::Prepared {
            socket,
            filter: filter.as_ptr(),
            length: filter.len() as u16,
        }),
        refusing: spawn.refusing.map(|filter| gate::Refusing {
            filter: filter.as_ptr(),
            length: filter.len() as u16,
        }),
        ruled: spawn.ruled,
        own_session: spawn.own_session,
        is_as_ours: spawn.is_as_ours,
        umask: spawn.umask,
        fixed_addresses: spawn.fixed_addresses,
        limits: spawn.limits.as_ptr(),
        n_limits: spawn.limits.len(),
        token: spawn.token,
        is_of_starter: false,
        own: match spawn.world {
            World::Host => None,
            World::Own(own) => Some(prepared::InitOf {
                steps: &steps,
                user: own.user.map(|user| (user.uid, user.gid, &*user.groups)),
                words: own.words,
                lasts: own.lasts,
            }),
        },
    };
    let namespaces = match spawn.world {
        World::Host => 0,
        World::Own(own) => own.namespaces,
    };
    let started = match spawn.world {
        World::Own(_) => starter::start(&prepared, namespaces, spawn.group),
        World::Host => None,
    };
    let (pid, pidfd) = match started {
        Some(pid) => {
            let pid = Pid(pid? as u32);
            // A child that is not reaped keeps its id.
            let pidfd = pidfd::open(pid)?.ok_or(io::ErrorKind::NotFound)?;
            (pid, pidfd)
        }
        None => fork_parked(&prepared, namespaces, spawn.group)?,
    };
    Ok(Parked {
        pid,
        pidfd,
        go: go_write,
        status: status_read,
        obituary: obituary.map(|(read, _)| read),
        gate: gate.map(|(near, _)| near.into()),
    })
}

/// Makes the child a fork of this process.
fn fork_parked(
    prepared: &prepared::Prepared<'_>,
    namespaces: i32,
    group: Option<BorrowedFd<'_>>,
) -> io::Result<(Pid, OwnedFd)> {
    let mut pidfd: libc::c_int = -1;
    let flags = libc::CLONE_PIDFD | namespaces;
    // Some machines let no ordinary user have a user namespace. In it the child's capabilities are
    // those of that namespace, and no others.
    let needed: &[Right] = match namespaces & libc::CLONE_NEWUSER {
        0 => &[],
        _ => &[Right::SysAdmin],
    };
    let raised = Raised::new(needed);
    // SAFETY: the child runs only child::main, which makes nothing but system calls on memory laid
    // out above and never returns.
    let pid = unsafe { fork(group, flags, &raw mut pidfd, libc::SIGCHLD) }?;
    if pid == 0 {
        raised.leave();
        // SAFETY: this is the child, alone in its copy of the memory; all pointers in `prepared`
        // point into that copy.
        unsafe { child::main(prepared) }
    }
    // SAFETY: the kernel has just stored a new descriptor there.
    Ok((Pid(pid as u32), unsafe { OwnedFd::from_raw_fd(pidfd) }))
}

/// Whether a process can be born into a control group: tried with one that ends at once.
///
/// # Errors
/// Those of `clone3(2)` with `CLONE_INTO_CGROUP`: `EACCES` where the harness' own group and this
/// one have no common parent that the user may write to, `EOPNOTSUPP` for a group that takes
/// threads only.
///
/// # References
/// `CLONE_INTO_CGROUP` in `clone(2)`; "Delegation Containment" in
/// `Documentation/admin-guide/cgroup-v2.rst`.
pub fn try_group(group: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the child ends at once.
    let pid = unsafe { fork(Some(group), 0, std::ptr::null_mut(), libc::SIGCHLD) }?;
    if pid == 0 {
        // SAFETY: ends the process.
        unsafe { libc::_exit(0) }
    }
    nix::sys::wait::waitpid(nix::unistd::Pid::from_raw(pid as i32), None)?;
    Ok(())
}

/// Leaves the event descriptors to a child, whose end closes them, and returns at once without
/// waiting for the child.
///
/// The last close of a tracepoint's event waits for the kernel's other CPUs, 40 ms and more each.
/// The child is in a session of its own, holds nothing else of ours, and ends by itself.
///
/// # Errors
/// Those of `clone3(2)`.
pub fn close_in_background(descriptors: Vec<OwnedFd>) -> io::Result<()> {
    let mut numbers: Vec<i32> = descriptors.iter().map(AsRawFd::as_raw_fd).collect();
    numbers.sort_unstable();
    // Exit signal 0: the parent is never told, and the child is reaped by init once we are gone.
    // SAFETY: the child makes nothing but system calls and never returns.
    let pid = unsafe { fork(None, 0, std::ptr::null_mut(), 0) }?;
    if pid == 0 {
        // SAFETY: the child makes nothing but system calls and never returns.
        unsafe { descriptors::close_all_but(&numbers) }
    }
    drop(descriptors);
    Ok(())
}

/// A number that no other run has, here or in another process: random.
#[must_use]
pub fn token() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::hash::RandomState::new().build_hasher().finish()
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC)?)
}

fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings
        .iter()
        .map(|string| string.as_ptr())
        .chain([std::ptr::null()])
        .collect()
}
