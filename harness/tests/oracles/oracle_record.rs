//! What `harness record`, `harness trace --save` and `harness run --save` write perf reads without
//! a word, and it holds each sample that the kernel counted.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;
use std::process::{Command, Output};

use perf_records::perfdata::Reader;
use perf_records::record::{self, Record, kind};

use super::support::command::Place;
use super::support::perf;
use super::support::require::{self, require};

const HARNESS: &str = env!("CARGO_BIN_EXE_harness");

/// Where `PERF_RECORD_READ` has its value.
const VALUE: usize = 16;

fn run(place: &Place, line: &str) -> Output {
    place.run("", &["sh", "-c", line])
}

/// Of each event: samples, the sum of their periods, and what its counters say.
type Counts = BTreeMap<String, (u64, u64, u64)>;

fn counts(file: &Path) -> Counts {
    let input = BufReader::new(File::open(file).expect("a recording"));
    let mut reader = Reader::file(input).expect("a recording");
    let mut by_place: BTreeMap<usize, (u64, u64, u64)> = BTreeMap::new();
    while let Some(item) = reader.next().expect("records") {
        let Some((event, layout)) = item.event() else {
            continue;
        };
        let counts = by_place.entry(event).or_default();
        if let Ok(Record::Sample(sample)) = record::parse(item.bytes, layout) {
            counts.0 += 1;
            counts.1 += sample.period.unwrap_or(1);
        } else if item.header().kind == kind::READ {
            let value = item.bytes.get(VALUE..).and_then(|rest| rest.first_chunk());
            counts.2 += u64::from_ne_bytes(*value.expect("a value"));
        }
    }
    let name = |event| reader.meta().name(event).to_owned();
    by_place
        .into_iter()
        .map(|(event, counts)| (name(event), counts))
        .collect()
}

/// Whether every occurrence of an event is to have its sample.
fn is_each(name: &str) -> bool {
    name.contains(':') || name == "memory"
}

/// Compares what is in a file with what the kernel counted and with what perf sees.
fn check(file: &Path) -> Counts {
    let counts = counts(file);
    for (name, (_, periods, counted)) in counts.iter().filter(|(name, _)| is_each(name)) {
        assert_eq!(periods, counted, "{name}: samples (left), counter (right)");
    }
    let script = perf::said_of(&["script", "-F", "event,time", "-G"], file);
    for (name, (samples, ..)) in &counts {
        let is_of_it = |line: &&str| line.contains(&format!(" {name}:"));
        let lines = script.lines().filter(is_of_it).count();
        assert_eq!(lines as u64, *samples, "{name}: perf script (left)");
    }
    let dump = perf::said_of(&["report", "-D"], file);
    let all: u64 = counts.values().map(|(samples, ..)| samples).sum();
    let dumped = dump.matches("PERF_RECORD_SAMPLE(").count();
    assert_eq!(dumped as u64, all, "perf report -D (left)");
    assert!(
        dump.contains("PERF_RECORD_FINISHED_INIT"),
        "it says when it began"
    );
    let header = perf::said_of(&["report", "--stdio", "--header"], file);
    for feature in ["hostname", "os release", "arch", "nrcpus online", "cmdline"] {
        assert!(header.contains(&format!("# {feature} : ")), "{feature}");
    }
    counts
}

fn recorded(options: &str, command: &str) -> Counts {
    let place = Place::new();
    let file = place.beside("perf.data");
    let path = file.to_str().expect("a path of letters");
    let line = match options.strip_suffix(" -o -") {
        Some(_) => format!("{HARNESS} record {options} -- {command} > {path}"),
        None => format!("{HARNESS} record {options} -o {path} -- {command}"),
    };
    let output = run(&place, &line);
    assert!(output.status.success(), "{options}: {output:?}");
    check(&file)
}

#[test]
fn calls_of_real_programs_in_a_file() {
    require!(require::perf_and_right_to_trace());
    for command in [
        "ls -la",
        "grep -r needle .",
        "sh -c 'ls | sort | wc'",
        "find .",
    ] {
        let counts = recorded("-e all", command);
        let (entered, ..) = counts["raw_syscalls:sys_enter"];
        let (left, ..) = counts["raw_syscalls:sys_exit"];
        assert!(entered > 20 && left > entered.abs_diff(left), "{counts:?}");
    }
}

#[test]
fn calls_of_real_programs_through_a_pipe() {
    require!(require::perf_and_right_to_trace());
    for options in ["-e all -o -", "-e %file -g -o -", "-z -e all -o -"] {
        recorded(options, "sh -c 'ls; cat a.txt'");
    }
}

#[test]
fn compressed_records_are_the_same_records() {
    require!(require::perf_and_right_to_trace());
    let counts = recorded("-z=3 -e all", "find /usr/include");
    assert!(counts["raw_syscalls:sys_enter"].0 > 20, "{counts:?}");
}

