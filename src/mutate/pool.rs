//! The paths, files and tasks of a run, which mutants exchange for each other.

use super::Thread;
use crate::trace::{Deed, Part, StableName, Value};
use std::collections::HashSet;

/// Every path, open file and task of a run, each once, in the order of the text.
#[derive(Debug, Default)]
pub(super) struct Pool {
    paths: Vec<(String, Value)>,
    files: Vec<(String, Value)>,
    tasks: Vec<StableName>,
}

/// Returns the kind of a value: values of the same kind may be exchanged.
fn kind(value: &Value) -> Option<Kind> {
    match value {
        Value::Path { .. } => Some(Kind::Path),
        // Neither `AT_FDCWD` nor a closed descriptor.
        Value::File {
            description: Some(_),
            ..
        } => Some(Kind::File),
        _ => None,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Path,
    File,
}

impl Pool {
    pub(super) fn of(threads: &[Thread]) -> Self {
        let mut pool = Self {
            tasks: threads.iter().map(|thread| thread.task).collect(),
            ..Self::default()
        };
        let mut seen = HashSet::new();
        for part in threads.iter().flat_map(|it| &it.deeds).flat_map(parts) {
            let Some(kind) = kind(&part.value) else {
                continue;
            };
            if seen.insert((kind == Kind::Path, part.text.as_str())) {
                pool.all_mut(kind)
                    .push((part.text.clone(), part.value.clone()));
            }
        }
        pool
    }

    /// Returns the next value of this kind with another text, after the last one the first.
    pub(super) fn another(&self, kind: Kind, text: &str) -> Option<&(String, Value)> {
        let all = match kind {
            Kind::Path => &self.paths,
            Kind::File => &self.files,
        };
        let here = all.iter().position(|(known, _)| known == text);
        let (before, after) = all.split_at(here.unwrap_or_default());
        let mut others = after.iter().chain(before);
        others.find(|(known, _)| known != text)
    }

    /// Returns the next task, after the last one the first.
    pub(super) fn another_task(&self, task: StableName) -> Option<StableName> {
        let next = self.tasks.iter().find(|known| **known > task);
        let next = next.or(self.tasks.first()).copied();
        next.filter(|next| *next != task)
    }

    fn all_mut(&mut self, kind: Kind) -> &mut Vec<(String, Value)> {
        match kind {
            Kind::Path => &mut self.paths,
            Kind::File => &mut self.files,
        }
    }
}

/// Returns its fields, and then its result.
pub(super) fn parts(deed: &Deed) -> impl Iterator<Item = &Part> {
    deed.fields.iter().chain(&deed.returns)
}
