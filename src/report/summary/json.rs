//! The summary as JSON lines.

use super::super::json::{Object, object_line};
use super::{Row, Summary, SummaryOrder, error_name};
use syscall_model::Actor;

impl Summary {
    /// Appends an object for each row: `summary_row` for a call, `summary_event` for another event;
    /// for each thread if the summary is by thread. `timed` calls have a time; if none has,
    /// `min_ns`, `avg_ns` and `max_ns` are null.
    pub fn json(&self, out: &mut String, order: SummaryOrder) {
        for group in self.groups() {
            for row in self.rows(group, order) {
                json_row(out, group, row);
            }
            for (name, count) in self.events(group) {
                object_line(out, "summary_event", |line| {
                    who(line, group);
                    line.put("name", name);
                    line.put("count", count);
                });
            }
        }
    }
}

fn json_row(out: &mut String, group: Option<&Actor>, row: &Row) {
    object_line(out, "summary_row", |line| {
        who(line, group);
        line.put_some("abi", row.abi.map(|abi| abi.as_str()));
        line.put("name", &row.name);
        line.put("calls", row.calls);
        line.put("errors", row.n_errors());
        line.put("timed", row.times.timed);
        line.put("total_ns", row.times.total);
        let spread = row.times.spread();
        for (place, name) in ["min_ns", "avg_ns", "max_ns"].into_iter().enumerate() {
            line.put(name, spread.and_then(|spread| spread.get(place).copied()));
        }
        line.object("errnos", |errnos| {
            for (error, count) in &row.errors {
                errnos.put(&error_name(*error), count);
            }
        });
    });
}

fn who(line: &mut Object<'_>, group: Option<&Actor>) {
    if let Some(group) = group {
        line.actor(group);
    }
}
