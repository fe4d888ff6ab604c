//! Every record as bytes and as what they mean: the grammar of `perf report -D` (`dump_event()`,
//! `tools/perf/util/session.c`), with the fields of tracepoints.

use super::chain::mark;
use super::own;
use super::tasks::Tasks;
use super::{put, side};
use crate::attr::SampleType as S;
use crate::decode;
use crate::format::{self, Format};
use crate::perfdata::{Item, Meta};
use crate::record::{self, Record, Sample};
use crate::units::shown;
use std::collections::BTreeMap;
use std::io::Write;

/// What was dumped, counted; and what is needed to say what samples mean.
#[derive(Debug, Default)]
pub struct Dump {
    /// What stands behind a record's place.
    input: String,
    events: Vec<Event>,
    revision: Option<u64>,
    /// Whether lines begin with a CPU, and with a time.
    has_cpu: bool,
    has_time: bool,
    tasks: Tasks,
    kinds: BTreeMap<u32, u64>,
    strangers: u64,
    malformed: u64,
}

#[derive(Debug)]
struct Event {
    name: String,
    format: Option<Format>,
    /// The period of samples that do not tell theirs.
    period: u64,
    samples: u64,
}

impl Dump {
    /// Dumps an input of this name.
    #[must_use]
    pub fn new(input: String) -> Self {
        Self {
            input,
            ..Self::default()
        }
    }

    /// Takes over the events and formats, as far as the input has told them.
    fn learn(&mut self, meta: &Meta) {
        let mut known = std::mem::take(&mut self.events).into_iter();
        self.events = (meta.events.iter().enumerate())
            .map(|(place, desc)| {
                let text = meta.tracing.as_ref().filter(|_| desc.attr.kind == 2);
                let text = text.and_then(|tracing| tracing.format_of(desc.attr.config));
                Event {
                    name: meta.name(place).to_owned(),
                    format: text.and_then(|(_, text)| format::parse(text).ok()),
                    period: desc.attr.period_or_frequency,
                    samples: known.next().map_or(0, |event| event.samples),
                }
            })
            .collect();
        let has = |bit| {
            let mut events = meta.events.iter();
            events.any(|event| event.attr.sample_type.has(bit))
        };
        (self.has_cpu, self.has_time) = (has(S::CPU), has(S::TIME));
        self.revision = Some(meta.revision);
    }

    /// Appends a record.
    pub fn record(&mut self, item: &Item<'_>, out: &mut Vec<u8>) {
        if self.revision != Some(item.meta.revision) {
            self.learn(item.meta);
        }
        let header = item.header();
        let count = self.kinds.entry(header.kind).or_default();
        *count = count.saturating_add(1);
        let (at, size) = (item.place.at, header.size);
        let _to_memory = write!(out, "\n{}@{}", Address(at), shown(&self.input));
        if let Some(number) = item.place.thread {
            let _to_memory = write!(out, ".{number}");
        }
        let _to_memory = write!(
            out,
            " [{size:#x}]: event: {}\n.\n. ... raw event: size {size} bytes\n",
            header.kind
        );
        bytes(out, item.bytes);
        out.push(b'\n');
        if header.kind >= record::kind::OWN {
            self.start(out, item, Some((0, 0)));
            own::text(out, item);
            return;
        }
        let parsed = match item.event() {
            None => Err(None),
            Some((event, layout)) => match record::parse(item.bytes, layout) {
                Ok(record) => Ok((event, record)),
                Err(error) => Err(Some(error)),
            },
        };
        match parsed {
            Ok((event, Record::Sample(sample))) => {
                let stamp = (
                    sample.cpu.unwrap_or(0),
                    sample.time.map_or(0, |time| time.0),
                );
                self.start(out, item, Some(stamp));
                self.sample(out, item, event, &sample, header.misc);
            }
            Ok((_, record)) => self.side_band(out, item, &record),
            Err(error) => {
                self.start(out, item, None);
                let _to_memory = write!(out, "PERF_RECORD_{}: ", own::name(header.kind));
                let _to_memory = match error {
                    Some(error) => {
                        self.malformed = self.malformed.saturating_add(1);
                        writeln!(out, "{error}")
                    }
                    None => {
                        self.strangers = self.strangers.saturating_add(1);
                        writeln!(out, "of no event")
                    }
                };
            }
        }
    }

    /// CPU and time where events have them (`evlist__print_tstamp()`), and the place.
    fn start(&self, out: &mut Vec<u8>, item: &Item<'_>, stamp: Option<(u32, u64)>) {
        let _to_memory = match stamp {
            None => write!(out, "-1 -1 "),
            Some((cpu, time)) => {
                if self.has_cpu {
                    let _to_memory = write!(out, "{cpu} ");
                }
                if self.has_time {
                    let _to_memory = write!(out, "{time} ");
                }
                Ok(())
            }
        };
        let _to_memory = write!(out, "{:#x} [{:#x}]: ", item.place.at, item.header().size);
    }

