//! Page faults and signals against witnesses: the program that touches pages, and strace.

use perf_live::sys::page_size;

use super::support::command::Place;
use super::support::harness::PATH;
use super::support::require::{self, require};
use std::fs;

/// The lines of `harness trace` with these options.
fn traced(options: &[&str], command: &[&str]) -> Vec<String> {
    let place = Place::new();
    let said = place.beside("said");
    let mut words = vec![PATH, "trace", "--sandbox"];
    words.extend(options);
    words.extend(["-o", said.to_str().expect("a path of letters"), "--"]);
    words.extend(command);
    let output = place.run("", &words);
    let text = fs::read_to_string(&said).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    assert!(!text.is_empty(), "{output:?}");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn who_touches_pages_has_so_many_faults_in_its_own_memory() {
    require!(require::right_to_trace());
    let faults = |block: &str| {
        let size = format!("bs={block}");
        let command = [
            "/usr/bin/dd",
            "if=/dev/zero",
            "of=/dev/null",
            "count=1",
            &size,
        ];
        let lines = traced(&["-e", "none", "-F", "min"], &command);
        // What the kernel fills for read(2) of /dev/zero: the buffer, and no page of a file.
        let of_buffer = |line: &&String| line.contains("//anon@") && line.ends_with("(dk)");
        lines.iter().filter(of_buffer).count()
    };
    // No huge page has room in one of them. Both buffers have mappings of their own; the first page
    // of one may be written before (the C library's head of it).
    let (few, many) = (faults("512K"), faults("1M"));
    assert_eq!(many - few, (512 << 10) / page_size(), "{few} {many}");
}

/// The signals of a trace, without what only one of the two knows: who sent them, and with which
/// rest.
fn signals(lines: &[String]) -> Vec<String> {
    let told = lines.iter().filter_map(|line| {
        let (_, told) = line
            .split_once("--- SIG")
            .or_else(|| line.split_once("+++ "))?;
        let code = told.split_once("si_code=").map(|(_, code)| code);
        let code = code.and_then(|code| code.split([',', '}']).next());
        let words = if code.is_some() { 1 } else { 3 };
        let word: Vec<&str> = told.split(' ').take(words).collect();
        Some(format!("{} {}", word.join(" "), code.unwrap_or_default()))
    });
    told.collect()
}

#[test]
fn signals_are_those_that_strace_sees_in_its_order() {
    require!(require::right_to_trace());
    require!(require::strace());
    let script = "trap : USR1 CHLD; kill -USR1 $$; sh -c 'kill -TERM $$'; sh -c 'kill -KILL $$'; kill -ABRT $$";
    let ours = traced(
        &["-e", "none", "-e", "signal=all"],
        &["/usr/bin/sh", "-c", script],
    );
    let place = Place::new();
    let said = place.beside("strace");
    let file = said.to_str().expect("a path of letters");
    let strace = [
        "strace",
        "-f",
        "-qq",
        "-e",
        "trace=none",
        "-o",
        file,
        "/usr/bin/sh",
        "-c",
        script,
    ];
    let output = place.run("", &strace);
    let text = fs::read_to_string(&said).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let theirs: Vec<String> = text.lines().map(str::to_owned).collect();
    let not_exits = |told: Vec<String>| -> Vec<String> {
        let kept = told.into_iter().filter(|it| !it.starts_with("exited"));
        kept.map(|it| it.replace(" (core", "")).collect()
    };
    let (ours, theirs) = (not_exits(signals(&ours)), not_exits(signals(&theirs)));
    assert_eq!(ours, theirs);
    assert!(ours.len() >= 6, "{ours:?}");
}
