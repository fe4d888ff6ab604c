//! The summary as JSON lines.

use super::super::json::{actor, number, string};
use super::{Row, Summary, SummaryOrder, error_name};
use std::fmt::Write;
use syscall_model::Actor;

impl Summary {
    /// Appends an object a row: `summary_row` for a call, `summary_event` for an event that is no
    /// call. Of each thread where the summary is; `timed` calls have a time, and where none has,
    /// `min_ns`, `avg_ns` and `max_ns` are null.
    pub fn json(&self, out: &mut String, order: SummaryOrder) {
        for group in self.groups() {
            for row in self.rows(group, order) {
                json_row(out, group, row);
            }
            for (name, count) in self.events(group) {
                out.push_str("{\"type\":\"summary_event\"");
                who(out, group);
                out.push_str(",\"name\":");
                string(out, name);
                number(out, "count", count);
                out.push_str("}\n");
            }
        }
    }
}

fn json_row(out: &mut String, group: Option<&Actor>, row: &Row) {
    out.push_str("{\"type\":\"summary_row\"");
    who(out, group);
    if let Some(abi) = row.abi {
        let _always_fits = write!(out, ",\"abi\":\"{}\"", abi.as_str());
    }
    out.push_str(",\"name\":");
    string(out, &row.name);
    number(out, "calls", row.calls);
    number(out, "errors", row.n_errors());
    number(out, "timed", row.times.timed);
    number(out, "total_ns", row.times.total);
    let names = ["min_ns", "avg_ns", "max_ns"];
    match row.times.spread() {
        Some(spread) => names
            .iter()
            .zip(spread)
            .for_each(|(name, time)| number(out, name, time)),
        None => names.iter().for_each(|name| {
            let _always_fits = write!(out, ",\"{name}\":null");
        }),
    }
    out.push_str(",\"errnos\":{");
    for (place, (error, count)) in row.errors.iter().enumerate() {
        let comma = if place > 0 { "," } else { "" };
        let _always_fits = write!(out, "{comma}\"{}\":{count}", error_name(*error));
    }
    out.push_str("}}\n");
}

fn who(out: &mut String, group: Option<&Actor>) {
    if let Some(group) = group {
        actor(out, group);
    }
}
