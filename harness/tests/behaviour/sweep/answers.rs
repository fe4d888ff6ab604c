//! Which errors calls are failed with, and what an ignored one is.

use std::collections::BTreeSet;

use super::{all_are, python, runs, sweep};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

/// A program that syncs its file, and does this where it cannot.
fn syncs(otherwise: &str) -> Project {
    let script = format!(
        "import os, sys\nnew = os.open('new', os.O_CREAT | os.O_WRONLY)\nos.write(new, b'milk')\n\
         try: os.fsync(new)\nexcept OSError: {otherwise}\n"
    );
    let expect = "expect: { files_after: { new: milk } }\nsnapshot: false";
    python(&script, "fsync", expect)
}

#[test]
fn a_failed_sync_that_the_program_does_not_tell_of_is_silent() {
    require!(right_to_trace());
    require!(program("python3"));
    all_are("silent", &sweep(&syncs("pass"), 1, &[]));
    let says = syncs("print('not safe', file=sys.stderr)");
    all_are("handled message", &sweep(&says, 0, &[]));
    all_are("handled status", &sweep(&syncs("sys.exit(1)"), 0, &[]));
    // What it prints is new in each run, and says nothing of the sync.
    let clock = syncs("pass\nimport time; print(time.time_ns())");
    all_are("unknown", &sweep(&clock, 1, &[]));
}

#[test]
fn a_sync_that_a_signal_interrupted_is_to_be_made_again() {
    require!(right_to_trace());
    require!(program("python3"));
    // Python's own calls are made again by themselves.
    let interrupted = |otherwise: &str, status| {
        let script = format!(
            "import ctypes, os, sys\nlibc = ctypes.CDLL(None)\n\
             new = os.open('new', os.O_CREAT | os.O_WRONLY)\nos.write(new, b'milk')\n\
             if libc.fsync(new): {otherwise}\n"
        );
        let expect = "expect: { files_after: { new: milk } }\nsnapshot: false";
        let project = python(&script, "fsync, fdatasync", expect);
        sweep(&project, status, &["-e", "fsync", "--errors", "EINTR"])
    };
    all_are("silent", &interrupted("pass", 1));
    all_are("handled did_without", &interrupted("libc.fsync(new)", 0));
    all_are("handled status", &interrupted("sys.exit(1)", 0));
    // Whether that is of the same file is not looked into.
    all_are("unknown", &interrupted("libc.fdatasync(new)", 1));
}

#[test]
fn an_ignored_close_of_what_was_written_and_not_synced_is_silent() {
    require!(right_to_trace());
    require!(program("python3"));
    let closes = |sync: &str| {
        let script = format!(
            "import os\nnew = os.open('new', os.O_CREAT | os.O_WRONLY)\nos.write(new, b'milk')\n\
             {sync}\ntry: os.close(new)\nexcept OSError: pass\n\
             old = os.open('script.py', os.O_RDONLY)\ntry: os.close(old)\nexcept OSError: pass\n"
        );
        let expect = "expect: { files_after: { new: milk } }\nsnapshot: false";
        let project = python(&script, "openat, write, fsync, close", expect);
        let text = project.read("scenarios/it.yaml");
        let since = "trace: { since: { step: { openat: { path: new } } }, ";
        project.write("scenarios/it.yaml", &text.replace("trace: { ", since));
        project
    };
    let options = ["-e", "close", "--errors", "EIO"];
    let lines = sweep(&closes("pass"), 1, &options);
    // Two runs at a time end in any order.
    let mut of: Vec<_> = runs(&lines)
        .iter()
        .map(|run| (run["site"].as_u64(), run["class"].as_str()))
        .collect();
    of.sort_unstable();
    let of: Vec<_> = of.iter().filter_map(|(_, class)| *class).collect();
    assert_eq!(of, ["silent", "handled"], "{lines:#?}");
    let lines = sweep(&closes("os.fsync(new)"), 0, &options);
    all_are("handled did_without", &lines);
}

