//! Turns signals into a descriptor: a run waits for them with all else, and no handler runs.

use crate::out::note;
use crate::{complain, status};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, sigprocmask};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::Pid;
use perf_live::errors::chain;
use perf_live::sandbox::Running;
use perf_live::sys::disposed::was_ignored;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use trace_harness::matrix::Stop;
use trace_harness::run::{Control, Next};

const WATCHED: [Signal; 4] = [
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGQUIT,
];

/// How long a signal, or the end that it asks for, may wait before the signal ends the harness: the
/// harness may be in a call that waits for a pipe's reader.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether nothing is left to do but to write what is known.
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// Says that all runs are over. A signal that comes from now on ends the harness at once, which may
/// be writing to a pipe that nobody reads; one that has come before is waited with, as what it
/// ended is being told.
pub(crate) fn all_is_over(signals: &SignalFd) {
    if !is_pending(signals, PollTimeout::ZERO) {
        // ORDERING: see where it is read.
        IS_OVER.store(true, Ordering::Relaxed);
    }
}

/// As [`watch`]; what is wrong is said, and is the command's status.
pub(crate) fn watched() -> Result<SignalFd, u8> {
    watch().map_err(|error| {
        complain(&error, None);
        status::TROUBLE
    })
}

/// Returns the status of a command that one of the signals on this descriptor has ended. It takes
/// the signal off.
pub(crate) fn asked_of(signals: &SignalFd) -> Option<u8> {
    let signal = signals.read_signal().ok().flatten()?;
    let signal = u8::try_from(signal.ssi_signo).unwrap_or(u8::MAX);
    Some(signal | 128)
}

/// Starts a thread that lives as long as it has work.
fn start(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let started = std::thread::Builder::new().spawn(work);
    let refused = |error: io::Error| {
        io::Error::new(
            error.kind(),
            format!("cannot start a thread: {}", chain(&error)),
        )
    };
    started.map(drop).map_err(refused)
}

/// Blocks the signals that ask a program to end, in this thread and all that it starts.
fn block() -> io::Result<SigSet> {
    let mut set = SigSet::empty();
    // What `nohup` has ignored ends nothing. The others end a program even where a shell has had it
    // ignore them, as one in the background.
    let is_asked = |signal: &Signal| *signal != Signal::SIGHUP || !was_ignored(*signal as i32);
    let asked = WATCHED.into_iter().filter(is_asked);
    asked.for_each(|signal| set.add(signal));
    sigprocmask(SigmaskHow::SIG_BLOCK, Some(&set), None)?;
    Ok(set)
}

/// Blocks the signals that ask a program to end, in this thread and all that it starts, and returns
/// them as a descriptor. Workloads start with an empty mask. A signal that is not taken off the
/// descriptor in time ends the harness as if it were not blocked.
pub(crate) fn watch() -> io::Result<SignalFd> {
    let set = block()?;
    let signals = SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
    let pending = signals.as_fd().try_clone_to_owned()?;
    start(move || {
        while is_pending(&pending, PollTimeout::NONE) {
            // ORDERING: nothing else is read that was stored before it.
            if !IS_OVER.load(Ordering::Relaxed) {
                std::thread::sleep(PATIENCE);
            }
            if is_pending(&pending, PollTimeout::ZERO) {
                // Pending signals arrive now, in this thread, and end all threads.
                let _ended = sigprocmask(SigmaskHow::SIG_UNBLOCK, Some(&set), None);
                // Still alive: the harness was started with that signal ignored.
                let _blocked = sigprocmask(SigmaskHow::SIG_BLOCK, Some(&set), None);
            }
        }
    })?;
    Ok(signals)
}

/// Ends what [`watch`] has been called for, as a signal from elsewhere would.
pub(crate) fn end_the_watch() {
    // It waits on the descriptor; a process may always signal itself.
    let _sent = kill(Pid::this(), Signal::SIGTERM);
}

