//! Many files of one folder as one line.

use crate::matching::families;
use perf_records::glob::path_glob;
use perf_records::units::shown;
use std::collections::{BTreeMap, BTreeSet};

/// A line of a statement: a thing, or the things of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) path: String,
    /// Its new name, where it got one.
    pub(super) new: Option<String>,
    /// Why it is not known; `None` if it is.
    pub(super) why: Option<String>,
    pub(super) n_files: u64,
    pub(super) count: u64,
    pub(super) tests: BTreeSet<String>,
    pub(super) is_unsure: bool,
}

/// The most lines that one folder has.
const MOST: usize = 12;

impl Line {
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        if self.why.is_some() {
            text.push_str("? ");
        }
        text.push_str(&shown(&self.path));
        // As a descriptor is called that `O_TMPFILE` gave.
        if self.path == "#" || self.path.ends_with("/#") {
            text.push_str(", a file without a name");
        }
        if let Some(new) = &self.new {
            text = text + " -> " + &shown(new);
        }
        let mut told = Vec::new();
        if self.n_files > 1 {
            told.push(format!("{} files", self.n_files));
        }
        if self.count > 1 {
            told.push(format!("{} times", self.count));
        }
        if !told.is_empty() {
            text += &format!(" ({})", told.join(", "));
        }
        const SOME: usize = 3;
        let tests: Vec<_> = self.tests.iter().take(SOME).map(|it| shown(it)).collect();
        let more = self.tests.len().saturating_sub(SOME);
        match (tests.as_slice(), self.is_unsure) {
            ([], false) => {}
            ([], true) => text += ", test unknown",
            (tests, is_unsure) => {
                text += if is_unsure { ", maybe in " } else { ", in " };
                text += &tests.join(", ");
                match more {
                    0 => {}
                    1 => text += " and 1 more test",
                    _ => text += &format!(" and {more} more tests"),
                }
            }
        }
        if let Some(why) = &self.why {
            text = text + ": " + &shown(why);
        }
        text
    }

    /// Takes another line of the same folder.
    fn add(&mut self, other: Self) {
        self.n_files += other.n_files;
        self.count += other.count;
        self.tests.extend(other.tests);
        self.is_unsure |= other.is_unsure;
    }
}

/// Folds the files of folders that have too many; what is not known stays as it is.
pub(super) fn folded(lines: Vec<Line>) -> Vec<Line> {
    let (known, unknown): (Vec<_>, Vec<_>) = lines.into_iter().partition(|line| line.why.is_none());
    let mut root = Folder::default();
    for line in known {
        root.put(line);
    }
    let mut lines = root.lines("", 0);
    lines.extend(unknown);
    lines
}

#[derive(Default)]
struct Folder {
    folders: BTreeMap<String, Folder>,
    lines: Vec<Line>,
}

impl Folder {
    fn put(&mut self, line: Line) {
        let path = line.path.clone();
        let mut folder = self;
        if let Some((above, _)) = path.rsplit_once('/') {
            for part in above.split('/') {
                folder = folder.folders.entry(part.to_owned()).or_default();
            }
        }
        folder.lines.push(line);
    }

    /// Its lines; `depth` is how many folders it lies in.
    fn lines(self, path: &str, depth: usize) -> Vec<Line> {
        let mut lines = self.lines;
        for (name, folder) in self.folders {
            let below = match depth {
                0 => name,
                _ => format!("{path}/{name}"),
            };
            lines.extend(folder.lines(&below, depth + 1));
        }
        // Of a path from the root the first part is empty: `/usr` is no folder to say little of.
        let least = if path.starts_with('/') || path.is_empty() {
            3
        } else {
            1
        };
        if lines.len() > MOST && depth >= least {
            let mut all = lines.into_iter();
            let Some(mut one) = all.next() else {
                return Vec::new();
            };
            all.for_each(|line| one.add(line));
            one.path = format!("{path}/**");
            one.new = None;
            return vec![one];
        }
        if lines.len() > MOST {
            lines = drawn_alike(lines, path);
        }
        lines.sort_by(|a, b| (&a.path, &a.new).cmp(&(&b.path, &b.new)));
        lines
    }
}

/// Folds files of one folder whose names were drawn alike: they differ from run to run.
fn drawn_alike(lines: Vec<Line>, folder: &str) -> Vec<Line> {
    let name = |line: &Line| {
        let (above, name) = line.path.rsplit_once('/').unwrap_or(("", &line.path));
        (above == folder && line.new.is_none()).then(|| name.to_owned())
    };
    let names: BTreeSet<String> = lines.iter().filter_map(name).collect();
    let globs = families(&names.iter().map(String::as_str).collect());
    let mut drawn: BTreeMap<&str, Line> = BTreeMap::new();
    let mut others = Vec::new();
    for line in lines {
        let own = name(&line);
        let glob = own.as_ref().and_then(|name| {
            let fits = globs.iter().filter(|glob| path_glob(glob, name));
            let glob = fits.min_by_key(|glob| glob.matches(['?', '*']).count())?;
            Some(&**glob)
        });
        match glob.map(|glob| (glob, drawn.get_mut(glob))) {
            Some((_, Some(first))) => first.add(line),
            Some((glob, None)) => drop(drawn.insert(glob, line)),
            None => others.push(line),
        }
    }
    others.extend(drawn.into_iter().map(|(glob, mut line)| {
        if line.n_files > 1 {
            line.path = match folder {
                "" => glob.to_owned(),
                folder => format!("{folder}/{glob}"),
            };
        }
        line
    }));
    others
}
