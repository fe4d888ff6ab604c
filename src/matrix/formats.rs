//! Compares the events of two kernels: which there are, and where their fields lie.

use super::renames::{renamed, shared_words};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// A field of an event.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct EventField {
    /// Its name.
    pub name: String,
    /// Its type in C.
    pub c_type: String,
    /// The offset in a record, in bytes.
    pub offset: u64,
    /// The size in bytes.
    pub size: u64,
    /// Whether it may be negative.
    pub signed: bool,
}

impl EventField {
    fn line(&self) -> String {
        let Self {
            name, c_type, size, ..
        } = self;
        format!("{name}: {c_type}, {size} bytes")
    }
}

/// The events of a kernel by their names, each with its fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFormats(BTreeMap<String, Vec<EventField>>);

#[derive(Deserialize)]
struct Line {
    name: String,
    fields: Vec<EventField>,
}

/// A text is not that of `harness events --format json`.
#[derive(Debug, thiserror::Error)]
#[error("line {line} is none of `harness events --format json`")]
pub struct FormatsError {
    /// The line, from 1.
    line: usize,
    source: serde_json::Error,
}

impl EventFormats {
    /// Reads what `harness events --format json` prints.
    ///
    /// # Errors
    /// For the first line that is not such output.
    pub fn read(text: &str) -> Result<Self, FormatsError> {
        let mut events = BTreeMap::new();
        for (index, line) in text.lines().enumerate() {
            let Line { name, fields } =
                serde_json::from_str(line).map_err(|source| FormatsError {
                    line: index.saturating_add(1),
                    source,
                })?;
            events.insert(name, fields);
        }
        Ok(Self(events))
    }

    /// Returns for each event the lines that describe its fields, without offsets: these change no
    /// value.
    #[must_use]
    pub fn lines(&self) -> BTreeMap<String, BTreeSet<String>> {
        let events = self.0.iter();
        let lines = |fields: &[EventField]| fields.iter().map(EventField::line).collect();
        events
            .map(|(name, fields)| (name.clone(), lines(fields)))
            .collect()
    }

    /// How many events there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns what another kernel changes, by the names of the events.
    #[must_use]
    pub fn changes(&self, other: &Self) -> Vec<EventChange> {
        let mut names: Vec<&String> = self.0.keys().chain(other.0.keys()).collect();
        names.sort();
        names.dedup();
        let renamed = renamed(&self.0, &other.0);
        let new_names: BTreeSet<&str> = renamed.values().copied().collect();
        let change = |name: &String| {
            if new_names.contains(name.as_str()) {
                return None;
            }
            let what = match (self.0.get(name), other.0.get(name)) {
                (Some(_), None) if renamed.contains_key(name.as_str()) => {
                    Change::Renamed((*renamed.get(name.as_str())?).to_owned())
                }
                (Some(_), None) => Change::Removed,
                (None, Some(fields)) => Change::Added(fields.clone()),
                (Some(old), Some(new)) => match fields(old, new) {
                    changes if changes.is_empty() => return None,
                    changes => Change::Fields(changes),
                },
                (None, None) => return None,
            };
            let event = name.clone();
            Some(EventChange { event, what })
        };
        names.into_iter().filter_map(change).collect()
    }
}

/// The change of one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventChange {
    /// Its name.
    pub event: String,
    /// The change.
    pub what: Change,
}

/// How an event has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The event is gone.
    Removed,
    /// The event has this name now, and the same fields.
    Renamed(String),
    /// The event is new, with these fields.
    Added(Vec<EventField>),
    /// Some of the event's fields have changed.
    Fields(Vec<FieldChange>),
}

/// How a field has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldChange {
    /// The field is gone.
    Removed(EventField),
    /// The field is new.
    Added(EventField),
    /// The first field is now called like the second: neither kernel has both names, and both
    /// fields have the same type and the same neighbours.
    Renamed(EventField, EventField),
    /// The offset, the type, or both have changed.
    Changed(EventField, EventField),
}

