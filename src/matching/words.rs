//! Writes steps in the words of the file.

use super::Matcher;
use crate::scenario::{Literal, Test};

/// `openat: { path: a, returns: $fd }`.
pub(super) fn of_matcher(matcher: &Matcher) -> String {
    if matcher.fields.is_empty() {
        return matcher.word.clone();
    }
    let fields = matcher.fields.iter();
    let fields: Vec<String> = fields
        .map(|(word, test)| format!("{word}: {}", of_test(word, test)))
        .collect();
    format!("{}: {{ {} }}", matcher.word, fields.join(", "))
}

/// Returns the text of a test of a field; permissions are octal.
pub(super) fn of_test(word: &str, test: &Test) -> String {
    match word {
        "mode" | "mask" => in_octal(test).to_string(),
        "duration" => in_time(test).to_string(),
        _ => test.to_string(),
    }
}

/// Writes a range of nanoseconds in time units.
fn in_time(test: &Test) -> Test {
    let end = |end: Option<i128>| {
        let nanos = end.and_then(|nanos| u64::try_from(nanos).ok());
        nanos.map(in_largest_unit).unwrap_or_default()
    };
    match test {
        Test::Range(from, Some(to)) => {
            let text = format!("{}..={}", end(*from), end(Some(*to)));
            Test::Is(Literal::Text(text))
        }
        Test::Range(from, None) => Test::Is(Literal::Text(format!("{}..", end(*from)))),
        Test::OneOf(tests) => Test::OneOf(tests.iter().map(in_time).collect()),
        Test::Not(test) => Test::Not(Box::new(in_time(test))),
        other => other.clone(),
    }
}

fn in_largest_unit(nanos: u64) -> String {
    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)];
    let unit = units
        .iter()
        .find(|(_, of)| nanos > 0 && nanos.is_multiple_of(*of));
    let (unit, of) = unit.copied().unwrap_or(("ns", 1));
    format!("{}{unit}", nanos / of)
}

fn in_octal(test: &Test) -> Test {
    match test {
        Test::Is(Literal::Number(number)) if *number >= 0 => {
            Test::Is(Literal::Text(format!("0{number:o}")))
        }
        Test::OneOf(tests) => Test::OneOf(tests.iter().map(in_octal).collect()),
        Test::Not(test) => Test::Not(Box::new(in_octal(test))),
        other => other.clone(),
    }
}
