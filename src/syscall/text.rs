//! A call's arguments and result as text.
//!
//! The form is strace's. What a value *is* decides how it is written; values that mean nothing outside their run (ids of tasks, addresses)
//! are written by [`Values`], so that the same code shows them raw to a person and normalised to a snapshot.

use super::kinds::{ArgKind, ReturnKind};
use super::{Entry, Outcome, Signature, errno};
use std::fmt::Write;

/// How the values that differ from run to run are written.
pub trait Values {
    /// An id of a task, in its own pid namespace; 0 and -1 are never passed.
    fn task(&mut self, id: i32, out: &mut String);
    /// An address, never null.
    fn address(&mut self, address: u64, out: &mut String);
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
}

/// Writes what stands between the parentheses: the arguments, `...` for the workload's own first `execve`, `?` where they were not seen.
pub fn write_arguments(
    out: &mut String,
    entry: Entry,
    signature: &Signature,
    values: &mut impl Values,
) {
    match entry {
        Entry::Seen { args, .. } => {
            for (place, (argument, word)) in signature.arguments.iter().zip(args).enumerate() {
                if place > 0 {
                    out.push_str(", ");
                }
                write_argument(out, argument.kind, word, values);
            }
        }
        Entry::Uncorking => out.push_str("..."),
        Entry::Missing => out.push('?'),
    }
}

/// Writes an argument.
pub fn write_argument(out: &mut String, kind: ArgKind, word: u64, values: &mut impl Values) {
    match kind {
        ArgKind::Fd if word as i32 == libc::AT_FDCWD => out.push_str("AT_FDCWD"),
        ArgKind::Int | ArgKind::Fd | ArgKind::Signal => decimal(out, i64::from(word as i32)),
        ArgKind::Uint32 => decimal(out, i64::from(word as u32)),
        ArgKind::Long | ArgKind::Offset => decimal(out, word as i64),
        // A length of -1 is a mistake that a person must see as what it is.
        ArgKind::Size => unsigned(out, word),
        ArgKind::Hex => hex_or_zero(out, word),
        ArgKind::Hex32 => hex_or_zero(out, u64::from(word as u32)),
        ArgKind::Octal => octal(out, word & 0xffff),
        ArgKind::Pid => task(out, word as i32, values),
        ArgKind::Pointer | ArgKind::Address => address(out, word, values),
        ArgKind::Word => match word {
            // Above 4 GiB nothing is a number that a program would pass, and below the end of user space it may be an address.
            0x1_0000_0000..=0x00ff_ffff_ffff_ffff => values.address(word, out),
            _ => hex_or_zero(out, word),
        },
    }
}

/// Writes what stands behind the ` = `.
pub fn write_result(
    out: &mut String,
    returns: ReturnKind,
    outcome: Outcome,
    values: &mut impl Values,
) {
    match outcome {
        Outcome::NeverReturned => out.push('?'),
        Outcome::Missing => out.push_str("? (its end is missing)"),
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
            ReturnKind::Number | ReturnKind::Fd => decimal(out, value),
            ReturnKind::Octal => octal(out, value as u64),
            ReturnKind::Pid => task(out, value as i32, values),
            ReturnKind::Address => address(out, value as u64, values),
        },
    }
}

fn task(out: &mut String, id: i32, values: &mut impl Values) {
    match id {
        -1..=0 => decimal(out, id.into()),
        i32::MIN => out.push_str("-2147483648"),
        // kill(2) and its like: a process group.
        negative if id < 0 => {
            out.push('-');
            values.task(-negative, out);
        }
        _ => values.task(id, out),
    }
}

fn address(out: &mut String, word: u64, values: &mut impl Values) {
    if word == 0 {
        out.push_str("NULL")
    } else {
        values.address(word, out)
    }
}

fn decimal(out: &mut String, value: i64) {
    out.push_str(itoa::Buffer::new().format(value));
}

fn unsigned(out: &mut String, value: u64) {
    out.push_str(itoa::Buffer::new().format(value));
}

fn hex(out: &mut String, value: u64) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.push_str("0x");
    let n_digits = (64 - (value | 1).leading_zeros()).div_ceil(4);
    for place in (0..n_digits).rev() {
        let digit = (value >> (place * 4)) & 15;
        out.push(char::from(
            DIGITS.get(digit as usize).copied().unwrap_or(b'?'),
        ));
    }
}

fn hex_or_zero(out: &mut String, value: u64) {
    if value == 0 {
        out.push('0')
    } else {
        hex(out, value)
    }
}

fn octal(out: &mut String, value: u64) {
    // Writing to a String cannot fail.
    let _always_fits = if value == 0 {
        out.write_char('0')
    } else {
        write!(out, "0{value:o}")
    };
}
