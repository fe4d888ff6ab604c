//! Turns the logs of threads into deeds with stable names.

use super::frames::frames;
use super::mappings::Mappings;
use super::normalised::{Block, Normalised};
use super::people::{self, StableName};
use super::values::Things;
use super::{Deed, Item, Kind, Log, Part, Recorded, Shown, Trace, Value, View};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use syscall_model::{
    Call, Entry, Injected, Outcome, Signature, Signatures, ThreadId,
    kinds::ArgKind,
    names::{self, Abi},
    pointers, returns, write_argument, write_read_argument, write_result,
};

impl Trace {
    /// Gives a stable name to everything that differs from run to run. There are deeds if the trace
    /// has kept the order.
    #[must_use]
    pub fn normalise(&self, view: &View, signatures: &Signatures<'_>) -> Normalised {
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
            hides_ports: false,
            shows_ports: false,
            unread: 0,
            unled: BTreeMap::new(),
            order: self.order(),
            returns: "returns".into(),
        };
        let mut logs: Vec<(StableName, &Log)> = self
            .logs
            .iter()
            .filter_map(|log| Some((*writer.names.get(&log.thread)?, log)))
            .collect();
        logs.sort_unstable_by_key(|(name, _)| *name);
        // Things are numbered by the order of the text: first those that it shows, then those that
        // only expectations look at.
        let is_text = |shown: Shown<'_>, name: &str, order: (u64, u64)| {
            shown.keeps_order_of(name) && shown.holds(order)
        };
        let mut deeds = writer.deeds(&logs, is_text);
        let (rules, unled) = (
            std::mem::take(&mut writer.rules),
            std::mem::take(&mut writer.unled),
        );
        let unread = writer.unread;
        let others = writer.deeds(&logs, |shown, name, order| !is_text(shown, name, order));
        for (deeds, others) in deeds.iter_mut().zip(others) {
            deeds.extend(others);
            deeds.sort_by_key(|(place, _)| *place);
        }
        let block = |((task, log), deeds): (&(StableName, &Log), Vec<(usize, Deed)>)| Block {
            task: *task,
            program: log.name.as_ref().to_owned(),
            parent: log
                .parent
                .filter(|_| log.is_leader)
                .and_then(|parent| writer.names.get(&parent))
                .copied(),
            deeds: deeds.into_iter().map(|(_, deed)| deed).collect(),
            tally: named(&log.tally),
            answered: named(&log.answered),
        };
        Normalised {
            blocks: logs.iter().zip(deeds).map(block).collect(),
            unread,
            unled,
            counted: BTreeMap::new(),
            handed: BTreeSet::new(),
            view: view.clone(),
            rules,
        }
    }

    /// Orders all moments of the run; among equal times the end of a call comes before the entry of
    /// another.
    fn order(&self) -> HashMap<(ThreadId, u64), (u64, u64)> {
        let mut marks = Vec::new();
        for log in &self.logs {
            for slot in &log.slots {
                let left = match &slot.item {
                    Some(Item::Call { left, .. }) => *left,
                    Some(Item::Event(_)) | None => slot.entered,
                };
                let key = (log.thread, slot.moment);
                marks.push((slot.entered, 1, slot.moment, key));
                if left > slot.entered {
                    marks.push((left, 0, slot.moment, key));
                }
            }
        }
        marks.sort_unstable_by_key(|(time, kind, moment, _)| (*time, *kind, *moment));
        let mut order: HashMap<_, (u64, u64)> = HashMap::new();
        for (place, (_, kind, _, key)) in (1..).zip(marks) {
            let (entered, left) = order.entry(key).or_default();
            (*entered, *left) = match kind {
                0 => (*entered, place),
                _ => (place, place),
            };
        }
        order
    }
}

impl Log {
    /// Counts again what is left.
    pub(super) fn recount(&mut self) {
        self.tally.clear();
        for item in self.slots.iter().filter_map(|slot| slot.item.as_ref()) {
            *self.tally.entry(item.kind()).or_default() += 1;
        }
    }
}

