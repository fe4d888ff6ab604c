//! Runners that give tests to other processes or threads, and tell of them afterwards.

use super::runners::{NO_CACHE, rust_tests, stated, tests};
use super::{Project, ruled};
use crate::support::project::Run;
use crate::support::require::{program, require, right_to_trace};
use serde_json::json;

/// The suite may connect, and this test may not.
const NARROW: &str = "\
blame: output
expect: { confined: { network: [\"127.0.0.1:*\"] } }
tests: { \"*test_connects\": { confined: { network: [] } } }
";

/// Plays pytest-xdist with one worker: a process that was there before the first test, and works
/// when it is told. What is printed is what pytest-xdist 3.1.0 writes, call by call, with `-v -n 1`
/// (`strace -f -e trace=write`). `tells` says whether the worker prints its tests, and `result` how
/// the other process tells the result.
fn plays_xdist(tells: bool, result: &str) -> String {
    let worker = if tells { "say" } else { "str" };
    format!(
        "import os, socket\n\
         a, b = os.pipe(); c, d = os.pipe()\n\
         begins, ends = '=== test session starts ===', '=== 1 passed in 1.00s ==='\n\
         def say(*pieces):\n    for piece in pieces: os.write(1, piece.encode())\n\
         say(begins, chr(10), 'created: 1/1 worker', chr(10))\n\
         if os.fork() == 0:\n    \
             os.dup2(os.open('/dev/null', os.O_WRONLY), 1)\n    \
             {worker}(begins + chr(10))\n    \
             os.read(a, 1)\n    \
             {worker}('test_net.py::test_connects ')\n    \
             os.write(d, b'x')\n    \
             socket.socket().connect_ex(('127.0.0.1', 9))\n    \
             {worker}('PASSED         [100%]')\n    \
             os.write(d, b'x'); os.read(a, 1)\n    \
             {worker}(chr(10) + chr(10) + ends + chr(10)); os._exit(0)\n\
         say('1 worker [1 item]', chr(10), chr(10), 'scheduling tests via LoadScheduling', chr(10))\n\
         os.write(b, b'x'); os.read(c, 1)\n\
         say(chr(10), 'test_net.py::test_connects ')\n\
         os.read(c, 1)\n\
         say(chr(10), {result})\n\
         os.write(b, b'x'); os.wait()\n\
         say(chr(10), chr(10), ends, chr(10))\n"
    )
}

const BY_WORKER: &str = "'[gw0]', ' [100%] ', 'PASSED', ' test_net.py::test_connects '";

fn run(rules: &str, script: &str) -> Run {
    let project = ruled(rules);
    project.write("t.py", script);
    project.harness(&["check", "rules.yaml", "--", "python3", "-I", "-S", "t.py"])
}

#[test]
fn what_a_worker_does_that_was_there_before_the_first_test_is_of_no_test_for_sure() {
    require!(right_to_trace());
    require!(program("python3"));
    let wide = NARROW
        .replace("[]", "[\"127.0.0.1:9\"]")
        .replace("[\"127.0.0.1:*\"]", "[]");
    for rules in [NARROW, &wide] {
        for result in [BY_WORKER, "'PASSED'"] {
            let run = run(rules, &plays_xdist(false, result));
            run.assert_status(1);
            assert!(
                run.stderr.contains("incomplete  rules"),
                "{result}: {}",
                run.stderr
            );
            assert!(run.stderr.contains("test unknown"), "{}", run.stderr);
        }
    }
    // It is the same for all tests.
    let same = NARROW.replace("[]", "[\"127.0.0.1:9\"]");
    run(&same, &plays_xdist(false, BY_WORKER)).assert_status(0);
}

/// Rules that forbid what the test does name it, and rules that allow it to this test pass.
fn assert_tells_its_test(script: &str) {
    let run_ = run(NARROW, script);
    run_.assert_status(1);
    let said = "in test test_net.py::test_connects";
    assert!(run_.stderr.contains(said), "{}", run_.stderr);
    let wide = NARROW
        .replace("[]", "[\"127.0.0.1:9\"]")
        .replace("[\"127.0.0.1:*\"]", "[]");
    run(&wide, script).assert_status(0);
}

#[test]
fn a_worker_that_prints_its_tests_to_no_reader_tells_them() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = plays_xdist(true, BY_WORKER);
    assert_tells_its_test(&script);
}

/// As where a worker of execnet is asked to run tests before its first thread is back from the
/// request before: `works` runs in a thread that was there before the tests.
fn plays_worker_of_threads(main: &str) -> String {
    format!(
        "import os, socket, threading\n\
         os.dup2(os.open('/dev/null', os.O_WRONLY), 1)\n\
         def say(*pieces):\n    for piece in pieces: os.write(1, piece.encode())\n\
         def connects(): socket.socket().connect_ex(('127.0.0.1', 9))\n\
         def begins(): say('test_net.py::test_connects ')\n\
         def ends(): say('PASSED', '         [100%]', chr(10), chr(10), '=== 1 passed in 1.00s ===', chr(10))\n\
         say('=== test session starts ===', chr(10))\n\
         def run(*steps):\n    \
             def works():\n        \
                 for step in steps: step()\n    \
             thread = threading.Thread(target=works); thread.start(); thread.join()\n\
         {main}\n"
    )
}

#[test]
fn a_worker_that_runs_its_tests_in_a_second_thread_tells_them() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = plays_worker_of_threads("run(begins, connects, ends)");
    assert_tells_its_test(&script);
}

/// Only the thread that names the tests is known to run them: the first one, too, may then work for
/// any of them.
#[test]
fn what_another_thread_does_than_the_one_that_names_the_tests_is_of_no_test_for_sure() {
    require!(right_to_trace());
    require!(program("python3"));
    let wide = NARROW
        .replace("[]", "[\"127.0.0.1:9\"]")
        .replace("[\"127.0.0.1:*\"]", "[]");
    for main in [
        "run(begins); connects(); run(ends)",
        "gate = threading.Event()\n\
         other = threading.Thread(target=lambda: (gate.wait(), connects())); other.start()\n\
         run(begins, gate.set, other.join, ends)",
    ] {
        for rules in [NARROW, &wide] {
            let run = run(rules, &plays_worker_of_threads(main));
            run.assert_status(1);
            let said = "incomplete  rules";
            assert!(run.stderr.contains(said), "{main}: {}", run.stderr);
        }
    }
}

/// The suite may connect and the test may not; it is the first one, and says that another process
/// ran it.
#[test]
fn a_test_that_prints_a_line_of_a_worker_does_not_leave_its_rules() {
    require!(right_to_trace());
    require!(program("python3"));
    let says = "say('[gw0] [100%] PASSED test_net.py::test_connects' + chr(10))\n";
    let ends = "say('PASSED' + chr(10) + '=== 1 passed in 1.00s ===' + chr(10))\n";
    for (says, behind, status) in [
        (says, ends, "fail  rules"),
        (says, "os._exit(0)\n", "incomplete  rules"),
        ("say('PASSED' + chr(10))\n", ends, "incomplete  rules"),
        (
            "say('PASSED' + chr(10))\n",
            "os._exit(0)\n",
            "incomplete  rules",
        ),
    ] {
        let script = format!(
            "import os, socket\n\
             def say(text): os.write(1, text.encode())\n\
             say('=== test session starts ===' + chr(10))\n\
             say('test_net.py::test_connects ')\n\
             say(chr(10))\n\
             {says}socket.socket().connect_ex(('127.0.0.1', 9))\n{behind}"
        );
        let run = run(NARROW, &script);
        run.assert_status(1);
        assert!(run.stderr.contains(status), "{says}{behind}{}", run.stderr);
    }
}

#[test]
fn tests_of_pytest_xdist_are_told_by_its_workers_or_not_at_all() {
    require!(right_to_trace());
    require!(program("pytest-3"));
    let project = ruled(NARROW);
    let has = project.run(&[], &["python3", "-c", "import xdist"]);
    if has.status != 0 {
        return crate::support::require::skip("`python3` has no module `xdist`");
    }
    project.write(
        "test_net.py",
        "import socket\n\
         def test_connects(): socket.socket().connect_ex((\"127.0.0.1\", 9))\n\
         def test_nothing(): pass\n",
    );
    let check = |options: &[&str]| {
        let pytest = [
            "check",
            "rules.yaml",
            "--",
            "pytest-3",
            "-p",
            "no:cacheprovider",
        ];
        project.harness_with(
            &NO_CACHE,
            &[&pytest[..], options, &["test_net.py"]].concat(),
        )
    };
    for (options, says) in [
        (&["-n", "2", "-v"][..], "in test test_net.py::test_connects"),
        (&["-n", "2"], "no runner printed"),
    ] {
        let run = check(options);
        run.assert_status(1);
        assert!(run.stdout.contains("2 passed"), "{}", run.stdout);
        assert!(run.stderr.contains(says), "{}", run.stderr);
    }
}

#[test]
fn rusts_tests_that_run_side_by_side_are_not_told_by_what_is_printed_behind_them() {
    require!(right_to_trace());
    let project = Project::new();
    rust_tests(&project);
    let rules = NARROW.replace("*test_connects", "net::*");
    project.write("rules.yaml", &rules);
    let checked = |threads: &str| {
        let command = ["./suite", "--test-threads", threads];
        project.harness(&[&["check", "rules.yaml", "--"], &command[..]].concat())
    };
    let run = checked("2");
    run.assert_status(1);
    assert!(run.stderr.contains("incomplete  rules"), "{}", run.stderr);
    let run = checked("1");
    run.assert_status(1);
    assert!(run.stderr.contains("in test net::"), "{}", run.stderr);
}

#[test]
fn what_is_cleared_away_behind_a_result_of_pytest_is_of_no_test_for_sure() {
    require!(right_to_trace());
    require!(program("pytest-3"));
    let project = Project::new();
    project.write(
        "test_net.py",
        "import socket, pytest\n\
         @pytest.fixture\n\
         def server():\n    \
             yield\n    \
             socket.socket().connect_ex((\"127.0.0.1\", 9))\n\
         def test_connects(server): pass\n\
         def test_saves(): open(\"saved\", \"w\").close()\n",
    );
    let words = ["pytest-3", "-p", "no:cacheprovider", "-v", "test_net.py"];
    let lines = stated(&project, "output", &words);
    assert_eq!(tests(&lines, "127.0.0.1:9"), (json!([]), json!(false)));
    let saves = json!(["test_net.py::test_saves"]);
    assert_eq!(tests(&lines, "saved"), (saves, json!(true)));
    project.write("rules.yaml", NARROW);
    let words = [&["check", "rules.yaml", "--"], &words[..]].concat();
    let run = project.harness_with(&NO_CACHE, &words);
    run.assert_status(1);
    assert!(run.stderr.contains("test unknown"), "{}", run.stderr);
}
