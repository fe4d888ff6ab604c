//! Sets of bits, as `%*pb` and `%*pbl` show them (`bitmap_string()`, `bitmap_list_string()` of
//! `lib/vsprintf.c`).

use super::digits;

/// The first `length` bits of `bytes`, which are words of a little-endian kernel.
pub(super) fn write(bytes: &[u8], length: usize, is_list: bool, out: &mut Vec<u8>) {
    let length = length.min(bytes.len().saturating_mul(8));
    let is_set = |bit: usize| {
        bytes
            .get(bit / 8)
            .is_some_and(|byte| byte.unbounded_shr((bit % 8) as u32) & 1 == 1)
    };
    if is_list {
        list(length, is_set, out)
    } else {
        words(length, is_set, out)
    }
}

/// Ranges: `0-3,7`.
fn list(length: usize, is_set: impl Fn(usize) -> bool, out: &mut Vec<u8>) {
    let start = out.len();
    let mut bits = (0..length).filter(|bit| is_set(*bit)).peekable();
    while let Some(first) = bits.next() {
        let mut last = first;
        while let Some(next) = bits.next_if_eq(&last.saturating_add(1)) {
            last = next;
        }
        if out.len() > start {
            out.push(b',');
        }
        digits::number(out, first as u64);
        if last > first {
            out.push(b'-');
            digits::number(out, last as u64);
        }
    }
}

/// Hexadecimal digits, the highest first, with a comma every 32 bits.
fn words(length: usize, is_set: impl Fn(usize) -> bool, out: &mut Vec<u8>) {
    for digit in (0..length.div_ceil(4)).rev() {
        let value = (0..4_usize).fold(0_u8, |value, bit| {
            let at = digit.saturating_mul(4).saturating_add(bit);
            value | u8::from(at < length && is_set(at)).unbounded_shl(bit as u32)
        });
        out.push(char::from_digit(u32::from(value), 16).map_or(b'0', |digit| digit as u8));
        if digit % 8 == 0 && digit > 0 {
            out.push(b',');
        }
    }
}