fn named(counts: &HashMap<Kind, u64>) -> BTreeMap<String, u64> {
    let mut named = BTreeMap::new();
    for (kind, count) in counts {
        *named.entry(kind.name()).or_default() += count;
    }
    named
}

impl Kind {
    fn name(&self) -> String {
        match self {
            Self::Call(abi, number) => {
                let name = names::name_of(*abi, *number);
                name.map_or_else(|| format!("syscall_{number}"), str::to_owned)
            }
            Self::Operation(name) => (*name).to_owned(),
            Self::Event(name) => name.as_ref().to_owned(),
        }
    }

    pub(super) fn of(call: &Call) -> Self {
        match call.operation() {
            Some(name) => Self::Operation(name),
            None => Self::Call(call.abi, call.number),
        }
    }
}

impl Item {
    fn kind(&self) -> Kind {
        match self {
            Self::Call { call, .. } => Kind::of(call),
            Self::Event(event) => Kind::Event(Arc::clone(&event.name)),
        }
    }

    fn name(&self, known: &mut HashMap<Kind, Arc<str>>) -> Arc<str> {
        match self {
            Self::Call { call, .. } => {
                let kind = Kind::of(call);
                let name = known
                    .entry(kind)
                    .or_insert_with_key(|kind| kind.name().into());
                Arc::clone(name)
            }
            Self::Event(event) => Arc::clone(&event.name),
        }
    }
}

/// Writes a trace, and replaces the values that mean nothing outside of their run;
/// [`super::values`] says by what.
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
    /// Whether a port that the kernel chose was written.
    pub(super) hides_ports: bool,
    /// Whether such ports are written as they are.
    pub(super) shows_ports: bool,
    /// How often it is not known where a path led, by the reasons.
    pub(super) unled: BTreeMap<Box<str>, u64>,
    order: HashMap<(ThreadId, u64), (u64, u64)>,
    returns: Arc<str>,
}

