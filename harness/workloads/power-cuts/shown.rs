//! Trees and programs in words.

use std::fmt::Write;

use trace_harness::crash::{Attribute, Change, Content, Node, NodeId, Place, Step, Tree};

use crate::programs::{Meanwhile, Program};

/// A tree, a line for each name.
pub(crate) fn tree(tree: &Tree) -> String {
    let mut text = String::new();
    let reached = tree.reached();
    let number = |id: &NodeId| reached.iter().position(|known| known == id).unwrap_or(0);
    fn walk(
        tree: &Tree,
        id: NodeId,
        at: &str,
        number: &dyn Fn(&NodeId) -> usize,
        text: &mut String,
    ) {
        let Some(node) = tree.nodes.get(&id) else {
            return;
        };
        let mode = node.attributes.mode;
        let held = node.content().map_or_else(|| "folder".to_owned(), content);
        let xattrs = node.attributes.xattrs.iter();
        let xattrs: String = xattrs
            .map(|(name, value)| format!(" {}={}", name.escape_ascii(), runs(value)))
            .collect();
        let _ = writeln!(text, "    {at}/  [{}] {mode:o} {held}{xattrs}", number(&id));
        for (name, child) in node.entries().into_iter().flatten() {
            let at = format!("{at}/{}", name.escape_ascii());
            walk(tree, *child, &at, number, text);
        }
    }
    walk(tree, tree.root, "", &number, &mut text);
    text
}

/// Runs of equal bytes: `size: byte x length ...`.
fn content(content: &Content) -> String {
    runs(&content.to_vec())
}

fn runs(bytes: &[u8]) -> String {
    let mut text = format!("{}:", bytes.len());
    for run in bytes.chunk_by(|a, b| a == b) {
        let byte = run.first().copied().unwrap_or(0);
        let _ = write!(text, " {byte}x{}", run.len());
    }
    text
}

impl Program {
    /// The folder, the steps and what happens behind each.
    pub(crate) fn shown(&self) -> String {
        let mut text = tree(self.log.start());
        for (at, (step, meanwhile)) in self.log.steps().iter().zip(&self.meanwhile).enumerate() {
            let before = self.log.after(at);
            let shown = shown(step, &before);
            let _ = write!(text, "    {}. {shown}", at + 1);
            if *meanwhile != Meanwhile::Nothing {
                let _ = match meanwhile {
                    Meanwhile::Pages(id, from, length) => {
                        let path = path(&self.log.after(at + 1), *id);
                        write!(text, "  -- pages of {path} from {from}, {length}")
                    }
                    other => write!(text, "  -- {other:?}"),
                };
            }
            text.push('\n');
        }
        text
    }
}

fn path(tree: &Tree, wanted: NodeId) -> String {
    fn find(tree: &Tree, from: NodeId, wanted: NodeId, at: &str) -> Option<String> {
        if from == wanted {
            return Some(at.to_owned());
        }
        let mut entries = tree.nodes.get(&from)?.entries()?.iter();
        entries.find_map(|(name, child)| {
            find(
                tree,
                *child,
                wanted,
                &format!("{at}/{}", name.escape_ascii()),
            )
        })
    }
    find(tree, tree.root, wanted, "").unwrap_or_else(|| format!("new {}", wanted.0))
}

fn shown(step: &Step, tree: &Tree) -> String {
    let spot = |place: &Place| {
        let folder = path(tree, place.folder);
        format!("{folder}/{}", place.name.escape_ascii())
    };
    let size = |id: &NodeId| {
        let content = tree.nodes.get(id).and_then(Node::content);
        content.map_or(0, Content::size)
    };
    match step {
        Step::Change(Change::Enter { at, node }) => {
            format!("enter {} as {}", path(tree, *node), spot(at))
        }
        Step::Change(Change::Remove { at }) => format!("remove {}", spot(at)),
        Step::Change(Change::Rename { from, to, leaves }) => {
            let how = leaves.map_or("rename", |_| "exchange");
            format!("{how} {} to {}", spot(from), spot(to))
        }
        Step::Change(Change::Write { node, at, bytes }) => format!(
            "write {} at {at} (size {}): {}x{}",
            path(tree, *node),
            size(node),
            bytes.first().copied().unwrap_or(0),
            bytes.len()
        ),
        Step::Change(Change::Truncate { node, size: to }) => {
            format!("truncate {} from {} to {to}", path(tree, *node), size(node))
        }
        Step::Change(Change::Set {
            node,
            attribute: Attribute::Xattr(name, value),
        }) => {
            let value = value.as_deref().map_or_else(|| "none".to_owned(), runs);
            format!(
                "set {} of {} to {value}",
                name.escape_ascii(),
                path(tree, *node)
            )
        }
        Step::Change(other) => format!("{other:?}"),
        Step::Sync { node, only_data } => {
            let call = if *only_data { "fdatasync" } else { "fsync" };
            format!("{call} {}", path(tree, *node))
        }
        Step::SyncRange { node, range, .. } => {
            format!(
                "sync {} from {} to {}",
                path(tree, *node),
                range.start,
                range.end
            )
        }
        Step::SyncAll => "syncfs".to_owned(),
        Step::Acknowledged => "acknowledged".to_owned(),
    }
}
