//! What a test needs of the machine, beside what other tests need too.

#[path = "../../common/require.rs"]
mod common;

pub(crate) use common::{PATH, program, require, right_of_users, right_to_trace, skip};
use std::process::{Command, Stdio};

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
        .env("PATH", PATH)
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
