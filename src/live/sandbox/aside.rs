//! Threads for what takes the kernel long and no caller need wait for.

use crate::sys::thread;
use std::io;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

type Job = Box<dyn FnOnce() + Send>;

// The threads that have nothing to do. They are kept: to make one for each run takes its time, and
// space in a memory of which other threads are making copies meanwhile.
static IDLE: Mutex<Vec<Sender<Job>>> = Mutex::new(Vec::new());

/// Does a job in a thread that has nothing to do, or else in a new one: no job waits for another.
///
/// # Errors
/// Those of making a thread; the job is not done then.
pub(super) fn aside(job: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let mut job: Job = Box::new(job);
    loop {
        let Some(thread) = idle().pop() else {
            return new_thread(job);
        };
        match thread.send(job) {
            Ok(()) => return Ok(()),
            // That thread is gone.
            Err(unsent) => job = unsent.0,
        }
    }
}

fn new_thread(job: Job) -> io::Result<()> {
    let (sender, jobs) = channel::<Job>();
    let work = move || {
        job();
        idle().push(sender.clone());
        while let Ok(job) = jobs.recv() {
            job();
            idle().push(sender.clone());
        }
    };
    thread::start("reaper", work).map(drop)
}

fn idle() -> MutexGuard<'static, Vec<Sender<Job>>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_job_waits_for_another_and_all_are_done() {
        let (done, all) = channel();
        let mut held = Vec::new();
        for number in 0..8 {
            let (go, gate) = channel::<()>();
            let done = done.clone();
            // Ends only when it is told to, after those behind it.
            let job = move || {
                let _told = gate.recv();
                done.send(number).unwrap();
            };
            aside(job).unwrap();
            held.push(go);
        }
        for (number, go) in held.into_iter().enumerate().rev() {
            go.send(()).unwrap();
            assert_eq!(all.recv().unwrap(), number);
        }
    }

    #[test]
    fn a_job_that_panics_takes_no_other_with_it() {
        let (done, all) = channel();
        aside(|| std::panic::resume_unwind(Box::new("a job"))).unwrap();
        for _ in 0..4 {
            let done = done.clone();
            aside(move || done.send(()).unwrap()).unwrap();
            all.recv().unwrap();
        }
    }
}
