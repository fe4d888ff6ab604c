//! A sample as a JSON object on a line: all of its fields, and those of its payload, by name.
//!
//! Numbers are numbers, addresses too; names end with their unit where there is one. What was not
//! recorded is not there.

use super::chain::Names;
use super::put;
use super::{Event, Shot, Symbols};
use crate::decode::{self, Value};
use crate::record::{ReadValues, Registers, Tail};
use crate::space::{End, Frame, Place};
use crate::units::Pid;
use std::io::Write;

/// Writes the members of an object, a comma between them.
pub(super) struct Object<'a> {
    pub(super) out: &'a mut Vec<u8>,
    is_first: bool,
}

impl<'a> Object<'a> {
    pub(super) fn open(out: &'a mut Vec<u8>) -> Self {
        out.push(b'{');
        Self {
            out,
            is_first: true,
        }
    }

    /// Appends a member's name; its value is to follow.
    pub(super) fn key(&mut self, name: &str) -> &mut Vec<u8> {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(b',');
        }
        put::string(self.out, name.as_bytes());
        self.out.push(b':');
        self.out
    }

    pub(super) fn number(&mut self, name: &str, value: impl Into<put::Decimal>) {
        put::number(self.key(name), value);
    }

    pub(super) fn maybe(&mut self, name: &str, value: Option<impl Into<put::Decimal>>) {
        if let Some(value) = value {
            self.number(name, value);
        }
    }

    pub(super) fn text(&mut self, name: &str, value: &[u8]) {
        put::string(self.key(name), value);
    }

    pub(super) fn truth(&mut self, name: &str, value: bool) {
        let word: &[u8] = if value { b"true" } else { b"false" };
        self.key(name).extend_from_slice(word);
    }

    /// Bytes as hexadecimal digits.
    pub(super) fn bytes(&mut self, name: &str, value: &[u8]) {
        let out = self.key(name);
        out.push(b'"');
        for byte in value {
            put::pair(out, *byte);
        }
        out.push(b'"');
    }

    /// A member that is an object itself.
    pub(super) fn object(&mut self, name: &str) -> Object<'_> {
        Object::open(self.key(name))
    }

    /// A member that is an array, each of whose values is written by `write`.
    pub(super) fn array<T>(
        &mut self,
        name: &str,
        values: impl Iterator<Item = T>,
        write: impl FnMut(&mut Vec<u8>, T),
    ) {
        array(self.key(name), values, write);
    }

    pub(super) fn close(self) {
        self.out.push(b'}');
    }
}

pub(super) fn array<T>(
    out: &mut Vec<u8>,
    values: impl Iterator<Item = T>,
    mut write: impl FnMut(&mut Vec<u8>, T),
) {
    out.push(b'[');
    for (place, value) in values.enumerate() {
        if place > 0 {
            out.push(b',');
        }
        write(out, value);
    }
    out.push(b']');
}

pub(super) fn sample(
    out: &mut Vec<u8>,
    shot: &Shot<'_>,
    names: &mut Names<'_, impl Symbols>,
) -> Option<End> {
    let (event, sample, tail) = (shot.event, shot.sample, shot.tail);
    let mut object = Object::open(out);
    object.text("type", b"sample");
    object.text("event", event.name.as_bytes());
    object.maybe("time_ns", sample.time.map(|time| time.0));
    object.key("comm").push(b'"');
    let quoted = object.out.len();
    shot.name.write(object.out);
    close_string(object.out, quoted);
    object.maybe("pid", sample.task.map(|(pid, _)| pid.0.cast_signed()));
    object.maybe("tid", sample.task.map(|(_, tid)| tid.0.cast_signed()));
    object.maybe("cpu", sample.cpu);
    object.text("mode", mode(shot.misc).as_bytes());
    object.maybe("id", sample.id);
    object.maybe("stream_id", sample.stream_id);
    object.maybe("period", shot.period);
    let pid = sample.task.map_or(Pid(u32::MAX), |(pid, _)| pid);
    if let Some(ip) = sample.ip {
        object.number("ip", ip);
        if let Some(place) = names.maps.find(pid, shot.misc, ip) {
            let found = names.frames(&place, ip).last();
            self::place(&mut object, &place, found);
        }
    }
    object.maybe("addr", sample.address);
    if let Some(read) = &sample.read {
        let mut inner = object.object("read");
        self::read(&mut inner, read);
        inner.close();
    }
    let chain = names.chain(shot);
    if let Some((chain, end)) = &chain {
        let mut inner = List::open(object.key("callchain"));
        for (misc, ip) in chain {
            let place = names.maps.find(pid, *misc, *ip);
            let mut is_named = false;
            let mut write = |place: Option<&Place<'_>>, found: Option<&Frame>| {
                let mut frame = Object::open(inner.next());
                frame.number("ip", *ip);
                if let Some(place) = place {
                    self::place(&mut frame, place, found);
                }
                frame.text("mode", mode(*misc).as_bytes());
                frame.close();
            };
            if let Some(place) = &place {
                for found in names.frames(place, *ip) {
                    is_named = true;
                    write(Some(place), Some(found));
                }
            }
            if !is_named {
                write(place.as_ref(), None);
            }
        }
        inner.close();
        if let Some(end) = end {
            object.text("callchain_end", self::end(*end).as_bytes());
        }
    }
    self::tail(&mut object, tail);
    if let Some(payload) = sample.raw {
        self::payload(&mut object, event, payload, names);
    }
    object.close();
    out.push(b'\n');
    chain.and_then(|(_, end)| end)
}

