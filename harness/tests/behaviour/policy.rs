//! A policy allows what complete runs that passed did, and nothing is left out of it that a run
//! did; a run under a policy fails by each call that the policy refuses.

#[path = "policy/landlock.rs"]
mod landlock;
#[path = "policy/proof.rs"]
mod proof;
#[path = "policy/recorded.rs"]
mod recorded;
#[path = "policy/refused.rs"]
mod refused;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::project::{Project, Run};
use crate::support::require::{program, require, right_to_trace};

/// A scenario of a shell's line, which asks for one call alone.
fn shell(line: &str, rest: &str) -> String {
    let line = json!(["sh", "-c", line]);
    format!(
        "workload: {{ run: {line} }}\ntrace: {{ events: [{{ syscalls: [unlinkat] }}] }}\nsnapshot: false\n{rest}"
    )
}

/// Makes the policy of all scenarios of a project.
fn policy(project: &Project, options: &[&str]) -> Run {
    let words = ["policy", "--format", "oci", "--output", "p.json"];
    project.harness(&[&words, options, &["scenarios"]].concat())
}

/// A project with this scenario and its policy.
fn with_policy(yaml: &str) -> Project {
    let project = Project::with("it", yaml);
    policy(&project, &[]).assert_status(0);
    project
}

fn object(project: &Project) -> Value {
    serde_json::from_str(&project.read("p.json")).expect("JSON")
}

/// The calls that a policy allows.
fn names(policy: &Value) -> BTreeSet<String> {
    let rules = policy["syscalls"].as_array().expect("rules");
    let names = rules.iter().flat_map(|rule| rule["names"].as_array());
    let names = names.flatten().filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}

/// The policy without the calls of a name.
fn without(policy: &Value, name: &str) -> Value {
    let mut policy = policy.clone();
    let rules = policy["syscalls"].as_array_mut().expect("rules");
    for rule in rules.iter_mut() {
        let names = rule["names"].as_array_mut().expect("names");
        names.retain(|known| *known != *name);
    }
    rules.retain(|rule| {
        rule["names"]
            .as_array()
            .is_some_and(|names| !names.is_empty())
    });
    policy
}

/// Writes a policy, a line for each value, and runs all scenarios under it.
fn under(project: &Project, policy: &Value, options: &[&str]) -> Run {
    project.write("q.json", &format!("{policy:#}\n"));
    let words = ["run", "--policy", "q.json"];
    project.harness(&[&words, options, &["scenarios"]].concat())
}

#[test]
fn every_call_is_in_the_policy_however_few_the_scenario_asks_for() {
    require!(right_to_trace());
    let project = with_policy(&shell("echo a > a; rm a", ""));
    let found = names(&object(&project));
    for name in ["execve", "openat", "write", "unlinkat", "exit_group"] {
        assert!(found.contains(name), "{name}: {found:?}");
    }
    // One that asks for no call at all.
    let none = "workload: { run: [rm, -f, a] }\ntrace: { events: [\"sched:sched_process_exec\"] }\nsnapshot: false";
    let found = names(&object(&with_policy(none)));
    for name in ["execve", "unlinkat", "exit_group"] {
        assert!(found.contains(name), "{name}: {found:?}");
    }
    // One whose trace begins late has needed what came before.
    let late = shell("echo a > a; rm a", "").replace("trace: {", "trace: { since: main,");
    let found = names(&object(&with_policy(&late)));
    assert!(found.contains("execve"), "{found:?}");
    project.assert_nothing_left();
}

#[test]
fn under_its_own_policy_a_run_passes_and_without_any_one_call_it_fails_and_names_it() {
    require!(right_to_trace());
    let project = with_policy(&shell("rm -f a", ""));
    let whole = object(&project);
    under(&project, &whole, &[]).assert_status(0);
    let all = names(&whole);
    assert!(all.len() > 10, "{all:?}");
    for name in &all {
        let run = under(&project, &without(&whole, name), &[]);
        run.assert_status(1);
        let line = 1 + project
            .read("q.json")
            .lines()
            .position(|line| line.contains("defaultAction"))
            .expect("a line");
        let said = format!("the policy refuses `{name}`");
        assert!(run.stdout.contains(&said), "{name}: {}", run.stdout);
        assert!(
            run.stdout.contains(&format!("q.json:{line} has no rule")),
            "{}",
            run.stdout
        );
    }
    project.assert_nothing_left();
}

