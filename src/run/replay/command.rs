//! What a recorder's command line says of what it left out: its attributes do not.

/// Options that leave out nothing that a program did and take in nothing that others did, and the next word is their value. Whatever is not
/// known to be such may be one that does: `--filter`, `--cpu`, `--pid`, `--all-cpus`, `--delay` and more.
const WITH_VALUE: &[&str] = &[
    "branch-filter",
    "call-graph",
    "clockid",
    "count",
    "event",
    "freq",
    "mmap-pages",
    "output",
    "realtime",
];

/// The same, all in one word.
const PLAIN: &[&str] = &[
    "all-cgroups",
    "branch-any",
    "buildid-all",
    "code-page-size",
    "compression-level",
    "data",
    "data-page-size",
    "event-buffering",
    "group",
    "intr-regs",
    "kcore",
    "namespaces",
    "no-buffering",
    "no-buildid",
    "no-buildid-cache",
    "no-inherit",
    "no-samples",
    "period",
    "phys-data",
    "quiet",
    "raw-samples",
    "sample-cpu",
    "stat",
    "switch-events",
    "timestamp",
    "transaction",
    "user-regs",
    "verbose",
    "weight",
];

/// The same in one letter, with a value and without.
const VALUE_LETTERS: &str = "cejFmor";
const PLAIN_LETTERS: &str = "bBdgiInNPqRsTvWz";

/// Why a run cannot be judged that was recorded by this command, if it cannot: the option of `perf record` or `harness record` by which
/// something was left out, or which nobody here knows. What the recorded program was given is not looked at.
pub(super) fn selects(words: &[String]) -> Option<String> {
    let mut words = words.iter().map(String::as_str);
    words.find(|word| *word == "record")?;
    while let Some(word) = words.next() {
        let option = word.strip_prefix('-').filter(|option| !option.is_empty())?;
        let (is_selecting, has_value) = match option.strip_prefix('-') {
            Some("") => return None,
            Some(long) => {
                let (name, is_whole) = match long.split_once('=') {
                    Some((name, _)) => (name, true),
                    None => (long, false),
                };
                let has_value = WITH_VALUE.contains(&name);
                let is_known = has_value || PLAIN.contains(&name);
                (!is_known, has_value && !is_whole)
            }
            None => letters(option),
        };
        if is_selecting {
            return Some(word.to_owned());
        }
        if has_value {
            words.next();
        }
    }
    None
}

/// Whether any of the letters of a word selects or is unknown, and whether the next word is the value of the last.
fn letters(option: &str) -> (bool, bool) {
    for (at, letter) in option.char_indices() {
        if VALUE_LETTERS.contains(letter) {
            return (false, option.len() == at + letter.len_utf8());
        }
        // A level of compression stands behind its letter.
        if letter == 'z' {
            return (false, false);
        }
        if !PLAIN_LETTERS.contains(letter) {
            return (true, false);
        }
    }
    (false, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(line: &str) -> Option<String> {
        selects(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn what_selects_is_named_and_what_the_program_was_given_is_not_looked_at() {
        for plain in [
            "/usr/bin/perf record -q -e raw_syscalls:sys_enter -o x.data -- mkdir -p a",
            "perf record -g -eraw_syscalls:* mkdir -p a",
            "perf record -m 1 --event=sched:* --output p sh -c --filter",
            "perf record -z1 -F 99 ls -C",
            "harness record -e sched:* -gm 4M -o - -z=3 ls -a",
        ] {
            assert_eq!(by(plain), None, "{plain}");
        }
        for (line, option) in [
            ("perf record -e a:b --filter x==1 ls", "--filter"),
            ("perf record -e a:b --filter=x ls", "--filter=x"),
            ("perf record -C0 ls", "-C0"),
            ("perf record -ga -e a:b ls", "-ga"),
            ("perf record -q -p 77", "-p"),
            ("perf record --all-user ls", "--all-user"),
            ("perf record --of-the-future ls", "--of-the-future"),
            ("harness record -e a:b --filter x ls", "--filter"),
        ] {
            assert_eq!(by(line).as_deref(), Some(option), "{line}");
        }
    }
}
