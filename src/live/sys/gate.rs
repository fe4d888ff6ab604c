//! Seccomp's user notifications: calls of another task that wait for the answer of a supervisor.
//!
//! # References
//! `seccomp_unotify(2)`; `kernel/seccomp.c`.

use super::check;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

// include/uapi/linux/seccomp.h
const NOTIF_RECV: libc::c_ulong = 0xc050_2100;
const NOTIF_SEND: libc::c_ulong = 0xc018_2101;
const NOTIF_ID_VALID: libc::c_ulong = 0x4008_2102;
const NOTIF_SET_FLAGS: libc::c_ulong = 0x4008_2104;
const FLAG_CONTINUE: u32 = 1;
const SYNC_WAKE_UP: u64 = 1;
pub(super) const NEW_LISTENER: libc::c_ulong = 1 << 3;
pub(super) const WAIT_KILLABLE_RECV: libc::c_ulong = 1 << 5;
pub(super) const SET_MODE_FILTER: libc::c_ulong = 1;

/// An instruction of a classic BPF program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Instruction {
    /// What it does (`BPF_*`).
    pub code: u16,
    /// How many instructions to skip if the condition holds.
    pub if_true: u8,
    /// And if it does not.
    pub if_false: u8,
    /// Its operand.
    pub operand: u32,
}

/// What the child says with the listener, a byte of flags.
pub(super) mod said {
    pub(in crate::sys) const NO_NEW_PRIVILEGES: u8 = 1;
    pub(in crate::sys) const KILLABLE: u8 = 2;
}

/// A call that waits, as the kernel tells it (`struct seccomp_notif`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Notification {
    /// Its id, which no other of this listener has.
    pub id: u64,
    /// The thread, in the pid namespace of the receiver.
    pub thread: u32,
    flags: u32,
    /// The number of the call.
    pub number: i32,
    /// `AUDIT_ARCH_*` of its convention.
    pub arch: u32,
    /// The address of the instruction behind the call.
    pub instruction: u64,
    /// The six words of its arguments.
    pub arguments: [u64; 6],
}

const _: () = assert!(size_of::<Notification>() == 80);

#[repr(C)]
struct Response {
    id: u64,
    value: i64,
    error: i32,
    flags: u32,
}

/// What a waiting call is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// To be made.
    Continue,
    /// To return this, without being made.
    Value(i64),
    /// To fail with this error number, without being made.
    Error(i32),
}

/// The descriptor by which waiting calls are received and answered.
#[derive(Debug)]
pub struct Listener {
    descriptor: OwnedFd,
    /// Whether the task is under `no_new_privs`: as what it is, it may have no filter without.
    pub no_new_privileges: bool,
    /// Whether a call that was received waits through all signals but fatal ones (Linux 5.19).
    pub is_killable: bool,
    /// Whether the answer wakes the task on this very CPU (Linux 6.6).
    pub is_prompt: bool,
}

impl Listener {
    /// Takes the listener that a child sent; `None` where the child ended without.
    ///
    /// # Errors
    /// `WouldBlock` after `patience`; those of `recvmsg(2)`.
    pub fn receive(socket: BorrowedFd<'_>, patience: Duration) -> io::Result<Option<Self>> {
        let ready = super::poll::poll(std::iter::once(socket), patience)?;
        if !ready.iter().any(|it| it.is_readable || it.has_hung_up) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let Some((descriptor, flags)) = receive_descriptor(socket)? else {
            return Ok(None);
        };
        // SAFETY: the flags are passed by value.
        let set = unsafe { libc::ioctl(descriptor.as_raw_fd(), NOTIF_SET_FLAGS, SYNC_WAKE_UP) };
        Ok(Some(Self {
            descriptor,
            no_new_privileges: flags & said::NO_NEW_PRIVILEGES != 0,
            is_killable: flags & said::KILLABLE != 0,
            is_prompt: set == 0,
        }))
    }

