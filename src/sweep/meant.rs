//! Which calls the faults of a site are meant for: by the files that they are about.

use super::errors::is_open;
use super::kind::Kind;
use super::site::{Place, place};
use crate::matching::{Matcher, climbs, is_meant};
use crate::plan::may_be_meant_otherwise;
use crate::scenario::{Literal, StepSpec, Test, event};
use crate::trace::{Deed, Normalised, Reached, Value};
use perf_records::units::Nanos;
use std::collections::{BTreeSet, HashMap};
use syscall_model::files::FileKind;

/// The calls that a fault is meant for, apart from their number.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Matching {
    /// The call's name.
    pub call: String,
    /// The files that it is about: each field, and what it must be.
    pub fields: Vec<(String, String)>,
    /// Its numbers, where nothing else tells it from other calls of this name: a length.
    pub numbers: Vec<(String, i128)>,
}

impl Matching {
    /// All calls of this name.
    #[must_use]
    pub fn of_name(call: &str) -> Self {
        Self {
            call: call.to_owned(),
            fields: Vec::new(),
            numbers: Vec::new(),
        }
    }

    /// All calls of this name that a program makes.
    #[must_use]
    pub fn of_program(call: &str, program: &str) -> Self {
        Self {
            call: call.to_owned(),
            fields: vec![("program".to_owned(), program.to_owned())],
            numbers: Vec::new(),
        }
    }

    /// The calls of this name that are about the same files, as far as a scenario can name these.
    #[must_use]
    pub fn of(deed: &Deed) -> Self {
        let is_path =
            |value: &Value| matches!(value, Value::Path { given, .. } if !given.is_empty());
        let has_path = deed.fields.iter().any(|part| is_path(&part.value));
        let mut fields = Vec::new();
        for part in &deed.fields {
            let file = match &part.value {
                // The folder of a path is in the path.
                Value::File { .. } if has_path => continue,
                value => file_of(value),
            };
            if let Some(file) = file {
                fields.push((part.alias.unwrap_or(&part.name).to_owned(), file));
            }
        }
        Self {
            call: deed.name.as_ref().to_owned(),
            fields,
            numbers: Vec::new(),
        }
    }

    /// The same, of one program.
    pub(super) fn by(&self, program: &str) -> Self {
        let mut by = self.clone();
        by.fields.push(("program".to_owned(), program.to_owned()));
        by
    }

    /// The same with these numbers; `None` where files tell the call.
    pub(super) fn with(&self, numbers: &[(String, i128)]) -> Option<Self> {
        (self.fields.is_empty() && !numbers.is_empty()).then(|| Self {
            numbers: numbers.to_vec(),
            ..self.clone()
        })
    }

    /// Whether it is about no files, or about some that have no names of their own: several
    /// processes may make such calls in an order that is another in each run.
    pub(super) fn is_of_kinds(&self) -> bool {
        let is_kind = |(_, file): &(String, String)| {
            let kind = Kind::of_name(file.as_bytes());
            matches!(kind, Some(Kind::Pipe | Kind::Socket | Kind::Object))
        };
        self.fields.iter().all(is_kind)
    }

    /// The same as a scenario says it.
    #[must_use]
    pub fn step(&self) -> StepSpec {
        let test = |text: &String| Test::Is(Literal::Text(text.clone()));
        let fields = self.fields.iter();
        let fields = fields.map(|(word, text)| (word.clone(), test(text)));
        let number = |(word, it): &(String, i128)| (word.clone(), Test::Is(Literal::Number(*it)));
        let fields = fields.chain(self.numbers.iter().map(number));
        event(&self.call, fields.collect())
    }

    /// The number of each call that it is meant for, from 1, in the order in which faults count
    /// them; `None` where the trace does not tell of a call whether it is one.
    #[must_use]
    pub fn numbers(&self, matcher: &Matcher, held: &[&Deed]) -> Option<HashMap<Place, u64>> {
        let mut numbers = HashMap::new();
        let own = held.iter().filter(|deed| *deed.name == *self.call);
        // The workload's own start is made by the harness.
        for deed in own.filter(|deed| deed.clock.0 != Nanos(0)) {
            if is_meant(deed, matcher)? {
                let next = numbers.len() as u64 + 1;
                numbers.insert(place(deed), next);
            }
        }
        Some(numbers)
    }
}

