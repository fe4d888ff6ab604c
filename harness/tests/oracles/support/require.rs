//! What a test needs of the machine. An unmet need ends the test early; libtest has no word for
//! that, so the reason goes to stderr, past its capture, and `HARNESS_REQUIRE=all` makes a failure
//! of it.

use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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
    let required = env::var("HARNESS_REQUIRE").unwrap_or_default();
    assert!(
        !required.split(',').any(|word| word.trim() == "all"),
        "HARNESS_REQUIRE is `{required}`, but {reason}"
    );
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    // If stderr is gone, nobody is there to be told.
    let _gone = writeln!(std::io::stderr(), "skipped: {test}: {reason}");
}

const CAP_SYS_ADMIN: u32 = 21;

/// The right to mount tracefs and to open tracepoints, looked up without asking the program under
/// test.
pub(crate) fn right_to_trace() -> Result<(), String> {
    let status = fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
    let mask = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    match mask {
        Some(mask) if mask >> CAP_SYS_ADMIN & 1 == 1 => Ok(()),
        _ => Err("the tests have no CAP_SYS_ADMIN, so they cannot trace".to_owned()),
    }
}

/// The program's path, as `PATH` of the controlled environment has it; a path stays what it is.
pub(crate) fn program(name: &str) -> Result<PathBuf, String> {
    super::command::PATH
        .split(':')
        .map(|folder| Path::new(folder).join(name))
        .find(|path| path.is_file())
        .ok_or_else(|| format!("`{name}` is not installed"))
}

/// A strace that may trace.
pub(crate) fn strace() -> Result<(), String> {
    program("setarch")?;
    program("strace")?;
    works(&["strace", "-f", "-o", "/dev/null", "true"])
}

/// The rights to trace, and perf beside.
pub(crate) fn perf_and_right_to_trace() -> Result<(), String> {
    right_to_trace().and_then(|()| perf())
}

/// A perf that may count calls, in a mount namespace in which tracefs is mounted.
pub(crate) fn perf() -> Result<(), String> {
    let perf = super::perf::program();
    program(&perf)?;
    let mut command = vec!["unshare"];
    command.extend(super::perf::WITH_TRACEFS);
    command.extend([&perf, "stat", "-e", super::perf::EVENT, "--", "true"]);
    works(&command)
}

fn works(command: &[&str]) -> Result<(), String> {
    let [program, arguments @ ..] = command else {
        return Err("no command".to_owned());
    };
    let output = Command::new(program)
        .args(arguments)
        .env("PATH", super::command::PATH)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot run `{program}`: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "`{}` failed: {}",
        command.join(" "),
        complaint.trim()
    ))
}
