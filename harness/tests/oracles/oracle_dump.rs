//! What `perf report -D` lists, `harness dump` lists as well: each record's place, size, bytes and
//! meaning, in the same order.

use std::path::Path;
use std::process::Command;

use super::support::command::{PATH, Place};
use super::support::oracle;
use super::support::perf::{self, recorded};
use super::support::require::{self, require};

/// The records of a dump, each as its lines; without what stands behind the last.
fn dump(program: &str, words: &[&str], file: &Path) -> Vec<Vec<String>> {
    let output = Command::new(program)
        .args(words)
        .arg(file)
        .env("PATH", PATH)
        .env("HOME", "/nonexistent")
        .env("LC_ALL", "C")
        .output()
        .expect("a program that starts");
    assert!(output.status.success(), "{program}: {output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    let mut records: Vec<Vec<String>> = Vec::new();
    for line in text.lines().take_while(|line| *line != "Aggregated stats:") {
        if line.starts_with("0x") && line.contains("]: event: ") {
            records.push(Vec::new());
        }
        if let Some(record) = records.last_mut().filter(|_| !line.is_empty()) {
            record.push(line.to_owned());
        }
    }
    records
}

/// Of a record its place, size and type: perf counts a pipe's bytes from behind its header.
fn head(record: &[String], header: u64) -> (u64, String) {
    let (place, rest) = record[0].split_once('@').expect("a place");
    let place = u64::from_str_radix(&place[2..], 16).expect("a number");
    let (_, rest) = rest.rsplit_once(" [").expect("a size");
    (place - header, rest.to_owned())
}

/// Of a record its bytes, and the line that says what it is, without its place.
fn body(record: &[String]) -> Vec<&str> {
    let is_hex = |line: &&str| line.starts_with(".  ");
    let lines = record.iter().map(String::as_str);
    let mut body: Vec<&str> = lines.clone().filter(is_hex).collect();
    let meaning = lines
        .clone()
        .find_map(|line| line.split_once("]: PERF_RECORD_"));
    let meaning = meaning.expect("a meaning").1;
    // Of a tool's own records each says what it knows; of the kernel's both say the same.
    body.push(match record[0].rsplit_once(' ').expect("a type").1 {
        kind if kind.len() > 1 && kind >= "64" => "",
        _ => meaning,
    });
    body.extend(lines.filter(|line| line.starts_with(".....")));
    body
}

/// perf 6.1 does not name the marks of a call chain.
fn unmark(line: &mut String) {
    if let Some(at) = line.find(" (PERF_CONTEXT_") {
        line.truncate(at);
    }
}

fn check(options: &str, command: &str, is_pipe: bool) {
    let place = Place::new();
    let (file, _) = recorded(&place, options, command, is_pipe);
    compare(&file, is_pipe, options);
}

fn compare(file: &Path, is_pipe: bool, of_what: &str) {
    let theirs = dump(&perf::program(), &["report", "-D", "-i"], file);
    let mut ours = dump(env!("CARGO_BIN_EXE_harness"), &["dump", "-i"], file);
    assert!(theirs.len() > 10, "{of_what}");
    if perf::version() < perf::NEW {
        ours.iter_mut().flatten().for_each(unmark);
    }
    // perf shows what is in compressed records, and not themselves; and of a pipe not the first
    // attribute, which tells it how.
    let is_compressed = |head: &str| head.ends_with("event: 81") || head.ends_with("event: 83");
    ours.retain(|record| !is_compressed(&record[0]));
    let header = if is_pipe { 16 } else { 0 };
    if is_pipe {
        assert!(ours.remove(0)[0].ends_with("event: 64"));
    }
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(head(ours, header), head(theirs, 0), "{of_what}");
        assert_eq!(body(ours), body(theirs), "{of_what}: {}", theirs[0]);
    }
    assert_eq!(ours.len(), theirs.len(), "{of_what}");
}

#[test]
fn the_records_of_files_are_those_that_perf_lists() {
    require!(require::right_to_trace());
    require!(require::perf());
    let cases = [
        (
            "-e sched:sched_switch,sched:sched_process_exec",
            "sh -c 'ls | sort | cat'",
        ),
        ("-e cpu-clock -c 10000 -g", "find . -type f"),
        ("-e page-faults -c 1", "cat a.txt"),
        (
            "-e 'sched:*' -a --namespaces --switch-events",
            "sh -c 'ls & wc a.txt; wait'",
        ),
        (
            "-e raw_syscalls:sys_enter -e task-clock -d",
            "grep -r needle .",
        ),
        (
            "-z -e 'syscalls:sys_enter_*' -e cpu-clock -a",
            "find . -type f",
        ),
        // No page faults: of one that other tests record too, the kernel writes their event's id.
        ("--threads -a -e cpu-clock", "find . -type f"),
    ];
    for (options, command) in cases {
        check(options, command, false);
    }
    // More than a ring of one page can hold.
    let flood = format!("{} flood 10000", oracle::path());
    check("-m 1 -e raw_syscalls:sys_enter", &flood, false);
}

#[test]
fn the_records_of_pipes_are_those_that_perf_lists() {
    require!(require::right_to_trace());
    require!(require::perf());
    check("-e sched:sched_switch", "sh -c 'ls | sort | cat'", true);
    check("-z -e cpu-clock,sched:sched_waking", "find . -type f", true);
}

#[test]
fn the_records_of_which_only_samples_have_times_are_those_that_perf_lists() {
    require!(require::perf());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/perfdata");
    compare(&folder.join("untimed.data"), false, "a file");
    compare(&folder.join("untimed-pipe.data"), true, "a pipe");
}
