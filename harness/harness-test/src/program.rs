//! The installed program `harness`, and the JSON lines that it prints.

use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// The version of `harness` whose JSON lines are read here.
const VERSION: &str = env!("CARGO_PKG_VERSION");

const INSTALL: &str = "install it with `cargo install --locked --git URL harness-cli`, where URL is \
    that of the repository that harness-test is from";

/// By these Bazel divides tests among shards.
const SHARDS: [&str; 3] = [
    "TEST_SHARD_INDEX",
    "TEST_TOTAL_SHARDS",
    "TEST_SHARD_STATUS_FILE",
];

/// Why `harness` gave no verdict.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// It is not installed: the variable `HARNESS` names none, and `PATH` has none.
    Missing,
    /// The variable `HARNESS` names what is not there.
    Named(PathBuf),
    /// It could not be started.
    Start(PathBuf, io::Error),
    /// It is of another version.
    Version {
        /// Where it was found.
        program: PathBuf,
        /// What it is; empty where it did not say.
        found: String,
    },
    /// It did not do its work: what it printed on standard error, such as a complaint about the
    /// scenario with line and column.
    Refused(String),
    /// It printed something that is not understood here.
    Line(String),
    /// A command has what a run cannot have.
    Command(Refused),
    /// A file of the test's own could not be written.
    Write(PathBuf, io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => write!(
                f,
                "the program `harness` is neither named by the variable HARNESS nor in PATH: {INSTALL}"
            ),
            Self::Named(program) => write!(
                f,
                "the variable HARNESS names `{}`, which is not there: name the installed program, or {INSTALL}",
                program.display()
            ),
            Self::Start(program, error) => {
                write!(f, "cannot start `{}`: {error}", program.display())
            }
            Self::Version { program, found } => write!(
                f,
                "`{}` is version `{found}`, and harness-test {VERSION} needs {VERSION}: install that, or name it by \
                 the variable HARNESS",
                program.display()
            ),
            Self::Refused(text) => f.write_str(text.trim_end()),
            Self::Line(line) => {
                write!(f, "`harness` printed a line that is not understood: {line}")
            }
            Self::Command(refused) => refused.fmt(f),
            Self::Write(file, error) => write!(f, "cannot write `{}`: {error}", file.display()),
        }
    }
}

impl std::error::Error for Error {}

/// What a command has and a run cannot have.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Refused {
    /// A working directory of its own (`current_dir`).
    Directory(PathBuf),
    /// A word that is not UTF-8: the program, an argument, a variable or its value.
    Word(OsString),
    /// A variable that was taken away (`env_remove`), and that each run has.
    Variable(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(folder) => write!(
                f,
                "the command is to run in `{}` (`current_dir`), and a run has an empty folder of its own: lay the files \
                 that it needs into that with `Check::file`, and take `current_dir` away",
                folder.display()
            ),
            Self::Word(word) => write!(
                f,
                "the command has the word {word:?}, which is not UTF-8: let `sh -c` make it, with `printf` and its octal \
                 numbers"
            ),
            Self::Variable(name) => write!(
                f,
                "the command is to run without `{name}` (`env_remove`), which each run has: let `env -u {name}` start it"
            ),
        }
    }
}

/// What the variable `HARNESS` names.
fn named() -> Option<PathBuf> {
    let named = std::env::var_os("HARNESS").filter(|named| !named.is_empty());
    named.map(PathBuf::from)
}

/// Where `harness` is.
pub(crate) fn find() -> Result<PathBuf, Error> {
    if let Some(named) = named() {
        return Ok(named);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join("harness"))
        .find(|file| file.is_file())
        .ok_or(Error::Missing)
}

/// Where `harness` is, of the version whose lines are read here: whatever another one prints is no
/// verdict. It is asked once in a process.
fn fitting() -> Result<PathBuf, Error> {
    static FITTING: OnceLock<PathBuf> = OnceLock::new();
    let program = find()?;
    if FITTING.get() != Some(&program) {
        let output = output(Command::new(&program).arg("--version"))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let found = said.lines().next().unwrap_or_default();
        let found = found.strip_prefix("harness ").unwrap_or(found);
        if !output.status.success() || found != VERSION {
            let found = found.to_owned();
            return Err(Error::Version { program, found });
        }
        // Two threads may have asked at a time, or a test changed the variable.
        let _first = FITTING.set(program.clone());
    }
    Ok(program)
}

