//! Turns the records of a session into one file or a series of files.

use super::filling::{Filling, kind};
use super::report::{FileError, FileReport, Lost};
use super::{Dumps, FlightLog, ForwardLog, Unnamed};
use crate::run::Preface;
use crate::run::record::{RecordingError, TICK};
use crate::run::recorded::{Counted, Tally, sum_of};
use crate::run::session::{SessionError, system};
use crate::run::triggers::Triggers;
use crate::run::{Bench, RunError};
use crate::run::{Output, Store, StoreError, StoreOptions, Stored};
use perf_live::events::{EventSet, Origin};
use perf_live::host::Living;
use perf_live::sys;
use perf_records::merge::Source as _;
use perf_records::record::{self, LayoutTable};
use perf_records::units::Nanos;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, SystemTime};

/// How many bytes of records of forward rings are kept while no file is asked for.
const MOST_BYTES: usize = 16 << 20;

/// How often forward rings are read while nothing waits for their records; a ring that is a quarter
/// full also wakes the reader.
const SLOW_TICK: Duration = Duration::from_secs(1);

/// Where files go.
#[derive(Debug)]
pub enum Destination {
    /// One file, which is open.
    One(Output),
    /// A series of files.
    Many(Dumps),
}

/// Writes the records of a session.
///
/// If events overwrite, a file is written only when it is [asked for](Triggers), and holds the span
/// that all rings remember. If none does, all records are written, and a request begins the next
/// file.
pub struct Recorder<'a> {
    bench: &'a Bench<'a>,
    preface: Preface,
    to: Destination,
    triggers: Triggers<'a>,
    /// Called with each file that is whole, and with each that could not be written.
    told: &'a mut dyn FnMut(Result<&FileReport, &FileError>),
    flight: Option<FlightLog>,
    forward: ForwardLog,
    /// The file that is being written.
    current: Option<(Option<Unnamed>, Store)>,
    tally: Tally,
    /// What the counters of forward events and of the side-band reported as lost.
    lost: Lost,
    /// The time at which the last round began: later records are not older.
    round: Nanos,
    n_samples: u64,
    length: u64,
    n_failed: u64,
}

impl<'a> Recorder<'a> {
    /// Describes the events, which must not have been started.
    ///
    /// # Errors
    /// [`StoreError`], also if no file can be made at the destination.
    pub fn begin(
        to: Destination,
        options: &StoreOptions,
        events: &mut EventSet,
        bench: &'a Bench<'a>,
        triggers: Triggers<'a>,
        told: &'a mut dyn FnMut(Result<&FileReport, &FileError>),
    ) -> Result<Self, StoreError> {
        if let Destination::Many(dumps) = &to {
            // To fail now rather than when the first file is asked for.
            dumps.begin()?;
        }
        Ok(Self {
            preface: Preface::new(options, events, bench)?,
            flight: FlightLog::begin(events),
            forward: ForwardLog::new(&[], MOST_BYTES),
            tally: Tally::new(events),
            lost: Lost::default(),
            round: sys::monotonic_now(),
            bench,
            to,
            triggers,
            told,
            current: None,
            n_samples: 0,
            length: 0,
            n_failed: 0,
        })
    }

    /// Starts the events that ask for files, if no `execve(2)` does.
    ///
    /// # Errors
    /// [`OpenError::Enable`](perf_live::events::OpenError::Enable).
    pub fn enable(&self) -> Result<(), RunError> {
        self.triggers.enable()
    }

    /// Takes the living processes, after the events have been started.
    ///
    /// # Errors
    /// [`RecordingError`].
    pub fn tell_of(
        &mut self,
        living: &[Living],
        events: &mut EventSet,
    ) -> Result<(), RecordingError> {
        self.forward = ForwardLog::new(living, MOST_BYTES);
        self.triggers.begin()?;
        if self.flight.is_none() {
            let first = self.next_file(events.parts().1);
            self.current = Some(first.map_err(StoreError::from)?);
        } else {
            // A dump needs all records of its time at once, and few come beside it.
            let by_looks = events.drain_by_looks();
            by_looks.map_err(system("drain the rings"))?;
        }
        Ok(())
    }

