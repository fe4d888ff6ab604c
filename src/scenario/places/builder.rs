//! From the parser's events to the tree of places, one event at a time and without recursion.

use std::collections::HashMap;
use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span};

use super::faults::{self, MAX_DEPTH};
use super::scalar;
use super::{Entry, Kind, Node, NodeId, Places};
use crate::scenario::diagnostic::{Diagnostic, Source};

/// How many times its own length a file may grow to when each alias is replaced by what it stands
/// for.
const MAX_GROWTH: usize = 8;

/// Builds the tree of the only document in `source`.
pub(super) fn build(source: &Source) -> Result<Places, Diagnostic> {
    faults::refuse_control_characters(source)?;
    let mut builder = Builder::new(source);
    for event in Parser::new_from_str(source.text()) {
        let (event, span) = event.map_err(|error| builder.syntax_error(&error))?;
        builder.event(event, &span)?;
    }
    match builder.root {
        Some(root) if !builder.is_nothing(root) => Ok(Places {
            nodes: builder.nodes,
            root,
        }),
        _ => {
            let end = source.text().len();
            let message = "the file is empty";
            Err(source.diagnostic(end..end, message))
        }
    }
}

struct Builder<'a> {
    source: &'a Source,
    /// The byte at which each character starts, as the parser counts characters.
    offsets: Vec<usize>,
    nodes: Vec<Node>,
    /// What each node takes, aliases unfolded; `None` while it is being built.
    sizes: Vec<Option<Size>>,
    /// The weight that no value may exceed. What stands in the file without aliases weighs twice
    /// its length at most.
    max_weight: usize,
    anchors: HashMap<usize, NodeId>,
    open: Vec<Open>,
    root: Option<NodeId>,
}

/// What a value takes.
#[derive(Clone, Copy)]
struct Size {
    /// Bytes and values.
    weight: usize,
    /// How deep it is nested; a scalar is not.
    depth: usize,
}

/// A list or mapping whose end has not come yet.
struct Open {
    node: NodeId,
    /// Of what is in it so far.
    size: Size,
    contents: Contents,
}

enum Contents {
    List(Vec<NodeId>),
    Mapping {
        entries: Vec<Entry>,
        seen: HashMap<String, Range<usize>>,
        key: Option<(String, Range<usize>)>,
    },
}

impl<'a> Builder<'a> {
    fn new(source: &'a Source) -> Self {
        Self {
            source,
            offsets: source
                .text()
                .char_indices()
                .map(|(offset, _)| offset)
                .collect(),
            nodes: Vec::new(),
            sizes: Vec::new(),
            max_weight: source.text().len() * MAX_GROWTH + 1024,
            anchors: HashMap::new(),
            open: Vec::new(),
            root: None,
        }
    }

    /// Whether the parser adds a line feed to the block at `at`: the file ends within a line of it.
    fn is_unended(&self, at: &Range<usize>) -> bool {
        let text = self.source.text();
        let line = |end: usize| text[..end].rsplit(['\n', '\r']).next().unwrap_or_default();
        let (last, before) = (line(text.len()), line(at.start));
        // Of a block without a line of its own it is the indicator that stands at the start.
        let indentation = if before.trim().is_empty() {
            before.len()
        } else {
            0
        };
        let is_of_block = !last.trim().is_empty() || last.len() >= indentation.max(1);
        at.end >= text.len() && is_of_block && !last.is_empty()
    }

    fn is_nothing(&self, node: NodeId) -> bool {
        self.nodes.get(node).is_some_and(|node| {
            matches!(node.kind, Kind::Plain(_))
                && self
                    .source
                    .text()
                    .get(node.span.clone())
                    .is_none_or(|text| text.trim().is_empty())
        })
    }

