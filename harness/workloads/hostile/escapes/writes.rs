//! Writing where the sandbox has nothing.

use std::ffi::{CStr, CString};
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::libc;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::sys::stat::{Mode, SFlag, makedev, mknod};
use nix::unistd::{AccessFlags, access};

use super::{achieved, status};
use crate::kernel::{address, call, fork, reap, word};

/// The name of whatever is written. A test looks for it where it must not be.
const NAME: &str = "harness-hostile";

/// Places that hold something of the machine's, on nearly every machine.
const FOLDERS: [&str; 14] = [
    "/",
    "/etc",
    "/home",
    "/root",
    "/var",
    "/var/tmp",
    "/var/lib",
    "/usr/bin",
    "/usr/local/bin",
    "/opt",
    "/srv",
    "/boot",
    "/sys/fs/cgroup",
    "/proc/1",
];

/// Tries all places, then takes away what may hinder it and tries again, then does so with the
/// rights that a user namespace gives. The argument is a folder of the host's, with a file `bait`
/// in it.
pub(crate) fn everywhere(bait: &str) -> i32 {
    let bait = Path::new(bait);
    once(bait);
    by_handle(bait);
    through_a_copy();
    devices(Path::new("."));
    devices(Path::new("/dev"));
    through_init();
    unmount();
    once(bait);
    let child = fork(|| {
        // Some sandboxes forbid it, which is one way.
        if unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID)
            .is_ok()
        {
            by_handle(bait);
            through_a_copy();
            unmount();
            once(bait);
            fresh_mounts();
        }
        // The child's findings are known by its lines alone.
        0
    });
    reap(child);
    status()
}

fn once(bait: &Path) {
    for folder in FOLDERS.iter().map(Path::new).chain([bait]) {
        let path = folder.join(NAME);
        if File::options()
            .write(true)
            .create_new(true)
            .open(&path)
            .is_ok()
        {
            achieved(format_args!("wrote `{}`", path.display()));
        }
        if fs::create_dir(path.with_extension("d")).is_ok() {
            achieved(format_args!("made `{}.d`", path.display()));
        }
    }
    let file = bait.join("bait");
    if file.exists() {
        let changes: [(&str, bool); 5] = [
            ("opened", File::options().write(true).open(&file).is_ok()),
            ("removed", fs::remove_file(&file).is_ok()),
            ("renamed", fs::rename(&file, bait.join(NAME)).is_ok()),
            ("linked", fs::hard_link(&file, NAME).is_ok()),
            (
                "chmodded",
                nix::sys::stat::fchmodat(
                    nix::fcntl::AT_FDCWD,
                    &file,
                    Mode::S_IRWXU,
                    nix::sys::stat::FchmodatFlags::FollowSymlink,
                )
                .is_ok(),
            ),
        ];
        for (change, done) in changes {
            if done {
                achieved(format_args!("{change} `{}`", file.display()));
            }
        }
    }
    for folder in ["/proc", "/sys"] {
        writable_below(Path::new(folder));
    }
}

/// Prints the files that some user may write and this process may too. It only asks: to write there
/// could take the machine down.
fn writable_below(folder: &Path) {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else {
                continue;
            };
            if kind.is_dir() {
                if !is_of_the_sandbox(&path) {
                    folders.push(path);
                }
            } else if !kind.is_symlink()
                && entry
                    .metadata()
                    .is_ok_and(|of| of.is_file() && of.permissions().mode() & 0o222 != 0)
                && access(&path, AccessFlags::W_OK).is_ok()
            {
                achieved(format_args!("may write `{}`", path.display()));
            }
        }
    }
}

/// The processes' own folders in procfs, and what is about their own network and names.
fn is_of_the_sandbox(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_process = name.bytes().all(|byte| byte.is_ascii_digit());
    is_process
        && path
            .parent()
            .is_some_and(|parent| parent.join("self").is_symlink())
}

/// A file by its handle, through the one folder that may be written to: the mount of that is not
/// read-only.
fn by_handle(bait: &Path) {
    // `struct file_handle`: room for bytes, type, bytes.
    let mut handle = [0_u8; 136];
    handle[0] = 128;
    let at = handle.as_mut_ptr() as usize;
    for path in [
        bait.join("bait"),
        PathBuf::from("/etc/passwd"),
        PathBuf::from("/"),
    ] {
        let Ok(text) = CString::new(path.as_os_str().as_bytes()) else {
            continue;
        };
        let mut mount_id = 0_i32;
        let words = [
            word(libc::AT_FDCWD),
            address(&text),
            at,
            (&raw mut mount_id) as usize,
            0,
        ];
        if call(libc::SYS_name_to_handle_at, &words).is_err() {
            continue;
        }
        for folder in [".", "/", "/tmp"] {
            let Ok(through) = File::open(folder) else {
                continue;
            };
            for flags in [libc::O_WRONLY, libc::O_RDONLY] {
                let open = [word(through.as_raw_fd()), at, word(flags)];
                if call(libc::SYS_open_by_handle_at, &open).is_ok() {
                    achieved(format_args!(
                        "opened the handle of `{}` through `{folder}`",
                        path.display()
                    ));
                }
            }
        }
        handle[..4].copy_from_slice(&128_u32.to_ne_bytes());
    }
}

