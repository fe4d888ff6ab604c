//! Whole files, written and read back.

use super::*;
use crate::scenario::read;
use crate::scenario::write::scalar::tests::HOSTILE;
use crate::scenario::{
    Between, CountRange, Literal, NumberOf, Pattern, SandboxSpec, Scenario, StepSpec, Test, event,
};
use perf_live::sandbox::{Addresses, Network, Root, Survivors, UserSpec};
use perf_live::units::Limits;
use std::collections::BTreeMap;
use std::path::Path;

fn draft() -> Draft {
    Draft::of_ls(vec![EventSpec::Syscalls(vec!["openat".to_owned()])])
}

impl Draft {
    /// One for tests.
    pub(crate) fn of_ls(events: Vec<EventSpec>) -> Self {
        let workload = Workload {
            command: Command::Run(vec!["ls".to_owned()]),
            env: BTreeMap::new(),
            stdin: None,
            files: BTreeMap::new(),
            timeout: Duration::from_secs(10),
        };
        Self::new("it lists".to_owned(), workload, events)
    }
}

fn read_back(text: &str) -> Scenario {
    read(Path::new("x.yaml"), text).unwrap_or_else(|complaint| panic!("{complaint}\n{text}"))
}

/// What a run suggests.
fn suggested() -> Expectations {
    let capture = |name: &str| Test::Capture(name.to_owned());
    let contains = |text: &str| Test::Contains(vec![text.to_owned()]);
    let field = |name: &str, test: Test| (name.to_owned(), test);
    let step = |name: &str, fields: Vec<(String, Test)>| Pattern::Step(event(name, fields));
    let fields = vec![
        field("path", capture("new")),
        field("flags", contains("O_CREAT")),
    ];
    Expectations {
        sequence: vec![
            step("openat", fields),
            step(
                "rename",
                vec![
                    field("from", capture("new")),
                    field("to", Test::Is(Literal::Text("a b".to_owned()))),
                ],
            ),
            step("close", Vec::new()),
        ],
        never: vec![
            event("%network", Vec::new()),
            event("unlink", vec![field("path", Test::Prefix("/".to_owned()))]),
        ],
        count: vec![NumberOf {
            step: event("fsync", Vec::new()),
            times: CountRange {
                min: 2,
                max: Some(4),
            },
        }],
        ..Expectations::default()
    }
}

/// A draft with something of everything.
fn full() -> Draft {
    let file = |source: FileSource, mode: Option<u32>| FileSpec {
        source,
        mode,
        owner: None,
    };
    Draft {
        sandbox: WorldSpec {
            network: Network::Host,
            user: Some(UserSpec::Id(1000)),
            ..WorldSpec::default()
        },
        schema: Some("../schema.json".to_owned()),
        head: vec!["Recorded.".to_owned(), String::new()],
        workload: Workload {
            command: Command::Run(
                ["python3", "-c", "print('a b')", "10"]
                    .map(str::to_owned)
                    .to_vec(),
            ),
            env: BTreeMap::from([("LANG".to_owned(), "C".to_owned())]),
            stdin: Some("one\n".to_owned()),
            files: BTreeMap::from([
                (
                    "a.txt".into(),
                    file(FileSource::Content("one\n\ttwo\n".to_owned()), None),
                ),
                (
                    "b c".into(),
                    file(FileSource::From("../b c".into()), Some(0o755)),
                ),
            ]),
            timeout: Duration::from_millis(1500),
        },
        events: vec![
            EventSpec::Syscalls(vec!["%file".to_owned(), "openat".to_owned()]),
            EventSpec::Event(EventWish {
                name: "sched:sched_switch".to_owned(),
                filter: Some("prev_prio < 120".to_owned()),
                ..EventWish::default()
            }),
            EventSpec::Event(EventWish {
                name: "sched:*".to_owned(),
                ..EventWish::default()
            }),
        ],
        on_events: vec!["Fewer are better.".to_owned()],
        exit: ExitKind::Signal(15),
        stdout: Some(ExpectedOutput::Exact("one\n".to_owned())),
        stderr: Some(ExpectedOutput::Exact("a: b\nc\n".to_owned())),
        on_output: vec!["It varies.".to_owned()],
        suggestions: vec![Suggestion {
            why: vec!["It is replaced:".to_owned()],
            expectations: suggested(),
        }],
        on_snapshot: vec!["Strict.".to_owned()],
        snapshot: SnapshotSpec::Off,
        ..draft()
    }
}

