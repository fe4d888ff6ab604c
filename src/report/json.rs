//! Calls and events as JSON lines.

use super::{line, summary};
use crate::trace::{FieldValue, TracedEvent};
use perf_live::units::ExitKind;
use perf_records::units::{Cpu, Nanos, is_hidden};
use std::fmt::Write;
use syscall_model::names::Abi;
use syscall_model::signals::signal_name;
use syscall_model::{Actor, Call, Entry, Outcome, Signatures, Values, errno, write_argument};

/// Appends a call as a JSON object and a line feed.
///
/// `ret` is null where the call did not return to the program; `errno` then names an interruption
/// (`ERESTARTSYS`), or is null. A call by another convention than the native one has the member
/// `abi`. Without its entering half a call has no arguments and no duration; where arguments are
/// not all told, `args_complete` is false. A call that a seccomp filter refused by a signal has the
/// member `refused`.
pub fn call_json(
    out: &mut String,
    call: &Call,
    signatures: &Signatures<'_>,
    values: &mut impl Values,
) {
    let args = match call.entry {
        Entry::Seen { args, .. } => Some(args),
        Entry::Uncorking | Entry::Missing => None,
    };
    out.push_str("{\"type\":\"syscall\"");
    actor(out, &call.actor);
    number(out, "time_ns", call.time().0);
    match summary::duration(call) {
        Some(duration) => number(out, "duration_ns", duration),
        None => out.push_str(",\"duration_ns\":null"),
    }
    if call.abi != Abi::native() {
        let _always_fits = write!(out, ",\"abi\":\"{}\"", call.abi.as_str());
    }
    out.push_str(",\"nr\":");
    out.push_str(itoa::Buffer::new().format(call.number));
    out.push_str(",\"name\":\"");
    line::name(out, call);
    out.push_str("\",\"args\":[");
    let mut text = String::new();
    signatures.with(call.abi, call.number, |signature| {
        let Some(args) = args else { return };
        let meanings = signature.meanings(&args);
        for (number, (place, kind)) in meanings.shown().enumerate() {
            let argument = signature.arguments.get(place);
            let name = argument.map_or("", |argument| &argument.name);
            let word = args.get(place).copied().unwrap_or_default();
            if number > 0 {
                out.push(',');
            }
            out.push_str("{\"name\":\"");
            out.push_str(name);
            out.push_str("\",\"value\":");
            out.push_str(itoa::Buffer::new().format(word));
            out.push_str(",\"text\":");
            text.clear();
            write_argument(&mut text, call, place, kind, values);
            string(out, &text);
            out.push('}');
        }
    });
    out.push(']');
    if signatures.with(call.abi, call.number, |it| it.hides) || args.is_none() {
        out.push_str(",\"args_complete\":false");
    }
    result(out, call.outcome);
    if let Outcome::Refused { .. } = call.outcome {
        out.push_str(",\"refused\":\"SIGSYS\"");
    }
    out.push_str("}\n");
}

fn result(out: &mut String, outcome: Outcome) {
    let (value, error) = match outcome {
        Outcome::Returned {
            value: value @ -4095..=-1,
            ..
        } => (Some(value), Some(-value as i32)),
        Outcome::Returned { value, .. } => (Some(value), None),
        Outcome::Restarted { errno, .. } | Outcome::Interrupted { errno, .. } => {
            (None, Some(errno))
        }
        Outcome::Refused { .. }
        | Outcome::Untold { .. }
        | Outcome::NeverReturned
        | Outcome::Missing => (None, None),
    };
    out.push_str(",\"ret\":");
    match value {
        Some(value) => {
            out.push_str(itoa::Buffer::new().format(if error.is_some() { -1 } else { value }))
        }
        None => out.push_str("null"),
    }
    match error.map(|error| (error, errno::errno_name(error))) {
        None => out.push_str(",\"errno\":null"),
        Some((_, Some(name))) => {
            let _always_fits = write!(out, ",\"errno\":\"{name}\"");
        }
        Some((error, None)) => {
            let _always_fits = write!(out, ",\"errno\":\"{error}\"");
        }
    }
}

/// Appends a tracepoint as a JSON object and a line feed.
pub fn event_json(out: &mut String, from: &Actor, time: Nanos, cpu: Cpu, event: &TracedEvent) {
    out.push_str("{\"type\":\"event\",\"name\":");
    string(out, &event.name);
    actor(out, from);
    number(out, "time_ns", time.0);
    number(out, "cpu", cpu.0.into());
    out.push_str(",\"fields\":{");
    for (place, (name, value)) in event.fields.iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        string(out, name);
        out.push(':');
        self::value(out, value);
    }
    out.push_str("}}\n");
}

/// A field's value.
pub(super) fn value(out: &mut String, value: &FieldValue) {
    match value {
        FieldValue::Number(number) | FieldValue::Named(_, number) => {
            out.push_str(&number.to_string());
        }
        FieldValue::Task(id) => out.push_str(&id.to_string()),
        FieldValue::Address(address) => out.push_str(&address.to_string()),
        FieldValue::Function {
            address,
            name,
            into,
        } => {
            let _always_fits = write!(out, "{{\"value\":{address},\"symbol\":");
            string(out, name);
            if let Some(into) = into {
                number(out, "symoff_bytes", *into);
            }
            out.push('}');
        }
        FieldValue::Text(bytes) => string(out, &String::from_utf8_lossy(bytes)),
        FieldValue::Unread => out.push_str("null"),
        FieldValue::Other(text) => string(out, text),
    }
}

/// How the workload ended, as the value of `exit`: `{"code":0}` or `{"signal":"SIGKILL"}`.
#[must_use]
pub fn exit_json(exit: ExitKind) -> String {
    match exit {
        ExitKind::Code(code) => format!("{{\"code\":{code}}}"),
        ExitKind::Signal(signal) => format!("{{\"signal\":\"{}\"}}", signal_name(signal)),
    }
}

/// Appends the last line of a trace. A run may be incomplete although no record was lost: programs
/// that no event follows.
pub fn summary_json(
    out: &mut String,
    events: u64,
    lost: u64,
    complete: bool,
    exit: Option<ExitKind>,
) {
    let exit = exit.map_or_else(|| "null".to_owned(), exit_json);
    let _always_fits = writeln!(
        out,
        "{{\"type\":\"summary\",\"events\":{events},\"lost\":{lost},\"complete\":{complete},\"exit\":{exit}}}"
    );
}

pub(super) fn actor(out: &mut String, actor: &Actor) {
    number(out, "pid", actor.pid.0.into());
    number(out, "tid", actor.tid.0.into());
    out.push_str(",\"comm\":");
    string(out, &String::from_utf8_lossy(actor.comm.as_bytes()));
}

pub(super) fn number(out: &mut String, name: &str, value: u64) {
    out.push_str(",\"");
    out.push_str(name);
    out.push_str("\":");
    out.push_str(itoa::Buffer::new().format(value));
}

/// The members of an array of strings.
pub(super) fn strings(out: &mut String, texts: &[impl AsRef<str>]) {
    for (place, text) in texts.iter().enumerate() {
        out.push_str(if place > 0 { "," } else { "" });
        string(out, text.as_ref());
    }
}

/// A string with JSON's escapes (RFC 8259, section 7).
pub fn string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            // All that steers a terminal, which JSON may be shown on too.
            _ if c < ' ' || is_hidden(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _always_fits = write!(out, "\\u{unit:04x}");
                }
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}
