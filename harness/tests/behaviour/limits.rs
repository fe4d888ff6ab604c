//! What a run may use: to reach a limit is a failure unless it is expected, by whatever means it is
//! enforced; and reports say what was used.

use serde_json::Value;

use crate::support::project::{Project, Run};
use crate::support::require::{program, require, right_to_trace};

/// A limit with a workload that reaches it and one that does not.
struct Case {
    limit: &'static str,
    /// `workload.timeout` or `sandbox.limits`, as YAML.
    set: &'static str,
    above: &'static str,
    below: &'static str,
}

// So many children at a time; each waits for the end of a pipe that the parent holds.
const CHILDREN: &str = "perl -e 'pipe(R,W); my $made = 0; for (1..shift) { my $child = fork; defined $child or last; \
                        $child or do { close W; sysread R, $_, 1; exit }; $made++ } close W; 1 while wait > 0; exit($made == 0)'";

/// Takes so many bytes and then waits for its end.
const EATER: &str =
    "perl -e 'pipe(R,W); $eaten = \"x\" x shift; shift and sysread R, $_, 1; exit !length $eaten'";

const CASES: [Case; 7] = [
    Case {
        limit: "timeout",
        set: "timeout: 300ms",
        above: "exec sleep 1000",
        below: ":",
    },
    Case {
        limit: "cpu",
        set: "limits: { cpu: 500ms }",
        above: "while :; do :; done",
        below: ":",
    },
    Case {
        limit: "memory",
        set: "limits: { memory: 64MiB }",
        above: "EATER 100000000 1",
        below: "EATER 1000000 0",
    },
    Case {
        limit: "processes",
        set: "limits: { processes: 6 }",
        above: "CHILDREN 20",
        below: "CHILDREN 4",
    },
    Case {
        limit: "open_files",
        set: "limits: { open_files: 16 }",
        above: "perl -e 'for (1..30) { open my $f, \"<\", \"/dev/null\" or last; push @all, $f }'",
        below: "perl -e 'for (1..5) { open my $f, \"<\", \"/dev/null\" or last; push @all, $f }'",
    },
    Case {
        limit: "file_size",
        set: "limits: { file_size: 10KiB }",
        above: "trap '' XFSZ; head -c 20000 /dev/zero > file; :",
        below: "head -c 10000 /dev/zero > file",
    },
    Case {
        limit: "output",
        set: "limits: { output: 10KiB }",
        above: "head -c 6000 /dev/zero; head -c 6000 /dev/zero >&2",
        below: "head -c 5000 /dev/zero; head -c 5000 /dev/zero >&2",
    },
];

/// A scenario of a case.
fn scenario(case: &Case, shell: &str, rest: &str) -> String {
    let shell = shell
        .replace("CHILDREN", CHILDREN)
        .replace("EATER", EATER)
        .replace('\'', "''");
    let (timeout, limits) = match case.limit {
        "timeout" => (case.set, "limits: {}"),
        _ => ("timeout: 60s", case.set),
    };
    format!(
        "workload: {{ shell: '{shell}', {timeout} }}\nsandbox: {{ {limits} }}\ntrace: {{ events: [{{ syscalls: [exit_group] }}] }}\n{rest}"
    )
}

/// The line of a scenario.
fn line(run: &Run, name: &str) -> Value {
    let lines = run.json();
    let found = lines.into_iter().find(|line| line["name"] == name);
    found.unwrap_or_else(|| panic!("no {name}: {run:?}"))
}

#[test]
fn a_run_that_reaches_a_limit_does_not_pass_and_one_that_stays_below_it_does() {
    require!(right_to_trace());
    let project = Project::new().in_time();
    for case in &CASES {
        for (name, shell) in [("above", case.above), ("below", case.below)] {
            let name = format!("{}-{name}", case.limit);
            project.scenario(&name, &scenario(case, shell, "snapshot: false\n"));
        }
    }
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    for case in &CASES {
        let above = line(&run, &format!("{}-above", case.limit));
        let verdict = match case.limit {
            "timeout" | "cpu" => "timeout",
            _ => "fail",
        };
        assert_eq!(above["verdict"], verdict, "{above}");
        assert_eq!(above["struck"], serde_json::json!([case.limit]), "{above}");
        let said = above["reasons"][0].as_str().expect("a reason");
        let start = match case.limit {
            "timeout" => "the workload did not end within 300ms".to_owned(),
            other => format!("the limit of {} (", other.replace('_', " ")),
        };
        assert!(said.starts_with(&start), "{above}");
        let below = line(&run, &format!("{}-below", case.limit));
        assert_eq!(below["verdict"], "pass", "{below}");
        assert_eq!(below["struck"], serde_json::json!([]), "{below}");
    }
    project.assert_nothing_left();
}

