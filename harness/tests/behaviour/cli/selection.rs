//! Which calls `harness trace` shows: strace's options, and what they choose is what they choose
//! there.

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
fn calls_that_name_a_path_are_those_of_strace() {
    require!(right_to_trace());
    require!(program("strace"));
    let project = laid_out();
    let without_execve = |mut counts: Counts| {
        // The workload's own first one has no arguments, so it cannot be excluded.
        counts.remove("execve");
        counts
    };
    for (path, command) in [
        ("tree/a.txt", &["cat", "tree/a.txt", "missing"][..]),
        ("missing", &["cat", "tree/a.txt", "missing"]),
        ("tree/sub/b.txt", &CAT_EACH),
        ("tree", &["ls", "-l", "tree"]),
    ] {
        let options = ["-P", path];
        let strace = without_execve(by_strace(&project, &options, command));
        assert!(!strace.is_empty());
        let ours = without_execve(by_harness(&project, &options, command));
        assert_eq!(ours, strace, "{path}: {command:?}");
    }
}

#[test]
fn a_call_whose_path_is_not_read_is_not_hidden_by_a_filter_on_paths() {
    require!(right_to_trace());
    let project = laid_out();
    let opened = |lines: Vec<Value>| lines.iter().filter(|line| line["name"] == "openat").count();
    let all = opened(lines(&project, &[]));
    assert!(all > 0);
    let filtered = lines(&project, &["--strings", "none", "-P", "tree/a.txt"]);
    assert!(!filtered.iter().any(|line| line["name"] == "brk"));
    assert_eq!(opened(filtered), all);
}

#[test]
fn contents_are_shown_only_where_they_are_asked_for_and_paths_whole() {
    require!(right_to_trace());
    let project = laid_out();
    let text = |options: &[&str], call: &str| {
        let shown = lines(&project, options);
        let args = shown
            .iter()
            .filter(|line| line["name"] == call)
            .flat_map(|line| line["args"].as_array().expect("arguments"));
        args.filter_map(|argument| argument["text"].as_str().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let (cut, whole) = ("\"two\"...".to_owned(), "\"two\\none\\n\"".to_owned());
    for call in ["read", "write"] {
        assert!(text(&["-s", "3"], call).contains(&cut), "{call}");
        assert!(text(&["-s", "64"], call).contains(&whole), "{call}");
        assert!(
            !text(&[], call).iter().any(|text| text.contains('"')),
            "{call}"
        );
    }
    let path = "\"tree/sub/b.txt\"".to_owned();
    assert!(text(&["-s", "3"], "openat").contains(&path));
    let unread = text(&["--strings", "none", "-s", "3"], "openat");
    assert!(unread.contains(&"<unread>".to_owned()) && !unread.contains(&path));
    assert!(text(&["--strings", "bpf"], "openat").contains(&path));
}

#[test]
fn what_strace_has_and_harness_has_not_is_refused_before_anything_runs() {
    let project = Project::new();
    for (options, said) in [
        (
            &["-e", "inject=openat:err=EIO"][..],
            "`err=EIO` makes no sense",
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
