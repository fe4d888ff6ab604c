//! Numbers and text into a buffer of bytes.

pub(super) use crate::print::digits::{Decimal, hex, left, number, pair, right, right_text, zeros};

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
                    pair(out, byte);
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
