//! Writes a span as a line: from one event to another that belongs to it.

use super::json::{Object, object_line, value};
use super::line::write_duration;
use crate::trace::{FieldValue, State};
use perf_records::units::Nanos;
use std::fmt::Write;
use std::sync::Arc;
use syscall_model::Actor;

/// Fields by their names.
pub type Fields = Vec<(Arc<str>, FieldValue)>;

/// One end of a span.
#[derive(Clone, Debug, PartialEq)]
pub struct SpanEnd {
    /// The task that did it.
    pub actor: Actor,
    /// The time of its entry.
    pub from: Nanos,
    /// The time of its return; for an event that is no call, that of its entry.
    pub to: Nanos,
    /// Its fields.
    pub fields: Fields,
}

/// A span, with at least one known end.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Its name, without `span:`.
    pub name: Arc<str>,
    /// The fields that both ends share, by the begin's names.
    pub key: Fields,
    /// The event that begins it.
    pub begin: Option<SpanEnd>,
    /// The event that ends it.
    pub end: Option<SpanEnd>,
}

impl Span {
    /// Returns the task that began it, or that ended it if it has no begin.
    #[must_use]
    pub fn actor(&self) -> Option<&Actor> {
        let end = self.begin.as_ref().or(self.end.as_ref());
        end.map(|end| &end.actor)
    }

    /// Returns how long it took, if both ends are known.
    #[must_use]
    pub fn duration(&self) -> Option<Nanos> {
        let (begin, end) = (self.begin.as_ref()?, self.end.as_ref()?);
        Some(Nanos(end.to.0.saturating_sub(begin.from.0)))
    }

    fn state(&self) -> State {
        match (&self.begin, &self.end) {
            (Some(_), Some(_)) => State::Finished,
            (Some(_), None) => State::Unfinished,
            (None, _) => State::Unbegun,
        }
    }
}

/// Appends `span:disk dev=8388608 sector=2048 <0.001250>` and a line feed, behind `lead`: seconds,
/// as `strace -T` has them. `unfinished` and `unbegun` stand in place of a time that is not known.
pub fn span_line(out: &mut String, lead: &str, span: &Span) {
    out.push_str(lead);
    let _always_fits = write!(out, "span:{}", span.name);
    for (name, value) in &span.key {
        let _always_fits = write!(out, " {name}={value}");
    }
    match span.duration() {
        Some(Nanos(nanos)) => write_duration(out, nanos),
        None => {
            out.push(' ');
            out.push_str(span.state().word());
        }
    }
    out.push('\n');
}

/// Appends a span as a JSON object and a line feed. `begin_ns`, `end_ns` and `duration_ns` are null
/// where an end is not known, and so are the fields of that end.
pub fn span_json(out: &mut String, span: &Span) {
    object_line(out, "span", |line| {
        line.put("name", &*span.name);
        if let Some(from) = span.actor() {
            line.actor(from);
        }
        line.put("state", span.state().word());
        fields(line, "key", &span.key);
        line.put("begin_ns", span.begin.as_ref().map(|end| end.from.0));
        line.put("end_ns", span.end.as_ref().map(|end| end.to.0));
        line.put("duration_ns", span.duration().map(|time| time.0));
        line.object("fields", |object| {
            for (name, end) in [("begin", &span.begin), ("end", &span.end)] {
                match end {
                    Some(end) => fields(object, name, &end.fields),
                    None => object.put(name, ()),
                }
            }
        });
    });
}

fn fields(object: &mut Object<'_>, name: &str, fields: &Fields) {
    object.object(name, |object| {
        for (name, it) in fields {
            object.member(name, |out| value(out, it));
        }
    });
}
