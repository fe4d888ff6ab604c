//! perf as a witness: it counts the calls that are entered, from the exec on.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::command::{PATH, Place, clean_command};

/// Names the perf that is the witness, where it is not the machine's own.
const VARIABLE: &str = "HARNESS_PERF";

/// The perf that is the witness.
pub(crate) fn program() -> String {
    env::var(VARIABLE).unwrap_or_else(|_| "perf".to_owned())
}

/// Its version: perf's is the kernel's that it was made from.
pub(crate) fn version() -> (u32, u32) {
    let output = clean_command(&[program().as_str(), "--version"]).output();
    let said = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let said = said.expect("perf starts");
    let numbers = said.trim().strip_prefix("perf version ");
    let mut numbers = numbers.into_iter().flat_map(|numbers| numbers.split('.'));
    let mut next = || numbers.next().and_then(|number| number.parse().ok());
    next()
        .zip(next())
        .unwrap_or_else(|| panic!("no version in `{said}`"))
}

/// The first version with the forms of perf 7.2. Where exactly each of them came in does not matter
/// to who has 6.1 and 7.2.
pub(crate) const NEW: (u32, u32) = (7, 0);

/// What is counted.
pub(crate) const EVENT: &str = "raw_syscalls:sys_enter";

/// The words after `unshare` that mount tracefs for the command alone, so that the machine stays as
/// it is.
pub(crate) const WITH_TRACEFS: [&str; 5] = [
    "--mount",
    "sh",
    "-c",
    "{ test -d /sys/kernel/tracing/events || mount -t tracefs nodev /sys/kernel/tracing; } && exec \"$@\"",
    "sh",
];

/// How many calls the command and its descendants entered.
pub(crate) fn count(place: &Place, prepare: &str, command: &[&str]) -> u64 {
    count_of(EVENT, place, prepare, command)
}

/// How often the event fired for the command and its descendants.
pub(crate) fn count_of(event: &str, place: &Place, prepare: &str, command: &[&str]) -> u64 {
    count_within(&[], event, place, prepare, command)
}

/// The same of a perf that these words start.
pub(crate) fn count_within(
    before: &[&str],
    event: &str,
    place: &Place,
    prepare: &str,
    command: &[&str],
) -> u64 {
    let file = place.beside("perf");
    let file = file.to_str().expect("a path of letters");
    let perf = program();
    let stat = [&perf, "stat", "-x", ",", "-o", file, "-e", event, "--"];
    let mut words = before.to_vec();
    words.push("unshare");
    words.extend(WITH_TRACEFS.iter().chain(&stat).chain(command));
    let output = place.run(prepare, &words);
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    count_in(&text, event)
}

/// How many events of one name there were, by what `perf stat -x ,` writes.
pub(crate) fn count_in(text: &str, event: &str) -> u64 {
    let line = text.lines().find(|line| line.contains(event));
    let count = line.and_then(|line| line.split(',').next());
    count
        .and_then(|count| count.parse().ok())
        .unwrap_or_else(|| panic!("no count of {event} in `{text}`"))
}

/// What perf records of a command, in a file or as a pipe's stream in one; and what it said.
pub(crate) fn recorded(
    place: &Place,
    options: &str,
    command: &str,
    is_pipe: bool,
) -> (PathBuf, Output) {
    let file = place.beside("perf.data");
    let path = file.to_str().expect("a path of letters");
    let perf = program();
    let record = if is_pipe {
        format!("{perf} record -q -o - {options} -- {command} > {path}")
    } else {
        format!("{perf} record -q -o {path} {options} -- {command}")
    };
    let mut words = vec!["unshare"];
    words.extend(WITH_TRACEFS.iter().chain(&["sh", "-c", &record]));
    let output = place.run("", &words);
    (file, output)
}

/// What perf says of a file on one of its ways to read it; it has nothing to say on standard error.
pub(crate) fn said_of(words: &[&str], file: &Path) -> String {
    let mut command = Command::new(program());
    command.args(words).arg("-i").arg(file);
    command.env("PATH", PATH).env("HOME", "/nonexistent");
    let output = command.output().expect("perf starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "perf {words:?}: {said}");
    assert_eq!(said, "", "perf {words:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Of each line, whether it is no addition that is wrong. On arm64 perf adds the caller that the
/// link register has, less 1, where the innermost function may keep no frame
/// (`get_leaf_frame_caller_aarch64()`). It does so too where the function's frame has it, so that
/// it stands there twice; and, in a file whose tables it does not read, where the function has made
/// a call of its own: then it calls itself from behind that.
pub(crate) fn are_callers(text: &str) -> Vec<bool> {
    let place = |line: &str| {
        let (address, function) = line.strip_prefix('\t')?.trim().split_once(' ')?;
        let address = u64::from_str_radix(address, 16).ok()?;
        Some((address, function.to_owned()))
    };
    let places: Vec<_> = text.lines().map(place).collect();
    let is_caller = |at: usize| {
        let before = at.checked_sub(1).and_then(|it| places[it].as_ref());
        let (Some((address, function)), Some(leaf)) = (&places[at], before) else {
            return true;
        };
        let next = places.get(at + 1).and_then(Option::as_ref);
        let is_double = next.is_some_and(|(next, _)| address + 1 == *next);
        let is_itself = function == &leaf.1 && function != "[unknown]";
        address % 4 != 3 || !(is_double || is_itself)
    };
    (0..places.len()).map(is_caller).collect()
}

#[test]
fn what_perf_adds_twice_or_to_itself_is_no_caller() {
    let text = "a 1\n\t 1000 f\n\t 2353 g\n\t 2354 g\n\t 3554 main\n\n\
        b 2\n\t 1000 f\n\t 2353 g\n\t 3554 main\n\n\
        c 3\n\t 1000 f\n\t 1073 f\n\t 3554 main\n\n\
        d 4\n\t 1000 [unknown]\n\t 1073 [unknown]\n\t 1100 f\n\t 1080 f\n";
    let kept: Vec<&str> = text.lines().collect();
    let kept = kept.iter().zip(are_callers(text));
    let gone: Vec<&str> = kept.filter(|it| !it.1).map(|(line, _)| *line).collect();
    assert_eq!(gone, ["\t 2353 g", "\t 1073 f"]);
}
