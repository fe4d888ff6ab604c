//! Writes the events of a kernel, a line each.

use super::json::object_line;
use crate::plan::ListedEvent;

/// Appends an event as a line: its name, and in brackets its own fields with their types, without
/// those that every tracepoint has.
pub fn listed_line(out: &mut String, event: &ListedEvent) {
    match event {
        ListedEvent::Plain(name) => out.push_str(name),
        ListedEvent::Tracepoint(name, format) => {
            out.push_str(name.as_str());
            out.push('(');
            let fields = format.iter().flat_map(|format| &format.fields);
            for (place, field) in fields.enumerate() {
                out.push_str(if place == 0 { "" } else { ", " });
                out.push_str(&field.name);
                out.push_str(": ");
                out.push_str(&field.c_type);
            }
            out.push(')');
        }
    }
    out.push('\n');
}

/// Appends an event as a JSON object and a line feed. Offsets and sizes of fields are in bytes.
pub fn listed_json(out: &mut String, event: &ListedEvent) {
    let (name, format) = match event {
        ListedEvent::Plain(name) => (name.as_str(), None),
        ListedEvent::Tracepoint(name, format) => (name.as_str(), format.as_ref()),
    };
    object_line(out, "event_format", |line| {
        line.put("name", name);
        line.put("id", format.map(|format| format.id));
        let fields = format.iter().flat_map(|format| &format.fields);
        line.list("fields", fields, |object, field| {
            object.put("name", &*field.name);
            object.put("c_type", &*field.c_type);
            object.put("offset", field.offset);
            object.put("size", field.size);
            object.put("signed", field.signed);
        });
    });
}
