//! `harness check`: what any command did, and whether its rules let it.

mod blame;
mod c_runners;
mod elsewhere;
mod evasions;
mod handed;
mod hard_links;
mod interpreters;
mod landlock;
mod learning;
mod mounts;
mod passed;
mod printing;
mod programs;
mod runners;
mod suites;
mod tools;
mod unasked;
mod words;
mod workers;

use crate::support::project::{Project, Run};
use crate::support::require::{program, require, right_to_trace};
use serde_json::Value;

/// A project with rules that a command is held to.
fn ruled(rules: &str) -> Project {
    let project = Project::new();
    project.write("rules.yaml", rules);
    project
}

impl Project {
    /// Holds a text for the shell to the rules of the project.
    fn checked(&self, shell: &str) -> Run {
        self.harness(&["check", "rules.yaml", "--", "sh", "-c", shell])
    }

    /// States what a text for the shell did, as JSON lines.
    fn stated(&self, shell: &str) -> Vec<Value> {
        let words = ["--format", "json", "-o", "stated", "--", "sh", "-c", shell];
        self.harness(&[&["check"], &words[..]].concat());
        let text = self.read("stated");
        text.lines()
            .map(|line| serde_json::from_str(line).expect("a line of JSON"))
            .collect()
    }
}

/// What was done to which thing.
fn done<'l>(lines: &'l [Value], what: &str) -> Vec<&'l str> {
    lines
        .iter()
        .filter(|line| line["what"] == what && line["usual"] == false)
        .filter_map(|line| line["to"].as_str())
        .collect()
}

fn summary(lines: &[Value]) -> &Value {
    let last = lines.last().expect("a line");
    assert_eq!(last["type"], "summary", "the summary is the last line");
    last
}

#[test]
fn a_statement_names_each_thing_that_was_done() {
    require!(right_to_trace());
    let project = Project::new();
    project.write("old", "x");
    let lines = project.stated(
        "cat /etc/passwd > /dev/null; mkdir d; echo x > d/made; mv old new; rm new; kill -CONT $PPID",
    );
    assert_eq!(done(&lines, "read"), ["/etc/passwd"]);
    assert_eq!(done(&lines, "written"), ["d", "d/made"]);
    assert_eq!(done(&lines, "renamed"), ["old"]);
    assert_eq!(done(&lines, "deleted"), ["new"]);
    assert_eq!(done(&lines, "signalled"), ["SIGCONT to a process outside"]);
    let executed = done(&lines, "executed");
    for program in ["cat", "mkdir", "mv", "rm"] {
        let ending = format!("/{program}");
        assert!(
            executed.iter().any(|it| it.ends_with(&ending)),
            "{executed:?}"
        );
    }
    let summary = summary(&lines);
    assert_eq!(summary["complete"], true, "{summary}");
    assert_eq!(summary["exit"]["code"], 0);
    assert_eq!(summary["lost"], 0);
}

#[test]
fn a_statement_names_peers_and_addresses() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    project.write(
        "net.py",
        "import socket\n\
         a = socket.socket(); a.bind((\"127.0.0.1\", 0)); a.listen()\n\
         b = socket.socket(); b.connect(a.getsockname()); b.send(b\"x\")\n\
         socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).connect_ex((\"::1\", 9))\n",
    );
    let lines = project.stated("exec python3 -I -S net.py");
    assert_eq!(done(&lines, "bound"), ["127.0.0.1:0"]);
    let peers = done(&lines, "connected");
    assert!(peers.contains(&"[::1]:9"), "{peers:?}");
    assert!(
        peers.iter().any(|it| it.starts_with("127.0.0.1:")),
        "{peers:?}"
    );
}

#[test]
fn two_statements_of_the_same_command_are_equal() {
    require!(right_to_trace());
    let project = Project::new();
    let state = |file: &str| {
        let shell = "for i in 1 2 3 4; do (echo $i > f$i; cat f$i) & done; wait; rm f1 f2 f3 f4";
        let run = project.harness(&["check", "-o", file, "--", "sh", "-c", shell]);
        run.assert_status(0);
        project.read(file)
    };
    assert_eq!(state("one"), state("other"));
}

#[test]
fn what_rules_allow_passes_and_what_they_do_not_is_shown_with_the_rule_that_would() {
    require!(right_to_trace());
    let project = ruled("expect: { confined: { writes: [out], network: [], privileges: none } }\n");
    project.checked("echo x > out").assert_status(0);
    let run = project.checked("echo x > out; sh -c 'echo x > other'");
    run.assert_status(1);
    for said in [
        "`expect.confined.writes` does not allow `other` (line 1)",
        "what allows it: writes: [\"other\"]",
        "in P1 sh > P2 sh",
    ] {
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
    }
}