    fn event(&mut self, event: Event<'_>, span: &Span) -> Result<(), Diagnostic> {
        let at = self.bytes(span);
        match event {
            Event::Scalar(.., Some(_))
            | Event::SequenceStart(_, Some(_))
            | Event::MappingStart(_, Some(_)) => Err(faults::tag(self.source, at)),
            Event::DocumentStart(_) if self.root.is_some() => Err(self
                .source
                .diagnostic(at, "a second document: a file holds one scenario")),
            Event::Scalar(text, style, anchor, None) => match style {
                ScalarStyle::Plain if text.starts_with(['|', '>']) => {
                    Err(faults::indicator(self.source, at))
                }
                ScalarStyle::Literal | ScalarStyle::Folded if self.is_unended(&at) => {
                    // The parser adds a line feed.
                    let text = text.strip_suffix('\n').unwrap_or(&text);
                    self.scalar(text, false, anchor, at)
                }
                style => self.scalar(&text, style == ScalarStyle::Plain, anchor, at),
            },
            Event::Alias(anchor) => self.alias(anchor, at),
            Event::SequenceStart(anchor, None) => {
                self.begin(anchor, at, Contents::List(Vec::new()))
            }
            Event::MappingStart(anchor, None) => {
                let contents = Contents::Mapping {
                    entries: Vec::new(),
                    seen: HashMap::new(),
                    key: None,
                };
                self.begin(anchor, at, contents)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(at.end),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    fn scalar(
        &mut self,
        text: &str,
        plain: bool,
        anchor: usize,
        at: Range<usize>,
    ) -> Result<(), Diagnostic> {
        let weight = text.len().saturating_add(1);
        let value = scalar::value(text, plain);
        if let Some(Open {
            size,
            contents:
                Contents::Mapping {
                    seen,
                    key: key @ None,
                    ..
                },
            ..
        }) = self.open.last_mut()
        {
            size.weight = size.weight.saturating_add(weight);
            if !value.is_string() {
                return Err(faults::odd_key(self.source, at));
            }
            if let Some(first) = seen.get(text) {
                let message = format!("duplicate key `{}`", text.escape_debug());
                let complaint = self.source.diagnostic(at, message);
                return Err(complaint.with_related(first.clone(), "it is here already"));
            }
            seen.insert(text.to_owned(), at.clone());
            *key = Some((text.to_owned(), at));
            return Ok(());
        }
        let kind = match plain {
            true => Kind::Plain(value),
            false => Kind::Text(text.to_owned()),
        };
        let size = Size { weight, depth: 0 };
        let node = self.push(anchor, at, kind, Some(size));
        self.place(node, size)
    }

    fn alias(&mut self, anchor: usize, at: Range<usize>) -> Result<(), Diagnostic> {
        self.refuse_as_key(&at)?;
        let target = self.anchors.get(&anchor).copied();
        let size = target.and_then(|node| self.sizes.get(node).copied().flatten());
        match target.zip(size) {
            Some((_, size)) if self.open.len().saturating_add(size.depth) > MAX_DEPTH => {
                Err(faults::too_deep(self.source, at))
            }
            Some((node, size)) => self.place(node, size),
            None => Err(self
                .source
                .diagnostic(at, "an alias inside of the value that it stands for")),
        }
    }

    fn begin(
        &mut self,
        anchor: usize,
        at: Range<usize>,
        contents: Contents,
    ) -> Result<(), Diagnostic> {
        self.refuse_as_key(&at)?;
        if self.open.len() >= MAX_DEPTH {
            return Err(faults::too_deep(self.source, at));
        }
        // What it is, it becomes when it ends.
        let node = self.push(anchor, at, Kind::List(Vec::new()), None);
        let size = Size {
            weight: 1,
            depth: 1,
        };
        self.open.push(Open {
            node,
            size,
            contents,
        });
        Ok(())
    }

    fn end(&mut self, end: usize) -> Result<(), Diagnostic> {
        let Some(open) = self.open.pop() else {
            return Ok(());
        };
        if let Some(node) = self.nodes.get_mut(open.node) {
            node.span.end = end.max(node.span.start);
            node.kind = match open.contents {
                Contents::List(items) => Kind::List(items),
                Contents::Mapping { entries, .. } => Kind::Mapping(entries),
            };
        }
        if let Some(size) = self.sizes.get_mut(open.node) {
            *size = Some(open.size);
        }
        self.place(open.node, open.size)
    }

    /// Enters a finished node where it belongs: into what is open, or at the top.
    fn place(&mut self, node: NodeId, size: Size) -> Result<(), Diagnostic> {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        open.size.weight = open.size.weight.saturating_add(size.weight);
        open.size.depth = open.size.depth.max(size.depth.saturating_add(1));
        let crowded = open.size.weight > self.max_weight;
        let holder = open.node;
        match &mut open.contents {
            Contents::List(items) => items.push(node),
            Contents::Mapping { entries, key, .. } => {
                if let Some((name, key)) = key.take() {
                    entries.push(Entry {
                        name,
                        key,
                        value: node,
                    });
                }
            }
        }
        if crowded {
            let at = self
                .nodes
                .get(holder)
                .map_or(0..0, |node| node.span.clone());
            let message = format!("aliases make the file more than {MAX_GROWTH} times as long");
            return Err(self.source.diagnostic(at, message));
        }
        Ok(())
    }

    fn push(&mut self, anchor: usize, at: Range<usize>, kind: Kind, size: Option<Size>) -> NodeId {
        let node = self.nodes.len();
        self.sizes.push(size);
        self.nodes.push(Node { span: at, kind });
        // The parser numbers anchors from 1; 0 stands for none.
        if anchor > 0 {
            self.anchors.insert(anchor, node);
        }
        node
    }

    fn refuse_as_key(&self, at: &Range<usize>) -> Result<(), Diagnostic> {
        match self.open.last() {
            Some(Open {
                contents: Contents::Mapping { key: None, .. },
                ..
            }) => Err(self.source.diagnostic(at.clone(), "a key must be a string")),
            _ => Ok(()),
        }
    }

    fn bytes(&self, span: &Span) -> Range<usize> {
        let byte = |index| {
            self.offsets
                .get(index)
                .copied()
                .unwrap_or(self.source.text().len())
        };
        let start = byte(span.start.index());
        start..byte(span.end.index()).max(start)
    }

    fn syntax_error(&self, error: &ScanError) -> Diagnostic {
        let start = self.offsets.get(error.marker().index()).copied();
        let start = start.unwrap_or(self.source.text().len());
        let collections = self
            .open
            .iter()
            .filter_map(|open| self.nodes.get(open.node));
        let starts = collections.map(|node| node.span.start);
        faults::syntax_error(self.source, error.info(), start, starts)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn message(text: &str) -> String {
        let source = Source::new(Path::new("x.yaml"), text);
        build(&source).map_or_else(|complaint| complaint.message, |_| "fine".to_owned())
    }

    #[test]
    fn nesting_ends_at_the_limit_whatever_the_brackets() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(message(&nested(MAX_DEPTH)), "fine");
        let too_deep = "lists and mappings are nested more than 64 deep";
        assert_eq!(message(&nested(MAX_DEPTH + 1)), too_deep);
        for opening in ["[", "{a: ", "- "] {
            assert_eq!(message(&opening.repeat(50_000)), too_deep, "{opening}");
        }
    }

    #[test]
    fn aliases_count_as_what_they_stand_for() {
        let long = "aliases make the file more than 8 times as long";
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let below = format!("*a{},", level - 1).repeat(10);
            bomb.push_str(&format!("a{level}: &a{level} [{below}]\n"));
        }
        assert_eq!(message(&bomb), long);
        let copies = format!("a: &a {}\nb: [{}]\n", "x".repeat(100_000), "*a,".repeat(10));
        assert_eq!(message(&copies), long);
        assert_eq!(message("a: &a [x, y]\nb: [*a, *a]\nc: *a\n"), "fine");
    }

    #[test]
    fn what_an_alias_stands_for_is_nested_where_the_alias_stands() {
        let nested = |depth: usize, inner: &str| {
            format!("{}{inner}{}", "[".repeat(depth), "]".repeat(depth))
        };
        let chained = |depth| format!("[&a {}, {}]", nested(40, ""), nested(depth, "*a"));
        assert_eq!(message(&chained(MAX_DEPTH - 41)), "fine");
        let too_deep = "lists and mappings are nested more than 64 deep";
        assert_eq!(message(&chained(MAX_DEPTH - 40)), too_deep);
    }

    #[test]
    fn an_alias_cannot_hold_itself() {
        let own = "an alias inside of the value that it stands for";
        assert_eq!(message("&a [*a]"), own);
        assert_eq!(message("a: &a {b: [*a]}"), own);
    }

    #[test]
    fn keys_are_scalars() {
        for text in ["? [a]\n: b\n", "{a: b}: c", "a: &a x\n*a : y\n"] {
            assert_eq!(message(text), "a key must be a string", "{text}");
        }
    }

    #[test]
    fn a_long_file_without_aliases_is_fine() {
        assert_eq!(message(&"- x\n".repeat(20_000)), "fine");
        assert_eq!(message(&format!("[{}]", "x,".repeat(20_000))), "fine");
    }
}
