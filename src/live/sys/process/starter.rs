//! A small process that starts the inits of worlds.
//!
//! A fork copies the tables of all memory, the last exit of the copy takes them down, and each page
//! that the harness writes to in the meantime is copied: for a harness with its programs and plans
//! that is a third of what a small run costs. So a copy that was made when the harness was small
//! forks in its place. The inits are the harness' own children all the same (`CLONE_PARENT`), born
//! of its main thread: they end with it, and no other.
//!
//! ```text
//! harness --- order (a stretch of memory; the descriptors) --> starter -- clone3(CLONE_PARENT) --> init
//!         <-- answer (8 bytes: pid, or -1 and an errno) ------
//! ```
//!
//! The stretch has the same address in both, so that the pointers of an order hold in each. An
//! order that has no room there, or that the starter cannot carry out, is for a fork of the
//! harness.

use super::STACK;
use super::child::{self, errno};
use super::fork::{clone3_into, fork};
use super::limit::raise_open_files;
use super::parcel::{Control, MOST, pair, put, take, wait_no_longer};
use super::prepared::{InitOf, Prepared};
use super::room::Room;
use crate::sys::disposed;
use crate::sys::{check, rights};
use libc::c_int;
use nix::sched::CpuSet;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The room of an order, in bytes.
const ROOM: usize = 64 << 10;

/// How long an answer takes at the most, in seconds: the starter makes one system call for it, and
/// then it is stopped or has no CPU.
const PATIENCE: i64 = 30;

static STARTER: Mutex<Option<Starter>> = Mutex::new(None);

/// The harness' side.
struct Starter {
    socket: OwnedFd,
    pid: c_int,
    /// The CPUs that it was made on, which its inits have.
    cpus: CpuSet,
    /// Of [`ROOM`] bytes, with [`STACK`] behind them.
    stretch: NonNull<u8>,
}

// SAFETY: the stretch is memory that nothing else refers to, and that is never unmapped.
unsafe impl Send for Starter {}

/// What the starter reads: it lies at the beginning of the stretch.
struct Order {
    prepared: Prepared<'static>,
    namespaces: c_int,
}

/// Has the inits of worlds started by a small process from now on. Does nothing but in the main
/// thread, whose children end with the harness and not before; and where rights are lent.
///
/// # Errors
/// Those of `mmap(2)`, `socketpair(2)` and `clone3(2)`.
pub fn begin() -> io::Result<()> {
    let is_main = nix::unistd::gettid() == nix::unistd::getpid();
    let mut starter = lock();
    if is_main && !rights::are_lent() && starter.is_none() {
        disposed::keep_children()?;
        *starter = Some(Starter::new()?);
    }
    Ok(())
}

/// Ends that process, if there is one, and waits for its end: a harness that has opened nothing
/// leaves no process of its own behind.
pub fn end() {
    if let Some(starter) = lock().take() {
        let pid = starter.pid;
        drop(starter);
        // SAFETY: a number, and no room for a status. It is an error if that was done by then.
        unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
    }
}

fn lock() -> MutexGuard<'static, Option<Starter>> {
    STARTER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the init of a world, and gives its id; `None` where the harness has to do that itself.
pub(super) fn start(
    prepared: &Prepared<'_>,
    namespaces: c_int,
    group: Option<BorrowedFd<'_>>,
) -> Option<io::Result<c_int>> {
    let mut starter = lock();
    let started = starter.as_ref()?.start(prepared, namespaces, group);
    match started {
        Ok(started) => Some(Ok(started)),
        Err(Unable::NoRoom) => None,
        Err(Unable::Refused(error)) => Some(Err(error)),
        Err(Unable::Gone) => {
            *starter = None;
            None
        }
        Err(Unable::Silent(error)) => {
            *starter = None;
            Some(Err(error))
        }
    }
}

/// Why a starter has started nothing.
#[derive(Debug)]
enum Unable {
    /// The order has no room, or is of a kind that the harness carries out itself. It was not
    /// asked.
    NoRoom,
    /// It has ended. It was not asked.
    Gone,
    /// The kernel has refused it.
    Refused(io::Error),
    /// It gave no answer. What it may have made by now waits at the pipes of the order, where no
    /// other may wait.
    Silent(io::Error),
}

impl Drop for Starter {
    fn drop(&mut self) {
        // SAFETY: numbers; the child is ours, and not waited for before.
        unsafe { libc::kill(self.pid, libc::SIGKILL) };
        // SAFETY: a number, and no room for a status. One that hangs in the kernel is left to it.
        unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), libc::WNOHANG) };
    }
}

