//! Calls that signals interrupt.

use crate::support::calls::Outcome;
use crate::support::harness::{Syscall, Traced, trace};
use crate::support::oracle::{self, Fact};
use crate::support::require::{self, require};

/// The workload's own words about a case, and the thread's calls from the interrupted one on.
fn interrupted<'a>(traced: &'a Traced, fact: &Fact) -> Vec<&'a Syscall> {
    let calls = traced.thread(fact.id("tid"));
    let outcomes = calls.iter().position(|call| match call.outcome() {
        Outcome::Interrupted(_) => true,
        Outcome::Failed(error) => error == "EINTR",
        Outcome::Value(_) | Outcome::Never => false,
    });
    let first = outcomes.unwrap_or_else(|| panic!("nothing was interrupted: {calls:?}"));
    calls[first..].to_vec()
}

fn described(calls: &[&Syscall]) -> Vec<String> {
    let describe = |call: &&Syscall| match call.name.as_str() {
        // Its value is that of a register which it restores.
        "rt_sigreturn" => call.name.clone(),
        "write" | "gettid" => call.name.clone(),
        name => format!("{name} = {}", call.outcome()),
    };
    calls.iter().map(describe).collect()
}

fn check(case: &str, expected: &[&str]) {
    require!(require::right_to_trace());
    let traced = trace(&[&oracle::path(), "restart"]);
    let facts = traced.facts();
    let facts = facts.all("restart");
    let fact = facts.iter().find(|fact| fact.word("case") == case);
    let fact = fact.unwrap_or_else(|| panic!("the workload has no case `{case}`"));
    let calls = described(&interrupted(&traced, fact));
    assert_eq!(calls, expected, "{fact:?}");
}

#[test]
fn a_restarted_read_is_two_calls_and_only_the_second_has_a_result() {
    check(
        "read-restarted",
        &[
            "read = ? ERESTARTSYS",
            "write",
            "rt_sigreturn",
            "read = 1",
            "gettid",
            "write",
            "exit_group = ?",
        ],
    );
}

#[test]
fn a_read_that_is_not_restarted_fails_with_what_the_program_sees() {
    check(
        "read-interrupted",
        &[
            "read = -1 EINTR",
            "write",
            "rt_sigreturn",
            "gettid",
            "write",
            "exit_group = ?",
        ],
    );
}

#[test]
fn a_stopped_sleep_goes_on_in_restart_syscall() {
    check(
        "sleep-stopped",
        &[
            "nanosleep = ? ERESTART_RESTARTBLOCK",
            "restart_syscall = -1 EINTR",
            "rt_sigreturn",
            "gettid",
            "write",
            "exit_group = ?",
        ],
    );
}

#[test]
fn every_return_from_a_handler_is_a_call_of_its_own() {
    require!(require::right_to_trace());
    let traced = trace(&[&oracle::path(), "sigreturn", "7"]);
    let facts = traced.facts();
    let fact = facts.one("sigreturn");
    // The exit half of rt_sigreturn carries the number -1, as the frame it restores says that no
    // call is going on.
    assert_eq!(
        traced.successes(fact.id("tid"), "kill"),
        fact.number("count")
    );
    assert_eq!(
        traced.successes(fact.id("tid"), "rt_sigreturn"),
        fact.number("count")
    );
    let numbers: Vec<i64> = traced.calls.iter().map(|call| call.nr).collect();
    assert!(!numbers.contains(&-1), "{numbers:?}");
}
