//! Events by the names that perf has for them, in groups and with modifiers: counted as `perf stat`
//! counts them, and as often as a program says that it does a thing.

use std::fs;

use super::support::command::Place;
use super::support::compiler;
use super::support::perf::{self, WITH_TRACEFS};
use super::support::require::{self, require};
use perf_live::host::Host;

const HARNESS: &str = env!("CARGO_BIN_EXE_harness");

/// A place at an address of its choice, to which it stores as often as it is told, and its child
/// once more; each load is one of the child's.
const STORES: &str = "
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 0;
    void *at = (void *)0x10000000;
    volatile int *place = mmap(at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (place == MAP_FAILED) return 1;
    for (int i = 0; i < n; i++) *place = i;
    if (fork() == 0) { *place = *place + 1; _exit(0); }
    wait(0);
    return 0;
}
";

/// The program, compiled.
fn stores(place: &Place) -> Result<String, String> {
    compiler::compiled(place, "stores.c", &["-O0"], STORES)
}

/// The counters of `harness stat`, as JSON.
fn ours(place: &Place, events: &[&str], command: &[&str]) -> Vec<serde_json::Value> {
    let file = place.beside("counts");
    let file = file.to_str().expect("a path of letters");
    let mut words = vec![HARNESS, "stat", "--format", "json", "-o", file];
    for event in events {
        words.extend(["-e", event]);
    }
    words.push("--");
    words.extend(command);
    let output = place.run("", &words);
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let lines = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    let mut lines: Vec<serde_json::Value> = lines.collect();
    assert_eq!(
        lines.pop().expect("a summary")["type"],
        "summary",
        "{output:?}"
    );
    lines
}

/// What `perf stat` says of the events, in their order: a number, or why there is none.
fn theirs(place: &Place, events: &[&str], command: &[&str]) -> Vec<String> {
    let file = place.beside("perf");
    let file = file.to_str().expect("a path of letters");
    let program = perf::program();
    let mut words = vec!["unshare"];
    words.extend(WITH_TRACEFS);
    words.extend([program.as_str(), "stat", "-x", ",", "-o", file]);
    for event in events {
        words.extend(["-e", event]);
    }
    words.push("--");
    words.extend(command);
    let output = place.run("", &words);
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let lines = text.lines().filter(|line| line.contains(','));
    let first = |line: &str| line.split(',').next().expect("a field").to_owned();
    lines.map(first).collect()
}

fn values(counters: &[serde_json::Value]) -> Vec<u64> {
    let value = |counter: &serde_json::Value| {
        let value = counter["value"].as_u64();
        value.unwrap_or_else(|| panic!("no value: {counter}"))
    };
    counters.iter().map(value).collect()
}

#[test]
fn stores_to_a_place_of_memory_are_counted_in_a_tree_of_processes() {
    require!(require::right_to_trace());
    require!(require::perf());
    let place = Place::new();
    let program = require!(stores(&place));
    let (written, all) = ("mem:0x10000000/4:w:u", "mem:0x10000000/4:rw:u");
    let counts = |n: &str| {
        let command = [program.as_str(), n];
        let ours = values(&ours(&place, &[written, all], &command));
        let ours: Vec<String> = ours.iter().map(u64::to_string).collect();
        let theirs = theirs(&place, &[written, all], &command);
        assert_eq!(ours, theirs, "{n}: perf stat (right)");
        ours
    };
    let (one, thousand) = (counts("1"), counts("1000"));
    // The program, which stores and loads, says how often. An emulated processor may miss an access
    // that follows another.
    let sees_all = (one == ["2", "3"]).then_some(());
    require!(sees_all.ok_or_else(|| format!("of 2 stores and 3 accesses perf counts {one:?}")));
    assert_eq!(thousand, ["1001", "1002"]);
}

