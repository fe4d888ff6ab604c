//! The summary as tables.

use super::{Row, Summary, SummaryOrder, Times, error_name};
use std::cmp::Reverse;
use std::fmt::Write;
use syscall_model::Actor;

const HEADS: &str =
    "% time     total ms      min us      avg us      max us     calls    errors  call\n";
const RULE: &str = "------ ------------ ----------- ----------- ----------- --------- ---------  ----------------\n";

impl Summary {
    /// Appends the tables: the calls, their errors, the other events. `missing` says how an
    /// incomplete run is incomplete, with the number of lost records and the complaints; a heading
    /// then says so too.
    pub fn text(&self, out: &mut String, order: SummaryOrder, missing: Option<(u64, &[String])>) {
        if let Some((lost, complaints)) = missing {
            let _always_fits = writeln!(
                out,
                "INCOMPLETE: {lost} records lost; there was more than these tables count"
            );
            for complaint in complaints {
                let _always_fits = writeln!(out, "  {complaint}");
            }
            out.push('\n');
        }
        for (place, group) in self.groups().into_iter().enumerate() {
            if place > 0 {
                out.push('\n');
            }
            if let Some(actor) = group {
                heading(out, actor);
            }
            let rows = self.rows(group, order);
            calls(out, &rows);
            errors(out, &rows);
            self.counts(out, group);
        }
    }

    fn counts(&self, out: &mut String, group: Option<&Actor>) {
        let mut events = self.events(group).peekable();
        if events.peek().is_none() {
            return;
        }
        out.push_str("\n    count  event\n---------  ----------------\n");
        for (name, count) in events {
            let _always_fits = writeln!(out, "{count:9}  {name}");
        }
    }
}

fn heading(out: &mut String, actor: &Actor) {
    let name = actor.comm.as_bytes().escape_ascii();
    let _always_fits = match actor.pid.0 == actor.tid.0 {
        true => writeln!(out, "process {} {name}", actor.pid.0),
        false => writeln!(
            out,
            "thread {} {name} of process {}",
            actor.tid.0, actor.pid.0
        ),
    };
}

fn calls(out: &mut String, rows: &[&Row]) {
    let mut all = Row {
        name: "total".to_owned(),
        ..Row::default()
    };
    rows.iter().for_each(|row| all.merge(row));
    out.push_str(HEADS);
    out.push_str(RULE);
    for row in rows {
        line(out, row, &all.times);
    }
    out.push_str(RULE);
    line(out, &all, &all.times);
}

fn line(out: &mut String, row: &Row, all: &Times) {
    let share = match all.total {
        0 => 0.0,
        total => row.times.total as f64 * 100.0 / total as f64,
    };
    let total = row.times.total as f64 / 1e6;
    let _always_fits = write!(out, "{share:6.2} {total:12.3}");
    match row.times.spread() {
        Some(spread) => spread.iter().for_each(|time| {
            let _always_fits = write!(out, " {:11.3}", *time as f64 / 1e3);
        }),
        None => (0..3).for_each(|_| {
            let _always_fits = write!(out, " {:>11}", "-");
        }),
    }
    let errors = match row.n_errors() {
        0 => String::new(),
        errors => errors.to_string(),
    };
    let _always_fits = writeln!(out, " {:9} {errors:>9}  {}", row.calls, row.label());
}

/// Returns the errors, the most frequent first; empty if there were none.
fn errors(out: &mut String, rows: &[&Row]) {
    let mut errors: Vec<_> = rows
        .iter()
        .flat_map(|row| {
            row.errors
                .iter()
                .map(|(error, count)| (Reverse(*count), row.label(), error_name(*error)))
        })
        .collect();
    if errors.is_empty() {
        return;
    }
    errors.sort();
    out.push_str(
        "\n   errors  error             call\n---------  ----------------  ----------------\n",
    );
    for (Reverse(count), call, error) in errors {
        let _always_fits = writeln!(out, "{count:9}  {error:16}  {call}");
    }
}