#[test]
fn a_fault_that_was_done_to_another_call_is_handled_by_nobody() {
    require!(right_to_trace());
    require!(program("python3"));
    // Their names are others in each run, so they are told by their numbers, and so is their order.
    let script = "import os, random, signal\nways = [1 << n for n in (7, 9, 10, 11, 12, 16, 18, 20)]\n\
                  for way in random.sample(ways, len(ways)):\n    \
                  try: os.open(f'/tmp/none/{random.random()}', way)\n    except OSError: pass\n";
    let expect = "expect: { stdout: '' }\nsnapshot: false";
    let project = python(script, "openat", expect);
    let text = project.read("scenarios/it.yaml");
    let since = text.replace("trace: { ", "trace: { since: main, ");
    project.write("scenarios/it.yaml", &since);
    let words = ["sweep", "--format", "json", "--errors", "ENOMEM"];
    let run = project.harness(&[&words[..], &["scenarios/it.yaml"]].concat());
    run.assert_status(1);
    let lines = run.json();
    let flags = |line: &serde_json::Value| {
        let line = line.as_str().filter(|line| line.contains("/tmp/none/"))?;
        let arguments = line.split(") = ").next()?;
        Some(arguments.rsplit(", ").next()?.to_owned())
    };
    let all = runs(&lines).into_iter();
    let of_ours: Vec<_> = all.filter(|run| flags(&run["line"]).is_some()).collect();
    assert_eq!(of_ours.len(), 8, "{lines:#?}");
    for run in &of_ours {
        let is_same = flags(&run["line"]) == flags(&run["done_to"]);
        assert_eq!(run["class"] == "unknown", !is_same, "{run}");
        let why = run["why"][0].as_str().unwrap_or_default();
        assert_eq!(
            why.starts_with("the fault was done to another call: openat("),
            !is_same,
            "{run}"
        );
    }
    // That each of eight is where it was before is chance of less than one in ten million.
    assert!(
        of_ours.iter().any(|run| run["class"] == "unknown"),
        "{lines:#?}"
    );
}

#[test]
fn the_descriptors_kind_decides_which_errors_are_tried() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os, socket\n\
                  reader, writer = os.pipe(); os.write(writer, b'a'); os.read(reader, 1)\n\
                  one, other = socket.socketpair()\n\
                  os.write(one.fileno(), b'a'); os.read(other.fileno(), 1)\n\
                  one.send(b'b'); one.send(b'c', socket.MSG_NOSIGNAL)\n\
                  os.write(os.open('list', os.O_CREAT | os.O_RDWR), b'd')\n\
                  os.write(os.eventfd(0), b'12345678')\nos.write(1, b'e')\n";
    let rest = "expect: { stdout: e }\nsnapshot: false";
    let project = python(script, "write, read, sendto", rest);
    let text = project.read("scenarios/it.yaml");
    let since = "trace: { since: { step: { write: { fd: pipe } } }, ";
    project.write("scenarios/it.yaml", &text.replace("trace: { ", since));
    let tried = |options: &[&str]| -> BTreeSet<String> {
        let lines = sweep(&project, 0, options);
        let all = runs(&lines).into_iter();
        let tried = all.map(|run| {
            let line = run["line"].as_str().expect("a line");
            let call = line
                .split(">,")
                .next()
                .expect("a call")
                .replace(" write", "");
            let signal = run["fault"]
                .as_str()
                .expect("a fault")
                .contains("signal: SIGPIPE");
            let quiet = if line.contains("MSG_NOSIGNAL") {
                " quiet"
            } else {
                ""
            };
            format!(
                "{call} {}{quiet}{}",
                run["error"].as_str().expect("an error"),
                if signal { " SIGPIPE" } else { "" }
            )
        });
        tried.collect()
    };
    let has = |tried: &BTreeSet<String>, what: &str, errors: &[&str]| {
        let own: Vec<&str> = tried
            .iter()
            .filter_map(|it| it.strip_prefix(what))
            .collect();
        assert_eq!(own, errors, "{what} {tried:#?}");
    };
    let usual = tried(&[]);
    has(&usual, "write(1<stdout", &[" EPIPE SIGPIPE"]);
    has(&usual, "read(<pipe", &[]);
    has(&usual, "write(<unix:1", &[" ECONNRESET", " EPIPE SIGPIPE"]);
    has(&usual, "read(<unix:2", &[" ECONNRESET"]);
    has(
        &usual,
        "sendto(<unix:1",
        &[
            " ECONNRESET",
            " ECONNRESET quiet",
            " EPIPE SIGPIPE",
            " EPIPE quiet",
        ],
    );
    has(&usual, "write(<$DIR/list", &[" EIO", " ENOSPC"]);
    has(&usual, "write(<eventfd", &[]);
    // Somebody else has it in a file.
    let asked = tried(&["--errors", "ENOSPC", "-e", "write"]);
    has(&asked, "write(1<stdout", &[" ENOSPC"]);
    has(&asked, "write(<unix", &[]);
}

