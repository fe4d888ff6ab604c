//! `harness trace -p`: processes that live already are followed with all their threads, from the
//! line that says so on.

mod execs;
mod missing;
mod output;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::support::process::{Watched, all_in};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

/// Four threads that wait for a line, and then make 1,000 calls each; and then a child makes 500.
const THREADS: &str = r#"
import os, sys, threading
os.chdir(sys.argv[1])
log = os.open("log", os.O_CREAT | os.O_WRONLY)
go = threading.Event()
def work():
    go.wait()
    for _ in range(1000): os.getppid()
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
print("ready", flush=True)
sys.stdin.readline()
os.write(log, b"going")
os.close(os.open("./log", os.O_RDONLY))
go.set()
for thread in threads: thread.join()
if os.fork() == 0:
    for _ in range(500): os.getppid()
    os._exit(0)
os.wait()
os._exit(3)
"#;

/// Threads that come and go, a call each, until there is a line.
const RESTLESS: &str = r#"
import os, select, threading
print("ready", flush=True)
while not select.select([0], [], [], 0)[0]:
    thread = threading.Thread(target=os.getppid)
    thread.start()
    thread.join()
"#;

/// Processes that come and go, five calls each, until there is a line.
const FORKS: &str = r#"
import os, select
print("ready", flush=True)
while not select.select([0], [], [], 0)[0]:
    child = os.fork()
    if child == 0:
        for _ in range(5): os.getppid()
        os._exit(0)
    os.waitpid(child, 0)
"#;

/// A program that is told to go on by a line.
struct Waiting {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Waiting {
    fn new(project: &Project, program: &str) -> Self {
        let mut command = project.command("python3");
        command.args(["-c", program]).arg(project.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("python3");
        let mut waiting = Self {
            input: child.stdin.take().expect("a pipe"),
            output: BufReader::new(child.stdout.take().expect("a pipe")),
            child,
        };
        let mut line = String::new();
        waiting.output.read_line(&mut line).expect("a line");
        assert_eq!(line, "ready\n");
        waiting
    }

    fn go_on(&mut self) {
        writeln!(self.input).expect("a pipe");
    }

    fn send(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().cast_signed()), signal).expect("kill");
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ended = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// A trace that is under way.
struct Following {
    child: Child,
    said: BufReader<ChildStderr>,
}

impl Following {
    /// Follows a program, from the first line that is said on.
    fn new(project: &Project, waiting: &Waiting, options: &[&str]) -> (Self, String) {
        let pid = waiting.child.id().to_string();
        let mut words = vec!["trace", "-p", &pid, "-o", "trace"];
        words.extend(options);
        let mut command = project.program(&words);
        let mut child = command.stderr(Stdio::piped()).spawn().expect("harness");
        let said = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut following = Self { child, said };
        let mut first = following.line();
        while !first.is_empty() && !first.starts_with("harness: following") {
            // Strings are not read from a pid namespace of its own.
            first = following.line();
        }
        (following, first)
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).expect("a line");
        line
    }

    /// Waits for its end; gives its status and what else it said.
    fn end(mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        std::io::Read::read_to_string(&mut self.said, &mut said).expect("text");
        (self.child.wait().expect("harness").code(), said)
    }
}

fn lines(project: &Project) -> Vec<Value> {
    let text = project.read("trace");
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().expect("JSON lines")
}

/// How often each thread made a call of this name.
fn by_thread(lines: &[Value], name: &str) -> BTreeMap<i64, u64> {
    let mut all = BTreeMap::new();
    for line in lines.iter().filter(|line| line["name"] == name) {
        *all.entry(line["tid"].as_i64().expect("a number"))
            .or_default() += 1;
    }
    all
}

#[test]
fn all_threads_of_a_living_process_are_followed_and_all_that_they_start() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    let mut waiting = Waiting::new(&project, THREADS);
    let (following, first) = Following::new(&project, &waiting, &["--format", "json"]);
    let pid = waiting.child.id();
    let expected = format!("harness: following process {pid} with 5 threads\n");
    assert_eq!(first, expected);
    waiting.go_on();
    assert_eq!(following.end(), (Some(0), String::new()));
    let lines = lines(&project);
    let calls = by_thread(&lines, "getppid");
    let mut counts: Vec<_> = calls.values().copied().collect();
    counts.sort_unstable();
    assert_eq!(counts, [500, 1000, 1000, 1000, 1000], "{calls:?}");
    let summary = lines.last().expect("a summary");
    assert_eq!(
        (&summary["complete"], &summary["lost"]),
        (&true.into(), &0.into())
    );
}

