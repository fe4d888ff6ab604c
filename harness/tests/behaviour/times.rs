//! When a call was made and how long it took, in strace's words and on a time line.

use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};
use serde_json::Value;
use std::time::{SystemTime, UNIX_EPOCH};

fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("a time after 1970").as_secs_f64()
}

/// The second word of a line, which is its time.
fn second(line: &str) -> f64 {
    let word = line.split(' ').nth(1);
    let time = word.and_then(|word| word.parse().ok());
    time.unwrap_or_else(|| panic!("a time in {line:?}"))
}

#[test]
fn a_line_tells_when_the_call_was_entered_by_the_clock_on_the_wall() {
    require!(right_to_trace());
    let project = Project::new();
    let before = now();
    let run = project.harness(&["trace", "-ttt", "-o", "out", "--", "true"]);
    let after = now();
    run.assert_status(0);
    let text = project.read("out");
    let times: Vec<f64> = text.lines().map(second).collect();
    assert!(times.is_sorted(), "{text}");
    // A line's microseconds are cut, not rounded.
    let is_then = |time: &f64| (before - 0.000_001..=after).contains(time);
    assert!(times.iter().all(is_then), "{before} {after}\n{text}");
}

#[test]
fn the_time_of_day_is_that_of_the_time_zone() {
    require!(right_to_trace());
    let project = Project::new();
    project.harness(&["trace", "--save", "data", "-e", "exit_group", "true"]);
    let told = |zone: &str, option: &str| {
        let environment = [("TZ", zone)];
        let run = project.harness_with(&environment, &["trace", "-i", "data", option]);
        let line = run.assert_status(0).stdout.clone();
        line.split(' ').nth(1).map(str::to_owned).expect("a time")
    };
    let (there, here) = (told("XXX-1:30", "-t"), told("UTC0", "-t"));
    let minutes = |time: &str| -> i32 {
        let (hours, rest) = time.split_once(':').expect("hours");
        let minutes = rest.split(':').next().expect("minutes");
        hours.parse::<i32>().expect("hours") * 60 + minutes.parse::<i32>().expect("minutes")
    };
    let ahead = (minutes(&there) - minutes(&here)).rem_euclid(24 * 60);
    assert_eq!(ahead, 90, "{there} {here}");
    let exact = told("UTC0", "-tt");
    assert_eq!(exact.split('.').next(), Some(here.as_str()), "{exact}");
    assert_eq!(exact.len(), "12:34:56.123456".len(), "{exact}");
}

#[test]
fn a_line_of_a_call_ends_with_the_seconds_that_it_took() {
    require!(right_to_trace());
    let project = Project::new();
    let run = project.harness(&[
        "trace",
        "-r",
        "-T",
        "-e",
        "%clock,clock_nanosleep,exit_group",
        "sleep",
        "0.2",
    ]);
    let lines: Vec<&str> = run.assert_status(0).stderr.lines().collect();
    let at = |name: &str| {
        let found = lines.iter().position(|line| line.contains(name));
        found.unwrap_or_else(|| panic!("{name} in {lines:?}"))
    };
    let slept = lines[at("clock_nanosleep(")];
    let took = slept
        .rsplit_once(" <")
        .and_then(|(_, end)| end.strip_suffix('>'));
    let took: f64 = took.and_then(|took| took.parse().ok()).expect("seconds");
    assert!(took >= 0.2, "{slept}");
    // What never returns took no time that could be told.
    let last = lines[at("exit_group(")];
    assert!(last.ends_with(") = ?"), "{last}");
    // It was entered behind the sleep, which began before the line in front of it.
    assert!(second(last) >= 0.2, "{lines:?}");
}

#[test]
fn a_recording_without_the_clock_on_the_wall_has_no_time_of_day_and_still_tells_differences() {
    require!(right_to_trace());
    let project = Project::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/perfdata/events.data");
    let run = project.harness(&["trace", "-i", file, "-tt"]);
    run.assert_status(125);
    assert!(
        run.stderr.contains("does not say what time it was"),
        "{run:?}"
    );
    assert!(run.stderr.contains("hint: use -r"), "{run:?}");
    project
        .harness(&["trace", "-i", file, "-r"])
        .assert_status(0);
}

#[test]
fn descriptors_are_bare_numbers_if_that_is_asked_for() {
    require!(right_to_trace());
    let project = Project::new();
    let run = project.harness(&["trace", "--decode-fds=none", "-e", "close", "true"]);
    assert!(
        run.assert_status(0).stderr.contains(" close(3) = 0\n"),
        "{run:?}"
    );
    let run = project.harness(&["trace", "-yy", "-e", "close", "true"]);
    assert!(
        run.assert_status(0).stderr.contains(" close(3</"),
        "{run:?}"
    );
}

