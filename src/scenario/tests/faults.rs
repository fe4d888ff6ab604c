//! Faults: what they say, and what is no fault.

use super::read_text;
use crate::scenario::{FaultSpec, Per, When};
use perf_records::units::Nanos;
use syscall_model::{Answer, Injected};

fn faults(text: &str) -> Result<Vec<FaultSpec>, (String, usize)> {
    let text = format!("description: d\nworkload: {{ run: [ls] }}\nfaults:\n  - {text}\n");
    let scenario = read_text(&text).map_err(|complaint| (complaint.message, complaint.column))?;
    Ok(scenario.faults)
}

fn when(text: &str) -> Vec<u64> {
    let text = format!("fsync: {{ when: {text}, error: EIO }}");
    let when = faults(&text).expect("a fault").remove(0).when;
    (1..=9).filter(|number| when.has(*number)).collect()
}

#[test]
fn when_says_which_of_many_calls_are_meant() {
    assert_eq!(when("2"), [2]);
    assert_eq!(when("\"7..\""), [7, 8, 9]);
    assert_eq!(when("\"2..=4\""), [2, 3, 4]);
    assert_eq!(when("\"2..+3\""), [2, 5, 8]);
    assert!((1..=9).all(|number| When::default().has(number)));
}

#[test]
fn a_fault_has_one_action_and_the_fields_of_its_call() {
    let fault = faults("openat: { path: a, per: process, error: ENOSPC }");
    let fault = fault.expect("a fault").remove(0);
    assert_eq!(fault.injected.answer, Some(Answer::Error(28)));
    assert_eq!(fault.per, Per::Process);
    assert_eq!(fault.step.fields.len(), 1);
    let signal = faults("fsync: { signal: SIGTERM }")
        .expect("a fault")
        .remove(0);
    let expected = Injected {
        signal: Some(15),
        ..Injected::default()
    };
    assert_eq!(signal.injected, expected);
}

#[test]
fn a_delay_stands_beside_an_answer_and_may_lie_behind_it() {
    for (text, nanos) in [
        ("fsync: { error: EIO, delay: 2ms }", 2_000_000),
        ("fsync: { error: EIO, delay: { after: 2ms } }", 2_000_000),
        (
            "fsync: { returns: 0, delay: { before: 1ms, after: 2ms } }",
            3_000_000,
        ),
        (
            "fsync: { signal: SIGTERM, delay: { before: 1ms } }",
            1_000_000,
        ),
    ] {
        let fault = faults(text).expect(text).remove(0);
        assert_eq!(fault.injected.delay, Some(Nanos(nanos)), "{text}");
        assert!(fault.injected.answer.is_some() || fault.injected.signal.is_some());
    }
}

#[test]
fn a_delay_behind_a_call_has_it_made_for_its_thread() {
    for (text, answer, before) in [
        ("fsync: { delay: { after: 2ms } }", Answer::Whole, None),
        (
            "read: { short: 4, delay: { before: 1ms, after: 2ms } }",
            Answer::Short(4),
            Some(Nanos(1_000_000)),
        ),
    ] {
        let Injected {
            answer: found,
            delay,
            late,
            ..
        } = faults(text).expect(text).remove(0).injected;
        assert_eq!((found, delay), (Some(answer), before), "{text}");
        assert_eq!(late, Some(Nanos(2_000_000)), "{text}");
    }
}

#[test]
fn an_error_may_come_with_a_signal_in_either_order() {
    for text in [
        "write: { error: EPIPE, signal: SIGPIPE }",
        "write: { signal: SIGPIPE, error: EPIPE, delay: { after: 1s } }",
    ] {
        let fault = faults(text).expect(text).remove(0);
        let injected = fault.injected;
        assert_eq!(injected.answer, Some(Answer::Error(libc::EPIPE)), "{text}");
        assert_eq!(injected.signal, Some(libc::SIGPIPE), "{text}");
    }
}

#[test]
fn a_block_names_the_call_that_must_come() {
    for until in ["fsync", "{ fsync: { fd: b } }"] {
        let text = format!("rename: {{ from: a, block: {{ until: {until} }} }}");
        let fault = faults(&text).expect(until).remove(0);
        assert!(fault.injected.is_blocked && fault.injected.delay.is_none());
        assert_eq!(fault.until.map(|it| it.event).as_deref(), Some("fsync"));
        assert_eq!(fault.step.fields.len(), 1);
    }
}

#[test]
fn what_is_no_fault_is_refused_where_it_stands() {
    for (text, said) in [
        ("fsync", "mapping"),
        ("fsync: {}", "a fault needs one of"),
        ("fsync: { error: EIO, returns: 0 }", "not several"),
        ("write: { returns: 0, signal: SIGPIPE }", "not several"),
        ("write: { short: 1, signal: SIGPIPE }", "not several"),
        (
            "write: { error: EPIPE, signal: SIGPIPE, returns: 0 }",
            "not several",
        ),
        ("fsync: { error: EFOO }", "unknown error `EFOO`"),
        ("fsync: { error: ERESTARTSYS }", "the kernel's own"),
        ("fsync: { returns: -5 }", "is an error"),
        ("fsync: { when: 0, error: EIO }", "counted from 1"),
        (
            "fsync: { when: \"3..=2\", error: EIO }",
            "no call is in this range",
        ),
        ("fsync: { when: \"1..+0\", error: EIO }", "larger than zero"),
        ("write: { short: 0 }", "one byte at least"),
        (
            "fsync: { signal: SIGUSR1, delay: { after: 1s } }",
            "`after` holds a return",
        ),
        (
            "fsync: { block: { until: fsync }, delay: { after: 1s } }",
            "not both",
        ),
        ("fsync: { delay: { behind: 1s } }", "unknown key `behind`"),
        ("fsync: { delay: {} }", "a delay is"),
        ("fsync: { block: fsync }", "a mapping with a call"),
        (
            "fsync: { block: { until: { fsync: { fd: $fd } } } }",
            "no captures",
        ),
        ("fsync: { block: { until: fsync }, delay: 1s }", "not both"),
        (
            "fsync: { block: { until: fsync }, error: EIO }",
            "not several",
        ),
        ("fsync: { fd: $fd, error: EIO }", "no captures"),
        (
            "{ fsync: { error: EIO }, close: { error: EIO } }",
            "one call",
        ),
    ] {
        let (message, column) = faults(text).expect_err(text);
        assert!(message.contains(said), "{text}: {message}");
        assert!(column >= 3, "{text}: {column}");
    }
}
