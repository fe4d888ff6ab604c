//! A probe as it is written.
//!
//! ```text
//! probe    = target { blank argument }
//! target   = ( "uprobe" | "uretprobe" ) ":" path ":" place
//!          | ( "kprobe" | "kretprobe" ) ":" place
//! place    = symbol [ "+" number ] | number
//! argument = [ name "=" ] value [ ":" type ]
//! value    = what the kernel fetches: %di, +8(%si), $retval, @symbol | the name of a parameter
//! ```
//! Values and types are in the kernel's own language (`Documentation/trace/kprobetrace.rst`,
//! `uprobetracer.rst`). The path ends at the last colon that has no other beside it, as the names
//! of C++ and Rust have two.

mod argument;

pub use argument::ProbeArgument;

use std::fmt;

/// Which moment a probe is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProbeKind {
    /// A place in a program or library is reached.
    Uprobe,
    /// A function of a program or library returns.
    Uretprobe,
    /// A place in the kernel is reached.
    Kprobe,
    /// A function of the kernel returns.
    Kretprobe,
}

impl ProbeKind {
    const ALL: [Self; 4] = [Self::Uprobe, Self::Uretprobe, Self::Kprobe, Self::Kretprobe];

    /// As it is written.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Uprobe => "uprobe",
            Self::Uretprobe => "uretprobe",
            Self::Kprobe => "kprobe",
            Self::Kretprobe => "kretprobe",
        }
    }

    /// Whether it is in a program, not in the kernel.
    #[must_use]
    pub const fn is_of_user(self) -> bool {
        matches!(self, Self::Uprobe | Self::Uretprobe)
    }

    /// Whether it is about a return.
    #[must_use]
    pub const fn is_return(self) -> bool {
        matches!(self, Self::Uretprobe | Self::Kretprobe)
    }

    /// The kind that a text begins with, and what stands behind its colon.
    fn strip(text: &str) -> Option<(Self, &str)> {
        Self::ALL.into_iter().find_map(|kind| {
            let rest = text.strip_prefix(kind.word())?.strip_prefix(':')?;
            Some((kind, rest))
        })
    }
}

/// The place of a probe in a program or the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ProbePlace {
    /// So many bytes behind the beginning of a function.
    Symbol(String, u64),
    /// So many bytes behind the beginning of the file.
    Offset(u64),
}

/// A probe.
///
/// ```
/// use perf_live::units::Probe;
/// let probe = Probe::parse("uprobe:/bin/save:commit path=+0(%di):ustring")?;
/// assert_eq!(probe.name, "uprobe:commit");
/// assert_eq!(Probe::parse("uprobe:/bin/save").unwrap_err().to_string(), "at character 8: a path, a colon and a symbol belong here");
/// # Ok::<(), perf_live::units::ProbeSyntax>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Probe {
    /// What its events are called: `uprobe:commit`.
    pub name: String,
    /// The moment.
    pub kind: ProbeKind,
    /// The program or library, as written; empty for the kernel.
    pub file: String,
    /// The place in it.
    pub place: ProbePlace,
    /// What is read there.
    pub arguments: Vec<ProbeArgument>,
}

/// Why a text is no probe; `at` is the character, from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at character {at}: {what}")]
pub struct ProbeSyntax {
    /// The character.
    pub at: usize,
    /// What is wrong.
    pub what: String,
}

impl ProbeSyntax {
    fn new(at: usize, what: impl Into<String>) -> Self {
        Self {
            at,
            what: what.into(),
        }
    }

    /// The same in a text that this one is a part of, behind so many characters.
    #[must_use]
    pub fn behind(self, n_chars: usize) -> Self {
        let at = self.at.saturating_add(n_chars);
        Self { at, ..self }
    }
}

impl Probe {
    /// Whether a word is meant to be one.
    #[must_use]
    pub fn is_meant(word: &str) -> bool {
        ProbeKind::strip(word).is_some()
    }

