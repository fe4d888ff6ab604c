//! Reads a word that is neither a tracepoint nor a call, in the syntax of perf
//! (`tools/perf/util/parse-events.y`).
//!
//! ```text
//! event     = name [ "/" terms "/" ] [ [ ":" ] modifiers ]
//! name      = software event | hardware event | cache event | "r" hex | source of sysfs
//! memory    = "mem:" address [ "/" length ] [ ":" access ] [ ":" modifiers ]
//! modifiers = { "u" | "k" | "h" | "p" }
//! ```

mod breakpoint;
pub(super) mod hardware;
mod pmu;
#[cfg(test)]
mod tests;

use super::error::EventsError;
use super::probes::ProbeWord;
use super::terms::{self, TermError, Terms};
use crate::scenario::nearest;
use perf_live::events::EventRequest;
use perf_live::host::Catalogue;
use perf_live::units::{SoftwareEvent, SoftwareKind, read_modifiers};
use perf_records::attr::{Attr, Modes, Source};
use perf_records::units::Cpu;
use syscall_model::names::{self, Abi};
use syscall_model::select::Selection;

const MEMORY: &str = "mem:";

/// A word, taken apart.
#[derive(Clone, Debug)]
pub(super) struct Word<'a> {
    /// The name without terms and modifiers.
    pub(super) name: &'a str,
    /// Its name in reports: as written, without the terms that say how it is recorded.
    pub(super) shown: String,
    /// The terms that say how it is recorded.
    pub(super) terms: Terms,
    /// The modes of the processor that it counts in.
    pub(super) modes: Modes,
    /// The letters of these modes, its own or its group's, and the character where they begin.
    pub(super) letters: (usize, &'a str),
    /// The source; `None` for tracepoints and calls.
    pub(super) source: Option<NamedSource>,
}

/// A source of events that has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedSource {
    /// The kernel's numbers.
    pub(super) source: Source,
    /// The unit of its counts.
    pub(super) unit: Option<Unit>,
    /// The CPUs on which it is opened for all tasks, if it cannot count for a single one.
    pub(super) for_all_on: Option<Vec<Cpu>>,
}

/// What a source says of its counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// The factor of its counts.
    pub scale: Option<String>,
    /// The unit, after that.
    pub name: Option<String>,
}

/// Why a word names no event.
#[derive(Debug)]
pub(super) enum Unreadable {
    /// A term in it is wrong.
    Terms(TermError),
    /// The machine has no source of this name.
    NoSource {
        name: String,
        nearest: Option<String>,
        all: String,
    },
}

impl From<TermError> for Unreadable {
    fn from(error: TermError) -> Self {
        Self::Terms(error)
    }
}

/// Takes a word apart. `group` are the letters of its group, which hold for each member.
pub(super) fn read<'a>(
    word: &'a str,
    group: &'a str,
    catalogue: &dyn Catalogue,
) -> Result<Word<'a>, Unreadable> {
    let parts = match word.starts_with(MEMORY) {
        true => memory(word)?,
        false => parts(word)?,
    };
    let Parts {
        name,
        terms: text,
        letters,
        source,
    } = parts;
    let name = match SoftwareEvent::split(name) {
        (bare, None) if SoftwareKind::parse(bare).is_some() => bare,
        _ => name,
    };
    let mut terms = Terms::default();
    let source = match (source, text) {
        (Some(source), _) => Some(source),
        (None, None) => plain(name),
        (None, Some((at, text))) => match (plain(name), catalogue.source(name)) {
            (None, Some(of)) => Some(pmu::read(&of, at, text, &mut terms)?),
            (None, None) if !is_known(name) => return Err(no_source(name, catalogue)),
            (plain, _) => {
                terms::each(at, text, |at, term| terms.add(at, term))?;
                plain
            }
        },
    };
    let mut modes = Modes::default();
    let (at, letters) = letters.unwrap_or_default();
    for (from, letters) in [(None, group), (Some(at), letters)] {
        read_modifiers(letters, &mut modes).map_err(|wrong| TermError::Modifier {
            at: from.map_or(1, |from| from + wrong.at),
            letter: wrong.letter,
            why: wrong.why,
        })?;
    }
    let said = match letters {
        "" => (1, group),
        letters => (at, letters),
    };
    if modes != Modes::default() {
        let (at, term) = (said.0, said.1.to_owned());
        mean_something(name, source.as_ref(), modes).map_err(|why| TermError::Misplaced {
            at,
            term,
            why,
        })?;
    }
    let is_of_sysfs = text.is_some() && plain(name).is_none() && source.is_some();
    let mut shown = if is_of_sysfs { word } else { name }.to_owned();
    if !is_of_sysfs && !letters.is_empty() {
        shown = format!("{name}:{letters}");
    }
    Ok(Word {
        name,
        shown,
        terms,
        modes,
        letters: said,
        source,
    })
}