#[test]
fn an_open_that_makes_no_file_as_a_device_or_a_pipe_is_there_has_no_error_of_a_disk() {
    require!(right_to_trace());
    let project = Project::with(
        "it",
        "workload: { shell: \"mkfifo pipe fifo; true <>pipe; true <>fifo; true >/dev/null; true >file\" }\n\
         trace: { events: [{ syscalls: [openat] }], since: main }\n\
         expect: { files_after: { file: { exists: true } } }\nsnapshot: false",
    );
    let lines = sweep(&project, 0, &["-e", "openat", "--errors", "EROFS,ENOSPC"]);
    let runs = runs(&lines);
    let mut failed: Vec<_> = runs
        .iter()
        .filter_map(|run| run["fault"].as_str())
        .collect();
    failed.sort_unstable();
    let of_file = ["ENOSPC", "EROFS"];
    let of_file =
        of_file.map(|error| format!("{{ openat: {{ path: file, when: 1, error: {error} }} }}"));
    assert_eq!(failed, of_file, "{lines:#?}");
}

#[test]
fn who_writes_to_nobody_and_is_ended_by_it_has_said_so() {
    require!(right_to_trace());
    let project = Project::with(
        "it",
        "workload: { run: [cat, list], files: { list: milk } }\n\
         trace: { events: [{ syscalls: [write] }], since: main }\n\
         expect: { stdout: milk }\nsnapshot: false",
    );
    let lines = sweep(&project, 0, &[]);
    all_are("handled status", &lines);
    let exit = &runs(&lines)[0]["exit"];
    assert_eq!(exit["signal"], "SIGPIPE", "{lines:#?}");
}

#[test]
fn the_status_of_an_open_file_is_failed_as_no_path_is() {
    require!(right_to_trace());
    let project = Project::with(
        "it",
        "workload: { run: [cat, a], files: { a: b } }\n\
         trace: { events: [{ syscalls: [newfstatat, fstat] }], since: main }\nsnapshot: false",
    );
    let run = project.harness(&["sweep", "--format", "json", "scenarios/it.yaml"]);
    let lines = run.json();
    let errors: BTreeSet<&str> = runs(&lines)
        .iter()
        .filter_map(|run| run["error"].as_str())
        .collect();
    assert_eq!(errors, BTreeSet::from(["EIO"]), "{lines:#?}");
}

#[test]
fn a_crash_of_a_child_shows_in_a_scenario_that_names_no_events() {
    require!(right_to_trace());
    let project = Project::with(
        "it",
        "workload: { shell: \"mkdir a || sh -c 'kill -SEGV $$'; exit 0\" }\nsnapshot: false",
    );
    let lines = sweep(&project, 1, &["-e", "mkdir", "--errors", "ENOSPC"]);
    all_are("crashed", &lines);
    // A crash in place of another one, and in spite of the scenario's own event.
    let project = Project::with(
        "it",
        "workload: { shell: \"sh -c 'mkdir a && kill -SEGV $$ || kill -ABRT $$'; exit 0\" }\n\
         trace: { events: [{ syscalls: [mkdir] }, { event: \"signal:signal_deliver\", filter: \"sig == 15\" }] }\n\
         snapshot: false",
    );
    let lines = sweep(&project, 1, &["-e", "mkdir", "--errors", "ENOSPC"]);
    all_are("crashed", &lines);
}

