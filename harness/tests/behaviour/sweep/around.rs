//! Which calls a sweep fails, what it refuses, what it writes, and how it ends.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;

use nix::sys::signal::Signal;
use serde_json::Value;

use super::{all_are, otherwise, python, runs, sweep};
use crate::support::fifo::Fifo;
use crate::support::process::{self, Started};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

#[test]
fn names_that_are_others_in_each_run_are_found_by_their_number() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os, random\nos.mkdir(f'd{random.random()}')\n";
    let lines = sweep(&python(script, "mkdir", "snapshot: false"), 0, &[]);
    all_are("handled status", &lines);
    assert!(runs(&lines).iter().all(|run| {
        run["fault"]
            .to_string()
            .contains("{ mkdir: { program: python3, when: 1")
    }));
}

#[test]
fn calls_that_nothing_tells_apart_are_one_site() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os\nfd = os.open('log', os.O_WRONLY | os.O_CREAT)\n\
                  for _ in range(50): os.write(fd, b'x')\nos.fsync(fd)\nos.write(fd, b'y')\n";
    let project = python(script, "write, fsync", "snapshot: false");
    let lines = sweep(&project, 0, &["-e", "write", "--errors", "EIO"]);
    let sites: BTreeMap<String, u64> = runs(&lines)
        .iter()
        .map(|run| {
            (
                run["fault"].to_string(),
                run["times"].as_u64().expect("a number"),
            )
        })
        .collect();
    let times: Vec<u64> = sites.into_values().collect();
    // The first, those behind another, and the one behind the sync.
    assert_eq!(times, [1, 49, 1]);
    assert_eq!(lines[0]["not_failed"], serde_json::json!({}));
}

#[test]
fn calls_with_other_functions_above_them_are_other_sites() {
    require!(right_to_trace());
    require!(program("gcc"));
    let project = Project::with(
        "it",
        "workload: { run: [./it], files: { it: { from: ../it, mode: \"0755\" } } }\n\
         trace: { events: [{ syscalls: [mkdir], callchain: dwarf }] }\nsnapshot: false",
    );
    let code = "#include <stdlib.h>\n#include <sys/stat.h>\n#include <unistd.h>\n\
                #define KEPT __attribute__((noinline, noclone))\n\
                KEPT int first(void) { volatile int not = mkdir(\"x\", 0777); return not; }\n\
                KEPT int second(void) { volatile int not = mkdir(\"x\", 0777); return not; }\n\
                int main(void) {\n    if (first()) return 1;\n    rmdir(\"x\");\n    \
                if (second()) abort();\n    return 0;\n}\n";
    project.write("it.c", code);
    let compile = ["gcc", "-O1", "-o", "it", "it.c"];
    project.run(&[], &compile).assert_status(0);
    let lines = sweep(&project, 1, &["--errors", "ENOSPC"]);
    let by_class: BTreeMap<String, String> = runs(&lines)
        .iter()
        .map(|run| (run["class"].to_string(), run["stack"].to_string()))
        .collect();
    assert!(by_class["\"handled\""].contains("first"), "{lines:#?}");
    assert!(by_class["\"crashed\""].contains("second"), "{lines:#?}");
}

#[test]
fn a_scenario_that_is_no_pass_or_has_nothing_to_fail_is_not_swept() {
    require!(right_to_trace());
    require!(program("python3"));
    let refused = |project: &Project, status: i32, options: &[&str], says: &str| {
        let run = project.harness(&[&["sweep", "scenarios/it.yaml"], options].concat());
        run.assert_status(status);
        assert!(run.stderr.contains(says), "{run:?}");
        assert_eq!(run.stdout, "");
    };
    let good = otherwise("pass", "");
    refused(
        &good,
        2,
        &["-e", "fsync"],
        "none of the calls of `-e` is among its `trace.events`",
    );
    refused(&good, 2, &["-e", "fsnyc"], "did you mean `fsync`");
    refused(
        &good,
        2,
        &["--errors", "EPIPE"],
        "no call of its run can be failed so",
    );
    refused(&good, 2, &["--errors", "ENOSPACE"], "ENOSPACE");
    refused(
        &otherwise("pass", "expect: { exit: 1 }"),
        1,
        &[],
        "fail: expected exit status 1",
    );
    refused(
        &otherwise("pass", "expect: { count: { mkdir: 2 } }"),
        1,
        &[],
        "is no pass",
    );
    let known = "expect: { exit: 1 }\nexpect_failure: it is wrong";
    refused(&otherwise("pass", known), 2, &[], "known to fail");
    let overwritten = otherwise("pass", "");
    let text = overwritten.read("scenarios/it.yaml");
    let flight = text.replace("trace: {", "trace: { ring: { mode: flight },");
    overwritten.write("scenarios/it.yaml", &flight);
    let run = overwritten.harness(&["sweep", "scenarios/it.yaml"]);
    assert_eq!(run.status, 2, "{run:?}");
}

