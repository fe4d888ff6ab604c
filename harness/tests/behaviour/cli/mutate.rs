//! Mutants of recorded runs: what is let through, what is said of it, and what it ends with.

use serde_json::Value;

use crate::support::project::{Project, Run};
use crate::support::require::{require, right_to_trace};

/// One call: `renameat2(AT_FDCWD, "old", AT_FDCWD, "new", RENAME_NOREPLACE) = 0`.
const RENAMES: &str = "workload: { run: [mv, old, new], files: { old: x } }\n\
                       trace: { events: [{ syscalls: [\"rename*\", unlink] }] }";

/// The same with expectations that look at nothing but the number of calls, and no snapshot.
fn counts_only() -> String {
    format!("{RENAMES}\nexpect: {{ count: {{ \"rename*\": 1 }} }}\nsnapshot: false")
}

fn mutate(project: &Project, more: &[&str]) -> Run {
    project.harness(&[&["mutate", "scenarios"], more].concat())
}

/// The only scenario's line.
fn line(run: &Run) -> Value {
    let mut lines = run.json();
    assert_eq!(lines.len(), 2, "{run:?}");
    lines.remove(0)
}

/// The kinds of mutants that were let through: operator, event and field.
fn survivors(line: &Value) -> Vec<String> {
    let survivors = line["survivors"].as_array().expect("survivors");
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let kind = |it: &Value| {
        [&it["operator"], &it["event"], &it["field"]]
            .map(text)
            .join(" ")
    };
    let mut kinds: Vec<String> = survivors.iter().map(kind).collect();
    kinds.dedup();
    kinds
}

#[test]
fn expectations_that_only_count_let_edits_through_and_that_is_reported_if_all_is_asked() {
    require!(right_to_trace());
    let project = Project::with("x", &counts_only());
    let run = mutate(&project, &["--all", "--format", "json"]);
    run.assert_status(1);
    let line = line(&run);
    assert_eq!(line["result"], "loose");
    assert_eq!(line["untold"], 0);
    let kinds = survivors(&line);
    for kind in [
        "edit renameat2 oldname",
        "edit renameat2 newname",
        "edit renameat2 flags",
        "edit renameat2 returns",
        "insert unlink -",
    ] {
        assert!(kinds.iter().any(|known| known == kind), "{kind}: {kinds:?}");
    }
    // What is counted is not let through.
    for kind in ["drop renameat2 -", "repeat renameat2 -"] {
        assert!(
            !kinds.iter().any(|known| known == kind),
            "{kind}: {kinds:?}"
        );
    }
}

#[test]
fn a_person_sees_the_line_of_the_trace_and_what_stands_there_now() {
    require!(right_to_trace());
    let project = Project::with("x", &counts_only());
    let run = mutate(&project, &["--all"]);
    run.assert_status(1);
    let shown: Vec<&str> = run.stdout.lines().map(str::trim).collect();
    let at = shown
        .iter()
        .position(|line| line.ends_with("edit renameat2 flags"));
    let at = at.unwrap_or_else(|| panic!("{}", run.stdout));
    assert_eq!(
        shown[at + 1..at + 3],
        [
            "- P1  renameat2(AT_FDCWD, \"old\", AT_FDCWD, \"new\", RENAME_NOREPLACE) = 0",
            "+ P1  renameat2(AT_FDCWD, \"old\", AT_FDCWD, \"new\", 0) = 0",
        ]
    );
    assert_eq!(run.stdout.lines().last(), Some("1 scenario: 1 loose"));
}

#[test]
fn a_snapshot_that_keeps_the_order_lets_nothing_through() {
    require!(right_to_trace());
    let project = Project::with("x", RENAMES);
    project
        .harness(&["run", "--update", "scenarios"])
        .assert_status(0);
    let stored = project.files("snapshots");
    let run = mutate(&project, &["--format", "json"]);
    let line = line(run.assert_status(0));
    assert_eq!(line["result"], "tight");
    assert_eq!(line["killed"], line["mutants"]);
    assert_eq!(line["by_expectations"], 0);
    assert_eq!(project.files("snapshots"), stored);
    // Without it there is nothing that they could fail.
    let run = mutate(&project, &["--format", "json", "--without-snapshot"]);
    run.assert_status(1);
    let line = self::line(&run);
    assert_eq!(
        (&line["killed"], line["result"].as_str()),
        (&Value::from(0), Some("loose"))
    );
    project.assert_nothing_left();
}