#[test]
fn a_call_that_is_told_an_address_is_the_same_where_it_fails() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os, socket\n\
                  server, client = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)\n\
                  server.bind('s')\nserver.listen()\nclient.connect('s')\n\
                  try: server.accept()\nexcept OSError: os.write(2, b'not served')\n\
                  os.unlink('s')\n";
    let expect = "expect: { stdout: '' }\nsnapshot: false";
    let project = python(script, "accept4", expect);
    let lines = sweep(&project, 0, &["--errors", "EMFILE"]);
    all_are("handled message", &lines);
}

#[test]
fn programs_that_use_sockets_in_another_order_in_each_run_are_failed_each_for_itself() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os, random, socket, sys\n\
                  options = [socket.SO_KEEPALIVE, socket.SO_PASSCRED, socket.SO_BROADCAST]\n\
                  def fail(mine):\n    \
                  try: mine.setsockopt(socket.SOL_SOCKET, options.pop(), 1)\n    \
                  except OSError: os.write(2, b'failed')\n\
                  if sys.argv[1:]:\n    \
                  mine = socket.socket(fileno=int(sys.argv[1]))\n    \
                  for _ in range(3): mine.recv(1), fail(mine), mine.send(b'.')\n    \
                  sys.exit(0)\n\
                  mine, other = socket.socketpair()\n\
                  os.symlink(sys.executable, 'child')\n\
                  if os.fork() == 0:\n    \
                  other.set_inheritable(True)\n    \
                  os.execv('./child', ['child', 'script.py', str(other.fileno())])\n\
                  turns = ['own', 'child'] * 3\n\
                  random.shuffle(turns)\n\
                  for turn in turns:\n    \
                  if turn == 'own': fail(mine)\n    \
                  else: mine.send(b'.'), mine.recv(1)\n\
                  os.wait()\nos.unlink('child')\n";
    let expect = "expect: { stdout: '' }\nsnapshot: false";
    let project = python(script, "setsockopt", expect);
    let lines = sweep(&project, 0, &["--errors", "ENOPROTOOPT"]);
    assert_eq!(runs(&lines).len(), 6, "{lines:#?}");
    all_are("handled message", &lines);
}

#[test]
fn a_call_about_no_file_is_told_by_its_program_and_numbers_where_processes_run_side_by_side() {
    require!(right_to_trace());
    require!(program("python3"));
    // Each comes to its own in any order: they wait for nobody.
    let script = "import os, subprocess, sys\n\
                  names = ['one', 'two', 'three']\n\
                  if len(sys.argv) == 1:\n    \
                  for name in names: os.path.exists(name) or os.symlink(sys.executable, name)\n    \
                  all = [subprocess.Popen(['./' + name, 'script.py', name]) for name in names]\n    \
                  sys.exit(any([one.wait() for one in all]))\n\
                  try: os.kill(os.getppid(), 0)\nexcept OSError: sys.exit(2)\n";
    let project = python(script, "kill", "expect: { stdout: '' }\nsnapshot: false");
    let lines = sweep(&project, 0, &["-e", "kill", "--errors", "EPERM"]);
    all_are("handled status", &lines);
    let runs = runs(&lines);
    let mut faults: Vec<_> = runs
        .iter()
        .filter_map(|run| run["fault"].as_str())
        .collect();
    faults.sort_unstable();
    assert_eq!(faults.len(), 3, "{lines:#?}");
    for (fault, program) in faults.iter().zip(["one", "three", "two"]) {
        let is_of_program = fault.contains(&format!("program: {program}, "));
        assert!(is_of_program && fault.contains("when: 1, "), "{fault}");
    }
}

#[test]
fn a_file_that_is_named_through_the_folder_above_is_failed_by_its_own_name() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os\nos.mkdir('d')\nos.mkdir('x')\nos.chdir('d')\n\
                  try: os.rmdir('../x')\nexcept OSError: os.write(2, b'not removed')\n";
    let expect = "expect: { stderr: '' }\nsnapshot: false";
    let project = python(script, "rmdir", expect);
    let lines = sweep(&project, 0, &["--errors", "EACCES"]);
    assert_eq!(runs(&lines).len(), 1, "{lines:?}");
    all_are("handled message", &lines);
}
