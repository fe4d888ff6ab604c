//! Which calls are shown, by how they ended and by the paths and descriptors that they name.

use super::files::{FileKind, Lookup};
use super::kinds::ArgKind;
use super::waiting;
use super::{Call, Entry, Outcome, Signature};
use crate::memory::{Moment, State};
use std::collections::BTreeSet;

/// Which calls are shown. What cannot be known of a call does not exclude it: it is shown, and says
/// itself what is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Their outcomes.
    pub endings: Endings,
    /// What they name; nothing means all calls.
    pub paths: Paths,
    /// The descriptors that they use; `None` means all calls. A call that names a path of `paths`
    /// is shown as well, as with strace.
    pub descriptors: Option<Descriptors>,
}

/// Classes of outcomes, as `strace -e status=` has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endings {
    /// It returned, and not with an error.
    pub successful: bool,
    /// It returned an error, or a signal interrupted it.
    pub failed: bool,
    /// It had not returned when its thread, or the trace, ended.
    pub unfinished: bool,
    /// It was refused before it was made, and has no result.
    pub unavailable: bool,
}

/// Numbers of descriptors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Descriptors {
    /// Those that are named.
    pub numbers: BTreeSet<i32>,
    /// Whether all others are meant.
    pub are_negated: bool,
}

impl Choice {
    /// Whether a call is shown.
    #[must_use]
    pub fn admits(&self, call: &Call, signature: &Signature) -> bool {
        self.endings.admit(call) && self.is_about(call, signature) != Some(false)
    }

    fn is_about(&self, call: &Call, signature: &Signature) -> Option<bool> {
        // What something was done to was meant by a path, whatever name its file has here.
        let by_path = || match call.injected.is_nothing() {
            true => self.paths.are_named_by(call, signature),
            false => Some(true),
        };
        let Some(descriptors) = &self.descriptors else {
            return if self.paths.is_empty() {
                Some(true)
            } else {
                by_path()
            };
        };
        match descriptors.are_used_by(call, signature) {
            Some(true) => Some(true),
            other if self.paths.is_empty() => other,
            other => match by_path() {
                Some(false) => other,
                named => named,
            },
        }
    }
}

impl Default for Endings {
    fn default() -> Self {
        Self {
            successful: true,
            failed: true,
            unfinished: true,
            unavailable: true,
        }
    }
}

impl Endings {
    /// None of them: a call is shown only where its outcome is not known.
    pub const NONE: Self = Self {
        successful: false,
        failed: false,
        unfinished: false,
        unavailable: false,
    };

    fn admit(self, call: &Call) -> bool {
        match call.outcome {
            // Its other half is not in the records, so its outcome is not known.
            Outcome::Missing | Outcome::Untold { .. } => true,
            Outcome::NeverReturned => self.unfinished,
            Outcome::Refused { .. } => self.unavailable,
            _ if call.error().is_some() => self.failed,
            _ => self.successful,
        }
    }
}

impl Descriptors {
    /// Whether a call has one of them among its arguments; `None` where that cannot be known.
    #[must_use]
    pub fn are_used_by(&self, call: &Call, signature: &Signature) -> Option<bool> {
        if call.name().is_some_and(waiting::waits) {
            let waited_for = waiting::waited_for(call)?;
            return Some(waited_for.into_iter().any(|number| self.have(number)));
        }
        let is_descriptor = |kind| matches!(kind, ArgKind::Fd);
        let Some(args) = call.entry.args() else {
            let mut arguments = signature.arguments.iter();
            let may_use = arguments.any(|argument| is_descriptor(argument.kind));
            return (!may_use).then_some(false);
        };
        if call.name() == Some("close_range") {
            return Some(self.are_within(args[0] as u32..=args[1] as u32));
        }
        let meanings = signature.meanings(args);
        let number = |place: usize| args.get(place).copied().unwrap_or_default() as i32;
        let has_one = meanings
            .meant()
            .any(|(place, kind)| is_descriptor(kind) && self.have(number(place)));
        // Of a call that the table has no name for nothing is known.
        (has_one || call.name().is_some()).then_some(has_one)
    }

