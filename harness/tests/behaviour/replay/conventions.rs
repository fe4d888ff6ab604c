//! A recording of another tool shows calls by some ways alone, and says nothing of the others.
#![cfg(target_arch = "x86_64")]

use super::judged;
use crate::support::project::{OF_32, Project};
use crate::support::require::{program, require, right_to_trace};

/// A project with the programs of attacks, made from C, and what records them by this name.
fn with_programs(programs: &[(&[&str], &str, &str)]) -> Project {
    let project = Project::new();
    for (flags, source, name) in programs {
        project.compile(flags, source, name);
    }
    project
}

/// Records a command by `perf record` or `harness record`.
fn record(project: &Project, recorder: &str, events: &str, command: &str) {
    let recorder = match recorder {
        "harness" => env!("CARGO_BIN_EXE_harness"),
        other => other,
    };
    let words = [
        recorder, "record", "-o", "run.data", "-e", events, "--", "sh", "-c", command,
    ];
    project.run(&[], &words).assert_status(0);
}

fn scenario(project: &Project, command: &str, events: &str, expect: &str) {
    let text = format!(
        "workload: {{ run: [sh, -c, \"{command}\"] }}\ntrace: {{ events: [{events}] }}\n\
         expect: {{ {expect} }}\nsnapshot: false"
    );
    project.scenario("judges", &text);
}

fn verdict(project: &Project) -> (String, String) {
    let judged = judged(project, &["--from", "run.data", "scenarios/judges.yaml"]);
    (judged[0].1.clone(), judged[0].2.concat())
}

/// The last line of the trace in JSON, of a recording that is shown again.
fn is_complete(project: &Project) -> bool {
    let words = ["trace", "-i", "run.data", "--format", "json", "-o", "again"];
    project.harness(&words);
    let text = project.read("again");
    let last = text.lines().last().expect("a summary");
    let last: serde_json::Value = serde_json::from_str(last).expect("JSON");
    last["complete"].as_bool().expect("whether it is complete")
}

#[test]
fn a_32_bit_programs_calls_are_read_as_such_from_a_recording_without_registers() {
    require!(right_to_trace());
    require!(program("cc"));
    require!(program("perf"));
    let project = with_programs(&[(OF_32, "opens.i386.c", "opens")]);
    project.write("secret", "s");
    let command = "./opens; exit 0";
    // `open` of 32 bits has the number of `fstat`.
    let calls = "{ syscalls: [open, fstat] }";
    for recorder in ["perf", "harness"] {
        record(&project, recorder, "raw_syscalls:*", command);
        scenario(&project, command, calls, "never: [open]");
        assert_eq!(verdict(&project).0, "fail", "{recorder}");
        scenario(&project, command, calls, "count: { open: 1 }");
        assert_eq!(verdict(&project).0, "pass", "{recorder}");
        let words = ["trace", "-i", "run.data", "-e", "open", "-o", "again"];
        project.harness(&words).assert_status(0);
        let shown = project.read("again");
        assert!(shown.contains("[i386] open("), "{shown}");
    }
    // Nor do registers mislead that another recorder chose.
    let words = [
        "perf",
        "record",
        "-o",
        "run.data",
        "--user-regs=cx,ip",
        "-e",
        "raw_syscalls:*",
        "--",
        "sh",
        "-c",
        command,
    ];
    project.run(&[], &words).assert_status(0);
    scenario(&project, command, calls, "never: [open]");
    assert_eq!(verdict(&project).0, "fail");
}

#[test]
fn what_harness_record_holds_tells_32_bit_calls_that_a_64_bit_program_makes() {
    require!(right_to_trace());
    require!(program("cc"));
    let project = with_programs(&[(&["-O1", "-pthread"], "gate32.c", "gate32")]);
    project.write("secret", "s");
    let command = "./gate32 ftruncate64; exit 0";
    scenario(
        &project,
        command,
        "{ syscalls: [ftruncate] }",
        "never: [ftruncate]",
    );
    record(&project, "harness", "raw_syscalls:*", command);
    let (is, why) = verdict(&project);
    assert_eq!(is, "fail", "{why}");
}

#[test]
fn a_recording_of_native_calls_alone_says_what_it_does_not_hold() {
    require!(right_to_trace());
    require!(program("cc"));
    require!(program("perf"));
    let project = with_programs(&[(OF_32, "opens.i386.c", "opens")]);
    project.write("secret", "s");
    let of_32 = "programs of 32 bits, whose calls the recording does not hold";
    let ring = "does not hold `io_uring_enter`, by which what `open` does can be done";
    let opens = "syscalls:sys_*_open";
    let rings = format!("{opens},syscalls:sys_*_io_uring_*");
    for (events, command, wanted) in [
        (opens, "exit 0", vec![ring]),
        // Where records are missing, that alone is said.
        (opens, "./opens; exit 0", vec![of_32]),
        (&rings, "exit 0", vec![]),
        (&rings, "./opens; exit 0", vec![of_32]),
    ] {
        record(&project, "perf", events, command);
        for (asked, never) in [
            ("{ syscalls: [open] }", "open"),
            (
                "{ event: \"syscalls:sys_enter_open\" }",
                "\"syscalls:sys_enter_open\"",
            ),
        ] {
            scenario(&project, command, asked, &format!("never: [{never}]"));
            let (is, why) = verdict(&project);
            assert_eq!(is, "incomplete", "{events}, {command}, {asked}: {why}");
            let said: Vec<&str> = [ring, of_32]
                .into_iter()
                .filter(|line| why.contains(line))
                .collect();
            assert_eq!(said, wanted, "{events}, {command}, {asked}: {why}");
        }
        assert_eq!(is_complete(&project), !wanted.contains(&of_32));
    }
}

