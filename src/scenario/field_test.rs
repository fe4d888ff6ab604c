//! What a field must be, in its short and in its long form.

use regex::bytes::Regex;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::SeqAccess;

use super::expect::RegexText;
use super::flexible::{Flexible, NoMapping, Text, deserialize_flexible, elements};
use super::schema::{any_number, either, list_of, of, one_key, some_text, text};

/// What a field must be.
#[derive(Clone, Debug)]
pub enum Test {
    /// Anything that is there at all: `any`.
    Any,
    /// `$name`: what the same capture was elsewhere; the first that is met binds it.
    Capture(String),
    /// This.
    Is(Literal),
    /// One of these; never empty, and none of them is `Any`.
    OneOf(Vec<Test>),
    /// It begins so; never empty.
    Prefix(String),
    /// A glob; `*` and `?` do not match a slash, `**` does. Never one that matches everything.
    Glob(String),
    /// A match of this somewhere; it does not match the empty string.
    Regex(Regex),
    /// Of flags: all of these. Of anything else: its text holds each of these. Never empty, nor is
    /// one of them.
    Contains(Vec<String>),
    /// A number within, both ends included; `None` where there is no end. One end at least is
    /// there.
    Range(Option<i128>, Option<i128>),
    /// Of words: these, in their order. A list alone becomes this when it is planned.
    Words(Vec<String>),
    /// Not this, which is not `Any`.
    Not(Box<Test>),
    /// Of a path or a descriptor: this is so of how it is spelled, wherever that leads. It holds
    /// neither captures nor `Any`.
    Spelled(Box<Test>),
}

/// A value as the author wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// A string: a path, a flag or flags with `|`, an error's name, what a descriptor refers to.
    Text(String),
    /// A number.
    Number(i128),
}

impl Test {
    /// The list of what is written `{ one_of: ... }`, which among functions is no order as a list
    /// alone is; `None` for another test.
    #[must_use]
    pub fn one_of(&self) -> Option<&Self> {
        match self {
            Self::OneOf(tests) => match &**tests {
                [inner @ Self::OneOf(_)] => Some(inner),
                _ => None,
            },
            _ => None,
        }
    }

    /// Every name of a capture in it, with whether meeting it there could bind it: not below `not`,
    /// nor as one of several.
    #[must_use]
    pub fn captures(&self) -> Vec<(&str, bool)> {
        match self {
            Self::Capture(name) => vec![(name, true)],
            Self::OneOf(tests) => {
                let names = tests.iter().flat_map(Self::captures);
                names.map(|(name, _)| (name, false)).collect()
            }
            Self::Not(test) | Self::Spelled(test) => {
                let names = test.captures().into_iter();
                names.map(|(name, _)| (name, false)).collect()
            }
            Self::Any
            | Self::Is(_)
            | Self::Prefix(_)
            | Self::Glob(_)
            | Self::Regex(_)
            | Self::Contains(_)
            | Self::Words(_)
            | Self::Range(..) => Vec::new(),
        }
    }

    /// A range of numbers, `1..=4`, `-3..` or `..=0`: what the short form of a test means where the
    /// field is a number.
    ///
    /// `None` where `text` is no range; an error where it is one that no number is in.
    ///
    /// ```
    /// use trace_harness::scenario::Test;
    /// assert!(matches!(Test::range("-1..=4"), Some(Ok(Test::Range(Some(-1), Some(4))))));
    /// assert!(Test::range("4").is_none());
    /// ```
    #[must_use]
    pub fn range(text: &str) -> Option<Result<Self, String>> {
        let (min, max) = ends(text)?;
        Some(match (min, max) {
            (Some(min), Some(max)) if min > max => Err("no number is in this range".to_owned()),
            (min, max) => Ok(Self::Range(min, max)),
        })
    }
}

/// The ends of `1..=4`, `-3..` or `..=0`, of which one may be missing.
pub(super) fn ends(text: &str) -> Option<(Option<i128>, Option<i128>)> {
    match (text.split_once("..="), text.strip_suffix("..")) {
        (Some(("", max)), _) => Some((None, Some(number(max)?))),
        (Some((min, max)), _) => Some((Some(number(min)?), Some(number(max)?))),
        (None, Some(min)) => Some((Some(number(min)?), None)),
        (None, None) => None,
    }
}

/// A number in decimal digits, with or without a sign; not longer than any that the kernel knows.
fn number(text: &str) -> Option<i128> {
    (text.len() <= 21).then(|| text.parse().ok()).flatten()
}

