//! Holds the calls of a program and lets them go.

use super::Finding;
use perf_live::errors::chain;
use perf_live::gate::{Decision, End, Held, HeldCalls, Judge, Log, Supervisor};
use perf_live::host::Host;
use perf_live::sandbox::{self, LaunchError, Workload};
use perf_live::sys::memory;
use std::error::Error;
use std::os::unix::net::UnixStream;
use std::time::Duration;
use syscall_model::names::{self, Abi};

/// What helps unless no sandbox can be made.
const REMEDY: &str =
    "Linux 5.5 or later, with CONFIG_SECCOMP_FILTER; in a container, one that allows `seccomp`";

/// Holds all calls of `true` by which it closes descriptors, as a scenario with `faults` does.
pub(super) fn faults(host: &Host, workload: Result<Workload, Box<dyn Error>>) -> Finding {
    let result = workload.and_then(|workload| held(host, workload));
    let result = result.map_err(|error| {
        let of_sandbox = error.downcast_ref().and_then(LaunchError::hint);
        (
            chain(error.as_ref()),
            of_sandbox.unwrap_or_else(|| REMEDY.to_owned()),
        )
    });
    Finding {
        what: "faults",
        result,
        needed: false,
    }
}

fn held(host: &Host, mut workload: Workload) -> Result<String, Box<dyn Error>> {
    let mut calls = HeldCalls::default();
    let number = names::number(Abi::native(), "close").unwrap_or_default();
    calls.hold(Abi::native(), number);
    workload.held = calls;
    let mut running = sandbox::launch(&workload)?.uncork(Duration::from_secs(10))?;
    let listener = running.take_listener().ok_or("no call was held")?;
    let mut lacking = Vec::new();
    if !listener.is_killable {
        lacking.push("before Linux 5.19 a signal takes a held call back, which then comes again");
    }
    if !listener.is_prompt {
        lacking.push("before Linux 6.6 a held call takes some 10 µs more");
    }
    lacking.extend(memory::lack());
    if listener.no_new_privileges {
        lacking.push("under no_new_privs: set-user-ID programs give the workload no rights");
    }
    let mut counter = Counter(0);
    let (_stop, stopped) = UnixStream::pair()?;
    // It ends with the program.
    Supervisor::new(host, listener, Log::default()).run(&stopped, &mut counter)?;
    running.finish()?;
    let held = format!("{} calls of `true` were held and let go", counter.0);
    lacking.insert(0, &held);
    Ok(lacking.join("; "))
}

struct Counter(u64);

impl Judge for Counter {
    fn decide(&mut self, _: &Held, _: &dyn Fn() -> bool) -> Decision {
        self.0 += 1;
        Decision::default()
    }

    fn go(&mut self, _: &Held) -> Vec<u64> {
        Vec::new()
    }

    fn settle(&mut self, _: &Held, _: End) {}
}
