//! Who outlives the main process: named, ended, and a verdict of its own; and that every run ends
//! as a whole, whatever its processes do about it.

use serde_json::Value;

use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

/// The world of its own, and the bare host.
const WORLDS: [&str; 2] = ["{}", "none"];

/// The beginning of the programs below. A process that is to be found says so before the main
/// process ends.
const PRELUDE: &str = "
import ctypes, os, signal, threading, time
libc = ctypes.CDLL(None)
told, tell = os.pipe()
def child():
    return os.fork() == 0
def live():
    os.write(tell, b'x')
    while True:
        time.sleep(1000)
def leave():
    os.read(told, 1)
    os._exit(0)
";

/// A scenario with a Python program, `x.py`, and more keys.
fn scenario(script: &str, sandbox: &str, keys: &str) -> String {
    let text = Value::from(format!("{PRELUDE}{script}"));
    format!(
        "workload:\n  run: [python3, x.py]\n  files: {{ x.py: {text} }}\n{keys}\nsandbox: {sandbox}\n\
         trace: {{ events: [{{ syscalls: [execve] }}] }}\nsnapshot: false"
    )
}

/// What a run of it reports.
fn run(script: &str, sandbox: &str, keys: &str) -> (Project, Vec<Value>) {
    let project = Project::with("x", &scenario(script, sandbox, keys)).in_time();
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    let lines = run.json();
    project.assert_nothing_left();
    (project, lines)
}

/// The verdict and the reasons, with letters for the numbers of processes in the order in which
/// they are named.
fn verdict(script: &str, sandbox: &str, keys: &str) -> (String, Vec<String>) {
    let (_project, lines) = run(script, sandbox, keys);
    let report = lines.first().expect("a report");
    let reasons = report["reasons"].as_array().cloned().unwrap_or_default();
    let mut numbers = Vec::new();
    let reasons = reasons
        .iter()
        .map(|reason| with_letters(reason.as_str().expect("text"), &mut numbers));
    let word = report["verdict"].as_str().expect("a verdict").to_owned();
    (word, reasons.collect())
}

fn with_letters(reason: &str, numbers: &mut Vec<String>) -> String {
    let words = reason.split(' ').map(|word| {
        if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_digit()) {
            return word.to_owned();
        }
        let place = numbers.iter().position(|number| number == word);
        let place = place.unwrap_or_else(|| {
            numbers.push(word.to_owned());
            numbers.len() - 1
        });
        let letter = char::from(b'A' + u8::try_from(place).expect("few processes"));
        letter.to_string()
    });
    words.collect::<Vec<_>>().join(" ")
}

fn needs() -> Result<(), String> {
    right_to_trace()?;
    program("python3").map(drop)
}

const ONE: &[&str] =
    &["process A (`python3 x.py`), started by B (`python3 x.py`), outlived the main process"];
const TWO: &[&str] = &[
    "process A (`python3 x.py`), started by B (`python3 x.py`), outlived the main process",
    "process C (`python3 x.py`), started by A (`python3 x.py`), outlived the main process",
];

