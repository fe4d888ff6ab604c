//! The package: its files, how it is built, and calls of its test targets.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

const MANIFEST: &str = r#"
[package]
name = "elsewhere"
version = "0.1.0"
edition = "2024"

[[bin]]
name = "save"
path = "src/save.rs"

[[test]]
name = "kernel"
harness = false

[dev-dependencies]
harness-test.path = "HARNESS_TEST"

[workspace]
"#;

const SAVE: &str = r#"
use std::io::Write;

fn main() -> std::io::Result<()> {
    let to = std::env::args().nth(1).expect("a file");
    let new = format!("{to}.new");
    let mut file = std::fs::File::create(&new)?;
    file.write_all(b"a = 2\n")?;
    if std::env::var_os("FAST").is_none() {
        file.sync_all()?;
    }
    std::fs::rename(&new, &to)?;
    eprintln!("warning: saved over {to}");
    println!("saved");
    Ok(())
}
"#;

const KERNEL: &str = r#"
fn main() -> std::process::ExitCode {
    harness_test::run("tests/kernel")
}
"#;

const CHECKS: &str = r#"
use harness_test::{Check, Expected, Verdict, trace};
use std::process::Command;

const SAVE: &str = env!("CARGO_BIN_EXE_save");

fn save() -> Check {
    Check::of(SAVE)
        .args(["config"])
        .file("config", "a = 1\n")
        .sequence(["fsync: { fd: config.new, returns: 0 }", "rename*: { to: config }"])
}

#[test]
fn it_syncs() {
    save().never("%network").run().assert();
}

#[test]
fn it_syncs_between_each_write_and_the_next_rename() {
    let between = ["write: { fd: $fd }", "rename*: { to: config }", "fsync: { fd: $fd, returns: 0 }"];
    let [first, then, there_is] = between;
    save().between(first, then, there_is).run().assert();
    let outcome = Check::of(SAVE)
        .args(["config"])
        .env("FAST", "1")
        .between(first, then, there_is)
        .run();
    assert_eq!(outcome.verdict(), Verdict::Fail, "{outcome}");
}

#[test]
fn it_writes_its_own_files_alone() {
    let confined = |files: &str| save().confined("writes", files).confined("network", "[]").run();
    confined("[config, config.new]").assert();
    let outcome = confined("[config]");
    assert_eq!(outcome.verdict(), Verdict::Fail);
    assert!(outcome.reasons()[0].contains("does not allow `config.new`"), "{outcome}");
}

#[test]
fn what_it_says_and_leaves_is_checked() {
    let check = || Check::of(SAVE).args(["config"]).file("config", "a = 1\n");
    check()
        .stdout("saved\n")
        .stderr(Expected::matches("^warning: .* config\n$"))
        .files_after("config", "a = 2\n")
        .files_after("*.new", Expected::fields("exists: false"))
        .run()
        .assert();
    for wrong in [
        check().stdout("saved"),
        check().stdout(Expected::contains("lost")),
        check().stderr(""),
        check().stderr(Expected::matches("^saved")),
        check().files_after("config", "a = 1\n"),
        check().files_after("config", Expected::contains("b = ")),
        check().files_after("config", Expected::fields("exists: false")),
    ] {
        let outcome = wrong.run();
        assert_eq!(outcome.verdict(), Verdict::Fail, "{outcome}");
    }
    let error = check().stdout(Expected::fields("mode: \"0600\"")).try_run().unwrap_err();
    assert!(error.to_string().contains("unknown"), "{error}");
}

#[test]
fn it_does_not_sync_when_it_is_fast() {
    let outcome = save().env("FAST", "1").run();
    assert_eq!(outcome.verdict(), Verdict::Fail);
    assert!(outcome.reasons()[0].contains("there is no `fsync`"), "{outcome}");
    assert!(std::panic::catch_unwind(|| outcome.assert()).is_err());
}

