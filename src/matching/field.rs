//! Tests fields.

use super::answer::Answer;
use super::frames;
use super::hidden::Hidden;
use super::paths::{Place, climbs};
use crate::scenario::{Literal, Test};
use crate::trace::{Part, Value};
use perf_records::glob::path_glob;
use syscall_model::signals::signal_number;

/// The texts in place of what was not read or was left out. What a vector points to is contents,
/// and not an address for its own sake.
const GAPS: [&str; 5] = [
    "<unread>",
    "...",
    "iov_base=<addr>",
    "msg_iov=<addr>",
    "msg_control=<addr>",
];

/// The values of captures, for tests.
pub(super) trait Captures {
    /// Whether a part equals a capture's value; a free capture gets the part as its value.
    fn meet(&mut self, name: &str, part: &Part) -> Answer;

    /// Whether a capture has no value yet.
    fn is_free(&self, name: &str) -> bool;
}

/// Captures that are all free and stay so.
pub(super) struct Free;

impl Captures for Free {
    fn meet(&mut self, _: &str, _: &Part) -> Answer {
        Answer::Yes
    }

    fn is_free(&self, _: &str) -> bool {
        true
    }
}

/// Whether a part passes the author's test.
pub(super) fn holds(test: &Test, part: &Part, captures: &mut dyn Captures) -> Answer {
    match (test, &part.value) {
        (_, Value::Never) => Answer::No,
        (test, Value::Frames { names, is_cut }) => frames::hold(test, names, *is_cut),
        (Test::Any, value) => (*value != Value::Nothing).into(),
        // Another value than this is one that is there.
        (Test::Not(_), Value::Nothing) if !is_null(part) => Answer::No,
        // A negated test binds no captures.
        (Test::Not(test), _) if is_any_free(test, captures) => Answer::Yes,
        (Test::Not(test), _) => holds(test, part, captures).opposite(),
        (Test::OneOf(tests), _) => {
            let mut best = Answer::No;
            for test in tests {
                best = best.or(holds(test, part, captures));
                if best == Answer::Yes {
                    break;
                }
            }
            best
        }
        (Test::Capture(name), _) => captures.meet(name, part),
        (_, Value::Unread) => Answer::Unknown,
        (Test::Is(Literal::Number(number)), _) => is_number(part, *number),
        (Test::Is(Literal::Text(text)), _) => {
            known(part, is_text(part, text), |hidden| hidden.may_be(text))
        }
        (Test::Range(from, to), _) => {
            let numbers = numbers_of(part);
            let is_within =
                |n: &i128| from.is_none_or(|from| from <= *n) && to.is_none_or(|to| *n <= to);
            let known = numbers.iter().any(is_within);
            Answer::unless_more(known, is_partly_read(part))
        }
        (Test::Prefix(prefix), _) => {
            let begins = begins(part, prefix.as_bytes());
            known(part, begins, |hidden| hidden.may_begin(prefix))
        }
        // Which texts a pattern takes is not told before it is tried on one.
        (Test::Glob(glob), _) => known(part, is_like(part, glob.as_bytes()), |_| true),
        (Test::Regex(regex), _) => {
            let is_like = textual(part, &|text, is_whole| match regex.find(text) {
                // `$` must not match at the end of a cut string.
                Some(found) => is_whole || found.end() < text.len(),
                None => false,
            });
            let word = regex.as_str();
            let is_word = regex::escape(word) == word;
            known(part, is_like, |hidden| !is_word || hidden.may_contain(word))
        }
        (Test::Contains(all), _) => known(part, contains(part, all), |hidden| {
            all.iter()
                .all(|word| part.text.contains(word) || hidden.may_contain(word))
        }),
        (Test::Words(words), Value::Strings { strings, is_cut }) => are(words, strings, *is_cut),
        (Test::Words(_), _) => Answer::No,
        (Test::Spelled(test), _) => spelled(test, part, captures),
    }
}

/// Whether strings, of which there may be more, are these words.
fn are(words: &[String], strings: &[Vec<u8>], is_cut: bool) -> Answer {
    let begins = |(word, string): (&String, &Vec<u8>)| word.as_bytes().starts_with(string);
    let may_be = words.len() >= strings.len() && words.iter().zip(strings).all(begins);
    let is = |(word, string): (&String, &Vec<u8>)| word.as_bytes() == string.as_slice();
    let is_same = words.len() == strings.len() && words.iter().zip(strings).all(is);
    Answer::unless_more(is_same && !is_cut, is_cut && may_be)
}

/// Whether how a path or a descriptor's file is spelled passes a test. What begins with `../` is
/// compared as it stands, and not by where its text leads.
pub(super) fn spelled(test: &Test, part: &Part, captures: &mut dyn Captures) -> Answer {
    let given = match &part.value {
        Value::Path { given, .. } if climbs(given) => given,
        _ => return holds(test, part, captures),
    };
    match test {
        Test::Not(test) => spelled(test, part, captures).opposite(),
        Test::OneOf(tests) => {
            let answers = tests.iter().map(|test| spelled(test, part, captures));
            answers.fold(Answer::No, Answer::or)
        }
        Test::Prefix(prefix) => given.starts_with(prefix.as_bytes()).into(),
        Test::Glob(glob) => path_glob(glob.as_bytes(), given).into(),
        test => holds(test, part, captures),
    }
}

