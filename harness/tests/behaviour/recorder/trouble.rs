//! A disk that is full, and a recording that goes on for long.

use nix::sys::signal::Signal;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::{CALLS, Counter, Session, files};
use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};

/// A recording into a private file system with this little room.
fn on_a_small_disk(project: &Project, counter: &Counter, options: &str) -> Session {
    let disk = project.join("disk");
    fs::create_dir(&disk).expect("a folder");
    let disk = disk.to_string_lossy();
    let line = format!(
        "mount -t tmpfs -o size=512k none {disk} && cd {disk} && exec {} record -p {} -o x.data -e {CALLS} {options}",
        env!("CARGO_BIN_EXE_harness"),
        counter.child.id(),
    );
    let mut command: Command = project.command("unshare");
    command.args(["--mount", "sh", "-c", &line]);
    let mut session = Session::start(command, project.path());
    let pid = session.child.id();
    session.folder = PathBuf::from(format!("/proc/{pid}/root{disk}"));
    session
}

#[test]
fn a_disk_that_is_full_costs_no_file_but_the_one_that_it_has_no_room_for() {
    require!(right_to_trace());
    let project = Project::new();
    let mut counter = Counter::new(&project);
    let mut session = on_a_small_disk(&project, &counter, "--overwrite --switch-output -m 64");
    let next = counter.count(10);
    let first = session.request();
    assert!(first.arguments().iter().all(|argument| *argument < next));
    let bytes = fs::read(&first.path).expect("the first file");
    let filler = session.folder.join("filler");
    let full = fs::write(&filler, vec![1; 1 << 20]).expect_err("a small disk");
    assert_eq!(full.raw_os_error(), Some(libc::ENOSPC));
    counter.count(1000);
    session.send(Signal::SIGUSR2);
    let said = session.line();
    assert!(
        said.contains("a file of the recording could not be written")
            && said.contains("no space left"),
        "{said}"
    );
    assert_eq!(fs::read(&first.path).expect("the first file"), bytes);
    assert_eq!(files(&session.folder).len(), 1);
    fs::remove_file(&filler).expect("the filler");
    let next = counter.count(30);
    assert_eq!(
        session.request().arguments(),
        (next - 30..next).collect::<Vec<_>>()
    );
    let (status, last) = session.end_by(Signal::SIGTERM);
    // One was asked for and is not there.
    assert_eq!((status, last.len()), (125, 1));
}

#[test]
fn files_that_follow_one_another_go_on_when_there_is_room_again() {
    require!(right_to_trace());
    let project = Project::new();
    let mut counter = Counter::new(&project);
    let mut session = on_a_small_disk(&project, &counter, "--switch-output --filter id==3");
    counter.count(10);
    let first = session.request();
    let bytes = fs::read(&first.path).expect("the first file");
    let filler = session.folder.join("filler");
    fs::write(&filler, vec![1; 1 << 20]).expect_err("a small disk");
    counter.count(10_000);
    let said = session.line();
    assert!(said.contains("no space left"), "{said}");
    assert_eq!(fs::read(&first.path).expect("the first file"), bytes);
    assert_eq!(files(&session.folder).len(), 1);
    fs::remove_file(&filler).expect("the filler");
    // There is none to be ended, and so nothing is said; the next begins.
    session.send(Signal::SIGUSR2);
    session.send(Signal::SIGUSR2);
    session.told();
    let next = counter.count(30);
    assert_eq!(
        session.request().arguments(),
        (next - 30..next).collect::<Vec<_>>()
    );
}

/// In KiB.
fn resident(session: &Session) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", session.child.id()));
    let status = status.expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number
        .and_then(|number| number.parse().ok())
        .expect("a number")
}

#[test]
fn memory_does_not_grow_with_the_files_nor_with_who_has_lived() {
    require!(right_to_trace());
    let project = Project::new();
    let shell =
        "while read line; do i=0; while [ $i -lt 40 ]; do /bin/true; i=$((i+1)); done; echo; done";
    let (input, mut tells) = std::io::pipe().expect("a pipe");
    let (mut hears, output) = std::io::pipe().expect("a pipe");
    let words = [
        "record",
        "--overwrite",
        "--switch-output",
        "--switch-max-files=2",
        "-m",
        "16",
        "-o",
        "x.data",
        "-e",
        CALLS,
        "sh",
        "-c",
        shell,
    ];
    let mut command = project.program(&words);
    command.stdin(input).stdout(output);
    let mut session = Session::start(command, project.path());
    let mut round = || {
        use std::io::{Read, Write};
        tells.write_all(b"\n").expect("a pipe");
        hears.read_exact(&mut [0]).expect("a line");
        session.request();
        resident(&session)
    };
    let early = (0..5).map(|_| round()).max().expect("a number");
    let late = (5..50).map(|_| round()).last().expect("a number");
    assert!(late <= early + 1024, "{early} KiB, and later {late} KiB");
}
