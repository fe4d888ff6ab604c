//! The trials of `cargo test`, one for each scenario: how they are listed, selected, judged, and
//! what they write. The test program is the one that runs the repository's own scenarios, pointed
//! at others.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use crate::cli::needing_each_other;
use crate::support::project::{Project, Run};
use crate::support::require::{program, require, right_to_trace};

/// The built test program, which lies beside this one.
fn trials() -> PathBuf {
    let here = std::env::current_exe().expect("this program");
    let entries = fs::read_dir(here.parent().expect("a folder")).expect("the folder");
    let built = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        let name = entry.file_name().into_string().ok()?;
        let is_it = name.starts_with("scenarios-") && !name.contains('.');
        let built: SystemTime = entry.metadata().ok()?.modified().ok()?;
        is_it.then(|| (built, entry.path()))
    });
    let newest = built.max().map(|(_, path)| path);
    newest.expect("the test program `scenarios`, which `cargo test` builds")
}

type Environment<'a> = &'a [(&'a str, &'a str)];

/// Runs the trials of a project; its folder is the root of their repository.
fn run(project: &Project, environment: Environment<'_>, arguments: &[&str]) -> Run {
    let program = trials();
    let package = project.join("harness");
    let package = package.to_str().expect("a path of letters");
    let environment = [&[("CARGO_MANIFEST_DIR", package)], environment].concat();
    let program = program.to_str().expect("a path of letters");
    project.run(&environment, &[&[program], arguments].concat())
}

/// `test NAME ... ok`: the names with what came of them.
fn outcomes(run: &Run) -> BTreeMap<String, String> {
    let lines = run
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("test "));
    let pairs = lines.filter_map(|line| line.split_once(" ... "));
    pairs
        .map(|(name, outcome)| (name.trim().to_owned(), outcome.to_owned()))
        .collect()
}

const PASSES: &str = "workload: { run: [\"true\"] }\nsnapshot: false";
const FAILS: &str = "workload: { run: [\"false\"] }\nsnapshot: false";
const SKIPPED: &str = "workload: { run: [\"true\"] }\nrequires: { commands: [no-such-command] }";
const NEW: &str = "workload: { run: [\"true\"] }\nsnapshot: { show: [execve] }";
const NEW_AND_FAILS: &str = "workload: { run: [\"false\"] }\nsnapshot: { show: [execve] }";
const LEAKS: &str = "workload: { shell: \"sleep 1000 &\" }\nsnapshot: false";
const WRONG: &str = "workload: { rum: [\"true\"] }";

fn project(scenarios: &[(&str, &str)]) -> Project {
    let project = Project::new();
    scenarios
        .iter()
        .for_each(|(name, yaml)| project.scenario(name, yaml));
    project
}

fn four() -> Project {
    project(&[
        ("copy", PASSES),
        ("copy-all", PASSES),
        ("fs/copy", PASSES),
        ("move", FAILS),
    ])
}

#[test]
fn the_list_has_a_trial_for_each_row_of_a_matrix_and_each_is_run_alone() {
    require!(right_to_trace());
    let matrix = "matrix: { program: [\"true\", \"false\"] }\n\
                  workload: { run: [\"${program}\"] }\nsnapshot: false";
    let project = project(&[("x", matrix)]);
    let list = run(&project, &[], &["--list", "--format", "terse"]);
    assert_eq!(
        list.stdout,
        "x[program=false]: test\nx[program=true]: test\n"
    );
    let one = run(&project, &[], &["--exact", "x[program=false]"]);
    let failed = one.assert_status(101);
    let again = "-- run scenarios/x.yaml --filter '\\[program=false\\]$'";
    assert!(failed.stdout.contains(again), "{}", failed.stdout);
    run(&project, &[], &["--exact", "x[program=true]"]).assert_status(0);
}

#[test]
fn the_list_has_a_trial_for_each_scenario_file() {
    let project = four();
    let list = "copy: test\ncopy-all: test\nfs/copy: test\nmove: test\n";
    assert_eq!(
        run(&project, &[], &["--list"]).assert_status(0).stdout,
        list
    );
    let terse = ["--list", "--format", "terse"];
    assert_eq!(run(&project, &[], &terse).assert_status(0).stdout, list);
    let ignored = run(&project, &[], &["--list", "--format", "terse", "--ignored"]);
    assert_eq!(ignored.assert_status(0).stdout, "");
    assert_eq!(project.snapshots(), [""; 0]);
}

#[test]
fn a_list_needs_no_right_to_trace() {
    require!(right_to_trace());
    require!(program("setpriv"));
    // A wrong file and an unmet requirement are no matter of a list.
    let project = project(&[("a", PASSES), ("b", WRONG), ("c", SKIPPED)]);
    let listed = as_nobody(&project, &[], &["--list"]);
    assert_eq!(
        listed.assert_status(0).stdout,
        "a: test\nb: test\nc: test\n"
    );
}

