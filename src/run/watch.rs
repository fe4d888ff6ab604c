//! Watches limits that this kernel does not enforce, from outside and at intervals.

use perf_live::host::Host;
use perf_live::sandbox::{Cgroup, Running};
use perf_live::sys::thread::{self, Work};
use perf_live::sys::{pidfd, process};
use perf_live::units::{Limit, Limits, Struck, Usage};
use perf_records::units::Pid;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

// In this time a program touches some ten MiB, and a fork bomb forks some tens of times on each
// CPU.
const OFTEN: Duration = Duration::from_millis(5);
// For a limit of processes that the scenario does not set: it protects the machine, and need not be
// exact.
const SELDOM: Duration = Duration::from_millis(20);
// A look takes at most this part of the time.
const SHARE: u32 = 8;

/// Watches the limits of one run, in a thread of its own: the reader of records may be busy with
/// those of a fork bomb.
#[derive(Debug)]
pub struct Watch {
    output: Option<u64>,
    shared: Arc<Shared>,
    thread: Option<Work<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    is_over: AtomicBool,
    found: Mutex<(Usage, Option<Struck>)>,
}

impl Shared {
    fn found(&self) -> MutexGuard<'_, (Usage, Option<Struck>)> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch {
    /// Starts to watch the limits that the group does not enforce; `base` is the CPU time that the
    /// group used before the workload ran.
    ///
    /// # Errors
    /// Those of `pidfd_open(2)` and of making a thread.
    pub fn new(
        init: Pid,
        (group, base): (Option<Arc<Cgroup>>, Duration),
        limits: &Limits,
        n_cpus: usize,
    ) -> io::Result<Self> {
        let mut limits = *limits;
        let enforces = |limit| {
            group
                .as_ref()
                .is_some_and(|group: &Arc<Cgroup>| group.enforces(limit))
        };
        limits.memory = limits.memory.filter(|_| !enforces(Limit::Memory));
        limits.processes = limits.processes.filter(|_| !enforces(Limit::Processes));
        let looker = Looker {
            host: Host::running(),
            init,
            group,
            base,
            limits,
            n_cpus: u32::try_from(n_cpus.max(1)).unwrap_or(u32::MAX),
            seen: Usage::default(),
        };
        let shared = Arc::new(Shared::default());
        let mut thread = None;
        if looker.pause(Duration::ZERO).is_some()
            && let Some(process) = pidfd::open(init)?
        {
            let shared = Arc::clone(&shared);
            let watch = move || looker.watch(&process, &shared);
            thread = Some(thread::kept("watch", watch)?);
        }
        Ok(Self {
            output: limits.output,
            shared,
            thread,
        })
    }

    /// Returns the limit that was passed, if any: the workload has then to be killed, or already
    /// was.
    pub(super) fn passed(&self, running: &Running) -> Option<Struck> {
        if self.output.is_some_and(|most| running.written() > most) {
            return Some(passed(Limit::Output, "it wrote more"));
        }
        self.shared.found().1.clone()
    }

    /// Stops watching; returns the highest use seen, and the limit that was passed.
    pub(super) fn finish(mut self) -> (Usage, Option<Struck>) {
        self.stop();
        self.shared.found().clone()
    }

    fn stop(&mut self) {
        self.shared.is_over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.unpark();
            // If the thread panicked, what it had seen so far counts.
            let _panicked = thread.join();
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The state of the watching thread.
#[derive(Debug)]
struct Looker {
    host: Host,
    /// The root of the workload's processes: the init of its namespace.
    init: Pid,
    group: Option<Arc<Cgroup>>,
    base: Duration,
    limits: Limits,
    n_cpus: u32,
    seen: Usage,
}

impl Looker {
    /// Looks at intervals, and kills the workload when it has passed a limit.
    fn watch(mut self, process: &OwnedFd, shared: &Shared) {
        // Without the right to it the thread waits for its turn like any other.
        let _refused = process::make_urgent(None);
        let mut took = Duration::ZERO;
        while let Some(pause) = self.pause(took) {
            std::thread::park_timeout(pause);
            if shared.is_over.load(Ordering::Acquire) {
                return;
            }
            let started = Instant::now();
            let struck = self.look();
            took = started.elapsed();
            let is_end = struck.is_some();
            *shared.found() = (self.seen, struck);
            if is_end {
                // Init has to kill the others (zap_pid_ns_processes()), and needs the CPU for that.
                let _refused = process::make_urgent(Some(self.init));
                // A process that has ended already needs no kill.
                let _ended = pidfd::signal(process.as_fd(), libc::SIGKILL);
                return;
            }
        }
    }

    fn look(&mut self) -> Option<Struck> {
        let limits = self.limits;
        let counted = self.group.as_ref().and_then(|group| group.cpu());
        let counted = counted.map(|time| time.saturating_sub(self.base));
        let needs_tree = limits.processes.is_some() || limits.memory.is_some();
        let tree = if needs_tree || counted.is_none() {
            // A fork bomb leaves the harness little CPU time: it counts no more processes than it
            // must.
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
            // The cheap sum counts shared memory once for each process that shares it.
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

    /// Returns the time to the next look, by the time that the last one took; `None` if no limit is
    /// watched.
    fn pause(&self, look: Duration) -> Option<Duration> {
        let limits = &self.limits;
        // CPU time passes on all CPUs at once, and no faster than that.
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
