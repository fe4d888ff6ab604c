//! Which calls `harness trace` shows: strace's options, and what they choose is what they choose there.

use serde_json::Value;

use super::summary::{CAT_EACH, Counts, by_harness, by_strace, laid_out};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

#[test]
fn sets_of_calls_are_those_of_strace() {
    require!(right_to_trace());
    require!(program("strace"));
    let project = laid_out();
    for set in [
        "trace=file",
        "t=%desc,%memory",
        "!mmap,close",
        "trace=!%memory",
        "/^(mm|mun)ap$",
        "!/at$,read",
        "?frobnicate,read",
        "%%stat",
        "all",
        "process",
        "%creds,%signal,%ipc,%network,%clock,%pure",
    ] {
        let strace = by_strace(&project, &["-e", set], &CAT_EACH);
        assert_eq!(
            by_harness(&project, &["-e", set], &CAT_EACH),
            strace,
            "{set}"
        );
    }
    assert_eq!(
        by_harness(&project, &["-e", "none"], &CAT_EACH),
        Counts::new()
    );
}

/// The lines of a trace, without the last.
fn lines(project: &Project, options: &[&str]) -> Vec<Value> {
    let trace = ["trace", "--format", "json", "-o", "trace"];
    project.harness(&[&trace, options, &["--", "setarch", "-R"], &CAT_EACH].concat());
    let text = project.read("trace");
    let mut lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a JSON line"))
        .collect();
    let last = lines.pop().expect("a summary");
    assert_eq!(last["events"], lines.len());
    lines
}

#[test]
fn what_failed_and_what_succeeded_can_be_seen_alone() {
    require!(right_to_trace());
    require!(program("strace"));
    let project = laid_out();
    let all = by_strace(&project, &[], &CAT_EACH);
    let count = |lines: &[Value]| {
        let mut counts = Counts::new();
        for line in lines {
            let name = line["name"].as_str().expect("a name").to_owned();
            counts.entry(name).or_default().0 += 1;
        }
        counts
    };
    let failed = all.iter().filter(|(_, (_, errors))| *errors > 0);
    let failed: Counts = failed
        .map(|(name, (_, errors))| (name.clone(), (*errors, 0)))
        .collect();
    assert!(failed.contains_key("openat"), "{failed:?}");
    for option in ["-Z", "--failed-only"] {
        let shown = lines(&project, &[option]);
        assert!(shown.iter().all(|line| line["errno"].is_string()));
        assert_eq!(count(&shown), failed);
    }
    let rest = all.iter().filter(|(_, (calls, errors))| calls > errors);
    let rest: Counts = rest
        .map(|(name, (calls, errors))| (name.clone(), (calls - errors, 0)))
        .collect();
    for option in ["-z", "--successful-only"] {
        let shown = lines(&project, &[option]);
        assert!(shown.iter().all(|line| line["errno"].is_null()));
        assert_eq!(count(&shown), rest);
    }
}

#[test]
fn what_strace_has_and_harness_has_not_is_refused_before_anything_runs() {
    let project = Project::new();
    for (options, said) in [
        (
            &["-e", "inject=openat:error=EIO"][..],
            "harness: -e has no `inject=`: nothing that the command does",
        ),
        (
            &["-e", "signal=none"],
            "harness: -e has no `signal=`: signals are tracepoints",
        ),
        (
            &["-e", "status=failed"],
            "harness: -e has no `status=`: there are --successful-only",
        ),
        (
            &["-e", "openat@64"],
            "hint: a name stands for the call in every convention: write `openat`",
        ),
        (
            &["-e", "/open("],
            "hint: it is no regular expression: unclosed group",
        ),
        (&["-e", "opnat"], "hint: did you mean `openat`?"),
        (&["-z", "-Z"], "cannot be used with"),
        (&["-c", "-C"], "cannot be used with"),
        (&["-S", "size"], "time, calls, errors, name"),
        (&["-s", "1000000"], "--string-limit"),
    ] {
        let words = [&["trace"], options, &["touch", "touched"]].concat();
        let run = project.harness(&words);
        run.assert_status(125);
        assert!(run.stderr.contains(said), "{options:?}: {}", run.stderr);
        assert!(!project.join("touched").exists(), "{options:?}");
    }
}
