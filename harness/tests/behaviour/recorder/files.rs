//! The files: which stay, what is in them besides, and where there are none.

use nix::sys::signal::Signal;
use perf_live::events::Origin;
use perf_live::host::{Host, Living};
use perf_records::perfdata::Reader;
use perf_records::record::LayoutTable;
use perf_records::units::{Nanos, Pid};
use std::fs;
use std::io::Cursor;
use trace_harness::run::ForwardLog;

use super::{CALLS, Counter, Session, files};
use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};

#[test]
fn the_oldest_files_of_the_recording_go() {
    require!(right_to_trace());
    let project = Project::new();
    project.write("x.data.20160513235116830000000", "of another recording");
    let counter = Counter::new(&project);
    let options = [
        "--overwrite",
        "--switch-output",
        "--switch-max-files=2",
        "-e",
        CALLS,
    ];
    let mut session = Session::new(&project, &counter, &options);
    let told: Vec<_> = (0..4).map(|_| session.request()).collect();
    let there: Vec<_> = told.iter().map(|told| told.path.exists()).collect();
    assert_eq!(there, [false, false, true, true]);
    assert_eq!(files(project.path()).len(), 3);
}

#[test]
fn one_file_is_written_at_the_end_and_asked_for_by_nobody() {
    require!(right_to_trace());
    let project = Project::new();
    let mut counter = Counter::new(&project);
    let options = ["--overwrite", "-m", "8", "-e", CALLS];
    let session = Session::new(&project, &counter, &options);
    counter.count(1);
    // No program listens.
    session.send(Signal::SIGUSR2);
    let (status, told) = session.end_by(Signal::SIGTERM);
    assert_eq!((status, told.len()), (0, 1));
    assert_eq!(files(project.path()), ["x.data"]);
    assert_eq!(told[0].path, project.join("x.data"));
}

#[test]
fn a_pipe_is_refused_where_there_are_to_be_several_files() {
    let project = Project::new();
    for option in ["--switch-output", "--switch-output-event=cpu-clock"] {
        let run = project.harness(&["record", "--overwrite", option, "-o", "-", "true"]);
        run.assert_status(125);
        assert!(run.stdout.is_empty());
        assert!(run.stderr.contains("a pipe has no name"), "{}", run.stderr);
    }
    let run = project.harness(&["record", "--switch-max-files=3", "true"]);
    run.assert_status(125);
    let said = "--switch-max-files says how many files of --switch-output are kept";
    assert!(run.stderr.contains(said), "{}", run.stderr);
}

/// Who lives by a file's own account: what it begins with, and what was told since.
fn alive(file: &std::path::Path) -> Vec<Living> {
    let bytes = fs::read(file).expect("a file");
    let mut reader = Reader::file(Cursor::new(bytes)).expect("a recording");
    let mut log = ForwardLog::new(&[], usize::MAX);
    let meta = reader.meta();
    let layouts = meta
        .events
        .iter()
        .map(|event| (event.ids.clone(), event.attr.layout(), Origin::SideBand));
    let table = LayoutTable::of_events(layouts).expect("a table");
    while let Some(item) = reader.next().expect("a record") {
        if item.event().is_some() {
            log.push(&table, item.bytes);
        }
    }
    log.fold_until(&table, Nanos(u64::MAX));
    log.living()
}

#[test]
fn a_file_tells_of_all_who_live_what_procfs_tells() {
    require!(right_to_trace());
    let project = Project::new();
    for name in ["first", "second"] {
        let path = project.join(name);
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).expect("mkfifo");
    }
    let shell = "for i in 1 2 3 4 5; do (ls / > /dev/null; true); done; cat first & (cat second; true) & wait";
    let words = [
        "record",
        "--overwrite",
        "--switch-output",
        "-o",
        "x.data",
        "-e",
        CALLS,
        "sh",
        "-c",
        shell,
    ];
    let mut session = Session::start(project.program(&words), project.path());
    // Each open returns when a program reads the pipe, which has then been executed and has mapped
    // all it needs.
    let open = |name: &str| fs::File::create(project.join(name)).expect("a pipe");
    let ends = [open("first"), open("second")];
    let told = session.request();
    let host = Host::running();
    let shell = host.descendants(Pid(session.child.id()));
    let expected: Vec<Living> = shell.iter().filter_map(|pid| host.living(*pid)).collect();
    // The shell, its child and two of cat.
    assert_eq!(expected.len(), 4, "{expected:?}");
    let found = alive(&told.path);
    for process in &expected {
        let told = found.iter().find(|found| found.pid == process.pid);
        let told = told.expect("a process that lives");
        assert_eq!(told.threads, process.threads);
        let files = |living: &Living| -> Vec<((u64, u64), String)> {
            let code = living.code.iter().filter(|code| code.name.starts_with('/'));
            code.map(|code| (code.range, code.name.clone())).collect()
        };
        assert_eq!(files(told), files(process));
    }
    let dead: Vec<_> = found
        .iter()
        .filter(|found| expected.iter().all(|process| process.pid != found.pid))
        .collect();
    assert!(dead.is_empty(), "{dead:?}");
    drop(ends);
}

#[test]
fn what_was_recorded_to_be_overwritten_is_no_whole_run() {
    require!(right_to_trace());
    let project = Project::new();
    let yaml = "workload: { run: [\"true\"] }\ntrace: { events: [{ syscalls: [unlink] }] }\n\
                expect: { never: [unlink] }\nsnapshot: false";
    project.scenario("it", yaml);
    for (terms, verdict) in [("", "pass"), ("/overwrite/", "incomplete")] {
        let events = format!("raw_syscalls:sys_enter{terms},raw_syscalls:sys_exit{terms}");
        let record = ["record", "-o", "x.data", "-e", &events, "--", "true"];
        project.harness(&record).assert_status(0);
        let run = project.harness(&["run", "--from", "x.data", "scenarios/it.yaml"]);
        assert!(run.stdout.contains(verdict), "{terms}: {}", run.stdout);
        let why = "the recording holds the last `raw_syscalls:sys_enter` alone";
        assert_eq!(
            run.stdout.contains(why),
            !terms.is_empty(),
            "{}",
            run.stdout
        );
    }
}
