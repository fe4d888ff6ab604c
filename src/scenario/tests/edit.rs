//! Changing the snapshot of a text and nothing else.

use super::*;
use crate::scenario::edit::with_snapshot;
use crate::scenario::{LevelSpec, SnapshotBy};

/// Ways to write a scenario around its snapshot, which stands where `@` is, in a line of its own.
const FRAMES: &[&str] = &[
    "description: x # why\nworkload: { run: [ls] }\n@\n",
    "description: x\nworkload: { run: [ls] }\n@",
    "description: 'x'\r\nworkload: { run: [\"ls\"] }   # quoted\r\n@\r\n# last\r\n",
    "# first\n---\ndescription: x\n@\n\n# about the workload\nworkload:\n    run: [ls]\n\n",
    "\u{feff}description: größe 日本 🎉\nexpect:\n  stdout: |\n    one\n\n  # about it\n@\n# about requires\nrequires: { commands: [ls] }\nworkload: { run: [ls] }\n",
    "workload:\n  run:\n    - ls\n    # the last\n\n@\ndescription: >\n  folded\n  text\n\n",
    "trace:\n  events:\n  - syscalls: [read]\nworkload: { run: [ls] }\ndescription: x\nexpect: { exit: 0 } # trouble: [\n@\nexpect_failure: y\n",
];

/// Ways to write a snapshot, each with blanks and comments of its own.
const SNAPSHOTS: &[&str] = &[
    "snapshot: true",
    "snapshot: false  # for now",
    "snapshot: {}",
    "snapshot: { level: counts }",
    "snapshot: {level: set,hide: [brk , 'futex']}",
    "snapshot: { hide: [\"%memory\"], level: sequence, temporary: [\"sed??????\"], }",
    "snapshot: # all of it\n  level: counts # since it varies\n  # these come and go\n  hide:\n    - brk\n    - futex # too\n",
    "snapshot:\n  show: [openat]\n  contents: 1KiB",
    "snapshot:\n  levels:\n    cc1: counts # parses\n    \"P3 sh\": { hide: [brk] }\n    \"*\":\n      level: set\n      hide: [brk, futex]\n  # all of them\n  by: program",
    "\"snapshot\": {\n  level: set, # loose\n  contents: 16\n  }",
];

fn specs() -> Vec<SnapshotSpec> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let of = |name: &str, level, hide| {
        (
            name.to_owned(),
            LevelSpec {
                level,
                set: words(hide),
                hide: words(hide),
                ..LevelSpec::default()
            },
        )
    };
    let levels = vec![
        of("cc1", SnapshotLevel::Counts, &[]),
        of("P3 sh", SnapshotLevel::Sequence, &["brk"]),
        of("*", SnapshotLevel::Set, &["brk", "futex"]),
    ];
    let mut specs = vec![SnapshotSpec::Off];
    for level in SnapshotLevel::ALL {
        for hide in [&[][..], &["brk", "futex"], &["rename*", "a, b"]] {
            for contents in [0_u16, 16] {
                specs.push(SnapshotSpec::On(SnapshotKeys {
                    level,
                    hide: words(hide),
                    show: words(if contents > 0 { &["openat"] } else { &[] }),
                    contents,
                    temporary: words(if hide.is_empty() { &[] } else { &["sed??????"] }),
                    levels: match hide.len() > usize::from(contents) {
                        true => levels.clone(),
                        false => Vec::new(),
                    },
                    by: match hide.is_empty() {
                        true => SnapshotBy::Process,
                        false => SnapshotBy::Program,
                    },
                    section: None,
                }));
            }
        }
    }
    specs
}

fn edited(text: &str, wanted: &SnapshotSpec) -> String {
    with_snapshot(Path::new("x.yaml"), text, wanted)
        .unwrap_or_else(|complaint| panic!("{complaint}"))
}

/// A text's scenario, whatever its snapshot is.
fn rest(text: &str) -> (Scenario, SnapshotSpec) {
    let mut scenario = read_text(text).unwrap_or_else(|complaint| panic!("{complaint}"));
    let snapshot = std::mem::take(&mut scenario.snapshot);
    (scenario, snapshot)
}

fn same(one: &Scenario, other: &Scenario) -> bool {
    let said = |scenario: &Scenario| {
        format!(
            "{:?}",
            (
                &scenario.description,
                &scenario.workload,
                &scenario.sandbox,
                &scenario.trace,
                &scenario.expect,
                &scenario.requires,
                &scenario.expect_failure
            )
        )
    };
    said(one) == said(other)
}

#[test]
fn a_text_with_another_snapshot_is_the_same_scenario_but_for_it() {
    for frame in FRAMES {
        let newline = if frame.contains('\r') { "\r\n" } else { "\n" };
        let (before, behind) = frame.split_once('@').unwrap();
        for snapshot in SNAPSHOTS {
            let snapshot = snapshot.replace('\n', newline);
            let text = format!("{before}{snapshot}{behind}");
            let (scenario, _) = rest(&text);
            for wanted in specs() {
                let new = edited(&text, &wanted);
                let (read, found) = rest(&new);
                assert_eq!(found, wanted, "{text:?}\n{new:?}");
                assert!(same(&read, &scenario), "{text:?}\n{new:?}");
                if wanted == SnapshotSpec::default() && found != rest(&text).1 {
                    assert!(!new.contains("snapshot"), "{text:?}\n{new:?}");
                }
                assert!(new.starts_with(before.trim_end()), "{text:?}\n{new:?}");
                assert!(new.ends_with(behind.trim_start()), "{text:?}\n{new:?}");
                assert_eq!(
                    new.contains('\r'),
                    new.replace("\r\n", "").contains('\n') != new.contains('\n'),
                    "{new:?}"
                );
                assert_eq!(
                    edited(&new, &wanted),
                    new,
                    "the second time changes nothing"
                );
            }
        }
    }
}

