//! Expands the name of a tracepoint to those that this kernel has.

use super::error::EventsError;
use perf_live::host::Catalogue;
use perf_records::glob::{glob, is_glob};
use perf_records::units::TracepointName;

/// Returns the tracepoints that `system:name` means; the name may be a glob.
///
/// # Errors
/// If a glob matches none. A name that is no glob is returned as it is.
pub(super) fn expand(
    at: usize,
    written: &str,
    catalogue: &dyn Catalogue,
) -> Result<Vec<TracepointName>, EventsError> {
    let no_event = || EventsError::NoEvent {
        at,
        name: written.to_owned(),
    };
    if let Some(name) = TracepointName::parse(written) {
        return Ok(vec![name]);
    }
    let (system, pattern) = written.split_once(':').ok_or_else(no_event)?;
    if TracepointName::parse(&format!("{system}:x")).is_none() || !is_glob(pattern) {
        return Err(no_event());
    }
    let events = catalogue.events(system)?;
    let matching = events.iter().filter(|event| glob(pattern, event));
    let names: Vec<_> = matching
        .filter_map(|event| TracepointName::parse(&format!("{system}:{event}")))
        .collect();
    if names.is_empty() {
        return Err(unknown_tracepoint(at, written, catalogue));
    }
    Ok(names)
}

/// Makes the complaint about a tracepoint that this kernel lacks.
pub(super) fn unknown_tracepoint(at: usize, name: &str, catalogue: &dyn Catalogue) -> EventsError {
    let system = name.split(':').next().unwrap_or_default();
    let whole = |system: &str, event: &String| format!("{system}:{event}");
    let same_system = catalogue.events(system).unwrap_or_default();
    let candidates: Vec<String> = if same_system.is_empty() {
        let event = name.split_once(':').map_or("", |(_, event)| event);
        let systems = catalogue.systems().unwrap_or_default();
        systems
            .iter()
            .map(|system| format!("{system}:{event}"))
            .collect()
    } else {
        same_system
            .iter()
            .map(|event| whole(system, event))
            .collect()
    };
    let nearest = crate::scenario::nearest(name, candidates.iter().map(String::as_str));
    EventsError::Tracepoint {
        at,
        name: name.to_owned(),
        nearest: nearest.map(str::to_owned),
    }
}
