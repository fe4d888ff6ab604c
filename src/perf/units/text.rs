//! Text of elsewhere, as a person may be shown it.

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::path::Path;

/// A text of elsewhere on one line, in which nothing steers a terminal: what a program printed or
/// is called, a path, a field of a recording.
///
/// What cannot be seen, ends a line or makes other characters stand elsewhere is written as Rust's
/// literals have it; a tab stays. So are the words by which CI systems take orders: `::error` at
/// the start of a line, `##[group]`, `##vso[...]` and `##teamcity[...]` anywhere in it.
///
/// ```
/// use perf_records::units::shown;
/// assert_eq!(shown("\u{1b}[2J\npass  everything"), "\\u{1b}[2J\\npass  everything");
/// assert_eq!(shown("größer als\t\"x\""), "größer als\t\"x\"");
/// ```
#[must_use]
pub fn shown(text: &str) -> Cow<'_, str> {
    // The usual text, of which there is much, is looked at once, byte by byte.
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\t');
    let has_order = has_order(text);
    if !has_order && (text.bytes().all(is_plain) || !text.chars().any(is_hidden)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut is_start = true;
    for (at, c) in text.char_indices() {
        let rest = text.get(at..).unwrap_or_default();
        if is_hidden(c) {
            out.extend(c.escape_default());
        } else if has_order && (is_start && rest.starts_with(FIRST) || is_order(rest)) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
        is_start &= c.is_whitespace();
    }
    Cow::Owned(out)
}

/// Each line of a text by itself.
pub fn shown_lines(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    text.lines().map(shown)
}

/// A text as one word of a shell's command, on one line. Where something in it cannot be seen or
/// would steer a terminal it is written as `$'...'`, with octal numbers (POSIX.1-2024, 2.2.4).
///
/// ```
/// use perf_records::units::shell_word;
/// assert_eq!(shell_word("snapshots/a,b=1"), "snapshots/a,b=1");
/// assert_eq!(shell_word("it's here"), r"'it'\''s here'");
/// assert_eq!(shell_word("it's\n\u{1b}1\\"), r"$'it\'s\012\0331\\'");
/// ```
#[must_use]
pub fn shell_word(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    match text.chars().any(|c| is_hidden(c) || c == '\t') || has_order(text) {
        true => Cow::Owned(escaped_word(text.as_bytes())),
        false => Cow::Owned(format!("'{}'", text.replace('\'', r"'\''"))),
    }
}

/// A path as one word of a shell's command, whatever its bytes are.
///
/// ```
/// use perf_records::units::shell_path;
/// use std::ffi::OsStr;
/// use std::os::unix::ffi::OsStrExt;
/// assert_eq!(shell_path("scenarios/sp ace/x y.yaml"), "'scenarios/sp ace/x y.yaml'");
/// assert_eq!(shell_path(OsStr::from_bytes(b"a\xff")), r"$'a\377'");
/// ```
#[must_use]
pub fn shell_path(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    match path.to_str() {
        Some(text) => shell_word(text).into_owned(),
        None => escaped_word(path.as_os_str().as_encoded_bytes()),
    }
}

fn escaped_word(bytes: &[u8]) -> String {
    let mut word = "$'".to_owned();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\'' | '\\' => word.extend(['\\', c]),
                // What CI systems take for an order begins with it.
                '#' => octal(&mut word, b"#"),
                '\t' => octal(&mut word, b"\t"),
                c if is_hidden(c) => octal(&mut word, c.encode_utf8(&mut [0; 4]).as_bytes()),
                c => word.push(c),
            }
        }
        octal(&mut word, chunk.invalid());
    }
    word.push('\'');
    word
}

fn octal(word: &mut String, bytes: &[u8]) {
    for byte in bytes {
        let _always_fits = write!(word, "\\{byte:03o}");
    }
}

/// A number of things, by the word for one of them.
///
/// ```
/// use perf_records::units::count_of;
/// assert_eq!((count_of(1, "call").as_str(), count_of(0, "call").as_str()), ("1 call", "0 calls"));
/// ```
#[must_use]
pub fn count_of(n: u64, what: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {what}{plural}")
}

/// A path on one line.
#[must_use]
pub fn shown_path(path: impl AsRef<Path>) -> String {
    shown(&path.as_ref().to_string_lossy()).into_owned()
}

/// How many bytes in front are such: sixteen at a time, as most text is one long run of plain
/// characters.
#[inline]
pub fn run(bytes: &[u8], is_such: impl Fn(u8) -> bool) -> usize {
    let all = |chunk: &&[u8]| chunk.iter().fold(true, |all, byte| all & is_such(*byte));
    let chunks = bytes.chunks_exact(16).take_while(all).count() * 16;
    let rest = bytes.get(chunks..).unwrap_or_default();
    chunks + rest.iter().take_while(|byte| is_such(**byte)).count()
}

/// Whether it is no character of a line, cannot be seen, or changes where others stand: controls,
/// zero widths, marks and overrides of direction, separators of lines, tags, what is no character
/// at all.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    match c {
        '\t' => false,
        ' '..='~' => false,
        '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fdd0}'..='\u{fdef}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => true,
        _ => c.is_control() || u32::from(c) & 0xfffe == 0xfffe,
    }
}

/// What GitHub takes for an order at the start of a line, blanks in front of it left out.
const FIRST: &str = "::";

/// Whether a line has what a CI system takes for an order to it.
fn has_order(line: &str) -> bool {
    let mut places = line.match_indices('#');
    line.trim_start().starts_with(FIRST)
        || places.any(|(at, _)| is_order(line.get(at..).unwrap_or_default()))
}