    /// Receives the next call that waits; `None` where there is none any more.
    ///
    /// # Errors
    /// Those of `SECCOMP_IOCTL_NOTIF_RECV`.
    pub fn next(&self) -> io::Result<Option<Notification>> {
        let mut notification = Notification::default();
        // SAFETY: a whole seccomp_notif of zeroes, which the kernel fills in.
        let got = unsafe {
            libc::ioctl(
                self.descriptor.as_raw_fd(),
                NOTIF_RECV,
                &raw mut notification,
            )
        };
        match check(got.into()) {
            Ok(_) => Ok(Some(notification)),
            // The task died before, or a signal took its call back; or one came to us.
            Err(error) if is_one_of(&error, &[libc::ENOENT, libc::EINTR]) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether a call still waits: what was read of its task is that task's.
    ///
    /// # Errors
    /// Those of `SECCOMP_IOCTL_NOTIF_ID_VALID`.
    pub fn is_waiting(&self, id: u64) -> io::Result<bool> {
        // SAFETY: a whole number, which the kernel reads.
        let asked =
            unsafe { libc::ioctl(self.descriptor.as_raw_fd(), NOTIF_ID_VALID, &raw const id) };
        match check(asked.into()) {
            Ok(_) => Ok(true),
            Err(error) if is_one_of(&error, &[libc::ENOENT]) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Answers a call that waits; says whether it did until then.
    ///
    /// # Errors
    /// Those of `SECCOMP_IOCTL_NOTIF_SEND`.
    pub fn answer(&self, id: u64, reply: Reply) -> io::Result<bool> {
        let (value, error, flags) = match reply {
            Reply::Continue => (0, 0, FLAG_CONTINUE),
            Reply::Value(value) => (value, 0, 0),
            Reply::Error(error) => (0, error.wrapping_neg(), 0),
        };
        let response = Response {
            id,
            value,
            error,
            flags,
        };
        // SAFETY: a whole seccomp_notif_resp, which the kernel reads.
        let sent =
            unsafe { libc::ioctl(self.descriptor.as_raw_fd(), NOTIF_SEND, &raw const response) };
        match check(sent.into()) {
            Ok(_) => Ok(true),
            Err(error) if is_one_of(&error, &[libc::ENOENT]) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Receives a byte and the descriptor that came with it; `None` at the end of the socket.
fn receive_descriptor(socket: BorrowedFd<'_>) -> io::Result<Option<(OwnedFd, u8)>> {
    let mut byte = 0_u8;
    let mut vector = libc::iovec {
        iov_base: (&raw mut byte).cast(),
        iov_len: 1,
    };
    let mut parcel = Parcel::default();
    // SAFETY: msghdr is plain numbers, for which all zeroes is valid.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut vector;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut parcel).cast();
    message.msg_controllen = size_of::<Parcel>() as _;
    let (fd, how) = (socket.as_raw_fd(), libc::MSG_CMSG_CLOEXEC);
    // SAFETY: a whole msghdr, whose parts are as long as it says.
    let got = check(unsafe { libc::recvmsg(fd, &raw mut message, how) } as libc::c_long)?;
    let is_ours = parcel.level == libc::SOL_SOCKET && parcel.kind == libc::SCM_RIGHTS;
    if got != 1 || !is_ours || parcel.length != Parcel::LENGTH {
        return Ok(None);
    }
    // SAFETY: the kernel has just made it, and it has no other owner.
    let descriptor = unsafe { OwnedFd::from_raw_fd(parcel.descriptor) };
    Ok(Some((descriptor, byte)))
}

/// A `cmsghdr` with one descriptor.
#[repr(C, align(8))]
#[derive(Default)]
pub(super) struct Parcel {
    pub(super) length: usize,
    pub(super) level: libc::c_int,
    pub(super) kind: libc::c_int,
    pub(super) descriptor: libc::c_int,
    padding: libc::c_int,
}

impl Parcel {
    /// `CMSG_LEN` of one descriptor.
    pub(super) const LENGTH: usize = size_of::<usize>() + 3 * size_of::<libc::c_int>();

    pub(super) const fn of(descriptor: libc::c_int) -> Self {
        Self {
            length: Self::LENGTH,
            level: libc::SOL_SOCKET,
            kind: libc::SCM_RIGHTS,
            descriptor,
            padding: 0,
        }
    }
}

fn is_one_of(error: &io::Error, numbers: &[i32]) -> bool {
    error
        .raw_os_error()
        .is_some_and(|number| numbers.contains(&number))
}

/// The largest size that a process may give to a file; `u64::MAX` for any.
///
/// # Errors
/// `ESRCH`, `EPERM`.
///
/// # References
/// `prlimit(2)`, `RLIMIT_FSIZE`.
pub fn file_size_limit(process: u32) -> io::Result<u64> {
    let mut limit = libc::rlimit64 {
        rlim_cur: 0,
        rlim_max: 0,
    };
    let (number, pid) = (libc::SYS_prlimit64, process as libc::pid_t);
    let none = std::ptr::null::<libc::rlimit64>();
    // SAFETY: the kernel writes one structure, and none is given to it.
    check(unsafe { libc::syscall(number, pid, libc::RLIMIT_FSIZE, none, &raw mut limit) })?;
    Ok(limit.rlim_cur)
}

/// Sends a signal to one thread.
///
/// # Errors
/// `ESRCH`, `EPERM`.
///
/// # References
/// `tgkill(2)`.
pub fn signal_thread(process: u32, thread: u32, signal: i32) -> io::Result<()> {
    // SAFETY: numbers only.
    check(unsafe { libc::syscall(libc::SYS_tgkill, process, thread, signal) }).map(drop)
}

/// What a path may not leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// The place that it starts from is its root: paths from the root begin there, and `..` stays.
    Root,
    /// A path that leaves the folder that it starts from is an error (`EXDEV`).
    Folder,
}

/// Opens a path as a place. With `is_cached` no file system is asked, which might let it wait.
///
/// # Errors
/// Those of `openat2(2)`, of `RESOLVE_CACHED` (Linux 5.12) `EAGAIN` where a file system would have
/// to be asked; `InvalidInput` for a path with a zero byte.
///
/// # References
/// `RESOLVE_IN_ROOT`, `RESOLVE_BENEATH`, `openat2(2)` (Linux 5.6).
pub fn open_place(
    start: BorrowedFd<'_>,
    path: &[u8],
    within: Within,
    is_cached: bool,
) -> io::Result<OwnedFd> {
    open_with(start, path, (within, is_cached), 0)
}

/// The same of a link itself, where the path ends in one.
///
/// # Errors
/// As [`open_place`].
pub fn open_place_itself(
    start: BorrowedFd<'_>,
    path: &[u8],
    within: Within,
    is_cached: bool,
) -> io::Result<OwnedFd> {
    open_with(start, path, (within, is_cached), libc::O_NOFOLLOW)
}

fn open_with(
    start: BorrowedFd<'_>,
    path: &[u8],
    (within, is_cached): (Within, bool),
    flags: i32,
) -> io::Result<OwnedFd> {
    let path = std::ffi::CString::new(path).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: open_how is plain numbers, for which all zeroes is valid.
    let mut how: libc::open_how = unsafe { std::mem::zeroed() };
    how.flags = (libc::O_PATH | libc::O_CLOEXEC | flags) as u64;
    how.resolve = libc::RESOLVE_NO_MAGICLINKS;
    how.resolve |= match within {
        Within::Root => libc::RESOLVE_IN_ROOT,
        Within::Folder => libc::RESOLVE_BENEATH,
    };
    if is_cached {
        how.resolve |= libc::RESOLVE_CACHED;
    }
    let (number, size) = (libc::SYS_openat2, size_of::<libc::open_how>());
    let start = start.as_raw_fd();
    // SAFETY: a string that ends in NUL, and a whole open_how.
    let got = unsafe { libc::syscall(number, start, path.as_ptr(), &raw const how, size) };
    let got = check(got)?;
    // SAFETY: the kernel has just made it, and it has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(got as i32) })
}