#[test]
fn written_scenarios_come_to_what_the_sweep_said() {
    require!(right_to_trace());
    require!(program("python3"));
    let results = "expect: { files_after: { a: { exists: true } }, count: { mkdir: 1 } }";
    let cases = [
        ("pass", results, "fail", "expected something at `a`"),
        (
            "os.kill(os.getpid(), signal.SIGSEGV)",
            "",
            "fail",
            "killed by SIGSEGV",
        ),
        ("signal.pause()", "", "timeout", ""),
        (
            "subprocess.Popen(['sleep', '1000'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)",
            "",
            "leak",
            "",
        ),
    ];
    for (does, expect, verdict, why) in cases {
        let project = otherwise(does, expect);
        let lines = sweep(
            &project,
            1,
            &["--errors", "ENOSPC", "--write", "found/deep"],
        );
        let file = runs(&lines)[0]["written"]
            .as_str()
            .expect("a file")
            .to_owned();
        assert_eq!(file, "found/deep/it-001-mkdir-ENOSPC.yaml");
        let said = project
            .harness(&["run", "--format", "json", "found"])
            .verdicts();
        assert_eq!(said.len(), 1, "{said:?}");
        let (got, reason) = said.values().next().expect("one");
        assert_eq!(got, verdict, "{reason}\n{}", project.read(&file));
        assert!(reason.contains(why), "{reason}");
        // What an earlier sweep has written is told, and stays.
        let words = ["sweep", "--errors", "EACCES", "--write", "found/deep"];
        let run = project.harness(&[&words[..], &["scenarios/it.yaml"]].concat());
        let earlier = format!("an earlier sweep has written these, and this one has not: {file}\n");
        assert!(run.stderr.contains(&earlier), "{run:?}");
        // It may be written again, and what others wrote may not.
        sweep(
            &project,
            1,
            &["--errors", "ENOSPC", "--write", "found/deep"],
        );
        project.write(&file, "description: mine\n");
        sweep(
            &project,
            2,
            &["--errors", "ENOSPC", "--write", "found/deep"],
        );
        assert_eq!(project.read(&file), "description: mine\n");
    }
}

#[test]
fn what_is_handled_is_not_written() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = otherwise("sys.exit(1)", "");
    sweep(&project, 0, &["--write", "found"]);
    assert!(project.files("found").is_empty());
}

#[test]
fn shards_have_each_run_once() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os\nfor name in 'abcd': os.mkdir(name)\n";
    let project = python(script, "mkdir", "snapshot: false");
    let of = |options: &[&str]| -> Vec<String> {
        let lines = sweep(&project, 0, options);
        assert_eq!(lines[0]["of_all"], 12);
        let fault = |run: &&Value| run["fault"].to_string();
        runs(&lines).iter().map(fault).collect()
    };
    let mut parts: Vec<String> = Vec::new();
    for shard in ["1/3", "2/3", "3/3"] {
        parts.extend(of(&["--shard", shard]));
    }
    let whole = of(&["--jobs", "3"]);
    assert_eq!(whole.len(), 12);
    assert_eq!(parts.len(), 12);
    let set = |all: Vec<String>| -> BTreeSet<String> { all.into_iter().collect() };
    assert_eq!(set(parts), set(whole));
    let words = ["sweep", "--errors", "EACCES", "-e", "mkdir", "--shard"];
    let of = |shard: String| {
        let of_shard = [&words[..], &[&*shard, "scenarios/it.yaml"]].concat();
        project.harness(&of_shard).stdout
    };
    // There are fewer runs than shards.
    let shards = (1..=5).map(|k| of(format!("{k}/5")));
    let empty: Vec<String> = shards.filter(|it| it.contains(": none of them")).collect();
    assert!(!empty.is_empty());
    for text in empty {
        assert!(
            text.ends_with("of 4 runs): none of them is of this shard\n0 sites, 0 runs\n"),
            "{text}"
        );
    }
}

