//! A run that is compared with another.

use crate::probes::uprobes;
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

fn run(yaml: &str) -> (String, String) {
    let project = Project::with("it", &format!("{yaml}\nsnapshot: false"));
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    let report = &run.json()[0];
    project.assert_nothing_left();
    let verdict = report["verdict"].as_str().expect("a verdict").to_owned();
    (verdict, report["reasons"].to_string())
}

fn cat(files: &str, baseline: &str, delta: &str) -> (String, String) {
    run(&format!(
        "workload: {{ shell: 'cat {files}', files: {{ one: x, two: y }} }}\nbaseline: {{ {baseline} }}\n\
         trace: {{ events: [{{ syscalls: [openat, \"%stat\"] }}] }}\nexpect: {{ delta: {delta} }}"
    ))
}

#[test]
fn a_difference_that_is_as_expected_passes() {
    require!(right_to_trace());
    let pass = ("pass".to_owned(), "[]".to_owned());
    let same = "{ openat: 1, \"%stat\": \"0..=2\" }";
    assert_eq!(cat("one two", "shell: 'cat one'", same), pass);
    let by_path = "[{ openat: { path: two }, times: 1 }, { openat: { path: one }, times: 0 }]";
    assert_eq!(cat("one two", "shell: 'cat one'", by_path), pass);
    assert_eq!(cat("one", "shell: 'cat one two'", "{ openat: -1 }"), pass);
}

#[test]
fn a_difference_that_is_not_fails_with_both_numbers() {
    require!(right_to_trace());
    let delta = "[{ openat: { path: two }, times: 2 }]";
    let (verdict, reasons) = cat("one two", "shell: 'cat one'", delta);
    assert_eq!(verdict, "fail", "{reasons}");
    let reason = "expected 2 more of `openat` than in the baseline, got 1 against 0";
    assert!(reasons.contains(reason), "{reasons}");
}

#[test]
fn a_baseline_that_does_not_end_as_it_should_is_said_to_be_at_fault() {
    require!(right_to_trace());
    for (baseline, verdict, reason) in [
        (
            "shell: 'exit 3'",
            "fail",
            "the baseline: expected exit status 0, got exit status 3",
        ),
        ("shell: 'sleep 100 & :'", "leak", "the baseline: process"),
        (
            "shell: 'sleep 100', timeout: 100ms",
            "timeout",
            "the baseline: the workload did not end",
        ),
        ("run: [no-such-program]", "fail", "the baseline: "),
    ] {
        let (got, reasons) = cat("one", baseline, "{ openat: 0 }");
        assert_eq!(got, verdict, "{reasons}");
        assert!(reasons.contains(reason), "{reasons}");
    }
}

#[test]
fn one_without_the_other_is_refused() {
    for yaml in [
        "workload: { run: [ls] }\nbaseline: { run: [ls] }",
        "workload: { run: [ls] }\nexpect: { delta: { openat: 1 } }",
        "workload: { run: [ls] }\nbaseline: { run: [ls] }\nexpect: { delta: {} }",
    ] {
        let run = Project::with("it", yaml).harness(&["run", "scenarios"]);
        run.assert_status(2);
        assert!(run.stderr.contains("it.yaml:"), "{}", run.stderr);
    }
}

#[test]
fn of_a_probe_that_is_not_in_all_copies_of_its_function_no_difference_is_known() {
    require!(right_to_trace());
    require!(program("cc"));
    require!(uprobes());
    let source = "#include <stdlib.h>\n\
         static int f(int n) { __asm__ volatile(\"\"); return n + 1; }\n\
         __attribute__((noinline)) int of_copy(int n) { return f(n); }\n\
         static int (*volatile of_function)(int) = f;\n\
         int main(int argc, char **argv)\n\
         { int n = atoi(argv[1]); while (n--) of_copy(n) + of_function(n); return 0; }\n";
    let project = Project::new();
    project.write("p.c", source);
    let cc = ["cc", "-O2", "-g", "-o", "p", "p.c"];
    project.run(&[], &cc).assert_status(0);
    let judged = |probe: &str, expected: &str| {
        let workload = "files: { p: { from: ../p, mode: 0755 } }";
        let yaml = format!(
            "workload: {{ run: [./p, \"3\"], {workload} }}\nbaseline: {{ run: [./p, \"1\"] }}\n\
             trace: {{ events: [{{ uprobe: \"./p:{probe}\" }}] }}\n\
             expect: {{ delta: {{ \"uprobe:{probe}\": {expected} }} }}\nsnapshot: false"
        );
        project.scenario("it", &yaml);
        let run = project.harness(&["run", "--format", "json", "scenarios"]);
        let report = &run.json()[0];
        (report["verdict"].clone(), report["reasons"].to_string())
    };
    for expected in ["2", "4"] {
        let (verdict, reasons) = judged("f", expected);
        assert_eq!(verdict, "incomplete", "{reasons}");
        let why = "what is not recorded whole is compared with no baseline";
        assert!(reasons.contains(why), "{reasons}");
    }
    assert_eq!(judged("of_copy", "2").0, "pass");
}
