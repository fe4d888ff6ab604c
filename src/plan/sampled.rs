//! Tracepoints and probes that are recorded or counted.

use super::RecordWish;
use super::error::EventsError;
use super::expand::{expand, unknown_tracepoint};
use super::filter;
use super::probes;
use super::word::Wanted;
use perf_live::events::Recorded;
use perf_live::host::{Catalogue, HostError};
use perf_records::attr::Source;
use perf_records::format::Format;

impl RecordWish {
    pub(super) fn probe(
        &self,
        wanted: &Wanted<'_>,
        catalogue: &dyn Catalogue,
        events: &mut Vec<Recorded>,
    ) -> Result<(), EventsError> {
        let Some(probe) = &wanted.probe else {
            return Ok(());
        };
        let format = probes::ask(wanted.at, probe, catalogue)?;
        self.tracepoint(wanted, &probe.name, &format, events)
    }

    pub(super) fn tracepoints(
        &self,
        wanted: &Wanted<'_>,
        catalogue: &dyn Catalogue,
        events: &mut Vec<Recorded>,
    ) -> Result<(), EventsError> {
        let Wanted { at, name: word, .. } = *wanted;
        if let Some(probe) = probes::stands_for(word, catalogue)? {
            let format = probes::ask(at, &probe, catalogue)?;
            return self.tracepoint(wanted, &probe.name, &format, events);
        }
        for name in expand(at, word, catalogue)? {
            let format = match catalogue.format(&name) {
                Err(HostError::NoTracepoint { .. }) => {
                    return Err(unknown_tracepoint(at, name.as_str(), catalogue));
                }
                other => other?,
            };
            self.tracepoint(wanted, name.as_str(), &format, events)?;
        }
        Ok(())
    }

    fn tracepoint(
        &self,
        wanted: &Wanted<'_>,
        name: &str,
        format: &Format,
        events: &mut Vec<Recorded>,
    ) -> Result<(), EventsError> {
        if let Some(text) = wanted.filter {
            let wrong = |source| EventsError::Filter {
                at: wanted.at,
                name: name.to_owned(),
                source,
            };
            filter::check(text, format).map_err(wrong)?;
        }
        let filter = wanted.filter.map(str::to_owned);
        let source = Source::Tracepoint(format.id);
        let mut event = self.named(name, source, filter, &wanted.terms);
        event.attr.modes = wanted.modes;
        // perf keeps one that is named twice as two; here they would be the same records twice.
        if !events.contains(&event) {
            events.push(event);
        }
        Ok(())
    }
}