/// A copy of a mount that is mounted nowhere, made writable (`open_tree(2)`, `mount_setattr(2)`).
fn through_a_copy() {
    const READ_ONLY: u64 = 1;
    let recursive = 0x8000;
    // `struct mount_attr`: what is set, cleared, propagation, user namespace.
    let writable = [0, READ_ONLY, 0, 0_u64];
    let attributes = writable.as_ptr() as usize;
    for folder in [c"/", c"/etc", c"/usr", c"/proc", c"/sys"] {
        let at = word(libc::AT_FDCWD);
        let change = [
            at,
            address(folder),
            recursive,
            attributes,
            size_of_val(&writable),
        ];
        if call(libc::SYS_mount_setattr, &change).is_ok() {
            achieved(format_args!("made {folder:?} writable"));
        }
        let clone = 1 | recursive | libc::O_CLOEXEC as usize;
        let Ok(copy) = call(libc::SYS_open_tree, &[at, address(folder), clone]) else {
            continue;
        };
        let flags = recursive | libc::AT_EMPTY_PATH as usize;
        let change = [
            copy,
            address(c""),
            flags,
            attributes,
            size_of_val(&writable),
        ];
        if call(libc::SYS_mount_setattr, &change).is_ok() {
            achieved(format_args!("made a copy of {folder:?} writable"));
        }
    }
}

/// Nodes of the machine's disks and memory. It opens them and does nothing with them.
fn devices(folder: &Path) {
    let mounted = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let numbers = mounted.lines().filter_map(|line| {
        let (major, minor) = line.split(' ').nth(2)?.split_once(':')?;
        Some((SFlag::S_IFBLK, major.parse().ok()?, minor.parse().ok()?))
    });
    // /dev/mem, /dev/kmsg.
    let memory = [(SFlag::S_IFCHR, 1, 1), (SFlag::S_IFCHR, 1, 11)];
    for (kind, major, minor) in numbers.chain(memory) {
        let node = folder.join("harness-hostile.node");
        let made = mknod(&node, kind, Mode::S_IRWXU, makedev(major, minor));
        if made.is_ok() && File::options().read(true).write(true).open(&node).is_ok() {
            achieved(format_args!(
                "opened the device {major}:{minor} in `{}`",
                folder.display()
            ));
        }
        let _absent = fs::remove_file(&node);
    }
}

/// Process 1 has another root and other descriptors than the workload.
fn through_init() {
    for link in ["root", "cwd", "exe"] {
        let path = format!("/proc/1/{link}");
        if fs::read_link(&path).is_ok() {
            achieved(format_args!("read `{path}`"));
        }
    }
    // Their numbers are no secret.
    for entry in fs::read_dir("/proc/1/fd").into_iter().flatten().flatten() {
        let path = entry.path();
        if fs::read_link(&path).is_ok() || File::open(&path).is_ok() {
            achieved(format_args!("saw `{}`", path.display()));
        }
    }
    if File::options().write(true).open("/proc/1/mem").is_ok() {
        achieved("opened the memory of process 1");
    }
}

/// Takes every mount away, or makes it writable.
fn unmount() {
    let mounted = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let points: Vec<&str> = mounted
        .lines()
        .filter_map(|line| line.split(' ').nth(4))
        .collect();
    for point in points.iter().rev() {
        // Its own files are not hidden by what it does to itself.
        let is_own =
            std::env::current_dir().is_ok_and(|own| own.starts_with(point) && *point != "/");
        for flags in [MsFlags::MS_REMOUNT | MsFlags::MS_BIND, MsFlags::MS_REMOUNT] {
            let _refused = mount(None::<&CStr>, *point, None::<&CStr>, flags, None::<&CStr>);
        }
        if !is_own {
            let _refused = umount2(*point, MntFlags::MNT_DETACH);
        }
    }
}

/// Mounts anew what the sandbox has covered.
fn fresh_mounts() {
    let child = fork(|| {
        for kind in [
            c"proc",
            c"sysfs",
            c"cgroup2",
            c"cgroup",
            c"devtmpfs",
            c"debugfs",
            c"tracefs",
            c"binfmt_misc",
            c"mqueue",
        ] {
            let folder = PathBuf::from(format!("fresh-{}", kind.to_string_lossy()));
            let _exists = fs::create_dir(&folder);
            if mount(
                Some(c"none"),
                &folder,
                Some(kind),
                MsFlags::empty(),
                None::<&CStr>,
            )
            .is_ok()
            {
                writable_below(&folder);
            }
        }
        0
    });
    reap(child);
}