/// What a call printed, and how it ended.
fn output(command: &mut Command) -> Result<Output, Error> {
    let program = PathBuf::from(command.get_program());
    command.stdin(Stdio::null());
    command.output().map_err(|error| match error.kind() {
        // If it is there, its interpreter is not.
        io::ErrorKind::NotFound if !program.exists() => match named() {
            Some(named) => Error::Named(named),
            None => Error::Missing,
        },
        _ => Error::Start(program, error),
    })
}

/// A call of `harness run`, with the programs that were built for this test.
pub(crate) fn command(
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
) -> Result<Command, Error> {
    let mut command = Command::new(fitting()?);
    command
        .arg("run")
        .args(arguments)
        .args(["--format", "json"]);
    // A test that was chosen must not be left out once more.
    for name in SHARDS {
        command.env_remove(name);
    }
    for (name, file) in built() {
        command.env(name, file);
    }
    Ok(command)
}

/// The lines that a call printed, and what it said besides, for a person. It may end with any
/// status: the lines say what that meant.
pub(crate) fn lines(mut command: Command) -> Result<(Vec<Value>, String), Error> {
    let output = output(&mut command)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = |line: &str| serde_json::from_str(line).map_err(|_| Error::Line(line.to_owned()));
    let lines: Vec<Value> = text.lines().map(line).collect::<Result<_, _>>()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if lines.is_empty() {
        return Err(Error::Refused(match said.trim() {
            "" => format!(
                "`harness` printed nothing, and ended with {}",
                output.status
            ),
            said => said.to_owned(),
        }));
    }
    Ok((lines, said.trim_end().to_owned()))
}

/// What scenarios there are below a path: their names, each with its file. Where they are divided,
/// those of the shard that the environment chooses, if it does.
pub(crate) fn list(path: &Path, is_divided: bool) -> Result<Vec<(String, PathBuf)>, Error> {
    let mut command = command([OsStr::new("--list"), path.as_os_str()])?;
    for name in SHARDS {
        if let Some(value) = std::env::var_os(name).filter(|_| is_divided) {
            command.env(name, value);
        }
    }
    let (lines, _) = lines(command)?;
    let mut lines = lines.into_iter();
    let head = lines.next().unwrap_or_default();
    if text(&head, "type") != Some("list") {
        return Err(Error::Line(head.to_string()));
    }
    let item = |line: Value| match (text(&line, "name"), text(&line, "file")) {
        (Some(name), Some(file)) => Ok((name.to_owned(), file.into())),
        _ => Err(Error::Line(line.to_string())),
    };
    lines.map(item).collect()
}

/// A string of a line.
pub(crate) fn text<'l>(line: &'l Value, key: &str) -> Option<&'l str> {
    line.get(key)?.as_str()
}

/// `CARGO_BIN_EXE_<name>` for each program of the package. Cargo sets these variables when it
/// compiles a test, newer ones when it runs it; nextest has a name of its own for them. Without any
/// of these the programs are looked for beside the folder of the test.
pub(crate) fn built() -> Vec<(OsString, PathBuf)> {
    let mut built: Vec<(OsString, PathBuf)> = Vec::new();
    let mut add = |name: &OsStr, file: PathBuf| {
        let mut variable = OsString::from("CARGO_BIN_EXE_");
        variable.push(name);
        let is_new = std::env::var_os(&variable).is_none()
            && built.iter().all(|(known, _)| *known != variable);
        if is_new {
            built.push((variable, file));
        }
    };
    for (name, file) in std::env::vars_os() {
        let name = name
            .to_str()
            .and_then(|name| name.strip_prefix("NEXTEST_BIN_EXE_"));
        if let Some(name) = name {
            add(OsStr::new(name), file.into());
        }
    }
    // target/debug/deps/kernel-0123456789abcdef, target/debug/save.
    let own = std::env::current_exe().unwrap_or_default();
    let folder = own.parent().and_then(Path::parent);
    let entries = folder.and_then(|folder| folder.read_dir().ok());
    for entry in entries.into_iter().flatten().filter_map(Result::ok) {
        let file = entry.path();
        let is_program = |data: Metadata| data.is_file() && data.permissions().mode() & 0o111 != 0;
        if file.metadata().is_ok_and(is_program) {
            add(&entry.file_name(), file);
        }
    }
    built
}
