//! Writes foreign text into a page: none of it is markup, and none of it is hidden.

use perf_records::units::{is_hidden, is_order};
use std::fmt::Write;

/// Appends a text without markup. Characters that cannot be seen, or that move others, are written
/// by their numbers, and so is what begins an order to a CI system.
pub(super) fn escape(out: &mut String, text: &str) {
    for (at, c) in text.char_indices() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '#' if text.get(at..).is_some_and(is_order) => out.push_str("&#35;"),
            '\n' | '\t' => out.push(c),
            _ if is_hidden(c) => {
                let _always_fits = write!(out, "<i>\\u{{{:x}}}</i>", u32::from(c));
            }
            _ => out.push(c),
        }
    }
}

/// Appends words, with names of calls between backticks.
pub(super) fn words(out: &mut String, text: &str) {
    let mut is_code = false;
    let mut parts = text.split('`').peekable();
    while let Some(part) = parts.next() {
        // A backtick without a partner is written as it is.
        let is_last = parts.peek().is_none();
        match is_code {
            true if is_last => {
                out.push('`');
                escape(out, part);
            }
            true => {
                out.push_str("<code>");
                escape(out, part);
                out.push_str("</code>");
            }
            false => escape(out, part),
        }
        is_code = !is_code;
    }
}

/// How many lines of one text are shown.
const LINES: usize = 200;

/// Appends lines, each coloured by its first character.
pub(super) fn lines<'a>(out: &mut String, all: impl Iterator<Item = &'a str>) {
    out.push_str("<pre>");
    let mut left = 0_usize;
    for (place, line) in all.enumerate() {
        if place >= LINES {
            left = left.saturating_add(1);
            continue;
        }
        let tag = match line.as_bytes() {
            [b'+', ..] => "ins",
            [b'-', ..] => "del",
            _ => "",
        };
        if tag.is_empty() {
            escape(out, line);
            out.push('\n');
        } else {
            let _always_fits = write!(out, "<{tag}>");
            escape(out, line);
            let _always_fits = writeln!(out, "</{tag}>");
        }
    }
    if left > 0 {
        let _always_fits = writeln!(out, "\u{2026} {left} more lines");
    }
    out.push_str("</pre>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(by: impl Fn(&mut String, &str), text: &str) -> String {
        let mut out = String::new();
        by(&mut out, text);
        out
    }

    #[test]
    fn no_character_is_markup() {
        assert_eq!(
            made(escape, "<script>alert('a' & \"b\")</script>"),
            "&lt;script&gt;alert(&#39;a&#39; &amp; &quot;b&quot;)&lt;/script&gt;"
        );
        assert_eq!(made(words, "`<b>` has `x"), "<code>&lt;b&gt;</code> has `x");
    }

    #[test]
    fn what_cannot_be_seen_is_written_as_what_it_is() {
        let text = "a\u{1b}[31m\0\r\u{9b}\u{202e}b\u{200b}\u{ffff}\ttab";
        assert_eq!(
            made(escape, text),
            "a<i>\\u{1b}</i>[31m<i>\\u{0}</i><i>\\u{d}</i><i>\\u{9b}</i><i>\\u{202e}</i>b<i>\\u{200b}</i><i>\\u{ffff}</i>\ttab"
        );
    }
}
