//! A recorded run is judged as it was when it took place, and traced as it would have been.

mod conventions;
mod damaged;
mod foreign;
mod given;
mod shown;

use crate::support::project::{Project, Run};
use crate::support::require::{program, require, right_to_trace};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What came of a scenario: name, verdict, reasons, events and lost records.
pub(super) type Judged = (String, String, Vec<String>, u64, u64);

pub(super) fn judged(project: &Project, arguments: &[&str]) -> Vec<Judged> {
    let run = project.harness(&[&["run", "--format", "json"], arguments].concat());
    of_lines(&run)
}

fn of_lines(run: &Run) -> Vec<Judged> {
    let lines = run.stdout.lines();
    let scenarios = lines.filter_map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
        let reasons = line["reasons"].as_array()?.iter();
        Some((
            text("name"),
            text("verdict"),
            reasons.map(ToString::to_string).collect(),
            line["events"].as_u64().unwrap_or_default(),
            line["lost"].as_u64().unwrap_or_default(),
        ))
    });
    scenarios.collect()
}

#[test]
fn a_saved_run_has_the_verdict_that_it_had_live() {
    require!(right_to_trace());
    let project = Project::new();
    let all = [
        (
            "passes",
            "workload: { shell: \"echo a > b; cat b\" }\nexpect: { stdout: \"a\\n\", files_after: { b: \"a\\n\" } }\nsnapshot: false",
        ),
        ("exits", "workload: { shell: \"exit 3\" }\nsnapshot: false"),
        (
            "says",
            "workload: { shell: \"echo a\" }\nexpect: { stdout: b }\nsnapshot: false",
        ),
        (
            "leaves",
            "workload: { shell: \"echo a > b\" }\nexpect: { files_after: { b: \"c\\n\" } }\nsnapshot: false",
        ),
        (
            "misses",
            "workload: { run: [cat, a], files: { a: b } }\nexpect: { sequence: [{ openat: { path: c } }] }\nsnapshot: false",
        ),
        (
            "finds",
            "workload: { run: [cat, a], files: { a: b } }\nexpect: { sequence: [{ openat: { path: a, returns: $fd } }, { close: { fd: $fd } }] }\nsnapshot: false",
        ),
        (
            "shows",
            "workload: { run: [mkdir, a] }\ntrace: { events: [{ syscalls: [mkdir] }] }",
        ),
        (
            "switches",
            "workload: { run: [\"true\"] }\ntrace: { events: [{ event: sched:sched_process_exec }] }\nexpect: { count: { \"sched:sched_process_exec\": 1 } }\nsnapshot: false",
        ),
        (
            "is-ended",
            "workload: { run: [sleep, \"9\"], timeout: 300ms }\nsnapshot: false",
        ),
    ];
    for (name, text) in all {
        project.scenario(name, text);
    }
    let live = judged(&project, &["--save", "saved", "scenarios"]);
    assert_eq!(live.len(), all.len());
    for was in live {
        let (name, verdict, ..) = &was;
        let scenario = format!("scenarios/{name}.yaml");
        let saved = format!("saved/{name}.data");
        let is = judged(&project, &["--from", &saved, &scenario]);
        assert_eq!(is, std::slice::from_ref(&was), "{verdict}");
    }
    project.assert_nothing_left();
}

#[test]
fn a_saved_trace_is_the_trace_that_was_printed() {
    require!(right_to_trace());
    let project = Project::new();
    let script = "cd /; echo a | cat; ls /nonexistent; exec true";
    for (events, more) in [("all", &[][..]), ("%file,sched:*", &["-s", "32"])] {
        let live = [
            &["trace", "-e", events, "-o", "live", "--save", "run.data"],
            more,
        ]
        .concat();
        let ran = project.harness(&[&live[..], &["--", "sh", "-c", script]].concat());
        ran.assert_status(0);
        let again = [&["trace", "-i", "run.data", "-o", "again"], more].concat();
        project.harness(&again).assert_status(0);
        assert_eq!(project.read("live"), project.read("again"), "{events}");
    }
}

