//! Runners of C projects tell which test did something, as far as they say so in time.

use super::{Project, done, summary};
use crate::support::project::Run;
use crate::support::require::{program, require, right_to_trace};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

/// Connects to a port of the loopback at which nothing listens.
const CONNECTS: &str = "perl -MSocket -e \
    'socket S, PF_INET, SOCK_STREAM, 0; connect S, sockaddr_in(9, INADDR_LOOPBACK)'";

/// Rules by which the suite may not connect, and one test may.
fn rules(blame: &str, test: &str) -> String {
    format!(
        "blame: {blame}\n\
         expect: {{ exit: 0, confined: {{ network: [] }} }}\n\
         tests: {{ {test:?}: {{ confined: {{ network: [\"127.0.0.1:9\"] }} }} }}\n"
    )
}

impl Project {
    /// Writes a program of a test.
    fn program_of(&self, name: &str, shell: &str) {
        self.write(name, &format!("#!/bin/sh\n{shell}\n"));
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(self.join(name), mode).expect("a mode");
    }

    /// States what a runner did, with tests found in this way.
    fn stated_of(&self, blame: &str, command: &[&str]) -> Vec<Value> {
        let check = [
            "check", "--blame", blame, "--format", "json", "-o", "stated",
        ];
        let run = self.harness(&[&check[..], &["--"], command].concat());
        run.assert_status(0);
        let text = self.read("stated");
        let lines = text.lines().map(serde_json::from_str);
        lines.map(|line| line.expect("a line of JSON")).collect()
    }

    /// Holds a runner to rules of one test.
    fn held(&self, blame: &str, test: &str, command: &[&str]) -> Run {
        self.write("rules.yaml", &rules(blame, test));
        self.harness(&[&["check", "rules.yaml", "--"], command].concat())
    }
}

/// The tests that did something, and whether that is known.
fn tests_of(lines: &[Value], to: &str) -> (Value, Value) {
    let line = lines.iter().find(|line| line["to"] == to);
    let line = line.unwrap_or_else(|| panic!("{to}: {lines:?}"));
    (line["tests"].clone(), line["tests_known"].clone())
}

/// Finds the test that connects, and the one that saves; a test may do what its own rules allow,
/// and no other may.
fn assert_tells(project: &Project, blame: &str, names: [&str; 2], command: &[&str]) {
    let [saves, connects] = names;
    let lines = project.stated_of(blame, command);
    assert_eq!(summary(&lines)["complete"], true, "{lines:?}");
    assert_eq!(
        tests_of(&lines, "127.0.0.1:9"),
        (json!([connects]), json!(true))
    );
    let saved = done(&lines, "written")
        .into_iter()
        .find(|it| it.ends_with("saved"));
    let saved = saved.expect("what the test wrote");
    assert_eq!(tests_of(&lines, saved), (json!([saves]), json!(true)));
    project.held(blame, connects, command).assert_status(0);
    let run = project.held(blame, saves, command);
    run.assert_status(1);
    let said = format!("in test {connects}");
    assert!(run.stderr.contains(&said), "{}", run.stderr);
}

#[test]
fn ctest_tells_its_tests_by_what_it_prints_one_by_one_and_side_by_side() {
    require!(right_to_trace());
    require!(program("ctest"));
    require!(program("perl"));
    let project = Project::new();
    project.program_of("saves", "echo x > saved; echo '    Start 2: connects'");
    project.program_of("connects", CONNECTS);
    project.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.19)\nproject(saves NONE)\nenable_testing()\n\
         add_test(NAME \"saves a file\" COMMAND ${CMAKE_SOURCE_DIR}/saves)\n\
         add_test(NAME connects COMMAND ${CMAKE_SOURCE_DIR}/connects)\n",
    );
    let made = project.run(&[], &["cmake", "-S", ".", "-B", "built"]);
    made.assert_status(0);
    let names = ["saves a file", "connects"];
    for option in ["-j1", "-j2", "-V"] {
        let command = ["ctest", option, "--test-dir", "built"];
        assert_tells(&project, "output", names, &command);
    }
    let quiet = project.held(
        "output",
        "connects",
        &["ctest", "-Q", "--test-dir", "built"],
    );
    quiet.assert_status(1);
    assert!(
        quiet.stderr.contains("`Start N: NAME` (`ctest`)"),
        "{}",
        quiet.stderr
    );
}

#[test]
fn bats_tells_its_tests_by_their_processes() {
    require!(right_to_trace());
    require!(program("bats"));
    require!(program("perl"));
    let project = Project::new();
    project.write(
        "a.bats",
        &format!(
            "@test \"saves a_file: twice\" {{ echo x > saved; }}\n\
             @test \"connects\" {{ {CONNECTS}; }}\n"
        ),
    );
    let names = ["saves a_file: twice", "connects"];
    assert_tells(&project, "process", names, &["bats", "a.bats"]);
}

#[test]
fn automake_tells_its_tests_by_their_drivers() {
    require!(right_to_trace());
    for name in ["automake", "autoreconf", "make", "perl"] {
        require!(program(name));
    }
    let project = Project::new();
    project.write(
        "configure.ac",
        "AC_INIT([saves],[1])\nAM_INIT_AUTOMAKE([foreign])\n\
         AC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n",
    );
    project.write("Makefile.am", "TESTS = saves.sh connects.sh\n");
    project.program_of("saves.sh", "echo x > saved");
    project.program_of("connects.sh", CONNECTS);
    project.run(&[], &["autoreconf", "-i"]).assert_status(0);
    project.run(&[], &["./configure"]).assert_status(0);
    let names = ["saves.sh", "connects.sh"];
    assert_tells(&project, "process", names, &["make", "-j2", "check"]);
}

#[test]
fn meson_puts_the_rules_around_each_test() {
    require!(right_to_trace());
    for name in ["meson", "ninja", "perl"] {
        require!(program(name));
    }
    let project = Project::new();
    project.write("rules.yaml", "expect: { confined: { network: [] } }\n");
    project.program_of("saves", "echo x > saved");
    project.program_of("connects", CONNECTS);
    project.write(
        "meson.build",
        "project('saves')\n\
         test('saves', find_program('./saves'))\n\
         test('connects', find_program('./connects'))\n",
    );
    project
        .run(&[], &["meson", "setup", "built"])
        .assert_status(0);
    let rules = project.join("rules.yaml");
    let harness = env!("CARGO_BIN_EXE_harness");
    let wrapper = format!("{harness} check {} --", rules.display());
    let words = [
        "meson",
        "test",
        "-C",
        "built",
        "--print-errorlogs",
        "--wrap",
        &wrapper,
    ];
    let run = project.run(&[], &words);
    run.assert_status(1);
    let refused = "`expect.confined.network` does not allow `127.0.0.1:9`";
    assert!(run.stdout.contains(refused), "{}", run.stdout);
    assert!(
        run.stdout.contains("Ok:                 1"),
        "{}",
        run.stdout
    );
}
