//! The events that this kernel has, by name.

use super::error::EventsError;
use super::expand::{glob, unknown_tracepoint};
use super::source::SOFTWARE;
use crate::format::Format;
use crate::host::{Catalogue, HostError};
use crate::units::TracepointName;
use std::sync::Arc;

/// The layouts of ftrace's own records, of which `perf_event_open(2)` takes those alone that have something to be registered with
/// (`event_create_dir()`, `kernel/trace/trace_events.c`, gives these an `id`).
const OF_FTRACE: (&str, [&str; 2]) = ("ftrace", ["function", "print"]);

/// An event that may be named wherever events are.
#[derive(Clone, Debug)]
pub enum ListedEvent {
    /// A software event: it has no fields of its own.
    Software(&'static str),
    /// A tracepoint; without a format where the kernel has none to show (`ftrace:function` and its like).
    Tracepoint(TracepointName, Option<Arc<Format>>),
}

/// The events whose names match one of these patterns, in which `*` stands for anything; all of them without any. In the order of their names,
/// software events first.
///
/// # Errors
/// [`EventsError::Tracepoint`] or [`EventsError::Unknown`] for the first pattern that matches none; where the host cannot be asked.
pub fn listed(
    patterns: &[String],
    catalogue: &dyn Catalogue,
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
    let software = SOFTWARE.iter().map(|(name, _)| *name);
    for (at, pattern) in patterns.iter().enumerate() {
        let matches = |name: &str| glob(pattern, name);
        if !software.clone().any(matches) && !names.iter().any(|name| matches(name.as_str())) {
            return Err(match pattern.contains(':') {
                true => unknown_tracepoint(at, pattern, catalogue),
                false => EventsError::Unknown {
                    at,
                    name: pattern.clone(),
                    nearest: crate::scenario::nearest(pattern, software).map(str::to_owned),
                },
            });
        }
    }
    let is_wanted =
        |name: &str| patterns.is_empty() || patterns.iter().any(|pattern| glob(pattern, name));
    let software = software.filter(|name| is_wanted(name));
    let mut all: Vec<ListedEvent> = software.map(ListedEvent::Software).collect();
    for name in names.into_iter().filter(|name| is_wanted(name.as_str())) {
        let format = match catalogue.format(&name) {
            Err(HostError::NoTracepoint { .. }) => None,
            format => Some(format?),
        };
        all.push(ListedEvent::Tracepoint(name, format));
    }
    Ok(all)
}