#[test]
fn filters_select_as_those_of_any_test() {
    require!(right_to_trace());
    let project = four();
    let cases: [(&[&str], &[&str]); 8] = [
        (&["copy"], &["copy", "copy-all", "fs/copy"]),
        (&["copy", "--exact"], &["copy"]),
        (&["--exact", "copy", "fs/copy"], &["copy", "fs/copy"]),
        (&["fs", "all"], &["copy-all", "fs/copy"]),
        (&["--skip", "move", "--skip", "fs"], &["copy", "copy-all"]),
        (
            &["copy", "--skip", "all", "--test-threads", "1"],
            &["copy", "fs/copy"],
        ),
        (&["--no-capture", "--exact", "copy"], &["copy"]),
        (&["nothing"], &[]),
    ];
    for (arguments, names) in cases {
        let run = run(&project, &[], arguments);
        run.assert_status(0);
        let seen = outcomes(&run);
        assert_eq!(seen.keys().collect::<Vec<_>>(), names, "{arguments:?}");
        assert!(
            seen.values().all(|outcome| outcome == "ok"),
            "{arguments:?}: {seen:?}"
        );
    }
    project.assert_nothing_left();
}

#[test]
fn a_failure_says_what_is_wrong_and_how_to_see_it_again() {
    require!(right_to_trace());
    let project = project(&[
        ("a", PASSES),
        ("b", FAILS),
        ("c", SKIPPED),
        ("d", WRONG),
        ("e", NEW),
    ]);
    let run = run(&project, &[], &[]);
    run.assert_status(101);
    let expected = [
        ("a", "ok"),
        ("b", "FAILED"),
        ("c", "ignored (needs command `no-such-command`)"),
        ("d", "FAILED"),
        ("e", "FAILED"),
    ];
    let expected = expected.map(|(name, outcome)| (name.to_owned(), outcome.to_owned()));
    assert_eq!(outcomes(&run), expected.into());
    for said in [
        "expected exit status 0, got exit status 1",
        "this one alone: cargo run --release -- run scenarios/b.yaml",
        "error: unknown key `rum` in `workload`\n --> scenarios/d.yaml:2:13",
        "there is no snapshot `snapshots/e.snap` yet",
        "1 passed; 3 failed; 1 ignored",
    ] {
        assert!(run.stdout.contains(said), "no `{said}` in\n{}", run.stdout);
    }
    assert_eq!(project.snapshots(), ["snapshots/e.snap.new"]);
    assert!(
        project
            .read("snapshots/e.snap.new")
            .contains("source: \"scenarios/e.yaml\"")
    );
    project.assert_nothing_left();
}

#[test]
fn a_leak_fails_its_trial_and_names_who_lived_on() {
    require!(right_to_trace());
    let project = project(&[("a", PASSES), ("b", LEAKS)]);
    let run = run(&project, &[], &[]);
    run.assert_status(101);
    let words = ["ok", "FAILED"].map(str::to_owned);
    assert!(outcomes(&run).into_values().eq(words), "{}", run.stdout);
    for said in [
        "(`sleep 1000`), started by 2 (`/bin/sh -c sleep 1000 &`), outlived the main process",
        "1 passed; 1 failed",
    ] {
        assert!(run.stdout.contains(said), "no `{said}` in\n{}", run.stdout);
    }
    project.assert_nothing_left();
}

#[test]
fn a_required_skip_fails() {
    require!(right_to_trace());
    let project = project(&[("a", PASSES), ("b", SKIPPED)]);
    let run = run(&project, &[("HARNESS_REQUIRE", "all")], &[]);
    run.assert_status(101);
    assert_eq!(outcomes(&run)["b"], "FAILED");
    assert!(run.stdout.contains("no-such-command"), "{}", run.stdout);
}

/// Two that need each other pass on two threads and cannot on one.
#[test]
fn the_number_of_threads_comes_from_the_argument_or_the_environment() {
    require!(right_to_trace());
    let two = needing_each_other("60s");
    run(&two, &[("RUST_TEST_THREADS", "2")], &[]).assert_status(0);
    run(
        &two,
        &[("RUST_TEST_THREADS", "1")],
        &["--test-threads", "2"],
    )
    .assert_status(0);
    let one = needing_each_other("300ms");
    let run = run(&one, &[("RUST_TEST_THREADS", "1")], &[]);
    run.assert_status(101);
    assert_eq!(
        run.stdout.matches("and was killed").count(),
        2,
        "{}",
        run.stdout
    );
}

