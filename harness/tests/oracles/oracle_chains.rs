//! Call chains: a program of known structure shows exactly it, and of recordings `harness script`
//! names the functions that `perf script` names.
//!
//! Three things that perf does are not compared. Where debug information calls a function otherwise
//! than its symbol, perf 6.1 says that the one is inlined into the other: so both are asked without
//! inlined functions. perf 7.2 takes any name for one that is encoded (`f` is `float`): the
//! functions here have longer names. A version that the linker wrote behind a name (`@@GLIBC_2.34`)
//! is no part of it.

use std::path::Path;
use std::process::{Command, Output};

use super::support::command::{PATH, Place};
use super::support::compiler::compiled;
use super::support::perf::{self, recorded};
use super::support::require::{self, require};

const HARNESS: &str = env!("CARGO_BIN_EXE_harness");

/// `main` calls `outermost`, which calls `middle`, into which `inlined` is put, which calls
/// `innermost`, which calls `fsync`.
const PROGRAM: &str = r#"
#include <fcntl.h>
#include <unistd.h>
__attribute__((noinline)) int innermost(int fd) { int r = fsync(fd); __asm__ volatile(""); return r + 1; }
static inline __attribute__((always_inline)) int inlined(int fd) { int r = innermost(fd); __asm__ volatile(""); return r * 2; }
__attribute__((noinline)) int middle(int fd) { int r = inlined(fd); __asm__ volatile(""); return r + 2; }
__attribute__((noinline)) int outermost(int fd) { int r = middle(fd); __asm__ volatile(""); return r + 3; }
int main(void) { int fd = open("file", O_CREAT | O_RDWR, 0600); int r = outermost(fd); __asm__ volatile(""); return r != 5; }
"#;

/// The same in C++, where names are encoded.
const PLUS_PLUS: &str = r#"
#include <unistd.h>
namespace outer { template <typename T> struct Saver {
  __attribute__((noinline)) int save(T fd) { int r = fsync(fd); __asm__ volatile(""); return r + 1; } }; }
__attribute__((noinline)) int descend(int fd) { outer::Saver<long> s; int r = s.save(fd); __asm__ volatile(""); return r; }
int main() { int r = descend(1); __asm__ volatile(""); return r == 77; }
"#;

fn harness(words: &[&str]) -> Output {
    let output = Command::new(HARNESS)
        .args(words)
        .current_dir(std::env::temp_dir())
        .env("PATH", PATH)
        .output();
    output.expect("harness starts")
}

/// The names in the chain of the only call.
fn names(text: &str) -> Vec<String> {
    let frames = text.lines().filter(|line| line.starts_with("          "));
    let words = frames.filter_map(|line| line.split_whitespace().next());
    // A place without a name is another in each run.
    let name = |word: &str| {
        if word.starts_with("[0x") {
            "[]".to_owned()
        } else {
            word.to_owned()
        }
    };
    words.map(name).collect()
}

#[test]
fn a_copy_of_the_stack_shows_exactly_the_functions_that_led_to_a_call() {
    require!(require::right_to_trace());
    let place = Place::new();
    let program = require!(compiled(&place, "chain.c", &["-O2", "-g"], PROGRAM));
    let output = harness(&["trace", "-e", "fsync", "--call-graph", "dwarf", &program]);
    let text = String::from_utf8_lossy(&output.stderr);
    let names = names(&text);
    assert!(names[0].contains("fsync"), "{text}");
    let own = ["innermost", "inlined", "middle", "outermost", "main"];
    assert_eq!(names[1..6], own, "{text}");
    assert_eq!(names.last().map(String::as_str), Some("_start"), "{text}");
    assert!(text.contains(" inlined (inlined)\n"), "{text}");
    let saved = place.beside("saved.data");
    let saved = saved.to_str().expect("a path of letters");
    harness(&["trace", "-e", "fsync", "-k", "--save", saved, &program]);
    let replayed = harness(&["trace", "-i", saved]);
    let again = String::from_utf8_lossy(&replayed.stdout);
    assert_eq!(self::names(&again), names, "{again}");
}

#[test]
fn a_call_or_event_has_the_chain_that_its_terms_say() {
    require!(require::right_to_trace());
    let place = Place::new();
    let program = require!(compiled(
        &place,
        "chain.c",
        &["-O2", "-g", "-fno-omit-frame-pointer"],
        PROGRAM
    ));
    let events = "fsync/call-graph=fp/,openat,sched:sched_process_exit/max-stack=4/";
    let output = harness(&["trace", "--format", "json", "-e", events, &program]);
    let text = String::from_utf8_lossy(&output.stderr);
    let line = |word: &str| {
        let found = text.lines().find(|line| line.contains(word));
        found.unwrap_or_else(|| panic!("no {word}: {text}"))
    };
    assert!(!line("\"name\":\"openat\"").contains("callchain"), "{text}");
    let fsync = line("\"name\":\"fsync\"");
    // The function of the C library has no frame, so that its caller is not found by it.
    for name in ["middle", "outermost", "main"] {
        assert!(fsync.contains(&format!("\"sym\":\"{name}\"")), "{fsync}");
    }
    assert!(!fsync.contains("\"kernel\":true"), "{fsync}");
    let exit = line("sched:sched_process_exit");
    assert!(exit.contains("\"sym\":\"do_exit\""), "{exit}");
    assert_eq!(exit.matches("\"kernel\":true").count(), 4, "{exit}");
}

