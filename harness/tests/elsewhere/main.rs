//! The crate `harness-test` in a package that knows nothing of this repository: made afresh in a
//! temporary folder, built and run by `cargo test` as its author would.

use std::process::Command;

use package::{VERSION, package};
use support::require::{require, right_to_trace};

mod package;
mod support;

#[test]
fn each_scenario_below_a_folder_is_a_test_and_each_row_of_a_matrix() {
    let (is_good, listed) = package().kernel(&["--list", "--format", "terse"], &[]);
    assert!(is_good, "{listed}");
    let expected =
        "fast[fast=1]: test\nfast[fast=2]: test\nstored: test\nsyncs: test\nunmet: test\n";
    assert_eq!(listed, expected);
    // Bazel's rules for Rust list the tests, and name to each shard its own.
    let shard = [("TEST_SHARD_INDEX", "0"), ("TEST_TOTAL_SHARDS", "5")];
    let (_, listed) = package().kernel(&["--list", "--format", "terse"], &shard);
    assert_eq!(listed, expected);
    for index in ["0", "1"] {
        let shard = [("TEST_SHARD_INDEX", index), ("TEST_TOTAL_SHARDS", "2")];
        let (_, text) = package().kernel(&["--exact", "unmet"], &shard);
        assert!(text.contains("running 1 test\n"), "{text}");
    }
}

#[test]
fn each_test_is_of_one_shard() {
    require!(right_to_trace());
    let mut all = Vec::new();
    for index in ["0", "1"] {
        let status = package().path(&format!("status-{index}"));
        let shard = [
            ("TEST_SHARD_INDEX", index),
            ("TEST_TOTAL_SHARDS", "2"),
            ("TEST_SHARD_STATUS_FILE", status.to_str().expect("text")),
            ("INSTA_UPDATE", "no"),
        ];
        let (_, text) = package().kernel(&[], &shard);
        assert!(status.exists(), "{text}");
        let begun = |line: &str| Some(line.strip_prefix("test ")?.split(' ').next()?.to_owned());
        let own = text.lines().filter_map(begun);
        let own: Vec<String> = own.filter(|name| name != "result:").collect();
        assert!((1..5).contains(&own.len()), "{text}");
        all.extend(own);
    }
    all.sort();
    let expected = ["fast[fast=1]", "fast[fast=2]", "stored", "syncs", "unmet"];
    assert_eq!(all, expected);
    let shard = [("TEST_SHARD_INDEX", "2"), ("TEST_TOTAL_SHARDS", "2")];
    let (is_good, text) = package().kernel(&[], &shard);
    assert!(!is_good && text.contains("counts from 0"), "{text}");
}

#[test]
fn a_scenario_runs_the_program_that_was_just_built_and_a_failure_says_how_to_run_it_alone() {
    require!(right_to_trace());
    // Some versions of cargo set the variable for the test; the shell of its user has none.
    let built = package()
        .kernel
        .ancestors()
        .nth(2)
        .map(|it| it.join("save"));
    let built = built.expect("a folder").to_string_lossy().into_owned();
    for set in [&[][..], &[("CARGO_BIN_EXE_save", built.as_str())]] {
        let (is_good, text) = package().kernel(&["--exact", "fast[fast=1]", "--nocapture"], set);
        assert!(!is_good, "{text}");
        assert!(text.contains("there is no `fsync`"), "{text}");
        let again = text
            .lines()
            .find_map(|line| line.strip_prefix("this one alone: "));
        let again = Command::new("sh")
            .args(["-c", again.expect(&text)])
            .current_dir("/")
            .env_remove("CARGO_BIN_EXE_save")
            .output()
            .expect("sh");
        assert_eq!(again.status.code(), Some(1), "{again:?}");
        assert!(
            String::from_utf8_lossy(&again.stdout).contains("there is no `fsync`"),
            "{again:?}"
        );
    }
}

type Environment<'a> = &'a [(&'a str, &'a str)];

