//! One call or event as a line of text, in strace's form.

use super::summary::duration;
use crate::trace::{FieldValue, TracedEvent};
use perf_records::units::shown;
use std::fmt::Write;
use syscall_model::names::Abi;
use syscall_model::{
    Call, Outcome, Signatures, UNREAD, Values, errno, returns, write_arguments, write_result,
};

/// Appends `openat(AT_FDCWD, 0x7f.., 0x80000, 0) = 3` and a line feed, behind `lead`.
///
/// A call by another convention than the native one starts with that one's name in brackets; an
/// error ends with its text; a call whose entering half was not seen has a `?` for its arguments.
pub fn call_line(
    out: &mut String,
    lead: &str,
    call: &Call,
    signatures: &Signatures<'_>,
    values: &mut impl Values,
) {
    out.push_str(lead);
    if call.abi != Abi::native() {
        let _always_fits = write!(out, "[{}] ", call.abi.as_str());
    }
    name(out, call);
    out.push('(');
    signatures.with(call.abi, call.number, |signature| {
        write_arguments(out, call, signature, values);
        out.push_str(") = ");
        write_result(out, call, returns(call, signature), values);
    });
    if let Outcome::Returned {
        value: value @ -4095..=-1,
        ..
    } = call.outcome
        && let Some(text) = errno::errno_text(-value as i32)
    {
        let _always_fits = write!(out, " ({text})");
    }
    if !call.injected.is_nothing() {
        let _always_fits = write!(out, " {}", call.injected);
    }
    out.push('\n');
}

/// Adds ` <0.001250>` to the line that was appended last: the seconds from the entry of a call to
/// its return, as `strace -T` has them, if both were seen.
pub fn duration_of_line(out: &mut String, call: &Call) {
    if out.ends_with('\n')
        && let Some(nanos) = duration(call)
    {
        out.pop();
        write_duration(out, nanos);
        out.push('\n');
    }
}

/// Appends ` <0.001250>`.
pub(super) fn write_duration(out: &mut String, nanos: u64) {
    out.push_str(" <");
    write_seconds(out, nanos);
    out.push('>');
}

/// Appends `0.001250`.
pub(super) fn write_seconds(out: &mut String, nanos: u64) {
    let micros = nanos / 1_000;
    let (seconds, micros) = (micros / 1_000_000, micros % 1_000_000);
    let _always_fits = write!(out, "{seconds}.{micros:06}");
}

/// Appends `sched:sched_process_exec filename="/bin/true" pid=1234` and a line feed, behind `lead`.
pub fn event_line(out: &mut String, lead: &str, event: &TracedEvent) {
    out.push_str(lead);
    out.push_str(&event.name);
    for (name, value) in &event.fields {
        let _always_fits = write!(out, " {name}={value}");
    }
    out.push('\n');
}

/// A call's name with its operation, where it takes one (`socketcall.bind`); `syscall_470` where
/// the table has none.
pub(super) fn name(out: &mut String, call: &Call) {
    match call.operation().or_else(|| call.name()) {
        Some(name) => out.push_str(name),
        None => {
            let _always_fits = write!(out, "syscall_{}", call.number);
        }
    }
}

impl std::fmt::Display for FieldValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Task(id) => id.fmt(f),
            Self::Address(address) => write!(f, "{address:#x}"),
            Self::Function {
                name,
                into: Some(into),
                ..
            } => write!(f, "{}+{into:#x}", shown(name)),
            Self::Function { name, .. } => f.write_str(&shown(name)),
            Self::Text(bytes) => write!(f, "\"{}\"", bytes.escape_ascii()),
            Self::Unread => f.write_str(UNREAD),
            Self::Named(name, _) => f.write_str(&shown(name)),
            Self::Other(text) => f.write_str(&shown(text)),
        }
    }
}
