//! The exit statuses, which other people's scripts rely on, and the verdicts behind them.

use super::{BROKEN, ENDLESS, FAILS, KNOWN, LOSES, PASSES, SKIPPED, UNEXPECTED};
use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};

/// Every verdict that a scenario can have: its name, the scenario, its word, the status of a run
/// of it alone, and how its first reason starts.
const VERDICTS: [(&str, &str, &str, i32, &str); 8] = [
    ("passes", PASSES, "pass", 0, ""),
    (
        "fails",
        FAILS,
        "fail",
        1,
        "expected exit status 0, got exit status 1",
    ),
    // A call's, or that of what it points to.
    ("loses", LOSES, "incomplete", 1, "`"),
    (
        "endless",
        ENDLESS,
        "timeout",
        1,
        "the workload did not end within 200ms",
    ),
    (
        "skipped",
        SKIPPED,
        "skipped",
        77,
        "needs command `no-such-command`",
    ),
    ("broken", BROKEN, "broken", 99, "cannot lay `"),
    ("known", KNOWN, "pass", 0, "fails as known: it is false"),
    (
        "unexpected",
        UNEXPECTED,
        "unexpected_pass",
        1,
        "it was known to fail (it was)",
    ),
];

#[test]
fn each_verdict_has_its_word_its_reason_and_its_status() {
    require!(right_to_trace());
    let all = Project::new().in_time();
    for (name, yaml, word, status, start) in VERDICTS {
        all.scenario(name, yaml);
        let alone = Project::with(name, yaml).in_time();
        let run = alone.harness(&["run", "--format", "json", "scenarios"]);
        run.assert_status(status);
        let (verdict, reason) = &run.verdicts()[name];
        assert_eq!(verdict, word, "{name}: {reason}");
        assert!(
            reason.starts_with(start) && reason.is_empty() == start.is_empty(),
            "{name}: {reason}"
        );
    }
    // Together: each is what it is alone, and the worst decides.
    let run = all.harness(&["run", "--format", "json", "scenarios"]);
    run.assert_status(99);
    for (name, _, word, _, _) in VERDICTS {
        assert_eq!(run.verdicts()[name].0, word, "{name}");
    }
    all.assert_nothing_left();
}

#[test]
fn the_worst_of_several_scenarios_decides() {
    require!(right_to_trace());
    let cases = [
        (&[PASSES, SKIPPED][..], 0),
        (&[SKIPPED, SKIPPED], 77),
        (&[FAILS, SKIPPED], 1),
        (&[PASSES, ENDLESS], 1),
        (&[FAILS, BROKEN], 99),
        (&[SKIPPED, BROKEN], 99),
    ];
    for (scenarios, status) in cases {
        let project = Project::new();
        for (number, yaml) in scenarios.iter().enumerate() {
            project.scenario(&number.to_string(), yaml);
        }
        project.harness(&["run", "scenarios"]).assert_status(status);
    }
}

#[test]
fn a_required_skip_is_a_failure() {
    require!(right_to_trace());
    let project = Project::with("skipped", SKIPPED);
    let required = [("HARNESS_REQUIRE", "all")];
    let run = project.harness_with(&required, &["run", "--format", "json", "scenarios"]);
    run.assert_status(1);
    let (verdict, reason) = &run.verdicts()["skipped"];
    assert_eq!(
        (verdict.as_str(), reason.as_str()),
        ("fail", "needs command `no-such-command`")
    );
}

