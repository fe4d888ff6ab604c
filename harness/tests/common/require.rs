//! What a test needs of the machine. An unmet need ends the test early; libtest has no word for
//! that, so the reason goes to stderr, past its capture, and `HARNESS_REQUIRE=all` makes a failure
//! of it.

use std::io::Write;
use std::path::{Path, PathBuf};

/// Goes on with the value of an `Ok`, or ends the test with the reason.
macro_rules! require {
    ($need:expr) => {
        match $need {
            Ok(met) => met,
            Err(reason) => return $crate::support::require::skip(&reason),
        }
    };
}
pub(crate) use require;

/// Says why the test cannot tell anything here, or panics where everything is required.
pub(crate) fn skip(reason: &str) {
    let required = std::env::var("HARNESS_REQUIRE").unwrap_or_default();
    assert!(
        !required.split(',').any(|word| word.trim() == "all"),
        "HARNESS_REQUIRE is `{required}`, but {reason}"
    );
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    // If stderr is gone, there is no reader to tell.
    let _gone = writeln!(std::io::stderr(), "skipped: {test}: {reason}");
}

/// The right to mount tracefs and to open tracepoints, looked up without asking the program under
/// test.
pub(crate) fn right_to_trace() -> Result<(), String> {
    const CAP_SYS_ADMIN: u32 = 21;
    let status = std::fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
    let mask = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    match mask {
        Some(mask) if mask >> CAP_SYS_ADMIN & 1 == 1 => Ok(()),
        _ => Err("the tests have no CAP_SYS_ADMIN, so they cannot trace".to_owned()),
    }
}

/// Where programs are looked for, in tests and in what they start.
pub(crate) const PATH: &str = "/usr/bin:/bin:/usr/sbin:/sbin";

/// The path of a program that is installed; a path stays what it is.
pub(crate) fn program(name: &str) -> Result<PathBuf, String> {
    PATH.split(':')
        .map(|folder| Path::new(folder).join(name))
        .find(|path| path.is_file())
        .ok_or_else(|| format!("`{name}` is not installed"))
}

/// The right of an ordinary user to open any event, which some distributions take away.
pub(crate) fn right_of_users() -> Result<(), String> {
    let number = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    match number
        .ok()
        .and_then(|number| number.trim().parse::<i32>().ok())
    {
        Some(3..) => Err("perf_event_paranoid leaves no event to users".to_owned()),
        _ => Ok(()),
    }
}