    /// Reads one with its arguments, as a command line has it.
    ///
    /// # Errors
    /// [`ProbeSyntax`].
    pub fn parse(text: &str) -> Result<Self, ProbeSyntax> {
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        let (target, arguments) = text.split_at_checked(end).unwrap_or((text, ""));
        let mut probe = Self::target(target)?;
        probe.arguments = argument::list(arguments, probe.kind)
            .map_err(|wrong| wrong.behind(target.chars().count()))?;
        Ok(probe)
    }

    /// Reads one without arguments; blanks belong to its path or symbol.
    ///
    /// # Errors
    /// [`ProbeSyntax`].
    pub fn target(text: &str) -> Result<Self, ProbeSyntax> {
        let Some((kind, rest)) = ProbeKind::strip(text) else {
            return Err(ProbeSyntax::new(
                1,
                "a probe begins with `uprobe:`, `uretprobe:`, `kprobe:` or `kretprobe:`",
            ));
        };
        Self::of(kind, rest).map_err(|wrong| wrong.behind(kind.word().len().saturating_add(1)))
    }

    /// The same behind the first colon.
    ///
    /// # Errors
    /// [`ProbeSyntax`].
    pub fn of(kind: ProbeKind, text: &str) -> Result<Self, ProbeSyntax> {
        if let Some(at) = text.chars().position(|c| matches!(c, '\0' | '\n')) {
            let at = at.saturating_add(1);
            return Err(ProbeSyntax::new(at, "this is part of no name"));
        }
        let (file, place) = if kind.is_of_user() {
            let missing = || ProbeSyntax::new(1, "a path, a colon and a symbol belong here");
            let colon = last_single_colon(text).ok_or_else(missing)?;
            let (file, place) = text.split_at_checked(colon).ok_or_else(missing)?;
            if file.is_empty() {
                return Err(missing());
            }
            (file, place.get(1..).unwrap_or_default())
        } else {
            ("", text)
        };
        let before = text.chars().count().saturating_sub(place.chars().count());
        let place = read_place(place, kind).map_err(|wrong| wrong.behind(before))?;
        Ok(Self {
            name: format!("{}:{}", kind.word(), default_name(&place)),
            kind,
            file: file.to_owned(),
            place,
            arguments: Vec::new(),
        })
    }

    /// Adds an argument.
    ///
    /// # Errors
    /// [`ProbeSyntax`], its place in this text.
    pub fn with_argument(mut self, text: &str) -> Result<Self, ProbeSyntax> {
        let added = argument::one(text, self.kind)?;
        argument::refuse_twice(&self.arguments, &added)?;
        self.arguments.push(added);
        Ok(self)
    }

    /// With another name behind the colon.
    ///
    /// # Errors
    /// [`ProbeSyntax`] for what is no name.
    pub fn named(self, name: &str) -> Result<Self, ProbeSyntax> {
        argument::check_name(name, 1)?;
        let name = format!("{}:{name}", self.kind.word());
        Ok(Self { name, ..self })
    }

    /// Returns the probe of the entries of a function of a program whose returns this one is of;
    /// `None` for another kind. By its events it is known which returns the kernel leaves out.
    #[must_use]
    pub fn of_entries(&self) -> Option<Self> {
        let (_, name) = self.name.split_once(':')?;
        let caller = match cfg!(target_arch = "aarch64") {
            true => "%x30",
            // The call has just put it there.
            false => "+0(%sp)",
        };
        (self.kind == ProbeKind::Uretprobe).then(|| Self {
            name: format!("{ENTRIES}:{name}"),
            kind: ProbeKind::Uprobe,
            arguments: vec![ProbeArgument {
                name: Some(CALLER.to_owned()),
                value: caller.to_owned(),
                ty: Some("x64".to_owned()),
            }],
            ..self.clone()
        })
    }

