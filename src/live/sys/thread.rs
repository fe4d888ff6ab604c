//! Threads of the harness itself.

use nix::sys::signal::{SigSet, SigmaskHow};
use std::io;
use std::sync::mpsc::{Receiver, RecvError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle, Thread};

/// Starts a thread that takes no signal: one that is sent to the process finds the threads that its
/// program has chosen for it.
///
/// # Errors
/// Those of `pthread_create(3)`.
pub fn start<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    // The new thread inherits the mask, so that it has it from its first instruction on.
    let before = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
    let started = Builder::new().name(name.to_owned()).spawn(work);
    before.thread_set_mask()?;
    started
}

/// What a thread does, and how it tells of that when it has nothing to do again.
type Job = Box<dyn FnOnce() -> Tell + Send>;
type Tell = Box<dyn FnOnce() + Send>;

/// A thread that is kept when its work is done.
struct Idle {
    name: &'static str,
    thread: Thread,
    jobs: Sender<Job>,
}

// To make a thread for each run takes its time, and space in a memory of which other threads are
// making copies meanwhile.
static IDLE: Mutex<Vec<Idle>> = Mutex::new(Vec::new());

fn idle() -> MutexGuard<'static, Vec<Idle>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Work that a [kept thread](kept) does. Dropped, it is not waited for.
#[derive(Debug)]
pub struct Work<T> {
    thread: Thread,
    result: Receiver<T>,
}

impl<T> Work<T> {
    /// Wakes the thread, if it is parked.
    pub fn unpark(&self) {
        self.thread.unpark();
    }

    /// Waits until the work is done.
    ///
    /// # Errors
    /// Where it panicked.
    pub fn join(self) -> Result<T, RecvError> {
        self.result.recv()
    }
}

/// Has work done by a thread of this name that has nothing to do, or else by a [new one](start): no
/// work waits for other work. The thread keeps the priority that it gives itself.
///
/// # Errors
/// Those of `pthread_create(3)`; the work is not done then.
pub fn kept<T: Send + 'static>(
    name: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Work<T>> {
    let (tell, result) = channel();
    let mut job: Job = Box::new(move || {
        let done = work();
        // Nobody may be waiting.
        Box::new(move || drop(tell.send(done)))
    });
    loop {
        let found = {
            let mut idle = idle();
            let place = idle.iter().position(|idle| idle.name == name);
            place.map(|place| idle.swap_remove(place))
        };
        let Some(Idle { thread, jobs, .. }) = found else {
            let thread = new(name, job)?;
            return Ok(Work { thread, result });
        };
        match jobs.send(job) {
            Ok(()) => return Ok(Work { thread, result }),
            // That thread is gone.
            Err(unsent) => job = unsent.0,
        }
    }
}

fn new(name: &'static str, first: Job) -> io::Result<Thread> {
    let (jobs, more) = channel::<Job>();
    let work = move || {
        let mut next = Some(first);
        while let Some(job) = next {
            let tell = job();
            let (thread, jobs) = (std::thread::current(), jobs.clone());
            idle().push(Idle { name, thread, jobs });
            tell();
            next = more.recv().ok();
        }
    };
    Ok(start(name, work)?.thread().clone())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use nix::sys::signal::Signal;

    #[test]
    fn a_thread_takes_no_signal_and_its_maker_takes_what_it_took() {
        let mask = || SigSet::thread_get_mask().expect("a mask");
        let before = mask();
        let of_thread = start("deaf", mask).expect("a thread");
        let of_thread = of_thread.join().expect("its end");
        assert!(of_thread.contains(Signal::SIGINT) && of_thread.contains(Signal::SIGTERM));
        assert_eq!(mask(), before);
    }

    #[test]
    fn no_work_waits_for_other_work_and_all_is_done() {
        let mut held = Vec::new();
        for number in 0..8 {
            let (go, gate) = channel::<()>();
            // Ends only when it is told to, after those behind it.
            let work = move || {
                let _told = gate.recv();
                number
            };
            held.push((go, kept("several", work).unwrap()));
        }
        for (number, (go, work)) in held.into_iter().enumerate().rev() {
            go.send(()).unwrap();
            assert_eq!(work.join(), Ok(number));
        }
    }

    #[test]
    fn who_has_done_its_work_does_the_next() {
        let who = || std::thread::current().id();
        let first = kept("one", who).unwrap().join().unwrap();
        assert_eq!(kept("one", who).unwrap().join(), Ok(first));
        assert_ne!(kept("another", who).unwrap().join(), Ok(first));
    }

    #[test]
    fn work_that_panics_is_told_and_takes_no_other_with_it() {
        let panics = || std::panic::resume_unwind(Box::new("a job"));
        let panicked = kept("panics", panics).unwrap();
        assert_eq!(panicked.join(), Err::<(), _>(RecvError));
        for _ in 0..4 {
            assert_eq!(kept("panics", || ()).unwrap().join(), Ok(()));
        }
    }
}
