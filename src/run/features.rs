//! Says which of the features that scenarios may require this machine lacks.

use super::Bench;
use crate::plan::MemoryReader;
use crate::scenario::Feature;
use perf_live::errors::chain;
use perf_live::sys;
use perf_live::units::Limit;

impl Bench<'_> {
    /// Returns why the machine does not have a feature, or `None` if it has it.
    #[must_use]
    pub fn lacks(&self, feature: Feature) -> Option<String> {
        let unless = |has: bool, why: &str| (!has).then(|| why.to_owned());
        let source = |name: &str| {
            let sources = self.host.event_sources();
            let why = format!("perf events have no source `{name}` here");
            unless(sources.iter().any(|source| source == name), &why)
        };
        // The tracepoints are there for every user; the list that makes probes is root's to write.
        let probes = |name: &str| {
            let refused = || self.host.probes().err().map(|error| chain(&error));
            source(name).or_else(refused)
        };
        match feature {
            Feature::Bpf => match self.reader() {
                (MemoryReader::Bpf, _) => None,
                (_, why) => Some(why.unwrap_or_else(|| "BPF does not read here".to_owned())),
            },
            Feature::Uprobes => probes("uprobe"),
            Feature::Kprobes => probes("kprobe"),
            Feature::IoUring => sys::io_uring()
                .err()
                .map(|error| match error.raw_os_error() {
                    Some(libc::ENOSYS) => "this kernel has none".to_owned(),
                    Some(libc::EPERM) => {
                        "it is forbidden here (`kernel.io_uring_disabled`)".to_owned()
                    }
                    _ => error.to_string(),
                }),
            Feature::UserNamespaces => {
                // With the right to mount, a user namespace may be allowed where other users are
                // refused.
                let is_free = self.host.has_rights_of_root() || sys::rights::are_lent();
                self.host.without_user_namespaces(is_free)
            }
            Feature::Cgroup2 => self.without_group(),
            Feature::Cgroup2Memory => self.without_controller(Limit::Memory, "memory"),
            Feature::Cgroup2Pids => self.without_controller(Limit::Processes, "pids"),
            Feature::HardwareCounters => {
                let why = "the processor's counters cannot be seen from here";
                unless(self.host.counts_cycles(), why)
            }
            Feature::LostCounts => {
                let why = "this kernel does not count lost records: Linux before 6.0";
                unless(self.has_lost_counts(), why)
            }
            Feature::Root => {
                let why = "the harness does not run as root, with root's rights";
                unless(self.host.has_rights_of_root(), why)
            }
        }
    }

    fn without_group(&self) -> Option<String> {
        match (self.host.cgroup2(), self.group()) {
            (_, Some(_)) => None,
            (None, _) => Some("version 2 is not mounted".to_owned()),
            (Some(_), None) => Some("no group can be made for a run".to_owned()),
        }
    }

    fn without_controller(&self, limit: Limit, word: &str) -> Option<String> {
        match self.group() {
            None => self.without_group(),
            Some(group) if group.enforces(limit) => None,
            Some(_) => Some(format!(
                "groups of version 2 have no controller `{word}` here"
            )),
        }
    }
}
