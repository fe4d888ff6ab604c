//! `--span`: two events that share a key, as one line with the time between them.

use perf_records::units::Nanos;
use std::hash::Hash;
use std::sync::Arc;
use syscall_model::kinds::ArgKind;
use syscall_model::memory::State;
use syscall_model::names::{Abi, number};
use syscall_model::{Actor, Call, Outcome, Signatures};
use trace_harness::matching::Pairs;
use trace_harness::plan::{self, EventsPlan, WHY_OF_NOBODY, Wanted, WantedEvent};
use trace_harness::report::{Fields, Span, SpanEnd};
use trace_harness::trace::FieldValue;

/// How many of a rule may wait for their ends.
const MOST_OPEN: usize = 1 << 16;

/// A pairing rule as it is written: `NAME=BEGIN,END[,KEY[=END'S]]...`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    name: String,
    begin: String,
    end: String,
    /// Pairs of names of fields, each with the character that it stands at.
    key: Vec<(String, String, usize)>,
    written: String,
}

/// Reads a rule.
pub(super) fn rule(text: &str) -> Result<Rule, String> {
    let at = |place: usize, what: &str| format!("character {}: {what}", place + 1);
    let (name, rest) = text
        .split_once('=')
        .ok_or_else(|| at(text.len(), "`=` is missing: NAME=BEGIN,END[,KEY]"))?;
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
    if name.is_empty() || !name.chars().all(is_plain) {
        return Err(at(
            0,
            "a span's name has lower case letters, digits, `_` and `-`",
        ));
    }
    let mut place = name.len() + 1;
    let mut words = Vec::new();
    for word in rest.split(',') {
        if word.trim().is_empty() {
            return Err(at(place, "a name is missing: NAME=BEGIN,END[,KEY]"));
        }
        words.push((word.to_owned(), place));
        place += word.len() + 1;
    }
    let mut words = words.into_iter();
    let (Some((begin, _)), Some((end, _))) = (words.next(), words.next()) else {
        return Err(at(
            text.len(),
            "the event that ends it is missing: NAME=BEGIN,END[,KEY]",
        ));
    };
    let key = words.map(|(word, place)| match word.split_once('=') {
        Some((begin, end)) => (begin.to_owned(), end.to_owned(), place),
        None => (word.clone(), word, place),
    });
    let mut key: Vec<_> = key.collect();
    if key.is_empty() {
        key.push((THREAD.to_owned(), THREAD.to_owned(), 0));
    }
    Ok(Rule {
        name: name.to_owned(),
        begin,
        end,
        key,
        written: text.to_owned(),
    })
}

const THREAD: &str = "thread";
const PROCESS: &str = "process";

impl Rule {
    /// What is to be recorded for it.
    pub(super) fn wants(&self) -> [Wanted; 2] {
        [&self.begin, &self.end].map(|name| match name.contains(':') {
            true => Wanted::Event(WantedEvent {
                name: name.clone(),
                ..WantedEvent::default()
            }),
            false => Wanted::Syscalls(vec![name.clone()]),
        })
    }

    /// Whether both ends have its key.
    fn check(&self, plan: &EventsPlan, signatures: &Signatures<'_>) -> Result<(), String> {
        if plan::is_of_nobody(&self.end) && !plan::is_of_nobody(&self.begin) {
            let (written, end) = (&self.written, &self.end);
            return Err(format!(
                "--span `{written}`: no span ends with `{end}`: {WHY_OF_NOBODY}"
            ));
        }
        for (begin, end, place) in &self.key {
            for (event, word) in [(&self.begin, begin), (&self.end, end)] {
                if !has_field(plan, signatures, event, word) {
                    return Err(format!(
                        "--span `{}`, character {}: `{event}` has no field `{word}`",
                        self.written,
                        place + 1
                    ));
                }
            }
        }
        Ok(())
    }
}

fn has_field(plan: &EventsPlan, signatures: &Signatures<'_>, event: &str, word: &str) -> bool {
    if [THREAD, PROCESS].contains(&word) {
        return true;
    }
    if event.contains(':') {
        let named = plan.named.iter().find(|planned| *planned.name == *event);
        let format = named.and_then(|planned| planned.format.as_ref());
        return format.is_some_and(|format| format.field(word).is_some());
    }
    let abi = Abi::native();
    let call = number(abi, event).and_then(|call| i32::try_from(call).ok());
    let has = |call| signatures.with(abi, call, |it| it.place_of(word).is_some());
    word == "returns" || call.is_some_and(has)
}

