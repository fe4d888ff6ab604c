//! Threads of the harness itself.

use nix::sys::signal::{SigSet, SigmaskHow};
use std::io;
use std::thread::{Builder, JoinHandle};

/// Starts a thread that takes no signal: one that is sent to the process finds the threads that its
/// program has chosen for it.
///
/// # Errors
/// Those of `pthread_create(3)`.
pub fn start<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    // The new thread inherits the mask, so that it has it from its first instruction on.
    let before = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
    let started = Builder::new().name(name.to_owned()).spawn(work);
    before.thread_set_mask()?;
    started
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::signal::Signal;

    #[test]
    fn a_thread_takes_no_signal_and_its_maker_takes_what_it_took() {
        let mask = || SigSet::thread_get_mask().expect("a mask");
        let before = mask();
        let of_thread = start("deaf", mask).expect("a thread");
        let of_thread = of_thread.join().expect("its end");
        assert!(of_thread.contains(Signal::SIGINT) && of_thread.contains(Signal::SIGTERM));
        assert_eq!(mask(), before);
    }
}
