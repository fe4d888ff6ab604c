//! The reader as its users meet it: whole texts in, scenarios or whole rendered complaints out.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{
    Command, CountRange, Diagnostic, EventSpec, EventWish, ExpectedOutput, FileSource, FileSpec,
    KeyPath, LevelSpec, Scenario, SnapshotBy, SnapshotKeys, SnapshotLevel, SnapshotSpec, read,
};
use perf_live::units::ExitKind;

mod after;
mod between;
mod captures;
mod confined;
mod crash;
mod edit;
mod faults;
mod fields;
mod files;
mod keys;
mod matrix;
mod patterns;
mod programs;
mod reference;
mod ring;
mod sections;
mod spans;
mod steps;
mod values;
mod whole;
mod workload;
mod yaml;

/// Uses every key, and characters of one to four bytes.
pub(super) const FULL: &str = r##"# ein Beispiel für alles 🎉
description: the save path must fsync the file before the rename
workload:
  run: [python3, save.py, config.toml]
  env: { LANG: C, GREETING: "grüß dich 日本" }
  stdin: "hello\n"
  files:
    save.py: { from: ../workloads/save.py }
    config.toml: "a = 1\n"
    bin/tool.sh: { content: "#!/bin/sh\nexit 0\n", mode: "0755" }
    notes: |
      one
      two
  timeout: 500ms
trace:
  events:
    - syscalls: [openat, write, "rename*", "%file", "!futex"]
    - sched:sched_process_exec
    - "sched:*"
    - { event: "sched:sched_switch", filter: "prev_prio < 120" }
  ring: { size: 64KiB }
  since: { step: { openat: { path: start } } }
sections:
  save: { from: ">save", to: { write: { buf: { prefix: "<s" } } } }
baseline: { shell: "cat < config.toml" }
lenient: "the ünderlying library's calls differ"
expect:
  sequence:
    - openat: { path: [config.tmp, { glob: "*.tmp" }], flags: { contains: [O_CREAT] }, returns: $fd }
    - never: { write: { fd: { not: $fd } } }
    - any_order: [fsync, { sequence: [{ fchmod: { fd: $fd, mode: { range: "0..=511" } } }, next: close] }]
  any_order: [{ rename: { to: { regex: "^日" } } }]
  never: [{ connect: {} }, { sendto: { returns: -1 } }]
  only: ["%file", "%desc"]
  sections: { save: { count: [{ fsync: { fd: any }, times: 1 }] } }
  delta: { openat: +1, read: "-1..=2" }
  files_after: { config.toml: "a = 1\n", "*.log": { exists: false }, l: { target: x, kind: symlink } }
  exit: { signal: SIGKILL }
  stdout: "saved\n"
  stderr: { matches: "^warning: .*$" }
  count: { fsync: 2, openat: "1..=4", write: 2.., sched:sched_process_exec: "..=3" }
snapshot: { level: counts, hide: [brk], show: ["%file"], contents: 2KiB, temporary: ["Cu??????"], levels: { cc1: set, P2 sh: { counts: [read], set: [write], hide: [brk] } }, by: program, section: save }
requires: { kernel: ">= 5.10", tracepoints: ["sched:sched_switch"], commands: [python3] }
expect_failure: the directory is not synced yet
"##;

fn read_text(text: &str) -> Result<Scenario, Diagnostic> {
    read(Path::new("x.yaml"), text)
}

/// Reading `text` must fail, and its complaint must be shown as `expected`, which starts and ends
/// with a newline.
#[track_caller]
fn check(text: &str, expected: &str) {
    let complaint = read_text(text).expect_err("the text must be refused");
    assert_eq!(format!("\n{complaint}\n"), expected);
    let place = format!(" --> x.yaml:{}:{}\n", complaint.line, complaint.column);
    assert!(expected.contains(&place), "the place is {place:?}");
    assert!(expected.starts_with(&format!("\nerror: {}\n", complaint.message)));
}

