//! Calls of other ABIs, calls that do not exist, calls that seccomp takes away.

use crate::support::calls::Outcome;
use crate::support::command::Place;
use crate::support::harness::{Syscall, trace};
use crate::support::oracle::{self, Facts};
use crate::support::require::{self, require};

#[test]
fn thirty_two_bit_calls_are_named_by_their_own_table() {
    require!(require::right_to_trace());
    require!(oracle::int80_works());
    let traced = trace(&[&oracle::path(), "int80"]);
    assert_eq!(traced.output.status.code(), Some(oracle::INT80_STATUS));
    // Not a line of facts, but what the 32-bit write itself has printed.
    let facts = Facts::parse(&traced.output.stdout);
    let said = facts.all("call");
    let seen: Vec<&Syscall> = traced
        .calls
        .iter()
        .filter(|call| call.abi.is_some())
        .collect();
    assert_eq!(seen.len(), said.len(), "{seen:?}");
    for (call, fact) in seen.iter().zip(said) {
        assert_eq!(
            (call.abi.as_deref(), call.nr),
            (Some("i386"), fact.number("nr"))
        );
        match (fact.word("name"), fact.word("ret")) {
            ("-", _) => assert_eq!(call.errno.as_deref(), Some("ENOSYS"), "{call:?}"),
            (name, "-") => assert_eq!((call.name.as_str(), call.outcome()), (name, Outcome::Never)),
            (name, _) => {
                assert_eq!(
                    (call.name.as_str(), call.ret),
                    (name, Some(fact.number("ret")))
                );
            }
        }
    }
}

/// Exactly one call of that number, and it does not exist.
fn no_such_call(subcommand: &str) {
    require!(require::right_to_trace());
    let traced = trace(&[&oracle::path(), subcommand]);
    let facts = traced.facts();
    let fact = facts.one("call");
    let calls: Vec<_> = traced
        .calls
        .iter()
        .filter(|call| call.nr == fact.number("nr"))
        .collect();
    let [call] = calls[..] else {
        panic!("one call has the number {}: {calls:?}", fact.number("nr"));
    };
    assert_eq!(call.outcome(), Outcome::Failed("ENOSYS".to_owned()));
}

#[test]
fn a_number_that_no_table_has_keeps_its_number() {
    no_such_call("unknown-number");
}

#[test]
fn the_x32_bit_stays_in_the_number() {
    require!(require::right_to_trace());
    let native = Place::new().run("", &[&oracle::path(), "x32"]);
    if native.status.code() != Some(0)
        || Facts::parse(&native.stdout).one("call").word("errno") != "ENOSYS"
    {
        return require::skip("this architecture or kernel has no x32 numbers, or has them all");
    }
    no_such_call("x32");
}

#[test]
fn a_call_denied_by_seccomp_is_there_although_it_was_never_entered() {
    require!(require::right_to_trace());
    let traced = trace(&[&oracle::path(), "seccomp-errno"]);
    let facts = traced.facts();
    let fact = facts.one("call");
    let calls = traced.thread(fact.id("tid"));
    // seccomp answers before sys_enter fires; there is an exit half only, and it belongs to no call
    // before it.
    let denied = calls.iter().position(|call| call.name == fact.word("name"));
    let denied = denied.expect("the denied call");
    let around: Vec<(&str, Outcome)> = calls[denied - 1..=denied + 1]
        .iter()
        .map(|call| (call.name.as_str(), call.outcome()))
        .collect();
    let tid = fact.number("tid");
    assert_eq!(
        around,
        [
            ("prctl", Outcome::Value(0)),
            ("getpgid", Outcome::Failed("EPERM".to_owned())),
            ("gettid", Outcome::Value(tid)),
        ]
    );
}

#[test]
fn a_call_killed_by_seccomp_has_no_other_calls_result() {
    require!(require::right_to_trace());
    let traced = trace(&[&oracle::path(), "seccomp-kill"]);
    let facts = traced.facts();
    let child = facts.one("child");
    assert_eq!(child.number("status"), 128 + 31, "SIGSYS");
    let calls = traced.thread(child.id("pid"));
    let installed = calls.iter().rposition(|call| call.name == "prctl");
    let after = &calls[installed.expect("the filter") + 1..];
    // No entering half, and an exit half of no meaning at most.
    assert!(
        after.len() <= 1 && after.iter().all(|call| call.name == "getpgid"),
        "{after:?}"
    );
    let installing = calls[installed.expect("the filter")];
    assert_eq!(installing.outcome(), Outcome::Value(0));
}
