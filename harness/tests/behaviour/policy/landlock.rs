//! Rules of Landlock allow what complete runs did, and nothing is left out of them.

#[path = "enforced.rs"]
mod enforced;

use serde_json::{Value, json};
use std::collections::BTreeSet;

use crate::support::project::{Project, Run};
use crate::support::require::{program, require, right_to_trace};

/// Makes the rules of all scenarios of a project.
fn rules(project: &Project, options: &[&str]) -> Run {
    let words = ["policy", "--format", "landlock", "--output", "p.json"];
    project.harness(&[&words, options, &["scenarios"]].concat())
}

fn shell(line: &str) -> String {
    format!(
        "workload: {{ shell: {}, files: {{ old: old }} }}\nsnapshot: false\n",
        json!(line)
    )
}

fn python(script: &str) -> String {
    let run = json!(["python3", "-IBSc", script]);
    format!("workload: {{ run: {run}, files: {{ old: old }} }}\nsnapshot: false\n")
}

fn with_rules(yaml: &str) -> Project {
    let project = Project::with("it", yaml);
    rules(&project, &[]).assert_status(0);
    project
}

fn object(project: &Project) -> Value {
    serde_json::from_str(&project.read("p.json")).expect("JSON")
}

/// Each rule: what it is about, and the right.
fn all(object: &Value) -> BTreeSet<(String, String)> {
    let mut all = BTreeSet::new();
    for (list, about) in [("pathBeneath", "parent"), ("netPort", "port")] {
        for rule in object[list].as_array().into_iter().flatten() {
            let about = &rule[about][0];
            let about = about
                .as_str()
                .map_or_else(|| about.to_string(), str::to_owned);
            let rights = rule["allowedAccess"].as_array().expect("rights");
            all.extend(
                rights
                    .iter()
                    .map(|right| (about.clone(), right.as_str().expect("a word").to_owned())),
            );
        }
    }
    all
}

/// The rights to what is below the working directory, as `path: right`.
fn own(project: &Project) -> Vec<String> {
    let all = all(&object(project)).into_iter();
    all.filter_map(|(path, right)| {
        let below = path.strip_prefix("${dir}")?;
        Some(format!("{below}: {right}"))
    })
    .collect()
}

#[test]
fn rights_are_to_what_was_there_before_the_run() {
    require!(right_to_trace());
    let cases: [(&str, &[&str]); 10] = [
        ("read -r it < old || true", &["/old: read_file"]),
        ("echo >> old", &["/old: write_file"]),
        ("echo > new", &[": make_reg", ": write_file"]),
        // A folder of the run's own has the rights of the one that was there.
        (
            "mkdir a a/b; echo > a/b/c",
            &[": make_dir", ": make_reg", ": write_file"],
        ),
        // Another file has the name by then.
        (
            "mv -T old it; echo > old; read -r it < old",
            &[": make_reg", ": read_file", ": remove_file", ": write_file"],
        ),
        (
            "mv -T old it; read -r it < it || true",
            &[": make_reg", ": remove_file", "/old: read_file"],
        ),
        (
            "ln -s old l; read -r it < l || true",
            &[": make_sym", "/old: read_file"],
        ),
        ("cat nothing 2>&1 || mkdir . || true", &[]),
        // The file is open when its interpreter is looked for.
        (
            "echo '#!/nothing' > s; chmod +x s; ./s || true",
            &[": execute", ": make_reg", ": read_file", ": write_file"],
        ),
        (
            "test -e old; cd /; chmod 600 \"$HOME/old\"; stat \"$HOME\"",
            &[],
        ),
    ];
    for (line, expected) in cases {
        let project = with_rules(&shell(line));
        assert_eq!(own(&project), expected, "{line}");
    }
}

#[test]
fn a_file_without_a_name_is_one_of_its_folder() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os\nit = os.open('.', os.O_TMPFILE | os.O_WRONLY)\nos.ftruncate(it, 1)\n\
        os.link(f'/proc/self/fd/{it}', 'new', src_dir_fd=0)";
    let expected = [": make_reg", ": truncate", ": write_file"];
    assert_eq!(own(&with_rules(&python(script))), expected);
}

#[test]
fn what_fails_behind_the_rules_needs_them_and_what_fails_before_does_not() {
    require!(right_to_trace());
    require!(program("python3"));
    let device = "import fcntl\nit = open('/dev/urandom', 'rb', 0)\n\
        try: fcntl.ioctl(it, 0x5401)\nexcept OSError: pass";
    let port = "import socket as s\na, b = s.socket(), s.socket()\nfor it in a, b:\n  \
        it.setsockopt(s.SOL_SOCKET, s.SO_REUSEADDR, 0)\n  \
        it.connect_ex(('127.0.0.1', 9))\nc = s.socket(); c.close()\n\
        try: c.bind(('', 8))\nexcept OSError: pass";
    let has = |script: &str, about: &str, right: &str| {
        let project = with_rules(&python(script));
        all(&object(&project)).contains(&(about.to_owned(), right.to_owned()))
    };
    assert!(has(device, "/dev/urandom", "ioctl_dev"));
    assert!(has(port, "9", "connect_tcp"));
    assert!(!has(port, "8", "bind_tcp"));
}

