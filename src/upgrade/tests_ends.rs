use super::tests::{facts, found, one, passed};
use super::*;
use crate::verdict::{About, Finding};

/// A run that failed, with this trace.
fn failed(findings: &[Finding], trace: &str) -> Answer {
    Answer {
        verdict: "fail".to_owned(),
        findings: findings.to_vec(),
        ..passed(trace)
    }
}

fn exit(got: &str) -> Finding {
    let text = format!("expected exit status 0, got {got}");
    Finding::missed(About::Exit, text).but("exit status 0", got)
}

#[test]
fn two_runs_of_one_trace_that_fail_by_other_ends_differ_in_the_end() {
    let trace = "P1 sh\n  uname() = 0\n";
    let boo = Finding::remark(About::Stdout, "standard output: boo");
    let before = failed(&[exit("exit status 7")], trace);
    let after = failed(&[exit("killed by SIGSEGV"), boo.clone()], trace);
    let (class, what, evidence) = one(&before, &after);
    assert_eq!(class, Class::Behaviour);
    assert_eq!(
        what,
        "it ends otherwise: killed by SIGSEGV instead of exit status 7"
    );
    assert_eq!(
        evidence,
        "- expected exit status 0, got exit status 7\n\
         + expected exit status 0, got killed by SIGSEGV"
    );
    assert!(!before.is_as(&after), "they are looked at again");
    // What was printed beside a failure is no difference.
    let printed = failed(&[exit("exit status 7"), boo], trace);
    assert!(before.is_as(&printed));
}

#[test]
fn what_a_run_wrote_and_left_otherwise_is_a_difference_where_it_is_judged() {
    let missed = |about, got: &str| Finding::missed(about, format!("got {got}")).but("x", got);
    let what = |before: &[Finding], after: &[Finding]| {
        let trace = "P1 sh\n  uname() = 0\n";
        one(&failed(before, trace), &failed(after, trace)).1
    };
    let out = |got| missed(About::Stdout, got);
    assert_eq!(what(&[out("a")], &[out("b")]), "standard output is another");
    assert_eq!(what(&[], &[out("b")]), "on 6.12 alone: got b");
    assert_eq!(what(&[out("a")], &[]), "on 6.1 alone: got a");
    let file = |got| missed(About::File("f".to_owned()), got);
    assert_eq!(what(&[file("a")], &[file("b")]), "`f` is left otherwise");
}

#[test]
fn two_kernels_of_one_release_are_told_apart_by_their_order() {
    let trace = "P1 sh\n  uname() = 0\n";
    let (passes, fails) = (failed(&[], trace), failed(&[exit("exit status 7")], trace));
    let kernel = facts("6.1");
    let what = |before: &Answer, after: &Answer| {
        let [before, after] = [before, after].map(std::slice::from_ref);
        let [(_, what, _)] =
            <[_; 1]>::try_from(found((&kernel, before), (&kernel, after))).unwrap();
        what
    };
    let text = "expected exit status 0, got exit status 7";
    assert_eq!(
        what(&passes, &fails),
        format!("on the second alone: {text}")
    );
    assert_eq!(what(&fails, &passes), format!("on the first alone: {text}"));
}

#[test]
fn an_end_that_varies_on_one_kernel_is_noise() {
    let trace = "P1 sh\n  uname() = 0\n";
    let old = failed(&[exit("exit status 7")], trace);
    let new = failed(&[exit("killed by SIGSEGV")], trace);
    let varies = [new.clone(), old.clone()];
    let found = found((&facts("6.1"), &[old]), (&facts("6.12"), &varies));
    let classes: Vec<Class> = found.iter().map(|it| it.0).collect();
    assert_eq!(classes, [Class::Noise]);
}

#[test]
fn runs_fail_otherwise_where_none_fails_in_a_way_of_the_others() {
    let way = |findings: &[Finding]| failed(findings, "");
    let out = |got: &str| Finding::missed(About::Stdout, got).but("x", got);
    let step = |text: &str| Finding::missed(About::Events, text).of_event("fsync");
    let [seven, killed] = ["exit status 7", "killed by SIGSEGV"].map(|got| way(&[exit(got)]));
    let otherwise = |ours: &[&Answer], theirs: &[&Answer]| {
        let all = |answers: &[&Answer]| -> Vec<Answer> {
            answers.iter().map(|answer| (*answer).clone()).collect()
        };
        fail_otherwise(&all(ours), &all(theirs))
    };
    assert!(otherwise(&[&seven, &seven], &[&killed]));
    assert!(!otherwise(&[&seven, &killed], &[&killed]));
    assert!(!otherwise(&[&seven], &[&seven, &seven]));
    // The words are not compared, and outputs only where each kernel has one of its own.
    assert!(!otherwise(&[&way(&[step("a")])], &[&way(&[step("b")])]));
    assert!(otherwise(&[&way(&[step("a")])], &[&seven]));
    let [a, b, c] = ["a", "b", "c"].map(|got| way(&[out(got)]));
    assert!(otherwise(&[&a, &a], &[&b, &b]));
    assert!(!otherwise(&[&a, &c], &[&b, &b]));
    // Of a kernel without a failure nothing is said.
    assert!(!otherwise(&[&passed("")], &[&killed]));
}

#[test]
fn a_program_of_a_trace_by_programs_is_named() {
    let before = passed("program uname\n  uname\n");
    let after = passed("program sed\n\nprogram uname\n  uname\n");
    let (class, what, evidence) = one(&before, &after);
    assert_eq!(class, Class::Path);
    assert_eq!(what, "one more process `sed`");
    assert_eq!(evidence, "+ program sed: 0 lines");
}
