//! The trace as text.

use super::mappings::Mappings;
use super::people::{self, StableName};
use super::values::Things;
use super::{FieldValue, Item, Kind, Level, Log, Trace, TracedEvent, VERSION, View};
use crate::syscall::{
    Call, Signature, Signatures, ThreadId, Values,
    names::{self, Abi},
    returns, write_arguments, write_result,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A trace's text, and the names that occur in it, hidden ones included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The text, by the grammar of the room.
    pub text: String,
    /// How often each call and event occurred over all processes.
    pub counts: BTreeMap<String, u64>,
    /// How often the text says of something in memory that it was not read. Such a text is that of another workload just as well.
    pub unread: u64,
}

impl Trace {
    /// Writes the trace down.
    #[must_use]
    pub fn render(&self, view: &View, signatures: &Signatures<'_>) -> Rendered {
        let names = people::number(&self.logs);
        let mut writer = Writer {
            trace: self,
            view,
            signatures,
            names,
            moment: 0,
            rules: BTreeSet::new(),
            things: Things::default(),
            mappings: Mappings::default(),
            unread: 0,
        };
        let mut blocks: Vec<(StableName, &Log)> = self
            .logs
            .iter()
            .filter_map(|log| Some((*writer.names.get(&log.thread)?, log)))
            .collect();
        blocks.sort_unstable_by_key(|(name, _)| *name);
        let body = match view.level {
            Level::Sequence => writer.sequence(&blocks),
            level => tally(&writer, &blocks, level),
        };
        let mut text = format!("# trace {VERSION}, level {}\n", view.level.word());
        if !writer.rules.is_empty() {
            let rules: Vec<_> = writer.rules.iter().copied().collect();
            text.push_str(&format!("# rules: {}\n", rules.join(", ")));
        }
        text.push_str(&body);
        Rendered {
            text,
            counts: self.counts(),
            unread: writer.unread,
        }
    }

    /// How often each call and event occurred.
    fn counts(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for (kind, count) in self.logs.iter().flat_map(|log| &log.tally) {
            *counts.entry(kind.name()).or_default() += count;
        }
        counts
    }
}

impl Kind {
    fn name(&self) -> String {
        match self {
            Self::Call(abi, number) => {
                let name = names::name_of(*abi, *number);
                name.map_or_else(|| format!("syscall_{number}"), str::to_owned)
            }
            Self::Event(name) => name.as_ref().to_owned(),
        }
    }
}

impl Item {
    fn name(&self) -> String {
        match self {
            Self::Call(call, _) => Kind::Call(call.abi, call.number).name(),
            Self::Event(event) => event.name.as_ref().to_owned(),
        }
    }
}

/// Writes a trace, with the values that mean nothing outside their run replaced; [`super::values`] says by what.
pub(super) struct Writer<'a> {
    pub(super) trace: &'a Trace,
    pub(super) view: &'a View,
    signatures: &'a Signatures<'a>,
    pub(super) names: HashMap<ThreadId, StableName>,
    pub(super) moment: u64,
    pub(super) rules: BTreeSet<&'static str>,
    pub(super) things: Things,
    pub(super) mappings: Mappings,
    pub(super) unread: u64,
}

impl Writer<'_> {
    fn sequence(&mut self, blocks: &[(StableName, &Log)]) -> String {
        let mut text = String::new();
        for (name, log) in blocks {
            let mut shown = log.items.iter().filter_map(|(_, item)| item.as_ref());
            // Workers that the kernel makes on its own account (io_uring) have nothing to show, and how many there are is its affair.
            if !log.is_leader && !shown.any(|item| self.view.shows(&item.name())) {
                continue;
            }
            text.push('\n');
            text.push_str(&self.heading(*name, log));
            for (moment, item) in &log.items {
                let Some(item) = item.as_ref().filter(|item| self.view.shows(&item.name())) else {
                    continue;
                };
                self.moment = *moment;
                text.push_str("  ");
                match item {
                    Item::Call(call, ended) => self.call(&mut text, call, *ended),
                    Item::Event(event) => self.event(&mut text, event),
                }
                text.push('\n');
            }
        }
        text
    }

    fn heading(&self, name: StableName, log: &Log) -> String {
        let mut heading = name.to_string();
        if log.is_leader {
            if !log.name.is_empty() {
                heading = format!("{heading} {}", log.name.as_bytes().escape_ascii());
            }
            if let Some(parent) = log.parent.and_then(|parent| self.names.get(&parent)) {
                heading = format!("{heading}, child of {parent}");
            }
        }
        heading + "\n"
    }

    fn call(&mut self, out: &mut String, call: &Call, ended: u64) {
        if call.abi != Abi::native() {
            out.push_str(&format!("[{}] ", call.abi.as_str()));
        }
        out.push_str(&Kind::Call(call.abi, call.number).name());
        out.push('(');
        let signatures = self.signatures;
        signatures.with(call.abi, call.number, |signature| {
            self.inside(out, call, ended, signature)
        });
    }

    fn inside(&mut self, out: &mut String, call: &Call, ended: u64, signature: &Signature) {
        write_arguments(out, call, signature, self);
        out.push_str(") = ");
        self.moment = ended;
        match call.name() {
            // It goes back to the interrupted place and returns nothing: the register that the record shows is that place's own.
            Some("rt_sigreturn" | "sigreturn") => out.push('?'),
            _ => write_result(out, call, returns(call, signature), self),
        }
    }

    fn event(&mut self, out: &mut String, event: &TracedEvent) {
        out.push_str(&event.name);
        for (name, value) in &event.fields {
            out.push(' ');
            out.push_str(name);
            out.push('=');
            match value {
                FieldValue::Number(number) => out.push_str(&number.to_string()),
                FieldValue::Task(id) => {
                    let thread = self.trace.ids.outer(*id, self.moment);
                    self.person(thread, *id, out);
                }
                FieldValue::Address(0) => out.push_str("NULL"),
                FieldValue::Address(address) => self.address(*address, out),
                FieldValue::Text(bytes) => self.string(bytes, out),
                FieldValue::Other(text) => out.push_str(text),
            }
        }
    }
}

/// The levels that count: all threads of a process together, sorted by name.
fn tally(writer: &Writer<'_>, blocks: &[(StableName, &Log)], level: Level) -> String {
    let mut text = String::new();
    for process in blocks.chunk_by(|(a, _), (b, _)| a.process == b.process) {
        let Some((name, leader)) = process.first() else {
            continue;
        };
        text.push('\n');
        text.push_str(&writer.heading(*name, leader));
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for (kind, count) in process.iter().flat_map(|(_, log)| &log.tally) {
            let name = kind.name();
            if writer.view.shows(&name) {
                *counts.entry(name).or_default() += count;
            }
        }
        for (name, count) in counts {
            text.push_str(&match level {
                Level::Counts => format!("  {name} {count}\n"),
                Level::Set | Level::Sequence => format!("  {name}\n"),
            });
        }
    }
    text
}