#[test]
fn a_limit_that_is_expected_must_be_reached() {
    require!(right_to_trace());
    let project = Project::new();
    for case in &CASES {
        for (name, shell) in [("above", case.above), ("below", case.below)] {
            let name = format!("{}-{name}", case.limit);
            let rest = format!("snapshot: false\nexpect: {{ limit: {} }}\n", case.limit);
            project.scenario(&name, &scenario(case, shell, &rest));
        }
    }
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    for case in &CASES {
        let above = line(&run, &format!("{}-above", case.limit));
        assert_eq!(above["verdict"], "pass", "{above}");
        assert_eq!(above["struck"], serde_json::json!([case.limit]), "{above}");
        let below = line(&run, &format!("{}-below", case.limit));
        assert_eq!(below["verdict"], "fail", "{below}");
        let said = below["reasons"][0].as_str().expect("a reason");
        let start = format!("expected the limit of {} (", case.limit.replace('_', " "));
        assert!(said.starts_with(&start), "{below}");
    }
}

#[test]
fn an_exit_that_is_written_down_is_judged_beside_an_expected_limit() {
    require!(right_to_trace());
    let project = Project::new();
    for (name, exit) in [("right", "{ signal: SIGKILL }"), ("wrong", "0")] {
        let rest = format!("snapshot: false\nexpect: {{ limit: timeout, exit: {exit} }}\n");
        project.scenario(name, &scenario(&CASES[0], CASES[0].above, &rest));
    }
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    let verdicts = run.verdicts();
    assert_eq!(verdicts["right"].0, "pass");
    let reason = "expected exit status 0, got killed by SIGKILL";
    assert_eq!(verdicts["wrong"], ("fail".to_owned(), reason.to_owned()));
}

#[test]
fn a_fork_bomb_ends_at_its_limit_or_with_its_time() {
    require!(right_to_trace());
    let bomb = "workload: { run: [perl, -e, 'while (1) { fork }'], timeout: 5s }\nsandbox: { limits: { processes: 50 } }\n\
                trace: { events: [ { syscalls: [exit_group] } ] }\nsnapshot: false\n";
    let project = Project::with("bomb", bomb);
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    let bomb = line(&run, "bomb");
    // One that is not dead a second after its end is `broken`.
    let verdict = bomb["verdict"].as_str().expect("a verdict");
    assert!(["fail", "timeout"].contains(&verdict), "{bomb}");
    let struck = bomb["struck"].as_array().expect("limits");
    assert!(struck.contains(&"processes".into()), "{bomb}");
    project.assert_nothing_left();
}

#[test]
fn a_run_that_was_cut_short_has_no_snapshot_and_one_whose_call_failed_has_one() {
    require!(right_to_trace());
    let project = Project::new();
    for case in &CASES {
        let rest = format!("expect: {{ limit: {} }}\n", case.limit);
        project.scenario(case.limit, &scenario(case, case.above, &rest));
    }
    let run = project.harness(&["run", "--update", "--format", "json", "scenarios"]);
    run.assert_status(0);
    // That of processes makes calls fail or ends the run, as the machine can.
    let stored: Vec<String> = project.snapshots();
    let stored = stored
        .iter()
        .filter(|name| !name.contains("processes"))
        .collect::<Vec<_>>();
    assert_eq!(
        stored,
        ["snapshots/file_size.snap", "snapshots/open_files.snap"]
    );
}

