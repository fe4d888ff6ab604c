//! The keys and values of a file, and where each stands.

use std::collections::HashSet;
use std::ops::Range;

use serde_yaml::Value;

use super::diagnostic::{Diagnostic, Source};
use super::key_path::{KeyPath, Part, Segment};

mod builder;
mod faults;
mod scalar;

/// The tree of a file's keys and values with their places, at most [`faults::MAX_DEPTH`] deep; an
/// alias is a second edge to the same node.
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
    Plain(Value),
    /// A quoted or block scalar: always a string.
    Text(String),
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
    /// Reads the text.
    ///
    /// # Errors
    ///
    /// What no scenario may hold, whatever its keys are: broken YAML, no document or several, a
    /// tag, a duplicate key, a key that is no string, too many values or too deep a nesting.
    pub(super) fn parse(source: &Source) -> Result<Self, Diagnostic> {
        builder::build(source)
    }

    /// All values, without their places.
    pub(super) fn value(&self) -> Value {
        self.value_of(self.root)
    }

    fn value_of(&self, node: NodeId) -> Value {
        match self.nodes.get(node).map(|node| &node.kind) {
            Some(Kind::Plain(value)) => value.clone(),
            Some(Kind::Text(text)) => Value::String(text.clone()),
            Some(Kind::List(items)) => items.iter().map(|item| self.value_of(*item)).collect(),
            Some(Kind::Mapping(entries)) => {
                let entry = |entry: &Entry| (entry.name.clone().into(), self.value_of(entry.value));
                Value::Mapping(entries.iter().map(entry).collect())
            }
            None => Value::Null,
        }
    }

    /// The first key or element without a value, which serde would take for one that is not there:
    /// its name in a message, and where it stands.
    pub(super) fn no_value(&self, source: &Source) -> Option<(String, Range<usize>)> {
        let is_null = |node: NodeId| {
            let kind = self.nodes.get(node).map(|node| &node.kind);
            matches!(kind, Some(Kind::Plain(Value::Null)))
        };
        let of_holder = |holder: &Node| match &holder.kind {
            Kind::List(items) => {
                let item = items.iter().find(|item| is_null(**item))?;
                let at = self.value_range(source, *item, None);
                Some(("an element of a list".to_owned(), at))
            }
            Kind::Mapping(entries) => {
                let entry = entries.iter().find(|entry| is_null(entry.value))?;
                let at = self.value_range(source, entry.value, Some(entry.key.clone()));
                Some((format!("`{}`", entry.name.escape_debug()), at))
            }
            Kind::Plain(_) | Kind::Text(_) => None,
        };
        let all = self.nodes.iter().filter_map(of_holder);
        all.min_by_key(|(_, at)| at.start)
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
            Kind::Plain(_) | Kind::Text(_) if text.is_empty() => None,
            Kind::Plain(_) | Kind::Text(_) if text.contains(['\n', '\r']) => {
                Some("a string".to_owned())
            }
            Kind::Plain(_) | Kind::Text(_) => Some(format!("`{text}`")),
        }
    }

    /// The text of the unquoted scalar at `path`, if one stands there that holds at least one
    /// character.
    pub(super) fn plain_text<'a>(&self, source: &'a Source, path: &KeyPath) -> Option<&'a str> {
        let node = self.nodes.get(self.find(path, true)?.node)?;
        match node.kind {
            Kind::Plain(_) => source
                .text()
                .get(node.span.clone())
                .filter(|text| !text.is_empty()),
            Kind::Text(_) | Kind::List(_) | Kind::Mapping(_) => None,
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
            Kind::Plain(_) | Kind::Text(_) => None,
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

    #[test]
    fn values_are_those_that_serde_reads() {
        for text in [
            "a: 1\nb: [x, 'y', \"z\\n\", ~, true]\nc: {d: e, f: }\n",
            "a: |\n  b\n\n  c\nd: |-\n  e\n\nf: |+\n  g\n\nh: i\n",
            "a: >\n  b\n  c\n\n  d\ne: >-\n  f\n   g\n  h\n",
            "a: |2\n   b\n  c\nd: \"e\n  f\n\n  g\"\nh: 'i''j\n  k'\n",
            "a: b\n  c\n\n  d\ne:\n- f\n-\n  - g\n- - h\n  - i\n",
            "a: &x [1, &y two]\nb: *x\nc: {d: *y, e: *x}\n",
            "a: \"\\x41\\u00e9\\U0001F600\\t\\e\\_\\N\\L\\P\\/\\\n  b\"\n",
            "a: |\r\n  b\r\n  c\r\nd: >\r\n  e\r\n  f\r\ng: 'h\r\n  i'\r\n",
            "---\na: b # c\n# d\n...\n",
            "a: b#c\nd: 'e' #f\n\"g\": h:i\nj: -k\nl: ?m\n",
            "a: [b, c: d, {e: f}, ]\ng: []\nh: {}\ni: ''\n",
            "a: |\n  b",
            "a: |+\n  b",
            "a: >\n  b\n  c  ",
            "a: |\n  b\n  ",
            "a: |\n  b\n\n",
            "a: |\n  b\n ",
            "a: >\n  b\n ",
            "a: |+\n  b\n\n ",
            "a: |+\n ",
            "e:\n  s: |\n    hello\n  ",
            "e:\n  s: |\n    hello\n    ",
            "a: |\n  b\n# c",
            "a: |+\n  b\n\n  ",
            "a: |-\n  b\n  ",
            "a: |\r\n  b",
            "? a\n: b\n? c\nd: e\n",
            "<<: a\nb: '<<'\n",
            "é: 日本\nß: '🎉'\n",
        ] {
            let source = Source::new(Path::new("x.yaml"), text);
            let taken: Value = serde_yaml::from_str(text).unwrap();
            assert_eq!(Places::parse(&source).unwrap().value(), taken, "{text}");
        }
    }
}
