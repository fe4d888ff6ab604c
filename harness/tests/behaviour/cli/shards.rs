//! Shards of a suite, and their merge into one result.

use std::collections::BTreeSet;

use super::{BROKEN, FAILS, PASSES, SKIPPED};
use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};

/// Seven scenarios of four verdicts.
fn project() -> Project {
    let project = Project::new();
    for (name, yaml) in [
        ("a", PASSES),
        ("b", FAILS),
        ("c", SKIPPED),
        ("d", BROKEN),
        ("e", PASSES),
        ("f", PASSES),
    ] {
        project.scenario(name, yaml);
    }
    let rows = "matrix: { word: [x] }\nworkload: { run: [\"true\", \"${word}\"] }\nsnapshot: false";
    project.scenario("g", rows);
    project
}

/// Runs all shards, and keeps what they print in `1.jsonl` and so on.
fn run_all(project: &Project, count: usize, scenarios: &str) -> Vec<String> {
    let parts = (1..=count).map(|number| {
        let shard = format!("{number}/{count}");
        let run = project.harness(&["run", "--shard", &shard, "--format", "json", scenarios]);
        assert!([0, 1, 77, 99].contains(&run.status), "{run:?}");
        let name = format!("{number}.jsonl");
        project.write(&name, &run.stdout);
        name
    });
    parts.collect()
}

fn merge(project: &Project, parts: &[String], options: &[&str]) -> crate::support::project::Run {
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    project.harness(&[&["merge"], options, &parts].concat())
}

#[test]
fn merged_shards_are_the_result_and_the_status_of_one_run() {
    require!(right_to_trace());
    let project = project();
    let whole = project.harness(&["run", "--format", "json", "scenarios"]);
    whole.assert_status(99);
    // With more shards than scenarios some have none, which is no failure.
    for count in [1, 3, 9] {
        let parts = run_all(&project, count, "scenarios");
        let merged = merge(&project, &parts, &["--format", "json"]);
        merged.assert_status(99);
        assert_eq!(merged.verdicts(), whole.verdicts());
        assert_eq!(merged.json().last(), whole.json().last());
    }
    let parts = run_all(&project, 2, "scenarios");
    let merged = merge(
        &project,
        &parts,
        &["--report", "m.xml", "--report", "m.html"],
    );
    assert!(
        merged
            .stdout
            .ends_with("\n7 scenarios: 4 pass, 1 fail, 1 skipped, 1 broken\n")
    );
    assert!(
        project
            .read("m.xml")
            .contains("<testcase name=\"g[word=x]\"")
    );
    assert!(project.read("m.html").contains("<h1>7 scenarios on "));
    let good = Project::with("a", PASSES);
    let parts = run_all(&good, 3, "scenarios");
    merge(&good, &parts, &[]).assert_status(0);
}

#[test]
fn a_merge_of_less_or_more_than_all_parts_of_one_set_fails_and_says_which() {
    require!(right_to_trace());
    let project = Project::new();
    for name in ["a", "b", "c", "d"] {
        project.scenario(name, PASSES);
    }
    let parts = run_all(&project, 3, "scenarios");
    merge(&project, &parts, &[]).assert_status(0);
    let refused = |parts: &[String], said: &str| {
        let run = merge(&project, parts, &[]);
        run.assert_status(2);
        assert!(run.stderr.contains(said), "{}", run.stderr);
        assert_eq!(run.stdout, "");
    };
    refused(&parts[..2], "there is no part of shard 3/3");
    let doubled = [&parts[..], &parts[..1]].concat();
    refused(&doubled, "`1.jsonl` and `1.jsonl` are both shard 1/3");
    let whole = project.harness(&["run", "--format", "json", "scenarios"]);
    project.write("whole.jsonl", &whole.stdout);
    refused(
        &["whole.jsonl".to_owned()],
        "`whole.jsonl` is no part: it was not made by",
    );
    let text = project.read("2.jsonl");
    let (cut, _) = text
        .rsplit_once("{\"type\":\"summary\"")
        .expect("a summary");
    project.write("cut.jsonl", cut);
    let with_cut = [parts[0].clone(), "cut.jsonl".to_owned(), parts[2].clone()];
    refused(&with_cut, "`cut.jsonl` is no part: it is cut off");
    let run = project.harness(&["run", "--shard", "2/4", "--format", "json", "scenarios"]);
    project.write("of-four.jsonl", &run.stdout);
    let with_other = [
        parts[0].clone(),
        "of-four.jsonl".to_owned(),
        parts[2].clone(),
    ];
    refused(
        &with_other,
        "`1.jsonl` is of 3 shards, and `of-four.jsonl` of 4",
    );
    // Another container has another version of a scenario.
    project.scenario("d", "workload: { run: [\"true\", x] }\nsnapshot: false");
    let run = project.harness(&["run", "--shard", "3/3", "--format", "json", "scenarios"]);
    project.write("3.jsonl", &run.stdout);
    refused(
        &parts,
        "are of different sets of scenarios: the file of `d` is not the same",
    );
    let missing = [parts[0].clone(), "none.jsonl".to_owned()];
    refused(&missing, "`none.jsonl` is no part: ");
}

