//! What a power cut may leave is tried, all of it, or the run is incomplete.

mod bits;
mod clones;
mod holes;
mod labels;
mod magic;
mod places;
mod recorded;
mod same;
mod since;
mod sockets;
mod sparse;
mod told;
mod watch;
mod written;

use serde_json::Value;

use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

/// A project with a scenario of a shell script; `crash` has the keys below `crash`.
fn shell(script: &str, crash: &str) -> Project {
    let project = Project::new();
    scenario(&project, &format!("shell: {}", json(script)), crash);
    project
}

/// A project with a scenario of a Python program.
fn python(script: &str, crash: &str) -> Project {
    let project = Project::new();
    let run = format!("run: [python3, -c, {}]", json(script));
    scenario(&project, &run, crash);
    project
}

fn scenario(project: &Project, workload: &str, crash: &str) {
    let text = format!(
        "workload: {{ {workload}, files: {{ old: \"old\\n\" }}, timeout: 60s }}\n\
         trace: {{ events: [{{ syscalls: [fsync] }}] }}\ncrash: {{ {crash} }}\nsnapshot: false\n"
    );
    project.scenario("it", &text);
}

fn json(text: &str) -> String {
    Value::from(text).to_string()
}

/// Tries all states, and returns the lines of JSON.
fn crash(project: &Project, status: i32, options: &[&str]) -> Vec<Value> {
    let words = [&["crash", "--format", "json", "scenarios/it.yaml"], options].concat();
    let run = project.harness(&words);
    run.assert_status(status);
    project.assert_nothing_left();
    run.json()
}

/// What was lost in the states that failed.
fn lost(lines: &[Value]) -> Vec<String> {
    let failed = lines
        .iter()
        .filter(|line| line["type"] == "state" && line["verdict"] == "fail");
    failed.map(|line| line["lost"].to_string()).collect()
}

/// The run is incomplete, for a reason that holds `why`, and no state is tried.
fn is_unknown(project: &Project, why: &str) {
    let run = project.harness(&["run", "scenarios/it.yaml"]);
    run.assert_status(1);
    assert!(run.stdout.contains("incomplete"), "{}", run.stdout);
    assert!(run.stdout.contains(why), "{}", run.stdout);
    let run = project.harness(&["crash", "scenarios/it.yaml"]);
    run.assert_status(99);
    assert!(run.stderr.contains(why), "{}", run.stderr);
    let of_another = run.stderr.contains("recording");
    assert!(!of_another, "nothing was recorded: {}", run.stderr);
    project.assert_nothing_left();
}

const SAVE: &str = "echo new > next; SYNC; mv next old; sync .; echo saved";
const WHOLE: &str = "recovers: { shell: 'read -r it < old && [ $it = old -o $it = new ]' }";

#[test]
fn a_file_that_is_renamed_before_its_data_is_synced_may_be_empty_then() {
    require!(right_to_trace());
    let lines = crash(&shell(&SAVE.replace("SYNC", ":"), WHOLE), 1, &[]);
    let lost = lost(&lines);
    let of_next = |it: &String| it.contains("write(next, 4 bytes at 0)");
    assert!(!lost.is_empty() && lost.iter().all(of_next), "{lost:?}");
    let last = lines.last().expect("a last line");
    assert_eq!(last["failed"], lost.len(), "{last}");
    assert_eq!(last["of_about_log2"], Value::Null, "{last}");
    let synced = shell(&SAVE.replace("SYNC", "sync next"), WHOLE);
    let lines = crash(&synced, 0, &[]);
    assert!(lines.len() > 6, "{lines:?}");
    // Of ext4 it has its size by then, and may be zeros.
    for (recovers, status) in [(WHOLE, 1), ("recovers: { shell: 'test -s old' }", 0)] {
        let of_ext4 = format!("model: ext4, {recovers}");
        crash(&shell(&SAVE.replace("SYNC", ":"), &of_ext4), status, &[]);
    }
}

#[test]
fn what_was_promised_and_that_the_run_had_ended_is_told_to_the_recovery() {
    require!(right_to_trace());
    let held =
        |promise: &str| format!("recovers: {{ shell: '[ ! {promise} ] || grep -q new old' }}");
    let unsynced = SAVE.replace("SYNC", "sync next").replace("sync .;", "");
    for promise in ["-s acknowledged", "-e ended"] {
        let lines = crash(&shell(&unsynced, &held(promise)), 1, &[]);
        let renamed = |it: &String| it.contains("next, old");
        assert!(lost(&lines).iter().all(renamed), "{lines:?}");
        let synced = SAVE.replace("SYNC", "sync next");
        crash(&shell(&synced, &held(promise)), 0, &[]);
    }
}

#[test]
fn a_state_can_be_made_again_and_kept() {
    require!(right_to_trace());
    let project = shell(&SAVE.replace("SYNC", ":"), WHOLE);
    let lines = crash(&project, 1, &[]);
    let worst = lines.last().expect("a last line")["worst"].to_string();
    let run = project.harness(&["crash", "--state", &worst, "--keep", "scenarios/it.yaml"]);
    run.assert_status(1);
    let text = &run.stdout;
    let kept = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("kept: "));
    let kept = std::path::Path::new(kept.unwrap_or_else(|| panic!("{text}")));
    let old = std::fs::read(kept.join("old")).expect("a file");
    assert!(old.iter().all(|byte| *byte == 0), "{old:?}");
    std::fs::remove_dir_all(kept).expect("the folder goes");
    let none = project.harness(&["crash", "--state", "4000", "scenarios/it.yaml"]);
    none.assert_status(2);
}

