//! Names of files as globs of what stays of them in the next run.

use crate::matching::{
    Deeds, PROCESSES, Statement, families, is_drawn, shape, varying, varying_behind,
};
use perf_records::glob::{escaped, path_glob};
use std::collections::{BTreeMap, BTreeSet};

/// Where shared memory has names (`shm_overview(7)`): what a command makes there is for the moment.
const SHARED_MEMORY: &str = "/dev/shm/";

/// What a command made and took away, and the globs that its own names have.
pub(super) struct Names<'s> {
    temporary: &'s [String],
    made: BTreeSet<&'s str>,
    gone: BTreeSet<&'s str>,
    /// By the glob of a folder for temporary files, or below one, those of the names in it that the
    /// command gave or took away.
    own: BTreeMap<String, BTreeSet<String>>,
}

impl<'s> Names<'s> {
    pub(super) fn of(statement: &'s Statement, temporary: &'s [String]) -> Self {
        let gone = statement.done.iter();
        let gone = gone.filter(|done| matches!(done.what, Deeds::Deleted | Deeds::Renamed));
        let gone = gone.filter_map(|done| done.to.as_deref()).collect();
        let made = statement.done.iter().flat_map(|done| {
            let is_made = matches!(done.what, Deeds::Written | Deeds::Bound);
            [done.to.as_deref().filter(|_| is_made), done.new.as_deref()]
        });
        let made = made.flatten();
        let made = made.map(|name| name.strip_prefix("unix:").unwrap_or(name));
        let mut names = Self {
            temporary,
            made: made.collect(),
            gone,
            own: BTreeMap::new(),
        };
        names.generalise();
        names
    }

    /// Gives the command's own names of temporary files their globs: first those of folders, as
    /// names in folders that were drawn lie beside each other.
    fn generalise(&mut self) {
        let mut by_depth: BTreeMap<usize, Vec<(&str, &str)>> = BTreeMap::new();
        for path in self.made.union(&self.gone) {
            if let Some((folder, name)) = self.below_temporary(path) {
                let of_depth = by_depth.entry(path.matches('/').count()).or_default();
                of_depth.push((folder, name));
            }
        }
        for of_depth in by_depth.into_values() {
            let mut of_folder: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
            for (folder, name) in of_depth {
                of_folder.entry(self.glob(folder)).or_default().insert(name);
            }
            for (folder, names) in of_folder {
                let globs = families(&names);
                self.own.entry(folder).or_default().extend(globs);
            }
        }
    }

    /// The folder and the name of a file below a folder for temporary files.
    fn below_temporary<'p>(&self, path: &'p str) -> Option<(&'p str, &'p str)> {
        self.temporary_of(path)?;
        Some(path.rsplit_once('/').unwrap_or(("", path)))
    }

    /// How long the path of the folder for temporary files is that a file lies below.
    fn temporary_of(&self, path: &str) -> Option<usize> {
        let below = self.temporary.iter().filter(|folder| match &***folder {
            // The working directory.
            "" => !path.starts_with(['/', '@']),
            folder => path
                .strip_prefix(folder)
                .is_some_and(|it| it.starts_with('/')),
        });
        below.map(String::len).max()
    }

    /// A path as a glob.
    pub(super) fn glob(&self, path: &str) -> String {
        // A statement names no process.
        if let Some(rest) = path.strip_prefix(PROCESSES) {
            return format!("{PROCESSES}{}", escaped(rest));
        }
        if let Some(folder) = self.temporary_of(path) {
            return self.temporary(path, folder);
        }
        // A folder that is gone took its files with it.
        let above = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        let mut own = above.chain([path]).filter(|name| self.made.contains(name));
        let gone = own.find(|name| self.gone.contains(name) || name.starts_with(SHARED_MEMORY));
        let from = gone.map(|name| name.rfind('/').map_or(0, |at| at + 1));
        lasting(path, from)
    }

    /// A path below a folder for temporary files, whose path has so many bytes. What the command
    /// did not make has its name from elsewhere, as a checkout in `/tmp` has.
    fn temporary(&self, path: &str, folder: usize) -> String {
        let first = if folder == 0 { 0 } else { folder + 1 };
        let mut glob = escaped(path.get(..folder).unwrap_or_default());
        let (mut at, mut is_own) = (first, false);
        for name in path.get(first..).unwrap_or_default().split('/') {
            let whole = path.get(..at + name.len()).unwrap_or(path);
            let (made, gone) = (self.made.contains(whole), self.gone.contains(whole));
            is_own |= made || gone;
            let name_glob = match self.own_name(&glob, name, is_own) {
                Some(own) => own.clone(),
                None if is_own || at == first && name.starts_with("tmp") => varying(name),
                None => escaped(name),
            };
            let is_tried = at == first && made && gone && is_trial(name);
            if at > 0 {
                glob.push('/');
            }
            glob.push_str(match is_tried && name_glob == name {
                true => TRIAL,
                false => &name_glob,
            });
            at += name.len() + 1;
        }
        glob
    }

    /// The narrowest glob of the command's own drawn names in a folder that takes a name. Of a name
    /// that is not the command's own, or does not look drawn, it is one that keeps a front.
    fn own_name(&self, folder: &str, name: &str, is_own: bool) -> Option<&String> {
        let is_drawn = is_own && varying(name) != escaped(name);
        let all = self.own.get(folder).into_iter().flatten();
        let fits = all.filter(|glob| {
            (is_drawn || !glob.starts_with(['?', '*', '['])) && path_glob(glob, name)
        });
        fits.min_by_key(|glob| glob.matches(['?', '*']).count())
    }
}

