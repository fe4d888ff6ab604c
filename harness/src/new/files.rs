//! Finds the files that a command needs.

use super::NewError;
use perf_live::files;
use perf_records::units::shown_path;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use trace_harness::scenario::{FileSource, FileSpec};

/// A folder with more files than this is not copied just because a command names it.
const MOST: usize = 200;

/// No folder with more files than this is copied.
const MOST_WANTED: usize = 2000;

/// The files for the run's directory; their paths there are those below the current directory.
#[derive(Debug, Default)]
pub(super) struct Laid {
    /// The files, and what they hold.
    pub(super) contents: BTreeMap<PathBuf, Vec<u8>>,
    /// Folders that are laid in whole, by their own names.
    whole: BTreeSet<PathBuf>,
    /// The paths that the command names.
    pub(super) named: Vec<PathBuf>,
    /// Folders that the command names and that are not laid in, and why.
    pub(super) left_out: Vec<(PathBuf, String)>,
}

impl Laid {
    /// Returns the files and whole folders as a scenario names them, relative to its own folder.
    pub(super) fn specs(&self, scenario: &Path) -> BTreeMap<PathBuf, FileSpec> {
        let here = std::env::current_dir().unwrap_or_default();
        let folder = scenario.parent().unwrap_or(Path::new(""));
        let spec = |path: &PathBuf| FileSpec {
            source: FileSource::From(relative(&plain(&here.join(folder)), &here.join(path))),
            mode: None,
            owner: None,
        };
        // What a scenario has in its own folder changes with it.
        let is_whole = |path: &Path| self.whole.contains(path) && !scenario.starts_with(path);
        let is_within = |path: &Path| path.ancestors().skip(1).any(is_whole);
        let whole = self.whole.iter().filter(|path| is_whole(path));
        let paths = whole.chain(self.contents.keys());
        paths
            .filter(|path| !is_within(path))
            .map(|path| (path.clone(), spec(path)))
            .collect()
    }
}

/// Reads the files that the user asked for, and those that the command names.
pub(super) fn collect(command: &[String], wanted: &[PathBuf]) -> Result<Laid, NewError> {
    let mut laid = Laid::default();
    for path in wanted {
        let Some(below) = below(path) else {
            return Err(NewError::Usage(format!(
                "`{}` is not below the current directory: other files are read where they are",
                shown_path(path)
            )));
        };
        let unread = |error| NewError::Read(path.clone(), error);
        // The current directory itself has no name below itself.
        let at = match below.as_os_str().is_empty() {
            true => Path::new("."),
            false => below.as_path(),
        };
        if !at.is_dir() {
            files::look(at, files::LAID).map_err(|error| unread(error.into()))?;
        }
        let found = found_at(at).map_err(unread)?;
        let files = &found.files;
        if found.is_nothing() {
            return Err(NewError::Usage(format!(
                "`{}` has no files, and nothing else of it can be laid in",
                shown_path(path)
            )));
        }
        if files.len() > MOST_WANTED {
            return Err(NewError::Usage(format!(
                "`{}` has more than {MOST_WANTED} files: name the folders or files in it that the command needs",
                shown_path(path)
            )));
        }
        if let Some(file) = files.iter().find(|file| file.to_str().is_none()) {
            return Err(NewError::Usage(format!(
                "the name of `{}` is no text (UTF-8), and a scenario is: give the command another one",
                shown_path(file)
            )));
        }
        laid.read(found)?;
    }
    for word in words(command) {
        let Some(path) = below(Path::new(&word)) else {
            continue;
        };
        if path.as_os_str().is_empty() || laid.contents.contains_key(&path) || !path.exists() {
            continue;
        }
        match found_at(&path) {
            Ok(found) if found.is_nothing() => {
                laid.left_out.push((path, "which has no files".to_owned()));
            }
            Ok(found) if found.files.len() > MOST => {
                let why = match found.files.len() > MOST_WANTED {
                    true => format!("which has more than {MOST_WANTED} files"),
                    false => format!("which has more than {MOST} files (--file does it)"),
                };
                laid.left_out.push((path, why));
            }
            Ok(found) if found.files.iter().any(|file| file.to_str().is_none()) => {
                let why = "which has a file whose name is no text (UTF-8)".to_owned();
                laid.left_out.push((path, why));
            }
            Ok(found) => {
                laid.read(found)?;
                laid.named.push(path);
            }
            Err(_) => {}
        }
    }
    Ok(laid)
}