    /// The probe that perf's `trace` looks for to know the paths that calls are given, by another
    /// way: where perf takes a line of a function, which needs the kernel's debugging information,
    /// this takes the function's return.
    #[must_use]
    pub fn vfs_getname() -> Self {
        let [_, _, function] = GETNAME;
        let place = ProbePlace::Symbol(function.to_owned(), 0);
        // `struct filename` begins with the path.
        let value = "+0(+0($retval))".to_owned();
        Self {
            name: VFS_GETNAME.to_owned(),
            kind: ProbeKind::Kretprobe,
            file: String::new(),
            place,
            arguments: vec![ProbeArgument {
                name: Some("pathname".to_owned()),
                value,
                ty: Some("string".to_owned()),
            }],
        }
    }
}

/// The functions of the kernel's that copy a path, the one that does it for all others first: of
/// Linux 6.19 and later; what gcc makes of the last, which inlines its beginning into others; as it
/// is written.
pub const GETNAME: [&str; 3] = ["do_getname", "getname_flags.part.0", "getname_flags"];

/// What the names of probes begin with that only tell of the entries of functions whose returns are
/// probed. No probe that a user writes has such a name.
pub const ENTRIES: &str = "uretprobe_entries";

/// The field of theirs that is the address to which the function returns.
pub const CALLER: &str = "caller";

/// What perf calls its probe of the kernel's `getname_flags()`.
pub const VFS_GETNAME: &str = "probe:vfs_getname";

/// As [`Probe::parse`] reads it, its name left out.
impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.kind.word())?;
        if self.kind.is_of_user() {
            write!(f, "{}:", self.file)?;
        }
        match &self.place {
            ProbePlace::Symbol(symbol, 0) => f.write_str(symbol)?,
            ProbePlace::Symbol(symbol, offset) => write!(f, "{symbol}+{offset:#x}")?,
            ProbePlace::Offset(offset) => write!(f, "{offset:#x}")?,
        }
        self.arguments
            .iter()
            .try_for_each(|argument| write!(f, " {argument}"))
    }
}

fn last_single_colon(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_colon = |at: Option<usize>| at.and_then(|at| bytes.get(at)) == Some(&b':');
    (0..bytes.len()).rev().find(|at| {
        is_colon(Some(*at)) && !is_colon(at.checked_sub(1)) && !is_colon(at.checked_add(1))
    })
}

fn read_place(text: &str, kind: ProbeKind) -> Result<ProbePlace, ProbeSyntax> {
    let end = text.chars().count().saturating_add(1);
    if text.is_empty() {
        return Err(ProbeSyntax::new(end, "the name of a function belongs here"));
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        if !kind.is_of_user() {
            return Err(ProbeSyntax::new(
                1,
                "a probe in the kernel is at a function",
            ));
        }
        let offset = number(text).ok_or_else(|| ProbeSyntax::new(1, NO_OFFSET))?;
        return Ok(ProbePlace::Offset(offset));
    }
    // `operator+` of C++ has one too, and no number behind it.
    let split = text.rsplit_once('+').filter(|(symbol, offset)| {
        !symbol.is_empty() && offset.starts_with(|c: char| c.is_ascii_digit())
    });
    let Some((symbol, offset)) = split else {
        return Ok(ProbePlace::Symbol(text.to_owned(), 0));
    };
    let at = symbol.chars().count().saturating_add(2);
    let offset = number(offset).ok_or_else(|| ProbeSyntax::new(at, NO_OFFSET))?;
    if offset > 0 && kind.is_return() {
        return Err(ProbeSyntax::new(
            at,
            "it is a function that returns, not a place in it",
        ));
    }
    Ok(ProbePlace::Symbol(symbol.to_owned(), offset))
}

