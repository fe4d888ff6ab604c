//! Programs that perf has recorded: its text of each record, and ours.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;

use perf_records::format;
use perf_records::perfdata::{Ordered, Reader};
use perf_records::print::Text;
use perf_records::record::{self, Record};

use super::super::support::command::{Place, clean_command};
use super::super::support::perf::{self, WITH_TRACEFS};
use super::super::support::require::{self, require};

/// Records the events of a command, and gives the lines of perf and ours.
fn texts(events: &str, command: &[&str]) -> (Vec<String>, Vec<String>) {
    let place = Place::new();
    let file = place.beside("perf.data");
    let path = file.to_str().expect("a path of letters");
    let mut words = vec!["unshare"];
    words.extend(WITH_TRACEFS);
    let perf = perf::program();
    words.extend([
        &perf, "record", "-q", "-B", "-N", "-o", path, "-e", events, "--",
    ]);
    words.extend(command);
    let output = place.run("", &words);
    assert!(output.status.success(), "{output:?}");
    let output = clean_command(&[&perf, "script", "-F", "trace", "-i", path])
        .output()
        .expect("perf");
    let theirs = String::from_utf8_lossy(&output.stdout);
    let theirs = theirs.lines().map(|line| line.trim().to_owned()).collect();
    (
        theirs,
        ours(File::open(file).expect("what perf has written")),
    )
}

fn ours(file: File) -> Vec<String> {
    let mut records = Ordered::new(Reader::file(BufReader::new(file)).expect("a perf.data file"));
    let mut texts: BTreeMap<usize, Text> = BTreeMap::new();
    let mut lines = Vec::new();
    while let Some(item) = records.next().expect("a whole file") {
        let Some((event, layout)) = item.event() else {
            continue;
        };
        let Ok(Record::Sample(sample)) = record::parse(item.bytes, layout) else {
            continue;
        };
        let text = texts.entry(event).or_insert_with(|| {
            let config = item.meta.events[event].attr.config;
            let formats = item.meta.tracing.as_ref().expect("formats");
            let (_, text) = formats.format_of(config).expect("the event's format");
            Text::new(&format::parse(text).expect("a format"))
        });
        let mut line = Vec::new();
        text.write(sample.raw.expect("a tracepoint's record"), &mut line);
        lines.push(String::from_utf8_lossy(&line).trim().to_owned());
    }
    lines
}

fn check(events: &str, command: &[&str]) {
    require!(require::right_to_trace());
    require!(require::perf());
    require!(require::program(command[0]));
    let (theirs, ours) = texts(events, command);
    for (at, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        assert_eq!(ours, theirs, "record {at}: ours (left), perf's (right)");
    }
    assert_eq!(ours.len(), theirs.len());
    assert!(ours.len() > 50, "{ours:?}");
}

#[test]
fn the_text_of_a_recorded_search_is_that_of_perf() {
    check("sched:*,task:*,signal:*,raw_syscalls:*", &["find", "."]);
}

#[test]
fn the_text_of_recorded_children_is_that_of_perf() {
    let script = "for i in 1 2 3 4 5; do sh -c 'kill -9 $$' & done; cat a.txt | sort | uniq -c >/dev/null; wait";
    check(
        "sched:*,task:*,signal:*,syscalls:sys_enter_openat,syscalls:sys_exit_openat,syscalls:sys_enter_execve",
        &["sh", "-c", script],
    );
}

#[test]
fn the_text_of_recorded_writes_is_that_of_perf() {
    let script = "for i in 1 2 3 4 5 6 7 8; do echo $i >f$i; mv f$i g$i; done; sync .; rm g*";
    check(
        "raw_syscalls:*,writeback:writeback_dirty_folio,block:*,filelock:*,cgroup:*,oom:*",
        &["sh", "-c", script],
    );
}
