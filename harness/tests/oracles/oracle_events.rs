//! The events that `harness events` lists are those that perf lists, with the fields of their
//! formats.

use std::collections::BTreeSet;
use std::fs;

use super::support::command::Place;
use super::support::perf::WITH_TRACEFS;
use super::support::require::{self, require};

const HARNESS: &str = env!("CARGO_BIN_EXE_harness");

fn output(words: &[&str]) -> String {
    let place = Place::new();
    let file = place.beside("out");
    let line = format!("{} > {}", words.join(" "), file.display());
    let mut all = vec!["unshare"];
    all.extend(WITH_TRACEFS.iter().chain(&["sh", "-c", &line]));
    let run = place.run("", &all);
    assert!(run.status.success(), "{run:?}");
    fs::read_to_string(file).expect("what it printed")
}

#[test]
fn the_tracepoints_are_those_that_perf_lists() {
    require!(require::right_to_trace());
    require!(require::perf());
    let theirs = output(&["perf", "list", "--raw-dump", "tracepoint"]);
    let theirs: BTreeSet<&str> = theirs
        .split_whitespace()
        .filter(|word| word.contains(':'))
        .collect();
    let ours = output(&[HARNESS, "events"]);
    let names = ours
        .lines()
        .map(|line| line.split('(').next().expect("a name"));
    let ours: BTreeSet<&str> = names.filter(|name| name.contains(':')).collect();
    assert!(ours.len() > 500, "{} events", ours.len());
    let of_one: Vec<_> = ours.symmetric_difference(&theirs).collect();
    assert!(
        of_one.is_empty(),
        "one lists them and the other does not: {of_one:?}"
    );
}

#[test]
fn the_fields_are_those_of_the_format() {
    require!(require::right_to_trace());
    let listed = output(&[
        HARNESS,
        "events",
        "--format",
        "json",
        "'sched:*'",
        "'signal:*'",
    ]);
    for line in listed.lines() {
        let event: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let name = event["name"].as_str().expect("a name").replace(':', "/");
        let format = output(&["cat", &format!("/sys/kernel/tracing/events/{name}/format")]);
        assert!(
            format.contains(&format!("\nID: {}\n", event["id"])),
            "{name}"
        );
        // The first eight bytes are every tracepoint's.
        let said = format.lines().filter(|line| {
            line.contains("\toffset:") && !line.contains("field:unsigned short common_")
        });
        let said = said.filter(|line| !line.contains(" common_"));
        let places = |text: &str, key: &str| {
            let rest = text.split_once(key).expect("a number").1;
            rest.split(';')
                .next()
                .expect("a number")
                .parse::<u64>()
                .expect("a number")
        };
        let said: Vec<(u64, u64)> = said
            .map(|line| (places(line, "offset:"), places(line, "size:")))
            .collect();
        let fields = event["fields"].as_array().expect("fields").iter();
        let ours: Vec<(u64, u64)> = fields
            .map(|field| {
                (
                    field["offset"].as_u64().expect("a number"),
                    field["size"].as_u64().expect("a number"),
                )
            })
            .collect();
        assert_eq!(ours, said, "{name}");
    }
}

/// What a machine counts without tracepoints. perf's own tools (`duration_time`) are no events of
/// the kernel, and it has some by two names.
/// Names that the kernel's events have besides, of which perf lists the first alone.
const SECOND_NAMES: [&str; 7] = [
    "branches",
    "cs",
    "cycles",
    "faults",
    "idle-cycles-backend",
    "idle-cycles-frontend",
    "migrations",
];

fn without_fields(listed: &str) -> BTreeSet<&str> {
    let names = listed.lines().filter(|name| !name.contains('('));
    names.filter(|name| !SECOND_NAMES.contains(name)).collect()
}

/// The name of a PMU's event, without the PMU.
fn of_pmu(name: &str) -> Option<&str> {
    let (_, event) = name.strip_suffix('/')?.split_once('/')?;
    Some(event)
}

fn listed_by_perf(kinds: &[&str]) -> BTreeSet<String> {
    let lists = kinds
        .iter()
        .map(|kind| output(&["perf", "list", "--raw-dump", kind]));
    let names = lists.flat_map(|text| {
        let names = text.split_whitespace().map(str::to_owned);
        names.collect::<Vec<_>>()
    });
    let of_perfs_own = ["duration_time", "user_time", "system_time"];
    names
        .filter(|name| !of_perfs_own.contains(&name.as_str()))
        .collect()
}

#[test]
fn the_events_of_every_machine_are_those_that_perf_lists() {
    require!(require::right_to_trace());
    require!(require::perf());
    let theirs = listed_by_perf(&["sw", "hw", "cache"]);
    let listed = output(&[HARNESS, "events"]);
    let ours: BTreeSet<&str> = without_fields(&listed)
        .into_iter()
        .filter(|name| of_pmu(name).is_none())
        .collect();
    assert!(ours.contains("page-faults"), "{ours:?}");
    assert_eq!(ours, theirs.iter().map(String::as_str).collect());
}

/// perf knows events of some CPUs by tables of its own, which have no PMU in their names, and lists
/// them in place of the kernel's of the same names.
#[test]
fn the_events_of_pmus_are_those_that_the_kernel_tells_perf_of() {
    require!(require::right_to_trace());
    require!(require::perf());
    let theirs = listed_by_perf(&["pmu"]);
    let listed = output(&[HARNESS, "events"]);
    let ours: BTreeSet<&str> = without_fields(&listed)
        .into_iter()
        .filter(|name| of_pmu(name).is_some())
        .collect();
    let is_theirs =
        |name: &str| theirs.contains(name) || of_pmu(name).is_some_and(|it| theirs.contains(it));
    let of_ours: Vec<_> = ours.iter().filter(|name| !is_theirs(name)).collect();
    assert!(of_ours.is_empty(), "perf does not list {of_ours:?}");
    let of_theirs: Vec<_> = theirs
        .iter()
        .filter(|name| of_pmu(name).is_some() && !ours.contains(name.as_str()))
        .collect();
    assert!(of_theirs.is_empty(), "perf alone lists {of_theirs:?}");
}
