//! Reads a word of a wish by what it names.

use super::calls::Reach;
use super::error::EventsError;
use super::filter;
use super::found::{Found, Sought};
use super::probes::ProbeWord;
use super::source::{self, NamedSource, Unreadable};
use super::terms::{TermError, Terms};
use perf_live::host::Catalogue;
use perf_live::units::Probe;
use perf_records::attr::Modes;
use syscall_model::names::Abi;
use syscall_model::select::{Selection, UnknownWord};

/// A word of the wish, taken apart.
pub(super) struct Word<'a> {
    pub(super) at: usize,
    word: &'a str,
    pub(super) name: &'a str,
    pub(super) shown: String,
    pub(super) terms: Terms,
    pub(super) modes: Modes,
    letters: (usize, &'a str),
    pub(super) probe: Option<Probe>,
    pub(super) filter: Option<&'a str>,
    source: Option<NamedSource>,
}

/// What a word names.
pub(super) enum Kind<'a> {
    Source(&'a NamedSource),
    Tracepoints,
    Probe,
    Calls,
}

impl Word<'_> {
    pub(super) fn kind(&self) -> Kind<'_> {
        let is_tracepoint =
            self.name.contains(':') && !self.name.trim_start_matches('!').starts_with('/');
        match &self.source {
            _ if self.probe.is_some() => Kind::Probe,
            Some(source) => Kind::Source(source),
            None if is_tracepoint => Kind::Tracepoints,
            None => Kind::Calls,
        }
    }

    /// No call has a hyphen in its name, as most other events have.
    pub(super) fn refuse_unknown(&self) -> Result<(), EventsError> {
        // A leading `?` allows the call to be absent.
        let name = self.name.strip_prefix('?').unwrap_or(self.name);
        let is_pattern = name.starts_with(['/', '!']) || name.contains(['*', '?', '[']);
        let is_call = is_pattern || !self.name.contains('-');
        if is_call {
            return Ok(());
        }
        let known: Vec<String> = source::names().collect();
        let known = known.iter().map(String::as_str);
        Err(EventsError::Unknown {
            at: self.at,
            name: self.name.to_owned(),
            nearest: crate::scenario::nearest(self.name, known).map(str::to_owned),
        })
    }

    /// The calls that it names.
    pub(super) fn calls(&self) -> Result<Selection, EventsError> {
        self.refuse_unknown()?;
        Selection::parse(&[self.name], Abi::native()).map_err(|unknown| self.no_call(unknown))
    }

    /// Refuses an unknown word; it may be a misspelt event of another kind.
    pub(super) fn no_call(&self, unknown: UnknownWord) -> EventsError {
        let known: Vec<String> = source::names().collect();
        let known = known.iter().map(String::as_str);
        match crate::scenario::nearest(self.name, known) {
            Some(near) if unknown.nearest.is_empty() => EventsError::Unknown {
                at: self.at,
                name: self.name.to_owned(),
                nearest: Some(near.to_owned()),
            },
            _ => EventsError::Syscall {
                at: (self.at, 0),
                unknown,
            },
        }
    }

    /// Refuses a term that has no effect on it.
    pub(super) fn refuse(&self, term: &str, why: &'static str) -> Result<(), EventsError> {
        let refused = self.terms.refuse(term, why);
        refused.map_err(|source| self.wrong(source))
    }

    /// Refuses letters for modes, which have no effect on it.
    pub(super) fn refuse_modes(&self, why: &'static str) -> Result<(), EventsError> {
        let (at, letters) = self.letters;
        let term = letters.to_owned();
        match self.modes == Modes::default() {
            true => Ok(()),
            false => Err(self.wrong(TermError::Misplaced { at, term, why })),
        }
    }

    /// The tracepoints or the probe that it names.
    pub(super) fn found(&self, catalogue: &dyn Catalogue) -> Result<Vec<Found>, EventsError> {
        let sought = Sought {
            at: self.at,
            name: self.name,
            probe: self.probe.as_ref(),
            filter: self.filter,
            check: filter::check,
            reach: Reach::Everything,
        };
        sought.find(catalogue)
    }

    /// What is wrong with it, as a whole.
    fn wrong(&self, source: TermError) -> EventsError {
        EventsError::Terms {
            at: self.at,
            name: self.word.to_owned(),
            source,
        }
    }
}

/// Takes a word apart; `group` are the letters of its group.
pub(super) fn take_apart<'a>(
    at: usize,
    word: &'a str,
    group: &'a str,
    filter: Option<&'a str>,
    catalogue: &dyn Catalogue,
) -> Result<Word<'a>, EventsError> {
    let probe = ProbeWord::first(word).map(|word| word.probe());
    let probe = probe.transpose().map_err(|source| EventsError::ProbeWord {
        at,
        word: word.to_owned(),
        source,
    })?;
    match source::read(word, group, catalogue) {
        Ok(read) => Ok(Word {
            probe,
            at,
            word,
            name: read.name,
            shown: read.shown,
            terms: read.terms,
            modes: read.modes,
            letters: read.letters,
            filter,
            source: read.source,
        }),
        Err(Unreadable::Terms(source)) => Err(EventsError::Terms {
            at,
            name: word.to_owned(),
            source,
        }),
        Err(Unreadable::NoSource { name, nearest, all }) => {
            match Selection::parse(&[&name], Abi::native()) {
                // A misspelt call, with terms that are right.
                Err(unknown) if nearest.is_none() && !unknown.nearest.is_empty() => {
                    let at = (at, 0);
                    Err(EventsError::Syscall { at, unknown })
                }
                _ => Err(EventsError::NoSource {
                    at,
                    name,
                    nearest,
                    all,
                }),
            }
        }
    }
}

/// The kernel filters tracepoints alone.
pub(super) fn refuse_filter(wanted: &Word<'_>) -> Result<(), EventsError> {
    match wanted.filter {
        None => Ok(()),
        Some(_) => Err(EventsError::NotFiltered {
            at: wanted.at,
            name: wanted.name.to_owned(),
        }),
    }
}
