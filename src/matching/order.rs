//! Orders the deeds of a run: by which task, when, and which before which.

use super::Matcher;
use super::shape::Shape;
use crate::trace::Deed;
use std::collections::{BTreeSet, HashMap};
use syscall_model::natives_of;

/// A deed by its place among those of the run.
pub(super) type Place = usize;

/// Calls that wait for another task. The time of their entry says nothing: they count by the time
/// of their return.
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

/// Calls that make a task, or have one that waits go on, which may act before they return: they
/// count by the time of their entry.
const STARTS: &[&str] = &[
    "clone",
    "clone3",
    "fork",
    "futex_requeue",
    "futex_wake",
    "vfork",
];

/// A call, arguments of it, and how the text of each of these begins.
type Saying = (
    &'static str,
    &'static [(&'static str, &'static [&'static str])],
);

/// Calls that wait where their arguments say so.
const MAY_WAIT: &[Saying] = &[("fcntl", &[("cmd", &["F_SETLKW", "F_OFD_SETLKW"])])];

/// Calls that have others go on where their arguments say so.
const MAY_START: &[Saying] = &[
    (
        "fcntl",
        &[
            ("cmd", &["F_SETLK", "F_OFD_SETLK"]),
            ("arg", &["{l_type=F_UNLCK"]),
        ],
    ),
    ("flock", &[("cmd", &["LOCK_UN"])]),
    (
        "futex",
        &[(
            "op",
            &[
                "FUTEX_WAKE",
                "FUTEX_REQUEUE",
                "FUTEX_CMP_REQUEUE",
                "FUTEX_UNLOCK",
            ],
        )],
    ),
];

/// The times of a deed, in moments of the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct When {
    /// Its thread, by a number for each thread of the run.
    pub(super) thread: usize,
    /// Its place in the order of entry.
    pub(super) place: Place,
    /// When its thread entered it.
    pub(super) entered: u64,
    /// It has no effect before this moment.
    pub(super) start: u64,
    /// It has no effect after this moment.
    pub(super) end: u64,
    /// When its thread left it.
    pub(super) left: u64,
    /// Whether it is a span, which its own thread's events may lie in.
    pub(super) is_span: bool,
}

impl When {
    /// Whether all of it came before all of the other: in its thread's order; between threads if
    /// the one had ended when the other began.
    pub(super) fn is_before(&self, other: &Self) -> bool {
        match self.thread == other.thread {
            true => self.place < other.place,
            false => self.end <= other.start,
        }
    }

    /// Whether it was over when the other began. In its thread's order a span stands where it
    /// begins, and what comes behind may lie in it.
    pub(super) fn is_over_before(&self, other: &Self) -> bool {
        let may_hold = self.thread == other.thread && (self.is_span || other.is_span);
        self.is_before(other) && (!may_hold || self.left <= other.entered)
    }
}

/// Returns the first and the last moment at which a deed can have an effect.
pub(super) fn effect(deed: &Deed) -> (u64, u64) {
    let others = match deed.convention {
        Some(_) => natives_of(&deed.name),
        None => Vec::new(),
    };
    let is = |names: &[&str]| {
        names.contains(&&*deed.name) || others.iter().any(|name| names.contains(name))
    };
    let says = |sayings: &[Saying]| {
        let begins = |(word, starts): &(&str, &[&str])| {
            let part = deed.part(word);
            part.is_some_and(|part| starts.iter().any(|start| part.text.starts_with(start)))
        };
        let mut all = sayings.iter();
        all.any(|(name, arguments)| is(&[name]) && arguments.iter().all(begins))
    };
    match () {
        () if says(MAY_START) => (deed.entered, deed.entered),
        () if is(WAITS) || says(MAY_WAIT) => (deed.left, deed.left),
        () if is(STARTS) => (deed.entered, deed.entered),
        () => (deed.entered, deed.left),
    }
}

/// The deeds that expectations are about: of a run or a section, in the order of entry.
#[derive(Debug)]
pub struct Scene<'a> {
    pub(super) deeds: Vec<&'a Deed>,
    pub(super) when: Vec<When>,
    by_name: HashMap<&'a str, Vec<Place>>,
    /// For each deed, the next one of its thread.
    next: Vec<Option<Place>>,
    /// Names of which earlier deeds were overwritten.
    forgotten: BTreeSet<String>,
    /// Whether any of them may be missing, and not the earlier ones alone.
    may_be_any: bool,
}

impl<'a> Scene<'a> {
    /// Makes a scene of these deeds.
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
            // The next deed of a thread is an event, never a span, which is made of events.
            if deed.ends.is_none()
                && let Some(slot) = last.insert(thread, place).and_then(|it| next.get_mut(it))
            {
                *slot = Some(place);
            }
            let (start, end) = effect(deed);
            when.push(When {
                thread,
                place,
                entered: deed.entered,
                start,
                end,
                left: deed.left,
                is_span: deed.ends.is_some(),
            });
        }
        Self {
            deeds,
            when,
            by_name,
            next,
            forgotten: BTreeSet::new(),
            may_be_any: false,
        }
    }

    /// Says that deeds of these names are missing: those before the first that is here, as they
    /// were overwritten, or any.
    #[must_use]
    pub fn forgetting(mut self, names: &BTreeSet<String>, may_be_any: bool) -> Self {
        self.forgotten.clone_from(names);
        self.may_be_any = may_be_any;
        self
    }

    /// Whether a matcher may mean overwritten deeds.
    pub(super) fn forgets(&self, matcher: &Matcher) -> bool {
        !self.forgotten.is_disjoint(&matcher.names)
    }

    /// Returns the names of which not all deeds are here.
    pub(super) fn forgotten(&self) -> &BTreeSet<String> {
        &self.forgotten
    }

    /// Whether a step may be an overwritten deed.
    pub(super) fn forgets_a_step(&self, shape: &Shape<'_>) -> bool {
        let mut leaves = shape.leaves.iter();
        leaves.any(|leaf| self.forgets(leaf.matcher))
    }

    /// Whether a forbidden deed between steps may be an overwritten one.
    pub(super) fn forgets_between(&self, shape: &Shape<'_>) -> bool {
        let mut between = shape.gaps.iter().flat_map(|gap| gap.matchers);
        let has_next = shape.leaves.iter().any(|leaf| leaf.is_next);
        has_next && !self.forgotten.is_empty() || between.any(|matcher| self.forgets(matcher))
    }

    /// The moment from which on all deeds are here.
    pub(super) fn remembered_from(&self) -> u64 {
        let known = self
            .forgotten
            .iter()
            .filter_map(|name| self.named(name).first());
        let entered = known.filter_map(|place| self.when.get(*place));
        let first = entered.map(|when| when.entered).min();
        match self.forgotten.is_empty() {
            true => 0,
            false if self.may_be_any => u64::MAX,
            false => first.unwrap_or(u64::MAX),
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
