//! What overwritten rings held at one moment: the same span of time on all CPUs, and an account of
//! the other records.

mod alive;
mod dumps;
mod filling;
mod forward;
mod recorder;
mod report;

pub use dumps::{Dumps, Unnamed};
pub use forward::ForwardLog;
pub use recorder::{Destination, Recorder};
pub use report::{FileError, FileReport, KeptAccount};

use super::session::{SessionError, system};
use perf_live::events::{EventSet, Origin};
use perf_live::ring::Stretch;
use perf_live::sys;
use perf_records::record::{self, Header, LayoutTable, Record};
use perf_records::units::Nanos;
use std::fmt;
use std::io;

/// Remembers from one dump to the next what was already dumped.
#[derive(Debug)]
pub struct FlightLog {
    /// For each request, the counter's value and the lost records at the last dump.
    counted: Vec<(u64, u64)>,
    /// The time since which the rings hold everything, if nothing was overwritten.
    since: Nanos,
}

/// The account of an event's records since the last dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlightAccount {
    /// The event's name.
    pub name: String,
    /// How often it fired; `None` if the counter does not tell how many records there were.
    pub counted: Option<u64>,
    /// How many records are in the dump.
    pub n_records: u64,
    /// How many occurrences the dump's records tell of.
    pub delivered: u64,
    /// How many occurrences were read that lie outside the dump's span, where not all rings reach.
    pub outside: u64,
    /// How many records the kernel refused while the rings were frozen; `None` before Linux 6.0,
    /// which does not count them.
    pub fallen: Option<u64>,
}

impl FlightAccount {
    /// Returns how many were overwritten by newer ones: all that are neither in the dump nor
    /// refused. Exact if the events have been stopped; otherwise an event that fires between the
    /// reading of the two counts may be missing from this number.
    #[must_use]
    pub fn overwritten(&self) -> Option<u64> {
        let others = self.delivered + self.outside + self.fallen.unwrap_or(0);
        self.counted.map(|counted| counted.saturating_sub(others))
    }
}

impl fmt::Display for FlightAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {} records", self.name, self.n_records)?;
        if let Some(overwritten) = self.overwritten() {
            write!(f, ", {overwritten} overwritten")?;
        }
        if self.outside > 0 {
            write!(f, ", {} outside of the span", self.outside)?;
        }
        if let Some(fallen) = self.fallen.filter(|fallen| *fallen > 0) {
            write!(f, ", {fallen} fell while it was frozen")?;
        }
        Ok(())
    }
}

/// The records of a span of time that is the same for all CPUs.
#[derive(Debug, Default)]
pub struct Dump {
    stretches: Vec<Stretch>,
    /// The records by time: time, stretch, and place in the stretch.
    order: Vec<(Nanos, usize, usize)>,
    /// From the oldest moment since which all rings hold everything to the moment at which they
    /// were frozen.
    pub span: (Nanos, Nanos),
    /// Whether records before that span were overwritten.
    pub is_cut: bool,
    /// One account for each event that overwrites.
    pub events: Vec<FlightAccount>,
}

impl Dump {
    /// Returns its records by time, the oldest first.
    pub fn records(&self) -> impl Iterator<Item = &[u8]> {
        let stretch = |place: &usize| self.stretches.get(*place);
        self.order
            .iter()
            .filter_map(move |(_, place, number)| stretch(place)?.record(*number))
    }

    /// How many records it holds.
    #[must_use]
    pub fn n_records(&self) -> usize {
        self.order.len()
    }
}

impl FlightLog {
    /// Starts here: from now on the rings hold everything. Returns `None` if no event overwrites.
    pub fn begin(events: &mut EventSet) -> Option<Self> {
        events.flight()?;
        Some(Self {
            counted: vec![(0, 0); events.n_requests()],
            since: sys::monotonic_now(),
        })
    }

    /// Freezes the rings, copies what they hold, and lets them run again.
    ///
    /// # Errors
    /// [`SessionError`]; the rings then run again.
    pub fn dump(&mut self, events: &mut EventSet) -> Result<Dump, SessionError> {
        let n_requests = events.n_requests();
        let Some((flight, writers)) = events.flight() else {
            return Ok(Dump::default());
        };
        let frozen = flight.freeze();
        let frozen = frozen.map_err(system("freeze the rings that are overwritten"))?;
        let until = frozen.at();
        let (stretches, empty) = frozen.read()?;
        // Read while the rings are frozen, so that the numbers and the records are of one moment.
        let counted: io::Result<Vec<_>> = (0..n_requests)
            .map(|place| writers.request(place))
            .collect();
        let counted = counted.map_err(system("read the counters"))?;
        let resumed = sys::monotonic_now();
        let running = empty.resume();
        running.map_err(system("let the rings run again"))?;

        let table = writers.table();
        let mut sums = vec![Sums::default(); n_requests];
        let since = common_start(&stretches, table, self.since);
        let mut order = Vec::new();
        for (place, stretch) in stretches.iter().enumerate() {
            for (number, record) in stretch.records().enumerate() {
                let time = table.time(record).unwrap_or(since);
                let is_inside = (since..=until).contains(&time);
                if is_inside {
                    order.push((time, place, number));
                }
                if let Some((request, weight)) = occurrences(record, table)
                    && let Some(sums) = sums.get_mut(request)
                {
                    sums.add(weight, is_inside);
                }
            }
        }
        // A stable sort: records of the same time stay in the order of their CPU.
        order.sort_by_key(|(time, ..)| *time);
        let is_cut = stretches.iter().any(|stretch| stretch.overwritten() > 0);
        let mut accounts = Vec::new();
        for ((counted, before), sums) in counted.iter().zip(&mut self.counted).zip(&sums) {
            let Some(event) = counted else { continue };
            let value = event.counts.value;
            let lost = event.counts.lost;
            accounts.push(FlightAccount {
                name: event.name.to_owned(),
                counted: event.records_each.then(|| value.saturating_sub(before.0)),
                n_records: sums.n_records,
                delivered: sums.delivered,
                outside: sums.outside,
                fallen: lost.map(|lost| lost.saturating_sub(before.1)),
            });
            *before = (value, lost.unwrap_or(0));
        }
        self.since = resumed;
        Ok(Dump {
            stretches,
            order,
            span: (since, until),
            is_cut,
            events: accounts,
        })
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    n_records: u64,
    delivered: u64,
    outside: u64,
}

impl Sums {
    fn add(&mut self, weight: u64, is_inside: bool) {
        if is_inside {
            self.n_records += 1;
            self.delivered += weight;
        } else {
            self.outside += weight;
        }
    }
}

/// Returns the oldest moment since which all rings hold everything: the latest of the first records
/// of the rings that overwrote some, and no earlier than `since`.
fn common_start(stretches: &[Stretch], table: &LayoutTable<Origin>, since: Nanos) -> Nanos {
    let cut = stretches.iter().filter(|stretch| stretch.overwritten() > 0);
    let oldest = cut.filter_map(|stretch| stretch.records().find_map(|record| table.time(record)));
    oldest.fold(since, Nanos::max)
}

/// Returns the request that a sample belongs to, and the number of occurrences that it tells of.
fn occurrences(record: &[u8], table: &LayoutTable<Origin>) -> Option<(usize, u64)> {
    let header = Header::from_bytes(*record.first_chunk()?);
    if header.kind != record::kind::SAMPLE {
        return None;
    }
    match table.resolve(record)? {
        (layout, Origin::Request(place)) => match record::parse(record, layout) {
            Ok(Record::Sample(sample)) => Some((place, sample.period.unwrap_or(1))),
            _ => None,
        },
        _ => None,
    }
}
