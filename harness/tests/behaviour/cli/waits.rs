//! What is no regular file is refused at once, where it is not a stream by design; and a signal
//! ends the harness wherever it waits.

use std::fs;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::symlink;
use std::process::Stdio;
use std::time::Instant;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use super::PASSES;
use crate::support::PATIENCE;
use crate::support::process::{Started, is_ignored};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

const PIPE: &str = "it is a pipe, not a regular file";
const DEVICE: &str = "it is a character device, not a regular file";

/// A project with a pipe that has no writer, and an endless device.
fn project() -> Project {
    let project = Project::with("a", PASSES);
    let mode = Mode::S_IRUSR | Mode::S_IWUSR;
    mkfifo(&project.join("pipe"), mode).expect("mkfifo");
    mkfifo(&project.join("scenarios/pipe.yaml"), mode).expect("mkfifo");
    for name in ["zero", "zero.yaml", "zero.snap"] {
        symlink("/dev/zero", project.join(name)).expect("a link");
    }
    project
}

#[test]
fn what_is_no_regular_file_is_refused_at_once_wherever_one_is_named() {
    require!(right_to_trace());
    let project = project();
    let cases: [(&[&str], i32, &str); 15] = [
        (&["run", "scenarios/pipe.yaml"], 2, PIPE),
        (&["run", "scenarios"], 2, PIPE),
        (&["run", "zero.yaml"], 2, DEVICE),
        (&["mutate", "zero.yaml"], 2, DEVICE),
        (&["sweep", "scenarios/pipe.yaml"], 2, "is not a file"),
        (
            &["calibrate", "--dry-run", "scenarios/pipe.yaml"],
            2,
            "is not a file",
        ),
        (&["run", "--from", "zero", "scenarios/a.yaml"], 2, DEVICE),
        (&["new", "n", "--file", "pipe", "--", "true"], 2, PIPE),
        (
            &["matrix", "--kernels", "pipe", "scenarios/a.yaml"],
            2,
            PIPE,
        ),
        (
            &["matrix", "--kernels", "zero", "scenarios/a.yaml"],
            2,
            DEVICE,
        ),
        (&["diff", "zero", "zero"], 2, DEVICE),
        (&["diff", "zero.snap", "zero.snap"], 2, DEVICE),
        (&["script", "-i", "zero"], 2, DEVICE),
        (&["inject", "-b", "-i", "zero"], 2, DEVICE),
        (&["trace", "-i", "zero"], 125, DEVICE),
    ];
    for (words, status, why) in cases {
        let run = project.harness(words);
        run.assert_status(status);
        assert!(run.stderr.contains(why), "{words:?}: {}", run.stderr);
    }
    project.assert_nothing_left();
}

#[test]
fn a_file_for_the_sandbox_that_would_be_waited_for_has_a_line_and_a_column() {
    require!(right_to_trace());
    let project = project();
    let cases = [
        ("  files:\n    x: { from: ../pipe }", "4:16", PIPE),
        ("  files: { x: { from: ../zero } }", "3:23", DEVICE),
        (
            "  files: { x: { from: .. } }",
            "3:23",
            "`../pipe` in it is no file, folder or link",
        ),
    ];
    for (files, place, why) in cases {
        project.scenario(
            "b",
            &format!("workload:\n  run: [\"true\"]\n{files}\nsnapshot: false"),
        );
        let run = project.harness(&["run", "scenarios/b.yaml"]);
        run.assert_status(2);
        // The description is the first line.
        let (line, column) = place.split_once(':').expect("a place");
        let line: u32 = line.parse().expect("a number");
        let place = format!("scenarios/b.yaml:{}:{column}", line + 1);
        assert!(run.stderr.contains(&place), "{place}: {}", run.stderr);
        assert!(run.stderr.contains(why), "{}", run.stderr);
    }
}

#[test]
fn a_snapshot_that_is_no_regular_file_is_never_waited_for_nor_passed() {
    require!(right_to_trace());
    let project = Project::with("a", "workload: { run: [\"true\"] }");
    fs::create_dir(project.join("snapshots")).expect("a folder");
    let snapshot = project.join("snapshots/a.snap");
    mkfifo(&snapshot, Mode::S_IRUSR | Mode::S_IWUSR).expect("mkfifo");
    let run = project.harness(&["run", "scenarios"]);
    run.assert_status(99);
    assert!(run.stdout.contains(PIPE), "{}", run.stdout);
    fs::rename(&snapshot, project.join("snapshots/a.snap.new")).expect("rename");
    let run = project.harness(&["review", "--accept"]);
    run.assert_status(2);
    assert!(run.stderr.contains(PIPE), "{}", run.stderr);
}

#[test]
fn a_file_that_is_too_long_is_told_how_long_it_may_be() {
    let project = Project::new();
    let long = fs::File::create(project.join("scenarios/long.yaml")).expect("a file");
    long.set_len(1 << 40).expect("a long file");
    let run = project.harness(&["run", "scenarios"]);
    run.assert_status(2);
    let why = "it is too long: a scenario has at most 1 MiB";
    assert!(run.stderr.contains(why), "{}", run.stderr);
}

