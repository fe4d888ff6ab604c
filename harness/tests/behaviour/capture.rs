//! What calls point to is read by BPF programs: whose strings they are under every circumstance, what is said of one that is not whole
//! or not there, and that the programs neither disturb others nor outlive the harness.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::support::PATIENCE;
use crate::support::fifo::Fifo;
use crate::support::process::Started;
use crate::support::project::{Project, Run};
use crate::support::require::{program, require, right_to_trace};

const UNREAD: &str = "<unread>";

/// A call: its name and the texts of its arguments.
type Call = (String, Vec<String>);

/// Traces a command and gives its calls of these names.
fn traced(project: &Project, events: &str, command: &[&str]) -> Vec<Call> {
    let file = project.join("trace");
    let file = file.to_str().expect("a path of letters");
    let words = ["trace", "--format", "json", "-o", file, "-e", events, "--"];
    let words: Vec<&str> = words.iter().chain(command).copied().collect();
    project.harness(&words).assert_status(0);
    calls(&project.read("trace"), events)
}

fn calls(trace: &str, events: &str) -> Vec<Call> {
    let lines = trace
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect(line));
    let lines = lines.filter(|line| line["type"] == "syscall");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let texts = |line: &Value| {
        let arguments = line["args"].as_array().map(Vec::as_slice);
        let arguments = arguments.unwrap_or_default().iter();
        arguments.map(|argument| text(&argument["text"])).collect()
    };
    let calls = lines.map(|line| (text(&line["name"]), texts(&line)));
    calls
        .filter(|(name, _)| events.contains('%') || events.split(',').any(|event| event == name))
        .collect()
}

/// The texts of the arguments at that place, among them those that hold the word.
fn texts(calls: &[Call], place: usize, word: &str) -> Vec<String> {
    let texts = calls.iter().filter_map(|(_, texts)| texts.get(place));
    texts.filter(|text| text.contains(word)).cloned().collect()
}

fn assert_all_read(calls: &[Call]) {
    let unread = |(_, texts): &&Call| texts.iter().any(|text| text.contains(UNREAD));
    let unread: Vec<_> = calls.iter().filter(unread).collect();
    assert!(unread.is_empty(), "{unread:?}");
}

