//! What the kernel executes in the place of a program that a call names: the interpreter behind
//! `#!`, and the loader.

use super::{done, ruled, summary};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};
use serde_json::Value;

const SCRIPT: &str = "./script";

/// A project with a program of its own, `tool`, and a script that names it as its interpreter.
fn project(rules: &str) -> Project {
    let project = ruled(rules);
    project.run(&[], &["sh", "-c", "cp \"$(command -v ls)\" tool"]);
    let line = format!("#!{}/tool\n", project.path().display());
    project.write("script", &line);
    project.run(&[], &["chmod", "755", "script"]);
    project
}

fn programs(rules: &str) -> String {
    format!("expect: {{ confined: {{ programs: {rules} }} }}\n")
}

#[test]
fn a_script_needs_a_rule_for_its_interpreter_too() {
    require!(right_to_trace());
    let run = project(&programs("[./script]")).checked(SCRIPT);
    run.assert_status(1);
    for said in [
        "does not allow `./tool`",
        "the kernel executed it as the interpreter of that program",
        "what allows it: programs: [\"./tool\"]",
    ] {
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
    let rules = programs("[./script, ./tool]");
    project(&rules).checked(SCRIPT).assert_status(0);
}

#[test]
fn an_interpreter_is_read() {
    require!(right_to_trace());
    let rules = |reads: &str| format!("expect: {{ confined: {{ reads: [{reads}] }} }}\n");
    let script = format!("#!{}\n", env!("CARGO_BIN_EXE_harness"));
    let of = |reads: &str| {
        let project = ruled(&rules(reads));
        project.write("script", &script);
        project.run(&[], &["chmod", "755", "script"]);
        // It ends as it ends: as an interpreter it is given a file that is no command.
        project.checked("./script || true")
    };
    let run = of("");
    run.assert_status(1);
    assert!(run.stderr.contains("harness`"), "{}", run.stderr);
    assert!(run.stderr.contains("interpreter"), "{}", run.stderr);
    of("/**").assert_status(0);
}

#[test]
fn a_rule_may_name_an_interpreter_by_a_link_of_the_machines() {
    require!(right_to_trace());
    let of = |rules: &str| {
        let project = ruled(&programs(rules));
        project.write("script", "#!/bin/sh\n");
        project.run(&[], &["chmod", "755", "script"]);
        project.harness(&["check", "rules.yaml", "--", "env", SCRIPT])
    };
    for rules in [
        "[./script, sh]",
        "[./script, /bin/sh]",
        "[./script, /bin/*]",
    ] {
        of(rules).assert_status(0);
    }
    of("[./script, env]").assert_status(1);
}

#[test]
fn a_loader_is_allowed_by_the_preset_alone() {
    require!(right_to_trace());
    let project = project(&programs("[./tool], presets: []"));
    let run = project.checked("./tool");
    run.assert_status(1);
    let said = "the kernel executed it as the loader of that program";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    project.write("rules.yaml", &programs("[./tool]"));
    project.checked("./tool").assert_status(0);
}

#[test]
fn a_statement_names_interpreters_and_counts_loaders_as_usual() {
    require!(right_to_trace());
    let lines = project("").stated("./script; ./tool");
    let executed = done(&lines, "executed");
    for name in ["./script", "./tool"] {
        assert!(executed.contains(&name), "{executed:?}");
    }
    let is_loader = |name: &&&str| name.contains("/ld-");
    assert_eq!(executed.iter().find(is_loader), None);
    assert_eq!(summary(&lines)["complete"], true);
}

#[test]
fn a_script_in_memory_has_its_interpreter_executed() {
    require!(right_to_trace());
    require!(program("python3"));
    let rules = programs("[python3, 'memfd:it']");
    let project = project(&rules);
    let executes = |content: &str| {
        format!(
            "import os\nfile = os.memfd_create('it', 0)\nos.write(file, {content})\n\
             os.execve(file, ['it'], {{}})\n"
        )
    };
    project.write("memory.py", &executes("open('script', 'rb').read()"));
    let run = project.checked("exec python3 -I -S -B memory.py");
    run.assert_status(1);
    assert!(
        run.stderr.contains("does not allow `./tool`"),
        "{}",
        run.stderr
    );
    project.write("memory.py", &executes("open('tool', 'rb').read()"));
    let run = project.checked("exec python3 -I -S -B memory.py");
    run.assert_status(0);
}

#[test]
fn a_program_that_was_removed_is_executed_by_its_descriptor() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = project(&programs("[python3, ./tool]"));
    let removes = "import os\nfile = os.open('tool', os.O_RDONLY)\nos.unlink('tool')\n\
                   os.execve(file, ['tool'], {})\n";
    project.write("removes.py", removes);
    let run = project.checked("exec python3 -I -S -B removes.py");
    run.assert_status(0);
}

#[test]
fn the_interpreter_of_the_command_itself_needs_no_rule_as_such_and_is_stated() {
    require!(right_to_trace());
    let project = ruled(&programs("[]"));
    project.write("again", "#!/bin/sh\n[ \"$1\" ] || exec ./again again\n");
    project.write("shell", "#!/bin/sh\nexec sh -c :\n");
    project.run(&[], &["chmod", "755", "again", "shell"]);
    let check = |script: &str| project.harness(&["check", "rules.yaml", "--", script]);
    check("./again").assert_status(0);
    let run = check("./shell");
    run.assert_status(1);
    assert!(run.stderr.contains("sh\", [\"sh\", "), "{}", run.stderr);
    let words = ["--format", "json", "-o", "stated", "--", "./again"];
    project.harness(&[&["check"], &words[..]].concat());
    let text = project.read("stated");
    let lines: Vec<Value> = text
        .lines()
        .map(|line| line.parse().expect("JSON"))
        .collect();
    assert_eq!(done(&lines, "executed").len(), 2, "{text}");
    assert_eq!(summary(&lines)["complete"], true);
}
