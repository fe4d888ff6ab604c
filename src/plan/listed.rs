//! The events that this kernel has, by name.

use super::error::EventsError;
use super::expand::unknown_tracepoint;
use super::source::hardware;
use perf_live::host::{Catalogue, EventSource, HostError};
use perf_live::units::SoftwareKind;
use perf_records::attr::Source;
use perf_records::format::Format;
use perf_records::glob::glob;
use perf_records::units::TracepointName;
use std::sync::Arc;

/// The ftrace records that `perf_event_open(2)` takes: only those that can be registered have an
/// `id` (`event_create_dir()`, `kernel/trace/trace_events.c`).
const OF_FTRACE: (&str, [&str; 2]) = ("ftrace", ["function", "print"]);

/// An event that may be named in scenarios and on command lines.
#[derive(Clone, Debug)]
pub enum ListedEvent {
    /// One that has no fields of its own: a software event, a hardware event, an event of a source
    /// that sysfs describes (`msr/tsc/`).
    Plain(String),
    /// A tracepoint; without a format if the kernel shows none (`ftrace:function` and similar
    /// events).
    Tracepoint(TracepointName, Option<Arc<Format>>),
}

/// Returns the events that match one of these globs, or all of them without a glob, ordered by
/// name: software events first, then hardware events that the machine has by `is_there`, then those
/// of other sources.
///
/// # Errors
/// [`EventsError::Tracepoint`] or [`EventsError::Unknown`] for the first pattern that matches none;
/// or the error of reading the host.
pub fn listed(
    patterns: &[String],
    catalogue: &dyn Catalogue,
    is_there: &dyn Fn(Source) -> bool,
) -> Result<Vec<ListedEvent>, EventsError> {
    let mut names = Vec::new();
    for system in catalogue.systems()? {
        let mut events = catalogue.events(&system)?;
        if system == OF_FTRACE.0 {
            events.retain(|event| OF_FTRACE.1.contains(&event.as_str()));
        }
        let events = events.into_iter();
        names
            .extend(events.filter_map(|event| TracepointName::parse(&format!("{system}:{event}"))));
    }
    let software = SoftwareKind::names().map(str::to_owned);
    let counted = hardware::names().filter(|name| hardware::named(name).is_some_and(is_there));
    let plain: Vec<String> = software
        .chain(counted)
        .chain(of_sources(catalogue))
        .collect();
    for (at, pattern) in patterns.iter().enumerate() {
        let matches = |name: &str| glob(pattern, name);
        if !plain.iter().any(|name| matches(name))
            && !names.iter().any(|name| matches(name.as_str()))
        {
            return Err(match pattern.contains(':') {
                true => unknown_tracepoint(at, pattern, catalogue),
                false => EventsError::Unknown {
                    at,
                    name: pattern.clone(),
                    nearest: crate::scenario::nearest(pattern, plain.iter().map(String::as_str))
                        .map(str::to_owned),
                },
            });
        }
    }
    let is_wanted =
        |name: &str| patterns.is_empty() || patterns.iter().any(|pattern| glob(pattern, name));
    let plain = plain.into_iter().filter(|name| is_wanted(name));
    let mut all: Vec<ListedEvent> = plain.map(ListedEvent::Plain).collect();
    for name in names.into_iter().filter(|name| is_wanted(name.as_str())) {
        let format = match catalogue.format(&name) {
            Err(HostError::NoTracepoint { .. }) => None,
            format => Some(format?),
        };
        all.push(ListedEvent::Tracepoint(name, format));
    }
    Ok(all)
}

/// Returns the events that sources name themselves, in their written form.
fn of_sources(catalogue: &dyn Catalogue) -> Vec<String> {
    let names = catalogue.source_names();
    let sources = names.iter().filter_map(|name| catalogue.source(name));
    let events = |source: EventSource| {
        let EventSource { name, events, .. } = source;
        let events = events.into_keys();
        events.map(move |event| format!("{name}/{event}/"))
    };
    sources.flat_map(events).collect()
}
