//! Namespaces within namespaces, mounts and other roots.

use std::ffi::CStr;
use std::fs;
use std::os::unix::fs::MetadataExt;

use nix::libc;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};

use crate::kernel::{call, fork, wait_for_ever};

const NEW_WORLD: CloneFlags = CloneFlags::CLONE_NEWUSER
    .union(CloneFlags::CLONE_NEWPID)
    .union(CloneFlags::CLONE_NEWNS)
    .union(CloneFlags::CLONE_NEWIPC)
    .union(CloneFlags::CLONE_NEWNET);

/// A daemon that is process 1 of a world of its own.
pub(crate) fn daemon() -> i32 {
    unshare(NEW_WORLD).expect("unshare");
    fork(|| {
        call(libc::SYS_setsid, &[]).expect("setsid");
        fork(|| wait_for_ever());
        wait_for_ever()
    });
    0
}

/// A user without a name in its namespace could make no further one.
fn unshare_as_root() -> std::io::Result<()> {
    let (user, group) = (nix::unistd::geteuid(), nix::unistd::getegid());
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWPID)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))
}

/// One namespace in another, as deep as the kernel allows.
pub(crate) fn nested() -> i32 {
    let (reader, writer) = nix::unistd::pipe().expect("pipe");
    fn dive(depth: u32, writer: &std::os::fd::OwnedFd) -> i32 {
        if unshare_as_root().is_ok() {
            fork(|| dive(depth + 1, writer));
        } else {
            nix::unistd::write(writer, &depth.to_ne_bytes()).expect("write");
        }
        wait_for_ever()
    }
    fork(|| dive(0, &writer));
    let mut bytes = [0; 4];
    nix::unistd::read(&reader, &mut bytes).expect("read");
    assert!(u32::from_ne_bytes(bytes) >= 10, "not deep enough to tell");
    0
}

/// The old way out of a root: into a folder, with the working directory outside of it, and up.
pub(crate) fn chroots_and_climbs() -> i32 {
    let root = |path: &str| {
        fs::metadata(path)
            .map(|of| (of.dev(), of.ino()))
            .expect("stat")
    };
    let before = root("/");
    fs::create_dir("root").expect("mkdir");
    nix::unistd::chroot("root").expect("chroot");
    for _ in 0..64 {
        std::env::set_current_dir("..").expect("chdir");
    }
    nix::unistd::chroot(".").expect("chroot");
    // It is the sandbox's root again, and nothing above it.
    i32::from(root("/") != before)
}

fn bind(from: &CStr, to: &CStr) -> nix::Result<()> {
    mount(
        Some(from),
        to,
        None::<&CStr>,
        MsFlags::MS_BIND | MsFlags::MS_REC,
        None::<&CStr>,
    )
}

fn tmpfs(on: &CStr) -> nix::Result<()> {
    mount(
        Some(c"none"),
        on,
        Some(c"tmpfs"),
        MsFlags::empty(),
        None::<&CStr>,
    )
}

/// Mounts in a namespace of its own: over its directory, the root in its directory, and on
/// themselves.
pub(crate) fn mounts() -> i32 {
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS).expect("unshare");
    fs::create_dir("root").expect("mkdir");
    bind(c"/", c"root").expect("mount");
    for _ in 0..20 {
        tmpfs(c".").expect("mount");
    }
    let shared = MsFlags::MS_SHARED | MsFlags::MS_REC;
    let _refused = mount(None::<&CStr>, c"/", None::<&CStr>, shared, None::<&CStr>);
    0
}

/// Mounts without a namespace of its own: a careless removal of the directory would remove what the
/// mount leads to.
pub(crate) fn binds_the_root() -> i32 {
    fs::create_dir("root").expect("mkdir");
    let _refused = bind(c"/", c"root");
    let _refused = tmpfs(c"root");
    std::os::unix::fs::symlink("/", "link").expect("symlink");
    0
}

/// Takes away what can be taken away, and makes the rest writable.
pub(crate) fn unmounts() -> i32 {
    let mounted = fs::read_to_string("/proc/self/mountinfo").expect("procfs");
    let points: Vec<&str> = mounted
        .lines()
        .filter_map(|line| line.split(' ').nth(4))
        .collect();
    for point in points.iter().rev().chain(["/", "/proc", "."].iter()) {
        for flags in [MntFlags::empty(), MntFlags::MNT_DETACH, MntFlags::MNT_FORCE] {
            let _refused = umount2(*point, flags);
        }
        let flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND;
        let _refused = mount(None::<&CStr>, *point, None::<&CStr>, flags, None::<&CStr>);
    }
    let _refused = nix::unistd::pivot_root(".", ".");
    0
}

/// Makes control groups below its own, moves into one, and sees whether it could lift the limits of
/// its own.
pub(crate) fn makes_control_groups() -> i32 {
    let flags = CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS;
    unshare(flags).expect("unshare");
    // A process that has made a namespace of control groups may mount them.
    let _refused = unshare(CloneFlags::CLONE_NEWCGROUP);
    let mut lifted = false;
    for (kind, options) in [
        (c"cgroup2", c""),
        (c"cgroup", c"pids"),
        (c"cgroup", c"memory"),
    ] {
        let folder = std::path::PathBuf::from(format!("groups-{}", options.to_string_lossy()));
        fs::create_dir(&folder).expect("mkdir");
        if mount(
            Some(c"none"),
            &folder,
            Some(kind),
            MsFlags::empty(),
            Some(options),
        )
        .is_err()
        {
            continue;
        }
        for file in [
            "pids.max",
            "memory.max",
            "memory.limit_in_bytes",
            "cgroup.freeze",
        ] {
            // To open it is enough to know: to write would change the machine.
            lifted |= fs::File::options()
                .write(true)
                .open(folder.join(file))
                .is_ok();
        }
        let below = folder.join("harness-hostile");
        if fs::create_dir(&below).is_ok() {
            let _refused = fs::write(below.join("cgroup.procs"), "0");
            let _refused = fs::write(below.join("cgroup.type"), "threaded");
        }
    }
    lifted.into()
}
