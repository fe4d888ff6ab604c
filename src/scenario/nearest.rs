//! "Did you mean".

/// The known word that `word` is most likely a slip of, if any is near enough; the first of several
/// equally near ones.
///
/// Near enough is a third of the word's length in insertions, deletions, replacements and swaps of
/// neighbours, upper and lower case taken as the same, and one such slip always.
///
/// ```
/// use trace_harness::scenario::nearest;
/// assert_eq!(nearest("opnat", ["open", "openat", "openat2"]), Some("openat"));
/// assert_eq!(nearest("frobnicate", ["open", "openat"]), None);
/// ```
#[must_use]
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lowered = word.to_lowercase();
    let length = lowered.chars().count();
    let limit = (length / 3).max(1);
    let mut best = None;
    for candidate in known {
        // A distance is never smaller than the difference of the lengths: this keeps long words
        // cheap.
        if candidate.chars().count().abs_diff(length) > limit {
            continue;
        }
        let distance = strsim::osa_distance(&lowered, &candidate.to_lowercase());
        if distance <= limit && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The advice that goes with an unknown word, if a known one is near.
pub(crate) fn did_you_mean<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    nearest(word, known).map(|near| format!("did you mean `{near}`?"))
}

/// The one whose word this is; else a complaint with the nearest, if one is near.
pub(super) fn one_of<T: Copy>(
    text: &str,
    what: &str,
    known: &[(&str, T)],
) -> Option<Result<T, String>> {
    if let Some((_, meant)) = known.iter().find(|(word, _)| *word == text) {
        return Some(Ok(*meant));
    }
    let advice = did_you_mean(text, known.iter().map(|(word, _)| *word))?;
    Some(Err(unknown(what, text, Some(advice))))
}

/// The complaint about a word that is none of those known, with advice.
pub(super) fn unknown(what: &str, text: &str, advice: Option<String>) -> String {
    let message = format!("unknown {what} `{}`", text.escape_debug());
    match advice {
        Some(advice) => format!("{message}\n{advice}"),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_wins_and_the_first_of_equals() {
        assert_eq!(
            nearest("fsycn", ["sync", "fsync", "fdatasync"]),
            Some("fsync")
        );
        assert_eq!(nearest("ab", ["ac", "ad"]), Some("ac"));
    }

    #[test]
    fn case_does_not_count() {
        assert_eq!(nearest("sigkill", ["SIGKILL", "SIGILL"]), Some("SIGKILL"));
    }

    #[test]
    fn far_words_and_no_words_have_no_neighbour() {
        assert_eq!(nearest("events", ["ring"]), None);
        assert_eq!(nearest("", ["ring"]), None);
        assert_eq!(nearest("ring", []), None);
    }

    #[test]
    fn a_word_of_a_megabyte_is_no_work() {
        assert_eq!(nearest(&"x".repeat(1 << 20), ["openat", "close"]), None);
    }
}