    /// Returns descriptors that are readable when there is work.
    pub(in crate::run) fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.triggers.descriptors()
    }

    /// Returns how long to wait for them at most.
    pub(in crate::run) fn patience(&self) -> Duration {
        let slow = self.flight.is_some() && !self.triggers.is_by_size();
        self.triggers
            .due_within(if slow { SLOW_TICK } else { TICK })
    }

    /// Takes what the rings hold, and writes the files that were asked for. Returns whether all
    /// that was drained has been taken.
    ///
    /// # Errors
    /// [`RecordingError`]; of a series, a file that cannot be written is no error.
    pub fn round(&mut self, events: &mut EventSet) -> Result<bool, RecordingError> {
        let is_all = self.drain(events)?;
        let written = events.flight().map_or(0, |(flight, _)| flight.written());
        let asked = self.triggers.asked(written);
        for _ in 0..asked? {
            self.triggers.begin_again();
            if self.flight.is_some() {
                self.dump(events)?;
            } else {
                self.rotate(events)?;
            }
        }
        Ok(is_all)
    }

    /// Writes the last file after the events have been stopped, and draws up the account of the
    /// events that do not overwrite, for all files together.
    ///
    /// # Errors
    /// [`RecordingError`], unless the file is one of a series.
    pub fn end(mut self, events: &mut EventSet) -> Result<(Stored, u64), RecordingError> {
        while !self.drain(events)? {}
        let mut left_out = Vec::new();
        if self.flight.is_some() {
            self.dump(events)?;
        } else if matches!(self.to, Destination::Many(_)) {
            self.finish(SystemTime::now(), None);
        } else if let Some((_, store)) = self.current.take() {
            let stored = store.end(events, self.bench.host, |_| BTreeMap::new())?;
            (self.n_samples, self.length) = (stored.n_samples, stored.length);
            left_out = stored.left_out;
        }
        let opened = events.opened().map_err(StoreError::from)?;
        let stored = Stored {
            n_samples: self.n_samples,
            length: self.length,
            events: self.tally.accounts(&opened),
            throttled: self.tally.throttled(&opened),
            side_band_lost: sum_of(&opened, Origin::SideBand).1.unwrap_or(0),
            full_rings: events.full_rings(),
            left_out,
        };
        Ok((stored, self.n_failed))
    }

    /// Takes new records from the rings; returns whether all that was drained has been taken.
    fn drain(&mut self, events: &mut EventSet) -> Result<bool, RecordingError> {
        let look = events.look().map_err(system("drain the rings"))?;
        let mut stopped = Vec::new();
        let (drains, table) = events.parts();
        for drain in drains {
            while let Some(bytes) = drain.peek().map_err(SessionError::from)? {
                self.triggers.count(bytes.len());
                let counted = self.tally.count(table, bytes);
                if let Counted::Last(place) = counted {
                    stopped.push(place);
                }
                if counted != Counted::Beyond {
                    self.take(table, bytes)?;
                }
                drain.pop();
            }
        }
        // A round ends when all rings have been looked at since the last one.
        if look.until > self.round {
            let ended = match &mut self.current {
                Some((_, store)) => store.round(),
                None => Ok(()),
            };
            self.written(ended)?;
            if self.flight.is_none() {
                self.forward.fold_until(table, self.round);
            }
            self.round = look.until;
        }
        let mut stopped = stopped.into_iter();
        let all = stopped.try_for_each(|place| events.stop(place));
        all.map_err(system("stop an event that had its records"))?;
        Ok(look.is_all)
    }

    fn take(&mut self, table: &LayoutTable<Origin>, bytes: &[u8]) -> Result<(), RecordingError> {
        let is_many = matches!(self.to, Destination::Many(_));
        if self.flight.is_some() || (is_many && kind(bytes) != record::kind::SAMPLE) {
            self.forward.push(table, bytes);
        }
        let taken = match &mut self.current {
            Some((_, store)) => store.record(table, bytes),
            None => Ok(()),
        };
        self.written(taken)
    }

    /// Ends the recording with the error of its only file; a file of a series is removed instead.
    fn written(&mut self, result: io::Result<()>) -> Result<(), RecordingError> {
        match (result, &self.to) {
            (Ok(()), _) => Ok(()),
            (Err(error), Destination::One(_)) => Err(StoreError::from(error).into()),
            (Err(error), Destination::Many(_)) => {
                self.current = None;
                self.failed(error);
                Ok(())
            }
        }
    }

    fn failed(&mut self, error: io::Error) {
        self.n_failed = self.n_failed.saturating_add(1);
        (self.told)(Err(&FileError(error)));
    }

    /// Begins a file with the tasks that lived, and the records of them since.
    fn next_file(&mut self, table: &LayoutTable<Origin>) -> io::Result<(Option<Unnamed>, Store)> {
        let (part, output) = match &mut self.to {
            Destination::One(Output::File(file)) => (None, Output::File(file.try_clone()?)),
            Destination::One(Output::Pipe(pipe)) => (None, Output::Pipe(pipe.try_clone()?)),
            Destination::Many(dumps) => {
                let (part, file) = dumps.begin()?;
                (Some(part), Output::File(file))
            }
        };
        let mut store = Store::of(output, &self.preface)?;
        store.tell_of(&[self.forward.ended(), self.forward.living()].concat())?;
        if self.flight.is_none() {
            for (_, bytes) in self.forward.since() {
                store.record(table, bytes)?;
            }
        }
        Ok((part, store))
    }

    /// Ends the file and gives it its name, or reports why that failed.
    fn finish(&mut self, moment: SystemTime, dump: Option<FileReport>) -> Option<()> {
        let (part, store) = self.current.take()?;
        let finished = match store.close(self.bench.host, BTreeMap::new()) {
            Ok((n_samples, length)) => {
                let mut report = dump.unwrap_or_default();
                (report.n_samples, report.length) = (n_samples, length);
                self.name(part, moment, report)
            }
            Err(error) => {
                // It is gone when that is said.
                drop(part);
                Err(error)
            }
        };
        match finished {
            Ok(report) => {
                self.n_samples = self.n_samples.saturating_add(report.n_samples);
                self.length = self.length.saturating_add(report.length);
                (self.told)(Ok(&report));
                Some(())
            }
            Err(error) => {
                self.failed(error);
                None
            }
        }
    }

    fn name(
        &mut self,
        part: Option<Unnamed>,
        moment: SystemTime,
        mut report: FileReport,
    ) -> io::Result<FileReport> {
        if let (Destination::Many(dumps), Some(part)) = (&mut self.to, part) {
            report.path = Some(dumps.keep(part, moment)?.to_owned());
            report.not_removed = dumps.trim().err();
        }
        Ok(report)
    }

    /// Ends a file that holds all records, and begins the next.
    fn rotate(&mut self, events: &mut EventSet) -> Result<(), RecordingError> {
        self.finish(SystemTime::now(), None);
        match self.next_file(events.parts().1) {
            Ok(next) => self.current = Some(next),
            Err(error) => self.written(Err(error))?,
        }
        Ok(())
    }

    /// Writes a file of what the rings remember.
    fn dump(&mut self, events: &mut EventSet) -> Result<(), RecordingError> {
        let moment = SystemTime::now();
        let Some(flight) = &mut self.flight else {
            return Ok(());
        };
        let dump = flight.dump(events)?;
        // By now the forward rings hold all records of the dump's time.
        while !self.drain(events)? {}
        let (since, until) = dump.span;
        let table = events.parts().1;
        let mut report = FileReport {
            span: Some(dump.span),
            overwriting: dump.events.clone(),
            forgot: !self.forward.reaches_back(since),
            ..FileReport::default()
        };
        self.forward.fold_until(table, since);
        let file = self.next_file(table);
        let told = self.forward.take_until(table, until);
        let mut tally = Tally::of_all(self.preface.n_requests);
        for (_, bytes) in &told {
            tally.count(table, bytes);
        }
        let opened = events.opened().map_err(StoreError::from)?;
        let lost = self
            .lost
            .say(&mut report, (opened.as_slice(), until), &tally);
        let filled = match file {
            Ok((part, mut store)) => {
                let mut filling = Filling::new(&dump, told);
                let mut filled = Ok(true);
                while let Ok(true) = filled {
                    filled = filling.piece(&mut store, events.parts().1);
                    // A file may take long to write; new records must find room meanwhile.
                    self.drain(events)?;
                }
                let table = events.parts().1;
                let mut lost = lost.iter();
                let filled = filled.and_then(|_| lost.try_for_each(|it| store.record(table, it)));
                self.current = Some((part, store));
                filled
            }
            Err(error) => Err(error),
        };
        let is_filled = filled.is_ok();
        self.written(filled.map(drop))?;
        if is_filled {
            self.finish(moment, Some(report));
        }
        Ok(())
    }
}
