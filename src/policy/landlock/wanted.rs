//! What scenarios want of rules together.

use super::super::demand::{Demand, Whose};
use super::rights::{Port, Right, Scope};
use super::ruleset::{Rule, is_beneath};
use super::touched::{Moved, Touched};
use std::collections::{BTreeMap, BTreeSet};

/// Each rule and whose need it is.
pub(super) type Wanted<'d> = BTreeMap<Rule, BTreeSet<&'d Whose>>;

/// The rules that runs need of an ABI, those among them that no call asks for by itself.
pub(super) fn wanted(demand: &Demand, abi: u32) -> Wanted<'_> {
    let mut wanted = asked(demand, abi);
    loop {
        let mut more = Vec::new();
        for (whose, touched) in each(demand) {
            more.extend(gained(&touched.moves, wanted.keys()).map(|rule| (rule, whose)));
        }
        let mut is_whole = true;
        for (rule, whose) in more {
            is_whole &= !wanted.entry(rule).or_default().insert(whose);
        }
        if is_whole {
            return folded(wanted);
        }
    }
}

/// The same without rules for what lies beneath a folder that has the right.
fn folded(wanted: Wanted<'_>) -> Wanted<'_> {
    let covering = |rule: &Rule| {
        let Rule::Path(path, right) = rule else {
            return None;
        };
        let all = wanted.keys().filter(|other| match other {
            Rule::Path(above, its) => its == right && above != path && is_beneath(path, above),
            Rule::Port(..) => false,
        });
        // The shortest path, as rules for folders between go as well.
        all.min_by_key(|other| match other {
            Rule::Path(above, _) => above.len(),
            Rule::Port(..) => 0,
        })
    };
    let mut folded = Wanted::new();
    for (rule, whose) in &wanted {
        let rule = covering(rule).unwrap_or(rule);
        folded.entry(rule.clone()).or_default().extend(whose);
    }
    folded
}

/// The rules that calls ask for.
fn asked(demand: &Demand, abi: u32) -> Wanted<'_> {
    let mut wanted = Wanted::new();
    for (whose, touched) in each(demand) {
        for rule in touched.rules(abi) {
            wanted.entry(rule).or_default().insert(whose);
        }
    }
    wanted
}

pub(super) fn each(demand: &Demand) -> impl Iterator<Item = (&Whose, &Touched)> {
    let all = demand.each();
    all.filter_map(|(whose, needs)| Some((whose, needs.touched.as_ref()?)))
}

impl Touched {
    /// The rules that its calls ask for.
    pub(super) fn rules(&self, abi: u32) -> impl Iterator<Item = Rule> {
        let rights = self.rights.iter();
        let rights = rights.filter(move |(_, right)| right.is_of(abi));
        let ports = self.ports.iter().filter(move |_| abi >= Port::FIRST);
        rights
            .map(|(path, right)| Rule::Path(path.clone(), *right))
            .chain(ports.map(|(right, port)| Rule::Port(*port, *right)))
    }
}

/// Rules without which a run's files may not go where they went, for these rules: they would have
/// rights there that they have not where they are (`no_more_access()`, security/landlock/fs.c).
pub(super) fn gained<'r>(
    moves: impl IntoIterator<Item = &'r Moved>,
    rules: impl Iterator<Item = &'r Rule> + Clone,
) -> impl Iterator<Item = Rule> {
    let at = |place: &str| -> BTreeSet<Right> {
        let rights = rules.clone().filter_map(|rule| match rule {
            Rule::Path(above, right) if is_beneath(place, above) => Some(*right),
            _ => None,
        });
        rights.collect()
    };
    let mut missing = BTreeSet::new();
    for it in moves {
        let Moved { own, from, to, .. } = it;
        let mut has = at(from);
        has.extend(own.iter().flat_map(|own| at(own)));
        let gets = at(to).into_iter();
        let gets = gets.filter(|right| it.is_folder || right.is_of_files());
        let place = own.as_ref().unwrap_or(from);
        missing.extend(
            gets.filter(|right| !has.contains(right))
                .map(|right| Rule::Path(place.clone(), right)),
        );
    }
    missing.into_iter()
}

/// What can be kept within the program, as no run reached others by it.
pub(super) fn scoped(demand: &Demand, abi: u32) -> impl Iterator<Item = Scope> {
    let all = Scope::ALL.into_iter().map(|(scope, _)| scope);
    all.filter(move |scope| {
        let reaches = |(_, touched): (&Whose, &Touched)| touched.outside.contains_key(scope);
        abi >= Scope::FIRST && !each(demand).any(reaches)
    })
}

/// What no rule of an ABI can say of what runs did, a line each.
#[must_use]
pub fn untold(demand: &Demand, abi: u32) -> Vec<String> {
    let mut lines = BTreeSet::new();
    for (whose, needs) in demand.each() {
        let scenario = &whose.scenario;
        let Some(touched) = &needs.touched else {
            lines.insert(format!(
                "{scenario}: the files that its calls reached were not followed"
            ));
            continue;
        };
        let untold = touched.untold.iter();
        lines.extend(untold.map(|why| format!("{scenario}: {why}")));
        if abi < 2 && touched.rights.iter().any(|(_, it)| *it == Right::Refer) {
            let why = "moves or links a file to another folder, which ABI 1 never allows";
            lines.insert(format!("{scenario} {why}"));
        }
    }
    lines.into_iter().collect()
}
