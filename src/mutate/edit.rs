//! Finds other values for the parts of an event.

use super::pool::{Kind, Pool};
use crate::trace::{Part, Value};
use syscall_model::constants::{Constants, write_constants};
use syscall_model::{Shown, write_string};

type Other = (String, Value);

/// Returns other values of the same kind for an argument or field; `constants` are the names in its
/// text.
pub(super) fn of_field(part: &Part, pool: &Pool, constants: Option<&Constants>) -> Vec<Part> {
    let others = match &part.value {
        Value::Unread | Value::Nothing | Value::Never | Value::Error(_) | Value::Frames { .. } => {
            Vec::new()
        }
        Value::Text | Value::Raw(_) | Value::Address(_) => digits(&part.text).into_iter().collect(),
        Value::Number(number) => numbers(&part.text, *number, &[number.saturating_add(1), 0]),
        Value::Names(names, number) => match constants {
            Some(constants) => named(names, *number, constants),
            None => fewer_names(names, *number),
        },
        Value::Bytes { bytes, is_cut } => contents(&part.text, bytes, *is_cut),
        Value::Strings { strings, is_cut } => vectors(strings, *is_cut),
        Value::Path {
            given, absolute, ..
        } => {
            let mut others = vec![sibling(&part.text, given, absolute.as_deref())];
            others.extend(pool.another(Kind::Path, &part.text).cloned());
            others
        }
        Value::File { .. } | Value::UnknownFile { .. } => vec![another_file(&part.text, pool)],
        Value::Task { task, .. } => {
            let other = task.and_then(|task| pool.another_task(task));
            let id = i32::from(task.is_none());
            let text = other.map_or_else(|| id.to_string(), |task| task.to_string());
            vec![(text, Value::Task { id, task: other })]
        }
    };
    different(part, others)
}

/// Returns other results: an error, another error, a success in place of an error, a smaller
/// number.
pub(super) fn of_result(part: &Part, pool: &Pool) -> Vec<Part> {
    let error = |name: &str| (format!("-1 {name}"), Value::Error(name.into()));
    let mut others = match &part.value {
        Value::Unread | Value::Nothing | Value::Never => return Vec::new(),
        Value::Error(name) if **name == *"EIO" => vec![error("EACCES")],
        _ => vec![error("EIO")],
    };
    others.extend(match &part.value {
        Value::Error(_) => vec![("0".to_owned(), Value::Number(0))],
        // Most calls return 0 or an error, and never another number.
        Value::Number(0) => Vec::new(),
        Value::Number(number) => numbers(&part.text, *number, &[number.saturating_sub(1), 0]),
        Value::File { .. } | Value::UnknownFile { .. } => vec![another_file(&part.text, pool)],
        _ => of_field(part, pool, None)
            .into_iter()
            .map(|part| (part.text, part.value))
            .collect(),
    });
    different(part, others)
}

/// Makes parts of these texts and values, without those with the same text.
fn different(part: &Part, others: Vec<Other>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for (text, value) in others {
        let is_known = text == part.text || parts.iter().any(|known| known.text == text);
        if !is_known {
            let (name, alias) = (part.name.clone(), part.alias);
            parts.push(Part {
                name,
                alias,
                text,
                value,
            });
        }
    }
    parts
}

/// Returns other numbers in the form of the given one; text that stands for a number which differs
/// from run to run is no number.
fn numbers(text: &str, number: i128, others: &[i128]) -> Vec<Other> {
    let forms: [fn(i128) -> String; 3] = [
        |number| number.to_string(),
        |number| format!("{number:#x}"),
        |number| format!("0{number:02o}"),
    ];
    let Some(form) = forms
        .into_iter()
        .find(|form| text.starts_with(&form(number)))
    else {
        return Vec::new();
    };
    let rest = text.get(form(number).len()..).unwrap_or_default();
    let write = |other: &i128| (format!("{}{rest}", form(*other)), Value::Number(*other));
    others.iter().map(write).collect()
}

/// Removes each flag in turn and adds one that is missing; for one of several constants, takes
/// another.
fn named(names: &[Box<str>], number: u64, constants: &Constants) -> Vec<Other> {
    let word = number & constants.mask;
    let is_there = |name: &str| names.iter().any(|known| **known == *name);
    let rows = || {
        constants
            .names()
            .map(|(name, bits)| (name, bits & constants.mask))
    };
    let taken = rows()
        .filter(|(name, _)| is_there(name))
        .map(|(_, bits)| word & !bits);
    let added = rows()
        .map(|(_, bits)| word | bits)
        .find(|other| *other != word);
    let other = rows().map(|(_, bits)| bits).find(|other| *other != word);
    let others = taken.chain(added).chain(other.filter(|_| names.len() < 2));
    others
        .map(|other| {
            let mut text = String::new();
            write_constants(&mut text, constants, other, &mut Shown);
            let names = text.split('|').map(Into::into).collect();
            (text, Value::Names(names, other))
        })
        .collect()
}

