//! Where a trace starts, and stretches of it.

use crate::support::project::{Project, Run};
use crate::support::require::{program, require, right_to_trace};

fn run(yaml: &str) -> (Project, Run) {
    let project = Project::with("it", yaml);
    let run = project.harness(&["run", "--update", "--format", "json", "scenarios"]);
    (project, run)
}

/// The verdict and the reasons.
fn said(yaml: &str) -> (String, String) {
    let (_, run) = run(yaml);
    let report = &run.json()[0];
    let verdict = report["verdict"].as_str().expect("a verdict").to_owned();
    (verdict, report["reasons"].to_string())
}

/// The snapshot that was written.
fn snapshot(yaml: &str) -> String {
    let (project, run) = run(yaml);
    run.assert_status(0);
    project.read("snapshots/it.snap")
}

const HELLO: &str = "int getppid(void); int main(void) { getppid(); return 0; }";

/// Compiles a program that makes one call of its own, and gives the calls of each way to start it.
fn hello(option: &str) -> String {
    snapshot(&format!(
        "workload: {{ shell: 'gcc {option} -o hello hello.c && env -i ./hello', files: {{ hello.c: '{HELLO}' }}, timeout: 60s }}\n\
         trace: {{ since: main }}"
    ))
}

/// What follows the start of the compiled program.
fn behind_start(snapshot: &str) -> &str {
    let mut lines = snapshot.lines().map(str::trim);
    let start = lines.find(|line| line.starts_with("execve(\"./hello\""));
    start
        .and_then(|_| lines.next())
        .unwrap_or_else(|| panic!("no hello: {snapshot}"))
}

#[test]
fn the_loaders_calls_are_left_out_of_each_program() {
    require!(right_to_trace());
    let snapshot = snapshot(
        "workload: { shell: 'cat one; perl -e \"open(F, q(two))\"; exec cat two', files: { one: x, two: y } }\n\
         trace: { since: main, events: [{ syscalls: [openat, mprotect, execve, arch_prctl] }] }",
    );
    for call in ["ld.so.cache", "libc.so.6", "mprotect", "arch_prctl"] {
        assert!(!snapshot.contains(call), "{call}: {snapshot}");
    }
    let execs = snapshot
        .lines()
        .filter(|line| line.starts_with("  execve(") && line.ends_with(" = 0"));
    assert_eq!(execs.count(), 4, "{snapshot}");
    assert_eq!(snapshot.matches("<$DIR/one>").count(), 1, "{snapshot}");
    assert_eq!(snapshot.matches("<$DIR/two>").count(), 2, "{snapshot}");
}

#[test]
fn what_follows_the_start_of_a_program_is_its_own_to_the_first_call() {
    require!(right_to_trace());
    require!(program("gcc"));
    let snapshot = hello("");
    assert_eq!(behind_start(&snapshot), "getppid() = P1");
}

#[test]
fn a_static_program_has_no_loader_and_loses_nothing() {
    require!(right_to_trace());
    require!(program("gcc"));
    let snapshot = hello("-static");
    let first = behind_start(&snapshot);
    assert!(first.starts_with("brk("), "{first}");
}

#[test]
fn a_loader_that_does_not_find_a_library_leaves_its_calls_in_the_trace() {
    require!(right_to_trace());
    require!(program("gcc"));
    let (_, run) = run(
        "workload: { shell: 'gcc -shared -o libit.so it.c; gcc -o it main.c -L. -lit; exec ./it',\n  \
           files: { it.c: 'int f(void) { return 0; }', main.c: 'int f(void); int main(void) { return f(); }' },\n  \
           timeout: 60s }\n\
         trace: { since: main, events: [{ syscalls: [openat] }] }\nsnapshot: false\n\
         expect: { exit: 127, any_order: [{ openat: { path: { glob: '**/libit.so' }, returns: ENOENT } }] }",
    );
    run.assert_status(0);
}

const MARKED: &str = "workload: { shell: 'cat one; echo go; cat two', files: { one: x, two: y } }";

#[test]
fn a_trace_starts_behind_its_mark() {
    require!(right_to_trace());
    let events = "events: [{ syscalls: [openat] }]";
    let rest = "expect: { never: [{ openat: { path: one } }], count: [{ openat: { path: two }, times: 1 }] }";
    let written = format!("{MARKED}\ntrace: {{ since: {{ written: go }}, {events} }}\n{rest}");
    let text = snapshot(&written);
    assert!(
        !text.contains("one") && text.contains("<$DIR/two>"),
        "{text}"
    );
    assert!(!text.contains("write("), "it was not asked for: {text}");
    let step = format!(
        "{MARKED}\ntrace: {{ since: {{ step: {{ openat: {{ path: one }} }} }}, {events} }}\n{rest}"
    );
    assert!(!snapshot(&step).contains("<$DIR/one>"));
}

