//! Reads from a recorder's command line what it left out: the attributes do not say.

/// Options with a value in the next word that neither leave out what the program did nor take in
/// what others did. Any option not listed may do so: `--filter`, `--cpu`, `--pid`, `--all-cpus`,
/// `--delay` and more.
const WITH_VALUE: &[&str] = &[
    "backlog",
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

/// Such options without a value in the next word.
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
    "no-bpf-event",
    "no-inherit",
    "no-overwrite",
    "no-samples",
    "period",
    "phys-data",
    "quiet",
    "raw-samples",
    "running-time",
    "sample-cpu",
    "stat",
    "strict-freq",
    "switch-events",
    "timestamp",
    "transaction",
    "user-regs",
    "verbose",
    "weight",
];

/// Such options of one letter, with a value and without.
const VALUE_LETTERS: &str = "cejkFmor";
const PLAIN_LETTERS: &str = "bBdgiInNPqRsTvWz";

/// What a recorder's command line says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Told<'a> {
    /// The first option of `perf record` or `harness record` that leaves something out or is not
    /// known here.
    pub(super) selecting: Option<&'a str>,
    /// The lists of events, up to such an option.
    pub(super) events: Vec<&'a str>,
    /// The program and its arguments; empty if the recorder ran none, or if they cannot be found.
    pub(super) ran: &'a [String],
}

/// Reads a recorder's command line, up to the recorded program.
pub(super) fn told(words: &[String]) -> Told<'_> {
    let is_record = |word: &String| word == "record";
    let mut rest = match words.iter().position(is_record) {
        Some(at) => words.get(at.saturating_add(1)..).unwrap_or_default(),
        None => &[],
    };
    let mut events = Vec::new();
    while let Some((word, behind)) = rest.split_first() {
        let Some(option) = word.strip_prefix('-').filter(|option| !option.is_empty()) else {
            break;
        };
        let (is_selecting, has_value) = match option.strip_prefix('-') {
            Some("") => {
                rest = behind;
                break;
            }
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
            // Whether the next word is this option's value is not known.
            let mark = behind.iter().position(|word| word == "--");
            let ran = mark.and_then(|mark| behind.get(mark.saturating_add(1)..));
            return Told {
                selecting: Some(word),
                events,
                ran: ran.unwrap_or_default(),
            };
        }
        if has_value && is_of_events(option) {
            events.extend(behind.first().map(String::as_str));
        } else {
            events.extend(own_events(option));
        }
        rest = behind.get(usize::from(has_value)..).unwrap_or_default();
    }
    Told {
        selecting: None,
        events,
        ran: rest,
    }
}

/// Whether the value in the word behind this option is a list of events.
fn is_of_events(option: &str) -> bool {
    option == "-event" || (!option.starts_with('-') && option.ends_with('e'))
}

/// Returns the list of events that the word of an option has in itself (`--event=x`, `-qex`).
fn own_events(option: &str) -> Option<&str> {
    if let Some(long) = option.strip_prefix('-') {
        return long.strip_prefix("event=");
    }
    let of_value = |letter: char| VALUE_LETTERS.contains(letter) || letter == 'z';
    let at = option.find(of_value)?;
    option.get(at..)?.strip_prefix('e')
}