#[test]
fn a_recording_of_perf_is_traced_and_what_it_does_not_say_is_said() {
    require!(right_to_trace());
    let perf = require!(program("perf"));
    let project = Project::new();
    let recorded = Command::new(perf)
        .args([
            "record",
            "-q",
            "-e",
            "raw_syscalls:sys_enter,raw_syscalls:sys_exit",
        ])
        .args(["-o", "perf.data", "sh", "-c", "mkdir a; rmdir a; exit 3"])
        .current_dir(project.path())
        .output()
        .expect("perf");
    assert_eq!(recorded.status.code(), Some(3), "{recorded:?}");
    let run = project.harness(&[
        "trace",
        "-i",
        "perf.data",
        "-e",
        "mkdir,rmdir",
        "-o",
        "trace",
    ]);
    run.assert_status(0);
    assert!(run.stderr.contains("<unread>"), "{}", run.stderr);
    let trace = project.read("trace");
    let calls: Vec<&str> = trace.lines().collect();
    let [made, removed] = calls.as_slice() else {
        panic!("{trace}");
    };
    assert!(made.contains("mkdir(<unread>, 0777) = 0"), "{made}");
    assert!(removed.contains("rmdir(<unread>) = 0"), "{removed}");

    project.scenario("counts", "workload: { run: [sh, -c, \"mkdir a; rmdir a; exit 3\"] }\nexpect: { exit: 3, count: { mkdir: 1, rmdir: 1 } }\nsnapshot: false");
    let counts = judged(&project, &["--from", "perf.data", "scenarios/counts.yaml"]);
    assert_eq!(counts[0].1, "pass", "{counts:?}");
    project.scenario(
        "counts",
        "workload: { run: [sh, -c, \"mkdir a; rmdir a; exit 3\"] }\nexpect: { exit: 3, count: { mkdir: 2 } }\nsnapshot: false",
    );
    let counts = judged(&project, &["--from", "perf.data", "scenarios/counts.yaml"]);
    assert_eq!(counts[0].1, "fail", "{counts:?}");
    project.scenario(
        "says",
        "workload: { run: [sh, -c, \"mkdir a; rmdir a; exit 3\"] }\nexpect: { exit: 3, stdout: x }\nsnapshot: false",
    );
    let says = judged(&project, &["--from", "perf.data", "scenarios/says.yaml"]);
    assert_eq!(says[0].1, "incomplete", "{says:?}");
    assert!(
        says[0].2[0].contains("does not hold what the workload wrote"),
        "{says:?}"
    );
}

#[test]
fn an_event_that_was_not_recorded_is_no_event_that_did_not_happen() {
    require!(right_to_trace());
    let project = Project::new();
    project.scenario("narrow", "workload: { run: [mkdir, a] }\ntrace: { events: [{ syscalls: [mkdir] }] }\nexpect: { count: { mkdir: 1 } }\nsnapshot: false");
    project.scenario("wide", "workload: { run: [mkdir, a] }\ntrace: { events: [{ syscalls: [mkdir, unlink] }] }\nexpect: { never: [unlink] }\nsnapshot: false");
    project
        .harness(&["run", "--save", "saved", "scenarios/narrow.yaml"])
        .assert_status(0);
    let wide = judged(
        &project,
        &["--from", "saved/narrow.data", "scenarios/wide.yaml"],
    );
    assert_eq!(wide[0].1, "skipped", "{wide:?}");
    assert!(
        wide[0].2[0].contains("does not hold all calls that are asked for"),
        "{wide:?}"
    );
}

#[test]
fn every_scenario_of_the_repository_has_its_verdict_from_its_records_too() {
    require!(right_to_trace());
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let project = Project::new();
    let saved = project.join("saved");
    let harness = |arguments: &[&str]| {
        let words = [&["run", "--format", "json"], arguments].concat();
        let mut command = project.program(&words);
        Run::from(command.current_dir(root).output().expect("the program"))
    };
    let path = |path: PathBuf| path.into_os_string().into_string().expect("text");
    let live = of_lines(&harness(&["--save", &path(saved.clone()), "scenarios"]));
    assert!(live.len() > 100, "{}", live.len());
    for was in live.iter().filter(|(_, verdict, ..)| verdict != "skipped") {
        let (name, ..) = was;
        let file = path(saved.join(format!("{name}.data")));
        let row = format!("^{}$", exactly(name));
        let is = of_lines(&harness(&["--from", &file, "--filter", &row, "scenarios"]));
        assert_eq!(is, std::slice::from_ref(was));
    }
}

/// A name as a pattern that matches nothing else.
fn exactly(name: &str) -> String {
    let special = |c: char| !(c.is_alphanumeric() || "-_/".contains(c));
    name.chars()
        .flat_map(|c| special(c).then_some('\\').into_iter().chain([c]))
        .collect()
}

