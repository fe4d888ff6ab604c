//! Steps in the words of the file.

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

/// A test of a field; permissions in octal, as everybody writes them.
pub(super) fn of_test(word: &str, test: &Test) -> String {
    match word {
        "mode" | "mask" => in_octal(test).to_string(),
        _ => test.to_string(),
    }
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
