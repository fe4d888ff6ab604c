//! Whether a program has lost what it was given.
//!
//! A file is lost if it is neither as it was, nor as without a fault, nor longer than it was by
//! what was added behind, and what it held lies under no other name either.

use crate::verdict::Run;
use perf_live::sandbox::{FileType, Left, LeftContent, LeftFile};
use perf_records::units::shown;
use std::collections::{BTreeMap, BTreeSet};

/// The files of the runs without faults.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    /// What each file held that the program was given; none for an empty one.
    given: BTreeMap<Vec<u8>, Vec<u8>>,
    /// What each run left, where that was looked at.
    left: Vec<Option<Left>>,
}

impl Files {
    /// Those of a program that is given these.
    pub(super) fn of(given: Left) -> Self {
        let files = given.files.into_iter();
        let given = files.filter_map(|(path, file)| match file.content {
            LeftContent::Whole(bytes) if !bytes.is_empty() => Some((path, bytes)),
            _ => None,
        });
        Self {
            given: given.collect(),
            left: Vec::new(),
        }
    }

    /// Adds a run without faults.
    pub(super) fn add(&mut self, run: &Run) {
        self.left.push(run.left.yes().cloned());
    }

    /// Which files a run lost, and of which that is not known, in words for people.
    pub(super) fn lost(&self, run: &Run) -> (Vec<String>, Vec<String>) {
        let (mut lost, mut unknown) = (Vec::new(), Vec::new());
        for (path, bytes) in &self.given {
            let name = shown(&String::from_utf8_lossy(path)).into_owned();
            match run.left.yes().map(|left| self.fate(left, path, bytes)) {
                Some(Fate::Kept) => {}
                Some(Fate::Lost(how)) => lost.push(format!(
                    "`{name}` is neither as it was given nor as it is without the fault: {how}"
                )),
                Some(Fate::Unknown(why)) => {
                    unknown.push(format!("it is not known whether `{name}` is lost: {why}"));
                }
                None => unknown.push(format!("it is not known whether `{name}` is lost")),
            }
        }
        (lost, unknown)
    }

    /// Which names a run left otherwise than all runs without faults, in words for people.
    pub(super) fn otherwise(&self, now: &Left) -> Vec<String> {
        let known: Option<Vec<&Left>> = self.left.iter().map(Option::as_ref).collect();
        let known = known.unwrap_or_default();
        let all = known.iter().copied().chain([now]);
        let paths: BTreeSet<&Vec<u8>> = all.flat_map(|left| left.files.keys()).collect();
        let tell = |path: &Vec<u8>| {
            let mut then = known.iter().map(|left| left.files.get(path));
            let first = then.next()?;
            let is_steady = then.all(|it| is_same(it, first));
            let is_seen = |left: &Left| left.hides(path).is_none();
            let is_told = is_seen(now) && known.iter().all(|left| is_seen(left));
            let how = match (first, now.files.get(path)) {
                (then, now) if !is_steady || !is_told || is_same(then, now) => return None,
                // It may be the same.
                (Some(_), Some(now)) if matches!(now.content, LeftContent::Unread(_)) => {
                    return None;
                }
                (_, None) => "is missing",
                (None, _) => "is there as well",
                _ => "is another",
            };
            Some(format!("`{}` {how}", shown(&String::from_utf8_lossy(path))))
        };
        paths.into_iter().filter_map(tell).collect()
    }

    fn fate(&self, left: &Left, path: &[u8], given: &[u8]) -> Fate {
        let now = left.files.get(path);
        let mut then = self.left.iter().map(|left| left.as_ref()?.files.get(path));
        let first = then.next().flatten();
        // A file that is another in each run may be so here.
        let is_steady = then.all(|it| is_same(it, first));
        let is_as_without = || is_same(now, first);
        let is_somewhere = || left.files.values().any(|file| holds(&file.content, given));
        if is_somewhere() || !is_steady {
            return Fate::Kept;
        }
        match (now.map(|file| (file.kind, &file.content)), left.hides(path)) {
            (None, Some(why)) => Fate::Unknown(why.to_owned()),
            (Some((_, LeftContent::Unread(why))), _) => Fate::Unknown(why.clone()),
            _ if is_as_without() => Fate::Kept,
            (Some((FileType::File, LeftContent::Whole(bytes))), _) => {
                Fate::Lost(format!("{} bytes", bytes.len()))
            }
            (Some((FileType::File, _)), _) => Fate::Lost("it is much longer".to_owned()),
            (Some((kind, _)), _) => Fate::Lost(format!("it is a {}", kind.word())),
            (None, None) => Fate::Lost("it is gone".to_owned()),
        }
    }
}