    /// Whether one of them is in a range.
    fn are_within(&self, range: std::ops::RangeInclusive<u32>) -> bool {
        let named = self
            .numbers
            .iter()
            .filter_map(|number| u32::try_from(*number).ok());
        let inside = named.filter(|number| range.contains(number)).count();
        match self.are_negated {
            true => range.end().saturating_sub(*range.start()) as usize >= inside,
            false => inside > 0,
        }
    }

    fn have(&self, number: i32) -> bool {
        number >= 0 && self.numbers.contains(&number) != self.are_negated
    }
}

/// Paths that calls may name.
///
/// They are compared by their text, made absolute, without `.` and `..`: that a path leads to a
/// file by a symbolic link is not known. So of a wanted path both its forms belong here, as written
/// and resolved. A word is compared with what a call was given, as it stands there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    wanted: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
}

impl Paths {
    /// Adds an absolute path.
    pub fn add(&mut self, path: &[u8]) {
        let path = normalise(path);
        if !self.wanted.contains(&path) {
            self.wanted.push(path);
        }
    }

    /// Adds a word, such as a relative path, that calls may be given in any working directory.
    pub fn add_word(&mut self, word: &[u8]) {
        self.words.push(word.to_vec());
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty() && self.words.is_empty()
    }

    /// Whether a call names one of them, by a path or by a descriptor that refers to it; `None`
    /// where that cannot be known.
    #[must_use]
    pub fn are_named_by(&self, call: &Call, signature: &Signature) -> Option<bool> {
        let Some(args) = call.entry.args() else {
            if call.entry == Entry::Uncorking {
                return self.path(call, 0);
            }
            let names = |kind| matches!(kind, ArgKind::Path | ArgKind::Fd);
            let may_name = signature
                .arguments
                .iter()
                .any(|argument| names(argument.kind));
            return (!may_name).then_some(false);
        };
        // Of a call that the table has no name for nothing is known, nor where it waits for what
        // was not read.
        let waits = call.name().is_some_and(waiting::waits);
        let waited_for = if waits {
            waiting::waited_for(call)
        } else {
            Some(Vec::new())
        };
        let mut is_certain = call.name().is_some() && waited_for.is_some();
        let meanings = signature.meanings(args);
        let of_arguments = meanings.meant().map(|(place, kind)| {
            let word = args.get(place).copied().unwrap_or_default();
            match kind {
                ArgKind::Path if word != 0 => self.path(call, place),
                ArgKind::Fd if word as i32 >= 0 => self.file(call.files.argument(place)),
                _ => Some(false),
            }
        });
        let waited_for = waited_for.unwrap_or_default().into_iter();
        let waited_for = waited_for.filter(|number| *number >= 0);
        let in_memory = waited_for.map(|number| self.file(call.files.in_memory(number)));
        for is_named in of_arguments.chain(in_memory) {
            match is_named {
                Some(true) => return Some(true),
                Some(false) => {}
                None => is_certain = false,
            }
        }
        is_certain.then_some(false)
    }

    fn path(&self, call: &Call, place: usize) -> Option<bool> {
        let piece = call.memory.piece(place, Moment::Enter);
        let given = piece.filter(|piece| piece.state == State::Whole);
        let given = given.map(|piece| &*piece.bytes);
        if given.is_some_and(|given| self.words.iter().any(|word| word == given)) {
            return Some(true);
        }
        let path = call.files.path(place).or(given)?;
        let is_one = self.is_one(path);
        // What was not read may be one of the words.
        is_one.filter(|is_one| *is_one || given.is_some() || self.words.is_empty())
    }

    fn file(&self, file: Lookup<'_>) -> Option<bool> {
        let file = match file {
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
