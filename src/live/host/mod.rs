//! The only reader of procfs, tracefs and sysfs.
//!
//! [`Host::running`] is this machine; [`Host::at`] is a captured tree of one, for which nothing is
//! ever mounted. Whatever is read once is kept: a host's tracepoints do not change while it is
//! looked at.

mod catalogue;
mod files;
mod machine;
mod midlife;
mod modules;
mod ports;
mod probes;
mod process;
mod programs;
mod rights;
mod settings;
mod sources;
mod symbols;
mod tasks;
pub(crate) mod text;
mod tracefs;
mod types;
mod usage;
mod world;

pub use catalogue::Catalogue;
pub(crate) use files::changed_at;
pub use files::{Lying, has_changed, is_link_of_sysfs, is_of_procfs, is_procfs, lying, lying_in};
pub use machine::{CodeMapping, KernelCode, Living, LivingThread, Machine};
pub use midlife::{Midlife, Threads};
pub use modules::Module;
pub use probes::ProbeList;
pub use process::ProcessStatus;
pub use programs::is_program;
pub use rights::Grant;
pub use sources::{EventSource, SourceEvent};
pub use tasks::{MakerIds, MappedFile};
pub use tracefs::TracefsError;
pub use types::KernelTypes;
pub use usage::Tree;
pub(crate) use world::mounts_of;
pub use world::{IdMaps, Mounted, map_ids};

use crate::sys;
use perf_records::format::{Format, FormatError};
use perf_records::units::{Cpu, TracepointName};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use tracefs::Tracefs;

/// What gives a user the rights to trace: these are what BPF programs, tracefs, its files of mode
/// 0440, events and rings of the default size take. They are permitted and not in effect: what the
/// program does with them, and when, is in [`crate::sys::rights`].
pub const HOW_TO_GET_RIGHTS: &str = "run as root, or once as root: \
    setcap cap_bpf,cap_dac_read_search,cap_ipc_lock,cap_perfmon,cap_sys_admin+p PATH_OF_HARNESS";

/// What to do without the right to make probes: only root may write their list (mode 0640), even if
/// other users may read tracefs. A probe can read all of the kernel's memory.
pub const HOW_TO_GET_PROBES: &str = "probes are root's: run as root, or once as root: \
    setcap cap_bpf,cap_dac_override,cap_ipc_lock,cap_perfmon,cap_sys_admin+p PATH_OF_HARNESS, \
    and to let its users read all of the kernel's memory: a line `probes` in /etc/harness/rights";

/// A machine, as its pseudo file systems describe it.
#[derive(Debug)]
pub struct Host {
    root: PathBuf,
    is_running: bool,
    tracefs: OnceLock<Result<Tracefs, TracefsError>>,
    kernel_code: OnceLock<Option<KernelCode>>,
    formats: Mutex<HashMap<TracepointName, Arc<Format>>>,
}

/// Why a fact about the host is not to be had.
#[derive(Clone, Debug, thiserror::Error)]
pub enum HostError {
    /// No tracefs.
    #[error(transparent)]
    Tracefs(#[from] TracefsError),
    /// A file that should be there cannot be read.
    #[error("cannot read `{path}`")]
    Read {
        /// The file, on the host that was asked.
        path: PathBuf,
        /// The error of reading it.
        source: Arc<io::Error>,
    },
    /// Clocks of this process are not those of the records.
    #[error("the clocks of this time namespace are not those of the kernel's records")]
    Clock,
    /// The kernel has no such tracepoint.
    #[error("this kernel has no tracepoint `{name}`")]
    NoTracepoint {
        /// The name that was asked for.
        name: TracepointName,
    },
    /// The kernel takes no probes of this kind.
    #[error("this kernel has no `{list}`")]
    NoProbes {
        /// The list of tracefs that it lacks.
        list: &'static str,
    },
    /// A probe cannot be.
    #[error(transparent)]
    Probe(Arc<dyn std::error::Error + Send + Sync>),
    /// A `format` file is not what the kernel writes.
    #[error("cannot understand the format of `{name}`")]
    Format {
        /// The tracepoint.
        name: TracepointName,
        /// The line and the error.
        source: FormatError,
    },
}

impl HostError {
    /// Whether it is a missing right.
    #[must_use]
    pub fn is_permission(&self) -> bool {
        let source = match self {
            Self::Tracefs(
                TracefsError::Unreadable { source, .. } | TracefsError::Mount { source },
            )
            | Self::Read { source, .. } => source,
            _ => return false,
        };
        source.kind() == io::ErrorKind::PermissionDenied
    }

    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Tracefs(error) => Some(error.hint()),
            Self::Clock => {
                Some("run it in the first time namespace: `nsenter --target 1 --time`".to_owned())
            }
            Self::Read { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                Some(tracefs::how_to_read(Path::new("/sys/kernel/tracing")))
            }
            _ => None,
        }
    }
}

