//! A sweep says of each answer what the program made of it, and calls nothing handled that it does
//! not know.

#[path = "sweep/answers.rs"]
mod answers;
#[path = "sweep/around.rs"]
mod around;
#[path = "sweep/closes.rs"]
mod closes;
#[path = "sweep/results.rs"]
mod results;
#[path = "sweep/told.rs"]
mod told;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

/// A project with a scenario of a Python program; `rest` are further keys.
fn python(script: &str, events: &str, rest: &str) -> Project {
    let project = Project::new();
    project.write("script.py", script);
    project.scenario(
        "it",
        &format!(
            "workload:\n  run: [python3, script.py]\n  files: {{ script.py: {{ from: ../script.py }} }}\n\
             trace: {{ events: [{{ syscalls: [{events}] }}] }}\n{rest}"
        ),
    );
    project
}

/// Sweeps the scenario, and returns its lines of JSON.
fn sweep(project: &Project, status: i32, options: &[&str]) -> Vec<Value> {
    let words = [&["sweep", "--format", "json", "scenarios/it.yaml"], options].concat();
    let run = project.harness(&words);
    run.assert_status(status);
    project.assert_nothing_left();
    run.json()
}

/// The runs of a sweep.
fn runs(lines: &[Value]) -> Vec<&Value> {
    lines.iter().filter(|line| line["type"] == "run").collect()
}

/// The class of each run by its error, and how it was handled.
fn classes(lines: &[Value]) -> BTreeSet<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let class = |line: &&Value| match &line["how"] {
        Value::Null => text(&line["class"]),
        how => format!("{} {}", text(&line["class"]), text(how)),
    };
    let runs = runs(lines).into_iter();
    runs.map(|line| (text(&line["error"]), class(&line)))
        .collect()
}

/// All runs of a program that does one `mkdir` are of this class.
#[track_caller]
fn all_are(class: &str, lines: &[Value]) {
    let classes = classes(lines);
    assert!(!classes.is_empty(), "{lines:?}");
    assert!(classes.iter().all(|(_, of)| of == class), "{lines:#?}");
    let last = lines.last().expect("a summary");
    assert_eq!(last["type"], "summary");
    let word = class.split(' ').next().expect("a word");
    assert_eq!(last[word], last["runs"], "{last}");
    assert_eq!(last["runs"], runs(lines).len(), "{last}");
}

/// A program that makes a folder, and does this where it cannot.
fn otherwise(otherwise: &str, rest: &str) -> Project {
    let script = format!(
        "import os, signal, subprocess, sys, time\n\
         try: os.mkdir('a')\nexcept OSError:\n    {otherwise}\n"
    );
    python(&script, "mkdir", &format!("{rest}\nsnapshot: false"))
}

#[test]
fn what_says_so_or_does_without_is_handled() {
    require!(right_to_trace());
    require!(program("python3"));
    let cases = [
        ("sys.exit(3)", "handled status"),
        ("print('there is no a', file=sys.stderr)", "handled message"),
        ("pass", "handled did_without"),
    ];
    for (does, class) in cases {
        let expect = "expect: { files_after: { script.py: { exists: true } } }";
        let lines = sweep(&otherwise(does, expect), 0, &[]);
        all_are(class, &lines);
        assert_eq!(lines[0]["expects_results"], true);
        // Not the error that it would have had.
        let errors: Vec<String> = classes(&lines)
            .into_iter()
            .map(|(error, _)| error)
            .collect();
        assert_eq!(errors, ["EACCES", "EEXIST", "ENOSPC"]);
    }
}

#[test]
fn success_that_left_no_result_is_silent_whatever_the_way_was() {
    require!(right_to_trace());
    require!(program("python3"));
    let lost = otherwise(
        "print('never mind', file=sys.stderr)",
        "expect: { files_after: { a: { exists: true } } }",
    );
    all_are("silent", &sweep(&lost, 1, &[]));
    let wrong = otherwise("print('b')", "expect: { stdout: '' }");
    all_are("silent", &sweep(&wrong, 1, &[]));
    let forbidden = otherwise(
        "os.mkdir('b')",
        "expect: { never: [{ mkdir: { path: b } }] }",
    );
    all_are("silent", &sweep(&forbidden, 1, &["--errors", "ENOSPC"]));
    // How often it is called and what it says of a failure is no result.
    let way = "expect: { stderr: '', count: { mkdir: 1 }, sequence: [{ mkdir: { returns: 0 } }], only: [mkdir: { path: a }] }";
    let other = otherwise("os.mkdir('b'); print('b', file=sys.stderr)", way);
    let lines = sweep(&other, 0, &["--errors", "ENOSPC"]);
    all_are("handled message", &lines);
}

