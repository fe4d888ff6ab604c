//! The world of a workload: which namespaces it has, and the steps in which its init lays it out.
//!
//! As root, init makes the mounts with the rights of the host, and then moves into a user namespace
//! and into copies of its mounts there. In such copies nothing can be unmounted or made writable
//! again (`mount_namespaces(7)`). Ids are those of the host, so that files have their owners and
//! set-user-ID programs work; but root there has no power over anything outside the world. An
//! ordinary user is in a user namespace from the start, alone in it, and has no capability after
//! the execve. Root without root's rights begins as an ordinary user, and then moves as root does.

use super::LaunchError;
use super::spec::{Network, Root, WorldSpec};
use super::steps::{GUARDED, PLAIN, Steps, text};
use crate::host::{Host, HostError, IdMaps, Mounted};
use crate::sys::process::{FIRST_SLOT, NO_DEVICES, READ_ONLY, Stage, Step, has_mount_attributes};
use crate::units::User;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the working directory is seen inside of a world with a `/tmp` of its own.
pub const INSIDE: &str = "/tmp/sandbox";

// What such a world has of its own, in which nothing of the host is seen.
pub(super) const EMPTY: [&str; 2] = ["/tmp", "/run"];

pub(super) const DEVICES: [&str; 6] = ["full", "null", "random", "tty", "urandom", "zero"];
pub(super) const LINKS: [(&str, &str); 6] = [
    ("core", "/proc/kcore"),
    ("fd", "/proc/self/fd"),
    ("ptmx", "pts/ptmx"),
    ("stderr", "/proc/self/fd/2"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
];
// It names the numbers by which keys and keyrings of the host's root are read and changed: the
// kernel asks for the user's id alone there (`keyctl(2)`), and has no namespaces of keys but of
// their names.
const KEYS: &str = "/proc/keys";
const LOCALTIME: &str = "/etc/localtime";
const UTC: [&str; 3] = [
    "/usr/share/zoneinfo/Etc/UTC",
    "/usr/share/zoneinfo/UTC",
    "/dev/null",
];

// Where the working directory, the limits of namespaces and the nodes of the new /dev are kept
// while all else is made read-only.
const DIRECTORY: u8 = 0;
const NAMESPACES: u8 = 1;
const FIRST_DEVICE: u8 = 2;

/// Where a workload lives: on the host or in namespaces.
#[derive(Clone, Debug)]
pub enum World {
    /// On the bare host.
    Host,
    /// In a world of its own.
    Own(Box<OwnWorld>),
}

/// A world of a workload's own.
#[derive(Clone, Debug)]
pub struct OwnWorld {
    worlds: Arc<Worlds>,
    spec: WorldSpec,
    pub(super) user: Option<User>,
    /// Files of the host, each with the copy that lies in its place.
    copies: Vec<(PathBuf, PathBuf)>,
}

/// What is done for a world.
#[derive(Debug)]
pub(super) struct Layout {
    /// The namespaces that init is born into.
    pub(super) namespaces: i32,
    /// What init does.
    pub(super) steps: Vec<Step>,
    /// The address and length of init's copy of words that the workload must not see.
    pub(super) words: Option<(usize, usize)>,
    /// The ids that the harness maps when init is ready.
    pub(super) maps: Option<IdMaps>,
}

impl Layout {
    /// What its failure is to the user.
    pub(super) fn failed(&self, stage: Stage, source: io::Error) -> LaunchError {
        let step = match stage {
            Stage::Step(place) => self.steps.get(place as usize),
            _ => None,
        };
        match step {
            Some(step) => LaunchError::Step {
                step: Box::new(step.clone()),
                source,
            },
            None => LaunchError::Stage { stage, source },
        }
    }
}

impl World {
    /// Where the workload sees its working directory.
    #[must_use]
    pub fn inside(&self, directory: &Path) -> PathBuf {
        if self.has_own_tmp() {
            INSIDE.into()
        } else {
            directory.to_owned()
        }
    }

    /// The folder of the host that a path leads to, where the world has one of its own in its
    /// place.
    #[must_use]
    pub fn hides(&self, path: &Path) -> Option<&'static str> {
        let own = EMPTY.into_iter().filter(|_| self.has_own_tmp());
        own.into_iter()
            .find(|folder| path.starts_with(folder) && !path.starts_with(INSIDE))
    }

    /// Has the world see a copy in the place of each of these files of the host (paths without
    /// symbolic links). Only a world that cannot write the host's files takes them: in another one
    /// what is written there would be lost.
    pub fn replace(&mut self, copies: Vec<(PathBuf, PathBuf)>) {
        if let Self::Own(own) = self {
            own.copies = copies;
        }
    }

    pub(super) fn has_own_tmp(&self) -> bool {
        matches!(self, Self::Own(own) if own.spec.root == Root::ReadOnly)
    }
}