#[test]
fn a_string_is_shown_with_every_byte_and_says_when_it_is_cut() {
    require!(right_to_trace());
    let project = Project::new();
    let script = "stat(''); stat(qq{/it-caf\\xe9\\xff\\x01\\n\\t\\\"\\\\\\x31}); stat('/' . 'x' x 4094); \
                  stat('/' . 'x' x 9000)";
    let calls = traced(&project, "newfstatat", &["perl", "-e", script]);
    let of_script = |word: &str| texts(&calls, 1, word);
    assert_eq!(
        of_script("/it"),
        [r#""/it-caf\351\377\1\n\t\"\\1""#],
        "as strace writes it"
    );
    // The longest legal path (PATH_MAX is 4096 with the zero byte), and one that is longer.
    let lengths = |text: &String| (text.matches('x').count(), text.ends_with("\"..."));
    let long: Vec<_> = of_script("/xx").iter().map(lengths).collect();
    assert_eq!(long, [(4094, false), (4095, true)]);
    assert_all_read(&calls);
    project.assert_nothing_left();
}

#[test]
fn a_vector_is_whole_up_to_64_strings_and_says_when_it_is_cut() {
    require!(right_to_trace());
    let project = Project::new();
    for n in [1, 62, 63, 64, 65, 1000] {
        let script = format!("exec '/bin/true', 1..{n}");
        let calls = traced(&project, "execve", &["perl", "-e", &script]);
        let vector = texts(&calls, 1, "");
        let all = std::iter::once("/bin/true".to_owned()).chain((1..=n).map(|i| i.to_string()));
        let shown: Vec<String> = all.take(64).map(|text| format!("\"{text}\"")).collect();
        let rest = if n < 64 { "]" } else { ", ...]" };
        let expected = format!("[{}{rest}", shown.join(", "));
        assert_eq!(vector.last(), Some(&expected), "{n}");
    }
    project.assert_nothing_left();
}

#[test]
fn an_address_that_nobody_can_read_is_shown_as_an_address() {
    require!(right_to_trace());
    let project = Project::new();
    // perl hands numbers on as they are.
    let (open, execve) = if cfg!(target_arch = "x86_64") {
        (257, 59)
    } else {
        (56, 221)
    };
    let script = format!(
        "my $path = '/bin/true'; syscall({open}, -100, 16, 0); syscall({execve}, $path, 24, 0)"
    );
    let calls = traced(&project, "openat,execve", &["perl", "-e", &script]);
    let opened: Vec<_> = calls
        .iter()
        .filter(|(name, _)| name == "openat")
        .cloned()
        .collect();
    assert_eq!(texts(&opened, 1, "0x"), ["0x10"]);
    let executed = calls.iter().rfind(|(name, _)| name == "execve");
    let vector = executed.and_then(|(_, texts)| texts.get(1));
    assert_eq!(vector.map(String::as_str), Some("0x18"));
    assert_all_read(&calls);
}

#[test]
fn a_string_is_that_of_the_calls_entry_though_another_thread_overwrites_it_during_the_call() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    let fifo = project.join("given");
    // The open of a pipe waits for a writer; meanwhile the path becomes another one.
    let script = format!(
        r#"
import ctypes, os, threading
libc = ctypes.CDLL(None)
os.mkfifo({fifo:?})
path = ctypes.create_string_buffer({fifo:?}.encode())
tids = []
def reader():
    tids.append(threading.get_native_id())
    libc.open(path, 0)
thread = threading.Thread(target=reader)
thread.start()
def number():
    with open(f"/proc/self/task/{{tids[0]}}/syscall") as file:
        return file.read().split()[0]
while not tids or number() not in ("257", "2", "56"):
    pass
writer = {fifo:?}
ctypes.memset(path, ord("z"), len(path) - 1)
os.close(os.open(writer, os.O_WRONLY))
thread.join()
"#
    );
    let calls = traced(&project, "%file", &["python3", "-c", &script]);
    let opened: Vec<Call> = calls
        .into_iter()
        .filter(|(name, _)| name == "openat")
        .collect();
    let given = format!("{fifo:?}");
    assert_eq!(texts(&opened, 1, "given"), [given.clone(), given]);
    assert_eq!(texts(&opened, 1, "zzz"), [""; 0]);
}

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
    let kinds: [(&[&str], &str, &[(&str, usize)]); 4] = [
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

/// The numbers that the kernel gives to the programs and maps which a process holds.
fn bpf_of(pid: u32) -> (Vec<String>, Vec<String>) {
    let (mut programs, mut maps) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(format!("/proc/{pid}/fdinfo")).expect("procfs") {
        let text = fs::read_to_string(entry.expect("an entry").path()).unwrap_or_default();
        for line in text.lines() {
            match line.split_once(":\t") {
                Some(("prog_id", id)) => programs.push(id.to_owned()),
                Some(("map_id", id)) => maps.push(id.to_owned()),
                _ => {}
            }
        }
    }
    (programs, maps)
}

#[test]
fn a_killed_harness_leaves_no_program_and_no_map_in_the_kernel() {
    require!(right_to_trace());
    require!(program("bpftool"));
    let project = Project::new();
    let mut fifo = Fifo::new(&project.join("fifo"));
    let script = format!("echo here > {}; exec sleep 1000", fifo.path());
    let words = ["trace", "-o", "trace", "-e", "openat", "sh", "-c", &script];
    let mut command = project.program(&words);
    command.stdout(Stdio::null());
    let mut harness = Started::new(&mut command);
    fifo.wait_for_lines(1);
    let (programs, maps) = bpf_of(harness.id());
    assert!(!programs.is_empty() && !maps.is_empty());
    let is_there = |kind: &str, id: &String| {
        let run = project.run(&[], &["bpftool", kind, "show", "id", id]);
        run.status == 0
    };
    assert!(programs.iter().all(|id| is_there("prog", id)));
    harness.end_by(Signal::SIGKILL);
    // The kernel frees them behind the end of the process, after a grace period.
    let end = Instant::now() + PATIENCE;
    let mut took = Duration::ZERO;
    let start = Instant::now();
    for (kind, ids) in [("prog", &programs), ("map", &maps)] {
        for id in ids {
            while is_there(kind, id) {
                assert!(Instant::now() < end, "{kind} {id} is still there");
            }
            took = start.elapsed();
        }
    }
    assert!(took < PATIENCE, "{took:?}");
    for process in crate::support::process::all_in(project.path()) {
        process.kill();
    }
    project.assert_nothing_left();
}

#[test]
fn others_count_and_record_what_they_do_without_the_programs() {
    require!(right_to_trace());
    require!(program("perf"));
    let project = Project::new();
    let events = "raw_syscalls:sys_enter,raw_syscalls:sys_exit,sched:sched_process_fork,sched:sched_process_exec,\
                  signal:signal_deliver";
    let script = "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done";
    let counts = || {
        let words = [
            "perf", "stat", "-x,", "-o", "counts", "-e", events, "sh", "-c", script,
        ];
        project.run(&[], &words).assert_status(0);
        let counts = project.read("counts");
        let counted = counts.lines().filter(|line| line.contains(",,"));
        let number = |line: &str| line.split(',').next().unwrap_or_default().to_owned();
        let counted: Vec<String> = counted.map(number).collect();
        assert!(
            counted.iter().all(|number| number.parse::<u64>().is_ok()),
            "{counts}"
        );
        let words = [
            "perf", "record", "-q", "-o", "data", "-e", events, "sh", "-c", script,
        ];
        project.run(&[], &words).assert_status(0);
        let recorded = project.run(&[], &["perf", "script", "-i", "data", "-F", "event"]);
        let mut recorded: Vec<String> = recorded.stdout.lines().map(str::to_owned).collect();
        recorded.sort_unstable();
        (counted, recorded)
    };
    let without = counts();
    let mut fifo = Fifo::new(&project.join("fifo"));
    let workload = format!("echo here > {}; exec sleep 1000", fifo.path());
    let words = ["trace", "-o", "trace", "sh", "-c", &workload];
    let mut harness = Started::new(&mut project.program(&words));
    fifo.wait_for_lines(1);
    assert_eq!(counts(), without);
    harness.end_by(Signal::SIGTERM);
    project.assert_nothing_left();
}

/// Executes its arguments where every bpf(2) fails with `EPERM`, as in most containers.
const WITHOUT_BPF: &str = r#"
import ctypes, os, struct, sys
number = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (6, 0, 0, 0x50001), (6, 0, 0, 0x7fff0000)]
code = b"".join(struct.pack("HBBI", *step) for step in steps)
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(Program(4, code))) == 0
os.execv(sys.argv[1], sys.argv[1:])
"#;

