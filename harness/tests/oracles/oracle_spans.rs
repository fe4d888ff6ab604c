//! Spans against perf: of the same records, perf script gives the same ends, and so the same times
//! between them.

use super::support::command::Place;
use super::support::harness::PATH;
use super::support::perf;
use super::support::require::{self, require};
use serde_json::Value;
use std::collections::HashMap;
use std::fs;

/// The lengths of what perf sees begin and end, in the order in which they end; each thread ends
/// what it began last. A trace begins with the record that the program is executed. The kernel
/// enables events a little earlier (`begin_new_exec()`), so that one may have fired before.
fn witnessed(text: &str, begin: &str, end: &str) -> Vec<(u64, u64)> {
    let mut open: HashMap<u64, Vec<u64>> = HashMap::new();
    let mut lengths = Vec::new();
    let (_, run) = text.split_once("PERF_RECORD_COMM exec: ").expect("an exec");
    for line in run.lines().skip(1) {
        let mut words = line.split_whitespace();
        let mut word = || words.next().map(|word| word.trim_end_matches(':'));
        let (Some(tid), Some(time), Some(event)) = (word(), word(), word()) else {
            panic!("{line}")
        };
        let tid = tid.parse().expect("a thread");
        let (seconds, nanos) = time.split_once('.').expect("a time");
        let number = |text: &str| text.parse::<u64>().expect("a number");
        let time = number(seconds) * 1_000_000_000 + number(nanos);
        if event == end
            && let Some(begun) = open.entry(tid).or_default().pop()
        {
            lengths.push((tid, time - begun));
        }
        if event == begin {
            open.entry(tid).or_default().push(time);
        }
    }
    lengths
}

fn check(begin: &str, end: &str, command: &[&str]) {
    require!(require::right_to_trace());
    require!(require::perf());
    let place = Place::new();
    let (file, said) = (place.beside("saved.data"), place.beside("said"));
    let rule = format!("it={begin},{end}");
    let mut words = vec![
        PATH, "trace", "--format", "json", "-e", "none", "--span", &rule,
    ];
    words.extend(["--save", file.to_str().expect("a path of letters")]);
    words.extend(["-o", said.to_str().expect("a path of letters"), "--"]);
    words.extend(command);
    let output = place.run("", &words);
    let text = fs::read_to_string(&said).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let lines = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    let spans: Vec<(u64, u64)> = lines
        .filter(|line: &Value| line["type"] == "span" && line["state"] == "finished")
        .map(|line| {
            let number = |name: &str| line[name].as_u64().expect("a number");
            assert_eq!(number("duration_ns"), number("end_ns") - number("begin_ns"));
            (number("tid"), number("duration_ns"))
        })
        .collect();
    let witness = perf::said_of(
        &[
            "script",
            "--ns",
            "-F",
            "tid,time,event",
            "--show-task-events",
        ],
        &file,
    );
    assert_eq!(spans, witnessed(&witness, begin, end), "{command:?}");
    assert!(spans.len() >= 3, "{command:?}: {text}");
}

#[test]
fn halves_of_calls_are_spans_as_long_as_perf_has_them() {
    check(
        "syscalls:sys_enter_openat",
        "syscalls:sys_exit_openat",
        &["/usr/bin/sh", "-c", "cat a.txt | cat - sub/deeper/d.txt"],
    );
}

#[test]
fn what_ends_one_span_begins_the_next() {
    check(
        "sched:sched_stat_runtime",
        "sched:sched_stat_runtime",
        &[
            "/usr/bin/sh",
            "-c",
            "for i in 1 2 3 4 5; do cat a.txt; done",
        ],
    );
}

/// What the harness says of its calls and what a span says of their tracepoints.
#[test]
fn a_span_of_a_calls_halves_is_that_call() {
    require!(require::right_to_trace());
    let place = Place::new();
    let said = place.beside("said");
    let mut words = vec![PATH, "trace", "--format", "json", "-e", "read,write"];
    for call in ["read", "write"] {
        words.push("--span");
        words.push(match call {
            "read" => "read=syscalls:sys_enter_read,syscalls:sys_exit_read",
            _ => "write=syscalls:sys_enter_write,syscalls:sys_exit_write",
        });
    }
    words.extend(["-o", said.to_str().expect("a path of letters"), "--"]);
    words.extend(["/usr/bin/sh", "-c", "cat a.txt sub/deeper/d.txt | cat"]);
    let output = place.run("", &words);
    let text = fs::read_to_string(&said).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let mut calls: HashMap<(u64, String), Vec<(u64, u64)>> = HashMap::new();
    let mut spans = calls.clone();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let number = |name: &str| line[name].as_u64().unwrap_or_default();
        let key = || {
            let name = line["name"].as_str().unwrap_or_default().to_owned();
            (number("tid"), name)
        };
        if line["type"] == "syscall" {
            let from = number("time_ns");
            let times = (from, from + number("duration_ns"));
            calls.entry(key()).or_default().push(times);
        } else if line["type"] == "span" {
            assert_eq!(line["state"], "finished", "{line}");
            let times = (number("begin_ns"), number("end_ns"));
            spans.entry(key()).or_default().push(times);
        }
    }
    let counts = |all: &HashMap<(u64, String), Vec<(u64, u64)>>| {
        let mut counts: Vec<_> = all
            .iter()
            .map(|(key, all)| (key.clone(), all.len()))
            .collect();
        counts.sort();
        counts
    };
    assert_eq!(counts(&calls), counts(&spans));
    assert!(calls.len() >= 4, "{text}");
    for (key, calls) in &calls {
        for (call, span) in calls.iter().zip(&spans[key]) {
            // Each half has two tracepoints, one after the other: so one call's meet each other and
            // no other call's.
            assert!(
                call.0 <= span.1 && span.0 <= call.1,
                "{key:?}: {call:?} {span:?}"
            );
        }
    }
}

/// A timer of the program's own ends a span in an interrupt. If an event is not known to fire in
/// interrupts, the missing end is reported.
#[test]
fn a_span_that_ends_in_nobodys_name_is_refused_or_said() {
    require!(require::right_to_trace());
    let place = Place::new();
    let traced = |rule: &str, command: &[&str]| {
        let mut words = vec![PATH, "trace", "-e", "none", "--span", rule, "--"];
        words.extend(command);
        let output = place.run("", &words);
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (status, said) = traced(
        "t=timer:hrtimer_start,timer:hrtimer_expire_entry,hrtimer",
        &["/usr/bin/sleep", "0.01"],
    );
    assert_eq!(status, Some(125));
    assert!(
        said.contains("no span ends with `timer:hrtimer_expire_entry`: it fires in interrupts"),
        "{said}"
    );
    let (status, said) = traced(
        "t=sched:sched_process_exec,sched:sched_process_wait",
        &["/usr/bin/true"],
    );
    assert_eq!(status, Some(0), "{said}");
    assert!(
        said.contains("`sched:sched_process_wait` never came, so that 1 of `span:t` have no end"),
        "{said}"
    );
}
