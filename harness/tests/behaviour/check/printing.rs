//! Which test did it, by what a runner prints: what can be known, and what cannot.

use super::runners::{stated, tests};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};
use serde_json::json;

/// A runner: `say` writes at once, and `touch` is what a test does.
const RUNNER: &str = "\
import os, sys
def say(*lines): os.write(1, ''.join(line + chr(10) for line in lines).encode())
def touch(name): os.close(os.open(name, os.O_WRONLY | os.O_CREAT))
";

/// The test that made each file, in these words: `?` if that is not known, `-` for none.
fn made(script: &str, files: &[&str]) -> Vec<String> {
    made_by("output", script, files)
}

fn made_by(blame: &str, script: &str, files: &[&str]) -> Vec<String> {
    let project = Project::new();
    project.write("t.py", &format!("{RUNNER}{script}"));
    let lines = stated(&project, blame, &["python3", "-I", "-S", "t.py"]);
    let word = |file: &&str| {
        let (names, is_known) = tests(&lines, file);
        let names: Vec<String> = serde_json::from_value(names).expect("names");
        match (names.is_empty(), is_known == json!(true)) {
            (true, true) => "-".to_owned(),
            (true, false) => "?".to_owned(),
            _ => names.join(" or "),
        }
    };
    files.iter().map(word).collect()
}

#[test]
fn what_is_done_behind_a_write_that_was_not_read_whole_is_of_no_test_for_sure() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "\
say('x' * 2000, '=== RUN   TestA')
touch('a')
say('--- PASS: TestA (0.00s)')
say('=== RUN   TestB')
touch('b')
say('--- PASS: TestB (0.00s)')
say('PASS')
touch('end')
";
    assert_eq!(made(script, &["a", "b", "end"]), ["?", "TestB", "-"]);
}

#[test]
fn what_is_told_of_when_it_is_done_is_of_no_test_for_sure() {
    require!(right_to_trace());
    require!(program("python3"));
    let go = "touch('a'); say('=== RUN   TestA', '--- PASS: TestA (0.00s)', 'PASS')";
    let rust =
        "say('running 1 test'); touch('a'); say('test a ... ok', 'test result: ok. 1 passed')";
    let pytest = "say('== test session starts =='); touch('a'); say('a.py::a PASSED [100%]'); \
                  say('== 1 passed in 0.01s ==')";
    for script in [go, rust, pytest] {
        assert_eq!(made(script, &["a"]), ["?"], "{script}");
    }
}

#[test]
fn what_is_done_behind_a_part_of_a_test_is_of_the_part_or_of_the_test() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "\
touch('before')
say('=== RUN   TestA')
say('=== RUN   TestA/part')
touch('part')
touch('behind')
say('--- PASS: TestA (0.00s)', '    --- PASS: TestA/part (0.00s)')
say('PASS')
";
    let either = "TestA or TestA/part";
    let found = made(script, &["before", "part", "behind"]);
    assert_eq!(found, ["-", either, either]);
}

/// As `go test` does, which compiles the next package when the tests of one run.
#[test]
fn who_only_repeats_what_a_runner_prints_is_no_runner() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "\
a, b = os.pipe()
if os.fork() == 0:
    os.dup2(b, 1); os.close(b)
    say('=== RUN   TestA')
    touch('a')
    say('--- PASS: TestA (0.00s)')
    say('PASS')
    os._exit(0)
os.close(b)
while True:
    text = os.read(a, 4096)
    if not text: break
    os.write(1, text)
    touch('compiled')
os.system('touch linked')
";
    let found = made(script, &["a", "compiled", "linked"]);
    assert_eq!(found, ["TestA", "-", "-"]);
    // It names one test itself, of which nobody told before.
    let own = script.replace(
        "os.write(1, text)",
        "os.write(1, text); say('=== RUN   TestOwn')",
    );
    assert_eq!(made(&own, &["a", "compiled"]), ["TestA", "?"]);
}

/// The worker does nothing more that is recorded, and ends behind the test.
#[test]
fn what_a_worker_does_that_lives_on_into_the_first_test_is_of_no_test_for_sure() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "\
a, b = os.pipe(); c, d = os.pipe()
if os.fork() == 0:
    os.read(a, 1); touch('work'); os.write(d, b'x')
    os.read(a, 1); os._exit(0)
os.write(b, b'x'); os.read(c, 1)
say('=== RUN   TestA')
os.write(b, b'x'); os.wait()
say('--- PASS: TestA (0.00s)')
say('PASS')
";
    assert_eq!(made(script, &["work"]), ["?"]);
}

#[test]
fn what_an_inner_runner_does_behind_its_tests_is_of_the_test_that_started_it() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "\
say('=== RUN   TestOuter')
if os.fork() == 0:
    touch('before')
    say('=== RUN   TestInner')
    touch('inner')
    say('--- PASS: TestInner (0.00s)')
    say('PASS')
    touch('behind')
    os._exit(0)
os.wait()
say('--- PASS: TestOuter (0.00s)')
say('PASS')
";
    let found = made(script, &["before", "inner", "behind"]);
    assert_eq!(found, ["TestOuter", "TestInner", "TestOuter"]);
}