#[test]
fn recordings_and_traces_may_come_by_a_pipe() {
    require!(right_to_trace());
    require!(program("bash"));
    let project = Project::new();
    let words = ["trace", "--save", "run.data", "-o", "trace", "true"];
    project.harness(&words).assert_status(0);
    let harness = env!("CARGO_BIN_EXE_harness");
    let bash = |script: &str| {
        let run = project.run(&[("HARNESS", harness)], &["bash", "-c", script]);
        run.assert_status(0);
        run.stdout
    };
    let plain = bash("\"$HARNESS\" script -i run.data");
    assert!(!plain.is_empty());
    let stream = "\"$HARNESS\" inject -b -i run.data 2> /dev/null";
    for piped in [
        format!("{stream} | \"$HARNESS\" script"),
        format!("{stream} | \"$HARNESS\" script -i -"),
        format!("\"$HARNESS\" script -i <({stream})"),
    ] {
        assert_eq!(bash(&piped), plain, "{piped}");
    }
    let replayed = bash("\"$HARNESS\" trace -i run.data 2>&1");
    let piped = "\"$HARNESS\" trace -i <(cat run.data) 2>&1";
    assert_eq!(bash(piped), replayed);
    let piped = format!("\"$HARNESS\" trace -i <({stream}) 2>&1");
    assert!(bash(&piped).contains("exit_group(0)"));
    assert_eq!(bash("\"$HARNESS\" diff <(cat trace) trace"), "");
}

/// Waits until one of a process' threads is in such a call: its number and its first argument.
fn wait_until_in(pid: u32, number: i64, first: Option<u64>) {
    let end = Instant::now() + PATIENCE;
    let is_there = |text: String| {
        let mut words = text.split_whitespace();
        let is_call = words.next().and_then(|it| it.parse::<i64>().ok()) == Some(number);
        let argument = words.next().and_then(|it| it.strip_prefix("0x"));
        let argument = argument.and_then(|it| u64::from_str_radix(it, 16).ok());
        is_call && first.is_none_or(|first| argument == Some(first))
    };
    let task = format!("/proc/{pid}/task");
    loop {
        let threads = fs::read_dir(&task).expect("a process").flatten();
        let calls = threads.map(|thread| fs::read_to_string(thread.path().join("syscall")));
        if calls.flatten().any(is_there) {
            return;
        }
        assert!(Instant::now() < end, "{pid} never gets there");
        std::thread::yield_now();
    }
}

#[test]
fn a_signal_ends_the_harness_while_it_waits_for_a_reader_or_a_writer() {
    require!(right_to_trace());
    let project = project();
    let cases: [&[&str]; 4] = [
        &["trace", "-o", "pipe", "true"],
        &["stat", "-o", "pipe", "true"],
        &["script", "-i", "pipe"],
        &["trace", "-i", "pipe"],
    ];
    // A shell without job control has what runs in its background ignore SIGINT, and what is
    // started there as well.
    let signals = [Signal::SIGTERM, Signal::SIGINT].into_iter();
    for signal in signals.filter(|signal| !is_ignored(*signal)) {
        for words in cases {
            let mut harness = Started::new(&mut project.program(words));
            // Of all files these tests open, only the pipe is waited for.
            wait_until_blocked(harness.id());
            assert_eq!(harness.end_by(signal), 128 + signal as i32, "{words:?}");
        }
    }
    project.assert_nothing_left();
}

/// Waits until a process opens the pipe, which the kernel says in one word.
fn wait_until_blocked(pid: u32) {
    let end = Instant::now() + PATIENCE;
    let wchan = format!("/proc/{pid}/wchan");
    while !fs::read_to_string(&wchan).is_ok_and(|place| place.contains("wait_for_partner")) {
        assert!(Instant::now() < end, "{pid} never waits for the pipe");
        std::thread::yield_now();
    }
}

/// A pipe that takes no more.
fn stuffed() -> (OwnedFd, OwnedFd) {
    let (reader, writer) = nix::unistd::pipe().expect("a pipe");
    let set = |flags| fcntl(writer.as_fd(), FcntlArg::F_SETFL(flags)).expect("fcntl");
    set(OFlag::O_NONBLOCK);
    let mut file = fs::File::from(writer.try_clone().expect("dup"));
    while file.write(&[0; 4096]).is_ok() {}
    set(OFlag::empty());
    (reader, writer)
}

#[test]
fn a_signal_ends_the_harness_while_its_report_is_not_read() {
    require!(right_to_trace());
    let project = Project::with("a", PASSES);
    let (_reader, writer) = stuffed();
    let mut command = project.program(&["run", "scenarios"]);
    command.stdout(Stdio::from(writer)).stderr(Stdio::null());
    let mut harness = Started::new(&mut command);
    wait_until_in(harness.id(), libc::SYS_write, Some(1));
    assert_eq!(harness.end_by(Signal::SIGTERM), 143);
    drop(command);
}

#[test]
fn a_folder_for_review_that_is_not_there_is_an_error_and_the_usual_one_may_be_missing() {
    let project = Project::new();
    let run = project.harness(&["review", "snapshotz"]);
    assert_eq!((run.stdout.as_str(), run.status), ("", 2));
    let said = "there is no folder `snapshotz`";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    project.harness(&["review"]).assert_status(0);
}

#[test]
fn a_signal_ends_a_run_that_is_over_while_its_file_has_no_reader() {
    require!(right_to_trace());
    let project = Project::with("a", PASSES);
    let mode = Mode::S_IRUSR | Mode::S_IWUSR;
    mkfifo(&project.join("report.xml"), mode).expect("mkfifo");
    // What a shell without job control starts in its background has two of them ignored.
    let words = ["run", "scenarios", "--report", "report.xml"];
    for (option, signal) in [
        ("--default-signal", Signal::SIGINT),
        ("--ignore-signal=INT,QUIT", Signal::SIGTERM),
    ] {
        let mut command = project.disposing(option, &words);
        let mut harness = Started::new(command.stdout(Stdio::null()));
        wait_until_blocked(harness.id());
        assert_eq!(harness.end_by(signal), 128 + signal as i32);
    }
    project.assert_nothing_left();
}