#[test]
fn events_that_the_rules_name_are_recorded_and_the_end_is_judged() {
    require!(right_to_trace());
    let never = ruled("expect: { never: [{ unlinkat: { path: gone } }], count: { mkdir: 1 } }\n");
    never.checked("mkdir d").assert_status(0);
    never
        .checked("mkdir d2; : > gone; rm gone")
        .assert_status(1);
    never.checked("true").assert_status(1);
    let exit = ruled("expect: { exit: 3 }\n");
    exit.checked("exit 3").assert_status(0);
    exit.checked("exit 4").assert_status(1);
    exit.checked("kill -9 $$").assert_status(1);
}

#[test]
fn wrong_rules_are_refused_with_their_place_and_the_nearest_key() {
    let project = Project::new();
    for (rules, said) in [
        ("expect: { confined: { wirtes: [] } }\n", "`writes`"),
        ("expects: { exit: 0 }\n", "`expect`"),
        ("expect: { stdout: x }\n", "unknown key `stdout`"),
        ("expect: { only: [openat] }\n", "trace: { events"),
        ("tests: {}\n", "`tests` is empty"),
        ("tests: { a: { confined: {} } }\n", "is empty"),
        ("blame: threads\n", "`thread`"),
        (
            "trace: { events: [{ event: \"sched:sched_switch\", ring: flight }] }\n",
            "every record",
        ),
        (
            "trace: { ring: { mode: flight } }\nexpect: { exit: 0 }\n",
            "every record",
        ),
    ] {
        project.write("rules.yaml", rules);
        let run = project.checked("true");
        run.assert_status(2);
        assert!(
            run.stderr.contains("rules.yaml:1:"),
            "{rules}: {}",
            run.stderr
        );
        assert!(run.stderr.contains(said), "{rules}: {}", run.stderr);
    }
}

#[test]
fn without_rules_the_status_is_that_of_the_command() {
    require!(right_to_trace());
    let project = Project::new();
    let status = |words: &[&str]| {
        let run = project.harness(&[&["check", "--"], words].concat());
        run.status
    };
    assert_eq!(status(&["sh", "-c", "exit 7"]), 7);
    assert_eq!(status(&["sh", "-c", "kill -9 $$"]), 137);
    let killed = project.stated("kill -9 $$");
    assert_eq!(summary(&killed)["exit"]["signal"], "SIGKILL");
    let words = [
        "check",
        "--learn",
        "killed.yaml",
        "--",
        "sh",
        "-c",
        "kill -9 $$",
    ];
    project.harness(&words).assert_status(137);
    assert!(
        project
            .read("killed.yaml")
            .contains("exit: { signal: SIGKILL }")
    );
    assert_eq!(status(&["./absent"]), 127);
    project.write("text", "x");
    assert_eq!(status(&["./text"]), 126);
    assert_eq!(project.harness(&["check"]).status, 125);
    project.write("rules.yaml", "expect: { exit: 0 }\n");
    assert_eq!(project.harness(&["check", "rules.yaml"]).status, 2);
}

#[test]
fn a_program_is_learnt_by_its_path_and_another_of_its_name_is_forbidden() {
    require!(right_to_trace());
    let project = Project::new();
    project.copy_program("/bin/true", "tool");
    let command = ["--", "sh", "-c", "./tool"];
    let learn = [&["check", "--learn", "rules.yaml"], &command[..]].concat();
    project.harness(&learn).assert_status(0);
    let rules = project.read("rules.yaml");
    assert!(rules.contains("- ./tool"), "{rules}");
    let check = [&["check", "rules.yaml"], &command[..]].concat();
    project.harness(&check).assert_status(0);
    // The same name in a folder of PATH.
    project
        .run(&[], &["sh", "-c", "mkdir bin; cp tool bin/tool"])
        .assert_status(0);
    project
        .checked("PATH=$PWD/bin:$PATH; tool")
        .assert_status(1);
}