#[test]
fn a_report_of_a_merge_is_never_written_over_a_part() {
    require!(right_to_trace());
    let project = project();
    let parts = run_all(&project, 2, "scenarios");
    let before = project.read("1.jsonl");
    let run = merge(&project, &parts[..1], &["--report", "./1.jsonl"]);
    run.assert_status(2);
    assert!(run.stderr.contains("`1.jsonl` is a part"), "{run:?}");
    assert_eq!(project.read("1.jsonl"), before);
}

fn names(project: &Project, environment: &[(&str, &str)], options: &[&str]) -> BTreeSet<String> {
    let words = [&["run", "--list"], options, &["scenarios"]].concat();
    let run = project.harness_with(environment, &words);
    run.assert_status(0);
    run.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn the_environment_chooses_a_shard_and_is_told_that_it_was_heard() {
    let project = project();
    let all = names(&project, &[], &[]);
    let mut seen = BTreeSet::new();
    for (index, shard) in [("0", "1/3"), ("1", "2/3"), ("2", "3/3")] {
        let environment = [("TEST_SHARD_INDEX", index), ("TEST_TOTAL_SHARDS", "3")];
        let own = names(&project, &environment, &[]);
        assert_eq!(own, names(&project, &[], &["--shard", shard]));
        assert!(seen.is_disjoint(&own), "{own:?}");
        seen.extend(own);
        // What is named exactly was chosen by who divides: it is not divided again.
        let named = names(&project, &environment, &["--exact", "g[word=x]"]);
        assert_eq!(named, BTreeSet::from(["g[word=x]".to_owned()]));
    }
    assert_eq!(seen, all);
    let wrong = [("TEST_SHARD_INDEX", "3"), ("TEST_TOTAL_SHARDS", "3")];
    let run = project.harness_with(&wrong, &["run", "scenarios"]);
    run.assert_status(2);
    assert!(
        run.stderr.contains("the first counts from 0"),
        "{}",
        run.stderr
    );
    let half = [("TEST_TOTAL_SHARDS", "3")];
    project
        .harness_with(&half, &["run", "scenarios"])
        .assert_status(2);
}

#[test]
fn a_shard_of_the_environment_touches_the_status_file_and_may_be_empty() {
    require!(right_to_trace());
    let project = Project::with("a", PASSES);
    for index in ["0", "1", "2"] {
        let status = project.join(&format!("status-{index}"));
        let environment = [
            ("TEST_SHARD_INDEX", index),
            ("TEST_TOTAL_SHARDS", "3"),
            ("TEST_SHARD_STATUS_FILE", status.to_str().expect("text")),
        ];
        let run = project.harness_with(&environment, &["run", "scenarios"]);
        run.assert_status(0);
        assert!(run.stdout.contains(" of 1 scenario)\n"), "{}", run.stdout);
        assert!(status.exists());
        std::fs::remove_file(&status).expect("the file");
        project
            .harness_with(&environment, &["run", "--list", "scenarios"])
            .assert_status(0);
        assert!(status.exists());
    }
}

#[test]
fn durations_of_an_earlier_run_balance_the_shards() {
    let project = Project::new();
    let mut lines = String::new();
    for (name, time) in [("a", 9000), ("b", 3000), ("c", 3000), ("d", 3000)] {
        project.scenario(name, PASSES);
        lines += &format!(
            "{{\"type\":\"scenario\",\"name\":\"{name}\",\"file\":\"x\",\"verdict\":\"pass\",\
             \"duration_ms\":{time},\"findings\":[],\"events\":1,\"lost\":0,\"kernel\":\"6.1\",\
             \"usage\":{{}},\"struck\":[]}}\n"
        );
    }
    project.write("old.jsonl", &lines);
    let own = |shard| {
        names(
            &project,
            &[],
            &["--shard", shard, "--durations", "old.jsonl"],
        )
    };
    assert_eq!(own("1/2"), BTreeSet::from(["a".to_owned()]));
    assert_eq!(own("2/2").len(), 3);
    project.write("broken.jsonl", "x\n");
    for (options, said) in [
        (
            &["--shard", "1/2", "--durations", "broken.jsonl"][..],
            "line 1 is none of",
        ),
        (&["--durations", "old.jsonl"], "--shard, which is not given"),
        (&["--shard", "0/2"], "a shard is written K/N"),
    ] {
        let run = project.harness(&[&["run"], options, &["scenarios"]].concat());
        run.assert_status(2);
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
}

#[test]
fn a_merge_takes_parts_of_one_run_with_the_same_options() {
    require!(right_to_trace());
    let project = Project::new();
    for name in ["a", "b", "c", "d"] {
        project.scenario(name, PASSES);
    }
    let part = |environment: &[(&str, &str)], shard: &str, options: &[&str]| {
        let words = ["run", "scenarios", "--shard", shard, "--format", "json"];
        let run = project.harness_with(environment, &[&words, options].concat());
        run.assert_status(0);
        run.stdout
    };
    project.write("new.jsonl", &part(&[], "1/2", &["--run-id", "new"]));
    let merged = |other: &str| {
        project.write("other.jsonl", other);
        project.harness(&["merge", "new.jsonl", "other.jsonl"])
    };
    let gitlab = [("CI_PIPELINE_ID", "new")];
    merged(&part(&gitlab, "2/2", &[])).assert_status(0);
    let required = [("HARNESS_REQUIRE", "all"), ("CI_PIPELINE_ID", "new")];
    let in_guest = [("HARNESS_GUEST_KERNEL", "6.1"), ("CI_PIPELINE_ID", "new")];
    for (other, said) in [
        (
            part(&[], "2/2", &["--run-id", "old"]),
            "is of run `new`, and `other.jsonl` of run `old`",
        ),
        (part(&[], "2/2", &[]), "and `other.jsonl` of no named run"),
        (
            part(&gitlab, "2/2", &["--repeat", "2"]),
            "with `--repeat 2`",
        ),
        (part(&required, "2/2", &[]), "with `HARNESS_REQUIRE=all`"),
        // As `--vm=6.1` tells the harness in its guest.
        (part(&in_guest, "2/2", &[]), "with `--vm=6.1`"),
    ] {
        let run = merged(&other);
        run.assert_status(2);
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
    let run = project.harness(&["run", "--run-id", "x", "scenarios"]);
    run.assert_status(2);
}

#[test]
fn a_merge_where_nothing_may_be_skipped_fails_for_a_skip() {
    require!(right_to_trace());
    let project = Project::with("a", SKIPPED);
    let parts = run_all(&project, 1, "scenarios");
    merge(&project, &parts, &[]).assert_status(77);
    let words = ["merge", "1.jsonl", "--format", "json", "--report", "m.xml"];
    let run = project.harness_with(&[("HARNESS_REQUIRE", "all")], &words);
    run.assert_status(1);
    assert_eq!(run.verdicts()["a"].0, "fail");
    assert!(project.read("m.xml").contains("failures=\"1\""));
}

#[test]
fn a_shard_of_the_environment_neither_divides_a_recorded_run_nor_rounds() {
    require!(right_to_trace());
    let project = Project::with("a", FAILS);
    let run = project.harness(&["run", "--save", "saved", "scenarios"]);
    run.assert_status(1);
    for index in ["0", "1", "2"] {
        let environment = [("TEST_SHARD_INDEX", index), ("TEST_TOTAL_SHARDS", "3")];
        for options in [&["--from", "saved/a.data"][..], &["--rounds", "2"]] {
            let words = [&["run", "scenarios"], options].concat();
            project.harness_with(&environment, &words).assert_status(1);
        }
    }
}

#[test]
fn a_run_or_merge_that_ends_without_a_result_leaves_no_older_one() {
    require!(right_to_trace());
    let project = Project::with("a", PASSES);
    let files = ["r.txt", "r.json", "r.xml", "r.tap", "r.md", "r.html"];
    let reports: Vec<&str> = files.iter().flat_map(|file| ["--report", *file]).collect();
    let run = |words: &[&str]| project.harness(&[words, &reports].concat());
    let is_whole = || files.map(|file| !project.read(file).contains("the run has not finished"));
    let parts = run_all(&project, 1, "scenarios");
    for good in [&["run", "scenarios"][..], &["merge", &parts[0]]] {
        run(good).assert_status(0);
        assert_eq!(is_whole(), [true; 6]);
        // One does not know an option of its scenario, the other lacks a part.
        project.write("wrong.yaml", "nonsense: 1\n");
        project.write(
            "2.jsonl",
            &project.read(&parts[0]).replace("\"of\":1", "\"of\":2"),
        );
        let bad = match good[0] {
            "run" => ["run", "wrong.yaml"],
            _ => ["merge", "2.jsonl"],
        };
        run(&bad).assert_status(2);
        assert_eq!(is_whole(), [false; 6]);
        assert!(!project.read("r.json").contains("summary"));
        assert!(project.read("r.xml").contains("errors=\"1\""));
        assert!(project.read("r.tap").contains("not ok 1"));
        run(&["merge", "r.json"]).assert_status(2);
    }
    // A report may be the durations of the next run.
    run(&["run", "scenarios"]).assert_status(0);
    let again = [
        "run",
        "scenarios",
        "--shard",
        "1/1",
        "--durations",
        "r.json",
    ];
    run(&again).assert_status(0);
}

#[test]
fn files_of_one_name_in_two_folders_are_told_apart_and_those_of_one_folder_are_refused() {
    require!(right_to_trace());
    let project = Project::new();
    let text = format!("description: x\n{PASSES}\n");
    for file in ["x/same.yaml", "y/same.yaml"] {
        project.write(file, &text);
    }
    let words = ["run", "x", "y", "--save", "kept", "--format", "json"];
    let run = project.harness(&words);
    run.assert_status(0);
    let names = ["x/same", "y/same"];
    assert!(run.verdicts().into_keys().eq(names), "{}", run.stdout);
    let kept: Vec<String> = project.files("kept").into_keys().collect();
    let expected = names.map(|name| format!("kept/{name}.data"));
    assert_eq!(kept, expected);
    // By that name one is run alone too.
    let words = [
        "run",
        "--format",
        "json",
        "--exact",
        "y/same",
        "y/same.yaml",
    ];
    let alone = project.harness(&words).verdicts();
    assert!(alone.into_keys().eq(["y/same"]));
    project.write("scenarios/y/same.yaml", &text);
    let words = [
        "run",
        "--list",
        "--exact",
        "y/same",
        "y/same.yaml",
        "scenarios",
    ];
    assert_eq!(project.harness(&words).stdout, "y/same\n");
    project.write("x/same.yml", &text);
    let run = project.harness(&["run", "--shard", "1/2", "x/same.yaml", "x/same.yml"]);
    run.assert_status(2);
    assert!(run.stderr.contains("have the same name"), "{}", run.stderr);
}