#[test]
fn from_a_recording_of_perf_that_leaves_something_out_neither_pass_nor_failure_follows() {
    require!(right_to_trace());
    let perf = require!(program("perf"));
    let project = Project::new();
    let record = |arguments: &[&str], output: &str| {
        let events = "syscalls:sys_enter_mkdir,syscalls:sys_exit_mkdir";
        let recorded = Command::new(&perf)
            .args([&["record", "-q", "-e", events, "-o", output], arguments].concat())
            .args(["sh", "-c", "mkdir a; rmdir a; exit 3"])
            .current_dir(project.path())
            .output()
            .expect("perf");
        assert_eq!(recorded.status.code(), Some(3), "{recorded:?}");
        recorded.stdout
    };
    project.scenario(
        "never",
        "workload: { run: [sh, -c, \"mkdir a; rmdir a; exit 3\"] }\nexpect: { exit: 3, count: { mkdir: 0 } }\nsnapshot: false",
    );
    project.scenario(
        "once",
        "workload: { run: [sh, -c, \"mkdir a; rmdir a; exit 3\"] }\nexpect: { exit: 3, count: { mkdir: 1 } }\nsnapshot: false",
    );
    // It may have run on any CPU, where others may have made any number.
    project.scenario(
        "few",
        "workload: { run: [sh, -c, \"mkdir a; rmdir a; exit 3\"] }\nexpect: { exit: 3, count: { mkdir: \"..=1000000\" } }\nsnapshot: false",
    );
    project.scenario(
        "often",
        "workload: { run: [sh, -c, \"mkdir a; rmdir a; exit 3\"] }\nexpect: { exit: 3, count: { mkdir: \"1000001..\" } }\nsnapshot: false",
    );
    record(&["-F", "10"], "sparse.data");
    record(&["--no-inherit"], "first.data");
    record(&["--filter", "common_pid == 1"], "filtered.data");
    record(&["-C", "0"], "cpu.data");
    let stream = record(&[], "-");
    std::fs::write(project.path().join("pipe.data"), stream).expect("a file");
    for (file, scenario, why) in [
        (
            "sparse.data",
            "once",
            "does not hold every `syscalls:sys_enter_mkdir`",
        ),
        ("first.data", "never", "of the first process alone"),
        ("filtered.data", "never", "recorded with `--filter`"),
        // Nor does a failure, by what may have been left out.
        ("filtered.data", "once", "recorded with `--filter`"),
        (
            "sparse.data",
            "often",
            "does not hold every `syscalls:sys_enter_mkdir`",
        ),
        ("first.data", "once", "of the first process alone"),
        ("cpu.data", "often", "recorded with `-C`"),
        ("cpu.data", "few", "recorded with `-C`"),
        ("pipe.data", "once", "does not say where its records end"),
    ] {
        let scenario = format!("scenarios/{scenario}.yaml");
        let run = judged(&project, &["--from", file, &scenario]);
        assert_eq!(run[0].1, "incomplete", "{run:?}");
        assert!(run[0].2.concat().contains(why), "{run:?}");
    }
}

#[test]
fn what_another_command_did_neither_passes_nor_fails_a_scenario() {
    require!(right_to_trace());
    let perf = require!(program("perf"));
    let perf = perf.to_str().expect("a path of letters");
    let project = Project::new();
    let of = |workload: &str, count: u32| {
        format!(
            "workload: {{ run: [{workload}] }}\nexpect: {{ count: {{ mkdir: {count} }} }}\nsnapshot: false"
        )
    };
    project.scenario("makes", &of("/bin/mkdir, a", 1));
    let save = ["run", "--save", ".", "scenarios/makes.yaml"];
    project.harness(&save).assert_status(0);
    let events = "raw_syscalls:sys_enter,raw_syscalls:sys_exit";
    for (recorder, file) in [
        (perf, "perf.data"),
        (env!("CARGO_BIN_EXE_harness"), "harness.data"),
    ] {
        let recorded = Command::new(recorder)
            .args(["record", "-e", events, "-o", file, "--", "mkdir", "a"])
            .current_dir(project.path())
            .output()
            .expect("a recorder");
        assert!(recorded.status.success(), "{recorded:?}");
        std::fs::remove_dir(project.path().join("a")).expect("what was made");
    }
    for file in ["makes.data", "perf.data", "harness.data"] {
        for (workload, count, verdict) in [
            ("/bin/mkdir, a", 1, "pass"),
            ("mkdir, a", 1, "pass"),
            ("mkdir, a", 2, "fail"),
            ("mkdir, b", 1, "incomplete"),
            ("mkdir, b", 2, "incomplete"),
            ("rmdir, a", 1, "incomplete"),
        ] {
            project.scenario("judges", &of(workload, count));
            let is = judged(&project, &["--from", file, "scenarios/judges.yaml"]);
            assert_eq!(is[0].1, verdict, "{file}: {workload}: {is:?}");
            let is_said = is[0].2.concat().contains("the recording is of `");
            assert_eq!(is_said, verdict == "incomplete", "{is:?}");
        }
    }
}

#[test]
fn a_copy_of_a_saved_run_is_judged_where_it_holds_what_only_the_harness_knew() {
    require!(right_to_trace());
    let perf = require!(program("perf"));
    let project = Project::new();
    project.scenario(
        "x",
        "workload: { shell: \"echo a\" }\nexpect: { stdout: \"a\\n\" }\nsnapshot: false",
    );
    let save = project.harness(&["run", "--save", "saved", "scenarios"]);
    save.assert_status(0);
    let harness = Path::new(env!("CARGO_BIN_EXE_harness"));
    for (copier, output, verdict) in [
        (harness, "copy.data", "pass"),
        (harness, "-", "incomplete"),
        (perf.as_path(), "copy.data", "incomplete"),
    ] {
        let copy = "\"$0\" inject -b -i saved/x.data -o $1 > pipe.data";
        let copied = Command::new("sh")
            .args(["-c", copy])
            .arg(copier)
            .arg(output)
            .current_dir(project.path())
            .output();
        let copied = copied.expect("sh");
        assert!(copied.status.success(), "{copier:?}: {copied:?}");
        let file = output.replace('-', "pipe.data");
        let again = judged(&project, &["--from", &file, "scenarios/x.yaml"]);
        assert_eq!(again[0].1, verdict, "{copier:?} to {output}: {again:?}");
    }
}