#[test]
fn rows_and_faults_of_the_scenarios_own_are_kept() {
    require!(right_to_trace());
    let project = Project::with(
        "it",
        "workload: { shell: \"mkdir ${name}/; mkdir x; mkdir x\" }\nmatrix: { name: [a, 'b c'] }\n\
         trace: { events: [{ syscalls: [mkdir] }] }\n\
         faults: [{ mkdir: { path: x, when: 2, returns: 0 } }]\nsnapshot: false",
    );
    let lines = sweep(&project, 0, &["--errors", "ENOSPC"]);
    let names: BTreeSet<String> = runs(&lines)
        .iter()
        .map(|run| run["name"].to_string())
        .collect();
    assert_eq!(names.len(), 2, "{lines:#?}");
    // The second x is answered by the scenario.
    assert_eq!(lines.last().expect("a summary")["scenarios"], 2);
}

#[test]
fn a_fault_of_the_scenarios_own_may_do_what_the_sweep_does() {
    require!(right_to_trace());
    let project = Project::with(
        "it",
        "workload: { shell: \"mkdir x; mkdir x; mkdir y\" }\n\
         trace: { events: [{ syscalls: [mkdir] }] }\n\
         faults: [{ mkdir: { path: x, when: 1, error: ENOSPC } }]\nsnapshot: false",
    );
    project.harness(&["run", "scenarios"]).assert_status(0);
    // The same message comes twice where the second x fails as the first: nothing new is said.
    for (error, status, first) in [("ENOSPC", 1, "unknown"), ("EACCES", 0, "handled")] {
        let lines = sweep(&project, status, &["--errors", error]);
        let runs = runs(&lines).into_iter();
        let mut classes: Vec<_> = runs.map(|run| (&run["fault"], &run["class"])).collect();
        classes.sort_by_key(|(fault, _)| fault.to_string());
        let classes: Vec<_> = classes.iter().map(|(_, class)| *class).collect();
        assert_eq!(classes, ["handled", first], "{lines:#?}");
    }
}

#[test]
fn the_report_for_people_has_the_worst_first() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os\nfor name in 'ab':\n    try: os.mkdir(name)\n    \
                  except OSError:\n        if name == 'b': os.abort()\n";
    let expect = "expect: { stdout: '' }\nsnapshot: false";
    let project = python(script, "mkdir", expect);
    let run = project.harness(&["sweep", "--errors", "ENOSPC", "scenarios/it.yaml"]);
    run.assert_status(1);
    let at = |text: &str| {
        run.stdout
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {run:?}"))
    };
    assert!(at("#2 P1 python3  mkdir(\"b\", 0777) = 0") < at("  crashed  ENOSPC"));
    assert!(at("  crashed  ENOSPC") < at("#1 P1 python3  mkdir(\"a\", 0777) = 0"));
    assert!(at("faults: [{ mkdir: { path: b, when: 1, error: ENOSPC } }]") > 0);
    assert!(
        run.stdout
            .ends_with("2 sites, 2 runs: 1 crashed, 1 handled (1 did without)\n")
    );
}

#[test]
fn an_interrupted_sweep_says_what_was_tried() {
    require!(right_to_trace());
    let project = Project::new();
    let mut fifo = Fifo::new(&project.join("fifo"));
    let path = fifo.path();
    project.scenario(
        "it",
        &format!(
            "sandbox: {{ root: host }}\n\
             workload: {{ shell: \"mkdir a && mkdir b || {{ echo > '{path}'; sleep 3600; }}\", timeout: 60m }}\n\
             trace: {{ events: [{{ syscalls: [mkdir] }}] }}\nsnapshot: false"
        ),
    );
    let words = [
        "sweep",
        "--jobs",
        "1",
        "--format",
        "json",
        "scenarios/it.yaml",
    ];
    let mut command = project.program(&words);
    let out = project.join("out");
    let file = std::fs::File::create(&out).expect("a file");
    let mut harness = Started::new(command.stdout(file).stderr(Stdio::null()));
    fifo.wait_for_lines(1);
    let status = harness.end_by(Signal::SIGINT);
    process::wait_for_all_in(project.path());
    let text = project.read("out");
    let last = text.lines().last().expect("a summary");
    let last: Value = serde_json::from_str(last).expect("JSON");
    assert_eq!(last["type"], "summary");
    assert_eq!(
        (&last["interrupted"], &last["runs"]),
        (&true.into(), &0.into())
    );
    assert_eq!(last["untried"], 6);
    assert_eq!(status, 99);
}
