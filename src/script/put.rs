//! Numbers and padded text into a buffer of bytes.

/// A decimal number, with spaces in front of it up to a width.
pub(super) fn right(out: &mut Vec<u8>, number: impl itoa::Integer, width: usize) {
    let mut buffer = itoa::Buffer::new();
    right_text(out, buffer.format(number).as_bytes(), width);
}

/// A decimal number, with zeros in front of it up to a width.
pub(super) fn zeros(out: &mut Vec<u8>, number: u64, width: usize) {
    let mut buffer = itoa::Buffer::new();
    let text = buffer.format(number).as_bytes();
    fill(out, b'0', width.saturating_sub(text.len()));
    out.extend_from_slice(text);
}

/// A decimal number, with spaces behind it up to a width.
pub(super) fn left(out: &mut Vec<u8>, number: impl itoa::Integer, width: usize) {
    let mut buffer = itoa::Buffer::new();
    let text = buffer.format(number).as_bytes();
    out.extend_from_slice(text);
    fill(out, b' ', width.saturating_sub(text.len()));
}

/// A decimal number.
pub(super) fn number(out: &mut Vec<u8>, number: impl itoa::Integer) {
    right(out, number, 0);
}

/// Text, with spaces in front of it up to a width in bytes.
pub(super) fn right_text(out: &mut Vec<u8>, text: &[u8], width: usize) {
    fill(out, b' ', width.saturating_sub(text.len()));
    out.extend_from_slice(text);
}

/// A hexadecimal number, with spaces in front of it up to a width.
pub(super) fn hex(out: &mut Vec<u8>, number: u64, width: usize) {
    let mut digits = [0; 16];
    let mut rest = number;
    let mut length = 0_usize;
    for digit in digits.iter_mut().rev() {
        *digit = match (rest & 15) as u8 {
            low @ 0..=9 => b'0'.saturating_add(low),
            high => b'a'.saturating_sub(10).saturating_add(high),
        };
        length = length.saturating_add(1);
        rest >>= 4;
        if rest == 0 {
            break;
        }
    }
    let text = digits.get(digits.len().saturating_sub(length)..);
    right_text(out, text.unwrap_or_default(), width);
}

fn fill(out: &mut Vec<u8>, byte: u8, count: usize) {
    if count > 0 {
        out.resize(out.len().saturating_add(count), byte);
    }
}

/// Bytes as a JSON string; what is no UTF-8 becomes U+FFFD.
pub(super) fn string(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'"');
    for chunk in bytes.utf8_chunks() {
        for byte in chunk.valid().bytes() {
            match byte {
                b'"' => out.extend_from_slice(b"\\\""),
                b'\\' => out.extend_from_slice(b"\\\\"),
                b'\n' => out.extend_from_slice(b"\\n"),
                b'\t' => out.extend_from_slice(b"\\t"),
                0..0x20 | 0x7f => {
                    out.extend_from_slice(b"\\u00");
                    digits(out, byte);
                }
                _ => out.push(byte),
            }
        }
        if !chunk.invalid().is_empty() {
            out.extend_from_slice("\u{fffd}".as_bytes());
        }
    }
    out.push(b'"');
}

/// Two hexadecimal digits.
pub(super) fn digits(out: &mut Vec<u8>, byte: u8) {
    for half in [byte >> 4, byte & 15] {
        hex(out, half.into(), 1);
    }
}