#[test]
fn what_was_recorded_of_a_failure_is_no_trace() {
    let check = save().env("FAST", "1");
    assert!(std::panic::catch_unwind(|| check.normalised()).is_err());
}

#[test]
fn a_command_with_a_working_directory_is_refused() {
    let mut command = Command::new(SAVE);
    command.arg("config").current_dir("/usr");
    let error = trace(&command).try_run().unwrap_err().to_string();
    assert!(error.contains("is to run in `/usr` (`current_dir`)"), "{error}");
    assert!(error.contains("`Check::file`"), "{error}");
}

#[test]
fn a_folder_that_is_gone_has_no_part_in_a_failure() {
    let failed = std::panic::catch_unwind(|| save().env("FAST", "1").normalised()).unwrap_err();
    let text = failed.downcast_ref::<String>().expect("a text");
    assert!(text.contains("there is no `fsync`") && !text.contains("snapshot `"), "{text}");
}

#[test]
fn a_step_that_can_never_occur_is_an_error() {
    let error = Check::of("true").sequence(["fsyncc"]).try_run().unwrap_err().to_string();
    assert!(error.contains("unknown system call `fsyncc`"), "{error}");
}

#[test]
fn its_trace_is_text() {
    let mut command = Command::new(SAVE);
    command.arg("config");
    let text = |check: Check| check.normalised().split_once("\n\n").unwrap().1.to_owned();
    let both = text(trace(&command).events(["fsync", "rename*"]));
    assert_eq!(both, "P1 save\n  fsync(<$DIR/config.new>) = 0\n  rename(\"config.new\", \"config\") = 0\n");
    let one = text(trace(&command).events("rename*"));
    assert_eq!(one, "P1 save\n  rename(\"config.new\", \"config\") = 0\n");
}
"#;

/// Says that it is `harness` of a version, and prints the same lines whatever it is asked.
const FAKE: &str = r#"#!/bin/sh
case $1 in
--version) echo "harness $FAKE_VERSION" ;;
*) printf %s "$FAKE_LINES" ;;
esac
"#;

/// The version of this workspace's crates.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

const SYNCS: &str = r#"
description: save syncs the file before it renames it
workload: { run: ["${CARGO_BIN_EXE_save}", config], files: { config: "a = 1\n" } }
trace: { events: [{ syscalls: [fsync, "rename*"] }] }
expect: { sequence: [{ fsync: { returns: 0 } }, { "rename*": {} }] }
"#;

const FAST: &str = r#"
description: so does save when it is fast
matrix: { fast: ["1", "2"] }
workload: { run: ["${CARGO_BIN_EXE_save}", config], env: { FAST: "${fast}" } }
trace: { events: [{ syscalls: [fsync, "rename*"] }] }
expect: { sequence: [{ fsync: {} }, { "rename*": {} }] }
snapshot: false
"#;

const UNMET: &str = r#"
description: it needs a kernel that is not there
workload: { run: ["${CARGO_BIN_EXE_save}", config] }
trace: { events: [{ syscalls: [fsync] }] }
requires: { kernel: ">= 99.0" }
"#;

/// The package, built once for all tests of this process.
pub(crate) struct Package {
    folder: tempfile::TempDir,
    /// The test target `kernel`.
    pub(crate) kernel: PathBuf,
    pub(crate) checks: PathBuf,
}

