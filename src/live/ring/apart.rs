//! A thread that drains the rings and does nothing else, so that they are emptied however long
//! records take to be understood.

use super::backlog::{Backlog, Bounds, Held, Writer, lock};
use super::{Bell, Drain, Look, Tap};
use crate::sys::{self, thread::Work};
use perf_records::units::Nanos;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

/// How long rings that have not filled wait to be emptied.
const TICK: Duration = Duration::from_millis(50);

/// The same while there is no room for what they hold.
const FULL_TICK: Duration = Duration::from_millis(1);

/// Rings that a thread drains.
#[derive(Debug)]
pub(crate) struct Apart {
    shared: Arc<Shared>,
    /// Readable when there is something to be read.
    told: PipeReader,
    has_more: bool,
    thread: Option<Thread>,
}

#[derive(Debug)]
struct Thread {
    /// The thread ends when this is closed.
    go: PipeWriter,
    handle: Work<Vec<Tap>>,
}

/// What the thread and the reader share.
#[derive(Debug)]
struct Shared {
    backlog: Mutex<Backlog>,
    /// Which of the descriptors have hung up.
    hung_up: Vec<AtomicBool>,
    /// Whether the reader has been told and has not looked since.
    is_told: AtomicBool,
    /// Why the thread ended, if not because it was asked to.
    failed: Mutex<Option<io::Error>>,
}

impl Shared {
    /// Whether this descriptor has hung up.
    fn has_hung_up(&self, place: usize) -> bool {
        let hung_up = self.hung_up.get(place);
        // ORDERING: what the descriptor told of went through the backlog's lock.
        hung_up.is_some_and(|hung_up| hung_up.load(Ordering::Acquire))
    }
}

impl Apart {
    /// Starts the thread. The rings have been read up to `until`; the descriptors, but for those
    /// that have hung up, and the bells wake it when a ring has filled by a quarter.
    ///
    /// # Errors
    /// Those of `pipe(2)` and `pthread_create(3)`; the readers keep their rings then.
    pub(crate) fn start(
        drains: &mut [Drain],
        (fds, bells): (Vec<Arc<OwnedFd>>, Vec<Arc<Bell>>),
        hung_up: &[bool],
        until: Nanos,
        bounds: Bounds,
    ) -> io::Result<Self> {
        let (told, tells) = io::pipe()?;
        let (goes, go) = io::pipe()?;
        let shared = Arc::new(Shared {
            backlog: Mutex::new(Backlog::new(until, bounds)),
            hung_up: hung_up.iter().copied().map(AtomicBool::new).collect(),
            is_told: AtomicBool::new(false),
            failed: Mutex::default(),
        });
        let drainer = Drainer {
            fds,
            bells,
            ended: Vec::new(),
            goes,
            tells,
            shared: Arc::clone(&shared),
            writer: Writer::default(),
        };
        let (give, given) = mpsc::channel();
        let drain = move || drainer.run(given.recv().unwrap_or_default());
        let handle = sys::thread::kept("drain", drain)?;
        let taps: Vec<Tap> = drains
            .iter_mut()
            .filter_map(|drain| drain.tap.take())
            .collect();
        // It is there and waits.
        let _given = give.send(taps);
        Ok(Self {
            shared,
            told,
            has_more: false,
            thread: Some(Thread { go, handle }),
        })
    }

    /// Readable when there is something to be read.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.told.as_fd()
    }

    /// Which of the descriptors have hung up.
    pub(crate) fn hung_up(&self, to: &mut [bool]) {
        for (place, to) in to.iter_mut().enumerate() {
            *to |= self.shared.has_hung_up(place);
        }
    }

    /// How much waited to be read.
    pub(crate) fn held(&self) -> Held {
        lock(&self.shared.backlog).held()
    }

    /// Whether the thread has ended and all that it left has been taken.
    pub(crate) fn is_over(&self) -> bool {
        self.thread.is_none() && lock(&self.shared.backlog).is_empty()
    }

    /// Gives what was drained to the readers, some of it at a time, and notes which descriptors
    /// have hung up: nothing tells of that again.
    ///
    /// # Errors
    /// The thread's, or those of reading what it wrote to a file.
    pub(crate) fn take(&mut self, drains: &mut [Drain], hung_up: &mut [bool]) -> io::Result<Look> {
        let read = drains.iter_mut().flat_map(|drain| drain.spare.drain(..));
        let read: Vec<Vec<u8>> = read.collect();
        if let Some(error) = lock(&self.shared.failed).take() {
            return Err(error);
        }
        // Before the rest is looked at, so that what comes in the meantime is told anew.
        // ORDERING: pairs with the thread's, which has put there what it tells of.
        if self.shared.is_told.swap(false, Ordering::AcqRel) {
            self.told.read_exact(&mut [0])?;
        }
        self.hung_up(hung_up);
        let (_unwanted, portion) = {
            let mut backlog = lock(&self.shared.backlog);
            (backlog.reuse(read), backlog.take())
        };
        let look = portion.give(drains)?;
        self.has_more = !look.is_all;
        Ok(look)
    }

    /// Whether there is more to be taken than was at the last time.
    pub(crate) fn has_more(&self) -> bool {
        self.has_more
    }

    /// Ends the thread when it has emptied the rings once more, and gives them back.
    ///
    /// # Errors
    /// Where the thread came to no proper end.
    pub(crate) fn end(&mut self, drains: &mut [Drain]) -> io::Result<()> {
        let Some(Thread { go, handle }) = self.thread.take() else {
            return Ok(());
        };
        drop(go);
        let taps = handle.join();
        let taps = taps.map_err(|_| io::Error::other("the thread that drains the rings failed"))?;
        for (drain, tap) in drains.iter_mut().zip(taps) {
            drain.tap = Some(tap);
        }
        Ok(())
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        let _ended = self.end(&mut []);
    }
}

