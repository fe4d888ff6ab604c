//! Numbers and padded text, appended to bytes.
//!
//! What is short is appended as a block of a fixed size and then cut to its length: that is a
//! store, where bytes of any length are a call of `memcpy(3)`. Eight digits are computed at once, a
//! byte of a word each.

/// A one in each byte of a word.
const EACH: u64 = 0x0101_0101_0101_0101;

/// Above this a number has more than eight digits.
const EIGHT: u64 = 100_000_000;

/// A number in decimal: its sign, and how far it is from 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decimal {
    is_negative: bool,
    value: u64,
}

impl<N: Into<i128>> From<N> for Decimal {
    fn from(number: N) -> Self {
        let number: i128 = number.into();
        Self {
            is_negative: number < 0,
            // All that is given is of 64 bits.
            value: number.unsigned_abs() as u64,
        }
    }
}

/// A text that is appended often.
#[derive(Clone, Debug)]
pub(crate) struct Literal {
    text: Box<[u8]>,
    /// All of it, where it is as short as that.
    block: Option<[u8; 16]>,
}

impl Literal {
    pub(crate) fn new(text: &[u8]) -> Self {
        let mut block = [0; 16];
        let all = block.get_mut(..text.len());
        Self {
            text: text.into(),
            block: all.map(|all| all.copy_from_slice(text)).map(|()| block),
        }
    }

    #[inline]
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match &self.block {
            Some(block) => cut(out, block, self.text.len()),
            None => out.extend_from_slice(&self.text),
        }
    }
}

/// Appends the first bytes of a block.
#[inline]
fn cut<const N: usize>(out: &mut Vec<u8>, block: &[u8; N], length: usize) {
    let end = out.len().saturating_add(length);
    out.extend_from_slice(block);
    out.truncate(end);
}

#[inline]
fn fill(out: &mut Vec<u8>, byte: u8, count: usize) {
    if count <= 16 {
        cut(out, &[byte; 16], count);
    } else {
        out.resize(out.len().saturating_add(count), byte);
    }
}

/// The eight digits of a number that has no more, the first in the lowest byte. First the word is
/// parted in two numbers of four digits, then in four of two, then in eight: a multiplication and a
/// shift are the division by 100 and by 10 of all of them.
#[inline]
fn eight(number: u64) -> u64 {
    let fours = (number / 10_000) | (number % 10_000) << 32;
    let hundreds = (fours.wrapping_mul(10_486) >> 20) & 0x7f_0000_007f;
    let twos = hundreds | fours.wrapping_sub(hundreds.wrapping_mul(100)) << 16;
    let tens = (twos.wrapping_mul(103) >> 10) & 0x000f_000f_000f_000f;
    tens | twos.wrapping_sub(tens.wrapping_mul(10)) << 8
}

/// Appends a number, with bytes in front of it up to a width.
#[inline]
fn padded(out: &mut Vec<u8>, value: u64, width: usize, with: u8) {
    if value < 10 && width <= 1 {
        return out.push(b'0'.wrapping_add(value as u8));
    }
    if value >= EIGHT || width > 8 {
        let length = value.checked_ilog10().unwrap_or(0).saturating_add(1);
        fill(out, with, width.saturating_sub(length as usize));
        return long(out, value);
    }
    let digits = eight(value);
    // The last digit is one of 0 too.
    let zeros = (digits.trailing_zeros() / 8).min(7);
    let in_front = !u64::MAX.unbounded_shl(zeros.saturating_mul(8));
    let text = (digits | EACH.wrapping_mul(b'0'.into())) & !in_front
        | EACH.wrapping_mul(with.into()) & in_front;
    let not_shown = (zeros as usize).min(8_usize.saturating_sub(width));
    let text = text.unbounded_shr((not_shown as u32).saturating_mul(8));
    cut(out, &text.to_le_bytes(), 8_usize.saturating_sub(not_shown));
}

fn long(out: &mut Vec<u8>, value: u64) {
    match value / EIGHT {
        0 => padded(out, value, 0, b'0'),
        high => {
            long(out, high);
            padded(out, value % EIGHT, 8, b'0');
        }
    }
}

/// Appends a decimal number.
#[inline]
pub(crate) fn number(out: &mut Vec<u8>, number: impl Into<Decimal>) {
    right(out, number, 0);
}

/// Appends a decimal number, with spaces in front of it up to a width.
#[inline]
pub(crate) fn right(out: &mut Vec<u8>, number: impl Into<Decimal>, width: usize) {
    let Decimal { is_negative, value } = number.into();
    if is_negative {
        let length = value.checked_ilog10().unwrap_or(0).saturating_add(2);
        fill(out, b' ', width.saturating_sub(length as usize));
        out.push(b'-');
        return padded(out, value, 0, b' ');
    }
    padded(out, value, width, b' ');
}

/// Appends a decimal number, with spaces behind it up to a width.
pub(crate) fn left(out: &mut Vec<u8>, number: impl Into<Decimal>, width: usize) {
    let end = out.len().saturating_add(width);
    right(out, number, 0);
    fill(out, b' ', end.saturating_sub(out.len()));
}

