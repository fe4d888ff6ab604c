//! Splits lists of events, as a command line has them.

use super::probes::ProbeWord;

/// Returns the words of a list, split at commas outside of slashes and braces. A word that begins
/// with a slash is a regular expression, and one that begins with `mem:` is a place of memory: no
/// slash ends those.
#[must_use]
pub fn event_words(list: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = list;
    while !rest.is_empty() {
        let mut is_start = true;
        let mut has_terms = true;
        let mut is_within = false;
        let mut depth = 0_usize;
        let mut end = None;
        // After a probe, whose path and arguments have a syntax of their own.
        let mut behind_probe = 0;
        for (at, c) in rest.char_indices() {
            if at < behind_probe {
                continue;
            }
            if is_start {
                let word = rest.get(at..).unwrap_or_default();
                let of_group = word.split('}').next().filter(|_| depth > 0);
                if let Some(probe) = ProbeWord::first(of_group.unwrap_or(word)) {
                    behind_probe = at + probe.length;
                    is_start = false;
                    continue;
                }
                let is_pattern = word.trim_start_matches('!').starts_with('/');
                has_terms = !is_pattern && !word.starts_with("mem:");
            }
            is_start = false;
            match c {
                '/' if has_terms => is_within = !is_within,
                '{' if !is_within => (depth, is_start) = (depth + 1, true),
                '}' if !is_within => depth = depth.saturating_sub(1),
                ',' if !is_within && depth == 0 => {
                    end = Some(at);
                    break;
                }
                ',' if !is_within => is_start = true,
                _ => {}
            }
        }
        let (word, behind) = match end.and_then(|end| rest.split_at_checked(end)) {
            Some((word, behind)) => (word, behind.strip_prefix(',').unwrap_or(behind)),
            None => (rest, ""),
        };
        if !word.is_empty() {
            words.push(word);
        }
        rest = behind;
    }
    words
}

/// Returns the members of a group and the letters after it, `{a,b}:u`; `None` if the word is no
/// group.
pub(super) fn group(word: &str) -> Option<(Vec<&str>, &str)> {
    let (inner, letters) = word.strip_prefix('{')?.rsplit_once('}')?;
    let letters = match letters.strip_prefix(':') {
        Some(letters) => letters,
        None if letters.is_empty() => letters,
        None => return None,
    };
    Some((event_words(inner), letters))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_split_at_commas_that_are_not_within_slashes() {
        for (list, words) in [
            (
                "sched:*/nr=1,name=a/,read",
                &["sched:*/nr=1,name=a/", "read"][..],
            ),
            ("cpu-clock//,!/x,close", &["cpu-clock//", "!/x", "close"]),
            ("/^open,/at$", &["/^open", "/at$"]),
            ("a/b,c", &["a/b,c"]),
            ("a/b,c/d,e", &["a/b,c/d", "e"]),
            (",,a,", &["a"]),
            (
                "uprobe:/a/b:f/nr=1,name=x/ p=%di,read,kprobe:g",
                &["uprobe:/a/b:f/nr=1,name=x/ p=%di", "read", "kprobe:g"],
            ),
            ("{cs,uprobe:/a/b:f},read", &["{cs,uprobe:/a/b:f}", "read"]),
            ("mem:0x10/4:w,read", &["mem:0x10/4:w", "read"]),
            (
                "{cs,mem:0x10/4:w}:u,a/b,c/",
                &["{cs,mem:0x10/4:w}:u", "a/b,c/"],
            ),
            ("{a/x,y/,b},c", &["{a/x,y/,b}", "c"]),
        ] {
            assert_eq!(event_words(list), words, "{list}");
        }
    }

    #[test]
    fn a_group_has_members_and_letters() {
        assert_eq!(group("{a,b/c,d/}:u"), Some((vec!["a", "b/c,d/"], "u")));
        assert_eq!(group("{a}"), Some((vec!["a"], "")));
        for word in ["a", "{a", "a}", "{a}u", "x{a}"] {
            assert_eq!(group(word), None, "{word}");
        }
    }
}