/// Returns the event of a word without slashes.
fn plain(name: &str) -> Option<NamedSource> {
    let source = match SoftwareKind::parse(name) {
        Some(kind) => kind.source(),
        // `read` is a call and no raw number.
        None if names::number(Abi::native(), name).is_some() => return None,
        None => hardware::named(name)?,
    };
    Some(source.into())
}

impl From<Source> for NamedSource {
    fn from(source: Source) -> Self {
        Self {
            source,
            unit: None,
            for_all_on: None,
        }
    }
}

/// Returns all names, for a suggestion; software events first.
pub(super) fn names() -> impl Iterator<Item = String> {
    let software = SoftwareKind::names().map(str::to_owned);
    software.chain(hardware::names())
}

/// Whether it may have terms: a tracepoint, a call, or a glob or class of them.
fn is_known(name: &str) -> bool {
    name.contains([':', '*', '?', '[', '%', '!'])
        || Selection::parse(&[name], Abi::native()).is_ok()
}

fn no_source(name: &str, catalogue: &dyn Catalogue) -> Unreadable {
    let sources = catalogue.source_names();
    let software = SoftwareKind::names().map(|name| -> &str { name });
    let known = sources.iter().map(String::as_str).chain(software);
    Unreadable::NoSource {
        nearest: nearest(name, known).map(str::to_owned),
        name: name.to_owned(),
        all: sources.join(", "),
    }
}

/// Modifiers, and the character where they begin.
type Letters<'a> = (usize, &'a str);

/// A word, cut into its parts.
struct Parts<'a> {
    name: &'a str,
    /// The terms and the character where they begin, from 1.
    terms: Option<(usize, &'a str)>,
    letters: Option<Letters<'a>>,
    source: Option<NamedSource>,
}

fn memory(word: &str) -> Result<Parts<'_>, TermError> {
    let wrong = |wrong: breakpoint::Wrong| TermError::Place {
        at: wrong.at,
        expected: wrong.expected,
    };
    let (source, letters) = breakpoint::read(word).map_err(wrong)?;
    let name = match letters {
        Some((_, letters)) => word.strip_suffix(letters).unwrap_or(word),
        None => word,
    };
    Ok(Parts {
        name: name.strip_suffix(':').unwrap_or(name),
        terms: None,
        letters,
        source: Some(source.into()),
    })
}

fn parts(word: &str) -> Result<Parts<'_>, TermError> {
    let bare = |name, letters| Parts {
        name,
        terms: None,
        letters,
        source: None,
    };
    if word.trim_start_matches('!').starts_with('/') {
        return Ok(bare(word, None));
    }
    let place = |before: &str| before.chars().count() + 1;
    if let Some(probe) = ProbeWord::first(word) {
        let at = place(probe.target) + 1;
        let Some(terms) = probe.terms else {
            return Ok(bare(word, None));
        };
        let inner = terms
            .strip_prefix('/')
            .and_then(|text| text.strip_suffix('/'));
        let text = inner.ok_or(TermError::Open { at: at - 1 })?;
        return Ok(Parts {
            terms: Some((at, text)),
            ..bare(probe.target, None)
        });
    }
    if let Some((name, rest)) = word.split_once('/') {
        let at = place(name) + 1;
        let (text, letters) = rest
            .rsplit_once('/')
            .ok_or(TermError::Open { at: at - 1 })?;
        let from = at + place(text);
        let (from, letters) = match letters.strip_prefix(':') {
            Some(letters) => (from + 1, letters),
            None => (from, letters),
        };
        return Ok(Parts {
            name,
            terms: Some((at, text)),
            letters: Some((from, letters)),
            source: None,
        });
    }
    // A word with a colon is a tracepoint, perhaps with letters after it, or another event with
    // letters.
    match word.rsplit_once(':') {
        Some((name, letters)) if name.contains(':') || plain(name).is_some() => {
            Ok(bare(name, Some((place(name) + 1, letters))))
        }
        _ => Ok(bare(word, None)),
    }
}

