//! What answers held calls ends, or hangs: the workload ends with it, and the verdict says so.

use std::fs;
use std::process::{Command, Stdio};

use nix::sys::signal::Signal;

use crate::support::fifo::Fifo;
use crate::support::process::{self, Started, Watched};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

/// Lets the thread that answers calls fail, from outside: its next system call returns an error. It
/// is there, as it has answered one.
fn fail(harness: &Started) {
    let tasks = fs::read_dir(format!("/proc/{}/task", harness.id())).expect("its threads");
    let tasks = tasks.map(|task| task.expect("a thread").path());
    let is_gate = |task: &std::path::PathBuf| {
        fs::read_to_string(task.join("comm")).is_ok_and(|name| name.trim_end() == "gate")
    };
    let gate = tasks.into_iter().find(is_gate).expect("a thread `gate`");
    let thread = gate.file_name().expect("a number").to_string_lossy();
    let inject = "inject=poll,ppoll,ioctl,restart_syscall:error=EIO";
    let strace = ["-qqq", "-o", "/dev/null", "-e", inject, "-p", &*thread];
    // It ends with the thread.
    let status = Command::new("strace").args(strace).status();
    assert!(status.expect("strace").success());
}

#[test]
fn a_run_whose_calls_are_answered_no_more_is_broken_and_over() {
    require!(right_to_trace());
    require!(program("strace"));
    for sandbox in ["{ root: host }", "none"] {
        let project = Project::new();
        let mut fifo = Fifo::new(&project.join("fifo"));
        let path = fifo.path();
        project.scenario(
            "it",
            &format!(
                "sandbox: {sandbox}\n\
                 workload: {{ shell: \"mkdir b; sleep 3600 & echo > '{path}'; mkdir a\", timeout: 60m }}\n\
                 trace: {{ events: [{{ syscalls: [mkdir] }}] }}\n\
                 faults: [{{ mkdir: {{ path: a, delay: 50m }} }}]\nsnapshot: false"
            ),
        );
        let report = project.join("report");
        let mut command = project.program(&["run", "--format", "json", "scenarios"]);
        let file = fs::File::create(&report).expect("a file");
        let mut harness = Started::new(command.stdout(file).stderr(Stdio::null()));
        fifo.wait_for_lines(1);
        fail(&harness);
        harness.wait();
        process::wait_for_all_in(project.path());
        let said = fs::read_to_string(report).expect("a report");
        assert!(said.contains("\"broken\""), "{said}");
        assert!(said.contains("can be answered no more"), "{said}");
    }
}

#[test]
fn a_traced_command_whose_calls_are_answered_no_more_ends_with_all_that_it_started() {
    require!(right_to_trace());
    require!(program("strace"));
    let project = Project::new();
    let mut fifo = Fifo::new(&project.join("fifo"));
    let script = format!("mkdir a; sleep 3600 & echo > '{}'; mkdir b c", fifo.path());
    let inject = "inject=mkdir:delay_enter=3600s:when=2";
    let words = [
        "trace", "-e", "mkdir", "-e", inject, "--", "sh", "-c", &script,
    ];
    let errors = project.join("errors");
    let mut command = project.program(&words);
    let file = fs::File::create(&errors).expect("a file");
    let mut harness = Started::new(command.stdout(Stdio::null()).stderr(file));
    fifo.wait_for_lines(1);
    fail(&harness);
    assert_eq!(harness.wait(), 125);
    process::wait_for_all_in(project.path());
    let said = fs::read_to_string(errors).expect("what it said");
    assert!(said.contains("can be answered no more"), "{said}");
}

/// Mounts a file system that nobody serves as `served`, and executes its arguments.
const UNSERVED: &str = "import ctypes, os, sys\n\
    device = os.open('/dev/fuse', os.O_RDWR)\n\
    os.mkdir('served')\n\
    options = f'fd={device},rootmode=40000,user_id=0,group_id=0'.encode()\n\
    if ctypes.CDLL(None).mount(b'it', b'served', b'fuse', 0, options): sys.exit(77)\n\
    if os.fork() == 0: os.execvp(sys.argv[1], sys.argv[1:])\n\
    _, status = os.wait()\n\
    os._exit(os.waitstatus_to_exitcode(status))";

fn file_systems_of_programs() -> Result<(), String> {
    let device = fs::File::options().read(true).write(true).open("/dev/fuse");
    device
        .map(drop)
        .map_err(|error| format!("/dev/fuse: {error}"))
}

#[test]
fn a_file_system_that_does_not_answer_holds_a_run_no_longer_than_its_timeout() {
    require!(right_to_trace());
    require!(program("unshare"));
    require!(program("python3"));
    require!(file_systems_of_programs());
    let project = Project::new();
    let path = project.join("served/a/b");
    let path = path.to_str().expect("a path of letters");
    project.scenario(
        "it",
        &format!(
            "sandbox: none\nworkload: {{ run: [mkdir, \"{path}\"], timeout: 1s }}\n\
             trace: {{ events: [{{ syscalls: [mkdir] }}] }}\n\
             faults: [{{ mkdir: {{ path: other, error: EIO }} }}]\nsnapshot: false"
        ),
    );
    let harness = env!("CARGO_BIN_EXE_harness");
    let before = ["unshare", "--mount", "python3", "-c", UNSERVED];
    let words = [harness, "run", "--format", "json", "scenarios"];
    let run = project.run(&[], &[&before[..], &words].concat());
    let (verdict, why) = run.verdicts()["it"].clone();
    assert_eq!(verdict, "timeout", "{why}");
}

#[test]
fn a_workload_ends_in_its_time_while_the_harness_is_stopped_which_then_says_so() {
    require!(right_to_trace());
    let project = Project::new();
    let mut fifo = Fifo::new(&project.join("fifo"));
    let path = fifo.path();
    project.scenario(
        "it",
        &format!(
            "sandbox: {{ root: host }}\n\
             workload: {{ shell: \"exec 9> '{path}'; echo >&9; sleep 3600 & mkdir a\", timeout: 2s }}\n\
             trace: {{ events: [{{ syscalls: [mkdir] }}] }}\n\
             faults: [{{ mkdir: {{ delay: 50m }} }}]\nsnapshot: false"
        ),
    );
    let report = project.join("report");
    let mut command = project.program(&["run", "--format", "json", "scenarios"]);
    let file = fs::File::create(&report).expect("a file");
    let mut harness = Started::new(command.stdout(file).stderr(Stdio::null()));
    fifo.wait_for_lines(1);
    let stopped = Watched::new(harness.id().cast_signed()).expect("it lives");
    stopped.send(Signal::SIGSTOP);
    fifo.wait_for_end();
    stopped.send(Signal::SIGCONT);
    harness.wait();
    let said = fs::read_to_string(report).expect("a report");
    assert!(said.contains("\"broken\""), "{said}");
    assert!(said.contains("the harness was stopped"), "{said}");
    project.assert_nothing_left();
}