#[test]
fn names_strings_and_where_a_thread_waits_are_known_of_a_living_process() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    let mut waiting = Waiting::new(&project, THREADS);
    let (following, _) = Following::new(&project, &waiting, &[]);
    waiting.go_on();
    assert_eq!(following.end().0, Some(0));
    let text = project.read("trace");
    let folder = project.path().canonicalize().expect("a folder");
    let log = format!("<{}/log>", folder.display());
    let pid = waiting.child.id();
    // It waited in that one before there was a trace.
    let waits = format!("{pid} read(0<pipe:[");
    let first = text
        .lines()
        .find(|line| line.starts_with(&format!("{pid} ")));
    assert!(first.is_some_and(|line| line.starts_with(&waits)), "{text}");
    assert!(text.contains(&format!("write(3{log}, ")), "{text}");
    // The second that was opened by this name.
    let again = log.replace('>', ":2>");
    let opens = format!(r#"openat(AT_FDCWD, "./log", O_RDONLY|O_CLOEXEC) = 4{again}"#);
    assert!(text.contains(&opens), "{text}");
    assert!(text.contains(&format!("{pid} exit_group(3) = ?")), "{text}");
}

#[test]
fn a_signal_ends_the_trace_and_not_the_process() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    let mut waiting = Waiting::new(&project, THREADS);
    let (following, _) = Following::new(&project, &waiting, &[]);
    let harness = Pid::from_raw(following.child.id().cast_signed());
    kill(harness, Signal::SIGINT).expect("kill");
    let lives_on = "harness: the processes live on, untraced\n".to_owned();
    assert_eq!(following.end(), (Some(0), lives_on));
    // All five wait, and none returned.
    let text = project.read("trace");
    assert_eq!(
        text.lines().filter(|line| line.ends_with(" = ?")).count(),
        5,
        "{text}"
    );
    waiting.go_on();
    assert_eq!(waiting.child.wait().expect("python3").code(), Some(3));
}

/// Follows a program that makes tasks without end, until some more are made. If tasks were being
/// made just then, the trace says so, and the program is stopped for another try.
fn follow_restless(project: &Project, program: &str) -> Vec<Value> {
    let options = ["--format", "json", "-e", "clone,clone3,fork,vfork,getppid"];
    for is_stopped in [false, true] {
        let mut waiting = Waiting::new(project, program);
        if is_stopped {
            waiting.send(Signal::SIGSTOP);
        }
        let (mut following, first) = Following::new(project, &waiting, &options);
        assert!(first.starts_with("harness: following"), "{first}");
        if is_stopped {
            waiting.send(Signal::SIGCONT);
        }
        while lines_so_far(project) < 40 {
            assert!(following.child.try_wait().expect("harness").is_none());
            std::thread::yield_now();
        }
        waiting.go_on();
        match following.end() {
            (Some(0), said) => {
                assert_eq!(said, "");
                return lines(project);
            }
            (status, said) => {
                assert!(!is_stopped && status == Some(125), "{status:?}: {said}");
                assert!(
                    said.contains("being made just as the trace began"),
                    "{said}"
                );
            }
        }
        std::fs::remove_file(project.join("trace")).expect("a file");
    }
    unreachable!("the second is complete, or was refused above")
}

/// What calls that make tasks returned, of which both halves are there.
fn made(lines: &[Value]) -> BTreeMap<i64, u64> {
    let mut all = BTreeMap::new();
    let makes = |line: &&Value| {
        let name = line["name"].as_str().unwrap_or_default();
        ["clone", "clone3", "fork", "vfork"].contains(&name) && !line["duration_ns"].is_null()
    };
    for line in lines.iter().filter(makes) {
        let id = line["ret"].as_i64().expect("a number");
        *all.entry(id).or_default() += 1;
    }
    all
}

