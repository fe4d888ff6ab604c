//! Where every key and value of a file stands.

use std::collections::HashSet;
use std::ops::Range;

use super::diagnostic::{Diagnostic, Source};
use super::key_path::{KeyPath, Part, Segment};

mod builder;
mod faults;

/// The tree of a file's keys and values with their places; an alias is a second edge to the same
/// node.
#[derive(Clone, Debug)]
pub(super) struct Places {
    nodes: Vec<Node>,
    root: NodeId,
}

/// Names a node of the [`Places`] that handed it out.
pub(super) type NodeId = usize;

#[derive(Clone, Debug)]
struct Node {
    /// The scalar, or the first character of a collection up to its end, in bytes of the text.
    span: Range<usize>,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// An unquoted scalar, whose type its text decides.
    Plain,
    /// A quoted or block scalar: always a string.
    Text,
    List(Vec<NodeId>),
    Mapping(Vec<Entry>),
}

/// One key of a mapping and its value.
#[derive(Clone, Debug)]
struct Entry {
    name: String,
    key: Range<usize>,
    value: NodeId,
}

/// What a path leads to: the node, and the key that names it.
#[derive(Clone, Debug)]
struct Found {
    node: NodeId,
    key: Option<Range<usize>>,
}

impl Places {
    /// Reads the text for its places alone.
    ///
    /// # Errors
    ///
    /// What no scenario may hold, whatever its keys are: broken YAML, no document or several, a
    /// tag, a duplicate key, a key that is not a scalar, too many values or too deep a nesting.
    pub(super) fn parse(source: &Source) -> Result<Self, Diagnostic> {
        builder::build(source)
    }

    /// The bytes to point at for `path`; for a path that the file does not have, the value of its
    /// nearest ancestor.
    pub(super) fn range_of(&self, source: &Source, path: &KeyPath) -> Range<usize> {
        if path.part() == Part::Key
            && let Some(key) = self.key_range(path)
        {
            return key;
        }
        let found = self.find(path, false).unwrap_or(Found {
            node: self.root,
            key: None,
        });
        self.value_range(source, found.node, found.key)
    }

    /// The bytes of the key that ends `path`, if the file has it.
    pub(super) fn key_range(&self, path: &KeyPath) -> Option<Range<usize>> {
        self.find(path, true)?.key
    }

    /// What stands at `path`, in words: "a list", "`3`"; `None` for nothing.
    pub(super) fn describe(&self, source: &Source, path: &KeyPath) -> Option<String> {
        let node = self.nodes.get(self.find(path, true)?.node)?;
        let text = source.text().get(node.span.clone())?.trim_end();
        match node.kind {
            Kind::List(_) => Some("a list".to_owned()),
            Kind::Mapping(_) => Some("a mapping".to_owned()),
            Kind::Plain | Kind::Text if text.is_empty() => None,
            Kind::Plain | Kind::Text if text.contains(['\n', '\r']) => Some("a string".to_owned()),
            Kind::Plain | Kind::Text => Some(format!("`{text}`")),
        }
    }

