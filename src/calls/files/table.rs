//! One table of descriptors, and the calls that are changing it.

use super::super::ThreadId;
use super::file::{Description, FileKind, name_hash};
use super::lookup::State;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a number refers to.
#[derive(Clone, Debug)]
pub(super) enum Number {
    Open(Held),
    Closed,
    /// Open or not, and to what.
    Unknown,
}

/// An open descriptor.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) description: Arc<Description>,
    /// Whether an exec closes it; `None` if that is not known.
    pub(super) on_exec: Option<bool>,
}

/// Numbers, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) first: u32,
    pub(super) last: u32,
}

impl Range {
    pub(super) const fn one(number: u32) -> Self {
        Self {
            first: number,
            last: number,
        }
    }

    pub(super) fn contains(self, number: u32) -> bool {
        (self.first..=self.last).contains(&number)
    }
}

/// What a call that has not returned yet does to the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// Opens something, under a number that is known when it returns.
    Opens,
    /// Has closed these, now or a moment ago.
    Closes(Range),
    /// Gives this number another meaning.
    Replaces(u32),
    /// Takes a copy of the table.
    Copies,
    /// Looks up numbers that are known when it returns.
    Looks,
}

/// A call that has not returned yet.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    pub(super) thread: ThreadId,
    pub(super) doing: Doing,
    /// What other threads changed meanwhile. Of one that opens: what they may have closed without
    /// it having been known as open.
    pub(super) disturbed: Vec<Range>,
}

/// The descriptors of one process, or of several that share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    slots: BTreeMap<u32, Number>,
    /// A number without a slot is closed from here on, and unknown below.
    closed_from: u32,
    pub(super) flights: Vec<Flight>,
    /// Tables of the same group may be one: it is not known whether they were shared when a task
    /// was made.
    pub(super) group: Option<u32>,
    /// Reading opens descriptors: events of `fanotify(7)` and `userfaultfd(2)` have some.
    pub(super) reads_open: bool,
    /// A ring opens descriptors at any time, without a call.
    pub(super) ring_opens: bool,
    /// A ring closes descriptors at any time, without a call.
    pub(super) ring_closes: bool,
    /// Whether a flag for exec was set of a number that is not known: what tells of it later may
    /// have been read before.
    pub(super) has_flagged: bool,
}

/// No number is above it (`sysctl_nr_open_max`).
const LAST: u32 = i32::MAX as u32;
/// Of a longer range not each number is noted as closed.
const NOTED: u32 = 1 << 16;

impl Table {
    /// Makes a table of which nothing is known.
    pub(super) fn unknown() -> Self {
        Self {
            closed_from: u32::MAX,
            ..Self::default()
        }
    }

    /// Returns what is known of a number, even while a call is changing it.
    pub(super) fn get(&self, number: u32) -> Number {
        match self.slots.get(&number) {
            _ if self.ring_closes => Number::Unknown,
            Some(Number::Open(held)) => Number::Open(held.clone()),
            _ if self.ring_opens || self.reads_open => Number::Unknown,
            Some(slot) => slot.clone(),
            None if number >= self.closed_from => Number::Closed,
            None => Number::Unknown,
        }
    }

    /// Whether a call of another thread leaves open what a number refers to at this moment.
    pub(super) fn is_in_doubt(&self, number: u32, slot: &Number, thread: ThreadId) -> bool {
        let others = self.flights.iter().filter(|it| it.thread != thread);
        let is_open = matches!(slot, Number::Open(_));
        others.into_iter().any(|flight| match flight.doing {
            Doing::Replaces(target) => target == number,
            Doing::Opens => !is_open,
            Doing::Closes(range) => !is_open && range.contains(number),
            Doing::Copies | Doing::Looks => false,
        })
    }

    pub(super) fn set(&mut self, number: u32, slot: Number) {
        match slot {
            Number::Closed if number >= self.closed_from => {
                self.slots.remove(&number);
            }
            slot => {
                self.slots.insert(number, slot);
            }
        }
    }

    /// Notes that a call of a thread changed these numbers, for the calls of others that have not
    /// returned.
    pub(super) fn disturb(&mut self, range: Range, thread: ThreadId) {
        for flight in self.flights.iter_mut().filter(|it| it.thread != thread) {
            let concerns = match flight.doing {
                Doing::Copies | Doing::Looks => true,
                Doing::Replaces(number) => range.contains(number),
                Doing::Opens | Doing::Closes(_) => false,
            };
            if concerns {
                flight.disturbed.push(range);
            }
        }
    }

    /// What calls of other threads are changing.
    pub(super) fn unfinished(&self, thread: ThreadId) -> Vec<Range> {
        let others = self.flights.iter().filter(|it| it.thread != thread);
        others
            .filter_map(|flight| match flight.doing {
                Doing::Closes(range) => Some(range),
                Doing::Replaces(number) => Some(Range::one(number)),
                Doing::Opens | Doing::Copies | Doing::Looks => None,
            })
            .collect()
    }

