//! What speaks of more than one event, as it is read: marks, sections, the baseline, what a run
//! leaves.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::read_text;
use crate::scenario::{CountRange, ExpectedOutput, FileAfter, FileSource, Mark, Scenario, Since};
use perf_live::sandbox::FileType;

fn scenario(text: &str) -> Scenario {
    read_text(&format!(
        "description: d\nworkload: {{ run: [ls] }}\n{text}"
    ))
    .unwrap()
}

#[test]
fn marks_are_texts_or_events() {
    let scenario = scenario(
        "sections:\n  save: { from: \">save\", to: \"two\\nlines\\n\" }\n  \
         load: { from: { openat: { path: /marker } }, to: { exit_group: {} } }\n\
         expect:\n  sections: { save: { never: [connect] }, load: { only: [\"%file\"] } }\n",
    );
    let text = |mark: &Mark| match mark {
        Mark::Written(text) => text.clone(),
        Mark::Step(step) => panic!("{step:?}"),
    };
    let event = |mark: &Mark| match mark {
        Mark::Step(step) => (step.event.clone(), step.at.to_string(), step.fields.len()),
        Mark::Written(text) => panic!("{text}"),
    };
    let save = &scenario.sections["save"];
    assert_eq!(text(&save.from), ">save");
    assert_eq!(
        text(&save.to),
        "two\nlines",
        "without the line feed at the end"
    );
    let load = &scenario.sections["load"];
    let openat = (
        "openat".to_owned(),
        "sections.load.from.openat".to_owned(),
        1,
    );
    assert_eq!(event(&load.from), openat);
    assert_eq!(event(&load.to).0, "exit_group");
    let expected = &scenario.expect.sections;
    assert_eq!(
        expected["save"].never[0].at.to_string(),
        "expect.sections.save.never[0].connect"
    );
    assert_eq!(expected["load"].only[0].event, "%file");
    assert!(scenario.expect.events.never.is_empty());
}

#[test]
fn a_section_may_be_there_for_the_snapshot_alone() {
    let scenario = scenario("sections: { a: { from: b, to: c } }\nsnapshot: { section: a }\n");
    assert_eq!(scenario.snapshot.section(), Some("a"));
}

#[test]
fn a_capture_of_the_whole_is_known_in_its_sections() {
    let scenario = scenario(
        "sections: { a: { from: b, to: c } }\nexpect:\n  sequence: [{ openat: { returns: $fd } }]\n  \
         sections: { a: { never: [{ write: { fd: $fd } }] } }\n",
    );
    assert_eq!(scenario.expect.sections["a"].never.len(), 1);
}

#[test]
fn a_trace_starts_with_the_exec_the_program_or_a_mark() {
    let since = |text: &str| scenario(&format!("trace: {text}\n")).trace.since;
    assert!(matches!(since("{}"), Since::Exec));
    assert!(matches!(since("{ since: exec }"), Since::Exec));
    assert!(matches!(since("{ since: main }"), Since::Main));
    let written = since("{ since: { written: \"go\\n\" } }");
    assert!(matches!(written, Since::Mark(Mark::Written(text)) if text == "go"));
    let Since::Mark(Mark::Step(step)) = since("{ since: { step: { openat: { path: x } } } }")
    else {
        panic!("a step");
    };
    assert_eq!(step.at.to_string(), "trace.since.step.openat");
    assert_eq!(step.fields[0].0, "path");
}

#[test]
fn a_baseline_inherits_what_it_does_not_write() {
    let read = |baseline: &str| {
        let text = format!(
            "description: d\nworkload:\n  run: [ls]\n  env: {{ A: b }}\n  stdin: x\n  \
             files: {{ a: b }}\n  timeout: 2s\n\
             baseline: {baseline}\nexpect: {{ delta: {{ openat: 0 }} }}\n"
        );
        let scenario = read_text(&text).unwrap();
        (scenario.workload, scenario.baseline.unwrap())
    };
    let (workload, other) = read("{ shell: ls -l }");
    assert_eq!(other.command.argv(), ["/bin/sh", "-c", "ls -l"]);
    assert_eq!((&other.env, &other.stdin), (&workload.env, &workload.stdin));
    assert_eq!(
        (&other.files, other.timeout),
        (&workload.files, workload.timeout)
    );
    let (workload, other) = read("{ env: {}, stdin: \"\", files: { c: d }, timeout: 3s }");
    assert_eq!(other.command, workload.command);
    assert!(other.env.is_empty());
    assert_eq!(other.stdin.as_deref(), Some(""));
    assert_eq!(other.timeout, Duration::from_secs(3));
    let files: Vec<_> = other.files.iter().collect();
    let [(path, file)] = &files[..] else {
        panic!("{files:?}: what is written is all of it");
    };
    assert_eq!(
        (*path, &file.source),
        (&PathBuf::from("c"), &FileSource::Content("d".to_owned()))
    );
    assert!(workload.files.contains_key(Path::new("a")));
}

