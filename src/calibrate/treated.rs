//! How much is shown of whom.

use super::Who;
use crate::trace::{Level, Treatment};
use std::collections::{BTreeMap, BTreeSet};

/// How somebody is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Treated {
    pub(super) level: Level,
    pub(super) hidden: BTreeSet<String>,
}

/// What all have in common, if anything.
pub(super) fn common<'b>(mut all: impl Iterator<Item = &'b Treated>) -> Option<Treated> {
    let first = all.next()?;
    all.all(|other| other == first).then(|| first.clone())
}

/// Treatments that are not the default: one for a program where all of its processes have the same, else for each process.
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
    let treatment = |(who, treated): (Who, &Treated)| Treatment {
        of: who.pattern(),
        level: treated.level,
        hidden: treated.hidden.iter().cloned().collect(),
    };
    treatments.into_iter().map(treatment).collect()
}
