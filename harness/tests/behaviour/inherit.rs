//! Which descriptors a command on the bare host has: those that a shell hands to any command, and
//! none of the harness' own.

use crate::support::oracle;
use crate::support::project::{Project, Run};
use crate::support::require::{program, require, right_to_trace};

/// The commands that start one, each with where its own words go.
const COMMANDS: [&str; 3] = [
    "\"$0\" trace -o \"$TMPDIR/trace\" --",
    "\"$0\" record -o \"$TMPDIR/perf.data\" --",
    "\"$0\" stat -o \"$TMPDIR/stat\" --",
];

/// Closes what a test beside this one had open for a moment when the shell was started.
const OWN: &str = "for open in /proc/$$/fd/*; do open=${open##*/}; \
                   [ $open -lt 3 ] || [ $open -eq 255 ] || eval \"exec $open>&-\"; done;";

fn bash(project: &Project, script: &str) -> Run {
    let words = ["bash", "-c", script, env!("CARGO_BIN_EXE_harness")];
    project.run(&[], &words)
}

#[test]
fn a_command_reads_what_the_shell_substitutes() {
    require!(right_to_trace());
    let project = Project::new();
    for command in COMMANDS {
        let run = bash(&project, &format!("{command} cat <(echo hi)"));
        run.assert_status(0);
        assert_eq!(run.stdout, "hi\n", "{command}");
    }
}

#[test]
fn a_command_has_the_descriptors_that_it_has_without_the_harness() {
    require!(right_to_trace());
    let project = Project::new();
    project.write("file", "");
    // At numbers that the harness, and the cork, would take for themselves, and far from them.
    let opened = "exec 3<file 4>>file 5< <(:) 6<&3 9<. 200</dev/null; ulimit -Sn 300;";
    let alone = bash(&project, &format!("{opened} ls /proc/self/fd"));
    alone.assert_status(0);
    assert!(alone.stdout.contains("200\n"), "{}", alone.stdout);
    for command in COMMANDS {
        let run = bash(&project, &format!("{opened} {command} ls /proc/self/fd"));
        run.assert_status(0);
        assert_eq!(run.stdout, alone.stdout, "{command}");
    }
}

#[test]
fn a_trace_names_the_descriptors_that_a_command_starts_with() {
    require!(right_to_trace());
    let project = Project::new();
    project.write("seven", "text");
    let script = "exec 7<seven 8>gone; rm gone; \
                  \"$0\" trace -e read,write,dup2,close -o trace -- \
                  bash -c 'read -u 7 -N 1; echo >&8; exec 7<&-' ";
    bash(&project, script).assert_status(0);
    let trace = project.read("trace");
    let path = project.join("seven").display().to_string();
    assert!(trace.contains(&format!("(7<{path}>, ")), "{trace}");
    assert!(trace.contains(&format!("close(7<{path}>) = 0")), "{trace}");
    let gone = project.join("gone").display().to_string();
    assert!(trace.contains(&format!("<{gone} (deleted)>")), "{trace}");
}

#[test]
fn the_job_server_of_make_serves_a_make_that_is_traced() {
    require!(right_to_trace());
    require!(program("make"));
    let project = Project::new();
    let makefile = "all:\n\t+\"$(HARNESS)\" trace -o trace -e execve -- $(MAKE) inner\n\
                    inner: a b\na b:\n\t@echo $@\n.PHONY: all inner a b\n";
    project.write("Makefile", makefile);
    let run = bash(&project, "make --no-print-directory -j2 HARNESS=\"$0\"");
    run.assert_status(0);
    assert!(!run.stderr.contains("jobserver"), "{}", run.stderr);
    for name in ["a\n", "b\n"] {
        assert!(run.stdout.contains(name), "{}", run.stdout);
    }
}

#[test]
fn in_a_sandbox_a_command_has_the_standard_descriptors_alone() {
    require!(right_to_trace());
    let project = Project::new();
    project.write("file", "");
    project.scenario(
        "a",
        "workload: { shell: \"echo /proc/self/fd/*\" }\n\
         expect: { stdout: { matches: \"^(/proc/self/fd/[0-3] ?)+\\n$\" } }\nsnapshot: false",
    );
    let opened = "exec 3<file 7<file 9<.;";
    let run = bash(
        &project,
        &format!("{opened} \"$0\" trace --sandbox -o t ls /proc/self/fd"),
    );
    run.assert_status(0);
    assert_eq!(run.stdout, "0\n1\n2\n3\n");
    bash(&project, &format!("{opened} \"$0\" run scenarios")).assert_status(0);
}

/// These and `check`, whose statement is thrown away.
fn all_commands() -> impl Iterator<Item = &'static str> {
    COMMANDS
        .into_iter()
        .chain(["\"$0\" check -o \"$TMPDIR/check\" --"])
}

#[test]
fn a_descriptor_that_is_closed_is_closed_for_a_command() {
    require!(right_to_trace());
    let project = Project::new();
    for closed in ["<&-", ">&-", "2>&-"] {
        let look = "sh -c 'ls /proc/$$/fd >open'";
        bash(&project, &format!("{OWN} exec {closed}; {look}")).assert_status(0);
        let alone = project.read("open");
        assert!(
            alone.lines().filter(|it| it.len() == 1).count() < 4,
            "{alone}"
        );
        for command in all_commands() {
            let script = format!("{OWN} exec {closed}; {command} {look}");
            bash(&project, &script).assert_status(0);
            assert_eq!(project.read("open"), alone, "{command} {closed}");
        }
    }
    let fails = "\"$0\" check -o \"$TMPDIR/check\" -- echo text >&-";
    let status = bash(&project, fails).status;
    assert_ne!(status, 0, "it cannot write");
}

#[test]
fn a_command_ignores_and_blocks_the_signals_that_it_does_without_the_harness() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    let signals = || {
        let status = project.read("status");
        let lines = status.lines();
        let of_signals = |line: &&str| line.starts_with("SigIgn") || line.starts_with("SigBlk");
        lines.filter(of_signals).collect::<Vec<_>>().join(" ")
    };
    let block = "import os, signal, sys\n\
                 signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGRTMAX])\n\
                 os.execvp(sys.argv[1], sys.argv[1:])";
    project.write("block.py", block);
    for around in ["", "trap '' HUP INT USR2; python3 block.py "] {
        bash(&project, &format!("{around}cp /proc/self/status status")).assert_status(0);
        let alone = signals();
        for command in all_commands() {
            bash(
                &project,
                &format!("{around}{command} cp /proc/self/status status"),
            )
            .assert_status(0);
            assert_eq!(signals(), alone, "{around}{command}");
        }
    }
}

#[test]
fn a_command_is_started_where_a_container_has_no_clone3() {
    require!(right_to_trace());
    let project = Project::new();
    let scenario = "description: it\nworkload: { run: ['true'] }\ntrace: { events: [{ syscalls: [exit_group] }] }\n\
                    expect: { count: { exit_group: 1 } }\nsnapshot: false\n";
    project.write("s.yaml", scenario);
    let all = all_commands().map(|command| format!("{command} sh -c 'exit 0'"));
    for command in all.chain(["\"$0\" run s.yaml".to_owned()]) {
        let words = format!("exec \"$ORACLE\" without-clone3 {command}");
        let oracle = oracle::path();
        let words = ["bash", "-c", &words, env!("CARGO_BIN_EXE_harness")];
        project.run(&[("ORACLE", &oracle)], &words).assert_status(0);
    }
}