#[test]
fn differences_have_signs_and_ends() {
    let head = "baseline: { run: [ls, -l] }\nexpect:\n  delta:\n";
    let mapping =
        "    { a: +1, b: 0, c: -2, d: \"-1..=2\", e: 1.., f: \"..=-1\", g: \"+1..=+2\" }\n";
    let list = "    [{ a: {}, times: +1 }, { b: {}, times: 0 }, { times: -2, c: { path: x } }, \
                { d: {}, times: -1..=2 }, { e: {}, times: 1.. }, { f: {}, times: ..=-1 }, \
                { g: {}, times: +1..=+2 }]\n";
    for text in [mapping, list] {
        let delta = scenario(&format!("{head}{text}")).expect.delta;
        let events: String = delta.iter().map(|spec| spec.step.event.as_str()).collect();
        assert_eq!(events, "abcdefg");
        let ends: Vec<_> = delta
            .iter()
            .map(|spec| (spec.times.min, spec.times.max))
            .collect();
        assert_eq!(
            ends,
            [
                (Some(1), Some(1)),
                (Some(0), Some(0)),
                (Some(-2), Some(-2)),
                (Some(-1), Some(2)),
                (Some(1), None),
                (None, Some(-1)),
                (Some(1), Some(2)),
            ]
        );
    }
}

#[test]
fn files_after_are_read_in_the_order_of_the_file() {
    let files = scenario(
        r#"expect:
  files_after:
    out: "text\n"
    "log.*": { exists: true }
    b: { exists: false }
    c: { contains: x, mode: "0644", kind: file, size: "1.." }
    d/e: { matches: "^a", exists: true }
    l: { target: y }
    d: { kind: directory, mode: "0700" }
    empty: ""
    p: { content: "" }
    "**": { exists: false }
"#,
    );
    let files = files.expect.files_after;
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "out", "log.*", "b", "c", "d/e", "l", "d", "empty", "p", "**"
        ]
    );
    let get = |name: &str| -> &FileAfter {
        let mut files = files.iter();
        &files.find(|(other, _)| other == name).unwrap().1
    };
    let is_exact = |name: &str, text: &str| matches!(&get(name).content, Some(ExpectedOutput::Exact(exact)) if exact == text);
    assert!(is_exact("out", "text\n") && is_exact("empty", "") && is_exact("p", ""));
    let there: Vec<bool> = files.iter().map(|(_, file)| file.exists).collect();
    let not_there = [2, 9];
    assert!(
        there
            .iter()
            .enumerate()
            .all(|(at, there)| *there != not_there.contains(&at))
    );
    let c = get("c");
    assert!(matches!(&c.content, Some(ExpectedOutput::Contains(text)) if text == "x"));
    assert_eq!((c.mode, c.kind), (Some(0o644), Some(FileType::File)));
    assert_eq!(c.size, Some(CountRange { min: 1, max: None }));
    assert!(matches!(
        &get("d/e").content,
        Some(ExpectedOutput::Matches(_))
    ));
    assert_eq!(get("l").target.as_deref(), Some("y"));
    assert_eq!(get("d").kind, Some(FileType::Directory));
}

#[test]
fn every_kind_of_file_has_a_word() {
    for kind in FileType::ALL {
        let text = format!(
            "expect: {{ files_after: {{ a: {{ kind: {} }} }} }}\n",
            kind.word()
        );
        assert_eq!(scenario(&text).expect.files_after[0].1.kind, Some(kind));
    }
}

#[test]
fn why_mutants_may_live_is_a_sentence() {
    let lenient = scenario("lenient: the library's calls vary\n").lenient;
    assert_eq!(lenient.as_deref(), Some("the library's calls vary"));
}
