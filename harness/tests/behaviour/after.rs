//! What a run leaves in its directory.

use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};

/// Runs a shell with these expectations; gives the verdict and the reasons.
fn run(shell: &str, after: &str) -> (String, String) {
    let project = Project::with(
        "it",
        &format!(
            "workload: {{ shell: '{shell}' }}\ntrace: {{ events: [{{ syscalls: [exit_group] }}] }}\n\
             expect: {{ files_after: {after} }}\nsnapshot: false"
        ),
    );
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    let report = &run.json()[0];
    let text = |name: &str| report[name].as_str().map(str::to_owned);
    project.assert_nothing_left();
    (
        text("verdict").expect("a verdict"),
        report["reasons"].to_string(),
    )
}

/// The reasons of a failure.
fn failure(shell: &str, after: &str) -> String {
    let (verdict, reasons) = run(shell, after);
    assert_eq!(verdict, "fail", "{reasons}");
    reasons
}

const LEAVES: &str = "mkdir -p a/b; echo one > a/b/out; echo two > log.1; chmod 600 log.1; ln -s nowhere link; mkfifo pipe";

#[test]
fn what_is_left_as_expected_passes() {
    require!(right_to_trace());
    let after = "{ a/b/out: \"one\\n\", \"log.*\": { mode: \"0600\", contains: tw, size: 4 }, link: { target: nowhere }, \
                 pipe: { kind: fifo }, gone: { exists: false }, \"**\": { exists: false } }";
    assert_eq!(run(LEAVES, after), ("pass".to_owned(), "[]".to_owned()));
}

#[test]
fn what_is_left_otherwise_fails_and_is_shown() {
    require!(right_to_trace());
    let reasons = failure(LEAVES, "{ a/b/out: \"two\\n\" }");
    assert!(reasons.contains(r"-two\n+one"), "{reasons}");
    let reasons = failure(
        LEAVES,
        "{ log.2: { exists: true }, log.1: { mode: \"0644\" } }",
    );
    assert!(reasons.contains("`log.1`)"), "the nearest: {reasons}");
    assert!(reasons.contains("mode 0644, got 0600"), "{reasons}");
    let reasons = failure(
        LEAVES,
        "{ log.1: { exists: false }, \"a/**\": { exists: false } }",
    );
    assert!(reasons.contains("expected no `log.1`"), "{reasons}");
    assert!(reasons.contains("`a/b/out`"), "{reasons}");
}

#[test]
fn a_hostile_tree_is_looked_at_to_its_bounds_and_followed_nowhere() {
    require!(right_to_trace());
    let deep = "perl -e \"for (1..3000) { mkdir q(d) x 50; chdir q(d) x 50 or die }\"";
    let (verdict, reasons) = run(deep, "{ \"**/x\": { exists: false } }");
    assert_eq!(verdict, "incomplete", "{reasons}");
    assert!(reasons.contains("its path is too long"), "{reasons}");
    let links = "mkfifo pipe; ln -s / root; ln -s pipe a; ln -s /dev/zero zero; truncate -s 1T big";
    let reasons = failure(
        links,
        "{ root/etc/passwd: { exists: true }, zero: { contains: x }, a: { contains: x } }",
    );
    assert!(
        reasons.contains("`root` is a symbolic link, which is not followed"),
        "{reasons}"
    );
    assert!(
        reasons.contains("symbolic link to \\\"pipe\\\""),
        "{reasons}"
    );
    let (verdict, reasons) = run("head -c 17M /dev/zero > big", "{ big: { contains: x } }");
    assert_eq!(verdict, "incomplete", "{reasons}");
    assert!(
        reasons.contains("17825792 bytes, of which 16777216"),
        "{reasons}"
    );
}

#[test]
fn a_file_of_any_size_is_read_beside_its_holes() {
    require!(right_to_trace());
    let makes =
        "truncate -s 1T big; printf far | dd of=big bs=1M seek=99999 conv=notrunc status=none";
    let (verdict, reasons) = run(makes, "{ big: { contains: far } }");
    assert_eq!(verdict, "pass", "{reasons}");
    let reasons = failure(makes, "{ big: { contains: near } }");
    assert!(reasons.contains("beside its holes"), "{reasons}");
    let (verdict, reasons) = run(makes, "{ big: { contains: \"far\\0\" } }");
    assert_eq!(verdict, "pass", "{reasons}");
    let (verdict, reasons) = run(makes, "{ big: { matches: far$ } }");
    assert_eq!(verdict, "incomplete", "{reasons}");
}

#[test]
fn what_could_not_be_otherwise_is_refused() {
    for after in [
        "{}",
        "{ out: { contains: \"\" } }",
        "{ /etc/passwd: { exists: true } }",
        "{ ../x: { exists: true } }",
    ] {
        let yaml = format!("workload: {{ run: [ls] }}\nexpect: {{ files_after: {after} }}");
        let run = Project::with("it", &yaml).harness(&["run", "scenarios"]);
        run.assert_status(2);
        assert!(run.stderr.contains("it.yaml:3:"), "{after}: {}", run.stderr);
    }
}
