//! Matches patterns with the deeds of a run: whether they occur, with which captures, and what was
//! most similar if they do not.
//!
//! Pure. The test of a field has three answers, as a value that was not read may be the expected
//! one: such a run is not judged.

mod answer;
mod between;
mod binder;
mod bindings;
mod blame;
mod candidates;
mod closed;
mod confined;
mod drawn;
mod elsewhere;
mod explain;
mod families;
mod field;
mod frames;
mod gaps;
mod hidden;
mod judge;
mod marks;
mod named;
mod order;
mod pairs;
mod paths;
mod search;
mod shape;
mod spans;
mod tally;
#[cfg(test)]
pub(crate) mod tests;
mod unify;
mod words;

pub use bindings::Bindings;
pub use blame::{Blamed, Blaming, Tests, needed as blaming_calls};
pub use candidates::{is_meant, may_be};
pub use confined::{
    Confinement, Deeds, Done, Handed, HandedTo, Judged, PROCESSES, Realm, Statement, Unsure,
    changed_among, confine, needed as confined_calls, no_names, of_test, stated as stated_calls,
    statement,
};
pub use drawn::{any_port, is_drawn, shape, varying, varying_behind};
pub use families::families;
pub(crate) use field::numeral;
pub use frames::{functions_of, is_function};
pub use judge::{ByTest, Finding, Judgement, MOST_TRIES, Said, Told, judge};
pub use marks::{MARKING, Mark, Unmarked, may_mark};
pub use order::Scene;
pub use pairs::Pairs;
pub(crate) use paths::climbs;
pub use spans::{SPAN, SharedBy, SharedField, SpanRule, add_spans, forget_begins, remove_spans};
pub use tally::tally;

use crate::scenario::{Expectations, KeyPath, Role, Test};
use std::collections::BTreeSet;
use syscall_model::has_all_of;

/// The expectations for the events of a run, or of one of its sections; every name in it exists and
/// is recorded.
pub type Expected = Expectations<Matcher>;

impl Expected {
    /// Whether it needs more than the number of deeds of each name.
    #[must_use]
    pub fn takes_deeds(&self) -> bool {
        // Only the deed tells which operation a multiplexing call made.
        let is_one_of_many = |matcher: &Matcher| {
            let mut names = matcher.names.iter();
            names.any(|name| !has_all_of(name, |name| matcher.names.contains(name)))
        };
        self.roles().into_iter().any(|(role, matcher)| match role {
            Role::Count(_) => !matcher.fields.is_empty() || is_one_of_many(matcher),
            _ => true,
        })
    }

    /// Returns the matchers of what must not come unseen: of `never`, of each `count` with a
    /// maximum, and the ends of the stretches of `between`.
    #[must_use]
    pub fn bounds(&self) -> Vec<&Matcher> {
        let is_bound = |role| match role {
            Role::Never | Role::First | Role::Then => true,
            Role::Count(times) => times.max.is_some(),
            Role::Step | Role::Next | Role::Only | Role::ThereIs => false,
        };
        let roles = self.roles().into_iter();
        let bounds = roles.filter(|(role, _)| is_bound(*role));
        bounds.map(|(_, matcher)| matcher).collect()
    }
}

/// The description of a single deed.
#[derive(Clone, Debug)]
pub struct Matcher {
    /// As the author wrote it: `rename*`.
    pub word: String,
    /// The names that it stands for, all of them recorded.
    pub names: BTreeSet<String>,
    /// Tests of its fields, by the names that [`crate::trace::Deed::part`] knows.
    pub fields: Vec<(String, Test)>,
    /// Whether every name of a file must pass, and not just one: so in `only`.
    pub is_closed: bool,
    /// Where it stands in the file.
    pub at: KeyPath,
    /// The line there, from 1.
    pub line: usize,
}