impl Laid {
    fn read(&mut self, found: Found) -> Result<(), NewError> {
        self.whole.extend(found.folder);
        for file in found.files {
            let bytes = files::read(&file, files::LAID)
                .map_err(|error| NewError::Read(file.clone(), error.into()))?;
            self.contents.insert(file, bytes);
        }
        Ok(())
    }
}

/// Returns what may be a path in a command: each argument, what follows a `=`, and the words of a
/// shell's text, but no word within another argument. A program's name without a slash is found
/// elsewhere.
fn words(command: &[String]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let Some((program, arguments)) = command.split_first() else {
        return words;
    };
    words.extend(program.contains('/').then(|| program.clone()));
    let script = script(program, arguments);
    for (at, argument) in arguments.iter().enumerate() {
        match script == Some(at) {
            true => words.extend(shell_words(argument)),
            false => words.push(argument.clone()),
        }
    }
    let values = words.iter().filter_map(|word| word.split_once('='));
    let values: Vec<String> = values.map(|(_, value)| value.to_owned()).collect();
    words.extend(values);
    words
}

/// Returns the place of the text that a shell is to run: behind `-c`.
fn script(program: &str, arguments: &[String]) -> Option<usize> {
    let name = Path::new(program).file_name()?.to_str()?;
    let is_shell = ["sh", "bash", "dash", "ash", "ksh", "zsh"].contains(&name);
    let is_text =
        |flag: &String| flag.starts_with('-') && !flag.starts_with("--") && flag.ends_with('c');
    let flag = arguments.iter().position(is_text).filter(|_| is_shell)?;
    Some(flag + 1)
}

