//! Whether a call tells of data that were not stored, though every file shows them as long as the
//! machine runs.

use super::errors::{is_sync, is_write};
use crate::trace::{Deed, Value};

/// Whether who ignores that this call failed may have lost data: a sync, and the close of a file
/// with something written that no sync followed (`close(2)`). `before` are the calls before it.
pub(super) fn tells_of_data(call: &Deed, before: &[&Deed]) -> bool {
    is_sync(&call.name) || &*call.name == "close" && is_unsynced(call, before)
}

fn is_unsynced(call: &Deed, before: &[&Deed]) -> bool {
    let Some(own) = description(call) else {
        return false;
    };
    let succeeded = |deed: &Deed| {
        let returned = deed.returns.as_ref().map(|part| &part.value);
        matches!(returned, Some(Value::Number(_)))
    };
    let of_file = before.iter().rev();
    let mut of_file = of_file.filter(|it| description(it) == Some(own) && succeeded(it));
    let last = of_file.find(|it| is_sync(&it.name) || is_write(&it.name));
    last.is_some_and(|last| is_write(&last.name))
}

/// The open file description of its first descriptor.
fn description(deed: &Deed) -> Option<u64> {
    deed.fields.iter().find_map(|part| match &part.value {
        Value::File { description, .. } | Value::UnknownFile { description, .. } => *description,
        _ => None,
    })
}