/// Returns the words of a list of events; commas within terms (`x/a=1,b/`) are no end of one.
pub(super) fn words(list: &str) -> Vec<&str> {
    let (mut words, mut start, mut is_in_terms) = (Vec::new(), 0, false);
    for (at, letter) in list.char_indices() {
        match letter {
            // A regular expression begins with one.
            '/' if at > start => is_in_terms = !is_in_terms,
            ',' if !is_in_terms => {
                words.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    words.push(&list[start..]);
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the name of a word without the terms behind it.
pub(super) fn without_terms(word: &str) -> &str {
    match word.strip_suffix('/').and_then(|rest| rest.split_once('/')) {
        Some((name, _)) if !name.is_empty() => name,
        _ => word,
    }
}

/// Whether the terms of a word stop its event after a number of records.
pub(super) fn is_limited(word: &str) -> bool {
    let mut parts = word.split(['/', ',']).skip(1);
    parts.any(|term| term.trim().starts_with("nr="))
}

/// Whether two command lines run the same program with the same arguments; its folder may differ.
pub(super) fn is_same(one: &[String], other: &[&str]) -> bool {
    let name = |path: &str| path.rsplit('/').next().map(str::to_owned);
    match (one.split_first(), other.split_first()) {
        (Some((one, ones)), Some((other, others))) => name(one) == name(other) && ones == others,
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// Returns whether any letter of a word selects or is unknown, and whether the next word is the
/// value of the last letter.
fn letters(option: &str) -> (bool, bool) {
    for (at, letter) in option.char_indices() {
        if VALUE_LETTERS.contains(letter) {
            return (false, option.len() == at + letter.len_utf8());
        }
        // The level of compression follows in the same word.
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

    fn words_of(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn what_selects_is_named_and_what_the_program_was_given_is_not_looked_at() {
        for (line, program) in [
            (
                "/usr/bin/perf record -q -e raw_syscalls:sys_enter -o x.data -- mkdir -p a",
                "mkdir -p a",
            ),
            ("perf record -g -eraw_syscalls:* mkdir -p a", "mkdir -p a"),
            (
                "perf record -m 1 --event=sched:* --output p sh -c --filter",
                "sh -c --filter",
            ),
            ("perf record -z1 -F 99 ls -C", "ls -C"),
            ("harness record -e sched:* -gm 4M -o - -z=3 ls -a", "ls -a"),
            ("perf record -q -- record -- -a", "record -- -a"),
            ("harness record --backlog 1G --no-overwrite ls -a", "ls -a"),
            ("perf record --strict-freq --no-bpf-event ls -a", "ls -a"),
            ("perf record --running-time ls -a", "ls -a"),
        ] {
            let words = words_of(line);
            let told = told(&words);
            assert_eq!(
                (told.selecting, told.ran.join(" ")),
                (None, program.to_owned())
            );
        }
        for (line, option, program) in [
            ("perf record -e a:b --filter x==1 ls", "--filter", ""),
            ("perf record -e a:b --filter=x ls", "--filter=x", ""),
            ("perf record -C0 ls", "-C0", ""),
            ("perf record -ga -e a:b ls", "-ga", ""),
            ("perf record -q -p 77", "-p", ""),
            ("perf record --all-user -- ls -a", "--all-user", "ls -a"),
            ("perf record --of-the-future ls", "--of-the-future", ""),
            ("harness record -e a:b --filter x ls", "--filter", ""),
        ] {
            let words = words_of(line);
            let told = told(&words);
            assert_eq!(
                (told.selecting, told.ran.join(" ")),
                (Some(option), program.to_owned())
            );
        }
        for without in ["perf record", "perf record -q --", "harness trace ls", ""] {
            assert_eq!(told(&words_of(without)), Told::default(), "{without}");
        }
    }

    #[test]
    fn the_lists_of_events_are_found_in_every_form_of_the_option() {
        for (line, lists) in [
            (
                "harness record -e write,close -o x -- ls -e y",
                "write,close",
            ),
            ("harness record -qe write --event close ls", "write close"),
            (
                "harness record -gewrite --event=close -o e ls",
                "write close",
            ),
            ("perf record -m 1 -o e -F 9 ls", ""),
            ("perf record -omine -e a:b ls", "a:b"),
        ] {
            assert_eq!(told(&words_of(line)).events.join(" "), lists, "{line}");
        }
        assert_eq!(words("a/x=1,y/,b,{c,d}"), ["a/x=1,y/", "b", "{c", "d}"]);
        assert_eq!(words("/^open,%file,"), ["/^open", "%file"]);
        assert_eq!(without_terms("write/nr=1/"), "write");
        assert_eq!(without_terms("/^open"), "/^open");
        assert!(is_limited("write/call-graph=no,nr=1/") && !is_limited("write/freq=1/"));
    }

    #[test]
    fn one_program_by_another_path_is_the_same_and_what_it_is_given_counts() {
        let is =
            |one: &str, other: &str| is_same(&words_of(one), &other.split(' ').collect::<Vec<_>>());
        assert!(is("/bin/sh -c x", "sh -c x") && is("./a b", "../c/a b"));
        assert!(!is("sh -c x", "bash -c x") && !is("sh -c x", "sh -c y"));
        assert!(!is("mkdir a", "mkdir") && !is("mkdir", "mkdir a") && !is("mkdir a/b", "mkdir b"));
    }
}
