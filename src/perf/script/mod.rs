//! Records of a file or pipe as text, in the layout of `perf script`, or as JSON lines.
//!
//! ```text
//! Meta --Script::learn--> events, layouts, formats
//! record in time order --Script::record--> names and mappings of tasks, loss | text, appended to a Vec<u8>
//! ```
//!
//! The columns are those of perf 7.2 (`perf_sample__fprintf_start()` and `process_event()`,
//! `tools/perf/builtin-script.c`): a task's id has seven places, where 6.1 has five. Nothing is
//! allocated for a sample without a call chain.

mod chain;
mod dump;
mod event;
mod fields;
mod filter;
mod json;
mod line;
mod own;
mod put;
mod side;
mod side_json;
mod tasks;

pub use crate::space::{NoSymbols, Symbols};
pub use dump::Dump;
pub use event::Class;
pub use fields::{Choice, Field, FieldError, Fields};
pub use filter::{Filter, Span};
pub use side::Shown;

use crate::attr::SampleType;
use crate::perfdata::Meta;
use crate::record::{self, Header, Record, RecordError, Sample, TableError, Tail};
use crate::space::{Depth, End, Maps};
use crate::units::{Nanos, Pid, Tid};
use event::Event;
use std::collections::HashMap;
use tasks::Tasks;

/// What is to be printed, and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The fields of a line.
    pub fields: Choice,
    /// Whether times have nine digits behind the point, and not six.
    pub nanoseconds: bool,
    /// Whether lines are JSON objects.
    pub json: bool,
    /// Which records are printed besides samples.
    pub shown: Shown,
    /// Which records are printed.
    pub filter: Filter,
    /// Functions that were put into others are not told of.
    pub no_inline: bool,
}

/// What came that was not printed, and what is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Samples that were printed.
    pub samples: u64,
    /// How many records are missing at least: a recorder says for each event, in all, what the
    /// kernel has said for a ring where that had room again.
    pub lost: u64,
    /// Records with the id of no event.
    pub strangers: u64,
    /// Records of the kernel of a type that this build does not know.
    pub unknown: u64,
    /// Call chains that end where the copy of the stack does.
    pub cut: u64,
}

/// Turns records to text. They are to come in the order of their times.
#[derive(Debug)]
pub struct Script<S> {
    options: Options,
    events: Vec<Event>,
    /// How wide the column of names is.
    width: usize,
    /// Of what the input says of itself, the state that was taken over.
    revision: Option<u64>,
    tasks: Tasks,
    maps: Maps,
    symbols: S,
    /// The events by their ids, where samples have the values of counters.
    members: HashMap<u64, usize>,
    /// What the counters had in their last samples, of inherited events in each task. As in perf, a
    /// sample that has the values of a group is shown as one of each member, whose period is what
    /// was counted since (deliver_sample_group(), tools/perf/util/session.c).
    values: HashMap<(Option<u64>, Option<Tid>), u64>,
    counts: Counts,
    lost_of_rings: u128,
    lost_of_events: u128,
}

/// Why a record cannot be shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// The records of the input cannot be told apart.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A field that was asked for.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// It makes no sense.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// A sample and all that is known of it.
struct Shot<'a> {
    event: &'a Event,
    sample: &'a Sample<'a>,
    tail: &'a Tail<'a>,
    name: tasks::Name<'a>,
    period: Option<u64>,
    /// `PERF_RECORD_MISC_*` of its header.
    misc: u16,
}

impl<S: Symbols> Script<S> {
    /// Nothing is known of any event yet.
    #[must_use]
    pub fn new(options: Options, symbols: S) -> Self {
        Self {
            options,
            events: Vec::new(),
            width: 0,
            revision: None,
            tasks: Tasks::default(),
            maps: Maps::default(),
            symbols,
            members: HashMap::new(),
            values: HashMap::new(),
            counts: Counts::default(),
            lost_of_rings: 0,
            lost_of_events: 0,
        }
    }

    /// Takes over the events and formats, as far as the input has told them.
    fn learn(&mut self, meta: &Meta) -> Result<(), ScriptError> {
        let all = meta.events.iter().enumerate();
        self.events = all
            .map(|(place, desc)| Event::new(meta, place, desc, &self.options))
            .collect();
        self.width = self.events.iter().map(Event::width).max().unwrap_or(0);
        let events = self.events.iter();
        self.options
            .fields
            .check(events.map(|event| (event.class, event.has)))?;
        let all = meta.events.iter().enumerate();
        self.members = all
            .filter(|(_, desc)| desc.attr.sample_type.has(SampleType::READ))
            .flat_map(|(place, desc)| desc.ids.iter().map(move |id| (*id, place)))
            .collect();
        self.revision = Some(meta.revision);
        self.symbols.recorded(meta.origin());
        Ok(())
    }

    /// Returns what names addresses.
    pub fn symbols(&mut self) -> &mut S {
        &mut self.symbols
    }

