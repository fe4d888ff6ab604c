//! Which test a process was started for, by its arguments.

use super::drivers::of_driver;
use crate::trace::{Deed, Value};
use std::sync::Arc;

/// The tests that a process was started for: one of these, or, without any, it is not known which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Started(Vec<Arc<str>>);

impl Started {
    pub(super) fn names(&self) -> &[Arc<str>] {
        &self.0
    }
}

/// The tests that a program was executed for; `None` if it was for none.
pub(super) fn started(deed: &Deed) -> Option<Started> {
    let returns = deed.returns.as_ref().map(|part| &part.value);
    if matches!(returns, Some(Value::Error(_))) {
        return None;
    }
    match &deed.part("argv")?.value {
        Value::Strings { strings, is_cut } => {
            of_arguments(strings.iter().map(Vec::as_slice), *is_cut)
        }
        Value::Unread => Some(Started(Vec::new())),
        _ => None,
    }
}

/// The words of a program that was executed: `None` if it was not, or is the command itself, and
/// none where a part of them was not read.
pub(super) fn argv(deed: &Deed) -> Option<Vec<Vec<u8>>> {
    let returns = deed.returns.as_ref().map(|part| &part.value);
    if matches!(returns, Some(Value::Error(_))) {
        return None;
    }
    Some(match &deed.part("argv")?.value {
        Value::Strings { strings, is_cut } if !is_cut => strings.clone(),
        _ => Vec::new(),
    })
}

/// Programs of coreutils and util-linux that execute what their last words say, and do nothing else
/// that a rule is about.
const HANDING_ON: [&str; 17] = [
    "chrt", "env", "i386", "ionice", "linux32", "linux64", "nice", "nohup", "prlimit", "setarch",
    "setsid", "stdbuf", "taskset", "time", "timeout", "uname26", "x86_64",
];

/// Whether a program is one of those, by its path, or by the name that it is looked for by. One
/// that lies with the tests may be a test of that name.
pub(super) fn hands_on(program: &[u8]) -> bool {
    let folders = ["/usr/bin/", "/bin/", ""].into_iter();
    let mut names = folders.filter_map(|folder| program.strip_prefix(folder.as_bytes()));
    let name = names.next().unwrap_or_default();
    HANDING_ON.iter().any(|it| it.as_bytes() == name)
}

/// The path of a program that was executed, from the root.
pub(super) fn program(deed: &Deed) -> Option<Vec<u8>> {
    match &deed.part("path")?.value {
        Value::Path { absolute, .. } => absolute.clone(),
        _ => None,
    }
}

/// Options of Rust's tests whose value is the next word.
const WITH_VALUE: [&[u8]; 8] = [
    b"--test-threads",
    b"--skip",
    b"--format",
    b"--color",
    b"--colour",
    b"--logfile",
    b"--shuffle-seed",
    b"-Z",
];

/// The only tests that these arguments choose: `--exact NAME` of Rust's tests and of nextest,
/// `-test.run=^NAME$` of Go's, or those of a program that runs one test of a runner. A word `--`
/// stands for a program that hands the rest on. Where a word was not read it may be another name.
pub(super) fn of_arguments<'a>(
    words: impl Iterator<Item = &'a [u8]>,
    is_cut: bool,
) -> Option<Started> {
    let mut words: Vec<&[u8]> = words.collect();
    if let Some(name) = of_driver(&words, is_cut) {
        return Some(Started(name.iter().map(|name| text(name)).collect()));
    }
    words.drain(..1.min(words.len()));
    let go = of_go(&words);
    if go.is_one && (is_cut || go.is_more && go.run.is_some()) {
        return Some(Started(Vec::new()));
    }
    match go.run {
        Some(Run::Pattern(pattern)) => return Some(Started(vec![text(only_name(pattern)?)])),
        Some(Run::Unknown) => return Some(Started(Vec::new())),
        None => {}
    }
    if words.contains(&b"--".as_slice()) {
        return None;
    }
    if !words.contains(&b"--exact".as_slice()) || words.contains(&b"--list".as_slice()) {
        return None;
    }
    let mut names = Vec::new();
    let mut rest = words.into_iter();
    while let Some(word) = rest.next() {
        if WITH_VALUE.contains(&word) {
            rest.next();
        } else if !word.starts_with(b"-") {
            names.push(text(word));
        }
    }
    match (is_cut, names.is_empty()) {
        (true, _) => Some(Started(Vec::new())),
        (false, true) => None,
        (false, false) => Some(Started(names)),
    }
}

fn text(name: &[u8]) -> Arc<str> {
    Arc::from(String::from_utf8_lossy(name).as_ref())
}

/// What a test program of Go's was asked for.
#[derive(Debug, Default)]
struct Go<'a> {
    /// Whether it has an option of such a program.
    is_one: bool,
    run: Option<Run<'a>>,
    /// Whether benchmarks or fuzzing are chosen, which `-test.run` does not choose.
    is_more: bool,
}

/// The value of `-test.run`.
#[derive(Debug)]
enum Run<'a> {
    Pattern(&'a [u8]),
    /// It may be the value of another option, whose meaning only the program knows.
    Unknown,
}

/// Options of Go's test programs that have a value only behind `=`.
const WITHOUT_VALUE: [&[u8]; 8] = [
    b"artifacts",
    b"benchmem",
    b"failfast",
    b"fullpath",
    b"fuzzworker",
    b"paniconexit0",
    b"short",
    b"v",
];

