//! Refuses limits that make no sense, or that this machine cannot set.

use super::{Facts, PlanError, invalid};
use crate::scenario::{KeyPath, SandboxSpec, Scenario};
use perf_live::units::{Limit, Limits};

/// Complains of the first limit that cannot be set, or that is expected to be reached and is not
/// set.
pub(super) fn check(scenario: &Scenario, facts: &Facts<'_>) -> Result<(), PlanError> {
    let limits = match &scenario.sandbox {
        SandboxSpec::None => Limits::NONE,
        SandboxSpec::Own(world) => world.limits,
    };
    let at = |limit: Limit| {
        let path = KeyPath::root().key("sandbox").key("limits");
        path.key(limit.word())
    };
    let refuse = |path: &KeyPath, message: String, help: Option<String>| {
        Err(invalid(scenario.complaint(path, message, help)))
    };
    if limits
        .memory
        .is_some_and(|bytes| bytes < Limits::LEAST_MEMORY)
    {
        let message = "no program can be started in so little memory".to_owned();
        let help = format!("{} bytes is the least", Limits::LEAST_MEMORY);
        return refuse(&at(Limit::Memory), message, Some(help));
    }
    if let Some((limit, why)) = (facts.cannot_limit)(&limits) {
        let message = format!("this limit cannot be set here: {why}");
        return refuse(&at(limit), message, None);
    }
    let expected = scenario.expect.limit;
    match expected.filter(|limit| *limit != Limit::Timeout && limits.said(*limit).is_none()) {
        None => Ok(()),
        Some(limit) => {
            let path = KeyPath::root().key("expect").key("limit");
            let help = format!("write one at `sandbox.limits.{limit}`");
            let message = format!("there is no limit of `{limit}` to reach");
            refuse(&path, message, Some(help))
        }
    }
}
