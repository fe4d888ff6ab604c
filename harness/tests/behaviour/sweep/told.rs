//! A call of another run is told as that of a site by what it is about.

use super::{all_are, python, runs, sweep};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

/// The same project with a trace that begins behind the call that names this path.
fn since(project: Project, call: &str, path: &str) -> Project {
    let text = project.read("scenarios/it.yaml");
    let since = format!("trace: {{ since: {{ step: {{ {call}: {{ path: {path} }} }} }}, ");
    project.write("scenarios/it.yaml", &text.replace("trace: { ", &since));
    project
}

#[test]
fn a_mark_that_comes_again_behind_a_fault_is_no_broken_rule() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os, sys\ndef begin():\n    try: os.mkdir('begun')\n    \
                  except FileExistsError: pass\nos.mkdir('a')\nbegin()\n\
                  try: os.rmdir('a')\nexcept OSError:\n    begin()\n    sys.exit(1)\n";
    let project = python(script, "mkdir, rmdir", "snapshot: false");
    let project = since(project, "mkdir", "begun");
    let lines = sweep(&project, 0, &["-e", "rmdir", "--errors", "EIO"]);
    all_are("handled status", &lines);
}

#[test]
fn a_file_that_gets_a_known_name_while_it_is_open_is_found_by_its_number() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os, random\nos.close(os.open('out', os.O_RDONLY | os.O_CREAT))\n\
                  name = f'.tmp{random.random()}'\nfd = os.open(name, os.O_RDWR | os.O_CREAT)\n\
                  os.write(fd, b'x')\nos.rename(name, 'out')\nos.close(fd)\n";
    let project = python(script, "openat, close", "snapshot: false");
    let project = since(project, "openat", "out");
    let lines = sweep(&project, 0, &["-e", "close", "--errors", "EIO"]);
    all_are("handled status", &lines);
    let is_late = |run: &&&serde_json::Value| run["line"].to_string().contains("/.tmp");
    assert_eq!(runs(&lines).iter().filter(is_late).count(), 1, "{lines:#?}");
}

#[test]
fn a_socket_that_has_another_number_is_the_same() {
    require!(right_to_trace());
    require!(program("python3"));
    // A run has any number of others in front of it.
    let script = "import random, socket\nfor _ in range(random.randrange(400)):\n    \
                  pair = socket.socketpair()\n    pair[0].setblocking(False)\n    \
                  try: pair[0].recv(1)\n    except BlockingIOError: pass\n\
                  pair = socket.socketpair()\npair[0].send(b'x')\n";
    let project = python(script, "sendto, recvfrom", "snapshot: false");
    let words = ["-e", "sendto", "--errors", "ECONNRESET"];
    all_are("handled status", &sweep(&project, 0, &words));
}

#[test]
fn a_file_whose_name_a_scenario_takes_for_something_else_is_failed_by_that_name() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os\nfor name in ['~', '${HOME}', '$HOME', 'tcp', 'tcp4', '*', '{ not: a }']:\n    \
                  fd = os.open(name, os.O_WRONLY | os.O_CREAT)\n    os.fsync(fd)\n    \
                  os.unlink(name)\n";
    let project = python(script, "unlink, fsync", "snapshot: false");
    let lines = sweep(&project, 0, &["--errors", "EIO"]);
    all_are("handled status", &lines);
    assert_eq!(runs(&lines).len(), 14, "{lines:#?}");
    // None is found by its number alone.
    let is_named = |run: &&serde_json::Value| run["fault"].to_string().contains("when: 1, ");
    assert!(runs(&lines).iter().all(is_named), "{lines:#?}");
}