/// What the thread has.
#[derive(Debug)]
struct Drainer {
    fds: Vec<Arc<OwnedFd>>,
    bells: Vec<Arc<Bell>>,
    /// Which of the descriptors have hung up without the reader's knowing.
    ended: Vec<usize>,
    goes: PipeReader,
    tells: PipeWriter,
    shared: Arc<Shared>,
    writer: Writer,
}

impl Drainer {
    fn run(mut self, mut taps: Vec<Tap>) -> Vec<Tap> {
        sys::hurry();
        let mut tick = TICK;
        loop {
            match self.turn(&mut taps, &mut tick) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    *lock(&self.shared.failed) = Some(error);
                    let _told = self.tells.write_all(&[0]);
                    break;
                }
            }
        }
        // Nothing more is to be drained in time.
        self.writer.hand_over(&mut lock(&self.shared.backlog));
        taps
    }

    /// Waits until a ring has filled, and empties all of them; whether to go on.
    fn turn(&mut self, taps: &mut [Tap], tick: &mut Duration) -> io::Result<bool> {
        let open: Vec<usize> = (0..self.fds.len())
            .filter(|place| !self.shared.has_hung_up(*place) && !self.ended.contains(place))
            .collect();
        let rings = open.iter().filter_map(|place| self.fds.get(*place));
        let bells = self.bells.iter().map(|bell| bell.as_fd());
        let others = bells.chain([self.goes.as_fd()]);
        let ready = sys::poll::poll(rings.map(AsFd::as_fd).chain(others), *tick)?;
        let ended = open
            .iter()
            .zip(&ready)
            .filter(|(_, ready)| ready.has_hung_up);
        self.ended.extend(ended.map(|(place, _)| *place));
        let filled = self.writer.round(taps, &self.shared.backlog);
        *tick = match filled.is_all && filled.is_there {
            true => TICK,
            false => FULL_TICK,
        };
        // What was written before a descriptor hung up is there before the reader knows of that.
        let n_ended = if filled.is_there { self.ended.len() } else { 0 };
        let is_news = filled.has_some || n_ended > 0;
        let ended = self.ended.drain(..n_ended);
        for hung_up in ended.filter_map(|place| self.shared.hung_up.get(place)) {
            // ORDERING: the reader that sees this finds what was handed over.
            hung_up.store(true, Ordering::Release);
        }
        // ORDERING: pairs with the reader's, which looks at all that was handed over then.
        if is_news && !self.shared.is_told.swap(true, Ordering::AcqRel) {
            self.tells.write_all(&[0])?;
        }
        Ok(ready.last().is_none_or(|goes| !goes.has_hung_up))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_takes_what_was_told_knows_of_the_hang_up_that_it_told_of() {
        let (open, other) = io::pipe().expect("a pipe");
        let fds = vec![Arc::new(OwnedFd::from(open))];
        let (until, bounds) = (Nanos(0), Bounds::default());
        let apart = Apart::start(&mut [], (fds, Vec::new()), &[false], until, bounds);
        let mut apart = apart.expect("a thread");
        drop(other);
        sys::poll::poll([apart.descriptor()].into_iter(), Duration::MAX).expect("to be told");
        let mut hung_up = [false];
        apart.take(&mut [], &mut hung_up).expect("nothing to fail");
        assert_eq!(hung_up, [true]);
    }
}
