//! Faults are done to the calls that they mean, and to no others, whatever the program does
//! meanwhile.

use std::process::Stdio;

use nix::sys::signal::Signal;

use crate::support::fifo::Fifo;
use crate::support::process::{self, Started};
use crate::support::project::{Project, verdict};
use crate::support::require::{program, require, right_to_trace};

/// A scenario of a Python program.
fn python(script: &str, events: &str, faults: &str, expect: &str) -> String {
    let script: String = script
        .lines()
        .map(|line| format!("      {line}\n"))
        .collect();
    format!(
        "workload:\n  run: [python3, script.py]\n  files:\n    script.py: |\n{script}\
         trace: {{ events: [{{ syscalls: [{events}] }}] }}\n\
         faults: [{faults}]\nexpect: {{ {expect} }}\nsnapshot: false"
    )
}

fn passes(yaml: &str) {
    let (verdict, why) = verdict(yaml);
    assert_eq!(verdict, "pass", "{why}\n{yaml}");
}

#[test]
fn one_call_of_many_threads_fails_and_no_other() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os, threading\n\
                  failed = []\n\
                  def work(n):\n  \
                  for i in range(25):\n    \
                  try: os.mkdir(f'd{n}.{i}')\n    \
                  except OSError: failed.append(i)\n\
                  all = [threading.Thread(target=work, args=(n,)) for n in range(4)]\n\
                  for one in all: one.start()\n\
                  for one in all: one.join()\n\
                  print(len(failed), len(os.listdir('.')) - 1)";
    passes(&python(
        script,
        "mkdir",
        "{ mkdir: { when: 37, error: ENOSPC } }",
        "stdout: \"1 99\\n\", count: { mkdir: 100 }",
    ));
}

#[test]
fn children_are_counted_with_the_run_or_by_themselves() {
    require!(right_to_trace());
    let run = |fault: &str, stdout: &str| {
        passes(&format!(
            "workload: {{ shell: \"mkdir a b 2>&1; mkdir c d 2>&1; ls; true\" }}\n\
             trace: {{ events: [{{ syscalls: [mkdir] }}] }}\nfaults: [{{ mkdir: {{ {fault} }} }}]\n\
             expect: {{ stdout: {{ contains: \"{stdout}\" }} }}\nsnapshot: false"
        ));
    };
    run("when: 3, error: EIO", "\\na\\nb\\nd\\n");
    run("when: 2, per: process, error: EIO", "\\na\\nc\\n");
    run("when: \"1..+3\", error: EIO", "\\nb\\nc\\n");
    run("when: \"2..=3\", error: EIO", "\\na\\nd\\n");
}

#[test]
fn a_signal_that_comes_while_a_call_is_held_counts_it_once() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os, signal\n\
                  signal.signal(signal.SIGALRM, lambda *_: None)\n\
                  signal.setitimer(signal.ITIMER_REAL, 0.05)\n\
                  os.fsync(os.open('script.py', os.O_RDWR))";
    passes(&python(
        script,
        "fsync",
        "{ fsync: { when: 1, delay: 300ms } }",
        "count: { fsync: 1 }, sequence: [{ fsync: { returns: 0 } }]",
    ));
}

#[test]
fn a_program_that_a_thread_executed_is_held_as_well() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os, threading\n\
                  def executes():\n  \
                  os.execvp('mkdir', ['mkdir', 'a', 'b'])\n\
                  threading.Thread(target=executes).start()\n\
                  threading.Event().wait()";
    passes(&python(
        script,
        "mkdir",
        "{ mkdir: { when: 2, error: EROFS } }",
        "exit: 1, stderr: { contains: Read-only }",
    ));
}

#[test]
fn a_listener_of_the_workloads_own_is_refused_and_said() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import ctypes, os\n\
                  libc = ctypes.CDLL(None, use_errno=True)\n\
                  allow = (ctypes.c_uint64 * 1)(0x7fff000000000006)\n\
                  class Program(ctypes.Structure):\n  \
                  _fields_ = [('length', ctypes.c_ushort), ('filter', ctypes.c_void_p)]\n\
                  program = Program(1, ctypes.addressof(allow))\n\
                  libc.prctl(38, 1, 0, 0, 0)\n\
                  libc.syscall(317, 1, 8, ctypes.byref(program))\n\
                  print(os.strerror(ctypes.get_errno()))\n\
                  os.rmdir('nothing')";
    let yaml = python(
        script,
        "rmdir",
        "{ rmdir: { returns: 0 } }",
        "stdout: \"Device or resource busy\\n\"",
    );
    let project = Project::with("it", &yaml);
    let run = project.harness(&["run", "scenarios"]);
    assert_eq!(run.status, 0, "{run:?}");
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(said.contains("a listener of its own"), "{run:?}");
}