#[test]
fn success_in_place_of_an_expected_failure_is_silent() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os, sys\ntry: os.mkdir('a')\nexcept OSError: sys.exit(0)\nsys.exit(3)\n";
    let project = python(script, "mkdir", "expect: { exit: 3 }\nsnapshot: false");
    all_are("silent", &sweep(&project, 1, &[]));
}

#[test]
fn a_crash_shows_in_the_main_process_and_below_a_shell() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = otherwise("os.abort()", "");
    let lines = sweep(&project, 1, &["--errors", "ENOSPC"]);
    all_are("crashed", &lines);
    assert_eq!(runs(&lines)[0]["exit"]["signal"], "SIGABRT");
    let text = project.read("scenarios/it.yaml");
    let text = text.replace(
        "run: [python3, script.py]",
        "shell: \"python3 script.py; exit 0\"",
    );
    project.write("scenarios/it.yaml", &text);
    let lines = sweep(&project, 1, &["--errors", "ENOSPC"]);
    all_are("crashed", &lines);
    assert_eq!(runs(&lines)[0]["exit"]["code"], 0);
}

#[test]
fn what_does_not_end_is_hung_or_tries_again() {
    require!(right_to_trace());
    require!(program("python3"));
    let hung = otherwise("signal.pause()", "");
    // So long that this machine makes the runs without faults in it.
    let took = hung.harness(&["run", "--format", "json", "scenarios"]);
    let took = took.json()[0]["duration_ms"].as_u64().expect("a time");
    let seconds = 1 + took.saturating_mul(20) / 1000;
    let text = hung.read("scenarios/it.yaml");
    let timeout = format!("workload:\n  timeout: {seconds}s\n");
    hung.write("scenarios/it.yaml", &text.replace("workload:\n", &timeout));
    let lines = sweep(&hung, 1, &["--errors", "ENOSPC"]);
    all_are("hung", &lines);
    assert_eq!(lines[0]["timeout_by"], "scenario");
    assert_eq!(lines[0]["timeout_ms"], seconds * 1000);
    let again = otherwise(
        "\n    while True:\n        time.sleep(0.01); os.path.exists('x')\n        try: os.mkdir('a/b')\n        except OSError: pass",
        "",
    );
    // Another call than the one that was failed.
    let lines = sweep(&again, 1, &["--errors", "ENOSPC"]);
    all_are("hung", &lines);
    assert_eq!(lines[0]["timeout_by"], "learned");
    let script = "import os, time\nfd, failed = os.open('script.py', os.O_RDWR), False\n\
                  while True:\n    try: os.fsync(fd)\n    except OSError: failed = True\n    \
                  if not failed: break\n    time.sleep(0.01)\n";
    let again = python(script, "fsync", "snapshot: false");
    all_are(
        "retried_without_end",
        &sweep(&again, 1, &["--errors", "EIO"]),
    );
}

#[test]
fn a_fault_that_lasts_fails_all_calls_from_its_first_on() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os, time\nwhile True:\n    try: os.mkdir('a'); break\n    \
                  except OSError: time.sleep(0.01)\n";
    let expect = "expect: { files_after: { a: { kind: directory } } }\nsnapshot: false";
    let project = python(script, "mkdir", expect);
    all_are(
        "handled did_without",
        &sweep(&project, 0, &["--errors", "ENOSPC"]),
    );
    let lines = sweep(&project, 1, &["--errors", "ENOSPC", "--lasting"]);
    all_are("retried_without_end", &lines);
    assert!(
        runs(&lines)[0]["fault"]
            .as_str()
            .expect("a fault")
            .contains("\"1..\"")
    );
}

#[test]
fn a_process_that_lives_on_is_a_leak() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = otherwise(
        "subprocess.Popen(['sleep', '1000'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)",
        "",
    );
    all_are("leaked", &sweep(&project, 1, &["--errors", "ENOSPC"]));
}

#[test]
fn a_fault_that_never_fires_is_unknown_and_no_good_end() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    let runs_so_far = project.join("runs").display().to_string();
    project.scenario(
        "it",
        &format!(
            "sandbox: {{ root: host }}\n\
             workload: {{ shell: \"echo >> '{runs_so_far}'; test $(wc -l < '{runs_so_far}') -gt 2 || mkdir a\" }}\n\
             trace: {{ events: [{{ syscalls: [mkdir] }}] }}\nsnapshot: false"
        ),
    );
    let lines = sweep(&project, 1, &[]);
    all_are("unknown", &lines);
    let why = runs(&lines)[0]["why"][0].to_string();
    assert!(why.contains("never fired"), "{why}");
}
