//! A string as a YAML scalar: plain where it cannot be taken for anything else, quoted where it
//! can.
//!
//! Files are read by YAML 1.2 here and by editors of either version elsewhere, so that whatever one
//! of them takes for a number or a truth value is quoted.

/// What YAML 1.1 or 1.2 takes for nothing or for a truth value, in lower case.
const WORDS: [&str; 9] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];

/// A scalar that may stand anywhere, between brackets as well; one line.
pub(in crate::scenario) fn flow(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./+=@~^$:|".contains(c);
    let is_start = |c: char| c.is_alphanumeric() || "_-./+$".contains(c);
    let is_sound = text.starts_with(is_start)
        && text.chars().all(|c| is_plain(c) && is_printable(c))
        && !text.ends_with([':', '-'])
        && !text.contains("::")
        && !text.starts_with("---")
        && !text.starts_with("...");
    if is_sound && !is_other_type(text) {
        text.to_owned()
    } else {
        quoted(text)
    }
}

/// A scalar behind a key, on one line; a sentence needs no quotes there.
pub(in crate::scenario) fn line(text: &str) -> String {
    let is_sentence = text.starts_with(char::is_alphabetic)
        && text.contains(' ')
        && text.chars().all(is_printable)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #");
    if is_sentence {
        text.to_owned()
    } else {
        flow(text)
    }
}

/// A text of several lines as a block scalar whose lines are indented by `indent` blanks, two more
/// than its key; without a newline at its end.
///
/// `None` if a block cannot hold the text, or if an editor may change it invisibly, such as blanks
/// at the end of a line.
pub(in crate::scenario) fn block(text: &str, indent: usize) -> Option<String> {
    let is_sound = |line: &str| {
        line.chars().all(|c| c == '\t' || is_printable(c)) && !line.ends_with([' ', '\t'])
    };
    let first = text.split('\n').find(|line| !line.is_empty())?;
    if !text.contains('\n') || !text.split('\n').all(is_sound) {
        return None;
    }
    // Where the text itself begins with blanks, how far it is indented cannot be told from it.
    let width = if first.starts_with([' ', '\t']) {
        "2"
    } else {
        ""
    };
    let (lines, keep) = match text.strip_suffix('\n') {
        None => (text, "-"),
        Some(lines) if lines.ends_with('\n') => (lines, "+"),
        Some(lines) => (lines, ""),
    };
    let mut written = format!("|{width}{keep}");
    for line in lines.split('\n') {
        written.push('\n');
        if !line.is_empty() {
            written.extend(std::iter::repeat_n(' ', indent));
            written.push_str(line);
        }
    }
    Some(written)
}

/// Whether a reader may take the plain scalar for a number, a date, a truth value or nothing.
fn is_other_type(text: &str) -> bool {
    let bare = text.trim_start_matches(['+', '-']);
    let lower = bare.to_lowercase();
    let digits = bare.trim_start_matches('.');
    let is_of_numbers = |c: char| c.is_ascii_hexdigit() || "xXoOtTzZ_.:+-".contains(c);
    WORDS.contains(&lower.as_str())
        || [".inf", ".nan"].contains(&lower.as_str())
        || digits.starts_with(|c: char| c.is_ascii_digit()) && digits.chars().all(is_of_numbers)
}

/// Between the quotes that need fewer escapes.
fn quoted(text: &str) -> String {
    let singles = text.matches('\'').count();
    let doubles = text.matches(['"', '\\']).count();
    if singles < doubles && text.chars().all(is_printable) {
        format!("'{}'", text.replace('\'', "''"))
    } else {
        double_quoted(text)
    }
}

fn double_quoted(text: &str) -> String {
    let mut written = String::with_capacity(text.len().saturating_add(2));
    written.push('"');
    for c in text.chars() {
        match c {
            '"' => written.push_str("\\\""),
            '\\' => written.push_str("\\\\"),
            '\n' => written.push_str("\\n"),
            '\t' => written.push_str("\\t"),
            '\r' => written.push_str("\\r"),
            '\0' => written.push_str("\\0"),
            c if is_printable(c) => written.push(c),
            c => match u32::from(c) {
                code @ ..=0xff => written.push_str(&format!("\\x{code:02x}")),
                code @ ..=0xffff => written.push_str(&format!("\\u{code:04x}")),
                code => written.push_str(&format!("\\U{code:08x}")),
            },
        }
    }
    written.push('"');
    written
}

/// Whether people see the character, and YAML takes it as it is: neither a control character, nor a
/// line's or a word's end of Unicode.
fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return !c.is_ascii_control();
    }
    // The standard library's table, behind a letter: a mark that joins the one before it is seen
    // there.
    let pair = String::from_iter(['a', c]);
    pair.escape_debug().nth(1) == Some(c) && !c.is_control() && !c.is_whitespace()
}

#[cfg(test)]
pub(super) mod tests;
