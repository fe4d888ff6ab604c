//! One mapping of a text, between braces or as a block, and what to write where to change it.

use std::ops::Range;

use crate::scenario::diagnostic::Source;
use crate::scenario::places::{NodeId, Places};

/// Other bytes for a place of the text.
#[derive(Debug)]
pub(super) struct Edit {
    pub(super) at: Range<usize>,
    pub(super) text: String,
}

#[derive(Clone, Copy)]
pub(super) struct Mapping<'a> {
    source: &'a Source,
    places: &'a Places,
    node: NodeId,
}

impl<'a> Mapping<'a> {
    pub(super) fn new(source: &'a Source, places: &'a Places, node: NodeId) -> Option<Self> {
        places.entry(node, 0)?;
        Some(Self {
            source,
            places,
            node,
        })
    }

    /// The mapping under `key`.
    pub(super) fn below(self, key: &str) -> Option<Self> {
        let (_, node) = self.places.entry(self.node, self.position(key)?)?;
        Self::new(self.source, self.places, node)
    }

    pub(super) fn position(self, key: &str) -> Option<usize> {
        self.places.position(self.node, key)
    }

    /// The place of the last key.
    pub(super) fn last(self) -> usize {
        let is_there = |index: &usize| self.places.entry(self.node, *index).is_some();
        (0..).take_while(is_there).last().unwrap_or(0)
    }

    pub(super) fn insert_in_front(self, key: &str, value: &str) -> Option<Edit> {
        let (first, _) = self.places.entry(self.node, 0)?;
        let separator = match self.is_flow() {
            true => ", ".to_owned(),
            false => format!("{}{}", self.newline(), self.indentation()?),
        };
        Some(Edit {
            at: first.start..first.start,
            text: format!("{key}: {value}{separator}"),
        })
    }

    pub(super) fn insert_behind(self, index: usize, key: &str, value: &str) -> Option<Edit> {
        let entry = self.entry(index)?;
        let (end, separator) = match self.is_flow() {
            true => (entry.end, ", ".to_owned()),
            false => {
                let separator = format!("{}{}", self.newline(), self.indentation()?);
                (self.line_end(entry.end), separator)
            }
        };
        Some(Edit {
            at: end..end,
            text: format!("{separator}{key}: {value}"),
        })
    }

    pub(super) fn replace(self, index: usize, value: &str) -> Option<Edit> {
        let (key, node) = self.places.entry(self.node, index)?;
        let content = self.places.content(self.source, node)?;
        let between = self.text().get(key.end..content.start)?;
        Some(if between.contains(['\n', '\r']) {
            // A block below its key.
            Edit {
                at: key.end..content.end,
                text: format!(": {value}"),
            }
        } else {
            Edit {
                at: content,
                text: value.to_owned(),
            }
        })
    }

    pub(super) fn remove(self, index: usize) -> Option<Edit> {
        let entry = self.entry(index)?;
        let next = self.places.entry(self.node, index.saturating_add(1));
        let before = index.checked_sub(1).and_then(|index| self.entry(index));
        let at = if self.is_flow() {
            match (next, before) {
                (Some((next, _)), _) => entry.start..next.start,
                (None, Some(before)) => before.end..entry.end,
                (None, None) => entry,
            }
        } else {
            self.indentation()?;
            let start = self.line_start(entry.start);
            let end = self.line_end(entry.end);
            let behind = self.text().get(end..)?;
            match behind.find('\n') {
                Some(newline) => start..end.saturating_add(newline).saturating_add(1),
                // The last line of a file without a newline at its end: the one before becomes it.
                None => {
                    self.text()
                        .get(..start)?
                        .trim_end_matches(['\r', '\n'])
                        .len()..end
                }
            }
        };
        Some(Edit {
            at,
            text: String::new(),
        })
    }

    /// The bytes of a key and its value.
    fn entry(self, index: usize) -> Option<Range<usize>> {
        let (key, node) = self.places.entry(self.node, index)?;
        let content = self.places.content(self.source, node)?;
        (key.end <= content.start).then_some(key.start..content.end)
    }

    fn text(self) -> &'a str {
        self.source.text()
    }

    fn is_flow(self) -> bool {
        let range = self.places.value_range(self.source, self.node, None);
        self.text()
            .get(range)
            .is_some_and(|text| text.starts_with('{'))
    }

    /// What stands in front of each key of a block.
    fn indentation(self) -> Option<&'a str> {
        let (first, _) = self.places.entry(self.node, 0)?;
        let blanks = self.text().get(self.line_start(first.start)..first.start)?;
        blanks.trim().is_empty().then_some(blanks)
    }

    fn newline(self) -> &'static str {
        if self.text().contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        }
    }

    fn line_start(self, at: usize) -> usize {
        let before = self.text().get(..at).unwrap_or_default();
        before
            .rfind('\n')
            .map_or(0, |newline| newline.saturating_add(1))
    }

    /// Where the line with `at` ends, its newline left out.
    fn line_end(self, at: usize) -> usize {
        let behind = self.text().get(at..).unwrap_or_default();
        let line = behind.split('\n').next().unwrap_or_default();
        at.saturating_add(line.strip_suffix('\r').unwrap_or(line).len())
    }
}