/// The numbers among the arguments of a call, as a scenario names them.
pub(super) fn numbers_of(deed: &Deed) -> Vec<(String, i128)> {
    let numbers = deed.fields.iter().filter_map(|part| match part.value {
        Value::Number(number) => Some((part.alias.unwrap_or(&part.name).to_owned(), number)),
        _ => None,
    });
    numbers.collect()
}

/// The names of the files that a call opened, or would have, as a scenario names them.
pub(super) fn opened(deed: &Deed) -> Vec<String> {
    if !is_open(&deed.name) {
        return Vec::new();
    }
    let returned = deed.returns.as_ref().and_then(|part| file_of(&part.value));
    let named = Matching::of(deed).fields.into_iter();
    let named = named.map(|(_, file)| file);
    returned.into_iter().chain(named).collect()
}

/// Returns those names of the files that a run opened of which this holds.
#[must_use]
pub fn opened_where(trace: &Normalised, is_it: &dyn Fn(&str) -> bool) -> BTreeSet<String> {
    let deeds = trace.blocks.iter().flat_map(|block| &block.deeds);
    let names: BTreeSet<String> = deeds.flat_map(opened).collect();
    names.into_iter().filter(|name| is_it(name)).collect()
}

/// The first of a file's names that a scenario may have: it names a file by where its path leads,
/// and a file that was opened by a path with `..` has that for a name.
fn led_to(names: &[Vec<u8>]) -> Option<&Vec<u8>> {
    names.iter().find(|name| !climbs(name))
}

/// The file of a value as a scenario names it; `None` where it has no name there.
fn file_of(value: &Value) -> Option<String> {
    let path = match value {
        Value::Path {
            given,
            absolute,
            reached,
        } => match (absolute, reached) {
            _ if given.is_empty() => return None,
            (Some(absolute), _) if !climbs(absolute) => absolute,
            _ if (given.starts_with(b"/") || given.starts_with(b"$DIR")) && !climbs(given) => given,
            (_, Reached::Known { names, .. }) if !names.is_empty() => led_to(names)?,
            _ if climbs(given) => return None,
            _ => given,
        },
        Value::File { name, reached, .. } => match reached {
            Reached::Known { names, .. } => led_to(names)?,
            _ if Kind::of_name(name).is_some() && !climbs(name) => name,
            _ => return None,
        },
        _ => return None,
    };
    let path = String::from_utf8(path.clone()).ok()?;
    let is_relative = !path.starts_with('/') && !path.starts_with("$DIR");
    let inner = match path.strip_prefix("$DIR/") {
        Some(inner) if !inner.is_empty() => inner,
        None if is_relative && matches!(value, Value::Path { .. }) => &path,
        _ => return Some(path),
    };
    let is_word = FileKind::is_word(inner.as_bytes());
    Some(match is_word || may_be_meant_otherwise(inner) {
        true => format!("./{inner}"),
        false => inner.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, reached: Reached) -> Option<String> {
        file_of(&Value::File {
            number: 3,
            description: None,
            name: name.as_bytes().to_vec(),
            reached,
        })
    }

    fn named(names: &[&str]) -> Option<String> {
        let names = names.iter().map(|name| name.as_bytes().to_vec()).collect();
        let is_led = false;
        file("/x", Reached::Known { names, is_led })
    }

    #[test]
    fn a_file_that_was_opened_from_the_folder_above_is_named_by_where_it_is_or_not_at_all() {
        assert_eq!(named(&["/usr/lib/x"]).as_deref(), Some("/usr/lib/x"));
        assert_eq!(named(&["/a/../b", "/b"]).as_deref(), Some("/b"));
        assert_eq!(named(&["/a/../b"]), None);
        assert_eq!(named(&[]), None);
        assert_eq!(file("/a/../b", Reached::Untold), None);
        assert_eq!(file("/b", Reached::Untold).as_deref(), Some("/b"));
    }
}