impl Host {
    /// This machine.
    #[must_use]
    pub fn running() -> Self {
        Self {
            is_running: true,
            ..Self::at(Path::new("/"))
        }
    }

    /// A captured machine: `proc`, `sys` below this folder.
    #[must_use]
    pub fn at(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            is_running: false,
            tracefs: OnceLock::new(),
            kernel_code: OnceLock::new(),
            formats: Mutex::default(),
        }
    }

    /// What the kernel calls the file behind a descriptor of this process; `None` for one that is
    /// closed.
    #[must_use]
    pub fn own_descriptor(&self, number: i32) -> Option<PathBuf> {
        std::fs::read_link(self.root.join(format!("proc/self/fd/{number}"))).ok()
    }

    /// Whether a descriptor of this process is open for reading and for writing, or may be.
    #[must_use]
    pub fn access(&self, number: i32) -> (bool, bool) {
        let told = self.read(&format!("proc/self/fdinfo/{number}"));
        let told = told.unwrap_or_default();
        let flags = process::value(&told, "flags:").map(|flags| i32::from_str_radix(flags, 8));
        let flags = flags.and_then(Result::ok);
        match flags.map(|flags| (flags & libc::O_PATH != 0, flags & libc::O_ACCMODE)) {
            Some((true, _)) => (false, false),
            Some((_, libc::O_RDONLY)) => (true, false),
            Some((_, libc::O_WRONLY)) => (false, true),
            _ => (true, true),
        }
    }

    /// The descriptors of this process that a program has as well which it executes, but for the
    /// standard ones; sorted.
    ///
    /// # Errors
    /// [`HostError::Read`].
    pub fn inherited_descriptors(&self) -> Result<Vec<i32>, HostError> {
        let path = self.root.join("proc/self/fd");
        let failed = |source| HostError::Read {
            path: path.clone(),
            source: Arc::new(source),
        };
        let mut numbers = Vec::new();
        for entry in std::fs::read_dir(&path).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let number: Option<i32> = name.to_str().and_then(|name| name.parse().ok());
            numbers.extend(number.filter(|number| *number > libc::STDERR_FILENO));
        }
        numbers.retain(|number| sys::process::outlives_exec(*number));
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn read(&self, path: &str) -> Result<String, HostError> {
        let path = self.root.join(path);
        text::text(&path).map_err(|source| HostError::Read {
            path,
            source: Arc::new(source),
        })
    }

    fn number(&self, path: &str) -> Option<i64> {
        self.read(path).ok()?.trim().parse().ok()
    }

    /// The kernel's release, as `uname -r` prints it.
    ///
    /// # Errors
    /// [`HostError::Read`].
    pub fn kernel_release(&self) -> Result<String, HostError> {
        Ok(self.read("proc/sys/kernel/osrelease")?.trim().to_owned())
    }

    /// The CPUs that are online.
    ///
    /// # Errors
    /// [`HostError::Read`].
    pub fn online_cpus(&self) -> Result<Vec<Cpu>, HostError> {
        let list = self.read("sys/devices/system/cpu/online")?;
        Ok(cpu_list(&list))
    }

    /// `kernel.perf_event_paranoid`; `None` where the kernel has no perf events.
    #[must_use]
    pub fn perf_event_paranoid(&self) -> Option<i64> {
        self.number("proc/sys/kernel/perf_event_paranoid")
    }

    /// `kernel.perf_event_mlock_kb`: how much ring memory a user may lock for each CPU, in KiB.
    #[must_use]
    pub fn perf_event_mlock_kb(&self) -> Option<i64> {
        self.number("proc/sys/kernel/perf_event_mlock_kb")
    }

    /// `kernel.perf_event_max_sample_rate`: how often in a second the kernel lets an event have
    /// samples. It lowers that by itself where they take it too much time
    /// (`kernel.perf_cpu_time_max_percent`).
    #[must_use]
    pub fn perf_event_max_sample_rate(&self) -> Option<u64> {
        let rate = self.number("proc/sys/kernel/perf_event_max_sample_rate")?;
        u64::try_from(rate).ok()
    }

    /// Returns `kernel.io_uring_disabled`: 0 if every process may use io_uring, 1 if only those
    /// with a right to it, 2 if none may; `None` if the kernel has no such switch.
    #[must_use]
    pub fn io_uring_disabled(&self) -> Option<i64> {
        self.number("proc/sys/kernel/io_uring_disabled")
    }

    /// Returns why a user namespace cannot be made, as far as the kernel's switches tell: those of
    /// `user_namespaces(7)`, and for users other than root those of Debian and of Ubuntu.
    #[must_use]
    pub fn without_user_namespaces(&self, is_root: bool) -> Option<String> {
        if !self.root.join("proc/self/ns/user").exists() {
            return Some("this kernel has none".to_owned());
        }
        let switches = [
            ("user/max_user_namespaces", 0, true),
            ("kernel/unprivileged_userns_clone", 0, !is_root),
            ("kernel/apparmor_restrict_unprivileged_userns", 1, !is_root),
        ];
        let mut off = switches.iter().filter(|(file, value, counts)| {
            *counts && self.number(&format!("proc/sys/{file}")) == Some(*value)
        });
        let (file, value, _) = off.next()?;
        Some(format!("`{}` is {value}", file.replace('/', ".")))
    }

    /// Whether this process is root with root's rights: to mount, and to become another user. Root
    /// in a container has them seldom, and has to do as an ordinary user does.
    #[must_use]
    pub fn has_rights_of_root(&self) -> bool {
        const SETGID_SETUID_SYS_ADMIN: u64 = 1 << 6 | 1 << 7 | 1 << 21;
        let has = self.effective_capabilities().unwrap_or_default();
        nix::unistd::geteuid().is_root() && has & SETGID_SETUID_SYS_ADMIN == SETGID_SETUID_SYS_ADMIN
    }

    /// The effective capabilities of the calling process, one bit each (`capabilities(7)`).
    #[must_use]
    pub fn effective_capabilities(&self) -> Option<u64> {
        let status = self.read("proc/self/status").ok()?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("CapEff:"))?;
        u64::from_str_radix(line.trim(), 16).ok()
    }

    /// Where the version 2 hierarchy of control groups is mounted, also on hosts that have both.
    #[must_use]
    pub fn cgroup2(&self) -> Option<PathBuf> {
        let mounts = self.read("proc/self/mountinfo").ok()?;
        tracefs::mount_points(&mounts, "cgroup2")
            .next()
            .map(|point| self.below_root(&point))
    }

    /// Whether performance events can be counted for a group of that hierarchy: not where a version
    /// 1 hierarchy has taken the controller.
    #[must_use]
    pub fn cgroup2_has_perf_events(&self) -> bool {
        let Ok(controllers) = self.read("proc/cgroups") else {
            return false;
        };
        let mut lines = controllers
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>());
        lines.any(|columns| columns.first() == Some(&"perf_event") && columns.get(1) == Some(&"0"))
    }

    fn below_root(&self, point: &str) -> PathBuf {
        self.root.join(point.trim_start_matches('/'))
    }

    /// How tracefs was got at, in words.
    ///
    /// # Errors
    /// [`TracefsError`].
    pub fn describe_tracefs(&self) -> Result<String, TracefsError> {
        Ok(self.tracefs()?.describe())
    }

    fn tracefs(&self) -> Result<&Tracefs, TracefsError> {
        let found = self.tracefs.get_or_init(|| {
            let mounts = self.read("proc/self/mountinfo").unwrap_or_default();
            let points =
                tracefs::mount_points(&mounts, "tracefs").map(|point| self.below_root(&point));
            Tracefs::find(points, self.is_running)
        });
        found.as_ref().map_err(Clone::clone)
    }

    fn list(&self, folder: &Path) -> Result<Vec<String>, HostError> {
        let failed = |source| HostError::Read {
            path: folder.to_owned(),
            source: Arc::new(source),
        };
        tracefs::folders(folder).map_err(failed)
    }
}

