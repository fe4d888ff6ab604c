//! Real runners: which test did it, as each of them tells it.

use super::{Project, summary};
use crate::support::require::{program, require, right_to_trace};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Python writes no caches beside its packages. Another test may write them at the same time, and
/// what the names there were would not be known.
pub(super) const NO_CACHE: [(&str, &str); 1] = [("PYTHONDONTWRITEBYTECODE", "1")];

/// States what a command did, its tests found by `blame`.
pub(super) fn stated(project: &Project, blame: &str, command: &[&str]) -> Vec<Value> {
    let words = [
        "check", "--blame", blame, "--format", "json", "-o", "stated", "--",
    ];
    let run = project.harness_with(&NO_CACHE, &[&words[..], command].concat());
    run.assert_status(0);
    let text = project.read("stated");
    let line = |line| serde_json::from_str(line).expect("a line of JSON");
    text.lines().map(line).collect()
}

/// The tests that did something to a thing, and whether these are known.
pub(super) fn tests(lines: &[Value], to: &str) -> (Value, Value) {
    let line = lines.iter().find(|line| line["to"] == to);
    let line = line.unwrap_or_else(|| panic!("{to}: {lines:?}"));
    (line["tests"].clone(), line["tests_known"].clone())
}

/// A test program of Rust's own harness, compiled by the compiler that compiles this test.
pub(super) fn rust_tests(project: &Project) {
    let cargo = std::env::var("CARGO").expect("cargo runs this test");
    let compiler = PathBuf::from(cargo).with_file_name("rustc");
    project.write(
        "suite.rs",
        "mod net {\n\
         #[test] fn connects_to_one() { std::net::TcpStream::connect(\"127.0.0.1:9\").ok(); }\n\
         #[test] fn connects_to_other() { std::net::TcpStream::connect(\"127.0.0.1:10\").ok(); }\n}\n\
         mod disk {\n\
         #[test] fn saves() { std::fs::write(\"saved\", \"x\").unwrap(); }\n\
         #[test] fn runs() {\n\
         std::process::Command::new(\"touch\").arg(\"touched\").status().unwrap(); }\n}\n",
    );
    let compiler = compiler.to_str().expect("text");
    let compiled = project.run(&[], &[compiler, "--test", "suite.rs", "-o", "suite"]);
    compiled.assert_status(0);
}

#[test]
fn rusts_threads_tell_the_test_and_a_cut_name_is_one_of_several() {
    require!(right_to_trace());
    let project = Project::new();
    rust_tests(&project);
    let lines = stated(&project, "thread", &["./suite", "--test-threads", "2"]);
    assert_eq!(
        tests(&lines, "saved"),
        (json!(["disk::saves"]), json!(true))
    );
    // A process that the test's thread started.
    assert_eq!(
        tests(&lines, "touched"),
        (json!(["disk::runs"]), json!(true))
    );
    let either = json!(["net::connects_to_one", "net::connects_to_other"]);
    assert_eq!(tests(&lines, "127.0.0.1:9"), (either, json!(false)));
    assert_eq!(summary(&lines)["tests"].as_array().map(Vec::len), Some(4));
}

#[test]
fn rust_with_one_thread_tells_it_by_what_it_prints() {
    require!(right_to_trace());
    let project = Project::new();
    rust_tests(&project);
    let lines = stated(&project, "output", &["./suite", "--test-threads", "1"]);
    let one = json!(["net::connects_to_one"]);
    assert_eq!(tests(&lines, "127.0.0.1:9"), (one, json!(true)));
    assert_eq!(
        tests(&lines, "touched"),
        (json!(["disk::runs"]), json!(true))
    );
}

#[test]
fn rules_that_differ_for_tests_of_one_cut_name_make_no_pass() {
    require!(right_to_trace());
    let project = Project::new();
    rust_tests(&project);
    let rules = "\
blame: thread
expect: { confined: { network: [] } }
tests: { \"net::connects_to_o*\": { confined: { network: [\"127.0.0.1:*\"] } } }
";
    let words = [
        "check",
        "rules.yaml",
        "--",
        "./suite",
        "--test-threads",
        "2",
    ];
    project.write("rules.yaml", rules);
    project.harness(&words).assert_status(0);
    project.write("rules.yaml", &rules.replace("to_o*", "to_one"));
    let run = project.harness(&words);
    run.assert_status(1);
    assert!(run.stderr.contains("incomplete"), "{}", run.stderr);
    let said = "in one of the tests net::connects_to_one, net::connects_to_other";
    assert!(run.stderr.contains(said), "{}", run.stderr);
}

#[test]
fn pytest_tells_it_by_the_node_id_that_it_prints() {
    require!(right_to_trace());
    require!(program("pytest-3"));
    let project = Project::new();
    project.write(
        "test_net.py",
        "import socket\n\
         def test_connects(): socket.socket().connect_ex((\"127.0.0.1\", 9))\n\
         def test_saves(): open(\"saved\", \"w\").close()\n",
    );
    let words = ["pytest-3", "-p", "no:cacheprovider", "-v", "test_net.py"];
    let lines = stated(&project, "output", &words);
    let connects = json!(["test_net.py::test_connects"]);
    assert_eq!(tests(&lines, "127.0.0.1:9"), (connects, json!(true)));
    let saves = json!(["test_net.py::test_saves"]);
    assert_eq!(tests(&lines, "saved"), (saves, json!(true)));
}

#[test]
fn a_program_with_a_sanitizer_is_stated_as_any_other() {
    require!(right_to_trace());
    require!(program("cc"));
    let project = Project::new();
    project.write(
        "it.c",
        "#include <stdio.h>\n#include <stdlib.h>\n\
         int main(void) { FILE *f = fopen(\"made\", \"w\"); free(malloc(9)); return fclose(f); }\n",
    );
    let compiled = project.run(&[], &["cc", "-fsanitize=address", "-o", "it", "it.c"]);
    compiled.assert_status(0);
    let lines = stated(&project, "process", &["./it"]);
    assert_eq!(super::done(&lines, "written"), ["made"]);
    assert_eq!(summary(&lines)["complete"], true, "{lines:?}");
}
