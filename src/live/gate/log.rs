//! What the supervisor knows of calls that the records do not tell, for the reader of these.

use super::supervisor::Held;
use perf_records::space::Stack;
use perf_records::units::Nanos;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use syscall_model::Injected;
use syscall_model::memory::Memory;
use syscall_model::names::Abi;

/// A call that was held, as it was when it was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// The thread.
    pub thread: u32,
    /// When it was received, by the clock of the records.
    pub time: Nanos,
    /// Its convention.
    pub abi: Abi,
    /// Its number there.
    pub number: i32,
    /// The address of the instruction behind the call.
    pub instruction: u64,
    /// Its arguments.
    pub arguments: [u64; 6],
    /// What its pointers pointed to, as the supervisor read it.
    pub memory: Memory,
    /// The functions that led to it, where a fault asks for these.
    pub stack: Option<Arc<Stack>>,
    /// What was done to it.
    pub injected: Injected,
    /// What it returned, where it was made for its thread.
    pub value: Option<i64>,
    /// Whether the signal among that was sent before the answer, and may have ended the call.
    pub by_signal: bool,
    /// Whether that signal has killed its thread in place of an answer: the call was not made.
    pub is_ended: bool,
}

impl Logged {
    /// A call that is held, with what is to be done to it and without a stack.
    #[must_use]
    pub const fn of(call: &Held, memory: Memory, injected: Injected) -> Self {
        Self {
            thread: call.thread,
            time: call.time,
            abi: call.abi,
            number: call.number,
            instruction: call.instruction,
            arguments: call.arguments,
            memory,
            stack: None,
            injected,
            value: None,
            by_signal: false,
            is_ended: false,
        }
    }

    /// Whether it was not made: it has no entering half in the records.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        self.injected.answer.is_some() || self.is_ended
    }
}

/// What was sent for a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// Whether the answer came in time.
    pub(super) answered: bool,
    /// Whether a signal was sent before it.
    pub(super) by_signal: bool,
    /// Whether that signal has killed the thread, and no answer was sent.
    pub(super) is_ended: bool,
}

/// The calls of each thread that were answered or looked at, in the thread's order.
#[derive(Clone, Debug, Default)]
pub struct Log(Arc<Mutex<Calls>>);

#[derive(Debug, Default)]
struct Calls {
    of_thread: HashMap<u32, VecDeque<Logged>>,
    /// All of them in the order of their answers, if they are kept.
    kept: Option<Vec<Logged>>,
}

impl Log {
    /// A log of these calls.
    #[must_use]
    pub fn of(calls: impl IntoIterator<Item = Logged>) -> Self {
        let log = Self::default();
        for call in calls {
            let mut all = log.lock();
            all.of_thread
                .entry(call.thread)
                .or_default()
                .push_back(call);
        }
        log
    }

    /// A log that also keeps all calls to the end.
    #[must_use]
    pub fn keeping() -> Self {
        let log = Self::default();
        log.lock().kept = Some(Vec::new());
        log
    }

    /// All calls, if they are kept.
    #[must_use]
    pub fn kept(&self) -> Vec<Logged> {
        self.lock().kept.clone().unwrap_or_default()
    }

    /// Takes the next call of a thread that was held until then.
    pub fn next(&self, thread: u32, until: Nanos) -> Option<Logged> {
        let mut all = self.lock();
        let calls = all.of_thread.get_mut(&thread)?;
        let is_due = calls.front().is_some_and(|call| call.time <= until);
        is_due.then(|| calls.pop_front()).flatten()
    }

    /// How many calls were answered and never taken.
    #[must_use]
    pub fn n_left(&self) -> u64 {
        let all = self.lock();
        let left = all
            .of_thread
            .values()
            .flatten()
            .filter(|call| call.is_answered());
        left.count() as u64
    }

    /// Adds a call, unless answering it came too late, and no signal before that has ended its
    /// thread. Returns whether that is so.
    ///
    /// # Errors
    /// That of the answer.
    pub(super) fn add<E>(
        &self,
        call: Option<Logged>,
        answer: impl FnOnce() -> Result<Sent, E>,
    ) -> Result<bool, E> {
        // Under the lock: the call's return may be in the records before the answer returns, and
        // the end of a thread that a signal ends.
        let mut all = self.lock();
        let Sent {
            answered,
            by_signal,
            is_ended,
        } = answer()?;
        let is_done = answered || by_signal;
        if let Some(mut call) = call.filter(|_| is_done) {
            (call.by_signal, call.is_ended) = (by_signal, is_ended);
            if let Some(kept) = &mut all.kept {
                kept.push(call.clone());
            }
            all.of_thread
                .entry(call.thread)
                .or_default()
                .push_back(call);
        }
        Ok(is_done)
    }

    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
