//! Globs for paths: `*` and `?` do not match a slash, `**` does.

/// An element of a glob.
enum Element<'p> {
    Byte(u8),
    /// `?`.
    One,
    /// `[a-c]`; what stands in the brackets.
    Set(&'p [u8]),
    /// `*`.
    Part,
    /// `**`.
    All,
    /// `**/` at the beginning of a part: any number of folders, and none.
    Folders,
}

/// Whether the pattern matches the whole text.
///
/// All ways through the pattern are followed at once, so the time is at most the product of the
/// lengths.
///
/// ```
/// use trace_harness::matching::path_glob;
/// assert!(path_glob(b"/usr/*/lib?.so", b"/usr/x/libc.so"));
/// assert!(!path_glob(b"/usr/*.so", b"/usr/x/libc.so"));
/// assert!(path_glob(b"/usr/**.so", b"/usr/x/libc.so"));
/// assert!(path_glob(b"**/log", b"log") && path_glob(b"**/log", b"a/b/log"));
/// ```
#[must_use]
pub fn path_glob(pattern: &[u8], text: &[u8]) -> bool {
    let elements = elements(pattern);
    let mut places = vec![false; elements.len() + 1];
    arrive(&elements, &mut places, 0);
    for byte in text {
        let mut next = vec![false; elements.len() + 1];
        for (place, element) in elements.iter().enumerate() {
            if !places.get(place).is_some_and(|is_here| *is_here) {
                continue;
            }
            let is_slash = *byte == b'/';
            let (stays, leaves) = match element {
                Element::Byte(wanted) => (false, wanted == byte),
                Element::One => (false, !is_slash),
                Element::Set(set) => (false, !is_slash && is_member(set, *byte)),
                Element::Part => (!is_slash, false),
                Element::All => (true, false),
                Element::Folders => (true, is_slash),
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
        places = next;
    }
    places.last().is_some_and(|is_here| *is_here)
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

fn elements(pattern: &[u8]) -> Vec<Element<'_>> {
    let mut elements = Vec::new();
    let (mut rest, mut is_start) = (pattern, true);
    while let Some((byte, behind)) = rest.split_first() {
        let (element, after) = match (byte, behind) {
            (b'*', [b'*', b'/', after @ ..]) if is_start => (Element::Folders, after),
            (b'*', [b'*', after @ ..]) => (Element::All, after),
            (b'*', after) => (Element::Part, after),
            (b'?', after) => (Element::One, after),
            (b'[', after) => match set_of(after) {
                Some((set, after)) => (Element::Set(set), after),
                None => (Element::Byte(b'['), after),
            },
            (byte, after) => (Element::Byte(*byte), after),
        };
        is_start = matches!(element, Element::Byte(b'/') | Element::Folders);
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

fn is_member(set: &[u8], byte: u8) -> bool {
    let (is_negated, mut members) = match set {
        [b'!' | b'^', members @ ..] => (true, members),
        members => (false, members),
    };
    let mut found = false;
    while let Some((first, rest)) = members.split_first() {
        members = match rest {
            [b'-', last, rest @ ..] => {
                found |= (*first..=*last).contains(&byte);
                rest
            }
            _ => {
                found |= *first == byte;
                rest
            }
        };
    }
    found != is_negated
}

#[cfg(test)]
mod tests {
    use super::path_glob;

    fn matches(pattern: &str, text: &str) -> bool {
        path_glob(pattern.as_bytes(), text.as_bytes())
    }

    #[test]
    fn a_star_ends_at_a_slash_and_two_do_not() {
        assert!(matches("/tmp/*", "/tmp/a"));
        assert!(matches("/tmp/*", "/tmp/"));
        assert!(!matches("/tmp/*", "/tmp/a/b"));
        assert!(matches("/tmp/**", "/tmp/a/b"));
        assert!(matches("/tmp/**/b", "/tmp/b") && matches("/tmp/**/b", "/tmp/x/y/b"));
        assert!(!matches("/tmp/**/b", "/tmp/xb"));
        assert!(matches("/tmp/x**b", "/tmp/x/y/b"));
        assert!(matches("*.log", "a.log") && !matches("*.log", "a/b.log"));
    }

    #[test]
    fn a_question_mark_and_a_set_are_one_byte_and_no_slash() {
        assert!(matches("a?c", "abc") && !matches("a?c", "a/c") && !matches("a?c", "ac"));
        assert!(matches("[a-c]1", "b1") && !matches("[!a-c]1", "b1") && matches("[]]", "]"));
        assert!(!matches("a[!b]c", "a/c") && matches("[a", "[a"));
    }

    #[test]
    fn many_stars_take_no_longer_than_the_lengths_allow() {
        let pattern = "*a".repeat(50);
        assert!(!matches(&pattern, &"a".repeat(49)));
        assert!(matches(&pattern, &"ab".repeat(5000).replace("ab", "aa")));
    }
}
