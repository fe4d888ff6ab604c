//! The values of captures while a search goes on.

use super::answer::Answer;
use super::field::Captures;
use super::shape::LeafId;
use super::unify::unify;
use crate::trace::Part;

/// The value of a capture.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    pub(super) part: Part,
    /// The leaf that bound it; `None` if it was bound outside.
    pub(super) by: Option<LeafId>,
}

/// Binds captures that are free.
pub(super) struct Binder<'b> {
    pub(super) names: &'b [&'b str],
    pub(super) bound: &'b mut [Option<Bound>],
    pub(super) trail: &'b mut Vec<usize>,
    pub(super) by: Option<LeafId>,
}

impl Captures for Binder<'_> {
    fn meet(&mut self, name: &str, part: &Part) -> Answer {
        let Some(number) = self.names.iter().position(|known| *known == name) else {
            return Answer::Unknown;
        };
        match self.bound.get_mut(number) {
            Some(Some(bound)) => unify(&bound.part, part),
            Some(free) => {
                // A cut value is not even known to equal itself.
                let answer = unify(part, part);
                if answer != Answer::No {
                    *free = Some(Bound {
                        part: part.clone(),
                        by: self.by,
                    });
                    self.trail.push(number);
                }
                answer
            }
            None => Answer::Unknown,
        }
    }

    fn is_free(&self, name: &str) -> bool {
        let number = self.names.iter().position(|known| *known == name);
        let bound = number.and_then(|number| self.bound.get(number));
        bound.is_some_and(Option::is_none)
    }
}
