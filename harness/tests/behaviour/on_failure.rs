//! Scenarios whose rings are overwritten, and the ends of runs that were no pass.

use crate::support::project::{Project, Run};
use crate::support::require::{require, right_to_trace};

/// Far more calls than the rings hold, each loop with a file of its own, and something rare at the
/// end.
const MANY: &str = "workload: { shell: \"i=0; while [ $i -lt 3000 ]; do : > f$i; i=$((i+1)); done; rm f7\", timeout: 60s }\nsnapshot: false";
const FLIGHT: &str = "ring: { size: 64KiB, mode: flight }";

/// A line of the report for each scenario.
fn reports(run: &Run) -> Vec<serde_json::Value> {
    let lines = run.stdout.lines();
    let lines = lines.map(|line| serde_json::from_str(line).expect("a line of JSON"));
    lines
        .filter(|line: &serde_json::Value| line["type"] == "scenario")
        .collect()
}

fn verdict_of(project: &Project, arguments: &[&str]) -> (String, String) {
    let run = project.harness(&[&["run", "--format", "json"], arguments].concat());
    let all = reports(&run);
    let [report] = all.as_slice() else {
        panic!("{run:?}");
    };
    let reasons = report["reasons"].as_array().expect("reasons").iter();
    let reasons: Vec<&str> = reasons.filter_map(serde_json::Value::as_str).collect();
    let verdict = report["verdict"].as_str().unwrap_or_default();
    (verdict.to_owned(), reasons.join("\n"))
}

/// The verdict on the run of many calls, and the reasons.
fn judged(trace: &str, expect: &str) -> (String, String) {
    let text = format!("{MANY}\ntrace: {{ {FLIGHT}, {trace} }}\nexpect: {{ {expect} }}");
    let project = Project::with("it", &text);
    verdict_of(&project, &["scenarios"])
}

const CALLS: &str = "events: [{ syscalls: [openat, close, unlinkat, renameat2] }]";

#[test]
fn of_a_run_whose_beginning_was_overwritten_what_is_found_holds() {
    require!(right_to_trace());
    let found = judged(CALLS, "sequence: [{ unlinkat: { path: f7 } }]");
    assert_eq!(found, ("pass".to_owned(), String::new()));
    let (verdict, reasons) = judged(CALLS, "never: [unlinkat]");
    assert_eq!(verdict, "fail", "{reasons}");
    let (verdict, reasons) = judged(CALLS, "count: { close: 2 }");
    assert_eq!(verdict, "fail", "{reasons}");
}

#[test]
fn of_a_run_whose_beginning_was_overwritten_what_is_absent_is_not_known() {
    require!(right_to_trace());
    for expect in [
        "never: [renameat2]",
        "sequence: [{ openat: { path: f0 } }, { unlinkat: { path: f7 } }]",
        "count: { unlinkat: 1 }",
        "count: [{ openat: { path: f0 }, times: 0 }]",
        "only: [{ openat: {} }, { close: {} }, { unlinkat: {} }]",
    ] {
        let (verdict, reasons) = judged(CALLS, expect);
        assert_eq!(verdict, "incomplete", "{expect}: {reasons}");
        for said in [
            " of `raw_syscalls:sys_enter`",
            "trace.ring.size",
            "ring: stream",
        ] {
            assert!(reasons.contains(said), "{expect}: {reasons}");
        }
    }
}

#[test]
fn what_is_not_overwritten_is_judged_as_ever() {
    require!(right_to_trace());
    // A tracepoint in a ring of its own.
    let events =
        "events: [{ syscalls: [openat] }, { event: \"sched:sched_process_exec\", ring: stream }]";
    let exact = judged(events, "count: { \"sched:sched_process_exec\": 2 }");
    assert_eq!(exact, ("pass".to_owned(), String::new()));
    let (verdict, reasons) = judged(events, "count: { \"sched:sched_process_exec\": 3 }");
    assert_eq!(verdict, "fail", "{reasons}");
    // One that never fired: there was nothing to overwrite.
    let events = "events: [{ syscalls: [openat] }, { event: \"signal:signal_generate\", filter: \"sig == 10\" }]";
    let never = judged(events, "never: [\"signal:signal_generate\"]");
    assert_eq!(never, ("pass".to_owned(), String::new()));
    // A run that the ring holds.
    let text = format!(
        "workload: {{ shell: \": > a; rm a\" }}\nsnapshot: false\ntrace: {{ ring: {{ mode: flight }}, {CALLS} }}\n\
         expect: {{ never: [renameat2], count: {{ unlinkat: 1 }}, sequence: [{{ openat: {{ path: a, returns: $fd }} }}, {{ close: {{ fd: $fd }} }}] }}"
    );
    let project = Project::with("short", &text);
    let whole = verdict_of(&project, &["--repeat", "2", "scenarios"]);
    assert_eq!(whole, ("pass".to_owned(), String::new()));
}

