//! Calls that a filter of the program's own answers or refuses, against a text written by hand and
//! against strace, by both gates.

use super::support::command::Place;
use super::support::compiler::compiled;
use super::support::require::{self, require};

const HARNESS: &str = env!("CARGO_BIN_EXE_harness");

/// A program that installs a filter and makes the call that it is about.
const FILTERED: &str = include_str!("../attacks/programs/filtered.c");

/// `socket` of x86_64 and of i386, and what stands in front of it in a trace.
const GATES: [(&str, &[&str], &str); 2] = [("41", &[], ""), ("359", &["i386"], "[i386] ")];

/// The text behind the thread's id, where `NR` is the call's number; and the result that strace
/// tells, where it tells one.
const CASES: [(&str, &str, &str); 11] = [
    (
        "errno",
        "socket(?) = -1 EPERM (Operation not permitted)",
        "-1 EPERM",
    ),
    ("trap", "socket(?) = ? SIGSYS", "NR"),
    (
        "trace",
        "socket(?) = -1 ENOSYS (Function not implemented)",
        "-1 ENOSYS",
    ),
    ("thread", "socket(?) = ? SIGSYS", "NR"),
    ("process", "socket(?) = ? SIGSYS", "NR"),
    ("log", "socket(AF_UNIX, SOCK_STREAM, 0) = 3<unix:1>", "3"),
    ("notify5", "socket(?) = 5<?>", "5"),
    (
        "notify-13",
        "socket(?) = -1 EACCES (Permission denied)",
        "-1 EACCES",
    ),
    ("notifyNR", "socket(?) = NR<?>", "NR"),
    ("add", "socket(?) = 4<?>", "4"),
    (
        "continue",
        "socket(AF_UNIX, SOCK_STREAM, 0) = 4<unix:1>",
        "4",
    ),
];

/// The lines about `socket` in what a tracer wrote.
fn sockets(text: &str) -> Vec<&str> {
    text.lines()
        .filter(|line| line.contains("socket("))
        .collect()
}

fn by_harness(place: &Place, program: &[&str]) -> String {
    let file = place.beside("trace");
    let file = file.to_str().expect("a path of letters");
    let words = [
        &[HARNESS, "trace", "-e", "socket", "-o", file, "--"],
        program,
    ]
    .concat();
    let output = place.run("", &words);
    let text = std::fs::read_to_string(file);
    text.unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// What strace wrote.
fn by_strace(place: &Place, program: &[&str]) -> String {
    let file = place.beside("strace");
    let file = file.to_str().expect("a path of letters");
    let words = [&["strace", "-f", "-e", "trace=socket", "-o", file], program].concat();
    place.run("", &words);
    std::fs::read_to_string(file).expect("what strace wrote")
}

#[test]
fn a_call_that_a_filter_answers_or_refuses_is_what_became_of_it() {
    require!(require::right_to_trace());
    if cfg!(not(target_arch = "x86_64")) {
        return require::skip("the gate of 32-bit calls is x86's");
    }
    let place = Place::new();
    let program = compiled(
        &place,
        "filtered.c",
        &["-O1", "-static", "-pthread"],
        FILTERED,
    );
    let program = match program {
        Ok(program) => program,
        Err(reason) => return require::skip(&reason),
    };
    let has_strace = require::strace().is_ok();
    for (number, gate, mark) in GATES {
        for (how, text, result) in CASES {
            let how = how.replace("NR", number);
            let words = [&[program.as_str(), &how, number], gate].concat();
            let trace = by_harness(&place, &words);
            let lines = sockets(&trace);
            let expected = format!("{mark}{}", text.replace("NR", number));
            let [line] = lines[..] else {
                panic!("{how}: {lines:?} in {trace}");
            };
            let (_, line) = line.split_once(' ').expect("an id");
            assert_eq!(line, expected, "{how} by {number}");
            if has_strace {
                let seen = by_strace(&place, &words);
                let wanted = format!(" = {}", result.replace("NR", number));
                let lines: Vec<&str> = seen.lines().collect();
                let is_told = lines
                    .iter()
                    .any(|line| line.contains("socket") && line.contains(&wanted));
                assert!(is_told, "{how} by {number}: {wanted} in {seen}");
            }
        }
    }
}
