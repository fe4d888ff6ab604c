//! Puts what is known of calls that were held beside their records.

use super::Reader;
use perf_live::gate::{Log, Logged};
use perf_records::space::{End, Stack};
use perf_records::units::{Hashed, Nanos, Pid, Tid};
use std::collections::HashMap;
use std::sync::Arc;
use syscall_model::many::{ARRAY, read_as};
use syscall_model::memory::{Memory, Moment, Part, Piece, State};
use syscall_model::names::Abi;
use syscall_model::pointers;
use syscall_model::{Answer, Call, Injected, native_words};

/// Calls that were held, and what became of them.
pub(super) struct Calls {
    log: Log,
    /// What was read of a call that goes on, by its thread.
    looked_at: HashMap<Tid, Memory, Hashed>,
    /// The calls that a signal took back before they were answered, by their threads, and whether
    /// the thread has gone on with another.
    taken_back: HashMap<Tid, ((Abi, i32), bool), Hashed>,
    answered: u64,
    unpaired: u64,
    differing: u64,
}

impl Calls {
    pub(super) fn new(log: Log) -> Self {
        Self {
            log,
            looked_at: HashMap::default(),
            taken_back: HashMap::default(),
            answered: 0,
            unpaired: 0,
            differing: 0,
        }
    }

    pub(super) fn answered(&self) -> u64 {
        self.answered
    }

    pub(super) fn unpaired(&self) -> u64 {
        self.unpaired + self.log.n_left()
    }

    pub(super) fn differing(&self) -> u64 {
        self.differing
    }

    /// How many calls were taken back, and not made again.
    pub(super) fn not_again(&self) -> u64 {
        let not_again = self.taken_back.values().filter(|(_, went_on)| *went_on);
        not_again.count() as u64
    }

    /// A thread makes a call: it may be the one that was taken back.
    fn goes_on(&mut self, thread: Tid, call: (Abi, i32)) {
        if let Some((taken, went_on)) = self.taken_back.get_mut(&thread) {
            *went_on = true;
            if *taken == call {
                self.taken_back.remove(&thread);
            }
        }
    }

    /// The call of a thread that was held until its next half; halves in between were lost.
    fn next(
        &mut self,
        thread: Tid,
        until: Nanos,
        is_it: impl Fn(&Logged) -> bool,
    ) -> Option<Logged> {
        while let Some(call) = self.log.next(thread.0, until) {
            if is_it(&call) {
                return Some(call);
            }
            self.unpaired += u64::from(call.is_answered());
        }
        None
    }

    /// Compares what the kernel read of a call with what it was decided by.
    pub(super) fn compare(&mut self, call: &Call) {
        let Some(memory) = self.looked_at.remove(&call.actor.tid) else {
            return;
        };
        let at_entry = |piece: &&Piece| piece.moment == Moment::Enter;
        let differs = |argument: usize| {
            let ours = memory.strings(argument).filter(at_entry);
            let known = |piece: &Piece| matches!(piece.state, State::Whole | State::Cut);
            let mut pairs = ours.filter_map(|piece| {
                let same = |other: &&Piece| other.element == piece.element;
                let other = call.memory.strings(argument).filter(at_entry).find(same)?;
                (known(piece) && known(other)).then_some((piece, other))
            });
            pairs.any(|(one, other)| {
                let length = one.bytes.len().min(other.bytes.len());
                one.bytes.get(..length) != other.bytes.get(..length)
                    || (one.state, other.state) == (State::Whole, State::Whole)
                        && one.bytes.len() != other.bytes.len()
            })
        };
        self.differing += u64::from((0..=usize::from(ARRAY)).any(differs));
    }
}

/// `-ERESTARTSYS`: what a held call is left with whose thread a signal has ended, even if its answer
/// was accepted (`seccomp_do_user_notification()`).
const ENDED: i64 = -512;

/// Whether a call that returned `value` got the answer that it was given.
fn gave(call: &Logged, value: i64) -> bool {
    // A 32-bit convention has only this half.
    let is_same = |answer: i64| match call.abi == Abi::native() {
        true => value == answer,
        false => value as i32 == answer as i32,
    };
    if call.by_signal && is_same(ENDED) {
        return true;
    }
    match call.injected.answer {
        // The kernel may turn it into an `EINTR` on the way out.
        None => call.is_ended && is_same(-i64::from(libc::EINTR)),
        Some(Answer::Error(error)) => is_same(-i64::from(error)),
        Some(Answer::Value(answer)) => is_same(answer),
        Some(Answer::Short(_) | Answer::Whole) => call.value.is_some_and(is_same),
    }
}

/// Whether two chains of one call that both go to the thread's first function are others.
fn differ(one: &Stack, other: &Stack) -> bool {
    let are_whole = [one, other].map(|stack| stack.end == Some(End::Outermost)) == [true; 2];
    let places = |stack: &Stack| -> Vec<u64> {
        let own = stack.frames.iter().filter(|frame| !frame.is_kernel);
        own.map(|frame| frame.address).collect()
    };
    are_whole && places(one) != places(other)
}

