//! Counts the samples of each request, and says what a recording has of them.

use perf_live::events::{EventAccount, EventSet, Opened, Origin};
use perf_records::attr::ReadFormat;
use perf_records::perfdata::Feature;
use perf_records::record::{self, Header, LayoutTable, Record};

/// The numbers of a finished recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Samples.
    pub n_samples: u64,
    /// Bytes.
    pub length: u64,
    /// For each event, the kernel's count against the samples.
    pub events: Vec<EventAccount>,
    /// The events that the kernel throttled, and how often: they had more samples than
    /// `kernel.perf_event_max_sample_rate` allows, and stood still for the rest of a tick. What
    /// happens then is neither sampled nor lost: how many samples there would have been is not
    /// known.
    pub throttled: Vec<(String, u64)>,
    /// How many records of names, forks, exits and mappings were lost.
    pub side_band_lost: u64,
    /// How many rings were full at the end, on a kernel that does not count what it drops: records
    /// may be missing there.
    pub full_rings: u64,
    /// What a pipe's stream has no room for (`Prologue::fit_pipe`).
    pub left_out: Vec<(Feature, usize)>,
}

impl Stored {
    /// Whether it is known that no record is missing.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.lost() == 0 && self.full_rings == 0
    }

    /// How many records are missing.
    #[must_use]
    pub fn lost(&self) -> u64 {
        let missing = |event: &EventAccount| event.missing().max(event.said_lost.unwrap_or(0));
        self.events.iter().map(missing).sum::<u64>() + self.side_band_lost
    }
}

/// The samples of each request.
#[derive(Clone, Debug)]
pub(in crate::run) struct Tally(Vec<Tallied>);

#[derive(Clone, Copy, Debug, Default)]
struct Tallied {
    n: u64,
    /// The sum of their periods.
    sum: u64,
    at_most: Option<u64>,
    /// How often the kernel throttled the event.
    throttled: u64,
}

/// What becomes of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run) enum Counted {
    /// It is wanted.
    Wanted,
    /// It is the last that is wanted of the event at this place.
    Last(usize),
    /// Its event already has as many as are wanted.
    Beyond,
}

impl Tally {
    /// Makes a tally of the events' requests, each with the number of samples that is wanted.
    pub(in crate::run) fn new(events: &EventSet) -> Self {
        let tallied = |place| Tallied {
            at_most: events.at_most(place),
            ..Tallied::default()
        };
        Self((0..events.n_requests()).map(tallied).collect())
    }

    /// Makes a tally without such a limit.
    pub(in crate::run) fn of_all(n_requests: usize) -> Self {
        Self(vec![Tallied::default(); n_requests])
    }

    /// Counts a record, if it is a sample.
    pub(in crate::run) fn count(&mut self, table: &LayoutTable<Origin>, bytes: &[u8]) -> Counted {
        let head = bytes.first_chunk().copied().unwrap_or_default();
        let kind = Header::from_bytes(head).kind;
        if kind == record::kind::THROTTLE
            && let Some((_, Origin::Request(place))) = table.resolve(bytes)
            && let Some(tallied) = self.0.get_mut(place)
        {
            tallied.throttled = tallied.throttled.saturating_add(1);
        }
        if kind != record::kind::SAMPLE {
            return Counted::Wanted;
        }
        let Some((layout, Origin::Request(place))) = table.resolve(bytes) else {
            return Counted::Wanted;
        };
        let Some(tallied) = self.0.get_mut(place) else {
            return Counted::Wanted;
        };
        if let Ok(Record::Sample(sample)) = record::parse(bytes, layout) {
            tallied.n = tallied.n.saturating_add(1);
            tallied.sum = tallied.sum.saturating_add(sample.period.unwrap_or(1));
        }
        match tallied.at_most {
            Some(most) if tallied.n == most => Counted::Last(place),
            Some(most) if tallied.n > most => Counted::Beyond,
            _ => Counted::Wanted,
        }
    }

    /// Returns the events that the kernel throttled, and how often.
    pub(in crate::run) fn throttled(&self, opened: &[Opened<'_>]) -> Vec<(String, u64)> {
        let of_place = |(place, tallied): (usize, &Tallied)| {
            let origin = Origin::Request(place);
            let event = opened.iter().find(|event| event.origin == origin)?;
            (tallied.throttled > 0).then(|| (event.name.to_owned(), tallied.throttled))
        };
        self.0.iter().enumerate().filter_map(of_place).collect()
    }

    /// How many requests there are.
    pub(in crate::run) fn n_requests(&self) -> usize {
        self.0.len()
    }

    /// Returns the number of samples of one request.
    pub(in crate::run) fn n_of(&self, place: usize) -> u64 {
        self.0.get(place).map_or(0, |tallied| tallied.n)
    }

    /// Returns how many occurrences of one request the samples tell of.
    pub(in crate::run) fn occurrences_of(&self, place: usize) -> u64 {
        self.0.get(place).map_or(0, |tallied| tallied.sum)
    }

    /// Returns the number of all samples.
    pub(in crate::run) fn n_samples(&self) -> u64 {
        self.0.iter().map(|tallied| tallied.n).sum()
    }

    /// Compares samples and counters. An event whose every occurrence is a sample must have as many
    /// as its counter says; of other events the kernel alone knows what it lost. Overwritten
    /// records are not accounted for here.
    pub(in crate::run) fn accounts(&self, opened: &[Opened<'_>]) -> Vec<EventAccount> {
        let account = |(place, tallied): (usize, &Tallied)| {
            let origin = Origin::Request(place);
            let mut of_it = opened.iter().filter(|event| event.origin == origin);
            let event = of_it.find(|event| !event.attr.write_backward)?;
            let (value, said_lost) = sum_of(opened, origin);
            let has_lost = event.attr.read_format.has(ReadFormat::LOST);
            let said_lost = said_lost.filter(|_| has_lost);
            let (counted, delivered) = if event.attr.records_each() {
                (value, tallied.sum)
            } else {
                let lost = said_lost.unwrap_or(0);
                (tallied.n.saturating_add(lost), tallied.n)
            };
            Some(EventAccount {
                name: event.name.to_owned(),
                counted,
                delivered,
                said_lost,
                overwritten: 0,
                sampled: false,
            })
        };
        self.0.iter().enumerate().filter_map(account).collect()
    }
}

/// Sums up all counters of an event: value, and lost records.
pub(in crate::run) fn sum_of(opened: &[Opened<'_>], origin: Origin) -> (u64, Option<u64>) {
    let counts = opened.iter().filter(|event| event.origin == origin);
    let counts = counts.filter_map(|event| event.counts);
    counts.fold((0, Some(0)), |(value, lost), counts| {
        let lost = lost.zip(counts.lost).map(|(sum, lost)| sum + lost);
        (value + counts.value, lost)
    })
}
