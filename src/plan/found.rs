//! Finds the tracepoints, or the probe, that a name means on this machine: the one way for
//! scenarios, traces, recordings and counters.

use super::calls::{RAW, Reach};
use super::error::EventsError;
use super::expand::{expand, unknown_tracepoint};
use super::filter::FilterError;
use super::probes;
use perf_live::host::{Catalogue, HostError};
use perf_live::units::Probe;
use perf_records::format::Format;
use perf_records::units::TracepointName;
use std::sync::Arc;

/// A name that is neither a call nor a software event, and its place among the wants.
pub(super) struct Sought<'a> {
    pub(super) at: usize,
    pub(super) name: &'a str,
    pub(super) probe: Option<&'a Probe>,
    pub(super) filter: Option<&'a str>,
    /// How a filter is checked.
    pub(super) check: fn(&str, &Format) -> Result<(), FilterError>,
    /// How far the right to trace goes.
    pub(super) reach: Reach,
}

/// What such a name is.
pub(super) struct Found {
    /// `system:name`.
    pub(super) name: String,
    pub(super) format: Arc<Format>,
    /// The probe, if the event exists only while it is asked for.
    pub(super) probe: Option<Probe>,
}

impl Sought<'_> {
    /// Returns all that the name means; its filter must suit each of them.
    pub(super) fn find(&self, catalogue: &dyn Catalogue) -> Result<Vec<Found>, EventsError> {
        let stands_for = match self.probe {
            Some(_) => None,
            None => probes::stands_for(self.name, catalogue)?,
        };
        if let Some(probe) = self.probe.or(stands_for.as_ref()) {
            if self.reach.has_own_tracepoints() {
                return Err(self.out_of_reach(&probe.name));
            }
            let format = probes::ask(self.at, probe, catalogue)?;
            let probe = Some(probe.clone());
            let name = probe
                .as_ref()
                .map_or_else(String::new, |probe| probe.name.clone());
            return Ok(vec![self.checked(name, format, probe)?]);
        }
        let names = expand(self.at, self.name, catalogue)?.into_iter();
        names
            .map(|name| self.tracepoint(&name, catalogue))
            .collect()
    }

    fn tracepoint(
        &self,
        name: &TracepointName,
        catalogue: &dyn Catalogue,
    ) -> Result<Found, EventsError> {
        // This user can open it, but it would never show anything.
        if self.reach == Reach::OwnCalls && name.system() == RAW {
            return Err(self.out_of_reach(name.as_str()));
        }
        match catalogue.format(name) {
            Err(HostError::NoTracepoint { .. }) => {
                Err(unknown_tracepoint(self.at, name.as_str(), catalogue))
            }
            format => self.checked(name.to_string(), format?, None),
        }
    }

    fn checked(
        &self,
        name: String,
        format: Arc<Format>,
        probe: Option<Probe>,
    ) -> Result<Found, EventsError> {
        match self
            .filter
            .map_or(Ok(()), |text| (self.check)(text, &format))
        {
            Ok(()) => Ok(Found {
                name,
                format,
                probe,
            }),
            Err(source) => Err(EventsError::Filter {
                at: self.at,
                name,
                source,
            }),
        }
    }

    fn out_of_reach(&self, name: &str) -> EventsError {
        EventsError::OutOfReach {
            at: self.at,
            name: name.to_owned(),
        }
    }
}