/// The long form of a field's test: exactly one of these keys.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenTest {
    /// Exactly this, where the short form would mean something else: `{ equals: any }`.
    equals: Option<Literal>,
    /// One of these.
    one_of: Option<OneOf>,
    /// It begins so.
    prefix: Option<NotEmpty>,
    /// The glob matches all of it; `*` and `?` match no slash, `**` does.
    glob: Option<Glob>,
    /// The regular expression matches somewhere in it.
    regex: Option<RegexText>,
    /// Flags: all of these and perhaps more. Anything else: its text holds each of these.
    contains: Option<Contained>,
    /// A number within `1..=4`, `2..` or `..=3`.
    range: Option<Range>,
    /// Not this.
    not: Option<Box<Test>>,
    /// A path, or what a descriptor refers to: this is so of how it is spelled, whichever file it
    /// leads to.
    text: Option<Box<Test>>,
    /// `true`: anything that is there at all.
    any: Option<Anything>,
}

#[derive(Debug)]
struct OneOf(Vec<Test>);

#[derive(Debug)]
struct NotEmpty(String);

#[derive(Debug)]
struct Glob(String);

#[derive(Debug)]
struct Contained(Vec<String>);

#[derive(Debug)]
struct Range(Test);

#[derive(Debug)]
struct Anything;

impl Flexible for Test {
    const EXPECTED: &'static str =
        "a string, a number, a list of what it may be, or a mapping such as { contains: O_CREAT }";
    type Mapping = WrittenTest;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        either([
            text(),
            any_number(),
            of::<OneOf>(generator),
            one_key::<WrittenTest>(generator),
        ])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        if text == "any" {
            return Some(Ok(Self::Any));
        }
        let Some(word) = text.strip_prefix('$') else {
            return Some(Ok(Self::Is(Literal::Text(text.to_owned()))));
        };
        let is_directory = word
            .strip_prefix("DIR")
            .is_some_and(|rest| matches!(rest.bytes().next(), None | Some(b'/')));
        let first = word.chars().next();
        if is_directory || !first.is_some_and(|c| c.is_ascii_alphabetic() || c == '_') {
            return Some(Ok(Self::Is(Literal::Text(text.to_owned()))));
        }
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        Some(if word.chars().all(is_name) {
            Ok(Self::Capture(word.to_owned()))
        } else {
            Err(format!(
                "`{0}` is no capture: its name has lower case letters, digits and `_` only\n\
                 for the text itself write {{ equals: {text:?} }}",
                text.escape_debug()
            ))
        })
    }

    fn from_number(number: u64) -> Option<Result<Self, String>> {
        Some(Ok(Self::Is(Literal::Number(number.into()))))
    }

    fn from_negative(number: i64) -> Option<Result<Self, String>> {
        Some(Ok(Self::Is(Literal::Number(number.into()))))
    }

    fn from_list<'de, A: SeqAccess<'de>>(list: A) -> Option<Result<Self, A::Error>> {
        Some(one_of(list).map(Self::OneOf))
    }

    fn from_mapping(written: WrittenTest) -> Option<Result<Self, String>> {
        let tests = [
            ("equals", written.equals.map(Self::Is)),
            (
                "one_of",
                // Among functions a list is an order; this stays one of these.
                written
                    .one_of
                    .map(|OneOf(tests)| Self::OneOf(vec![Self::OneOf(tests)])),
            ),
            (
                "prefix",
                written.prefix.map(|NotEmpty(text)| Self::Prefix(text)),
            ),
            ("glob", written.glob.map(|Glob(text)| Self::Glob(text))),
            (
                "regex",
                written.regex.map(|RegexText(regex)| Self::Regex(regex)),
            ),
            (
                "contains",
                written
                    .contains
                    .map(|Contained(parts)| Self::Contains(parts)),
            ),
            ("range", written.range.map(|Range(test)| test)),
            ("not", written.not.map(Self::Not)),
            ("text", written.text.map(Self::Spelled)),
            ("any", written.any.map(|Anything| Self::Any)),
        ];
        let mut written = tests
            .into_iter()
            .filter_map(|(key, test)| Some((key, test?)));
        Some(match (written.next(), written.next()) {
            (Some((_, Self::Not(test))), None) if matches!(*test, Self::Any) => {
                Err("nothing is not `any`\nfor the word itself write { equals: any }".to_owned())
            }
            (Some((_, Self::Spelled(test))), None) if !test.can_be_spelled() => {
                Err("how something is spelled is a text, a pattern, or a list of these".to_owned())
            }
            (Some((_, test)), None) => Ok(test),
            (Some((one, _)), Some((other, _))) => {
                Err(format!("`{one}` and `{other}` exclude each other"))
            }
            (None, _) => Err("the mapping is empty\nto take anything write `any`".to_owned()),
        })
    }
}

