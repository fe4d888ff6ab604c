//! Calls and events as JSON lines.

use super::{line, summary};
use crate::trace::{FieldValue, TracedEvent};
use crate::verdict::Words;
use perf_live::units::ExitKind;
use perf_records::units::{Cpu, Nanos, is_hidden, is_order, run};
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CharEscape, Formatter};
use std::fmt::Write as _;
use std::io;
use syscall_model::names::Abi;
use syscall_model::signals::signal_name;
use syscall_model::{Actor, Call, Outcome, Signature, Signatures, Values, errno, write_argument};

/// Appends a call as a JSON object and a line feed.
///
/// `ret` is null if the call did not return to the program; `errno` then names an interruption
/// (`ERESTARTSYS`), or is null. A call by another convention than the native one has the member
/// `abi`. Without its entering half a call has no arguments and no duration; if not all arguments
/// are known, `args_complete` is false. A call that a seccomp filter refused by a signal has the
/// member `refused`.
pub fn call_json(
    out: &mut String,
    call: &Call,
    signatures: &Signatures<'_>,
    values: &mut impl Values,
) {
    let args = call.entry.args();
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
    out.push_str(itoa::Buffer::new().format(call.made_as().1));
    out.push_str(",\"name\":\"");
    line::name(out, call);
    out.push_str("\",\"args\":[");
    signatures.with(call.abi, call.number, |signature| {
        arguments(call, signature, values, |number, name, word, text| {
            if number > 0 {
                out.push(',');
            }
            out.push_str("{\"name\":\"");
            out.push_str(name);
            out.push_str("\",\"value\":");
            out.push_str(itoa::Buffer::new().format(word));
            out.push_str(",\"text\":");
            string(out, text);
            out.push('}');
        });
    });
    out.push(']');
    if signatures.with(call.abi, call.number, |it| it.hides) || args.is_none() {
        out.push_str(",\"args_complete\":false");
    }
    result(out, call.outcome);
    if let Outcome::Refused { .. } = call.outcome {
        out.push_str(",\"refused\":\"SIGSYS\"");
    }
    if !call.injected.is_nothing() {
        out.push_str(",\"injected\":");
        append(out, &Words::from(call.injected));
    }
    out.push_str("}\n");
}

/// Calls a function with the number, the name, the word and the text of each argument of a call
/// that was seen to enter.
pub(super) fn arguments(
    call: &Call,
    signature: &Signature,
    values: &mut impl Values,
    mut each: impl FnMut(usize, &str, u64, &str),
) {
    let Some(args) = call.entry.args() else {
        return;
    };
    let mut text = String::new();
    for (number, (place, kind)) in signature.meanings(args).shown().enumerate() {
        let argument = signature.arguments.get(place);
        let name = argument.map_or("", |argument| &argument.name);
        let word = args.get(place).copied().unwrap_or_default();
        text.clear();
        write_argument(&mut text, call, place, kind, values);
        each(number, name, word, &text);
    }
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

/// Appends the last line of a trace. A run may be incomplete although no record was lost: an event
/// may not have followed a program.
pub fn summary_json(
    out: &mut String,
    events: u64,
    lost: u64,
    complete: bool,
    exit: Option<ExitKind>,
) {
    object_line(out, "summary", |line| {
        line.put("events", events);
        line.put("lost", lost);
        line.put("complete", complete);
        line.put("exit", exit.map(Exit::from));
    });
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

/// Writes a string, and escapes all that could steer a terminal.
pub(super) fn string(out: &mut String, text: &str) {
    let is_plain = |byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\' | b'#');
    if run(text.as_bytes(), is_plain) < text.len() {
        return append(out, text);
    }
    out.push('"');
    out.push_str(text);
    out.push('"');
}

/// How a process ended: `{"code":0}`, `{"signal":"SIGTERM"}`.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Exit {
    Code(i32),
    Signal(String),
}

impl From<ExitKind> for Exit {
    fn from(exit: ExitKind) -> Self {
        match exit {
            ExitKind::Code(code) => Self::Code(code),
            ExitKind::Signal(signal) => Self::Signal(signal_name(signal)),
        }
    }
}

/// An object, written member by member in the order of the calls.
#[derive(Debug)]
pub struct Object<'o> {
    out: &'o mut String,
    is_first: bool,
}

