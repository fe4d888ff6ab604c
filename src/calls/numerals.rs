//! Numbers and bytes as text.

use perf_records::units::run;
use std::fmt::Write;

pub(super) fn decimal(out: &mut String, value: i64) {
    out.push_str(itoa::Buffer::new().format(value));
}

pub(super) fn unsigned(out: &mut String, value: u64) {
    out.push_str(itoa::Buffer::new().format(value));
}

pub(super) fn hex(out: &mut String, value: u64) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let n_digits = (64 - (value | 1).leading_zeros()).div_ceil(4) as usize;
    let mut text = *b"0x0000000000000000";
    for (place, to) in text[2..2 + n_digits].iter_mut().rev().enumerate() {
        *to = DIGITS[((value >> (place * 4)) & 15) as usize];
    }
    out.push_str(std::str::from_utf8(&text[..2 + n_digits]).unwrap_or_default());
}

pub(super) fn hex_or_zero(out: &mut String, value: u64) {
    if value == 0 {
        out.push('0')
    } else {
        hex(out, value)
    }
}

/// Writes bytes as a C string literal with its quotes: `\n` and similar characters by letter,
/// unprintable bytes in octal, and never ambiguous.
pub fn write_string(out: &mut String, bytes: &[u8]) {
    out.push('"');
    write_escaped(out, bytes);
    out.push('"');
}

/// The same without the quotes.
pub fn write_escaped(out: &mut String, bytes: &[u8]) {
    let is_plain = |byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
    let mut rest = bytes;
    loop {
        let (plain, others) = rest.split_at(run(rest, is_plain));
        out.push_str(std::str::from_utf8(plain).unwrap_or_default());
        let Some((byte, behind)) = others.split_first() else {
            return;
        };
        rest = behind;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'\r' => out.push_str("\\r"),
            0x0b => out.push_str("\\v"),
            0x0c => out.push_str("\\f"),
            _ => {
                // As short as the next byte allows, as strace does.
                let is_digit_next = matches!(rest.first(), Some(b'0'..=b'7'));
                let _always_fits = if is_digit_next {
                    write!(out, "\\{byte:03o}")
                } else {
                    write!(out, "\\{byte:o}")
                };
            }
        }
    }
}
