//! What the documents say of each runner, with that runner: a test that connects is found.

use super::Project;
use crate::support::project::Run;
use crate::support::require::{program, require, right_to_trace};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

const HARNESS: &str = env!("CARGO_BIN_EXE_harness");
const REFUSED: &str = "`expect.confined.network` does not allow `127.0.0.1:9`";

fn document() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/runners.md");
    std::fs::read_to_string(path).expect("the document")
}

/// The configuration in this language that the document shows.
fn shown(language: &str) -> String {
    let document = document();
    let (_, chapter) = document
        .split_once("\n## Three lines each\n")
        .expect("the chapter");
    let (_, behind) = chapter
        .split_once(&format!("```{language} shown\n"))
        .expect("a block");
    let (block, _) = behind.split_once("```").expect("its end");
    block.to_owned()
}

/// The rules that the document shows for a runner.
fn rules_of(runner: &str) -> String {
    let document = document();
    let (_, behind) = document
        .split_once(&format!("```yaml shown\n# {runner}\n"))
        .expect("rules");
    let (rules, _) = behind.split_once("```").expect("their end");
    rules.to_owned()
}

/// The command that the document shows and that has these words.
fn command(words: &str) -> String {
    let document = document();
    let mut lines = document.lines();
    lines
        .find(|line| line.contains(words))
        .expect(words)
        .to_owned()
}

/// A project whose `rules.yaml` let no test connect, and `named.yaml` one of this name.
fn project(test: &str, files: &[(&str, &str)]) -> Project {
    let project = Project::new();
    let nobody = "expect: { confined: { network: [\"family:netlink\"] } }\n";
    project.write("rules.yaml", nobody);
    let one = format!("{{ {test}: {{ confined: {{ network: [\"127.0.0.1:9\"] }} }} }}");
    let blame = "blame: output\n";
    project.write("named.yaml", &format!("{blame}{nobody}tests: {one}\n"));
    for (name, text) in files {
        project.write(name, text);
    }
    project
}

/// Runs a tool where it finds the harness and its own files, as in a shell of its user.
fn run(project: &Project, words: &[&str]) -> Run {
    let path = std::env::var("PATH").unwrap_or_default();
    let folder = Path::new(HARNESS).parent().expect("a folder");
    let path = format!("{}:{path}", folder.display());
    let home = std::env::var("HOME").unwrap_or_default();
    let cargo = std::env::var("CARGO_HOME").unwrap_or_else(|_| format!("{home}/.cargo"));
    let caches = ["go-cache", "npm-cache"].map(|name| project.join(name).display().to_string());
    let environment = [
        ("PATH", path.as_str()),
        ("HOME", &home),
        ("CARGO_HOME", &cargo),
        ("CARGO_NET_OFFLINE", "true"),
        ("GOCACHE", &caches[0]),
        ("npm_config_cache", &caches[1]),
        ("npm_config_update_notifier", "false"),
    ];
    project.run(&environment, words)
}

#[track_caller]
fn assert_refused(run: &Run, test: &str) {
    let text = format!("{}{}", run.stdout, run.stderr);
    assert_ne!(run.status, 0, "{text}");
    assert!(text.contains(REFUSED) && text.contains(test), "{text}");
}

const GO: [(&str, &str); 2] = [
    ("go.mod", "module saves\n\ngo 1.18\n"),
    (
        "saves_test.go",
        "package saves\n\nimport (\n\t\"net\"\n\t\"os\"\n\t\"testing\"\n)\n\n\
         func TestSaves(t *testing.T) {\n\
         \tif err := os.WriteFile(\"saved\", []byte(\"x\"), 0o600); err != nil {\n\t\tt.Fatal(err)\n\t}\n}\n\n\
         func TestConnects(t *testing.T) {\n\
         \tif peer, err := net.Dial(\"tcp\", \"127.0.0.1:9\"); err == nil {\n\t\tpeer.Close()\n\t}\n}\n",
    ),
];

#[test]
fn go_runs_its_tests_under_rules_and_rules_under_its_tests() {
    require!(right_to_trace());
    require!(program("go"));
    let project = project("TestConnects", &GO);
    let rules = project.join("rules.yaml").display().to_string();
    let words = |more: &[&'static str]| [&["go", "test", "-count=1"], more].concat();
    let each = command("go test -exec").replace("/path/to/rules.yaml", &rules);
    let saves = each.replace("./...", "-run Saves ./...");
    run(&project, &["sh", "-c", &saves]).assert_status(0);
    assert_refused(&run(&project, &["sh", "-c", &each]), "saves.test");
    let all = |rules: &'static str| {
        let cache = project.join("go-cache").display().to_string();
        let check = [HARNESS, "check", rules, "--folder", &cache, "--"];
        run(
            &project,
            &[&check[..], &words(&["-p", "1", "-v", "./..."])].concat(),
        )
    };
    all("named.yaml").assert_status(0);
    project.write(
        "other.yaml",
        &project
            .read("named.yaml")
            .replace("TestConnects", "TestSaves"),
    );
    assert_refused(&all("other.yaml"), "in test TestConnects");
    let shown = rules_of("go test");
    project.write("shown.yaml", &shown);
    assert_refused(&all("shown.yaml"), "in test TestConnects");
    project.write("other.yaml", &shown.replace("TestNet*", "TestC*"));
    all("other.yaml").assert_status(0);
}

