//! A scenario that is wrong is refused with the place in its file and the nearest right word,
//! before anything runs and without a trace of it.

use super::PASSES;
use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};

/// What is wrong with it, the text behind the description, where (the description is line 1), the
/// message, and the help.
const CASES: [(&str, &str, &str, &str, &str); 14] = [
    (
        "an unknown key",
        "workload: { rum: [\"true\"] }",
        "2:13",
        "unknown key `rum` in `workload`",
        "did you mean `run`?",
    ),
    (
        "an unknown key at the top",
        "workload: { run: [\"true\"] }\nexpects: { exit: 0 }",
        "3:1",
        "unknown key `expects`",
        "did you mean `expect`?",
    ),
    (
        "a wrong type",
        "workload: { run: \"true\" }",
        "2:18",
        "`workload.run` must be a list, not `\"true\"`",
        "",
    ),
    (
        "a number where a string belongs",
        "workload: { run: [sleep, 1] }",
        "2:26",
        "must be a string, not `1`",
        "",
    ),
    (
        "a duplicate key",
        "workload: { run: [\"true\"] }\nsnapshot: false\nworkload: { run: [\"false\"] }",
        "4:1",
        "duplicate key `workload`",
        "",
    ),
    (
        "an unknown call",
        "workload: { run: [\"true\"] }\ntrace: { events: [ { syscalls: [opennat] } ] }",
        "3:33",
        "unknown system call `opennat`",
        "did you mean `openat`",
    ),
    (
        "a regular expression that is none",
        "workload: { run: [\"true\"] }\ntrace: { events: [ { syscalls: [read, \"/open(\"] } ] }",
        "3:39",
        "unknown system call `/open(`",
        "it is no regular expression: unclosed group",
    ),
    (
        "an unknown tracepoint",
        "workload: { run: [\"true\"] }\ntrace:\n  events:\n    - sched:sched_swich",
        "5:7",
        "this kernel has no tracepoint `sched:sched_swich`",
        "did you mean `sched:sched_switch`?",
    ),
    (
        "an unknown system of tracepoints",
        "workload: { run: [\"true\"] }\ntrace:\n  events:\n    - shed:sched_switch",
        "5:7",
        "this kernel has no tracepoint `shed:sched_switch`",
        "did you mean `sched:sched_switch`?",
    ),
    (
        "a filter on a field that is not there",
        "workload: { run: [\"true\"] }\ntrace:\n  events:\n    \
         - { event: \"sched:sched_switch\", filter: \"prev_pri < 120\" }",
        "5:46",
        "the event has no field `prev_pri`",
        "did you mean `prev_prio`?",
    ),
    (
        "a filter that is none",
        "workload: { run: [\"true\"] }\ntrace:\n  events:\n    \
         - { event: \"sched:sched_switch\", filter: \"prev_prio <\" }",
        "5:46",
        "expected a value, found the end",
        "",
    ),
    (
        "a count of what is not recorded",
        "workload: { run: [\"true\"] }\ntrace: { events: [ { syscalls: [openat] } ] }\n\
         expect: { count: { connect: 0 } }",
        "4:20",
        "`connect` is not among the events of this scenario, so it can never occur",
        "",
    ),
    (
        "no YAML",
        "workload: { run: [ }",
        "2:20",
        "not valid YAML",
        "",
    ),
    (
        "a tag",
        "workload: !!map { run: [\"true\"] }",
        "2:11",
        "tag",
        "",
    ),
];

#[test]
fn a_wrong_scenario_is_refused_at_its_place_and_nothing_runs() {
    require!(right_to_trace());
    for (what, yaml, place, message, help) in CASES {
        let project = Project::with("sub/wrong", yaml);
        // A good one beside it does not run either: its snapshot would be written.
        project.scenario("good", "workload: { run: [\"true\"] }");
        for arguments in [&["run", "scenarios"][..], &["run", "--update", "scenarios"]] {
            let run = project.harness(arguments);
            run.assert_status(2);
            assert_eq!(run.stdout, "", "{what}");
            let place = format!("--> scenarios/sub/wrong.yaml:{place}\n");
            assert!(
                run.stderr.contains(&place),
                "{what}: no `{place}` in\n{}",
                run.stderr
            );
            let first = run.stderr.lines().next().expect("a message");
            assert!(
                first.starts_with("error: ") && first.contains(message),
                "{what}: {first}"
            );
            assert!(
                run.stderr.contains(help),
                "{what}: no `{help}` in\n{}",
                run.stderr
            );
            assert_eq!(
                run.stderr.contains("did you mean"),
                help.starts_with("did you mean"),
                "{what}: {}",
                run.stderr
            );
            assert!(
                run.stderr
                    .ends_with("harness: 1 scenario file cannot be used\n"),
                "{}",
                run.stderr
            );
            assert_eq!(project.snapshots(), [""; 0], "{what}");
            project.assert_nothing_left();
        }
    }
}

