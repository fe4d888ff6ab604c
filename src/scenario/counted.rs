//! `count` in `trace.events`: events that are counted and leave no records.

use super::flexible::{Flexible, NoMapping, deserialize_flexible, elements};
use super::schema::{either, list_of, some_text};
use schemars::{Schema, SchemaGenerator};
use serde::de::SeqAccess;

/// One event, or several that are counted at the same times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedSpec {
    /// Their names, in the syntax of perf: `page-faults:u`, `msr/tsc/`, `sched:sched_switch`;
    /// calls.
    pub names: Vec<String>,
    /// Whether they are a group.
    pub is_group: bool,
}

impl Flexible for CountedSpec {
    const EXPECTED: &'static str = "an event such as `page-faults`, or a list of them";
    type Mapping = NoMapping;

    fn schema(_: &mut SchemaGenerator) -> Schema {
        either([some_text(), list_of(some_text())])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        Some(check(text).map(|()| Self {
            names: vec![text.to_owned()],
            is_group: false,
        }))
    }

    fn from_list<'de, A: SeqAccess<'de>>(list: A) -> Option<Result<Self, A::Error>> {
        use serde::de::Error;
        let names = elements::<String, A>(list);
        Some(names.and_then(|names| {
            if names.is_empty() {
                return Err(A::Error::custom("the list of what is counted is empty"));
            }
            let checked: Result<(), String> = names.iter().try_for_each(|name| check(name));
            checked.map_err(A::Error::custom)?;
            Ok(Self {
                names,
                is_group: true,
            })
        }))
    }
}

fn check(name: &str) -> Result<(), String> {
    match name {
        _ if name.trim().is_empty() => Err("the name of an event is empty".to_owned()),
        _ if name.starts_with('{') => {
            Err("a group is a list here\nwrite { count: [page-faults, cs] }".to_owned())
        }
        _ => Ok(()),
    }
}

deserialize_flexible!(CountedSpec);
