//! Which calls are shown, by how they ended and by the paths that they name.

use super::files::{FileKind, Lookup};
use super::kinds::ArgKind;
use super::{Call, Outcome, Signature};
use crate::memory::{Moment, State};

/// Which calls are shown. What cannot be known of a call does not exclude it: it is shown, and says
/// itself what is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Their outcomes.
    pub ending: Ending,
    /// What they name; nothing means all calls.
    pub paths: Paths,
}

/// A class of outcomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// In whatever way, or not at all.
    #[default]
    Any,
    /// It returned, and not with an error.
    Succeeded,
    /// It returned an error, or a signal interrupted it.
    Failed,
}

impl Choice {
    /// Whether a call is shown.
    #[must_use]
    pub fn admits(&self, call: &Call, signature: &Signature) -> bool {
        self.ending.admits(call)
            && (self.paths.is_empty() || self.paths.are_named_by(call, signature) != Some(false))
    }
}

impl Ending {
    fn admits(self, call: &Call) -> bool {
        match (self, call.outcome) {
            // Its other half is not in the records, so its outcome is not known.
            (Self::Any, _) | (_, Outcome::Missing | Outcome::Untold { .. }) => true,
            (_, Outcome::NeverReturned | Outcome::Refused { .. }) => false,
            (Self::Succeeded, _) => call.error().is_none(),
            (Self::Failed, _) => call.error().is_some(),
        }
    }
}

/// Paths that calls may name.
///
/// They are compared by their text, made absolute, without `.` and `..`: that a path leads to a
/// file by a symbolic link is not known. So of a wanted path both its forms belong here, as written
/// and resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    wanted: Vec<Vec<u8>>,
}

impl Paths {
    /// Adds an absolute path.
    pub fn add(&mut self, path: &[u8]) {
        let path = normalise(path);
        if !self.wanted.contains(&path) {
            self.wanted.push(path);
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Whether a call names one of them, by a path or by a descriptor that refers to it; `None`
    /// where that cannot be known.
    #[must_use]
    pub fn are_named_by(&self, call: &Call, signature: &Signature) -> Option<bool> {
        let Some(args) = call.entry.args() else {
            let names = |kind| matches!(kind, ArgKind::Path | ArgKind::Fd);
            let may_name = signature
                .arguments
                .iter()
                .any(|argument| names(argument.kind));
            return (!may_name).then_some(false);
        };
        // Of a call that the table has no name for nothing is known.
        let mut is_certain = call.name().is_some();
        for (place, kind) in signature.meanings(args).shown() {
            let word = args.get(place).copied().unwrap_or_default();
            let is_named = match kind {
                ArgKind::Path if word != 0 => self.path(call, place),
                ArgKind::Fd if word as i32 >= 0 => self.descriptor(call, place),
                _ => Some(false),
            };
            match is_named {
                Some(true) => return Some(true),
                Some(false) => {}
                None => is_certain = false,
            }
        }
        is_certain.then_some(false)
    }

    fn path(&self, call: &Call, place: usize) -> Option<bool> {
        if let Some(path) = call.files.path(place) {
            return self.is_one(path);
        }
        let piece = call.memory.piece(place, Moment::Enter);
        let piece = piece.filter(|piece| piece.state == State::Whole)?;
        self.is_one(&piece.bytes)
    }

    fn descriptor(&self, call: &Call, place: usize) -> Option<bool> {
        let file = match call.files.argument(place) {
            Lookup::Open(file) => file,
            Lookup::Closed => return Some(false),
            Lookup::Unknown | Lookup::Untracked => return None,
        };
        match &file.kind {
            FileKind::Path(path) => self.is_one(path),
            FileKind::Given(name) if name.starts_with(b"/") => self.is_one(name),
            // `pipe:[4026]`, as the kernel names what has no path; any other name tells nothing of
            // one.
            FileKind::Given(name) => name.ends_with(b"]").then_some(false),
            FileKind::Unread => None,
            FileKind::Unnamed(_)
            | FileKind::Pipe(_)
            | FileKind::Socket(_)
            | FileKind::Memory(_)
            | FileKind::Queue(_)
            | FileKind::Object(_) => Some(false),
        }
    }

    /// Whether a path is one of them; of a relative one that is only known where it cannot be.
    fn is_one(&self, path: &[u8]) -> Option<bool> {
        let text = normalise(path);
        if path.starts_with(b"/") {
            return Some(self.wanted.contains(&text));
        }
        let leads_up = path.split(|byte| *byte == b'/').any(|part| part == b"..");
        let may_be = |wanted: &Vec<u8>| leads_up || wanted.ends_with(&text);
        // An empty path means the descriptor before it.
        (path.is_empty() || !self.wanted.iter().any(may_be)).then_some(false)
    }
}

/// A path as from the root, without empty parts, `.` and `..`.
fn normalise(path: &[u8]) -> Vec<u8> {
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    let mut normal = vec![b'/'];
    normal.extend(parts.join(&b'/'));
    normal
}

#[cfg(test)]
mod tests;
