//! What is submitted to an io_uring is seen, though no call says it.

use perf_live::host::{Catalogue, Host};

use crate::support::command::Place;
use crate::support::harness::{Traced, trace, trace_in};
use crate::support::require::{self, require};
use crate::support::{oracle, perf};

/// The operations that the workload submits, and their flags, in order.
const SUBMITTED: [(&str, &str); 8] = [
    ("OPENAT", "0"),
    ("WRITE", "0"),
    ("FSYNC", "0"),
    ("READ", "0"),
    ("CLOSE", "0"),
    ("NOP", "IOSQE_IO_LINK"),
    ("NOP", "IOSQE_IO_LINK"),
    ("NOP", "0"),
];

/// Whether the workload may set up a ring here.
fn io_uring() -> Result<(), String> {
    let switch = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled");
    match switch.as_deref().map(str::trim) {
        Ok("2") => Err("kernel.io_uring_disabled forbids io_uring".to_owned()),
        _ => Ok(()),
    }
}

/// The trace holds exactly what the workload said that it submitted, in that order.
fn expect_all(traced: &Traced) {
    let facts = traced.facts();
    assert_eq!(facts.one("read").word("same"), "true");
    let said: Vec<(String, i64)> = facts
        .all("submit")
        .iter()
        .map(|fact| (fact.word("name").to_owned(), fact.number("user_data")))
        .collect();
    let names: Vec<&str> = said.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, SUBMITTED.map(|(name, _)| name));
    let seen = traced.submissions.iter().map(|event| {
        let name = event.name.trim_start_matches("io_uring:IORING_OP_");
        let user_data = i64::try_from(event.fields.user_data).expect("a small number");
        (name.to_owned(), user_data)
    });
    assert_eq!(seen.collect::<Vec<_>>(), said);
    let flags = traced.submissions.iter().map(|event| &event.fields.flags);
    assert_eq!(
        flags.collect::<Vec<_>>(),
        SUBMITTED.map(|(_, flags)| flags).each_ref()
    );
    assert!(!traced.calls.iter().any(|call| call.name == "fsync"));
}

#[test]
fn submissions_stand_inside_the_call_that_makes_them() {
    require!(require::right_to_trace());
    require!(io_uring());
    let traced = trace(&[&oracle::path(), "io-uring"]);
    expect_all(&traced);
    let main = traced.trace().root;
    let enters = traced.thread(main);
    let enters: Vec<_> = enters
        .iter()
        .filter(|call| call.name == "io_uring_enter")
        .collect();
    for submission in &traced.submissions {
        assert_eq!((submission.pid, submission.tid), (main, main));
        assert_eq!(submission.fields.sq_thread, 0);
        let inside = enters.iter().filter(|call| {
            let end = call.time_ns + call.duration_ns.expect("it came back");
            (call.time_ns..end).contains(&submission.time_ns)
        });
        assert_eq!(inside.count(), 1, "{submission:?} in {enters:?}");
    }
    let submitted: i64 = enters.iter().filter_map(|call| call.ret).sum();
    assert_eq!(usize::try_from(submitted), Ok(traced.submissions.len()));
}

#[test]
fn submissions_that_a_thread_of_the_kernel_takes_stand_under_that_thread() {
    require!(require::right_to_trace());
    require!(io_uring());
    let traced = trace(&[&oracle::path(), "io-uring-polled"]);
    expect_all(&traced);
    let main = traced.trace().root;
    for submission in &traced.submissions {
        assert_eq!((submission.pid, submission.fields.sq_thread), (main, 1));
        assert_ne!(submission.tid, main);
    }
}

#[test]
fn as_many_submissions_as_perf_counts() {
    require!(require::right_to_trace());
    require!(require::perf());
    require!(io_uring());
    let place = Place::new();
    let command = [&*oracle::path(), "io-uring"];
    let events = Host::running().events("io_uring").expect("tracefs");
    let event = events
        .iter()
        .find(|name| name.starts_with("io_uring_submit_"));
    let event = format!("io_uring:{}", event.expect("the tracepoint"));
    let counted = perf::count_of(&event, &place, "", &command);
    assert_eq!(counted, SUBMITTED.len() as u64);
    let traced = trace_in(&place, "", &command);
    assert_eq!(traced.submissions.len() as u64, counted);
    assert_eq!(traced.summary.lost, 0);
}