#[test]
fn learnt_rules_let_the_same_command_pass_and_another_not() {
    require!(right_to_trace());
    let project = Project::new();
    let shell = "t=$(mktemp); echo x > $t; cat $t /etc/passwd > out; rm $t; exit 5";
    let words = ["check", "--learn", "rules.yaml", "--", "sh", "-c", shell];
    project.harness(&words).assert_status(5);
    project.checked(shell).assert_status(0);
    for other in ["other", "${TMPDIR:-/tmp}/evil", "${TMPDIR:-/tmp}/tmp.x"] {
        let more = shell.replace("exit", &format!("echo x > {other}; rm {other}; exit"));
        project.checked(&more).assert_status(1);
    }
    let rules = project.read("rules.yaml");
    assert!(rules.contains("# for 1 name; "), "{rules}");
    let again = project.harness(&words);
    assert!(
        again.stderr.contains("is there already"),
        "{}",
        again.stderr
    );
    let in_ci = project.harness_with(
        &[("CI", "true")],
        &["check", "--learn", "r.yaml", "--", "true"],
    );
    assert_eq!(
        (in_ci.status, project.join("r.yaml").exists()),
        (125, false)
    );
}

#[test]
fn learnt_rules_allow_other_drawn_names_of_what_was_renamed_removed_or_memory() {
    require!(right_to_trace());
    let project = Project::new();
    let shell = |drawn: &str| {
        format!(
            "echo a > f; for t in sed{drawn} XX{drawn}; do echo b > $t; mv $t f; done\n\
             d=TryCompile-{drawn}; mkdir $d; echo c > $d/Made2; rm -r $d\n\
             rm $(mktemp /dev/shm/psm_XXXXXXXX)"
        )
    };
    let learnt = shell("OI8Bx7");
    let words = ["check", "--learn", "rules.yaml", "--", "sh", "-c", &learnt];
    project.harness(&words).assert_status(0);
    let other = shell("k3ZmQa");
    project.checked(&other).assert_status(0);
    for more in ["XX", "sedition", "TryCompile-", "Y8MorWabc", "psm_734b6deb"] {
        let evil = format!("{other}\necho x > {more}; rm {more}");
        project.checked(&evil).assert_status(1);
    }
}

#[test]
fn a_verdict_is_reported_in_every_form_of_a_run() {
    require!(right_to_trace());
    let project = ruled("expect: { confined: { writes: [] } }\n");
    let run = project.harness(&[
        "check",
        "rules.yaml",
        "--report",
        "r.xml",
        "--report",
        "r.jsonl",
        "--",
        "touch",
        "out",
    ]);
    run.assert_status(1);
    assert!(
        project.read("r.xml").contains("line=\"1\""),
        "{}",
        project.read("r.xml")
    );
    let json = project.read("r.jsonl");
    let lines: Vec<Value> = json
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    assert_eq!(lines[0]["verdict"], "fail");
    assert_eq!(lines[0]["findings"][0]["name"], "writes");
    let statement = project.harness(&["check", "--report", "r.xml", "--", "true"]);
    assert_eq!(statement.status, 125);
}

#[test]
fn the_command_has_the_hosts_streams_environment_and_arguments() {
    require!(right_to_trace());
    let project = Project::new();
    let words = [
        "check",
        "--",
        "sh",
        "-c",
        "echo $LANG $1; echo err >&2",
        "sh",
        "a b",
    ];
    let run = project.harness(&words);
    assert_eq!(run.stdout, "C a b\n");
    assert!(run.stderr.starts_with("err\n"), "{}", run.stderr);
}

#[test]
fn a_path_from_the_root_means_the_file_in_the_folder_that_it_names() {
    require!(right_to_trace());
    let shell = "echo x > made";
    for (rule, is_allowed) in [
        ("never: [ { openat: { path: DIR/made } } ]", false),
        ("never: [ { openat: { path: { prefix: DIR/ } } } ]", false),
        (
            "never: [ { openat: { path: { glob: 'DIR/../*/ma*' } } } ]",
            false,
        ),
        (
            "never: [ { openat: { path: { glob: '/**/made' } } } ]",
            false,
        ),
        ("never: [ { openat: { path: DIR/other } } ]", true),
        ("confined: { writes: [ DIR/made ] }", true),
        ("confined: { writes: [ 'DIR/**' ] }", true),
        ("confined: { writes: [ DIR/other ] }", false),
    ] {
        let project = ruled("");
        let folder = project.join("").canonicalize().expect("the folder");
        let above = folder
            .parent()
            .expect("a folder")
            .to_str()
            .expect("letters");
        let folder = folder.to_str().expect("letters");
        let rule = rule.replace("DIR/..", above).replace("DIR", folder);
        project.write("rules.yaml", &format!("expect: {{ {rule} }}\n"));
        let run = project.checked(shell);
        run.assert_status(if is_allowed { 0 } else { 1 });
    }
}
