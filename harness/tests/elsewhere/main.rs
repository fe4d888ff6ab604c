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
    let expected = "fast[fast=1]: test\nfast[fast=2]: test\nsyncs: test\nunmet: test\n";
    assert_eq!(listed, expected);
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

#[test]
fn a_snapshot_is_accepted_by_a_variable_and_then_compared() {
    require!(right_to_trace());
    let words = ["--exact", "syncs"];
    let (is_good, text) = package().kernel(&words, &[("CI", "true"), ("HARNESS_UPDATE", "1")]);
    assert!(!is_good && text.contains("there is no snapshot"), "{text}");
    let (is_good, text) = package().kernel(&words, &[("HARNESS_UPDATE", "1")]);
    assert!(is_good, "{text}");
    let (is_good, text) = package().kernel(&words, &[("CI", "true")]);
    assert!(is_good, "{text}");
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
    let (is_good, text) = package().kernel(&[], &[("HARNESS", "/nonexistent/harness")]);
    assert!(!is_good && text.contains("install it with"), "{text}");
    let (is_good, text) = package().kernel(&[], &[("HARNESS", ""), ("PATH", "/nonexistent")]);
    assert!(!is_good && text.contains("install it with"), "{text}");
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
    assert!(text.contains("7 passed"), "{text}");
}