/// Appends an object of this type and a line feed.
pub fn object_line(out: &mut String, kind: &str, members: impl FnOnce(&mut Object<'_>)) {
    Object::write(out, |line| {
        line.put("type", kind);
        members(line);
    });
    out.push('\n');
}

impl Object<'_> {
    /// Appends an object.
    pub(super) fn write(out: &mut String, members: impl FnOnce(&mut Object<'_>)) {
        out.push('{');
        members(&mut Object {
            out,
            is_first: true,
        });
        out.push('}');
    }

    /// A member whose value is appended by a function.
    pub(super) fn member(&mut self, name: &str, value: impl FnOnce(&mut String)) {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(',');
        }
        append(self.out, name);
        self.out.push(':');
        value(self.out);
    }

    /// A member.
    pub fn put(&mut self, name: &str, value: impl Serialize) {
        self.member(name, |out| append(out, &value));
    }

    /// Adds a member, unless it has no value.
    pub(super) fn put_some(&mut self, name: &str, value: Option<impl Serialize>) {
        if let Some(value) = value {
            self.put(name, value);
        }
    }

    /// A member that is an object.
    pub(super) fn object(&mut self, name: &str, members: impl FnOnce(&mut Object<'_>)) {
        self.member(name, |out| Object::write(out, members));
    }

    /// A member that is a list of objects.
    pub fn list<T>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = T>,
        mut members: impl FnMut(&mut Object<'_>, T),
    ) {
        self.member(name, |out| {
            out.push('[');
            for (place, item) in items.into_iter().enumerate() {
                out.push_str(if place > 0 { "," } else { "" });
                Object::write(out, |object| members(object, item));
            }
            out.push(']');
        });
    }

    /// `pid`, `tid` and `comm` of a thread.
    pub(super) fn actor(&mut self, actor: &Actor) {
        self.put("pid", actor.pid.0);
        self.put("tid", actor.tid.0);
        self.put("comm", String::from_utf8_lossy(actor.comm.as_bytes()));
    }
}

fn append(out: &mut String, value: &(impl Serialize + ?Sized)) {
    let mut serializer = Serializer::with_formatter(Text(out), Escaping);
    // It cannot fail: memory takes all, and the keys of all maps are strings.
    let _always_fits = value.serialize(&mut serializer);
}

struct Text<'o>(&'o mut String);

impl io::Write for Text<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .push_str(std::str::from_utf8(bytes).map_err(io::Error::other)?);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes without blanks, and escapes what cannot be seen, steers a terminal or orders something of
/// a CI system.
struct Escaping;

impl Formatter for Escaping {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        let escaped = |rest: &str| {
            let is_order = |at| rest.get(at..).is_some_and(is_order);
            let mut all = rest.char_indices();
            all.find(|(at, c)| is_hidden(*c) || *c == '#' && is_order(*at))
        };
        while let Some((at, hidden)) = escaped(rest) {
            let (before, from) = rest.split_at(at);
            out.write_all(before.as_bytes())?;
            for unit in hidden.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            rest = from.get(hidden.len_utf8()..).unwrap_or_default();
        }
        out.write_all(rest.as_bytes())
    }

    fn write_char_escape<W: ?Sized + io::Write>(
        &mut self,
        out: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        let byte = match escape {
            CharEscape::Quote => return out.write_all(b"\\\""),
            CharEscape::ReverseSolidus => return out.write_all(b"\\\\"),
            CharEscape::LineFeed => return out.write_all(b"\\n"),
            CharEscape::Solidus => b'/',
            CharEscape::Backspace => 0x08,
            CharEscape::FormFeed => 0x0c,
            CharEscape::CarriageReturn => b'\r',
            CharEscape::Tab => b'\t',
            CharEscape::AsciiControl(byte) => byte,
        };
        write!(out, "\\u{byte:04x}")
    }
}