/// The CPUs that the calling thread may use.
fn own_cpus() -> io::Result<CpuSet> {
    Ok(nix::sched::sched_getaffinity(nix::unistd::Pid::from_raw(
        0,
    ))?)
}

impl Starter {
    fn new() -> io::Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let (anywhere, length) = (std::ptr::null_mut(), ROOM + STACK);
        // SAFETY: new memory at an address of the kernel's choice.
        let stretch = unsafe { libc::mmap(anywhere, length, protection, flags, -1, 0) };
        if stretch == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let stretch = NonNull::new(stretch.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        let [near, far] = pair()?;
        wait_no_longer(&near, PATIENCE, 0)?;
        let cpus = own_cpus()?;
        // SAFETY: the child makes nothing but system calls on its copy of the memory, and never
        // returns.
        let pid = unsafe { fork(None, 0, std::ptr::null_mut(), libc::SIGCHLD) }?;
        if pid == 0 {
            // SAFETY: this is the child, alone in its copy of the memory.
            unsafe { serve(far.as_raw_fd(), stretch.as_ptr()) }
        }
        Ok(Self {
            socket: near,
            pid: pid as c_int,
            cpus,
            stretch,
        })
    }

    fn start(
        &self,
        prepared: &Prepared<'_>,
        namespaces: c_int,
        group: Option<BorrowedFd<'_>>,
    ) -> Result<c_int, Unable> {
        // A thread that is kept on a CPU has its children there.
        let has_same_cpus = own_cpus().is_ok_and(|cpus| cpus == self.cpus);
        let is_held =
            prepared.gate.is_some() || prepared.refusing.is_some() || prepared.ruled.is_some();
        let is_plain = has_same_cpus && !is_held;
        let obituary = prepared.obituary.filter(|_| is_plain);
        let written = self.write(prepared, namespaces).zip(obituary);
        let (length, obituary) = written.ok_or(Unable::NoRoom)?;
        let ends = [prepared.go, prepared.status, obituary];
        let group = group.map(|group| group.as_raw_fd());
        let numbers = [&prepared.stdio, &ends[..], group.as_slice()].concat();
        self.send(length, &numbers).map_err(|_| Unable::Gone)?;
        let silent = |error: io::Error| {
            let why = match error.kind() {
                io::ErrorKind::WouldBlock => {
                    format!("has not answered for {PATIENCE} s: it is stopped, or has no CPU")
                }
                io::ErrorKind::UnexpectedEof => "has ended".to_owned(),
                _ => return Unable::Silent(error),
            };
            let text = format!("the process `harness-starter` ({}) {why}", self.pid);
            Unable::Silent(io::Error::other(text))
        };
        match self.answer().map_err(silent)? {
            [-1, error] => Err(Unable::Refused(io::Error::from_raw_os_error(error))),
            [pid, _] => Ok(pid),
        }
    }

    /// Lays an order out in the stretch; `None` where it has no room.
    fn write(&self, of: &Prepared<'_>, namespaces: c_int) -> Option<usize> {
        let mut room = Room::new(self.stretch, ROOM, size_of::<Order>());
        let own = of.own.as_ref()?;
        let steps = own.steps.iter();
        let steps: Vec<_> = steps
            .map(|step| step.keeping(&mut |text| room.text(text)))
            .collect();
        let own = InitOf {
            steps: room.all(&steps),
            user: own
                .user
                .map(|(uid, gid, groups)| (uid, gid, room.all(groups))),
            words: own.words,
            lasts: own.lasts,
        };
        // SAFETY: as many limits as are said.
        let limits = unsafe { std::slice::from_raw_parts(of.limits, of.n_limits) };
        let prepared = Prepared {
            program: room.string(of.program),
            argv: room.strings(of.argv),
            envp: room.strings(of.envp),
            directory: room.string(of.directory),
            kept: &[],
            gate: None,
            refusing: None,
            ruled: None,
            limits: room.all(limits).as_ptr(),
            own: Some(own),
            is_of_starter: true,
            // SAFETY: the end of what was mapped.
            stack: unsafe { self.stretch.as_ptr().add(ROOM + STACK) }.cast(),
            ..*of
        };
        let order = Order {
            prepared,
            namespaces,
        };
        // SAFETY: the stretch is page-aligned and has room for it, which nothing refers to.
        unsafe { self.stretch.as_ptr().cast::<Order>().write(order) };
        room.end()
    }

