//! The marks of a scenario: where its trace and its sections begin and end.

use super::expected::Resolver;
use super::{EventsPlan, PlanError, invalid, spans};
use crate::matching::{MARKING, Mark, may_mark};
use crate::scenario::{KeyPath, Mark as WrittenMark, Scenario, Since};
use std::collections::{BTreeMap, BTreeSet};
use syscall_model::Call;
use syscall_model::memory::{Moment, Piece};

/// All marks.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// The one that the trace starts behind.
    pub since: Option<Mark>,
    /// Whether it is the first of several, rather than the only one.
    pub may_come_again: bool,
    /// Where each section begins and ends, by its name.
    pub sections: BTreeMap<String, (Mark, Mark)>,
    /// The section that the snapshot shows.
    pub shown: Option<String>,
    /// The calls that are recorded for marks, or for what the run is confined to, and not because
    /// the author asked for them.
    pub hidden: BTreeSet<String>,
}

/// The longest mark in bytes: it is read with the line feed and in one piece.
const LONGEST: usize = 4095;

/// Whether any mark is text that the program writes.
pub(super) fn are_written(scenario: &Scenario) -> bool {
    let since = match &scenario.trace.since {
        Since::Mark(mark) => Some(mark),
        Since::Exec | Since::Main => None,
    };
    let sections = scenario.sections.values();
    let mut marks = sections
        .flat_map(|section| [&section.from, &section.to])
        .chain(since);
    marks.any(|mark| matches!(mark, WrittenMark::Written(_)))
}

/// Resolves them.
pub(super) fn marks(
    scenario: &Scenario,
    events: &EventsPlan,
    resolver: &Resolver<'_>,
) -> Result<Marks, PlanError> {
    let mark = |mark: &WrittenMark, at: KeyPath| match mark {
        WrittenMark::Step(step) => {
            spans::refuse(step, scenario, "a mark is a moment")?;
            Ok(Mark::Step(resolver.matcher(step)?))
        }
        WrittenMark::Written(text) if text.len() > LONGEST => {
            let message = format!("a mark has {LONGEST} bytes at most");
            Err(invalid(scenario.complaint(&at, message, None)))
        }
        WrittenMark::Written(text) => {
            resolver.reads_mark(text.len() as u16 + 1);
            Ok(Mark::Written(text.clone().into_bytes()))
        }
    };
    let root = KeyPath::root();
    let since = match &scenario.trace.since {
        Since::Mark(written) => Some(mark(written, root.clone().key("trace").key("since"))?),
        Since::Exec | Since::Main => None,
    };
    let section = |(name, section): (&String, &crate::scenario::SectionSpec)| {
        let at = root.clone().key("sections").key(name);
        let from = mark(&section.from, at.clone().key("from"))?;
        Ok((name.clone(), (from, mark(&section.to, at.key("to"))?)))
    };
    let sections = scenario.sections.iter().map(section);
    let beside: Vec<&&str> = match are_written(scenario) {
        true => {
            let asked_for = events.names();
            let marking = MARKING.iter();
            marking.filter(|name| !asked_for.contains(**name)).collect()
        }
        false => Vec::new(),
    };
    Ok(Marks {
        since,
        may_come_again: false,
        sections: sections.collect::<Result<_, PlanError>>()?,
        shown: scenario.snapshot.section().map(str::to_owned),
        hidden: beside
            .into_iter()
            .map(|name| (*name).to_owned())
            .chain(events.hidden())
            .collect(),
    })
}

impl Marks {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.since.is_none() && self.sections.is_empty()
    }

    /// Whether a call that is recorded for marks may be one of them.
    #[must_use]
    pub fn may_be(&self, call: &Call) -> bool {
        let is_marking = call.name().is_some_and(|name| self.hidden.contains(name));
        is_marking && self.texts().any(|text| may_write(call, text))
    }

    fn texts(&self) -> impl Iterator<Item = &[u8]> {
        let sections = self.sections.values().flat_map(|(from, to)| [from, to]);
        let all = sections.chain(&self.since);
        all.filter_map(|mark| match mark {
            Mark::Written(text) => Some(text.as_slice()),
            Mark::Step(_) => None,
        })
    }
}

/// Whether a call writes this text, or what it writes is not known.
fn may_write(call: &Call, text: &[u8]) -> bool {
    let Some(args) = call.entry.args() else {
        return true;
    };
    let piece = call.memory.piece(1, Moment::Enter);
    let bytes = piece.and_then(Piece::read);
    may_mark(text, args[2]) && bytes.is_none_or(|bytes| bytes.starts_with(text))
}