impl OwnWorld {
    /// How it is made for a workload with this working directory, with a standard input or none.
    pub(super) fn layout(&self, directory: Option<&Path>, has_input: bool) -> Layout {
        let mut layout = self.worlds.layout(self, directory);
        if !has_input {
            layout.steps.push(Step::NoInput);
        }
        layout
    }
}

/// Where a process says which users its namespace has.
pub(super) const USERS: &str = "/proc/self/uid_map";

/// What worlds on this machine have in common.
#[derive(Debug)]
pub struct Worlds {
    is_root: bool,
    // Root without its rights makes worlds as an ordinary user does.
    has_rights: bool,
    maps: IdMaps,
    words: Option<(usize, usize)>,
    machine_wide: Vec<PathBuf>,
    groups: Option<PathBuf>,
    // Every mount of the host, where the kernel cannot change all at once.
    mounts: Option<Vec<Mounted>>,
}

impl Worlds {
    /// Looks at the machine.
    ///
    /// # Errors
    /// [`HostError`].
    pub fn new(host: &Host) -> Result<Self, HostError> {
        let (uid, gid) = (nix::unistd::geteuid(), nix::unistd::getegid());
        let has_rights = host.has_rights_of_root();
        let maps = if has_rights {
            host.identity()?
        } else {
            IdMaps {
                users: format!("{uid} {uid} 1\n"),
                groups: format!("{gid} {gid} 1\n"),
            }
        };
        let mounts = (!has_mount_attributes()).then(|| host.mounts());
        Ok(Self {
            is_root: uid.is_root(),
            has_rights,
            maps,
            words: host.own_words(),
            machine_wide: host.machine_wide_proc()?,
            groups: host.control_groups(),
            mounts: mounts.transpose()?,
        })
    }

    /// Returns a world as it was chosen; the workload runs as `user`, or else as the user of the
    /// harness.
    #[must_use]
    pub fn own(self: &Arc<Self>, spec: &WorldSpec, user: Option<&User>) -> World {
        World::Own(Box::new(OwnWorld {
            worlds: Arc::clone(self),
            spec: spec.clone(),
            user: user.cloned(),
            copies: Vec::new(),
        }))
    }