#[test]
fn a_recording_of_chosen_calls_says_nothing_of_the_others() {
    require!(right_to_trace());
    let project = Project::new();
    let command = "mkdir a; rmdir a";
    let said = "it was recorded with `-e write,exit_group`: it holds these calls alone";
    scenario(
        &project,
        command,
        "{ syscalls: [mkdir, write] }",
        "never: [mkdir]",
    );
    record(&project, "harness", "write,exit_group", command);
    let (is, why) = verdict(&project);
    assert_eq!(is, "incomplete", "{why}");
    assert!(why.contains(said), "{why}");
    for all in ["all", "raw_syscalls:*", "raw_syscalls:*,write,cs"] {
        record(&project, "harness", all, command);
        let (is, why) = verdict(&project);
        let wanted = match all.contains("write") {
            true => "incomplete",
            false => "fail",
        };
        assert_eq!(is, wanted, "{all}: {why}");
    }
}

#[test]
fn a_recording_of_some_tracepoints_of_calls_says_nothing_of_the_others() {
    require!(right_to_trace());
    let project = Project::new();
    let command = "mkdir a; rmdir a";
    let tracepoints = "syscalls:sys_*_mkdir,syscalls:sys_*_exit_group,syscalls:sys_*_io_uring_*";
    record(&project, "harness", tracepoints, command);
    let (all, one) = ("not all of those that are asked for", "`rmdir`");
    for (events, said) in [
        ("{ syscalls: [all] }", Some(all)),
        ("{ syscalls: [mkdir, exit_group, rmdir] }", Some(one)),
        ("{ syscalls: [mkdir, exit_group] }", None),
    ] {
        // `only` that lets through all that is asked for is refused.
        let expect = match said {
            Some(_) => "only: [mkdir, exit_group]",
            None => "count: { mkdir: 1 }",
        };
        scenario(&project, command, events, expect);
        let (is, why) = verdict(&project);
        let wanted = said.map_or("pass", |_| "incomplete");
        assert_eq!(is, wanted, "{events}: {why}");
        assert!(
            said.is_none_or(|said| why.contains(said)),
            "{events}: {why}"
        );
    }
}

#[test]
fn a_tracepoint_that_is_wanted_as_call_and_as_event_is_both() {
    require!(right_to_trace());
    require!(program("perf"));
    let project = Project::new();
    let command = "mkdir a; rmdir a";
    record(&project, "perf", "syscalls:sys_*_mkdir", command);
    let never = "never: [\"syscalls:sys_enter_mkdir\"]";
    scenario(
        &project,
        command,
        "{ event: \"syscalls:sys_enter_mkdir\" }",
        never,
    );
    let (_, why) = verdict(&project);
    assert!(
        why.contains("`syscalls:sys_enter_mkdir` occurs"),
        "it was recorded once and has two meanings: {why}"
    );
}

#[test]
fn recordings_of_ordinary_64_bit_programs_are_complete() {
    require!(right_to_trace());
    require!(program("cc"));
    let perf = program("perf").is_ok();
    let project = Project::new();
    project.write(
        "forks.c",
        "#include <sys/wait.h>\n#include <unistd.h>\n\
         int main(void) {\n\
         if (fork() == 0) _exit(rmdir(\"absent\") == 0);\n\
         if (vfork() == 0) { execl(\"/bin/true\", \"true\", (char *)0); _exit(1); }\n\
         while (wait(0) > 0) {}\n\
         return 0;\n}\n",
    );
    for (name, flags) in [
        ("dynamic", &["-pie"][..]),
        ("fixed", &["-static", "-no-pie"][..]),
        ("moved", &["-static-pie"][..]),
    ] {
        let words = [&["cc", "-O1", "-o", name, "forks.c"], flags].concat();
        project.run(&[], &words).assert_status(0);
        let command = format!("./{name}; exit 0");
        for recorder in ["harness", "perf"].into_iter().take(1 + usize::from(perf)) {
            record(&project, recorder, "raw_syscalls:*", &command);
            assert!(is_complete(&project), "{recorder}: {name}");
            let events = "{ syscalls: [rmdir] }";
            scenario(&project, &command, events, "count: { rmdir: 1 }");
            let (is, why) = verdict(&project);
            assert_eq!(is, "pass", "{recorder}, {name}: {why}");
        }
    }
}