#[test]
fn what_becomes_of_a_new_trace_is_said_in_the_words_of_insta() {
    require!(right_to_trace());
    const FOLDER: &str = "tests/kernel/stored/snapshots";
    const SNAPSHOT: &str = "tests/kernel/stored/snapshots/stored.snap";
    let stored = |env: Environment<'_>| {
        let (is_good, text) = package().kernel(&["--exact", "stored"], env);
        (is_good, package().files(FOLDER), text)
    };
    let new: [(Environment<'_>, bool, &[&str]); 9] = [
        (&[("CI", "true"), ("HARNESS_UPDATE", "1")], false, &[]),
        (&[("CI", "true"), ("INSTA_UPDATE", "always")], false, &[]),
        (&[("INSTA_UPDATE", "no")], false, &[]),
        (&[("INSTA_UPDATE", "yes")], false, &[]),
        (&[], false, &["stored.snap.new"]),
        (&[("INSTA_UPDATE", "new")], false, &["stored.snap.new"]),
        (&[("INSTA_UPDATE", "unseen")], true, &["stored.snap"]),
        (&[("INSTA_UPDATE", "force")], true, &["stored.snap"]),
        (&[("HARNESS_UPDATE", "1")], true, &["stored.snap"]),
    ];
    let owned = |files: &[&str]| files.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    for (env, passes, files) in new {
        let (is_good, found, text) = stored(env);
        assert_eq!((is_good, found), (passes, owned(files)), "{env:?}: {text}");
        if is_good {
            let (is_good, _, text) = stored(&[("CI", "true")]);
            assert!(is_good, "{text}");
        }
        if !files.is_empty() {
            std::fs::remove_dir_all(package().path(FOLDER)).expect("the folder");
        }
    }
    let (_, _, text) = stored(&[("INSTA_UPDATE", "always")]);
    let snapshot = std::fs::read_to_string(package().path(SNAPSHOT)).expect(&text);
    let old = snapshot.replace("fsync", "sync");
    std::fs::write(package().path(SNAPSHOT), &old).expect("the snapshot");
    let both: &[&str] = &["stored.snap", "stored.snap.new"];
    let changed: [(Environment<'_>, bool, &[&str]); 4] = [
        (&[("INSTA_UPDATE", "no")], false, &both[..1]),
        (&[("INSTA_UPDATE", "unseen")], false, both),
        // As `cargo insta test` calls: it reviews afterwards.
        (
            &[("INSTA_UPDATE", "new"), ("INSTA_FORCE_PASS", "1")],
            true,
            both,
        ),
        (&[("INSTA_UPDATE", "always")], true, &both[..1]),
    ];
    for (env, passes, files) in changed {
        let now = std::fs::read_to_string(package().path(SNAPSHOT)).expect("the snapshot");
        assert_eq!(now, old, "before {env:?}");
        let (is_good, found, text) = stored(env);
        assert_eq!((is_good, found), (passes, owned(files)), "{env:?}: {text}");
    }
    let now = std::fs::read_to_string(package().path(SNAPSHOT)).expect("the snapshot");
    assert_eq!(now, snapshot);
    // What fails for another reason is not forgiven.
    let (is_good, text) =
        package().kernel(&["--exact", "fast[fast=1]"], &[("INSTA_FORCE_PASS", "1")]);
    assert!(!is_good, "{text}");
}

#[test]
fn a_scenario_that_is_skipped_is_ignored_and_no_pass_where_a_runner_has_no_word_for_it() {
    require!(right_to_trace());
    let words = ["--exact", "unmet", "--nocapture"];
    let (is_good, text) = package().kernel(&words, &[]);
    assert!(is_good && text.contains("1 ignored"), "{text}");
    let (is_good, text) = package().kernel(&words, &[("NEXTEST", "1")]);
    assert!(
        !is_good && text.contains("nextest would take that for a pass"),
        "{text}"
    );
    let (is_good, text) = package().kernel(&words, &[("HARNESS_REQUIRE", "all")]);
    assert!(!is_good, "{text}");
}

#[test]
fn without_the_program_or_with_another_nothing_passes() {
    let install = "cargo install --locked --git URL harness-cli";
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");
    let readme = std::fs::read_to_string(readme).expect("the README");
    assert!(readme.lines().any(|line| line == install));
    let named = "the variable HARNESS names `/nonexistent/harness`, which is not there";
    let missing = "neither named by the variable HARNESS nor in PATH";
    for (set, said) in [
        (&[("HARNESS", "/nonexistent/harness")][..], named),
        (&[("HARNESS", ""), ("PATH", "/nonexistent")], missing),
    ] {
        let (is_good, text) = package().kernel(&[], set);
        assert!(!is_good && text.contains(said), "{text}");
        assert!(
            text.contains(&format!("install it with `{install}`")),
            "{text}"
        );
    }
    for other in ["/bin/true", "/bin/echo"] {
        let (is_good, text) = package().kernel(&[], &[("HARNESS", other)]);
        assert!(!is_good && text.contains("is version `"), "{text}");
    }
    // It has the right name and version, and says nothing, or something else.
    let (is_good, text) = package().faked(&package().kernel, &[], VERSION, "");
    assert!(!is_good && text.contains("printed nothing"), "{text}");
    let (is_good, text) = package().faked(&package().kernel, &[], VERSION, "{\"type\":\"item\"}");
    assert!(!is_good && text.contains("not understood"), "{text}");
}

/// Whose lines say that all is well: what they mean there is not known.
#[test]
fn a_harness_of_another_version_passes_no_test() {
    let pass = r#"{"type":"scenario","name":"it","verdict":"pass","reasons":[],"trace":"a\n\nb"}"#;
    let list = "{\"type\":\"list\"}\n{\"type\":\"item\",\"name\":\"syncs\",\"file\":\"s.yaml\"}";
    let checks = &package().checks;
    let call = |target, test, version: &str, lines| {
        package().faked(target, &["--exact", test], version, lines)
    };
    // So it is not the lines that are refused.
    let (is_good, text) = call(checks, "it_syncs", VERSION, pass);
    assert!(is_good && text.contains("1 passed"), "{text}");
    for version in [
        "9.9.9",
        &format!("{VERSION}-beta"),
        &format!("{VERSION}1"),
        "",
    ] {
        for (target, test, lines) in [
            (checks, "it_syncs", pass),
            (checks, "its_trace_is_text", pass),
            (&package().kernel, "syncs", list),
        ] {
            let (is_good, text) = call(target, test, version, lines);
            let says = format!("is version `{version}`");
            assert!(!is_good && text.contains(&says), "{test}: {text}");
        }
    }
}

#[test]
fn cargo_test_and_nextest_run_them_by_name() {
    require!(right_to_trace());
    require!(nextest());
    for runner in [&["test"][..], &["nextest", "run"]] {
        let run = |name: &str, env: &[(&str, &str)]| {
            let target = ["--test", "kernel"];
            let exactly = ["--", "--exact", name];
            // What goes to cargo stands before the `--`.
            let words = [runner, &target, &["--offline"], &exactly].concat();
            package().cargo(&words, env)
        };
        let (is_good, text) = run("syncs", &[("HARNESS_UPDATE", "1")]);
        assert!(is_good && text.contains("1 passed"), "{text}");
        let (is_good, text) = run("fast[fast=2]", &[]);
        assert!(!is_good, "{text}");
        assert!(text.contains("there is no `fsync`"), "{text}");
        assert!(text.contains("this one alone: "), "{text}");
    }
}

fn nextest() -> Result<(), String> {
    let mut command = Command::new(env!("CARGO"));
    match command.args(["nextest", "--version"]).output() {
        Ok(output) if output.status.success() => Ok(()),
        _ => Err("`cargo nextest` is not installed".to_owned()),
    }
}

#[test]
fn test_functions_check_a_program_in_one_call() {
    require!(right_to_trace());
    let output = package().call(&package().checks, &[], &[]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("10 passed"), "{text}");
}
