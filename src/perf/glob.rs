//! Globs: for names, and for paths, where a slash separates.
//!
//! A character is one of UTF-8; where a text is none, each of its bytes is one.
//!
//! All ways through the pattern are followed at once, so the time is at most the product of the
//! lengths of pattern and text.

/// An element of a glob.
enum Element<'p> {
    One(&'p [u8]),
    /// `?`.
    Any,
    /// `[a-c]`; what stands in the brackets.
    Set(&'p [u8]),
    /// `*`.
    Part,
    /// `**` in a path.
    All,
    /// `**/` at the beginning of a part of a path: any number of folders, and none.
    Folders,
}

/// Whether a name is a glob: it holds a `*`, a `?` or a `[`.
#[must_use]
pub fn is_glob(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

/// The glob of one name alone, in which each character stands for itself.
///
/// ```
/// use perf_records::glob::{escaped, glob};
/// assert_eq!(escaped("a[1]*"), "a[[]1][*]");
/// assert!(glob(escaped("a[1]*"), "a[1]*") && !glob(escaped("a*"), "ab"));
/// ```
#[must_use]
pub fn escaped(name: &str) -> String {
    let mut glob = String::new();
    for letter in name.chars() {
        match letter {
            '*' | '?' | '[' => glob.extend(['[', letter, ']']),
            _ => glob.push(letter),
        }
    }
    glob
}

/// Where the first part of a glob is that may stand for more than one letter: `[*]` is that letter
/// alone, and so is a `[` that is never closed.
///
/// ```
/// use perf_records::glob::open_at;
/// assert_eq!(open_at("q[?]x/run-??"), Some(10));
/// assert_eq!(open_at("a[0-9]"), Some(1));
/// assert_eq!(open_at("a[[]1][*]"), None);
/// ```
#[must_use]
pub fn open_at(glob: &str) -> Option<usize> {
    let mut rest = glob.as_bytes();
    while let Some((first, behind)) = split_character(rest) {
        let set = (first == b"[").then(|| set_of(behind)).flatten();
        rest = match (first, set) {
            (b"*" | b"?", _) => return Some(glob.len() - rest.len()),
            (_, Some((set, after))) => match split_character(set) {
                Some((_, [])) => after,
                _ => return Some(glob.len() - rest.len()),
            },
            _ => behind,
        };
    }
    None
}

/// Whether the pattern matches the whole name, as in a shell: `*`, `?`, `[a-c]`, `[!a]`. A `[` that
/// is never closed stands for itself.
///
/// ```
/// use perf_records::glob::glob;
/// assert!(glob("sched_*", "sched_switch") && glob("dup[23]", "dup2"));
/// assert!(!glob("dup[!2]", "dup2") && !glob("dup", "dup2"));
/// ```
#[must_use]
pub fn glob(pattern: impl AsRef<[u8]>, name: impl AsRef<[u8]>) -> bool {
    matches(pattern.as_ref(), name.as_ref(), None)
}

/// Whether the pattern matches the whole path: `*`, `?` and sets match no slash, `**` does.
///
/// ```
/// use perf_records::glob::path_glob;
/// assert!(path_glob("/usr/*/lib?.so", "/usr/x/libc.so"));
/// assert!(!path_glob("/usr/*.so", "/usr/x/libc.so"));
/// assert!(path_glob("/usr/**.so", "/usr/x/libc.so"));
/// assert!(path_glob("**/log", "log") && path_glob("**/log", "a/b/log"));
/// ```
///
/// A path that is written out is matched whatever it is made of:
///
/// ```
/// use perf_records::glob::path_glob;
/// assert!(path_glob("[id].js", "[id].js") && path_glob("[id].js", "i.js"));
/// ```
#[must_use]
pub fn path_glob(pattern: impl AsRef<[u8]>, path: impl AsRef<[u8]>) -> bool {
    let (pattern, path) = (pattern.as_ref(), path.as_ref());
    pattern == path || matches(pattern, path, Some(b'/'))
}

fn matches(pattern: &[u8], text: &[u8], separator: Option<u8>) -> bool {
    let (begin, end) = plain_ends(pattern);
    if !text.starts_with(begin) || !text.ends_with(end) {
        return false;
    }
    let elements = elements(pattern, separator);
    let mut places = vec![false; elements.len() + 1];
    let mut next = places.clone();
    arrive(&elements, &mut places, 0);
    for character in characters(text) {
        next.fill(false);
        let is_separator = separator.is_some_and(|separator| character == [separator]);
        for (place, element) in elements.iter().enumerate() {
            if !places.get(place).is_some_and(|is_here| *is_here) {
                continue;
            }
            let (stays, leaves) = match element {
                Element::One(wanted) => (false, *wanted == character),
                Element::Any => (false, !is_separator),
                Element::Set(set) => (false, !is_separator && is_member(set, character)),
                Element::Part => (!is_separator, false),
                Element::All => (true, false),
                Element::Folders => (true, is_separator),
            };
            if stays {
                match element {
                    // Only behind a slash does it end.
                    Element::Folders => set(&mut next, place),
                    _ => arrive(&elements, &mut next, place),
                }
            }
            if leaves {
                arrive(&elements, &mut next, place + 1);
            }
        }
        std::mem::swap(&mut places, &mut next);
    }
    places.last().is_some_and(|is_here| *is_here)
}

/// What each text that a pattern matches begins and ends with: most others are known by that.
fn plain_ends(pattern: &[u8]) -> (&[u8], &[u8]) {
    let is_special = |byte: &u8| matches!(byte, b'*' | b'?' | b'[' | b']');
    let first = pattern.iter().position(is_special);
    let last = pattern.iter().rposition(is_special);
    let (Some(first), Some(last)) = (first, last) else {
        return (pattern, pattern);
    };
    let begin = pattern.get(..first).unwrap_or_default();
    let end = pattern.get(last + 1..).unwrap_or_default();
    // No slash need be where there are no folders.
    (begin, end.strip_prefix(b"/").unwrap_or(end))
}

/// Splits a text into its characters.
fn characters(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (first, behind) = split_character(rest)?;
        rest = behind;
        Some(first)
    })
}

