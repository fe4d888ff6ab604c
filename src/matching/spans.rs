//! Makes spans: from one event to another with the same key.

use super::Matcher;
use super::answer::Answer;
use super::candidates::{fits, is_made};
use super::field::{Free, numbers};
use super::order::effect;
use super::pairs::Pairs;
use crate::trace::{Block, Deed, Ends, Normalised, Part, StableName, State, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The prefix of every span's name.
pub const SPAN: &str = "span:";

/// A rule that makes two events one span: an end belongs to the last begin with the same key that
/// has no end yet.
#[derive(Clone, Debug)]
pub struct SpanRule {
    /// `span:disk`.
    pub name: Arc<str>,
    /// The event that begins it; without captures.
    pub begin: Matcher,
    /// The event that ends it; without captures.
    pub end: Matcher,
    /// The fields that both share.
    pub key: Vec<SharedField>,
}

/// A field of the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedField {
    /// Its name in the begin; `thread` for the thread that did it.
    pub begin: String,
    /// Its name in the end.
    pub end: String,
    /// How the two values are compared.
    pub by: SharedBy,
}

/// What two values must have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedBy {
    /// The task that they name.
    Task,
    /// The open file description; the number, if that is unknown.
    File,
    /// The number.
    Number,
    /// The bytes; for a path from the root, if known.
    Bytes,
    /// An address, or else the text.
    Text,
}

impl SharedField {
    /// Whether a span shows it: the span's place already tells its thread.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        !matches!(self.begin.as_str(), "thread" | "process")
    }
}

/// The text for what was not read.
const UNREAD: &str = "<unread>";

/// The value of a key's field, which can only be compared for equality.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Task(Option<StableName>, i32),
    File(u64),
    Number(i128),
    Bytes(Vec<u8>),
    Address(u64),
    Text(String),
}

/// The place of a deed: its thread's, and its own within the thread.
type Spot = (usize, usize);

/// Adds the spans of these rules to a run, each after its begin.
pub fn add_spans(rules: &[SpanRule], trace: &mut Normalised) {
    if rules.is_empty() {
        return;
    }
    let mut spans = Vec::new();
    for rule in rules {
        rule.pair(&trace.blocks, &mut spans);
    }
    for (block, span) in spans {
        if let Some(block) = trace.blocks.get_mut(block) {
            *block.tally.entry(span.name.to_string()).or_default() += 1;
            block.deeds.push(span);
        }
    }
    for block in &mut trace.blocks {
        // A span is entered with its begin, and stays behind it.
        block.deeds.sort_by_key(|deed| deed.entered);
    }
}

/// Marks ends without a begin as unknown if earlier events of these names were overwritten: the
/// begin may be among them.
pub fn forget_begins(rules: &[SpanRule], trace: &mut Normalised, forgotten: &BTreeSet<String>) {
    let is_forgotten = |span: &Deed| {
        let mut rules = rules.iter();
        let rule = rules.find(|rule| rule.name == span.name);
        rule.is_some_and(|rule| !rule.begin.names.is_disjoint(forgotten))
    };
    for span in trace.blocks.iter_mut().flat_map(|block| &mut block.deeds) {
        let is_unbegun = |ends: &Ends| ends.state() == State::Unbegun;
        if span.ends.as_deref().is_some_and(is_unbegun) && is_forgotten(span) {
            make_unknown(span);
        }
    }
}

impl SpanRule {
    /// Whether events of these names are among its ends.
    #[must_use]
    pub fn takes(&self, names: &BTreeSet<String>) -> bool {
        !(self.begin.names.is_disjoint(names) && self.end.names.is_disjoint(names))
    }
}

/// Takes all spans out of a run.
pub fn remove_spans(trace: &mut Normalised) {
    for block in &mut trace.blocks {
        block.deeds.retain(|deed| deed.ends.is_none());
        block.tally.retain(|name, _| !name.starts_with(SPAN));
    }
}

/// A deed that a rule is about.
struct Turn {
    /// The time by which it counts.
    moment: u64,
    spot: Spot,
    is_end: bool,
    is_begin: bool,
}

impl SpanRule {
    fn pair(&self, blocks: &[Block], spans: &mut Vec<(usize, Deed)>) {
        let first = spans.len();
        let mut is_certain = true;
        let mut open = Pairs::new(usize::MAX);
        for turn in self.turns(blocks, &mut is_certain) {
            let Some(deed) = deed_at(blocks, turn.spot) else {
                continue;
            };
            if turn.is_end {
                let key = self.key_of(deed, |field| &field.end, &mut is_certain);
                let begin: Option<Spot> = key.and_then(|key| open.end(&key));
                match begin.and_then(|spot| Some((spot, deed_at(blocks, spot)?))) {
                    Some((spot, begin)) => {
                        let span = self.span(Some(begin), Some(deed));
                        spans.extend(span.map(|span| (spot.0, span)));
                    }
                    // The first of several events that each end one span and begin the next.
                    None if turn.is_begin => {}
                    None => {
                        let span = self.span(None, Some(deed));
                        spans.extend(span.map(|span| (turn.spot.0, span)));
                    }
                }
            }
            if turn.is_begin
                && let Some(key) = self.key_of(deed, |field| &field.begin, &mut is_certain)
            {
                open.begin(key, turn.spot);
            }
        }
        for spot in open.into_rest() {
            let span = self.span(deed_at(blocks, spot), None);
            spans.extend(span.map(|span| (spot.0, span)));
        }
        if !is_certain {
            for (_, span) in spans.iter_mut().skip(first) {
                make_unknown(span);
            }
        }
    }

