//! Who asks, and what is in the files.

use nix::sys::signal::Signal;

use super::{CALLS, Counter, FIRST, Session, Told, files};
use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};

const SMALL: [&str; 6] = ["--overwrite", "--switch-output", "-m", "8", "-e", CALLS];

fn run_of(range: std::ops::Range<u64>) -> Vec<u64> {
    range.collect()
}

#[test]
fn a_file_holds_the_last_calls_without_a_gap_and_says_how_many_came_before() {
    require!(right_to_trace());
    let project = Project::new();
    let mut counter = Counter::new(&project);
    let mut session = Session::new(&project, &counter, &SMALL);
    session.request();
    for _ in 0..3 {
        let next = counter.count(20_000);
        let told = session.request();
        let arguments = told.arguments();
        let n = arguments.len() as u64;
        assert!(n > 20 && n < 20_000, "{}", told.line);
        assert_eq!(arguments, run_of(next - n..next));
        let outside = match told.line.contains(" outside of the span") {
            true => told.number(" outside of the span"),
            false => 0,
        };
        let fallen = match told.line.contains(" fell while") {
            true => told.number(" fell while"),
            false => 0,
        };
        let others = told.number(" records") + outside + fallen;
        // The calls that are no close(2) are counted too.
        assert!(
            told.number(" overwritten") + others >= 20_000,
            "{}",
            told.line
        );
    }
    // What no younger one overwrote is there to the first.
    let first = counter.count(0);
    let next = counter.count(50);
    assert_eq!(session.request().arguments(), run_of(first..next));
    let next = counter.count(7);
    let (status, told) = session.end_by(Signal::SIGTERM);
    let [last] = told.as_slice() else {
        panic!("no last file")
    };
    assert_eq!((status, last.arguments()), (0, run_of(next - 7..next)));
}

#[test]
fn a_storm_of_signals_gives_a_file_for_each() {
    require!(right_to_trace());
    let project = Project::new();
    let mut counter = Counter::new(&project);
    let mut session = Session::new(&project, &counter, &SMALL);
    session.request();
    let next = counter.count(30);
    for _ in 0..20 {
        session.send(Signal::SIGUSR2);
    }
    let told: Vec<Told> = (0..20).map(|_| session.told()).collect();
    assert_eq!(told[0].arguments(), run_of(next - 30..next));
    for second in &told[1..] {
        assert!(second.arguments().is_empty());
    }
    let (status, last) = session.end_by(Signal::SIGINT);
    assert_eq!((status, last.len()), (0, 1));
    let names = files(project.path());
    // Digits alone: nothing that is half a file.
    let is_named = |name: &String| {
        let stamp = name.strip_prefix("x.data.").unwrap_or_default();
        stamp.len() == 23 && stamp.bytes().all(|byte| byte.is_ascii_digit())
    };
    assert!(names.iter().all(is_named), "{names:?}");
    assert_eq!(names.len(), 22);
}

#[test]
fn events_that_are_not_overwritten_are_in_the_span_too() {
    require!(right_to_trace());
    let project = Project::new();
    let mut counter = Counter::new(&project);
    let options = [
        "--overwrite",
        "--switch-output",
        "-e",
        "raw_syscalls:sys_enter/no-overwrite/",
        "--filter",
        "id == 3",
        "-e",
        "raw_syscalls:sys_exit",
    ];
    let mut session = Session::new(&project, &counter, &options);
    session.request();
    for _ in 0..2 {
        let next = counter.count(100);
        let told = session.request();
        assert_eq!(told.arguments(), run_of(next - 100..next));
        assert!(
            told.line
                .contains("`raw_syscalls:sys_enter`: 100 records, 0 lost"),
            "{}",
            told.line
        );
    }
}

#[test]
fn an_event_asks_for_a_file() {
    require!(right_to_trace());
    let project = Project::new();
    let mut counter = Counter::new(&project);
    let mut options = SMALL.to_vec();
    options.extend(["--switch-output-event", "syscalls:sys_enter_unlink"]);
    let mut session = Session::new(&project, &counter, &options);
    session.request();
    for _ in 0..3 {
        let next = counter.count(30);
        counter.tell("unlink");
        assert_eq!(session.told().arguments(), run_of(next - 30..next));
    }
}

#[test]
fn what_is_not_overwritten_is_in_one_of_the_files_and_none_is_in_two() {
    require!(right_to_trace());
    let project = Project::new();
    let mut counter = Counter::new(&project);
    let options = ["--switch-output=20K", "-e", CALLS, "--filter", "id == 3"];
    let mut session = Session::new(&project, &counter, &options);
    session.request();
    let mut all = Vec::new();
    let mut next = FIRST;
    for _ in 0..3 {
        // More than 20 KiB.
        next = counter.count(1000);
        all.push(session.told());
    }
    let (status, last) = session.end_by(Signal::SIGTERM);
    assert_eq!(status, 0);
    all.extend(last);
    assert!(all.len() >= 4, "{}", all.len());
    let arguments: Vec<u64> = all.iter().flat_map(Told::arguments).collect();
    assert_eq!(arguments, run_of(FIRST..next));
}

#[test]
fn time_asks_for_a_file() {
    require!(right_to_trace());
    let project = Project::new();
    let counter = Counter::new(&project);
    let options = ["--overwrite", "--switch-output=1s", "-e", CALLS];
    let mut session = Session::new(&project, &counter, &options);
    assert!(session.told().path.exists());
    assert!(session.told().path.exists());
}