#[test]
fn pytest_runs_its_tests_under_rules_for_single_ones() {
    require!(right_to_trace());
    require!(pytest());
    let tests = "import socket\n\n\ndef test_saves(tmp_path):\n    (tmp_path / 'saved').write_text('x')\n\n\n\
                 def test_connects():\n    socket.socket().connect_ex(('127.0.0.1', 9))\n";
    let project = project(
        "\"tests/test_saves.py::test_connects\"",
        &[("tests/test_saves.py", tests)],
    );
    let watched = command("harness check rules.yaml -- python -m pytest")
        .replace("python -m", "/usr/bin/python3 -m");
    let with = |rules: &str| {
        let words = watched.replace("rules.yaml", rules);
        run(&project, &["sh", "-c", &words])
    };
    with("named.yaml").assert_status(0);
    assert_refused(&with("rules.yaml"), "test_saves.py::test_connects");
    let other = project
        .read("named.yaml")
        .replace("test_connects", "test_saves");
    project.write("other.yaml", &other);
    assert_refused(&with("other.yaml"), "test_connects");
    let shown = rules_of("pytest");
    project.write("other.yaml", &shown);
    assert_refused(&with("other.yaml"), "test_connects");
    project.write("other.yaml", &shown.replace("test_net.py", "test_saves.py"));
    with("other.yaml").assert_status(0);
}

fn pytest() -> Result<(), String> {
    let mut command = Command::new("/usr/bin/python3");
    let version = command.args(["-m", "pytest", "--version"]).output();
    let has = version.is_ok_and(|output| output.status.success());
    let lacks = || "pytest is not installed for /usr/bin/python3".to_owned();
    has.then_some(()).ok_or_else(lacks)
}

fn nextest() -> Result<(), String> {
    let mut command = Command::new(env!("CARGO"));
    let version = command.args(["nextest", "--version"]).output();
    let has = version.is_ok_and(|output| output.status.success());
    let lacks = || "`cargo nextest` is not installed".to_owned();
    has.then_some(()).ok_or_else(lacks)
}

#[test]
fn nextest_puts_the_rules_around_each_test() {
    require!(right_to_trace());
    require!(nextest());
    let manifest =
        "[package]\nname = \"saves\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n";
    let wrapper = shown("toml");
    let tests = "#[test]\nfn saves() { std::fs::write(\"saved\", \"x\").unwrap(); }\n\
                 #[test]\nfn connects() { std::net::TcpStream::connect(\"127.0.0.1:9\").ok(); }\n";
    let files = [
        ("Cargo.toml", manifest),
        (".config/nextest.toml", &wrapper),
        ("src/lib.rs", tests),
    ];
    let project = project("connects", &files);
    let cargo = env!("CARGO");
    let words = [cargo, "nextest", "run", "--no-fail-fast"];
    let both = run(&project, &words);
    assert_refused(&both, "FAIL");
    let text = format!("{}{}", both.stdout, both.stderr);
    assert!(text.contains("1 passed, 1 failed"), "{text}");
    // The rules that the document shows, around all of them.
    std::fs::remove_file(project.join(".config/nextest.toml")).expect("a file");
    let all = |rules: &str| {
        project.write("all.yaml", rules);
        let check = [HARNESS, "check", "all.yaml", "--"];
        run(&project, &[&check[..], &words].concat())
    };
    let shown = rules_of("nextest").replace("\"/tmp/**\"", "\"/tmp/**\", saved");
    assert_refused(&all(&shown), "in test connects");
    all(&shown.replace("net::*", "connects")).assert_status(0);
}

#[test]
fn ctest_puts_the_rules_around_each_test() {
    require!(right_to_trace());
    require!(program("ctest"));
    let lists = format!(
        "cmake_minimum_required(VERSION 3.13)\nproject(saves NONE)\nenable_testing()\n\
         add_executable(saves IMPORTED)\n\
         set_target_properties(saves PROPERTIES IMPORTED_LOCATION ${{CMAKE_SOURCE_DIR}}/saves)\n\
         {}\
         add_test(NAME connects COMMAND ${{CHECK}} perl -MSocket -e\n\
         \x20 \"socket S, PF_INET, SOCK_STREAM, 0; connect S, sockaddr_in(9, INADDR_LOOPBACK)\")\n",
        shown("cmake"),
    );
    let saves = "#!/bin/sh\necho x > saved\n";
    let project = project("connects", &[("CMakeLists.txt", &lists), ("saves", saves)]);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(project.join("saves"), mode).expect("a mode");
    run(&project, &["cmake", "-S", ".", "-B", "built"]).assert_status(0);
    let both = run(
        &project,
        &["ctest", "--test-dir", "built", "--output-on-failure"],
    );
    assert_refused(&both, "connects");
    assert!(both.stdout.contains("50% tests passed"), "{}", both.stdout);
}

#[test]
fn npm_runs_its_tests_under_rules() {
    require!(right_to_trace());
    require!(program("npm"));
    let scripts = shown("json").replace("\": {", "\": { \"test\": \"node --test\",");
    let package = format!("{{ \"name\": \"saves\", \"version\": \"1.0.0\", {scripts} }}\n");
    let saves = "const test = require('node:test'), fs = require('fs');\n\
                 test('saves', () => fs.writeFileSync('saved', 'x'));\n";
    let project = project(
        "connects",
        &[("package.json", &package), ("saves.test.js", saves)],
    );
    let watched = || run(&project, &["npm", "run", "test:watched"]);
    watched().assert_status(0);
    project.write(
        "connects.test.js",
        "const test = require('node:test'), net = require('net');\n\
         test('connects', (t, done) => { net.connect(9, '127.0.0.1').on('error', () => done()); });\n",
    );
    assert_refused(&watched(), "in P");
}