#[test]
fn what_no_rule_can_say_makes_no_rules() {
    require!(right_to_trace());
    require!(program("python3"));
    let own_port = "import socket as s\na = s.socket(); a.bind(('127.0.0.1', 0)); a.listen()\n\
        s.create_connection(a.getsockname())";
    let cases = [
        (shell("unshare -m mount -t tmpfs none /mnt"), "`mount`: "),
        (
            shell("echo '#!/bin/sh' > s; chmod +x s; ./s; echo >> s"),
            "was changed after it was executed",
        ),
        (shell("cp /bin/true t; ./t; rm t"), "cannot be looked at"),
        (python(own_port), "a port of its own that the kernel chose"),
    ];
    for (yaml, why) in cases {
        let project = Project::with("it", &yaml);
        let run = rules(&project, &[]);
        run.assert_status(1);
        assert!(run.stderr.contains(why), "{}", run.stderr);
        assert!(run.stderr.contains("there is no policy"), "{}", run.stderr);
        assert!(!project.join("p.json").exists());
    }
}

#[test]
fn rules_that_are_too_few_or_too_many_are_told_as_drift() {
    require!(right_to_trace());
    let project = with_rules(&shell("echo > new"));
    project.scenario("it", &shell("echo > new; rm old"));
    let run = project.harness(&["policy", "--check", "p.json", "scenarios"]);
    run.assert_status(1);
    let said = "+${dir}: remove_file  (needed by it)\n";
    assert!(run.stdout.contains(said), "{}", run.stdout);
    project.scenario("it", &shell("true"));
    let run = project.harness(&["policy", "--check", "p.json", "scenarios"]);
    run.assert_status(1);
    let said = "-${dir}: make_reg  (line ";
    assert!(run.stdout.contains(said), "{}", run.stdout);
}

#[test]
fn recordings_with_the_files_that_calls_reached_make_the_same_rules() {
    require!(right_to_trace());
    let project = with_rules(&shell("echo '#!/bin/sh' > s; chmod +x s; ./s; rm old"));
    let (live, why) = (object(&project), project.read("p.json.why"));
    let save = |options: &[&str]| {
        let words = ["run", "--save", "saved"];
        project
            .harness(&[&words, options, &["scenarios"]].concat())
            .assert_status(0);
    };
    save(&["--every-call"]);
    rules(&project, &["--from", "saved"]).assert_status(0);
    assert_eq!(object(&project), live);
    assert_eq!(project.read("p.json.why"), why);
    save(&[]);
    let run = rules(&project, &["--from", "saved"]);
    assert_ne!(run.status, 0, "{}", run.stderr);
}

#[test]
fn options_of_another_form_are_refused() {
    let project = Project::with("it", &shell("true"));
    for options in [
        &["--format", "oci", "--abi", "3"][..],
        &["--format", "oci", "--directory", "/srv"],
        &["--format", "landlock", "--names"],
        &["--format", "landlock", "--also", "read"],
        &["--format", "landlock", "--abi", "7"],
    ] {
        let words = [&["policy"], options, &["scenarios"]].concat();
        project.harness(&words).assert_status(2);
    }
}

#[test]
fn the_folder_of_the_program_is_told_and_stands_in_the_file_where_it_is_known() {
    require!(right_to_trace());
    let project = Project::with("it", &shell("echo > new"));
    let run = rules(&project, &[]);
    run.assert_status(0);
    assert!(run.stderr.contains("`${dir}` stands for"), "{}", run.stderr);
    assert_eq!(object(&project)["variable"], Value::Null);
    let run = rules(&project, &["--directory", "/srv", "--abi", "1"]);
    run.assert_status(0);
    assert_eq!(run.stderr, "");
    let variable = json!([{ "name": "dir", "literal": ["/srv"] }]);
    assert_eq!(object(&project)["variable"], variable);
    assert_eq!(object(&project)["ruleset"][0]["scoped"], Value::Null);
}

#[test]
fn a_rule_for_all_files_is_told() {
    require!(right_to_trace());
    let project = Project::with("it", &shell("ls / > /dev/null"));
    let run = rules(&project, &[]);
    run.assert_status(0);
    let said = "the rule `/: read_dir` is for every file there is";
    assert!(run.stderr.contains(said), "{}", run.stderr);
}
