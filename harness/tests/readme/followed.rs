//! Each document is followed as its reader would, in a folder of its own: files are made, commands
//! are run, and what is printed is what is shown.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::blocks::{Block, Use, blocks, documents};
use crate::{HARNESS, cannot_trace, read, root, without_times};

/// A test for each document.
macro_rules! followed {
    ($($name:ident: $document:literal,)*) => {
        const FOLLOWED: &[&str] = &[$($document),*];
        $(#[test] fn $name() { follow($document); })*
    };
}

followed! {
    readme: "README.md",
    bisecting: "harness/docs/bisecting.md",
    check: "harness/docs/check.md",
    commands: "harness/docs/commands.md",
    confinement: "harness/docs/confinement.md",
    durability: "harness/docs/durability.md",
    faults: "harness/docs/faults.md",
    kernels_and_ci: "harness/docs/kernels-and-ci.md",
    limits: "harness/docs/limits.md",
    many: "harness/docs/many.md",
    perf: "harness/docs/perf.md",
    policy: "harness/docs/policy.md",
    python_go: "harness/docs/python-go.md",
    runners: "harness/docs/runners.md",
    rust: "harness/docs/rust.md",
    suite: "harness/docs/suite.md",
    trace: "harness/docs/trace.md",
    tutorial: "harness/docs/tutorial.md",
    verdicts: "harness/docs/verdicts.md",
}

#[test]
fn every_document_is_followed() {
    let mut followed: Vec<String> = FOLLOWED.iter().map(ToString::to_string).collect();
    followed.sort();
    assert_eq!(documents(), followed, "add it to `followed!`");
}

/// The folder that a reader works in.
struct Session {
    place: tempfile::TempDir,
    /// What the last block that was run printed.
    printed: Option<String>,
    excerpts: usize,
}

/// Where `.ci/run` puts a Python with packages that documents use.
fn python() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("python/bin")
}

/// What the machine lacks of what a document's commands and programs take.
fn lacking(blocks: &[Block]) -> Option<String> {
    let is_followed = |block: &&Block| matches!(block.used(), Use::Run { .. } | Use::Written(_));
    let uses = |wanted: &str| {
        let mut followed = blocks.iter().filter(is_followed);
        followed.any(|block| block.text.contains(wanted))
    };
    let path = std::env::var("PATH").unwrap_or_default();
    let has = |script: &str| {
        let mut command = Command::new("python3");
        command.args(["-c", script]).stderr(Stdio::null());
        command.env("PATH", format!("{}:{path}", python().display()));
        command.status().is_ok_and(|status| status.success())
    };
    if uses("python3") && !has("pass") {
        return Some("`python3` is not installed".to_owned());
    }
    let modules = [("import duckdb", "duckdb"), ("-m pytest", "pytest")];
    for (used, module) in modules {
        if uses(used) && !has(&format!("import {module}")) {
            return Some(format!("Python has no module `{module}`"));
        }
    }
    let git = Command::new("git")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    if uses("git init") && !git.is_ok_and(|status| status.success()) {
        return Some("`git` is not installed".to_owned());
    }
    let go = Command::new("go")
        .arg("version")
        .stdout(Stdio::null())
        .status();
    let lacks_go = uses("go test -count=1 ./...") && !go.is_ok_and(|status| status.success());
    lacks_go.then(|| "`go` is not installed".to_owned())
}

fn follow(document: &str) {
    let blocks = blocks(document);
    if let Some(why) = cannot_trace() {
        return crate::skip(&why);
    }
    if let Some(why) = lacking(&blocks) {
        let required = std::env::var("HARNESS_REQUIRE").unwrap_or_default();
        assert_ne!(required, "all", "HARNESS_REQUIRE is set, and {why}");
        return crate::skip(&why);
    }
    let mut session = Session {
        place: tempfile::tempdir().expect("a folder"),
        printed: None,
        excerpts: 0,
    };
    fs::create_dir(session.path("tmp")).expect("a folder");
    for block in &blocks {
        session.step(block);
    }
}