pub(super) fn is_any_free(test: &Test, captures: &dyn Captures) -> bool {
    let mut names = Vec::new();
    captures_of(test, &mut names);
    names.iter().any(|name| captures.is_free(name))
}

/// Whether a test depends on the value of a capture.
pub(super) fn has_capture(test: &Test) -> bool {
    match test {
        Test::Capture(_) => true,
        Test::Not(test) | Test::Spelled(test) => has_capture(test),
        Test::OneOf(tests) => tests.iter().any(has_capture),
        _ => false,
    }
}

/// The captures of a test.
pub(super) fn captures_of<'t>(test: &'t Test, into: &mut Vec<&'t str>) {
    match test {
        Test::Capture(name) => into.push(name),
        Test::Not(test) | Test::Spelled(test) => captures_of(test, into),
        Test::OneOf(tests) => tests.iter().for_each(|test| captures_of(test, into)),
        _ => {}
    }
}

/// Returns the numbers that stand for a value.
pub(super) fn numbers(value: &Value) -> Vec<i128> {
    match value {
        Value::Number(number) => vec![*number],
        // An author who writes a constant such as `AT_FDCWD` as a number writes -100, however wide
        // its register is.
        // A null pointer is 0, and an empty set is none.
        Value::Names(names, _) if is_set(names) => Vec::new(),
        Value::Names(_, bits) => {
            let mut all = vec![i128::from(*bits), i128::from(*bits as i64)];
            if *bits <= u64::from(u32::MAX) {
                all.push(i128::from(*bits as u32 as i32));
            }
            all
        }
        Value::File { number, .. } | Value::UnknownFile { number, .. } => {
            vec![i128::from(*number)]
        }
        Value::Task { id, .. } => vec![i128::from(*id)],
        Value::Address(address) => vec![i128::from(*address)],
        // A program sees -1 for any error.
        Value::Error(_) => vec![-1],
        _ => Vec::new(),
    }
}

/// The same of a part, where a null pointer is 0.
fn numbers_of(part: &Part) -> Vec<i128> {
    match is_null(part) {
        true => vec![0],
        false => numbers(&part.value),
    }
}

/// Whether it is a pointer to nothing, and not what an event has no value of.
fn is_null(part: &Part) -> bool {
    part.value == Value::Nothing && part.text == "NULL"
}

fn is_number(part: &Part, wanted: i128) -> Answer {
    let known = numbers_of(part);
    match known.is_empty() {
        false => known.contains(&wanted).into(),
        true => is_text(part, &wanted.to_string()),
    }
}

fn is_text(part: &Part, wanted: &str) -> Answer {
    let number = numeral(wanted);
    let is_numbered = || number.is_some_and(|number| numbers_of(part).contains(&number));
    match &part.value {
        Value::Names(names, _) => {
            let wanted: Vec<&str> = wanted.split('|').map(str::trim).collect();
            let has = |word: &&str| names.iter().any(|name| **name == **word);
            let is_meant = |name: &&str| wanted.contains(name);
            let is_same =
                wanted.iter().all(has) && names.iter().map(|n| &**n).all(|n| is_meant(&n));
            (is_same || is_numbered()).into()
        }
        Value::Bytes { bytes, is_cut } => match is_cut {
            true => Answer::unless_more(
                false,
                wanted.len() > bytes.len() && wanted.as_bytes().starts_with(bytes),
            ),
            false => (bytes == wanted.as_bytes()).into(),
        },
        Value::Path {
            given, absolute, ..
        } => Place::of(given, absolute).is(wanted.as_bytes()),
        Value::File { .. } | Value::UnknownFile { .. } if number.is_some() => is_numbered().into(),
        Value::File { name, .. } => named(name, &|place| place.is_file(wanted.as_bytes())),
        Value::UnknownFile { .. } => Answer::Unknown,
        Value::Task { task, .. } => {
            let is_named = task.is_some_and(|task| task.to_string() == wanted);
            (is_named || is_numbered()).into()
        }
        Value::Error(name) => (**name == *wanted || is_numbered()).into(),
        Value::Number(_) => (is_numbered() || part.text == wanted).into(),
        Value::Strings { .. } => textual(part, &|text, is_whole| {
            is_whole && text == wanted.as_bytes()
        }),
        Value::Address(_) => (is_numbered() || part.text == wanted).into(),
        Value::Text | Value::Raw(_) => {
            let is_raw = matches!(&part.value, Value::Raw(raw) if **raw == *wanted);
            Answer::unless_more(is_raw || part.text == wanted, is_partly_read(part))
        }
        Value::Nothing => (is_numbered() || part.text == wanted).into(),
        Value::Never | Value::Frames { .. } => (part.text == wanted).into(),
        Value::Unread => Answer::Unknown,
    }
}