const NO_OFFSET: &str = "an offset is a number, as in 16 or 0x10";

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The symbol with `_` for whatever no event has in its name.
fn default_name(place: &ProbePlace) -> String {
    let text = match place {
        ProbePlace::Symbol(symbol, 0) => symbol.clone(),
        ProbePlace::Symbol(symbol, offset) => format!("{symbol}_{offset:#x}"),
        ProbePlace::Offset(offset) => format!("{offset:#x}"),
    };
    // Not the version of `memcpy@@GLIBC_2.14`, nor what a function of C++ takes.
    let text = text.split(['@', '(']).next().unwrap_or_default();
    let mut name = String::new();
    for c in text.chars() {
        match c {
            c if c.is_ascii_alphanumeric() || c == '_' => name.push(c),
            _ if name.ends_with('_') => {}
            _ => name.push('_'),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        Probe::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn a_probe_is_a_kind_a_file_a_place_and_arguments() {
        for (text, name, file, place) in [
            (
                "uprobe:./bin/save:commit",
                "uprobe:commit",
                "./bin/save",
                ProbePlace::Symbol("commit".into(), 0),
            ),
            (
                "uretprobe:save:commit",
                "uretprobe:commit",
                "save",
                ProbePlace::Symbol("commit".into(), 0),
            ),
            (
                "uprobe:/a:b:ns::f",
                "uprobe:ns_f",
                "/a:b",
                ProbePlace::Symbol("ns::f".into(), 0),
            ),
            (
                "uprobe:/x:f+0x10",
                "uprobe:f_0x10",
                "/x",
                ProbePlace::Symbol("f".into(), 16),
            ),
            (
                "uprobe:/x:operator+",
                "uprobe:operator_",
                "/x",
                ProbePlace::Symbol("operator+".into(), 0),
            ),
            (
                "uprobe:/x:memcpy@@GLIBC_2.14",
                "uprobe:memcpy",
                "/x",
                ProbePlace::Symbol("memcpy@@GLIBC_2.14".into(), 0),
            ),
            (
                "uprobe:/x:0x1139",
                "uprobe:0x1139",
                "/x",
                ProbePlace::Offset(0x1139),
            ),
            (
                "kprobe:vfs_open+4",
                "kprobe:vfs_open_0x4",
                "",
                ProbePlace::Symbol("vfs_open".into(), 4),
            ),
            (
                "kretprobe:vfs_open",
                "kretprobe:vfs_open",
                "",
                ProbePlace::Symbol("vfs_open".into(), 0),
            ),
        ] {
            let probe = Probe::parse(text).unwrap();
            assert_eq!(
                (probe.name.as_str(), probe.file.as_str()),
                (name, file),
                "{text}"
            );
            assert_eq!(probe.place, place, "{text}");
            assert_eq!(Probe::parse(&probe.to_string()), Ok(probe), "{text}");
        }
    }

    #[test]
    fn what_is_no_probe_is_refused_at_its_character() {
        for (text, said) in [
            (
                "uprobe:",
                "at character 8: a path, a colon and a symbol belong here",
            ),
            (
                "uprobe::f",
                "at character 8: a path, a colon and a symbol belong here",
            ),
            (
                "uprobe:/x:",
                "at character 11: the name of a function belongs here",
            ),
            (
                "kprobe:",
                "at character 8: the name of a function belongs here",
            ),
            (
                "uprobe:/x:12z",
                "at character 11: an offset is a number, as in 16 or 0x10",
            ),
            (
                "uprobe:/x:f+1z",
                "at character 13: an offset is a number, as in 16 or 0x10",
            ),
            (
                "kprobe:0x10",
                "at character 8: a probe in the kernel is at a function",
            ),
            (
                "uretprobe:/x:f+4",
                "at character 16: it is a function that returns, not a place in it",
            ),
            (
                "sched:sched_switch",
                "at character 1: a probe begins with `uprobe:`, `uretprobe:`, `kprobe:` or `kretprobe:`",
            ),
            (
                "uprobe:/x:f a=%di a=%si",
                "at character 19: there is an argument `a` already",
            ),
            ("uprobe:/x:f  a=+0(%di", "at character 22: `)` belongs here"),
        ] {
            assert_eq!(refused(text), said, "{text}");
        }
    }

    #[test]
    fn another_name_is_a_word() {
        let probe = Probe::parse("uprobe:/x:f").unwrap();
        assert_eq!(probe.clone().named("begin").unwrap().name, "uprobe:begin");
        assert!(probe.named("be gin").is_err());
    }
}
