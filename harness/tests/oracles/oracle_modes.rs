//! Events of one mode of the processor, recorded: asked of the kernel in perf's words, as many as
//! perf counts, and all from that mode.

use std::fs;
use std::path::{Path, PathBuf};

use super::support::command::Place;
use super::support::harness::PATH;
use super::support::perf;
use super::support::require::{self, require};

/// What `harness record` writes of a command.
fn recorded(place: &Place, event: &str, command: &str) -> PathBuf {
    let file = place.beside("ours.data");
    let line = format!(
        "{PATH} record -o {} -e {event} -- {command}",
        file.display()
    );
    let mut words = vec!["unshare"];
    words.extend(perf::WITH_TRACEFS.iter().chain(&["sh", "-c", &line]));
    let output = place.run("", &words);
    assert!(output.status.success(), "{event}: {output:?}");
    file
}

/// The modes that the first event of a file leaves out.
fn left_out(file: &Path) -> Vec<String> {
    let said = perf::said_of(&["evlist", "-v"], file);
    let words = said
        .lines()
        .next()
        .expect("an event")
        .split([':', ',', ' ']);
    let modes = ["exclude_user", "exclude_kernel", "exclude_hv"];
    let words = words.filter(|word| modes.contains(word));
    words.map(str::to_owned).collect()
}

#[test]
fn the_kernel_is_asked_for_the_modes_that_perf_asks_for() {
    require!(require::right_to_trace());
    require!(require::perf());
    let place = Place::new();
    for event in [
        "cpu-clock:u",
        "cpu-clock:k",
        "cpu-clock:uk",
        "page-faults:u",
        "cs:k",
        "sched:sched_switch:k",
        "syscalls:sys_enter_openat:u",
    ] {
        let ours = left_out(&recorded(&place, event, "/bin/true"));
        let (theirs, _) = perf::recorded(&place, &format!("-e {event}"), "/bin/true", false);
        assert_eq!(ours, left_out(&theirs), "{event}: perf (right)");
    }
}

/// Whether each sample of a file was taken in the kernel.
fn in_kernel(file: &Path) -> Vec<bool> {
    let said = perf::said_of(&["script", "-F", "ip"], file);
    let address = |line: &str| u64::from_str_radix(line.trim(), 16).expect("an address");
    said.lines().map(|line| address(line) >> 63 == 1).collect()
}

#[test]
fn all_samples_are_of_the_mode_that_is_named() {
    require!(require::right_to_trace());
    require!(require::perf());
    let place = Place::new();
    // Most of its time is in its own code, and each turn enters the kernel.
    let command = "/bin/sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); : < /dev/null; done'";
    for (event, is_kernel) in [
        ("cpu-clock/period=100000/u", false),
        ("cpu-clock/period=100000/k", true),
        ("page-faults/period=1/u", false),
        ("page-faults/period=1/k", true),
    ] {
        let samples = in_kernel(&recorded(&place, event, command));
        assert!(!samples.is_empty(), "{event}");
        assert!(samples.iter().all(|it| *it == is_kernel), "{event}");
    }
}

/// How many faults a program has depends on what the page cache holds, so perf counts those of the
/// very run that we trace.
#[test]
fn a_trace_has_each_fault_of_the_mode_that_is_named() {
    require!(require::right_to_trace());
    require!(require::perf());
    let place = Place::new();
    let (said, counted) = (place.beside("said"), place.beside("counted"));
    let path = |file: &PathBuf| file.to_str().expect("a path of letters").to_owned();
    let (trace, counts, perf) = (path(&said), path(&counted), perf::program());
    let events = "page-faults:u,page-faults:k";
    let ours = [
        PATH, "trace", "-e", events, "--format", "json", "-o", &trace, "--",
    ];
    let theirs = [&perf, "stat", "-x", ",", "-o", &counts, "-e", events, "--"];
    let command = ["/usr/bin/setarch", "-R", "/bin/true"];
    let words = [&ours[..], &theirs, &command].concat();
    let output = place.run("", &words);
    assert!(output.status.success(), "{output:?}");
    let text = fs::read_to_string(&said).expect("a trace");
    let counts = fs::read_to_string(&counted).expect("counts");
    for event in events.split(',') {
        // perf counts from the moment that its child executes the command, which names the process
        // anew.
        let name = format!("\"software:{event}\"");
        let is_commands = |line: &&str| {
            let comms = ["\"comm\":\"setarch\"", "\"comm\":\"true\""];
            line.contains(&name) && comms.iter().any(|comm| line.contains(comm))
        };
        let ours = text.lines().filter(is_commands).count();
        assert_eq!(
            ours as u64,
            perf::count_in(&counts, event),
            "{event}: perf stat (right)"
        );
    }
}
