//! The names of signals.

use std::borrow::Cow;

/// The name of a signal, `SIGKILL` or `SIGRT_2`, as strace writes it: those for real time by their
/// place behind the kernel's `SIGRTMIN`, of which the C library keeps the first two for itself.
/// `None` for a number that is no signal's.
#[must_use]
pub fn known_signal(number: i32) -> Option<Cow<'static, str>> {
    match nix::sys::signal::Signal::try_from(number) {
        Ok(signal) => Some(signal.as_str().into()),
        Err(_) if number == 32 => Some("SIGRTMIN".into()),
        Err(_) if (33..=64).contains(&number) => {
            Some(format!("SIGRT_{}", number.saturating_sub(32)).into())
        }
        Err(_) => None,
    }
}

/// The same, `signal 99` for what is none.
#[must_use]
pub fn signal_name(number: i32) -> String {
    known_signal(number).map_or_else(|| format!("signal {number}"), Cow::into_owned)
}
