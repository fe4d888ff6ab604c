//! Reads and writes stored traces, in insta's form.
//!
//! A scenario below a folder `scenarios` has its snapshot at the same place below the `snapshots`
//! beside it; any other has it in a folder `snapshots` of its own. `name.snap` is for all kernels;
//! `name@6.1.snap` and `name@6.1.0.snap` are for those, the longest match wins. `name@arm64.snap` is
//! for all kernels of that architecture, and goes before these; `name@6.1-arm64.snap` goes before
//! both. What waits for review is `name.snap.new`, where cargo-insta looks for it. A row of a
//! `matrix` has a snapshot of its own: `name,mode=wal,sync=FULL.snap`,
//! `name,mode=wal,sync=FULL@6.1.snap`. No shell takes
//! these characters for a pattern, and [`Scenario::label`](crate::scenario::Scenario::label) tells
//! how all others are written.

mod form;
mod together;
mod variants;

pub use form::FormError;
pub use together::Together;
use variants::is_variant;
pub use variants::{Kernel, meant};

use perf_live::files::{self, InputError, OutputError};
use perf_live::sys::folder;
use perf_records::units::NotText;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of a scenario's snapshots, and its name there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The root folder of the snapshots.
    pub root: PathBuf,
    /// The scenario's name: its path below `scenarios` without the ending.
    pub name: String,
}

/// A snapshot as it was read, with its file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// The file that a run on this kernel is compared with.
    pub file: PathBuf,
    /// Its text; `None` if there is no such file.
    pub text: Option<String>,
}

/// Why a stored snapshot cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// It cannot be read.
    #[error("cannot read the snapshot `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of reading it.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// It cannot be written, renamed or removed.
    #[error("cannot write `{path}`")]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of writing it.
        source: io::Error,
    },
    /// Kernels of one version differ, so that each would need a snapshot.
    #[error(
        "kernels of the release {release} differ, and there is one snapshot beside `{common}` for it"
    )]
    Ambiguous {
        /// The common snapshot.
        common: PathBuf,
        /// The release that several have.
        release: String,
    },
    /// A variant equals the common snapshot, so that it would hide changes of the common one.
    #[error("the variant `{variant}` is equal to the common snapshot: remove it")]
    Redundant {
        /// The variant.
        variant: PathBuf,
    },
}

/// What is stored with a snapshot's text and not compared.
#[derive(Clone, Debug)]
pub struct Provenance<'a> {
    /// The scenario file, for the reviewer.
    pub scenario: &'a Path,
    /// What the scenario is about.
    pub description: &'a str,
    /// The kernel that the trace was taken on.
    pub kernel: &'a str,
}

impl Place {
    /// Finds the place for a scenario file.
    #[must_use]
    pub fn of(scenario: &Path) -> Self {
        let stem = scenario.with_extension("");
        let parts: Vec<_> = stem.components().collect();
        let above = parts
            .iter()
            .rposition(|part| part.as_os_str() == "scenarios");
        let (root, below) = match above {
            Some(at) if at + 1 < parts.len() => {
                let (root, below) = parts.split_at(at);
                (
                    root.iter().collect(),
                    below.iter().skip(1).collect::<PathBuf>(),
                )
            }
            _ => {
                let folder = scenario.parent().unwrap_or(Path::new("")).to_owned();
                (
                    folder,
                    stem.file_name().map(PathBuf::from).unwrap_or_default(),
                )
            }
        };
        let root: PathBuf = root;
        Self {
            root: root.join("snapshots"),
            name: below.to_string_lossy().into_owned(),
        }
    }

    /// Returns the place of one of its rows, by the row's label; for an empty label, this place.
    #[must_use]
    pub fn of_row(mut self, label: &str) -> Self {
        if !label.is_empty() {
            self.name.push(',');
            self.name.push_str(label);
        }
        self
    }

    fn file(&self, variant: &str) -> PathBuf {
        self.root.join(format!("{}{variant}.snap", self.name))
    }

    /// Returns the snapshot for all kernels that have none of their own.
    #[must_use]
    pub fn common(&self) -> PathBuf {
        self.file("")
    }

    /// Reads the snapshot that a run on a kernel is compared with. Called before the run: a
    /// workload that may write files of the host could change it.
    ///
    /// # Errors
    /// [`SnapshotError::Redundant`], [`SnapshotError::Read`].
    pub fn stored(&self, kernel: Kernel<'_>) -> Result<Stored, SnapshotError> {
        let file = self.choose(kernel);
        self.check_variants()?;
        let text = read(&file)?;
        Ok(Stored { file, text })
    }

