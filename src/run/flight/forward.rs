//! Keeps the records of tasks for as long as they may be wanted: the tasks that lived at a moment,
//! and the records since.

use super::alive::Alive;
use super::filling::Told;
use perf_live::events::Origin;
use perf_live::host::Living;
use perf_records::record::{self, LayoutTable};
use perf_records::units::Nanos;
use std::collections::BTreeMap;

/// The memory that a record takes besides its bytes.
const OVERHEAD: usize = 64;

/// The records of forward rings by time, and the tasks that lived before the first of them.
///
/// So a recording that begins at a moment that the log [reaches back to](Self::reaches_back) is
/// complete in itself: it begins with the tasks that lived then, and goes on with the records
/// since. Records too old to be wanted are folded into the living tasks by
/// [`ForwardLog::fold_until`]; if the log exceeds its limit of bytes, the oldest records are folded
/// at once.
#[derive(Debug)]
pub struct ForwardLog {
    alive: Alive,
    /// The number orders records of the same time.
    records: BTreeMap<(Nanos, u64), Box<[u8]>>,
    n_pushed: u64,
    bytes: usize,
    most_bytes: usize,
    begin: Nanos,
    folded_early: u64,
}

impl ForwardLog {
    /// Begins with these living processes, and holds at most `most_bytes` of records.
    #[must_use]
    pub fn new(living: &[Living], most_bytes: usize) -> Self {
        Self {
            alive: Alive::begin(living),
            records: BTreeMap::new(),
            n_pushed: 0,
            bytes: 0,
            most_bytes,
            begin: Nanos(0),
            folded_early: 0,
        }
    }

    /// Takes a record, in any order; one without a time counts as the oldest.
    pub fn push(&mut self, table: &LayoutTable<Origin>, bytes: &[u8]) {
        let time = table.time(bytes).unwrap_or_default();
        self.n_pushed = self.n_pushed.saturating_add(1);
        self.bytes = self.bytes.saturating_add(cost(bytes));
        self.records.insert((time, self.n_pushed), bytes.into());
        while self.bytes > self.most_bytes && self.fold_first(table).is_some() {
            self.folded_early = self.folded_early.saturating_add(1);
        }
    }

    /// Folds the records before `moment`: no recording will begin before it.
    pub fn fold_until(&mut self, table: &LayoutTable<Origin>, moment: Nanos) {
        while let Some(((time, _), _)) = self.records.first_key_value()
            && *time < moment
        {
            self.fold_first(table);
        }
        self.begin = self.begin.max(moment);
    }

    /// Takes out the records up to a moment, the oldest first, and folds them into the living
    /// tasks.
    pub(super) fn take_until(&mut self, table: &LayoutTable<Origin>, moment: Nanos) -> Vec<Told> {
        let mut taken = Vec::new();
        while let Some(((time, _), _)) = self.records.first_key_value()
            && *time <= moment
        {
            taken.extend(self.fold_first(table));
        }
        self.begin = self.begin.max(moment);
        taken
    }

    fn fold_first(&mut self, table: &LayoutTable<Origin>) -> Option<Told> {
        let ((time, _), bytes) = self.records.pop_first()?;
        self.begin = self.begin.max(time);
        self.bytes = self.bytes.saturating_sub(cost(&bytes));
        if let Some((layout, _)) = table.resolve(&bytes)
            && let Ok(record) = record::parse(&bytes, layout)
        {
            self.alive.fold(&record);
        }
        Some((time, bytes))
    }

    /// Returns the processes that lived when the first of the [records](Self::since) came.
    #[must_use]
    pub fn living(&self) -> Vec<Living> {
        self.alive.living()
    }

    /// Returns the threads that had ended shortly before, each by itself: records may still tell of
    /// them.
    #[must_use]
    pub fn ended(&self) -> Vec<Living> {
        self.alive.ended()
    }

    /// The records, the oldest first.
    pub fn since(&self) -> impl Iterator<Item = (Nanos, &[u8])> {
        self.records
            .iter()
            .map(|((time, _), bytes)| (*time, &**bytes))
    }

    /// Whether a recording may begin at `to`: no later record was folded.
    #[must_use]
    pub fn reaches_back(&self, to: Nanos) -> bool {
        self.begin <= to
    }

    /// Returns how many records were folded for lack of room.
    #[must_use]
    pub fn folded_early(&self) -> u64 {
        self.folded_early
    }
}

fn cost(bytes: &[u8]) -> usize {
    bytes.len().saturating_add(OVERHEAD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_records::attr::{Layout, SAMPLE_TYPE};
    use perf_records::perfdata::synthesized;
    use perf_records::units::{Cpu, Pid, Tid};

    const ID: u64 = 5;

    fn table() -> LayoutTable<Origin> {
        let layout = Layout {
            sample_type: SAMPLE_TYPE,
            sample_id_all: true,
            ..Layout::default()
        };
        LayoutTable::new([(ID, layout, Origin::SideBand)]).unwrap()
    }

    fn named(time: u64, pid: u32, name: &str) -> Vec<u8> {
        let origin = synthesized::Origin {
            sample_type: SAMPLE_TYPE,
            id: ID,
            task: (Pid(pid), Tid(pid)),
            time,
            cpu: Cpu(0),
        };
        synthesized::comm(&origin, name.as_bytes())
    }

    fn names(log: &ForwardLog) -> Vec<String> {
        let threads = log.living().into_iter().flat_map(|living| living.threads);
        threads
            .map(|thread| String::from_utf8_lossy(&thread.name).into_owned())
            .collect()
    }

    fn times(log: &ForwardLog) -> Vec<u64> {
        log.since().map(|(time, _)| time.0).collect()
    }

    #[test]
    fn it_is_who_lived_at_a_moment_and_what_came_since() {
        let (table, mut log) = (table(), ForwardLog::new(&[], 1 << 20));
        // Two rings, each in its order.
        for (time, name) in [(10, "a"), (30, "c"), (20, "b"), (40, "d")] {
            log.push(&table, &named(time, 1, name));
        }
        log.fold_until(&table, Nanos(30));
        assert_eq!(names(&log), ["b"]);
        assert_eq!(times(&log), [30, 40]);
        assert!(log.reaches_back(Nanos(30)) && !log.reaches_back(Nanos(29)));
        log.fold_until(&table, Nanos(1000));
        assert_eq!((names(&log), times(&log)), (vec!["d".to_owned()], vec![]));
        assert_eq!((log.bytes, log.folded_early()), (0, 0));
    }

    #[test]
    fn beyond_its_limit_the_oldest_go_and_are_counted() {
        let record = named(1, 1, "a");
        let (table, mut log) = (table(), ForwardLog::new(&[], 3 * cost(&record)));
        for time in 1..=10 {
            log.push(&table, &named(time, 1, "a"));
        }
        assert_eq!(times(&log), [8, 9, 10]);
        assert_eq!(log.folded_early(), 7);
        assert!(log.reaches_back(Nanos(8)) && !log.reaches_back(Nanos(6)));
    }
}
