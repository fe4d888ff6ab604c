//! What a BPF program wakes a reader by: an event that it outputs a record to, whose ring is its
//! own and is overwritten, so that no record of it is ever lost or takes room from others.

use crate::sys::perf;
use crate::sys::ring::Overwritable;
use perf_records::attr::Attr;
use perf_records::units::Cpu;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Readable each time that a program of its CPU has written a record to it.
#[derive(Debug)]
pub(crate) struct Bell {
    event: OwnedFd,
    /// Without a ring `poll(2)` says that the event has hung up.
    _ring: Overwritable,
}

impl Bell {
    /// `attr` is that of an event that programs write to.
    ///
    /// # Errors
    /// Those of `perf_event_open(2)` and of mapping two pages of it.
    pub(crate) fn new(attr: Attr, cpu: Cpu) -> io::Result<Self> {
        let attr = Attr {
            read_format: Default::default(),
            write_backward: true,
            ..attr
        };
        let mut raw = attr.raw();
        raw.__bindgen_anon_2.wakeup_events = 1;
        let event = perf::open(&raw, perf::Target::Everybody, Some(cpu))?;
        let ring = Overwritable::map(event.as_fd(), 1)?;
        Ok(Self { event, _ring: ring })
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}