#[test]
fn a_held_call_ends_with_the_timeout() {
    require!(right_to_trace());
    let (verdict, why) = verdict(
        "workload: { run: [mkdir, a], timeout: 1s }\ntrace: { events: [{ syscalls: [mkdir] }] }\n\
         faults: [{ mkdir: { delay: 60m } }]\nsnapshot: false",
    );
    assert_eq!(verdict, "timeout", "{why}");
}

#[test]
fn a_workload_with_a_held_call_ends_with_the_harness() {
    require!(right_to_trace());
    for sandbox in ["{ root: host }", "none"] {
        let project = Project::new();
        let mut fifo = Fifo::new(&project.join("fifo"));
        let path = fifo.path();
        project.scenario(
            "it",
            &format!(
                "sandbox: {sandbox}\nworkload: {{ shell: \"echo > '{path}'; mkdir a\", timeout: 60m }}\n\
                 trace: {{ events: [{{ syscalls: [mkdir] }}] }}\n\
                 faults: [{{ mkdir: {{ delay: 50m }} }}]\nsnapshot: false"
            ),
        );
        let mut command = project.program(&["run", "scenarios"]);
        let mut harness = Started::new(command.stdout(Stdio::null()).stderr(Stdio::null()));
        fifo.wait_for_lines(1);
        harness.end_by(Signal::SIGKILL);
        process::wait_for_all_in(project.path());
    }
}

#[test]
fn a_recording_of_a_faulted_run_is_judged_as_the_run_was() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os\n\
                  fd = os.open('script.py', os.O_RDWR)\n\
                  print(os.read(fd, 50))\n\
                  try: os.mkdir('a')\n\
                  except OSError: print('failed')";
    let yaml = python(
        script,
        "mkdir, read",
        "{ mkdir: { path: a, error: ENOSPC } }, { read: { fd: script.py, short: 4 } }",
        "stdout: { contains: failed }, sequence: [{ mkdir: { path: a, returns: ENOSPC } }]",
    );
    let project = Project::with("it", &yaml.replace("snapshot: false", "snapshot: true"));
    let run = project.harness(&["run", "--update", "scenarios"]);
    assert_eq!(run.status, 0, "{run:?}");
    let run = project.harness(&["run", "--save", "saved", "scenarios"]);
    assert_eq!(run.status, 0, "{run:?}");
    let run = project.harness(&["run", "--from", "saved/it.data", "scenarios"]);
    assert_eq!(run.status, 0, "{run:?}");
    let snapshot = project
        .files("snapshots")
        .into_values()
        .next()
        .expect("one");
    let text = String::from_utf8_lossy(&snapshot).into_owned();
    let line = "mkdir(\"a\", 0777) = -1 ENOSPC (INJECTED)";
    assert!(text.contains(line), "{text}");
}

#[test]
fn a_trace_says_what_was_injected() {
    require!(right_to_trace());
    let project = Project::new();
    let inject = "inject=mkdir:error=ENOSPC:when=2";
    let command = ["mkdir", "tmp/a", "tmp/b", "tmp/c"];
    let traced = |format: &str| {
        let words = [
            "trace", "-e", "mkdir", "-e", inject, "--format", format, "--",
        ];
        project.harness(&[&words[..], &command].concat())
    };
    let run = traced("json");
    let injected: Vec<&str> = run
        .stderr
        .lines()
        .filter(|it| it.contains("injected"))
        .collect();
    let [line] = injected.as_slice() else {
        panic!("{run:?}");
    };
    let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
    assert_eq!(line["injected"], serde_json::json!({ "error": "ENOSPC" }));
    assert_eq!(line["errno"], "ENOSPC");
    assert_eq!(line["args"][0]["text"], "\"tmp/b\"");
    assert_eq!(run.status, 1, "{run:?}");
}
