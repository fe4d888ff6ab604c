//! Makes a call for the workload, on the workload's own descriptor: with fewer bytes, or as it is,
//! so that its return can be held.

use super::copying::Copied;
use super::depending::refused;
use super::log::{Log, Logged, Sent};
use super::moving::{TICK, make};
use super::opened::{name_of, take};
use super::supervisor::{End, Held, ended};
use crate::host::Host;
use crate::sys::gate::{Listener, Reply, signal_thread};
use crate::sys::thread;
use std::collections::BTreeSet;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};
use syscall_model::{Answer, Injected};

/// The calls that can be made with fewer bytes.
pub const SHORTER: [&str; 16] = [
    "copy_file_range",
    "pread64",
    "preadv",
    "preadv2",
    "pwrite64",
    "pwritev",
    "pwritev2",
    "read",
    "readv",
    "recvfrom",
    "sendfile",
    "sendfile64",
    "sendto",
    "splice",
    "write",
    "writev",
];

/// The calls that can be made for the workload: their effect lies in an open file and a buffer, and
/// not in the task that makes them.
pub const MADE: [&str; 14] = [
    "fdatasync",
    "fsync",
    "pread64",
    "preadv",
    "preadv2",
    "pwrite64",
    "pwritev",
    "pwritev2",
    "read",
    "readv",
    "recvfrom",
    "sendto",
    "write",
    "writev",
];

// The most time for a thread whose call waits no more to say so: it may hang on its descriptor.
const PATIENCE: Duration = Duration::from_secs(2);

const NO_MEANS: &str = "a call could not be made for the workload";

/// The first of the names of calls that is none of `can`. What 32-bit programs may call in place of
/// `sendto` and `recvfrom` is left to its thread when it comes.
pub fn first_without<'a>(names: &'a BTreeSet<String>, can: &[&str]) -> Option<&'a String> {
    let has_socket = ["sendto", "recvfrom"].iter().any(|it| names.contains(*it));
    let is_beside = |name: &str| {
        has_socket && (name.starts_with("socketcall") || matches!(name, "send" | "recv"))
    };
    let mut names = names.iter();
    names.find(|name| !can.contains(&name.as_str()) && !is_beside(name))
}

type Told = (Sender<(u64, End)>, Receiver<(u64, End)>);

/// The calls that are made for the workload, each in a thread of its own: a descriptor may let it
/// wait.
#[derive(Debug)]
pub(super) struct Making {
    open: Vec<Held>,
    /// By which the threads tell the call's id and its end.
    told: Told,
}

impl Default for Making {
    fn default() -> Self {
        Self {
            open: Vec::new(),
            told: channel(),
        }
    }
}

/// A call that is to be made.
pub(super) struct Order {
    pub(super) call: Held,
    /// Its thread's process; `None` where that is gone.
    pub(super) process: Option<u32>,
    /// Its descriptor's open file; of two that which it writes.
    pub(super) descriptor: io::Result<OwnedFd>,
    /// The open file that a call copies from.
    pub(super) source: Option<(Copied, io::Result<OwnedFd>)>,
    /// Why it must be made by its own thread, if it must.
    pub(super) refused: Option<&'static str>,
    /// The most bytes; `None` for all.
    pub(super) most: Option<u64>,
    /// How long its return is held.
    late: Duration,
}

/// What became of a call that was to be made.
pub(super) enum Made {
    /// It returned so many bytes, or failed by itself.
    Returned(io::Result<usize>),
    /// It failed with `EPIPE`, and no signal comes with that.
    Unsignalled(io::Error),
    /// The workload does not wait any more; nothing was moved.
    Gone,
    /// The harness had no means to make it: the workload makes it itself.
    NoMeans(io::Error),
    /// Bytes were moved that did not come whole.
    Torn(io::Error),
}

impl Order {
    fn of(host: &Host, call: &Held, injected: Injected) -> Self {
        let [number, ..] = call.native_words();
        let copied = Copied::of(call);
        let number = copied.map_or(number as i32, |copied| copied.to.number);
        let at = (call.thread, number);
        let name = name_of(host, at, None).ok().flatten();
        Self {
            call: *call,
            process: host.process_of(call.thread),
            descriptor: take(host, at.0, at.1),
            source: copied.map(|copied| (copied, take(host, call.thread, copied.from.number))),
            refused: name.and_then(|name| refused(&name)),
            most: match injected.answer {
                Some(Answer::Short(most)) => Some(most),
                _ => None,
            },
            late: Duration::from_nanos(injected.late.map_or(0, |late| late.0)),
        }
    }
}

