//! Many calls, many threads, many processes, each with a number of calls that is known before it
//! starts.

use std::sync::Barrier;
use std::thread;

use crate::kernel::{self, say};

/// One thread, that many calls.
pub(crate) fn flood(calls: u64) -> i32 {
    kernel::getppid(calls);
    say(&format!(
        "thread index=0 tid={:07} call=getppid count={calls}",
        kernel::tid()
    ));
    0
}

/// So many threads; `calls` says how many calls each makes.
///
/// All are alive before the first of them calls, so that none can take over the stack of one that
/// has ended: which maps a thread makes for itself would otherwise depend on the scheduler.
pub(crate) fn threads(count: u64, calls: impl Fn(u64) -> u64) -> i32 {
    let barrier = Barrier::new(usize::try_from(count).expect("a number of threads"));
    thread::scope(|scope| {
        let spawn = |index| {
            let (barrier, calls) = (&barrier, calls(index));
            scope.spawn(move || {
                barrier.wait();
                kernel::getppid(calls);
                let tid = kernel::tid();
                say(&format!(
                    "thread index={index} tid={tid:07} call=getppid count={calls}"
                ));
            })
        };
        let threads: Vec<_> = (0..count).map(spawn).collect();
        // The scope waits for the closures only, and the end of the process would cut short what
        // the threads still do.
        for thread in threads {
            thread.join().expect("a thread that does not panic");
        }
    });
    say(&format!("main tid={:07} threads={count}", kernel::tid()));
    0
}

/// Calls of each process of the tree, in the order of the names `0`, `0.0`, `0.0.0`, ...
///
/// Primes, so that no sum of some is the count of another.
const CALLS: [(&str, u64); 7] = [
    ("0", 7),
    ("0.0", 11),
    ("0.0.0", 13),
    ("0.0.1", 17),
    ("0.1", 19),
    ("0.1.0", 23),
    ("0.1.1", 29),
];

/// Three generations: two children, and two children of each.
pub(crate) fn fork_tree() -> i32 {
    grow("0", 2)
}

fn grow(name: &str, generations: u32) -> i32 {
    let calls = CALLS
        .iter()
        .find_map(|(process, calls)| (*process == name).then_some(*calls))
        .expect("a process of the tree");
    let mut children = Vec::new();
    if generations > 0 {
        for index in 0..2 {
            let child = format!("{name}.{index}");
            children.push(kernel::fork_to(|| grow(&child, generations - 1)));
        }
    }
    kernel::getppid(calls);
    let pid = kernel::pid();
    say(&format!(
        "process name={name} pid={pid:07} call=getppid count={calls}"
    ));
    for child in children {
        kernel::wait_for(child);
    }
    0
}

/// Children one after the other, each waited for.
pub(crate) fn many_forks(count: u64) -> i32 {
    let mut all_ended_well = true;
    for _ in 0..count {
        all_ended_well &= kernel::wait_for(kernel::fork_to(|| 0)) == 0;
    }
    say(&format!(
        "forks pid={:07} count={count} all_ended_well={all_ended_well}",
        kernel::pid()
    ));
    0
}
