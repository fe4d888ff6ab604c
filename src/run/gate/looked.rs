//! What was seen of calls while they were held, to say where the trace sees another file.

use crate::trace::{Deed, Part, Reached, Value};
use crate::verdict::Looked;
use perf_live::gate::Held;
use perf_records::units::{Nanos, shown};

/// The calls that are kept, so that a trace without end does not fill the memory.
const MOST: usize = 10_000;

/// The calls that were looked at.
#[derive(Debug, Default)]
pub(super) struct Looks(Vec<Looked>);

impl Looks {
    /// Notes a call, and the faults that counted it.
    pub(super) fn note(&mut self, call: &Held, name: &str, deed: &Deed, counted: Vec<usize>) {
        let files: Vec<_> = deed.fields.iter().filter_map(file).collect();
        if self.0.len() < MOST && !files.is_empty() {
            self.0.push(Looked {
                time: call.time,
                call: name.into(),
                files,
                counted,
            });
        }
    }

    pub(super) fn into_all(self) -> Vec<Looked> {
        self.0
    }
}

/// The call that was held as this deed, which its thread cannot have made before `earliest`.
pub(super) fn of<'a>(all: &'a [Looked], deed: &Deed, earliest: Nanos) -> Option<&'a Looked> {
    let files: Vec<_> = deed.fields.iter().filter_map(file).collect();
    let is_it = |it: &&Looked| {
        let times = earliest..=deed.clock.0;
        let mut pairs = it.files.iter().zip(&files);
        let is_same = pairs.all(|(one, other)| (&one.0, &one.1) == (&other.0, &other.1));
        *it.call == *deed.name && times.contains(&it.time) && is_same
    };
    all.iter().filter(is_it).max_by_key(|it| it.time)
}

/// What both sides call the files of a call, where they differ.
pub(super) fn difference(deed: &Deed, looked: Option<&Looked>) -> String {
    let line = deed.line();
    let Some(looked) = looked else {
        return format!("{line} was not looked at while it was held");
    };
    let mut said = Vec::new();
    for part in &deed.fields {
        let Some((field, _, traced)) = file(part) else {
            continue;
        };
        let held = looked.files.iter().find(|(word, ..)| *word == field);
        let held = held.map_or("not known", |(.., held)| held);
        if held != traced {
            said.push(format!(
                "its `{field}` is {traced} by the trace, and was {held} while it was held"
            ));
        }
    }
    match said.is_empty() {
        true => line,
        false => format!("{line}: {}", said.join("; ")),
    }
}

/// A field that is about a file: how the call names it, and what it is called.
fn file(part: &Part) -> Option<(Box<str>, Vec<u8>, String)> {
    let (written, spelled, reached) = match &part.value {
        Value::Path {
            given,
            absolute,
            reached,
        } => {
            let spelled = absolute.as_ref().unwrap_or(given);
            (given.clone(), Some(spelled), reached)
        }
        Value::File {
            number,
            name,
            reached,
            ..
        } => (number.to_string().into_bytes(), Some(name), reached),
        Value::UnknownFile { number, .. } => {
            let unknown = "not known".to_owned();
            return Some((
                part.name.as_ref().into(),
                number.to_string().into(),
                unknown,
            ));
        }
        _ => return None,
    };
    let mut names: Vec<&[u8]> = spelled.map(Vec::as_slice).into_iter().collect();
    let mut unknown = None;
    match reached {
        Reached::Known { names: more, .. } => names.extend(more.iter().map(Vec::as_slice)),
        Reached::Unknown(why) => unknown = Some(why),
        Reached::Untold | Reached::Nowhere => {}
    }
    let mut told: Vec<String> = Vec::new();
    for name in names {
        let name = format!("`{}`", shown(&String::from_utf8_lossy(name)));
        if !told.contains(&name) {
            told.push(name);
        }
    }
    let told = told.join(", ");
    let told = match unknown {
        Some(why) => format!("{told} and not known: {why}"),
        None => told,
    };
    Some((part.name.as_ref().into(), written, told))
}