#[test]
fn a_snapshot_that_counts_lets_edits_through_and_kills_what_changes_numbers() {
    require!(right_to_trace());
    let project = Project::with("x", &format!("{RENAMES}\nsnapshot: {{ level: counts }}"));
    project
        .harness(&["run", "--update", "scenarios"])
        .assert_status(0);
    let run = mutate(&project, &["--format", "json"]);
    let kinds = survivors(&line(run.assert_status(1)));
    assert!(!kinds.is_empty());
    assert!(
        kinds.iter().all(|kind| kind.starts_with("edit ")),
        "{kinds:?}"
    );
}

#[test]
fn who_lets_mutants_through_may_say_why_and_must_not_say_so_in_vain() {
    require!(right_to_trace());
    let excused = format!(
        "{}\nlenient: paths are another test's affair",
        counts_only()
    );
    let project = Project::with("x", &excused);
    let run = mutate(&project, &["--all"]);
    run.assert_status(0);
    let said = "lenient: paths are another test's affair";
    assert!(run.stdout.contains(said), "{}", run.stdout);

    project.scenario("x", &format!("{RENAMES}\nlenient: there was a reason once"));
    project
        .harness(&["run", "--update", "scenarios"])
        .assert_status(0);
    let run = mutate(&project, &[]);
    run.assert_status(1);
    assert!(run.stdout.starts_with("  needless  x"), "{}", run.stdout);
}

#[test]
fn the_same_run_gives_the_same_report() {
    require!(right_to_trace());
    let project = Project::with("x", &counts_only());
    let report = |most: &str| {
        let mut line = line(&mutate(
            &project,
            &["--all", "--format", "json", "--most", most],
        ));
        line.as_object_mut()
            .expect("an object")
            .remove("duration_ms");
        line
    };
    assert_eq!(report("2000"), report("2000"));
    let sample = report("5");
    assert_eq!(sample, report("5"));
    assert_eq!(sample["mutants"], 5);
    assert_ne!(sample["untried"], 0);
}

#[test]
fn a_run_that_does_not_pass_has_no_mutants() {
    require!(right_to_trace());
    let project = Project::with("x", RENAMES);
    let run = mutate(&project, &["--format", "json"]);
    let failed = line(run.assert_status(1));
    assert_eq!(failed["result"], "fail");
    let reasons = failed["reasons"].to_string();
    assert!(reasons.contains("a run that passes"), "{reasons}");
    assert!(reasons.contains("there is no snapshot"), "{reasons}");
    assert!(project.snapshots().is_empty());
}

#[test]
fn what_is_known_to_fail_or_ended_by_a_limit_is_skipped_with_the_reason() {
    require!(right_to_trace());
    for (yaml, reason) in [
        (super::KNOWN, "it is known to fail"),
        (
            "workload: { run: [sleep, infinity], timeout: 200ms }\nexpect: { limit: timeout }",
            "its run is ended by a limit",
        ),
        (super::SKIPPED, "needs command `no-such-command`"),
    ] {
        let project = Project::with("x", yaml);
        let run = mutate(&project, &[]);
        run.assert_status(77);
        let start = format!("   skipped  x: {reason}");
        assert!(run.stdout.starts_with(&start), "{}", run.stdout);
    }
}

#[test]
fn what_is_recorded_for_the_sake_of_marks_is_not_changed() {
    require!(right_to_trace());
    let yaml = "workload: { shell: \"echo go; mv old new; echo done\", files: { old: x } }\n\
                trace: { events: [{ syscalls: [\"rename*\"] }], since: { written: go } }\n\
                expect: { count: { \"rename*\": 1 } }\nsnapshot: false";
    let project = Project::with("x", yaml);
    let run = mutate(&project, &["--all", "--format", "json"]);
    let line = line(run.assert_status(1));
    let kinds = survivors(&line);
    assert!(!kinds.is_empty());
    assert!(
        kinds.iter().all(|kind| !kind.contains(" write ")),
        "{kinds:?}"
    );
    assert_ne!(line["by_expectations"], 0);
}

#[test]
fn mutants_are_compared_with_the_baseline_as_the_run_is() {
    require!(right_to_trace());
    let yaml = "workload: { run: [rm, a, b], files: { a: x, b: x } }\nbaseline: { run: [rm, a] }\n\
                trace: { events: [{ syscalls: [unlinkat] }] }\n\
                expect: { delta: { unlinkat: 1 } }\nsnapshot: false";
    let project = Project::with("x", yaml);
    let run = mutate(&project, &["--all", "--format", "json"]);
    let kinds = survivors(&line(run.assert_status(1)));
    let is_edit = |kind: &String| kind.starts_with("edit ");
    assert!(kinds.iter().any(is_edit), "{kinds:?}");
    for kind in ["drop unlinkat -", "repeat unlinkat -", "insert unlinkat -"] {
        assert!(
            !kinds.iter().any(|known| known == kind),
            "{kind}: {kinds:?}"
        );
    }
}