enum Fate {
    Kept,
    Lost(String),
    Unknown(String),
}

/// Whether two names lead to the same, whatever their modes are.
fn is_same(one: Option<&LeftFile>, other: Option<&LeftFile>) -> bool {
    fn of(file: &LeftFile) -> (FileType, &[u8], &LeftContent) {
        (file.kind, &file.target, &file.content)
    }
    one.map(of) == other.map(of)
}

/// Whether that is what was given, with or without something behind.
fn holds(content: &LeftContent, given: &[u8]) -> bool {
    match content {
        LeftContent::Whole(bytes) | LeftContent::Start(bytes) => bytes.starts_with(given),
        LeftContent::Parts(parts) => {
            let mut start = vec![0; given.len()];
            for (at, bytes) in parts {
                let from = usize::try_from(*at).unwrap_or(usize::MAX).min(start.len());
                let room = start.iter_mut().skip(from).zip(bytes);
                room.for_each(|(to, byte)| *to = *byte);
            }
            start == given
        }
        LeftContent::NotAskedFor | LeftContent::Unread(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(files: &[(&str, &str)]) -> Left {
        let file = |content: &str| LeftFile {
            kind: FileType::File,
            mode: 0o644,
            size: content.len() as u64,
            target: Vec::new(),
            content: LeftContent::Whole(content.as_bytes().to_vec()),
        };
        let files = files.iter();
        let files = files.map(|(path, content)| (path.as_bytes().to_vec(), file(content)));
        Left {
            files: files.collect(),
            unseen: BTreeMap::new(),
        }
    }

    fn fate(without_faults: &[&[(&str, &str)]], now: &Left) -> Fate {
        let mut files = Files::of(left(&[("list", "old")]));
        let runs = without_faults.iter();
        files.left = runs.map(|run| Some(left(run))).collect();
        files.fate(now, b"list", b"old")
    }

    #[test]
    fn a_file_is_lost_that_is_neither_old_nor_new_and_nowhere_else() {
        let new: &[(&str, &str)] = &[("list", "new")];
        let lost = |now: &[(&str, &str)]| matches!(fate(&[new, new], &left(now)), Fate::Lost(_));
        assert!(lost(&[("list", "")]));
        assert!(lost(&[("list", "ne")]));
        assert!(lost(&[("list", "xold")]));
        assert!(lost(&[("other", "new")]), "it is gone");
        assert!(!lost(&[("list", "new")]));
        assert!(!lost(&[("list", "old")]));
        assert!(!lost(&[("list", "older")]), "something was added");
        assert!(!lost(&[("list", "ne"), ("list.old", "old")]), "a copy");
    }

    #[test]
    fn a_file_in_whose_place_is_something_else_is_lost() {
        let new: &[(&str, &str)] = &[("list", "new")];
        let mut now = left(new);
        for file in now.files.values_mut() {
            (file.kind, file.content) = (FileType::Symlink, LeftContent::NotAskedFor);
        }
        assert!(matches!(fate(&[new, new], &now), Fate::Lost(_)));
    }

    #[test]
    fn a_file_that_differs_without_faults_tells_nothing_of_one() {
        let runs: [&[(&str, &str)]; 2] = [&[("list", "1")], &[("list", "2")]];
        assert!(matches!(fate(&runs, &left(&[])), Fate::Kept));
    }

    #[test]
    fn what_is_otherwise_than_in_each_run_without_faults_is_told() {
        let mut files = Files::of(left(&[]));
        let without: [&[(&str, &str)]; 2] = [
            &[("a", "1"), ("b", "1"), ("c", "1"), ("d", "1")],
            &[("a", "1"), ("b", "1"), ("c", "1"), ("d", "2")],
        ];
        files.left = without.iter().map(|run| Some(left(run))).collect();
        let now = left(&[("a", "1"), ("b", "2"), ("d", "3"), ("e", "")]);
        let told = files.otherwise(&now);
        assert_eq!(
            told,
            ["`b` is another", "`c` is missing", "`e` is there as well"]
        );
        files.left.push(None);
        assert_eq!(files.otherwise(&now), [""; 0]);
    }

    #[test]
    fn a_file_in_a_folder_that_was_not_looked_into_is_not_known_to_be_lost() {
        let new: &[(&str, &str)] = &[("list", "new")];
        let mut now = left(&[]);
        now.unseen.insert(Vec::new(), "too many names".to_owned());
        assert!(matches!(fate(&[new, new], &now), Fate::Unknown(_)));
    }
}
