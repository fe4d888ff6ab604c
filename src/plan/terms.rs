//! Reads the terms between slashes after an event's name: how this event is recorded, in place of
//! what holds for all (`tools/perf/Documentation/perf-record.txt`, "a comma separated list of
//! terms").
//!
//! ```text
//! event = name [ "/" [ term { "," term } ] "/" ]
//! term  = word | word "=" value
//! ```

use crate::scenario::nearest;
use perf_records::attr::{Chain, Sampling};

/// A term.
#[derive(Debug)]
struct Term {
    name: &'static str,
    /// Its subject: an event has at most one term for each.
    subject: &'static str,
    /// What it takes.
    takes: &'static str,
}

const fn term(name: &'static str, subject: &'static str, takes: &'static str) -> Term {
    Term {
        name,
        subject,
        takes,
    }
}

const TERMS: &[Term] = &[
    term("overwrite", "ring", "no value"),
    term("no-overwrite", "ring", "no value"),
    term("call-graph", "chain", "`fp`, `dwarf` or `no`"),
    term("stack-size", "stack", "a number of bytes, 65528 at most"),
    term("max-stack", "frames", "a number of frames, 65535 at most"),
    term("nr", "number", "a number of records"),
    term("period", "sampling", "a count"),
    term("freq", "sampling", "a number of samples a second"),
    term("name", "name", "a name"),
    term("inherit", "children", "no value"),
    term("no-inherit", "children", "no value"),
];

/// Why terms cannot be; `at` is the character within the event as it is written, from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TermError {
    /// The slash at the end is missing.
    #[error("at character {at}: terms begin here, and no `/` ends them")]
    Open {
        /// The character.
        at: usize,
    },
    /// There is no such term.
    #[error("at character {at}: there is no term `{term}`")]
    Unknown {
        /// The character.
        at: usize,
        /// As written.
        term: String,
        /// The nearest that there is.
        nearest: Option<String>,
        /// What there is, in words.
        all: String,
    },
    /// There is no such modifier, or it means nothing here.
    #[error("at character {at}: the modifier `{letter}` cannot be here{}", .why.map(|why| format!(": {why}")).unwrap_or_default())]
    Modifier {
        /// The character.
        at: usize,
        /// The letter.
        letter: char,
        /// Why it cannot be here; `None` for an unknown letter.
        why: Option<&'static str>,
    },
    /// The number has more bits than there are for it.
    #[error("at character {at}: `{term}` is {most:#x} at most")]
    TooLarge {
        /// The character.
        at: usize,
        /// The term.
        term: String,
        /// The greatest number.
        most: u64,
    },
    /// Something else stands there.
    #[error("at character {at}: expected {expected}")]
    Place {
        /// The character.
        at: usize,
        /// What is to stand there.
        expected: &'static str,
    },
    /// The term takes another value, or none.
    #[error("at character {at}: `{term}` takes {expected}")]
    Value {
        /// The character.
        at: usize,
        /// The term.
        term: String,
        /// What it takes.
        expected: &'static str,
    },
    /// Two terms say what only one can.
    #[error("at character {at}: `{term}` stands behind `{other}`, and one of them is enough")]
    Together {
        /// The character.
        at: usize,
        /// The later one.
        term: &'static str,
        /// The earlier one.
        other: &'static str,
    },
    /// The term says something that this kind of event does not have.
    #[error("at character {at}: `{term}` cannot be here: {why}")]
    Misplaced {
        /// The character.
        at: usize,
        /// The term.
        term: String,
        /// The reason.
        why: &'static str,
    },
}

impl TermError {
    /// What was meant, perhaps.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown {
                nearest: Some(nearest),
                ..
            } => Some(format!("did you mean `{nearest}`?")),
            Self::Unknown { all, .. } => Some(all.clone()),
            Self::Modifier { why: None, .. } => Some(
                "modifiers are u (user mode), k (kernel mode), h (hypervisor), and p, pp, ppp (a more precise address)".to_owned(),
            ),
            _ => None,
        }
    }
}

/// What `call-graph=` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChainTerm {
    No,
    FramePointers,
    Stack,
}

/// Returns a size of the stack's copy as the kernel takes it: a multiple of 8.
fn stack_size(bytes: u64) -> Option<u32> {
    let rounded = bytes.checked_next_multiple_of(8)?;
    let size = u32::try_from(rounded).ok()?;
    (size <= Chain::MOST_STACK).then_some(size)
}

/// Reads `fp`, `dwarf` or `dwarf,BYTES`, as perf's `--call-graph` takes them; `None` for anything
/// else.
#[must_use]
pub fn call_graph(text: &str) -> Option<Chain> {
    let user_stack = match text.split_once(',') {
        Some(("dwarf", size)) => stack_size(size.parse().ok().filter(|size| *size > 0)?)?,
        None if text == "dwarf" => Chain::STACK,
        None if text == "fp" => 0,
        _ => return None,
    };
    Some(Chain {
        user_stack,
        ..Chain::default()
    })
}