    /// Sends so much of the stretch, with descriptors.
    fn send(&self, length: usize, numbers: &[c_int]) -> io::Result<()> {
        let mut part = libc::iovec {
            iov_base: self.stretch.as_ptr().cast(),
            iov_len: length,
        };
        let mut control = Control::new();
        let mut message = control.message(&mut part);
        // SAFETY: there is room for as many as there can be.
        let bytes = unsafe { libc::CMSG_SPACE(size_of_val(numbers) as u32) };
        message.msg_controllen = bytes as _;
        // SAFETY: a whole header in the message's own room, and as many numbers behind it.
        unsafe { put(&message, numbers) };
        let fd = self.socket.as_raw_fd();
        // SAFETY: a whole message.
        let sent = unsafe { libc::sendmsg(fd, &raw const message, libc::MSG_NOSIGNAL) };
        check(sent as libc::c_long).map(drop)
    }

    /// The pid, or -1 and an errno. An error where there is none in time.
    fn answer(&self) -> io::Result<[c_int; 2]> {
        let (fd, mut answer) = (self.socket.as_raw_fd(), [0; 2]);
        loop {
            // SAFETY: eight bytes into eight bytes.
            let got = unsafe { libc::recv(fd, answer.as_mut_ptr().cast(), 8, 0) };
            match check(got as libc::c_long) {
                Ok(8) => return Ok(answer),
                Ok(_) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// The starter, from its first instruction to its last: it has no memory but what it was born with.
///
/// # Safety
/// Only in a child made without `CLONE_VM`, with the stretch of a [`Starter`].
#[expect(
    clippy::multiple_unsafe_ops_per_block,
    reason = "a straight line of system calls"
)]
unsafe fn serve(socket: c_int, stretch: *mut u8) -> ! {
    // SAFETY: numbers, and memory of its own.
    unsafe {
        let _closed = super::descriptors::close_others(&[socket]);
        // An order has descriptors.
        let _stays = raise_open_files();
        libc::setsid();
        libc::prctl(libc::PR_SET_NAME, c"harness-starter".as_ptr());
        child::dispose_signals(|_| false);
        let _blocked = child::block_signals(u64::MAX);
        loop {
            let mut part = libc::iovec {
                iov_base: stretch.cast(),
                iov_len: ROOM,
            };
            let mut control = Control::new();
            let mut message = control.message(&mut part);
            let got = libc::recvmsg(socket, &raw mut message, libc::MSG_CMSG_CLOEXEC);
            if got == -1 && errno() == libc::EINTR {
                continue;
            }
            if got <= 0 {
                libc::_exit(0);
            }
            let mut numbers = [-1; MOST];
            let answer = match take(&message, &mut numbers) {
                n if n + 1 < MOST => [-1, libc::EMFILE],
                _ => begin_init(&mut *stretch.cast::<Order>(), &numbers),
            };
            for number in numbers.into_iter().filter(|number| *number != -1) {
                libc::close(number);
            }
            // Without the answer the harness would wait for one, and takes the next for it.
            if libc::send(socket, answer.as_ptr().cast(), 8, libc::MSG_NOSIGNAL) != 8 {
                libc::_exit(1);
            }
        }
    }
}

/// Carries out an order: the harness' answer, in the starter alone.
unsafe fn begin_init(order: &mut Order, numbers: &[c_int; MOST]) -> [c_int; 2] {
    let [stdin, stdout, stderr, go, status, obituary, group] = *numbers;
    let prepared = &mut order.prepared;
    prepared.stdio = [stdin, stdout, stderr];
    (prepared.go, prepared.status) = (go, status);
    prepared.obituary = Some(obituary);
    // SAFETY: open until the answer is sent.
    let group = (group != -1).then(|| unsafe { BorrowedFd::borrow_raw(group) });
    let flags = order.namespaces | libc::CLONE_PARENT;
    // SAFETY: the child makes nothing but system calls, and never returns.
    let pid = unsafe { clone3_into(group, flags, std::ptr::null_mut(), 0) };
    if pid == 0 {
        // SAFETY: this is the child, alone in its copy of the memory, the stretch in it.
        unsafe { child::main(prepared) }
    }
    [pid as c_int, if pid == -1 { errno() } else { 0 }]
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::super::{Message, Stage, Step};
    use super::*;
    use crate::sys::pidfd;
    use nix::sys::wait::{WaitStatus, waitpid};
    use perf_records::units::Pid;
    use std::ffi::{CStr, CString};
    use std::io::{PipeReader, PipeWriter, Read};

    struct Ends {
        go: PipeWriter,
        status: PipeReader,
    }

    /// Orders an init without namespaces, which takes these steps.
    fn order(
        starter: &Starter,
        steps: &[Step<&CStr>],
        environment: &CStr,
    ) -> (Result<c_int, Unable>, Ends) {
        let (go_read, go) = io::pipe().unwrap();
        let (status, status_write) = io::pipe().unwrap();
        let (_obituary, obituary_write) = io::pipe().unwrap();
        let argv = [c"program".as_ptr(), std::ptr::null()];
        let envp = [environment.as_ptr(), std::ptr::null()];
        let prepared = Prepared {
            program: c"/program".as_ptr(),
            argv: argv.as_ptr(),
            envp: envp.as_ptr(),
            directory: std::ptr::null(),
            stdio: [0, 1, 2],
            kept: &[],
            go: go_read.as_raw_fd(),
            status: status_write.as_raw_fd(),
            obituary: Some(obituary_write.as_raw_fd()),
            gate: None,
            refusing: None,
            ruled: None,
            own_session: false,
            is_as_ours: false,
            umask: None,
            fixed_addresses: false,
            limits: std::ptr::NonNull::dangling().as_ptr(),
            n_limits: 0,
            token: 0,
            is_of_starter: false,
            own: Some(InitOf {
                steps,
                user: None,
                words: None,
                lasts: None,
            }),
            stack: std::ptr::null_mut(),
        };
        (starter.start(&prepared, 0, None), Ends { go, status })
    }

    fn first_message(status: &mut PipeReader) -> Option<Message> {
        let mut bytes = [0; 8];
        status.read_exact(&mut bytes).ok()?;
        Message::from_bytes(bytes)
    }

    #[test]
    fn an_init_takes_its_steps_is_our_child_and_leaves_when_it_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let made = folder.path().join("made");
        let path = CString::new(made.to_str().unwrap()).unwrap();
        let starter = Starter::new().unwrap();
        // Those of one order are not those of the next.
        for (steps, expected) in [
            (vec![Step::Folder(&*path, 0o700)], Message::Ready),
            (Vec::new(), Message::Ready),
            (
                vec![Step::Folder(&*path, 0o700)],
                Message::Failed {
                    stage: Stage::Step(0),
                    error: io::Error::from_raw_os_error(libc::EEXIST),
                },
            ),
        ] {
            let (started, mut ends) = order(&starter, &steps, c"A=b");
            let pid = started.unwrap();
            assert!(pidfd::open(Pid(pid as u32)).unwrap().is_some());
            let got = first_message(&mut ends.status).unwrap();
            assert_eq!(format!("{got:?}"), format!("{expected:?}"));
            assert!(made.is_dir());
            drop(ends.go);
            let ended = waitpid(nix::unistd::Pid::from_raw(pid), None).unwrap();
            assert!(matches!(ended, WaitStatus::Exited(_, 0 | 127)), "{ended:?}");
        }
    }

    #[test]
    fn what_has_no_room_is_not_asked_for_and_the_next_is() {
        let starter = Starter::new().unwrap();
        let long = CString::new(vec![b'x'; ROOM]).unwrap();
        let (refused, _ends) = order(&starter, &[], &long);
        assert!(matches!(refused, Err(Unable::NoRoom)));
        let (started, ends) = order(&starter, &[], c"A=b");
        let pid = started.unwrap();
        drop(ends.go);
        waitpid(nix::unistd::Pid::from_raw(pid), None).unwrap();
    }

    #[test]
    fn one_that_has_ended_is_not_asked() {
        let mut starter = Starter::new().unwrap();
        let [near, far] = pair().unwrap();
        starter.socket = near;
        drop(far);
        let (refused, _ends) = order(&starter, &[], c"A=b");
        assert!(matches!(refused, Err(Unable::Gone)));
    }

    #[test]
    fn one_that_is_stopped_is_given_up_and_ended() {
        let starter = Starter::new().unwrap();
        wait_no_longer(&starter.socket, 0, 1000).unwrap();
        let pid = nix::unistd::Pid::from_raw(starter.pid);
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGSTOP).unwrap();
        let flags = Some(nix::sys::wait::WaitPidFlag::WUNTRACED);
        waitpid(pid, flags).unwrap();
        let (silent, _ends) = order(&starter, &[], c"A=b");
        assert!(matches!(silent, Err(Unable::Silent(_))), "{silent:?}");
        drop(starter);
        let ended = waitpid(pid, None);
        let is_gone = ended == Err(nix::errno::Errno::ECHILD);
        assert!(
            is_gone || matches!(ended, Ok(WaitStatus::Signaled(..))),
            "{ended:?}"
        );
    }

    #[test]
    fn a_thread_that_is_kept_on_other_cpus_starts_its_inits_itself() {
        let mut starter = Starter::new().unwrap();
        starter.cpus = CpuSet::new();
        let (refused, _ends) = order(&starter, &[], c"A=b");
        assert!(matches!(refused, Err(Unable::NoRoom)));
    }
}
