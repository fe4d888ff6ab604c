//! Which key or element of a scenario is meant.

use std::fmt;

/// The way from the top of a scenario to one of its values, or to the key that names the value.
///
/// Keys are kept apart from one another, so a key may hold dots and colons.
///
/// ```
/// use trace_harness::scenario::KeyPath;
/// let path = KeyPath::root().key("trace").key("events").index(0).key("filter");
/// assert_eq!(path.to_string(), "trace.events[0].filter");
/// let count = KeyPath::root().key("expect").key("count").key("sched:sched_switch").key_itself();
/// assert_eq!(count.to_string(), r#"expect.count["sched:sched_switch"]"#);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyPath {
    segments: Vec<Segment>,
    part: Part,
}

/// One step down: into a mapping or into a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    Key(String),
    Index(usize),
}

/// Which half of the last mapping entry is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Part {
    #[default]
    Value,
    Key,
}

impl KeyPath {
    /// The scenario as a whole.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// The value that stands under `name` in the mapping meant so far.
    #[must_use]
    pub fn key(mut self, name: impl Into<String>) -> Self {
        self.segments.push(Segment::Key(name.into()));
        self.part = Part::Value;
        self
    }

    /// The element number `index`, counted from 0, of the list meant so far.
    #[must_use]
    pub fn index(mut self, index: usize) -> Self {
        self.segments.push(Segment::Index(index));
        self.part = Part::Value;
        self
    }

    /// The value or key that `rest` leads to from the value meant so far.
    pub(super) fn join(mut self, rest: Self) -> Self {
        self.segments.extend(rest.segments);
        self.part = rest.part;
        self
    }

    /// The last key itself instead of its value: where a complaint about an unknown name belongs.
    #[must_use]
    pub fn key_itself(mut self) -> Self {
        self.part = Part::Key;
        self
    }

    /// The mapping or list that holds what is meant, and the last key, if the last step was one.
    pub(super) fn split_last_key(&self) -> Option<(Self, &str)> {
        match self.segments.split_last() {
            Some((Segment::Key(name), rest)) => Some((
                Self {
                    segments: rest.to_vec(),
                    part: Part::Value,
                },
                name,
            )),
            _ => None,
        }
    }

    /// The path in backticks, or the words that stand for the whole file.
    pub(super) fn in_words(&self) -> String {
        if self.segments.is_empty() {
            "the scenario".to_owned()
        } else {
            format!("`{self}`")
        }
    }

    pub(super) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    pub(super) fn part(&self) -> Part {
        self.part
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, segment) in self.segments.iter().enumerate() {
            match segment {
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Key(name) if !is_plain(name) => write!(f, "[{name:?}]")?,
                Segment::Key(name) if depth == 0 => f.write_str(name)?,
                Segment::Key(name) => write!(f, ".{name}")?,
            }
        }
        Ok(())
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_could_be_mistaken_for_steps_are_quoted() {
        let dotted = KeyPath::root().key("workload").key("files").key("a.b[0]");
        assert_eq!(dotted.to_string(), r#"workload.files["a.b[0]"]"#);
        let steps = KeyPath::root()
            .key("workload")
            .key("files")
            .key("a")
            .key("b")
            .index(0);
        assert_eq!(steps.to_string(), "workload.files.a.b[0]");
        assert_ne!(dotted, steps);
    }

    #[test]
    fn the_root_has_words_but_no_text() {
        assert_eq!(KeyPath::root().to_string(), "");
        assert_eq!(KeyPath::root().in_words(), "the scenario");
    }
}