#[test]
fn where_only_a_tracepoint_is_overwritten_calls_are_judged_as_ever() {
    require!(right_to_trace());
    // Calls in plenty that are not asked for, but by the tracepoint of all calls.
    const BUSY: &str = "workload: { shell: \"dd if=/dev/zero of=/dev/null bs=1 count=20000 2>/dev/null; : > f7; rm f7\", timeout: 60s }";
    let verdict_with = |expect: &str| {
        let text = format!(
            "{BUSY}\nsnapshot: false\ntrace: {{ ring: {{ size: 1MiB }}, events: [{{ syscalls: [unlinkat, renameat2] }}, \
             {{ event: \"raw_syscalls:sys_enter\", ring: flight }}] }}\nexpect: {{ never: [renameat2], count: {{ unlinkat: 1{expect} }} }}"
        );
        verdict_of(&Project::with("it", &text), &["scenarios"])
    };
    assert_eq!(verdict_with(""), ("pass".to_owned(), String::new()));
    let (verdict, reasons) = verdict_with(", \"raw_syscalls:sys_enter\": \"1..=100000\"");
    assert_eq!(verdict, "incomplete", "{reasons}");
    assert!(reasons.contains("overwritten"), "{reasons}");
}

#[test]
fn the_end_of_a_run_that_failed_is_one_stretch_without_a_gap() {
    require!(right_to_trace());
    let text =
        format!("{MANY}\ntrace: {{ {FLIGHT} }}\nexpect: {{ never: [unlinkat] }}\non_failure: dump");
    let project = Project::with("rare", &text);
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    let [report] = reports(&run).try_into().expect("one scenario");
    assert_eq!(report["verdict"], "fail", "{run:?}");
    assert_eq!(report["dump"], "harness-dumps/rare.perf.data");
    assert_eq!(report["dump_text"], "harness-dumps/rare.txt");
    let text = project.read("harness-dumps/rare.txt");
    assert!(text.starts_with("# rare: fail\n#   `expect.never`: `unlinkat` occurs"));
    let opened = text.lines().filter(|line| line.contains("O_CREAT"));
    let numbers: Vec<u32> = opened
        .map(|line| {
            let (_, path) = line.split_once("AT_FDCWD, \"f").expect("a path");
            let number = path.split('"').next().expect("its end");
            number.parse().expect("a number")
        })
        .collect();
    let first = *numbers.first().expect("files");
    assert!(first > 1000, "the first of them are forgotten: {first}");
    assert_eq!(numbers, (first..3000).collect::<Vec<_>>());
    assert!(
        text.contains("unlinkat(AT_FDCWD, \"f7\", 0) = 0\n"),
        "{text}"
    );
    let last = text.lines().last().expect("lines");
    assert!(last.contains("exit_group(0)"), "{last}");

    // Who did it is known, though it began before.
    let script = project.harness(&["script", "-i", "harness-dumps/rare.perf.data"]);
    assert_eq!(script.stderr, "");
    // But that of who waits for it, whose calls are no part of the run.
    let lines = script
        .stdout
        .lines()
        .filter(|line| !line.contains(" memory: "));
    let lines: Vec<&str> = lines.map(str::trim_start).collect();
    let known = |name: &str| lines.iter().any(|line| line.starts_with(name));
    assert!(
        known("sh ") && known("rm ") && !known(":"),
        "{}",
        script.stdout
    );
    let from = ["--from", "harness-dumps/rare.perf.data", "scenarios"];
    assert_eq!(verdict_of(&project, &from).0, "fail");
    let other = text_of_never_renamed();
    project.scenario("rare", &other);
    assert_eq!(verdict_of(&project, &from).0, "incomplete");
}

fn text_of_never_renamed() -> String {
    format!("{MANY}\nexpect: {{ never: [renameat2] }}")
}

