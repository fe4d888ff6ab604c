//! The events of a kernel, a line each.

use super::json::{number, string};
use crate::plan::ListedEvent;
use perf_records::format::Field;

/// Appends an event as a line: its name, and in brackets its own fields with their types. Those
/// that every tracepoint has are left out.
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
    out.push_str("{\"type\":\"event_format\",\"name\":");
    string(out, name);
    match format {
        Some(format) => number(out, "id", format.id.into()),
        None => out.push_str(",\"id\":null"),
    }
    out.push_str(",\"fields\":[");
    let fields = format.iter().flat_map(|format| &format.fields);
    for (place, field) in fields.enumerate() {
        out.push_str(if place == 0 { "" } else { "," });
        let Field {
            name,
            c_type,
            offset,
            size,
            signed,
            ..
        } = field;
        out.push_str("{\"name\":");
        string(out, name);
        out.push_str(",\"c_type\":");
        string(out, c_type);
        number(out, "offset", *offset as u64);
        number(out, "size", *size as u64);
        out.push_str(if *signed {
            ",\"signed\":true}"
        } else {
            ",\"signed\":false}"
        });
    }
    out.push_str("]}\n");
}
