//! Numbers and text into a buffer of bytes.

pub(super) use crate::print::digits::{Decimal, hex, left, number, pair, right, right_text, zeros};

use crate::units::{is_hidden, is_order, run};
use std::io::Write;

/// Bytes of elsewhere on one line: what a task calls itself, a path, a field. perf prints them as
/// they are; what would end the line or steer a terminal is escaped here.
pub(super) fn foreign(out: &mut Vec<u8>, bytes: &[u8]) {
    let start = out.len();
    out.extend_from_slice(bytes);
    settle(out, start);
}

/// The same of a name that is padded in front to so many columns.
pub(super) fn right_foreign(out: &mut Vec<u8>, bytes: &[u8], columns: usize) {
    let start = out.len();
    right_text(out, bytes, columns);
    settle(out, start);
}

/// The same of what was written from there on.
pub(super) fn settle(out: &mut Vec<u8>, start: usize) {
    let written = out.get(start..).unwrap_or_default();
    let is_plain = |byte| matches!(byte, b' '..=b'"' | b'$'..=b'~' | b'\t');
    if run(written, is_plain) == written.len() {
        return;
    }
    let written = out.split_off(start);
    for chunk in written.utf8_chunks() {
        let valid = chunk.valid();
        for (at, c) in valid.char_indices() {
            let orders = || c == '#' && valid.get(at..).is_some_and(is_order);
            let _to_memory = if is_hidden(c) {
                write!(out, "{}", c.escape_default())
            } else if orders() {
                write!(out, "{}", c.escape_unicode())
            } else {
                write!(out, "{c}")
            };
        }
        for byte in chunk.invalid() {
            out.extend_from_slice(b"\\x");
            pair(out, *byte);
        }
    }
}

/// Bytes as a JSON string; what is no UTF-8 becomes U+FFFD.
pub(super) fn string(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'"');
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid();
        if valid.contains("##") {
            for (at, c) in valid.char_indices() {
                match c == '#' && valid.get(at..).is_some_and(is_order) {
                    true => out.extend_from_slice(b"\\u0023"),
                    false => character(out, c),
                }
            }
        } else if valid.is_ascii() {
            valid.bytes().for_each(|byte| ascii(out, byte));
        } else {
            valid.chars().for_each(|c| character(out, c));
        }
        if !chunk.invalid().is_empty() {
            out.extend_from_slice("\u{fffd}".as_bytes());
        }
    }
    out.push(b'"');
}

fn ascii(out: &mut Vec<u8>, byte: u8) {
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

/// The same string whatever form it has: what cannot be seen, or steers a terminal, by its number.
fn character(out: &mut Vec<u8>, c: char) {
    match u8::try_from(c) {
        Ok(byte) if c.is_ascii() => ascii(out, byte),
        _ if is_hidden(c) => {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _to_memory = write!(out, "\\u{unit:04x}");
            }
        }
        _ => {
            let _to_memory = write!(out, "{c}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(by: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = b"a\n".to_vec();
        by(&mut out);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn a_name_ends_no_line_and_steers_no_terminal() {
        let name = b"x\n\x1b[2J\xc2\x9b\xe2\x80\xae\xff \xc3\xbc";
        let escaped = "x\\n\\u{1b}[2J\\u{9b}\\u{202e}\\xff \u{fc}";
        assert_eq!(made(|out| foreign(out, name)), format!("a\n{escaped}"));
        assert_eq!(made(|out| right_foreign(out, b"x\n", 4)), "a\n  x\\n");
        assert_eq!(made(|out| foreign(out, b"# ##[x]")), "a\n# \\u{23}#[x]");
    }

    #[test]
    fn json_says_the_same_without_what_steers_a_terminal() {
        let text = "##[a]##vso[b]\u{1b}\n\u{9b}\u{202e}\u{e0041}\u{fc}\"";
        let json = made(|out| string(out, text.as_bytes()));
        assert!(!json[2..].contains(is_hidden), "{json}");
        assert!(!json.contains("##"), "{json}");
        let read: String = serde_json::from_str(&json[2..]).expect("JSON");
        assert_eq!(read, text);
    }
}
