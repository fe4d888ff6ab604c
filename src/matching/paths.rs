//! Compares paths as the author writes them with paths in calls.

use super::answer::Answer;
use perf_records::glob::path_glob;
use std::borrow::Cow;
use syscall_model::files::FileKind;

/// The working directory in the strings of a trace.
const DIRECTORY: &[u8] = b"$DIR";

/// A path of a call, or of a descriptor's file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    /// The path as the call has it.
    pub(super) given: &'a [u8],
    /// The path from the root; `None` if the directory that it starts in is not known.
    pub(super) absolute: Option<&'a [u8]>,
}

impl<'a> Place<'a> {
    /// A name that stands for itself, such as `stdout`, or a path from the root.
    pub(super) fn whole(name: &'a [u8]) -> Self {
        Self {
            given: name,
            absolute: Some(name),
        }
    }

    /// The path of a call.
    pub(super) fn of(given: &'a [u8], absolute: &'a Option<Vec<u8>>) -> Self {
        let absolute = absolute.as_deref();
        Self { given, absolute }
    }

    /// Returns the path from the root, clean.
    pub(super) fn resolved(&self) -> Option<Vec<u8>> {
        match self.absolute {
            Some(absolute) => Some(clean(absolute)),
            None => is_absolute(self.given).then(|| clean(self.given)),
        }
    }

    /// Whether it is the path that the author wrote. A relative one may be written as the program
    /// gave it, or be below the working directory.
    pub(super) fn is(&self, wanted: &[u8]) -> Answer {
        let given = clean(self.given);
        if given == clean(wanted) {
            return Answer::Yes;
        }
        let wanted = from_directory(wanted);
        match self.resolved() {
            Some(resolved) => (resolved == wanted).into(),
            // The descriptor beside it is meant (`AT_EMPTY_PATH`), and its file is not known.
            None if given.is_empty() => Answer::Unknown,
            None if ends_with(&wanted, &given) => Answer::Unknown,
            None => Answer::No,
        }
    }

    /// Whether it is what the author wrote of a descriptor. A word for a kind of files means that
    /// kind alone, and a file that is called so is written as a path: `./stdout`.
    pub(super) fn is_file(&self, wanted: &[u8]) -> Answer {
        // As procfs names what was open before the run.
        if FileKind::is_word(wanted) && self.given.starts_with(b"pipe:[") {
            return (wanted == b"pipe").into();
        }
        if FileKind::is_word(wanted) && self.given.starts_with(b"socket:[") {
            let is_some_socket = FileKind::is_of(wanted, b"socket");
            return match wanted {
                b"socket" => Answer::Yes,
                _ => Answer::unless_more(false, is_some_socket),
            };
        }
        match FileKind::is_word(wanted) || FileKind::is_word(self.given) {
            true => FileKind::is_of(self.given, wanted).into(),
            false => self.is(wanted),
        }
    }

    /// Whether it begins with this text. `./` is the working directory.
    pub(super) fn starts_with(&self, wanted: &[u8]) -> Answer {
        let (wanted, is_here) = without_here(wanted);
        let begins = |path: &[u8], wanted: &[u8]| {
            (!is_here || are_alike(path, wanted)) && path.starts_with(wanted)
        };
        self.any(wanted, is_here, &begins, &anchored(wanted))
    }

    /// Whether the glob matches it. One that begins with `**` is of all folders, with `./**` of the
    /// working directory alone; no other wildcard stands for the root.
    pub(super) fn is_like(&self, glob: &[u8]) -> Answer {
        let (glob, is_here) = without_here(glob);
        if glob.starts_with(b"**") && !is_here {
            return self.any(glob, is_here, &|path, glob| path_glob(glob, path), glob);
        }
        let matches = |path: &[u8], glob: &[u8]| are_alike(path, glob) && path_glob(glob, path);
        self.any(glob, is_here, &matches, &anchored(glob))
    }

