//! Passes on what a command in a guest prints, however slowly the host takes it.

use super::frame::LONGEST;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The outputs of a command on their way.
pub(super) struct Relays {
    running: Vec<JoinHandle<()>>,
    /// Ends when the command has ended.
    over: Arc<PipeReader>,
    runs: PipeWriter,
}

impl Relays {
    /// Of none yet.
    pub(super) fn new() -> io::Result<Self> {
        let (over, runs) = io::pipe()?;
        Ok(Self {
            running: Vec::new(),
            over: Arc::new(over),
            runs,
        })
    }

    /// Passes an output on from now on. Processes that the command leaves may print for so long
    /// when it has ended; what it has printed itself is passed on all the same.
    pub(super) fn pass_on(
        &mut self,
        mut from: impl Read + AsFd + Send + 'static,
        grace: Duration,
        mut to: impl FnMut(Vec<u8>) -> io::Result<()> + Send + 'static,
    ) {
        let over = Arc::clone(&self.over);
        self.running.push(std::thread::spawn(move || {
            // A host that is gone, or a pipe that cannot be read, is the end of it.
            let _end = while_it_runs(&mut from, &over, &mut to)
                .and_then(|_| what_is_left(&mut from, grace, &mut to));
        }));
    }

    /// The command has ended: waits until what it has printed is passed on.
    pub(super) fn end(self) {
        drop(self.runs);
        for relay in self.running {
            // One that panicked has said so.
            relay.join().ok();
        }
    }
}

type Sink<'s> = &'s mut dyn FnMut(Vec<u8>) -> io::Result<()>;

/// Ends with the command, or with its output.
fn while_it_runs(from: &mut (impl Read + AsFd), over: &PipeReader, to: Sink<'_>) -> io::Result<()> {
    loop {
        let ready = ready([from.as_fd(), over.as_fd()], PollTimeout::NONE)?;
        match ready {
            [_, true] => return Ok(()),
            [true, false] if read(from, to)? == 0 => return Ok(()),
            _ => {}
        }
    }
}

/// What is in the pipe was printed before the command ended, so time is no matter; a pipe holds no
/// more than it has room for. All else is bounded by time.
fn what_is_left(from: &mut (impl Read + AsFd), grace: Duration, to: Sink<'_>) -> io::Result<()> {
    let deadline = Instant::now() + grace;
    let mut room = fcntl(from.as_fd(), FcntlArg::F_GETPIPE_SZ)?.unsigned_abs() as usize;
    loop {
        let patience = deadline.saturating_duration_since(Instant::now());
        let is_late = patience.is_zero();
        let patience = PollTimeout::try_from(patience).unwrap_or(PollTimeout::MAX);
        let [is_ready] = ready([from.as_fd()], patience)?;
        if !is_ready || is_late && room == 0 {
            return Ok(());
        }
        match read(from, to)? {
            0 => return Ok(()),
            n => room = room.saturating_sub(n),
        }
    }
}

/// Which of these can be read, or have ended.
fn ready<const N: usize>(
    of: [std::os::fd::BorrowedFd<'_>; N],
    patience: PollTimeout,
) -> io::Result<[bool; N]> {
    let mut all = of.map(|fd| PollFd::new(fd, PollFlags::POLLIN));
    loop {
        match poll(&mut all, patience) {
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
            Ok(_) => return Ok(all.map(|it| it.any().unwrap_or(true))),
        }
    }
}

/// Passes on what there is; how much that was.
fn read(from: &mut impl Read, to: Sink<'_>) -> io::Result<usize> {
    let mut bytes = vec![0; LONGEST];
    let n = from.read(&mut bytes)?;
    bytes.truncate(n);
    if n > 0 {
        to(bytes)?;
    }
    Ok(n)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;
    use std::io::Write;
    use std::sync::mpsc;

    #[test]
    fn what_a_command_has_printed_is_passed_on_however_late_the_host_takes_it() {
        let (out, mut printed) = io::pipe().unwrap();
        let (taken, takes) = mpsc::channel();
        let (go, goes) = mpsc::channel::<()>();
        let mut relays = Relays::new().unwrap();
        relays.pass_on(out, Duration::ZERO, move |bytes| {
            taken.send(bytes).unwrap();
            // The host takes no more until it is told to.
            goes.recv().ok();
            Ok(())
        });
        printed.write_all(b"first").unwrap();
        let mut all = takes.recv().unwrap();
        let rest = vec![b'x'; 40_000];
        printed.write_all(&rest).unwrap();
        let ends = std::thread::spawn(move || relays.end());
        // A process that the command left keeps its output open.
        while let Some(missing) = 40_005_usize.checked_sub(all.len()).filter(|n| *n > 0) {
            go.send(()).unwrap();
            all.extend(
                takes
                    .recv()
                    .unwrap_or_else(|_| panic!("{missing} are lost")),
            );
        }
        drop(go);
        ends.join().unwrap();
        drop(printed);
        assert_eq!(all, [b"first".as_slice(), &rest].concat());
    }

    #[test]
    fn a_process_that_prints_for_ever_is_not_waited_for() {
        let (out, mut printed) = io::pipe().unwrap();
        std::thread::spawn(move || while printed.write_all(&[b'y'; 4096]).is_ok() {});
        let mut relays = Relays::new().unwrap();
        let (taken, takes) = mpsc::channel();
        relays.pass_on(out, Duration::ZERO, move |bytes| {
            taken.send(bytes.len()).ok();
            Ok(())
        });
        takes.recv().unwrap();
        relays.end();
    }
}
