//! Which faults are refused, and where they are.

use super::{Resolved, complaint, resolved};
use crate::plan::{FaultPlan, is_guarded};
use crate::scenario::When;
use std::collections::BTreeSet;
use syscall_model::Injected;

/// The fault stands on line 5, with an `@` in front of what is refused.
#[track_caller]
fn refused(fault: &str, message: &str) {
    let line = format!("  - {fault}");
    let column = line.find('@').expect("a place") + 1;
    let text = format!(
        "description: d\nworkload: {{ run: [a] }}\n\
         trace: {{ events: [{{ syscalls: [rename, fsync, write] }}] }}\nfaults:\n{}\n",
        line.replacen('@', "", 1)
    );
    assert_eq!(complaint(&text), (5, column, message.to_owned()), "{fault}");
}

#[test]
fn what_is_not_known_while_a_call_is_held_decides_no_fault() {
    let process = "`process` decides no fault: of all processes only the first, `P1`, is known by its \
                   number while it is held";
    for test in ["P2", "{ not: P2 }", "[P1, P2]", "{ prefix: P }"] {
        refused(
            &format!("fsync: {{ @process: {test}, error: EIO }}"),
            process,
        );
    }
}

#[test]
fn functions_that_led_to_a_held_call_need_no_record_and_are_asked_for_where_a_fault_names_them() {
    let asks = |fault: &str| {
        let text = format!(
            "description: d\nworkload: {{ run: [a] }}\n\
             trace: {{ events: [{{ syscalls: [rename, fsync] }}] }}\nfaults:\n  - {fault}\n"
        );
        match resolved(&text) {
            Ok(Resolved::Plan(plan)) => plan.asks_callers(),
            other => panic!("{other:?}"),
        }
    };
    assert!(asks("fsync: { stack: [flush, main], error: EIO }"));
    assert!(asks("fsync: { from: flush, error: EIO }"));
    assert!(asks("rename: { stack: flush, error: EIO }"));
    assert!(asks(
        "rename: { block: { until: { fsync: { stack: flush } } } }"
    ));
    // It is a path of this call.
    assert!(!asks("rename: { from: flush, error: EIO }"));
    assert!(!asks("fsync: { error: EIO }"));
}

#[test]
fn a_call_that_is_waited_for_is_one_that_can_come() {
    refused(
        "rename: { block: { until: @openat } }",
        "`openat` is not among the events of this scenario, so it can never occur",
    );
    refused(
        "rename: { block: { until: { fsync: { @path: a } } } }",
        "`fsync` has no field `path`",
    );
    refused(
        "rename: { block: { until: @\"sched:sched_switch\" } }",
        "`sched:sched_switch` is no call, and faults are done to calls",
    );
    refused("fsync: { short: @1 }", "`short` cannot be done to `fsync`");
}

#[test]
fn the_return_of_a_call_that_only_its_thread_can_make_is_not_held() {
    let message = "`after` cannot hold the return of `rename`";
    refused("rename: { delay: { after: @1s } }", message);
    refused("rename: { delay: { before: 1s, after: @1s } }", message);
}

#[test]
fn a_ring_is_refused_that_could_do_what_a_blocked_call_waits_for() {
    let all = When::default();
    let of = |name: &str| {
        let names = BTreeSet::from([name.to_owned()]);
        FaultPlan::of_calls(name, names, all, Injected::default())
    };
    let until = |name: &str| FaultPlan {
        until: Some(of(name).matcher),
        ..of("getpid")
    };
    assert!(is_guarded(&[of("fsync")], "io_uring_setup"));
    assert!(is_guarded(&[until("fsync")], "io_uring_setup"));
    assert!(is_guarded(&[until("fsync")], "io_setup"));
    assert!(!is_guarded(&[until("getppid")], "io_uring_setup"));
    assert!(!is_guarded(&[until("fsync")], "openat"));
}
