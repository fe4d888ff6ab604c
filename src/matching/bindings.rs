//! The values of captures.

use super::answer::Answer;
use super::field::Captures;
use super::unify::unify;
use crate::trace::Part;
use std::slice::SliceIndex;

/// The values of captures, and the step that bound each: sections see those of the whole run.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    all: Vec<Bound>,
    /// Captures without a value, as the steps that bind them did not occur.
    missing: Vec<String>,
}

/// The value of a capture.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    pub(super) name: String,
    pub(super) part: Part,
    /// The step that bound it: "step 1 of `sequence`".
    pub(super) by: String,
}

impl Bindings {
    pub(super) fn get(&self, name: &str) -> Option<&Bound> {
        self.all.iter().find(|bound| bound.name == name)
    }

    /// Marks captures that are still free as missing.
    pub(super) fn miss(&mut self, names: &[&str]) {
        let free = names.iter().filter(|name| self.get(name).is_none());
        let free: Vec<String> = free.map(|name| (*name).to_owned()).collect();
        self.missing.extend(free);
    }

    /// Whether one of these captures is missing.
    pub(super) fn misses(&self, names: &[&str]) -> bool {
        names
            .iter()
            .any(|name| self.missing.iter().any(|missing| missing == name))
    }

    /// Binds a capture that was free.
    pub(super) fn bind(&mut self, name: &str, part: &Part, by: String) {
        if self.get(name).is_none() {
            self.all.push(Bound {
                name: name.to_owned(),
                part: part.clone(),
                by,
            });
        }
    }
}

/// The captures of a single matcher, tried on one deed: a bound capture keeps its value, a free one
/// is bound for this deed only.
#[derive(Clone)]
pub(super) struct Within<'b> {
    bindings: &'b Bindings,
    own: Vec<(String, Part)>,
}

impl<'b> Within<'b> {
    pub(super) fn new(bindings: &'b Bindings) -> Self {
        Self {
            bindings,
            own: Vec::new(),
        }
    }

    /// How many captures it has bound.
    pub(super) fn bound(&self) -> usize {
        self.own.len()
    }

    /// Takes back all but the first of what it has bound.
    pub(super) fn undo(&mut self, bound: usize) {
        self.own.truncate(bound);
    }

    /// What it has bound, in that order.
    pub(super) fn own(&self) -> &[(String, Part)] {
        &self.own
    }

    /// Copies some of what it has bound.
    pub(super) fn bind(
        &self,
        which: impl SliceIndex<[(String, Part)], Output = [(String, Part)]>,
        bindings: &mut Bindings,
        by: &str,
    ) {
        for (name, part) in self.own.get(which).unwrap_or_default() {
            bindings.bind(name, part, by.to_owned());
        }
    }
}

impl Captures for Within<'_> {
    fn meet(&mut self, name: &str, part: &Part) -> Answer {
        if let Some(bound) = self.bindings.get(name) {
            return unify(&bound.part, part);
        }
        if let Some((_, own)) = self.own.iter().find(|(own, _)| own == name) {
            return unify(own, part);
        }
        self.own.push((name.to_owned(), part.clone()));
        unify(part, part)
    }

    fn is_free(&self, name: &str) -> bool {
        self.bindings.get(name).is_none() && !self.own.iter().any(|(own, _)| own == name)
    }
}