    /// Checks that no variant equals the common snapshot: it would hide changes of that one.
    ///
    /// # Errors
    /// [`SnapshotError::Redundant`], [`SnapshotError::Read`].
    pub fn check_variants(&self) -> Result<(), SnapshotError> {
        let common = self.file("");
        let Some(text) = read(&common)? else {
            return Ok(());
        };
        let folder = common.parent().unwrap_or(Path::new(""));
        let prefix = format!("{}@", self.name);
        for file in files_below(folder, ".snap")? {
            let below = file.strip_prefix(&self.root).unwrap_or(&file);
            let below = below.with_extension("");
            let below = below.to_string_lossy();
            if below.strip_prefix(&prefix).is_some_and(is_variant)
                && read(&file)?.as_ref() == Some(&text)
            {
                return Err(SnapshotError::Redundant { variant: file });
            }
        }
        Ok(())
    }
}

/// Reads the text of a snapshot; `None` if there is no such file.
///
/// # Errors
/// [`SnapshotError::Read`] for a file that is no text snapshot in insta's form.
pub fn read(file: &Path) -> Result<Option<String>, SnapshotError> {
    let failed = |source: Box<dyn std::error::Error + Send + Sync>| SnapshotError::Read {
        path: file.to_owned(),
        source,
    };
    let bytes = match files::read(file, files::SNAPSHOT).map_err(io::Error::from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read.map_err(|error| failed(error.into()))?,
    };
    let text = NotText::check(&bytes).map_err(|error| failed(error.into()))?;
    let body = form::body(text).map_err(|error| failed(error.into()))?;
    // As insta does: a line ends in a line feed alone.
    Ok(Some(normal(&body.replace("\r\n", "\n"))))
}

/// Whether a trace's text equals a snapshot's: to the last byte, except for line feeds at the end,
/// which the form of the file does not keep.
#[must_use]
pub fn matches(stored: &str, trace: &str) -> bool {
    normal(stored) == normal(trace)
}

fn normal(text: &str) -> String {
    let text = text.trim_end_matches('\n');
    if text.is_empty() {
        String::new()
    } else {
        format!("{text}\n")
    }
}

/// Writes a snapshot file.
///
/// # Errors
/// [`SnapshotError::Write`].
pub fn write(file: &Path, text: &str, provenance: &Provenance<'_>) -> Result<(), SnapshotError> {
    let contents = contents(text, provenance);
    fits(file, &contents)?;
    write_whole(file, &contents)
}

/// Refuses what could not be read again.
fn fits(file: &Path, contents: &str) -> Result<(), SnapshotError> {
    match contents.len() as u64 <= files::SNAPSHOT.mebibytes << 20 {
        true => Ok(()),
        false => Err(SnapshotError::Write {
            path: file.to_owned(),
            source: InputError::Long(files::SNAPSHOT).into(),
        }),
    }
}

/// Returns the contents of a snapshot file.
fn contents(text: &str, provenance: &Provenance<'_>) -> String {
    // Strings and objects of JSON are also YAML.
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    format!(
        "---\nsource: {}\ndescription: {}\ninfo:\n  kernel: {}\n---\n{}",
        quoted(&provenance.scenario.to_string_lossy()),
        quoted(provenance.description),
        quoted(provenance.kernel),
        normal(text)
    )
}

/// Writes a file whole or not at all, and makes the folders on the way to it.
///
/// # Errors
/// [`SnapshotError::Write`].
pub fn write_whole(file: &Path, contents: &str) -> Result<(), SnapshotError> {
    make_folder(file)?;
    files::write(file, contents.as_bytes()).map_err(|error| failed(file, error))
}

fn make_folder(file: &Path) -> Result<(), SnapshotError> {
    let folder = file.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(folder).map_err(|error| failed(file, error.into()))
}

fn failed(file: &Path, error: OutputError) -> SnapshotError {
    SnapshotError::Write {
        path: file.to_owned(),
        source: error.into(),
    }
}

/// Returns the file in which a trace waits for review.
#[must_use]
pub fn pending(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

/// Removes a waiting trace, because the trace is right again.
///
/// # Errors
/// [`SnapshotError::Write`].
pub fn forget_pending(file: &Path) -> Result<(), SnapshotError> {
    let path = pending(file);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(SnapshotError::Write {
            path,
            source: error,
        }),
        _ => Ok(()),
    }
}

/// Removes a snapshot, and the trace that waits beside it.
///
/// # Errors
/// [`SnapshotError::Write`].
pub fn remove(file: &Path) -> Result<(), SnapshotError> {
    fs::remove_file(file).map_err(|source| SnapshotError::Write {
        path: file.to_owned(),
        source,
    })?;
    forget_pending(file)
}