/// Returns the words of a shell's text; what stands between quotes is one word, or a part of one.
fn shell_words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in text.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if matches!(c, '\'' | '"') => quote = Some(c),
            None if c.is_whitespace() || ";|&<>()`$".contains(c) => words.push(String::new()),
            _ => {
                if let Some(word) = words.last_mut() {
                    word.push(c);
                }
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the path below the current directory; `None` if it leads out of it.
fn below(path: &Path) -> Option<PathBuf> {
    let mut below = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => below.push(part),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(below)
}

/// What there is at a path.
struct Found {
    /// The regular files: itself, or those below it, links to files included. Of more than
    /// [`MOST_WANTED`] some are left out.
    files: Vec<PathBuf>,
    /// The path, if it is a folder below the current one with nothing in it but folders and files:
    /// a link might lead elsewhere from where it is laid.
    folder: Option<PathBuf>,
}

impl Found {
    fn is_nothing(&self) -> bool {
        self.files.is_empty() && self.folder.is_none()
    }
}

fn found_at(path: &Path) -> std::io::Result<Found> {
    let mut files = Vec::new();
    let mut is_whole = path != Path::new(".") && path.is_dir() && !path.is_symlink();
    let mut waiting = vec![path.to_owned()];
    while let Some(path) = waiting.pop() {
        let is_link = path.is_symlink();
        if path.is_dir() && !is_link {
            for entry in std::fs::read_dir(&path)? {
                waiting.push(entry?.path());
            }
            continue;
        }
        let is_file = path.metadata()?.is_file();
        is_whole &= is_file && !is_link;
        if is_file {
            files.push(path);
        }
        if files.len() > MOST_WANTED {
            break;
        }
    }
    let below = |path: PathBuf| path.strip_prefix(".").map_or(path.clone(), Path::to_owned);
    let mut files: Vec<PathBuf> = files.into_iter().map(below).collect();
    files.sort();
    Ok(Found {
        files,
        folder: is_whole.then(|| path.to_owned()),
    })
}

/// Resolves `.` and `..` in a path by its text alone.
pub(crate) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// Returns the way from a folder to a file, both from the root.
pub(crate) fn relative(folder: &Path, file: &Path) -> PathBuf {
    let shared = folder
        .components()
        .zip(file.components())
        .take_while(|(one, other)| one == other)
        .count();
    let up = folder
        .components()
        .skip(shared)
        .map(|_| Component::ParentDir);
    up.chain(file.components().skip(shared)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_from_the_scenarios_folder() {
        let from = |folder: &str, file: &str| relative(&plain(Path::new(folder)), Path::new(file));
        assert_eq!(
            from("/a/scenarios/x", "/a/save.py"),
            Path::new("../../save.py")
        );
        assert_eq!(from("/a", "/a/b/c"), Path::new("b/c"));
        assert_eq!(from("/a/./b/../c", "/a/d"), Path::new("../d"));
        assert_eq!(from("/x", "/a/d"), Path::new("../a/d"));
    }

    #[test]
    fn words_of_a_command_that_may_be_paths() {
        let command = ["cc", "-o", "out", "if=in", "cat a.txt|sort >'b c'"].map(str::to_owned);
        assert_eq!(
            words(&command).join(" "),
            "-o out if=in cat a.txt|sort >'b c' in"
        );
        assert_eq!(super::words(&["./tool".to_owned()]), ["./tool"]);
    }

    #[test]
    fn words_within_an_argument_are_no_paths_but_those_of_a_shell() {
        let named = |command: &[&str]| {
            let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
            words(&command)
        };
        let sql = "create table t(a)";
        assert_eq!(named(&["sqlite3", "db", sql]), ["db", sql]);
        assert_eq!(
            named(&[
                "/bin/bash",
                "-ec",
                "cat a.txt|sort >'b c'; A=d sqlite3 db \"insert into t\"",
                "x"
            ]),
            [
                "/bin/bash",
                "-ec",
                "cat",
                "a.txt",
                "sort",
                "b c",
                "A=d",
                "sqlite3",
                "db",
                "insert into t",
                "x",
                "d"
            ]
        );
        assert_eq!(named(&["perl", "-c", "a b"]), ["-c", "a b"]);
    }

    #[test]
    fn a_folder_is_laid_whole_or_not_at_all() {
        let place = tempfile::tempdir_in(".").unwrap();
        for number in 0..=MOST_WANTED {
            std::fs::write(place.path().join(number.to_string()), "").unwrap();
        }
        let name = PathBuf::from(place.path().file_name().unwrap());
        let error = collect(&[], std::slice::from_ref(&name))
            .unwrap_err()
            .to_string();
        assert!(error.contains("has more than 2000 files"), "{error}");
        std::fs::remove_file(place.path().join("0")).unwrap();
        assert_eq!(collect(&[], &[name]).unwrap().contents.len(), MOST_WANTED);
    }

    #[test]
    fn a_file_whose_name_is_no_text_is_refused_where_it_is_asked_for_and_else_left_out() {
        use std::os::unix::ffi::OsStrExt;
        let place = tempfile::tempdir_in(".").unwrap();
        let odd = std::ffi::OsStr::from_bytes(b"a\xff");
        std::fs::write(place.path().join(odd), "").unwrap();
        let name = PathBuf::from(place.path().file_name().unwrap());
        let error = collect(&[], std::slice::from_ref(&name)).unwrap_err();
        assert!(error.to_string().contains("is no text (UTF-8)"), "{error}");
        let command = ["ls".to_owned(), name.to_str().unwrap().to_owned()];
        let laid = collect(&command, &[]).unwrap();
        assert!(laid.contents.is_empty());
        let [(path, why)] = laid.left_out.as_slice() else {
            panic!("{laid:?}");
        };
        assert_eq!(*path, name);
        assert!(why.contains("is no text"), "{why}");
    }

    #[test]
    fn what_leads_out_of_the_directory_is_not_below_it() {
        assert_eq!(below(Path::new("./a//b")), Some("a/b".into()));
        assert_eq!(below(Path::new("a/../b")), None);
        assert_eq!(below(Path::new("/a")), None);
    }
}