    /// A `..` is resolved as far as the text tells: `/usr/../etc` does not begin with `/usr/`. What
    /// is to be in the working directory is not told by a relative path, which may begin elsewhere.
    fn any(
        &self,
        wanted: &[u8],
        is_here: bool,
        matches: &dyn Fn(&[u8], &[u8]) -> bool,
        below: &[u8],
    ) -> Answer {
        let given = clean(self.given);
        if !is_here && !climbs(&given) && matches(&given, wanted) {
            return Answer::Yes;
        }
        match self.resolved() {
            Some(resolved) => matches(&without_parents(&resolved), below).into(),
            None => Answer::Unknown,
        }
    }

    /// Whether both lead to the same place.
    pub(super) fn meets(&self, other: &Self) -> Answer {
        match (self.resolved(), other.resolved()) {
            (Some(one), Some(other)) => (one == other).into(),
            (None, None) => match clean(self.given) == clean(other.given) {
                true => Answer::Yes,
                false => Answer::Unknown,
            },
            (Some(known), None) => {
                Answer::unless_more(false, ends_with(&known, &clean(other.given)))
            }
            (None, Some(known)) => {
                Answer::unless_more(false, ends_with(&known, &clean(self.given)))
            }
        }
    }
}

pub(super) fn is_absolute(path: &[u8]) -> bool {
    path.starts_with(b"/") || path == DIRECTORY || path.starts_with(b"$DIR/")
}

/// Returns the path without empty parts and `.`.
pub(super) fn clean(path: &[u8]) -> Vec<u8> {
    let parts = path.split(|byte| *byte == b'/');
    let parts: Vec<&[u8]> = parts
        .filter(|part| !part.is_empty() && *part != b".")
        .collect();
    let mut cleaned = match path.first() {
        Some(b'/') => b"/".to_vec(),
        _ => Vec::new(),
    };
    cleaned.extend_from_slice(&parts.join(&b'/'));
    match cleaned.is_empty() && !path.is_empty() {
        true => b".".to_vec(),
        false => cleaned,
    }
}

/// Whether both are from the root, or none is.
fn are_alike(one: &[u8], other: &[u8]) -> bool {
    is_absolute(one) == is_absolute(other)
}

/// A path that the author wrote, from the root.
fn from_directory(path: &[u8]) -> Vec<u8> {
    clean(&anchored(path))
}

/// Puts the working directory in front of a relative path or glob. The last slash stays, for a
/// pattern for beginnings.
pub(super) fn anchored(path: &[u8]) -> Cow<'_, [u8]> {
    let (path, _) = without_here(path);
    match is_absolute(path) {
        true => Cow::Borrowed(path),
        false => Cow::Owned([DIRECTORY, b"/", path].concat()),
    }
}

/// What a path or glob says behind `./`, and whether that stands there.
fn without_here(path: &[u8]) -> (&[u8], bool) {
    let mut rest = path;
    while let Some(behind) = rest.strip_prefix(b"./") {
        let slashes = behind.iter().take_while(|byte| **byte == b'/').count();
        rest = behind.get(slashes..).unwrap_or_default();
    }
    (rest, rest.len() < path.len())
}

/// Whether a path ends with these parts.
fn ends_with(path: &[u8], parts: &[u8]) -> bool {
    let parts = without_parents(parts);
    let before = path.strip_suffix(&*parts);
    before.is_some_and(|before| before.is_empty() || before.ends_with(b"/"))
}

/// Whether a part of a path is the folder above.
pub(crate) fn climbs(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|part| part == b"..")
}

/// Returns the path with each `..` resolved by its text. With a symbolic link on the way, the
/// kernel goes elsewhere.
fn without_parents(path: &[u8]) -> Cow<'_, [u8]> {
    if !climbs(path) {
        return Cow::Borrowed(path);
    }
    let mut kept: Vec<&[u8]> = Vec::new();
    for part in path.split(|byte| *byte == b'/') {
        match part {
            // What is above the working directory has no name here, and above the root is the root.
            b".."
                if kept
                    .last()
                    .is_none_or(|last| *last == DIRECTORY || *last == b"..") =>
            {
                kept.push(part);
            }
            b".." if kept.len() == 1 && kept.first().is_some_and(|first| first.is_empty()) => {}
            b".." => {
                kept.pop();
            }
            part => kept.push(part),
        }
    }
    let joined = kept.join(&b'/');
    Cow::Owned(match (joined.is_empty(), path.first()) {
        (true, Some(b'/')) => b"/".to_vec(),
        _ => joined,
    })
}
