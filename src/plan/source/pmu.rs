//! The terms of an event of a source that sysfs describes: `msr/tsc/`, `cpu/event=0x3c,umask=1/`
//! (`tools/perf/Documentation/perf-list.txt`, "PARAMETERIZED EVENTS" and "RAW HARDWARE EVENT
//! DESCRIPTOR").

use super::{NamedSource, Unit, number};
use crate::plan::terms::{self, TermError, Terms};
use crate::scenario::nearest;
use perf_live::host::EventSource;
use perf_records::attr::{Bits, Source};

/// Whole words of the attribute, which perf takes for every source.
const WORDS: &[&str] = &["config", "config1", "config2", "config3"];

/// Sources whose events are more than numbers, and the words that name these instead.
const ELSEWHERE: &[(&str, &str)] = &[
    ("breakpoint", "a place of memory is `mem:ADDRESS/LENGTH:rw`"),
    ("kprobe", "a probe is `kprobe:FUNCTION`"),
    ("uprobe", "a probe is `uprobe:PATH:SYMBOL`"),
];

/// Reads the terms, which begin at this character. Terms that set no number go to `others`.
pub(super) fn read(
    of: &EventSource,
    at: usize,
    text: &str,
    others: &mut Terms,
) -> Result<NamedSource, TermError> {
    if let Some((_, why)) = ELSEWHERE.iter().find(|(name, _)| *name == of.name) {
        let term = of.name.clone();
        return Err(TermError::Misplaced { at: 1, term, why });
    }
    let mut numbers = Numbers {
        of,
        config: [0; 4],
        unit: None,
    };
    terms::each(at, text, |at, term| match numbers.add(at, term) {
        Ok(true) => Ok(()),
        Ok(false) => others.add(at, term).map_err(|error| match error {
            TermError::Unknown { at, term, .. } => numbers.unknown(at, term),
            error => error,
        }),
        Err(error) => Err(error),
    })?;
    Ok(NamedSource {
        source: Source::of_kind(of.kind, numbers.config),
        unit: numbers.unit,
        for_all_on: of.for_all_on.clone(),
    })
}

struct Numbers<'a> {
    of: &'a EventSource,
    config: [u64; 4],
    unit: Option<Unit>,
}

impl Numbers<'_> {
    /// Whether the term sets a number; if so, puts it in its place.
    fn add(&mut self, at: usize, text: &str) -> Result<bool, TermError> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let event = self.of.events.get(name).filter(|_| value.is_none());
        if let Some(event) = event {
            for term in event.terms.split(',').filter(|term| !term.is_empty()) {
                self.term(at, term)?;
            }
            if event.scale.is_some() || event.unit.is_some() {
                self.unit = Some(Unit {
                    scale: event.scale.clone(),
                    name: event.unit.clone(),
                });
            }
            return Ok(true);
        }
        self.term(at, text)
    }

    fn term(&mut self, at: usize, text: &str) -> Result<bool, TermError> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let word = WORDS.iter().position(|word| *word == name);
        let bits = match (self.of.format.get(name), word) {
            (Some(format), _) => Bits::parse(format).map_err(|_| TermError::Place {
                at,
                expected: "a term whose bits the kernel tells in a known form",
            })?,
            (None, Some(word)) => Bits::whole(word),
            (None, None) => return Ok(false),
        };
        // A flag is one bit, which needs no number.
        let number = value.map_or(Some(1), number);
        let wrong = || TermError::Value {
            at,
            term: name.to_owned(),
            expected: "a number, decimal or after 0x",
        };
        let number = number.ok_or_else(wrong)?;
        let put = bits.put(number, &mut self.config);
        put.ok_or_else(|| TermError::TooLarge {
            at,
            term: name.to_owned(),
            most: bits.most(),
        })?;
        Ok(true)
    }

    fn unknown(&self, at: usize, term: String) -> TermError {
        let numbers = self.of.format.keys().chain(self.of.events.keys());
        let known: Vec<String> = terms::names()
            .map(str::to_owned)
            .chain(numbers.cloned())
            .collect();
        let near = nearest(&term, known.iter().map(String::as_str)).map(str::to_owned);
        TermError::Unknown {
            at,
            nearest: near,
            all: self.all(),
            term,
        }
    }

    /// Lists its events, for a word that is similar to none of them.
    fn all(&self) -> String {
        let events: Vec<&str> = self.of.events.keys().map(String::as_str).collect();
        let format: Vec<&str> = self.of.format.keys().map(String::as_str).collect();
        let said = |what: &str, words: &[&str]| match words {
            [] => format!("no {what}"),
            words => format!("the {what} {}", words.join(", ")),
        };
        format!(
            "`{}` has {} and {}",
            self.of.name,
            said("events", &events),
            said("terms", &format)
        )
    }
}
