//! The limits that a workload starts with.

/// A limit of a process, as `setrlimit(2)` takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceLimit {
    /// What is limited.
    pub resource: nix::sys::resource::Resource,
    /// The limit that counts, which the process may raise up to the hard one.
    pub soft: u64,
    /// The hard limit.
    pub hard: u64,
}
