//! Plans the baseline: a second run to compare with.

use super::expected::Resolver;
use super::{Counters, EventsPlan, Facts, Marks, Plan, PlanError, owners};
use crate::matching::{Expected, Matcher};
use crate::scenario::{CountRange, Difference, Expect, NumberOf, Scenario};
use std::collections::BTreeMap;

/// The run of another workload, and how many more deeds of some kind there must be than in it.
#[derive(Clone, Debug)]
pub struct Baseline {
    /// How it is run; it must end like a workload without expectations.
    pub plan: Box<Plan>,
    /// What is compared.
    pub delta: Vec<Delta>,
}

/// How many more of these deeds there must be; fewer if below zero.
pub type Delta = NumberOf<Matcher, Difference>;

/// Resolves what is compared.
pub(super) fn delta(scenario: &Scenario, resolver: &Resolver<'_>) -> Result<Vec<Delta>, PlanError> {
    let specs = scenario.expect.delta.iter();
    let one = |NumberOf { step, times }: &NumberOf<_, _>| {
        let (step, times) = (resolver.compared(step)?, *times);
        Ok(NumberOf { step, times })
    };
    specs.map(one).collect()
}

/// Makes the same plan for the other workload.
pub(super) fn baseline(
    scenario: &Scenario,
    facts: &Facts<'_>,
    plan: &Plan,
    delta: Vec<Delta>,
) -> Result<Option<Baseline>, PlanError> {
    let Some(workload) = &scenario.baseline else {
        return Ok(None);
    };
    // The deeds are only counted, so any number will do.
    let times = CountRange { min: 0, max: None };
    let recorded = delta.iter().filter(|delta| {
        let mut names = delta.step.names.iter();
        !names.any(|name| plan.counters.names.contains(name))
    });
    let count = recorded.map(|delta| {
        let step = delta.step.clone();
        NumberOf { step, times }
    });
    let plan = Plan {
        workload: workload.clone(),
        owners: owners("baseline", workload, scenario, facts)?,
        expect: Expect::default(),
        counters: Counters {
            expect: Vec::new(),
            ..plan.counters.clone()
        },
        expected: Expected {
            count: count.collect(),
            ..Expected::default()
        },
        sections: BTreeMap::new(),
        events: EventsPlan {
            every: false,
            ..plan.events.clone()
        },
        marks: Marks {
            sections: BTreeMap::new(),
            shown: None,
            ..plan.marks.clone()
        },
        view: None,
        expect_failure: None,
        faults: Vec::new(),
        crash: None,
        baseline: None,
        ..plan.clone()
    };
    let plan = Box::new(plan);
    Ok(Some(Baseline { plan, delta }))
}