/// What an event's terms say; `None` is for what all events have.
#[derive(Clone, Debug, Default)]
pub(super) struct Terms {
    pub(super) overwrite: Option<bool>,
    pub(super) call_chain: Option<ChainTerm>,
    pub(super) stack_size: Option<u32>,
    pub(super) max_stack: Option<u16>,
    pub(super) at_most: Option<u64>,
    pub(super) sampling: Option<Sampling>,
    pub(super) name: Option<String>,
    pub(super) inherit: Option<bool>,
    /// The terms that were written, and where.
    places: Vec<(&'static Term, usize)>,
}

/// The names of all terms.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    TERMS.iter().map(|term| term.name)
}

/// Calls `add` with each term of a text and with its place; the text begins at this character.
pub(super) fn each(
    mut at: usize,
    text: &str,
    mut add: impl FnMut(usize, &str) -> Result<(), TermError>,
) -> Result<(), TermError> {
    for term in text.split(',') {
        if !term.is_empty() {
            add(at, term)?;
        }
        at = at.saturating_add(term.chars().count()).saturating_add(1);
    }
    Ok(())
}

impl Terms {
    /// Returns the event's call chain; `default` is that of all events. As in perf, a term for the
    /// depth of a chain or for the size of the stack's copy asks for a chain.
    pub(super) fn chain(&self, default: Option<Chain>) -> Option<Chain> {
        let mut chain = match (self.call_chain, self.stack_size, self.max_stack) {
            (Some(ChainTerm::No), ..) => return None,
            (Some(ChainTerm::FramePointers), ..) => Chain::default(),
            (Some(ChainTerm::Stack), ..) | (None, Some(_), _) => Chain {
                user_stack: Chain::STACK,
                ..Chain::default()
            },
            (None, None, Some(_)) => default.unwrap_or_default(),
            (None, None, None) => default?,
        };
        if let (Some(size), true) = (self.stack_size, chain.user_stack > 0) {
            chain.user_stack = size;
        }
        chain.max_stack = self.max_stack.unwrap_or(chain.max_stack);
        Some(chain)
    }