#[test]
fn all_wrong_scenarios_are_named_at_once() {
    require!(right_to_trace());
    let project = Project::new();
    for (number, (_, yaml, ..)) in CASES.iter().enumerate() {
        project.scenario(&number.to_string(), yaml);
    }
    let run = project.harness(&["run", "scenarios"]);
    run.assert_status(2);
    assert_eq!(
        run.stderr.matches("--> scenarios/").count(),
        CASES.len(),
        "{}",
        run.stderr
    );
    let last = format!("harness: {} scenario files cannot be used\n", CASES.len());
    assert!(run.stderr.ends_with(&last), "{}", run.stderr);
}

#[test]
fn what_is_no_text_or_cannot_be_told_apart_is_refused_too() {
    require!(right_to_trace());
    let project = Project::with("good", PASSES);
    std::fs::write(project.join("scenarios/bytes.yaml"), b"description: \xff\n").expect("a file");
    let run = project.harness(&["run", "scenarios"]);
    run.assert_status(2);
    assert!(
        run.stderr.starts_with(
            "error: this is not UTF-8: the byte 0xff\n --> scenarios/bytes.yaml:1:14\n"
        ),
        "{}",
        run.stderr
    );
    let project = Project::with("twice", PASSES);
    project.write(
        "scenarios/twice.yml",
        &format!("description: again\n{PASSES}\n"),
    );
    let run = project.harness(&["run", "scenarios"]);
    run.assert_status(2);
    assert!(
        run.stderr.contains("twice.yaml") && run.stderr.contains("twice.yml"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_file_to_lay_out_that_is_not_there_is_refused_at_its_place() {
    require!(right_to_trace());
    let workload = "workload: { run: [cat, x], files: { x: { from: ../data/savd.py } } }";
    let project = Project::with("sub/wrong", workload);
    project.write("data/save.py", "");
    let refused = |said: &str| {
        let run = project.harness(&["run", "scenarios"]);
        run.assert_status(2);
        assert_eq!(run.stdout, "");
        assert!(run.stderr.starts_with(said), "{}", run.stderr);
        run.stderr
    };
    let said = refused(
        "error: `../data/savd.py`: no such file or directory\n --> scenarios/sub/wrong.yaml:2:48\n",
    );
    assert!(
        said.contains("a path is taken from the folder of the scenario on"),
        "{said}"
    );
    project.scenario("sub/wrong", &workload.replace("../data", "../../data"));
    let said = refused("error: `../../data/savd.py`: no such file or directory\n");
    assert!(
        said.contains("did you mean `../../data/save.py`?"),
        "{said}"
    );
    project.scenario(
        "sub/wrong",
        "workload: { run: [\"true\"] }\nbaseline: { run: [cat, x], files: { x: { from: nothing } } }\n\
         expect: { delta: { read: \"0..\" } }",
    );
    let said = refused(
        "error: `nothing`: no such file or directory\n --> scenarios/sub/wrong.yaml:3:48\n",
    );
    assert!(!said.contains("did you mean"), "{said}");
}

#[test]
fn a_loop_of_links_between_folders_runs_nothing_twice() {
    require!(right_to_trace());
    let project = Project::with("sub/good", PASSES);
    for (to, at) in [
        (".", "scenarios/a"),
        ("..", "scenarios/sub/up"),
        ("sub", "scenarios/b"),
    ] {
        std::os::unix::fs::symlink(to, project.join(at)).expect("a link");
    }
    let run = project.harness(&["run", "--format", "json", "scenarios", "./scenarios"]);
    run.assert_status(0);
    assert_eq!(run.verdicts().keys().collect::<Vec<_>>(), ["sub/good"]);
}

#[test]
fn a_snapshot_that_is_none_is_named_with_a_line_in_the_words_of_the_program() {
    require!(right_to_trace());
    let project = Project::with("x", "workload: { run: [\"true\"] }");
    project
        .harness(&["run", "--update", "scenarios"])
        .assert_status(0);
    let good = project.read("snapshots/x.snap");
    let broken: [(Vec<u8>, &str); 4] = [
        (
            b"Expression: x\n\nP1 true\n".to_vec(),
            "line 1: a snapshot begins with a line `---`",
        ),
        (
            b"---\nsource: x\n".to_vec(),
            "line 2: the header does not end",
        ),
        (
            [good.as_bytes(), b"\xff"].concat(),
            "the byte 0xff is not UTF-8",
        ),
        (
            b"---\nsnapshot_kind: binary\n---\n".to_vec(),
            "line 2: it is no text snapshot",
        ),
    ];
    for (bytes, said) in broken {
        std::fs::write(project.join("snapshots/x.snap"), bytes).expect("a file");
        let run = project.harness(&["run", "--format", "json", "scenarios"]);
        let (verdict, reason) = &run.verdicts()["x"];
        assert_eq!(verdict, "broken", "{reason}");
        assert!(
            reason.contains("x.snap`: line ") && reason.contains(said),
            "{reason}"
        );
        assert_eq!(run.stderr, "", "{said}");
    }
    // A header that insta cannot take is none of the text's concern.
    std::fs::write(
        project.join("snapshots/x.snap"),
        good.replacen("---\n", "---\ninput_file: .inf\n", 1),
    )
    .expect("a file");
    let run = project.harness(&["run", "scenarios"]);
    assert_eq!(run.assert_status(0).stderr, "");
}

#[test]
fn trace_refuses_what_it_does_not_know_and_does_not_start_the_command() {
    require!(right_to_trace());
    let cases: [(&[&str], &str); 4] = [
        (
            &["-e", "opennat"],
            "harness: unknown system call `opennat`\nhint: did you mean `openat`",
        ),
        (
            &["-e", "openat,sched:sched_swich"],
            "harness: this kernel has no tracepoint `sched:sched_swich`\n\
             hint: did you mean `sched:sched_switch`?\n",
        ),
        (
            &["-m", "4XB"],
            "error: invalid value '4XB' for '--ring-size <SIZE>': unknown unit `XB`",
        ),
        (
            &["-o", "absent/file"],
            "harness: cannot write `absent/file`: no such file or directory\n",
        ),
    ];
    for (arguments, said) in cases {
        let project = Project::new();
        let words = [&["trace"], arguments, &["touch", "started"]].concat();
        let run = project.harness(&words);
        run.assert_status(125);
        assert!(
            run.stderr.starts_with(said),
            "{arguments:?}: {}",
            run.stderr
        );
        assert!(
            !project.join("started").exists(),
            "{arguments:?}: the command ran"
        );
        project.assert_nothing_left();
    }
}

#[test]
fn a_scenario_that_is_broken_does_not_disturb_the_others() {
    require!(right_to_trace());
    let project = Project::new();
    for number in 0..4 {
        project.scenario(&format!("good{number}"), "workload: { run: [\"true\"] }");
        project.scenario(&format!("odd{number}"), super::BROKEN);
    }
    let run = project.harness(&["run", "--update", "--format", "json", "scenarios"]);
    run.assert_status(99);
    for (name, (verdict, reason)) in run.verdicts() {
        let expected = if name.starts_with("good") {
            "pass"
        } else {
            "broken"
        };
        assert_eq!(verdict, expected, "{name}: {reason}");
    }
    let expected = [0, 1, 2, 3].map(|number| format!("snapshots/good{number}.snap"));
    assert_eq!(project.snapshots(), expected);
    project.assert_nothing_left();
}

#[test]
fn a_kernel_that_the_built_in_list_does_not_have_is_refused_with_those_that_it_has() {
    let project = Project::new();
    project.scenario("a", "workload: { run: [\"true\"] }");
    // A status below 125 of `vm` is the command's.
    for (arguments, status) in [
        (&["vm", "--kernel", "6.2", "--", "true"][..], 125),
        (&["matrix", "--kernel", "6.2", "scenarios"], 2),
    ] {
        let run = project.harness(arguments);
        run.assert_status(status);
        let said = "no kernel `6.2` in the list, which has 5.10, 6.1, 6.12, 7.2";
        assert!(run.stderr.contains(said), "{arguments:?}: {}", run.stderr);
    }
}
