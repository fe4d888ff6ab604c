//! Answers the calls that wait, of all threads at once.

use super::filter::convention;
use super::log::{Log, Logged, Sent};
use super::making::Making;
use crate::host::Host;
use crate::sys::gate::{Listener, Notification, Reply, signal_thread};
use crate::sys::{monotonic_now, poll};
use perf_records::units::Nanos;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};
use syscall_model::many::as_entered;
use syscall_model::names::Abi;
use syscall_model::{Answer, Injected, native_words};

// Longer than any wait of `poll(2)` that is asked for.
const IDLE: Duration = Duration::from_secs(60);

/// A call that waits for its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The thread, as the harness numbers it.
    pub thread: u32,
    /// Its convention.
    pub abi: Abi,
    /// Its number there.
    pub number: i32,
    /// The address of the instruction behind the call.
    pub instruction: u64,
    /// The words of its arguments.
    pub arguments: [u64; 6],
    /// When it was received, by the clock of the records.
    pub time: Nanos,
    id: u64,
}

/// What becomes of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// What is done to it; nothing for a call that goes on.
    pub injected: Injected,
    /// What the log is to have of it.
    pub log: Option<Logged>,
    /// Whether it waits until another call lets it go on.
    pub waits: bool,
}

/// Decides what becomes of calls.
pub trait Judge {
    /// Decides it for the next call; `waits` says whether that still waits.
    fn decide(&mut self, call: &Held, waits: &dyn Fn() -> bool) -> Decision;

    /// The descriptors at which something may come that it wants to [`look`](Self::look) at.
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        Vec::new()
    }

    /// Looks at what has come there.
    fn look(&mut self) {}

    /// Says that a call goes on or is answered, or is made for its thread; returns the
    /// ids of the calls that waited for it, and go on behind it.
    fn go(&mut self, call: &Held) -> Vec<u64>;

    /// Says how a call ended for which it decided: once for each.
    fn settle(&mut self, call: &Held, end: End);
}

/// How a call that was held ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// What was decided was done.
    Answered,
    /// A signal took it away before it was answered, and it may come again.
    TakenBack,
    /// It was still held when no calls were answered any more.
    Unmade,
    /// What was decided could not be done, for this reason.
    Failed(String),
}

/// Why calls are not answered any more.
#[derive(Debug, thiserror::Error)]
#[error("the calls that faults are about can be answered no more")]
pub struct GateError(#[source] io::Error);

/// Answers calls until it is told to end, or no task of the workload is left.
#[derive(Debug)]
pub struct Supervisor<'a> {
    host: &'a Host,
    listener: Arc<Listener>,
    log: Log,
    /// Calls that are held for a time, or until another comes.
    late: Vec<(Option<Instant>, Held, Decision)>,
    /// The ids of those that wait no more, as the call has gone on for which they did.
    freed: Vec<u64>,
    /// Calls that are made for the workload.
    making: Making,
}

impl<'a> Supervisor<'a> {
    /// Makes one for a workload's listener.
    #[must_use]
    pub fn new(host: &'a Host, listener: Listener, log: Log) -> Self {
        Self {
            host,
            listener: Arc::new(listener),
            log,
            late: Vec::new(),
            freed: Vec::new(),
            making: Making::default(),
        }
    }

    /// Answers calls until the other end of `stop` is closed, or no task is left.
    ///
    /// # Errors
    /// [`GateError`]: what waits does so until this is dropped, and then fails with `ENOSYS`.
    pub fn run(&mut self, stop: &UnixStream, judge: &mut dyn Judge) -> Result<(), GateError> {
        self.serve(stop, judge)?;
        for (_, call, _) in std::mem::take(&mut self.late) {
            judge.settle(&call, End::Unmade);
        }
        for (call, end) in self.making.ended(|_| true) {
            // What waited to the end waits no more: its task is dead, or the harness left it.
            let end = match end {
                End::TakenBack => End::Unmade,
                other => other,
            };
            judge.settle(&call, end);
        }
        Ok(())
    }

    fn serve(&mut self, stop: &UnixStream, judge: &mut dyn Judge) -> Result<(), GateError> {
        let mut looks = true;
        loop {
            let now = Instant::now();
            self.answer_late(Some(now), judge).map_err(GateError)?;
            let next = self.late.iter().filter_map(|(due, ..)| *due).min();
            let wait = next.map_or(IDLE, |due| due.saturating_duration_since(now));
            let both = [self.listener.as_fd(), stop.as_fd()];
            let others = if looks {
                judge.descriptors()
            } else {
                Vec::new()
            };
            let ready = poll::poll(both.into_iter().chain(others), wait).map_err(GateError)?;
            let [listener, stopped, others @ ..] = ready.as_slice() else {
                return Ok(());
            };
            if others.iter().any(|other| other.is_readable) {
                judge.look();
            }
            // What has hung up would never let it wait.
            looks &= !others.iter().any(|other| other.has_hung_up);
            if stopped.has_hung_up || stopped.is_readable {
                return Ok(());
            }
            if listener.is_readable {
                if let Some(notification) = self.listener.next().map_err(GateError)? {
                    self.take(&notification, judge).map_err(GateError)?;
                }
            } else if listener.has_hung_up {
                return Ok(());
            }
        }
    }

