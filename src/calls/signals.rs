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

/// The names of all signals, in the order of their numbers.
pub fn signals() -> impl Iterator<Item = Cow<'static, str>> {
    (1..=64).filter_map(known_signal)
}

/// The number of a signal by what a command line calls it: its name in letters of any case, with or
/// without `SIG`, or its number.
#[must_use]
pub fn signal_by(word: &str) -> Option<i32> {
    let number = word.parse().ok();
    let number = number.filter(|number| (1..=64).contains(number));
    number.or_else(|| signal_number(&word.to_ascii_uppercase()))
}

/// What the signal is called here that C and `kill(1)` count from the first or last one that the C
/// library leaves to programs: `SIGRT_5` for `SIGRTMIN+3`. `None` for any other word; `SIGRTMIN`
/// alone is the kernel's.
#[must_use]
pub fn counted_signal(word: &str) -> Option<Cow<'static, str>> {
    const FIRST: i32 = 34;
    const LAST: i32 = 64;
    let word = word.to_ascii_uppercase();
    let word = word.strip_prefix("SIG").unwrap_or(&word);
    let number = match (word.strip_prefix("RTMIN+"), word.strip_prefix("RTMAX")) {
        (Some(more), _) => FIRST.checked_add(i32::from(more.parse::<u8>().ok()?))?,
        (None, Some("")) => LAST,
        (None, Some(less)) => LAST - i32::from(less.strip_prefix('-')?.parse::<u8>().ok()?),
        (None, None) => return None,
    };
    let is_one = (FIRST..=LAST).contains(&number);
    is_one.then(|| known_signal(number)).flatten()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_names_signals_by_words_of_any_case_and_by_numbers() {
        for (word, number) in [
            ("SIGTERM", 15),
            ("term", 15),
            ("SIGRTMIN", 32),
            ("rtmin", 32),
            ("rt_5", 37),
            ("64", 64),
        ] {
            assert_eq!(signal_by(word), Some(number), "{word}");
        }
        for word in ["", "0", "65", "SIG", "SIGFOO", "SIGSIGTERM", "RTMIN+3"] {
            assert_eq!(signal_by(word), None, "{word}");
        }
    }

    #[test]
    fn what_c_counts_has_a_name_of_its_own() {
        let of = |word| counted_signal(word).map(Cow::into_owned);
        let name = |number| known_signal(number).map(Cow::into_owned);
        for (word, number) in [
            ("SIGRTMIN+3", libc::SIGRTMIN() + 3),
            ("rtmin+0", libc::SIGRTMIN()),
            ("SIGRTMAX", libc::SIGRTMAX()),
            ("RTMAX-2", libc::SIGRTMAX() - 2),
        ] {
            assert_eq!(of(word), name(number), "{word}");
        }
        for word in ["SIGRTMIN", "SIGRTMIN+31", "RTMAX-31", "RTMIN+", "SIGTERM+1"] {
            assert_eq!(of(word), None, "{word}");
        }
    }
}
