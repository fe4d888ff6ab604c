//! Signals as a descriptor: they arrive where the run waits anyway, and no handler runs anywhere.

use nix::sys::signal::{SigSet, SigmaskHow, Signal, sigprocmask};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use trace_harness::run::{Control, Next};
use trace_harness::sandbox::Running;

const WATCHED: [Signal; 4] = [
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGQUIT,
];

/// Blocks the signals that ask a program to end, in this thread and all that it comes to create, and gives them as a descriptor. Workloads
/// start with an empty mask all the same.
pub(crate) fn watch() -> io::Result<SignalFd> {
    let mut set = SigSet::empty();
    WATCHED.into_iter().for_each(|signal| set.add(signal));
    sigprocmask(SigmaskHow::SIG_BLOCK, Some(&set), None)?;
    Ok(SignalFd::with_flags(
        &set,
        SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC,
    )?)
}

/// Ends every run as soon as one signal has arrived; it is never taken off, so that all of them see it.
pub(crate) struct EndAll<'a>(pub(crate) &'a SignalFd);

impl Control for EndAll<'_> {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.0.as_fd())
    }
    fn ready(&mut self, _: &mut Running) -> io::Result<Next> {
        Ok(Next::Kill)
    }
}

/// Passes signals on to the command, but for those of the terminal, which sends them to the command itself. Once the command has ended, any
/// of them ends the tracing of what it left behind. A command in a sandbox ends by the first of them, with all that it started.
pub(crate) struct PassOn(pub(crate) SignalFd);

impl Control for PassOn {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.0.as_fd())
    }
    fn ready(&mut self, running: &mut Running) -> io::Result<Next> {
        const SI_KERNEL: i32 = 0x80;
        while let Some(signal) = self.0.read_signal()? {
            // Nobody in a world of its own is reached by a signal from here or from the terminal, but by its end.
            if running.has_init() {
                return Ok(Next::Kill);
            }
            if running.exit().is_some() {
                return Ok(Next::Leave);
            }
            if signal.ssi_code != SI_KERNEL {
                running.signal(signal.ssi_signo as i32)?;
            }
        }
        Ok(Next::Follow)
    }
}