#[test]
fn a_field_that_is_a_function_of_the_kernel_has_its_name() {
    require!(require::right_to_trace());
    let output = harness(&["trace", "-e", "timer:hrtimer_start", "sleep", "0.01"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains(" function=hrtimer_wakeup "), "{text}");
    let words = [
        "trace",
        "--format",
        "json",
        "-e",
        "timer:hrtimer_start",
        "sleep",
        "0.01",
    ];
    let output = harness(&words);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains(",\"symbol\":\"hrtimer_wakeup\"}"), "{text}");
}

/// The functions of each sample, as one of the two says them.
fn said(program: &str, file: &Path) -> Vec<Vec<String>> {
    let output = Command::new(program)
        .args(["script", "--no-inline", "-F", "comm,ip,sym", "-i"])
        .arg(file)
        .env("PATH", PATH)
        .env("HOME", "/nonexistent")
        .output()
        .expect("a program that starts");
    assert!(output.status.success(), "{program}: {output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    let mut samples: Vec<Vec<String>> = Vec::new();
    for line in text.lines() {
        match line.strip_prefix('\t') {
            Some(frame) => {
                let name = frame
                    .trim_start()
                    .split_once(' ')
                    .map_or("", |(_, name)| name);
                let bare = name.split_once('@').map_or(name, |(bare, _)| bare);
                // perf 7.2 shows parameters, 6.1 does not.
                let bare = bare.split_once('(').map_or(bare, |(bare, _)| bare);
                samples
                    .last_mut()
                    .expect("a sample")
                    .push(bare.trim().to_owned());
            }
            None if line.trim().is_empty() => {}
            None => samples.push(vec![line.trim().to_owned()]),
        }
    }
    samples
}

/// Compares the functions of all samples of a file.
fn agree(file: &Path) {
    let theirs = said(&perf::program(), file);
    let ours = said(HARNESS, file);
    assert!(!ours.is_empty() && ours.iter().any(|frames| frames.len() > 1));
    for (number, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        assert_eq!(ours, theirs, "sample {number}");
    }
    assert_eq!(ours.len(), theirs.len());
}

#[test]
fn functions_of_perfs_files_are_those_that_perf_names() {
    require!(require::right_to_trace());
    require!(require::program(&perf::program()));
    let place = Place::new();
    let plus_plus = require!(compiled(&place, "chains.cc", &["-O2", "-g"], PLUS_PLUS));
    for (options, command) in [
        ("-e sched:sched_switch -g", "sleep 0.01"),
        (
            "-e syscalls:sys_enter_fsync --call-graph dwarf",
            plus_plus.as_str(),
        ),
        (
            "-e syscalls:sys_enter_openat --call-graph dwarf",
            "perl -e 'open F, q(/etc/passwd)'",
        ),
        (
            "-e syscalls:sys_enter_write --call-graph dwarf",
            "sort /etc/passwd",
        ),
    ] {
        let (file, output) = recorded(&place, options, command, false);
        assert!(file.exists(), "{output:?}");
        agree(&file);
    }
}

#[test]
fn functions_of_our_files_are_those_that_perf_names() {
    require!(require::right_to_trace());
    require!(require::program(&perf::program()));
    let place = Place::new();
    let file = place.beside("ours.data");
    let path = file.to_str().expect("a path of letters");
    // Not where a task is taken off its CPU: amid an exec perf names the old program's `execve` by
    // mappings that are gone, and stubs (`@plt`) by names that it makes up; and in the midst of a
    // function a chain by frame pointers may stop.
    for (graph, event) in [
        ("fp", "syscalls:sys_enter_wait4"),
        ("dwarf", "syscalls:sys_enter_wait4"),
        ("dwarf,16384", "syscalls:sys_enter_wait4"),
    ] {
        let words = ["record", "--call-graph", graph, "-e", event, "-o", path];
        let output =
            harness(&[&words[..], &["--", "perl", "-e", "sleep 0; system q(true)"]].concat());
        assert!(output.status.success(), "{output:?}");
        agree(&file);
    }
}

/// At the entries of calls, in the midst of the kernel and amid an exec.
#[test]
fn at_every_sample_of_a_run_what_we_name_is_what_perf_names() {
    require!(require::right_to_trace());
    require!(require::program(&perf::program()));
    let place = Place::new();
    let file = place.beside("ours.data");
    let path = file.to_str().expect("a path of letters");
    let events = "raw_syscalls:sys_enter,sched:sched_switch,page-faults/period=1/";
    let words = ["record", "-g", "-e", events, "-o", path, "--"];
    let output = harness(&[&words[..], &["sh", "-c", "/bin/true; /bin/true"]].concat());
    assert!(output.status.success(), "{output:?}");
    let (ours, theirs) = (said(HARNESS, &file), said(&perf::program(), &file));
    assert_eq!(ours.len(), theirs.len());
    let mut n_named = 0;
    for (number, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        assert_eq!(
            ours.len(),
            theirs.len(),
            "sample {number}: {ours:?} {theirs:?}"
        );
        for (our, their) in ours
            .iter()
            .zip(theirs)
            .filter(|(our, _)| *our != "[unknown]")
        {
            assert_eq!(our, their, "sample {number}");
            n_named += 1;
        }
    }
    assert!(n_named > ours.len(), "{n_named} names");
}
