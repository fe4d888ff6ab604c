//! Puts a load on the machine while runs are made.

use crate::calibrate::Condition;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use perf_live::sys::process;
use perf_records::units::Cpu;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

// The longest time for which a CPU is taken away or left alone: some rounds of that fit into a
// workload of a few milliseconds.
const LONGEST_BURST: Duration = Duration::from_millis(2);

/// Keeps up a condition until it is dropped.
#[derive(Debug)]
pub(super) struct Load {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    /// Brings the condition about. If the machine refuses a priority or a thread, the condition is
    /// weaker.
    pub(super) fn start(condition: Condition, cpus: &[Cpu]) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let body: Option<fn(&AtomicBool)> = match condition {
            Condition::Busy => Some(compute),
            Condition::Bursts => Some(burst),
            Condition::Quiet | Condition::OneCpu | Condition::Crowd => None,
        };
        let start = |cpu: &Cpu| {
            let (body, over, cpu) = (body?, Arc::clone(&over), *cpu);
            let thread = std::thread::Builder::new().name("load".to_owned());
            let run = move || {
                // Unpinned threads are spread by the kernel.
                let _refused = one_cpu(cpu).map(|cpus| sched_setaffinity(THIS_THREAD, &cpus));
                body(&over);
            };
            thread.spawn(run).ok()
        };
        let threads = cpus.iter().filter_map(start).collect();
        Self { over, threads }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _panicked = thread.join();
        }
    }
}

const THIS_THREAD: Pid = Pid::from_raw(0);

fn one_cpu(cpu: Cpu) -> Option<CpuSet> {
    let mut set = CpuSet::new();
    set.set(usize::try_from(cpu.0).ok()?).ok()?;
    Some(set)
}

fn compute(over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
}

/// Takes the CPU from all threads that are not urgent, again and again: a quarter of the time on
/// average. At more, the kernel would return its 5% by force, and in much longer pieces.
fn burst(over: &AtomicBool) {
    let _refused = process::make_urgent(None);
    let mut dice = Dice::new();
    while !over.load(Ordering::Relaxed) {
        std::thread::sleep(dice.below(LONGEST_BURST * 3));
        let end = Instant::now() + dice.below(LONGEST_BURST);
        while Instant::now() < end {
            std::hint::spin_loop();
        }
    }
}

/// Unpredictable numbers (xorshift; Marsaglia 2003).
struct Dice(u64);

impl Dice {
    fn new() -> Self {
        Self(RandomState::new().build_hasher().finish() | 1)
    }

    fn below(&mut self, limit: Duration) -> Duration {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX).max(1);
        Duration::from_nanos(self.0 % limit)
    }
}

/// Keeps the calling thread, and all that it starts, on one CPU until it is dropped.
#[derive(Debug)]
pub(super) struct Pinned(Option<CpuSet>);

impl Pinned {
    /// Pins to this CPU; to none if there is none or the kernel refuses.
    pub(super) fn to(cpu: Option<Cpu>) -> Self {
        let before = sched_getaffinity(THIS_THREAD).ok();
        let is_pinned = cpu
            .and_then(one_cpu)
            .is_some_and(|cpus| sched_setaffinity(THIS_THREAD, &cpus).is_ok());
        Self(before.filter(|_| is_pinned))
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _stays = sched_setaffinity(THIS_THREAD, before);
        }
    }
}
