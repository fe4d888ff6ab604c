//! Expectations for tests, from YAML, without a file around them. `scenario` has the strict reader.

use super::*;
use regex::bytes::Regex;
use serde_yaml::{Mapping, Value};

/// What the keys `sequence`, `any_order`, `never`, `only` and `count` say; an event's names are its
/// word's, parted by `|`.
pub(super) fn expected(text: &str) -> Expected {
    let value: Mapping = serde_yaml::from_str(text).unwrap();
    let mut line = 0;
    let mut expected = Expected::default();
    for (key, value) in &value {
        match key.as_str().unwrap() {
            "sequence" => expected.sequence = patterns(value, &mut line),
            "any_order" => expected.any_order = patterns(value, &mut line),
            "never" => expected.never = matchers(value, &mut line),
            "only" => expected.only = matchers(value, &mut line),
            "count" => {
                for (word, range) in value.as_mapping().unwrap() {
                    let (step, range) = match range.as_mapping() {
                        Some(fields) => {
                            let mut fields = fields.clone();
                            let range = fields.remove("times").unwrap();
                            (fields, range)
                        }
                        None => (Mapping::new(), range.clone()),
                    };
                    let matcher = matcher(word, &Value::Mapping(step), &mut line);
                    expected.count.push((matcher, count_range(&range)));
                }
            }
            other => panic!("{other}"),
        }
    }
    expected
}

fn patterns(list: &Value, line: &mut usize) -> Vec<Pattern> {
    let pattern = |it: &Value| {
        let (word, inner) = entry(it);
        match word.as_str().unwrap() {
            "next" => {
                let (word, fields) = entry(&inner);
                Pattern::Next(matcher(&word, &fields, line))
            }
            "never" => Pattern::Never(matchers(&inner, line)),
            "sequence" => Pattern::Sequence(patterns(&inner, line)),
            "any_order" => Pattern::AnyOrder(patterns(&inner, line)),
            _ => Pattern::Step(matcher(&word, &inner, line)),
        }
    };
    list.as_sequence().unwrap().iter().map(pattern).collect()
}

fn matchers(list: &Value, line: &mut usize) -> Vec<Matcher> {
    let list = list.as_sequence().unwrap().iter();
    list.map(|it| {
        let (word, fields) = entry(it);
        matcher(&word, &fields, line)
    })
    .collect()
}

/// A mapping's one entry; of a string itself and nothing.
fn entry(value: &Value) -> (Value, Value) {
    match value.as_mapping() {
        Some(mapping) => {
            let (key, value) = mapping.iter().next().unwrap();
            (key.clone(), value.clone())
        }
        None => (value.clone(), Value::Mapping(Mapping::new())),
    }
}

fn matcher(word: &Value, fields: &Value, line: &mut usize) -> Matcher {
    *line += 1;
    let word = word.as_str().unwrap();
    let fields = fields.as_mapping().unwrap().iter();
    Matcher {
        is_closed: false,
        word: word.to_owned(),
        names: word.split('|').map(str::to_owned).collect(),
        fields: fields
            .map(|(word, it)| (word.as_str().unwrap().to_owned(), test(it)))
            .collect(),
        at: KeyPath::root(),
        line: *line,
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn test(value: &Value) -> Test {
    match value {
        Value::Number(number) => Test::Is(Literal::Number(number.as_i64().unwrap().into())),
        Value::String(word) if word == "any" => Test::Any,
        Value::String(word) => match word.strip_prefix('$') {
            Some(name) if name.starts_with(|c: char| c.is_lowercase()) => {
                Test::Capture(name.to_owned())
            }
            _ => Test::Is(Literal::Text(word.clone())),
        },
        Value::Sequence(all) => Test::OneOf(all.iter().map(test).collect()),
        Value::Mapping(_) => {
            let (key, value) = entry(value);
            match key.as_str().unwrap() {
                "prefix" => Test::Prefix(text(&value)),
                "glob" => Test::Glob(text(&value)),
                "regex" => Test::Regex(Regex::new(&text(&value)).unwrap()),
                "contains" => Test::Contains(match value.as_sequence() {
                    Some(all) => all.iter().map(text).collect(),
                    None => vec![text(&value)],
                }),
                "range" => {
                    let (from, to) = value.as_str().unwrap().split_once("..").unwrap();
                    let to = to.strip_prefix('=').map(|to| to.parse().unwrap());
                    Test::Range(from.parse().ok(), to)
                }
                "not" => Test::Not(Box::new(test(&value))),
                other => panic!("{other}"),
            }
        }
        other => panic!("{other:?}"),
    }
}

fn count_range(value: &Value) -> CountRange {
    if let Some(number) = value.as_u64() {
        return CountRange {
            min: number,
            max: Some(number),
        };
    }
    let (min, max) = value.as_str().unwrap().split_once("..").unwrap();
    CountRange {
        min: min.parse().unwrap_or(0),
        max: max.strip_prefix('=').map(|max| max.parse().unwrap()),
    }
}