/// Appends a decimal number, with zeros in front of it up to a width.
#[inline]
pub(crate) fn zeros(out: &mut Vec<u8>, number: u64, width: usize) {
    padded(out, number, width, b'0');
}

/// Appends text, with spaces in front of it up to a width in bytes.
#[inline]
pub(crate) fn right_text(out: &mut Vec<u8>, text: &[u8], width: usize) {
    fill(out, b' ', width.saturating_sub(text.len()));
    out.extend_from_slice(text);
}

/// Appends a hexadecimal number, with spaces in front of it up to a width.
#[inline]
pub(crate) fn hex(out: &mut Vec<u8>, number: u64, width: usize) {
    if number < 10 && width <= 1 {
        return out.push(b'0'.wrapping_add(number as u8));
    }
    let (block, length) = hexadecimal(number, false);
    fill(out, b' ', width.saturating_sub(length));
    cut(out, &block, length);
}

/// The digits of a number, and how many they are.
#[inline]
pub(crate) fn hexadecimal(number: u64, is_upper: bool) -> ([u8; 16], usize) {
    // The last digit is one of 0 too.
    let zeros = (number.leading_zeros() / 4).min(15);
    let first = number.unbounded_shl(zeros.saturating_mul(4));
    let letter = if is_upper { b'A' } else { b'a' };
    let text = |half: u64| {
        // Four bits to each byte.
        let spread = [(16, 0x0000_ffff_0000_ffff), (8, 0x00ff_00ff_00ff_00ff)];
        let spread = spread
            .iter()
            .fold(half, |word, (by, mask)| (word | word << by) & mask);
        let digits = (spread | spread << 4) & EACH.wrapping_mul(15);
        // Six more is beyond four bits where it is a letter.
        let letters = (digits.wrapping_add(EACH.wrapping_mul(6)) >> 4) & EACH;
        let above = u64::from(letter.wrapping_sub(b'0').wrapping_sub(10));
        digits
            .wrapping_add(EACH.wrapping_mul(b'0'.into()))
            .wrapping_add(letters.wrapping_mul(above))
    };
    let halves = [text(first >> 32), text(first & u64::from(u32::MAX))];
    let both = u128::from(halves[0]) << 64 | u128::from(halves[1]);
    (both.to_be_bytes(), 16_usize.saturating_sub(zeros as usize))
}

/// Appends the two hexadecimal digits of a byte.
#[inline]
pub(crate) fn pair(out: &mut Vec<u8>, byte: u8) {
    let text = |half: u8| half.wrapping_add(if half < 10 { b'0' } else { b'a' - 10 });
    out.extend_from_slice(&[text(byte >> 4), text(byte & 15)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = b">".to_vec();
        write(&mut out);
        String::from_utf8(out).unwrap_or_default()
    }

    /// Each number of digits at both ends, and what lies beside each bit.
    fn interesting() -> impl Iterator<Item = u64> {
        let tens = (0..20).map(|power| 10_u64.pow(power));
        let bits = (0..64).map(|bit| 1_u64 << bit);
        let ends = tens
            .chain(bits)
            .flat_map(|end| [end.wrapping_sub(1), end, end.wrapping_add(1)]);
        ends.chain((0..100_000_000).step_by(4_999))
            .chain([u64::MAX])
    }

    #[test]
    fn numbers_are_written_as_the_standard_library_does() {
        for number in interesting() {
            for width in [0, 3, 7, 8, 9, 16, 25] {
                let right = text(|out| super::right(out, number, width));
                assert_eq!(right, format!(">{number:width$}"));
                let zeros = text(|out| super::zeros(out, number, width));
                assert_eq!(zeros, format!(">{number:0width$}"));
                let left = text(|out| super::left(out, number, width));
                assert_eq!(left, format!(">{number:<width$}"));
                let hex = text(|out| super::hex(out, number, width));
                assert_eq!(hex, format!(">{number:width$x}"));
                let signed = number.cast_signed();
                let right = text(|out| super::right(out, signed, width));
                assert_eq!(right, format!(">{signed:width$}"));
            }
            let (block, length) = hexadecimal(number, true);
            let upper = block.get(..length).map(|text| text.to_vec());
            assert_eq!(upper, Some(format!("{number:X}").into_bytes()));
        }
    }

    #[test]
    fn bytes_are_two_digits() {
        for byte in 0..=u8::MAX {
            assert_eq!(text(|out| pair(out, byte)), format!(">{byte:02x}"));
        }
    }

    #[test]
    fn a_literal_is_written_whatever_its_length() {
        for length in [0, 1, 15, 16, 17, 300] {
            let all = "x".repeat(length);
            let literal = Literal::new(all.as_bytes());
            assert_eq!(text(|out| literal.write(out)), format!(">{all}"));
            assert_eq!(
                text(|out| right_text(out, all.as_bytes(), 40)),
                format!(">{all:>40}")
            );
        }
    }
}
