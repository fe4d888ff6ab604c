//! As many calls as `perf stat -e raw_syscalls:sys_enter` counts for the same program.
//!
//! perf enables its counter in the exec, as the program under test does: the entering half of the
//! first `execve` is in neither's view. The counter counts entering halves, so the lines that have
//! none are left out here: that first `execve`, and the return of a `clone` in the child. perf puts
//! a folder of its own at the head of `PATH`; programs are executed by their path, so that none
//! looks itself up there.

use super::support::command::Place;
use super::support::require::{self, require};
use super::support::{harness, oracle, perf};

fn check(prepare: &str, command: &[&str]) {
    require!(require::right_to_trace());
    require!(require::perf());
    let (name, arguments) = command.split_first().expect("a command");
    let program = require!(require::program(name));
    let mut command = vec![program.to_str().expect("a path of letters")];
    command.extend(arguments);
    let place = Place::new();
    let witness = perf::count(&place, prepare, &command);
    for source in harness::SOURCES {
        let traced = harness::trace_by(source, &place, prepare, &command);
        has_as_many(&traced, witness, &command);
    }
}

fn has_as_many(traced: &harness::Traced, witness: u64, command: &[&str]) {
    let after_execve = traced.calls.iter().skip(1);
    let entered = after_execve
        .filter(|call| !call.call().is_return_in_child())
        .count();
    assert_eq!(
        u64::try_from(entered),
        Ok(witness),
        "{command:?}: harness (left), perf (right)"
    );
    assert_eq!(
        u64::try_from(traced.calls.len()),
        Ok(traced.summary.events),
        "{command:?}"
    );
    assert_eq!(traced.summary.lost, 0, "{command:?}");
}

#[test]
fn a_program_that_does_nothing() {
    check("", &["true"]);
}

#[test]
fn reading_files() {
    check("", &["cat", "a.txt", "sub/deeper/d.txt"]);
}

#[test]
fn walking_a_tree() {
    check("", &["find", "."]);
}

#[test]
fn searching_a_tree() {
    check("", &["grep", "-r", "needle", "."]);
}

#[test]
fn a_python_program() {
    check(
        "",
        &["python3", "-I", "-S", "-B", "-c", "print(sum(range(10)))"],
    );
}

#[test]
fn a_flood_of_calls() {
    check("", &[&oracle::path(), "flood", "50000"]);
}

#[test]
fn children_one_after_the_other() {
    check("", &[&oracle::path(), "many-forks", "50"]);
}

#[test]
fn a_tree_of_processes() {
    check("", &[&oracle::path(), "fork-tree"]);
}

#[test]
fn a_program_that_executes_itself() {
    check("", &[&oracle::path(), "exec-self", "10"]);
}
