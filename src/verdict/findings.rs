//! What is found beside the main verdict.

use super::Verdict;

/// What speaks against a run, and what nobody can tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Expectations that were not met.
    pub against: Vec<String>,
    /// Why others cannot be judged.
    pub unknown: Vec<String>,
}

impl Findings {
    /// Takes what else was found.
    pub fn add(&mut self, mut other: Self) {
        self.against.append(&mut other.against);
        self.unknown.append(&mut other.unknown);
    }

    /// What becomes of a verdict: of a run that is not judged, nothing. What nobody can tell is no pass, and no failure either.
    #[must_use]
    pub fn joined(self, verdict: Verdict, mut reasons: Vec<String>) -> (Verdict, Vec<String>) {
        let is_judged = matches!(verdict, Verdict::Pass | Verdict::Fail);
        if is_judged && !self.against.is_empty() {
            reasons.extend(self.against);
            (Verdict::Fail, reasons)
        } else if verdict == Verdict::Pass && !self.unknown.is_empty() {
            (Verdict::Incomplete, self.unknown)
        } else if verdict == Verdict::Incomplete {
            let unsaid = self.unknown.into_iter();
            let unsaid: Vec<_> = unsaid.filter(|why| !reasons.contains(why)).collect();
            reasons.extend(unsaid);
            (verdict, reasons)
        } else {
            (verdict, reasons)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_makes_a_pass_a_failure_and_what_is_unknown_makes_it_incomplete() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let joined = |against: &[&str], unknown: &[&str], verdict, before: &[&str]| {
            let (against, unknown) = (words(against), words(unknown));
            Findings { against, unknown }.joined(verdict, words(before))
        };
        let is = |verdict, reasons: &[&str]| (verdict, words(reasons));
        assert_eq!(
            joined(&["a"], &["u"], Verdict::Pass, &[]),
            is(Verdict::Fail, &["a"])
        );
        assert_eq!(
            joined(&["a"], &[], Verdict::Fail, &["b"]),
            is(Verdict::Fail, &["b", "a"])
        );
        assert_eq!(
            joined(&[], &["u"], Verdict::Pass, &[]),
            is(Verdict::Incomplete, &["u"])
        );
        assert_eq!(
            joined(&[], &["u"], Verdict::Fail, &["b"]),
            is(Verdict::Fail, &["b"])
        );
        assert_eq!(
            joined(&[], &["u", "i"], Verdict::Incomplete, &["i"]),
            is(Verdict::Incomplete, &["i", "u"])
        );
        assert_eq!(
            joined(&["a"], &[], Verdict::Leak, &["l"]),
            is(Verdict::Leak, &["l"])
        );
        assert_eq!(joined(&[], &[], Verdict::Pass, &[]), is(Verdict::Pass, &[]));
    }
}
