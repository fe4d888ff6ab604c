//! `harness run --status bisect`.

use crate::cli::{BROKEN, ENDLESS, FAILS, KNOWN, LOSES, PASSES, SKIPPED, UNEXPECTED};
use crate::support::fifo::Fifo;
use crate::support::process::Started;
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};
use nix::sys::signal::Signal;

const BISECT: [&str; 4] = ["run", "--status", "bisect", "scenarios"];

#[test]
fn each_verdict_steers_a_bisect_as_far_as_it_tells() {
    require!(right_to_trace());
    require!(program("perl"));
    let not_there = "workload: { run: [./not-there] }\nsnapshot: false";
    let no_snapshot = "workload: { run: [\"true\"] }";
    let cases: [(&[&str], i32); 15] = [
        (&[PASSES], 0),
        (&[KNOWN], 0),
        (&[FAILS], 1),
        (&[ENDLESS], 1),
        (&[UNEXPECTED], 1),
        (&[LOSES], 125),
        (&[SKIPPED], 125),
        (&[BROKEN], 125),
        // A revision that was not built, and one from before there was a snapshot.
        (&[not_there], 125),
        (&[no_snapshot], 125),
        // Together: what is certain counts, and without that nothing is good that is not told.
        (&[PASSES, SKIPPED], 125),
        (&[PASSES, LOSES], 125),
        (&[FAILS, BROKEN], 1),
        (&[FAILS, SKIPPED], 1),
        (&[PASSES, FAILS], 1),
    ];
    for (scenarios, status) in cases {
        let project = Project::new();
        for (number, yaml) in scenarios.iter().enumerate() {
            project.scenario(&number.to_string(), yaml);
        }
        project.harness(&BISECT).assert_status(status);
        // A file in the way of git's next checkout would stop the search.
        assert!(project.snapshots().is_empty());
    }
}

#[test]
fn a_required_skip_is_no_bad_revision() {
    require!(right_to_trace());
    let project = Project::with("skipped", SKIPPED);
    let run = project.harness_with(&[("HARNESS_REQUIRE", "all")], &BISECT);
    run.assert_status(125);
}

#[test]
fn a_share_of_no_scenario_is_no_good_revision() {
    require!(right_to_trace());
    let project = Project::with("passes", PASSES);
    let shares = ["1/2", "2/2"].map(|share| {
        let run = project.harness(&[&BISECT[..], &["--shard", share]].concat());
        run.status
    });
    assert!(shares.contains(&0) && shares.contains(&125), "{shares:?}");
}

#[test]
fn whatever_is_no_result_of_scenarios_stops_a_bisect() {
    require!(right_to_trace());
    let project = Project::with("passes", PASSES);
    project.scenario("wrong/it", "workload: { rum: x }");
    let right = "scenarios/passes.yaml";
    let with = |words: &[&'static str]| [&["run", "--status=bisect"], words].concat();
    let cases = [
        with(&["scenarios/wrong"]),
        with(&["absent"]),
        with(&["--filter", "x", right]),
        with(&["--fliter", "x", right]),
        with(&[]),
        with(&["--help"]),
        with(&["--update", right]),
        with(&["--list", right]),
        with(&["--report", "r.doc", right]),
        with(&["--report", "scenarios/passes.yaml/r.txt", right]),
        with(&["--policy", "absent", right]),
        with(&["--vm=6.1", "--kernels", "absent", right]),
    ];
    for words in cases {
        let run = project.harness(&words);
        assert_eq!(run.status, 255, "{words:?}: {}", run.stderr);
        assert!(
            !run.stderr.is_empty() || words.contains(&"--help"),
            "{words:?}"
        );
    }
}

#[test]
fn a_bisect_stops_at_a_signal() {
    require!(right_to_trace());
    let project = Project::new();
    let mut fifo = Fifo::new(&project.join("fifo"));
    let endless = format!(
        "sandbox: {{ root: host }}\nworkload: {{ shell: \"echo here > '{}'; exec sleep 1000\", timeout: 900s }}\n\
         snapshot: false",
        fifo.path()
    );
    project.scenario("endless", &endless);
    let mut run = Started::new(&mut project.program(&BISECT));
    fifo.wait_for_lines(1);
    assert_eq!(run.end_by(Signal::SIGTERM), 128 + 15);
}
