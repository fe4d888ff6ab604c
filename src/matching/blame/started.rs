//! Which test a process was started for, by its arguments.

use crate::trace::{Deed, Value};
use std::sync::Arc;

/// The test that a program was executed for: `Some(None)` if that is not known.
pub(super) fn started(deed: &Deed) -> Option<Option<Arc<str>>> {
    if matches!(
        deed.returns.as_ref().map(|part| &part.value),
        Some(Value::Error(_))
    ) {
        return None;
    }
    let part = deed.part("argv")?;
    match &part.value {
        Value::Strings { strings, .. } => of_arguments(strings.iter().map(Vec::as_slice)).map(Some),
        Value::Unread => Some(None),
        _ => None,
    }
}

/// The only test that these arguments choose: `--exact NAME` of Rust's tests and of nextest, or
/// `-test.run=^NAME$` of Go's. A word `--` stands for a program that hands the rest on.
pub(super) fn of_arguments<'a>(words: impl Iterator<Item = &'a [u8]>) -> Option<Arc<str>> {
    let mut words: Vec<&[u8]> = words.skip(1).collect();
    if words.contains(&b"--".as_slice()) {
        return None;
    }
    let text = |name: &[u8]| Some(Arc::from(String::from_utf8_lossy(name).as_ref()));
    let go = words.iter().find_map(|word| {
        let name = word.strip_prefix(b"-test.run=^")?.strip_suffix(b"$")?;
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 128;
        name.iter().all(is_plain).then_some(name)
    });
    if let Some(name) = go {
        return text(name);
    }
    let before = words.len();
    words.retain(|word| *word != b"--exact");
    if words.len() == before || words.contains(&b"--list".as_slice()) {
        return None;
    }
    let mut names = words.into_iter().filter(|word| !word.starts_with(b"-"));
    let name = names.next()?;
    match names.next() {
        Some(_) => None,
        None => text(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(words: &[&str]) -> Option<String> {
        of_arguments(words.iter().map(|word| word.as_bytes())).map(|name| name.to_string())
    }

    #[test]
    fn a_process_that_was_started_for_one_test_is_that_test() {
        for words in [
            &["t-1a2b", "--exact", "net::connects", "--nocapture"][..],
            &["t-1a2b", "net::connects", "--exact"],
            &["t-1a2b", "--exact", "net::connects", "--ignored"],
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
            &["t-1a2b", "--exact", "one", "two"],
            &["cargo", "test", "--", "--exact", "one"],
            &["x.test", "-test.run=^Test.*$"],
            &["x.test", "-test.run=TestNet"],
            &["--exact", "one"],
            &[],
        ] {
            assert_eq!(name(words), None, "{words:?}");
        }
    }
}
