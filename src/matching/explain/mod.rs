//! Explains why an expectation was not met: a sentence, then similar deeds, and the part of the
//! trace around them.
//!
//! An explanation is plain text. The first letter of a line says what the line is, for callers that
//! use colours: `+` is met, `-` is missing or forbidden, `~` is similar, `@@` says where in the
//! trace the lines below it are.

mod between;
mod closed;
mod forgotten;
mod nearest;
mod steps;
mod stretch;
mod unknown;

use super::order::{Place, Scene};
use super::shape::Leaf;
use crate::trace::{Deed, Part, Value};

/// Explains the expectations of one key.
pub(super) struct Explainer<'s, 'a> {
    pub(super) scene: &'s Scene<'a>,
    /// The prefix of a key: `expect`, `expect.sections.save`.
    pub(super) label: &'s str,
    /// The section that the deeds are of; `None` for the whole run.
    pub(super) section: Option<&'s str>,
}

/// The greatest length of a shown line of the trace, in letters.
const LONGEST: usize = 140;

impl Explainer<'_, '_> {
    /// Returns the key that a step belongs to: `expect.sequence`.
    pub(super) fn key(&self, leaf: &Leaf<'_>) -> String {
        let key = if leaf.is_free {
            "any_order"
        } else {
            "sequence"
        };
        format!("{}.{key}", self.label)
    }

    /// Returns the text before an expected number: "section `save`: expected 2".
    pub(super) fn expected(&self) -> String {
        let of = self.section.map(|name| format!("section `{name}`: "));
        of.unwrap_or_default() + "expected"
    }

    /// Returns a step and its line: "`expect.sequence`, step 2 of 3 (line 13)".
    fn step(&self, leaf: &Leaf<'_>) -> String {
        let (key, number, line) = (self.key(leaf), &leaf.number, leaf.matcher.line);
        match leaf.of {
            1 if number == "1" => format!("`{key}` (line {line})"),
            many => format!("`{key}`, step {number} of {many} (line {line})"),
        }
    }

    /// Returns a deed's text with its task.
    pub(super) fn deed(&self, place: Place) -> String {
        let deed = self.scene.deeds.get(place);
        deed.copied().map(told).unwrap_or_default()
    }
}

/// Returns the line of a deed with its task.
pub(super) fn told(deed: &Deed) -> String {
    cut(&format!("{} {}", deed.task, line(deed)))
}

/// Returns a deed as a snapshot shows it, with the beginning of contents that the snapshot leaves
/// out.
fn line(deed: &Deed) -> String {
    let mut deed = deed.clone();
    for part in &mut deed.fields {
        if let Some(read) = contents(part) {
            part.text = read;
        }
    }
    deed.line()
}

/// Returns the contents that were read and that the trace does not show.
fn contents(part: &Part) -> Option<String> {
    const MOST: usize = 32;
    let Value::Bytes { bytes, is_cut } = &part.value else {
        return None;
    };
    // Contents as they are, or the messages in them.
    if part.text.starts_with(['"', '[', '{']) {
        return None;
    }
    let shown = bytes.get(..MOST).unwrap_or(bytes).escape_ascii();
    let more = if *is_cut || bytes.len() > MOST {
        "..."
    } else {
        ""
    };
    Some(format!("\"{shown}\"{more}"))
}

/// Cuts a line to the length that is shown.
fn cut(line: &str) -> String {
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}