/// A value of a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Number(i128),
    Bytes(Vec<u8>),
}

impl Key {
    /// `None` for what was not read.
    fn of(value: &FieldValue) -> Option<Self> {
        Some(match value {
            FieldValue::Unread => return None,
            FieldValue::Number(number) | FieldValue::Named(_, number) => Self::Number(*number),
            FieldValue::Task(id) => Self::Number((*id).into()),
            FieldValue::Address(address) | FieldValue::Function { address, .. } => {
                Self::Number((*address).into())
            }
            FieldValue::Text(bytes) => Self::Bytes(bytes.clone()),
            FieldValue::Other(text) => Self::Bytes(text.clone().into_bytes()),
        })
    }
}

/// A rule and what waits.
struct Pairing {
    rule: Rule,
    name: Arc<str>,
    open: Pairs<Vec<Key>, SpanEnd>,
    given_up: u64,
    /// Whether an end ever came.
    has_ends: bool,
}

/// Makes spans of events as they come.
#[derive(Default)]
pub(super) struct Spans(Vec<Pairing>);

impl Spans {
    /// For these rules.
    pub(super) fn new(
        rules: &[Rule],
        plan: &EventsPlan,
        signatures: &Signatures<'_>,
    ) -> Result<Self, String> {
        let pairing = |rule: &Rule| {
            rule.check(plan, signatures)?;
            Ok(Pairing {
                name: rule.name.as_str().into(),
                open: Pairs::new(MOST_OPEN),
                rule: rule.clone(),
                given_up: 0,
                has_ends: false,
            })
        };
        rules
            .iter()
            .map(pairing)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// An event fired.
    pub(super) fn event(
        &mut self,
        name: &str,
        end: impl Fn() -> SpanEnd,
        tell: &mut dyn FnMut(&Span),
    ) {
        for pairing in &mut self.0 {
            pairing.happened(name, &end, tell);
        }
    }

    /// A call ended.
    pub(super) fn call(
        &mut self,
        call: &Call,
        signatures: &Signatures<'_>,
        tell: &mut dyn FnMut(&Span),
    ) {
        if let (false, Some(name)) = (self.0.is_empty(), call.name()) {
            self.event(name, || of_call(call, signatures), tell);
        }
    }

    /// The end of all: what has not ended, and how many were given up of which rule.
    pub(super) fn finish(&mut self, tell: &mut dyn FnMut(&Span)) -> Vec<String> {
        let mut said = Vec::new();
        for pairing in std::mem::take(&mut self.0) {
            let (rule, name, given_up) = (pairing.rule, pairing.name, pairing.given_up);
            let mut n_open = 0;
            for begin in pairing.open.into_rest() {
                tell(&span(&rule, &name, Some(begin), None));
                n_open += 1;
            }
            if n_open > 0 && !pairing.has_ends {
                said.push(format!(
                    "`{}` never came, so that {n_open} of `span:{name}` have no end; an event that fires in an interrupt, or in a task outside the workload, is not seen",
                    rule.end
                ));
            }
            if given_up > 0 {
                said.push(format!(
                    "{given_up} begins of `span:{name}` were given up, as more than {MOST_OPEN} waited for their ends"
                ));
            }
        }
        said
    }
}

impl Pairing {
    fn happened(&mut self, name: &str, end: &dyn Fn() -> SpanEnd, tell: &mut dyn FnMut(&Span)) {
        let (is_begin, is_end) = (self.rule.begin == name, self.rule.end == name);
        if !(is_begin || is_end) {
            return;
        }
        self.has_ends |= is_end;
        let happened = end();
        if is_end && let Some(key) = key(&self.rule, &happened, |(_, end, _)| end) {
            let begin = self.open.end(&key);
            // The first of a row of events that each end the one and begin the next ends nothing.
            if begin.is_some() || !is_begin {
                tell(&span(&self.rule, &self.name, begin, Some(happened.clone())));
            }
        }
        if is_begin
            && let Some(key) = key(&self.rule, &happened, |(begin, _, _)| begin)
            && let Some(oldest) = self.open.begin(key, happened)
        {
            self.given_up += 1;
            tell(&span(&self.rule, &self.name, Some(oldest), None));
        }
    }
}

/// `None` where the event has no such key: a call that failed returns no descriptor.
fn key(
    rule: &Rule,
    end: &SpanEnd,
    word: impl Fn(&(String, String, usize)) -> &String,
) -> Option<Vec<Key>> {
    let fields = rule.key.iter();
    fields
        .map(|field| Key::of(&field_of(end, word(field))?))
        .collect()
}

fn field_of(end: &SpanEnd, word: &str) -> Option<FieldValue> {
    match word {
        THREAD => Some(FieldValue::Task(end.actor.tid.0 as i32)),
        PROCESS => Some(FieldValue::Task(end.actor.pid.0 as i32)),
        word => {
            let field = end.fields.iter().find(|(name, _)| **name == *word);
            field.map(|(_, value)| value.clone())
        }
    }
}

fn span(rule: &Rule, name: &Arc<str>, begin: Option<SpanEnd>, end: Option<SpanEnd>) -> Span {
    let key = rule.key.iter().filter_map(|(of_begin, of_end, _)| {
        // Whose it is stands in front of the line.
        if [THREAD, PROCESS].contains(&of_begin.as_str()) {
            return None;
        }
        let begin = begin.as_ref().and_then(|end| field_of(end, of_begin));
        let value = begin.or_else(|| field_of(end.as_ref()?, of_end))?;
        Some((Arc::from(of_begin.as_str()), value))
    });
    Span {
        name: Arc::clone(name),
        key: key.collect(),
        begin,
        end,
    }
}

/// A call's numbers and strings, and what it returned where that is no error.
fn of_call(call: &Call, signatures: &Signatures<'_>) -> SpanEnd {
    let mut fields = Fields::new();
    if let Some(args) = call.entry.args() {
        signatures.with(call.abi, call.number, |signature| {
            for (place, argument) in signature.arguments.iter().enumerate() {
                let word = args.get(place).copied().unwrap_or_default();
                let value = match argument.kind {
                    ArgKind::Fd | ArgKind::Pid | ArgKind::Int => {
                        FieldValue::Number((word as i32).into())
                    }
                    ArgKind::Path | ArgKind::Text => {
                        let mut pieces = call.memory.strings(place);
                        let piece = pieces.find(|piece| piece.state != State::Unread);
                        match piece {
                            Some(piece) => FieldValue::Text(piece.bytes.to_vec()),
                            None => FieldValue::Address(word),
                        }
                    }
                    _ => FieldValue::Number(word.into()),
                };
                fields.push((Arc::clone(&argument.name), value.clone()));
                if let Some(alias) = argument.alias.filter(|alias| **alias != *argument.name) {
                    fields.push((alias.into(), value));
                }
            }
        });
    }
    let (from, mut to) = (call.time(), call.time());
    if let Outcome::Returned { time, value } = call.outcome {
        to = time;
        if call.error().is_none() {
            fields.push(("returns".into(), FieldValue::Number(value.into())));
        }
    }
    SpanEnd {
        actor: call.actor,
        from,
        to,
        fields,
    }
}

/// One end that takes no time.
pub(super) fn moment(actor: &Actor, time: Nanos, fields: &Fields) -> SpanEnd {
    SpanEnd {
        actor: *actor,
        from: time,
        to: time,
        fields: fields.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_names_two_events_and_what_they_share() {
        let rule = rule("disk=block:a,block:b,dev,sector,pid=prev_pid").expect("a rule");
        assert_eq!(
            (&*rule.name, &*rule.begin, &*rule.end),
            ("disk", "block:a", "block:b")
        );
        let key: Vec<(&str, &str)> = rule.key.iter().map(|(a, b, _)| (&**a, &**b)).collect();
        assert_eq!(
            key,
            [("dev", "dev"), ("sector", "sector"), ("pid", "prev_pid")]
        );
    }

    #[test]
    fn without_a_key_it_is_the_threads() {
        let rule = rule("r=openat,close").expect("a rule");
        assert_eq!(rule.key, [("thread".to_owned(), "thread".to_owned(), 0)]);
        assert_eq!(rule.wants()[0], Wanted::Syscalls(vec!["openat".to_owned()]));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, said) in [
            ("disk", "character 5: `=` is missing"),
            ("=a,b", "character 1: a span's name"),
            ("A=a,b", "character 1: a span's name"),
            ("d=a", "character 4: the event that ends it is missing"),
            ("d=a,,b", "character 5: a name is missing"),
        ] {
            let fault = rule(text).expect_err(text);
            assert!(fault.starts_with(said), "{fault}");
        }
    }
}
