//! The limits that a workload starts with, and the one that the harness raises for itself.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// A limit of a process, as `setrlimit(2)` takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceLimit {
    /// What is limited.
    pub resource: Resource,
    /// The limit that counts, which the process may raise up to the hard one.
    pub soft: u64,
    /// The hard limit.
    pub hard: u64,
}

/// Raises the soft limit of open files to the hard one, and returns both as they were; `None` where
/// that is refused. Makes nothing but system calls.
#[must_use]
pub fn raise_open_files() -> Option<(u64, u64)> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).ok()?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).ok()?;
    Some((soft, hard))
}
