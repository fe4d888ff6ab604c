//! What rules refuse of a run, how they differ from what scenarios need, and who needs each.

use super::super::demand::{Demand, Whose};
use super::super::drift::Drift;
use super::super::told::Refusal;
use super::super::why::Who;
use super::rights::Scope;
use super::ruleset::{Rule, Ruleset, is_beneath};
use super::touched::Touched;
use super::wanted::{Wanted, each, gained, scoped, wanted};
use std::collections::BTreeSet;

/// What rules refuse of a run.
///
/// # Errors
/// Why that is not known.
pub fn refusals(ruleset: &Ruleset, touched: &Touched) -> Result<Vec<Refusal>, String> {
    if let Some(why) = touched.untold.first() {
        return Err(why.clone());
    }
    let refused = &touched.refused;
    let rights = touched.rights.iter().chain(&refused.rights);
    let rights = rights.map(|(path, right)| Rule::Path(path.clone(), *right));
    let ports = touched.ports.iter().chain(&refused.ports);
    let ports = ports.map(|(right, port)| Rule::Port(*port, *right));
    let missing = rights.chain(ports).filter(|rule| !ruleset.allows(rule));
    let moves = touched.moves.iter().chain(&refused.moves);
    let gained = gained(moves, ruleset.rules.keys());
    let missing: BTreeSet<Rule> = missing.chain(gained).collect();
    let refusal = |call: String, line| Refusal {
        call,
        lines: vec![line],
        by_word: false,
        is_unsure: false,
    };
    let mut all: Vec<Refusal> = missing
        .into_iter()
        .map(|rule| refusal(format!("`{rule}`"), ruleset.otherwise.line))
        .collect();
    for (scope, place) in &ruleset.scoped {
        if touched.outside.contains_key(scope) || refused.outside.contains(scope) {
            all.push(refusal(reached(*scope).to_owned(), place.line));
        }
    }
    // It may lack the right to it as well.
    for (call, scope) in &refused.calls {
        let place = match scope {
            Some(scope) => ruleset.scoped.get(scope),
            None => Some(&ruleset.otherwise),
        };
        all.extend(place.map(|place| Refusal {
            is_unsure: true,
            ..refusal(format!("`{call}`"), place.line)
        }));
    }
    Ok(all)
}

/// What a run does that a scope refuses.
fn reached(scope: Scope) -> &'static str {
    match scope {
        Scope::Abstract => "sockets `@` of others",
        Scope::Signal => "signals to others",
    }
}

/// Compares rules with what scenarios need.
#[must_use]
pub fn drift(ruleset: &Ruleset, demand: &Demand) -> Drift {
    let mut drift = Drift::default();
    let wanted = wanted(demand, ruleset.abi);
    let kernels = demand.kernels();
    for (rule, place) in &ruleset.rules {
        let needs: Vec<&Rule> = wanted.keys().filter(|need| is_within(need, rule)).collect();
        let is_allowed = |need: &&Rule| is_allowed_below(need, rule, ruleset);
        let why = match needs.iter().all(is_allowed) {
            true if needs.is_empty() => "no scenario needs it",
            true => "other rules allow what scenarios need below it",
            false => continue,
        };
        let text = format!("-{rule}  (line {}: {why})", place.line);
        drift.push(&rule.to_string(), false, None, text);
    }
    let mut missing = Wanted::new();
    for (rule, whose) in &wanted {
        if !ruleset.allows(rule) {
            missing.entry(rule.clone()).or_default().extend(whose);
        }
    }
    for (whose, touched) in each(demand) {
        for rule in gained(&touched.moves, ruleset.rules.keys()) {
            missing.entry(rule).or_default().insert(whose);
        }
    }
    for (rule, whose) in missing {
        let who = Who::of(whose.iter().copied(), &kernels);
        let text = format!("+{rule}  (needed by {who})");
        drift.push(&rule.to_string(), true, None, text);
    }
    let could: BTreeSet<Scope> = scoped(demand, ruleset.abi).collect();
    for (scope, _) in Scope::ALL {
        let what = reached(scope);
        match (could.contains(&scope), ruleset.scoped.contains_key(&scope)) {
            (true, false) if ruleset.abi >= Scope::FIRST => {
                let text = format!("-{what}  (no scenario reaches them)");
                drift.push(what, false, None, text);
            }
            (false, true) => {
                let who = Who::of(outside(demand, scope).iter().copied(), &kernels);
                let text = format!("+{what}  (needed by {who})");
                drift.push(what, true, None, text);
            }
            _ => {}
        }
    }
    drift.sorted()
}

fn outside(demand: &Demand, scope: Scope) -> BTreeSet<&Whose> {
    let all = each(demand).filter(|(_, touched)| touched.outside.contains_key(&scope));
    all.map(|(whose, _)| whose).collect()
}

/// Whether a rule allows what another one asks for.
fn is_within(need: &Rule, rule: &Rule) -> bool {
    match (need, rule) {
        (Rule::Path(path, right), Rule::Path(above, its)) => {
            right == its && is_beneath(path, above)
        }
        (need, rule) => need == rule,
    }
}

/// Whether one of the rules about what lies below this one allows it as well.
fn is_allowed_below(need: &Rule, rule: &Rule, ruleset: &Ruleset) -> bool {
    let mut others = ruleset.rules.keys().filter(|other| *other != rule);
    others.any(|other| is_within(other, rule) && is_within(need, other))
}

/// The text of a file beside the rules: for each the scenarios that need it.
#[must_use]
pub fn why(ruleset: &Ruleset, demand: &Demand) -> String {
    let mut text = String::new();
    let kernels = demand.kernels();
    for (rule, whose) in wanted(demand, ruleset.abi) {
        let who = Who::of(whose.iter().copied(), &kernels);
        text += &format!("{rule}:\n{}", who.lines("  "));
    }
    for (scope, _) in Scope::ALL {
        let whose = outside(demand, scope);
        if whose.is_empty() || ruleset.abi < Scope::FIRST {
            continue;
        }
        let who = Who::of(whose.iter().copied(), &kernels);
        text += &format!("{}:\n{}", reached(scope), who.lines("  "));
        for (whose, touched) in each(demand) {
            if let Some(why) = touched.outside.get(&scope) {
                text += &format!("  {}: {why}\n", whose.scenario);
            }
        }
    }
    text
}
