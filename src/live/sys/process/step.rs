//! The steps in which the init of a world lays it out: data, so that the child needs no memory of
//! its own to take them.

use super::child::errno;
use libc::{c_char, c_int, c_ulong};
use std::ffi::{CStr, CString};
use std::fmt;

/// One step, whose texts are `S`. Paths are absolute and mean what they mean when the step is
/// taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<S = CString> {
    /// Nothing that is mounted from now on is seen elsewhere, nor the other way round (`MS_PRIVATE`
    /// for all mounts).
    Private,
    /// `mount(2)`.
    Mount {
        /// The type of the file system; empty where the flags need none.
        kind: S,
        /// What is mounted.
        source: S,
        /// The mount point.
        target: S,
        /// `MS_*`.
        flags: c_ulong,
        /// The file system's own options.
        options: S,
    },
    /// Standard input is the `/dev/null` of the world. One that was opened outside leads to a mount
    /// that can be written to, and there `fchmod(2)` changes the node of the host.
    NoInput,
    /// Sets attributes of a mount and of all below it (`mount_setattr(2)`, Linux 5.12).
    Attributes {
        /// The mount point.
        target: S,
        /// `MOUNT_ATTR_*`.
        set: u64,
    },
    /// Takes a copy of what is at a path, with all that is mounted below, out of the tree
    /// (`open_tree(2)`).
    Take {
        /// One of [`SLOTS`] places to keep it in.
        slot: u8,
        /// The path.
        source: S,
    },
    /// Opens a folder (`O_PATH`), through whose descriptor it is reached whatever comes to be
    /// mounted over it.
    Open {
        /// One of [`SLOTS`] places to keep it in.
        slot: u8,
        /// The path.
        folder: S,
    },
    /// Mounts what was taken (`move_mount(2)`); at a symbolic link itself, if it is one.
    Place {
        /// The slot that it was kept in.
        slot: u8,
        /// Where it is to be seen.
        target: S,
    },
    /// Lets go of what was taken.
    Drop(u8),
    /// `mkdir(2)`.
    Folder(S, u32),
    /// An empty file, for something to be mounted on.
    File(S),
    /// `symlink(2)`.
    Link {
        /// What it points to.
        to: S,
        /// The path of the link.
        at: S,
    },
    /// Writes a text into a file with one `write(2)`.
    Write(S, S),
    /// Other namespaces for the process itself (`unshare(2)`, `CLONE_NEW*`).
    Unshare(c_int),
    /// A namespace of control groups of its own (`CLONE_NEWCGROUP`), whose root are the groups that
    /// it is in; does nothing where no more may be made (`max_cgroup_namespaces`).
    Groups,
    /// A session keyring of its own (`KEYCTL_JOIN_SESSION_KEYRING`); does nothing if the kernel has
    /// none or refuses.
    Keyring,
    /// The loopback interface goes up.
    Loopback,
    /// `sethostname(2)`.
    Hostname(S),
}

/// How many mounts and folders can be kept at a time.
pub const SLOTS: u8 = 8;

/// The descriptor of the first of the kept mounts.
pub const FIRST_SLOT: c_int = super::descriptors::LAST + 1;

/// `MOUNT_ATTR_RDONLY` and `MOUNT_ATTR_NODEV`, include/uapi/linux/mount.h.
pub const READ_ONLY: u64 = 1;
/// As above: no device can be opened by a file there.
pub const NO_DEVICES: u64 = 4;

const OPEN_TREE_CLONE: libc::c_uint = 1;
const AT_RECURSIVE: libc::c_uint = 0x8000;
const MOVE_MOUNT_F_EMPTY_PATH: libc::c_uint = 4;
const KEYCTL_JOIN_SESSION_KEYRING: c_int = 1;