/// The name of the file by which Python tries whether a folder is one for temporary files
/// (`tempfile.gettempdir`): it has no front, so that it may look like a word.
const TRIAL: &str = "????????";

fn is_trial(name: &str) -> bool {
    let is_drawn = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_';
    name.len() == TRIAL.len() && !name.starts_with("tmp") && name.bytes().all(is_drawn)
}

/// A path as a glob; what lies in front of byte `gone` stays, and behind it the command took away
/// what it had made.
fn lasting(path: &str, gone: Option<usize>) -> String {
    let mut at = 0;
    let parts = path.split('/').map(|part| {
        let begin = at;
        at += part.len() + 1;
        match gone.is_some_and(|from| begin >= from) {
            true => behind_a_known_front(part)
                .or_else(|| varying_behind(part))
                .unwrap_or_else(|| behind_its_front(part)),
            false => without_hash(part),
        }
    });
    let parts: Vec<String> = parts.collect();
    parts.join("/")
}

/// What some put in front of letters that they draw, and how many these are: sed and Perl where
/// they change a file in its place, and Python's shared memory.
const FRONTS: [(&str, usize); 3] = [("sed", 6), ("XX", 6), ("psm_", 8)];

/// A name with a `?` for each letter that one of these drew.
fn behind_a_known_front(name: &str) -> Option<String> {
    let is_known = |(front, n): &&(&str, usize)| {
        let drawn = name.strip_prefix(front);
        drawn.is_some_and(|it| it.len() == *n && it.bytes().all(|c| c.is_ascii_alphanumeric()))
    };
    let (front, n) = FRONTS.iter().find(is_known)?;
    Some(format!("{front}{}", "?".repeat(*n)))
}

/// A name with a `?` for each letter that was drawn, where what stands in front of these is kept;
/// as it is, where they are all of it.
fn behind_its_front(name: &str) -> String {
    let mut glob = String::new();
    for piece in name.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let word = piece.trim_end_matches(|c: char| !c.is_alphanumeric());
        match (glob.is_empty(), has_words(word)) {
            (_, true) => glob.push_str(word),
            (true, _) => glob.push_str(&with_drawn_end(word)),
            (false, _) if is_drawn(word) => glob.push_str(&shape(word)),
            (false, _) => glob.push_str(word),
        }
        glob.push_str(&escaped(piece.get(word.len()..).unwrap_or_default()));
    }
    glob
}

/// A word that may end in six letters that `mkstemp(3)` drew.
fn with_drawn_end(word: &str) -> String {
    const DRAWN: usize = 6;
    let front = word.len().saturating_sub(DRAWN);
    let Some((front, end)) = word.split_at_checked(front).filter(|(it, _)| it.len() > 1) else {
        return word.to_owned();
    };
    let is_digit = |c: char| c.is_ascii_digit();
    // A number behind a word is none.
    let letters = end.trim_end_matches(is_digit);
    let has_capitals = letters.chars().any(char::is_uppercase);
    match letters.contains(is_digit) || has_capitals && letters.chars().any(char::is_lowercase) {
        true => format!("{front}{}", "?".repeat(DRAWN)),
        false => word.to_owned(),
    }
}

/// Whether letters are words that are set together: `TryCompile`, `CMakeLists`, `index`.
fn has_words(letters: &str) -> bool {
    let letters = letters.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_capital = |c: char| c.is_ascii_uppercase();
    let mut rest = letters;
    while !rest.is_empty() {
        let word = rest.trim_start_matches(is_capital);
        let end = word.find(|c: char| !c.is_ascii_lowercase());
        let (small, behind) = word.split_at(end.unwrap_or(word.len()));
        if small.len() < 2 || behind.starts_with(|c: char| !is_capital(c)) {
            return false;
        }
        rest = behind;
    }
    !letters.is_empty()
}

/// The name of a program that Cargo built, whose hash is another after each change: `net-*`.
fn without_hash(name: &str) -> String {
    let hashed = name
        .rsplit_once('-')
        .filter(|(_, hash)| hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()));
    match hashed {
        Some((name, _)) => format!("{}-*", escaped(name)),
        None => escaped(name),
    }
}

#[cfg(test)]
mod tests;
