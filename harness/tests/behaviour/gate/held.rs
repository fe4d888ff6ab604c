//! What is known of a call while it is held: its order among others, its file, and the signal that
//! comes with its answer.

use super::{passes, python};
use crate::support::project::{Project, verdict};
use crate::support::require::{program, require, right_to_trace};

#[test]
fn a_call_that_is_held_for_a_time_has_not_come_before_that_is_over() {
    require!(right_to_trace());
    require!(program("python3"));
    // The blocked one is made behind the delay, whichever of them is received first.
    for (first, second) in [("a", "b"), ("b", "a")] {
        let script = format!(
            "import os, threading, time\n\
             begin = time.monotonic()\n\
             over = {{}}\n\
             def make(name):\n    os.mkdir(name)\n    over[name] = time.monotonic() - begin\n\
             all = [threading.Thread(target=make, args=(name,)) for name in '{first}{second}']\n\
             for it in all: it.start()\n\
             for it in all: it.join()\n\
             print(over['a'] >= 0.3)"
        );
        passes(&python(
            &script,
            "mkdir",
            "{ mkdir: { path: a, block: { until: { mkdir: { path: b } } } } }, \
             { mkdir: { path: b, delay: 300ms } }",
            "stdout: \"True\\n\"",
        ));
    }
}

#[test]
fn the_status_of_an_open_file_is_told_from_that_of_a_path() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os\n\
                  os.fstat(0), os.fstat(1), os.fstat(os.pipe()[0])\n\
                  script = os.open('script.py', 0)\n\
                  os.fstat(script)\n\
                  try: os.stat('x')\n\
                  except OSError as error: print(error.errno)";
    passes(&python(
        script,
        "newfstatat, fstat, stat",
        "{ newfstatat: { path: x, error: EIO } }",
        "stdout: \"5\\n\"",
    ));
    // An empty path means the descriptor's file.
    let script = "import os\n\
                  script = os.open('script.py', 0)\n\
                  try: os.fstat(script)\n\
                  except OSError as error: print(error.errno)";
    passes(&python(
        script,
        "newfstatat, fstat",
        "{ newfstatat: { path: script.py, error: EIO } }",
        "stdout: \"5\\n\"",
    ));
}

#[test]
fn a_change_of_the_folder_that_was_answered_leaves_its_path_known() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os\n\
                  os.mkdir('d')\n\
                  for path in ['.', 'd', '..']:\n    \
                  try: os.chdir(path)\n    \
                  except OSError as error: print(path, error.errno)\n\
                  os.mkdir('d/e')";
    passes(&python(
        script,
        "chdir, mkdir",
        "{ chdir: { path: { equals: $DIR }, when: 1, error: EIO } }, \
         { chdir: { path: d, error: EACCES } }, { chdir: { error: EPERM } }",
        "stdout: \". 5\\nd 13\\n.. 1\\n\", sequence: [{ mkdir: { path: d/e } }]",
    ));
}

#[test]
fn a_fault_for_a_file_that_has_another_name_by_now_is_not_known_to_be_meant() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os\n\
                  new = os.open('new', os.O_CREAT | os.O_WRONLY)\n\
                  os.rename('new', 'list')\n\
                  os.close(new)";
    let yaml = python(
        script,
        "openat, rename, close",
        "{ close: { fd: new, error: EIO } }",
        "exit: 1",
    );
    let (verdict, why) = verdict(&yaml);
    assert_eq!(verdict, "incomplete", "{why}");
}

#[test]
fn the_signal_that_comes_with_an_error_ends_its_thread_in_the_call() {
    require!(right_to_trace());
    let fault = "error: EPIPE, signal: SIGPIPE";
    for (fault, signal) in [(fault, "SIGPIPE"), ("signal: SIGTERM", "SIGTERM")] {
        let project = Project::with(
            "it",
            &format!(
                "workload: {{ run: [cat, list], files: {{ list: milk }} }}\n\
                 trace: {{ events: [{{ syscalls: [write] }}] }}\n\
                 faults: [{{ write: {{ fd: stdout, {fault} }} }}]\n\
                 expect: {{ exit: {{ signal: {signal} }}, count: {{ write: 1 }} }}\nsnapshot: false"
            ),
        );
        // Its death may end the call before the answer does.
        let words = ["run", "--repeat", "20", "scenarios"];
        project.harness(&words).assert_status(0);
    }
    // Who ignores it sees the error.
    require!(program("python3"));
    passes(&python(
        "import os\ntry: os.write(1, b'a')\nexcept BrokenPipeError: os.write(2, b'nobody')",
        "write",
        &format!("{{ write: {{ fd: stdout, {fault} }} }}"),
        "stderr: nobody, sequence: [{ write: { fd: stdout, returns: EPIPE } }]",
    ));
}

/// Installs a filter of the program's own that asks a tracer for one call, by `prctl` or `seccomp`;
/// there is no tracer, so that the call fails with ENOSYS.
const FILTER: &str = "import ctypes, os, platform, struct\n\
                      is_arm = platform.machine() == 'aarch64'\n\
                      libc = ctypes.CDLL(None, use_errno=True)\n\
                      code = b''.join(struct.pack('HBBI', *it) for it in (\
                      (0x20, 0, 0, 0), (0x15, 0, 1, CALL), \
                      (6, 0, 0, 0x7ff00000), (6, 0, 0, 0x7fff0000)))\n\
                      room = ctypes.create_string_buffer(code)\n\
                      program = struct.pack('HxxxxxxQ', 4, ctypes.addressof(room))\n\
                      libc.prctl(38, 1, 0, 0, 0)\n\
                      assert INSTALL == 0\n\
                      os.mkdir('new')\n\
                      os.fsync(os.open('new', os.O_RDONLY))";

#[test]
fn a_call_that_is_held_though_a_tracer_is_to_be_asked_makes_the_run_incomplete() {
    require!(right_to_trace());
    require!(program("python3"));
    let (fsync, getpriority) = ("82 if is_arm else 74", "141 if is_arm else 140");
    for install in [
        "libc.prctl(22, 2, program, 0, 0)",
        "libc.syscall(277 if is_arm else 317, 1, 0, program)",
    ] {
        for (call, expected) in [(fsync, "incomplete"), (getpriority, "pass")] {
            let script = FILTER.replace("CALL", call).replace("INSTALL", install);
            let fault = "{ fsync: { delay: 1ms } }";
            let (verdict, why) = verdict(&python(&script, "fsync", fault, "exit: 0"));
            assert_eq!(verdict, expected, "{why}");
            let is_told = why.contains("SECCOMP_RET_TRACE");
            assert_eq!(is_told, expected == "incomplete", "{why}");
        }
    }
}

#[test]
fn an_answer_that_its_thread_did_not_live_to_see_has_not_fired() {
    require!(right_to_trace());
    require!(program("python3"));
    // The child waits in its call until it is killed: what it waits for comes from nowhere.
    let script = "import os, platform, signal\n\
                  mkdir = {'x86_64': '83', 'aarch64': '34'}[platform.machine()]\n\
                  child = os.fork()\n\
                  if child == 0: os.mkdir('a')\n\
                  else:\n  \
                  while open(f'/proc/{child}/syscall').read().split()[0] != mkdir: pass\n  \
                  os.kill(child, signal.SIGKILL)\n  \
                  os.waitpid(child, 0)";
    let fault = "{ mkdir: { error: EIO, delay: 50m } }";
    let (verdict, why) = verdict(&python(script, "mkdir", fault, "exit: 0"));
    assert_eq!(verdict, "fail", "{why}");
    assert!(why.contains("never fired"), "{why}");
}
