//! A command in an environment that is the same in every run, so that two runs can be compared.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::oracle;

pub(crate) use super::require::PATH;

/// All that the programs get of an environment. The seeds take the dice from perl and python; with
/// one arena for all threads it does not matter to the addresses which of them asks for memory
/// first.
const ENVIRONMENT: [(&str, &str); 9] = [
    ("MALLOC_ARENA_MAX", "1"),
    ("PATH", PATH),
    ("HOME", "/nonexistent"),
    ("LANG", "C"),
    ("LC_ALL", "C"),
    ("TZ", "UTC0"),
    ("PERL_HASH_SEED", "0"),
    ("PYTHONHASHSEED", "0"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
];

/// Long enough for every command of these tests on a slow machine; a run that hangs is killed then.
const SECONDS: &str = "600";

/// A folder that every run finds at the same path with the same contents.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    /// A new folder; its contents are laid out before each run.
    pub(crate) fn new() -> Self {
        let folder = TempDir::with_prefix("oracles-").expect("a temporary folder");
        Self { folder }
    }

    /// A path beside the working directory, for what a tracer writes.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Lets everybody make files in it.
    pub(crate) fn open_to_everybody(&self) {
        let everybody = fs::Permissions::from_mode(0o777);
        fs::set_permissions(self.folder.path(), everybody).expect("the folder is ours");
    }

    fn working_directory(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Puts the working directory back to how it was, then lets `prepare` change it.
    fn lay_out(&self, prepare: &str) {
        let work = self.working_directory();
        if work.exists() {
            fs::remove_dir_all(&work).expect("the folder of the run before");
        }
        fs::create_dir_all(work.join("sub/deeper")).expect("folders");
        for (name, lines) in [
            ("a.txt", 100),
            ("b.txt", 7),
            ("sub/c.txt", 1),
            ("sub/deeper/d.txt", 900),
        ] {
            let text: String = (0..lines)
                .map(|line| format!("{} needle\n", line * 7919 % 1000))
                .collect();
            write_old_file(&work.join(name), &text);
        }
        if !prepare.is_empty() {
            let output = self.command(&["sh", "-c", prepare]).output().expect("sh");
            assert!(output.status.success(), "`{prepare}`: {output:?}");
        }
    }

    /// Runs the command in the folder, freshly laid out, without address space randomisation and
    /// without descriptors that the test program may have inherited.
    pub(crate) fn run(&self, prepare: &str, command: &[&str]) -> Output {
        self.lay_out(prepare);
        let oracle = oracle::path();
        let limited = ["timeout", "--signal=KILL", SECONDS];
        let steady = ["setarch", "-R", oracle.as_str(), "tidy"];
        let words: Vec<&str> = limited
            .iter()
            .chain(&steady)
            .chain(command)
            .copied()
            .collect();
        self.command(&words).output().expect("timeout")
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = clean_command(words);
        command.current_dir(self.working_directory());
        command
    }
}

/// A command with nothing inherited but what every run has.
pub(crate) fn clean_command(words: &[impl AsRef<OsStr>]) -> Command {
    let (program, arguments) = words.split_first().expect("a command");
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(ENVIRONMENT)
        .stdin(Stdio::null());
    command
}

/// Writes a file that looks old, so that no program wonders whether it has changed since it was
/// last read.
fn write_old_file(path: &Path, text: &str) {
    fs::write(path, text).expect("a file");
    let file = fs::File::options()
        .write(true)
        .open(path)
        .expect("the file");
    let year_2020 = SystemTime::UNIX_EPOCH + Duration::from_secs(1_577_836_800);
    file.set_modified(year_2020).expect("an old time");
}
