//! What the run left in its working directory.

use super::Known;
use super::finding::{About, Finding};
use super::outputs::excerpt;
use crate::scenario::{ExpectedOutput, FileAfter, nearest};
use perf_live::sandbox::FileType;
use perf_live::sandbox::{Left, LeftContent, LeftFile};
use perf_records::glob::{is_glob, path_glob};
use std::collections::BTreeSet;

/// How many files are named that are wrong in the same way.
const MOST_NAMED: usize = 10;

/// Whether the content of the file at a path is needed.
#[must_use]
pub fn reads_content(expected: &[(String, FileAfter)], path: &[u8]) -> bool {
    let mut all = expected
        .iter()
        .filter(|(_, wanted)| wanted.content.is_some());
    all.any(|(key, _)| key.as_bytes() == path || is_glob(key) && path_glob(key.as_bytes(), path))
}

/// Judges the files that were left. A path without a glob stands for itself; any other path belongs
/// to the first glob that matches it. The folders above a path that may exist may exist too.
pub(super) fn after(expected: &[(String, FileAfter)], left: &Known<Left>) -> Vec<Finding> {
    let unseen = |why: &str| Left {
        unseen: [(Vec::new(), why.to_owned())].into(),
        ..Left::default()
    };
    let left = match left {
        Known::Yes(left) => left,
        Known::No(why) => &unseen(why),
    };
    let mut findings = Vec::new();
    let (globs, exact): (Vec<_>, Vec<_>) = expected.iter().partition(|(key, _)| is_glob(key));
    let is_named = |path: &[u8]| exact.iter().any(|(key, _)| key.as_bytes() == path);
    for (path, wanted) in &exact {
        let mut judged = Judged::default();
        one(path, wanted, left, &mut judged);
        findings.extend(judged.findings(path));
    }
    let mut of_globs: Vec<Vec<(&[u8], &LeftFile)>> = vec![Vec::new(); globs.len()];
    let mut folders: BTreeSet<&[u8]> = BTreeSet::new();
    for (path, file) in &left.files {
        let place = match is_named(path) {
            true => None,
            false => globs
                .iter()
                .position(|(glob, _)| path_glob(glob.as_bytes(), path)),
        };
        let wanted = place.and_then(|place| globs.get(place));
        if is_named(path) || wanted.is_some_and(|(_, wanted)| wanted.exists) {
            folders.extend(folders_above(path));
        }
        if let Some(found) = place.and_then(|place| of_globs.get_mut(place)) {
            found.push((path, file));
        }
    }
    for ((glob, wanted), mut found) in globs.into_iter().zip(of_globs) {
        if !wanted.exists {
            found.retain(|(path, _)| !folders.contains(path));
        }
        let mut judged = Judged::default();
        many(glob, wanted, &found, left, &mut judged);
        findings.extend(judged.findings(glob));
    }
    findings
}

/// Judges one path that the scenario names.
#[derive(Default)]
struct Judged {
    against: Vec<String>,
    unknown: Vec<String>,
}

impl Judged {
    fn findings(self, key: &str) -> impl Iterator<Item = Finding> {
        let about = About::File(key.to_owned());
        let of = about.clone();
        let against = self.against.into_iter();
        let against = against.map(move |text| Finding::missed(of.clone(), text));
        let unknown = self.unknown.into_iter();
        against.chain(unknown.map(move |text| Finding::unknown(about.clone(), text)))
    }
}

/// Returns `a` and `a/b` for `a/b/c`.
fn folders_above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    slashes.filter_map(|(at, _)| path.get(..at))
}