#[test]
fn a_process_that_outlives_the_main_one_is_a_leak_whatever_it_does() {
    require!(needs());
    let cases: [(&str, &str, &[&str]); 9] = [
        (
            "a daemon",
            "
if child():
    os.setsid()
    if child(): live()
    os._exit(0)
leave()",
            ONE,
        ),
        (
            "deaf to every signal",
            "
if child():
    for number in set(range(1, 65)) - {9, 19, 32, 33}: signal.signal(number, signal.SIG_IGN)
    live()
leave()",
            ONE,
        ),
        (
            "stopped",
            "
if child():
    os.kill(os.getpid(), signal.SIGSTOP)
os.waitpid(-1, os.WUNTRACED)",
            ONE,
        ),
        (
            "with nothing open",
            "
if child():
    os.write(tell, b'x')
    os.closerange(0, 100)
    while True: time.sleep(1000)
leave()",
            ONE,
        ),
        (
            "of a name that is no text",
            "
if child():
    libc.prctl(15, b'\\xff) Z 1\\n(x', 0, 0, 0)
    live()
leave()",
            ONE,
        ),
        (
            "whose first thread has ended",
            "
if child():
    threading.Thread(target=live).start()
    libc.pthread_exit(None)
leave()",
            ONE,
        ),
        (
            "one that traces the other",
            "
if child():
    if child():
        libc.ptrace(0, 0, 0, 0)
        os.kill(os.getpid(), signal.SIGSTOP)
    os.waitpid(-1, 0)
    live()
leave()",
            TWO,
        ),
        (
            "one that waits for the other to execute something",
            "
if child():
    if libc.vfork() == 0: live()
leave()",
            TWO,
        ),
        (
            "in a namespace of its own",
            "
if child():
    libc.unshare(0x20000000)
    if child(): live()
    os.wait()
leave()",
            TWO,
        ),
    ];
    for (what, script, expected) in cases {
        for sandbox in WORLDS {
            let (word, reasons) = verdict(script, sandbox, "");
            assert_eq!(word, "leak", "{what}, {sandbox}: {reasons:?}");
            assert_eq!(reasons, expected, "{what}, {sandbox}");
        }
    }
}

/// They share a CPU: all together they take three times as long as one may.
#[test]
fn a_process_that_ends_as_soon_as_it_gets_a_cpu_is_no_leak() {
    require!(needs());
    let script = "
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
for _ in range(20):
    if child():
        while time.process_time() < 0.03: pass
        os._exit(0)";
    for sandbox in WORLDS {
        let (word, reasons) = verdict(script, sandbox, "");
        assert_eq!(word, "pass", "{sandbox}: {reasons:?}");
    }
}

/// Each is dead before anybody can look at it.
#[test]
fn a_chain_of_processes_of_which_each_makes_the_next_is_a_leak() {
    require!(needs());
    let script = "
if child():
    while True:
        if not child(): os._exit(0)";
    for sandbox in WORLDS {
        let (word, reasons) = verdict(script, sandbox, "");
        assert_eq!(word, "leak", "{sandbox}: {reasons:?}");
        assert!(!reasons.is_empty(), "{sandbox}");
    }
}

#[test]
fn a_run_ends_at_its_timeout_and_names_who_lived_then() {
    require!(needs());
    const KILLED: &str = "the workload did not end within 500ms and was killed";
    const MAIN: &str = "process A (`python3 x.py`) was still alive";
    const OTHER: &str =
        "process B (`python3 x.py`), started by A (`python3 x.py`), was still alive";
    let cases: [(&str, &str, &[&str]); 5] = [
        (
            "stopped for ever",
            "os.kill(os.getpid(), signal.SIGSTOP)",
            &[KILLED, MAIN],
        ),
        (
            "all stopped",
            "
if child(): os.kill(os.getpid(), signal.SIGSTOP)
os.waitpid(-1, os.WUNTRACED)
os.kill(os.getpid(), signal.SIGSTOP)",
            &[KILLED, MAIN, OTHER],
        ),
        (
            "a vfork that executes nothing",
            "if libc.vfork() == 0: live()",
            &[KILLED, MAIN, OTHER],
        ),
        (
            "a ptracer",
            "
if child():
    libc.ptrace(0, 0, 0, 0)
    os.kill(os.getpid(), signal.SIGSTOP)
os.waitpid(-1, 0)
live()",
            &[KILLED, MAIN, OTHER],
        ),
        (
            "a thread that outlives the first",
            "
threading.Thread(target=live).start()
libc.pthread_exit(None)",
            &[KILLED, MAIN],
        ),
    ];
    for (what, script, expected) in cases {
        for sandbox in WORLDS {
            let (word, reasons) = verdict(script, sandbox, "  timeout: 500ms");
            assert_eq!(word, "timeout", "{what}, {sandbox}: {reasons:?}");
            assert_eq!(reasons, expected, "{what}, {sandbox}");
        }
    }
}

