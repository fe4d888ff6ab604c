//! The letters behind an event's name: `cycles:u` (`tools/perf/Documentation/perf-list.txt`, "EVENT
//! MODIFIERS").

use perf_records::attr::Modes;

/// What a processor can be that keeps no more precise address: `perf_event_attr.precise_ip` has two
/// bits.
const MOST_PRECISE: u8 = 3;

/// The others that perf knows, and why they are not taken.
const OTHERS: &[(char, &str)] = &[
    ('G', "guests of this machine are not told from it"),
    ('H', "guests of this machine are not told from it"),
    ('I', "what is idle is not left out"),
    (
        'P',
        "how precise a processor can be is not looked for: write p, pp or ppp",
    ),
    ('S', "samples carry no counters"),
    ('D', "no event holds its counter for itself"),
    ('e', "no event holds the processor's counters for itself"),
    ('W', "groups are opened whole or not at all"),
    ('b', "no BPF program counts"),
    ('R', "an event is counted on the source that it names"),
];

/// A letter that cannot stand there.
#[derive(Debug)]
pub struct WrongModifier {
    /// The character, from 0.
    pub at: usize,
    /// The letter.
    pub letter: char,
    /// Why it is not taken; `None` for a letter that perf does not know either.
    pub why: Option<&'static str>,
}

/// Reads letters, which add to what holds already: of a group, and of one of its members.
///
/// # Errors
/// [`WrongModifier`].
pub fn read(letters: &str, modes: &mut Modes) -> Result<(), WrongModifier> {
    let said =
        |modes: &Modes| modes.exclude_user || modes.exclude_kernel || modes.exclude_hypervisor;
    for (at, letter) in letters.chars().enumerate() {
        if matches!(letter, 'u' | 'k' | 'h') && !said(modes) {
            (
                modes.exclude_user,
                modes.exclude_kernel,
                modes.exclude_hypervisor,
            ) = (true, true, true);
        }
        match letter {
            'u' => modes.exclude_user = false,
            'k' => modes.exclude_kernel = false,
            'h' => modes.exclude_hypervisor = false,
            'p' if modes.precise < MOST_PRECISE => modes.precise += 1,
            letter => {
                let other = OTHERS.iter().find(|(known, _)| *known == letter);
                let why = other.map(|(_, why)| *why);
                let why = why.or((letter == 'p').then_some("the most precise is ppp"));
                return Err(WrongModifier { at, letter, why });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modes(letters: &[&str]) -> (bool, bool, bool, u8) {
        let mut modes = Modes::default();
        for letters in letters {
            read(letters, &mut modes).expect("letters");
        }
        (
            !modes.exclude_user,
            !modes.exclude_kernel,
            !modes.exclude_hypervisor,
            modes.precise,
        )
    }

    #[test]
    fn letters_name_what_is_counted_and_none_means_all() {
        assert_eq!(modes(&[""]), (true, true, true, 0));
        assert_eq!(modes(&["u"]), (true, false, false, 0));
        assert_eq!(modes(&["k"]), (false, true, false, 0));
        assert_eq!(modes(&["ukh"]), (true, true, true, 0));
        assert_eq!(modes(&["upp"]), (true, false, false, 2));
        assert_eq!(modes(&["k", "u"]), (true, true, false, 0));
    }

    #[test]
    fn letters_that_mean_nothing_here_are_refused() {
        let mut modes = Modes::default();
        for (letters, at, is_known) in [
            ("uG", 1, true),
            ("x", 0, false),
            ("pppp", 3, true),
            ("kS", 1, true),
        ] {
            let wrong = read(letters, &mut modes).expect_err(letters);
            assert_eq!((wrong.at, wrong.why.is_some()), (at, is_known), "{letters}");
            modes = Modes::default();
        }
    }
}