#[test]
fn nothing_is_kept_of_a_pass_and_an_older_end_is_replaced() {
    require!(right_to_trace());
    let scenario = |status: u32| {
        format!(
            "workload: {{ shell: \": > a; exit {status}\" }}\nsnapshot: false\non_failure: dump\ntrace: {{ events: [{{ syscalls: [openat] }}] }}"
        )
    };
    let project = Project::with("it", &scenario(0));
    let run = |status| {
        project.scenario("it", &scenario(status));
        project.harness(&["run", "--dumps", "kept", "scenarios"])
    };
    run(0).assert_status(0);
    assert!(project.files("kept").is_empty());
    let said = run(3);
    said.assert_status(1);
    assert!(
        said.stdout
            .contains("its end: kept/it.txt, kept/it.perf.data"),
        "{said:?}"
    );
    let names: Vec<String> = project.files("kept").into_keys().collect();
    assert_eq!(names, ["kept/it.perf.data", "kept/it.txt"]);
    run(4).assert_status(1);
    assert!(project.read("kept/it.txt").contains("got exit status 4"));
    // Next to all that is saved, where nothing else is said.
    project.harness(&["run", "--save", "saved", "scenarios"]);
    let names: Vec<String> = project.files("saved").into_keys().collect();
    assert_eq!(
        names,
        ["saved/it.data", "saved/it.perf.data", "saved/it.txt"]
    );
}

#[test]
fn so_much_of_the_end_is_kept_as_is_asked_for() {
    require!(right_to_trace());
    let text = |last: &str, expect: &str| {
        format!(
            "{MANY}\ntrace: {{ events: [{{ syscalls: [openat, unlinkat] }}] }}\nexpect: {{ {expect} }}\non_failure: {{ dump: {{ last: {last} }} }}"
        )
    };
    let failing = "never: [unlinkat], count: [{ openat: { path: f7 }, times: 1 }]";
    let project = Project::with("it", &text("200KiB", failing));
    let (verdict, reasons) = verdict_of(&project, &["scenarios"]);
    assert_eq!(verdict, "fail", "{reasons}");
    let kept = project.read("harness-dumps/it.txt");
    let n_lines = kept.lines().filter(|line| !line.starts_with('#')).count();
    assert!((20..300).contains(&n_lines), "{kept}");
    // What was left out then is not known now.
    let from = ["--from", "harness-dumps/it.perf.data", "scenarios"];
    assert_eq!(verdict_of(&project, &from).0, "fail");
    project.scenario(
        "it",
        &text("200KiB", "count: [{ openat: { path: f7 }, times: 1 }]"),
    );
    let (verdict, reasons) = verdict_of(&project, &from);
    assert_eq!(verdict, "incomplete", "{reasons}");
    project.scenario("it", &text("60s", failing));
    verdict_of(&project, &["scenarios"]);
    let whole = project.read("harness-dumps/it.txt");
    assert!(whole.contains("\"f0\"") && whole.len() > 3 * kept.len());
}

#[test]
fn the_end_of_a_run_that_took_too_long_is_kept() {
    require!(right_to_trace());
    let text = format!(
        "workload: {{ shell: \"while :; do : > a; done\", timeout: 300ms }}\nsnapshot: false\ntrace: {{ {FLIGHT} }}\non_failure: dump"
    );
    let project = Project::with("it", &text);
    let (verdict, reasons) = verdict_of(&project, &["scenarios"]);
    assert_eq!(verdict, "timeout", "{reasons}");
    let kept = project.read("harness-dumps/it.txt");
    assert!(
        kept.matches("openat(AT_FDCWD, \"a\"").count() > 10,
        "{kept}"
    );
    project.assert_nothing_left();
}

#[test]
fn what_takes_whole_runs_says_so() {
    require!(right_to_trace());
    let text = format!("workload: {{ run: [\"true\"] }}\nsnapshot: false\ntrace: {{ {FLIGHT} }}");
    let project = Project::with("it", &text);
    let why = "its rings are overwritten (`flight`)";
    let calibrated = project.harness(&["calibrate", "scenarios/it.yaml"]);
    calibrated.assert_status(2);
    assert!(calibrated.stderr.contains(why), "{calibrated:?}");
    let mutated = project.harness(&["mutate", "scenarios"]);
    assert!(mutated.stdout.contains(why), "{mutated:?}");
    let many = project.harness(&["run", "--repeat", "3", "--jobs", "2", "scenarios"]);
    many.assert_status(0);
}
