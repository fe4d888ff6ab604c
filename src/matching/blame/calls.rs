//! What single calls say of tests: what was written and where, and what a thread is named.

use crate::trace::{Deed, Value};

/// A thread's name has no more bytes.
pub(super) const LONGEST_NAME: usize = 15;

/// `PR_SET_NAME`.
const SET_NAME: i128 = 15;

/// The stream that a call writes to, by a number of its own; `None` for a file that no runner
/// prints to.
pub(super) fn stream(deed: &Deed, outputs: &[String]) -> Option<u64> {
    match deed.fields.first().map(|part| &part.value) {
        Some(Value::File {
            name, description, ..
        }) => {
            let is_file = name.starts_with(b"/") || name.starts_with(b"$DIR");
            // Terminals; and the workers of pytest-xdist print to no reader.
            let is_device = name.starts_with(b"/dev/") && !name.starts_with(b"/dev/shm/");
            let is_output = outputs.iter().any(|it| it.as_bytes() == name.as_slice());
            let is_of_runner = !is_file || is_device || is_output;
            is_of_runner.then(|| description.unwrap_or_default())
        }
        Some(Value::UnknownFile { description, .. }) => Some(description.unwrap_or_default()),
        _ => Some(0),
    }
}

/// What a call wrote, and whether a part of that was not read; `None` if nothing is known of it.
pub(super) fn written(deed: &Deed) -> Option<(&[u8], bool)> {
    let returns = deed.returns.as_ref().map(|part| &part.value);
    let count = match returns {
        Some(Value::Error(_)) => return Some((&[], false)),
        Some(Value::Number(count)) => usize::try_from(*count).ok(),
        _ => None,
    };
    match deed.fields.get(1).map(|part| &part.value) {
        Some(Value::Bytes { bytes, is_cut }) => {
            let count = count.unwrap_or(usize::MAX);
            let is_cut = *is_cut && count > bytes.len();
            Some((bytes.get(..count).unwrap_or(bytes), is_cut))
        }
        _ => None,
    }
}

/// The name that a thread gave itself.
pub(super) fn own_name(deed: &Deed) -> Option<Vec<u8>> {
    let option = deed.fields.first().map(|part| &part.value);
    let is_name = match option {
        Some(Value::Number(number)) => *number == SET_NAME,
        Some(Value::Names(_, number)) => i128::from(*number) == SET_NAME,
        _ => false,
    };
    match deed.fields.get(1).map(|part| &part.value) {
        Some(Value::Bytes { bytes, .. }) if is_name => {
            let end = bytes.len().min(LONGEST_NAME);
            bytes.get(..end).map(<[u8]>::to_vec)
        }
        _ => None,
    }
}