/// Reads options as Go's package `flag` does: the last one counts, and none behind `--` or the
/// first word that is no option.
fn of_go<'a>(words: &[&'a [u8]]) -> Go<'a> {
    let mut go = Go::default();
    let mut is_certain = true;
    let mut rest = words.iter().copied();
    while let Some(word) = rest.next() {
        let name = word.strip_prefix(b"-").unwrap_or_default();
        let name = name.strip_prefix(b"-").unwrap_or(name);
        if name.is_empty() && is_certain {
            break;
        }
        let end = name.iter().position(|byte| *byte == b'=');
        let own = name[..end.unwrap_or(name.len())].strip_prefix(b"test.");
        let value = match (end, own) {
            (Some(end), _) => Some(&name[end + 1..]),
            (None, Some(own)) if WITHOUT_VALUE.contains(&own) => None,
            (None, Some(_)) => rest.next(),
            (None, None) => {
                is_certain = false;
                None
            }
        };
        go.is_one |= own.is_some();
        match own {
            Some(b"run") => go.run = value.map(Run::Pattern),
            Some(b"bench" | b"fuzz") => go.is_more = value.is_some_and(|it| !it.is_empty()),
            _ => continue,
        }
        if !is_certain && own == Some(b"run") {
            go.run = Some(Run::Unknown);
        }
    }
    go
}

/// The one name that a pattern of Go's stands for, if it is of this form.
fn only_name(pattern: &[u8]) -> Option<&[u8]> {
    let name = pattern.strip_prefix(b"^")?.strip_suffix(b"$")?;
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 128;
    name.iter().all(is_plain).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(words: &[&str], is_cut: bool) -> Option<Vec<String>> {
        let started = of_arguments(words.iter().map(|word| word.as_bytes()), is_cut)?;
        Some(started.names().iter().map(|it| it.to_string()).collect())
    }

    fn name(words: &[&str]) -> Option<String> {
        names(words, false).map(|names| names.join(" or "))
    }

    #[test]
    fn a_process_that_was_started_for_one_test_is_that_test() {
        for words in [
            &["t-1a2b", "--exact", "net::connects", "--nocapture"][..],
            &["t-1a2b", "net::connects", "--exact"],
            &["t-1a2b", "--exact", "net::connects", "--ignored"],
            &["t-1a2b", "--test-threads", "1", "--exact", "net::connects"],
        ] {
            assert_eq!(name(words).as_deref(), Some("net::connects"));
        }
        let go = name(&["x.test", "-test.timeout=10m0s", "-test.run=^TestNet$"]);
        assert_eq!(go.as_deref(), Some("TestNet"));
    }

    #[test]
    fn a_process_of_several_tests_or_of_none_is_no_test() {
        for words in [
            &["t-1a2b", "net::connects"][..],
            &["t-1a2b", "--exact", "--list"],
            &["t-1a2b", "--exact"],
            &["cargo", "test", "--", "--exact", "one"],
            &["x.test", "-test.run=^Test.*$"],
            &["x.test", "-test.run=TestNet"],
            &["--exact", "one"],
            &[],
        ] {
            assert_eq!(name(words), None, "{words:?}");
        }
    }

    #[test]
    fn of_a_go_programs_choices_the_last_counts_and_none_behind_its_options() {
        let known = [
            (&["-test.run=.", "-test.run=^One$"][..], "One"),
            (&["--test.run", "^One$", "-test.v"], "One"),
            (
                &[
                    "-test.v",
                    "-update=yes",
                    "-test.run=^One$",
                    "--",
                    "-test.run=.",
                ],
                "One",
            ),
            (&["-test.run=^One$", "word", "-test.run=^Two$"], "One"),
        ];
        for (words, expected) in known {
            let words = [&["x.test"], words].concat();
            assert_eq!(name(&words).as_deref(), Some(expected), "{words:?}");
        }
        for words in [
            &["x.test", "-test.run=^One$", "-test.run=."][..],
            &["x.test", "word", "-test.run=^One$"],
            &["x.test", "-test.v", "-test.outputdir", "-test.run=^One$"],
            &["x.test", "--", "-test.run=^One$"],
        ] {
            assert_eq!(name(words), None, "{words:?}");
        }
        // Only the program knows whether its own option has a value.
        for words in [
            &["x.test", "-own", "-test.run=^One$"][..],
            &["x.test", "-own", "word", "-test.run=^One$"],
            &["x.test", "-own", "--", "-test.run=^One$"],
        ] {
            assert_eq!(names(words, false), Some(Vec::new()), "{words:?}");
        }
    }

    #[test]
    fn a_process_of_tests_that_are_chosen_exactly_is_one_of_these() {
        let found = name(&["t-1a2b", "one", "--exact", "two", "--skip", "three"]);
        assert_eq!(found.as_deref(), Some("one or two"));
    }

    #[test]
    fn a_choice_of_which_a_part_was_not_read_is_not_known() {
        let none: Option<Vec<String>> = Some(Vec::new());
        assert_eq!(names(&["t-1a2b", "--exact", "one"], true), none);
        assert_eq!(names(&["x.test", "-test.run=^TestNet$"], true), none);
        let benched = ["x.test", "-test.run=^TestNet$", "-test.bench=."];
        assert_eq!(names(&benched, false), none);
        assert_eq!(names(&["cc", "-o", "it"], true), None);
    }
}
