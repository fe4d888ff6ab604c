//! Compares the run with that of its baseline.

use super::finding::{About, Finding};
use crate::matching::{Matcher, Scene, tally};
use crate::plan::Delta;
use crate::trace::Normalised;

/// How many deeds of a run a matcher certainly means, and how many it may mean if some were not
/// read.
type Counted = (u64, u64);

/// Compares a run with that of its baseline.
pub(super) fn compare(deltas: &[Delta], base: &Normalised, run: &Normalised) -> Vec<Finding> {
    delta(deltas, &counter(base), &counter(run))
}

fn counter(trace: &Normalised) -> impl Fn(&Matcher) -> Counted + '_ {
    let (counts, answered) = (trace.counts(), trace.answered());
    let deeds = trace.in_order();
    let scene = Scene::new(&deeds);
    move |matcher| {
        if !matcher.fields.is_empty() {
            return tally(matcher, &scene);
        }
        let names = || matcher.names.iter();
        let count: u64 = names()
            .filter_map(|name| counts.get(name).or_else(|| trace.counted.get(name)))
            .sum();
        let answered: u64 = names().filter_map(|name| answered.get(name)).sum();
        (count.saturating_sub(answered), count)
    }
}

/// Compares how often what occurred in the two runs.
fn delta(
    deltas: &[Delta],
    baseline: &dyn Fn(&Matcher) -> Counted,
    run: &dyn Fn(&Matcher) -> Counted,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for delta in deltas {
        let (base, run) = (baseline(&delta.step), run(&delta.step));
        let (least, most) = (minus(run.0, base.1), minus(run.1, base.0));
        let is_below = |difference| {
            delta
                .times
                .min
                .is_some_and(|min| difference < i128::from(min))
        };
        let is_above = |difference| {
            delta
                .times
                .max
                .is_some_and(|max| difference > i128::from(max))
        };
        let numbers = format!("{} against {}", said(run), said(base));
        if is_below(most) || is_above(least) {
            let reason = format!("expected {}, got {numbers}", wanted(delta));
            let finding = Finding::missed(About::Baseline, reason).of_event(&delta.step.word);
            findings.push(finding.but(wanted(delta), numbers));
        } else if is_below(least) || is_above(most) {
            let wanted = wanted(delta);
            let reason = format!(
                "expected {wanted}, which cannot be told where not all was read: {numbers}"
            );
            findings.push(Finding::unknown(About::Baseline, reason));
        }
    }
    findings
}

fn minus(a: u64, b: u64) -> i128 {
    i128::from(a) - i128::from(b)
}

fn said((least, most): Counted) -> String {
    match least == most {
        true => least.to_string(),
        false => format!("{least} to {most}"),
    }
}

/// ``2 more of `openat` than in the baseline``.
fn wanted(delta: &Delta) -> String {
    let word = &delta.step.word;
    let range = match (delta.times.min, delta.times.max) {
        (Some(0), Some(0)) => return format!("as many of `{word}` as in the baseline"),
        (Some(min), Some(max)) if min == max && min < 0 => {
            return format!(
                "{} fewer of `{word}` than in the baseline",
                min.unsigned_abs()
            );
        }
        (Some(min), Some(max)) if min == max => min.to_string(),
        (min, max) => {
            let end = |end: Option<i64>| end.map_or_else(String::new, |end| end.to_string());
            let equal = if max.is_some() { "=" } else { "" };
            format!("{}..{equal}{}", end(min), end(max))
        }
    };
    format!("{range} more of `{word}` than in the baseline")
}

#[cfg(test)]
mod tests {
    use super::super::finding::Kind;
    use super::*;
    use crate::scenario::{Difference, KeyPath, NumberOf};

    fn judged(min: Option<i64>, max: Option<i64>, base: Counted, run: Counted) -> Vec<Finding> {
        let matcher = Matcher {
            is_closed: false,
            word: "fsync".to_owned(),
            names: ["fsync".to_owned()].into(),
            fields: Vec::new(),
            at: KeyPath::root(),
            line: 1,
        };
        let of = |counted| {
            move |matcher: &Matcher| match matcher.names.contains("fsync") {
                true => counted,
                false => (0, 0),
            }
        };
        let delta = NumberOf {
            step: matcher,
            times: Difference { min, max },
        };
        super::delta(&[delta], &of(base), &of(run))
    }

    #[test]
    fn a_difference_has_both_ends_and_both_numbers_are_said() {
        let against = |min, max, base, run| -> Vec<String> {
            let findings = judged(min, max, (base, base), (run, run)).into_iter();
            findings.map(|finding| finding.text).collect()
        };
        let none = [""; 0];
        assert_eq!(against(Some(1), Some(1), 2, 3), none);
        assert_eq!(against(Some(-1), Some(2), 2, 1), none);
        assert_eq!(against(Some(-1), Some(2), 2, 4), none);
        assert_eq!(against(None, Some(0), 2, 0), none);
        let reasons = [
            (
                Some(1),
                Some(1),
                2,
                2,
                "expected 1 more of `fsync` than in the baseline, got 2 against 2",
            ),
            (
                Some(-1),
                Some(-1),
                2,
                2,
                "expected 1 fewer of `fsync` than in the baseline, got 2 against 2",
            ),
            (
                Some(0),
                Some(0),
                2,
                0,
                "expected as many of `fsync` as in the baseline, got 0 against 2",
            ),
            (
                Some(-1),
                Some(2),
                0,
                3,
                "expected -1..=2 more of `fsync` than in the baseline, got 3 against 0",
            ),
            (
                Some(1),
                None,
                1,
                1,
                "expected 1.. more of `fsync` than in the baseline, got 1 against 1",
            ),
            (
                None,
                Some(0),
                0,
                1,
                "expected ..=0 more of `fsync` than in the baseline, got 1 against 0",
            ),
        ];
        for (min, max, base, run, reason) in reasons {
            assert_eq!(against(min, max, base, run), [reason]);
        }
    }

    #[test]
    fn what_hangs_on_what_was_not_read_is_neither() {
        let sure = judged(Some(0), Some(1), (1, 1), (1, 2));
        assert_eq!(sure, [], "whichever it is");
        let unknown = judged(Some(1), Some(1), (1, 1), (1, 2));
        assert_eq!(
            unknown,
            [Finding::unknown(
                About::Baseline,
                "expected 1 more of `fsync` than in the baseline, which cannot be told where not all was read: 1 to 2 against 1"
            )]
        );
        let certain = judged(Some(3), None, (0, 1), (1, 2));
        assert_eq!(certain.len(), 1);
        assert_eq!(certain[0].kind, Kind::Missed);
    }
}