/// The objects of the time line and those of the JSON lines are the same calls.
#[test]
fn a_time_line_has_a_slice_for_each_call_with_its_time_its_duration_and_its_arguments() {
    require!(right_to_trace());
    let project = Project::new();
    let command = ["sh", "-c", "cat /nonexistent; echo a | cat"];
    let saved = [
        "trace",
        "--save",
        "data",
        "-s",
        "8",
        "-e",
        "all,sched:sched_process_exec",
    ];
    project.harness(&[&saved[..], &command].concat());
    let told = |form: &str| {
        let run = project.harness(&["trace", "-i", "data", "--format", form]);
        run.assert_status(0).stdout.clone()
    };
    let lines = told("json");
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let (calls, others): (Vec<Value>, Vec<Value>) =
        lines.partition(|line| line["type"] == "syscall");
    let whole: Value = serde_json::from_str(&told("perfetto")).expect("JSON");
    let events = whole["traceEvents"].as_array().expect("events");
    let slices: Vec<&Value> = events.iter().filter(|it| it["cat"] == "syscall").collect();
    assert_eq!(slices.len(), calls.len());
    for (slice, call) in slices.into_iter().zip(&calls) {
        for member in ["name", "pid", "tid"] {
            assert_eq!(slice[member], call[member], "{slice} {call}");
        }
        let nanos = |member: &str| {
            slice[member]
                .as_f64()
                .map(|it| (it * 1_000.0).round() as u64)
        };
        assert_eq!(nanos("ts"), call["time_ns"].as_u64(), "{slice} {call}");
        assert_eq!(nanos("dur"), call["duration_ns"].as_u64(), "{slice} {call}");
        for argument in call["args"].as_array().expect("arguments") {
            let name = argument["name"].as_str().expect("a name");
            let shown = &slice["args"]["arguments"][name];
            assert_eq!(*shown, argument["text"], "{slice} {call}");
        }
    }
    let told: Vec<&Value> = events.iter().filter(|it| it["cat"] == "event").collect();
    let traced = others.iter().filter(|line| line["type"] == "event");
    let traced: Vec<&Value> = traced.collect();
    assert_eq!(told.len(), traced.len());
    for (told, traced) in told.into_iter().zip(traced) {
        assert_eq!(told["args"]["fields"], traced["fields"]);
        assert_eq!(told["args"]["cpu"], traced["cpu"]);
    }
    let summary = others.last().expect("a summary");
    for member in ["events", "lost", "complete", "exit"] {
        assert_eq!(whole["otherData"][member], summary[member]);
    }
    let named: Vec<&str> = events
        .iter()
        .filter(|it| it["name"] == "process_name")
        .filter_map(|it| it["args"]["name"].as_str())
        .collect();
    assert!(named.contains(&"sh") && named.contains(&"cat"), "{named:?}");
}

#[test]
fn what_a_form_does_not_show_is_refused_there() {
    require!(right_to_trace());
    let project = Project::new();
    for (form, option) in [
        ("perfetto", "-c"),
        ("perfetto", "-C"),
        ("perfetto", "-t"),
        ("perfetto", "-T"),
        ("json", "-t"),
        ("json", "-r"),
        ("json", "-T"),
    ] {
        let run = project.harness(&["trace", "--format", form, option, "true"]);
        assert!(run.stderr.contains("is of lines of text") || run.stderr.contains("no tables"));
        assert!(!run.stderr.contains("{\""), "{run:?}");
    }
}

#[test]
fn a_time_line_shows_for_each_cpu_which_thread_was_on_it() {
    require!(right_to_trace());
    require!(program("sleep"));
    let project = Project::new();
    let run = project.harness(&[
        "trace", "--sched", "-e", "none", "--format", "perfetto", "sleep", "0.1",
    ]);
    let whole: Value = serde_json::from_str(&run.assert_status(0).stderr).expect("JSON");
    let events = whole["traceEvents"].as_array().expect("events");
    let turns: Vec<&Value> = events.iter().filter(|it| it["cat"] == "sched").collect();
    assert!(!turns.is_empty(), "{whole}");
    let mut ends: Vec<(f64, f64)> = Vec::new();
    for turn in turns {
        let (at, took) = (turn["ts"].as_f64(), turn["dur"].as_f64());
        let (at, took) = (at.expect("a time"), took.expect("a duration"));
        assert!(
            ends.iter().all(|(_, end)| at >= *end),
            "one thread is on one CPU: {whole}"
        );
        ends.push((at, at + took));
    }
    let (first, last) = (ends[0].0, ends[ends.len() - 1].1);
    let on: f64 = ends.iter().map(|(from, to)| to - from).sum();
    // It sleeps for most of its life.
    assert!(last - first - on >= 90_000.0, "{whole}");
}