/// Returns a path that is no glob.
fn one(path: &str, wanted: &FileAfter, left: &Left, judged: &mut Judged) {
    match (left.files.get(path.as_bytes()), wanted.exists) {
        (Some(file), true) => differences(path, wanted, file, judged),
        (Some(file), false) => {
            let what = described(file);
            let reason = format!("expected no `{path}` after the run, and there is {what}");
            judged.against.push(reason);
        }
        (None, exists) => match left.hides(path.as_bytes()) {
            Some(why) => {
                let reason = format!("whether there is `{path}` cannot be told: {why}");
                judged.unknown.push(reason);
            }
            None if exists => {
                let what = kind(wanted).map_or("something", named);
                let hint = near(path, left);
                let reason = format!(
                    "expected {what} at `{path}` after the run, and there is nothing{hint}"
                );
                judged.against.push(reason);
            }
            None => {}
        },
    }
}

/// Returns all paths that a glob stands for.
fn many(
    glob: &str,
    wanted: &FileAfter,
    found: &[(&[u8], &LeftFile)],
    left: &Left,
    judged: &mut Judged,
) {
    for (path, file) in found {
        let path = shown(path);
        if wanted.exists {
            differences(&path, wanted, file, judged);
        } else {
            let what = described(file);
            let reason = format!(
                "expected nothing like `{glob}` after the run, and there is {what}, `{path}`"
            );
            judged.against.push(reason);
        }
    }
    let more = judged.against.len().saturating_sub(MOST_NAMED);
    if more > 0 {
        judged.against.truncate(MOST_NAMED);
        judged.against.push(format!("and {more} more for `{glob}`"));
    }
    if let Some((place, why)) = left.unseen.first_key_value() {
        let place = match place.as_slice() {
            [] => "the working directory".to_owned(),
            path => format!("`{}`", shown(path)),
        };
        let reason = format!("whether all is seen of `{glob}` cannot be told: {place}: {why}");
        judged.unknown.push(reason);
    } else if wanted.exists && found.is_empty() {
        let what = kind(wanted).map_or("something", named);
        let reason = format!("expected {what} like `{glob}` after the run, and there is nothing");
        judged.against.push(reason);
    }
}

/// Returns what kind of file it must be, by what else is expected of it.
fn kind(wanted: &FileAfter) -> Option<FileType> {
    let is_file = wanted.content.is_some() || wanted.size.is_some();
    let implied = wanted.target.as_ref().map(|_| FileType::Symlink);
    let implied = implied.or(is_file.then_some(FileType::File));
    wanted.kind.or(implied)
}

fn differences(path: &str, wanted: &FileAfter, file: &LeftFile, judged: &mut Judged) {
    let against = &mut judged.against;
    if let Some(kind) = kind(wanted).filter(|kind| *kind != file.kind) {
        let (kind, is) = (named(kind), described(file));
        against.push(format!(
            "expected {kind} at `{path}` after the run, and there is {is}"
        ));
        return;
    }
    if let Some(mode) = wanted.mode.filter(|mode| *mode != file.mode) {
        let reason = format!(
            "expected `{path}` to have mode {mode:04o}, got {:04o}",
            file.mode
        );
        against.push(reason);
    }
    if let Some(target) = &wanted.target
        && target.as_bytes() != file.target
    {
        let got = shown(&file.target);
        against.push(format!(
            "expected `{path}` to lead to {target:?}, got {got:?}"
        ));
    }
    if let Some(size) = wanted.size.filter(|size| !size.contains(file.size)) {
        let reason = format!("expected `{path}` to have {size} bytes, got {}", file.size);
        against.push(reason);
    }
    if let Some(expected) = &wanted.content {
        content(path, expected, file, judged);
    }
}

