//! perf reads each file of the flight recorder without a complaint, knows the name of each task in
//! it, and finds as many samples as were reported.

use std::path::{Path, PathBuf};

use super::support::command::Place;
use super::support::perf;
use super::support::require::{self, require};

const HARNESS: &str = env!("CARGO_BIN_EXE_harness");

/// A shell whose children are dead when its files are read, and that asks for one each time it has
/// had some.
const ASKS: &str =
    "for i in 1 2 3; do ls / > ls.txt; (exec sort ls.txt) | wc > wc.txt; kill -USR2 $PPID; done";

/// The files, each with the number of its samples, as they were told of.
fn recorded(options: &str, command: &str) -> (Place, Vec<(PathBuf, usize)>) {
    let place = Place::new();
    let path = place.beside("x.data");
    let path = path.to_str().expect("a path of letters");
    let line = format!("{HARNESS} record {options} -o {path} -- sh -c '{command}'");
    let output = place.run("", &["sh", "-c", &line]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let file = |line: &str| {
        let (_, rest) = line.split_once("[ harness record: ")?;
        let (samples, rest) = rest.split_once(" samples")?;
        let (_, rest) = rest.split_once(" -> ")?;
        let name = rest.split([';', ' ']).next()?;
        Some((name.into(), samples.parse().ok()?))
    };
    let files = said.lines().filter_map(file).collect();
    (place, files)
}

fn check(files: &[(PathBuf, usize)]) {
    for (file, samples) in files {
        let script = perf::said_of(&["script", "-F", "comm,tid,event"], file);
        assert_eq!(script.lines().count(), *samples, "{}", file.display());
        // A thread without a name is `:` and its number.
        let nameless = script.lines().find(|line| line.trim().starts_with(':'));
        assert_eq!(nameless, None, "{}", file.display());
        perf::said_of(&["report", "-D"], file);
        perf::said_of(&["report", "--stdio", "--stats"], file);
        perf::said_of(
            &["script", "--show-task-events", "--show-mmap-events"],
            file,
        );
    }
}

#[test]
fn a_file_for_each_signal_and_one_at_the_end() {
    require!(require::perf_and_right_to_trace());
    for options in [
        "--overwrite --switch-output -m 16 -e all",
        "--overwrite --switch-output -m 16 -e all -e sched:sched_switch/no-overwrite,name=switch/ -e cpu-clock/call-graph=fp/",
        "--overwrite --switch-output -z -m 16 -e sched:* -e %file/max-stack=4/",
        "--switch-output -e all",
    ] {
        let (_place, files) = recorded(options, ASKS);
        assert_eq!(files.len(), 4, "{options}");
        assert!(files.iter().map(|(_, samples)| samples).sum::<usize>() > 100);
        check(&files);
    }
}

#[test]
fn one_file_of_what_came_last() {
    require!(require::perf_and_right_to_trace());
    let (_place, files) = recorded("--overwrite -m 4 -e all", "ls -lR /etc > /dev/null; ls");
    assert_eq!(files.len(), 1);
    check(&files);
}

/// Of the same load both remember the end.
#[test]
fn what_perf_remembers_ends_where_ours_ends() {
    require!(require::perf_and_right_to_trace());
    let command = "i=0; while [ $i -lt 200 ]; do i=$((i+1)); : < /dev/null; done; exec true";
    let last_calls = |file: &Path| -> Vec<String> {
        let script = perf::said_of(&["script", "-F", "trace:event,trace"], file);
        let lines: Vec<String> = script.lines().map(|line| line.trim().to_owned()).collect();
        let names = lines.iter().rev().take(10);
        names
            .map(|line| line.split('(').next().unwrap_or_default().to_owned())
            .collect()
    };
    let (_place, files) = recorded("--overwrite -m 16 -e raw_syscalls:sys_enter", command);
    let place = Place::new();
    let path = place.beside("perf.data");
    let shown = path.to_str().expect("a path of letters");
    let options = "--overwrite -m 16 -e raw_syscalls:sys_enter";
    let line = format!(
        "{} record -q {options} -o {shown} -- sh -c '{command}'",
        perf::program()
    );
    let mut words = vec!["unshare"];
    words.extend(perf::WITH_TRACEFS.iter().chain(&["sh", "-c", &line]));
    let output = place.run("", &words);
    assert!(output.status.success(), "{output:?}");
    let [(ours, _)] = files.as_slice() else {
        panic!("{files:?}")
    };
    let [ours, theirs] = [last_calls(ours), last_calls(&path)];
    assert_eq!(ours.len(), 10);
    assert_eq!(ours, theirs);
}
