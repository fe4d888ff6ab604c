//! What JSON lines tell of faults: how many calls each was meant for and done to, and which.

use serde_json::{Value, json};

use super::python;
use crate::support::project::{Project, Run};
use crate::support::require::{program, require, right_to_trace};

/// The faults of the only scenario.
pub(super) fn faults(run: &Run) -> Value {
    let lines = run.json();
    let mut told = lines.iter().filter(|line| line["type"] == "scenario");
    let told = told.next().unwrap_or_else(|| panic!("{run:?}"));
    told["faults"].clone()
}

#[test]
fn each_fault_is_told_with_the_calls_that_it_was_done_to() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os\n\
                  for name in 'abc':\n  \
                  try: os.mkdir(name)\n  \
                  except OSError: pass";
    let faults_of_it = "{ mkdir: { path: b, error: ENOSPC, delay: 1ms } }, \
                        { mkdir: { when: \"2..\", error: EIO } }, { rmdir: { returns: 0 } }";
    let yaml = python(script, "mkdir, rmdir", faults_of_it, "exit: 0");
    let at = |word: &str| {
        let text = format!("description: a test\n{yaml}");
        let line = text.lines().position(|line| line.starts_with("faults"));
        let line = line.expect("faults");
        let column = text.lines().nth(line).and_then(|line| line.find(word));
        (line + 1, column.expect("the fault") + 1)
    };
    let done_to =
        |line: &str| json!([{ "task": "P1", "program": "python3", "line": line, "judged": true }]);
    let run = Project::with("it", &yaml).harness(&["run", "--format", "json", "scenarios"]);
    run.assert_status(1);
    let (line, column) = at("mkdir");
    let first = json!({
        "call": "mkdir", "line": line, "column": column,
        "injected": { "error": "ENOSPC", "delay_ns": 1_000_000 },
        "matched": 1, "due": 1, "done": 1, "unclear": 0,
        "done_to": done_to("mkdir(\"b\", 0777) = -1 ENOSPC (INJECTED) (DELAYED)"),
    });
    // The first fault that is due is done: this one is due for two calls, and done to one.
    let (_, column) = at("mkdir: { when");
    let second = json!({
        "call": "mkdir", "line": line, "column": column, "injected": { "error": "EIO" },
        "matched": 3, "due": 2, "done": 1, "unclear": 0,
        "done_to": done_to("mkdir(\"c\", 0777) = -1 EIO (INJECTED)"),
    });
    let (_, column) = at("rmdir");
    let third = json!({
        "call": "rmdir", "line": line, "column": column, "injected": { "returns": 0 },
        "matched": 0, "due": 0, "done": 0, "unclear": 0, "done_to": [],
    });
    assert_eq!(faults(&run), json!([first, second, third]));
}

#[test]
fn a_scenario_without_faults_and_one_that_was_not_run_tell_of_none() {
    require!(right_to_trace());
    let events = "trace: { events: [{ syscalls: [mkdir] }] }\nsnapshot: false";
    let workload = "workload: { run: [mkdir, a] }";
    for yaml in [
        format!("{workload}\n{events}"),
        format!(
            "requires: {{ commands: [no-such-command] }}\n{workload}\n{events}\n\
             faults: [{{ mkdir: {{ error: EIO }} }}]"
        ),
    ] {
        let run = Project::with("it", &yaml).harness(&["run", "--format", "json", "scenarios"]);
        assert_eq!(faults(&run), Value::Null, "{yaml}");
    }
}

#[test]
fn a_fault_that_only_the_start_of_the_workload_could_have_had_says_that_this_is_not_held() {
    require!(right_to_trace());
    let why = |call: &str| {
        let yaml = format!(
            "workload: {{ run: [\"true\"] }}\ntrace: {{ events: [{{ syscalls: [execve, mkdir] }}] }}\n\
             faults: [{{ {call}: {{ error: ENOENT }} }}]\nsnapshot: false"
        );
        let run = Project::with("it", &yaml).harness(&["run", "scenarios"]);
        run.assert_status(1);
        run.stdout
    };
    let said = why("execve");
    let of_start = "no call matched it but the one that begins the workload, which is made before \
                    anything is held";
    assert!(said.contains(of_start), "{said}");
    let said = why("mkdir");
    assert!(said.contains("no call matched it (line"), "{said}");
}

#[test]
fn an_injection_that_was_done_to_no_call_is_told_behind_the_trace() {
    require!(right_to_trace());
    let project = Project::new();
    let traced = |injections: &[&str]| {
        let options = injections.iter().flat_map(|it| ["-e", it]);
        let command = ["--", "mkdir", "one", "two", "three"];
        let words = ["trace", "-e", "mkdir,rmdir"].into_iter().chain(options);
        let words: Vec<&str> = words.chain(command).collect();
        let run = project.harness(&words);
        project.run(&[], &["sh", "-c", "rmdir one two three; :"]);
        let said = run.stderr.lines().map(str::to_owned);
        let said: Vec<String> = said
            .filter(|it| it.contains("nothing was injected"))
            .collect();
        (run, said)
    };
    let fourth = "inject=mkdir:error=EIO:when=4";
    let (run, said) = traced(&[fourth]);
    run.assert_status(0);
    let held = format!("harness: nothing was injected by {fourth}: 3 of its calls were held");
    assert_eq!(said, [held], "{run:?}");
    assert!(run.stderr.trim_end().ends_with(&said[0]), "{run:?}");
    let never = "fault=rmdir";
    let (run, said) = traced(&[never, "inject=mkdir:error=EIO:when=2"]);
    run.assert_status(1);
    let none = format!("harness: nothing was injected by {never}: none of its calls was held");
    assert_eq!(said, [none], "{run:?}");
    // A later word on a call takes the place of an earlier one.
    let (_, said) = traced(&["inject=mkdir:retval=0", "inject=mkdir:error=EIO"]);
    let later = "its calls are not traced, or a later one is about them";
    let taken = format!("harness: nothing was injected by inject=mkdir:retval=0: {later}");
    assert_eq!(said, [taken]);
    for words in [
        &["inject=mkdir:error=EIO:when=3"][..],
        &[fourth, "quiet=all"],
    ] {
        let (_, said) = traced(words);
        assert!(said.is_empty(), "{said:?}");
    }
}
