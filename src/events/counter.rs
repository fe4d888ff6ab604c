//! How often something happened, without a record of it.

use super::OpenError;
use crate::attr::{Attr, Maps, ReadFormat, SampleType, Sampling, Source};
use crate::sys::perf;
use crate::units::Pid;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// A tracepoint that is counted, for a task and all that it comes to create, from the `execve(2)` of each on.
#[derive(Debug)]
pub struct Counter(OwnedFd);

impl Counter {
    /// Opens it on a corked task, or on the calling thread to see whether that is allowed.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(
        name: &str,
        tracepoint: u16,
        filter: &str,
        task: Option<Pid>,
    ) -> Result<Self, OpenError> {
        let attr = Attr {
            source: Source::Tracepoint(tracepoint),
            sampling: Sampling::Never,
            sample_type: SampleType::default(),
            user_registers: 0,
            read_format: ReadFormat(0),
            inherit: true,
            enable_on_exec: true,
            exclude_kernel: false,
            side_band: false,
            maps: Maps::No,
            namespaces: false,
            wakeup_bytes: 0,
            write_backward: false,
            max_stack: 0,
        };
        let target = task.map_or(perf::Target::Myself, perf::Target::Task);
        let event = perf::open(&attr.raw(), target, None).map_err(|source| OpenError::Open {
            event: name.to_owned(),
            source,
        })?;
        let refused = |source| OpenError::Filter {
            event: name.to_owned(),
            filter: filter.to_owned(),
            source,
        };
        let text = CString::new(filter).map_err(|error| refused(error.into()))?;
        perf::set_filter(event.as_fd(), &text).map_err(refused)?;
        Ok(Self(event))
    }

    /// How often it happened so far.
    ///
    /// # Errors
    /// Those of `read(2)`.
    pub fn read(&self) -> io::Result<u64> {
        perf::read_counts(self.0.as_fd(), 0).map(|counts| counts.value)
    }
}