/// The first character of a text, and what follows it; `None` for an empty one.
fn split_character(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = match text.first()? {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    let whole = text.split_at_checked(length);
    let is_whole = |(first, _): &(&[u8], &[u8])| core::str::from_utf8(first).is_ok();
    whole.filter(is_whole).or_else(|| text.split_at_checked(1))
}

fn set(places: &mut [bool], place: usize) {
    if let Some(slot) = places.get_mut(place) {
        *slot = true;
    }
}

/// Stands at a place, and behind it where nothing need be matched there.
fn arrive(elements: &[Element<'_>], places: &mut [bool], from: usize) {
    set(places, from);
    let rest = elements.get(from..).unwrap_or_default();
    let is_empty =
        |element: &&Element<'_>| matches!(element, Element::Part | Element::All | Element::Folders);
    let skipped = rest.iter().take_while(is_empty).count();
    for place in from..from + skipped {
        set(places, place + 1);
    }
}

fn elements(pattern: &[u8], separator: Option<u8>) -> Vec<Element<'_>> {
    let mut elements = Vec::new();
    let (mut rest, mut is_start) = (pattern, separator.is_some());
    while let Some((first, behind)) = split_character(rest) {
        let (element, after) = match (first, behind) {
            (b"*", [b'*', b'/', after @ ..]) if is_start => (Element::Folders, after),
            (b"*", [b'*', after @ ..]) if separator.is_some() => (Element::All, after),
            (b"*", after) => (Element::Part, after),
            (b"?", after) => (Element::Any, after),
            (b"[", after) => match set_of(after) {
                Some((set, after)) => (Element::Set(set), after),
                None => (Element::One(first), after),
            },
            (_, after) => (Element::One(first), after),
        };
        is_start = match &element {
            Element::One(one) => separator.is_some_and(|separator| *one == [separator]),
            Element::Folders => true,
            _ => false,
        };
        elements.push(element);
        rest = after;
    }
    elements
}

/// What stands in brackets, and what follows them. A `]` that comes first is a member.
fn set_of(inside: &[u8]) -> Option<(&[u8], &[u8])> {
    let first = usize::from(matches!(inside.first(), Some(b'!' | b'^'))) + 1;
    let end = inside.iter().skip(first).position(|byte| *byte == b']')? + first;
    Some((inside.get(..end)?, inside.get(end + 1..)?))
}

fn is_member(set: &[u8], character: &[u8]) -> bool {
    let (is_negated, mut members) = match set {
        [b'!' | b'^', members @ ..] => (true, members),
        members => (false, members),
    };
    let mut found = false;
    while let Some((first, rest)) = split_character(members) {
        let last = rest.strip_prefix(b"-").and_then(split_character);
        members = match last {
            // Those of UTF-8 are in the order of their bytes.
            Some((last, rest)) => {
                found |= (first..=last).contains(&character);
                rest
            }
            None => {
                found |= first == character;
                rest
            }
        };
    }
    found != is_negated
}

#[cfg(test)]
mod tests {
    use super::{glob, path_glob};

    #[test]
    fn what_a_pattern_begins_and_ends_with_is_no_more_than_each_text_has() {
        assert!(path_glob("**/log", "log") && path_glob("a/**/log", "a/log"));
        assert!(glob("a]", "a]") && glob("a[]", "a[]") && glob("a[]]b", "a]b"));
        assert!(glob("[ab]c[", "ac[") && glob("x?x", "xyx") && !glob("xx*xx", "xxx"));
        assert!(glob("*/", "a/") && !glob("*/", "a"));
        assert!(glob("", "") && !glob("", "a") && !glob("a", ""));
    }

    #[test]
    fn a_star_ends_at_a_slash_and_two_do_not() {
        assert!(path_glob("/tmp/*", "/tmp/a"));
        assert!(path_glob("/tmp/*", "/tmp/"));
        assert!(!path_glob("/tmp/*", "/tmp/a/b"));
        assert!(path_glob("/tmp/**", "/tmp/a/b"));
        assert!(path_glob("/tmp/**/b", "/tmp/b") && path_glob("/tmp/**/b", "/tmp/x/y/b"));
        assert!(!path_glob("/tmp/**/b", "/tmp/xb"));
        assert!(path_glob("/tmp/x**b", "/tmp/x/y/b"));
        assert!(path_glob("*.log", "a.log") && !path_glob("*.log", "a/b.log"));
    }

    #[test]
    fn a_question_mark_and_a_set_are_one_character_and_no_slash() {
        assert!(path_glob("a?c", "abc") && !path_glob("a?c", "a/c") && !path_glob("a?c", "ac"));
        assert!(path_glob("[a-c]1", "b1") && !path_glob("[!a-c]1", "b1") && path_glob("[]]", "]"));
        assert!(!path_glob("a[!b]c", "a/c") && path_glob("[a", "[a"));
        for name in ["h\u{e9}llo", "h\u{20ac}llo", "h\u{1f600}llo"] {
            assert!(glob("h?llo", name) && !glob("h??llo", name), "{name}");
            assert!(glob("h[!e]llo", name), "{name}");
        }
        assert!(glob("[\u{e0}-\u{e9}]", "\u{e8}") && !glob("[\u{e0}-\u{e9}]", "\u{ea}"));
        assert!(glob("[\u{e9}]x", "\u{e9}x") && !glob("[\u{e9}]", "\u{e8}"));
    }

    #[test]
    fn where_a_text_is_no_utf_8_each_byte_is_a_character() {
        for name in [&b"h\xe9llo"[..], b"h\x80llo", b"h\xffllo"] {
            assert!(glob("h?llo", name) && !glob("h??llo", name), "{name:?}");
        }
        assert!(glob("?", b"\xe9") && glob("??", b"\xe2\x82") && glob("*", b"\xff\xfe"));
        assert!(glob(b"\xe9", b"\xe9") && !glob(b"\xe9", b"\xe8"));
    }

    #[test]
    fn many_stars_take_no_longer_than_the_lengths_allow() {
        let pattern = "*a".repeat(50);
        assert!(!path_glob(&pattern, "a".repeat(49)));
        assert!(path_glob(&pattern, "ab".repeat(5000).replace("ab", "aa")));
    }

    #[test]
    fn names_match_as_in_a_shell_and_a_slash_is_a_byte_like_others() {
        for (pattern, name) in [
            ("*", ""),
            ("a*b*c", "aXbbYc"),
            ("[a-c]x", "bx"),
            ("[]]x", "]x"),
            ("[!a-c]x", "dx"),
            ("[^a]x", "bx"),
            ("*[0-9]", "dup3"),
            ("[a-]", "-"),
            ("**at", "openat"),
            ("a*c?e**/g", "a/c/e/f/g"),
            ("[a", "[a"),
        ] {
            assert!(glob(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("", "a"),
            ("a", ""),
            ("[a-c]", "d"),
            ("?", ""),
            ("a*b", "abc"),
            ("**/at", "at"),
        ] {
            assert!(!glob(pattern, name), "{pattern} {name}");
        }
    }
}
