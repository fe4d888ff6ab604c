//! What `expect.confined` means on this machine, and what judging it needs.

use super::EventsPlan;
use super::needs::Needs;
use crate::matching::{Confinement, Realm};
use crate::scenario::{KeyPath, PATH, Scenario};

/// Returns what the run is confined to, and notes what must be known of events for that.
pub(super) fn confinement(
    scenario: &Scenario,
    events: &EventsPlan,
    needs: &mut Needs,
) -> Option<Confinement> {
    let rules = scenario.expect.confined.clone()?;
    let what = || "what the run is confined to".to_owned();
    needs.memory.get_or_insert_with(what);
    needs
        .descriptor
        .get_or_insert_with(|| "`expect.confined`".to_owned());
    (needs.paths, needs.names) = (true, true);
    let at = KeyPath::root().key("expect").key("confined");
    let line = |realm: Realm| {
        let at = at.clone().key(realm.word()).key_itself();
        (realm, scenario.complaint(&at, "", None).line)
    };
    let path = scenario
        .workload
        .env
        .get("PATH")
        .map_or(PATH, String::as_str);
    Some(Confinement {
        rules,
        lines: Realm::ALL.into_iter().map(line).collect(),
        folders: path.split(':').map(str::to_owned).collect(),
        hidden: events.hidden(),
    })
}