impl Making {
    /// Makes the call; `logged` is what the log is to have of it.
    pub(super) fn start(
        &mut self,
        (listener, log, host): (&Arc<Listener>, &Log, &Host),
        call: &Held,
        injected: Injected,
        logged: Option<Logged>,
    ) {
        let order = Order::of(host, call, injected);
        self.open.push(*call);
        let told = self.told.0.clone();
        let work = {
            let (listener, log, logged) = (Arc::clone(listener), log.clone(), logged.clone());
            let (told, call, process) = (told.clone(), *call, order.process);
            move || {
                let late = order.late;
                let made = make(&listener, order);
                if matches!(made, Made::Returned(_) | Made::Unsignalled(_)) {
                    hold(&listener, call.id(), late);
                }
                let end = answer(&listener, &log, (&call, process), made, logged);
                // The supervisor may have ended.
                let _ended = told.send((call.id(), end));
            }
        };
        if let Err(error) = thread::start("call", work) {
            let made = Made::NoMeans(error);
            let end = answer(listener, log, (call, None), made, logged);
            let _both_are_here = told.send((call.id(), end));
        }
    }

    /// Waits for the ends of those calls that `which` picks.
    pub(super) fn ended(&mut self, which: impl Fn(&Held) -> bool) -> Vec<(Held, End)> {
        let mut all = Vec::new();
        while self.open.iter().any(&which) {
            let Ok((id, end)) = self.told.1.recv_timeout(PATIENCE) else {
                break;
            };
            if let Some(place) = self.open.iter().position(|call| call.id() == id) {
                all.push((self.open.swap_remove(place), end));
            }
        }
        let late = || End::Failed(format!("{NO_MEANS}: it waits for its descriptor"));
        all.extend(
            self.open
                .extract_if(.., |call| which(call))
                .map(|call| (call, late())),
        );
        all
    }
}

/// Waits for a time, or until a call does not wait any more.
fn hold(listener: &Listener, id: u64, late: Duration) {
    let until = Instant::now() + late;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || !matches!(listener.is_waiting(id), Ok(true)) {
            return;
        }
        std::thread::sleep(left.min(TICK));
    }
}

/// Answers the call with what it made, and says how that ended.
fn answer(
    listener: &Listener,
    log: &Log,
    (call, process): (&Held, Option<u32>),
    made: Made,
    logged: Option<Logged>,
) -> End {
    let with_signal = matches!(made, Made::Returned(_));
    let (reply, moved, failed) = match made {
        Made::Gone => return End::TakenBack,
        Made::Returned(Ok(bytes)) => (Reply::Value(bytes as i64), bytes > 0, None),
        Made::Returned(Err(error)) | Made::Unsignalled(error) => {
            let number = error.raw_os_error().unwrap_or(libc::EIO);
            (Reply::Error(number), false, None)
        }
        Made::NoMeans(error) => (Reply::Continue, false, Some(format!("{NO_MEANS}: {error}"))),
        Made::Torn(error) => {
            let number = error.raw_os_error().unwrap_or(libc::EIO);
            let why = format!("{NO_MEANS}: its bytes did not arrive: {error}");
            (Reply::Error(number), true, Some(why))
        }
    };
    let value = match reply {
        Reply::Value(value) => Some(value),
        Reply::Error(error) => Some(-i64::from(error)),
        Reply::Continue => None,
    };
    // A call that goes on was not answered.
    let logged = logged.map(|logged| Logged {
        injected: value.map_or_else(Injected::default, |_| logged.injected),
        value,
        ..logged
    });
    // As the kernel does for the task itself.
    let of_pipe = process.filter(|_| with_signal && reply == Reply::Error(libc::EPIPE));
    let signal = || {
        let gone = || io::Error::from_raw_os_error(libc::ESRCH);
        of_pipe
            .ok_or_else(gone)
            .and_then(|process| signal_thread(process, call.thread, libc::SIGPIPE))
    };
    let send = || -> io::Result<Sent> {
        // Where it would take the call back it comes behind the answer.
        let by_signal = listener.is_killable && signal().is_ok();
        let answered = listener.answer(call.id(), reply)?;
        if answered && !listener.is_killable {
            let _none_or_gone = signal();
        }
        Ok(Sent {
            answered,
            by_signal,
            is_ended: false,
        })
    };
    match log.add(logged, send) {
        Ok(answered) if answered || !moved => ended(answered, failed),
        Ok(_) => End::Failed(format!(
            "{NO_MEANS}: a signal took it back when it was made"
        )),
        Err(error) => End::Failed(format!("{NO_MEANS}: {error}")),
    }
}
