//! Limits that no kernel enforces, or not this one: looked after from outside, at intervals.

use crate::host::Host;
use crate::sandbox::{Cgroup, Running};
use crate::units::{Limit, Limits, Pid, Struck, Usage};
use std::sync::Arc;
use std::time::{Duration, Instant};

// In this time a program touches some ten MiB, and a bomb forks some tens of times on each CPU.
const OFTEN: Duration = Duration::from_millis(5);
// For the limit of processes that nobody wrote down: it is there to spare the machine, and need not be exact.
const SELDOM: Duration = Duration::from_millis(100);
// A look takes this part of the time at most.
const SHARE: u32 = 8;

/// Looks after the limits of one run.
#[derive(Debug)]
pub struct Watch<'a> {
    host: &'a Host,
    /// The root of the workload's processes: the namespace's init.
    init: Pid,
    group: Option<Arc<Cgroup>>,
    /// The CPU time that the group had used before the workload ran.
    base: Duration,
    limits: Limits,
    n_cpus: u32,
    next: Option<Instant>,
    seen: Usage,
}

impl<'a> Watch<'a> {
    /// Starts to look after what the group does not enforce; `base` is the CPU time that it used before the workload runs.
    #[must_use]
    pub fn new(
        host: &'a Host,
        init: Pid,
        (group, base): (Option<Arc<Cgroup>>, Duration),
        limits: &Limits,
        n_cpus: usize,
    ) -> Self {
        let mut limits = *limits;
        let enforces = |limit| {
            group
                .as_ref()
                .is_some_and(|group: &Arc<Cgroup>| group.enforces(limit))
        };
        limits.memory = limits.memory.filter(|_| !enforces(Limit::Memory));
        limits.processes = limits.processes.filter(|_| !enforces(Limit::Processes));
        let mut watch = Self {
            host,
            init,
            group,
            base,
            limits,
            n_cpus: u32::try_from(n_cpus.max(1)).unwrap_or(u32::MAX),
            next: None,
            seen: Usage::default(),
        };
        watch.next = watch
            .pause(Duration::ZERO)
            .map(|pause| Instant::now() + pause);
        watch
    }

    /// How long it is until the next look.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.next.map_or(Duration::MAX, |next| {
            next.saturating_duration_since(Instant::now())
        })
    }

    /// The most that was seen of what it looks after.
    #[must_use]
    pub fn seen(&self) -> Usage {
        self.seen
    }

    /// Looks, if it is time; says which limit is passed.
    pub fn look(&mut self, running: &Running) -> Option<Struck> {
        if self
            .limits
            .output
            .is_some_and(|most| running.written() > most)
        {
            return Some(passed(Limit::Output, "it wrote more"));
        }
        let started = Instant::now();
        if self.next.is_none_or(|next| started < next) {
            return None;
        }
        let struck = self.look_at_tree();
        self.next = self
            .pause(started.elapsed())
            .map(|pause| Instant::now() + pause);
        struck
    }

    fn look_at_tree(&mut self) -> Option<Struck> {
        let limits = self.limits;
        let counted = self.group.as_ref().and_then(|group| group.cpu());
        let counted = counted.map(|time| time.saturating_sub(self.base));
        let needs_tree = limits.processes.is_some() || limits.memory.is_some();
        let tree = if needs_tree || counted.is_none() {
            // A bomb leaves little of the CPUs to us: no more of it is looked at than has to be.
            let at_most = limits.processes.unwrap_or(u64::MAX);
            self.host.tree(self.init, at_most)
        } else {
            Default::default()
        };
        if limits.cpu.is_some() {
            let of_tree = || {
                let all = tree.processes.iter().chain([&self.init]);
                all.map(|pid| self.host.cpu_time_of(*pid)).sum()
            };
            self.saw(Usage {
                cpu: Some(counted.unwrap_or_else(of_tree)),
                ..Usage::default()
            });
        }
        if limits.processes.is_some() {
            self.saw(Usage {
                processes_peak: Some(tree.n_threads),
                ..Usage::default()
            });
        }
        if let Some(most) = limits.memory {
            let sum =
                |of: &dyn Fn(Pid) -> u64| -> u64 { tree.processes.iter().copied().map(of).sum() };
            let mut used = sum(&|pid| self.host.memory_of(pid));
            // What relatives share is counted many times in the cheap sum.
            if used > most {
                used = sum(&|pid| {
                    let share = self.host.share_of_memory(pid);
                    share.unwrap_or_else(|| self.host.memory_of(pid))
                });
            }
            self.saw(Usage {
                memory_peak: Some(used),
                ..Usage::default()
            });
        }
        let is_above = |seen: Option<u64>, most: Option<u64>| {
            seen.zip(most).is_some_and(|(seen, most)| seen > most)
        };
        if self
            .seen
            .cpu
            .zip(limits.cpu)
            .is_some_and(|(seen, most)| seen >= most)
        {
            Some(passed(Limit::Cpu, "it used more"))
        } else if is_above(self.seen.memory_peak, limits.memory) {
            Some(passed(Limit::Memory, "it took more"))
        } else if is_above(self.seen.processes_peak, limits.processes) {
            Some(passed(Limit::Processes, "it made more"))
        } else {
            None
        }
    }

    fn saw(&mut self, usage: Usage) {
        self.seen = self.seen.and(usage);
    }

    /// The time to the next look, which may take as long as the last; `None` where there is nothing to look after.
    fn pause(&self, look: Duration) -> Option<Duration> {
        let limits = &self.limits;
        // CPU time passes on all CPUs at a time, and no faster.
        let cpu = limits.cpu.map(|most| {
            let left = most.saturating_sub(self.seen.cpu.unwrap_or_default());
            (left / self.n_cpus).max(OFTEN)
        });
        let memory = limits.memory.map(|_| OFTEN);
        let processes = limits.processes.map(|most| match most {
            Limits::PROCESSES => SELDOM,
            _ => OFTEN,
        });
        let shortest = [cpu, memory, processes].into_iter().flatten().min()?;
        Some(shortest.max(look.saturating_mul(SHARE)))
    }
}

fn passed(limit: Limit, how: &str) -> Struck {
    Struck {
        limit,
        how: format!("{how} and was ended"),
        is_end: true,
    }
}