fn named(name: &[u8], test: &dyn Fn(Place<'_>) -> Answer) -> Answer {
    match name.is_empty() {
        true => Answer::No,
        false => test(Place::whole(name)),
    }
}

fn begins(part: &Part, prefix: &[u8]) -> Answer {
    match &part.value {
        Value::Path {
            given, absolute, ..
        } => Place::of(given, absolute).starts_with(prefix),
        Value::File { name, .. } => named(name, &|place| place.starts_with(prefix)),
        Value::Bytes {
            bytes,
            is_cut: true,
        } => Answer::unless_more(bytes.starts_with(prefix), prefix.starts_with(bytes)),
        _ => textual(part, &|text, _| text.starts_with(prefix)),
    }
}

fn is_like(part: &Part, glob: &[u8]) -> Answer {
    match &part.value {
        Value::Path {
            given, absolute, ..
        } => Place::of(given, absolute).is_like(glob),
        Value::File { name, .. } => named(name, &|place| place.is_like(glob)),
        _ => textual(part, &|text, is_whole| is_whole && path_glob(glob, text)),
    }
}

fn contains(part: &Part, all: &[String]) -> Answer {
    if let Value::Names(names, bits) = &part.value {
        let signal = |word: &str| {
            let number = is_set(names).then(|| signal_number(word)).flatten()?;
            1_u64.checked_shl(u32::try_from(number).ok()?.checked_sub(1)?)
        };
        let has = |word: &str| {
            names.iter().any(|name| **name == *word)
                || signal(word).is_some_and(|bit| bits & bit != 0)
                || numeral(word)
                    .and_then(|number| u64::try_from(number).ok())
                    .is_some_and(|number| bits & number == number)
        };
        return all
            .iter()
            .flat_map(|words| words.split('|'))
            .all(|word| has(word.trim()))
            .into();
    }
    textual(part, &|text, _| {
        all.iter().all(|wanted| {
            let wanted = wanted.as_bytes();
            wanted.is_empty() || text.windows(wanted.len()).any(|piece| piece == wanted)
        })
    })
}

/// Whether names are those of a set of signals: one text, in brackets.
pub(super) fn is_set(names: &[Box<str>]) -> bool {
    let mut names = names.iter();
    names
        .next()
        .is_some_and(|name| name.starts_with(['[', '~']))
}

/// Whether one of the texts of a value passes; the test is told whether the text is whole.
fn textual(part: &Part, test: &dyn Fn(&[u8], bool) -> bool) -> Answer {
    let text = part.text.as_bytes();
    match &part.value {
        Value::Bytes { bytes, is_cut } => Answer::unless_more(test(bytes, !is_cut), *is_cut),
        Value::Strings { strings, is_cut } => {
            let joined = strings.join(&b' ');
            Answer::unless_more(test(&joined, !is_cut), *is_cut)
        }
        Value::Path {
            given, absolute, ..
        } => {
            let is_absolute = |absolute: &Vec<u8>| test(absolute, true);
            (test(given, true) || absolute.as_ref().is_some_and(is_absolute)).into()
        }
        Value::File { name, .. } => named(name, &|place| test(place.given, true).into()),
        Value::Error(name) => test(name.as_bytes(), true).into(),
        Value::Task { task, id } => {
            let name = task.map_or_else(|| id.to_string(), |task| task.to_string());
            test(name.as_bytes(), true).into()
        }
        Value::Number(number) => {
            (test(number.to_string().as_bytes(), true) || test(text, true)).into()
        }
        Value::Names(..) => test(text, true).into(),
        Value::Text => Answer::unless_more(test(text, true), is_partly_read(part)),
        Value::Address(address) => {
            (test(text, true) || test(format!("{address:#x}").as_bytes(), true)).into()
        }
        Value::Raw(raw) => {
            let is_so = test(raw.as_bytes(), true) || test(text, true);
            Answer::unless_more(is_so, is_partly_read(part))
        }
        Value::Nothing | Value::Never | Value::Frames { .. } => Answer::No,
        Value::Unread | Value::UnknownFile { .. } => Answer::Unknown,
    }
}

/// The answer to a test of a text, in which a structure may have a word in place of a number: then
/// a no is none if the test `may` hold with some number.
fn known(part: &Part, answer: Answer, may: impl FnOnce(&Hidden) -> bool) -> Answer {
    match answer {
        Answer::No => Answer::unless_more(false, Hidden::of(part).is_some_and(|it| may(&it))),
        answer => answer,
    }
}

/// Whether a structure's text says that some of it is not known.
fn is_partly_read(part: &Part) -> bool {
    matches!(part.value, Value::Text | Value::Raw(_))
        && GAPS.iter().any(|gap| part.text.contains(gap))
}

/// Reads a number as in C: decimal, `0x`, `0`.
pub(crate) fn numeral(text: &str) -> Option<i128> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let (radix, digits) = match digits.strip_prefix("0x") {
        Some(digits) => (16, digits),
        None if digits.len() > 1 && digits.starts_with('0') => (8, digits),
        None => (10, digits),
    };
    let is_plain = digits.starts_with(|c: char| c.is_ascii_alphanumeric());
    let number = is_plain.then(|| i128::from_str_radix(digits, radix).ok());
    number.flatten().map(|number| sign * number)
}
