//! A sample as lines of text.

use super::chain::{At, Names};
use super::fields::{Field, Fields};
use super::put;
use super::tasks::Name;
use super::{Shot, Symbols};
use crate::space::{End, KERNEL, USER};
use crate::units::{Nanos, Pid, Tid};
use std::cell::RefCell;

/// What the columns look like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    pub(super) nanoseconds: bool,
    /// Of the column of names.
    pub(super) width: usize,
}

/// What a line begins with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) task: Option<(Pid, Tid)>,
    pub(super) cpu: Option<u32>,
    pub(super) time: Option<Nanos>,
    pub(super) fields: Fields,
    /// Whether call chains follow: the name has then no width.
    pub(super) is_chain: bool,
    /// Of the record, where it is to be shown.
    pub(super) misc: u16,
}

// perf_sample__fprintf_start(), tools/perf/builtin-script.c.
pub(super) fn start(out: &mut Vec<u8>, start: &Start, name: &Name<'_>, nanoseconds: bool) {
    let fields = start.fields;
    if fields.has(Field::Comm) {
        match name {
            Name::Known(name) if !start.is_chain => put::right_foreign(out, name, 16),
            Name::Id(id) if !start.is_chain => {
                let id = itoa_of(*id);
                put::right_text(out, id.text(), 16);
            }
            name => name.write(out),
        }
        out.push(b' ');
    }
    let (pid, tid) = start.task.map_or((-1, -1), |(pid, tid)| {
        (pid.0.cast_signed(), tid.0.cast_signed())
    });
    match (fields.has(Field::Pid), fields.has(Field::Tid)) {
        (true, true) => {
            put::right(out, pid, 7);
            out.push(b'/');
            put::left(out, tid, 7);
            out.push(b' ');
        }
        (true, false) => {
            put::right(out, pid, 7);
            out.push(b' ');
        }
        (false, true) => {
            put::right(out, tid, 7);
            out.push(b' ');
        }
        (false, false) => {}
    }
    if fields.has(Field::Cpu) {
        out.push(b'[');
        put::zeros(out, start.cpu.unwrap_or(u32::MAX).into(), 3);
        out.extend_from_slice(b"] ");
    }
    if fields.has(Field::Misc) {
        misc(out, start.misc);
    }
    if let (true, Some(time)) = (fields.has(Field::Time), start.time) {
        self::time(out, time, nanoseconds);
    }
}

/// An id with its colon, in memory of its own.
struct IdText([u8; 12], usize);

impl IdText {
    fn text(&self) -> &[u8] {
        self.0.get(self.1..).unwrap_or_default()
    }
}

fn itoa_of(id: i32) -> IdText {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(id).as_bytes();
    let mut text = IdText([b':'; 12], 12_usize.saturating_sub(digits.len()));
    if let Some(end) = text.0.get_mut(text.1..) {
        end.copy_from_slice(digits);
    }
    text.1 = text.1.saturating_sub(1);
    text
}

// timestamp__scnprintf_usec(), tools/perf/util/time-utils.c: cut, not rounded.
fn time(out: &mut Vec<u8>, time: Nanos, nanoseconds: bool) {
    let (seconds, rest) = (time.0 / 1_000_000_000, time.0 % 1_000_000_000);
    if nanoseconds {
        put::right(out, seconds, 5);
        out.push(b'.');
        put::zeros(out, rest, 9);
    } else {
        // Twelve places with the point and six digits.
        put::right(out, seconds, 5);
        out.push(b'.');
        put::zeros(out, rest / 1_000, 6);
    }
    out.extend_from_slice(b": ");
}

// perf_sample__fprintf_start(): the mode of the CPU in a letter, padded to five.
fn misc(out: &mut Vec<u8>, misc: u16) {
    let letter = match misc & 7 {
        KERNEL => b'K',
        USER => b'U',
        3 => b'H',
        4 => b'G',
        5 => b'g',
        _ => b' ',
    };
    out.push(letter);
    out.extend_from_slice(b"     ");
}

// process_event(), tools/perf/builtin-script.c: the order of the fields is that of this function.
pub(super) fn sample(
    out: &mut Vec<u8>,
    shot: &Shot<'_>,
    form: Form,
    names: &mut Names<'_, impl Symbols>,
) -> Option<End> {
    let (event, sample, tail) = (shot.event, shot.sample, shot.tail);
    let fields = event.fields;
    let has_chain = fields.has(Field::Callchain) && fields.has(Field::Ip);
    let chain = has_chain.then(|| names.chain(shot)).flatten();
    let beginning = Start {
        task: sample.task,
        cpu: sample.cpu,
        time: sample.time,
        fields,
        is_chain: chain.is_some(),
        misc: shot.misc,
    };
    start(out, &beginning, &shot.name, form.nanoseconds);
    if let (true, Some(period)) = (fields.has(Field::Period), shot.period) {
        put::right(out, period, 10);
        out.push(b' ');
    }
    if fields.has(Field::Event) {
        put::right_foreign(out, event.name.as_bytes(), form.width);
        out.extend_from_slice(b": ");
    }
    if let (true, Some(payload)) = (fields.has(Field::Trace), sample.raw) {
        let names = RefCell::new(&mut *names);
        let from = out.len();
        event.trace(out, payload, &|address| {
            names.borrow_mut().function(address)
        });
        put::settle(out, from);
    }
    let mut at = At {
        pid: sample.task.map_or(Pid(u32::MAX), |(pid, _)| pid),
        fields,
        names,
    };
    if let (true, Some(address)) = (fields.has(Field::Addr), sample.address) {
        put::hex(out, address, 16);
        if event.has_data_address() {
            at.place(out, shot.misc, address);
        }
    }
    let words = [
        (Field::DataSrc, tail.data_source, true),
        (Field::Weight, tail.weight, false),
    ];
    for (field, word, is_hex) in words {
        match word.filter(|_| fields.has(field)) {
            Some(word) if is_hex => put::hex(out, word, 16),
            Some(word) => put::right(out, word, 16),
            None => {}
        }
    }
    match (&chain, sample.ip) {
        (Some((chain, _)), _) => {
            out.push(b'\n');
            at.chain(out, chain);
        }
        (None, Some(ip)) if fields.has(Field::Ip) => {
            out.push(b' ');
            put::hex(out, ip, 16);
            at.place(out, shot.misc, ip);
        }
        _ => {}
    }
    if let (true, Some(payload)) = (fields.has(Field::BpfOutput), sample.raw) {
        out.push(b' ');
        for byte in payload {
            put::pair(out, *byte);
        }
    }
    if let (true, Some(address)) = (fields.has(Field::PhysAddr), tail.physical_address) {
        put::hex(out, address, 16);
    }
    for (field, size) in [
        (Field::DataPageSize, tail.data_page_size),
        (Field::CodePageSize, tail.code_page_size),
        (Field::Cgroup, tail.cgroup),
    ] {
        if let Some(size) = size.filter(|_| fields.has(field)) {
            out.push(b' ');
            put::number(out, size);
        }
    }
    out.push(b'\n');
    chain.and_then(|(_, end)| end)
}