#[test]
fn a_runner_that_does_not_say_that_its_tests_are_over_told_of_none_for_sure() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "\
say('=== RUN   TestA')
say('--- PASS: TestA (0.00s)')
say('=== RUN   TestB')
touch('b')
os._exit(0)
";
    assert_eq!(made(script, &["b"]), ["?"]);
}

#[test]
fn what_is_written_by_another_call_may_have_been_a_name() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "\
say('=== RUN   TestA')
os.writev(1, [b'--- PASS: TestA (0.00s)' + bytes([10]), b'=== RUN   TestB' + bytes([10])])
touch('b')
os.writev(1, [b'--- PASS: TestB (0.00s)' + bytes([10])])
say('PASS')
";
    assert_eq!(made(script, &["b"]), ["?"]);
}

/// Another test whose name begins with the same 15 bytes may have had the thread.
#[test]
fn a_thread_with_a_cut_name_is_told_if_all_names_were_printed() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "\
import ctypes, threading
a, b = os.pipe(); c, d = os.pipe()
def test():
    ctypes.CDLL(None).prctl(15, b'net::connects_t')
    touch('a')
    if os.fork() == 0: os.read(a, 1); touch('late'); os.write(d, b'x'); os._exit(0)
say('running 1 test')
thread = threading.Thread(target=test)
thread.start(); thread.join()
os.write(1, b'test net::connects_to_one ... ')
say('ok')
os.write(b, b'x'); os.read(c, 1)
say('test result: ok. 1 passed')
";
    let one = "net::connects_to_one";
    let found = made_by("thread", script, &["a", "late"]);
    assert_eq!(found, [one, "?"]);
    let cut = script.replace("say('test result: ok. 1 passed')", "os._exit(0)");
    assert_eq!(made_by("thread", &cut, &["a"]), ["?"]);
}

/// The pipe is full, and the runner writes the line again.
#[test]
fn a_name_that_the_pipe_refused_was_not_told() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "\
a, b = os.pipe()
size = 4096
import fcntl
fcntl.fcntl(b, fcntl.F_SETPIPE_SZ, size)
out = os.dup(1); os.dup2(b, 1); os.set_blocking(1, False)
for n in range(size // 512): os.write(1, b'x' * 511 + bytes([10]))
try: say('=== RUN   TestA')
except BlockingIOError: touch('before')
os.read(a, size)
say('=== RUN   TestA')
touch('a')
say('--- PASS: TestA (0.00s)')
say('PASS')
";
    assert_eq!(made(script, &["before", "a"]), ["-", "TestA"]);
}

#[test]
fn pytest_tells_tests_of_files_of_any_kind_in_folders_with_blanks() {
    require!(right_to_trace());
    require!(program("pytest-3"));
    let project = Project::new();
    project.write(
        "conftest.py",
        "import pytest\n\
         class Case(pytest.Item):\n    \
             def runtest(self): open(self.name + '.made', 'w').close()\n\
         class Cases(pytest.File):\n    \
             def collect(self): yield Case.from_parent(self, name='case')\n\
         def pytest_collect_file(file_path, parent):\n    \
             if file_path.suffix == '.yaml': return Cases.from_parent(parent, path=file_path)\n",
    );
    project.write("my tests/x.yaml", "");
    let words = ["pytest-3", "-p", "no:cacheprovider", "-v", "."];
    let lines = stated(&project, "output", &words);
    let case = json!(["my tests/x.yaml::case"]);
    assert_eq!(tests(&lines, "case.made"), (case, json!(true)));
}

/// No thread has the name of the test, as the first one runs it.
#[test]
fn a_test_that_has_no_thread_of_its_own_is_not_told_by_threads() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "\
touch('before')
say('running 2 tests')
for name in 'ab':
    os.write(1, f'test {name} ... '.encode())
    touch(name)
    os.system(f'touch by-{name}')
    say('ok')
say('test result: ok. 2 passed')
touch('behind')
";
    let found = made_by("thread", script, &["before", "a", "b", "by-b", "behind"]);
    assert_eq!(found, ["-", "?", "?", "?", "-"]);
}

#[test]
fn rules_that_say_how_tests_are_found_name_the_test_of_each_offence() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    let script = "\
say('=== RUN   TestA')
touch('a')
say('--- PASS: TestA (0.00s)')
say('=== RUN   TestB')
touch('b')
say('--- PASS: TestB (0.00s)')
say('PASS')
";
    project.write("t.py", &format!("{RUNNER}{script}"));
    let said = |blame: &str| {
        let rules = format!("{blame}expect: {{ confined: {{ writes: [none] }} }}\n");
        project.write("rules.yaml", &rules);
        let words = ["check", "rules.yaml", "--", "python3", "-I", "-S", "t.py"];
        project.harness(&words).assert_status(1).stderr.clone()
    };
    let named = said("blame: output\n");
    assert!(named.contains("\n              in test TestA\n"), "{named}");
    assert!(
        named.contains("\n              nor `b`, in test TestB\n"),
        "{named}"
    );
    let unnamed = said("");
    assert!(unnamed.contains("\n              nor `b`\n"), "{unnamed}");
}
