//! Keeping tracepoints registered for the length of a suite.
//!
//! The last close of a tracepoint's event unregisters it, which waits for all CPUs: 40 ms and more.
//! While another descriptor holds the same tracepoint, a close costs nothing. So the process holds
//! one disabled event for each tracepoint, and at its end hands them to a child that it does not
//! wait for.

use crate::sys::{perf, process};
use perf_records::attr::Attr;
use perf_records::units::Cpu;
use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::Mutex;

/// The tracepoints held by this process.
#[derive(Debug, Default)]
pub struct Pins {
    held: Mutex<HashMap<u16, OwnedFd>>,
}

impl Pins {
    /// Holds a tracepoint, if it is not held yet. A refusal costs time at the end and nothing else,
    /// so it is no error: opening the real event says what is wrong.
    pub fn hold(&self, tracepoint: u16) {
        let Ok(mut held) = self.held.lock() else {
            return;
        };
        if !held.contains_key(&tracepoint) {
            let attr = Attr::holding(tracepoint).raw();
            // One of a CPU: the machine's first event of a task waits for all CPUs.
            let of_cpu = perf::open(&attr, perf::Target::Everybody, Some(Cpu(0)));
            let fd = of_cpu.or_else(|_| perf::open(&attr, perf::Target::Myself, None));
            held.extend(fd.map(|fd| (tracepoint, fd)));
        }
    }
}

impl Drop for Pins {
    fn drop(&mut self) {
        let held = self.held.get_mut().map(std::mem::take).unwrap_or_default();
        if !held.is_empty() {
            // Where no child can be had the descriptors are closed here, which takes longer and is
            // just as right.
            let _in_background = process::close_in_background(held.into_values().collect());
        }
    }
}