#[test]
fn a_mark_that_is_not_there_once_fails() {
    require!(right_to_trace());
    let since = |mark: &str| {
        let yaml = format!(
            "{MARKED}\ntrace: {{ since: {{ {mark} }}, events: [{{ syscalls: [openat] }}] }}\nsnapshot: false"
        );
        let (verdict, reasons) = said(&yaml);
        assert_eq!(verdict, "fail", "{reasons}");
        reasons
    };
    assert!(since("written: g").contains(r#"the mark \"g\" never came"#));
    let reasons = since("step: { openat: { path: { glob: \"**/libc.so.6\" } } }");
    assert!(reasons.contains("times: "), "{reasons}");
}

fn section(rest: &str) -> String {
    format!(
        "workload: {{ shell: 'cat one; echo \">save\"; cat two; echo \"<save\"; cat one; cat one', files: {{ one: x, two: y }} }}\n\
         trace: {{ events: [{{ syscalls: [openat, exit_group] }}] }}\n{rest}"
    )
}

const SAVE: &str = "sections: { save: { from: \">save\", to: \"<save\" } }";

#[test]
fn a_section_is_judged_by_what_lies_between_its_marks() {
    require!(right_to_trace());
    let judged = |expected: &str| {
        said(&section(&format!(
            "{SAVE}\nexpect: {{ sections: {{ save: {expected} }}, count: [{{ openat: {{ path: one }}, times: 3 }}] }}\nsnapshot: false"
        )))
    };
    let pass = ("pass".to_owned(), "[]".to_owned());
    assert_eq!(
        judged("{ sequence: [{ openat: { path: two } }, exit_group], count: { exit_group: 1 } }"),
        pass
    );
    assert_eq!(
        judged(
            "{ never: [{ openat: { path: one } }], only: [{ openat: { path: { not: one } } }, exit_group] }"
        ),
        pass
    );
    let (verdict, reasons) = judged("{ count: [{ openat: { path: one }, times: 1 }] }");
    assert_eq!(verdict, "fail", "{reasons}");
    assert!(
        reasons.contains("section `save`: expected 1 of `openat"),
        "{reasons}"
    );
}

#[test]
fn a_section_without_its_marks_fails_and_says_how_often_they_came_and_from_whom() {
    require!(right_to_trace());
    let judged = |shell: &str| {
        let yaml = format!(
            "workload: {{ shell: '{shell}' }}\ntrace: {{ events: [{{ syscalls: [openat] }}] }}\n{SAVE}\n\
             expect: {{ sections: {{ save: {{ count: {{ openat: 0 }} }} }} }}\nsnapshot: false"
        );
        let (verdict, reasons) = said(&yaml);
        assert_eq!(verdict, "fail", "{reasons}");
        reasons
    };
    let reasons = judged("echo \">save\"");
    assert!(
        reasons.contains(r#"section `save`: the mark \"<save\" never came"#),
        "{reasons}"
    );
    let reasons = judged("echo \">save\"; echo \">save\"; (echo \">save\"); echo \"<save\"");
    assert!(
        reasons.contains(r#"the mark \">save\" came 3 times: 2 of P1, 1 of P2"#),
        "{reasons}"
    );
    let reasons = judged("echo \"<save\"; echo \">save\"");
    assert!(reasons.contains("came before its beginning"), "{reasons}");
}

#[test]
fn a_snapshot_of_a_section_shows_nothing_else() {
    require!(right_to_trace());
    let text = snapshot(&section(&format!("{SAVE}\nsnapshot: {{ section: save }}")));
    assert!(
        text.contains("<$DIR/two>") && !text.contains("<$DIR/one>"),
        "{text}"
    );
    assert_eq!(text.matches(" cat").count(), 1, "{text}");
    let text = snapshot(&section(&format!(
        "{SAVE}\nsnapshot: {{ section: save, level: counts }}"
    )));
    assert!(text.contains("  exit_group 1\n"), "{text}");
}

#[test]
fn a_section_that_nobody_speaks_of_or_nobody_declares_is_refused() {
    for rest in [
        SAVE.to_owned(),
        format!("{SAVE}\nexpect: {{ sections: {{ sav: {{ never: [openat] }} }} }}"),
        format!("{SAVE}\nsnapshot: {{ section: sav }}"),
        "sections: { save: { from: \"\", to: b } }\nsnapshot: { section: save }".to_owned(),
    ] {
        let run = Project::with("it", &section(&rest)).harness(&["run", "scenarios"]);
        run.assert_status(2);
        assert!(run.stderr.contains("it.yaml:"), "{}", run.stderr);
    }
}
