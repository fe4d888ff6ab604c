//! A process that outlives the harness and removes what it leaves.
//!
//! ```text
//! harness <--- answer pipe (8 bytes: the errnos of making the directory and the control group) --- the janitor
//!         ---- duty pipe (one byte: all is removed, leave; end of file: the harness is dead) ----->
//! ```
//!
//! The janitor makes the directory and the group by itself, so that there is no moment in which
//! they are there and it is not. It has a session of its own and takes no signal, as those of a
//! terminal and of a CI go to whole groups. Like a parked workload it is a fork of a process with
//! many threads: it makes system calls on memory that was laid out before, and nothing else.
//!
//! Another kind makes nothing and removes the probes of the harness.

use super::{fork, pipe};
use crate::sys::disposed;
use crate::sys::pidfd;
use crate::sys::removal::{Members, open_folder, remove_group, remove_probes, remove_tree};
use crate::sys::rights;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, Flock, FlockArg, OFlag, open};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, SigmaskHow, sigprocmask};
use nix::sys::stat::{Mode, fchmod, fstat, fstatat, mkdirat};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::{read, write};
use perf_records::units::Pid;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// How long the janitor waits for the kernel to let go of what it removes.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a janitor makes, and removes when the harness is dead.
#[derive(Clone, Copy, Debug)]
pub struct Duty<'a> {
    /// The name of the directory and of the group.
    pub name: &'a CStr,
    /// The directory to make the one in, by its absolute path.
    pub folder: &'a CStr,
    /// The group to make the other below; `None` where there is to be none.
    pub hierarchy: Option<&'a CStr>,
    /// Whether members of the group die with the harness.
    pub members: Members,
}

/// The probes that a janitor removes when the harness is dead.
#[derive(Clone, Copy, Debug)]
pub struct ProbeDuty<'a> {
    /// As [`remove_probes`] takes it; a lock of it is held for as long as the janitor lives.
    pub events: BorrowedFd<'a>,
    /// The group that they are in.
    pub group: &'a CStr,
}

#[derive(Clone, Copy)]
enum Work<'a> {
    Place(&'a Duty<'a>),
    Probes(&'a CStr),
}

/// The janitor at work. Dropped without having been dismissed it takes the harness for dead.
#[derive(Debug)]
pub struct Janitor {
    duty: OwnedFd,
    pidfd: OwnedFd,
}

impl Janitor {
    /// Starts the janitor, which makes the directory and the group; gives it, and why there is no
    /// group where one could not be made.
    ///
    /// # Errors
    /// Those of `pipe2(2)` and `clone3(2)`, and that of making the directory: `EEXIST` where the
    /// name is taken.
    pub fn start(duty: &Duty<'_>) -> io::Result<(Self, io::Result<()>)> {
        let (janitor, [directory, group]) = Self::begin(Work::Place(duty), [None, None])?;
        match directory {
            Ok(()) => Ok((janitor, group)),
            Err(error) => {
                janitor.resign();
                Err(error)
            }
        }
    }

    /// Starts one that removes probes.
    ///
    /// # Errors
    /// Those of `pipe2(2)`, `pidfd_open(2)` and `clone3(2)`.
    pub fn over_probes(duty: &ProbeDuty<'_>) -> io::Result<Self> {
        let harness = pidfd::open(Pid(std::process::id()))?;
        let needed = [Some(duty.events), harness.as_ref().map(AsFd::as_fd)];
        Ok(Self::begin(Work::Probes(duty.group), needed)?.0)
    }

    /// Starts it with descriptors that it needs, and gives its answer.
    fn begin(
        work: Work<'_>,
        needed: [Option<BorrowedFd<'_>>; 2],
    ) -> io::Result<(Self, [io::Result<()>; 2])> {
        disposed::keep_children()?;
        let null = open(
            c"/dev/null",
            OFlag::O_RDWR | OFlag::O_CLOEXEC,
            Mode::empty(),
        )?;
        let (duty_read, duty_write) = pipe()?;
        let (answer_read, answer_write) = pipe()?;
        let [first, second] = needed.map(|fd| fd.unwrap_or(null.as_fd()).as_raw_fd());
        let [null, duty_end, answer_end] =
            [&null, &duty_read, &answer_write].map(AsRawFd::as_raw_fd);
        let descriptors = [null, null, null, duty_end, answer_end, first, second];
        let mut pidfd: libc::c_int = -1;
        // SAFETY: the child makes nothing but system calls on memory laid out before, and never
        // returns.
        let pid = unsafe { fork(None, libc::CLONE_PIDFD, &raw mut pidfd, libc::SIGCHLD) }?;
        if pid == 0 {
            // SAFETY: this is the child, alone in its copy of the memory.
            unsafe { main(work, descriptors) }
        }
        // SAFETY: the kernel has just stored a new descriptor there.
        let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
        drop((duty_read, answer_write));
        let janitor = Self {
            duty: duty_write,
            pidfd,
        };
        let mut answer = [0; 8];
        let got = loop {
            match read(&answer_read, &mut answer) {
                Err(Errno::EINTR) => {}
                other => break other?,
            }
        };
        let [a, b, c, d, e, f, g, h] = answer;
        let result = |bytes| match i32::from_ne_bytes(bytes) {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(error)),
        };
        if got != answer.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok((janitor, [result([a, b, c, d]), result([e, f, g, h])]))
    }

    /// Lets it go, as nothing is left to be removed, and waits for its end.
    pub fn dismiss(self) {
        // If the janitor was killed, the write fails.
        let _gone = write(&self.duty, b"b");
        self.wait();
    }

    /// Lets it remove what it made, as if the harness had been killed, and waits for its end.
    pub fn resign(self) {
        self.wait();
    }

