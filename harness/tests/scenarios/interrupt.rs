//! A request to end (Ctrl-C, or nextest's time-out) as a descriptor, so that trials end their
//! workloads and remove their directories before the process does.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use perf_live::sandbox::Running;
use trace_harness::run::{Control, Next};

/// The signals, blocked in the thread that made this value and in all that it makes afterwards.
pub(crate) struct Interrupt(SignalFd);

impl Interrupt {
    /// Blocks the signals and opens the descriptor. To be called before any thread is made.
    pub(crate) fn watch() -> nix::Result<Self> {
        let signals = [
            Signal::SIGINT,
            Signal::SIGTERM,
            Signal::SIGHUP,
            Signal::SIGQUIT,
        ];
        let set: SigSet = signals.into_iter().collect();
        set.thread_block()?;
        SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC).map(Self)
    }
}

/// Ends a run; the signal stays where it is, so that every run sees it.
impl Control for &Interrupt {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.0.as_fd())
    }

    fn ready(&mut self, _: &mut Running) -> io::Result<Next> {
        Ok(Next::Kill)
    }
}