impl Session {
    fn path(&self, path: &str) -> PathBuf {
        self.place.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    fn step(&mut self, block: &Block) {
        match block.used() {
            Use::Shown => {}
            Use::Written(path) => {
                self.write(path, &here(&block.text));
                if path == "Cargo.toml" {
                    // The versions that are there already.
                    self.write("Cargo.lock", &read("Cargo.lock"));
                }
            }
            Use::Compared(path) => {
                let file = fs::read_to_string(self.path(path));
                let file = file.unwrap_or_else(|error| panic!("{}: {error}", block.place));
                assert_eq!(file, block.text, "{}, and the file", block.place);
            }
            Use::Run { status } => self.run(block, status),
            Use::Output => {
                let printed = self.printed.as_deref();
                let printed = printed.unwrap_or_else(|| panic!("{}: of what?", block.place));
                compare(&block.place, &told(printed), &told(&block.text));
            }
            Use::Excerpt => self.excerpt(block),
        }
    }

    fn run(&mut self, block: &Block, status: i32) {
        // So often that a test can wait for it.
        let shortened = [
            ("harness new ", "harness new -n 10 "),
            ("harness calibrate ", "harness calibrate -n 10 "),
            ("$(seq 2000)", "$(seq 20)"),
        ];
        let shorter = |script: String, (long, short): (&str, &str)| script.replace(long, short);
        let script = shortened.into_iter().fold(block.text.clone(), shorter);
        let folder = Path::new(HARNESS).parent().expect("a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        let mut shell = Command::new("bash");
        shell.args(["-e", "-c", &format!("exec 2>&1\n{script}")]);
        shell.current_dir(&self.place).stdin(Stdio::null());
        let python = python();
        let first = format!("{}:{}", folder.display(), python.display());
        shell.env("PATH", format!("{first}:{path}"));
        shell.env("CARGO_TARGET_DIR", self.path("target"));
        // What `--keep` keeps goes with the session.
        shell.env("TMPDIR", self.path("tmp"));
        shell.env("CARGO_NET_OFFLINE", "true");
        for name in ["CI", "HARNESS", "HARNESS_REQUIRE", "HARNESS_UPDATE"] {
            shell.env_remove(name);
        }
        let output = shell.output().expect("bash");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(
            output.status.code(),
            Some(status),
            "{}\n{script}\nprinted:\n{printed}",
            block.place
        );
        self.printed = Some(printed);
    }

    /// An excerpt of a scenario, with what is left out of it.
    fn excerpt(&mut self, block: &Block) {
        self.excerpts += 1;
        let path = format!("excerpts/{}.yaml", self.excerpts);
        self.write(&path, &whole(&block.text));
        let mut run = Command::new(HARNESS);
        let output = run.args(["run", &path]).current_dir(&self.place).output();
        let output = output.expect("the program");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_ne!(output.status.code(), Some(2), "{}: {said}", block.place);
        assert!(!said.contains("cannot be used"), "{}: {said}", block.place);
    }
}

/// A scenario of which an example may show a few keys only.
pub(crate) fn whole(excerpt: &str) -> String {
    let lacks = |key: &str| !excerpt.lines().any(|line| line.starts_with(key));
    let description = lacks("description:").then_some("description: d\n");
    let workload = lacks("workload:").then_some("workload: { run: [\"true\"] }\n");
    let head = [description, workload]
        .map(Option::unwrap_or_default)
        .concat();
    format!("{head}{excerpt}")
}

/// A file as it is written here: the repository is this one, and not at a URL.
fn here(text: &str) -> String {
    let crate_folder = root().join("harness/harness-test");
    text.replace(
        "git = \"URL\"",
        &format!("path = \"{}\"", crate_folder.display()),
    )
}

/// What is the same on every machine: neither times, nor how often an interpreter opens its script,
/// nor how many events that makes.
fn told(printed: &str) -> Vec<String> {
    let text = without_times(printed);
    let lines = text.lines().filter(|line| !line.contains("save.py\""));
    let without_count = |line: &str| match line.split_once("(N ms, ") {
        Some((before, rest)) if rest.ends_with(" events)") => format!("{before}(N ms, N events)"),
        _ => line.to_owned(),
    };
    lines.map(without_count).collect()
}

/// Compares lines; `...` in what is shown stands for any lines.
fn compare(place: &str, printed: &[String], shown: &[String]) {
    let differs = || -> ! {
        panic!(
            "{place}: shown is\n{}\n\nprinted was\n{}",
            shown.join("\n"),
            printed.join("\n")
        )
    };
    let parts: Vec<&[String]> = shown.split(|line| line == "...").collect();
    let (first, others) = parts.split_first().expect("a part");
    let Some(mut rest) = printed.strip_prefix(*first) else {
        differs()
    };
    let Some((last, middle)) = others.split_last() else {
        if !rest.is_empty() {
            differs();
        }
        return;
    };
    for part in middle {
        let at = rest
            .windows(part.len().max(1))
            .position(|lines| lines == *part);
        let Some(at) = at else { differs() };
        rest = &rest[at + part.len()..];
    }
    if !rest.ends_with(last) {
        differs();
    }
}

#[test]
fn three_dots_stand_for_any_lines_and_for_no_others() {
    let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let is_same = |printed: &str, shown: &str| {
        std::panic::catch_unwind(|| compare("", &lines(printed), &lines(shown))).is_ok()
    };
    assert!(is_same("a\nb\nc\nd", "a\n...\nd"));
    assert!(is_same("a\nb\nc\nd", "...\nb\n...\nd"));
    assert!(is_same("a", "a"));
    assert!(!is_same("a\nb", "a"));
    assert!(!is_same("a\nb\nc\nd", "a\n...\nc"));
    assert!(!is_same("a\nb", "...\nc\n...\nb"));
}
