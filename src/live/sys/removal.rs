//! Removing a directory or a control group, whatever is in it, in a way that a child without an
//! allocator can go as well.
//!
//! A tree may be deeper than any stack and its paths longer than `PATH_MAX`. So nothing is
//! descended into but the entries of the root: a folder in one of them that is not empty is first
//! moved up into the root, under a number. No `..` is followed and no path walked, hence what a
//! living process moves about meanwhile cannot lead out of the tree, and `openat2(2)` does not
//! cross a mount (not even of the same file system, which `st_dev` would not tell). What stands in
//! the way is taken out of it: permissions, the immutable and the append-only attribute, mounts.

mod groups;
mod probes;

pub use groups::{Members, remove_group};
pub use probes::{remove_probe, remove_probes};

use super::monotonic_now;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, OpenHow, ResolveFlag, open, openat, openat2, renameat};
use nix::mount::{MntFlags, umount2};
use nix::sys::stat::{FchmodatFlags, Mode, SFlag, fchmod, fchmodat, fstatat};
use nix::unistd::{UnlinkatFlags, unlinkat};
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// How long a removal goes on at most while something new appears as fast as it goes.
const AT_MOST: Duration = Duration::from_secs(60);
/// How long to wait for the kernel to let go of the dead before the next try.
static NAP: libc::timespec = libc::timespec {
    tv_sec: 0,
    tv_nsec: 2_000_000,
};
const NO_XDEV: ResolveFlag = ResolveFlag::RESOLVE_NO_XDEV;

/// Removes the directory `name` of the directory `folder`, whose path is absolute, with all that is
/// in it. Tries again until nothing could be removed for as long as `patience`: processes that are
/// dying may still write into it. One that is not there is no error.
///
/// # Errors
/// That of the first entry that could not be removed in the last try.
///
/// # References
/// `unlinkat(2)`, `renameat(2)`, `openat2(2)`.
pub fn remove_tree(folder: &CStr, name: &CStr, patience: Duration) -> io::Result<()> {
    let parent = match open_folder(folder) {
        Err(Errno::ENOENT) => return Ok(()),
        opened => opened?,
    };
    let mut tree = Tree {
        folder,
        name,
        done: 0,
        number: 0,
    };
    until_gone(patience, || {
        let done = tree.done;
        let result = tree.remove(parent.as_fd());
        (result, tree.done > done)
    })
}

/// Opens a directory by its path.
pub(super) fn open_folder(path: &CStr) -> nix::Result<OwnedFd> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    open(path, flags, Mode::empty())
}

/// Tries until it succeeds, or nothing has changed for too long, as each try says.
fn until_gone(
    patience: Duration,
    mut attempt: impl FnMut() -> (nix::Result<()>, bool),
) -> io::Result<()> {
    let start = now();
    let mut changed = start;
    loop {
        match attempt() {
            (Ok(()), _) => return Ok(()),
            (Err(error), has_changed) => {
                let now = now();
                let is_stuck = !has_changed && now.saturating_sub(changed) >= patience;
                if is_stuck || now.saturating_sub(start) >= AT_MOST {
                    return Err(error.into());
                }
                if has_changed {
                    changed = now;
                } else {
                    // SAFETY: a timespec of ours; the rest of an interrupted nap is not wanted.
                    unsafe { libc::nanosleep(&raw const NAP, std::ptr::null_mut()) };
                }
            }
        }
    }
}

fn now() -> Duration {
    Duration::from_nanos(monotonic_now().0)
}

struct Tree<'a> {
    folder: &'a CStr,
    name: &'a CStr,
    /// What was removed, moved or unmounted so far.
    done: u64,
    number: u64,
}

/// An entry of a directory: its place for calls that take descriptors, and its path for
/// `umount2(2)`, which takes none.
struct Entry<'a> {
    dir: BorrowedFd<'a>,
    /// The last is its name.
    path: &'a [&'a CStr],
    /// Whether the directory is a part of the tree, and its permissions may be changed.
    is_inside: bool,
}

