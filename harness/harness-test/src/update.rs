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

    pub(crate) fn of(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, String> {
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

    /// Whether a trace that waits for review is forgiven, as `cargo insta test` asks for: it
    /// reviews afterwards. Where nothing is written nothing waits.
    pub(crate) fn is_forgiven(self) -> bool {
        self.forgives(|name| std::env::var_os(name))
    }

    pub(crate) fn forgives(self, variable: impl Fn(&str) -> Option<OsString>) -> bool {
        self != Self::Never && variable("INSTA_FORCE_PASS").is_some_and(|set| set == "1")
    }
}
