//! What `harness stat` counts is what `perf stat` counts of the same program, and what the program
//! does.

use std::fs;

use super::support::command::Place;
use super::support::compiler;
use super::support::perf;
use super::support::require::{self, require};

const HARNESS: &str = env!("CARGO_BIN_EXE_harness");

/// What `harness stat` says of each event, in its order.
fn counted(place: &Place, options: &[&str], command: &[&str]) -> Vec<(String, u64)> {
    counted_by(place, &[HARNESS], options, command)
}

/// The same of a harness that another program starts.
fn counted_by(
    place: &Place,
    harness: &[&str],
    options: &[&str],
    command: &[&str],
) -> Vec<(String, u64)> {
    let file = place.beside("counts");
    let file = file.to_str().expect("a path of letters");
    let mut words = [harness, &["stat", "--format", "json", "-o", file]].concat();
    words.extend(options.iter().chain(&["--"]).chain(command));
    let output = place.run("", &words);
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let lines = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    let lines: Vec<serde_json::Value> = lines.collect();
    let (summary, counters) = lines.split_last().expect("a summary");
    assert_eq!(summary["type"], "summary");
    let one = |line: &serde_json::Value| {
        assert_eq!(line["enabled_ns"], line["running_ns"], "{line}");
        let name = line["name"].as_str().expect("a name").to_owned();
        (name, line["value"].as_u64().expect("a count"))
    };
    counters.iter().map(one).collect()
}

/// perf's event, and what it is called here.
fn check(event: &str, ours: &str, command: &[&str]) {
    require!(require::right_to_trace());
    require!(require::perf());
    let place = Place::new();
    // Where its stack lies is otherwise the kernel's dice, and with it how many pages it takes.
    let mut fixed = vec!["/usr/bin/setarch", "-R"];
    fixed.extend(command);
    let theirs = perf::count_of(event, &place, "", &fixed);
    let ours = counted(&place, &["-e", ours], &fixed);
    let values: Vec<u64> = ours.iter().map(|(_, value)| *value).collect();
    assert_eq!(values, [theirs], "{event}, {command:?}: {ours:?}");
}

#[test]
fn calls_of_a_tree_of_processes() {
    let command = [
        "/bin/sh",
        "-c",
        "/bin/cat a.txt | /usr/bin/sort > out; /bin/ls sub",
    ];
    check("syscalls:sys_enter_openat", "openat", &command);
    check("syscalls:sys_enter_execve", "execve", &command);
    check("syscalls:sys_enter_close", "close", &command);
}

#[test]
fn tracepoints_and_filters() {
    let command = ["/bin/sh", "-c", "/bin/true; /bin/true; /bin/true"];
    check(
        "sched:sched_process_fork",
        "sched:sched_process_fork",
        &command,
    );
    check(
        "sched:sched_process_exec",
        "sched:sched_process_exec",
        &command,
    );
    require!(require::right_to_trace());
    let place = Place::new();
    let of_execve = format!("id == {}", libc::SYS_execve);
    let options = [
        "-e",
        "raw_syscalls:sys_enter",
        "--filter",
        &of_execve,
        "-e",
        "execve",
    ];
    let counts = counted(&place, &options, &command);
    let values: Vec<u64> = counts.iter().map(|(_, value)| *value).collect();
    assert_eq!(values, [3, 3]);
}

/// A program that touches as many pages as it is told to, each of them for the first time.
const TOUCH: &str = "
#include <stdlib.h>
#include <sys/mman.h>
int main(int argc, char **argv) {
    long n = atol(argv[1]);
    char *all = mmap(0, 4096L * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (argc < 2 || all == MAP_FAILED || madvise(all, 4096L * 4096, MADV_NOHUGEPAGE)) return 1;
    for (long i = 0; i < n; i++) ((volatile char *)all)[i * 4096] = 1;
    return 0;
}
";

/// That program without a loader: of files to map, how many pages are there at once depends on what
/// the page cache holds, and which of them others hold locked at that moment. That goes for its own
/// file too as long as it is being written to the disk.
fn touching(place: &Place) -> Result<String, String> {
    let program = compiler::compiled(place, "touch.c", &["-static"], TOUCH)?;
    let written = fs::File::open(&program).and_then(|file| file.sync_all());
    written.map_err(|error| error.to_string())?;
    Ok(program)
}

#[test]
fn page_faults_of_a_program() {
    require!(require::right_to_trace());
    let place = Place::new();
    require!(require::perf());
    let program = require!(touching(&place));
    let command = [program.as_str(), "1000"];
    // The addresses are set for perf and for the harness, whose commands inherit it: what sets them
    // maps files that others map, too.
    let fixed = ["/usr/bin/setarch", "-R"];
    for event in ["page-faults", "minor-faults"] {
        let theirs = perf::count_within(&fixed, event, &place, "", &command);
        let ours = [&fixed[..], &[HARNESS]].concat();
        let ours = counted_by(&place, &ours, &["-e", event], &command);
        let values: Vec<u64> = ours.iter().map(|(_, value)| *value).collect();
        assert_eq!(values, [theirs], "{event}: {ours:?}");
    }
}

#[test]
fn a_program_that_touches_a_page_more_has_a_page_fault_more() {
    require!(require::right_to_trace());
    let place = Place::new();
    let program = require!(touching(&place));
    let program = program.as_str();
    // As many digits in all of them: what it is told lies on its stack. The addresses are set for
    // the harness, whose commands inherit it: what sets them maps files that others map, too.
    let fixed = ["/usr/bin/setarch", "-R", HARNESS];
    let faults = |n: &str| {
        let counts = counted_by(&place, &fixed, &["-e", "page-faults"], &[program, n]);
        counts.first().expect("a counter").1
    };
    let base = faults("1000");
    assert_eq!(faults("1001"), base + 1);
    assert_eq!(faults("1100"), base + 100);
    assert_eq!(faults("4000"), base + 3000);
}

#[test]
fn a_command_that_ends_badly_is_counted_and_its_status_is_given() {
    require!(require::right_to_trace());
    let place = Place::new();
    let status = |command: &str| {
        let words = [
            HARNESS, "stat", "-e", "execve", "--", "/bin/sh", "-c", command,
        ];
        let output = place.run("", &words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    };
    let (code, said) = status("exit 7");
    assert_eq!(code, Some(7));
    assert!(said.contains("execve"), "{said}");
    assert_eq!(status("kill -TERM $$").0, Some(128 + 15));
}
