//! Processes that a trace of living ones misses, or does not find.

use super::{Following, Waiting};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

/// Makes a process that waits for a writer of a pipe before it executes its program, and waits for
/// that itself, as `vfork(2)` does.
const HELD: &str = r#"
import os, sys
os.chdir(sys.argv[1])
os.mkfifo("fifo")
print("ready", flush=True)
opens = [(os.POSIX_SPAWN_OPEN, 0, "fifo", os.O_RDONLY, 0)]
child = os.posix_spawnp("true", ["true"], os.environ, file_actions=opens)
sys.exit(os.waitpid(child, 0)[1])
"#;

#[test]
fn a_process_that_its_maker_waits_for_as_the_trace_begins_is_missing() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    let mut waiting = Waiting::new(&project, HELD);
    let pid = waiting.child.id();
    let of_it = format!("\nPPid:\t{pid}\n");
    let has_made = || {
        let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
        let status = |entry: std::fs::DirEntry| std::fs::read(entry.path().join("status")).ok();
        let mut all = entries.filter_map(status);
        all.any(|status| String::from_utf8_lossy(&status).contains(&of_it))
    };
    while !has_made() {
        std::thread::yield_now();
    }
    let (following, _) = Following::new(&project, &waiting, &["-e", "execve,clone,clone3,vfork"]);
    std::fs::write(project.join("fifo"), "").expect("a reader");
    assert_eq!(waiting.child.wait().expect("python3").code(), Some(0));
    let (status, said) = following.end();
    assert_eq!(status, Some(125), "{said}");
    assert!(
        said.contains("being made just as the trace began"),
        "{said}"
    );
}

#[test]
fn a_process_is_not_looked_for_among_those_of_another_pid_namespace() {
    require!(right_to_trace());
    require!(program("unshare"));
    let project = Project::new();
    let in_another = ["unshare", "--pid", "--fork", env!("CARGO_BIN_EXE_harness")];
    for command in ["trace", "record", "stat"] {
        let words = [&in_another[..], &[command, "-p", "2"]].concat();
        let run = project.run(&[], &words);
        run.assert_status(125);
        let said = &run.stderr;
        assert!(
            said.contains("procfs is of another pid namespace"),
            "{said}"
        );
    }
}
