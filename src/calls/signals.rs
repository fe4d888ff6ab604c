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

/// The number of a signal by its name, with or without `SIG`.
#[must_use]
pub fn signal_number(name: &str) -> Option<i32> {
    let is_it = |known: &str| known == name || known.strip_prefix("SIG") == Some(name);
    (1..=64).find(|number| known_signal(*number).is_some_and(|known| is_it(&known)))
}

/// A set of signals, a bit each from 1 on, as a trace has it: `[INT TERM]`, or all but some,
/// `~[KILL]`.
#[must_use]
pub fn shown_set(set: u64) -> String {
    // Two thirds of 64, as strace has it.
    let (sign, shown) = match set.count_ones() >= 42 {
        true => ("~", !set),
        false => ("", set),
    };
    let numbers = (1..=64).filter(|number| shown >> (number - 1) & 1 == 1);
    let names = numbers.filter_map(known_signal);
    let names = names.map(|name| name.strip_prefix("SIG").unwrap_or(&name).to_owned());
    format!("{sign}[{}]", names.collect::<Vec<_>>().join(" "))
}

/// The same, `signal 99` for what is none.
#[must_use]
pub fn signal_name(number: i32) -> String {
    known_signal(number).map_or_else(|| format!("signal {number}"), Cow::into_owned)
}
