//! A folder with scenarios, and runs of the program in it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::process;

pub(crate) use super::require::PATH;

/// Long enough for every run of these tests on a slow machine; one that hangs is killed then.
const SECONDS: &str = "600";

/// The flags of `cc` for a static program of 32 bits without a library.
pub(crate) const OF_32: &[&str] = &[
    "-static",
    "-m32",
    "-nostdlib",
    "-ffreestanding",
    "-fno-pic",
    "-no-pie",
    "-fno-stack-protector",
];

/// The folder: `scenarios`, `snapshots`, and a temporary folder of its own.
pub(crate) struct Project {
    folder: TempDir,
    /// How many times its timeout a run has: a machine that gets no CPU for ten seconds, as a guest
    /// may, fails no test.
    patience: &'static str,
}

/// What a run of the program said.
#[derive(Debug)]
pub(crate) struct Run {
    /// The status as a shell has it.
    pub(crate) status: i32,
    /// Standard output.
    pub(crate) stdout: String,
    /// Standard error.
    pub(crate) stderr: String,
}

/// The verdict on a scenario, and its first reason.
pub(crate) fn verdict(yaml: &str) -> (String, String) {
    let project = Project::with("it", yaml);
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    let verdict = run.verdicts()["it"].clone();
    project.assert_nothing_left();
    verdict
}

impl Project {
    /// An empty one.
    pub(crate) fn new() -> Self {
        Self::in_folder(&std::env::temp_dir())
    }

    /// An empty one that lies in this folder.
    pub(crate) fn in_folder(parent: &Path) -> Self {
        let folder = TempDir::with_prefix_in("behaviour-", parent).expect("a temporary folder");
        for name in ["scenarios", "tmp"] {
            fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        Self {
            folder,
            patience: "3",
        }
    }

    /// The same, whose runs have the time that their scenarios say, for a test of that.
    pub(crate) fn in_time(mut self) -> Self {
        self.patience = "1";
        self
    }

    /// One with a scenario.
    pub(crate) fn with(name: &str, yaml: &str) -> Self {
        let project = Self::new();
        project.scenario(name, yaml);
        project
    }

    /// Its folder.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A path in it.
    pub(crate) fn join(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Writes a scenario; the description comes by itself.
    pub(crate) fn scenario(&self, name: &str, yaml: &str) {
        self.write(
            &format!("scenarios/{name}.yaml"),
            &format!("description: a test\n{yaml}\n"),
        );
    }

    /// Writes a file and the folders on the way to it.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, text).expect("a file");
    }

    /// Reads a file.
    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// The files below a folder with what is in them; none where there is no such folder.
    pub(crate) fn files(&self, below: &str) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.join(below)];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else {
                continue;
            };
            for path in entries.map(|entry| entry.expect("an entry").path()) {
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path
                        .strip_prefix(self.path())
                        .expect("a path in the folder");
                    let name = name.to_string_lossy().into_owned();
                    files.insert(name, fs::read(&path).expect("a file"));
                }
            }
        }
        files
    }

    /// The names of the files below `snapshots`.
    pub(crate) fn snapshots(&self) -> Vec<String> {
        self.files("snapshots").into_keys().collect()
    }

    /// A command in the folder, in an environment that is the same everywhere.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path()).env_clear().envs([
            ("PATH", PATH),
            ("HOME", "/nonexistent"),
            ("LANG", "C"),
            ("HARNESS_PATIENCE", self.patience),
        ]);
        command.env("TMPDIR", self.join("tmp")).stdin(Stdio::null());
        command
    }

    /// The program under test, to be started by the caller.
    pub(crate) fn program(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_harness"));
        command.args(arguments);
        command
    }

    /// The same by `env(1)` with this option of its about signals, whatever these tests were
    /// started with.
    pub(crate) fn disposing(&self, option: &str, arguments: &[&str]) -> Command {
        let mut command = self.command("env");
        command
            .args([option, env!("CARGO_BIN_EXE_harness")])
            .args(arguments);
        command
    }

    /// Runs the program.
    pub(crate) fn harness(&self, arguments: &[&str]) -> Run {
        self.harness_with(&[], arguments)
    }

    /// Runs the program with more in its environment.
    pub(crate) fn harness_with(&self, environment: &[(&str, &str)], arguments: &[&str]) -> Run {
        let words: Vec<&str> = std::iter::once(env!("CARGO_BIN_EXE_harness"))
            .chain(arguments.iter().copied())
            .collect();
        self.run(environment, &words)
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, environment: &[(&str, &str)], words: &[&str]) -> Run {
        let mut command = self.command("timeout");
        command.args(["--signal=KILL", SECONDS]).args(words);
        command.envs(environment.iter().copied());
        command.output().expect("timeout").into()
    }

    /// Compiles a program of attacks by this name in the folder.
    pub(crate) fn compile(&self, flags: &[&str], source: &str, name: &str) {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/attacks/programs");
        let source = format!("{folder}/{source}");
        let words = [&["cc", "-O1", "-o", name], flags, &[&source]].concat();
        self.run(&[], &words).assert_status(0);
    }

    /// Copies a program into the folder, to be executed there. Not by this process: what other
    /// tests start meanwhile would hold the copy open for writing until it executes something.
    pub(crate) fn copy_program(&self, from: impl AsRef<OsStr>, name: &str) {
        let mut copy = Command::new("cp");
        let copied = copy.arg(from).arg(self.join(name)).status();
        assert!(copied.expect("cp").success());
    }

    /// Lets others than root use the folder and a program in it.
    pub(crate) fn open_to_everybody(&self, program: &str) {
        for (path, mode) in [
            ("", 0o755),
            (program, 0o755),
            ("scenarios", 0o755),
            ("tmp", 0o777),
        ] {
            let permissions = fs::Permissions::from_mode(mode);
            fs::set_permissions(self.join(path), permissions).expect("permissions");
        }
    }

    /// Nothing is left of any run in this folder: no process, no temporary file.
    pub(crate) fn assert_nothing_left(&self) {
        process::wait_for_all_in(self.path());
        let left: Vec<_> = fs::read_dir(self.join("tmp")).expect("tmp").collect();
        assert!(left.is_empty(), "left behind: {left:?}");
        let hidden: Vec<_> = self.snapshots();
        assert!(
            !hidden.iter().any(|name| name.contains("/.")),
            "half-written: {hidden:?}"
        );
    }
}