    fn side_band(&mut self, out: &mut Vec<u8>, item: &Item<'_>, record: &Record<'_>) {
        match record {
            Record::Comm(comm, _) => self.tasks.comm(comm),
            Record::Fork(task, _) => self.tasks.fork(task),
            _ => {}
        }
        let has_trailer = item.event().is_some_and(|(_, layout)| layout.sample_id_all);
        let Some(about) = side::about(record).filter(|_| has_trailer) else {
            self.start(out, item, None);
            match side::about(record) {
                Some(about) => side::dumped(out, record, &about),
                None => {
                    let _to_memory =
                        writeln!(out, "PERF_RECORD_UNKNOWN: of type {}", item.header().kind);
                }
            }
            return;
        };
        let stamp = (
            about.id.cpu.unwrap_or(0),
            about.id.time.map_or(0, |time| time.0),
        );
        self.start(out, item, Some(stamp));
        side::dumped(out, record, &about);
    }

    // dump_sample().
    fn sample(
        &mut self,
        out: &mut Vec<u8>,
        item: &Item<'_>,
        event: usize,
        sample: &Sample<'_>,
        misc: u16,
    ) {
        let period = self.events.get(event).map(|event| event.period);
        let (pid, tid) = sample.task.map_or((-1, -1), |(pid, tid)| {
            (pid.0.cast_signed(), tid.0.cast_signed())
        });
        let _to_memory = writeln!(
            out,
            "PERF_RECORD_SAMPLE(IP, {misc:#x}): {pid}/{tid}: {:#x} period: {} addr: {}",
            sample.ip.unwrap_or(0),
            sample.period.or(period).unwrap_or(0),
            Address(sample.address.unwrap_or(0)),
        );
        if let Some(chain) = sample.callchain {
            let (words, _) = chain.as_chunks::<8>();
            let _to_memory = writeln!(out, "... FP chain: nr:{}", words.len());
            for (place, word) in words.iter().enumerate() {
                let word = u64::from_ne_bytes(*word);
                let mark = mark(word);
                let _to_memory = writeln!(out, "..... {place:>2}: {word:016x}{mark}");
            }
        }
        out.extend_from_slice(b" ... thread: ");
        self.tasks.name(sample.task.map(|(_, tid)| tid)).write(out);
        let _to_memory = writeln!(out, ":{tid}");
        let Some(event) = self.events.get_mut(event) else {
            return;
        };
        event.samples = event.samples.saturating_add(1);
        let _to_memory = writeln!(out, " ... event: {}", shown(&event.name));
        let (Some(payload), Some(format)) = (sample.raw, &event.format) else {
            return;
        };
        // The payload is a part of the record: where it begins tells where its fields are among the
        // bytes above.
        let start = (payload.as_ptr().addr()).saturating_sub(item.bytes.as_ptr().addr());
        for (field, value) in decode::fields(payload, format) {
            let at = start.saturating_add(field.offset);
            let _to_memory = write!(
                out,
                ".. {at:04x} [{:#x}] {} = ",
                field.size,
                shown(&field.name)
            );
            let _to_memory = match value {
                Ok(value) => writeln!(out, "{value}"),
                Err(error) => writeln!(out, "<{}>", error.fault),
            };
        }
    }

    /// Appends how many records of which type there were, and how many samples of which event.
    pub fn totals(&self, out: &mut Vec<u8>) {
        let all: u64 = self.kinds.values().sum();
        let _to_memory = writeln!(
            out,
            "\nAggregated stats:\n{:>16} events: {all:>10}",
            "TOTAL"
        );
        for (kind, count) in &self.kinds {
            let share = *count as f64 * 100.0 / all.max(1) as f64;
            let _to_memory = writeln!(
                out,
                "{:>16} events: {count:>10}  ({share:>4.1}%)",
                own::name(*kind)
            );
        }
        for event in self.events.iter().filter(|event| event.samples > 0) {
            let _to_memory = writeln!(
                out,
                "{} stats:\n{:>16} events: {:>10}",
                shown(&event.name),
                "SAMPLE",
                event.samples
            );
        }
    }

    /// How many records had the id of no event.
    #[must_use]
    pub fn strangers(&self) -> u64 {
        self.strangers
    }

    /// How many were not as long as their fields.
    #[must_use]
    pub fn malformed(&self) -> u64 {
        self.malformed
    }

    /// How many were of a type that this build does not know.
    #[must_use]
    pub fn unknown(&self) -> u64 {
        let unknown = self.kinds.iter().filter(|(kind, _)| !own::is_known(**kind));
        unknown.map(|(_, count)| *count).sum()
    }
}

