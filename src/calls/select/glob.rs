//! Globs, as a shell has them.

/// Whether the pattern matches the whole text: `*`, `?`, `[a-c]`, `[!a]`; an unclosed `[` matches
/// nothing.
///
/// Goes back to the last `*` only, so that the time is at most the product of the lengths.
pub fn glob_matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut rest, mut left) = (pattern, text);
    let mut retry: Option<(&[u8], &[u8])> = None;
    loop {
        if let Some((b'*', after)) = rest.split_first() {
            retry = Some((after, left));
            rest = after;
        } else if rest.is_empty() && left.is_empty() {
            return true;
        } else if let Some((after, remaining)) = match_one(rest, left) {
            (rest, left) = (after, remaining);
        } else if let Some((after, (_, remaining))) =
            retry.and_then(|(after, from)| Some((after, from.split_first()?)))
        {
            retry = Some((after, remaining));
            (rest, left) = (after, remaining);
        } else {
            return false;
        }
    }
}

/// What is left of both when the pattern's first element matches the text's first byte.
fn match_one<'a, 'b>(pattern: &'a [u8], text: &'b [u8]) -> Option<(&'a [u8], &'b [u8])> {
    let (byte, remaining) = text.split_first()?;
    let (element, after) = pattern.split_first()?;
    match element {
        b'[' => match_set(after, *byte).map(|after| (after, remaining)),
        b'?' => Some((after, remaining)),
        literal => (literal == byte).then_some((after, remaining)),
    }
}

/// What follows the set that starts after its `[`, where the byte belongs to it.
fn match_set(set: &[u8], byte: u8) -> Option<&[u8]> {
    let (negated, set) = match set.split_first()? {
        (b'!' | b'^', rest) => (true, rest),
        _ => (false, set),
    };
    let close = 1 + set.iter().skip(1).position(|byte| *byte == b']')?;
    let (mut members, after) = (set.get(..close)?, set.get(close + 1..)?);
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
    (found != negated).then_some(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_as_in_a_shell() {
        let matches = |pattern: &str, text: &str| glob_matches(pattern.as_bytes(), text.as_bytes());
        for (pattern, text) in [
            ("*", ""),
            ("a*b*c", "aXbbYc"),
            ("[a-c]x", "bx"),
            ("[]]x", "]x"),
            ("[!a-c]x", "dx"),
            ("[^a]x", "bx"),
            ("*[0-9]", "dup3"),
            ("[a-]", "-"),
            ("**at", "openat"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("", "a"),
            ("a", ""),
            ("[a-c]", "d"),
            ("?", ""),
            ("a*b", "abc"),
        ] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }
}
