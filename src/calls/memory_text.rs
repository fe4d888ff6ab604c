//! What pointers point to, as text.

use super::structs::netlink::{Beginning, Speaks, messages};
use super::structs::{StructKind, write_struct};
use super::text::{Values, address};
use super::{Call, Outcome};
use crate::memory::{Moment, Piece, State};

/// A string that the call was given, or the mark of one that could not be read; never silently
/// nothing.
pub(super) fn string(
    out: &mut String,
    call: &Call,
    place: usize,
    word: u64,
    values: &mut impl Values,
) {
    if word == 0 {
        return out.push_str("NULL");
    }
    match call.memory.piece(place, Moment::Enter) {
        Some(piece) => one_string(out, call, piece, values),
        None => values.unread(out),
    }
}

/// What stands for memory that was not or could not be read.
pub const UNREAD: &str = "<unread>";

/// Whether the kernel could not read what the call was given either: then the address is all there
/// is to it.
pub(super) fn is_bad_address(call: &Call) -> bool {
    let fault = -i64::from(libc::EFAULT);
    matches!(call.outcome, Outcome::Returned { value, .. } if value == fault)
}

pub(super) fn one_string(out: &mut String, call: &Call, piece: &Piece, values: &mut impl Values) {
    match piece.state {
        State::Unread if piece.address != 0 && is_bad_address(call) => {
            values.address(piece.address, out);
        }
        State::Unread | State::Part | State::End => values.unread(out),
        State::Whole => values.string(&piece.bytes, out),
        State::Cut => {
            values.string(&piece.bytes, out);
            out.push_str("...");
        }
    }
}

pub(super) fn strings(
    out: &mut String,
    call: &Call,
    place: usize,
    word: u64,
    values: &mut impl Values,
) {
    if word == 0 {
        return out.push_str("NULL");
    }
    let mut pieces = call.memory.strings(place).peekable();
    match pieces.peek() {
        None => return values.unread(out),
        // The vector itself.
        Some(piece) if piece.address == 0 && piece.state == State::Unread => {
            return if is_bad_address(call) {
                address(out, word, values)
            } else {
                values.unread(out)
            };
        }
        Some(_) => {}
    }
    out.push('[');
    let mut is_whole = false;
    for (number, piece) in pieces.enumerate() {
        if piece.state == State::End {
            is_whole = true;
            break;
        }
        if number > 0 {
            out.push_str(", ");
        }
        one_string(out, call, piece, values);
    }
    out.push_str(if is_whole { "]" } else { ", ...]" });
}

/// The contents of a buffer where they were asked for, else where it is.
pub(super) fn buffer(
    out: &mut String,
    call: &Call,
    place: usize,
    word: u64,
    values: &mut impl Values,
) {
    let shown = values.contents();
    let piece = [Moment::Enter, Moment::Exit]
        .into_iter()
        .find_map(|moment| call.memory.piece(place, moment));
    match piece.filter(|_| shown > 0) {
        Some(piece) if piece.read().is_some() || piece.state == State::Part => {
            let first = piece.bytes.get(..shown).unwrap_or(&piece.bytes);
            let speaks = Speaks::of_buffer(call, place);
            let is_broken = piece.state == State::Part && first.len() == piece.bytes.len();
            let beginning = Beginning {
                bytes: first,
                length: length_of_buffer(call, piece),
                broken_at: is_broken.then_some(piece.address),
            };
            let told = speaks.and_then(|it| messages(out, values, it, beginning));
            if told.is_some() {
                return;
            }
            if piece.state == State::Part {
                return address(out, word, values);
            }
            values.string(first, out);
            if first.len() < piece.bytes.len() || piece.state == State::Cut {
                out.push_str("...");
            }
        }
        _ => address(out, word, values),
    }
}

/// How long the contents are of which a piece is the beginning.
fn length_of_buffer(call: &Call, piece: &Piece) -> usize {
    let given = call.entry.args().and_then(|args| args.get(2)).copied();
    let length = match (piece.state, piece.moment, call.outcome) {
        (State::Cut | State::Part, Moment::Enter, _) => given,
        (State::Cut | State::Part, Moment::Exit, Outcome::Returned { value, .. }) => {
            u64::try_from(value).ok()
        }
        _ => None,
    };
    length
        .and_then(|length| usize::try_from(length).ok())
        .unwrap_or(0)
        .max(piece.bytes.len())
}

pub(super) fn structure(
    out: &mut String,
    call: &Call,
    (place, word): (usize, u64),
    kind: StructKind,
    values: &mut impl Values,
) {
    let is_written = word != 0 && write_struct(out, kind, (call, place), values);
    if !is_written {
        address(out, word, values);
    }
}