    /// Takes a thread's calls away that have not returned, and gives what others changed meanwhile.
    pub(super) fn land(&mut self, thread: ThreadId) -> Vec<Range> {
        let mut disturbed = Vec::new();
        self.flights.retain_mut(|flight| {
            let is_own = flight.thread == thread;
            if is_own {
                disturbed.append(&mut flight.disturbed);
            }
            !is_own
        });
        disturbed
    }

    pub(super) fn close_range(&mut self, range: Range) {
        if range.last >= LAST {
            self.slots.split_off(&range.first);
            self.closed_from = self.closed_from.min(range.first);
            return;
        }
        self.slots.retain(|number, _| !range.contains(*number));
        // What is open above it stays what it is: only numbers without a slot are concerned.
        let noted = range.first..=range.last.min(self.closed_from.saturating_sub(1));
        if !noted.is_empty() && range.last - range.first < NOTED {
            self.slots
                .extend(noted.map(|number| (number, Number::Closed)));
        }
    }

    /// Forgets what these numbers refer to.
    pub(super) fn forget(&mut self, range: Range) {
        if range == Range::one(range.first) {
            self.slots.insert(range.first, Number::Unknown);
            return;
        }
        self.slots.retain(|number, _| !range.contains(*number));
        if range.first < self.closed_from {
            self.closed_from = self.closed_from.max(range.last.saturating_add(1));
        } else {
            self.note_closed_below(range.first);
            self.closed_from = range.last.saturating_add(1);
        }
    }

    /// Keeps what is known as closed below a number, before the border moves above it.
    fn note_closed_below(&mut self, number: u32) {
        for closed in (self.closed_from..number).take(NOTED as usize) {
            self.slots.entry(closed).or_insert(Number::Closed);
        }
    }

    /// Every number that is not known as open may have become so.
    pub(super) fn forget_closed(&mut self) {
        self.slots.retain(|_, slot| matches!(slot, Number::Open(_)));
        self.closed_from = u32::MAX;
    }

    /// Nothing is known any more.
    pub(super) fn forget_all(&mut self) {
        self.slots.clear();
        self.closed_from = u32::MAX;
    }

    /// Sets the flag for exec of those that are open in a range.
    pub(super) fn set_on_exec(&mut self, range: Range, on_exec: Option<bool>) {
        if range.first > range.last {
            return;
        }
        let mut n_known = 0;
        for (_, slot) in self.slots.range_mut(range.first..=range.last) {
            if let Number::Open(held) = slot {
                held.on_exec = on_exec;
                n_known += 1;
            }
        }
        self.has_flagged |= n_known <= range.last - range.first;
    }

    /// The copy that a call of `thread` took of this table at some moment since it was entered.
    pub(super) fn copy(&self, thread: ThreadId) -> Self {
        let mut copy = Self {
            flights: Vec::new(),
            group: None,
            ..self.clone()
        };
        for flight in &self.flights {
            if flight.thread == thread {
                flight
                    .disturbed
                    .iter()
                    .for_each(|range| copy.forget(*range));
                continue;
            }
            match flight.doing {
                Doing::Opens => copy.forget_closed(),
                Doing::Closes(range) => copy.forget(range),
                Doing::Replaces(number) => copy.forget(Range::one(number)),
                Doing::Copies | Doing::Looks => {}
            }
        }
        // A ring works for the table that it was made with, not for a copy.
        if std::mem::take(&mut copy.ring_opens) {
            copy.forget_closed();
        }
        if std::mem::take(&mut copy.ring_closes) {
            copy.forget_all();
        }
        copy
    }

    /// What an exec leaves of it.
    pub(super) fn execute(&mut self) {
        for slot in self.slots.values_mut() {
            if let Number::Open(held) = slot {
                match held.on_exec {
                    Some(false) => {}
                    Some(true) => *slot = Number::Closed,
                    None => *slot = Number::Unknown,
                }
            }
        }
        let closed_from = self.closed_from;
        self.slots
            .retain(|number, slot| *number < closed_from || !matches!(slot, Number::Closed));
    }

    /// The smallest number by which a description is told from those of the same name that are
    /// open.
    pub(super) fn ordinal(&self, kind: &FileKind) -> u32 {
        let hash = name_hash(kind);
        let held = self.slots.values().filter_map(|slot| match slot {
            Number::Open(held) => Some(&held.description),
            Number::Closed | Number::Unknown => None,
        });
        let mut used: Vec<u32> = held
            .filter(|description| description.name_hash == hash)
            .map(|description| description.now())
            .filter(|file| file.is_namesake(kind))
            .map(|file| file.ordinal)
            .collect();
        used.sort_unstable();
        let mut free = 1;
        for ordinal in used {
            free += u32::from(ordinal == free);
        }
        free
    }
}

impl Number {
    pub(super) fn state(&self) -> State {
        match self {
            Self::Open(held) => State::Open(held.description.now()),
            Self::Closed => State::Closed,
            Self::Unknown => State::Unknown,
        }
    }
}