/// Refuses modifiers that have no effect on an event.
fn mean_something(name: &str, of: Option<&NamedSource>, modes: Modes) -> Result<(), &'static str> {
    match of.map(|named| named.source) {
        None if !name.contains(':') => Err("a call is entered in the kernel, for whatever mode"),
        Some(Source::Numbers { .. }) => Ok(()),
        _ if modes.precise > 0 => {
            Err("only a counter of the processor has an address more precise than another")
        }
        Some(source @ Source::Software(_)) => software_means(source, modes),
        // Without the kernel's part, the kernel passes on only tracepoints that it fires with the
        // registers of user mode: those of single calls, and uprobes. It checks nothing else
        // (perf_tp_event_match(), kernel/events/core.c).
        None | Some(Source::Tracepoint(_) | Source::Breakpoint { .. }) => Ok(()),
    }
}

/// Refuses modifiers that have no effect on a software event.
pub(super) fn software_means(source: Source, modes: Modes) -> Result<(), &'static str> {
    use SoftwareKind as Kind;
    match SoftwareKind::of(source) {
        _ if modes == Modes::default() => Ok(()),
        Some(Kind::Dummy | Kind::BpfOutput) => Err("it never happens by itself"),
        _ if is_of_kernel(source) && modes.exclude_kernel => Err("it happens in the kernel alone"),
        _ => Ok(()),
    }
}

/// Whether it is a software event that happens in the kernel alone: it never fires with the
/// registers of user mode.
pub(super) fn is_of_kernel(source: Source) -> bool {
    use SoftwareKind as Kind;
    let kind = SoftwareKind::of(source);
    matches!(kind, Some(Kind::ContextSwitches | Kind::CpuMigrations))
}

/// Refuses a software event if each occurrence also makes a record of another one.
pub(super) fn refuse_same_id(
    at: usize,
    event: &EventRequest,
    others: &[EventRequest],
) -> Result<(), EventsError> {
    match others
        .iter()
        .any(|other| share_records(&event.attr, &other.attr))
    {
        true => Err(EventsError::Cannot {
            at,
            name: event.name.clone(),
            why: "one occurrence makes a record of both, and from Linux 6.3 on both have the same id: name one of them, or `:u` and `:k`",
        }),
        false => Ok(()),
    }
}

/// Whether one occurrence makes a record of each of two events. The kernel then prepares its data
/// once, and leaves the id of one event in the record of the other (`do_perf_sw_event()`,
/// kernel/events/core.c). A clock has a timer of its own.
fn share_records(one: &Attr, other: &Attr) -> bool {
    let is_software = matches!(one.source, Source::Software(_));
    let both = |left: bool, right: bool| !left && !right;
    let in_one_mode = both(one.modes.exclude_user, other.modes.exclude_user)
        || both(one.modes.exclude_kernel, other.modes.exclude_kernel);
    is_software && !is_clock(one.source) && one.source == other.source && in_one_mode
}

/// Whether it is a clock, which counts in all modes: modes only choose its samples.
pub(super) fn is_clock(source: Source) -> bool {
    SoftwareKind::of(source).is_some_and(SoftwareKind::is_clock)
}

/// A number, decimal or after `0x`.
fn number(text: &str) -> Option<u64> {
    let (digits, radix) = match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    let is_number = digits.chars().all(|c| c.is_digit(radix));
    is_number.then(|| u64::from_str_radix(digits, radix).ok())?
}