#[test]
fn every_scenario_of_the_repository_kills_its_mutants_or_says_why_not() {
    require!(right_to_trace());
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let project = Project::new();
    let mut command = project.program(&["mutate", "scenarios"]);
    let output = command.current_dir(root).output().expect("the program");
    let run = Run::from(output);
    run.assert_status(0);
    assert!(run.stdout.contains(" tight"), "{}", run.stdout);
}

#[test]
fn a_sync_that_is_dropped_or_comes_later_is_not_let_through_by_between() {
    require!(right_to_trace());
    let store = "open my $log, \">\", \"log\"; for (1..3) { syswrite($log, \"x\"); $log->sync; \
                 syswrite(STDOUT, \"done\") }";
    let text = format!(
        "workload: {{ run: [perl, -MIO::Handle, -e, '{store}'] }}\n\
         trace: {{ events: [{{ syscalls: [write, fsync] }}] }}\n\
         expect:\n  between: [{{ first: {{ write: {{ fd: log }} }}, then: {{ write: {{ fd: stdout }} }}, \
         there_is: {{ fsync: {{ fd: log, returns: 0 }} }} }}]\nsnapshot: false"
    );
    let project = Project::with("x", &text);
    let run = mutate(&project, &["--format", "json"]);
    let kinds = survivors(&line(&run));
    for kind in ["drop fsync -", "delay fsync -", "exchange fsync -"] {
        assert!(
            !kinds.iter().any(|known| known == kind),
            "{kind}: {kinds:?}"
        );
    }
}

/// A program that saves a file as one should, and what it does for its own ends beside that.
const SAVES: &str = "workload:\n  run: [perl, -MIO::Handle, -e, 'open my $f, \">\", \"config.new\"; print $f \"x\"; \
                     $f->flush; $f->sync; close $f; rename \"config.new\", \"config\"']\n\
                     trace: { events: [{ syscalls: [openat, read, write, fsync, close, \"rename*\"] }] }\n\
                     snapshot: false\n";

const IN_ORDER: &str = "expect:\n  sequence:\n\
                        \x20   - openat: { path: config.new, returns: $new }\n\
                        \x20   - write: { fd: $new }\n\
                        \x20   - fsync: { fd: $new, returns: 0 }\n\
                        \x20   - \"rename*\": { from: config.new, to: config, returns: 0 }\n";

#[test]
fn expectations_are_asked_about_what_they_tell_of_alone() {
    require!(right_to_trace());
    let project = Project::with("x", &format!("{SAVES}{IN_ORDER}"));
    let run = mutate(&project, &["--format", "json"]);
    let asked = line(run.assert_status(0));
    assert_eq!(asked["result"], "tight");
    assert!(asked["mutants"].as_u64() > Some(8), "{asked}");
    assert_ne!(asked["untold"], 0);
    let all = line(&mutate(&project, &["--all", "--format", "json"]));
    assert_eq!(all["result"], "loose");
    assert!(all["mutants"].as_u64() > asked["mutants"].as_u64(), "{all}");
    let shown = mutate(&project, &[]).stdout;
    assert!(
        shown.contains("of what no expectation tells of left out: --all"),
        "{shown}"
    );
}

#[test]
fn an_order_that_some_other_event_may_fill_lets_that_through_and_is_loose() {
    require!(right_to_trace());
    // Of two syncs either may be the step, so that the order of one and the rename is not held.
    let twice = SAVES.replace(
        "$f->sync;",
        "$f->sync; print $f \"y\"; $f->flush; $f->sync;",
    );
    let project = Project::with("x", &format!("{twice}{IN_ORDER}"));
    let run = mutate(&project, &["--format", "json"]);
    let line = line(run.assert_status(1));
    assert_eq!(line["result"], "loose");
    let kinds = survivors(&line);
    assert!(
        kinds.iter().any(|kind| kind.ends_with(" fsync -")),
        "{kinds:?}"
    );
}

#[test]
fn a_scenario_that_tells_of_no_event_is_loose() {
    require!(right_to_trace());
    let project = Project::with("x", &format!("{SAVES}expect: {{ stdout: \"\" }}\n"));
    let run = mutate(&project, &[]);
    run.assert_status(1);
    let said = "loose  x  (no mutants: the expectations tell of no event that came)";
    assert!(run.stdout.contains(said), "{}", run.stdout);
}