    fn take(&mut self, notification: &Notification, judge: &mut dyn Judge) -> io::Result<()> {
        let Some((abi, number)) = convention(notification.arch, notification.number) else {
            return self
                .listener
                .answer(notification.id, Reply::Continue)
                .map(drop);
        };
        let call = Held {
            thread: notification.thread,
            abi,
            number: as_entered(abi, number),
            instruction: notification.instruction,
            arguments: notification.arguments,
            time: monotonic_now(),
            id: notification.id,
        };
        // A signal took the thread's last call back, and this is another.
        while let Some(place) = self
            .late
            .iter()
            .position(|(_, it, _)| it.thread == call.thread)
        {
            let (_, taken, _) = self.late.swap_remove(place);
            judge.settle(&taken, End::TakenBack);
        }
        for (ended, end) in self.making.ended(|it| it.thread == call.thread) {
            judge.settle(&ended, end);
        }
        let listener = Arc::clone(&self.listener);
        let waits = || matches!(listener.is_waiting(call.id), Ok(true));
        let decision = judge.decide(&call, &waits);
        // What was read until here may have been another task's.
        if decision != Decision::default() && !self.listener.is_waiting(call.id)? {
            judge.settle(&call, End::TakenBack);
            return Ok(());
        }
        match decision.injected.delay {
            _ if decision.waits => self.late.push((None, call, decision)),
            Some(delay) => {
                let due = Instant::now() + Duration::from_nanos(delay.0);
                self.late.push((Some(due), call, decision));
            }
            None => self.answer(&call, decision, judge)?,
        }
        self.answer_late(None, judge)
    }

    /// Answers the calls that were held until now, and those whose waiting is over.
    fn answer_late(&mut self, now: Option<Instant>, judge: &mut dyn Judge) -> io::Result<()> {
        let is_due = |due: Option<Instant>| due.zip(now).is_some_and(|(due, now)| due <= now);
        while let Some(place) = self
            .late
            .iter()
            .position(|(due, call, _)| is_due(*due) || self.freed.contains(&call.id))
        {
            let (_, call, decision) = self.late.remove(place);
            self.answer(&call, decision, judge)?;
        }
        self.freed.clear();
        Ok(())
    }

    fn answer(&mut self, call: &Held, decision: Decision, judge: &mut dyn Judge) -> io::Result<()> {
        let Decision { injected, log, .. } = decision;
        let reply = match injected.answer {
            None => Reply::Continue,
            Some(Answer::Error(error)) => Reply::Error(error),
            Some(Answer::Value(value)) => Reply::Value(value),
            Some(Answer::Short(_) | Answer::Whole) => {
                let to = (&self.listener, &self.log, self.host);
                self.making.start(to, call, injected, log);
                self.freed.extend(judge.go(call));
                return Ok(());
            }
        };
        let is_made = injected.answer.is_none();
        let kills = |signal| self.host.would_kill(call.thread, signal);
        // A call that was received waits through the signal where it can, unless it is fatal; else
        // the signal would take it back.
        let is_killable = self.listener.is_killable;
        let is_first = is_killable || is_made && injected.signal.is_some_and(kills);
        let mut failed = None;
        let answered = self.log.add(log, || {
            if is_first {
                failed = self.signal(call, injected).err();
            }
            let is_sent = is_first && injected.signal.is_some() && failed.is_none();
            // A thread that was killed may see an answer or not. Without one its call is not made.
            let is_ended = is_sent && is_made && {
                self.host.is_thread_ending(call.thread) || !self.listener.is_waiting(call.id)?
            };
            Ok::<_, io::Error>(Sent {
                answered: !is_ended && self.listener.answer(call.id, reply)?,
                by_signal: is_sent && (is_killable || is_ended),
                is_ended,
            })
        })?;
        if answered && !is_first {
            failed = self.signal(call, injected).err();
        }
        if answered {
            self.freed.extend(judge.go(call));
        }
        judge.settle(call, ended(answered, failed));
        Ok(())
    }

    /// Sends a call's thread the signal that is injected.
    fn signal(&self, call: &Held, injected: Injected) -> Result<(), String> {
        let Some(signal) = injected.signal else {
            return Ok(());
        };
        let gone = || io::Error::from_raw_os_error(libc::ESRCH);
        let process = self.host.process_of(call.thread).ok_or_else(gone);
        process
            .and_then(|process| signal_thread(process, call.thread, signal))
            .map_err(|error| format!("a signal could not be sent to a call's thread: {error}"))
    }
}

/// The end of a call that was answered or not, of which something may have failed.
pub(super) fn ended(answered: bool, failed: Option<String>) -> End {
    match (answered, failed) {
        // A thread that is gone needs no signal.
        (false, _) => End::TakenBack,
        (true, Some(why)) => End::Failed(why),
        (true, None) => End::Answered,
    }
}

impl Held {
    /// Its id, which no other call of the run has.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The words of its arguments in the order of the native convention.
    #[must_use]
    pub fn native_words(&self) -> [u64; 6] {
        match self.abi == Abi::native() {
            true => self.arguments,
            false => native_words(self.abi, self.number, self.arguments),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syscall_model::names;

    #[test]
    fn an_answer_that_did_not_arrive_or_lacks_its_signal_is_not_done() {
        let why = || Some("EPERM".to_owned());
        assert_eq!(ended(true, None), End::Answered);
        assert_eq!(ended(false, why()), End::TakenBack);
        assert_eq!(ended(true, why()), End::Failed("EPERM".to_owned()));
    }

    #[test]
    fn the_offset_of_a_32_bit_call_has_two_words() {
        let number = names::number(Abi::I386, "pwrite64").expect("a call of i386");
        let call = Held {
            thread: 1,
            abi: Abi::I386,
            number: number as i32,
            instruction: 0,
            arguments: [3, 0x1000, 8, 10, 1, 0],
            time: Nanos(0),
            id: 1,
        };
        assert_eq!(call.native_words()[..4], [3, 0x1000, 8, 1 << 32 | 10]);
    }
}