    /// Returns the names of the written terms.
    pub(super) fn said(&self) -> impl Iterator<Item = &'static str> {
        self.places.iter().map(|(term, _)| term.name)
    }

    /// Refuses a term that has no effect on what is recorded.
    pub(super) fn refuse(&self, name: &str, why: &'static str) -> Result<(), TermError> {
        match self.places.iter().find(|(term, _)| term.name == name) {
            Some((term, at)) => Err(TermError::Misplaced {
                at: *at,
                term: term.name.to_owned(),
                why,
            }),
            None => Ok(()),
        }
    }

    pub(super) fn add(&mut self, at: usize, text: &str) -> Result<(), TermError> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let Some(term) = TERMS.iter().find(|term| term.name == name) else {
            return Err(TermError::Unknown {
                at,
                term: name.to_owned(),
                nearest: nearest(name, names()).map(str::to_owned),
                all: format!("terms are {}", names().collect::<Vec<_>>().join(", ")),
            });
        };
        let mut others = self.places.iter();
        if let Some((other, _)) = others.find(|(other, _)| other.subject == term.subject) {
            return Err(TermError::Together {
                at,
                term: term.name,
                other: other.name,
            });
        }
        self.set(name, value).ok_or_else(|| TermError::Value {
            at,
            term: term.name.to_owned(),
            expected: term.takes,
        })?;
        self.places.push((term, at));
        Ok(())
    }

    /// `None` for a value that the term does not take.
    fn set(&mut self, term: &str, value: Option<&str>) -> Option<()> {
        let number = || value?.parse::<u64>().ok().filter(|number| *number > 0);
        match (term, value) {
            ("overwrite" | "no-overwrite", None) => self.overwrite = Some(term == "overwrite"),
            ("inherit" | "no-inherit", None) => self.inherit = Some(term == "inherit"),
            ("call-graph", Some("fp")) => self.call_chain = Some(ChainTerm::FramePointers),
            ("call-graph", Some("dwarf")) => self.call_chain = Some(ChainTerm::Stack),
            ("call-graph", Some("no")) => self.call_chain = Some(ChainTerm::No),
            ("stack-size", _) => self.stack_size = Some(stack_size(number()?)?),
            ("max-stack", _) => self.max_stack = Some(u16::try_from(number()?).ok()?),
            ("nr", _) => self.at_most = Some(number()?),
            ("period", _) => self.sampling = Some(Sampling::Period(number()?)),
            ("freq", _) => self.sampling = Some(Sampling::Frequency(number()?)),
            ("name", Some(name)) if !name.is_empty() => {
                self.name = Some(name.to_owned());
            }
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::source::{self, Unreadable};
    use perf_live::host::Host;
    use std::path::Path;

    /// Reads as on an unknown machine.
    fn split(word: &str) -> Result<(&str, Terms), TermError> {
        match source::read(word, "", &Host::at(Path::new("/nonexistent"))) {
            Ok(read) => Ok((read.name, read.terms)),
            Err(Unreadable::Terms(error)) => Err(error),
            Err(Unreadable::NoSource { name, .. }) => panic!("{name}"),
        }
    }

    fn refused(word: &str) -> (String, Option<String>) {
        let error = split(word).unwrap_err();
        (error.to_string(), error.hint())
    }

    #[test]
    fn terms_say_what_holds_for_one_event() {
        let word = "sched:sched_switch/no-overwrite,call-graph=fp,max-stack=3,nr=7,freq=5,name=x,no-inherit/";
        let (name, terms) = split(word).unwrap();
        assert_eq!(name, "sched:sched_switch");
        assert_eq!(
            (terms.overwrite, terms.call_chain, terms.inherit),
            (Some(false), Some(ChainTerm::FramePointers), Some(false))
        );
        assert_eq!((terms.max_stack, terms.at_most), (Some(3), Some(7)));
        assert_eq!(terms.sampling, Some(Sampling::Frequency(5)));
        assert_eq!(terms.name.as_deref(), Some("x"));
        for (word, name) in [("/a/b", "/a/b"), ("!/a/", "!/a/"), ("read//", "read")] {
            let (split, terms) = split(word).unwrap();
            assert_eq!((split, terms.places.is_empty()), (name, true));
        }
    }

    #[test]
    fn terms_say_what_a_call_chain_is_made_of() {
        let chain = |user_stack, max_stack| Chain {
            user_stack,
            max_stack,
            user_only: false,
        };
        for (word, default, expected) in [
            ("cs", None, None),
            ("cs", Some(chain(64, 5)), Some(chain(64, 5))),
            ("cs/call-graph=no/", Some(chain(64, 5)), None),
            ("cs/call-graph=fp/", Some(chain(64, 5)), Some(chain(0, 0))),
            ("cs/call-graph=dwarf/", None, Some(chain(8192, 0))),
            (
                "cs/call-graph=dwarf,stack-size=1001/",
                None,
                Some(chain(1008, 0)),
            ),
            ("cs/stack-size=16/", None, Some(chain(16, 0))),
            ("cs/max-stack=3/", None, Some(chain(0, 3))),
            ("cs/max-stack=3/", Some(chain(64, 5)), Some(chain(64, 3))),
        ] {
            assert_eq!(split(word).unwrap().1.chain(default), expected, "{word}");
        }
        for (text, expected) in [
            ("fp", Some(chain(0, 0))),
            ("dwarf", Some(chain(8192, 0))),
            ("dwarf,16384", Some(chain(16384, 0))),
            ("dwarf,65536", None),
            ("dwarf,0", None),
            ("fp,1", None),
            ("lbr", None),
        ] {
            assert_eq!(call_graph(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place_and_what_was_meant() {
        for (word, said, hint) in [
            (
                "a:b/nr=1,max-stak=3/",
                "at character 10: there is no term `max-stak`",
                "did you mean `max-stack`?",
            ),
            (
                "cpu-clock/x/",
                "at character 11: there is no term `x`",
                "terms are overwrite, no-overwrite, call-graph, stack-size, max-stack, nr, period, freq, name, inherit, no-inherit",
            ),
        ] {
            assert_eq!(refused(word), (said.to_owned(), Some(hint.to_owned())));
        }
        for (word, said) in [
            (
                "cs/period=1",
                "at character 3: terms begin here, and no `/` ends them",
            ),
            (
                "cs/period=1/x",
                "at character 13: the modifier `x` cannot be here",
            ),
            (
                "cs/period=1,freq=2/",
                "at character 13: `freq` stands behind `period`, and one of them is enough",
            ),
            (
                "cs/overwrite,no-overwrite/",
                "at character 14: `no-overwrite` stands behind `overwrite`, and one of them is enough",
            ),
            ("cs/period=0/", "at character 4: `period` takes a count"),
            (
                "cs/overwrite=1/",
                "at character 4: `overwrite` takes no value",
            ),
            (
                "cs/call-graph=lbr/",
                "at character 4: `call-graph` takes `fp`, `dwarf` or `no`",
            ),
            (
                "cs/stack-size=65536/",
                "at character 4: `stack-size` takes a number of bytes, 65528 at most",
            ),
            (
                "cs/max-stack=65536/",
                "at character 4: `max-stack` takes a number of frames, 65535 at most",
            ),
            ("cs/nr/", "at character 4: `nr` takes a number of records"),
            ("cs/name=/", "at character 4: `name` takes a name"),
        ] {
            assert_eq!(refused(word).0, said, "{word}");
        }
    }
}