/// Whether it begins with what a CI system takes for an order anywhere in a line: GitHub's older
/// ones, those of Azure Pipelines, which has them in any case, and those of TeamCity. All of them
/// begin with two number signs.
#[must_use]
pub fn is_order(rest: &str) -> bool {
    let rest = rest.as_bytes();
    ["##[", "##vso[", "##teamcity["].iter().any(|order| {
        let start = rest.get(..order.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(order.as_bytes()))
    })
}

/// The beginning of a text on one line, with its length where it was cut.
#[must_use]
pub fn excerpt(text: &str, characters: usize) -> Cow<'_, str> {
    match text.char_indices().nth(characters) {
        None => shown(text),
        Some((end, _)) => Cow::Owned(format!(
            "{}... ({} bytes)",
            shown(text.get(..end).unwrap_or_default()),
            text.len()
        )),
    }
}

/// Bytes that are no text, and the first that is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotText {
    /// Where it stands, in bytes from the start.
    pub at: usize,
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1 in characters.
    pub column: usize,
    /// The byte.
    pub byte: u8,
}

impl NotText {
    /// Reads bytes as UTF-8.
    ///
    /// ```
    /// use perf_records::units::NotText;
    /// let error = NotText::check(b"a\nb\xff").unwrap_err();
    /// assert_eq!(error.to_string(), "line 2, column 2: the byte 0xff is not UTF-8");
    /// ```
    ///
    /// # Errors
    /// The first byte that is not.
    pub fn check(bytes: &[u8]) -> Result<&str, Self> {
        std::str::from_utf8(bytes).map_err(|error| {
            let at = error.valid_up_to();
            let before = String::from_utf8_lossy(bytes.get(..at).unwrap_or_default());
            let line = before.rsplit('\n').next().unwrap_or_default();
            Self {
                at,
                line: before.matches('\n').count() + 1,
                column: line.trim_start_matches('\u{feff}').chars().count() + 1,
                byte: bytes.get(at).copied().unwrap_or_default(),
            }
        })
    }
}

impl fmt::Display for NotText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line, column, byte, ..
        } = self;
        write!(
            f,
            "line {line}, column {column}: the byte {byte:#04x} is not UTF-8"
        )
    }
}

impl std::error::Error for NotText {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_steers_a_terminal_or_ends_its_line() {
        for (text, expected) in [
            ("\u{1b}[2J\u{1b}]0;x\u{7}", "\\u{1b}[2J\\u{1b}]0;x\\u{7}"),
            ("fail\rpass", "fail\\rpass"),
            ("a\npass  b", "a\\npass  b"),
            ("\u{9b}31m\u{7f}\0", "\\u{9b}31m\\u{7f}\\u{0}"),
            (
                "\u{202e}ssap\u{2066}x\u{2069}",
                "\\u{202e}ssap\\u{2066}x\\u{2069}",
            ),
            (
                "a\u{2028}b\u{2029}c\u{85}d",
                "a\\u{2028}b\\u{2029}c\\u{85}d",
            ),
            (
                "pa\u{200b}ss\u{feff}\u{e0041}",
                "pa\\u{200b}ss\\u{feff}\\u{e0041}",
            ),
        ] {
            assert_eq!(shown(text), expected);
            assert_eq!(shown(&shown(text)), expected, "twice is once");
        }
    }

    #[test]
    fn an_ordinary_text_stays_as_it_is() {
        for text in [
            "",
            "größer\tals 日本 \\n \"x\" 'y' \u{1f600}",
            "a::b",
            "# x ## y",
        ] {
            assert!(matches!(shown(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn no_line_is_an_order_to_a_ci_system() {
        assert_eq!(shown("::error::x"), "\\u{3a}:error::x");
        assert_eq!(
            shown("  ::set-output name=a::b"),
            "  \\u{3a}:set-output name=a::b"
        );
        assert_eq!(shown("x ##[group]y"), "x \\u{23}#[group]y");
        assert_eq!(shown("##vso[task]y"), "\\u{23}#vso[task]y");
        for (text, expected) in [
            ("x ##vso[task]", "x \\u{23}#vso[task]"),
            ("x ##VSO[task]", "x \\u{23}#VSO[task]"),
            ("x ##teamcity[y]", "x \\u{23}#teamcity[y]"),
            (
                "##[a]##[b] ##vso[c]",
                "\\u{23}#[a]\\u{23}#[b] \\u{23}#vso[c]",
            ),
            ("::a ##[b] ::c", "\\u{3a}:a \\u{23}#[b] ::c"),
            ("\u{3000}::a", "\u{3000}\\u{3a}:a"),
            ("###[a]", "#\\u{23}#[a]"),
            ("a\n::b", "a\\n::b"),
        ] {
            assert_eq!(shown(text), expected);
            assert_eq!(shown(&shown(text)), expected, "twice is once");
        }
    }

    #[test]
    fn what_is_long_is_cut_and_its_length_is_said() {
        assert_eq!(excerpt("añb", 3), "añb");
        assert_eq!(excerpt("añ\nb", 3), "añ\\n... (5 bytes)");
    }

    #[test]
    fn what_is_no_text_has_a_place() {
        let at = |bytes: &[u8]| {
            let error = NotText::check(bytes).unwrap_err();
            (error.at, error.line, error.column, error.byte)
        };
        assert_eq!(at(b"\xff"), (0, 1, 1, 0xff));
        assert_eq!(
            at("ü\néé\u{301}".as_bytes().split_last().unwrap().1),
            (7, 2, 3, 0xcc)
        );
        assert_eq!(at(b"\xef\xbb\xbfa\xc0\xafb"), (4, 1, 2, 0xc0));
        assert_eq!(NotText::check("ü".as_bytes()), Ok("ü"));
    }
}