impl Entry<'_> {
    fn name(&self) -> &CStr {
        self.path.last().copied().unwrap_or_default()
    }

    fn unlink(&self) -> nix::Result<()> {
        unlinkat(self.dir, self.name(), UnlinkatFlags::NoRemoveDir)
    }

    fn rmdir(&self) -> nix::Result<()> {
        unlinkat(self.dir, self.name(), UnlinkatFlags::RemoveDir)
    }

    fn open(&self, flags: OFlag) -> nix::Result<OwnedFd> {
        let flags = flags | OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let how = OpenHow::new()
            .flags(flags)
            .resolve(NO_XDEV | ResolveFlag::RESOLVE_BENEATH);
        match openat2(self.dir, self.name(), how) {
            // A filter of calls that is older than this one, as some containers have it.
            Err(Errno::ENOSYS | Errno::EPERM) => self.open_and_look(flags),
            opened => opened,
        }
    }

    /// The same by `openat(2)`, which crosses mounts: where it did, that shows behind it. A name
    /// without a slash leads nowhere else.
    fn open_and_look(&self, flags: OFlag) -> nix::Result<OwnedFd> {
        let opened = openat(self.dir, self.name(), flags, Mode::empty())?;
        if mount_of(opened.as_fd())? == mount_of(self.dir)? {
            Ok(opened)
        } else {
            Err(Errno::EXDEV)
        }
    }

    /// Takes away what makes the kernel refuse. What cannot be done shows at the next try.
    fn permit(&self) {
        if self.is_inside {
            clear_attributes(self.dir);
            let _same = fchmod(self.dir, Mode::S_IRWXU);
        }
        let Ok(stat) = fstatat(self.dir, self.name(), AtFlags::AT_SYMLINK_NOFOLLOW) else {
            return;
        };
        let kind = SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT;
        // Others have no such attributes, and to open a device has effects.
        if (kind == SFlag::S_IFREG || kind == SFlag::S_IFDIR)
            && let Ok(file) = self.open(OFlag::O_NONBLOCK | OFlag::O_NOCTTY)
        {
            clear_attributes(file.as_fd());
        }
        if kind == SFlag::S_IFDIR {
            let no_follow = FchmodatFlags::NoFollowSymlink;
            let _same = fchmodat(self.dir, self.name(), Mode::S_IRWXU, no_follow);
        }
    }

    /// Takes the topmost mount off it; says whether there was one.
    fn detach(&self) -> bool {
        let mut path = [0_u8; libc::PATH_MAX as usize];
        let mut end = 0;
        for part in self.path {
            let part = part.to_bytes();
            let Some(room) = path.get_mut(end..end + part.len() + 2) else {
                return false;
            };
            for (to, from) in room.iter_mut().zip(part.iter().chain(b"/")) {
                *to = *from;
            }
            end += part.len() + 1;
        }
        if let Some(slash) = end.checked_sub(1).and_then(|last| path.get_mut(last)) {
            *slash = 0;
        }
        let flags = MntFlags::MNT_DETACH | MntFlags::UMOUNT_NOFOLLOW;
        CStr::from_bytes_until_nul(&path).is_ok_and(|path| umount2(path, flags).is_ok())
    }
}

/// The number of the mount that an open file is in.
///
/// # References
/// `statx(2)`; `STATX_MNT_ID` is there since Linux 5.8.
fn mount_of(file: BorrowedFd<'_>) -> nix::Result<u64> {
    let mut about = std::mem::MaybeUninit::<libc::statx>::zeroed();
    let (fd, place) = (file.as_raw_fd(), about.as_mut_ptr());
    // SAFETY: the path is a string, and the kernel writes one structure.
    let got = unsafe {
        libc::statx(
            fd,
            c"".as_ptr(),
            libc::AT_EMPTY_PATH,
            libc::STATX_MNT_ID,
            place,
        )
    };
    Errno::result(got)?;
    // SAFETY: all of it are numbers, and zero is one.
    let about = unsafe { about.assume_init() };
    match about.stx_mask & libc::STATX_MNT_ID {
        0 => Err(Errno::ENOSYS),
        _ => Ok(about.stx_mnt_id),
    }
}