fn content(path: &str, expected: &ExpectedOutput, file: &LeftFile, judged: &mut Judged) {
    let untold = match &file.content {
        LeftContent::Whole(bytes) if expected.accepts(bytes) => return,
        LeftContent::Whole(bytes) => {
            judged.against.push(differs(path, expected, bytes));
            return;
        }
        LeftContent::Start(_) | LeftContent::Parts(_) => {
            let runs = file.content.runs();
            let is_found = matches!(expected, ExpectedOutput::Contains(_));
            if is_found && runs.iter().any(|bytes| expected.accepts(bytes)) {
                return;
            }
            let read: usize = runs.iter().map(|bytes| bytes.len()).sum();
            // No text without a NUL reaches into a hole.
            if let (LeftContent::Parts(_), ExpectedOutput::Contains(text)) =
                (&file.content, expected)
                && !text.contains('\0')
            {
                judged.against.push(format!(
                    "expected `{path}` to contain {text:?}, which is not in the {read} bytes \
                     beside its holes"
                ));
                return;
            }
            if let ExpectedOutput::Exact(text) = expected
                && text.len() as u64 != file.size
            {
                let (size, wanted) = (file.size, text.len());
                let reason = format!(
                    "expected `{path}` to have the {wanted} bytes of its text, got {size} bytes"
                );
                judged.against.push(reason);
                return;
            }
            format!("it has {} bytes, of which {read} were read", file.size)
        }
        LeftContent::Unread(why) => why.clone(),
        LeftContent::NotAskedFor => "it was not read".to_owned(),
    };
    let reason = format!("what `{path}` holds cannot be judged: {untold}");
    judged.unknown.push(reason);
}

/// Says in which way a file is not as expected; for text, with the differing lines.
fn differs(path: &str, expected: &ExpectedOutput, got: &[u8]) -> String {
    // How much text is compared line by line, in bytes of both, and how many differing lines are
    // shown.
    const MOST_TEXT: usize = 64 << 10;
    const MOST_LINES: usize = 60;
    let wanted = match expected {
        ExpectedOutput::Exact(text) => match std::str::from_utf8(got) {
            Ok(got) if text.len() + got.len() <= MOST_TEXT => {
                let diff = similar::TextDiff::from_lines(text.as_str(), got);
                let mut diff = diff.unified_diff();
                let diff = diff
                    .context_radius(3)
                    .header("expected", "this run")
                    .to_string();
                let mut lines: Vec<&str> = diff.lines().take(MOST_LINES).collect();
                if diff.lines().count() > MOST_LINES {
                    lines.push("...");
                }
                return format!("`{path}` is not what was expected:\n{}", lines.join("\n"));
            }
            _ => format!("{:?}", excerpt(text)),
        },
        ExpectedOutput::Contains(text) => format!("something that contains {:?}", excerpt(text)),
        ExpectedOutput::Matches(regex) => format!("something that matches /{regex}/"),
    };
    let got = String::from_utf8_lossy(got);
    format!(
        "expected `{path}` to hold {wanted}, got {:?}",
        excerpt(&got)
    )
}

/// Returns another file that a missing one may have become.
fn near(path: &str, left: &Left) -> String {
    let mut above = folders_above(path.as_bytes());
    let link = above.find(|folder| {
        let file = left.files.get(*folder);
        file.is_some_and(|file| file.kind == FileType::Symlink)
    });
    if let Some(link) = link {
        return format!(
            " (`{}` is a symbolic link, which is not followed)",
            shown(link)
        );
    }
    let there: Vec<String> = left.files.keys().map(|path| shown(path)).collect();
    let name = |path: &str| path.rsplit('/').next().map(str::to_owned);
    let same_name = there.iter().find(|other| name(other) == name(path));
    let near = same_name
        .map(String::as_str)
        .or_else(|| nearest(path, there.iter().map(String::as_str)));
    near.map_or_else(String::new, |near| format!(" (but there is `{near}`)"))
}

fn shown(path: &[u8]) -> String {
    match std::str::from_utf8(path) {
        Ok(text) => perf_records::units::shown(text).into_owned(),
        _ => path.escape_ascii().to_string(),
    }
}

fn described(file: &LeftFile) -> String {
    match file.kind {
        FileType::File => format!("a file of {} bytes", file.size),
        FileType::Symlink => format!("a symbolic link to {:?}", shown(&file.target)),
        other => named(other).to_owned(),
    }
}

fn named(kind: FileType) -> &'static str {
    match kind {
        FileType::File => "a file",
        FileType::Directory => "a directory",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::Device => "a device",
    }
}

#[cfg(test)]
mod tests;
