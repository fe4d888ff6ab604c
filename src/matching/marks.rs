//! Marks: moments of a run, each told by a deed that occurs exactly once.

use super::answer::Answer;
use super::candidates::meant;
use super::order::Scene;
use super::{Matcher, words};
use crate::trace::{Deed, Value};

/// What a mark is.
#[derive(Clone, Debug)]
pub enum Mark {
    /// A write of this text, without a line feed at its end.
    Written(Vec<u8>),
    /// A deed.
    Step(Matcher),
}

/// The calls that write a mark.
pub const MARKING: [&str; 2] = ["write", "pwrite64"];

/// Why there is no such moment, or why it is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unmarked {
    /// It did not occur, or more than once.
    Not(String),
    /// It depends on values that were not read.
    Unknown(String),
}

impl Mark {
    /// Returns the one deed that is the mark.
    ///
    /// # Errors
    /// [`Unmarked`].
    pub fn find<'a>(&self, scene: &Scene<'a>) -> Result<&'a Deed, Unmarked> {
        self.one_of(&self.all(scene))
    }

    /// Returns the first deed that is the mark.
    ///
    /// # Errors
    /// [`Unmarked`].
    pub fn find_first<'a>(&self, scene: &Scene<'a>) -> Result<&'a Deed, Unmarked> {
        let found = self.all(scene);
        let first = found.iter().min_by_key(|(deed, _)| deed.entered);
        self.one_of(&Vec::from_iter(first.copied()))
    }

    fn one_of<'a>(&self, found: &[(&'a Deed, Answer)]) -> Result<&'a Deed, Unmarked> {
        let of = |wanted| {
            let found = found.iter().filter(move |(_, answer)| *answer == wanted);
            found.map(|(deed, _)| *deed)
        };
        let certain: Vec<&Deed> = of(Answer::Yes).collect();
        match (certain.as_slice(), of(Answer::Unknown).next()) {
            ([_, _, ..], _) => Err(Unmarked::Not(format!(
                "{self} came {} times: {}",
                certain.len(),
                by_whom(&certain)
            ))),
            (_, Some(deed)) => Err(Unmarked::Unknown(format!(
                "whether {self} came cannot be told: what `{}` of {} was given was not read",
                deed.name, deed.task
            ))),
            ([deed], None) => Ok(*deed),
            ([], None) => Err(Unmarked::Not(format!("{self} never came"))),
        }
    }

    /// Returns all deeds that are, or may be, the mark.
    fn all<'a>(&self, scene: &Scene<'a>) -> Vec<(&'a Deed, Answer)> {
        match self {
            Self::Step(matcher) => {
                let meant = meant(scene, matcher).into_iter();
                let deed = |place: usize| scene.deeds.get(place).copied();
                meant
                    .filter_map(|found| Some((deed(found.deed)?, found.answer)))
                    .collect()
            }
            Self::Written(text) => {
                let places = MARKING.iter().flat_map(|name| scene.named(name));
                let deeds = places.filter_map(|place| scene.deeds.get(*place).copied());
                let answered = deeds.map(|deed| (deed, writes(deed, text)));
                answered
                    .filter(|(_, answer)| *answer != Answer::No)
                    .collect()
            }
        }
    }
}

/// Whether a write of this length may be a mark: with its line feed or without.
#[must_use]
pub fn may_mark(text: &[u8], length: u64) -> bool {
    let bytes = text.len() as u64;
    length == bytes || length == bytes + 1
}

fn writes(deed: &Deed, text: &[u8]) -> Answer {
    let length = deed.part("count").map(|part| part.value.clone());
    let may_be = match length {
        Some(Value::Number(length)) => {
            u64::try_from(length).is_ok_and(|length| may_mark(text, length))
        }
        _ => true,
    };
    let written = deed.part("buf").map(|part| part.value.clone());
    match written {
        _ if !may_be => Answer::No,
        Some(Value::Bytes { bytes, is_cut }) => {
            let is_it = bytes.strip_suffix(b"\n").unwrap_or(&bytes) == text;
            Answer::unless_more(is_it && !is_cut, is_cut)
        }
        Some(Value::Nothing | Value::Never) => Answer::No,
        _ => Answer::Unknown,
    }
}

/// Returns `2 of P1, 1 of P3.T2`.
fn by_whom(deeds: &[&Deed]) -> String {
    let mut who: Vec<(String, usize)> = Vec::new();
    for deed in deeds {
        let name = deed.task.to_string();
        match who.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => who.push((name, 1)),
        }
    }
    let who = who.iter().map(|(name, count)| format!("{count} of {name}"));
    who.collect::<Vec<_>>().join(", ")
}

impl std::fmt::Display for Mark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Written(text) => write!(f, "the mark \"{}\"", text.escape_ascii()),
            Self::Step(matcher) => write!(f, "the mark `{}`", words::of_matcher(matcher)),
        }
    }
}
