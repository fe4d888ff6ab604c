//! The findings on a run, by what they are for a sweep.

use crate::verdict::{About, Finding, Kind};

/// The findings on a run.
pub(super) struct Found(pub(super) Vec<Finding>);

impl Found {
    pub(super) fn has(&self, kind: Kind) -> bool {
        self.0.iter().any(|finding| finding.kind == kind)
    }

    pub(super) fn texts(&self, kind: Kind) -> Vec<String> {
        self.of(kind, &|_| true)
    }

    /// On what the program must never do, whichever way it goes: the plan expects nothing else of
    /// events.
    pub(super) fn of_rules(&self, kind: Kind) -> Vec<String> {
        self.of(kind, &|about| {
            matches!(about, About::Events | About::Confined(_))
        })
    }

    /// On the processes that were alive when it was ended.
    pub(super) fn alive(&self) -> Vec<String> {
        self.of(Kind::Remark, &|about| *about == About::Processes)
    }

    fn of(&self, kind: Kind, is_about: &dyn Fn(&About) -> bool) -> Vec<String> {
        let is_it = |finding: &&Finding| finding.kind == kind && is_about(&finding.about);
        let found = self.0.iter().filter(is_it);
        found.map(|finding| finding.text.clone()).collect()
    }
}
