//! A recording is of a run that was given the same.

use super::judged;
use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};

#[test]
fn a_recording_of_a_run_that_was_given_something_else_neither_passes_nor_fails_a_scenario() {
    require!(right_to_trace());
    let project = Project::new();
    project.write("from", "f");
    let fault = "faults:\n- mkdir: { error: EIO, when: 2 }\n";
    let of = |workload: &str, rest: &str| {
        format!(
            "workload: {{ shell: \"mkdir a; mkdir b; true\", {workload} }}\n{rest}snapshot: false\n\
             expect: {{ count: {{ mkdir: 2 }} }}\n"
        )
    };
    let given =
        "stdin: s, env: { A: a }, files: { i: { content: i, mode: '0600' }, f: { from: ../from } }";
    project.scenario("recorded", &of(given, fault));
    let save = ["run", "--save", ".", "scenarios/recorded.yaml"];
    project.harness(&save).assert_status(0);
    let judge = || {
        judged(
            &project,
            &["--from", "recorded.data", "scenarios/judges.yaml"],
        )
    };
    // For how long the run may go on is no matter of what it was given.
    let more = format!("{given}, timeout: 9s");
    project.scenario("judges", &of(&more, fault));
    assert_eq!(judge()[0].1, "pass");
    let other = |from: &str, to: &str| {
        assert!(given.contains(from), "{from}");
        given.replace(from, to)
    };
    for (workload, rest, place) in [
        (other("stdin: s", "stdin: t"), fault, "`workload.stdin`"),
        (other("A: a", "A: b"), fault, "`workload.env`"),
        (
            other("content: i", "content: j"),
            fault,
            "`workload.files.i`",
        ),
        (other("0600", "0601"), fault, "`workload.files.i`"),
        (
            other(" i: {", " j: {"),
            fault,
            "`workload.files.i`, another `workload.files.j`",
        ),
        (given.to_owned(), "", "`faults`"),
        (
            given.to_owned(),
            "faults:\n- mkdir: { error: EIO, when: 1 }\n",
            "`faults`",
        ),
        (
            given.to_owned(),
            &format!("{fault}- mkdir: {{ delay: 1ms }}\n"),
            "`faults`",
        ),
        (
            given.to_owned(),
            &format!("sandbox: {{ network: host }}\n{fault}"),
            "`sandbox`",
        ),
    ] {
        project.scenario("judges", &of(&workload, rest));
        let is = judge();
        assert_eq!(is[0].1, "incomplete", "{place}: {is:?}");
        let said = format!("the recording is of a run with another {place}: record");
        assert!(is[0].2.concat().contains(&said), "{is:?}");
    }
    project.scenario("judges", &of(given, fault));
    project.write("from", "g");
    assert!(
        judge()[0]
            .2
            .concat()
            .contains("another `workload.files.f`:")
    );
    std::fs::remove_file(project.join("from")).expect("a file");
    let is = judge();
    assert_eq!(is[0].1, "incomplete", "{is:?}");
    assert!(is[0].2.concat().contains("cannot read `"), "{is:?}");
}

#[test]
fn a_recording_that_does_not_say_what_its_run_was_given_says_nothing_about_a_scenario_that_gives_it_something()
 {
    require!(right_to_trace());
    let project = Project::new();
    let command = ["sh", "-c", "mkdir a; rmdir a"];
    let harness = env!("CARGO_BIN_EXE_harness");
    let kept = [
        &[harness, "trace", "-o", "t", "--save", "kept.data", "--"],
        &command[..],
    ];
    let recorded = [
        &[
            harness,
            "record",
            "-e",
            "raw_syscalls:*",
            "-o",
            "recorded.data",
            "--",
        ],
        &command[..],
    ];
    project.run(&[], &kept.concat()).assert_status(0);
    project.run(&[], &recorded.concat()).assert_status(0);
    let run = "run: [sh, -c, \"mkdir a; rmdir a\"]";
    for file in ["kept.data", "recorded.data"] {
        for (given, rest, place) in [
            ("", "", None),
            (", timeout: 9s", "sandbox: none\n", None),
            (", files: { f: x }", "", Some("`workload.files.f`")),
            (", env: { A: b }", "", Some("`workload.env`")),
            (", stdin: x", "", Some("`workload.stdin`")),
            ("", "sandbox: { network: host }\n", Some("`sandbox`")),
            ("", "faults:\n- mkdir: { error: EIO }\n", Some("`faults`")),
        ] {
            let text = format!(
                "workload: {{ {run}{given} }}\n{rest}expect: {{ count: {{ mkdir: 1 }} }}\nsnapshot: false"
            );
            project.scenario("judges", &text);
            let is = judged(&project, &["--from", file, "scenarios/judges.yaml"]);
            let said = place.map(|place| format!("was given the same {place}"));
            let wanted = if said.is_some() { "incomplete" } else { "pass" };
            assert_eq!(is[0].1, wanted, "{file}: {given}{rest}: {is:?}");
            let why = is[0].2.concat();
            assert!(said.is_none_or(|said| why.contains(&said)), "{why}");
        }
    }
}