/// Whether a signal waits, now or within that time.
fn is_pending(signals: &impl AsFd, timeout: PollTimeout) -> bool {
    loop {
        let mut ready = [PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
        match poll(&mut ready, timeout) {
            Err(nix::Error::EINTR) => {}
            polled => return polled.is_ok_and(|n| n > 0),
        }
    }
}

/// How often it is looked whether a signal has come.
const LOOK: Duration = Duration::from_millis(50);

/// How long guests may take to end after a signal. A fetch that is under way is not waited for.
const FAREWELL: Duration = Duration::from_secs(2);

/// The signal that asked for the end of guests; 0 for none.
static ASKED: AtomicI32 = AtomicI32::new(0);

/// Returns the status of a command that a signal has ended with its guests.
pub(crate) fn asked() -> Option<u8> {
    // ORDERING: it is stored before guests are asked to end, which is waited for with a lock.
    let signal = ASKED.load(Ordering::Acquire);
    u8::try_from(signal)
        .ok()
        .filter(|it| *it > 0)
        .map(|it| 128 | it)
}

/// Ends guests, and removes what they leave, when a signal asks the harness to end.
pub(crate) fn stop_guests() -> io::Result<Stop> {
    let set = block()?;
    let stop = Stop::default();
    let asked = stop.clone();
    start(move || {
        let Ok(signal) = set.wait() else {
            return;
        };
        // ORDERING: see above.
        ASKED.store(signal as i32, Ordering::Release);
        asked.ask();
        std::thread::sleep(FAREWELL);
        note!("harness: interrupted; a guest or a download that is under way is not waited for");
        std::process::exit(128 + signal as i32);
    })?;
    Ok(stop)
}

/// As [`stop_guests`], for a command that has more to tell at its end: it is not ended but by a
/// second signal.
pub(crate) fn ask_guests() -> io::Result<Stop> {
    let set = block()?;
    let stop = Stop::default();
    let asked = stop.clone();
    start(move || {
        while let Ok(signal) = set.wait() {
            if asked.is_asked() {
                std::process::exit(128 + signal as i32);
            }
            // ORDERING: see above.
            ASKED.store(signal as i32, Ordering::Release);
            asked.ask();
        }
    })?;
    Ok(stop)
}

/// Works until it is done. When a signal asks for the end, what is under way may take a moment to
/// end; then `last` tells what is known, and the harness ends with its status.
pub(crate) fn work(stop: &Stop, work: impl FnOnce() + Send, last: impl FnOnce() -> u8) {
    std::thread::scope(|scope| {
        let (ended, ends) = mpsc::channel::<()>();
        scope.spawn(move || {
            work();
            drop(ended);
        });
        let mut asked = None;
        while let Err(RecvTimeoutError::Timeout) = ends.recv_timeout(LOOK) {
            let since = stop
                .is_asked()
                .then(|| *asked.get_or_insert_with(Instant::now));
            if since.is_some_and(|since| since.elapsed() > FAREWELL) {
                note!("harness: a guest or a download that is under way is not waited for");
                std::process::exit(last().into());
            }
        }
    });
}

/// The signal that asks a recording for a file.
pub(crate) const REQUEST: Signal = Signal::SIGUSR2;

fn requests() -> SigSet {
    let mut set = SigSet::empty();
    set.add(REQUEST);
    set
}

/// Blocks the signal that asks for a file, in this thread and all that it starts: a process that
/// does not count the signal ignores it. Workloads start with an empty mask.
pub(crate) fn hold_back_requests() -> io::Result<()> {
    Ok(sigprocmask(SigmaskHow::SIG_BLOCK, Some(&requests()), None)?)
}

/// Counts the signal.
pub(crate) struct Counted {
    n: Arc<AtomicU64>,
    wakes: UnixStream,
}

/// Counts the signals that ask for a file, each as it comes: the kernel takes no second one while
/// one is pending (`legacy_queue()`, `kernel/signal.c`), and a file takes longer to write than two
/// signals may be apart.
pub(crate) fn count_requests() -> io::Result<Counted> {
    let (wakes, mut waker) = UnixStream::pair()?;
    for end in [&wakes, &waker] {
        end.set_nonblocking(true)?;
    }
    let n = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&n);
    let set = requests();
    let count = move || {
        perf_live::sys::rights::forget();
        while set.wait().is_ok() {
            // ORDERING: a thread that sees the byte sent after this also sees the count.
            counter.fetch_add(1, Ordering::Release);
            // A byte that is there already wakes the reader as well.
            waker.write_all(&[0]).ok();
        }
    };
    start(count)?;
    Ok(Counted { n, wakes })
}

impl Counted {
    /// Readable when the number is not zero.
    pub(crate) fn wakes(&self) -> BorrowedFd<'_> {
        self.wakes.as_fd()
    }

    /// Returns the number, and sets it to zero.
    pub(crate) fn take(&mut self) -> io::Result<u64> {
        let mut bytes = [0; 64];
        loop {
            match self.wakes.read(&mut bytes) {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        // ORDERING: after the byte was read; see above.
        Ok(self.n.swap(0, Ordering::Acquire))
    }
}

/// Ends every run as soon as one signal has arrived. The signal is never taken off, so that all
/// runs see it.
pub(crate) struct EndAll<'a>(pub(crate) &'a SignalFd);

impl Control for EndAll<'_> {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.0.as_fd())
    }
    fn ready(&mut self, _: &mut Running) -> io::Result<Next> {
        Ok(Next::Kill)
    }
}

/// Passes signals on to the command, except those of the terminal, which sends them to the command
/// itself. After the command's end, any of them ends the tracing of the processes that it left. A
/// command in a sandbox is killed at the first of them, with all that it started.
pub(crate) struct PassOn(pub(crate) SignalFd);

impl Control for PassOn {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.0.as_fd())
    }
    fn ready(&mut self, running: &mut Running) -> io::Result<Next> {
        const SI_KERNEL: i32 = 0x80;
        while let Some(signal) = self.0.read_signal()? {
            // A workload in a world of its own gets no signals from here or from the terminal; it
            // can only be killed.
            if running.has_init() {
                return Ok(Next::Kill);
            }
            if running.exit().is_some() {
                return Ok(Next::Leave);
            }
            if signal.ssi_code != SI_KERNEL {
                running.signal(signal.ssi_signo as i32)?;
            }
        }
        Ok(Next::Follow)
    }
    fn ends(&mut self) -> io::Result<()> {
        while self.0.read_signal()?.is_some() {}
        Ok(())
    }
}
