//! Compares two values by what they refer to.

use super::answer::Answer;
use super::field::numbers;
use super::paths::Place;
use crate::trace::{Part, Reached, Value};

/// Whether two parts, of any calls, are the same thing: a file by its open file description, a task
/// by itself, a path by where it leads, a descriptor and a path by the file's path, all else by its
/// value. An error is no thing: a call that failed opened and made nothing.
pub(super) fn unify(one: &Part, other: &Part) -> Answer {
    let spelled = spelled(one, other);
    match (&one.value, &other.value) {
        (Value::Path { reached: a, .. }, Value::Path { reached: b, .. })
        | (Value::File { reached: a, .. }, Value::Path { reached: b, .. })
        | (Value::Path { reached: a, .. }, Value::File { reached: b, .. })
            if spelled != Answer::Yes =>
        {
            spelled.or(same_file(a, b))
        }
        _ => spelled,
    }
}

/// Whether two paths led to the same file.
fn same_file(one: &Reached, other: &Reached) -> Answer {
    match (one, other) {
        (Reached::Known { names: a, .. }, Reached::Known { names: b, .. }) => {
            a.iter().any(|name| b.contains(name)).into()
        }
        (Reached::Unknown(_), Reached::Known { .. } | Reached::Unknown(_))
        | (Reached::Known { .. }, Reached::Unknown(_)) => Answer::Unknown,
        (Reached::Nowhere, Reached::Unknown(_)) | (Reached::Unknown(_), Reached::Nowhere) => {
            Answer::Unknown
        }
        (Reached::Untold | Reached::Nowhere, _) | (_, Reached::Untold | Reached::Nowhere) => {
            Answer::No
        }
    }
}

/// Compares them by their spelling.
fn spelled(one: &Part, other: &Part) -> Answer {
    match (&one.value, &other.value) {
        (Value::Unread, _) | (_, Value::Unread) => Answer::Unknown,
        (Value::Nothing | Value::Never | Value::Error(_), _)
        | (_, Value::Nothing | Value::Never | Value::Error(_)) => Answer::No,
        (
            Value::File { .. } | Value::UnknownFile { .. },
            Value::File { .. } | Value::UnknownFile { .. },
        ) => files(&one.value, &other.value),
        (Value::UnknownFile { .. }, Value::Path { .. })
        | (Value::Path { .. }, Value::UnknownFile { .. }) => Answer::Unknown,
        (
            Value::File { name, .. },
            Value::Path {
                given, absolute, ..
            },
        )
        | (
            Value::Path {
                given, absolute, ..
            },
            Value::File { name, .. },
        ) => file_and_path(name, given, absolute.as_deref()),
        (
            Value::Path {
                given: a, absolute, ..
            },
            Value::Path {
                given: b,
                absolute: c,
                ..
            },
        ) => Place::of(a, absolute).meets(&Place::of(b, c)),
        (
            Value::Path {
                given, absolute, ..
            },
            Value::Bytes {
                bytes,
                is_cut: false,
            },
        )
        | (
            Value::Bytes {
                bytes,
                is_cut: false,
            },
            Value::Path {
                given, absolute, ..
            },
        ) => (bytes == given || Some(bytes) == absolute.as_ref()).into(),
        (
            Value::Bytes { bytes: a, is_cut },
            Value::Bytes {
                bytes: b,
                is_cut: other_is_cut,
            },
        ) => {
            let (is_a_part, is_b_part) = (a.starts_with(b), b.starts_with(a));
            match (is_cut, other_is_cut) {
                (false, false) => (a == b).into(),
                (true, false) => Answer::unless_more(false, is_b_part && a != b),
                (false, true) => Answer::unless_more(false, is_a_part && a != b),
                (true, true) => Answer::unless_more(false, is_a_part || is_b_part),
            }
        }
        (
            Value::Strings { strings: a, is_cut },
            Value::Strings {
                strings: b,
                is_cut: is_too,
            },
        ) => Answer::unless_more(a == b && !is_cut && !is_too, *is_cut || *is_too),
        (Value::Task { id, task }, Value::Task { id: other, task: b }) => match (task, b) {
            (Some(task), Some(b)) => (task == b).into(),
            (None, None) => (id == other).into(),
            _ => Answer::No,
        },
        // A mapping may come where another was before.
        (Value::Address(a), Value::Address(b)) => (a == b && one.text == other.text).into(),
        (Value::Raw(a), Value::Raw(b)) => (a == b).into(),
        (Value::Frames { .. }, _) | (_, Value::Frames { .. }) => Answer::No,
        (Value::Names(_, a), Value::Names(_, b)) => (a == b).into(),
        (Value::Number(number), value) | (value, Value::Number(number)) => {
            (numbers(value).contains(number) || one.text == other.text).into()
        }
        _ => (one.text == other.text).into(),
    }
}

fn file_and_path(name: &[u8], given: &[u8], absolute: Option<&[u8]>) -> Answer {
    match name.is_empty() {
        true => Answer::No,
        false => Place { given, absolute }.meets(&Place::whole(name)),
    }
}

/// Whether two descriptors have the same open file description. If it is not known for both, only
/// `AT_FDCWD` equals itself.
fn files(one: &Value, other: &Value) -> Answer {
    let parts = |value: &Value| match value {
        Value::File {
            description, name, ..
        } => (*description, Some(name.clone())),
        Value::UnknownFile { description, .. } => (*description, None),
        _ => (None, None),
    };
    match (parts(one), parts(other)) {
        ((Some(a), _), (Some(b), _)) => (a == b).into(),
        ((None, Some(a)), (None, Some(b))) => (!a.is_empty() && a == b).into(),
        ((_, None), _) | (_, (_, None)) => Answer::Unknown,
        _ => Answer::No,
    }
}