#[test]
fn the_section_of_a_snapshot_is_written_and_taken_out_again() {
    let text = "description: x\nworkload: { run: [ls] }\nsections: { save: { from: a, to: b } }\n\
                expect: { sections: { save: { never: [connect] } } }\nsnapshot: { level: set }\n";
    let (scenario, old) = rest(text);
    let (_, wanted) = rest(&text.replace("level: set", "level: set, section: save"));
    let new = edited(text, &wanted);
    let (read, found) = rest(&new);
    assert_eq!(found.section(), Some("save"), "{new}");
    assert!(same(&read, &scenario));
    assert_eq!(edited(&new, &old), text);
}

#[test]
fn a_snapshot_that_is_added_and_taken_out_again_leaves_every_byte() {
    for frame in FRAMES {
        for newline in ["\n", "\r\n", ""] {
            let text = frame.replace(&format!("@{newline}"), "");
            if text.contains('@') {
                continue;
            }
            for wanted in specs() {
                let new = edited(&text, &wanted);
                assert_eq!(rest(&new).1, wanted);
                assert_eq!(edited(&new, &SnapshotSpec::default()), text);
            }
        }
    }
}

fn level(level: SnapshotLevel) -> SnapshotSpec {
    SnapshotSpec::On(SnapshotKeys {
        level,
        ..SnapshotKeys::default()
    })
}

#[track_caller]
fn becomes(text: &str, wanted: &SnapshotSpec, expected: &str) {
    let head = "description: x\nworkload: { run: [ls] }\n";
    let new = edited(&format!("{head}{text}"), wanted);
    assert_eq!(new.strip_prefix(head), Some(expected));
}

#[test]
fn the_key_is_written_where_a_reader_looks_for_it() {
    let counts = level(SnapshotLevel::Counts);
    becomes("", &counts, "snapshot: { level: counts }\n");
    becomes(
        "expect: # all\n  exit: 0\n# of the list\nrequires: { commands: [ls] }\n",
        &counts,
        "expect: # all\n  exit: 0\nsnapshot: { level: counts }\n# of the list\nrequires: { commands: [ls] }\n",
    );
    becomes(
        "expect: { exit: 0 } # x",
        &counts,
        "expect: { exit: 0 } # x\nsnapshot: { level: counts }",
    );
    let flow = "{description: x, workload: {run: [ls]}, expect: {exit: 0}, requires: {}}";
    assert_eq!(
        edited(flow, &counts),
        "{description: x, workload: {run: [ls]}, expect: {exit: 0}, snapshot: { level: counts }, requires: {}}"
    );
    let back = edited(&edited(flow, &counts), &SnapshotSpec::default());
    assert_eq!(back, flow);
}

#[test]
fn what_the_snapshot_says_already_stays_as_it_is_written() {
    let wanted = SnapshotSpec::On(SnapshotKeys {
        level: SnapshotLevel::Set,
        hide: vec!["brk".to_owned(), "futex".to_owned()],
        ..SnapshotKeys::default()
    });
    becomes(
        "snapshot: { hide: ['brk',   futex], level: counts } # why\n",
        &wanted,
        "snapshot: { hide: ['brk',   futex], level: set } # why\n",
    );
    becomes(
        "snapshot: {\n  hide: ['brk', futex]  # they vary\n  }\n",
        &wanted,
        "snapshot: {\n  level: set, hide: ['brk', futex]  # they vary\n  }\n",
    );
    becomes(
        "snapshot:\n  # they vary\n  hide:\n    - brk # often\n    - futex\n  level: counts\n",
        &wanted,
        "snapshot:\n  # they vary\n  hide:\n    - brk # often\n    - futex\n  level: set\n",
    );
    becomes(
        "snapshot:\n    contents: 1KiB # much\n    # they vary\n    hide: [brk, futex]\n    level: counts\n# end\n",
        &wanted,
        "snapshot:\n    # they vary\n    hide: [brk, futex]\n    level: set\n# end\n",
    );
    becomes(
        "snapshot: false # not yet\n",
        &wanted,
        "snapshot: { level: set, hide: [brk, futex] } # not yet\n",
    );
}

#[test]
fn what_cannot_be_edited_is_said_with_what_to_write() {
    let text = "description: x\nworkload: { run: [ls], env: &e { level: counts } }\nsnapshot: *e\n";
    let complaint =
        with_snapshot(Path::new("x.yaml"), text, &level(SnapshotLevel::Set)).unwrap_err();
    assert_eq!(
        format!("\n{complaint}\n"),
        "
error: `snapshot` cannot be changed here
 --> x.yaml:3:1
  |
3 | snapshot: *e
  | ^^^^^^^^
  |
  = help: write `snapshot: { level: set }` yourself
"
    );
    assert!(with_snapshot(Path::new("x.yaml"), "snapshot: [\n", &SnapshotSpec::Off).is_err());
    assert!(with_snapshot(Path::new("x.yaml"), "snapshot: 7\n", &SnapshotSpec::Off).is_err());
}
