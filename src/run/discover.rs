//! The scenario files that are meant by paths.

use crate::scenario;
use crate::snapshot::Place;
use perf_live::files;
use perf_live::sys::folder;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A scenario that was found: a file, or a row of its `matrix`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Item {
    /// Its name in reports: `durability/x`, `durability/x[mode=wal,sync=FULL]`. No other file that
    /// was found with it has the same.
    pub name: String,
    /// The scenario's file.
    pub file: PathBuf,
    /// The label of its row; empty if the file has no `matrix`.
    pub row: String,
}

impl Item {
    /// Returns where its snapshots are.
    #[must_use]
    pub fn place(&self) -> Place {
        Place::of(&self.file).of_row(&self.row)
    }

    /// Whether this is its name, or one that it has beside files that are called the same.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        let mut item = self.clone();
        while item.name != name {
            match item.longer_name() {
                Some(longer) if longer.len() <= name.len() => item.name = longer,
                _ => return false,
            }
        }
        true
    }

    /// Its name with one more folder in front of it; `None` if that has no name, or is not known.
    fn longer_name(&self) -> Option<String> {
        let row = match self.row.as_str() {
            "" => String::new(),
            row => format!("[{row}]"),
        };
        let name = self.name.strip_suffix(&row)?;
        let mut folder = canonical(&self.file)?;
        folder.pop();
        for _ in 0..Path::new(name).components().count().saturating_sub(1) {
            folder.pop();
        }
        let folder = folder.file_name()?.to_string_lossy();
        Some(format!("{folder}/{name}{row}"))
    }
}

/// Whether a file is a scenario by its name: it ends in `.yaml` or `.yml`, in any case.
#[must_use]
pub fn is_scenario(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default();
    ["yaml", "yml"]
        .into_iter()
        .any(|it| ending.eq_ignore_ascii_case(it))
}

/// Returns the scenarios that paths stand for: a file stands for itself or for the rows of its
/// `matrix`, a folder for every file below it that is one by its name ([`is_scenario`]), but for
/// folders below it whose names begin with a dot.
///
/// A file that cannot be read as a scenario is one item; reading the suite reports what is wrong.
///
/// # Errors
/// For the first path that cannot be read, with that path.
pub fn discover(paths: &[PathBuf]) -> Result<Vec<Item>, (PathBuf, io::Error)> {
    let mut items = Vec::new();
    // Each folder is read once, by the path that finds it first; links come last.
    let mut seen = BTreeSet::new();
    let mut files = BTreeSet::new();
    for path in paths {
        let mut waiting = vec![path.clone()];
        let mut links = BTreeSet::new();
        while let Some(path) = waiting.pop().or_else(|| links.pop_first()) {
            let failed = |error| (path.clone(), error);
            if path.is_dir() {
                let status = std::fs::metadata(&path).map_err(failed)?;
                if !seen.insert((status.dev(), status.ino())) {
                    continue;
                }
                for name in folder::names(&path).map_err(failed)? {
                    let entry = path.join(name);
                    match entry.is_dir() {
                        // Those of other tools: `.git`, `.github`.
                        true if is_hidden(&entry) => {}
                        true if entry.is_symlink() => {
                            links.insert(entry);
                        }
                        true => waiting.push(entry),
                        false if is_scenario(&entry) => waiting.push(entry),
                        false => {}
                    }
                }
            } else {
                std::fs::metadata(&path).map_err(failed)?;
                // By two paths it is one file.
                if files.insert(canonical(&path)) {
                    items.extend(rows(&path));
                }
            }
        }
    }
    items.sort();
    items.dedup();
    tell_apart(&mut items);
    items.sort();
    Ok(items)
}

/// Returns a file's path in which no folder is a link; the file may be one.
fn canonical(file: &Path) -> Option<PathBuf> {
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty());
    let folder = std::fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
    Some(folder.join(file.file_name()?))
}

/// Gives each file a name of its own: in front of one that several have come the folders that the
/// files lie in, as many as it takes.
fn tell_apart(items: &mut [Item]) {
    loop {
        let mut files: BTreeMap<&str, BTreeSet<&Path>> = BTreeMap::new();
        for item in &*items {
            files.entry(&item.name).or_default().insert(&item.file);
        }
        files.retain(|_, all| all.len() > 1);
        let is_shared = |item: &Item| files.contains_key(item.name.as_str());
        let longer = |item: &Item| is_shared(item).then(|| item.longer_name()).flatten();
        let names: Vec<Option<String>> = items.iter().map(longer).collect();
        if names.iter().all(Option::is_none) {
            return;
        }
        for (item, name) in items.iter_mut().zip(names) {
            item.name = name.unwrap_or_else(|| std::mem::take(&mut item.name));
        }
    }
}

fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.as_encoded_bytes().starts_with(b".")
}

fn rows(file: &Path) -> Vec<Item> {
    let labels = files::text(file, files::SCENARIO)
        .ok()
        .and_then(|text| scenario::labels(file, &text).ok())
        .unwrap_or_else(|| vec![String::new()]);
    let name = Place::of(file).name;
    let item = |row: String| Item {
        name: match row.as_str() {
            "" => name.clone(),
            row => format!("{name}[{row}]"),
        },
        file: file.to_owned(),
        row,
    };
    labels.into_iter().map(item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn folders_of_other_tools_are_left_out_unless_they_are_named() {
        let place = tempfile::tempdir().unwrap();
        let hidden = place.path().join(".github");
        std::fs::create_dir(&hidden).unwrap();
        std::fs::write(hidden.join("dependabot.yml"), "").unwrap();
        std::fs::write(place.path().join("it.yaml"), "").unwrap();
        let found = |path: &Path| discover(&[path.to_owned()]).unwrap().len();
        assert_eq!((found(place.path()), found(&hidden)), (1, 1));
    }

    #[test]
    fn a_file_is_a_scenario_by_its_ending_in_any_case() {
        let place = tempfile::tempdir().unwrap();
        let names = [
            "a.yaml",
            "b.yml",
            "C.YAML",
            "d.Yml",
            "e.yaml.bak",
            "yaml",
            "f.snap",
        ];
        for name in names {
            std::fs::write(place.path().join(name), "").unwrap();
        }
        let items = discover(&[place.path().to_owned()]).unwrap();
        let names: Vec<String> = items.into_iter().map(|item| item.name).collect();
        assert_eq!(names, ["C", "a", "b", "d"]);
    }

    #[test]
    fn files_of_one_name_are_told_apart_by_as_many_folders_as_it_takes() {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path);
        let rows = "matrix: { n: [1, 2] }\n";
        for (file, text) in [
            ("a/scenarios/save.yaml", rows),
            ("b/scenarios/save.yaml", rows),
            ("b/scenarios/sub/save.yaml", ""),
            ("b/scenarios/alone.yaml", ""),
            ("c/one/save.yaml", ""),
            ("d/one/save.yaml", ""),
        ] {
            std::fs::create_dir_all(at(file).parent().unwrap()).unwrap();
            std::fs::write(at(file), text).unwrap();
        }
        let names = |paths: &[&str]| -> Vec<String> {
            let paths: Vec<PathBuf> = paths.iter().map(|path| at(path)).collect();
            let items = discover(&paths).unwrap();
            items.into_iter().map(|item| item.name).collect()
        };
        assert_eq!(
            names(&["a", "b"]),
            [
                "a/scenarios/save[n=1]",
                "a/scenarios/save[n=2]",
                "alone",
                "b/scenarios/save[n=1]",
                "b/scenarios/save[n=2]",
                "sub/save"
            ]
        );
        assert_eq!(names(&["c", "d"]), ["c/one/save", "d/one/save"]);
        // By two paths it is one file.
        assert_eq!(
            names(&["c/one/save.yaml", "c/../c/one/save.yaml"]),
            ["save"]
        );
    }

    #[test]
    fn a_folder_that_links_lead_to_is_gone_through_once() {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path);
        std::fs::create_dir_all(at("scenarios/sub")).unwrap();
        std::fs::create_dir(at("elsewhere")).unwrap();
        for file in [
            "scenarios/x.yaml",
            "scenarios/sub/y.yaml",
            "elsewhere/z.yaml",
        ] {
            std::fs::write(at(file), "").unwrap();
        }
        // A loop, a second name in front of the first, and what is nowhere else.
        symlink(".", at("scenarios/a")).unwrap();
        symlink("../..", at("scenarios/sub/up")).unwrap();
        symlink("sub", at("scenarios/other")).unwrap();
        symlink(at("elsewhere"), at("scenarios/out")).unwrap();
        let found = |paths: &[&str]| -> Vec<String> {
            let paths: Vec<PathBuf> = paths.iter().map(|path| at(path)).collect();
            let items = discover(&paths).unwrap();
            items.into_iter().map(|item| item.name).collect()
        };
        assert_eq!(found(&["scenarios"]), ["out/z", "sub/y", "x"]);
        assert_eq!(
            found(&["scenarios", "scenarios/a", "elsewhere"]),
            ["out/z", "sub/y", "x"]
        );
        assert_eq!(found(&["scenarios/a/sub"]).len(), 3);
    }
}
