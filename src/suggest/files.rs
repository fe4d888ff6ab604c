//! Finds what runs leave in the working directory.

use super::{Given, LONGEST, MOST_LINES, tells_time};
use crate::scenario::{CountRange, ExpectedOutput, FileAfter};
use perf_live::sandbox::FileType;
use perf_live::sandbox::{Left, LeftContent, LeftFile};
use std::path::Path;

/// A list of more files than this is too long to read.
const MOST: usize = 12;

/// Returns the files that every run created, changed or removed; or how many there are, if they are
/// too many.
pub(super) fn after(runs: &[&Left], given: &Given) -> Result<Vec<(String, FileAfter)>, usize> {
    let Some((first, others)) = runs.split_first() else {
        return Ok(Vec::new());
    };
    let mut after = Vec::new();
    for (path, file) in &first.files {
        let all = others.iter().map(|run| run.files.get(path));
        let all: Option<Vec<&LeftFile>> = all.collect();
        let (Some(others), Ok(name)) = (all, std::str::from_utf8(path)) else {
            continue;
        };
        let is_above = |other: &Vec<u8>| {
            other.len() > path.len()
                && other.starts_with(path)
                && other.get(path.len()) == Some(&b'/')
        };
        // The files in a folder imply the folder.
        if file.kind == FileType::Directory && first.files.keys().any(is_above) {
            continue;
        }
        if given
            .files
            .get(Path::new(name))
            .is_some_and(|known| is_still(file, known))
        {
            continue;
        }
        after.push((name.to_owned(), expected(file, &others, given.now)));
    }
    let gone = given.files.keys().filter_map(|path| path.to_str());
    let gone = gone.filter(|path| {
        runs.iter()
            .all(|run| !run.files.contains_key(path.as_bytes()))
    });
    let no_file = FileAfter::default();
    after.extend(gone.map(|path| (path.to_owned(), no_file.clone())));
    match after.len() {
        ..=MOST => Ok(after),
        many => Err(many),
    }
}

/// Whether a file is as it was given, as far as it was read: that it has changed is not said of
/// what is too long to be read.
fn is_still(file: &LeftFile, known: &[u8]) -> bool {
    let has_its_size = file.size == known.len() as u64;
    match &file.content {
        LeftContent::Whole(bytes) => bytes == known,
        LeftContent::Start(bytes) => has_its_size && known.starts_with(bytes),
        LeftContent::NotAskedFor | LeftContent::Parts(_) | LeftContent::Unread(_) => has_its_size,
    }
}

/// Returns what is equal in all runs of a file; if that is no short text, only that it exists and
/// is not empty.
fn expected(file: &LeftFile, others: &[&LeftFile], now: u64) -> FileAfter {
    let mut after = FileAfter {
        exists: true,
        ..FileAfter::default()
    };
    let is_same = |same: &dyn Fn(&LeftFile) -> bool| others.iter().all(|other| same(other));
    if !is_same(&|other| other.kind == file.kind) {
        return after;
    }
    match file.kind {
        FileType::File => {
            let text = match &file.content {
                LeftContent::Whole(bytes) => std::str::from_utf8(bytes).ok(),
                _ => None,
            };
            let text = text.filter(|text| {
                text.len() <= LONGEST
                    && text.lines().count() <= MOST_LINES
                    && !text.contains('\0')
                    && !tells_time(text, now)
                    && is_same(&|other| other.content == file.content)
            });
            match text {
                Some(text) => after.content = Some(ExpectedOutput::Exact(text.to_owned())),
                None if file.size > 0 && is_same(&|other| other.size > 0) => {
                    after.size = Some(CountRange { min: 1, max: None });
                }
                None => {}
            }
        }
        FileType::Symlink => {
            let target = String::from_utf8(file.target.clone()).ok();
            after.target = target.filter(|_| is_same(&|other| other.target == file.target));
        }
        kind => after.kind = Some(kind),
    }
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_too_long_to_be_read_is_not_called_changed() {
        let known = b"begins like this";
        let still = |size, content| {
            let file = LeftFile {
                kind: FileType::File,
                mode: 0o644,
                size,
                target: Vec::new(),
                content,
            };
            is_still(&file, known)
        };
        let size = known.len() as u64;
        assert!(still(size, LeftContent::Start(b"begins".to_vec())));
        assert!(still(size, LeftContent::Unread("no right".to_owned())));
        assert!(!still(size, LeftContent::Start(b"starts".to_vec())));
        assert!(!still(size + 1, LeftContent::Start(b"begins".to_vec())));
        assert!(still(size, LeftContent::Whole(known.to_vec())));
        assert!(!still(
            size,
            LeftContent::Whole(b"begins like that".to_vec())
        ));
    }
}
