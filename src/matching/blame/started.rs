//! Which test a process was started for, by its arguments.

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

/// The only tests that these arguments choose: `--exact NAME` of Rust's tests and of nextest, or
/// `-test.run=^NAME$` of Go's. A word `--` stands for a program that hands the rest on. Where a
/// word was not read it may be another name.
pub(super) fn of_arguments<'a>(
    words: impl Iterator<Item = &'a [u8]>,
    is_cut: bool,
) -> Option<Started> {
    let words: Vec<&[u8]> = words.skip(1).collect();
    if words.contains(&b"--".as_slice()) {
        return None;
    }
    let text = |name: &[u8]| Arc::from(String::from_utf8_lossy(name).as_ref());
    let go = words.iter().find_map(|word| {
        let name = word.strip_prefix(b"-test.run=^")?.strip_suffix(b"$")?;
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 128;
        name.iter().all(is_plain).then_some(name)
    });
    if let Some(name) = go {
        // Benchmarks and fuzzing have choices of their own.
        let is_more = |word: &&[u8]| {
            let mut others = [b"-test.bench=".as_slice(), b"-test.fuzz="].into_iter();
            others.any(|other| word.len() > other.len() && word.starts_with(other))
        };
        let is_known = !is_cut && !words.iter().any(is_more);
        return Some(Started(is_known.then(|| text(name)).into_iter().collect()));
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