impl Writer<'_> {
    /// Returns the deeds of these names, for each thread, with their places among all its items.
    fn deeds(
        &mut self,
        logs: &[(StableName, &Log)],
        is_meant: impl Fn(Shown<'_>, &str, (u64, u64)) -> bool,
    ) -> Vec<Vec<(usize, Deed)>> {
        let mut all = Vec::new();
        let mut known = HashMap::new();
        for (task, log) in logs {
            let mut deeds = Vec::new();
            let shown = self.view.of(task.process, &log.name);
            for (place, slot) in log.slots.iter().enumerate() {
                let Some(item) = &slot.item else { continue };
                let name = item.name(&mut known);
                let order = self.order.get(&(log.thread, slot.moment));
                if is_meant(shown, &name, order.copied().unwrap_or_default()) {
                    deeds.push((place, self.deed((*task, log.thread), slot, item, name)));
                }
            }
            all.push(deeds);
        }
        all
    }

    fn deed(
        &mut self,
        (task, thread): (StableName, ThreadId),
        slot: &Recorded,
        item: &Item,
        name: Arc<str>,
    ) -> Deed {
        let order = self.order.get(&(thread, slot.moment));
        let (entered, left) = order.copied().unwrap_or_default();
        self.moment = slot.moment;
        let mut deed = Deed {
            name,
            task,
            thread,
            program: Arc::clone(&slot.program),
            entered,
            left,
            clock: match item {
                Item::Call { left, .. } => (slot.entered, *left),
                Item::Event(_) => (slot.entered, slot.entered),
            },
            convention: None,
            fields: Vec::new(),
            returns: None,
            stack: slot.stack.as_deref().map(|stack| Box::new(frames(stack))),
            unseen: None,
            behind: Vec::new(),
            ends: None,
            injected: Injected::default(),
        };
        match item {
            Item::Call { call, moment, .. } => {
                deed.injected = call.injected;
                deed.convention = (call.abi != Abi::native()).then(|| call.abi.as_str());
                let signatures = self.signatures;
                signatures.with(call.abi, call.number, |signature| {
                    self.arguments(&mut deed, call, signature);
                    deed.behind = self.behind(call, &deed.name);
                    self.moment = *moment;
                    deed.returns = Some(self.result(call, signature));
                });
            }
            Item::Event(event) => deed.fields = self.event(event),
        }
        deed
    }

    fn arguments(&mut self, deed: &mut Deed, call: &Call, signature: &Signature) {
        let names = |place: usize| match signature.arguments.get(place) {
            Some(argument) => (Arc::clone(&argument.name), argument.alias),
            None => (Arc::from(""), None),
        };
        match &call.entry {
            Entry::Seen { args, .. } | Entry::UnderWay { args, .. } => {
                let meanings = signature.meanings(args);
                for (place, kind) in meanings.meant() {
                    let unread = self.unread;
                    let mut text = String::new();
                    write_argument(&mut text, call, place, kind, self);
                    if kind == ArgKind::Path {
                        self.led(call.files.reached(place), &mut text);
                    }
                    let word = args.get(place).copied().unwrap_or_default();
                    let is_blind =
                        word != 0 && kind.is_behind_a_pointer() && is_never_read(call, place);
                    let value = match self.unread > unread || is_blind {
                        true => Value::Unread,
                        false => match self.with_ports(call, place, kind) {
                            Some(raw) => Value::Raw(raw),
                            None => self.value(call, (place, word), kind, &text),
                        },
                    };
                    let (name, alias) = names(place);
                    deed.fields.push(Part {
                        name,
                        alias,
                        text,
                        value,
                    });
                }
                deed.unseen = signature.hides.then_some("...");
            }
            Entry::Uncorking => {
                for (place, argument) in signature.arguments.iter().enumerate().take(2) {
                    if call.memory.strings(place).next().is_some() {
                        let mut text = String::new();
                        write_read_argument(&mut text, call, place, argument.kind, self);
                        deed.fields.push(Part {
                            name: Arc::clone(&argument.name),
                            alias: argument.alias,
                            value: self.value(call, (place, 1), argument.kind, &text),
                            text,
                        });
                    }
                }
                deed.unseen = Some("...");
            }
            Entry::Missing => deed.unseen = Some("?"),
        }
    }

    /// Returns the text of an argument with the ports that the kernel chose, if any were replaced.
    fn with_ports(&mut self, call: &Call, place: usize, kind: ArgKind) -> Option<Box<str>> {
        if !std::mem::take(&mut self.hides_ports) {
            return None;
        }
        let mut raw = String::new();
        self.shows_ports = true;
        write_argument(&mut raw, call, place, kind, self);
        (self.shows_ports, self.hides_ports) = (false, false);
        Some(raw.into())
    }

    fn result(&mut self, call: &Call, signature: &Signature) -> Part {
        let returns = returns(call, signature);
        let (mut text, mut value) = (String::new(), Value::Nothing);
        match call.name() {
            // The call goes back to the interrupted place and returns nothing: the register in the
            // record belongs to that place.
            Some("rt_sigreturn" | "sigreturn") => text.push('?'),
            _ => {
                let unread = self.unread;
                write_result(&mut text, call, returns, self);
                value = match call.outcome {
                    Outcome::Returned { .. } if self.unread > unread => Value::Unread,
                    // The records do not tell whether the program got `EINTR` or the call was made
                    // again.
                    Outcome::Missing | Outcome::Untold { .. } | Outcome::Interrupted { .. } => {
                        Value::Unread
                    }
                    Outcome::Returned { value: 0.., .. }
                        if signature.hides_result || call.returns_elsewhere() =>
                    {
                        Value::Unread
                    }
                    Outcome::Returned { value, .. } => self.returned(call, value, returns, &text),
                    Outcome::Refused { .. } => Value::Never,
                    Outcome::NeverReturned | Outcome::Restarted { .. } => Value::Nothing,
                };
            }
        }
        Part {
            name: Arc::clone(&self.returns),
            alias: None,
            text,
            value,
        }
    }
}

/// Whether nothing is read of what an argument of a call points to, as for most conventions other
/// than the native one.
fn is_never_read(call: &Call, place: usize) -> bool {
    let is_foreign = call.abi != Abi::native();
    is_foreign && !(call.memory.is_read() && pointers::is_read(call.abi, call.number, place))
}