    /// Returns the deeds that may begin or end a span, in that order. A call counts as a begin
    /// after its effect, and as an end from the moment at which it may have one.
    fn turns(&self, blocks: &[Block], is_certain: &mut bool) -> Vec<Turn> {
        let mut turns = Vec::new();
        for (block, place, deed) in blocks.iter().enumerate().flat_map(|(block, it)| {
            let deeds = it.deeds.iter().enumerate();
            deeds.map(move |(place, deed)| (block, place, deed))
        }) {
            let mut is = |matcher: &Matcher| {
                if !matcher.names.contains(&*deed.name) {
                    return false;
                }
                let answer = fits(deed, matcher, &mut Free, &|_| true).and(is_made(deed));
                *is_certain &= answer != Answer::Unknown;
                answer == Answer::Yes
            };
            let (is_begin, is_end) = (is(&self.begin), is(&self.end));
            if !(is_begin || is_end) {
                continue;
            }
            let (start, end) = effect(deed);
            turns.push(Turn {
                moment: if is_end { start } else { end },
                spot: (block, place),
                is_end,
                is_begin,
            });
        }
        turns.sort_by_key(|turn| (turn.moment, turn.is_begin, turn.spot));
        turns
    }

    /// `None` if the deed has no such key: a value does not exist, or was not read.
    fn key_of<'f>(
        &'f self,
        deed: &Deed,
        word: impl Fn(&'f SharedField) -> &'f String,
        is_certain: &mut bool,
    ) -> Option<Vec<Key>> {
        let key = self.key.iter().map(|field| {
            let part = part(deed, word(field))?;
            let is_unknown = matches!(
                (&part.value, field.by),
                (Value::Unread, _)
                    | (
                        Value::UnknownFile {
                            description: None,
                            ..
                        },
                        SharedBy::File
                    )
            );
            *is_certain &= !is_unknown;
            key(&part, field.by)
        });
        key.collect()
    }

    /// Makes a span at its begin, or else at its end, with its key as fields.
    fn span(&self, begin: Option<&Deed>, end: Option<&Deed>) -> Option<Deed> {
        let place = begin.or(end)?;
        let fields = self.key.iter().filter(|field| field.is_shown());
        let fields = fields.filter_map(|field| {
            let of_begin = begin.and_then(|deed| part(deed, &field.begin));
            let part = of_begin.or_else(|| part(end?, &field.end))?;
            Some(Part {
                name: field.begin.as_str().into(),
                alias: None,
                ..part
            })
        });
        Some(Deed {
            name: Arc::clone(&self.name),
            task: place.task,
            thread: place.thread,
            program: Arc::clone(&place.program),
            entered: place.entered,
            // A span without an end counts as the last to end.
            left: end.map_or(u64::MAX, |end| end.left),
            clock: (place.clock.0, end.unwrap_or(place).clock.1),
            convention: None,
            fields: fields.collect(),
            returns: None,
            stack: None,
            unseen: None,
            behind: Vec::new(),
            ends: Some(Box::new(Ends {
                begin: begin.cloned(),
                end: end.cloned(),
                is_known: true,
            })),
            injected: Default::default(),
        })
    }
}

fn deed_at(blocks: &[Block], (block, place): Spot) -> Option<&Deed> {
    blocks.get(block)?.deeds.get(place)
}

fn part(deed: &Deed, word: &str) -> Option<Part> {
    match word {
        "thread" => Some(deed.thread_part()),
        word => deed.part(word).map(std::borrow::Cow::into_owned),
    }
}

fn key(part: &Part, by: SharedBy) -> Option<Key> {
    let number = || match part.value {
        Value::Address(address) => Some(Key::Number(address.into())),
        ref value => numbers(value).first().copied().map(Key::Number),
    };
    match (&part.value, by) {
        (Value::Unread | Value::Nothing | Value::Never | Value::Error(_), _)
        | (
            Value::UnknownFile {
                description: None, ..
            },
            SharedBy::File,
        ) => None,
        (Value::Task { id, task }, SharedBy::Task) => Some(match task {
            Some(_) => Key::Task(*task, 0),
            None => Key::Task(None, *id),
        }),
        (
            Value::File {
                description: Some(file),
                ..
            }
            | Value::UnknownFile {
                description: Some(file),
                ..
            },
            SharedBy::File,
        ) => Some(Key::File(*file)),
        (
            Value::Path {
                given, absolute, ..
            },
            SharedBy::Bytes,
        ) => Some(Key::Bytes(absolute.as_ref().unwrap_or(given).clone())),
        (Value::Bytes { bytes, .. }, SharedBy::Bytes) => Some(Key::Bytes(bytes.clone())),
        (Value::Address(address), SharedBy::Text) => Some(Key::Address(*address)),
        (_, SharedBy::Number | SharedBy::File) => number(),
        (_, SharedBy::Task | SharedBy::Bytes | SharedBy::Text) => {
            Some(Key::Text(part.text.clone()))
        }
    }
}

/// Marks a span whose begin and end may not belong together.
fn make_unknown(span: &mut Deed) {
    if let Some(ends) = &mut span.ends {
        ends.is_known = false;
        for part in &mut span.fields {
            part.value = Value::Unread;
            part.text = UNREAD.to_owned();
        }
    }
}
