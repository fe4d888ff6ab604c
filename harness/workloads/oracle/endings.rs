//! How a workload may end, or not end, and what it was given to start with.

use std::fs;
use std::io::{self, Write};
use std::str::FromStr;

use nix::sys::signal::{SigHandler, SigSet, SigmaskHow, Signal, kill, sigprocmask};
use nix::unistd::{Pid, pause, setsid};

use crate::kernel::{self, say};

/// Ends with that status.
pub(crate) fn exit(status: i32) -> i32 {
    say(&format!("exit pid={:07} code={status}", kernel::pid()));
    status
}

/// The signal of that name (`SIGTERM`) or number.
pub(crate) fn signal_named(word: &str) -> Option<Signal> {
    match word.parse::<i32>() {
        Ok(number) => Signal::try_from(number).ok(),
        Err(_) => Signal::from_str(word).ok(),
    }
}

/// Kills itself; the signal finds neither a handler nor a mask in its way.
pub(crate) fn signal(signal: Signal) -> i32 {
    kernel::no_core_file();
    say(&format!("signal pid={:07} name={signal}", kernel::pid()));
    if !matches!(signal, Signal::SIGKILL | Signal::SIGSTOP) {
        set_disposition(signal, SigHandler::SigDfl);
        let only = SigSet::from(signal);
        sigprocmask(SigmaskHow::SIG_UNBLOCK, Some(&only), None).expect("sigprocmask");
    }
    kill(Pid::this(), signal).expect("kill");
    // A signal whose default is to be ignored leaves the process alive.
    0
}

fn set_disposition(signal: Signal, disposition: SigHandler) {
    // SAFETY: neither ignoring a signal nor its default runs code of this program.
    unsafe { nix::sys::signal::signal(signal, disposition) }.expect("signal");
}

/// Writes that many bytes, in lines of 64.
pub(crate) fn spam_stdout(bytes: u64) -> i32 {
    const LINE: &[u8] = b"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n";
    let mut text = LINE.repeat(usize::try_from(bytes / 64 + 1).expect("memory for the text"));
    text.truncate(usize::try_from(bytes).expect("memory for the text"));
    let mut stdout = io::stdout().lock();
    // Flushes by itself: otherwise the runtime does that after a Rust `main`.
    let written = stdout.write_all(&text).and_then(|()| stdout.flush());
    i32::from(written.is_err())
}

/// Leaves a child in a session of its own that keeps stdout open and has to be killed.
pub(crate) fn hold_stdout() -> i32 {
    let holder = kernel::fork_to(|| {
        setsid().expect("setsid");
        loop {
            pause();
        }
    });
    say(&format!("holder pid={holder:07}"));
    0
}

/// Never ends by itself, nor by `SIGTERM`.
pub(crate) fn ignore_sigterm() -> i32 {
    set_disposition(Signal::SIGTERM, SigHandler::SigIgn);
    say(&format!("ready pid={:07}", kernel::pid()));
    loop {
        pause();
    }
}

/// Prints what it was given: descriptors, blocked and ignored signals, the parent's group.
pub(crate) fn descriptors() -> i32 {
    let entries = fs::read_dir("/proc/self/fd").expect("/proc/self/fd");
    let mut open: Vec<(i32, String)> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let number = entry.file_name().to_str()?.parse().ok()?;
            let target = fs::read_link(entry.path()).ok()?;
            Some((number, target.display().to_string()))
        })
        // The directory that is being read is itself open.
        .filter(|(_, target)| !target.ends_with(&format!("/{}/fd", kernel::pid())))
        .collect();
    open.sort();
    for (number, target) in open {
        say(&format!(
            "fd number={number} target={}",
            target.replace(' ', "_")
        ));
    }
    let status = fs::read_to_string("/proc/self/status").expect("/proc/self/status");
    for (field, kind) in [
        ("SigBlk:", "blocked"),
        ("SigIgn:", "ignored"),
        ("SigPnd:", "pending"),
    ] {
        let mask = status.lines().find_map(|line| line.strip_prefix(field));
        say(&format!(
            "signals kind={kind} mask={}",
            mask.map_or("-", str::trim)
        ));
    }
    0
}