impl Reader<'_> {
    /// Takes the entering half of a call, and the functions that led to it as the record has them.
    pub(super) fn entered(
        &mut self,
        who: (Pid, Tid),
        time: Nanos,
        call: (Abi, i32),
        (words, recorded): ([u64; 6], Option<Arc<Stack>>),
    ) {
        let (injected, known) = self.made(who.1, time, call);
        if let (Some(held), Some(known), Some(recorded)) = (&mut self.held, &known, &recorded) {
            held.differing += u64::from(differ(known, recorded));
        }
        // What was seen while it was held reaches further.
        let stack = known.or(recorded);
        self.stacks.extend(stack.map(|it| ((who.1, time), it)));
        let out = &mut self.out;
        self.tracker
            .enter_held(who, time, call, words, injected, out);
    }

    /// Takes the leaving half of a call, which may have been answered or taken back before it was
    /// entered.
    pub(super) fn left(&mut self, who: (Pid, Tid), time: Nanos, call: (Abi, i32), value: i64) {
        let Some((call, value)) = self.answered(who, time, call, value) else {
            return;
        };
        if !self.is_taken_back(who.1, call, value) {
            self.tracker.leave(who, time, call, value, &mut self.out);
        }
    }

    /// What was done to a call that is made all the same, and the functions that led to it.
    fn made(&mut self, tid: Tid, time: Nanos, call: (Abi, i32)) -> (Injected, Option<Arc<Stack>>) {
        let Some(held) = &mut self.held else {
            return Default::default();
        };
        held.goes_on(tid, call);
        let is_it = |it: &Logged| !it.is_answered() && (it.abi, it.number) == call;
        let Some(logged) = held.next(tid, time, is_it) else {
            return Default::default();
        };
        let mut memory = logged.memory;
        let made = (logged.abi, logged.number);
        let words = native_words(made.0, made.1, logged.arguments);
        let ((abi, number), _) = read_as(made, words, &memory);
        pointers::widen(abi, number, &mut memory);
        held.looked_at.insert(tid, memory);
        (logged.injected, logged.stack)
    }

    /// Whether a call is left that a signal took back before it was answered
    /// (`seccomp_do_user_notification()`): it was not entered, and the kernel makes it again or
    /// gives `EINTR`.
    fn is_taken_back(&mut self, tid: Tid, call: (Abi, i32), value: i64) -> bool {
        let is_interrupted = matches!(value, -514..=-512 | -516);
        let Some(held) = self.held.as_mut().filter(|_| is_interrupted) else {
            return false;
        };
        let is_taken = !self.tracker.is_in_call(tid);
        if is_taken {
            held.taken_back.insert(tid, (call, false));
        }
        is_taken
    }

    /// A call is left: one that was answered has not been entered, and is now. Returns its
    /// convention and number, and its value: that of its answer, where its thread died with it;
    /// `None` where the thread was killed in place of an answer, so that the call never returns.
    fn answered(
        &mut self,
        (pid, tid): (Pid, Tid),
        time: Nanos,
        call: (Abi, i32),
        value: i64,
    ) -> Option<((Abi, i32), i64)> {
        let Some(held) = &mut self.held else {
            return Some((call, value));
        };
        // The kernel may throw an answer away: a signal that comes with it has the call made again.
        let is_it = |it: &Logged| it.number == call.1 && gave(it, value);
        let Some(logged) = held.next(tid, time, is_it) else {
            return Some((call, value));
        };
        held.answered += 1;
        held.goes_on(tid, (logged.abi, logged.number));
        let Logged {
            abi,
            number,
            arguments,
            memory,
            stack,
            injected,
            value: returned,
            is_ended,
            ..
        } = logged;
        if memory.is_read() {
            let words = native_words(abi, number, arguments);
            let (call, _) = read_as((abi, number), words, &memory);
            let part = Part::Entry { more: false };
            self.tracker
                .contents((pid, tid), call, part, memory, &mut self.out);
        }
        let at = logged.time;
        self.tracker.enter_held(
            (pid, tid),
            at,
            (abi, number),
            arguments,
            injected,
            &mut self.out,
        );
        self.stacks.extend(stack.map(|it| ((tid, at), it)));
        self.starting(
            (pid, tid),
            Some(logged.instruction),
            (abi, number),
            &arguments,
        );
        let value = match injected.answer {
            Some(Answer::Error(error)) => -i64::from(error),
            Some(Answer::Value(answer)) => answer,
            Some(Answer::Short(_) | Answer::Whole) => returned.unwrap_or(value),
            None => value,
        };
        (!is_ended).then_some(((abi, number), value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_returned_another_value_did_not_get_its_answer() {
        let call = |abi, answer| Logged {
            thread: 1,
            time: Nanos(1),
            abi,
            number: 74,
            instruction: 0,
            arguments: [0; 6],
            memory: Memory::default(),
            stack: None,
            injected: Injected {
                answer: Some(answer),
                ..Injected::default()
            },
            value: None,
            by_signal: false,
            is_ended: false,
        };
        let native = |answer| call(Abi::native(), answer);
        let restarted = -512;
        for answer in [Answer::Error(5), Answer::Value(7), Answer::Short(10)] {
            assert!(!gave(&native(answer), restarted), "{answer:?}");
        }
        assert!(gave(&native(Answer::Error(5)), -5) && !gave(&native(Answer::Error(5)), 0));
        assert!(gave(&native(Answer::Value(7)), 7) && !gave(&native(Answer::Value(7)), 0));
        for answer in [Answer::Short(10), Answer::Whole] {
            assert!(
                !gave(&native(answer), 10),
                "it is not known what it returned"
            );
            for value in [10, 0, -9] {
                let made = Logged {
                    value: Some(value),
                    ..native(answer)
                };
                assert!(gave(&made, value) && !gave(&made, value + 1), "{answer:?}");
            }
        }
        let signalled = Logged {
            by_signal: true,
            ..native(Answer::Error(5))
        };
        assert!(gave(&signalled, restarted) && gave(&signalled, -5) && !gave(&signalled, 0));
        let killed = Logged {
            injected: Injected::default(),
            is_ended: true,
            ..signalled
        };
        assert!(
            gave(&killed, restarted) && !gave(&killed, 0),
            "it was not made"
        );
        let compat = call(Abi::I386, Answer::Error(5));
        assert!(gave(&compat, 0xffff_fffb), "no sign from its half");
    }
}
