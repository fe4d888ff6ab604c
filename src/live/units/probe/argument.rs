//! What a probe reads.

use super::{ProbeKind, ProbeSyntax};
use std::fmt;

/// A value that a probe reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProbeArgument {
    /// What it is called, if that is said.
    pub name: Option<String>,
    /// What the kernel fetches, or the name of a parameter.
    pub value: String,
    /// Its type, if that is said.
    pub ty: Option<String>,
}

impl ProbeArgument {
    /// The parameter that it names.
    #[must_use]
    pub fn parameter(&self) -> Option<&str> {
        is_name(&self.value).then_some(&*self.value)
    }

    /// What it is called: without a name a parameter's is its own.
    #[must_use]
    pub fn shown(&self) -> Option<&str> {
        self.name.as_deref().or_else(|| self.parameter())
    }
}

impl fmt::Display for ProbeArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{name}=")?;
        }
        f.write_str(&self.value)?;
        self.ty.iter().try_for_each(|ty| write!(f, ":{ty}"))
    }
}

/// What the kernel takes as a type (`probe_fetch_types`, `kernel/trace/trace_probe.c`); of a bit
/// field and an array what stands before its numbers.
const TYPES: &[&str] = &[
    "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "x8", "x16", "x32", "x64", "char",
    "string", "ustring", "symbol", "symstr", "%pd", "%pD",
];

/// Names that the kernel keeps for itself (`reserved_field_names`).
const RESERVED: &[&str] = &[
    "common_type",
    "common_flags",
    "common_preempt_count",
    "common_pid",
    "common_tgid",
    "__probe_ip",
    "__probe_ret_ip",
    "__probe_func",
];

pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Refuses what cannot be a name.
pub(super) fn check_name(text: &str, at: usize) -> Result<(), ProbeSyntax> {
    if !is_name(text) {
        return Err(ProbeSyntax::new(
            at,
            "a name has letters, digits and `_` and begins with no digit",
        ));
    }
    match RESERVED.contains(&text) {
        true => Err(ProbeSyntax::new(
            at,
            format!("`{text}` is a field of every probe"),
        )),
        false => Ok(()),
    }
}

/// Several, with blanks between and before them.
pub(super) fn list(text: &str, kind: ProbeKind) -> Result<Vec<ProbeArgument>, ProbeSyntax> {
    let mut all: Vec<ProbeArgument> = Vec::new();
    let mut behind = 0_usize;
    for word in text.split(|c: char| c.is_whitespace()) {
        if !word.is_empty() {
            let placed = |wrong: ProbeSyntax| wrong.behind(behind);
            let added = one(word, kind).map_err(placed)?;
            refuse_twice(&all, &added).map_err(placed)?;
            all.push(added);
        }
        behind = behind
            .saturating_add(word.chars().count())
            .saturating_add(1);
    }
    Ok(all)
}

pub(super) fn refuse_twice(
    all: &[ProbeArgument],
    added: &ProbeArgument,
) -> Result<(), ProbeSyntax> {
    let Some(name) = added.shown() else {
        return Ok(());
    };
    match all.iter().any(|known| known.shown() == Some(name)) {
        true => Err(ProbeSyntax::new(
            1,
            format!("there is an argument `{name}` already"),
        )),
        false => Ok(()),
    }
}

/// One argument.
pub(super) fn one(text: &str, kind: ProbeKind) -> Result<ProbeArgument, ProbeSyntax> {
    if let Some(at) = text.chars().position(char::is_whitespace) {
        let at = at.saturating_add(1);
        return Err(ProbeSyntax::new(at, "an argument has no blank in it"));
    }
    // What begins with a quote may hold anything.
    let (name, value) = match text.split_once('=') {
        Some((name, value)) if !name.contains(['\\', '"']) => (Some(name), value),
        _ => (None, text),
    };
    let before = text.chars().count().saturating_sub(value.chars().count());
    if let Some(name) = name {
        check_name(name, 1)?;
    }
    let mut reader = Reader {
        rest: value,
        at: before.saturating_add(1),
        kind,
    };
    reader.value(0)?;
    let length = value.len().saturating_sub(reader.rest.len());
    let (value, ty) = value.split_at_checked(length).unwrap_or((value, ""));
    let argument = ProbeArgument {
        name: name.map(str::to_owned),
        value: value.to_owned(),
        ty: reader.ty(ty)?,
    };
    if let (None, Some(name)) = (name, argument.parameter()) {
        check_name(name, 1)?;
    }
    Ok(argument)
}

