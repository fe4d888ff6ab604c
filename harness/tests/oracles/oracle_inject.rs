//! What `harness inject -b` puts in, perf finds, and `readelf` says the same; all else stays as it
//! was.

use std::collections::BTreeMap;
use std::process::Output;

use super::support::command::Place;
use super::support::perf;
use super::support::require::{self, require};

const HARNESS: &str = env!("CARGO_BIN_EXE_harness");
const RECORD: &str = "$PERF record -q -B --no-buildid-mmap -e page-faults,sched:sched_process_exec";

fn run(place: &Place, line: &str) -> Output {
    let folder = place.beside(".");
    place.run(
        "",
        &[
            "sh",
            "-c",
            &format!(
                "PERF='{}'; cd '{}' && {{ {line}; }}",
                perf::program(),
                folder.display()
            ),
        ],
    )
}

fn said(place: &Place, line: &str) -> String {
    let output = run(place, line);
    assert!(output.status.success(), "{line}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// `ID PATH` lines of `perf buildid-list`, without the kernel and what has none.
fn ids(list: &str) -> BTreeMap<String, String> {
    let lines = list.lines().filter_map(|line| line.trim().split_once(' '));
    let named = lines.filter(|(_, path)| path.starts_with('/'));
    named
        .map(|(id, path)| (path.to_owned(), id.to_owned()))
        .collect()
}

/// What `readelf` says of a file.
fn id_of(place: &Place, path: &str) -> String {
    let notes = said(place, &format!("readelf -n {path}"));
    let id = notes
        .lines()
        .find_map(|line| line.trim().strip_prefix("Build ID: "));
    id.expect("a build id").to_owned()
}

#[test]
fn build_ids_are_put_into_a_file_that_perf_reads_as_before() {
    require!(require::right_to_trace());
    require!(require::perf());
    require!(require::program("readelf"));
    let place = Place::new();
    said(&place, &format!("{RECORD} -o without ls / > list"));
    // What the file lacks; perf 7.2 lists ids that it has looked up by itself as well.
    let header = said(&place, "$PERF report --header-only -i without");
    let mut lacks = header
        .lines()
        .filter(|line| line.starts_with("# missing features:"));
    assert!(lacks.any(|line| line.contains(" BUILD_ID ")), "{header}");
    said(&place, &format!("{HARNESS} inject -b -i without -o with"));
    let found = ids(&said(&place, "$PERF buildid-list -i with"));
    assert!(found.len() > 2, "{found:?}");
    for (path, id) in &found {
        assert_eq!(*id, id_of(&place, path), "{path}");
    }
    for reading in ["$PERF script -i", "$PERF script --show-mmap-events -i"] {
        let before = said(&place, &format!("{reading} without"));
        assert_eq!(before, said(&place, &format!("{reading} with")));
    }
    // What is there is not put in again.
    let again = run(
        &place,
        &format!("{HARNESS} inject -b -i with -o again && cmp with again"),
    );
    assert!(again.status.success(), "{again:?}");
    assert!(String::from_utf8_lossy(&again.stderr).contains(" 0 build ids"));
}

#[test]
fn build_ids_are_put_into_a_pipe_with_tracepoints_too() {
    require!(require::right_to_trace());
    require!(require::perf());
    let place = Place::new();
    said(&place, &format!("{RECORD} -o - ls / > pipe"));
    said(&place, &format!("{HARNESS} inject -b < pipe > with"));
    let fields = "$PERF script -F comm,tid,time,event,ip,trace -i -";
    let before = said(&place, &format!("{fields} < pipe"));
    assert!(before.contains("sched:sched_process_exec:"), "{before}");
    assert_eq!(before, said(&place, &format!("{fields} < with")));
    let dump = said(&place, "$PERF report -D -i - < with");
    assert!(dump.contains(": event: 67\n"), "{dump:.300}");
    // perf's own stops at the formats.
    let perf = run(&place, "$PERF inject -b < pipe > /dev/null");
    assert!(
        !perf.status.success(),
        "perf inject learned to do it: say so in harness/docs/perf.md"
    );
    // A file as a pipe's stream.
    said(&place, &format!("{RECORD} -o file ls / > list"));
    let of_file = said(
        &place,
        "$PERF script -F comm,tid,time,event,ip,trace -i file",
    );
    said(&place, &format!("{HARNESS} inject -b -i file -o - > piped"));
    assert_eq!(of_file, said(&place, &format!("{fields} < piped")));
}

#[test]
fn a_directory_with_a_file_of_each_thread_of_perf_becomes_one_file() {
    require!(require::right_to_trace());
    require!(require::perf());
    let place = Place::new();
    // No page faults of the whole machine: of one that other tests record too, the kernel (6.18)
    // writes the id of their event here, which perf refuses.
    let record = RECORD.replace("page-faults,", "");
    said(
        &place,
        &format!("{record} --threads -a -o many ls / > list"),
    );
    said(&place, "test -e many/data.0");
    said(&place, &format!("{HARNESS} inject -b -i many -o one"));
    let before = said(&place, "$PERF script -i many");
    assert!(before.contains("sched:sched_process_exec:"), "{before}");
    assert_eq!(before, said(&place, "$PERF script -i one"));
}

#[test]
fn a_file_that_cannot_be_read_to_its_end_is_no_file_to_put_anything_in() {
    require!(require::right_to_trace());
    require!(require::perf());
    let place = Place::new();
    said(
        &place,
        &format!("{RECORD} -o whole true; head -c 3000 whole > cut"),
    );
    let output = run(&place, &format!("{HARNESS} inject -b -i cut -o out"));
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(
        !run(&place, "test -e out").status.success(),
        "nothing was written"
    );
}