    /// What came so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let lost = self.lost_of_rings.max(self.lost_of_events);
        Counts {
            lost: u64::try_from(lost).unwrap_or(u64::MAX),
            ..self.counts
        }
    }

    /// Takes a record of the kernel's, and appends what is to be printed of it; `meta` is what the
    /// input has said of itself so far.
    ///
    /// # Errors
    /// [`ScriptError`].
    pub fn record(
        &mut self,
        meta: &Meta,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), ScriptError> {
        if self.revision != Some(meta.revision) {
            self.learn(meta)?;
        }
        let Some((layout, place)) = meta.table()?.resolve(bytes) else {
            self.counts.strangers = self.counts.strangers.saturating_add(1);
            return Ok(());
        };
        let head = bytes.first_chunk().copied().unwrap_or_default();
        let Header { kind, misc, .. } = Header::from_bytes(head);
        if kind == record::kind::SAMPLE {
            let mut sample = Sample::default();
            record::parse_sample(bytes, layout, &mut sample)?;
            self.sample(place, &sample, misc, out)?;
        } else {
            let record = record::parse(bytes, layout)?;
            self.side_band(place, &record, misc, out);
        }
        Ok(())
    }

    fn sample(
        &mut self,
        place: usize,
        sample: &Sample<'_>,
        misc: u16,
        out: &mut Vec<u8>,
    ) -> Result<(), RecordError> {
        let Some(event) = self.events.get(place) else {
            return Ok(());
        };
        let name = self.tasks.name(sample.task.map(|(_, tid)| tid));
        let filter = &self.options.filter;
        if !filter.lets_through(sample.task, sample.cpu, sample.time, &name) {
            return Ok(());
        }
        let tail = if event.has_tail {
            sample.tail(&event.layout)?
        } else {
            Tail::default()
        };
        let mut shot = Shot {
            event,
            sample,
            tail: &tail,
            name,
            misc,
            period: sample.period.or(event.period),
        };
        let form = line::Form {
            nanoseconds: self.options.nanoseconds,
            width: self.width,
        };
        let mut show = |shot: &Shot<'_>| {
            if !shot.event.is_wanted {
                return;
            }
            self.counts.samples = self.counts.samples.saturating_add(1);
            let no_inline = self.options.no_inline;
            let has_lines = self.options.json || shot.event.fields.has(Field::Srcline);
            let mut names = chain::Names {
                maps: &self.maps,
                symbols: &mut self.symbols,
                depth: if no_inline && !has_lines {
                    Depth::Function
                } else {
                    Depth::Lines
                },
                no_inline,
            };
            let end = if self.options.json {
                json::sample(out, shot, &mut names)
            } else {
                line::sample(out, shot, form, &mut names)
            };
            let is_cut = u64::from(end == Some(End::Cut));
            self.counts.cut = self.counts.cut.saturating_add(is_cut);
        };
        let Some(read) = sample.read.filter(|_| !self.options.json) else {
            show(&shot);
            return Ok(());
        };
        for value in read.iter() {
            let id = value.id.or(sample.id);
            let member = id.and_then(|id| self.members.get(&id));
            let member = member.and_then(|place| self.events.get(*place));
            shot.event = member.unwrap_or(event);
            let is_own = shot.event.is_inherited;
            let whose = sample.task.map(|(_, tid)| tid).filter(|_| is_own);
            let before = self.values.insert((id, whose), value.value).unwrap_or(0);
            shot.period = Some(value.value.wrapping_sub(before));
            if shot.period != Some(0) {
                show(&shot);
            }
        }
        Ok(())
    }

    fn side_band(&mut self, place: usize, record: &Record<'_>, misc: u16, out: &mut Vec<u8>) {
        match record {
            Record::Comm(comm, _) => {
                self.tasks.comm(comm);
                if comm.exec {
                    self.maps.executed(comm.pid);
                }
            }
            Record::Fork(task, _) => {
                self.tasks.fork(task);
                self.maps.fork(task);
            }
            Record::Map(map, _) => self.maps.map(map, misc),
            Record::Lost(lost, _) => self.lost_of_rings += u128::from(lost.count),
            Record::LostSamples(count, _) => self.lost_of_events += u128::from(*count),
            Record::Unknown { .. } => {
                self.counts.unknown = self.counts.unknown.saturating_add(1);
            }
            Record::Exit(task, _) => {
                if let Some(Tid(tid)) = self.tasks.exit(task.tid) {
                    self.maps.forget(Pid(tid));
                }
            }
            Record::Sample(_) | Record::Other(..) => {}
        }
        let Some(about) = side::about(record) else {
            return;
        };
        if !self.options.shown.has(about.shown) {
            return;
        }
        let Some(event) = self.events.get(place) else {
            return;
        };
        let name = self.tasks.name(about.tid);
        let mut id = about.id;
        if !event.layout.sample_id_all {
            // As perf has it: of a record that says neither, CPU 0, and the time of the task's end
            // or beginning.
            id.task = about.task;
            id.cpu = Some(0);
            id.time = Some(match record {
                Record::Fork(task, _) | Record::Exit(task, _) => task.time,
                _ => Nanos(0),
            });
        }
        if !self
            .options
            .filter
            .lets_through(id.task, id.cpu, id.time, &name)
        {
            return;
        }
        if self.options.json {
            side_json::write(out, record, &about, &name);
        } else {
            let start = line::Start {
                task: id.task,
                cpu: id.cpu,
                time: id.time,
                fields: event.fields,
                is_chain: event.fields.has(Field::Callchain),
                misc,
            };
            line::start(out, &start, &name, self.options.nanoseconds);
            side::text(out, record, &about);
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests;
