//! Whose strings they are.

use super::{Call, UNREAD, assert_all_read, calls, texts, traced};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

/// Runs which open differently named files, at the same time.

#[test]
fn strings_of_runs_at_the_same_time_are_not_mixed_up() {
    require!(right_to_trace());
    let project = Project::new();
    for run in 0..12 {
        // Rings of three sizes: those that wait for another run have a place of their own.
        let size = 64 << (run % 3);
        project.scenario(
            &format!("s{run:02}"),
            &format!(
                "workload: {{ run: [perl, -e, \"open F, '<', qq{{/nonexistent/of-{run:02}-$_}} for 1..50\"] }}\n\
                 trace: {{ ring: {{ size: {size}KiB }}, events: [{{ syscalls: [openat] }}] }}"
            ),
        );
    }
    for jobs in ["8", "1"] {
        let run = project.harness(&["run", "--update", "--jobs", jobs, "scenarios"]);
        run.assert_status(0);
        let traces = project.files("snapshots");
        assert_eq!(traces.len(), 12);
        for (name, trace) in traces {
            let trace = String::from_utf8(trace).expect("text");
            let own: String = name.chars().filter(char::is_ascii_digit).collect();
            assert_eq!(
                trace.matches(&format!("/nonexistent/of-{own}-")).count(),
                50
            );
            assert_eq!(trace.matches("/nonexistent/of-").count(), 50, "{name}");
            assert!(!trace.contains(UNREAD), "{name}: {trace}");
        }
    }
    project.assert_nothing_left();
}

/// Words before the shell, its script, and how often which words are opened.
type Kind<'a> = (&'a [&'a str], &'a str, &'a [(&'a str, usize)]);

#[test]
fn descendants_of_every_kind_are_read() {
    require!(right_to_trace());
    require!(program("python3"));
    require!(program("unshare"));
    let project = Project::new();
    let threads = r#"
import os, subprocess, threading
def work(n):
    for i in range(40):
        try: os.open(f"/nonexistent/thread-{n}-{i}", 0)
        except OSError: pass
    subprocess.run(["/bin/sh", "-c", f": < /nonexistent/vfork-{n}"])
    os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", f": < /nonexistent/spawn-{n}"], os.environ), 0)
threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"#;
    let calls = traced(&project, "%file", &["python3", "-c", threads]);
    assert_all_read(&calls);
    let opens: Vec<Call> = calls
        .into_iter()
        .filter(|(name, _)| name == "openat")
        .collect();
    let of = |word: &str| texts(&opens, 1, word).len();
    assert_eq!((of("/thread-"), of("/vfork-"), of("/spawn-")), (240, 6, 6));

    let tree = "for i in $(seq 20); do (cat /nonexistent/tree-$i; (cat /nonexistent/grand-$i)) & done; wait";
    let daemon = "(setsid sh -c 'cat /nonexistent/daemon' &); cat /nonexistent/parent";
    let kinds: [Kind<'_>; 4] = [
        (&[], tree, &[("/tree-", 20), ("/grand-", 20)]),
        (&[], daemon, &[("/daemon", 1), ("/parent", 1)]),
        (
            &["unshare", "-fp", "--mount-proc"],
            tree,
            &[("/tree-", 20), ("/grand-", 20)],
        ),
        (
            &["unshare", "-Ur"],
            tree,
            &[("/tree-", 20), ("/grand-", 20)],
        ),
    ];
    for (before, script, expected) in kinds {
        let script = format!("{{ {script}; }} 2>/dev/null; true");
        let mut command = before.to_vec();
        command.extend(["sh", "-c", &script]);
        let calls = traced(&project, "openat", &command);
        assert_all_read(&calls);
        for (word, times) in expected {
            assert_eq!(texts(&calls, 1, word).len(), *times, "{command:?}: {word}");
        }
    }
}

#[test]
fn a_harness_in_a_pid_namespace_and_one_below_another_read_their_own() {
    require!(right_to_trace());
    require!(program("unshare"));
    let project = Project::new();
    let script = "for i in 1 2 3; do cat /nonexistent/inner-$i; done 2>/dev/null; true";
    let inner = [
        env!("CARGO_BIN_EXE_harness"),
        "trace",
        "--format",
        "json",
        "-o",
        "inner",
    ];
    let inner: Vec<&str> = inner
        .into_iter()
        .chain(["-e", "openat", "sh", "-c", script])
        .collect();
    let namespace: Vec<&str> = ["unshare", "-fp", "--mount-proc"]
        .into_iter()
        .chain(inner.iter().copied())
        .collect();
    project.run(&[], &namespace).assert_status(0);
    let calls_inside = calls(&project.read("inner"), "openat");
    assert_eq!(texts(&calls_inside, 1, "/inner-").len(), 3);
    assert_all_read(&calls_inside);

    let outside = traced(&project, "openat", &inner);
    let inside = calls(&project.read("inner"), "openat");
    for calls in [&outside, &inside] {
        assert_eq!(texts(calls, 1, "/inner-").len(), 3);
        assert_all_read(calls);
    }
}