    /// The text of the unquoted scalar at `path`, if one stands there that holds at least one
    /// character.
    pub(super) fn plain_text<'a>(&self, source: &'a Source, path: &KeyPath) -> Option<&'a str> {
        let node = self.nodes.get(self.find(path, true)?.node)?;
        match node.kind {
            Kind::Plain => source
                .text()
                .get(node.span.clone())
                .filter(|text| !text.is_empty()),
            Kind::Text | Kind::List(_) | Kind::Mapping(_) => None,
        }
    }

    /// The same places under other keys.
    ///
    /// # Errors
    /// A key that a mapping then has twice, and where it stands the second time.
    pub(super) fn renamed(
        &self,
        rename: impl Fn(&str) -> String,
    ) -> Result<Self, (String, Range<usize>)> {
        let mut renamed = self.clone();
        for node in &mut renamed.nodes {
            let Kind::Mapping(entries) = &mut node.kind else {
                continue;
            };
            let mut seen = HashSet::new();
            for entry in entries {
                entry.name = rename(&entry.name);
                if !seen.insert(&entry.name) {
                    return Err((entry.name.clone(), entry.key.clone()));
                }
            }
        }
        Ok(renamed)
    }

    /// The topmost node.
    pub(super) fn root(&self) -> NodeId {
        self.root
    }

    /// The element number `index` of the list `node`.
    pub(super) fn element(&self, node: NodeId, index: usize) -> Option<NodeId> {
        match &self.nodes.get(node)?.kind {
            Kind::List(items) => items.get(index).copied(),
            _ => None,
        }
    }

    /// The place of the key number `index` of the mapping `node`, and its value.
    pub(super) fn entry(&self, node: NodeId, index: usize) -> Option<(Range<usize>, NodeId)> {
        match &self.nodes.get(node)?.kind {
            Kind::Mapping(entries) => entries.get(index).map(|e| (e.key.clone(), e.value)),
            _ => None,
        }
    }

    /// Which key of the mapping `node` is `name`.
    pub(super) fn position(&self, node: NodeId, name: &str) -> Option<usize> {
        match &self.nodes.get(node)?.kind {
            Kind::Mapping(entries) => entries.iter().position(|entry| entry.name == name),
            _ => None,
        }
    }

    /// The bytes from the first character of a value to its last, in which a block ends with the
    /// last value in it and not with the blanks and comments behind it.
    pub(super) fn content(&self, source: &Source, node: NodeId) -> Option<Range<usize>> {
        let found = self.nodes.get(node)?;
        let text = source.text().get(found.span.clone())?;
        let last = match &found.kind {
            _ if text.starts_with(['[', '{']) => None,
            Kind::List(items) => items.last().copied(),
            Kind::Mapping(entries) => entries.last().map(|entry| entry.value),
            Kind::Plain | Kind::Text => None,
        };
        // Behind a comma the parser ends a mapping in front of its brace.
        let behind = source.text().get(found.span.end..)?;
        let is_cut = text.starts_with('{') && !text.ends_with('}') && behind.starts_with('}');
        let end = match last {
            _ if is_cut => found.span.end.saturating_add(1),
            Some(last) => self.content(source, last)?.end,
            None => found.span.start.saturating_add(text.trim_end().len()),
        };
        (found.span.start <= end).then_some(found.span.start..end)
    }

    /// The bytes to point at for a value. Where it stands below its key, as blocks do, the key says
    /// more.
    pub(super) fn value_range(
        &self,
        source: &Source,
        node: NodeId,
        key: Option<Range<usize>>,
    ) -> Range<usize> {
        let span = self.nodes.get(node).map_or(0..0, |node| node.span.clone());
        let Some(key) = key else { return span };
        let between = source.text().get(key.end..span.start);
        if span.is_empty() || between.is_none_or(|text| text.contains(['\n', '\r'])) {
            key
        } else {
            span
        }
    }

    /// Follows `path`; where it ends early, `None` if it must be `whole`, else the last node on the
    /// way.
    fn find(&self, path: &KeyPath, whole: bool) -> Option<Found> {
        let mut found = Found {
            node: self.root,
            key: None,
        };
        for segment in path.segments() {
            match self.step(found.node, segment) {
                Some(next) => found = next,
                None if whole => return None,
                None => break,
            }
        }
        Some(found)
    }

    fn step(&self, node: NodeId, segment: &Segment) -> Option<Found> {
        match (segment, &self.nodes.get(node)?.kind) {
            (Segment::Index(index), Kind::List(items)) => {
                items.get(*index).map(|&node| Found { node, key: None })
            }
            (Segment::Key(name), Kind::Mapping(entries)) => entries
                .iter()
                .find(|entry| entry.name == *name)
                .map(|entry| Found {
                    node: entry.value,
                    key: Some(entry.key.clone()),
                }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn pointed_at<'a>(text: &'a str, path: &KeyPath) -> &'a str {
        let source = Source::new(Path::new("x.yaml"), text);
        let places = Places::parse(&source).unwrap();
        &text[places.range_of(&source, path)]
    }

    #[test]
    fn values_on_their_keys_line_are_pointed_at_and_blocks_by_their_key() {
        let text = "a: [x, {b: y}]\nc:\n  - d: e\n    f: |\n      g\n";
        let root = KeyPath::root;
        assert_eq!(pointed_at(text, &root().key("a").index(0)), "x");
        assert_eq!(pointed_at(text, &root().key("a").index(1).key("b")), "y");
        assert_eq!(
            pointed_at(text, &root().key("a").index(1).key("b").key_itself()),
            "b"
        );
        assert_eq!(pointed_at(text, &root().key("c")), "c");
        assert_eq!(pointed_at(text, &root().key("c").index(0).key("d")), "e");
        assert_eq!(pointed_at(text, &root().key("c").index(0).key("f")), "f");
    }

    #[test]
    fn an_absent_key_is_its_nearest_ancestor() {
        let path = KeyPath::root().key("a").key("filter").key("x");
        assert_eq!(
            pointed_at("a: sched:sched_switch\n", &path),
            "sched:sched_switch"
        );
        let step = KeyPath::root().key("next").key("fsync").key_itself();
        assert_eq!(pointed_at("next: fsync\n", &step), "fsync");
        assert_eq!(pointed_at("next: { fsync: {} }\n", &step), "fsync");
    }

    #[test]
    fn an_alias_leads_to_what_it_stands_for() {
        let path = KeyPath::root().key("b").index(0);
        assert_eq!(pointed_at("a: &list [x]\nb: *list\n", &path), "x");
    }

    #[test]
    fn characters_of_several_bytes_and_carriage_returns_shift_nothing() {
        let text = "é: 'ü'\r\n\"日本\": [ß, {ö: \"x\"}]\r\n";
        assert_eq!(pointed_at(text, &KeyPath::root().key("é")), "'ü'");
        assert_eq!(pointed_at(text, &KeyPath::root().key("日本").index(0)), "ß");
        let deep = KeyPath::root().key("日本").index(1).key("ö");
        assert_eq!(pointed_at(text, &deep), "\"x\"");
        assert_eq!(pointed_at(text, &deep.key_itself()), "ö");
    }
}
