//! What is seen of living processes is a result, and goes to standard output.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::Waiting;
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

const CALLS: &str = r#"
import os, sys
print("ready", flush=True)
sys.stdin.readline()
while True:
    os.getpriority(os.PRIO_PROCESS, 0)
"#;

#[test]
fn a_trace_of_a_living_process_goes_to_standard_output_and_ends_where_no_reader_is_left() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    for by_signal in [true, false] {
        let mut waiting = Waiting::new(&project, CALLS);
        let pid = waiting.child.id().to_string();
        let words = ["trace", "-p", &pid, "-e", "getpriority"];
        let mut command = project.program(&words);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("harness");
        let mut said = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        while !line.starts_with("harness: following") {
            line.clear();
            assert_ne!(said.read_line(&mut line).expect("a line"), 0);
        }
        waiting.go_on();
        let mut trace = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut first = String::new();
        trace.read_line(&mut first).expect("a line");
        assert!(first.contains("getpriority("), "{first}");
        if by_signal {
            kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).expect("kill");
            trace.read_to_string(&mut first).expect("text");
        }
        drop(trace);
        let status = child.wait().expect("harness").code();
        line.clear();
        said.read_to_string(&mut line).expect("text");
        let wanted = if by_signal { 0 } else { 141 };
        assert_eq!(status, Some(wanted), "{line}");
        assert_eq!(line, "harness: the processes live on, untraced\n");
    }
}