fn fields(old: &[EventField], new: &[EventField]) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    let mut renamed = Vec::new();
    for (index, field) in old.iter().enumerate() {
        match named(new, &field.name) {
            Some(same) if same == field => {}
            Some(same) => changes.push(FieldChange::Changed(field.clone(), same.clone())),
            None => match successor(old, new, index, &renamed) {
                Some(successor) => {
                    renamed.push(successor.name.clone());
                    changes.push(FieldChange::Renamed(field.clone(), successor.clone()));
                }
                None => changes.push(FieldChange::Removed(field.clone())),
            },
        }
    }
    let is_new =
        |field: &&EventField| named(old, &field.name).is_none() && !renamed.contains(&field.name);
    changes.extend(new.iter().filter(is_new).cloned().map(FieldChange::Added));
    changes
}

fn named<'a>(fields: &'a [EventField], name: &str) -> Option<&'a EventField> {
    fields.iter().find(|field| field.name == name)
}

/// Returns the field that has taken the place of a removed one; of several, the one that shares
/// most words of its name.
fn successor<'a>(
    old: &[EventField],
    new: &'a [EventField],
    index: usize,
    taken: &[String],
) -> Option<&'a EventField> {
    let field = old.get(index)?;
    let name = |fields: &[EventField], index: Option<usize>| Some(fields.get(index?)?.name.clone());
    let before = |fields: &[EventField], index: usize| name(fields, index.checked_sub(1));
    let after = |fields: &[EventField], index: usize| name(fields, index.checked_add(1));
    let fits = |(place, candidate): &(usize, &'a EventField)| {
        let is_alike = candidate.c_type == field.c_type && candidate.size == field.size;
        let neighbours =
            before(new, *place) == before(old, index) || after(new, *place) == after(old, index);
        let is_free = named(old, &candidate.name).is_none() && !taken.contains(&candidate.name);
        is_free && is_alike && (neighbours || candidate.offset == field.offset)
    };
    let all = new.iter().enumerate().filter(fits);
    // Finds the last of several equally good ones.
    let best = all
        .rev()
        .max_by_key(|(_, it)| shared_words(&it.name, &field.name));
    best.map(|(_, found)| found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Name, type, offset and size of a field.
    type Field<'a> = (&'a str, &'a str, u64, u64);

    fn formats(events: &[(&str, &[Field<'_>])]) -> EventFormats {
        let mut text = String::new();
        for (name, fields) in events {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, c_type, offset, size)| {
                    format!("{{\"name\":\"{name}\",\"c_type\":\"{c_type}\",\"offset\":{offset},\"size\":{size},\"signed\":false}}")
                })
                .collect();
            text.push_str(&format!(
                "{{\"type\":\"event_format\",\"name\":\"{name}\",\"id\":1,\"fields\":[{}]}}\n",
                fields.join(",")
            ));
        }
        EventFormats::read(&text).unwrap()
    }

    fn shown(old: &EventFormats, new: &EventFormats) -> Vec<String> {
        let mut shown = Vec::new();
        for EventChange { event, what } in old.changes(new) {
            match what {
                Change::Removed => shown.push(format!("- {event}")),
                Change::Renamed(name) => shown.push(format!("{event} -> {name}")),
                Change::Added(fields) => shown.push(format!("+ {event} {}", fields.len())),
                Change::Fields(changes) => {
                    shown.extend(changes.into_iter().map(|change| match change {
                        FieldChange::Removed(field) => format!("{event} - {}", field.name),
                        FieldChange::Added(field) => format!("{event} + {}", field.name),
                        FieldChange::Renamed(old, new) => {
                            format!("{event} {} -> {}", old.name, new.name)
                        }
                        FieldChange::Changed(old, new) => {
                            format!(
                                "{event} {}: {}@{} -> {}@{}",
                                old.name, old.c_type, old.offset, new.c_type, new.offset
                            )
                        }
                    }))
                }
            }
        }
        shown
    }

    #[test]
    fn events_come_and_go() {
        let old = formats(&[("a:gone", &[]), ("a:same", &[("x", "int", 8, 4)])]);
        let new = formats(&[
            ("a:new", &[("y", "int", 8, 4)]),
            ("a:same", &[("x", "int", 8, 4)]),
        ]);
        assert_eq!(shown(&old, &new), ["- a:gone", "+ a:new 1"]);
        assert_eq!(shown(&old, &old), [""; 0]);
    }

    #[test]
    fn an_event_with_the_same_fields_under_another_name_is_the_same() {
        let page: &[Field<'_>] = &[("name", "char[32]", 8, 32), ("ino", "ino_t", 40, 8)];
        let ret: &[Field<'_>] = &[("nr", "int", 8, 4), ("ret", "long", 16, 8)];
        // As in Linux 5.15 to 5.18.
        let old = formats(&[
            ("writeback:wait_on_page_writeback", page),
            ("writeback:writeback_dirty_page", page),
            ("syscalls:sys_exit_close", ret),
            ("syscalls:sys_exit_lookup_dcookie", ret),
            ("a:moved", &[("x", "int", 8, 4)]),
            ("a:gone", &[("y", "int", 8, 4)]),
        ]);
        let new = formats(&[
            ("writeback:folio_wait_writeback", page),
            ("writeback:writeback_dirty_folio", page),
            ("syscalls:sys_exit_close", ret),
            ("syscalls:sys_exit_epoll_pwait2", ret),
            ("b:moved", &[("x", "int", 8, 4)]),
            ("b:other", &[("y", "int", 8, 4)]),
        ]);
        assert_eq!(
            shown(&old, &new),
            [
                "- a:gone",
                "a:moved -> b:moved",
                "+ b:other 1",
                "+ syscalls:sys_exit_epoll_pwait2 2",
                "- syscalls:sys_exit_lookup_dcookie",
                "writeback:wait_on_page_writeback -> writeback:folio_wait_writeback",
                "writeback:writeback_dirty_page -> writeback:writeback_dirty_folio",
            ]
        );
    }

    #[test]
    fn fields_come_go_move_change_their_type_and_their_name() {
        let old = formats(&[(
            "e",
            &[
                ("a", "int", 8, 4),
                ("old", "long", 16, 8),
                ("b", "int", 24, 4),
                ("c", "char", 28, 1),
                ("end", "char[4]", 32, 4),
            ],
        )]);
        let new = formats(&[(
            "e",
            &[
                ("a", "u32", 8, 4),
                ("new", "long", 16, 8),
                ("extra", "int", 24, 4),
                ("b", "int", 28, 4),
                ("end", "char[4]", 32, 4),
            ],
        )]);
        assert_eq!(
            shown(&old, &new),
            [
                "e a: int@8 -> u32@8",
                "e old -> new",
                "e b: int@24 -> int@28",
                "e - c",
                "e + extra"
            ]
        );
    }

    #[test]
    fn a_new_name_is_that_of_one_field() {
        // writeback:balance_dirty_pages of Linux 6.1 and 7.2, in part.
        let long = "unsigned long";
        let old = formats(&[(
            "e",
            &[
                ("dirty", long, 56, 8),
                ("bdi_setpoint", long, 64, 8),
                ("bdi_dirty", long, 72, 8),
                ("dirty_ratelimit", long, 80, 8),
            ],
        )]);
        let new = formats(&[(
            "e",
            &[
                ("dirty", long, 56, 8),
                ("wb_setpoint", long, 72, 8),
                ("wb_dirty", long, 80, 8),
                ("dirty_ratelimit", long, 88, 8),
            ],
        )]);
        let shown = shown(&old, &new);
        let renamed: Vec<&String> = shown.iter().filter(|line| line.contains("->")).collect();
        assert_eq!(
            renamed[..2],
            ["e bdi_setpoint -> wb_setpoint", "e bdi_dirty -> wb_dirty"]
        );
        assert_eq!(shown.len(), 3, "{shown:?}");
    }

    #[test]
    fn a_field_of_another_type_is_no_new_name() {
        let old = formats(&[("e", &[("a", "int", 8, 4)])]);
        let new = formats(&[("e", &[("b", "unsigned int", 8, 4)])]);
        assert_eq!(shown(&old, &new), ["e - a", "e + b"]);
    }

    #[test]
    fn a_line_that_is_no_event_is_named() {
        let error = EventFormats::read("{\"name\":\"a\",\"fields\":[]}\noops\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2 is none of `harness events --format json`"
        );
    }
}