fn one_of<'de, A: SeqAccess<'de>>(list: A) -> Result<Vec<Test>, A::Error> {
    let tests: Vec<Test> = elements(list)?;
    let fault = if tests.is_empty() {
        "nothing is one of an empty list\nto take anything write `any`"
    } else if tests.iter().any(|test| matches!(test, Test::Any)) {
        "`any` makes the others of the list pointless\nwrite `any` alone, or { equals: any } for the word itself"
    } else {
        return Ok(tests);
    };
    Err(serde::de::Error::custom(fault))
}

impl Flexible for Literal {
    const EXPECTED: &'static str = "a string, or a number";
    type Mapping = NoMapping;

    fn schema(_: &mut SchemaGenerator) -> Schema {
        either([text(), any_number()])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        Some(Ok(Self::Text(text.to_owned())))
    }

    fn from_number(number: u64) -> Option<Result<Self, String>> {
        Some(Ok(Self::Number(number.into())))
    }

    fn from_negative(number: i64) -> Option<Result<Self, String>> {
        Some(Ok(Self::Number(number.into())))
    }
}

impl Flexible for OneOf {
    const EXPECTED: &'static str = "a list";
    type Mapping = NoMapping;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        list_of(of::<Test>(generator))
    }

    fn from_list<'de, A: SeqAccess<'de>>(list: A) -> Option<Result<Self, A::Error>> {
        Some(one_of(list).map(Self))
    }
}

impl Text for NotEmpty {
    const EXPECTED: &'static str = "a string";

    fn read(text: &str) -> Option<Result<Self, String>> {
        Some(not_empty(text).map(Self))
    }
}

impl Text for Glob {
    const EXPECTED: &'static str = "a string with a glob such as `lib*.so`";

    fn read(text: &str) -> Option<Result<Self, String>> {
        Some(if text.contains("**") && text.bytes().all(|b| b == b'*') {
            Err("every text matches this\nto take anything write `any`".to_owned())
        } else {
            not_empty(text).map(Self)
        })
    }
}

impl Flexible for Contained {
    const EXPECTED: &'static str = "a string, or a list of strings";
    type Mapping = NoMapping;

    fn schema(_: &mut SchemaGenerator) -> Schema {
        either([some_text(), list_of(some_text())])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        Some(not_empty(text).map(|text| Self(vec![text])))
    }

    fn from_list<'de, A: SeqAccess<'de>>(list: A) -> Option<Result<Self, A::Error>> {
        let parts = elements(list).and_then(|parts: Vec<NotEmpty>| {
            if parts.is_empty() {
                let fault = "everything contains an empty list\nto take anything write `any`";
                return Err(serde::de::Error::custom(fault));
            }
            Ok(Self(parts.into_iter().map(|part| part.0).collect()))
        });
        Some(parts)
    }
}

impl Text for Range {
    const EXPECTED: &'static str = "a range such as `1..=4`, `2..` or `..=3`";
    const LIKE: &'static str = r"^([+-]?[0-9]+)?\.\.(=[+-]?[0-9]+)?$";

    fn read(text: &str) -> Option<Result<Self, String>> {
        Some(Test::range(text)?.map(Self))
    }
}

impl Flexible for Anything {
    const EXPECTED: &'static str = "`true`";
    type Mapping = NoMapping;

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "enum": [true] })
    }

    fn from_flag(flag: bool) -> Option<Result<Self, String>> {
        flag.then_some(Ok(Self))
    }
}

deserialize_flexible!(
    Test, Literal, OneOf, NotEmpty, Glob, Contained, Range, Anything
);

fn not_empty(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("every text has an empty one in it\nto take anything write `any`".to_owned());
    }
    if let Some(Ok(Test::Capture(name))) = Test::from_text(text) {
        return Err(format!(
            "a capture is compared as a whole, so `${name}` cannot stand here\n\
             for the text itself write {{ regex: '\\${name}' }}"
        ));
    }
    Ok(text.to_owned())
}