/// Takes the last name away, for a set of constants of which no other is known.
fn fewer_names(names: &[Box<str>], number: u64) -> Vec<Other> {
    let left = names
        .get(..names.len().saturating_sub(1))
        .unwrap_or_default();
    let text = if left.is_empty() {
        "0".to_owned()
    } else {
        left.join("|")
    };
    let number = number & number.saturating_sub(1);
    vec![(text, Value::Names(left.to_vec(), number))]
}

/// Changes the first byte, or removes one byte, of contents that the trace shows.
fn contents(text: &str, bytes: &[u8], is_cut: bool) -> Vec<Other> {
    if !text.starts_with('"') {
        return Vec::new();
    }
    let mut others = Vec::new();
    let mut changed = bytes.to_vec();
    if let Some(first) = changed.first_mut() {
        *first = if *first == b'x' { b'y' } else { b'x' };
        others.push(changed);
    }
    if let Some((_, less)) = bytes.split_last() {
        others.push(less.to_vec());
    }
    if bytes.is_empty() {
        others.push(b"x".to_vec());
    }
    let write = |bytes: Vec<u8>| (quoted(&bytes, is_cut), Value::Bytes { bytes, is_cut });
    others.into_iter().map(write).collect()
}

/// Changes the last string, or removes it.
fn vectors(strings: &[Vec<u8>], is_cut: bool) -> Vec<Other> {
    let mut others = Vec::new();
    if let Some((last, before)) = strings.split_last() {
        let changed = [last.as_slice(), b"~"].concat();
        others.push([before, &[changed]].concat());
        others.push(before.to_vec());
    }
    let write = |strings: Vec<Vec<u8>>| {
        let texts: Vec<String> = strings.iter().map(|string| quoted(string, false)).collect();
        let end = if is_cut { ", ...]" } else { "]" };
        let text = format!("[{}{end}", texts.join(", "));
        (text, Value::Strings { strings, is_cut })
    };
    others.into_iter().map(write).collect()
}

fn quoted(bytes: &[u8], is_cut: bool) -> String {
    let mut text = String::new();
    write_string(&mut text, bytes);
    if is_cut {
        text.push_str("...");
    }
    text
}

/// Returns a path that no run has: the same with a tilde at its end.
fn sibling(text: &str, given: &[u8], absolute: Option<&[u8]>) -> Other {
    let with_tilde = |path: &[u8]| [path, b"~"].concat();
    let text = match text.rsplit_once('"') {
        Some((before, after)) => format!("{before}~\"{after}"),
        None => format!("{text}~"),
    };
    let value = Value::Path {
        given: with_tilde(given),
        absolute: absolute.map(with_tilde),
        reached: crate::trace::Reached::Untold,
    };
    (text, value)
}

/// Returns another open file of the run; if it has only one, a descriptor that is not open.
fn another_file(text: &str, pool: &Pool) -> Other {
    let closed = || {
        let number = 99;
        let value = Value::File {
            number,
            description: None,
            name: Vec::new(),
            reached: crate::trace::Reached::Untold,
        };
        (number.to_string(), value)
    };
    pool.another(Kind::File, text)
        .cloned()
        .unwrap_or_else(closed)
}

/// Adds one to the first decimal number in a text.
fn digits(text: &str) -> Option<Other> {
    let bytes = text.as_bytes();
    let is_word = |place: Option<usize>| {
        let byte = place.and_then(|place| bytes.get(place));
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    let is_digit = |place: usize| bytes.get(place).is_some_and(u8::is_ascii_digit);
    let starts = (0..bytes.len()).filter(|at| is_digit(*at) && !is_word(at.checked_sub(1)));
    starts.into_iter().find_map(|start| {
        let end = (start..).find(|at| !is_digit(*at))?;
        let number: u64 = text.get(start..end)?.parse().ok()?;
        // Not `0x12`, nor a name in pointed brackets, which stands for something else.
        let is_part = is_word(Some(end)) || text.get(..start)?.ends_with(':');
        let (before, after) = (text.get(..start)?, text.get(end..)?);
        (!is_part).then(|| {
            (
                format!("{before}{}{after}", number.saturating_add(1)),
                Value::Text,
            )
        })
    })
}
