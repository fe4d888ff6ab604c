//! One call or event as a line of text, in strace's form.

use crate::trace::{FieldValue, TracedEvent};
use perf_records::units::shown;
use std::fmt::Write;
use syscall_model::names::Abi;
use syscall_model::{
    Actor, Call, Outcome, Signatures, UNREAD, Values, errno, returns, write_arguments, write_result,
};

/// Appends `1234 openat(AT_FDCWD, 0x7f.., 0x80000, 0) = 3` and a line feed; the number is the
/// thread's id.
///
/// A call by another convention than the native one starts with that one's name in brackets; an
/// error ends with its text; a call whose entering half was not seen has a `?` for its arguments.
pub fn call_line(
    out: &mut String,
    call: &Call,
    signatures: &Signatures<'_>,
    values: &mut impl Values,
) {
    thread(out, &call.actor);
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
    out.push('\n');
}

/// Appends `1234 sched:sched_process_exec filename="/bin/true" pid=1234` and a line feed.
pub fn event_line(out: &mut String, actor: &Actor, event: &TracedEvent) {
    thread(out, actor);
    out.push_str(&event.name);
    for (name, value) in &event.fields {
        let _always_fits = write!(out, " {name}={value}");
    }
    out.push('\n');
}

pub(super) fn thread(out: &mut String, actor: &Actor) {
    out.push_str(itoa::Buffer::new().format(actor.tid.0));
    out.push(' ');
}

/// A call's name, or `syscall_470` where the table has none.
pub(super) fn name(out: &mut String, call: &Call) {
    match call.name() {
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
