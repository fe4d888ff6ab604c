//! What a verdict is worth to a search for the first bad one of a history.

use super::{About, Finding, Kind, Verdict};

/// What runs say of a kernel, or of a revision of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sign {
    /// All passed.
    Good,
    /// Something certainly failed.
    Bad,
    /// Neither follows.
    Unclear,
}

impl Sign {
    /// Of the verdict on one run, and its findings.
    ///
    /// A failure is bad only if the run itself failed: a program that could not be executed, a
    /// snapshot that is not there, a need that is not met (where no skip is allowed) and what the
    /// run was to test and never came to are failures of a suite, and say nothing of what is
    /// searched for.
    #[must_use]
    pub fn of(verdict: Verdict, findings: &[Finding]) -> Self {
        let is_of_run = |finding: &Finding| {
            let is_apart = matches!(finding.about, About::Program | About::NoSnapshot);
            finding.kind == Kind::Missed && !is_apart
        };
        match verdict {
            Verdict::Pass => Self::Good,
            Verdict::Fail if !findings.iter().any(is_of_run) => Self::Unclear,
            Verdict::Fail | Verdict::Timeout | Verdict::Leak | Verdict::UnexpectedPass => Self::Bad,
            Verdict::Incomplete | Verdict::Skipped | Verdict::Broken => Self::Unclear,
        }
    }

    /// Of several scenarios: one that is bad decides, and all must be good. None say nothing.
    #[must_use]
    pub fn of_all(signs: impl IntoIterator<Item = Self>) -> Self {
        let mut all = None;
        for sign in signs {
            all = match (all, sign) {
                (Some(Self::Bad), _) | (_, Self::Bad) => Some(Self::Bad),
                (Some(Self::Unclear), _) | (_, Self::Unclear) => Some(Self::Unclear),
                (_, Self::Good) => Some(Self::Good),
            };
        }
        all.unwrap_or(Self::Unclear)
    }

    /// Of several runs of one scenario: what varies says nothing.
    #[must_use]
    pub fn of_rounds(signs: impl IntoIterator<Item = Self>) -> Self {
        let mut signs = signs.into_iter();
        let first = signs.next().unwrap_or(Self::Unclear);
        match signs.all(|sign| sign == first) {
            true => first,
            false => Self::Unclear,
        }
    }

    /// Its word in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Unclear => "unclear",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(kind: Kind, about: About) -> Sign {
        Sign::of(Verdict::Fail, &[Finding::new(kind, about, "why")])
    }

    #[test]
    fn only_a_pass_is_good_and_what_cannot_be_told_is_never_bad() {
        let missed = [Finding::missed(About::Exit, "why")];
        let signs = Verdict::ALL.map(|verdict| (verdict, Sign::of(verdict, &missed)));
        for (verdict, sign) in signs {
            let expected = match verdict {
                Verdict::Pass => Sign::Good,
                Verdict::Fail | Verdict::Timeout | Verdict::Leak => Sign::Bad,
                Verdict::UnexpectedPass => Sign::Bad,
                Verdict::Incomplete | Verdict::Skipped | Verdict::Broken => Sign::Unclear,
            };
            assert_eq!(sign, expected, "{verdict}");
        }
    }

    #[test]
    fn a_failure_of_the_suite_alone_says_nothing_of_a_revision() {
        assert_eq!(failed(Kind::Missed, About::Program), Sign::Unclear);
        assert_eq!(failed(Kind::Missed, About::NoSnapshot), Sign::Unclear);
        assert_eq!(failed(Kind::Unmet, About::Machine), Sign::Unclear);
        assert_eq!(failed(Kind::Unreached, About::Events), Sign::Unclear);
        assert_eq!(failed(Kind::Missed, About::Snapshot), Sign::Bad);
        let both = [About::NoSnapshot, About::Exit].map(|about| Finding::missed(about, "why"));
        assert_eq!(Sign::of(Verdict::Fail, &both), Sign::Bad);
        assert_eq!(Sign::of(Verdict::Fail, &[]), Sign::Unclear);
    }

    #[test]
    fn of_several_scenarios_one_that_is_bad_decides_and_none_say_nothing() {
        let (good, bad, unclear) = (Sign::Good, Sign::Bad, Sign::Unclear);
        assert_eq!(Sign::of_all([good, good]), good);
        assert_eq!(Sign::of_all([good, unclear, bad]), bad);
        assert_eq!(Sign::of_all([bad, unclear, good]), bad);
        assert_eq!(Sign::of_all([good, unclear, good]), unclear);
        assert_eq!(Sign::of_all([]), unclear);
        assert_eq!(Sign::of_rounds([bad, bad]), bad);
        assert_eq!(Sign::of_rounds([bad, good, bad]), unclear);
        assert_eq!(Sign::of_rounds([]), unclear);
    }
}