    fn layout(&self, own: &OwnWorld, directory: Option<&Path>) -> Layout {
        let spec = &own.spec;
        let first = libc::CLONE_NEWPID | libc::CLONE_NEWNS;
        let network = match spec.network {
            Network::None => libc::CLONE_NEWNET,
            Network::Host => 0,
        };
        let others = libc::CLONE_NEWUSER | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS | network;
        let mut steps = Steps(Vec::new());
        let own_maps = |steps: &mut Steps| {
            if !self.has_rights {
                steps.write("/proc/self/setgroups", "deny");
                steps.write(USERS, &self.maps.users);
                steps.write("/proc/self/gid_map", &self.maps.groups);
            }
        };
        own_maps(&mut steps);
        steps.0.push(Step::Private);
        // While who makes it has more rights than the workload: see `max_cgroup_namespaces` below.
        if spec.root == Root::ReadOnly {
            steps.0.push(Step::Groups);
        }
        match spec.root {
            Root::ReadOnly => self.own_root(&mut steps, own, directory),
            Root::Host => new_proc(&mut steps),
        }
        // Who is root there could undo what was made in the same user namespace.
        if self.is_root {
            steps.0.push(Step::Unshare(others | libc::CLONE_NEWNS));
            own_maps(&mut steps);
        }
        // A task that may make namespaces of control groups may mount its own groups, and root
        // there could then change its own limits.
        let kept = FIRST_SLOT + i32::from(NAMESPACES);
        let file = format!("/proc/self/fd/{kept}/max_cgroup_namespaces");
        steps.write(&file, "0");
        steps.0.push(Step::Drop(NAMESPACES));
        steps.0.push(Step::Keyring);
        if spec.network == Network::None {
            steps.0.push(Step::Loopback);
        }
        steps.0.push(Step::Hostname(text(&spec.hostname)));
        Layout {
            namespaces: if self.has_rights {
                first
            } else {
                first | others
            },
            steps: steps.0,
            words: self.words,
            maps: self.has_rights.then(|| self.maps.clone()),
        }
    }

    /// The host's files, read-only; `/tmp`, `/run`, `/dev` and `/proc` of its own, no control
    /// groups, the time zone UTC, and the working directory.
    fn own_root(&self, steps: &mut Steps, own: &OwnWorld, directory: Option<&Path>) {
        // Before the folder of the copies is hidden, and all that is mounted made read-only.
        for (file, copy) in &own.copies {
            steps.take(DIRECTORY, copy.as_os_str());
            steps.place(DIRECTORY, file);
        }
        if let Some(directory) = directory {
            steps.take(DIRECTORY, directory.as_os_str());
        }
        // What is taken is not made read-only, and can be opened when a new /dev hides the host's.
        // Nothing is mounted and then unmounted here: that waits for all CPUs.
        let devices: Vec<_> = (FIRST_DEVICE..)
            .zip(DEVICES)
            .filter(|(_, name)| Path::new("/dev").join(name).exists())
            .collect();
        for (slot, name) in &devices {
            steps.take(*slot, Path::new("/dev").join(name).as_os_str());
        }
        self.read_only(steps);
        for (file, copy) in own.copies.iter().filter(|_| self.mounts.is_some()) {
            self.write_protect(steps, file, self.flags_at(copy));
        }
        let size = own.spec.limits.memory.map(|bytes| format!(",size={bytes}"));
        let size = size.unwrap_or_default();
        self.new_dev(steps, &devices, &size);
        steps.mount("tmpfs", "/tmp", GUARDED, &format!("mode=1777{size}"));
        if Path::new("/run").is_dir() {
            steps.mount("tmpfs", "/run", GUARDED, &format!("mode=755{size}"));
        }
        // What a program finds of its groups there, and by which path, is another on each machine.
        if let Some(groups) = &self.groups {
            let (target, flags) = (groups.as_os_str(), GUARDED | libc::MS_RDONLY);
            steps.mount_from("tmpfs", "tmpfs", target, flags, "mode=555,size=4k");
        }
        if directory.is_some() {
            steps.0.push(Step::Folder(text(INSIDE), 0o755));
            steps.place(DIRECTORY, INSIDE);
        }
        if Path::new(LOCALTIME).symlink_metadata().is_ok() {
            let utc = UTC.into_iter().find(|path| Path::new(path).exists());
            if let Some(utc) = utc {
                steps.take(DIRECTORY, utc.as_ref());
                steps.place(DIRECTORY, LOCALTIME);
            }
        }
        new_proc(steps);
        // Root's writes there need no capability: proc_sys_permission() checks only the user's id.
        // Writes of an ordinary user are refused.
        for part in self.machine_wide.iter().filter(|_| self.is_root) {
            steps.bind(part, part);
            self.write_protect(steps, part, PLAIN);
        }
        if self.is_root && Path::new(KEYS).exists() {
            steps.bind(Path::new("/dev/null"), Path::new(KEYS));
        }
    }

