//! Makes a call for the workload, on the workload's own descriptor: with fewer bytes, or as it is,
//! so that its return can be held.

use super::buffer::Buffer;
use super::depending::{is_of_kernel, refused};
use super::log::{Log, Logged, Sent};
use super::opened::{name_of, take};
use super::supervisor::{End, Held, ended};
use crate::host::Host;
use crate::sys::gate::{self, Listener, Reply, signal_thread};
use crate::sys::{poll, thread};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::stat::{SFlag, fstat};
use nix::sys::uio::{pread, pwrite};
use nix::unistd::{Whence, fdatasync, fsync, lseek};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};
use syscall_model::names;
use syscall_model::{Answer, Injected};

/// The calls that can be made with fewer bytes.
pub const SHORTER: [&str; 4] = ["pread64", "pwrite64", "read", "write"];

/// The calls that can be made for the workload: their effect lies in an open file and a buffer, and
/// not in the task that makes them.
pub const MADE: [&str; 6] = ["fdatasync", "fsync", "pread64", "pwrite64", "read", "write"];

// How often it is looked whether the workload still waits, while its descriptor is not ready or its
// return is held.
const TICK: Duration = Duration::from_millis(50);

// More is moved by no shorter call that a test is about.
const MOST: u64 = 1 << 20;

// More is not moved by a call that is made as it is: it lies in the memory of the harness.
const MOST_WHOLE: u64 = 16 << 20;

// The most time for a thread whose call waits no more to say so: it may hang on its descriptor.
const PATIENCE: Duration = Duration::from_secs(2);

const NO_MEANS: &str = "a call could not be made for the workload";

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
struct Order {
    call: Held,
    /// Its thread's process; `None` where that is gone.
    process: Option<u32>,
    /// Its descriptor's open file.
    descriptor: io::Result<OwnedFd>,
    /// Why it must be made by its own thread, if it must.
    refused: Option<&'static str>,
    /// The most bytes; `None` for all.
    most: Option<u64>,
    /// How long its return is held.
    late: Duration,
}