#[test]
fn a_recorded_run_has_the_time_that_the_scenario_gives_it() {
    require!(right_to_trace());
    let project = Project::new().in_time();
    let of = |timeout: &str| {
        format!("workload: {{ shell: \"sleep 0.5\", timeout: {timeout} }}\nsnapshot: false")
    };
    let save = ["run", "--save", ".", "scenarios/saved.yaml"];
    let judge = |timeout: &str| {
        project.scenario("judges", &of(timeout));
        let is = judged(&project, &["--from", "saved.data", "scenarios/judges.yaml"]);
        (is[0].1.clone(), is[0].2.concat())
    };
    project.scenario("saved", &of("60s"));
    project.harness(&save).assert_status(0);
    for timeout in ["60s", "59s", "10m"] {
        let (verdict, why) = judge(timeout);
        assert_eq!(verdict, "pass", "{timeout}: {why}");
    }
    let (verdict, why) = judge("400ms");
    assert_eq!(verdict, "timeout", "{why}");
    assert!(why.contains("and the scenario gives it 400ms"), "{why}");
    project.scenario("saved", &of("400ms"));
    project.harness(&save);
    for (timeout, wanted) in [
        ("400ms", "timeout"),
        ("300ms", "timeout"),
        ("60s", "incomplete"),
    ] {
        let (verdict, why) = judge(timeout);
        assert_eq!(verdict, wanted, "{timeout}: {why}");
    }
}

#[test]
fn a_recorded_run_is_not_judged_where_its_end_by_the_limit_is_expected_and_it_ended_later() {
    require!(right_to_trace());
    let project = Project::new().in_time();
    let of = |timeout: &str, expect: &str| {
        format!(
            "workload: {{ shell: \"echo a; sleep 0.5; echo b > late\", timeout: {timeout} }}\n\
             expect: {{ {expect} }}\nsnapshot: false"
        )
    };
    let save = ["run", "--save", ".", "scenarios/saved.yaml"];
    let late = "limit: timeout, stdout: \"a\\n\", files_after: { late: \"b\\n\" }";
    let never = "limit: timeout, files_after: { late: { exists: false } }";
    let judge = |timeout: &str, expect: &str| {
        project.scenario("judges", &of(timeout, expect));
        let is = judged(&project, &["--from", "saved.data", "scenarios/judges.yaml"]);
        (is[0].1.clone(), is[0].2.concat())
    };
    project.scenario("saved", &of("60s", "exit: 0"));
    project.harness(&save).assert_status(0);
    for (timeout, expect, wanted) in [
        ("400ms", late, "incomplete"),
        ("400ms", never, "incomplete"),
        // It would not have been ended then.
        ("50s", late, "fail"),
    ] {
        let (verdict, why) = judge(timeout, expect);
        assert_eq!(verdict, wanted, "{timeout}, {expect}: {why}");
    }
    project.scenario("saved", &of("300ms", never));
    project.harness(&save).assert_status(0);
    for (timeout, wanted) in [
        ("300ms", "pass"),
        ("200ms", "incomplete"),
        ("60s", "incomplete"),
    ] {
        let (verdict, why) = judge(timeout, never);
        assert_eq!(verdict, wanted, "{timeout}: {why}");
    }
}

#[test]
fn what_a_recording_does_not_say_of_its_machine_is_neither_there_nor_lacking() {
    require!(right_to_trace());
    let project = Project::new();
    let of =
        |requires: &str| format!("workload: {{ run: [mkdir, a] }}\n{requires}\nsnapshot: false");
    project.scenario("saved", &of("requires: { commands: [mkdir] }"));
    let save = ["run", "--save", ".", "scenarios/saved.yaml"];
    project.harness(&save).assert_status(0);
    for (requires, wanted) in [
        ("requires: { commands: [mkdir] }", "pass"),
        ("requires: { hard: { commands: [mkdir] } }", "pass"),
        ("requires: { best_effort: { commands: [rmdir] } }", "pass"),
        ("requires: { commands: [rmdir] }", "skipped"),
        ("requires: { features: [hardware_counters] }", "skipped"),
        ("requires: { hard: { commands: [rmdir] } }", "incomplete"),
        (
            "requires: { hard: { features: [hardware_counters] } }",
            "incomplete",
        ),
        (
            "requires: { hard: { tracepoints: [\"sched:sched_switch\"] } }",
            "incomplete",
        ),
        ("requires: { hard: { kernel: \"<3.0\" } }", "fail"),
    ] {
        project.scenario("judges", &of(requires));
        let is = judged(&project, &["--from", "saved.data", "scenarios/judges.yaml"]);
        assert_eq!(is[0].1, wanted, "{requires}: {is:?}");
    }
}
