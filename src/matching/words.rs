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
        .map(|(word, test)| format!("{word}: {}", of_test(test)))
        .collect();
    format!("{}: {{ {} }}", matcher.word, fields.join(", "))
}

/// A test as the author could have written it.
pub(super) fn of_test(test: &Test) -> String {
    match test {
        Test::Any => "any".to_owned(),
        Test::Capture(name) => format!("${name}"),
        Test::Is(literal) => of_literal(literal),
        Test::OneOf(tests) => {
            let tests: Vec<String> = tests.iter().map(of_test).collect();
            format!("[{}]", tests.join(", "))
        }
        Test::Prefix(text) => format!("{{ prefix: {} }}", quoted(text)),
        Test::Glob(text) => format!("{{ glob: {} }}", quoted(text)),
        Test::Regex(regex) => format!("{{ regex: {} }}", quoted(regex.as_str())),
        Test::Contains(words) => {
            let all: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            match all.as_slice() {
                [one] => format!("{{ contains: {one} }}"),
                _ => format!("{{ contains: [{}] }}", all.join(", ")),
            }
        }
        Test::Range(from, to) => format!("{{ range: \"{}\" }}", of_range(*from, *to)),
        Test::Not(test) => format!("{{ not: {} }}", of_test(test)),
    }
}

/// `1..=4`.
fn of_range(from: Option<i128>, to: Option<i128>) -> String {
    let from = from.map(|from| from.to_string()).unwrap_or_default();
    match to {
        Some(to) => format!("{from}..={to}"),
        None => format!("{from}.."),
    }
}

fn of_literal(literal: &Literal) -> String {
    match literal {
        Literal::Number(number) => number.to_string(),
        Literal::Text(text) => quoted(text),
    }
}

/// Without quotes where they are not needed.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/_-.|+<>$".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) && !text.starts_with(['|', '-', '>']) {
        true => text.to_owned(),
        false => format!("{text:?}"),
    }
}
