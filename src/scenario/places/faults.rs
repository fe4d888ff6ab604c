//! What is said about texts that are no YAML, or YAML that no scenario needs.

use std::ops::Range;

use crate::scenario::diagnostic::{Diagnostic, Source};

/// No scenario nests half as deep; later passes recurse.
pub(super) const MAX_DEPTH: usize = 64;

/// Complains about the first character that YAML allows in escaped form only.
pub(super) fn refuse_control_characters(source: &Source) -> Result<(), Diagnostic> {
    // c-printable of YAML 1.2; a byte order mark may only start the file, where `Source` takes it
    // away.
    let is_odd = |c: char| match c {
        '\t' | '\n' | '\r' | '\u{85}' => false,
        '\u{feff}' | '\u{fffe}' | '\u{ffff}' => true,
        c => c.is_control(),
    };
    let Some((at, odd)) = source.text().char_indices().find(|&(_, c)| is_odd(c)) else {
        return Ok(());
    };
    let code = u32::from(odd);
    let message = format!("the character U+{code:04X} cannot stand in YAML as it is");
    let complaint = source.diagnostic(at..at.saturating_add(odd.len_utf8()), message);
    Err(complaint.with_help(format!("write \\u{code:04x} between double quotes")))
}

/// A tagged value; where the tag is all that stands at `at`, it was hardly meant as one.
pub(super) fn tag(source: &Source, at: Range<usize>) -> Diagnostic {
    let text = source.text().get(at.clone()).unwrap_or_default().trim_end();
    let complaint = source.diagnostic(at, "a YAML tag: scenarios have none");
    if text.starts_with('!') && !text.contains([' ', '\n', '\r']) {
        complaint.with_help(format!(
            "a string that begins with `!` is quoted: \"{text}\""
        ))
    } else {
        complaint
    }
}

/// An unquoted scalar within brackets that begins as a block does.
pub(super) fn indicator(source: &Source, at: Range<usize>) -> Diagnostic {
    syntax_error(
        source,
        "a block cannot stand within brackets",
        at.start,
        [].into_iter(),
    )
}

/// A key that YAML reads as a number, a truth value or nothing.
pub(super) fn odd_key(source: &Source, at: Range<usize>) -> Diagnostic {
    let key = source.text().get(at.clone()).unwrap_or_default();
    let help = format!("quote it: \"{key}\"");
    let message = format!("a key must be a string, not `{key}`");
    source.diagnostic(at, message).with_help(help)
}

/// A nesting that goes beyond [`MAX_DEPTH`] at `at`.
pub(super) fn too_deep(source: &Source, at: Range<usize>) -> Diagnostic {
    let message = format!("lists and mappings are nested more than {MAX_DEPTH} deep");
    source.diagnostic(at, message)
}

/// The parser's complaint `info` about the byte `start`, with advice for the usual slips.
///
/// `open` are the first bytes of the lists and mappings that have not ended yet, the outermost
/// first.
pub(super) fn syntax_error(
    source: &Source,
    info: &str,
    start: usize,
    open: impl DoubleEndedIterator<Item = usize>,
) -> Diagnostic {
    let (before, rest) = source
        .text()
        .split_at_checked(start)
        .unwrap_or((source.text(), ""));
    let first = rest.chars().next();
    let end = start.saturating_add(first.map_or(0, char::len_utf8));
    if info == "recursion limit exceeded" {
        return too_deep(source, start..end);
    }
    if info.starts_with("tabs disallowed") {
        // The parser points behind the tab.
        let tab = before.rfind('\t').unwrap_or(start);
        let message = "not valid YAML: a tab in the indentation";
        return source
            .diagnostic(tab..start, message)
            .with_help("indent with spaces");
    }
    let complaint = source.diagnostic(start..end, format!("not valid YAML: {info}"));
    if let Some(sign @ ('%' | '@' | '`' | '*' | '>' | '|' | '&')) = first {
        return complaint.with_help(format!("a string that begins with `{sign}` must be quoted"));
    }
    // What is broken is mostly the end of the innermost bracket that an earlier line opened.
    let bracket = open.rev().find(|&open| {
        before
            .get(open..)
            .is_some_and(|text| text.starts_with(['[', '{']) && text.contains('\n'))
    });
    match bracket {
        Some(at) => complaint.with_related(at..at.saturating_add(1), "this bracket is still open"),
        None => complaint,
    }
}