/// What became of a call that was to be made.
enum Made {
    /// It returned so many bytes, or failed by itself.
    Returned(io::Result<usize>),
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
        let at = (call.thread, number as i32);
        let name = name_of(host, at, None).ok().flatten();
        Self {
            call: *call,
            process: host.process_of(call.thread),
            descriptor: take(host, at.0, at.1),
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
                if matches!(made, Made::Returned(_)) {
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
    let (reply, moved, failed) = match made {
        Made::Gone => return End::TakenBack,
        Made::Returned(Ok(bytes)) => (Reply::Value(bytes as i64), bytes > 0, None),
        Made::Returned(Err(error)) => {
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
    let of_pipe = process.filter(|_| reply == Reply::Error(libc::EPIPE));
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

fn make(listener: &Listener, order: Order) -> Made {
    let call = order.call;
    let [_, address, length, offset, ..] = call.native_words();
    let Some(process) = order.process else {
        return Made::Gone;
    };
    if let Some(why) = order.refused {
        return Made::NoMeans(io::Error::other(why));
    }
    let descriptor = match order.descriptor {
        Err(error) if error.raw_os_error() == Some(libc::EBADF) => {
            return Made::Returned(Err(error));
        }
        Err(error) => return Made::NoMeans(error),
        Ok(descriptor) => descriptor,
    };
    match is_of_kernel(&descriptor) {
        Ok(false) => {}
        Ok(true) => {
            let why = "files of procfs and sysfs look at who reads and writes";
            return Made::NoMeans(io::Error::other(why));
        }
        Err(error) => return Made::NoMeans(error),
    }
    let name = names::name_of(call.abi, call.number).unwrap_or_default();
    let is_sync = matches!(name, "fsync" | "fdatasync");
    let length = match order.most {
        _ if is_sync => 0,
        Some(most) => length.min(most).min(MOST),
        None if length > MOST_WHOLE => {
            return Made::NoMeans(io::Error::other("it moves more than 16 MiB"));
        }
        None => length,
    };
    let mut bytes = Buffer::like(address, length as usize);
    if matches!(name, "write" | "pwrite64") {
        match gate::read_memory(call.thread, address, bytes.all()) {
            Ok(there) => bytes.truncate(there),
            Err(error) if error.raw_os_error() == Some(libc::EFAULT) => {
                return Made::Returned(Err(error));
            }
            Err(error) => return Made::NoMeans(error),
        }
        let at = (name == "pwrite64").then_some(offset);
        match fits(&descriptor, process, at, bytes.length as u64) {
            Ok(true) => {}
            Ok(false) => {
                let why = "it would go beyond the workload's limit for files";
                return Made::NoMeans(io::Error::other(why));
            }
            Err(error) => return Made::NoMeans(error),
        }
    }
    if !is_sync && !matches!(name, "write" | "pwrite64") {
        return fetch(listener, (&call, order.most), &descriptor, bytes);
    }
    // What was read until here may have been another task's.
    match listener.is_waiting(call.id()) {
        Ok(true) => {}
        Ok(false) => return Made::Gone,
        Err(error) => return Made::NoMeans(error),
    }
    let returned = match name {
        "fsync" => fsync(&descriptor).map(|()| 0),
        "fdatasync" => fdatasync(&descriptor).map(|()| 0),
        "write" => nix::unistd::write(&descriptor, bytes.all()),
        _ => pwrite(&descriptor, bytes.all(), offset as i64),
    };
    returned_by(returned, &descriptor, order.most)
}

/// Whether a write of so many bytes stays below the workload's limit for files, which is not that
/// of the harness.
fn fits(file: &OwnedFd, process: u32, at: Option<u64>, length: u64) -> io::Result<bool> {
    let limit = gate::file_size_limit(process)?;
    let status = fstat(file)?;
    let is_regular = SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT == SFlag::S_IFREG;
    if limit == u64::MAX || !is_regular {
        return Ok(true);
    }
    let flags = OFlag::from_bits_retain(fcntl(file, FcntlArg::F_GETFL)?);
    let at = match at {
        _ if flags.contains(OFlag::O_APPEND) => status.st_size as u64,
        Some(at) => at,
        None => lseek(file, 0, Whence::SeekCur)? as u64,
    };
    Ok(at.saturating_add(length) <= limit)
}

/// What a call returned that moved no bytes into the workload's memory. With `O_DIRECT` bytes are
/// moved in blocks: less than one is another call, which fails.
fn returned_by(returned: nix::Result<usize>, file: &OwnedFd, most: Option<u64>) -> Made {
    let is_direct = || {
        let flags = fcntl(file, FcntlArg::F_GETFL);
        flags.is_ok_and(|flags| OFlag::from_bits_retain(flags).contains(OFlag::O_DIRECT))
    };
    if returned == Err(Errno::EINVAL) && most.is_some() && is_direct() {
        let why = "fewer bytes of a file that is open with O_DIRECT are whole blocks";
        return Made::NoMeans(io::Error::other(why));
    }
    Made::Returned(returned.map_err(io::Error::from))
}

/// Makes a call that reads.
fn fetch(
    listener: &Listener,
    (call, most): (&Held, Option<u64>),
    descriptor: &OwnedFd,
    mut bytes: Buffer,
) -> Made {
    let [_, address, _, offset, ..] = call.native_words();
    // The call itself says what there is, where it does not wait.
    let mut waits = match fcntl(descriptor, FcntlArg::F_GETFL) {
        Ok(flags) => {
            bytes.length > 0 && !OFlag::from_bits_retain(flags).contains(OFlag::O_NONBLOCK)
        }
        Err(error) => return Made::NoMeans(error.into()),
    };
    while waits {
        let ready = poll::poll(std::iter::once(descriptor.as_fd()), TICK);
        match (ready, listener.is_waiting(call.id())) {
            (Err(error), _) | (_, Err(error)) => return Made::NoMeans(error),
            (_, Ok(false)) => return Made::Gone,
            (Ok(ready), _) => {
                waits = !ready.iter().any(|it| it.is_readable || it.has_hung_up);
            }
        }
    }
    let got = match names::name_of(call.abi, call.number) {
        Some("read") => nix::unistd::read(descriptor.as_fd(), bytes.all()),
        _ => pread(descriptor, bytes.all(), offset as i64),
    };
    let got = match got {
        Ok(got) if got > 0 => got,
        other => return returned_by(other, descriptor, most),
    };
    bytes.truncate(got);
    match gate::write_memory(call.thread, address, bytes.all()) {
        Ok(there) if there == got => Made::Returned(Ok(got)),
        Ok(_) => Made::Torn(io::Error::from_raw_os_error(libc::EFAULT)),
        Err(error) => Made::Torn(error),
    }
}