/// What is at a place.
fn place(object: &mut Object<'_>, place: &Place<'_>, found: Option<&Frame>) {
    object.text("dso", place.name);
    if !place.is_kernel {
        object.number("dso_offset_bytes", place.offset);
    }
    let Some(found) = found else {
        return;
    };
    object.text("sym", found.name.as_bytes());
    object.number("symoff_bytes", found.into);
    if let Some(line) = &found.line {
        object.text("file", line.file.as_bytes());
        object.number("line", line.number);
    }
    if found.is_inlined {
        object.truth("inlined", true);
    }
}

/// Where a chain that was found in the copy of a stack ends.
fn end(end: End) -> &'static str {
    match end {
        End::Outermost => "outermost",
        End::Enough => "limit",
        End::Cut => "cut",
        End::Lost => "unknown",
        End::NoTable => "no_table",
    }
}

/// Writes the values of an array, a comma between them.
struct List<'a> {
    out: &'a mut Vec<u8>,
    is_first: bool,
}

impl<'a> List<'a> {
    fn open(out: &'a mut Vec<u8>) -> Self {
        out.push(b'[');
        Self {
            out,
            is_first: true,
        }
    }

    /// Where the next value is to be written.
    fn next(&mut self) -> &mut Vec<u8> {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(b',');
        }
        self.out
    }

    fn close(self) {
        self.out.push(b']');
    }
}

/// Makes of the bytes from a place on the rest of a string, with its closing quote.
fn close_string(out: &mut Vec<u8>, from: usize) {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    if out
        .get(from..)
        .is_some_and(|text| text.iter().all(is_plain))
    {
        out.push(b'"');
        return;
    }
    let text = out.split_off(from);
    out.pop();
    put::string(out, &text);
}

fn mode(misc: u16) -> &'static str {
    match misc & 7 {
        1 => "kernel",
        2 => "user",
        3 => "hypervisor",
        4 => "guest kernel",
        5 => "guest user",
        _ => "unknown",
    }
}

pub(super) fn read(object: &mut Object<'_>, read: &ReadValues<'_>) {
    let (enabled, running) = read.times();
    object.maybe("enabled_ns", enabled);
    object.maybe("running_ns", running);
    object.array("values", read.iter(), |out, value| {
        let mut one = Object::open(out);
        one.number("value", value.value);
        one.maybe("id", value.id);
        one.maybe("lost", value.lost);
        one.close();
    });
}

fn tail(object: &mut Object<'_>, tail: &Tail<'_>) {
    if let Some(branches) = &tail.branches {
        object.maybe("branch_hw_idx", branches.hardware_index);
        object.array("branches", branches.iter(), |out, [from, to, flags]| {
            let mut one = Object::open(out);
            one.number("from", from);
            one.number("to", to);
            one.number("flags", flags);
            one.close();
        });
    }
    registers(object, "user_regs", &tail.user_registers);
    if let Some(stack) = tail.user_stack {
        object.bytes("user_stack_hex", stack);
    }
    object.maybe("weight", tail.weight);
    object.maybe("data_src", tail.data_source);
    object.maybe("transaction", tail.transaction);
    registers(object, "intr_regs", &tail.interrupt_registers);
    object.maybe("phys_addr", tail.physical_address);
    object.maybe("cgroup", tail.cgroup);
    object.maybe("data_page_size_bytes", tail.data_page_size);
    object.maybe("code_page_size_bytes", tail.code_page_size);
    if let Some(aux) = tail.aux {
        object.bytes("aux_hex", aux);
    }
}

fn registers(object: &mut Object<'_>, name: &str, registers: &Option<Registers<'_>>) {
    if let Some(registers) = registers {
        let mut inner = object.object(name);
        inner.number("abi", registers.abi);
        inner.array("values", registers.iter(), |out, value| {
            put::number(out, value);
        });
        inner.close();
    }
}

/// The fields of a tracepoint, by name; of what has no format, the bytes.
fn payload(
    object: &mut Object<'_>,
    event: &Event,
    payload: &[u8],
    names: &mut Names<'_, impl Symbols>,
) {
    let Some(format) = &event.format else {
        object.bytes("raw_hex", payload);
        return;
    };
    let mut inner = object.object("fields");
    let common = format.common.iter();
    let common = common.map(|field| (field, decode::field(payload, field)));
    for (field, value) in common.chain(decode::fields(payload, format)) {
        let out = inner.key(&field.name);
        let function = event.functions.iter().find(|(name, _)| *name == field.name);
        let named = match (function, &value) {
            (Some((_, has_offset)), Ok(Value::Pointer(address) | Value::Unsigned(address))) => {
                names
                    .function(*address)
                    .map(|(name, into)| (*address, name, has_offset.then_some(into)))
            }
            _ => None,
        };
        if let Some((address, name, into)) = named {
            let mut inner = Object::open(out);
            inner.number("value", address);
            inner.text("symbol", name.as_bytes());
            inner.maybe("symoff_bytes", into);
            inner.close();
            continue;
        }
        match value {
            Ok(value) => self::value(out, &value),
            Err(_) => out.extend_from_slice(b"null"),
        }
    }
    inner.close();
}

fn value(out: &mut Vec<u8>, value: &Value<'_>) {
    match value {
        Value::Signed(number) => put::number(out, *number),
        Value::Unsigned(number) | Value::Pointer(number) => put::number(out, *number),
        Value::Text(text) => put::string(out, text),
        Value::Bytes(_) => {
            let _to_memory = write!(out, "\"{value}\"");
        }
        Value::Array(elements) => array(out, elements.iter(), |out, element| {
            self::value(out, &element);
        }),
        Value::CpuMask(mask) => array(out, mask.cpus(), |out, cpu| put::number(out, cpu as u64)),
    }
}
