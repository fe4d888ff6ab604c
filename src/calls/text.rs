//! A call's arguments and result as text.
//!
//! The form is strace's. What a value *is* decides how it is written; values that mean nothing
//! outside their run (ids of tasks, addresses) are written by [`Values`], so that the same code
//! shows them raw to a person and normalised to a snapshot.

use super::constants::{permissions, write_constants, write_signal};
use super::files::{self, Lookup};
use super::kinds::{ArgKind, ReturnKind};
use super::mappings::Place;
use super::memory_text::{UNREAD, buffer, string, strings, structure};
use super::names::Abi;
use super::numerals::{decimal, hex, hex_or_zero, unsigned, write_escaped, write_string};
use super::relatives;
use super::structs::{Varying, write_result_details};
use super::{Call, Entry, Outcome, Signature, errno};

/// How the values that differ from run to run are written.
pub trait Values {
    /// An id of a task, in its own pid namespace; 0 and -1 are never passed.
    fn task(&mut self, id: i32, out: &mut String);
    /// An id of a process group: that of the task that founded it, whether it still lives or not.
    fn group(&mut self, id: i32, out: &mut String) {
        self.task(id, out);
    }
    /// An address of something in memory, never null.
    fn address(&mut self, address: u64, out: &mut String);
    /// An address for its own sake, never null, and the mapping that it lies in, where that is
    /// known.
    fn mapping(&mut self, address: u64, place: Option<&Place>, out: &mut String) {
        let _ = place;
        self.address(address, out);
    }
    /// A descriptor, never negative, and what it refers to.
    fn descriptor(&mut self, number: i32, file: Lookup<'_>, out: &mut String);
    /// A string, in quotes.
    fn string(&mut self, bytes: &[u8], out: &mut String) {
        write_string(out, bytes);
    }
    /// The mark of memory that was not or could not be read.
    fn unread(&mut self, out: &mut String) {
        out.push_str(UNREAD);
    }
    /// Writes a number in a structure whose value differs from run to run by its nature. Returns
    /// true if the number itself was written, so that more may be said of it.
    fn varying(&mut self, what: Varying, number: i128, out: &mut String) -> bool {
        let _ = what;
        out.push_str(itoa::Buffer::new().format(number));
        true
    }
    /// The same, in hex.
    fn varying_hex(&mut self, what: Varying, number: u64, out: &mut String) {
        let _ = what;
        hex_or_zero(out, number);
    }
    /// How much of a buffer's contents is shown, in bytes; 0 for its address only.
    fn contents(&self) -> usize {
        0
    }
}

/// As they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown;

impl Values for Shown {
    fn task(&mut self, id: i32, out: &mut String) {
        decimal(out, id.into());
    }
    fn address(&mut self, address: u64, out: &mut String) {
        hex(out, address);
    }
    fn descriptor(&mut self, number: i32, file: Lookup<'_>, out: &mut String) {
        decimal(out, number.into());
        match file {
            Lookup::Open(file) => {
                out.push('<');
                write_escaped(out, &file.name());
                out.push('>');
            }
            Lookup::Unknown => out.push_str("<?>"),
            Lookup::Closed | Lookup::Untracked => {}
        }
    }
}

/// Writes what stands between the parentheses: the arguments, `...` for the workload's own first
/// `execve`, `?` where they were not seen.
pub fn write_arguments(
    out: &mut String,
    call: &Call,
    signature: &Signature,
    values: &mut impl Values,
) {
    match &call.entry {
        Entry::Seen { args, .. } | Entry::UnderWay { args, .. } => {
            let meanings = signature.meanings(args);
            for (number, (place, kind)) in meanings.shown().enumerate() {
                if number > 0 {
                    out.push_str(", ");
                }
                write_argument(out, call, place, kind, values);
            }
            if signature.hides {
                let is_first = meanings.shown().next().is_none();
                out.push_str(if is_first { "..." } else { ", ..." });
            }
        }
        Entry::Uncorking => {
            for (place, argument) in signature.arguments.iter().enumerate().take(2) {
                if call.memory.strings(place).next().is_some() {
                    write_read_argument(out, call, place, argument.kind, values);
                    out.push_str(", ");
                }
            }
            out.push_str("...");
        }
        Entry::Missing => out.push('?'),
    }
}

/// Writes an argument of a call, which must have been seen to enter.
pub fn write_argument(
    out: &mut String,
    call: &Call,
    place: usize,
    kind: ArgKind,
    values: &mut impl Values,
) {
    let word = call.entry.args().and_then(|args| args.get(place));
    let word = word.copied().unwrap_or_default();
    match kind {
        ArgKind::Fd if word as i32 == libc::AT_FDCWD && !may_be_here(call, place) => {
            decimal(out, libc::AT_FDCWD.into());
        }
        ArgKind::Fd => descriptor(out, word as i32, call.files.argument(place), values),
        ArgKind::Address if word != 0 => values.mapping(word, call.places.argument(place), out),
        ArgKind::Path | ArgKind::Text => string(out, call, place, word, values),
        ArgKind::Strings => strings(out, call, place, word, values),
        ArgKind::Buffer => buffer(out, call, place, word, values),
        ArgKind::Struct(kind) => structure(out, call, (place, word), kind, values),
        _ => write_word(out, kind, word, values),
    }
}

/// Whether a descriptor may stand for the working directory.
fn may_be_here(call: &Call, place: usize) -> bool {
    let (Some(name), Some(words)) = (call.name(), call.entry.args()) else {
        return true;
    };
    let may = |name: &str| files::may_be_here(name, place, words);
    // Most that say so do it under their own name, which takes no look-up.
    may(name)
        || relatives::natives(Abi::native(), name)
            .first()
            .is_some_and(|name| may(name))
}

/// Writes an argument of which only what was read is known.
pub fn write_read_argument(
    out: &mut String,
    call: &Call,
    place: usize,
    kind: ArgKind,
    values: &mut impl Values,
) {
    let somewhere = 1;
    match kind {
        ArgKind::Strings => strings(out, call, place, somewhere, values),
        _ => string(out, call, place, somewhere, values),
    }
}

/// Writes a value that needs nothing but itself.
pub(super) fn write_word(out: &mut String, kind: ArgKind, word: u64, values: &mut impl Values) {
    match kind {
        ArgKind::Fd => descriptor(out, word as i32, Lookup::Untracked, values),
        ArgKind::Int => decimal(out, i64::from(word as i32)),
        ArgKind::Signal => write_signal(out, word as i32),
        ArgKind::Id if word as u32 == u32::MAX => out.push_str("-1"),
        ArgKind::Unused => {}
        ArgKind::Uint32 | ArgKind::Id => decimal(out, i64::from(word as u32)),
        ArgKind::Long | ArgKind::Offset => decimal(out, word as i64),
        // A length of -1 is a mistake that a person must see as what it is.
        ArgKind::Size => unsigned(out, word),
        ArgKind::Hex => hex_or_zero(out, word),
        ArgKind::Hex32 => hex_or_zero(out, u64::from(word as u32)),
        ArgKind::Octal => permissions(out, word & 0xffff),
        ArgKind::Pid => task(out, word as i32, values),
        ArgKind::Constants(constants) => write_constants(out, constants, word, values),
        ArgKind::Address if word != 0 => values.mapping(word, None, out),
        ArgKind::Pointer
        | ArgKind::Address
        | ArgKind::Path
        | ArgKind::Text
        | ArgKind::Strings
        | ArgKind::Struct(_)
        | ArgKind::Buffer => address(out, word, values),
        ArgKind::Word => match word {
            // Above 4 GiB nothing is a number that a program would pass, and below the end of user
            // space it may be an address.
            0x1_0000_0000..=0x00ff_ffff_ffff_ffff => values.address(word, out),
            _ => hex_or_zero(out, word),
        },
    }
}

fn descriptor(out: &mut String, number: i32, file: Lookup<'_>, values: &mut impl Values) {
    match number {
        libc::AT_FDCWD => out.push_str("AT_FDCWD"),
        _ if number < 0 => decimal(out, number.into()),
        _ => values.descriptor(number, file, out),
    }
}

/// What the result of a call is, by its command and flags where those were seen.
#[must_use]
pub fn returns(call: &Call, signature: &Signature) -> ReturnKind {
    if call.returns_elsewhere() {
        return ReturnKind::Number;
    }
    if let Some(returns) = call.operation_returns() {
        return returns;
    }
    let args = call.entry.args().filter(|_| signature.depends.is_some());
    args.map_or(signature.returns, |args| signature.meanings(args).returns)
}

/// Writes what stands behind the ` = `.
pub fn write_result(out: &mut String, call: &Call, returns: ReturnKind, values: &mut impl Values) {
    match call.outcome {
        Outcome::NeverReturned => out.push('?'),
        Outcome::Refused { .. } => out.push_str("? SIGSYS"),
        Outcome::Untold { .. } => out.push_str("? (answered, or SIGSYS)"),
        Outcome::Missing => out.push_str("? (its end is missing)"),
        Outcome::Restarted { .. } => out.push_str("? (restarted)"),
        Outcome::Interrupted { errno: number, .. } => {
            out.push_str("? ");
            out.push_str(errno::errno_name(number).unwrap_or("ERESTART"));
        }
        Outcome::Returned {
            value: value @ -4095..=-1,
            ..
        } => {
            out.push_str("-1 ");
            match errno::errno_name(-value as i32) {
                Some(name) => out.push_str(name),
                None => decimal(out, -value),
            }
        }
        Outcome::Returned { value, .. } => match returns {
            ReturnKind::Number => {
                decimal(out, value);
                write_result_details(out, call, values);
            }
            ReturnKind::Fd => descriptor(out, value as i32, call.files.result(), values),
            ReturnKind::Octal => permissions(out, value as u64),
            ReturnKind::Pid => task(out, value as i32, values),
            ReturnKind::Address if value == 0 => out.push_str("NULL"),
            ReturnKind::Address => values.mapping(value as u64, call.places.result(), out),
            ReturnKind::Constants(names) => write_constants(out, names, value as u64, values),
        },
    }
}

pub(super) fn task(out: &mut String, id: i32, values: &mut impl Values) {
    match id {
        -1..=0 => decimal(out, id.into()),
        i32::MIN => out.push_str("-2147483648"),
        // kill(2) and similar calls: a process group.
        negative if id < 0 => {
            out.push('-');
            values.group(-negative, out);
        }
        _ => values.task(id, out),
    }
}

pub(super) fn address(out: &mut String, word: u64, values: &mut impl Values) {
    if word == 0 {
        out.push_str("NULL")
    } else {
        values.address(word, out)
    }
}
