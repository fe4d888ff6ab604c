//! What a fault's words mean: which calls are counted together, which signals come before a call.

use std::process::Stdio;

use nix::sys::signal::Signal;

use super::{passes, python};
use crate::support::fifo::Fifo;
use crate::support::is_root;
use crate::support::process::{self, Started};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

#[test]
fn when_counts_in_each_thread_where_that_is_asked_for() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os, threading\n\
                  failed = []\n\
                  def work(n):\n  \
                  for i in range(4):\n    \
                  try: os.mkdir(f'd{n}.{i}')\n    \
                  except OSError: failed.append((n, i))\n\
                  all = [threading.Thread(target=work, args=(n,)) for n in range(2)]\n\
                  for one in all: one.start()\n\
                  for one in all: one.join()\n\
                  print(sorted(failed))";
    passes(&python(
        script,
        "mkdir",
        "{ mkdir: { when: 2, per: thread, error: EIO } }",
        "stdout: \"[(0, 1), (1, 1)]\\n\", count: { mkdir: 8 }",
    ));
}

#[test]
fn classes_and_globs_name_calls_and_the_first_fault_that_is_due_is_done() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os\n\
                  for call in (os.mkdir, os.rmdir, os.mkdir, os.mkdir):\n  \
                  try: call('a')\n  \
                  except OSError as error: print(error.errno)";
    // Both are due for the third call on it, the second of `mkdir`.
    passes(&python(
        script,
        "\"%file\"",
        "{ \"%file\": { path: a, when: 3, error: EIO } }, \
         { \"mkdi*\": { path: a, when: \"2..\", error: EPERM } }",
        "stdout: \"5\\n1\\n\"",
    ));
}

#[test]
fn for_root_the_gate_takes_no_privileges_from_programs() {
    require!(right_to_trace());
    require!(is_root());
    let yaml = "workload: { shell: \"mkdir a; grep NoNewPrivs /proc/self/status\" }\n\
                trace: { events: [{ syscalls: [mkdir] }] }\n\
                faults: [{ mkdir: { error: EIO } }]\n";
    passes(&format!(
        "{yaml}expect: {{ stdout: \"NoNewPrivs:\\t0\\n\" }}\nsnapshot: false"
    ));
}

#[test]
fn a_signal_that_kills_at_a_call_comes_before_it_and_all_others_before_what_follows_it() {
    require!(right_to_trace());
    require!(program("python3"));
    let caught = "import os, signal\n\
                  signal.signal(signal.SIGUSR1, lambda *_: print('caught'))\n\
                  os.mkdir('a')\nos.mkdir('b')";
    let not_made = "files_after: { a: { exists: false } }, sequence: [{ mkdir: { path: a } }]";
    let made = "sequence: [{ mkdir: { path: a, returns: 0 } }]";
    for (signal, exit, what) in [
        ("SIGKILL", "{ signal: SIGKILL }", not_made),
        ("SIGTERM", "{ signal: SIGTERM }", not_made),
        // It makes a core behind the call.
        ("SIGABRT", "{ signal: SIGABRT }", made),
        ("SIGUSR1", "0, stdout: \"caught\\n\"", made),
        ("SIGCHLD", "0", made),
    ] {
        let fault = format!("{{ mkdir: {{ path: a, when: 1, signal: {signal} }} }}");
        let expect = format!("exit: {exit}, {what}");
        let project = Project::with("it", &python(caught, "mkdir", &fault, &expect));
        let run = project.harness(&["run", "--repeat", "20", "scenarios"]);
        assert!(run.stdout.contains("1 pass"), "{signal}: {}", run.stdout);
    }
}

#[test]
fn a_traced_command_with_a_held_call_ends_with_the_harness() {
    require!(right_to_trace());
    let project = Project::new();
    let mut fifo = Fifo::new(&project.join("fifo"));
    let script = format!(
        "echo > '{}'; mkdir a; echo > '{0}'; sleep 1000000",
        fifo.path()
    );
    let mut command = project.program(&["trace", "-e", "inject=mkdir:delay_enter=3000s", "--"]);
    command.args(["sh", "-c", &script]);
    let mut harness = Started::new(command.stdout(Stdio::null()).stderr(Stdio::null()));
    fifo.wait_for_lines(1);
    harness.end_by(Signal::SIGKILL);
    process::wait_for_all_in(project.path());
    assert!(!project.join("a").exists());
}

#[test]
fn a_call_whose_file_is_known_is_not_meant_by_a_path_of_others_whatever_it_reads_into() {
    require!(right_to_trace());
    let project = Project::new();
    project.write("one", "1\n");
    project.write("other", "2\n");
    let inject = "inject=read,newfstatat:error=EIO";
    let words = [
        "trace",
        "-e",
        "read,newfstatat,poll",
        "-P",
        "one",
        "-e",
        inject,
    ];
    let traced = |command: &[&str]| project.harness(&[&words[..], &["--"], command].concat());
    let other = traced(&["dd", "if=other", "status=none"]);
    other.assert_status(0);
    assert!(!other.stderr.contains("nothing was done"), "{other:?}");
    let one = traced(&["dd", "if=one", "status=none"]);
    one.assert_status(1);
    assert!(!one.stderr.contains("nothing was done"), "{one:?}");
}

#[test]
fn a_call_that_was_answered_is_shown_by_whatever_link_its_file_was_opened() {
    require!(right_to_trace());
    let project = Project::new();
    project.write("one", "1\n");
    std::os::unix::fs::symlink("one", project.join("link")).expect("a link");
    let inject = "inject=read:error=EIO";
    let words = ["trace", "-e", "read", "-P", "one", "-e", inject, "--"];
    let run = project.harness(&[&words[..], &["dd", "if=link", "status=none"]].concat());
    run.assert_status(1);
    assert!(
        run.stderr.contains("EIO (Input/output error) (INJECTED)"),
        "{run:?}"
    );
}

#[test]
fn a_signal_has_one_name_in_scenarios_and_on_the_command_line() {
    require!(right_to_trace());
    let first = |signal: &str| {
        format!(
            "workload: {{ run: [mkdir, a] }}\ntrace: {{ events: [{{ syscalls: [mkdir] }}] }}\n\
             faults: [{{ mkdir: {{ signal: {signal} }} }}]\nexpect: {{ exit: {{ signal: {signal} }} }}\n\
             snapshot: false"
        )
    };
    passes(&first("SIGRT_5"));
    passes(&first("SIGRTMIN"));
    let run = Project::with("it", &first("SIGRTMIN+3")).harness(&["run", "scenarios"]);
    run.assert_status(2);
    let meant = "that of C is `SIGRT_5` here";
    assert!(run.stderr.contains(meant), "{run:?}");
    for (signal, status) in [("SIGRT_5", 128 + 37), ("rt_5", 128 + 37), ("37", 128 + 37)] {
        let inject = format!("inject=mkdir:signal={signal}");
        let run = Project::new().harness(&["trace", "-e", &inject, "--", "mkdir", "a"]);
        assert_eq!(run.status, status, "{signal}: {run:?}");
    }
    let inject = "inject=mkdir:signal=SIGRTMIN+3";
    let run = Project::new().harness(&["trace", "-e", inject, "--", "mkdir", "a"]);
    assert!(run.stderr.contains(meant), "{run:?}");
}