#[test]
fn threads_that_change_the_folder_are_let_through_one_at_a_time() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os, threading\n\
        def work(i):\n  for j in range(20):\n    \
        file = os.open(f'{i}.{j}', os.O_CREAT | os.O_WRONLY)\n    os.write(file, b'x')\n    os.fsync(file)\n    os.close(file)\n\
        all = [threading.Thread(target=work, args=(i,)) for i in range(4)]\n\
        [one.start() for one in all]\n[one.join() for one in all]";
    let lines = crash(
        &python(script, "recovers: { run: ['true'] }, states: 3"),
        0,
        &[],
    );
    let calls = lines[0]["calls"].as_array().expect("calls");
    assert_eq!(calls.len(), 4 * 20 * 3 + 1);
    assert_eq!(lines.last().expect("a last line")["tried"], 3);
}

#[test]
fn threads_whose_calls_are_taken_back_by_signals_are_let_through_one_at_a_time() {
    require!(right_to_trace());
    require!(program("python3"));
    // A call that a signal takes back ends, and has not been let through.
    let script = "import ctypes, os, platform, signal, threading\n\
        libc, tgkill = ctypes.CDLL(None), 131 if platform.machine() == 'aarch64' else 234\n\
        signal.signal(signal.SIGUSR1, lambda *_: None)\n\
        signal.siginterrupt(signal.SIGUSR1, False)\n\
        def work(i):\n  for j in range(20):\n    \
        file = os.open(f'{i}.{j}', os.O_CREAT | os.O_WRONLY)\n    \
        os.write(file, bytes(50000))\n    os.fsync(file)\n    os.close(file)\n    \
        os.rename(f'{i}.{j}', f'{i}')\n\
        all = [threading.Thread(target=work, args=(i,)) for i in range(3)]\n\
        [one.start() for one in all]\n\
        while any(one.is_alive() for one in all):\n  for one in all:\n    \
        libc.syscall(tgkill, os.getpid(), one.native_id, signal.SIGUSR1)";
    let held = "recovers: { run: ['true'] }, states: 2";
    let lines = crash(&python(script, held), 0, &[]);
    let calls = lines[0]["calls"].as_array().expect("calls");
    assert_eq!(calls.len(), 3 * 20 * 4 + 1);
}

#[test]
fn a_writer_that_waits_for_its_reader_keeps_nobody_waiting() {
    require!(right_to_trace());
    // Each write of the first fills the pipe: it waits in it for a reader that is held at times.
    let script = "seq 1 100000 | while read -r it; do [ $it = 3000 ] && exec cat > out; done";
    let lines = crash(
        &shell(script, "recovers: { run: ['true'] }, states: 2"),
        0,
        &[],
    );
    assert!(lines[0]["calls"].to_string().contains("out"), "{lines:?}");
}

#[test]
fn an_opening_of_a_pipe_that_waits_for_its_reader_keeps_nobody_waiting() {
    require!(right_to_trace());
    // What the shell opens to write it makes or empties, if it is a file.
    let script = "mkfifo pipe; echo it > pipe & echo 1 > first; mv first second; cat pipe > out; \
                  wait; rm pipe; grep -q it out";
    let lines = crash(
        &shell(script, "recovers: { run: ['true'] }, states: 2"),
        0,
        &[],
    );
    assert!(
        lines[0]["calls"].to_string().contains("second"),
        "{lines:?}"
    );
}

#[test]
fn stores_into_a_mapping_are_lost_unless_they_are_synced() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = |sync: &str| {
        format!(
            "import mmap, os\nfile = os.open('old', os.O_RDWR)\nmap = mmap.mmap(file, 4)\n\
             map[0:3] = b'NEW'\n{sync}\nos.write(1, b'saved')"
        )
    };
    let held = "recovers: { shell: '[ ! -s acknowledged ] || grep -q NEW old' }";
    crash(&python(&script("map.flush()"), held), 0, &[]);
    let lines = crash(&python(&script(""), held), 1, &[]);
    assert!(!lost(&lines).is_empty(), "{lines:?}");
}

#[test]
fn a_change_that_is_not_in_the_log_makes_the_run_incomplete() {
    require!(right_to_trace());
    require!(program("python3"));
    let held = "recovers: { run: ['true'] }";
    let taken = "open('acknowledged', 'w').close()";
    is_unknown(&python(taken, held), "has a file `acknowledged`");
    let moved = "import os\nos.rename('old', '/dev/shm/old')";
    let outside = python(moved, held);
    let run = outside.harness(&["run", "scenarios/it.yaml"]);
    assert_ne!(run.status, 0, "{}", run.stdout);
}

#[test]
fn a_recovery_that_hangs_or_cannot_be_executed_fails() {
    require!(right_to_trace());
    let hangs = "recovers: { shell: 'sleep 100', timeout: 200ms }, states: 1";
    let lines = crash(&shell("> new", hangs), 1, &[]);
    assert_eq!(lines.last().expect("a last line")["failed"], 1, "{lines:?}");
    let lines = crash(&shell("> new", "recovers: { run: [./nothing] }"), 1, &[]);
    assert!(
        lines[1]["reasons"].to_string().contains("nothing"),
        "{lines:?}"
    );
}