/// Reads a list such as `0-3,8` (`Documentation/admin-guide/cputopology.rst`).
fn cpu_list(text: &str) -> Vec<Cpu> {
    let range = |part: &str| -> Option<(u32, u32)> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some((first.parse().ok()?, last.parse().ok()?))
    };
    text.trim()
        .split(',')
        .filter_map(range)
        .flat_map(|(first, last)| (first..=last).map(Cpu))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists_have_single_numbers_and_ranges() {
        assert_eq!(cpu_list("0-2,5\n"), [Cpu(0), Cpu(1), Cpu(2), Cpu(5)]);
        assert_eq!(cpu_list(""), []);
    }

    #[test]
    fn a_captured_tree_is_a_host_wherever_its_tracefs_lay() {
        for place in ["sys/kernel/tracing", "sys/kernel/debug/tracing", "mnt/a b"] {
            let tree = tempfile::tempdir().unwrap();
            let write = |path: &str, text: &str| {
                let path = tree.path().join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            };
            let point = place.replace(' ', "\\040");
            write(
                "proc/self/mountinfo",
                &format!("25 1 0:7 / /{point} rw,relatime shared:3 - tracefs nodev rw\n"),
            );
            write(&format!("{place}/events/sched/sched_switch/format"), "");
            let host = Host::at(tree.path());
            assert_eq!(host.events("sched").unwrap(), ["sched_switch"], "{place}");
            let gone = TracepointName::parse("sched:gone").unwrap();
            assert_eq!(
                host.format(&gone).unwrap_err().to_string(),
                "this kernel has no tracepoint `sched:gone`"
            );
        }
    }

    #[test]
    fn nothing_is_mounted_for_a_captured_tree() {
        let tree = tempfile::tempdir().unwrap();
        assert!(matches!(
            Host::at(tree.path()).systems(),
            Err(HostError::Tracefs(TracefsError::NotMounted))
        ));
    }
}
