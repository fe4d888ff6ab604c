//! The report on one file of a series.

use super::FlightAccount;
use crate::run::recorded::{Tally, origin, sum_of};
use perf_live::events::{Opened, Origin};
use perf_records::perfdata::synthesized;
use perf_records::units::{Nanos, Pid, Tid};
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
    /// The first and the last moment; `None` if the file holds all records.
    pub span: Option<(Nanos, Nanos)>,
    /// The accounts of the events that overwrite.
    pub overwriting: Vec<FlightAccount>,
    /// The accounts of the other events, if some overwrite.
    pub keeping: Vec<KeptAccount>,
    /// How many records of names, forks, exits and mappings were lost since the last file.
    pub side_band_lost: u64,
    /// Whether the tasks that lived at the begin of the span are not known: too many records had
    /// come since.
    pub forgot: bool,
    /// Why an older file could not be removed.
    pub not_removed: Option<io::Error>,
}

/// The records of an event that does not overwrite, among those of others that do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptAccount {
    /// The event.
    pub name: String,
    /// How many records are in the file.
    pub n_records: u64,
    /// How many were lost since the last file.
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

/// A file of a series could not be written; its part is removed, and the earlier files stay.
#[derive(Debug, thiserror::Error)]
#[error("a file of the recording could not be written")]
pub struct FileError(#[source] pub(super) io::Error);

/// What the counters reported as lost at the end of the last file.
#[derive(Debug, Default)]
pub(super) struct Lost {
    requests: Vec<u64>,
    side_band: u64,
}

impl Lost {
    /// Adds to a report what was lost since the last one, and remembers the new counts. Returns the
    /// records that say the same in the file, of this moment.
    pub(super) fn say(
        &mut self,
        report: &mut FileReport,
        (opened, moment): (&[Opened<'_>], Nanos),
        tally: &Tally,
    ) -> Vec<Vec<u8>> {
        let mut records = Vec::new();
        let mut record = |event: &Opened<'_>, lost: u64| {
            let origin = origin(event, (Pid(0), Tid(0)), moment.0);
            records.extend((lost > 0).then(|| synthesized::lost_samples(&origin, lost)));
        };
        let lost = |origin| sum_of(opened, origin).1.unwrap_or(0);
        self.requests.resize(tally.n_requests(), 0);
        for (place, before) in self.requests.iter_mut().enumerate() {
            let origin = Origin::Request(place);
            let is_it = |event: &&Opened<'_>| event.origin == origin && !event.attr.write_backward;
            let Some(event) = opened.iter().find(is_it) else {
                continue;
            };
            let now = lost(origin);
            let since = now.saturating_sub(*before);
            record(event, since);
            report.keeping.push(KeptAccount {
                name: event.shown.unwrap_or(event.name).to_owned(),
                n_records: tally.n_of(place),
                lost: since,
            });
            *before = now;
        }
        let now = lost(Origin::SideBand);
        report.side_band_lost = now.saturating_sub(self.side_band);
        self.side_band = now;
        let side_band = opened.iter().find(|it| it.origin == Origin::SideBand);
        side_band.inspect(|event| record(event, report.side_band_lost));
        records
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_live::sys::perf::Counts;
    use perf_records::attr::{Attr, SampleType};
    use perf_records::record::{Record, parse};
    use perf_records::units::Cpu;

    #[test]
    fn what_was_lost_since_the_last_file_stands_in_the_file_as_in_its_report() {
        let attr = |write_backward| Attr {
            sample_type: SampleType::IDENTIFIER,
            write_backward,
            ..Attr::holding(0)
        };
        let event = |origin, write_backward, lost| Opened {
            origin,
            name: "calls",
            shown: None,
            id: 7,
            cpu: Cpu(0),
            attr: attr(write_backward),
            counts: Some(Counts {
                value: 0,
                lost: Some(lost),
                times: None,
            }),
        };
        let tally = Tally::of_all(2);
        let mut lost = Lost::default();
        let mut said = |counts: [u64; 3]| {
            let [streamed, overwritten, side_band] = counts;
            let opened = [
                event(Origin::Request(0), false, streamed),
                event(Origin::Request(1), true, overwritten),
                event(Origin::SideBand, false, side_band),
            ];
            let mut report = FileReport::default();
            let records = lost.say(&mut report, (&opened, Nanos(5)), &tally);
            let layout = attr(false).layout();
            let counts = records.iter().map(|bytes| match parse(bytes, &layout) {
                Ok(Record::LostSamples(count, _)) => count,
                other => panic!("{other:?}"),
            });
            (counts.collect::<Vec<_>>(), report.side_band_lost)
        };
        assert_eq!(said([3, 9, 0]), (vec![3], 0));
        assert_eq!(said([3, 9, 0]), (vec![], 0));
        assert_eq!(said([5, 9, 4]), (vec![2, 4], 4));
    }
}