    /// Makes a `/dev` with the usual nodes of the host. Root's ids are the host's, so root could
    /// change their modes and owners.
    fn new_dev(&self, steps: &mut Steps, devices: &[(u8, &str)], size: &str) {
        let place = |name: &str| format!("/dev/{name}");
        let options = "mode=755,size=64k";
        steps.mount_from("tmpfs", "tmpfs", "/dev".as_ref(), libc::MS_NOSUID, options);
        for (slot, name) in devices {
            let node = place(name);
            steps.0.push(Step::File(text(&node)));
            steps.place(*slot, &node);
            if self.is_root {
                let flags = libc::MS_NOSUID | libc::MS_NOEXEC;
                self.write_protect(steps, Path::new(&node), flags);
            }
        }
        for (name, to) in LINKS {
            let (to, at) = (text(to), text(place(name)));
            steps.0.push(Step::Link { to, at });
        }
        let flags = libc::MS_NOSUID | libc::MS_NOEXEC;
        let options = "newinstance,mode=0620,ptmxmode=0666";
        steps.0.push(Step::Folder(text(place("pts")), 0o755));
        let pts = place("pts");
        steps.mount_from("devpts", "devpts", pts.as_ref(), flags, options);
        steps.0.push(Step::Folder(text(place("shm")), 0o1777));
        let options = format!("mode=1777{size}");
        steps.mount("tmpfs", &place("shm"), GUARDED, &options);
    }

    /// Makes all that is mounted read-only.
    fn read_only(&self, steps: &mut Steps) {
        let Some(mounts) = &self.mounts else {
            let target = text("/");
            let set = READ_ONLY | NO_DEVICES;
            return steps.0.push(Step::Attributes { target, set });
        };
        for mount in mounts {
            let kept = flags(mount);
            let flags = libc::MS_REMOUNT | libc::MS_BIND | libc::MS_RDONLY | libc::MS_NODEV | kept;
            steps.mount_from("", "none", mount.at.as_os_str(), flags, "");
        }
    }

    /// The flags of the mount that a path is in, where the kernel cannot change single ones.
    fn flags_at(&self, path: &Path) -> libc::c_ulong {
        let mounts = self.mounts.iter().flatten();
        let around = mounts.filter(|mount| path.starts_with(&mount.at));
        let innermost = around.max_by_key(|mount| mount.at.components().count());
        innermost.map_or(0, flags)
    }

    /// Makes a mount read-only. Where that takes a new mount of all flags, it has these.
    fn write_protect(&self, steps: &mut Steps, at: &Path, flags: libc::c_ulong) {
        if self.mounts.is_none() {
            let target = text(at);
            let set = READ_ONLY;
            steps.0.push(Step::Attributes { target, set });
        } else {
            let flags = libc::MS_REMOUNT | libc::MS_BIND | libc::MS_RDONLY | flags;
            steps.mount_from("", "none", at.as_os_str(), flags, "");
        }
    }
}

/// The flags that a change of this mount must say again.
fn flags(mount: &Mounted) -> libc::c_ulong {
    mount.flags.iter().fold(0, |all, flag| all | bit(flag))
}

fn bit(word: &str) -> libc::c_ulong {
    match word {
        "nosuid" => libc::MS_NOSUID,
        "nodev" => libc::MS_NODEV,
        "noexec" => libc::MS_NOEXEC,
        "noatime" => libc::MS_NOATIME,
        "nodiratime" => libc::MS_NODIRATIME,
        "relatime" => libc::MS_RELATIME,
        _ => 0,
    }
}

fn new_proc(steps: &mut Steps) {
    steps.mount("proc", "/proc", PLAIN, "");
    steps.open(NAMESPACES, "/proc/sys/user");
}