impl Tree<'_> {
    fn remove(&mut self, parent: BorrowedFd<'_>) -> nix::Result<()> {
        let path = [self.folder, self.name];
        let root = Entry {
            dir: parent,
            path: &path,
            is_inside: false,
        };
        if self.take(&root)? {
            return Ok(());
        }
        let opened = self.insist(&root, || root.open(OFlag::O_DIRECTORY))?;
        self.empty(opened.as_fd())?;
        self.insist(&root, || root.rmdir())
    }

    fn empty(&mut self, root: BorrowedFd<'_>) -> nix::Result<()> {
        each_entry(root, &mut |name| {
            let path = [self.folder, self.name, name];
            let entry = Entry {
                dir: root,
                path: &path,
                is_inside: true,
            };
            if self.take(&entry)? {
                return Ok(());
            }
            let opened = self.insist(&entry, || entry.open(OFlag::O_DIRECTORY))?;
            each_entry(opened.as_fd(), &mut |inner| {
                let path = [self.folder, self.name, name, inner];
                let entry = Entry {
                    dir: opened.as_fd(),
                    path: &path,
                    is_inside: true,
                };
                if self.take(&entry)? {
                    return Ok(());
                }
                self.lift(&entry, root)
            })?;
            self.insist(&entry, || entry.rmdir())
        })
    }

    /// Removes anything but a directory that is not empty; says whether it is gone.
    fn take(&mut self, entry: &Entry<'_>) -> nix::Result<bool> {
        let mut result = self.insist(entry, || entry.unlink());
        if result == Err(Errno::EISDIR) {
            result = self.insist(entry, || entry.rmdir());
        }
        match result {
            Ok(()) | Err(Errno::ENOENT) => Ok(true),
            Err(Errno::ENOTEMPTY | Errno::EEXIST) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Moves a directory up into the root.
    fn lift(&mut self, entry: &Entry<'_>, root: BorrowedFd<'_>) -> nix::Result<()> {
        loop {
            self.number += 1;
            let (digits, start) = decimal(self.number);
            let free = digits
                .get(start..)
                .and_then(|text| CStr::from_bytes_until_nul(text).ok())
                .unwrap_or_default();
            match self.insist(entry, || renameat(entry.dir, entry.name(), root, free)) {
                // Something of that name, which the workload has made.
                Err(Errno::ENOTEMPTY | Errno::EEXIST | Errno::ENOTDIR) => {}
                Err(Errno::ENOENT) => return Ok(()),
                other => return other,
            }
        }
    }

    /// Acts on an entry; where the kernel refuses removes the reason and acts again.
    fn insist<T>(&mut self, entry: &Entry<'_>, act: impl Fn() -> nix::Result<T>) -> nix::Result<T> {
        // The second for a mount below which the entry itself resists.
        for _ in 0..2 {
            match act() {
                Err(Errno::EPERM | Errno::EACCES) => entry.permit(),
                Err(Errno::EBUSY | Errno::EXDEV) if entry.detach() => self.done += 1,
                other => {
                    self.done += u64::from(other.is_ok());
                    return other;
                }
            }
        }
        act().inspect(|_| self.done += 1)
    }
}

/// Does something to each entry, including entries that were added meanwhile, until none is left or
/// one resists; a thousand times at most, as a process may add entries just as fast.
fn each_entry(
    dir: BorrowedFd<'_>,
    act: &mut dyn FnMut(&CStr) -> nix::Result<()>,
) -> nix::Result<()> {
    for _ in 0..1000 {
        let mut n_entries = 0_u64;
        let mut first = Ok(());
        scan(dir, &mut |name| {
            n_entries += 1;
            first = first.and(act(name));
        })?;
        first?;
        if n_entries == 0 {
            return Ok(());
        }
    }
    Err(Errno::ENOTEMPTY)
}

/// Calls for each entry that the directory has, from its beginning.
///
/// # References
/// `getdents64(2)`.
fn scan(dir: BorrowedFd<'_>, act: &mut dyn FnMut(&CStr)) -> nix::Result<()> {
    const RECLEN: usize = std::mem::offset_of!(libc::dirent64, d_reclen);
    const NAME: usize = std::mem::offset_of!(libc::dirent64, d_name);
    let mut buffer = [0_u8; 16384];
    // SAFETY: numbers only.
    Errno::result(unsafe { libc::lseek(dir.as_raw_fd(), 0, libc::SEEK_SET) })?;
    loop {
        let (fd, place) = (dir.as_raw_fd(), buffer.as_mut_ptr());
        // SAFETY: the kernel writes no more than the buffer holds.
        let got = unsafe { libc::syscall(libc::SYS_getdents64, fd, place, buffer.len()) };
        let got = usize::try_from(Errno::result(got)?).unwrap_or(0);
        if got == 0 {
            return Ok(());
        }
        let mut left = buffer.get(..got).unwrap_or_default();
        while let Some([low, high]) = left.get(RECLEN..RECLEN + 2) {
            let length = usize::from(u16::from_ne_bytes([*low, *high])).max(NAME);
            let record = left.get(..length).unwrap_or(left);
            let name = record.get(NAME..).unwrap_or_default();
            if let Ok(name) = CStr::from_bytes_until_nul(name)
                && name != c"."
                && name != c".."
            {
                act(name);
            }
            left = left.get(length..).unwrap_or_default();
        }
    }
}

/// The digits of a number, NUL-terminated, and where they start.
fn decimal(mut number: u64) -> ([u8; 21], usize) {
    let mut digits = [0; 21];
    let mut start = digits.len() - 1;
    for (place, digit) in digits.iter_mut().enumerate().rev().skip(1) {
        *digit = b'0' + (number % 10) as u8;
        (number, start) = (number / 10, place);
        if number == 0 {
            break;
        }
    }
    (digits, start)
}

/// Takes the immutable and the append-only attribute off a file, where it has them and we may.
///
/// # References
/// `ioctl_iflags(2)`, whose integer is an `int` for all that its type says.
fn clear_attributes(file: BorrowedFd<'_>) {
    const KEPT: u32 = !(0x10 | 0x20);
    let mut flags = 0_u32;
    // SAFETY: the kernel writes four bytes into ours.
    let got = unsafe { libc::ioctl(file.as_raw_fd(), libc::FS_IOC_GETFLAGS, &raw mut flags) };
    if got == 0 && flags & !KEPT != 0 {
        flags &= KEPT;
        // SAFETY: the kernel reads four bytes of ours. A refusal shows when the file is to go.
        unsafe { libc::ioctl(file.as_raw_fd(), libc::FS_IOC_SETFLAGS, &raw const flags) };
    }
}
