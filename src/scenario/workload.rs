//! The key `workload`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

use super::flexible::{Flexible, Text, Written, deserialize_flexible};
use super::quantity::Timeout;
use super::schema::{either, of, text};
use perf_live::sandbox::UserSpec;

/// The search path of workloads' programs.
pub const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The program to run and what it finds around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// What is executed.
    pub command: Command,
    /// Variables beside those that every workload has; names hold neither `=` nor NUL and are not
    /// empty.
    pub env: BTreeMap<String, String>,
    /// The bytes on standard input.
    pub stdin: Option<String>,
    /// What lies in the working directory before the run: relative paths of plain components, none
    /// inside of a file.
    pub files: BTreeMap<PathBuf, FileSpec>,
    /// How long the run may take, above zero; 10 s where the author wrote nothing.
    pub timeout: Duration,
}

/// What is executed; no text of it holds a NUL byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// A program and its arguments; the program is not the empty string.
    Run(Vec<String>),
    /// A text for `/bin/sh -c`.
    Shell(String),
}

impl Command {
    /// The argument vector, program first.
    #[must_use]
    pub fn argv(&self) -> Vec<&str> {
        match self {
            Self::Run(argv) => argv.iter().map(String::as_str).collect(),
            Self::Shell(text) => vec!["/bin/sh", "-c", text],
        }
    }
}

/// One file to lay into the working directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSpec {
    /// Where its bytes come from.
    pub source: FileSource,
    /// Its permission bits, `0o7777` at most, as the author wrote them.
    pub mode: Option<u32>,
    /// Whose it is; the workload's user's, where the author wrote nothing.
    pub owner: Option<UserSpec>,
}

impl FileSpec {
    /// Whether it is a folder, in which other files may lie.
    pub(super) fn is_folder(&self) -> bool {
        matches!(self.source, FileSource::FolderOf(_))
    }
}

/// Where the bytes of a file come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileSource {
    /// The scenario itself.
    Content(String),
    /// A file at this path, relative to the scenario file's folder.
    From(PathBuf),
    /// No bytes: a folder with the mode of the one at this path, and nothing in it.
    FolderOf(PathBuf),
    /// No bytes: a symbolic link to what the one at this path says.
    LinkOf(PathBuf),
}

/// The keys of `workload`, and of `baseline`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping with `run` or `shell`")]
pub(super) struct WrittenWorkload {
    /// The program and its arguments.
    pub(super) run: Option<Vec<String>>,
    /// A text for `/bin/sh -c`.
    pub(super) shell: Option<String>,
    /// Variables beside those that every workload has.
    pub(super) env: Option<BTreeMap<String, String>>,
    /// What stands on standard input.
    pub(super) stdin: Option<String>,
    /// What lies in the working directory before the run.
    pub(super) files: Option<BTreeMap<String, FileSpec>>,
    /// How long the run may take.
    pub(super) timeout: Option<Timeout>,
}

/// How long a run may take where the author wrote nothing.
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenFile {
    /// What it holds.
    content: Option<String>,
    /// The file that it is a copy of, or the folder, with all that is in it; relative to the
    /// scenario file.
    from: Option<SourcePath>,
    /// Its permission bits, as octal digits.
    mode: Option<Mode>,
    /// The user that it belongs to.
    owner: Option<Written<UserSpec>>,
}

/// A path relative to the scenario file.
#[derive(Debug)]
struct SourcePath(PathBuf);

/// Permission bits in octal.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mode(pub(super) u32);

impl Flexible for FileSpec {
    const EXPECTED: &'static str = "a string, or a mapping with `content` or `from`";
    type Mapping = WrittenFile;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        either([text(), of::<WrittenFile>(generator)])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        Some(Ok(Self {
            source: FileSource::Content(text.to_owned()),
            mode: None,
            owner: None,
        }))
    }

    fn from_mapping(written: WrittenFile) -> Option<Result<Self, String>> {
        let source = match (written.content, written.from) {
            (Some(content), None) => FileSource::Content(content),
            (None, Some(SourcePath(path))) => FileSource::From(path),
            (Some(_), Some(_)) => {
                return Some(Err("`content` and `from` exclude each other".to_owned()));
            }
            (None, None) => return Some(Err("one of `content` and `from` is needed".to_owned())),
        };
        Some(Ok(Self {
            source,
            mode: written.mode.map(|Mode(bits)| bits),
            owner: written.owner.map(|owner| owner.0),
        }))
    }
}

impl Text for SourcePath {
    const EXPECTED: &'static str = "a string";
    const LIKE: &'static str = "^[^/]";

    fn read(text: &str) -> Option<Result<Self, String>> {
        Some(if text.is_empty() || text.contains('\0') {
            Err("this is no path".to_owned())
        } else if text.starts_with('/') {
            Err("the path is relative to the scenario file, so it cannot begin with `/`".to_owned())
        } else {
            Ok(Self(PathBuf::from(text)))
        })
    }
}

impl Text for Mode {
    const EXPECTED: &'static str = "a string of octal digits such as \"0755\"";
    const LIKE: &'static str = "^[0-7]{3,4}$";

    fn read(text: &str) -> Option<Result<Self, String>> {
        let octal = (3..=4).contains(&text.len()) && text.bytes().all(|b| matches!(b, b'0'..=b'7'));
        octal.then(|| {
            u32::from_str_radix(text, 8)
                .map(Self)
                .map_err(|error| error.to_string())
        })
    }
}

deserialize_flexible!(FileSpec, SourcePath, Mode);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_text_is_one_argument() {
        let command = Command::Shell("cp a b && mv b c".to_owned());
        assert_eq!(command.argv(), ["/bin/sh", "-c", "cp a b && mv b c"]);
    }

    #[test]
    fn modes_are_octal() {
        assert_eq!(Mode::from_text("0755"), Some(Ok(Mode(0o755))));
        assert_eq!(Mode::from_text("644"), Some(Ok(Mode(0o644))));
        assert_eq!(Mode::from_text("7777"), Some(Ok(Mode(0o7777))));
        for bad in ["", "7", "0o755", "0888", "17777", "rwx", "-644", "+644"] {
            assert_eq!(Mode::from_text(bad), None, "{bad}");
        }
    }
}