#[test]
fn events_with_modifiers_are_counted_as_perf_counts_them() {
    require!(require::right_to_trace());
    require!(require::perf());
    let place = Place::new();
    let program = require!(stores(&place));
    let command = ["/usr/bin/setarch", "-R", &program, "7"];
    let group = "{page-faults,page-faults:u,page-faults:k}";
    let counters = ours(&place, &[group], &command);
    let counted = values(&counters);
    let [all, user, kernel] = counted.as_slice() else {
        panic!("{counters:?}");
    };
    assert_eq!(*all, user + kernel);
    assert!(*user > 0 && *kernel > 0, "{counted:?}");
    let counted: Vec<String> = counted.iter().map(u64::to_string).collect();
    assert_eq!(theirs(&place, &[group], &command), counted);
    // What is in the source of software events under the same number is the same event.
    let events = ["page-faults:u", "software/config=2/u"];
    let counted = values(&ours(&place, &events, &command));
    assert_eq!(counted, [*user, *user]);
}

#[test]
fn a_group_is_counted_at_the_same_times() {
    require!(require::right_to_trace());
    let place = Place::new();
    let command = ["/bin/sh", "-c", "/bin/true; /bin/true"];
    let events = ["{execve,sched:sched_process_exec,task-clock}", "execve"];
    let counters = ours(&place, &events, &command);
    let of = |key: &str| -> Vec<Option<u64>> {
        let of_each = counters.iter().map(|counter| counter[key].as_u64());
        of_each.collect()
    };
    assert_eq!(of("group"), [Some(0), Some(0), Some(0), None]);
    // The first program's own call was entered before its exec started the counters.
    let value = of("value");
    assert_eq!((value[0], value[1], value[3]), (Some(2), Some(3), Some(2)));
    assert_eq!(of("enabled_ns")[..3], [of("enabled_ns")[0]; 3]);
    assert_eq!(of("running_ns"), of("enabled_ns"));
}

#[test]
fn a_source_of_sysfs_counts_what_perf_counts_of_it() {
    require!(require::right_to_trace());
    require!(require::perf());
    let has_clock = Host::running().event_source("msr");
    let has_clock = has_clock.filter(|source| source.events.contains_key("tsc"));
    require!(has_clock.ok_or_else(|| "there is no source `msr` with a `tsc`".to_owned()));
    let place = Place::new();
    let busy = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done";
    let command = ["/bin/sh", "-c", busy];
    let group = "{msr/tsc/,task-clock}";
    // Ticks in a microsecond of the same task, which is the processor's and not the run's.
    let counted = values(&ours(&place, &[group], &command));
    let ours = counted[0] as f64 / counted[1] as f64;
    let of_perf = theirs(&place, &[group], &command);
    let number = |at: usize| of_perf[at].parse::<f64>().expect("a number");
    // perf shows its clock in milliseconds.
    let theirs = number(0) / (number(1) * 1e6);
    let difference = (ours / theirs - 1.0).abs();
    assert!(
        difference < 0.05,
        "{ours} and {theirs} ticks in a nanosecond"
    );
}

#[test]
fn what_the_machine_does_not_count_is_said_where_perf_says_it() {
    require!(require::right_to_trace());
    require!(require::perf());
    let place = Place::new();
    let events = ["cycles", "page-faults", "{cs,L1-dcache-load-misses}"];
    let counters = ours(&place, &events, &["/bin/true"]);
    let of_perf = theirs(&place, &events, &["/bin/true"]);
    let lacks = |said: &String| said == "<not supported>";
    let lacking: Vec<bool> = of_perf.iter().map(lacks).collect();
    let is_null = |counter: &serde_json::Value| counter["value"].is_null();
    let ours: Vec<bool> = counters.iter().map(is_null).collect();
    // perf takes a group apart of which the machine lacks one; here it is counted whole or not at
    // all.
    assert_eq!(ours[..2], lacking[..2]);
    assert_eq!(ours[2..], [lacking[3]; 2]);
    for counter in counters.iter().filter(|counter| is_null(counter)) {
        let why = counter["not_supported"].as_str().expect("a reason");
        assert!(why.starts_with("cannot open"), "{counter}");
    }
}