    fn wait(self) {
        // A janitor that was not told to leave does so at the end of its pipe.
        drop(self.duty);
        let wait = || waitid(Id::PIDFd(self.pidfd.as_fd()), WaitPidFlag::WEXITED);
        while wait() == Err(Errno::EINTR) {}
    }
}

/// The janitor, from its first instruction to its last.
///
/// # Safety
/// Only in a child made without `CLONE_VM`.
#[expect(
    clippy::multiple_unsafe_ops_per_block,
    reason = "a straight line of system calls"
)]
unsafe fn main(work: Work<'_>, descriptors: [libc::c_int; 7]) -> ! {
    const DUTY: libc::c_int = 3;
    const ANSWER: libc::c_int = 4;
    const PROBES: libc::c_int = 5;
    const HARNESS: libc::c_int = 6;
    let _blocked = sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::all()), None);
    // SAFETY: descriptor numbers and literal strings only.
    unsafe {
        let mut high = [-1; 7];
        // Out of the way first: a source may have the number of another's destination.
        for (from, to) in descriptors.iter().zip(high.iter_mut()) {
            *to = libc::fcntl(*from, libc::F_DUPFD_CLOEXEC, HARNESS + 1);
        }
        for (place, from) in (0..).zip(high) {
            if libc::dup3(from, place, libc::O_CLOEXEC) == -1 {
                libc::_exit(1);
            }
        }
        libc::syscall(libc::SYS_close_range, HARNESS + 1, libc::c_uint::MAX, 0);
        rights::forget();
        libc::setsid();
        libc::chdir(c"/".as_ptr());
        libc::prctl(libc::PR_SET_NAME, c"harness-janitor".as_ptr());
    }
    let (directory, group) = match work {
        Work::Probes(_) => (Ok(None), Ok(None)),
        Work::Place(duty) => {
            let directory = make(duty.folder, duty.name);
            let group = match duty.hierarchy {
                Some(hierarchy) if directory.is_ok() => make(hierarchy, duty.name).map(Some),
                _ => Ok(None),
            };
            (directory.map(Some), group)
        }
    };
    let answer = [
        directory.as_ref().err().map_or(0, |error| *error as i32),
        group.as_ref().err().map_or(0, |error| *error as i32),
    ];
    let mut word = [0_u8; 1];
    // SAFETY: eight bytes of ours, and one; the numbers are those of the pipes.
    let dismissed = unsafe {
        libc::write(ANSWER, answer.as_ptr().cast(), 8);
        libc::close(ANSWER);
        // No signal interrupts it.
        directory.is_err() || libc::read(DUTY, word.as_mut_ptr().cast(), 1) == 1
    };
    match work {
        _ if dismissed => {}
        Work::Place(duty) => clean(duty, matches!(group, Ok(Some(_)))),
        Work::Probes(group) => {
            // SAFETY: open from the beginning on, and never closed.
            let [probes, harness] =
                unsafe { [PROBES, HARNESS].map(|fd| BorrowedFd::borrow_raw(fd)) };
            // An event cannot be removed while it is open, and the last of a process' descriptors
            // are closed after its pipes: a process is only over when all of them are.
            let _over = poll(
                &mut [PollFd::new(harness, PollFlags::POLLIN)],
                PollTimeout::NONE,
            );
            let _left = remove_probes(probes, group, PATIENCE);
        }
    }
    // SAFETY: ends the process, which lets go of the locks.
    unsafe { libc::_exit(0) }
}

/// The group twice: its members are to die before their files are removed, and take a moment to.
fn clean(duty: &Duty<'_>, has_group: bool) {
    let group = |patience| match duty.hierarchy {
        Some(hierarchy) if has_group => remove_group(hierarchy, duty.name, duty.members, patience),
        _ => Ok(()),
    };
    let _first_try = group(Duration::ZERO);
    // The janitor cannot report anything now; the next harness finds what is left, without a lock.
    let _left = remove_tree(duty.folder, duty.name, PATIENCE);
    let _left = group(PATIENCE);
}

/// Makes a directory or a control group, and locks it for as long as it is open; any harness may
/// remove one without a lock.
fn make(folder: &CStr, name: &CStr) -> nix::Result<Flock<OwnedFd>> {
    let parent = open_folder(folder)?;
    mkdirat(&parent, name, Mode::S_IRWXU)?;
    let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    // Another harness may have found it before it has its lock: then that one removes it.
    let removed = |error| match error {
        Errno::ENOENT => Errno::EEXIST,
        error => error,
    };
    let made = nix::fcntl::openat(&parent, name, flags, Mode::empty()).map_err(removed)?;
    // Others pass through it to what is theirs.
    fchmod(&made, Mode::from_bits_truncate(0o711)).map_err(removed)?;
    let made = Flock::lock(made, FlockArg::LockSharedNonblock).map_err(|_| Errno::EEXIST)?;
    let found = fstatat(&parent, name, AtFlags::AT_SYMLINK_NOFOLLOW).map_err(removed)?;
    if found.st_ino == fstat(&*made)?.st_ino {
        Ok(made)
    } else {
        Err(Errno::EEXIST)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn a_place_that_another_removes_before_it_is_locked_is_to_have_another_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = CString::new(folder.path().as_os_str().as_bytes()).unwrap();
        let (place, is_over) = (folder.path().join("place"), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let _gone = std::fs::remove_dir(&place);
                }
            });
            for _ in 0..2000 {
                match make(&path, c"place") {
                    Ok(_) | Err(Errno::EEXIST) => {}
                    Err(error) => {
                        is_over.store(true, Ordering::Relaxed);
                        panic!("{error}");
                    }
                }
            }
            is_over.store(true, Ordering::Relaxed);
        });
    }
}
