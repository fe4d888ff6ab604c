//! What becomes of a trace that is not the stored one: insta's variables, with insta's words.
//!
//! Of the two tests of scenario files, this crate's and that of its own repository, each reads the
//! environment by this file.

use std::ffi::OsString;

/// What becomes of a trace that differs from its snapshot, or has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Update {
    /// Nothing is written.
    Never,
    /// It waits for review.
    Pending,
    /// It is accepted where there is no snapshot, and else waits for review.
    Unseen,
    /// It is accepted.
    Accept,
}

impl Update {
    /// What `HARNESS_UPDATE` says, else `INSTA_UPDATE`; nothing is written where `CI` is set.
    ///
    /// # Errors
    /// A word that insta does not know either, in words for a person.
    pub(crate) fn of_environment() -> Result<Self, String> {
        Self::of(|name| std::env::var_os(name))
    }

    fn of(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, String> {
        let set = |name| Some((name, variable(name).filter(|word| !word.is_empty())?));
        let named = set("HARNESS_UPDATE").or_else(|| set("INSTA_UPDATE"));
        let update = match &named {
            None => Self::Pending,
            Some((name, word)) => match word.to_str() {
                Some("auto" | "new") => Self::Pending,
                Some("always" | "force" | "1") => Self::Accept,
                Some("unseen") => Self::Unseen,
                Some("no") => Self::Never,
                _ => {
                    return Err(format!(
                        "{name} is `{}`: the words are auto, new, unseen, always, force and no",
                        word.to_string_lossy()
                    ));
                }
            },
        };
        let ci = variable("CI").unwrap_or_default();
        let is_ci = !matches!(ci.to_str(), Some("" | "0" | "false"));
        Ok(if is_ci { Self::Never } else { update })
    }
}

/// Whether a trace that waits for review is forgiven, as `cargo insta test` asks for: it reviews
/// afterwards.
pub(crate) fn is_forgiven() -> bool {
    std::env::var_os("INSTA_FORCE_PASS").is_some_and(|set| set == "1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(set: &[(&str, &str)]) -> Result<Update, String> {
        Update::of(|name| {
            let mut set = set.iter();
            set.find_map(|(known, word)| (*known == name).then(|| word.into()))
        })
    }

    #[test]
    fn the_words_are_those_of_insta() {
        for (word, update) in [
            ("", Update::Pending),
            ("auto", Update::Pending),
            ("new", Update::Pending),
            ("unseen", Update::Unseen),
            ("always", Update::Accept),
            ("force", Update::Accept),
            ("1", Update::Accept),
            ("no", Update::Never),
        ] {
            for name in ["HARNESS_UPDATE", "INSTA_UPDATE"] {
                assert_eq!(of(&[(name, word)]), Ok(update), "{name}={word}");
                for (ci, expected) in [("", update), ("0", update), ("true", Update::Never)] {
                    assert_eq!(of(&[(name, word), ("CI", ci)]), Ok(expected), "{word} {ci}");
                }
            }
        }
        assert_eq!(of(&[]), Ok(Update::Pending));
    }

    #[test]
    fn a_word_that_is_none_is_told_of_with_its_variable() {
        for name in ["HARNESS_UPDATE", "INSTA_UPDATE"] {
            for word in ["0", "yes", "Always"] {
                let told = of(&[(name, word)]).unwrap_err();
                assert!(told.starts_with(&format!("{name} is `{word}`")), "{told}");
            }
        }
    }

    #[test]
    fn what_is_said_to_the_harness_itself_comes_first() {
        let both = |own, other| of(&[("HARNESS_UPDATE", own), ("INSTA_UPDATE", other)]);
        assert_eq!(both("no", "always"), Ok(Update::Never));
        assert_eq!(both("always", "no"), Ok(Update::Accept));
        assert_eq!(both("", "no"), Ok(Update::Never));
    }
}