/// A test that fails has perhaps found a process that would otherwise stay.
impl Drop for Project {
    fn drop(&mut self) {
        if std::thread::panicking() {
            process::all_in(self.path())
                .iter()
                .for_each(process::Watched::kill);
        }
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let signal = || output.status.signal().map(|signal| 128 + signal);
        Self {
            status: output.status.code().or_else(signal).expect("a status"),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8(output.stderr).expect("text"),
        }
    }
}

impl Run {
    /// Standard output as JSON lines.
    pub(crate) fn json(&self) -> Vec<Value> {
        let line =
            |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {self:?}"));
        self.stdout.lines().map(line).collect()
    }

    /// The verdict on each scenario with the first of its reasons, from JSON lines.
    pub(crate) fn verdicts(&self) -> BTreeMap<String, (String, String)> {
        let lines = self.json();
        let reports = lines.iter().filter(|line| line["type"] == "scenario");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        reports
            .map(|line| {
                (
                    text(&line["name"]),
                    (text(&line["verdict"]), text(&line["reasons"][0])),
                )
            })
            .collect()
    }

    /// The status is that; the output is shown where it is not.
    #[track_caller]
    pub(crate) fn assert_status(&self, status: i32) -> &Self {
        assert_eq!(self.status, status, "{}\n{}", self.stdout, self.stderr);
        self
    }
}

/// A new folder that a sandbox sees where it is: `/tmp` is its own there.
pub(crate) fn folder_of_the_machine() -> TempDir {
    let own = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let is_temporary = own.starts_with("/tmp") || own.starts_with(std::env::temp_dir());
    let parent = match is_temporary {
        true => Path::new("/var/tmp"),
        false => own,
    };
    TempDir::new_in(parent).expect("a folder")
}