/// As `%#lx` has it: no 0x for a zero.
struct Address(u64);

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            0 => f.write_str("0"),
            address => write!(f, "{address:#x}"),
        }
    }
}

/// Sixteen bytes a line, and what can be printed of them (`trace_event()`,
/// `tools/perf/util/debug.c`).
fn bytes(out: &mut Vec<u8>, record: &[u8]) {
    for (place, line) in record.chunks(16).enumerate() {
        let _to_memory = write!(out, ".  {:04x}: ", place.saturating_mul(16));
        for byte in line {
            out.push(b' ');
            put::pair(out, *byte);
        }
        let missing = 16_usize.saturating_sub(line.len());
        (0..missing).for_each(|_| out.extend_from_slice(b"   "));
        out.extend_from_slice(b"  ");
        out.extend(line.iter().map(|byte| match byte {
            b' '..=b'~' => *byte,
            _ => b'.',
        }));
        (0..missing).for_each(|_| out.push(b' '));
        out.push(b'\n');
    }
}

#[cfg(test)]
#[expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test may panic"
)]
mod tests {
    use super::*;
    use crate::perfdata::{Ordered, Reader};
    use std::io::Cursor;

    const EVENTS: &[u8] = include_bytes!("../../../harness/fixtures/perfdata/events.data");
    const FOREIGN: &[u8] = include_bytes!("../../../harness/fixtures/perfdata/foreign.data");
    const PIPE: &[u8] = include_bytes!("../../../harness/fixtures/perfdata/pipe.data");

    /// The text of a file, as far as it can be read.
    fn dump(file: &[u8]) -> (String, Dump) {
        let (mut dump, mut text) = (Dump::new("F".to_owned()), Vec::new());
        if let Ok(reader) = Reader::file(Cursor::new(file)) {
            let mut reader = Ordered::new(reader);
            while let Ok(Some(item)) = reader.next() {
                dump.record(&item, &mut text);
            }
        }
        dump.totals(&mut text);
        (String::from_utf8_lossy(&text).into_owned(), dump)
    }

    #[test]
    fn a_tracepoints_fields_stand_below_its_bytes_with_their_place_among_them() {
        let (text, _) = dump(EVENTS);
        let record = text
            .split("\n\n0x")
            .find(|record| record.contains("... event: sched:sched_process_exec"))
            .unwrap();
        let field = record
            .lines()
            .find(|line| line.contains("] pid = "))
            .unwrap();
        let (at, pid) = field[3..].split_once(" [0x4] pid = ").unwrap();
        let at = usize::from_str_radix(at, 16).unwrap();
        let line = format!(".  {:04x}: ", at / 16 * 16);
        let line = record.lines().find(|text| text.starts_with(&line)).unwrap();
        let bytes = line[10..].split_whitespace().skip(at % 16).take(4);
        let bytes = bytes.map(|byte| u8::from_str_radix(byte, 16).unwrap());
        let number = u32::from_le_bytes(bytes.collect::<Vec<_>>().try_into().unwrap());
        assert_eq!(pid.parse(), Ok(number));
    }

    #[test]
    fn a_file_of_the_other_byte_order_means_the_same() {
        let without_places = |text: String| {
            let lines = text.lines().filter(|line| line.starts_with(['.', ' ']));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let native = without_places(dump(EVENTS).0);
        assert!(native.len() > 100);
        assert_eq!(native, without_places(dump(FOREIGN).0));
    }

    #[test]
    fn what_nobody_knows_is_shown_and_counted() {
        let at = PIPE
            .windows(8)
            .position(|bytes| bytes == [82, 0, 0, 0, 0, 0, 8, 0]);
        let at = at.unwrap();
        let mut file = PIPE.to_vec();
        file[at] = 200;
        let (text, dump) = dump(&file);
        let line = format!("{at:#x} [0x8]: PERF_RECORD_UNKNOWN: of type 200, 0 bytes\n");
        assert!(text.contains(&line), "{text}");
        assert!(text.contains("UNKNOWN events:          1"), "{text}");
        assert_eq!(
            (dump.unknown(), dump.strangers(), dump.malformed()),
            (1, 0, 0)
        );
    }

    #[test]
    fn no_change_of_a_file_makes_it_panic() {
        for bytes in [EVENTS, FOREIGN, PIPE] {
            let mut file = bytes.to_vec();
            for at in (0..bytes.len()).step_by(97) {
                for byte in [0xff, 0] {
                    let before = std::mem::replace(&mut file[at], byte);
                    assert!(dump(&file).0.contains("TOTAL events:"));
                    file[at] = before;
                }
            }
        }
    }
}
