//! Writes the differences between the events of two kernels.

use super::json::{Object, object_line};
use crate::matrix::{Change, EventChange, EventField, FieldChange};
use std::fmt::Write;

/// Appends the differences, a paragraph for each event: `-` is gone, `+` is new, `~` has changed.
pub fn formats_human(out: &mut String, changes: &[EventChange]) {
    for EventChange { event, what } in changes {
        match what {
            Change::Removed => {
                let _always_fits = writeln!(out, "- {event}");
            }
            Change::Renamed(name) => {
                let _always_fits = writeln!(out, "~ {event} is now {name}");
            }
            Change::Added(fields) => {
                let own = fields
                    .iter()
                    .map(|field| format!("{}: {}", field.name, field.c_type));
                let own: Vec<String> = own.collect();
                let _always_fits = writeln!(out, "+ {event}({})", own.join(", "));
            }
            Change::Fields(changes) => {
                let _always_fits = writeln!(out, "~ {event}");
                for change in changes {
                    let _always_fits = writeln!(out, "    {}", line(change));
                }
            }
        }
    }
}

fn line(change: &FieldChange) -> String {
    match change {
        FieldChange::Removed(field) => format!("- {}", whole(field)),
        FieldChange::Added(field) => format!("+ {}", whole(field)),
        FieldChange::Renamed(old, new) => {
            format!("~ {} is now {}{}", old.name, new.name, moved(old, new))
        }
        FieldChange::Changed(old, new) => {
            format!("~ {}{}{}", old.name, retyped(old, new), moved(old, new))
        }
    }
}

fn whole(field: &EventField) -> String {
    format!("{}: {}, {}", field.name, field.c_type, place(field))
}

fn place(field: &EventField) -> String {
    let end = field.offset.saturating_add(field.size);
    format!("bytes {} to {end}", field.offset)
}

fn moved(old: &EventField, new: &EventField) -> String {
    if (old.offset, old.size) == (new.offset, new.size) {
        return String::new();
    }
    format!(", {} instead of {}", place(new), place(old))
}

fn retyped(old: &EventField, new: &EventField) -> String {
    let sign = |field: &EventField| if field.signed { "signed" } else { "unsigned" };
    if old.c_type != new.c_type {
        format!(", {} instead of {}", new.c_type, old.c_type)
    } else if old.signed != new.signed {
        format!(", {} instead of {}", sign(new), sign(old))
    } else {
        String::new()
    }
}

/// Appends the differences, an object on each line: `what` is `removed`, `added`, `renamed` (then
/// with `new_name`) or `changed`, and so for each of the fields.
pub fn formats_json(out: &mut String, changes: &[EventChange]) {
    for EventChange { event, what } in changes {
        let (word, fields): (_, Vec<_>) = match what {
            Change::Removed => ("removed", Vec::new()),
            Change::Renamed(_) => ("renamed", Vec::new()),
            Change::Added(fields) => (
                "added",
                fields
                    .iter()
                    .map(|field| ("added", None, Some(field)))
                    .collect(),
            ),
            Change::Fields(changes) => ("changed", changes.iter().map(sides).collect()),
        };
        object_line(out, "event", |line| {
            line.put("name", event);
            line.put("what", word);
            if let Change::Renamed(name) = what {
                line.put("new_name", name);
            }
            line.list("fields", fields, |object, (word, old, new)| {
                object.put("what", word);
                field_json(object, "old", old);
                field_json(object, "new", new);
            });
        });
    }
}

fn sides(change: &FieldChange) -> (&'static str, Option<&EventField>, Option<&EventField>) {
    match change {
        FieldChange::Removed(field) => ("removed", Some(field), None),
        FieldChange::Added(field) => ("added", None, Some(field)),
        FieldChange::Renamed(old, new) => ("renamed", Some(old), Some(new)),
        FieldChange::Changed(old, new) => ("changed", Some(old), Some(new)),
    }
}

fn field_json(object: &mut Object<'_>, name: &str, field: Option<&EventField>) {
    let Some(field) = field else {
        return object.put(name, ());
    };
    object.object(name, |object| {
        object.put("name", &field.name);
        object.put("c_type", &field.c_type);
        object.put("offset", field.offset);
        object.put("size", field.size);
        object.put("signed", field.signed);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str, c_type: &str, offset: u64, size: u64) -> EventField {
        EventField {
            name: name.to_owned(),
            c_type: c_type.to_owned(),
            offset,
            size,
            signed: false,
        }
    }

    fn changes() -> Vec<EventChange> {
        let change = |event: &str, what| EventChange {
            event: event.to_owned(),
            what,
        };
        vec![
            change("a:gone", Change::Removed),
            change("a:new", Change::Added(vec![field("x", "int", 8, 4)])),
            change(
                "b:other",
                Change::Fields(vec![
                    FieldChange::Removed(field("r", "int", 8, 4)),
                    FieldChange::Renamed(field("o", "int", 12, 4), field("n", "int", 8, 4)),
                    FieldChange::Changed(field("t", "int", 16, 4), field("t", "u32", 16, 4)),
                    FieldChange::Changed(field("m", "int", 20, 4), field("m", "int", 24, 4)),
                ]),
            ),
        ]
    }

    #[test]
    fn each_change_is_a_line() {
        let mut text = String::new();
        formats_human(&mut text, &changes());
        assert_eq!(
            text,
            "\
- a:gone
+ a:new(x: int)
~ b:other
    - r: int, bytes 8 to 12
    ~ o is now n, bytes 8 to 12 instead of bytes 12 to 16
    ~ t, u32 instead of int
    ~ m, bytes 24 to 28 instead of bytes 20 to 24
"
        );
    }

    #[test]
    fn each_event_is_an_object() {
        let mut text = String::new();
        formats_json(&mut text, &changes());
        let lines: Vec<serde_json::Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines[0]["what"], "removed");
        assert_eq!(lines[1]["fields"][0]["new"]["c_type"], "int");
        assert_eq!(lines[2]["fields"][1]["what"], "renamed");
        assert_eq!(lines[2]["fields"][0]["new"], serde_json::Value::Null);
    }
}
