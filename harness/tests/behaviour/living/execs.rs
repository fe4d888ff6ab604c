//! Living processes that execute programs while they are followed.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{Following, Waiting};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

/// Opens a file that its next program has, and one that it has not.
const HANDS_DOWN: &str = r#"
import os, sys
os.chdir(sys.argv[1])
os.dup2(os.open("kept", os.O_CREAT | os.O_WRONLY), 7)
os.dup2(os.open("left", os.O_CREAT | os.O_WRONLY), 8, inheritable=False)
print("ready", flush=True)
sys.stdin.readline()
os.execv("/bin/sh", ["sh", "-c", "echo a >&7; echo b >&8"])
"#;

/// Executes itself all the time, until there is a line.
const AGAIN: &str = r#"
import os, sys
os.chdir(sys.argv[1])
again = 'read line <&7 && exit 3; exec sh again'
open("again", "w").write(again)
os.mkfifo("fifo")
os.dup2(os.open("fifo", os.O_RDWR | os.O_NONBLOCK), 7)
print("ready", flush=True)
os.execvp("sh", ["sh", "again"])
"#;

#[test]
fn a_descriptor_of_a_living_process_keeps_its_name_in_an_exec_that_does_not_close_it() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    let mut waiting = Waiting::new(&project, HANDS_DOWN);
    let (following, _) = Following::new(&project, &waiting, &["-e", "write,dup2"]);
    waiting.go_on();
    waiting.child.wait().expect("a shell");
    let (status, said) = following.end();
    assert_eq!(status, Some(0), "{said}");
    let text = project.read("trace");
    assert!(text.contains("/kept>"), "{text}");
    assert!(text.contains("dup2(8, 1) = -1 EBADF"), "{text}");
}

#[test]
fn the_end_of_a_trace_among_execs_takes_no_program_out_of_sight() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    let mut waiting = Waiting::new(&project, AGAIN);
    let (mut following, _) = Following::new(&project, &waiting, &["-e", "execve"]);
    let traced = || std::fs::read_to_string(project.join("trace")).unwrap_or_default();
    while traced().lines().filter(|it| it.contains("execve(")).count() < 20 {
        if following.child.try_wait().expect("harness").is_some() {
            let (status, said) = following.end();
            panic!("the trace has ended, {status:?}: {said}");
        }
        std::thread::yield_now();
    }
    let harness = Pid::from_raw(following.child.id().cast_signed());
    kill(harness, Signal::SIGINT).expect("kill");
    let (status, said) = following.end();
    assert_eq!(status, Some(0), "{said}");
    std::fs::write(project.join("fifo"), "\n").expect("a reader");
    assert_eq!(waiting.child.wait().expect("sh").code(), Some(3));
}