#[test]
fn what_is_written_is_what_the_environment_asks_for() {
    require!(right_to_trace());
    let cases: [(Environment<'_>, &[&str], i32); 9] = [
        (&[], &["snapshots/x.snap.new"], 101),
        (&[("INSTA_UPDATE", "new")], &["snapshots/x.snap.new"], 101),
        (&[("INSTA_UPDATE", "no")], &[], 101),
        (&[("CI", "true")], &[], 101),
        (&[("CI", "true"), ("INSTA_UPDATE", "always")], &[], 101),
        (&[("INSTA_UPDATE", "always")], &["snapshots/x.snap"], 0),
        (&[("INSTA_UPDATE", "unseen")], &["snapshots/x.snap"], 0),
        (&[("HARNESS_UPDATE", "force")], &["snapshots/x.snap"], 0),
        (&[("INSTA_UPDATE", "yes")], &[], 1),
    ];
    for (environment, files, status) in cases {
        let project = project(&[("x", NEW)]);
        run(&project, environment, &[]).assert_status(status);
        assert_eq!(project.snapshots(), files, "{environment:?}");
        if status == 0 {
            run(&project, &[("CI", "true")], &[]).assert_status(0);
        }
    }
}

/// As `cargo insta test` asks for: it reviews afterwards, and takes a failure for one of another
/// kind.
#[test]
fn a_trace_that_only_waits_for_review_is_forgiven_where_insta_asks_for_it() {
    require!(right_to_trace());
    let project = project(&[("x", NEW), ("y", NEW_AND_FAILS), ("z", FAILS)]);
    let insta = [("INSTA_FORCE_PASS", "1"), ("INSTA_UPDATE", "new")];
    let run = run(&project, &insta, &[]);
    run.assert_status(101);
    let expected = [("x", "ok"), ("y", "FAILED"), ("z", "FAILED")];
    let expected = expected.map(|(name, outcome)| (name.to_owned(), outcome.to_owned()));
    assert_eq!(outcomes(&run), expected.into());
    assert!(
        project
            .snapshots()
            .contains(&"snapshots/x.snap.new".to_owned())
    );
}

/// Nextest takes a trial for passed that finds out that it is skipped, so the list says so before.
#[test]
fn a_skip_is_known_to_nextest_before_it_runs() {
    require!(right_to_trace());
    let project = project(&[("a", PASSES), ("b", SKIPPED), ("c", WRONG)]);
    let nextest = [("NEXTEST", "1")];
    let list = |environment, more: &[&str]| {
        run(
            &project,
            environment,
            &[&["--list", "--format", "terse"], more].concat(),
        )
    };
    assert_eq!(
        list(&nextest, &[]).assert_status(0).stdout,
        "a: test\nb: test\nc: test\n"
    );
    let ignored = list(&nextest, &["--ignored"]);
    assert_eq!(ignored.assert_status(0).stdout, "b: test\n");
    assert_eq!(ignored.stderr, "b: needs command `no-such-command`\n");
    let required = [nextest[0], ("HARNESS_REQUIRE", "all")];
    assert_eq!(list(&required, &["--ignored"]).assert_status(0).stdout, "");
    run(&project, &nextest, &["--exact", "a"]).assert_status(0);
    run(&project, &nextest, &["--exact", "c"]).assert_status(101);
    run(&project, &required, &["--exact", "b"]).assert_status(101);
    let forced = run(&project, &nextest, &["--exact", "b", "--ignored"]);
    forced.assert_status(101);
    assert!(
        forced.stdout.contains("needs command `no-such-command`"),
        "{}",
        forced.stdout
    );
}

#[test]
fn without_the_right_to_trace_every_trial_is_ignored_with_the_reason_and_none_passes() {
    require!(right_to_trace());
    require!(program("setpriv"));
    let project = project(&[("a", PASSES), ("b", FAILS)]);
    let ignored = as_nobody(&project, &[], &[]);
    ignored.assert_status(0);
    for (name, outcome) in outcomes(&ignored) {
        assert!(
            outcome.starts_with("ignored (") && outcome.contains("run as root"),
            "{name}: {outcome}"
        );
    }
    assert!(
        ignored.stdout.contains(" 0 passed; 0 failed; 2 ignored;"),
        "{}",
        ignored.stdout
    );
    let required = as_nobody(&project, &[("HARNESS_REQUIRE", "all")], &[]);
    required.assert_status(101);
    assert!(
        required.stdout.contains(" 0 passed; 2 failed; 0 ignored;"),
        "{}",
        required.stdout
    );
    let nextest = as_nobody(
        &project,
        &[("NEXTEST", "1")],
        &["--list", "--format", "terse", "--ignored"],
    );
    assert_eq!(nextest.assert_status(0).stdout, "a: test\nb: test\n");
}

fn as_nobody(project: &Project, environment: Environment<'_>, arguments: &[&str]) -> Run {
    project.copy_program(trials(), "program");
    project.open_to_everybody("program");
    let package = project.join("harness");
    let package = package.to_str().expect("a path of letters");
    let environment = [&[("CARGO_MANIFEST_DIR", package)], environment].concat();
    let nobody = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        "./program",
    ];
    project.run(&environment, &[&nobody[..], arguments].concat())
}

#[test]
fn a_repository_without_scenarios_is_a_failure() {
    let empty = Project::new();
    let run = run(&empty, &[], &[]);
    run.assert_status(101);
    assert!(
        run.stdout
            .contains("there is no scenario (*.yaml) in `scenarios`"),
        "{}",
        run.stdout
    );
    let twice = project(&[("a", PASSES)]);
    twice.write("scenarios/a.yml", PASSES);
    let run = self::run(&twice, &[], &[]);
    run.assert_status(101);
    assert!(run.stdout.contains("have the same name"), "{}", run.stdout);
}
