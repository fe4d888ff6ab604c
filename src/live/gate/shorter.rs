//! Makes a call for the workload with fewer bytes, on the workload's own descriptor.

use super::log::{Log, Logged, Sent};
use super::supervisor::{End, Held, ended};
use crate::sys::gate::{self, Listener, Reply, signal_thread};
use crate::sys::{pidfd, poll};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::uio::{pread, pwrite};
use perf_records::units::Pid;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use syscall_model::Injected;
use syscall_model::names::name_of;

/// The calls that can be made with fewer bytes.
pub const CALLS: [&str; 4] = ["pread64", "pwrite64", "read", "write"];

// How often it is looked whether the workload still waits, while its descriptor is not ready.
const TICK: Duration = Duration::from_millis(50);

// More is moved by no call that a test is about.
const MOST: u64 = 1 << 20;

// The most time for a thread whose call waits no more to say so: it may hang on its descriptor.
const PATIENCE: Duration = Duration::from_secs(2);

const NO_MEANS: &str = "a shorter call could not be made for the workload";

type Told = (Sender<(u64, End)>, Receiver<(u64, End)>);

/// The calls that are made with fewer bytes, each in a thread of its own: a descriptor may let it
/// wait.
#[derive(Debug)]
pub(super) struct Shorter {
    open: Vec<Held>,
    /// By which the threads tell the call's id and its end.
    told: Told,
}

impl Default for Shorter {
    fn default() -> Self {
        Self {
            open: Vec::new(),
            told: channel(),
        }
    }
}

/// What became of a shorter call.
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

impl Shorter {
    /// Makes the call; `failed` is what failed of it before.
    pub(super) fn start(
        &mut self,
        (listener, log): (&Arc<Listener>, &Log),
        (call, process): (&Held, Option<u32>),
        most: u64,
        logged: Option<Logged>,
        failed: Option<String>,
    ) {
        let (listener, log, call) = (Arc::clone(listener), log.clone(), *call);
        self.open.push(call);
        let told = self.told.0.clone();
        let work = {
            let (listener, log, logged) = (Arc::clone(&listener), log.clone(), logged.clone());
            let (told, failed) = (told.clone(), failed.clone());
            move || {
                let made = match process {
                    Some(process) => make(&listener, &call, process, most),
                    None => Made::Gone,
                };
                let end = answer(&listener, &log, (&call, process), made, logged, failed);
                // The supervisor may have ended.
                let _ended = told.send((call.id(), end));
            }
        };
        let thread = std::thread::Builder::new().spawn(work);
        if let Err(error) = thread {
            let made = Made::NoMeans(error);
            let end = answer(&listener, &log, (&call, process), made, logged, failed);
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

/// Answers the call with what it made, and says how that ended.
fn answer(
    listener: &Listener,
    log: &Log,
    (call, process): (&Held, Option<u32>),
    made: Made,
    logged: Option<Logged>,
    failed: Option<String>,
) -> End {
    let (reply, moved, failed) = match made {
        Made::Gone => return End::TakenBack,
        Made::Returned(Ok(bytes)) => (Reply::Value(bytes as i64), bytes > 0, failed),
        Made::Returned(Err(error)) => {
            let number = error.raw_os_error().unwrap_or(libc::EIO);
            if let (libc::EPIPE, Some(process)) = (number, process) {
                // As the kernel does for the task itself.
                let _gone = signal_thread(process, call.thread, libc::SIGPIPE);
            }
            (Reply::Error(number), false, failed)
        }
        Made::NoMeans(error) => (Reply::Continue, false, Some(format!("{NO_MEANS}: {error}"))),
        Made::Torn(error) => {
            let number = error.raw_os_error().unwrap_or(libc::EIO);
            let why = format!("{NO_MEANS}: its bytes did not arrive: {error}");
            (Reply::Error(number), true, Some(why))
        }
    };
    // A call that goes on was not answered.
    let logged = logged.map(|logged| match reply {
        Reply::Continue => Logged {
            injected: Injected::default(),
            ..logged
        },
        _ => logged,
    });
    let send = || -> io::Result<Sent> {
        Ok(Sent {
            answered: listener.answer(call.id(), reply)?,
            by_signal: false,
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

fn make(listener: &Listener, call: &Held, process: u32, most: u64) -> Made {
    let [number, address, length, offset, ..] = call.native_words();
    let opened = pidfd::open(Pid(process)).and_then(|pidfd| {
        let gone = || io::Error::from_raw_os_error(libc::ESRCH);
        pidfd::descriptor_of(pidfd.ok_or_else(gone)?.as_fd(), number as i32)
    });
    let descriptor: OwnedFd = match opened {
        Ok(descriptor) => descriptor,
        Err(error) => return Made::NoMeans(error),
    };
    let length = length.min(most).min(MOST) as usize;
    let mut bytes = vec![0; length];
    let name = name_of(call.abi, call.number).unwrap_or_default();
    if matches!(name, "write" | "pwrite64") {
        match gate::read_memory(call.thread, address, &mut bytes) {
            Ok(there) => bytes.truncate(there),
            Err(error) => return Made::NoMeans(error),
        }
        // What was read until here may have been another task's.
        match listener.is_waiting(call.id()) {
            Ok(true) => {}
            Ok(false) => return Made::Gone,
            Err(error) => return Made::NoMeans(error),
        }
        let written = match name {
            "write" => nix::unistd::write(&descriptor, &bytes),
            _ => pwrite(&descriptor, &bytes, offset as i64),
        };
        return Made::Returned(written.map_err(io::Error::from));
    }
    // The call itself says what there is, where it does not wait.
    let mut waits = match fcntl(&descriptor, FcntlArg::F_GETFL) {
        Ok(flags) => !OFlag::from_bits_retain(flags).contains(OFlag::O_NONBLOCK),
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
    let got = match name {
        "read" => nix::unistd::read(descriptor.as_fd(), &mut bytes),
        _ => pread(&descriptor, &mut bytes, offset as i64),
    };
    let got = match got {
        Ok(0) => return Made::Returned(Ok(0)),
        Ok(got) => got,
        Err(error) => return Made::Returned(Err(error.into())),
    };
    bytes.truncate(got);
    match gate::write_memory(call.thread, address, &bytes) {
        Ok(there) if there == got => Made::Returned(Ok(got)),
        Ok(_) => Made::Torn(io::Error::from_raw_os_error(libc::EFAULT)),
        Err(error) => Made::Torn(error),
    }
}