#[test]
fn a_refused_call_fails_by_its_error_or_is_made_or_kills() {
    require!(right_to_trace());
    let yaml = shell("rm a && echo gone", "expect: { stdout: \"gone\\n\" }")
        .replace("workload: {", "workload: { files: { a: x },");
    let project = with_policy(&yaml);
    let mut less = without(&object(&project), "unlinkat");
    less["defaultErrnoRet"] = json!(libc::EIO);
    let said = |action: &str| {
        let run = under(&project, &less, &["--policy-action", action]);
        run.assert_status(1);
        assert!(
            run.stdout.contains("the policy refuses `unlinkat`"),
            "{}",
            run.stdout
        );
        run.stdout
    };
    assert!(said("errno").contains("Input/output error"));
    assert!(said("kill").contains("Bad system call"));
    let logged = said("log");
    assert!(!logged.contains("standard"), "it was made: {logged}");
}

#[test]
fn a_command_of_ioctl_that_no_scenario_gives_is_refused_with_the_lines_of_the_others() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = |commands: &str| {
        let line = format!(
            "import fcntl\nfor c in [{commands}]:\n try: fcntl.ioctl(0, c, b'x'*64)\n except OSError: pass"
        );
        let run = json!(["python3", "-c", line]);
        format!(
            "workload: {{ run: {run} }}\ntrace: {{ events: [{{ syscalls: [unlinkat] }}] }}\nsnapshot: false"
        )
    };
    let project = with_policy(&script("0x5401, 0x5413"));
    let few = object(&project);
    under(&project, &few, &[]).assert_status(0);
    project.scenario("it", &script("0x5401, 0x5413, 0x541b"));
    for action in ["errno", "log"] {
        let run = under(&project, &few, &["--policy-action", action]);
        run.assert_status(1);
        let said = "allows it with other arguments only";
        assert!(run.stdout.contains("refuses `ioctl`"), "{}", run.stdout);
        assert!(run.stdout.contains(said), "{}", run.stdout);
    }
    let check = project.harness(&["policy", "--check", "p.json", "scenarios"]);
    check.assert_status(1);
    assert_eq!(check.stdout, "+ioctl with 0x541b  (needed by it)\n");
    policy(&project, &["--names"]).assert_status(0);
    assert!(!project.read("p.json").contains("args"));
}

#[test]
fn the_same_runs_make_the_same_bytes_and_each_rule_says_who_needs_it() {
    require!(right_to_trace());
    let project = Project::new();
    project.scenario("a", &shell("rm -f a", ""));
    project.scenario("b", &shell("mkdir d", ""));
    let files = || {
        policy(&project, &[]).assert_status(0);
        (project.read("p.json"), project.read("p.json.why"))
    };
    let (first, why) = files();
    assert_eq!(files(), (first, why.clone()));
    assert!(why.contains("\nexecve:\n  a, b\n"), "{why}");
    assert!(why.contains("\nmkdir:\n  b\n"), "{why}");
    assert!(why.contains("\nunlinkat:\n  a\n"), "{why}");
    // In a unit the same stands above each line.
    let unit = project.harness(&["policy", "--format", "systemd", "scenarios"]);
    unit.assert_status(0);
    assert!(
        unit.stdout.contains("# b\nSystemCallFilter=mkdir\n"),
        "{}",
        unit.stdout
    );
    project.write("u.conf", &unit.stdout);
    let run = |file: &str| project.harness(&["run", "--policy", file, "scenarios"]);
    run("u.conf").assert_status(0);
    project.write(
        "v.conf",
        &unit.stdout.replace("SystemCallFilter=mkdir\n", ""),
    );
    let refused = run("v.conf");
    refused.assert_status(1);
    assert!(
        refused.stdout.contains("the policy refuses `mkdir`"),
        "{}",
        refused.stdout
    );
    let check = project.harness(&["policy", "--check", "v.conf", "scenarios"]);
    check.assert_status(1);
    assert_eq!(check.stdout, "+mkdir  (needed by b)\n");
}

#[test]
fn a_check_says_what_is_too_much_and_what_is_missing_and_has_no_word_for_none() {
    require!(right_to_trace());
    let project = with_policy(&shell("rm -f a", ""));
    let check = |status| {
        let run = project.harness(&["policy", "--check", "p.json", "scenarios"]);
        run.assert_status(status);
        run.stdout
    };
    assert_eq!(check(0), "");
    policy(&project, &["--also", "bpf,socket"]).assert_status(0);
    assert!(project.read("p.json.why").contains("bpf:\n  --also\n"));
    let text = check(1);
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines.len() == 2 && lines[0].starts_with("-bpf  (line "),
        "{text}"
    );
    let also = [
        "policy",
        "--check",
        "p.json",
        "--also",
        "bpf,socket",
        "scenarios",
    ];
    project.harness(&also).assert_status(0);
}
