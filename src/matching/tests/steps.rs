//! Expectations for tests, from YAML, without a file around them.

use super::*;
use crate::scenario::{Between, CountRange, NumberOf, Role, StepSpec};
use serde::de::DeserializeOwned;
use serde_yaml::{Mapping, Value};

/// What the keys `sequence`, `any_order`, `never`, `only`, `count` and `between` say; an event's
/// names are its word's, parted by `|`.
pub(super) fn expected(text: &str) -> Expected {
    let value: Mapping = serde_yaml::from_str(text).unwrap();
    let mut expected = Expectations::default();
    for (key, value) in value {
        match key.as_str().unwrap() {
            "sequence" => expected.sequence = read(value),
            "any_order" => expected.any_order = read(value),
            "never" => expected.never = read(value),
            "only" => expected.only = read(value),
            "count" => expected.count = value.as_mapping().unwrap().iter().map(number).collect(),
            "between" => {
                expected.between = value.as_sequence().unwrap().iter().map(between).collect()
            }
            other => panic!("{other}"),
        }
    }
    let mut line = 0;
    let matcher = |role, step: &StepSpec| -> Result<Matcher, ()> {
        line += 1;
        Ok(Matcher {
            is_closed: role == Role::Only,
            word: step.event.clone(),
            names: step.event.split('|').map(str::to_owned).collect(),
            fields: step.fields.clone(),
            at: KeyPath::root(),
            line,
        })
    };
    expected.try_map(matcher).unwrap()
}

/// `openat: 2`, or `openat: { path: a, times: 2 }`.
fn number((word, range): (&Value, &Value)) -> NumberOf {
    let mut fields = range.as_mapping().cloned().unwrap_or_default();
    let times = fields.remove("times").unwrap_or_else(|| range.clone());
    NumberOf {
        step: read(Value::Mapping(Mapping::from_iter([(
            word.clone(),
            fields.into(),
        )]))),
        times: read(times),
    }
}

/// `{ first: a, then: b, there_is: c, times: 2 }`.
fn between(value: &Value) -> Between {
    let key = |name: &str| value.get(name).cloned();
    let range = |min| CountRange { min, max: None };
    Between {
        first: read(key("first").unwrap()),
        then: read(key("then").unwrap()),
        there_is: read(key("there_is").unwrap()),
        times: match key("times") {
            None => range(1),
            Some(value) if value.as_str() == Some("0..") => range(0),
            Some(value) => read(value),
        },
    }
}

fn read<T: DeserializeOwned>(value: Value) -> T {
    serde_yaml::from_value(value).unwrap()
}
