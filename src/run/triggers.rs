//! When a file ends and the next begins, or when what is remembered is written.

use super::session::{self, SessionError, system};
use super::{Bench, RunError};
use crate::plan::RecordWish;
use perf_live::events::{self, EventRequest, EventSet, RingChoice, Subject};
use perf_records::attr::{Attr, Maps};
use perf_records::merge::Source as _;
use perf_records::record::{self, Header};
use perf_records::units::Cpu;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

/// Data pages of each of the rings of what asks for files: it is looked after at each record.
const ALARM_PAGES: usize = 4;

/// Somebody who asks for files.
pub trait Ask {
    /// Readable when he has asked.
    fn descriptor(&self) -> BorrowedFd<'_>;
    /// How often he has asked since this was last called.
    ///
    /// # Errors
    /// Those of reading the descriptor.
    fn asked(&mut self) -> io::Result<u64>;
}

/// When there is a file though nobody asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// At the end.
    Never,
    /// After so many bytes of records, those that are overwritten included.
    Bytes(u64),
    /// After so long.
    Time(Duration),
}

/// Events whose records ask for files.
#[derive(Debug)]
pub struct Alarm {
    events: EventSet,
    /// For how many those ask that come together.
    most_at_once: u64,
}

impl Bench<'_> {
    /// Opens the events that are to ask for files; those that come together ask for one.
    ///
    /// # Errors
    /// As [`Bench::open_recorded`].
    pub fn open_alarm(
        &self,
        wish: &RecordWish,
        subject: &Subject,
        cpus: &[Cpu],
    ) -> Result<Alarm, RunError> {
        self.alarm(wish, subject, cpus, 1)
    }

    /// Has every signal of that number counted that anybody sends to this process. The process
    /// itself learns of one only where several come while the first is still pending
    /// (`legacy_queue()`, `kernel/signal.c`). `None` without the right to see everybody, or where
    /// the kernel's number of this process is not known.
    #[must_use]
    pub fn open_requests(&self, signal: i32) -> Option<Alarm> {
        if self.host.has_own_pid_namespace() {
            return None;
        }
        let filter = format!("sig == {signal} && pid == {}", std::process::id());
        let wish = RecordWish {
            words: vec![("signal:signal_generate".to_owned(), Some(filter))],
            has_lost: self.has_lost,
            ..RecordWish::default()
        };
        let alarm = self.alarm(&wish, &Subject::Everybody, &self.cpus, u64::MAX);
        let alarm = alarm.ok()?;
        alarm.events.enable().ok()?;
        Some(alarm)
    }

    fn alarm(
        &self,
        wish: &RecordWish,
        subject: &Subject,
        cpus: &[Cpu],
        most_at_once: u64,
    ) -> Result<Alarm, RunError> {
        let recorded: Vec<EventRequest> = wish.events(self).map_err(RunError::Plan)?;
        for event in &recorded {
            self.pin(event.attr.source);
        }
        // It owns the ring and so says when it wakes; names and mappings wake nobody.
        let owner = Attr {
            side_band: false,
            maps: Maps::No,
            namespaces: false,
            switches: false,
            wakeup_bytes: 1,
            ..wish.side_band()
        };
        let pages = ALARM_PAGES;
        let mut events =
            events::record(&recorded, subject, owner, RingChoice::New { cpus, pages })?;
        let by_looks = events.drain_by_looks();
        by_looks.map_err(system("drain the rings"))?;
        Ok(Alarm {
            events,
            most_at_once,
        })
    }
}

impl Alarm {
    /// How many files it has asked for since this was last called.
    fn asked(&mut self) -> Result<u64, SessionError> {
        let none = std::iter::empty();
        session::wait_for(
            &mut self.events,
            none,
            &session::Undisturbed,
            Duration::ZERO,
        )?;
        self.events.look().map_err(system("drain the rings"))?;
        let mut asked = 0_u64;
        for drain in self.events.parts().0 {
            while let Some(bytes) = drain.peek()? {
                let head = bytes.first_chunk().copied().unwrap_or_default();
                let is_sample = Header::from_bytes(head).kind == record::kind::SAMPLE;
                asked = asked.saturating_add(is_sample.into());
                drain.pop();
            }
        }
        Ok(asked.min(self.most_at_once))
    }

    fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.events.open_descriptors().into_iter()
    }
}

/// How often was asked so far.
#[derive(Debug, Default)]
struct Requests {
    /// As those say who ask.
    told: u64,
    /// As the witness says; of what was asked before it looked it takes the others' word.
    witnessed: u64,
    /// How often there was a file for it.
    given: u64,
}

/// All that asks for files.
pub struct Triggers<'a> {
    switch: Switch,
    asks: Option<&'a mut dyn Ask>,
    /// Counts the same as those who ask, and misses none.
    witness: Option<Alarm>,
    requests: Requests,
    alarm: Option<Alarm>,
    /// Of forward rings, since the last file.
    bytes: u64,
    last: Instant,
}

impl<'a> Triggers<'a> {
    /// From now on.
    #[must_use]
    pub fn new(
        switch: Switch,
        asks: Option<&'a mut dyn Ask>,
        witness: Option<Alarm>,
        alarm: Option<Alarm>,
    ) -> Self {
        Self {
            switch,
            asks,
            witness,
            requests: Requests::default(),
            alarm,
            bytes: 0,
            last: Instant::now(),
        }
    }

    pub(super) fn enable(&self) -> Result<(), RunError> {
        let alarm = self.alarm.as_ref();
        Ok(alarm.map_or(Ok(()), |alarm| alarm.events.enable())?)
    }

    pub(super) fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let asks = self.asks.iter().map(|asks| asks.descriptor());
        let alarms = self.witness.iter().chain(&self.alarm);
        asks.chain(alarms.flat_map(Alarm::descriptors)).collect()
    }

    /// Whether the size has to be looked at though nothing wakes.
    pub(super) fn is_by_size(&self) -> bool {
        matches!(self.switch, Switch::Bytes(_))
    }

    /// No longer than that, and not beyond the moment of the next file.
    pub(super) fn due_within(&self, tick: Duration) -> Duration {
        match self.switch {
            Switch::Time(time) => tick.min(time.saturating_sub(self.last.elapsed())),
            _ => tick,
        }
    }

    /// So many bytes came through forward rings.
    pub(super) fn count(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes as u64);
    }

    /// From now on the witness counts all.
    ///
    /// # Errors
    /// [`SessionError`].
    pub(super) fn begin(&mut self) -> Result<(), SessionError> {
        let all = self.count_requests()?;
        self.requests.witnessed = all;
        self.begin_again();
        Ok(())
    }

    fn count_requests(&mut self) -> Result<u64, SessionError> {
        let Requests {
            told, witnessed, ..
        } = &mut self.requests;
        if let Some(witness) = &mut self.witness {
            *witnessed = witnessed.saturating_add(witness.asked()?);
        }
        if let Some(asks) = &mut self.asks {
            let asked = asks.asked().map_err(system("see who asks for a file"))?;
            *told = told.saturating_add(asked);
        }
        Ok((*told).max(*witnessed))
    }

    /// How many files are wanted, where so many bytes came through the others.
    pub(super) fn asked(&mut self, written: u64) -> Result<u64, SessionError> {
        let before = self.requests.given;
        let all = self.count_requests()?;
        self.requests.given = all;
        let asked = all.saturating_sub(before);
        let is_off = match &mut self.alarm {
            Some(alarm) => alarm.asked()? > 0,
            None => false,
        };
        let is_due = match self.switch {
            Switch::Never => false,
            Switch::Bytes(bytes) => self.bytes.saturating_add(written) >= bytes,
            Switch::Time(time) => self.last.elapsed() >= time,
        };
        // Who asks gets his own; the others are content with any.
        Ok(asked.max((is_off || is_due).into()))
    }

    /// A file has begun.
    pub(super) fn begin_again(&mut self) {
        self.bytes = 0;
        self.last = Instant::now();
    }
}