/// A program that touches as many pages as it is told to, each of them for the first time.
const TOUCH: &str = "
#include <stdlib.h>
#include <sys/mman.h>
int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 0;
    char *all = mmap(0, 4096L * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || madvise(all, 4096L * 4096, MADV_NOHUGEPAGE)) return 1;
    for (long i = 0; i < n; i++) ((volatile char *)all)[i * 4096] = 1;
    return 0;
}
";

#[test]
fn a_scenario_counts_a_page_fault_more_for_each_page_more() {
    require!(require::right_to_trace());
    let place = Place::new();
    // Without a loader there are no files to map, which come in fewer faults or more by what the
    // page cache holds.
    let program = require!(compiler::compiled(&place, "touch.c", &["-static"], TOUCH));
    let file = place.beside("touch.yaml");
    let verdict = |more: &str, options: &[&str]| {
        let text = format!(
            "description: pages\nworkload: {{ run: [{program}, '1100'] }}\nbaseline: {{ run: [{program}, '1000'] }}\n\
             sandbox: none\ntrace: {{ events: [{{ count: 'page-faults:u' }}, {{ count: [cs, minor-faults] }}] }}\n\
             expect: {{ delta: {{ 'page-faults:u': {more} }}, count: {{ minor-faults: 1100.. }} }}\nsnapshot: false\n"
        );
        fs::write(&file, text).expect("a scenario");
        let path = file.to_str().expect("a path of letters");
        let mut words = vec![HARNESS, "run", "--format", "json"];
        words.extend(options);
        words.push(path);
        let output = place.run("", &words);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = said.lines().next().expect("a line");
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let verdict = line["verdict"].as_str().expect("a verdict").to_owned();
        (verdict, line["reasons"].to_string())
    };
    // The first run reads the program's file, which may cost a fault.
    let cold = verdict("100", &[]);
    assert_eq!(verdict("100", &[]).0, "pass", "{cold:?}");
    let (word, reasons) = verdict("101", &[]);
    assert_eq!(word, "fail");
    assert!(
        reasons.contains("more of `page-faults:u` than in the baseline"),
        "{reasons}"
    );
    // What was counted is kept with the records, and judged again.
    let folder = place.beside("saved");
    let folder = folder.to_str().expect("a path of letters");
    assert_eq!(verdict("100", &["--save", folder]).0, "pass");
    let saved = format!("{folder}/touch.data");
    assert_eq!(verdict("100", &["--from", &saved]).0, "pass");
    assert_eq!(verdict("99", &["--from", &saved]).0, "fail");
}

#[test]
fn an_event_that_is_throttled_is_shown_where_perf_finds_it() {
    require!(require::perf());
    let place = Place::new();
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/fixtures/perfdata/throttled.data"
    );
    let said = |words: &[&str]| {
        let output = place.run("", words);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let program = perf::program();
    let theirs = said(&[&program, "report", "-D", "-i", file]);
    // `13730606759 0x938 [0x30]: PERF_RECORD_THROTTLE`, nanoseconds first.
    let times = |kind: &str| -> Vec<u64> {
        let ending = format!(": PERF_RECORD_{kind}");
        let lines = theirs.lines().filter(|line| line.contains(&ending));
        let first = |line: &str| line.split_whitespace().next()?.parse().ok();
        lines.filter_map(first).collect()
    };
    let ours = said(&[
        HARNESS,
        "script",
        "-i",
        file,
        "--show-all-events",
        "--format",
        "json",
    ]);
    let ours: Vec<serde_json::Value> = ours
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    for kind in ["THROTTLE", "UNTHROTTLE"] {
        let word = kind.to_lowercase();
        let of_kind = ours.iter().filter(|line| line["type"] == *word);
        let of_kind: Vec<u64> = of_kind
            .filter_map(|line| line["time_ns"].as_u64())
            .collect();
        assert!(of_kind.len() >= 10, "{of_kind:?}");
        assert_eq!(of_kind, times(kind), "{kind}");
    }
}