#[test]
fn no_thread_is_missed_of_a_process_that_makes_them_all_the_time() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    let lines = follow_restless(&project, RESTLESS);
    let (calls, made) = (by_thread(&lines, "getppid"), made(&lines));
    assert!(made.len() > 5, "{made:?}");
    for (thread, times) in &made {
        assert!(
            calls.get(thread) >= Some(times),
            "{thread}: {made:?}\n{calls:?}"
        );
    }
    let unmade = calls.values().sum::<u64>() - made.values().sum::<u64>();
    assert!(unmade <= 2, "those of the beginning: {unmade}");
}

#[test]
fn a_child_of_a_living_process_is_followed_as_a_whole_or_not_at_all() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    let lines = follow_restless(&project, FORKS);
    let (calls, made) = (by_thread(&lines, "getppid"), made(&lines));
    assert!(made.len() > 5, "{made:?}");
    for (child, times) in &made {
        assert_eq!(calls.get(child), Some(&(5 * times)), "{child}: {calls:?}");
    }
}

#[test]
fn a_call_under_way_has_a_time_and_a_stopped_thread_is_in_none() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    for is_stopped in [false, true] {
        let waiting = Waiting::new(&project, THREADS);
        if is_stopped {
            waiting.send(Signal::SIGSTOP);
        }
        let (following, _) = Following::new(&project, &waiting, &["-ttt"]);
        let harness = Pid::from_raw(following.child.id().cast_signed());
        kill(harness, Signal::SIGINT).expect("kill");
        assert_eq!(following.end().0, Some(0));
        let text = project.read("trace");
        let times: Vec<f64> = text
            .lines()
            .map(|line| line.split(' ').nth(1).and_then(|time| time.parse().ok()))
            .collect::<Option<_>>()
            .expect("times");
        assert_eq!(times.len(), if is_stopped { 0 } else { 5 }, "{text}");
        let now = std::time::SystemTime::now();
        let now = now
            .duration_since(std::time::UNIX_EPOCH)
            .expect("after 1970");
        assert!(
            times
                .iter()
                .all(|time| (now.as_secs_f64() - time).abs() < 600.0),
            "{text}"
        );
    }
}

/// How many lines of the trace are written.
fn lines_so_far(project: &Project) -> usize {
    std::fs::read(project.join("trace"))
        .map_or(0, |text| text.iter().filter(|b| **b == b'\n').count())
}

#[test]
fn what_a_command_left_running_does_not_spoil_the_account() {
    require!(right_to_trace());
    let project = Project::new();
    let program = "exit if fork; select undef, undef, undef, 0.0001 while !chdir '/dev/null/x'";
    let mut command = project.program(&["trace", "-o", "trace", "perl", "-e", program]);
    let mut child = command.stderr(Stdio::piped()).spawn().expect("harness");
    let harness = Pid::from_raw(child.id().cast_signed());
    // The command has ended long before the other has made so many calls.
    while lines_so_far(&project) < 1000 {
        assert!(child.try_wait().expect("harness").is_none());
        std::thread::yield_now();
    }
    kill(harness, Signal::SIGTERM).expect("kill");
    child.wait().expect("harness");
    // What lives on has the same standard error.
    all_in(project.path()).iter().for_each(Watched::kill);
    let output = child.wait_with_output().expect("harness");
    let said = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(0), "{said}");
    let lives_on = "harness: what the command left behind lives on, untraced\n";
    assert_eq!(said, lives_on);
    let text = project.read("trace");
    assert!(text.contains(r#"chdir("/dev/null/x") = -1 ENOTDIR"#));
}

#[test]
fn what_is_no_process_is_not_followed() {
    let project = Project::new();
    let run = project.harness(&["trace", "-p", "4194305"]);
    run.assert_status(125);
    assert!(
        run.stderr.contains("there is no process 4194305"),
        "{}",
        run.stderr
    );
    let run = project.harness(&["trace", "-p", "1", "--", "true"]);
    run.assert_status(125);
    assert!(run.stderr.contains("cannot be used with"), "{}", run.stderr);
}