pub(crate) fn package() -> &'static Package {
    static PACKAGE: OnceLock<Result<Package, String>> = OnceLock::new();
    let package = PACKAGE.get_or_init(|| {
        let own = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let file = folder.path().join(path);
            fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            fs::write(file, text).expect("a file");
        };
        let crate_folder = own.join("harness-test").to_string_lossy().into_owned();
        write(
            "Cargo.toml",
            &MANIFEST.replace("HARNESS_TEST", &crate_folder),
        );
        write("src/save.rs", SAVE);
        write("tests/kernel.rs", KERNEL);
        write("tests/checks.rs", CHECKS);
        write("tests/kernel/syncs.yaml", SYNCS);
        write("tests/kernel/stored/stored.yaml", SYNCS);
        write("tests/kernel/sub/fast.yaml", FAST);
        write("tests/kernel/unmet.yaml", UNMET);
        // Before there is another thread that could inherit it open for writing.
        script(&folder.path().join("fake"), FAKE);
        // The versions that are there already.
        fs::copy(own.join("../Cargo.lock"), folder.path().join("Cargo.lock")).expect("a lock");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["test", "--no-run", "--offline", "--message-format", "json"]);
        cargo.current_dir(folder.path());
        cargo.env("CARGO_TARGET_DIR", folder.path().join("target"));
        let built = cargo.output().expect("cargo");
        let said = String::from_utf8_lossy(&built.stderr);
        if !built.status.success() {
            return Err(said.into_owned());
        }
        let lines = String::from_utf8_lossy(&built.stdout);
        let executable = |target: &str| -> PathBuf {
            let lines = lines.lines().map(serde_json::from_str::<serde_json::Value>);
            let mut lines = lines.filter_map(Result::ok);
            let found = lines
                .find(|line| line["target"]["name"] == target && line["executable"].is_string());
            found.expect(target)["executable"]
                .as_str()
                .expect("a path")
                .into()
        };
        Ok(Package {
            kernel: executable("kernel"),
            checks: executable("checks"),
            folder,
        })
    });
    match package {
        Ok(package) => package,
        Err(said) => panic!("{said}"),
    }
}

impl Package {
    /// A call of a test target, as cargo makes it.
    pub(crate) fn call(&self, target: &Path, words: &[&str], env: &[(&str, &str)]) -> Output {
        let mut command = self.command(target);
        command.args(words);
        command.env("CARGO_MANIFEST_DIR", self.folder.path());
        command.envs(env.iter().copied());
        command.output().expect("the test")
    }

    /// A call of cargo by the package's author, with what it prints.
    pub(crate) fn cargo(&self, words: &[&str], env: &[(&str, &str)]) -> (bool, String) {
        let mut command = self.command(Path::new(env!("CARGO")));
        command.args(words);
        command.env("CARGO_TARGET_DIR", self.folder.path().join("target"));
        command.envs(env.iter().copied());
        said(&command.output().expect("cargo"))
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path());
        command.env("HARNESS", env!("CARGO_BIN_EXE_harness"));
        for name in [
            "CI",
            "NEXTEST",
            "HARNESS_REQUIRE",
            "INSTA_UPDATE",
            "INSTA_FORCE_PASS",
            "HARNESS_UPDATE",
            "TEST_SHARD_INDEX",
            "TEST_TOTAL_SHARDS",
            "TEST_SHARD_STATUS_FILE",
        ] {
            command.env_remove(name);
        }
        command
    }

    /// A call of a test target with a harness that is none.
    pub(crate) fn faked(
        &self,
        target: &Path,
        words: &[&str],
        version: &str,
        lines: &str,
    ) -> (bool, String) {
        let fake = self.folder.path().join("fake");
        let fake = fake.to_string_lossy();
        let env = [
            ("HARNESS", &*fake),
            ("FAKE_VERSION", version),
            ("FAKE_LINES", lines),
        ];
        said(&self.call(target, words, &env))
    }

    /// What lies in a folder of the package, by name; nothing where there is no such folder.
    pub(crate) fn files(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path().join(folder));
        let entries = entries.into_iter().flatten().filter_map(Result::ok);
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// A file or a folder of the package.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn kernel(&self, words: &[&str], env: &[(&str, &str)]) -> (bool, String) {
        said(&self.call(&self.kernel, words, env))
    }
}

/// Whether a call ended well, and what it printed.
fn said(output: &Output) -> (bool, String) {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text + &said)
}

fn script(file: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(file, text).expect("a script");
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).expect("a mode");
}
