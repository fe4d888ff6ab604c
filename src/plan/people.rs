//! Finds the users that the workload runs as and that its files belong to.

use super::{Facts, PlanError, invalid};
use crate::scenario::{KeyPath, Scenario, Workload};
use perf_live::sandbox::{UserSpec, WorldSpec};
use perf_live::units::User;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A world of the workload's own.
#[derive(Clone, Debug)]
pub struct WorldPlan {
    /// As it was chosen.
    pub spec: WorldSpec,
    /// The user that the workload runs as; `None` for the user of the harness.
    pub user: Option<User>,
}

/// Makes the world of a scenario, with the user that its workload runs as.
pub(super) fn world(
    scenario: &Scenario,
    spec: &WorldSpec,
    facts: &Facts<'_>,
) -> Result<WorldPlan, PlanError> {
    let at = KeyPath::root().key("sandbox").key("user");
    let user = spec.user.as_ref();
    Ok(WorldPlan {
        user: user
            .map(|user| find(user, &at, scenario, facts))
            .transpose()?,
        spec: spec.clone(),
    })
}

/// Returns the owners of a workload's files; its key in the scenario is `key`.
pub(super) fn owners(
    key: &str,
    workload: &Workload,
    scenario: &Scenario,
    facts: &Facts<'_>,
) -> Result<BTreeMap<PathBuf, User>, PlanError> {
    let at = KeyPath::root().key(key).key("files");
    let files = workload.files.iter();
    files
        .filter_map(|(path, file)| {
            let owner = file.owner.as_ref()?;
            let at = at.clone().key(path.to_string_lossy()).key("owner");
            Some(find(owner, &at, scenario, facts).map(|user| (path.clone(), user)))
        })
        .collect()
}

/// Looks a user up.
fn find(
    user: &UserSpec,
    at: &KeyPath,
    scenario: &Scenario,
    facts: &Facts<'_>,
) -> Result<User, PlanError> {
    (facts.user)(user).ok_or_else(|| {
        let message = format!("there is no user `{user}` on this machine");
        invalid(scenario.complaint(at, message, None))
    })
}