#[test]
fn tracepoints_with_a_filter_and_software_events() {
    require!(require::perf_and_right_to_trace());
    let options = "-e sched:sched_process_exec,sched:sched_process_fork -e sched:sched_switch --filter 'prev_pid > 0' -e page-faults -c 1";
    let counts = recorded(options, "sh -c 'ls; ls; ls'");
    assert_eq!(counts["sched:sched_process_exec"].0, 4, "{counts:?}");
    let (faults, _, counted) = counts["page-faults"];
    assert_eq!(faults, counted, "with a period of 1 each is a sample");
}

#[test]
fn the_whole_machine_and_one_process() {
    require!(require::perf_and_right_to_trace());
    let counts = recorded("-a -e sched:sched_switch", "sh -c 'ls; ls'");
    assert!(counts["sched:sched_switch"].0 > 0, "{counts:?}");
    let place = Place::new();
    let file = place.beside("perf.data");
    let path = file.to_str().expect("a path of letters");
    // The process waits for a reader of what it writes, which the command is: it has written before
    // the command ends.
    let line = format!(
        "mkfifo f g; cat f > g & {HARNESS} record -e all -o {path} -p $! -- sh -c 'cat g & echo x > f; wait'; wait"
    );
    let output = run(&place, &line);
    assert!(output.status.success(), "{output:?}");
    let counts = check(&file);
    let (entered, ..) = counts["raw_syscalls:sys_enter"];
    assert!(entered > 0, "cat reads and writes: {counts:?}");
}

#[test]
fn the_kernel_and_its_modules_are_mapped_as_perf_has_them() {
    require!(require::perf_and_right_to_trace());
    let place = Place::new();
    let maps = |recorder: &str| {
        let file = place.beside("maps.data");
        let line = format!(
            "{recorder} -e page-faults -o {} -- true >&2",
            file.display()
        );
        assert!(run(&place, &line).status.success());
        let dump = perf::said_of(&["report", "-D"], &file);
        let maps = dump
            .lines()
            .filter_map(|line| line.split_once("PERF_RECORD_MMAP -1/0: "));
        maps.map(|(_, map)| map.to_owned()).collect::<Vec<_>>()
    };
    let perf = perf::program();
    let theirs = maps(&format!("{perf} record -q -B --no-buildid-mmap"));
    assert!(!theirs.is_empty());
    let ours = maps(&format!("{HARNESS} record"));
    assert_eq!(ours.len(), theirs.len(), "{ours:?}\n{theirs:?}");
    for (ours, theirs) in ours.iter().zip(&theirs) {
        // perf 6.1 knows no end of arm64's kernel: its mapping goes on to the last address.
        if span(theirs).1 == u64::MAX {
            assert_eq!(span(ours).0, span(theirs).0);
            let name = |map: &str| map.rsplit_once(' ').map(|(_, name)| name.to_owned());
            assert_eq!(name(ours), name(theirs));
        } else {
            assert_eq!(ours, theirs);
        }
    }
}

/// Where a mapping begins and ends, of `[0xSTART(0xLENGTH) ...`.
fn span(map: &str) -> (u64, u64) {
    let numbers = map.split(['[', '(', ')']).skip(1).take(2);
    let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16);
    let numbers: Vec<u64> = numbers.map(|it| number(it).expect("a number")).collect();
    let [start, length] = numbers[..] else {
        panic!("{map}");
    };
    (start, start.saturating_add(length))
}

#[test]
fn loss_is_said_by_us_and_to_perf() {
    require!(require::perf_and_right_to_trace());
    let place = Place::new();
    let file = place.beside("perf.data");
    let path = file.to_str().expect("a path of letters");
    let flood = super::support::oracle::path();
    // Nobody reads while the calls are made, on a machine of any speed: the command stops the
    // recorder, which started it, for that time.
    let line = format!(
        "{HARNESS} record -m 1 -e all -o {path} -- \
         sh -c 'kill -STOP $PPID; {flood} flood 50000; kill -CONT $PPID'"
    );
    let output = run(&place, &line);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{said}");
    let counts = counts(&file);
    let (samples, _, counted) = counts["raw_syscalls:sys_enter"];
    assert!(counted > 50000 && samples < counted, "{counts:?}");
    let lost = counted - samples;
    let line =
        format!("`raw_syscalls:sys_enter`: {counted} counted, {samples} records, {lost} lost");
    assert!(said.contains(&line), "{said}");
    let output = Command::new(perf::program())
        .args(["report", "--stdio", "--stats", "-i", path])
        .output()
        .expect("perf starts");
    let stats = String::from_utf8_lossy(&output.stdout);
    assert!(stats.contains("LOST_SAMPLES events:"), "{stats}");
}

