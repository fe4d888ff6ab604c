//! What no type of a field tells: keys that YAML reads as numbers, and values that are not there.

use std::ops::Range;

use serde_yaml::Value;

use super::diagnostic::Source;
use super::places::{NodeId, Places};

/// The first of each kind of defect in a file.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// A key that is a number, a truth value or nothing.
    pub(super) odd_key: Option<Range<usize>>,
    /// A key or an element without a value, which serde would take for an absent key; and its name
    /// in a message.
    pub(super) no_value: Option<(String, Range<usize>)>,
}

/// Walks the values and their places side by side.
pub(super) fn survey(source: &Source, places: &Places, value: &Value) -> Survey {
    let mut walk = Walk {
        source,
        places,
        found: Survey::default(),
    };
    walk.visit(value, places.root(), None);
    walk.found
}

struct Walk<'a> {
    source: &'a Source,
    places: &'a Places,
    found: Survey,
}

impl Walk<'_> {
    /// Recurses no deeper than the depth that the places were built with.
    fn visit(&mut self, value: &Value, node: NodeId, key: Option<(&str, Range<usize>)>) {
        match value {
            Value::Null if self.found.no_value.is_none() => {
                let (name, key) = key.unzip();
                let name = name.map_or("an element of a list".to_owned(), |name| {
                    format!("`{}`", name.escape_debug())
                });
                let at = self.places.value_range(self.source, node, key);
                self.found.no_value = Some((name, at));
            }
            Value::Sequence(items) => {
                for (index, item) in items.iter().enumerate() {
                    if let Some(node) = self.places.element(node, index) {
                        self.visit(item, node, None);
                    }
                }
            }
            Value::Mapping(entries) => {
                for (index, (name, value)) in entries.iter().enumerate() {
                    let Some((at, node)) = self.places.entry(node, index) else {
                        continue;
                    };
                    match name.as_str() {
                        Some(name) => self.visit(value, node, Some((name, at))),
                        None if self.found.odd_key.is_none() => self.found.odd_key = Some(at),
                        None => {}
                    }
                }
            }
            _ => {}
        }
    }
}