/// Makes the pending file the snapshot.
///
/// # Errors
/// [`SnapshotError::Write`].
pub fn accept(pending: &Path) -> Result<PathBuf, SnapshotError> {
    let file = pending.with_extension("");
    let read = |error| SnapshotError::Read {
        path: pending.to_owned(),
        source: Box::new(error),
    };
    let contents = files::read(pending, files::SNAPSHOT).map_err(read)?;
    files::write(&file, &contents).map_err(|error| failed(&file, error))?;
    forget_pending(&file)?;
    Ok(file)
}

/// Returns all files below a folder whose names end so, sorted; empty if there is no such folder.
///
/// # Errors
/// [`SnapshotError::Read`] for a folder that cannot be listed.
pub fn files_below(root: &Path, ending: &str) -> Result<Vec<PathBuf>, SnapshotError> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(within) = folders.pop() {
        let failed = |source: io::Error| SnapshotError::Read {
            path: within.clone(),
            source: source.into(),
        };
        let names = match folder::names(&within) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            other => other.map_err(failed)?,
        };
        for name in names {
            let path = within.join(&name);
            if fs::symlink_metadata(&path).map_err(failed)?.is_dir() {
                folders.push(path);
            } else if name.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Returns the differences between two texts as a unified diff with three lines around each; empty
/// if they are equal.
#[must_use]
pub fn diff(stored: &str, trace: &str) -> String {
    diff_of(("stored", stored), ("this run", trace))
}

/// Returns the differences between two traces, under these names.
#[must_use]
pub fn diff_of((old_name, old): (&str, &str), (new_name, new): (&str, &str)) -> String {
    let (old, new) = (normal(old), normal(new));
    let diff = similar::TextDiff::from_lines(&old, &new);
    diff.unified_diff()
        .context_radius(3)
        .header(old_name, new_name)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_read_again_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("snapshots/long.snap");
        let provenance = Provenance {
            scenario: Path::new("long.yaml"),
            description: "",
            kernel: "",
        };
        let long = "a line\n".repeat((files::SNAPSHOT.mebibytes << 20) as usize / 7);
        let written = write(&file, &long, &provenance);
        assert!(matches!(written, Err(SnapshotError::Write { .. })));
        let added = Together::default().add_snapshot(&file, &long, &provenance);
        assert!(matches!(added, Err(SnapshotError::Write { .. })));
        assert!(!file.exists());
    }

    #[test]
    fn a_scenarios_snapshot_lies_beside_its_folder() {
        let place = |path: &str| {
            let place = Place::of(Path::new(path));
            (place.root.to_string_lossy().into_owned(), place.name)
        };
        assert_eq!(
            place("scenarios/mv.yaml"),
            ("snapshots".into(), "mv".into())
        );
        assert_eq!(
            place("a/scenarios/fs/mv.yaml"),
            ("a/snapshots".into(), "fs/mv".into())
        );
        assert_eq!(place("x/mv.yaml"), ("x/snapshots".into(), "mv".into()));
        assert_eq!(place("mv.yaml"), ("snapshots".into(), "mv".into()));
    }

    #[test]
    fn what_is_written_is_what_insta_reads() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("sub/name.snap");
        let provenance = Provenance {
            scenario: Path::new("scenarios/\"odd\": name.yaml"),
            description: "two\nlines: # and {marks}",
            kernel: "6.1.0-18-amd64",
        };
        let text = "# trace 1\n\nP1 true\n  exit_group(0) = ?\n---\n  not a header\n";
        write(&file, text, &provenance).unwrap();
        assert_eq!(read(&file).unwrap().as_deref(), Some(text));
        let snapshot = insta::Snapshot::from_file(&file).unwrap();
        assert_eq!(
            snapshot.metadata().description(),
            Some(provenance.description)
        );
        assert!(matches(&read(&file).unwrap().unwrap(), text));
        assert_eq!(read(&dir.path().join("none.snap")).unwrap(), None);
    }

    #[test]
    fn what_insta_reads_is_read_the_same_and_all_else_has_a_line() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x.snap");
        let read_of = |bytes: &[u8]| {
            fs::write(&file, bytes).unwrap();
            read(&file).map_err(|error| {
                perf_live::errors::chain(&error).replace(dir.path().to_str().unwrap(), ".")
            })
        };
        for form in [
            "---\nsource: a\nexpression: \"x\"\nsnapshot_kind: text\n---\nP1 a\n  b\n",
            "---\nsource: a\n---\n\n---\nx",
            "--- \r\nsource: a\r\n---\r\nP1 a\r\n  b",
        ] {
            let ours = read_of(form.as_bytes()).unwrap().unwrap();
            let theirs = insta::Snapshot::from_file(&file).unwrap();
            let theirs = theirs.contents().as_text().unwrap().to_string();
            assert_eq!(ours, normal(&theirs), "{form:?}");
        }
        for (bytes, said) in [
            (&b""[..], "line 1: a snapshot begins with a line `---`"),
            (b"P1 a\n", "line 1: a snapshot begins with a line `---`"),
            (
                b"---\na: b\nP1",
                "line 3: the header does not end: a second line `---` is missing",
            ),
            (
                b"---\nsnapshot_kind: binary\n---\n",
                "line 2: it is no text snapshot",
            ),
            (
                b"---\n---\nP1 \xff",
                "line 3, column 4: the byte 0xff is not UTF-8",
            ),
        ] {
            assert_eq!(
                read_of(bytes).unwrap_err(),
                format!("cannot read the snapshot `./x.snap`: {said}")
            );
        }
        // insta panics at these.
        for value in [".inf", "-.inf", ".nan"] {
            let text = format!("---\ninfo: {value}\n---\nP1\n");
            assert_eq!(read_of(text.as_bytes()).unwrap().unwrap(), "P1\n");
        }
    }

    #[test]
    fn the_most_specific_variant_is_chosen_and_an_equal_one_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place {
            root: dir.path().into(),
            name: "x".into(),
        };
        let provenance = Provenance {
            scenario: Path::new("x.yaml"),
            description: "",
            kernel: "",
        };
        let file = |name: &str| dir.path().join(name);
        for name in ["x.snap", "x@6.1.snap", "x@6.1.5.snap"] {
            write(&file(name), name, &provenance).unwrap();
        }
        assert_eq!(
            place.choose(Kernel::native("6.1.5-18-amd64")),
            file("x@6.1.5.snap")
        );
        assert_eq!(place.choose(Kernel::native("6.1.7")), file("x@6.1.snap"));
        assert_eq!(place.choose(Kernel::native("6.12.0")), file("x.snap"));
        assert!(place.check_variants().is_ok());
        write(&file("x@6.1.snap"), "x.snap", &provenance).unwrap();
        assert!(matches!(
            place.check_variants(),
            Err(SnapshotError::Redundant { .. })
        ));
    }

    #[test]
    fn a_variant_of_an_architecture_goes_before_one_of_a_version_and_behind_one_of_both() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place {
            root: dir.path().into(),
            name: "x".into(),
        };
        let kernel = |release: &'static str, arch| Kernel { release, arch };
        let (arm, other) = (kernel("6.1.5", "arm64"), kernel("6.1.5", "amd64"));
        let file = |name: &str| dir.path().join(name);
        for (name, of_arm, of_other) in [
            ("x.snap", "x.snap", "x.snap"),
            ("x@6.1.snap", "x@6.1.snap", "x@6.1.snap"),
            ("x@arm64.snap", "x@arm64.snap", "x@6.1.snap"),
            ("x@6.1-arm64.snap", "x@6.1-arm64.snap", "x@6.1.snap"),
            (
                "x@6.1.5-amd64.snap",
                "x@6.1-arm64.snap",
                "x@6.1.5-amd64.snap",
            ),
        ] {
            fs::write(file(name), "").unwrap();
            assert_eq!(place.choose(arm), file(of_arm), "{name}");
            assert_eq!(place.choose(other), file(of_other), "{name}");
        }
        assert_eq!(
            place.choose(kernel("6.12.0", "arm64")),
            file("x@arm64.snap")
        );
        let common = file("x.snap");
        assert_eq!(place.for_arch(&common, arm), file("x@arm64.snap"));
        assert_eq!(place.for_kernel(&common, arm), file("x@6.1.snap"));
        assert_eq!(place.for_arch(&file("x@6.1.snap"), arm), file("x@6.1.snap"));
        assert!(place.is_for(&file("x@arm64.snap"), arm));
        assert!(!place.is_for(&file("x@arm64.snap"), other));
    }

    #[test]
    fn accepting_replaces_and_forgetting_leaves_no_pending_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x.snap");
        let provenance = Provenance {
            scenario: Path::new("x.yaml"),
            description: "",
            kernel: "",
        };
        write(&pending(&file), "new", &provenance).unwrap();
        assert_eq!(accept(&pending(&file)).unwrap(), file);
        assert_eq!(read(&file).unwrap().as_deref(), Some("new\n"));
        write(&pending(&file), "newer", &provenance).unwrap();
        forget_pending(&file).unwrap();
        forget_pending(&file).unwrap();
        assert_eq!(
            files_below(dir.path(), ".new").unwrap(),
            Vec::<PathBuf>::new()
        );
        assert_eq!(files_below(dir.path(), ".snap").unwrap(), [file]);
    }

    #[test]
    fn a_diff_shows_what_changed_and_where() {
        let diff = diff("a\nb\nc", "a\nx\nc\n");
        assert_eq!(
            diff,
            "--- stored\n+++ this run\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"
        );
    }
}
