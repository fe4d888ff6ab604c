//! Reads words that are probes.
//!
//! ```text
//! word = target [ "/" terms "/" ] { blank argument }
//! ```

use super::error::EventsError;
use perf_live::host::{Catalogue, HostError};
use perf_live::units::{ENTRIES, Probe, ProbeKind, ProbeSyntax, VFS_GETNAME};
use perf_records::format::Format;
use perf_records::units::TracepointName;
use std::sync::Arc;

/// A word in the form of a probe, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProbeWord<'a> {
    /// With the path and the symbol.
    pub(super) target: &'a str,
    /// The text from its first slash after the symbol to the second one; up to the end if that is
    /// missing.
    pub(super) terms: Option<&'a str>,
    /// The rest of the word.
    arguments: &'a str,
    /// The length of the whole in bytes.
    pub(super) length: usize,
}

impl<'a> ProbeWord<'a> {
    /// Returns the first word of a list if it has the form of a probe. Its path has neither a comma
    /// nor a blank.
    pub(super) fn first(list: &'a str) -> Option<Self> {
        if !Probe::is_meant(list) {
            return None;
        }
        let ends = |c: char| c == ',' || c.is_whitespace();
        let head = list.get(..list.find(ends).unwrap_or(list.len()))?;
        // A path has slashes, and ends before a colon.
        let colon = head.rfind(':').unwrap_or(0);
        let slash = head.get(colon..).and_then(|symbol| symbol.find('/'));
        let (target, terms) = match slash {
            None => (head, None),
            Some(at) => {
                let at = colon.saturating_add(at);
                let behind = list.get(at..)?;
                let close = behind.get(1..).and_then(|inner| inner.find('/'));
                let length = close.map_or(behind.len(), |close| close.saturating_add(2));
                (list.get(..at)?, behind.get(..length))
            }
        };
        let before = target.len() + terms.map_or(0, str::len);
        let rest = list.get(before..)?;
        let arguments = rest.get(..rest.find(',').unwrap_or(rest.len()))?;
        Some(Self {
            target,
            terms,
            arguments,
            length: before + arguments.len(),
        })
    }

    /// Reads it as a probe.
    pub(super) fn probe(&self) -> Result<Probe, ProbeSyntax> {
        let terms = self.terms.map_or(0, |terms| terms.chars().count());
        let before = self.target.chars().count();
        let without = format!("{}{}", self.target, self.arguments);
        Probe::parse(&without).map_err(|wrong| match wrong.at > before {
            true => wrong.behind(terms),
            false => wrong,
        })
    }
}

/// Returns the probe that a name stands for, if it is no tracepoint of this kernel.
///
/// # Errors
/// Where the kernel cannot be asked.
pub(super) fn stands_for(
    name: &str,
    catalogue: &dyn Catalogue,
) -> Result<Option<Probe>, HostError> {
    let Some(name) = TracepointName::parse(name).filter(|name| name.as_str() == VFS_GETNAME) else {
        return Ok(None);
    };
    match catalogue.format(&name) {
        Err(HostError::NoTracepoint { .. }) => Ok(Some(Probe::vfs_getname())),
        format => format.map(|_| None),
    }
}

/// Returns the event of the entries of the function whose returns an event is of, if there is one.
/// Without a probe, its name tells; a recording of another tool has none.
///
/// # Errors
/// Where it cannot be made.
pub(super) fn entries(
    at: usize,
    (name, probe): (&str, Option<&Probe>),
    catalogue: &dyn Catalogue,
) -> Result<Option<(String, Arc<Format>)>, EventsError> {
    let probe = probe.map(Probe::of_entries);
    let (name, format) = match (probe, name.split_once(':')) {
        (Some(None), _) | (None, None) => return Ok(None),
        (Some(Some(probe)), _) => (probe.name.clone(), ask(at, &probe, catalogue)),
        (None, Some((system, name))) if system == ProbeKind::Uretprobe.word() => {
            let name = format!("{ENTRIES}:{name}");
            let format = TracepointName::parse(&name).map(|name| catalogue.format(&name));
            match format {
                Some(format) => (name, format.map_err(EventsError::from)),
                None => return Ok(None),
            }
        }
        (None, Some(_)) => return Ok(None),
    };
    match format {
        Err(
            EventsError::Probe {
                source: HostError::NoProbes { .. },
                ..
            }
            | EventsError::Host(HostError::NoTracepoint { .. }),
        ) => Ok(None),
        format => Ok(Some((name, format?))),
    }
}

/// Returns the format of a probe's event.
pub(super) fn ask(
    at: usize,
    probe: &Probe,
    catalogue: &dyn Catalogue,
) -> Result<Arc<Format>, EventsError> {
    let asked = catalogue.probe(probe);
    asked.map_err(|source| EventsError::Probe {
        at,
        probe: probe.to_string(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_is_a_word_with_its_path_its_terms_and_its_arguments() {
        for (list, target, terms, length) in [
            ("uprobe:/a/b:f", "uprobe:/a/b:f", None, 13),
            ("uprobe:/a/b:f,read", "uprobe:/a/b:f", None, 13),
            (
                "uprobe:/a/b:n::f/nr=1,call-graph=fp/ p=+0(%di):b1@0/8 q,x",
                "uprobe:/a/b:n::f",
                Some("/nr=1,call-graph=fp/"),
                55,
            ),
            ("kprobe:f/nr=1", "kprobe:f", Some("/nr=1"), 13),
        ] {
            let word = ProbeWord::first(list).unwrap();
            assert_eq!((word.target, word.terms), (target, terms), "{list}");
            assert_eq!(word.length, length, "{list}");
        }
        assert_eq!(ProbeWord::first("sched:x/nr=1/"), None);
    }

    #[test]
    fn what_is_wrong_behind_terms_is_at_its_character() {
        let word = "uprobe:/b:f/nr=1/ p=+0(%di";
        let wrong = ProbeWord::first(word).unwrap().probe().unwrap_err();
        assert_eq!(wrong.to_string(), "at character 27: `)` belongs here");
        let word = ProbeWord::first("uprobe:f/nr=1/").unwrap();
        let wrong = word.probe().unwrap_err();
        assert_eq!(wrong.at, 8);
    }
}
