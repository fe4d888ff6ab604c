//! The facts about a machine that a plan is made with.

use super::{Counting, MemoryReader, Reach};
use crate::scenario::Feature;
use perf_live::sandbox::UserSpec;
use perf_live::units::{Limit, Limits, User};
use syscall_model::Signatures;

/// What must be known of a machine.
pub struct Facts<'a> {
    /// `uname -r`.
    pub release: &'a str,
    /// Whether a command can be found in the path that workloads get.
    pub has_command: &'a dyn Fn(&str) -> bool,
    /// For a recorded run, that what is lacking may have been there; `None` for this machine.
    pub untold: Option<&'a str>,
    /// The size of a CPU's ring where a scenario says nothing of it, in bytes.
    pub default_ring: u64,
    /// Returns what the machine lacks of a feature, in words; `None` for nothing.
    pub lacks: &'a dyn Fn(Feature) -> Option<String>,
    /// How far the right to trace goes.
    pub reach: Reach,
    /// The size of a page in bytes.
    pub page_size: usize,
    /// `kernel.io_uring_disabled`, 2 if no process may use io_uring; `None` if the kernel has no
    /// such switch (before Linux 6.6).
    pub io_uring_disabled: Option<i64>,
    /// Whether every call is recorded, however few a scenario asks for.
    pub every_call: bool,
    /// Whether the files are followed, too, that calls reach by paths and descriptors.
    pub every_path: bool,
    /// What reads the memory of workloads.
    pub reader: MemoryReader,
    /// Why it is not BPF, if it is not.
    pub without_bpf: Option<&'a str>,
    /// Looks a user up in the table of users.
    pub user: &'a dyn Fn(&UserSpec) -> Option<User>,
    /// Whether the harness runs as root, and so may run a workload as any user.
    pub is_root: bool,
    /// The forms of the kernel's calls.
    pub signatures: &'a Signatures<'a>,
    /// The first limit that cannot be set, and why.
    pub cannot_limit: &'a dyn Fn(&Limits) -> Option<(Limit, String)>,
    /// Returns why it cannot be told whether a run reaches a limit; `None` if it can.
    pub cannot_tell: &'a dyn Fn(Limit) -> Option<String>,
    /// Returns what can be counted without records.
    pub counting: Counting<'a>,
}

impl std::fmt::Debug for Facts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Facts")
            .field("release", &self.release)
            .finish_non_exhaustive()
    }
}