#[test]
fn every_key_is_read_as_it_is_written() {
    let scenario = read_text(FULL).unwrap();
    let workload = &scenario.workload;
    assert_eq!(
        scenario.description,
        "the save path must fsync the file before the rename"
    );
    assert_eq!(
        workload.command.argv(),
        ["python3", "save.py", "config.toml"]
    );
    assert_eq!(workload.env["GREETING"], "grüß dich 日本");
    assert_eq!(workload.stdin.as_deref(), Some("hello\n"));
    assert_eq!(workload.timeout, Duration::from_millis(500));
    let file = |path: &str| workload.files[Path::new(path)].clone();
    let content = |text: &str| FileSource::Content(text.to_owned());
    let from = FileSource::From(PathBuf::from("../workloads/save.py"));
    assert_eq!(
        file("save.py"),
        FileSpec {
            owner: None,
            source: from,
            mode: None
        }
    );
    assert_eq!(
        file("config.toml"),
        FileSpec {
            owner: None,
            source: content("a = 1\n"),
            mode: None
        }
    );
    let tool = FileSpec {
        owner: None,
        source: content("#!/bin/sh\nexit 0\n"),
        mode: Some(0o755),
    };
    assert_eq!(file("bin/tool.sh"), tool);
    assert_eq!(
        file("notes"),
        FileSpec {
            owner: None,
            source: content("one\ntwo\n"),
            mode: None
        }
    );
    assert_eq!(
        scenario.expect_failure.as_deref(),
        Some("the directory is not synced yet")
    );
}

#[test]
fn every_event_and_expectation_is_read_as_it_is_written() {
    let scenario = read_text(FULL).unwrap();
    let owned = |names: &[&str]| {
        names
            .iter()
            .map(|&name| name.to_owned())
            .collect::<Vec<_>>()
    };
    let tracepoint = |name: &str, filter: Option<&str>| {
        EventSpec::Event(EventWish {
            name: name.to_owned(),
            filter: filter.map(str::to_owned),
            ..EventWish::default()
        })
    };
    assert_eq!(
        scenario.trace.events,
        [
            EventSpec::Syscalls(owned(&["openat", "write", "rename*", "%file", "!futex"])),
            tracepoint("sched:sched_process_exec", None),
            tracepoint("sched:*", None),
            tracepoint("sched:sched_switch", Some("prev_prio < 120")),
        ]
    );
    assert_eq!(scenario.trace.ring.size, Some(65536));
    assert_eq!(scenario.expect.exit, Some(ExitKind::Signal(libc::SIGKILL)));
    assert!(matches!(&scenario.expect.stdout, Some(ExpectedOutput::Exact(s)) if s == "saved\n"));
    assert!(
        scenario
            .expect
            .stderr
            .unwrap()
            .accepts(b"warning: disk full")
    );
    let count = |name: &str| {
        let mut specs = scenario.expect.events.count.iter();
        specs.find(|spec| spec.step.event == name).unwrap().times
    };
    assert_eq!(
        count("fsync"),
        CountRange {
            min: 2,
            max: Some(2)
        }
    );
    assert_eq!(
        count("openat"),
        CountRange {
            min: 1,
            max: Some(4)
        }
    );
    assert_eq!(count("write"), CountRange { min: 2, max: None });
    assert_eq!(
        count("sched:sched_process_exec"),
        CountRange {
            min: 0,
            max: Some(3)
        }
    );
    let (hide, show) = (owned(&["brk"]), owned(&["%file"]));
    assert_eq!(
        scenario.snapshot,
        SnapshotSpec::On(SnapshotKeys {
            level: SnapshotLevel::Counts,
            hide,
            show,
            contents: 2048,
            temporary: owned(&["Cu??????"]),
            levels: vec![
                (
                    "cc1".to_owned(),
                    LevelSpec {
                        level: SnapshotLevel::Set,
                        ..LevelSpec::default()
                    }
                ),
                (
                    "P2 sh".to_owned(),
                    LevelSpec {
                        level: SnapshotLevel::Sequence,
                        counts: owned(&["read"]),
                        set: owned(&["write"]),
                        hide: owned(&["brk"]),
                    }
                ),
            ],
            by: SnapshotBy::Program,
            section: Some("save".to_owned()),
        })
    );
    assert_eq!(
        scenario.requires.soft.kernel.unwrap().to_string(),
        ">= 5.10"
    );
    assert_eq!(
        scenario.requires.soft.tracepoints[0].as_str(),
        "sched:sched_switch"
    );
    assert_eq!(scenario.requires.soft.commands, ["python3"]);
}

#[test]
fn what_is_not_written_has_its_default() {
    let scenario = read_text("description: d\nworkload: { shell: exit 0 }\n").unwrap();
    assert_eq!(
        scenario.workload.command,
        Command::Shell("exit 0".to_owned())
    );
    assert!(scenario.workload.env.is_empty() && scenario.workload.files.is_empty());
    assert_eq!(scenario.workload.stdin, None);
    assert_eq!(scenario.workload.timeout, Duration::from_secs(10));
    assert!(scenario.trace.events.is_empty());
    assert_eq!(scenario.trace.ring, super::RingSpec::default());
    assert_eq!(scenario.expect.exit, None);
    assert!(scenario.expect.stdout.is_none() && scenario.expect.stderr.is_none());
    assert!(scenario.expect.events.count.is_empty());
    assert_eq!(scenario.snapshot, SnapshotSpec::default());
    assert_eq!(scenario.requires, super::Requires::default());
    assert_eq!(scenario.expect_failure, None);
}

