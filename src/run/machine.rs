//! The machine that this process runs on.

use super::Bench;
use perf_live::host::{Host, HostError};
use std::sync::OnceLock;

impl Bench<'static> {
    /// Looks at this machine, for the length of the process.
    ///
    /// # Errors
    /// [`HostError`].
    pub fn of_this_machine() -> Result<Self, HostError> {
        static HOST: OnceLock<Host> = OnceLock::new();
        Bench::new(HOST.get_or_init(Host::running))
    }
}