/// `struct mount_attr`.
#[repr(C)]
struct MountAttr {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// Whether the kernel has `mount_setattr(2)` (Linux 5.12).
#[must_use]
pub fn has_mount_attributes() -> bool {
    let empty = c"".as_ptr();
    // SAFETY: a size of zero is refused before the attributes are looked at.
    let result = unsafe { set_attributes(-1, empty, 0, std::ptr::null(), 0) };
    result != Err(libc::ENOSYS)
}

impl<S: AsRef<CStr>> Step<S> {
    /// The same step with its texts kept elsewhere: each is what `keep` makes of it.
    pub(super) fn keeping<'a, 'b>(
        &'a self,
        keep: &mut dyn FnMut(&'a CStr) -> &'b CStr,
    ) -> Step<&'b CStr> {
        let mut keep = |text: &'a S| keep(text.as_ref());
        match self {
            Self::Private => Step::Private,
            Self::Mount {
                kind,
                source,
                target,
                flags,
                options,
            } => Step::Mount {
                kind: keep(kind),
                source: keep(source),
                target: keep(target),
                flags: *flags,
                options: keep(options),
            },
            Self::NoInput => Step::NoInput,
            Self::Attributes { target, set } => Step::Attributes {
                target: keep(target),
                set: *set,
            },
            Self::Take { slot, source } => Step::Take {
                slot: *slot,
                source: keep(source),
            },
            Self::Open { slot, folder } => Step::Open {
                slot: *slot,
                folder: keep(folder),
            },
            Self::Place { slot, target } => Step::Place {
                slot: *slot,
                target: keep(target),
            },
            Self::Drop(slot) => Step::Drop(*slot),
            Self::Folder(path, mode) => Step::Folder(keep(path), *mode),
            Self::File(path) => Step::File(keep(path)),
            Self::Link { to, at } => Step::Link {
                to: keep(to),
                at: keep(at),
            },
            Self::Write(path, text) => Step::Write(keep(path), keep(text)),
            Self::Unshare(namespaces) => Step::Unshare(*namespaces),
            Self::Groups => Step::Groups,
            Self::Keyring => Step::Keyring,
            Self::Loopback => Step::Loopback,
            Self::Hostname(name) => Step::Hostname(keep(name)),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = CStr::to_string_lossy;
        match self {
            Self::Private => f.write_str("making its mounts private"),
            Self::Mount {
                kind,
                source,
                target,
                ..
            } if kind.is_empty() => {
                write!(f, "mounting `{}` at `{}`", text(source), text(target))
            }
            Self::Mount { kind, target, .. } => {
                write!(f, "mounting a {} at `{}`", text(kind), text(target))
            }
            Self::NoInput => f.write_str("opening `/dev/null`"),
            Self::Attributes { target, .. } => {
                write!(f, "making `{}` read-only", text(target))
            }
            Self::Take { source, .. } => write!(f, "getting hold of `{}`", text(source)),
            Self::Open { folder, .. } => write!(f, "opening `{}`", text(folder)),
            Self::Place { target, .. } => write!(f, "mounting at `{}`", text(target)),
            Self::Drop(_) => f.write_str("letting go of a mount"),
            Self::Folder(path, _) => write!(f, "making the folder `{}`", text(path)),
            Self::File(path) => write!(f, "making the file `{}`", text(path)),
            Self::Link { at, .. } => write!(f, "making the link `{}`", text(at)),
            Self::Write(path, _) => write!(f, "writing `{}`", text(path)),
            Self::Unshare(_) => f.write_str("unsharing its namespaces"),
            Self::Groups => f.write_str("unsharing its control groups"),
            Self::Keyring => f.write_str("starting a keyring of its own"),
            Self::Loopback => f.write_str("bringing its loopback interface up"),
            Self::Hostname(_) => f.write_str("setting its host name"),
        }
    }
}

/// Takes a step, in the child; the error is an errno.
pub(super) fn take(step: &Step<&CStr>) -> Result<(), c_int> {
    let none: *const c_char = std::ptr::null();
    // SAFETY: for all calls below: strings of ours that end in NUL, numbers, and null where the
    // kernel takes null.
    unsafe {
        match step {
            Step::Private => {
                let flags = libc::MS_REC | libc::MS_PRIVATE;
                done(libc::mount(none, c"/".as_ptr(), none, flags, none.cast()))
            }
            Step::Mount {
                kind,
                source,
                target,
                flags,
                options,
            } => {
                let (source, target, kind) = (source.as_ptr(), target.as_ptr(), kind.as_ptr());
                let options = options.as_ptr().cast();
                done(libc::mount(source, target, kind, *flags, options))
            }
            Step::NoInput => {
                let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
                done(null)?;
                done(libc::dup2(null, libc::STDIN_FILENO))?;
                done(libc::close(null))
            }
            Step::Attributes { target, set } => {
                let attributes = MountAttr {
                    set: *set,
                    clear: 0,
                    propagation: 0,
                    user_namespace: 0,
                };
                let size = size_of::<MountAttr>();
                let at = (libc::AT_FDCWD, target.as_ptr());
                set_attributes(at.0, at.1, AT_RECURSIVE, &raw const attributes, size)
            }
            Step::Take { slot, source } => take_tree(FIRST_SLOT + c_int::from(*slot), source),
            Step::Open { slot, folder } => {
                let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
                let opened = libc::open(folder.as_ptr(), flags);
                done(opened)?;
                keep(opened, FIRST_SLOT + c_int::from(*slot))
            }
            Step::Place { slot, target } => {
                let kept = FIRST_SLOT + c_int::from(*slot);
                let empty = c"".as_ptr();
                let flags = MOVE_MOUNT_F_EMPTY_PATH;
                let target = (libc::AT_FDCWD, target.as_ptr());
                let number = libc::SYS_move_mount;
                done_long(libc::syscall(
                    number, kept, empty, target.0, target.1, flags,
                ))?;
                done(libc::close(kept))
            }
            Step::Drop(slot) => done(libc::close(FIRST_SLOT + c_int::from(*slot))),
            Step::Folder(path, mode) => done(libc::mkdir(path.as_ptr(), *mode)),
            Step::File(path) => {
                let flags = libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY | libc::O_CLOEXEC;
                let file = libc::open(path.as_ptr(), flags, 0o666);
                done(file)?;
                done(libc::close(file))
            }
            Step::Link { to, at } => done(libc::symlink(to.as_ptr(), at.as_ptr())),
            Step::Write(path, text) => write_text(path, text),
            Step::Unshare(namespaces) => done(libc::unshare(*namespaces)),
            Step::Groups => match done(libc::unshare(libc::CLONE_NEWCGROUP)) {
                Err(libc::ENOSPC) => Ok(()),
                other => other,
            },
            Step::Keyring => {
                let number = libc::SYS_keyctl;
                let name: *const c_char = none;
                match done_long(libc::syscall(number, KEYCTL_JOIN_SESSION_KEYRING, name)) {
                    Err(libc::ENOSYS | libc::EPERM) => Ok(()),
                    other => other,
                }
            }
            Step::Loopback => loopback(),
            Step::Hostname(name) => done(libc::sethostname(name.as_ptr(), name.to_bytes().len())),
        }
    }
}

/// # Safety
/// `path` ends in NUL; `attributes` has `size` bytes, or `size` is 0.
unsafe fn set_attributes(
    at: c_int,
    path: *const c_char,
    flags: libc::c_uint,
    attributes: *const MountAttr,
    size: usize,
) -> Result<(), c_int> {
    // SAFETY: the caller's promise.
    done_long(unsafe { libc::syscall(libc::SYS_mount_setattr, at, path, flags, attributes, size) })
}

fn take_tree(slot: c_int, source: &CStr) -> Result<(), c_int> {
    let flags = OPEN_TREE_CLONE | AT_RECURSIVE | libc::O_CLOEXEC as libc::c_uint;
    let (number, at) = (libc::SYS_open_tree, libc::AT_FDCWD);
    // SAFETY: a string that ends in NUL, and numbers.
    let tree = unsafe { libc::syscall(number, at, source.as_ptr(), flags) } as c_int;
    done(tree)?;
    keep(tree, slot)
}

fn keep(descriptor: c_int, slot: c_int) -> Result<(), c_int> {
    if descriptor == slot {
        return Ok(());
    }
    // SAFETY: descriptor numbers only.
    done(unsafe { libc::dup3(descriptor, slot, libc::O_CLOEXEC) })?;
    // SAFETY: as above.
    done(unsafe { libc::close(descriptor) })
}

fn write_text(path: &CStr, text: &CStr) -> Result<(), c_int> {
    let text = text.to_bytes();
    // SAFETY: a string that ends in NUL.
    let file = unsafe { libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) };
    done(file)?;
    // SAFETY: as many bytes of ours as are said.
    let written = unsafe { libc::write(file, text.as_ptr().cast(), text.len()) };
    done_long(written as libc::c_long)?;
    // SAFETY: descriptor numbers only.
    done(unsafe { libc::close(file) })
}

pub(super) fn loopback() -> Result<(), c_int> {
    // SAFETY: ifreq is plain numbers, for which all zeroes is valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(c"lo".to_bytes()) {
        *to = *from as c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: numbers only.
    let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    done(socket)?;
    // SAFETY: a whole ifreq.
    done(unsafe { libc::ioctl(socket, libc::SIOCSIFFLAGS, &raw const request) })?;
    // SAFETY: descriptor numbers only.
    done(unsafe { libc::close(socket) })
}

fn done(result: c_int) -> Result<(), c_int> {
    done_long(result.into())
}

fn done_long(result: libc::c_long) -> Result<(), c_int> {
    if result == -1 { Err(errno()) } else { Ok(()) }
}
