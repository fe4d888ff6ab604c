//! Works on several items at a time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;

/// Works on all items, `jobs` at a time, and hands over each result, one at a time.
pub(super) fn side_by_side<T: Sync, R>(
    all: &[T],
    jobs: usize,
    work: &(dyn Fn(&T) -> R + Sync),
    report: &(dyn Fn(R) + Sync),
) {
    let next = AtomicUsize::new(0);
    let one_at_a_time = Mutex::new(());
    let worker = || {
        while let Some(it) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            let done = work(it);
            let _turn = one_at_a_time.lock();
            report(done);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs.clamp(1, all.len().max(1)) {
            // Without the memory or the number of a process for more, fewer do the same.
            if Builder::new().spawn_scoped(scope, worker).is_err() {
                break;
            }
        }
        worker();
    });
}
