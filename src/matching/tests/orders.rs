//! Order, captures, and what must not be.

use super::*;

const SAVE: &str = "
    P1 openat(filename:path=p\"lock\", flags=O_RDWR|O_CREAT) = <3 $DIR/lock #1>
    P1 openat(filename:path=p\"new\", flags=O_RDWR|O_CREAT) = <4 $DIR/new #2>
    P1 write(fd=<4 $DIR/new #2>, count=5) = 5
    P1 fsync(fd=<4 $DIR/new #2>) = 0
    P1 close(fd=<4 $DIR/new #2>) = 0
    P1 rename(oldname:from=p\"new\", newname:to=p\"old\") = 0
";

#[track_caller]
fn check(expected: &str, trace: &str, answer: &[&str]) {
    assert_eq!(judged(expected, trace), answer, "{expected}");
}

#[track_caller]
fn passes(expected: &str, trace: &str) {
    check(expected, trace, &[]);
}

#[track_caller]
fn fails(expected: &str, trace: &str) {
    check(expected, trace, &["failed"]);
}

#[test]
fn a_call_that_failed_is_no_step_that_captures_what_it_returns() {
    let steps = "sequence: [ openat: {path: log, returns: $fd} ]\nnever: [ write: {fd: $fd} ]";
    let fails_first = "P1 openat(dfd=AT_FDCWD, filename:path=p\"log\") = ENOENT\n\
                       P1 openat(dfd=AT_FDCWD, filename:path=p\"log\") = <3 $DIR/log #1>\n";
    passes(steps, fails_first);
    fails(
        steps,
        &format!("{fails_first}P1 write(fd=<3 $DIR/log #1>) = 1"),
    );
    let fails_alone = fails_first.lines().next().unwrap_or_default();
    fails(steps, fails_alone);
}

#[test]
fn the_first_that_fits_may_be_the_wrong_one() {
    passes(
        "sequence: [ openat: {returns: $fd}, fsync: {fd: $fd}, rename: {from: new} ]",
        SAVE,
    );
    fails(
        "sequence: [ openat: {path: lock, returns: $fd}, fsync: {fd: $fd} ]",
        SAVE,
    );
}

#[test]
fn a_sequence_is_in_its_order() {
    passes("sequence: [ write, fsync, rename ]", SAVE);
    fails("sequence: [ rename, fsync ]", SAVE);
    fails("sequence: [ fsync, fsync ]", SAVE);
    passes("sequence: [ openat, openat ]", SAVE);
    fails("sequence: [ openat, openat, openat ]", SAVE);
}

#[test]
fn next_is_the_very_next_of_the_thread() {
    passes("sequence: [ write, next: fsync, next: {close: {}} ]", SAVE);
    fails("sequence: [ write, next: {close: {}} ]", SAVE);
    fails("sequence: [ rename, next: {close: {}} ]", SAVE);
    let threads = "
        P1 write(fd=1) = 1
        P2 write(fd=2) = 1
        P2 fsync(fd=2) = 0
        P1 close(fd=1) = 0
    ";
    passes("sequence: [ write: {fd: 1}, next: {close: {}} ]", threads);
    fails("sequence: [ write: {fd: 1}, next: {fsync: {}} ]", threads);
    passes("sequence: [ write, next: {fsync: {}} ]", threads);
}

#[test]
fn never_in_a_sequence_is_between_its_neighbours() {
    passes("sequence: [ fsync, never: [write], rename ]", SAVE);
    fails(
        "sequence: [ openat: {path: new}, never: [write], fsync ]",
        SAVE,
    );
    passes("sequence: [ openat, never: [fsync], openat ]", SAVE);
    // To the end, and from the beginning.
    passes("sequence: [ fsync, never: [write, openat] ]", SAVE);
    fails("sequence: [ fsync, never: [close] ]", SAVE);
    passes("sequence: [ never: [write], openat ]", SAVE);
    fails("sequence: [ never: [openat], write ]", SAVE);
    // Another choice may have nothing between.
    let twice = "P1 fsync(fd=1) = 0\nP1 write(fd=1) = 1\nP1 fsync(fd=1) = 0\nP1 rename(x=1) = 0";
    passes("sequence: [ fsync, never: [write], rename ]", twice);
}

#[test]
fn never_in_a_sequence_knows_captures_that_are_bound_behind_it() {
    let trace = "P1 a(x=1) = 0\nP1 b(x=2) = 0\nP1 c(x=1) = 0\nP1 c(x=2) = 0";
    passes(
        "sequence: [ a, never: [b: {x: $x}], c: {x: $x} ]",
        &trace.replace("c(x=2)", "d(x=2)"),
    );
    let only_wrong = "P1 a(x=1) = 0\nP1 b(x=2) = 0\nP1 c(x=2) = 0";
    fails(
        "sequence: [ a, never: [b: {x: $x}], c: {x: $x} ]",
        only_wrong,
    );
}

#[test]
fn any_order_is_each_another_deed() {
    passes("any_order: [ fsync, write, openat, openat ]", SAVE);
    fails("any_order: [ openat, openat, openat ]", SAVE);
    passes("any_order: [ openat, openat: {path: lock} ]", SAVE);
    passes(
        "sequence: [ openat, any_order: [ {sequence: [write, close]}, fsync ], rename ]",
        SAVE,
    );
    fails(
        "sequence: [ openat, any_order: [ {sequence: [close, write]}, fsync ], rename ]",
        SAVE,
    );
    fails("sequence: [ any_order: [ write, rename ], close ]", SAVE);
}

#[test]
fn captures_are_the_same_in_all_expectations() {
    let bound = "sequence: [ openat: {path: new, returns: $fd}, rename ]\n";
    passes(&format!("{bound}any_order: [ fsync: {{fd: $fd}} ]"), SAVE);
    passes(
        &format!("{bound}count: {{ write: {{fd: $fd, times: 1}} }}"),
        SAVE,
    );
    fails(&format!("{bound}never: [ fsync: {{fd: $fd}} ]"), SAVE);
    let other = "sequence: [ openat: {path: lock, returns: $fd}, rename ]\n";
    fails(&format!("{other}any_order: [ fsync: {{fd: $fd}} ]"), SAVE);
    passes(&format!("{other}never: [ fsync: {{fd: $fd}} ]"), SAVE);
    // An event may be what both speak of.
    passes(
        "sequence: [ fsync: {fd: $fd} ]\nany_order: [ fsync: {fd: $fd}, write ]",
        SAVE,
    );
    // What a later expectation needs is found, too.
    passes(
        "sequence: [ openat: {returns: $fd} ]\nany_order: [ fsync: {fd: $fd} ]",
        SAVE,
    );
}

#[test]
fn what_hangs_on_a_capture_that_nothing_bound_is_not_judged() {
    let missing = "sequence: [ openat: {path: none, returns: $fd} ]\n";
    for also in [
        "never: [ write: {fd: $fd} ]",
        "count: { write: {fd: $fd, times: 7} }",
    ] {
        fails(&format!("{missing}{also}"), SAVE);
    }
    let both = format!("{missing}never: [ write ]");
    check(&both, SAVE, &["failed", "failed"]);
}

#[test]
fn never_only_and_count_are_of_all_deeds() {
    passes("never: [ connect ]", SAVE);
    fails("never: [ connect, write: {count: 5} ]", SAVE);
    passes("never: [ write: {count: 6} ]", SAVE);
    passes("only: [ openat|write|fsync|close|rename ]", SAVE);
    fails("only: [ openat, fsync, close, rename ]", SAVE);
    fails(
        "only: [ openat, write: {fd: lock}, fsync, close, rename ]",
        SAVE,
    );
    passes(
        "count: { openat: 2, connect: 0, write: {count: {range: 5..}, times: 1} }",
        SAVE,
    );
    fails("count: { openat: 1 }", SAVE);
    fails("count: { openat: 3.. }", SAVE);
    passes("count: { openat: 1..=2 }", SAVE);
}

#[test]
fn what_was_not_read_makes_nothing_pass_and_nothing_fail() {
    let trace = "P1 unlink(pathname:path=<unread>) = 0\nP1 unlink(pathname:path=p\"b\") = 0";
    for (expected, answer) in [
        ("sequence: [ unlink: {path: a}, unlink ]", &["unknown"][..]),
        ("sequence: [ unlink, unlink: {path: b} ]", &[]),
        ("sequence: [ unlink, unlink: {path: a} ]", &["failed"]),
        ("any_order: [ unlink: {path: a} ]", &["unknown"]),
        (
            "any_order: [ unlink: {path: a}, unlink: {path: c} ]",
            &["failed"],
        ),
        ("never: [ unlink: {path: a} ]", &["unknown"]),
        ("never: [ unlink: {path: b} ]", &["failed"]),
        ("only: [ unlink: {path: [a, b]} ]", &["unknown"]),
        ("only: [ unlink: {path: a} ]", &["failed"]),
        ("count: { unlink: {path: a, times: 1} }", &["unknown"]),
        ("count: { unlink: {path: a, times: 0..=1} }", &[]),
        ("count: { unlink: {path: a, times: 2} }", &["failed"]),
        ("count: { unlink: {path: b, times: 1} }", &["unknown"]),
        ("count: { unlink: {path: b, times: 0} }", &["failed"]),
        (
            "sequence: [ unlink: {path: $p}, unlink: {path: $p} ]",
            &["unknown"],
        ),
        (
            "sequence: [ never: [unlink: {path: a}], unlink: {path: b} ]",
            &["unknown"],
        ),
    ] {
        check(expected, trace, answer);
    }
}

#[test]
fn captures_unify_by_what_they_are() {
    let pairs = [
        ("<3 $DIR/a #1>", "<4 $DIR/a #1>", ""),
        ("<3 $DIR/a #1>", "<3 $DIR/a #2>", "failed"),
        ("<3 $DIR/a #1>", "<3 ?>", "unknown"),
        ("<3 $DIR/a #1>", "<3>", "failed"),
        ("<3 $DIR/a #1>", "p\"a\"", ""),
        ("p\"./a\"", "<3 $DIR/a #1>", ""),
        ("<3 $DIR/a #1>", "p\"b\"", "failed"),
        ("<3 $DIR/sub/a #1>", "q\"a\"", "unknown"),
        ("<3 $DIR/a #1>", "3", ""),
        ("<3 $DIR/a #1>", "4", "failed"),
        ("p\"a\"", "p\"$DIR/a\"", ""),
        ("p\"a\"", "p\"/a\"", "failed"),
        ("q\"a\"", "q\"./a\"", ""),
        ("p\"a\"", "\"a\"", ""),
        ("P2", "P2", ""),
        ("P2", "P3", "failed"),
        ("P2", "1002", ""),
        ("P2", "1003", "failed"),
        ("7", "7", ""),
        ("7", "8", "failed"),
        ("\"x\"", "\"x\"", ""),
        ("\"x\"", "\"y\"", "failed"),
        ("\"x\"...", "\"xy\"", "unknown"),
        ("\"x\"...", "\"z\"", "failed"),
        ("O_RDWR|O_CREAT", "O_CREAT|O_RDWR", ""),
        ("O_RDWR", "O_CREAT", "failed"),
        ("[\"a\"]", "[\"a\"]", ""),
        ("{x=1}", "{x=1}", ""),
        ("{x=1}", "{x=2}", "failed"),
        ("<unread>", "1", "unknown"),
        ("NULL", "NULL", "failed"),
        ("AT_FDCWD", "AT_FDCWD", ""),
    ];
    for (one, other, answer) in pairs {
        let trace = format!("P1 a(x={one}) = 0\nP1 b(y={other}) = 0");
        let answer: Vec<&str> = Some(answer)
            .filter(|it| !it.is_empty())
            .into_iter()
            .collect();
        assert_eq!(
            judged("sequence: [ a: {x: $it}, b: {y: $it} ]", &trace),
            answer,
            "{one} and {other}"
        );
    }
}

#[test]
fn a_failed_open_binds_no_descriptor() {
    let trace = "P1 openat(x=1) = ENOENT\nP1 openat(x=2) = <3 a #1>\nP1 close(fd=<3 a #1>) = 0";
    passes(
        "sequence: [ openat: {returns: $fd}, close: {fd: $fd} ]",
        trace,
    );
    let none = "P1 openat(x=1) = ENOENT\nP1 close(fd=<3>) = EBADF";
    fails(
        "sequence: [ openat: {returns: $fd}, close: {fd: $fd} ]",
        none,
    );
}

#[test]
fn a_capture_that_something_is_not_binds_nothing() {
    let trace = "P1 a(x=1) = 0\nP1 b(x=2) = 0\nP1 b(x=1) = 0";
    passes(
        "sequence: [ a: {x: $x}, b: {x: {not: $x}}, b: {x: $x} ]",
        trace,
    );
    fails(
        "sequence: [ a: {x: $x}, b: {x: $x}, b: {x: {not: $x}} ]",
        trace,
    );
}

#[test]
fn between_threads_only_what_has_ended_came_before() {
    let overlapping = "P1 10-20 fsync(fd=1) = 0\nP1.T2 15-16 rename(x=1) = 0";
    fails("sequence: [ fsync, rename ]", overlapping);
    fails("sequence: [ rename, fsync ]", overlapping);
    passes("any_order: [ fsync, rename ]", overlapping);
    let behind = "P1 10-20 fsync(fd=1) = 0\nP1.T2 20-26 rename(x=1) = 0";
    passes("sequence: [ fsync, rename ]", behind);
    // Of one thread its own order counts, whatever the moments.
    passes(
        "sequence: [ fsync, rename ]",
        "P1 10-20 fsync(fd=1) = 0\nP1 15-16 rename(x=1) = 0",
    );
}

#[test]
fn who_waits_counts_at_the_return() {
    let trace = "P1 10-50 wait4(upid=P2) = P2\nP2 20-30 unlink(pathname:path=p\"a\") = 0";
    passes("sequence: [ unlink, wait4 ]", trace);
    fails("sequence: [ wait4, unlink ]", trace);
    // It was entered long before, and is behind all the same.
    let behind =
        "P1 10-50 read(fd=0) = 1\nP1.T2 20-21 write(fd=1) = 1\nP1.T2 60-61 fsync(fd=1) = 0";
    passes("sequence: [ write, read, fsync ]", behind);
}

#[test]
fn who_makes_a_task_counts_at_the_entry() {
    let trace = "P1 10-50 clone(flags=0) = P2\nP2 20-30 execve(filename:path=p\"/bin/ls\") = 0";
    passes("sequence: [ clone, execve ]", trace);
    fails("sequence: [ execve, clone ]", trace);
}

#[test]
fn who_lets_another_go_on_counts_at_the_entry_whenever_it_returns() {
    let futexes =
        "P1 20-50 futex(op=FUTEX_WAKE_PRIVATE) = 1\nP1.T2 10-30 futex(op=FUTEX_WAIT_PRIVATE) = 0";
    let locks = "P1 20-50 flock(cmd=LOCK_UN) = 0\nP2 10-30 flock(cmd=LOCK_EX) = 0";
    for (trace, lets_go, goes_on) in [
        (
            futexes,
            "futex: { op: FUTEX_WAKE_PRIVATE }",
            "futex: { op: FUTEX_WAIT_PRIVATE }",
        ),
        (locks, "flock: { cmd: LOCK_UN }", "flock: { cmd: LOCK_EX }"),
        (
            "P1 20-50 fcntl(cmd=F_SETLK, arg={l_type=F_UNLCK}) = 0\n\
             P2 10-30 fcntl(cmd=F_SETLKW, arg={l_type=F_WRLCK}) = 0",
            "fcntl: { cmd: F_SETLK }",
            "fcntl: { cmd: F_SETLKW }",
        ),
    ] {
        passes(&format!("sequence: [ {lets_go}, {goes_on} ]"), trace);
        fails(&format!("sequence: [ {goes_on}, {lets_go} ]"), trace);
    }
    // What only asks finds no lock, and lets nobody go on.
    let asks = "P1 20-50 fcntl(cmd=F_SETLK, arg={l_type=F_UNLCK}) = 0\n\
                P2 10-60 fcntl(cmd=F_GETLK, arg={l_type=F_UNLCK}) = 0";
    fails(
        "sequence: [ fcntl: { cmd: F_GETLK }, fcntl: { cmd: F_SETLK } ]",
        asks,
    );
}

#[test]
fn what_may_lie_between_is_not_never() {
    // The write neither ended before the fsync began nor began behind the rename.
    let trace = "P1 10-20 fsync(fd=1) = 0\nP1.T2 15-25 write(fd=1) = 1\nP1 30-40 rename(x=1) = 0";
    fails("sequence: [ fsync, never: [write], rename ]", trace);
    for harmless in ["5-9", "40-45"] {
        let trace = trace.replace("15-25", harmless);
        passes("sequence: [ fsync, never: [write], rename ]", &trace);
    }
    // A long one that was entered before all others.
    let long = "P1.T2 1-35 write(fd=1) = 1\nP1 10-20 fsync(fd=1) = 0\nP1 30-40 rename(x=1) = 0";
    fails("sequence: [ fsync, never: [write], rename ]", long);
}

#[test]
fn a_section_sees_what_the_run_has_bound() {
    let run = judgement("sequence: [ openat: {path: new, returns: $fd} ]", SAVE);
    let deeds = super::notation::deeds(SAVE);
    let section: Vec<&Deed> = deeds.iter().skip(2).collect();
    let expected = expected("sequence: [ write: {fd: $fd}, fsync: {fd: $fd} ]");
    let judge = |outer| {
        judge(
            &expected,
            &Scene::new(&section),
            Some("save"),
            outer,
            MOST_TRIES,
        )
    };
    assert_eq!(judge(&run.bindings).findings, []);
    let other = judgement("sequence: [ openat: {path: lock, returns: $fd} ]", SAVE);
    assert_eq!(judge(&other.bindings).findings.len(), 1);
    let counted = super::expected("count: { fsync: 7 }");
    let counted = super::super::judge(
        &counted,
        &Scene::new(&section),
        Some("save"),
        &run.bindings,
        MOST_TRIES,
    );
    let [Finding::Failed(Said { text, .. })] = counted.findings.as_slice() else {
        panic!("{counted:?}");
    };
    assert!(
        text.starts_with("section `save`: expected 7 of `fsync`, got "),
        "{text}"
    );
    // Where the run has not bound it, that is said of the run, and nothing here.
    let none = judgement("sequence: [ openat: {path: none, returns: $fd} ]", SAVE);
    assert_eq!(none.findings.len(), 1);
    assert_eq!(judge(&none.bindings).findings, []);
}
