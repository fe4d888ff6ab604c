//! The level of detail at which each process is shown.

use super::Who;
use crate::scenario::{LevelSpec, SnapshotLevel};
use crate::trace::{Level, Treatment};
use std::collections::BTreeMap;

/// How a process is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Treated {
    pub(super) level: Level,
    /// Calls shown at a lower level than the rest, or not at all (`None`).
    pub(super) others: BTreeMap<String, Option<Level>>,
}

impl Treated {
    /// Returns it in the form of a view's `levels`.
    pub(super) fn treatment(&self, who: &Who) -> Treatment {
        let others = self.others.iter();
        Treatment {
            of: who.pattern(),
            level: self.level,
            others: others.map(|(name, how)| (name.clone(), *how)).collect(),
        }
    }

    /// Shows calls of a name at no stricter level than `how`; returns whether that is lower than
    /// before.
    pub(super) fn loosen(&mut self, name: &str, how: Level) -> bool {
        let now = self.others.get(name).copied().unwrap_or(Some(self.level));
        let is_less = now.is_some_and(|now| now < how);
        if is_less {
            self.others.insert(name.to_owned(), Some(how));
        }
        is_less
    }

    /// Returns the treatment that shows no more than either of the two.
    pub(super) fn and(&self, other: &Self) -> Self {
        let level = self.level.max(other.level);
        let of = |treated: &Self, name: &str| match treated.others.get(name) {
            Some(how) => how.map(|how| how.max(level)),
            None => Some(level),
        };
        let both = self.others.keys().chain(other.others.keys());
        let others = both.map(|name| {
            let how = of(self, name).zip(of(other, name)).map(|(a, b)| a.max(b));
            (name.clone(), how)
        });
        Self {
            level,
            others: others.filter(|(_, how)| *how != Some(level)).collect(),
        }
    }
}

/// Returns it in the form of a scenario's `levels`.
pub(super) fn entry(treatment: &Treatment) -> (String, LevelSpec) {
    let names = |wanted: Option<Level>| {
        let others = treatment.others.iter();
        let meant = others.filter(|(_, how)| **how == wanted);
        let mut names: Vec<String> = meant.map(|(name, _)| name.clone()).collect();
        names.sort_unstable();
        names
    };
    let spec = LevelSpec {
        level: level_of(treatment.level),
        counts: names(Some(Level::Counts)),
        set: names(Some(Level::Set)),
        hide: names(None),
    };
    (treatment.of.clone(), spec)
}

pub(super) fn level_of(level: Level) -> SnapshotLevel {
    match level {
        Level::Sequence => SnapshotLevel::Sequence,
        Level::Counts => SnapshotLevel::Counts,
        Level::Set => SnapshotLevel::Set,
    }
}

/// Returns the treatment that all of them have, if they do.
pub(super) fn common<'b>(mut all: impl Iterator<Item = &'b Treated>) -> Option<Treated> {
    let first = all.next()?;
    all.all(|other| other == first).then(|| first.clone())
}

/// Returns treatments that are not the default: one for a program if all its processes have the
/// same, else one for each process.
pub(super) fn by_program(everybody: &BTreeMap<Who, Treated>) -> Vec<Treatment> {
    let mut treatments = BTreeMap::new();
    for (who, treated) in everybody {
        let of_program = everybody
            .iter()
            .filter(|(other, _)| other.program == who.program);
        let who = match common(of_program.map(|(_, treated)| treated)) {
            Some(_) => Who {
                process: None,
                program: who.program.clone(),
            },
            None => who.clone(),
        };
        if *treated != Treated::default() {
            treatments.insert(who, treated);
        }
    }
    let treatments = treatments.into_iter();
    treatments
        .map(|(who, treated)| treated.treatment(&who))
        .collect()
}