/// The kernel's own limit is lower where it dereferences (`FETCH_INSN_MAX`, 16).
const DEEPEST: usize = 16;

struct Reader<'a> {
    rest: &'a str,
    at: usize,
    kind: ProbeKind,
}

impl<'a> Reader<'a> {
    fn wrong<T>(&self, what: impl Into<String>) -> Result<T, ProbeSyntax> {
        Err(ProbeSyntax::new(self.at, what))
    }

    fn skip(&mut self, n_bytes: usize) -> &'a str {
        let (skipped, rest) = self
            .rest
            .split_at_checked(n_bytes)
            .unwrap_or((self.rest, ""));
        self.at = self.at.saturating_add(skipped.chars().count());
        self.rest = rest;
        skipped
    }

    fn take(&mut self, c: char) -> bool {
        let is_there = self.rest.starts_with(c);
        if is_there {
            self.skip(c.len_utf8());
        }
        is_there
    }

    fn while_(&mut self, is_part: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        self.skip(end)
    }

    fn word(&mut self) -> &'a str {
        self.while_(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    fn number(&mut self) -> Result<(), ProbeSyntax> {
        let at = self.at;
        let word = self.word();
        match super::number(word) {
            Some(_) => Ok(()),
            None => Err(ProbeSyntax::new(at, "a number belongs here")),
        }
    }

    fn value(&mut self, depth: usize) -> Result<(), ProbeSyntax> {
        if depth >= DEEPEST {
            return self.wrong("fewer parentheses belong here");
        }
        match self.rest.chars().next() {
            Some('%') => {
                self.skip(1);
                if self.word().is_empty() {
                    return self.wrong("a register belongs here, as in %di");
                }
            }
            Some('$') => self.variable()?,
            Some('@') => {
                self.skip(1);
                if self.while_(|c| !matches!(c, ':' | ')')).is_empty() {
                    return self.wrong("an address or a symbol belongs here");
                }
            }
            Some('+' | '-') => {
                self.skip(1);
                self.take('u');
                self.number()?;
                if !self.take('(') {
                    return self.wrong("`(` belongs here");
                }
                self.value(depth.saturating_add(1))?;
                if !self.take(')') {
                    return self.wrong("`)` belongs here");
                }
            }
            Some('\\') => {
                self.skip(1);
                if self.take('"') {
                    self.while_(|c| c != '"');
                    if !self.take('"') {
                        return self.wrong("`\"` belongs here");
                    }
                } else {
                    self.take('-');
                    self.number()?;
                }
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                self.word();
                // Members of a structure, which the kernel follows by its own types (Linux 6.6).
                if !self.kind.is_of_user() {
                    self.while_(|c| {
                        c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '>')
                    });
                }
            }
            _ => {
                return self
                    .wrong("a value belongs here: a parameter's name, %di, +8(%si), $retval");
            }
        }
        Ok(())
    }

    fn variable(&mut self) -> Result<(), ProbeSyntax> {
        let at = self.at;
        self.skip(1);
        let name = self.while_(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '*'));
        let stack = name.strip_prefix("stack");
        let argument = name.strip_prefix("arg");
        let is_number = |text: &str| text.parse::<u32>().is_ok();
        match name {
            "retval" if self.kind.is_return() => Ok(()),
            "retval" => Err(ProbeSyntax::new(
                at,
                format!(
                    "`$retval` is there when a function returns: {}ret{}",
                    &self.kind.word().get(..1).unwrap_or_default(),
                    "probe"
                ),
            )),
            "comm" => Ok(()),
            "arg*" if !self.kind.is_of_user() => Ok(()),
            _ if stack.is_some_and(|number| number.is_empty() || is_number(number)) => Ok(()),
            _ if argument.is_some_and(is_number) => Ok(()),
            _ => Err(ProbeSyntax::new(
                at,
                "there is no such variable: $retval, $arg1, $stack, $stack0, $comm",
            )),
        }
    }

    /// What stands behind the value.
    fn ty(&self, text: &str) -> Result<Option<String>, ProbeSyntax> {
        if text.is_empty() {
            return Ok(None);
        }
        let Some(ty) = text.strip_prefix(':') else {
            return self.wrong("a type belongs here, as in :ustring, or nothing");
        };
        let element = ty.split('[').next().unwrap_or(ty);
        let is_known = TYPES.contains(&element) || is_bit_field(element);
        let ends = element.len() == ty.len() || ty.ends_with(']');
        if is_known && ends {
            return Ok(Some(ty.to_owned()));
        }
        let at = self.at.saturating_add(1);
        let what = format!(
            "there is no type `{ty}`: {}, or b1@0/8 for bits",
            TYPES.join(", ")
        );
        Err(ProbeSyntax::new(at, what))
    }
}