#[test]
fn what_was_used_is_told_of_every_run() {
    require!(right_to_trace());
    let project = Project::new();
    let everything = "trace: { events: [ { syscalls: [exit_group] } ] }\nsnapshot: false\n";
    let shell = |words: &str| {
        let words = words
            .replace("CHILDREN", CHILDREN)
            .replace("EATER", EATER)
            .replace('\'', "''");
        format!("workload: {{ shell: '{words}' }}\n{everything}")
    };
    project.scenario(
        "burns",
        &shell("perl -e 'while ((times)[0] + (times)[1] < 0.3) {}'"),
    );
    project.scenario("eats", &shell("EATER 50000000 0"));
    project.scenario("breeds", &shell("exec CHILDREN 7"));
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    run.assert_status(0);
    let usage = |name: &str| line(&run, name)["usage"].clone();
    let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{run:?}"));
    let burned = number(&usage("burns")["cpu_us"]);
    assert!((290_000..5_000_000).contains(&burned), "{burned}");
    assert!(number(&usage("burns")["context_switches"]) > 0);
    let eaten = number(&usage("eats")["largest_process"]);
    assert!((50_000_000..200_000_000).contains(&eaten), "{eaten}");
    // Without the controller it is not known.
    let peak = &usage("eats")["memory_peak"];
    assert!(
        peak.is_null() || (50_000_000..200_000_000).contains(&number(peak)),
        "{peak}"
    );
    assert_eq!(usage("breeds")["processes_peak"], 8);
}

#[test]
fn a_limit_that_cannot_be_is_an_error_with_its_place_before_anything_runs() {
    let cases = [
        (
            "sandbox: { limits: { open_files: 9000000000 } }",
            "3:34",
            "the hard limit of open files is",
        ),
        (
            "sandbox: { limits: { memory: 4KiB } }",
            "3:30",
            "no program can be started in so little memory",
        ),
        (
            "expect: { limit: memory }",
            "3:18",
            "there is no limit of `memory` to reach",
        ),
    ];
    for (text, place, part) in cases {
        let project = Project::with(
            "bad",
            &format!("workload: {{ run: [touch, /bad] }}\n{text}"),
        );
        let run = project.harness(&["run", "scenarios"]);
        run.assert_status(2);
        let place = format!("bad.yaml:{place}");
        assert!(
            run.stderr.contains(&place) && run.stderr.contains(part),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn an_error_that_a_fault_answers_comes_to_no_limit() {
    require!(right_to_trace());
    let project = Project::new();
    for (name, error, limit, expected) in [
        ("files", "EMFILE", "open_files: 64", "{}"),
        ("size", "EFBIG", "file_size: 1MiB", "{}"),
        (
            "reached",
            "EMFILE",
            "open_files: 64",
            "{ limit: open_files }",
        ),
    ] {
        let text = format!(
            "workload: {{ shell: \"cat a 2>/dev/null; exit 0\", files: {{ a: x }} }}\n\
             sandbox: {{ limits: {{ {limit} }} }}\nsnapshot: false\n\
             trace: {{ events: [{{ syscalls: [openat] }}], since: main }}\n\
             faults: [{{ openat: {{ path: a, error: {error} }} }}]\nexpect: {expected}"
        );
        project.scenario(name, &text);
    }
    let run = project.harness(&["run", "scenarios"]);
    run.assert_status(1);
    for line in [
        "      pass  files ",
        "      pass  size ",
        "      fail  reached ",
    ] {
        assert!(run.stdout.contains(line), "{}", run.stdout);
    }
}

#[test]
fn an_error_that_a_fault_answers_to_other_calls_hides_no_limit_of_processes() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    project.write(
        "forks.py",
        "import os\nfor i in range(6):\n  try: os.read(0, 1)\n  except BlockingIOError: pass\n\
         end, hold = os.pipe()\nmade = []\n\
         try:\n  for i in range(20):\n    child = os.fork()\n    if child == 0:\n      \
         os.close(hold); os.read(end, 1); os._exit(0)\n    made.append(child)\n\
         except BlockingIOError: pass\n\
         os.close(hold)\nfor child in made: os.waitpid(child, 0)\n",
    );
    project.scenario(
        "it",
        "workload: { run: [python3, forks.py], files: { forks.py: { from: ../forks.py } } }\n\
         sandbox: { user: nobody, limits: { processes: 5 } }\nsnapshot: false\n\
         trace: { events: [{ syscalls: [read, clone, fork, vfork, clone3] }] }\n\
         faults: [{ read: { fd: 0, error: EAGAIN } }]",
    );
    let run = project.harness(&["run", "scenarios"]);
    run.assert_status(1);
    let said = "the limit of processes (5) was reached";
    assert!(run.stdout.contains(said), "{}", run.stdout);
}
