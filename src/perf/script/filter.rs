//! Which records are printed.

use super::tasks::Name;
use crate::glob::glob;
use crate::units::{Nanos, Pid, Tid};

/// What a record is to be, to be printed; an empty list lets everything through.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Names of tasks.
    pub comms: Vec<Vec<u8>>,
    /// Processes.
    pub pids: Vec<u32>,
    /// Threads.
    pub tids: Vec<u32>,
    /// CPUs.
    pub cpus: Vec<u32>,
    /// Events: `sched:sched_switch`, or globs of names.
    pub events: Vec<String>,
    /// Times.
    pub times: Span,
}

/// A range of times, both ends inclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Nothing before this.
    pub from: Option<Nanos>,
    /// Nothing after this.
    pub to: Option<Nanos>,
}

impl Span {
    /// Reads `FROM,TO`, in seconds with up to nine digits behind a point; either may be missing.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (from, to) = text.split_once(',').unwrap_or((text, ""));
        let end = |text: &str| match text.trim() {
            "" => Some(None),
            text => nanos(text).map(Some),
        };
        Some(Self {
            from: end(from)?,
            to: end(to)?,
        })
    }

    fn has(&self, time: Nanos) -> bool {
        self.from.is_none_or(|from| time >= from) && self.to.is_none_or(|to| time <= to)
    }
}

// parse_nsec_time(), tools/perf/util/time-utils.c.
fn nanos(text: &str) -> Option<Nanos> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(fraction) || fraction.len() > 9 || !is_digits(seconds) {
        return None;
    }
    let seconds: u64 = seconds.parse().ok()?;
    let fraction: u64 = format!("{fraction:0<9}").parse().ok()?;
    Some(Nanos(
        seconds.checked_mul(1_000_000_000)?.checked_add(fraction)?,
    ))
}

fn allows<T: PartialEq>(list: &[T], value: Option<T>) -> bool {
    list.is_empty() || value.is_some_and(|value| list.contains(&value))
}

impl Filter {
    pub(super) fn lets_through(
        &self,
        task: Option<(Pid, Tid)>,
        cpu: Option<u32>,
        time: Option<Nanos>,
        name: &Name<'_>,
    ) -> bool {
        allows(&self.pids, task.map(|(pid, _)| pid.0))
            && allows(&self.tids, task.map(|(_, tid)| tid.0))
            && allows(&self.cpus, cpu)
            && time.is_none_or(|time| self.times.has(time))
            && (self.comms.is_empty()
                || matches!(name, Name::Known(name) if self.comms.iter().any(|comm| comm == name)))
    }

    pub(super) fn wants_event(&self, name: &str) -> bool {
        let is_it = |pattern: &String| pattern == name || glob(pattern, name);
        self.events.is_empty() || self.events.iter().any(is_it)
    }
}