#[test]
fn a_requirement_that_asks_for_nothing_is_refused_before_anything_runs() {
    let project = Project::with("skipped", SKIPPED);
    let words = ["run", "scenarios"];
    for wrong in ["ALL", "1", "all "] {
        let run = project.harness_with(&[("HARNESS_REQUIRE", wrong)], &words);
        run.assert_status(2);
        let said = format!("HARNESS_REQUIRE is `{wrong}`");
        assert!(run.stderr.contains(&said), "{}", run.stderr);
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn wrong_usage_of_run_ends_with_2_and_says_why() {
    let project = Project::with("passes", PASSES);
    project.write("empty/readme", "no scenario");
    let cases: [(&[&str], &str); 10] = [
        (&["run"], "<PATH>"),
        (&["run", "--frob", "scenarios"], "--frob"),
        (
            &["run", "absent"],
            "harness: cannot read `absent`: no such file or directory\n",
        ),
        (
            &["run", "empty"],
            "harness: there is no scenario (*.yaml) in `empty`\n",
        ),
        (
            &["run", "scenarios", "empty"],
            "harness: there is no scenario (*.yaml) in `empty`\n",
        ),
        (
            &["run", "--filter", "x", "scenarios"],
            "harness: no scenario's name matches `x`\n",
        ),
        (&["run", "--filter", "(", "scenarios"], "unclosed group"),
        (&["run", "--jobs", "0", "scenarios"], "--jobs"),
        (&["run", "--repeat", "0", "scenarios"], "--repeat"),
        (&["frobnicate"], "frobnicate"),
    ];
    for (arguments, said) in cases {
        let run = project.harness(arguments);
        run.assert_status(2);
        assert!(run.stderr.contains(said), "{arguments:?}: {}", run.stderr);
        assert_eq!(run.stdout, "");
    }
    assert_eq!(project.snapshots(), [""; 0]);
}

#[test]
fn trace_ends_as_its_command_does() {
    require!(right_to_trace());
    let project = Project::new();
    let script = |script: &str| {
        project
            .harness(&["trace", "-o", "trace", "sh", "-c", script])
            .status
    };
    for status in [0, 1, 2, 77, 99, 125, 126, 127, 255] {
        assert_eq!(script(&format!("exit {status}")), status);
    }
    for (signal, status) in [("KILL", 137), ("TERM", 143), ("SEGV", 139), ("USR1", 138)] {
        assert_eq!(
            script(&format!("ulimit -c 0; kill -{signal} $$")),
            status,
            "{signal}"
        );
    }
    project.assert_nothing_left();
}

#[test]
fn a_command_that_cannot_be_traced_has_a_status_of_its_own() {
    require!(right_to_trace());
    let project = Project::new();
    project.write("plain", "no program");
    let cases: [(&[&str], i32, &str); 5] = [
        (
            &["no-such-program"],
            127,
            "harness: `no-such-program` could not be executed: no such file\n",
        ),
        (
            &["./gone"],
            127,
            "harness: `./gone` could not be executed: no such file\n",
        ),
        (
            &["./plain"],
            126,
            "harness: `./plain` could not be executed: permission denied\n",
        ),
        (
            &["./tmp"],
            126,
            "harness: `./tmp` could not be executed: it is a directory\n",
        ),
        (
            &["--source", "perf", "-m", "2GiB", "true"],
            125,
            "harness: cannot map a ring of 2097152 KiB for CPU 0: ",
        ),
    ];
    for (arguments, status, said) in cases {
        let words = [&["trace", "-o", "trace"], arguments].concat();
        let run = project.harness(&words);
        run.assert_status(status);
        assert!(
            run.stderr.starts_with(said),
            "{arguments:?}: {}",
            run.stderr
        );
    }
    project.assert_nothing_left();
}

#[test]
fn what_a_machine_lacks_skips_fails_or_is_noted() {
    require!(right_to_trace());
    let lacking = "{ tracepoints: [\"sched:gone\"] }";
    let with = |requires: &str| {
        format!(
            "workload: {{ run: [\"true\"] }}\ntrace: {{ events: [{{ syscalls: [execve] }}, \"sched:gone\"] }}\n\
             expect: {{ count: {{ execve: 1, \"sched:gone\": 1 }} }}\nrequires: {requires}"
        )
    };
    let project = Project::with("soft", &with(lacking));
    project.scenario("hard", &with(&format!("{{ hard: {lacking} }}")));
    project.scenario("best", &with(&format!("{{ best_effort: {lacking} }}")));
    let run = |name: &str| project.harness(&["run", &format!("scenarios/{name}.yaml")]);
    let soft = run("soft");
    soft.assert_status(77);
    assert!(
        soft.stdout.contains("needs tracepoint `sched:gone`"),
        "{}",
        soft.stdout
    );
    let hard = run("hard");
    hard.assert_status(1);
    assert!(
        hard.stdout.contains("needs tracepoint `sched:gone`"),
        "{}",
        hard.stdout
    );
    let best = run("best");
    best.assert_status(0);
    for note in [
        "runs without tracepoint `sched:gone`",
        "the snapshot is not compared",
        "`count` is not judged, or not all of it",
    ] {
        assert!(
            best.stdout.contains(&format!("note: {note}\n")),
            "{}",
            best.stdout
        );
    }
    assert_eq!(project.snapshots(), [""; 0]);
}

#[test]
fn a_scenario_has_so_many_times_its_timeout_as_patience_says() {
    require!(right_to_trace());
    let project = Project::with("endless", ENDLESS);
    let run = project.harness(&["run", "--patience", "3", "--format", "json", "scenarios"]);
    run.assert_status(1);
    let (verdict, reason) = &run.verdicts()["endless"];
    assert_eq!(verdict, "timeout");
    let killed = "the workload did not end within 600ms and was killed";
    assert!(reason.starts_with(killed), "{reason}");
}

#[test]
fn a_trace_of_which_nothing_came_names_calls_that_do_the_same() {
    require!(right_to_trace());
    let project = Project::new();
    let traced = |shell: &str| project.harness(&["trace", "-e", "rename", "--", "sh", "-c", shell]);
    let run = traced("true");
    run.assert_status(0);
    assert!(run.stderr.contains("renameat, renameat2"), "{}", run.stderr);
    // What is written to a file may be for a program.
    let words = ["trace", "-e", "rename", "-o", "file", "--", "true"];
    assert_eq!(project.harness(&words).stderr, "");
    let all = project.harness(&["trace", "-e", "rename*", "--", "true"]);
    assert!(!all.stderr.contains("renameat"), "{}", all.stderr);
}

#[test]
fn a_list_has_a_line_for_each_scenario_whatever_is_in_its_name() {
    let project = Project::new();
    project.scenario("new\nline", PASSES);
    let run = project.harness(&["run", "--list", "scenarios"]);
    run.assert_status(0);
    assert_eq!(run.stdout, "new\\nline\n");
}
