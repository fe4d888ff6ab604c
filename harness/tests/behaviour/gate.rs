//! Faults are done to the calls that they mean, and to no others, whatever the program does
//! meanwhile.

mod callers;
mod ends;
mod held;
mod made;
mod named;
mod opened;
mod own_filters;
mod told;
mod words;

use std::process::Stdio;

use nix::sys::signal::Signal;

use crate::support::fifo::Fifo;
use crate::support::oracle;
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
fn a_file_of_the_working_directory_is_meant_however_it_is_named() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os\n\
                  for path in [os.getcwd() + '/a', 'a', './a', '../' + os.path.basename(os.getcwd()) + '/a']:\n  \
                  try: os.mkdir(path)\n  \
                  except OSError: print('no')";
    passes(&python(
        script,
        "mkdir",
        "{ mkdir: { path: a, error: EIO } }",
        "stdout: \"no\\nno\\nno\\nno\\n\"",
    ));
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
fn a_thread_does_not_go_on_until_another_has_come() {
    require!(right_to_trace());
    require!(program("python3"));
    // Whichever comes first: nothing but the fault orders them.
    let script = "import os, threading\n\
                  log = os.open('script.py', os.O_RDWR)\n\
                  threads = [threading.Thread(target=os.mkdir, args=('a',)),\n    \
                  threading.Thread(target=os.fsync, args=(log,))]\n\
                  for it in threads: it.start()\n\
                  for it in threads: it.join()";
    passes(&python(
        script,
        "mkdir, fsync",
        "{ mkdir: { block: { until: { fsync: { fd: script.py } } } } }",
        "sequence: [{ mkdir: { returns: 0 } }], count: { fsync: 1 }",
    ));
    // The first of two waits for the second, which finds it there.
    let script = "import os, threading\n\
                  threads = [threading.Thread(target=os.mkdir, args=(name,)) for name in 'ab']\n\
                  for it in threads: it.start()\n\
                  for it in threads: it.join()";
    passes(&python(
        script,
        "mkdir",
        "{ mkdir: { block: { until: mkdir } } }",
        "count: { mkdir: 2 }, any_order: [{ mkdir: { path: a } }, { mkdir: { path: b } }]",
    ));
}

#[test]
fn an_answer_is_held_behind_what_it_answers() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os, time\n\
                  begin = time.monotonic()\n\
                  try: os.mkdir('a')\n\
                  except OSError as error: print(error.errno, time.monotonic() - begin >= 0.2)";
    passes(&python(
        script,
        "mkdir",
        "{ mkdir: { error: EIO, delay: { after: 200ms } } }",
        "stdout: \"5 True\\n\"",
    ));
}

#[test]
fn a_shorter_read_waits_only_where_the_read_itself_would() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os\n\
                  reader, writer = os.pipe()\n\
                  os.set_blocking(reader, False)\n\
                  try: os.read(reader, 100)\n\
                  except BlockingIOError: print('again')\n\
                  os.write(writer, b'0123456789')\n\
                  print(os.read(reader, 100))";
    passes(&python(
        script,
        "read",
        "{ read: { count: 100, short: 4 } }",
        "stdout: \"again\\nb'0123'\\n\"",
    ));
}

#[test]
fn the_first_process_is_told_from_its_children() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os\n\
                  for name in 'ab':\n    \
                  try: os.mkdir(name)\n    \
                  except OSError: print(name, flush=True)\n\
                  os.system('mkdir c d 2>/dev/null; ls')";
    for sandbox in ["{}", "none"] {
        for (process, stdout) in [
            ("P1", "a\\nb\\nc\\nd\\nscript.py\\n"),
            ("{ not: P1 }", "a\\nb\\nscript.py\\n"),
        ] {
            let fault = format!("{{ mkdir: {{ process: {process}, error: EIO }} }}");
            let yaml = python(script, "mkdir", &fault, &format!("stdout: \"{stdout}\""));
            passes(&format!("sandbox: {sandbox}\n{yaml}"));
        }
    }
}

/// A kernel may be built without them, or refuse them (`ia32_emulation=0`).
pub(crate) fn calls_of_32_bits() -> Result<(), String> {
    /// What `oracle int80` ends with, through the 32-bit `exit`.
    const ENDED: i32 = 5;
    let mut command = std::process::Command::new(oracle::path());
    let output = command.arg("int80").output().expect("the oracle");
    match output.status.code() {
        Some(ENDED) => Ok(()),
        _ => Err(format!(
            "this kernel takes no 32-bit calls: {}",
            output.status
        )),
    }
}

#[test]
fn a_call_of_32_bits_is_answered_and_counted_with_the_others() {
    require!(right_to_trace());
    require!(program("python3"));
    require!(calls_of_32_bits());
    // mov eax, 64; int 0x80; ret
    let script = "import ctypes, mmap, os\n\
                  page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)\n\
                  page.write(bytes.fromhex('b840000000cd80c3'))\n\
                  address = ctypes.addressof(ctypes.c_char.from_buffer(page))\n\
                  parent = ctypes.CFUNCTYPE(ctypes.c_int)(address)\n\
                  print([call() == 4242 for call in (os.getppid, parent, os.getppid, parent)])";
    passes(&python(
        script,
        "getppid",
        "{ getppid: { when: \"2..=3\", returns: 4242 } }",
        "stdout: \"[False, True, True, False]\\n\", count: { getppid: 4 }",
    ));
}

#[test]
fn a_child_that_shares_its_parents_memory_is_held() {
    require!(right_to_trace());
    require!(program("python3"));
    // The parent sleeps in its vfork meanwhile.
    let script = "import os\n\
                  for _ in range(2):\n    \
                  try: os.waitpid(os.posix_spawn('/bin/mkdir', ['mkdir', 'a'], {}), 0)\n    \
                  except OSError as error: print(error.strerror)\n\
                  print(sorted(os.listdir('.')))";
    passes(&python(
        script,
        "execve",
        "{ execve: { when: 1, error: ENOMEM, delay: 20ms } }",
        "stdout: \"Cannot allocate memory\\n['a', 'script.py']\\n\"",
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
    let json = ["--format", "json", "scenarios"];
    let live = project.harness(&[&["run", "--save", "saved"], &json[..]].concat());
    live.assert_status(0);
    let again = project.harness(&[&["run", "--from", "saved/it.data"], &json[..]].concat());
    again.assert_status(0);
    assert_eq!(told::faults(&again), told::faults(&live));
    assert_eq!(told::faults(&live)[1]["injected"]["short"], 4);
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
