//! What `expect.confined` means on this machine, and what judging it needs.

use super::needs::Needs;
use super::{EventsPlan, here};
use crate::matching::{Blaming, Confinement, Realm};
use crate::scenario::{KeyPath, PATH, SandboxSpec, Scenario, TestRules};
use perf_live::sandbox::INSIDE;

/// Returns by which names programs may be executed, where it matters what the kernel executes
/// beside them: [`EventsPlan::programs`].
pub(super) fn programs(
    scenario: &Scenario,
    confinement: Option<&Confinement>,
) -> Option<Vec<String>> {
    let is_closed = |rules: &Confinement| {
        let mut realms = [Realm::Programs, Realm::Reads].into_iter();
        realms.any(|realm| rules.closes(realm))
    };
    let closed = confinement.filter(|rules| is_closed(rules));
    let is_stated = !scenario.beside.calls.is_empty();
    let named = closed.map(Confinement::programs);
    named.or_else(|| is_stated.then(Vec::new))
}

/// Returns what the run is confined to, and notes what must be known of events for that.
pub(super) fn confinement(
    scenario: &Scenario,
    events: &EventsPlan,
    needs: &mut Needs,
) -> Option<Confinement> {
    let beside = &scenario.beside;
    let is_judged = scenario.expect.confined.is_some() || !beside.tests.is_empty();
    if !is_judged && beside.calls.is_empty() {
        return None;
    }
    let mut rules = scenario.expect.confined.clone().unwrap_or_default();
    let mut tests: Vec<TestRules> = beside.tests.clone();
    for (place, directory) in beside.directories.iter().enumerate() {
        let is_by_link = place > 0;
        let of_tests = tests.iter_mut().map(|test| &mut test.confined);
        of_tests
            .chain([&mut rules])
            .for_each(|rules| here::confined(rules, directory, is_by_link));
    }
    if scenario.sandbox != SandboxSpec::None {
        here::of_sandbox(&mut rules, INSIDE);
    }
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
    let line_of = |test: &TestRules| {
        scenario
            .complaint(&test.at.clone().key_itself(), "", None)
            .line
    };
    let tests = tests.into_iter().map(|test| {
        let line = line_of(&test);
        (test, line)
    });
    let argv = scenario.workload.command.argv().into_iter();
    let path = scenario
        .workload
        .env
        .get("PATH")
        .map_or(PATH, String::as_str);
    is_judged.then(|| Confinement {
        rules,
        lines: Realm::ALL.into_iter().map(line).collect(),
        folders: path.split(':').map(str::to_owned).collect(),
        hidden: events.hidden(),
        tests: tests.collect(),
        finds_tests: beside.finds_tests(),
        blaming: Blaming {
            by: beside.blame.unwrap_or_default(),
            command: argv.map(str::to_owned).collect(),
            outputs: beside.outputs.clone(),
        },
        started_as: beside.started_as,
    })
}