/// Each survivor executes `sleep` with its own number and its creator's for arguments.
#[test]
fn what_is_named_is_what_the_processes_knew_of_themselves() {
    require!(needs());
    let script = "
def named(creator):
    os.write(tell, b'x')
    os.execvp('sleep', ['sleep', '1000', str(os.getpid()), str(creator)])
main = os.getpid()
for place in range(4):
    if child():
        creator = os.getpid()
        os.setsid()
        if child(): named(creator)
        if place % 2 == 0: named(main)
        os._exit(0)
for place in range(6): os.read(told, 1)
os._exit(0)";
    for sandbox in WORLDS {
        let (_project, lines) = run(script, sandbox, "");
        let reasons = lines[0]["reasons"].as_array().expect("reasons");
        assert_eq!(reasons.len(), 6, "{sandbox}: {reasons:?}");
        for reason in reasons.iter().map(|reason| reason.as_str().expect("text")) {
            let numbers: Vec<&str> = reason
                .split(|letter: char| !letter.is_ascii_digit())
                .filter(|number| !number.is_empty())
                .collect();
            let &[pid, "1000", own, creator, named, _three] = numbers.as_slice() else {
                panic!("{sandbox}: {reason}");
            };
            assert_eq!((pid, named), (own, creator), "{sandbox}: {reason}");
        }
    }
}

/// One is killed and one sees the end of its pipe, just before or at the main process' end, again
/// and again.
#[test]
fn who_is_dying_when_the_main_process_ends_is_no_survivor() {
    require!(needs());
    let script = "
killed = os.fork()
if killed == 0: live()
os.read(told, 1)
ours, theirs = os.pipe()
if child():
    os.close(theirs)
    os.write(tell, b'x')
    os.read(ours, 1)
    os._exit(0)
os.read(told, 1)
os.kill(killed, signal.SIGKILL)
os._exit(0)";
    for sandbox in WORLDS {
        let project = Project::with("x", &scenario(script, sandbox, ""));
        let run = project.harness(&["run", "--repeat", "40", "scenarios"]);
        run.assert_status(0);
        project.assert_nothing_left();
    }
}

#[test]
fn many_survivors_are_counted() {
    require!(needs());
    let script = "
for place in range(13):
    if child(): live()
for place in range(13): os.read(told, 1)
os._exit(0)";
    for sandbox in WORLDS {
        let (word, reasons) = verdict(script, sandbox, "");
        assert_eq!((word.as_str(), reasons.len()), ("leak", 11), "{reasons:?}");
        assert!(
            reasons[10].starts_with("and ")
                && reasons[10].ends_with(" more outlived the main process"),
            "{reasons:?}"
        );
    }
}

#[test]
fn a_survivor_that_is_allowed_is_followed_to_its_end() {
    require!(needs());
    // Longer than the time that the dying have.
    let script = "
if child():
    time.sleep(0.5)
    print('the daemon is done', flush=True)
os._exit(0)";
    let keys = "expect: { stdout: \"the daemon is done\\n\" }";
    let (word, reasons) = verdict(script, "{ survivors: allowed }", keys);
    assert_eq!((word.as_str(), reasons), ("pass", Vec::new()));
    let (word, reasons) = verdict(script, "{ survivors: forbidden }", keys);
    assert_eq!(word, "leak");
    assert_eq!(reasons, ONE);
}

/// Otherwise the harness would be among them.
#[test]
fn what_a_workload_on_the_bare_host_sends_to_its_group_reaches_only_itself() {
    require!(right_to_trace());
    let yaml = "workload: { shell: \"kill 0; sleep 1000\" }\nsandbox: none\nsnapshot: false\n\
                expect: { exit: { signal: SIGTERM } }";
    let project = Project::with("x", yaml);
    project.harness(&["run", "scenarios"]).assert_status(0);
    project.assert_nothing_left();
}
