//! The deeds of a run, who did them when, and which came before which.

use crate::trace::Deed;
use std::collections::HashMap;

/// A deed by its place among those of the run.
pub(super) type Place = usize;

/// Calls that wait for somebody else. When they were entered says nothing: they count where they returned.
const WAITS: &[&str] = &[
    "accept",
    "accept4",
    "clock_nanosleep",
    "epoll_pwait",
    "epoll_pwait2",
    "epoll_wait",
    "flock",
    "futex",
    "futex_wait",
    "futex_waitv",
    "io_getevents",
    "io_pgetevents",
    "mq_timedreceive",
    "msgrcv",
    "nanosleep",
    "pause",
    "poll",
    "ppoll",
    "pread64",
    "preadv",
    "preadv2",
    "pselect6",
    "read",
    "readv",
    "recv",
    "recvfrom",
    "recvmmsg",
    "recvmsg",
    "rt_sigsuspend",
    "rt_sigtimedwait",
    "select",
    "semop",
    "semtimedop",
    "wait4",
    "waitid",
    "waitpid",
];

/// Calls that make a task, which may do something before they return: they count where they were entered.
const MAKES: &[&str] = &["clone", "clone3", "fork", "vfork"];

/// When a deed happened, in moments of the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct When {
    /// Whose it is, by a number for each thread of the run.
    pub(super) thread: usize,
    /// Where it stands in the order of entering.
    pub(super) place: Place,
    /// Its thread entered it then.
    pub(super) entered: u64,
    /// It cannot have had an effect before.
    pub(super) start: u64,
    /// It can have none behind.
    pub(super) end: u64,
    /// Its thread left it then.
    pub(super) left: u64,
}

impl When {
    /// Whether all of it came before all of the other: in its thread's order; between threads where the one had ended when the other began.
    pub(super) fn is_before(&self, other: &Self) -> bool {
        match self.thread == other.thread {
            true => self.place < other.place,
            false => self.end <= other.start,
        }
    }
}

/// What expectations look at: the deeds of a run or of a section, in the order in which they were entered.
#[derive(Debug)]
pub struct Scene<'a> {
    pub(super) deeds: Vec<&'a Deed>,
    pub(super) when: Vec<When>,
    by_name: HashMap<&'a str, Vec<Place>>,
    /// Of each deed the next of its thread.
    next: Vec<Option<Place>>,
}

impl<'a> Scene<'a> {
    /// Looks at these.
    #[must_use]
    pub fn new(deeds: &[&'a Deed]) -> Self {
        let mut deeds = deeds.to_vec();
        deeds.sort_by_key(|deed| deed.entered);
        let mut by_name: HashMap<&'a str, Vec<Place>> = HashMap::new();
        let mut threads = HashMap::new();
        let mut last: HashMap<usize, Place> = HashMap::new();
        let mut next = vec![None; deeds.len()];
        let mut when = Vec::with_capacity(deeds.len());
        for (place, deed) in deeds.iter().enumerate() {
            by_name.entry(&deed.name).or_default().push(place);
            let number = threads.len();
            let thread = *threads.entry(deed.thread).or_insert(number);
            if let Some(slot) = last.insert(thread, place).and_then(|it| next.get_mut(it)) {
                *slot = Some(place);
            }
            let is = |names: &[&str]| names.contains(&&*deed.name);
            let (start, end) = match () {
                () if is(WAITS) => (deed.left, deed.left),
                () if is(MAKES) => (deed.entered, deed.entered),
                () => (deed.entered, deed.left),
            };
            when.push(When {
                thread,
                place,
                entered: deed.entered,
                start,
                end,
                left: deed.left,
            });
        }
        Self {
            deeds,
            when,
            by_name,
            next,
        }
    }

    /// The deeds of a name, in the order in which they were entered.
    pub(super) fn named(&self, name: &str) -> &[Place] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// The next deed of the same thread.
    pub(super) fn next(&self, place: Place) -> Option<Place> {
        self.next.get(place).copied().flatten()
    }

    /// Whether one came before the other.
    pub(super) fn is_before(&self, one: Place, other: Place) -> bool {
        match (self.when.get(one), self.when.get(other)) {
            (Some(one), Some(other)) => one.is_before(other),
            _ => false,
        }
    }
}