#[test]
fn a_recording_that_is_there_is_kept_as_perf_keeps_it() {
    require!(require::perf_and_right_to_trace());
    let place = Place::new();
    let file = place.beside("perf.data");
    let path = file.to_str().expect("a path of letters");
    for _ in 0..2 {
        let line = format!("{HARNESS} record -e all -o {path} -- true");
        assert!(run(&place, &line).status.success());
    }
    let old = place.beside("perf.data.old");
    assert!(!counts(&old).is_empty() && !counts(&file).is_empty());
}

#[test]
fn the_status_is_the_commands_own() {
    require!(require::perf_and_right_to_trace());
    let place = Place::new();
    for (command, status) in [
        ("sh -c 'exit 7'", 7),
        ("sh -c 'kill -9 $$'", 137),
        ("./nowhere", 127),
    ] {
        let output = run(
            &place,
            &format!("{HARNESS} record -e all -o x.data -- {command}"),
        );
        assert_eq!(output.status.code(), Some(status), "{command}: {output:?}");
    }
}

#[test]
fn what_a_trace_keeps_is_every_record_that_was_counted() {
    require!(require::perf_and_right_to_trace());
    let place = Place::new();
    let file = place.beside("kept.data");
    let path = file.to_str().expect("a path of letters");
    let line = format!(
        "{HARNESS} trace -e all,sched:sched_process_exec --save {path} -- sh -c 'ls; cat a.txt'"
    );
    assert!(run(&place, &line).status.success());
    let counts = check(&file);
    assert_eq!(counts["sched:sched_process_exec"].0, 3, "{counts:?}");
}

#[test]
fn what_a_suite_keeps_is_a_file_for_each_scenario() {
    require!(require::perf_and_right_to_trace());
    let place = Place::new();
    let folder = place.beside("scenarios");
    fs::create_dir(&folder).expect("a folder");
    let yaml = "description: d\nworkload: { run: [cat, /etc/passwd] }\ntrace: { events: [{ syscalls: [openat] }] }\n";
    fs::write(folder.join("cat.yaml"), yaml).expect("a scenario");
    let (folder, kept) = (folder.display(), place.beside("kept"));
    let line = format!("{HARNESS} run --save {} {folder}", kept.display());
    let output = run(&place, &line);
    let file = kept.join("cat.data");
    assert!(file.exists(), "{output:?}");
    check(&file);
}

/// By the numbers of 32-bit programs `execve` is 11, which is `munmap` of this one.
#[test]
fn of_a_call_that_is_named_no_other_is_recorded() {
    require!(require::perf_and_right_to_trace());
    let place = Place::new();
    let file = place.beside("execve.data");
    let command = "/usr/bin/sh -c '/usr/bin/true; /usr/bin/true; :'";
    let line = format!(
        "{HARNESS} record -o {} -e execve -- {command}",
        file.display()
    );
    let output = run(&place, &line);
    assert!(output.status.success(), "{output:?}");
    let said = perf::said_of(&["script", "-F", "trace:event,trace"], &file);
    let named = |half: &str| said.lines().filter(|line| line.contains(half)).count();
    // The first is entered before events are enabled.
    let number = libc::SYS_execve;
    let entered = named(&format!("raw_syscalls:sys_enter: NR {number} "));
    let left = named(&format!("raw_syscalls:sys_exit: NR {number} "));
    assert_eq!((entered, left), (2, 3), "{said}");
    // rt_sigreturn(2) leaves without a number, which no filter can tell.
    let others = said.lines().filter(|line| !line.contains(": NR -1 "));
    assert_eq!(others.count(), 5, "{said}");
}

/// perf's `tod` adds the difference that the file tells to the time of each sample.
#[test]
fn perf_and_the_trace_tell_the_same_time_of_day() {
    require!(require::right_to_trace());
    require!(require::perf());
    let place = Place::new();
    let file = place.beside("data");
    let shown = file.display();
    let line =
        format!("{HARNESS} record -o {shown} -e raw_syscalls:sys_enter,raw_syscalls:sys_exit true");
    assert!(run(&place, &line).status.success());
    let theirs = perf::said_of(&["script", "-F", "tod,event"], &file);
    let entries = theirs.lines().filter(|line| line.contains("sys_enter"));
    let theirs: Vec<&str> = entries
        .filter_map(|line| line.split_whitespace().find(|word| word.contains(':')))
        .collect();
    let traced = run(
        &place,
        &format!("TZ=UTC0 {HARNESS} trace -i {shown} -tt 2>&1"),
    );
    let traced = String::from_utf8(traced.stdout).expect("text");
    let calls = traced.lines().filter(|line| line.contains('('));
    let ours: Vec<&str> = calls.filter_map(|line| line.split(' ').nth(1)).collect();
    // The first call, execve, was entered before the events began.
    assert!(theirs.len() > 5, "{theirs:?}");
    assert_eq!(ours.get(1..), Some(&theirs[..]), "{traced}");
}