#[test]
fn a_draft_is_written_as_a_person_would() {
    let draft = full();
    let expected = r##"# yaml-language-server: $schema=../schema.json
# Recorded.
#
description: it lists
workload:
  run: [python3, -c, "print('a b')", "10"]
  env: { LANG: C }
  stdin: "one\n"
  files:
    a.txt: |
      one
      	two
    "b c": { from: "../b c", mode: "0755" }
  timeout: 1500ms
sandbox: { network: host, user: 1000 }
trace:
  events:
    # Fewer are better.
    - syscalls: ["%file", openat]
    - { event: sched:sched_switch, filter: "prev_prio < 120" }
    - "sched:*"
expect:
  exit: { signal: SIGTERM }
  stdout: "one\n"
  stderr: |
    a: b
    c
  # It varies.
  # It is replaced:
  #sequence:
  #  - openat: { path: $new, flags: { contains: O_CREAT } }
  #  - rename: { from: $new, to: "a b" }
  #  - close
  #never: ["%network", { unlink: { path: { prefix: / } } }]
  #count: { fsync: 2..=4 }
# Strict.
snapshot: false
"##;
    assert_eq!(draft.text(), expected);
    read_back(&draft.text());
    // What is commented out is good as it stands.
    let expectations = read_back(
        &draft
            .text()
            .replace("\n  #sequence", "\n  sequence")
            .replace("\n  #never", "\n  never")
            .replace("\n  #count", "\n  count")
            .replace("\n  #  -", "\n    -"),
    )
    .expect
    .events;
    assert_eq!(
        (
            expectations.sequence.len(),
            expectations.never.len(),
            expectations.count.len()
        ),
        (3, 2, 1)
    );
}

#[test]
fn whatever_a_workload_says_is_read_back() {
    for text in HOSTILE.iter().filter(|text| !text.contains('\0')) {
        let owned = (*text).to_owned();
        let mut draft = draft();
        draft.workload.command = Command::Run(vec!["x".to_owned(), owned.clone()]);
        draft.workload.env.insert("A".to_owned(), owned.clone());
        draft.workload.stdin = Some(owned.clone());
        let spec = |mode| FileSpec {
            source: FileSource::Content(owned.clone()),
            mode,
            owner: None,
        };
        draft.workload.files.insert("a".into(), spec(None));
        draft.workload.files.insert("b".into(), spec(Some(0o600)));
        draft.stdout = Some(ExpectedOutput::Exact(owned.clone()));
        if !text.trim().is_empty() {
            draft.description.clone_from(&owned);
        }
        let read = read_back(&draft.text());
        assert_eq!(read.workload, draft.workload, "{text:?}");
        assert_eq!(read.description, draft.description);
        assert!(
            matches!(&read.expect.stdout, Some(ExpectedOutput::Exact(found)) if *found == owned)
        );
        if !text.trim().is_empty() {
            let mut draft = draft.clone();
            draft.workload.command = Command::Shell(owned.clone());
            assert_eq!(
                read_back(&draft.text()).workload,
                draft.workload,
                "{text:?}"
            );
        }
    }
}

