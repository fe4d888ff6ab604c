//! Takes what is recorded, and makes files of it: one, or one after the other.

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

/// How many bytes are kept of what forward rings told, while nobody asks for a file.
const MOST_BYTES: usize = 16 << 20;

/// How often the forward rings are looked after where nobody waits for what is in them; a quarter
/// of one that is full wakes as well.
const SLOW_TICK: Duration = Duration::from_secs(1);

/// Where files go.
#[derive(Debug)]
pub enum Destination {
    /// One, which is there.
    One(Output),
    /// One after the other.
    Many(Dumps),
}

/// Takes the records of a session.
///
/// Where events overwrite, nothing is written until somebody [asks](Triggers) for it; a file then
/// holds the span that all rings remember. Where none does, all that comes is written, and whoever
/// asks begins the next file.
pub struct Recorder<'a> {
    bench: &'a Bench<'a>,
    preface: Preface,
    to: Destination,
    triggers: Triggers<'a>,
    /// Told of each file that is whole, or that is not.
    told: &'a mut dyn FnMut(Result<&FileReport, &FileError>),
    flight: Option<FlightLog>,
    forward: ForwardLog,
    /// The file that is being written.
    current: Option<(Option<Unnamed>, Store)>,
    tally: Tally,
    /// What the counters of forward events and of the side-band said was lost.
    lost: Lost,
    /// When the last round began: what comes from now on is not older.
    round: Nanos,
    n_samples: u64,
    length: u64,
    n_failed: u64,
}

impl<'a> Recorder<'a> {
    /// Describes the events, which have not been started.
    ///
    /// # Errors
    /// [`StoreError`], for the place where files go as well.
    pub fn begin(
        to: Destination,
        options: &StoreOptions,
        events: &mut EventSet,
        bench: &'a Bench<'a>,
        triggers: Triggers<'a>,
        told: &'a mut dyn FnMut(Result<&FileReport, &FileError>),
    ) -> Result<Self, StoreError> {
        if let Destination::Many(dumps) = &to {
            // Rather now than when it is wanted.
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

    /// These live, and the events have been started.
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
            // A dump wants all that is as old as itself at once, and little comes beside it.
            let by_looks = events.drain_by_looks();
            by_looks.map_err(system("drain the rings"))?;
        }
        Ok(())
    }

    /// Readable when there is something to do.
    pub(in crate::run) fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.triggers.descriptors()
    }

    /// How long to wait for that at most.
    pub(in crate::run) fn patience(&self) -> Duration {
        let slow = self.flight.is_some() && !self.triggers.is_by_size();
        self.triggers
            .due_within(if slow { SLOW_TICK } else { TICK })
    }

    /// Takes what the rings hold, and makes the files that were asked for; whether that was all
    /// that has been drained.
    ///
    /// # Errors
    /// [`RecordingError`]; that a file of several cannot be written is none.
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

    /// Writes the last file when the events have been stopped, and draws up the account of what
    /// does not overwrite: of all files together.
    ///
    /// # Errors
    /// [`RecordingError`], for what has no other file beside it.
    pub fn end(mut self, events: &mut EventSet) -> Result<(Stored, u64), RecordingError> {
        while !self.drain(events)? {}
        if self.flight.is_some() {
            self.dump(events)?;
        } else if matches!(self.to, Destination::Many(_)) {
            self.finish(SystemTime::now(), None);
        } else if let Some((_, store)) = self.current.take() {
            let stored = store.end(events, self.bench.host, |_| BTreeMap::new())?;
            (self.n_samples, self.length) = (stored.n_samples, stored.length);
        }
        let opened = events.opened().map_err(StoreError::from)?;
        let stored = Stored {
            n_samples: self.n_samples,
            length: self.length,
            events: self.tally.accounts(&opened),
            throttled: self.tally.throttled(&opened),
            side_band_lost: sum_of(&opened, Origin::SideBand).1.unwrap_or(0),
            full_rings: events.full_rings(),
        };
        Ok((stored, self.n_failed))
    }

    /// Takes what is new in the rings; whether that was all that has been drained.
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
        // A round ends where all rings were looked at since the last one.
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

    /// That a file could not be written ends the recording only if there is no other: what was
    /// written of it goes.
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

    /// Begins a file with who lived, and what was told of them since.
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

    /// Ends the file and gives it its name; that this failed is told.
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

    /// Ends a file of those that hold everything, and begins the next.
    fn rotate(&mut self, events: &mut EventSet) -> Result<(), RecordingError> {
        self.finish(SystemTime::now(), None);
        match self.next_file(events.parts().1) {
            Ok(next) => self.current = Some(next),
            Err(error) => self.written(Err(error))?,
        }
        Ok(())
    }

    /// Makes a file of what is remembered.
    fn dump(&mut self, events: &mut EventSet) -> Result<(), RecordingError> {
        let moment = SystemTime::now();
        let Some(flight) = &mut self.flight else {
            return Ok(());
        };
        let dump = flight.dump(events)?;
        // All that is as old as the dump is in the forward rings by now.
        self.drain(events)?;
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
        self.lost.say(&mut report, &opened, &tally);
        let filled = match file {
            Ok((part, mut store)) => {
                let mut filling = Filling::new(&dump, told);
                let mut filled = Ok(true);
                while let Ok(true) = filled {
                    filled = filling.piece(&mut store, events.parts().1);
                    // Files may take long, and what is told meanwhile has to find room.
                    self.drain(events)?;
                }
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
