//! Writes signals as lines, in strace's form.

use super::json::object_line;
use perf_records::units::Nanos;
use std::fmt::Write;
use syscall_model::signals::signal_name;
use syscall_model::{Actor, errno, signal_code};

/// A signal that was delivered.
#[derive(Clone, Copy, Debug)]
pub struct Delivered {
    /// The task that received it.
    pub actor: Actor,
    /// The time of its delivery.
    pub time: Nanos,
    /// The signal's number.
    pub signal: i32,
    /// The signal's code (`SI_USER`).
    pub code: i32,
    /// An error that came with it, or 0.
    pub errno: i32,
    /// The process that sent it, if known; for `SIGCHLD` the child.
    pub sender: Option<u32>,
    /// Whether the task neither handles nor ignores it.
    pub is_default: bool,
}

impl Delivered {
    /// Whether it ends the process (`sig_kernel_ignore()`, `sig_kernel_stop()` in
    /// `include/linux/signal.h`).
    #[must_use]
    pub fn kills(&self) -> bool {
        let is_harmless = matches!(
            self.signal,
            libc::SIGCONT
                | libc::SIGCHLD
                | libc::SIGWINCH
                | libc::SIGURG
                | libc::SIGSTOP
                | libc::SIGTSTP
                | libc::SIGTTIN
                | libc::SIGTTOU
        );
        self.is_default && !is_harmless
    }

    pub(super) fn code_text(&self) -> String {
        signal_code(self.signal, self.code)
            .map_or_else(|| format!("{:#x}", self.code), str::to_owned)
    }
}

/// Appends `--- SIGTERM {si_signo=SIGTERM, si_code=SI_USER, si_pid=1} ---` and a line feed, with
/// `si_pid` if the sender is known. A signal that ends the process is followed by a line
/// `+++ killed by SIGTERM +++`; for `SIGKILL`, as in strace, that line stands alone. Each line
/// begins with `lead`.
pub fn signal_line(out: &mut String, lead: &str, signal: &Delivered) {
    let name = signal_name(signal.signal);
    if signal.signal != libc::SIGKILL {
        out.push_str(lead);
        let code = signal.code_text();
        let _always_fits = write!(out, "--- {name} {{si_signo={name}, si_code={code}");
        if signal.errno != 0 {
            let error = errno::errno_name(signal.errno);
            let error = error.map_or_else(|| signal.errno.to_string(), str::to_owned);
            let _always_fits = write!(out, ", si_errno={error}");
        }
        if let Some(sender) = signal.sender {
            let _always_fits = write!(out, ", si_pid={sender}");
        }
        out.push_str("} ---\n");
    }
    if signal.kills() {
        out.push_str(lead);
        let _always_fits = writeln!(out, "+++ killed by {name} +++");
    }
}

/// Appends `+++ exited with 0 +++` and a line feed, behind `lead`.
pub fn exited_line(out: &mut String, lead: &str, status: u64) {
    out.push_str(lead);
    let _always_fits = writeln!(out, "+++ exited with {} +++", status & 0xff);
}

/// Appends a signal as a JSON object and a line feed; `sender_pid` is null where it is not known.
pub fn signal_json(out: &mut String, signal: &Delivered) {
    object_line(out, "signal", |line| {
        line.put("name", signal_name(signal.signal));
        line.actor(&signal.actor);
        line.put("time_ns", signal.time.0);
        line.put("number", signal.signal);
        line.put("code", signal.code_text());
        line.put("errno", signal.errno);
        line.put("sender_pid", signal.sender);
        line.put("kills", signal.kills());
    });
}
