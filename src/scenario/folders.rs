//! Folders of files that a scenario lays out.

use super::workload::{FileSource, FileSpec};
use perf_records::units::shown_path;
use std::collections::BTreeMap;
use std::fs::FileType;
use std::io;
use std::path::{Path, PathBuf};

/// No folder with more in it than this is laid out: each run copies all of it.
const MOST: usize = 5000;

pub(super) type Files = BTreeMap<PathBuf, FileSpec>;

/// What is wrong with a file of a workload.
pub(super) struct Fault {
    /// Its path in `files`.
    pub(super) name: PathBuf,
    /// The key below that path to point at; the path itself where there is none.
    pub(super) key: Option<&'static str>,
    /// What is wrong, in one line.
    pub(super) message: String,
}

/// Returns what is laid out where `from` may name a folder, by a path relative to `base`: that is
/// its files, folders and links then. A file that the scenario names itself stays as it is. Where
/// two folders hold the same path, that of the deeper one is laid.
///
/// # Errors
/// What cannot be read or laid out, too many files, and a file in the place of a folder.
pub(super) fn laid(mut files: Files, base: &Path) -> Result<Files, Fault> {
    let of_folder = |(name, file): (&PathBuf, &FileSpec)| match &file.source {
        FileSource::From(from) if base.join(from).is_dir() => Some((name.clone(), from.clone())),
        _ => None,
    };
    let mut folders: Vec<_> = files.iter().filter_map(of_folder).collect();
    folders.sort_by_key(|(name, _)| std::cmp::Reverse(name.components().count()));
    for (name, from) in folders {
        let Some(folder) = files.remove(&name) else {
            continue;
        };
        if folder.mode.is_some() {
            return Err(Fault {
                name,
                key: Some("mode"),
                message: "what is in a folder has the modes that it has there".to_owned(),
            });
        }
        for (path, source) in all_in(base, &from).map_err(|message| Fault {
            name: name.clone(),
            key: Some("from"),
            message,
        })? {
            let path = match path.as_os_str().is_empty() {
                true => name.clone(),
                false => name.join(path),
            };
            let owner = folder.owner.clone();
            files.entry(path).or_insert(FileSpec {
                source,
                mode: None,
                owner,
            });
        }
    }
    fault_of_places(&files)?;
    Ok(files)
}

/// Returns a file that has another one in the place of a folder above it.
fn fault_of_places(files: &Files) -> Result<(), Fault> {
    for name in files.keys() {
        let mut above = name.ancestors().skip(1);
        let is_file = |above: &&Path| files.get(*above).is_some_and(|file| !file.is_folder());
        if let Some(file) = above.find(is_file) {
            return Err(Fault {
                message: format!("`{}` is a file here, not a folder", shown_path(file)),
                name: name.clone(),
                key: None,
            });
        }
    }
    Ok(())
}

/// Returns what is in a folder, and the folder itself, by its path in it.
fn all_in(base: &Path, folder: &Path) -> Result<Vec<(PathBuf, FileSource)>, String> {
    let mut found = vec![(PathBuf::new(), FileSource::FolderOf(folder.to_owned()))];
    let mut waiting = vec![PathBuf::new()];
    while let Some(inner) = waiting.pop() {
        let at = folder.join(&inner);
        let unread =
            |error: io::Error| format!("cannot read the folder `{}`: {error}", shown_path(&at));
        for entry in base.join(&at).read_dir().map_err(unread)? {
            let entry = entry.map_err(unread)?;
            let (path, from) = (inner.join(entry.file_name()), at.join(entry.file_name()));
            let kind = entry.file_type().map_err(unread)?;
            if kind.is_dir() {
                waiting.push(path.clone());
            }
            let source = source_of(kind, from).map_err(|from| {
                format!(
                    "`{}` in it is no file, folder or link: it cannot be laid out",
                    shown_path(&from)
                )
            })?;
            found.push((path, source));
            if found.len() > MOST {
                return Err(format!(
                    "`{}` has more than {MOST} files and folders: name those in it that the \
                     workload needs",
                    shown_path(folder)
                ));
            }
        }
    }
    Ok(found)
}

fn source_of(kind: FileType, from: PathBuf) -> Result<FileSource, PathBuf> {
    if kind.is_file() {
        Ok(FileSource::From(from))
    } else if kind.is_dir() {
        Ok(FileSource::FolderOf(from))
    } else if kind.is_symlink() {
        Ok(FileSource::LinkOf(from))
    } else {
        Err(from)
    }
}