/// `b<width>@<offset>/<container>`.
fn is_bit_field(text: &str) -> bool {
    let split = || {
        let (width, rest) = text.strip_prefix('b')?.split_once('@')?;
        let (offset, container) = rest.split_once('/')?;
        Some([width, offset, container])
    };
    split().is_some_and(|numbers| numbers.iter().all(|number| number.parse::<u8>().is_ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_has_a_name_a_value_and_a_type() {
        for (text, shown, ty) in [
            ("path=+0(%di):ustring", Some("path"), Some("ustring")),
            ("%si", None, None),
            ("path", Some("path"), None),
            ("first=path:x64", Some("first"), Some("x64")),
            ("+u8(+0(%si)):x64[4]", None, Some("x64[4]")),
            ("bits=%ax:b4@0/32", Some("bits"), Some("b4@0/32")),
            ("$stack3", None, None),
            ("$comm:string", None, Some("string")),
            ("@0x1000:u8", None, Some("u8")),
            ("five=\\5", Some("five"), None),
            ("word=\\\"a=b\"", Some("word"), None),
            ("$arg2:s32", None, Some("s32")),
        ] {
            let argument = one(text, ProbeKind::Uprobe).unwrap();
            assert_eq!(
                (argument.shown(), argument.ty.as_deref()),
                (shown, ty),
                "{text}"
            );
            assert_eq!(argument.to_string(), text);
        }
        assert!(one("$retval:s32", ProbeKind::Uretprobe).is_ok());
        assert!(one("file->f_path.dentry", ProbeKind::Kprobe).is_ok());
    }

    #[test]
    fn what_is_none_is_refused_at_its_character() {
        for (text, at, said) in [
            ("a=", 3, "a value belongs here"),
            ("1=%di", 1, "a name has letters"),
            (
                "common_pid=%di",
                1,
                "`common_pid` is a field of every probe",
            ),
            ("a=%", 4, "a register belongs here"),
            ("a=+(%di)", 4, "a number belongs here"),
            ("a=+0%di", 5, "`(` belongs here"),
            ("a=%di:string2", 7, "there is no type `string2`"),
            ("a=%di)", 6, "a type belongs here"),
            (
                "a=$retval",
                3,
                "`$retval` is there when a function returns: uretprobe",
            ),
            ("a=$foo", 3, "there is no such variable"),
            ("a b", 2, "an argument has no blank in it"),
        ] {
            let wrong = one(text, ProbeKind::Uprobe).unwrap_err();
            assert_eq!(wrong.at, at, "{text}: {wrong}");
            assert!(wrong.what.starts_with(said), "{text}: {wrong}");
        }
    }
}