#[test]
fn the_other_way_to_write_a_value_is_read_too() {
    let text = "description: d\nworkload: { run: [a] }\ntrace: { ring: { size: 8192 } }\n\
                expect: { exit: 255, stdout: { contains: x } }\nsnapshot: false\n";
    let scenario = read_text(text).unwrap();
    assert_eq!(scenario.trace.ring.size, Some(8192));
    assert_eq!(scenario.expect.exit, Some(ExitKind::Code(255)));
    assert!(matches!(scenario.expect.stdout, Some(ExpectedOutput::Contains(x)) if x == "x"));
    assert_eq!(scenario.snapshot, SnapshotSpec::Off);
    let on = read_text(&text.replace("snapshot: false", "snapshot: true")).unwrap();
    assert_eq!(on.snapshot, SnapshotSpec::default());
}

#[test]
fn aliases_stand_for_their_values() {
    let text = "description: d\nworkload: { run: &argv [ls, -l] }\nrequires: { commands: *argv }\n";
    assert_eq!(
        read_text(text).unwrap().requires.soft.commands,
        ["ls", "-l"]
    );
}

#[test]
fn line_ends_of_other_systems_change_no_place() {
    let text = "\u{feff}description: \"ü\"\r\nworkload:\r\n  run: [ls]\r\n  timeout: 1\r\n";
    let complaint = read_text(text).unwrap_err();
    assert_eq!((complaint.line, complaint.column), (4, 12));
}

#[test]
fn no_truncation_panics_or_loses_its_place() {
    for length in (0..=FULL.len()).filter(|&length| FULL.is_char_boundary(length)) {
        let text = &FULL[..length];
        if let Err(complaint) = read_text(text) {
            let place = format!(" --> x.yaml:{}:{}\n", complaint.line, complaint.column);
            assert!(complaint.to_string().contains(&place), "{text}");
            assert!(complaint.line <= text.lines().count().max(1), "{complaint}");
        }
    }
}

#[test]
fn no_stray_character_panics_or_loses_its_place() {
    let strays = [
        "\t", "\n", ": ", "- ", "{", "]", "\"", "'", "# ", "&a ", "*a", "!t ", "|", "? ", "~",
        "\u{85}",
    ];
    for (place, _) in FULL.char_indices().step_by(13) {
        let (before, after) = FULL.split_at(place);
        for stray in strays {
            if let Err(complaint) = read_text(&format!("{before}{stray}{after}")) {
                let place = format!(" --> x.yaml:{}:{}\n", complaint.line, complaint.column);
                assert!(complaint.to_string().contains(&place), "{complaint}");
            }
        }
    }
}

#[test]
fn later_complaints_point_into_the_file() {
    let scenario = read_text(FULL).unwrap();
    let events = KeyPath::root().key("trace").key("events");
    let selector = events.clone().index(0).key("syscalls").index(2);
    let complaint = scenario.complaint(
        &selector,
        "no syscall is named `rename*`",
        Some("did you mean `rename`?".to_owned()),
    );
    assert_eq!(
        complaint.to_string(),
        r#"error: no syscall is named `rename*`
  --> x.yaml:17:33
   |
17 |     - syscalls: [openat, write, "rename*", "%file", "!futex"]
   |                                 ^^^^^^^^^
   |
   = help: did you mean `rename`?"#
    );
    let short = scenario.complaint(&events.index(1).key("event"), "unknown", None);
    assert_eq!(
        (short.line, short.column),
        (18, 7),
        "the short form of an event"
    );
    let count = KeyPath::root()
        .key("expect")
        .key("count")
        .key("sched:sched_process_exec");
    let place = |at: &KeyPath| scenario.complaint(at, "never", None).column;
    assert_eq!(
        (place(&count), place(&count.clone().key_itself())),
        (77, 51)
    );
}

#[test]
fn a_diagnostic_is_an_error_that_threads_may_pass_on() {
    fn assert_error<T: std::error::Error + Send + Sync + 'static>() {}
    fn assert_shared<T: Send + Sync>() {}
    assert_error::<Diagnostic>();
    assert_shared::<Scenario>();
}
