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
            &["-e", "status=fail"],
            "-e status=fail: `fail` is none of successful, failed",
        ),
        (&["-e", "fd=x"], "-e fd=x: `x` is no number of a descriptor"),
        (
            &["-e", "read=3"],
            "harness: -e has no `read=`: contents of buffers",
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

/// The lines of text that a tracer wrote with these options of a command, without ids, and those
/// of strace without what it says of ends and signals.
fn text(project: &Project, tracer: &[&str], options: &[&str], command: &[&str]) -> Vec<String> {
    let words = [tracer, &["-o", "text"], options, &["--"], command].concat();
    project.run(&[], &words);
    let text = project.read("text");
    let of_call = text.lines().filter_map(|line| {
        let (_, call) = line.split_once(' ')?;
        Some(call.trim_start().to_owned()).filter(|call| !call.starts_with(['+', '-']))
    });
    of_call.collect()
}

fn sorted_names(lines: &[String]) -> Vec<&str> {
    let names = lines.iter().map(|line| {
        let name = line.strip_prefix("<... ").unwrap_or(line);
        name.split(['(', ' ']).next().unwrap_or_default()
    });
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names
}

const STRACE: [&str; 2] = ["strace", "-f"];

#[test]
fn classes_of_outcomes_are_those_of_strace() {
    require!(right_to_trace());
    require!(program("strace"));
    let project = laid_out();
    let command = [&["setarch", "-R"][..], &CAT_EACH].concat();
    let ours = [env!("CARGO_BIN_EXE_harness"), "trace"];
    for set in [
        "status=failed",
        "status=successful",
        "status=!failed",
        "status=unfinished",
        "status=failed,unfinished",
        "status=none",
    ] {
        let options = ["-e", set];
        let theirs = text(&project, &STRACE, &options, &command);
        let ours = text(&project, &ours, &options, &command);
        assert_eq!(sorted_names(&ours), sorted_names(&theirs), "{set}");
        assert_eq!(ours.is_empty(), set == "status=none", "{set}: {ours:?}");
    }
}

#[test]
fn a_class_of_outcomes_alone_names_no_events_of_a_recording_either() {
    require!(right_to_trace());
    let project = laid_out();
    let run = project.harness(&["record", "-e", "close,openat", "-o", "r", "cat", "missing"]);
    run.assert_status(1);
    let shown = |sets: &[&str]| {
        let run = project.harness(&[&["trace", "-i", "r", "-o", "text"], sets].concat());
        run.assert_status(0);
        let text = project.read("text");
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let all = shown(&[]);
    let failed = shown(&["-e", "status=failed"]);
    let is_failed = |line: &&String| line.contains(" = -1 ");
    let expected: Vec<String> = all.iter().filter(is_failed).cloned().collect();
    assert_eq!(failed, expected);
    assert!(!failed.is_empty() && failed.len() < all.len(), "{all:?}");
    let of_both = shown(&["-e", "status=successful", "-e", "close"]);
    assert!(!of_both.is_empty() && of_both.iter().all(|line| line.contains(" close(")));
}

#[test]
fn calls_that_use_a_descriptor_are_those_that_strace_shows_it_in() {
    require!(right_to_trace());
    require!(program("strace"));
    let project = laid_out();
    let command = ["setarch", "-R", "cat", "tree/a.txt", "missing"];
    let with_files = text(&project, &[&STRACE[..], &["-y"]].concat(), &[], &command);
    let uses_three = |line: &&String| {
        let (arguments, _) = line.split_once(" = ").unwrap_or((line, ""));
        [("(", "<"), (" ", "<")]
            .iter()
            .any(|(before, behind)| arguments.contains(&format!("{before}3{behind}")))
    };
    let theirs: Vec<String> = with_files.iter().filter(uses_three).cloned().collect();
    assert!(theirs.len() > 3, "{with_files:?}");
    let ours = [env!("CARGO_BIN_EXE_harness"), "trace"];
    for set in ["fd=3", "fds=3,77", "trace-fd=!0,1,2"] {
        let ours = text(&project, &ours, &["-e", set], &command);
        assert_eq!(sorted_names(&ours), sorted_names(&theirs), "{set}");
    }
}

#[test]
fn a_call_that_waits_for_a_descriptor_uses_it() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    let script = "import os, select\nr, w = os.pipe()\nos.dup2(r, 70)\n\
        p = select.poll(); p.register(70); p.register(w)\np.poll(0)\n\
        select.select([70], [w], [], 0)\nselect.select([], [w], [], 0)\n";
    let ours = [env!("CARGO_BIN_EXE_harness"), "trace"];
    let command = ["/usr/bin/python3", "-c", script];
    let shown = text(&project, &ours, &["-e", "fd=70"], &command);
    assert_eq!(
        sorted_names(&shown),
        ["dup2", "poll", "pselect6"],
        "{shown:?}"
    );
}

/// Ids as `N`, and what stands between two calls of a process away.
fn without_numbers(lines: &[String], name: &str) -> Vec<String> {
    let of_name = lines.iter().filter(|line| line.starts_with(name));
    let mut told = Vec::new();
    for line in of_name {
        let mut text = String::new();
        for c in line
            .split(" <unfinished")
            .next()
            .unwrap_or_default()
            .chars()
        {
            if !c.is_ascii_digit() {
                text.push(c);
            } else if !text.ends_with('N') {
                text.push('N');
            }
        }
        told.push(text.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    told
}

#[test]
fn names_of_programs_stand_behind_ids_as_strace_writes_them() {
    require!(right_to_trace());
    require!(program("strace"));
    let project = Project::new();
    let script = "sleep 0 & kill -0 $$; kill -0 -$$; wait";
    let command = ["sh", "-c", script];
    let options = ["-e", "kill,getpgrp,getppid,getpid"];
    let ours = [env!("CARGO_BIN_EXE_harness"), "trace", "-Y"];
    let ours = text(&project, &ours, &options, &command);
    let theirs = text(&project, &["strace", "-f", "-Y"], &options, &command);
    let kills = without_numbers(&ours, "kill(");
    assert_eq!(
        kills,
        without_numbers(&theirs, "kill("),
        "{ours:?}\n{theirs:?}"
    );
    assert_eq!(
        kills.first().map(String::as_str),
        Some("kill(N<sh>, N) = N")
    );
    let run = project.harness(&["trace", "-Y", "--format", "json", "true"]);
    run.assert_status(125);
    assert!(
        run.stderr.contains("have the member `comm`"),
        "{}",
        run.stderr
    );
}
