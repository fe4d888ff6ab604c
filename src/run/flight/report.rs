//! What is said of a file of several.

use super::FlightAccount;
use crate::run::recorded::{Tally, sum_of};
use perf_live::events::{Opened, Origin};
use perf_records::units::Nanos;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// A file that is whole.
#[derive(Debug, Default)]
pub struct FileReport {
    /// Its name; `None` where it is the only one, and had one before.
    pub path: Option<PathBuf>,
    /// Samples.
    pub n_samples: u64,
    /// Bytes.
    pub length: u64,
    /// From when to when; `None` where it holds all that came.
    pub span: Option<(Nanos, Nanos)>,
    /// The events that overwrite.
    pub overwriting: Vec<FlightAccount>,
    /// The others of a recording in which some do.
    pub keeping: Vec<KeptAccount>,
    /// Names, forks, exits and mappings that found no room since the last file.
    pub side_band_lost: u64,
    /// Whether who lived at the begin of the span could not be told from who lived later: so much
    /// had been told since.
    pub forgot: bool,
    /// Why an older one could not be removed.
    pub not_removed: Option<io::Error>,
}

/// The records of an event that does not overwrite, among those of others that do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptAccount {
    /// The event.
    pub name: String,
    /// How many records are in the file.
    pub n_records: u64,
    /// How many found no room since the last one.
    pub lost: u64,
}

impl fmt::Display for KeptAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            n_records,
            lost,
        } = self;
        write!(f, "`{name}`: {n_records} records, {lost} lost")
    }
}

/// A file could not be written; what was written of it is gone, and those before it are there.
#[derive(Debug, thiserror::Error)]
#[error("a file of the recording could not be written")]
pub struct FileError(#[source] pub(super) io::Error);

/// What the counters say was lost, at the end of the last file.
#[derive(Debug, Default)]
pub(super) struct Lost {
    requests: Vec<u64>,
    side_band: u64,
}

impl Lost {
    /// Says in the report what has been lost since, and remembers it.
    pub(super) fn say(&mut self, report: &mut FileReport, opened: &[Opened<'_>], tally: &Tally) {
        let lost = |origin| sum_of(opened, origin).1.unwrap_or(0);
        self.requests.resize(tally.n_requests(), 0);
        for (place, before) in self.requests.iter_mut().enumerate() {
            let origin = Origin::Request(place);
            let is_it = |event: &&Opened<'_>| event.origin == origin && !event.attr.write_backward;
            let Some(event) = opened.iter().find(is_it) else {
                continue;
            };
            let now = lost(origin);
            report.keeping.push(KeptAccount {
                name: event.shown.unwrap_or(event.name).to_owned(),
                n_records: tally.n_of(place),
                lost: now.saturating_sub(*before),
            });
            *before = now;
        }
        let now = lost(Origin::SideBand);
        report.side_band_lost = now.saturating_sub(self.side_band);
        self.side_band = now;
    }
}
