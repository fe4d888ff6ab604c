//! What a test needs of the machine, beside what other tests need too.

#[path = "../../common/require.rs"]
mod common;

pub(crate) use common::{PATH, program, require, right_of_users, right_to_trace, skip};
use std::process::{Command, Output, Stdio};

/// A strace that may trace.
pub(crate) fn strace() -> Result<(), String> {
    program("setarch")?;
    program("strace")?;
    works(&["strace", "-f", "-o", "/dev/null", "true"])
}

/// A strace that knows what each netlink socket speaks, which it asks the kernel for
/// (`CONFIG_NETLINK_DIAG`) and in whose terms it shows messages.
pub(crate) fn strace_of_netlink() -> Result<(), String> {
    const OPENS: &str = "import socket\nit = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)\nit.bind((0, 0))\nit.getsockname()";
    strace()?;
    program("python3")?;
    let shown = output_of(&[
        "strace",
        "-yy",
        "--trace=getsockname",
        "python3",
        "-ISBc",
        OPENS,
    ])?;
    if String::from_utf8_lossy(&shown.stderr).contains("<NETLINK:[ROUTE") {
        return Ok(());
    }
    Err(
        "strace cannot ask the kernel what a netlink socket speaks (CONFIG_NETLINK_DIAG)"
            .to_owned(),
    )
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

fn output_of(command: &[&str]) -> Result<Output, String> {
    let [program, arguments @ ..] = command else {
        return Err("no command".to_owned());
    };
    Command::new(program)
        .args(arguments)
        .env("PATH", PATH)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot run `{program}`: {error}"))
}

fn works(command: &[&str]) -> Result<(), String> {
    let output = output_of(command)?;
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
