//! Writes XML: start and end of elements, attributes and text, none of which is markup.

use perf_records::units::{is_hidden, is_order};
use std::fmt::Write;

/// Appends a text. What XML cannot hold, what cannot be seen, and what begins an order to a CI
/// system, is written by its number.
pub(super) fn text(out: &mut String, text: &str) {
    for (at, c) in text.char_indices() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '#' if text.get(at..).is_some_and(is_order) => out.push_str("&#35;"),
            '\n' | '\t' => out.push(c),
            '\u{fffe}' | '\u{ffff}' => hidden(out, c),
            _ if is_hidden(c) => hidden(out, c),
            _ => out.push(c),
        }
    }
}

fn hidden(out: &mut String, c: char) {
    let _always_fits = write!(out, "\\u{{{:x}}}", u32::from(c));
}

/// Appends an attribute; its line feeds stay line feeds.
pub(super) fn attribute(out: &mut String, name: &str, value: &str) {
    let mut escaped = String::new();
    text(&mut escaped, value);
    let escaped = escaped.replace('\n', "&#10;").replace('\t', "&#9;");
    let _always_fits = write!(out, " {name}=\"{escaped}\"");
}

/// Appends an element with text in it, and a line feed.
pub(super) fn element(out: &mut String, name: &str, attributes: &[(&str, &str)], inner: &str) {
    out.push('<');
    out.push_str(name);
    for (name, value) in attributes {
        attribute(out, name, value);
    }
    if inner.is_empty() {
        out.push_str("/>\n");
        return;
    }
    out.push('>');
    text(out, inner);
    let _always_fits = writeln!(out, "</{name}>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_written_is_markup_or_breaks_the_document() {
        let mut out = String::new();
        element(
            &mut out,
            "a",
            &[("b", "\"<&>\"\n\u{1b}")],
            "</a>]]>\u{0}\u{ffff}\u{202e}\n",
        );
        assert_eq!(
            out,
            "<a b=\"&quot;&lt;&amp;&gt;&quot;&#10;\\u{1b}\">\
             &lt;/a&gt;]]&gt;\\u{0}\\u{ffff}\\u{202e}\n</a>\n"
        );
    }
}