#[test]
fn whatever_a_sandbox_is_is_read_back() {
    let mut draft = draft();
    assert!(!draft.text().contains("sandbox"));
    draft.sandbox = WorldSpec {
        network: Network::Host,
        root: Root::Host,
        user: None,
        hostname: "box".to_owned(),
        umask: 0o7,
        addresses: Addresses::Random,
        limits: Limits {
            cpu: Some(Duration::from_millis(1500)),
            memory: Some(1 << 20),
            processes: Some(3),
            open_files: Some(4),
            file_size: Some(5),
            output: Some(6),
        },
        survivors: Survivors::Allowed,
    };
    let names = ["1000", "no #body"].map(|name| UserSpec::Name(name.to_owned()));
    for user in names.into_iter().chain([UserSpec::Id(1000)]) {
        draft.sandbox.user = Some(user);
        let read = read_back(&draft.text()).sandbox;
        assert_eq!(read, SandboxSpec::Own(draft.sandbox.clone()));
    }
}

#[test]
fn what_stands_between_two_is_read_back() {
    let mut draft = draft();
    let one = |min| Between {
        first: event("write", Vec::new()),
        then: event(
            "sendto",
            vec![("fd".to_owned(), Test::Prefix("tcp:".to_owned()))],
        ),
        there_is: event("fsync", Vec::new()),
        times: CountRange { min, max: None },
    };
    draft.suggestions = vec![Suggestion {
        why: Vec::new(),
        expectations: Expectations {
            between: vec![one(1), one(0)],
            ..Expectations::default()
        },
    }];
    let text = draft.text();
    assert!(
        text.contains(
            "  #between:\n  #  - first: write\n  #    then: { sendto: { fd: { prefix: \"tcp:\" } } }\n  \
             #    there_is: fsync\n  #  - first: write\n"
        ),
        "{text}"
    );
    let read = read_back(&text.replace("  #", "  ")).expect.events;
    let times: Vec<u64> = read.between.iter().map(|it| it.times.min).collect();
    assert_eq!(times, [1, 0]);
}

#[test]
fn whatever_a_field_must_be_is_read_back() {
    let text = |text: &str| Test::Is(Literal::Text(text.to_owned()));
    let odd = [
        "any",
        "$x",
        "$DIR/a",
        "1..=4",
        "3..",
        "..=0",
        "12",
        "-1",
        "0x1f",
        "a b",
        "",
        "O_RDWR|O_CREAT",
        "true",
        "*",
    ];
    let mut tests: Vec<Test> = odd.map(text).to_vec();
    tests.extend(
        HOSTILE
            .iter()
            .filter(|text| !text.is_empty())
            .map(|hostile| text(hostile)),
    );
    tests.extend([-1, 0, i128::from(u64::MAX)].map(|number| Test::Is(Literal::Number(number))));
    tests.extend([
        Test::Any,
        Test::OneOf(vec![text("a"), text("$x"), Test::Prefix("b,c".to_owned())]),
        Test::Glob("**/*.so".to_owned()),
        Test::Regex(regex::bytes::Regex::new(r"^a\s'b$").unwrap()),
        Test::Contains(vec!["O_CREAT".to_owned()]),
        Test::Contains(vec!["O_CREAT".to_owned(), "O_EXCL".to_owned()]),
        Test::Range(Some(-1), Some(4)),
        Test::Range(None, Some(4)),
        Test::Range(Some(2), None),
        Test::Not(Box::new(text("a"))),
        Test::Not(Box::new(Test::OneOf(vec![text("a"), text("any")]))),
    ]);
    for test in tests {
        let expectations = Expectations {
            never: vec![event("openat", vec![("path".to_owned(), test.clone())])],
            ..Expectations::default()
        };
        let lines = steps::lines(&expectations);
        let lines: Vec<String> = lines.iter().map(|line| format!("  {line}\n")).collect();
        let head = "description: x\nworkload: { run: [ls] }\nexpect:\n";
        let scenario = read_back(&format!("{head}{}", lines.concat()));
        let [StepSpec { fields, .. }] = scenario.expect.events.never.as_slice() else {
            panic!("{lines:?}");
        };
        assert_eq!(format!("{:?}", fields[0].1), format!("{test:?}"));
    }
}
