//! What a call has under other names than most: `rename` has two paths, `sendfile` two descriptors,
//! and what `writev` writes lies behind an array.
//!
//! A step that means many calls, by a glob or a class, asks all of them by one word.

use super::answer::Answer;
use super::field::{Captures, is_any_free};
use super::{Matcher, named};
use crate::scenario::Test;
use crate::trace::{Deed, Part, Value};
use syscall_model::{moves_gathered, names_address_in_header};

/// Whether what a deed, which has no field `word`, has in its place passes the test.
pub(super) fn holds(
    deed: &Deed,
    matcher: &Matcher,
    (word, test): (&str, &Test),
    captures: &mut dyn Captures,
) -> Answer {
    match word {
        // Which of them a capture stands for is not said.
        "path" if is_any_free(test, captures) => Answer::unless_more(false, has_any(deed, is_path)),
        "fd" if is_any_free(test, captures) => {
            Answer::unless_more(false, has_any(deed, is_descriptor))
        }
        "path" => each(deed, matcher, is_path, test, captures),
        "fd" => each(deed, matcher, is_descriptor, test, captures),
        "data" => Answer::unless_more(false, moves_gathered(&deed.name)),
        "address" => Answer::unless_more(false, names_address_in_header(&deed.name)),
        // In a structure of which the flags alone are read.
        "mode" => Answer::unless_more(false, &*deed.name == "openat2"),
        // What it is, by creat(2).
        "flags" if &*deed.name == "creat" => {
            let names = ["O_WRONLY", "O_CREAT", "O_TRUNC"];
            let bits = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC;
            let part = Part {
                name: word.into(),
                alias: None,
                text: names.join("|"),
                value: Value::Names(names.map(Into::into).into(), bits as u64),
            };
            named::holds(test, &part, matcher.is_closed, captures)
        }
        // No symbol names the place where the program was.
        "function" => Answer::unless_more(false, deed.part("ip").is_some()),
        _ => Answer::No,
    }
}

fn has_any(deed: &Deed, is_asked: fn(&Part) -> bool) -> bool {
    deed.fields.iter().any(is_asked)
}

/// Whether one of these parts passes the test; or all of them, if the test requires that.
fn each(
    deed: &Deed,
    matcher: &Matcher,
    is_asked: fn(&Part) -> bool,
    test: &Test,
    captures: &mut dyn Captures,
) -> Answer {
    let parts = deed.fields.iter().filter(|part| is_asked(part));
    let answers = parts.map(|part| named::holds(test, part, matcher.is_closed, captures));
    let join = match matcher.is_closed {
        true => Answer::and,
        false => Answer::or,
    };
    answers.reduce(join).unwrap_or(Answer::No)
}

fn is_path(part: &Part) -> bool {
    match part.value {
        Value::Path { .. } => true,
        Value::Unread => matches!(part.alias, Some("from" | "to")),
        _ => false,
    }
}

/// What calls with two paths have for the folders that these begin in.
const FOLDERS: [&str; 5] = ["dfd", "olddfd", "newdfd", "from_dfd", "to_dfd"];

/// Whether it is a descriptor of which a call says what is done to it, and not the folder that a
/// path begins in.
fn is_descriptor(part: &Part) -> bool {
    let is_one = matches!(part.value, Value::File { .. } | Value::UnknownFile { .. });
    is_one && part.alias != Some("dir") && !FOLDERS.contains(&&*part.name)
}
