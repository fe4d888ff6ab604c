//! Says when a file ends and the next begins, or when what the rings hold is written.

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

/// Data pages of each ring of an event that asks for files: its ring is read at each record.
const ALARM_PAGES: usize = 4;

/// A source of requests for files, such as a signal.
pub trait Ask {
    /// Returns a descriptor that is readable after a request.
    fn descriptor(&self) -> BorrowedFd<'_>;
    /// Returns the number of requests since the last call.
    ///
    /// # Errors
    /// Those of reading the descriptor.
    fn asked(&mut self) -> io::Result<u64>;
}

/// When a file ends without a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// Only at the end.
    Never,
    /// After so many bytes of records, overwritten ones included.
    Bytes(u64),
    /// After this time.
    Time(Duration),
}

/// Events whose records ask for files.
#[derive(Debug)]
pub struct Alarm {
    events: EventSet,
    /// How many requests events make at most that fire together.
    most_at_once: u64,
}

impl Bench<'_> {
    /// Opens the events that ask for files; events that fire together make one request.
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

    /// Counts every signal of this number that any process sends to this one. The process itself
    /// learns only of one if several arrive while the first is pending (`legacy_queue()`,
    /// `kernel/signal.c`). `None` without the right to see all processes, or if the kernel's id of
    /// this process is not known.
    #[must_use]
    pub fn open_requests(&self, signal: i32) -> Option<Alarm> {
        if self.host.has_own_pid_namespace() {
            return None;
        }
        let filter = format!("sig == {signal} && pid == {}", std::process::id());
        let wish = RecordWish {
            words: vec![("signal:signal_generate".to_owned(), Some(filter))],
            has_lost: self.has_lost_counts(),
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
        // This event owns the ring, so its attribute says what wakes the reader: any record, but
        // none of names or mappings.
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
    /// Returns how many files it has asked for since the last call.
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

/// The number of requests so far.
#[derive(Debug, Default)]
struct Requests {
    /// As the sources of requests count them.
    told: u64,
    /// As the witness counts them; for the time before it began it takes the sources' number.
    witnessed: u64,
    /// How many of them were answered with a file.
    given: u64,
}

/// All that asks for files: the switch, the source of requests, its witness and the alarm.
pub struct Triggers<'a> {
    switch: Switch,
    asks: Option<&'a mut dyn Ask>,
    /// Counts the same requests as the source, and misses none.
    witness: Option<Alarm>,
    requests: Requests,
    alarm: Option<Alarm>,
    /// Bytes of forward rings since the last file.
    bytes: u64,
    last: Instant,
}

impl<'a> Triggers<'a> {
    /// Begins to count at zero.
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

    /// Whether the size has to be checked even if nothing wakes the reader.
    pub(super) fn is_by_size(&self) -> bool {
        matches!(self.switch, Switch::Bytes(_))
    }

    /// Returns `tick`, or the time to the next file if that is less.
    pub(super) fn due_within(&self, tick: Duration) -> Duration {
        match self.switch {
            Switch::Time(time) => tick.min(time.saturating_sub(self.last.elapsed())),
            _ => tick,
        }
    }

    /// Adds bytes that came through forward rings.
    pub(super) fn count(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes as u64);
    }

    /// Takes the requests so far as counted: from now on the witness counts all.
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

    /// Returns how many files are wanted, if `written` bytes came through overwritten rings.
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
        // Each request gets a file of its own; the alarm and the switch are satisfied by any file.
        Ok(asked.max((is_off || is_due).into()))
    }

    /// Called when a file has begun.
    pub(super) fn begin_again(&mut self) {
        self.bytes = 0;
        self.last = Instant::now();
    }
}