fn without_bpf(project: &Project, words: &[&str]) -> Run {
    let before = ["python3", "-c", WITHOUT_BPF, env!("CARGO_BIN_EXE_harness")];
    let words: Vec<&str> = before.iter().chain(words).copied().collect();
    project.run(&[], &words)
}

#[test]
fn where_bpf_is_not_allowed_strings_are_unread_and_that_is_said_once_with_a_remedy() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    let words = [
        "trace",
        "-o",
        "trace",
        "-e",
        "openat",
        "--",
        "cat",
        "/dev/null",
    ];
    let run = without_bpf(&project, &words);
    run.assert_status(0);
    let said: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(
        said.first().copied(),
        Some(
            "harness: strings are not read and shown as <unread>: cannot create a map (bpf(2)): operation not permitted"
        )
    );
    assert!(said.get(1).is_some_and(|line| line.starts_with("hint: ")));
    assert_eq!(said.len(), 2, "{said:?}");
    let trace = project.read("trace");
    let opened = trace
        .lines()
        .filter(|line| line.contains("openat("))
        .count();
    assert!(opened > 0);
    assert_eq!(trace.matches(UNREAD).count(), opened, "{trace}");
    assert!(!trace.contains("/dev/null"), "{trace}");

    let run = without_bpf(&project, &["doctor"]);
    let mut lines = run.stdout.lines();
    let line = lines.find(|line| line.contains("strings: "));
    assert!(
        line.is_some_and(|line| line.starts_with("  --  ")),
        "{run:?}"
    );
    assert!(lines.next().is_some_and(|line| line.contains("remedy: ")));

    // Calls that have nothing to be read need nothing said.
    let run = without_bpf(
        &project,
        &["trace", "-o", "trace", "-e", "getpid", "--", "true"],
    );
    assert_eq!(run.assert_status(0).stderr, "");
}

#[test]
fn a_string_that_finds_no_room_is_lost_and_the_account_adds_up() {
    require!(right_to_trace());
    let project = Project::new();
    let script = "open F, '<', '/nonexistent/' . 'x' x 200 for 1..20000";
    let words = [
        "trace", "-m", "4KiB", "-o", "trace", "-e", "openat", "perl", "-e", script,
    ];
    let run = project.harness(&words);
    run.assert_status(125);
    let line = run.stderr.lines().find(|line| line.contains("`memory`: "));
    let numbers = line
        .unwrap_or_default()
        .split(|c: char| !c.is_ascii_digit());
    let numbers: Vec<u64> = numbers.filter_map(|word| word.parse().ok()).collect();
    let [counted, records, lost] = numbers[..] else {
        panic!("{}", run.stderr);
    };
    assert!(counted >= 20000 && lost > 0, "{}", run.stderr);
    assert_eq!(counted, records + lost);
    // What is shown is right, or said to be unread.
    let trace = project.read("trace");
    let path = format!("\"/nonexistent/{}\"", "x".repeat(200));
    for line in trace.lines().filter(|line| line.contains("/nonexistent/")) {
        assert!(line.contains(&path), "{line}");
    }
}
