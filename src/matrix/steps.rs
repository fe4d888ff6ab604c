//! Finds what differs from each kernel to the next one of the list, and why.

use super::results::{Column, Matrix};
use crate::scenario::KernelVersion;
use crate::upgrade::{self, Answer, Class, Within};
use crate::verdict::Verdict;
use std::collections::{BTreeMap, BTreeSet};

/// One upgrade: from a kernel to the next of the list that did not break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The older kernel's name in the list.
    pub from: String,
    /// The newer kernel's name.
    pub to: String,
    /// The differences, the gravest class first; equal ones of several scenarios are one.
    pub changes: Vec<Explained>,
}

/// A difference with the scenarios that show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The class of its reason.
    pub class: Class,
    /// The part of the answers that differs.
    pub within: Within,
    /// What differs between the two kernels.
    pub what: String,
    /// The scenarios that show it, at least one.
    pub seen: Vec<Seen>,
}

/// A difference in one scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The scenario.
    pub scenario: String,
    /// The verdicts on the older kernel and on the newer one. If both passed, the scenario allows
    /// the difference, or has a snapshot for each.
    pub verdicts: (Verdict, Verdict),
    /// The verdicts on all runs on either, each once.
    pub runs: [BTreeSet<Verdict>; 2],
    /// The evidence, as in [`upgrade::Difference::evidence`].
    pub evidence: Vec<String>,
}

impl Matrix {
    /// Returns each upgrade, in the order of the list. A kernel that broke is left out: the next is
    /// compared with the one before. Kernels of different architectures are compared behind all
    /// upgrades, and only if [asked for](Self::across_architectures): their programs make other
    /// calls. Guests are compared with guests, as the host is another machine; a guest and the
    /// host are compared only if there is no earlier kernel of the same kind.
    #[must_use]
    pub fn steps(&self) -> Vec<Step> {
        let pairs = self.neighbours().into_iter();
        pairs.map(|(from, to)| self.step(from, to)).collect()
    }

    /// Returns for each kernel the scenarios that have to be run again there, so that random
    /// variation can be told from changes of the kernel: those whose runs differ between
    /// neighbours. A scenario that did not run cannot vary.
    #[must_use]
    pub fn in_doubt(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (from, to) in self.neighbours() {
            for scenario in &self.scenarios {
                let answers = [from, to].map(|column| column.answers(scenario).first());
                let [Some(before), Some(after)] = answers else {
                    continue;
                };
                let is_plain = |answer: &Answer| answer.verdict == Verdict::Skipped.word();
                if is_plain(before) || is_plain(after) || before.is_as(after) {
                    continue;
                }
                if upgrade::differ_by_abi_alone((&from.facts, before), (&to.facts, after)) {
                    continue;
                }
                for column in [from, to] {
                    let scenarios = all.entry(column.kernel.clone()).or_default();
                    scenarios.insert(scenario.clone());
                }
            }
        }
        all
    }

    fn neighbours(&self) -> Vec<(&Column, &Column)> {
        let whole: Vec<&Column> = self.columns.iter().filter(|it| it.is_whole()).collect();
        let mut pairs = Vec::new();
        for (place, to) in whole.iter().enumerate() {
            let earlier = whole.get(..place).unwrap_or_default();
            let is_of_arch = |it: &&&Column| it.facts.arch == to.facts.arch;
            let earlier: Vec<&Column> = earlier.iter().filter(is_of_arch).copied().collect();
            let is_alike = |it: &&&Column| it.facts.on_host == to.facts.on_host;
            let from = earlier.iter().rev().find(is_alike).or(earlier.last());
            pairs.extend(from.map(|from| (*from, *to)));
        }
        if self.is_across {
            pairs.extend(pairs_across(&whole));
        }
        pairs
    }

    fn step(&self, from: &Column, to: &Column) -> Step {
        let mut changes: Vec<Explained> = Vec::new();
        for scenario in &self.scenarios {
            let before = (&from.facts, from.answers(scenario));
            let after = (&to.facts, to.answers(scenario));
            for found in upgrade::explain(before, after) {
                let what = found.what.to_string();
                let seen = Seen {
                    scenario: scenario.clone(),
                    verdicts: (from.verdict(scenario), to.verdict(scenario)),
                    runs: [from, to].map(|column| column.verdicts(scenario)),
                    evidence: found.evidence,
                };
                let is_same = |it: &&mut Explained| it.class == found.class && it.what == what;
                match changes.iter_mut().find(is_same) {
                    Some(known) => known.seen.push(seen),
                    None => changes.push(Explained {
                        class: found.class,
                        within: found.within,
                        what,
                        seen: vec![seen],
                    }),
                }
            }
        }
        changes.sort_by_key(|change| change.class);
        Step {
            from: from.kernel.clone(),
            to: to.kernel.clone(),
            changes,
        }
    }
}

/// Each kernel of a further architecture with one of the list's first architecture: the last of the
/// same version; where no version is the same, the last of either.
fn pairs_across<'a>(whole: &[&'a Column]) -> Vec<(&'a Column, &'a Column)> {
    let Some(first) = whole.first().map(|column| &column.facts.arch) else {
        return Vec::new();
    };
    let (bases, others): (Vec<&Column>, Vec<&Column>) =
        whole.iter().partition(|column| column.facts.arch == *first);
    let version = |column: &Column| {
        let version = KernelVersion::of_release(&column.facts.release);
        version.map(|it| (it.major, it.minor))
    };
    let same = others.iter().filter_map(|to| {
        let mut bases = bases.iter().rev();
        let from = bases.find(|from| version(from).is_some() && version(from) == version(to))?;
        Some((*from, *to))
    });
    let mut pairs: Vec<_> = same.collect();
    for to in others.iter().rev() {
        let is_there = |it: &(&Column, &Column)| it.1.facts.arch == to.facts.arch;
        if !pairs.iter().any(is_there) {
            pairs.extend(bases.last().map(|from| (*from, *to)));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    fn column(kernel: &str, cells: &[(&str, &str, &str)]) -> Column {
        let mut column = Column::of(kernel);
        column.line(&format!(
            "{{\"type\":\"machine\",\"release\":\"{kernel}.0\",\"settings\":{{\"a\":\"b\"}}}}"
        ));
        for (name, verdict, trace) in cells {
            let line = format!(
                "{{\"type\":\"scenario\",\"name\":\"{name}\",\"verdict\":\"{verdict}\",\"trace\":\"P1 x\\n  {trace}\\n\"}}"
            );
            assert!(column.line(&line), "{line}");
        }
        column
    }

    #[test]
    fn a_guest_is_compared_with_the_guest_before_it_and_not_with_the_host() {
        let mut columns = ["5.10", "6.1", "6.18", "7.2"].map(|kernel| {
            column(
                kernel,
                &[("a", "pass", &format!("close({}) = 0", kernel.len()))],
            )
        });
        columns[2].facts.on_host = true;
        let steps = Matrix::new(columns.into(), []).steps();
        let shown: Vec<String> = steps
            .iter()
            .map(|step| {
                let classes = step.changes.iter().map(|change| change.class.word());
                let classes: Vec<&str> = classes.collect();
                format!("{} -> {}: {}", step.from, step.to, classes.join(" "))
            })
            .collect();
        assert_eq!(
            shown,
            [
                "5.10 -> 6.1: behaviour",
                "6.1 -> 6.18: environment",
                "6.1 -> 7.2: "
            ]
        );
    }

    #[test]
    fn a_kernel_is_compared_with_the_one_before_it_of_its_architecture() {
        let kernels = ["6.1", "arm64-6.1", "7.2", "arm64-7.2"];
        let mut columns = kernels.map(|kernel| {
            let trace = format!("close({}) = 0", kernel.len());
            column(kernel, &[("a", "pass", &trace)])
        });
        for column in &mut columns {
            let is_arm = column.kernel.starts_with("arm64");
            column.facts.arch = if is_arm { "arm64" } else { "amd64" }.to_owned();
            column.facts.release = column.kernel.trim_start_matches("arm64-").to_owned();
        }
        let matrix = Matrix::new(columns.into(), []);
        let shown: Vec<String> = matrix
            .steps()
            .iter()
            .map(|step| format!("{} -> {}: {}", step.from, step.to, step.changes.len()))
            .collect();
        assert_eq!(shown, ["6.1 -> 7.2: 0", "arm64-6.1 -> arm64-7.2: 0"]);
        assert!(matrix.in_doubt().is_empty());
        // What `close(3)` and `close(9)` differ in is no matter of the ABI.
        let across = matrix.across_architectures();
        let steps = across.steps().into_iter().skip(2);
        let shown: Vec<String> = steps
            .map(|step| format!("{} -> {}: {}", step.from, step.to, step.changes.len()))
            .collect();
        assert_eq!(shown, ["6.1 -> arm64-6.1: 1", "7.2 -> arm64-7.2: 1"]);
        assert_eq!(across.in_doubt().len(), 4);
    }

    #[test]
    fn of_architectures_without_a_common_version_the_last_kernels_are_compared() {
        let mut columns = ["6.1", "6.12", "arm64-5.10", "arm64-7.2"]
            .map(|kernel| column(kernel, &[("a", "pass", "a() = 0")]));
        for column in columns.iter_mut().skip(2) {
            column.facts.arch = "arm64".to_owned();
            column.facts.release = column.kernel.trim_start_matches("arm64-").to_owned();
        }
        let matrix = Matrix::new(columns.into(), []).across_architectures();
        let last = matrix.steps().pop().unwrap();
        assert_eq!((&*last.from, &*last.to), ("6.12", "arm64-7.2"));
        assert_eq!(matrix.steps().len(), 3);
    }

    #[test]
    fn what_the_abi_alone_makes_different_is_not_in_doubt() {
        let mut columns = [
            ("6.1", "unlink(\\\"x\\\") = 0"),
            ("arm64-6.1", "unlinkat(AT_FDCWD, \\\"x\\\", 0) = 0"),
        ]
        .map(|(kernel, trace)| column(kernel, &[("a", "pass", trace)]));
        columns[0].facts.arch = "amd64".to_owned();
        columns[1].facts.arch = "arm64".to_owned();
        columns[1].facts.release = "6.1.0".to_owned();
        let matrix = Matrix::new(columns.into(), []).across_architectures();
        assert!(matrix.in_doubt().is_empty());
        let [step] = <[Step; 1]>::try_from(matrix.steps()).unwrap();
        let classes: Vec<&str> = step.changes.iter().map(|it| it.class.word()).collect();
        assert_eq!(classes, ["architecture"]);
    }

    #[test]
    fn only_what_differs_from_a_kernel_to_the_next_is_in_doubt() {
        let same = ("same", "pass", "a() = 0");
        let matrix = Matrix::new(
            vec![
                column(
                    "5.10",
                    &[same, ("new", "pass", "a() = 0"), ("off", "skipped", "")],
                ),
                column(
                    "6.1",
                    &[same, ("new", "pass", "a() = 0"), ("off", "pass", "a() = 0")],
                ),
                column(
                    "7.2",
                    &[same, ("new", "pass", "b() = 0"), ("off", "pass", "a() = 0")],
                ),
            ],
            [],
        );
        let shown: Vec<String> = matrix
            .in_doubt()
            .iter()
            .map(|(kernel, scenarios)| format!("{kernel} {scenarios:?}"))
            .collect();
        assert_eq!(shown, ["6.1 {\"new\"}", "7.2 {\"new\"}"]);
        assert_eq!(matrix.columns[0].facts.release, "5.10.0");
        assert_eq!(matrix.columns[0].facts.settings["a"], "b");
    }

    #[test]
    fn two_passes_may_differ_and_a_kernel_that_broke_is_left_out() {
        let mut broken = column("6.1", &[("a", "pass", "a() = 9")]);
        broken.trouble = Some("it panicked".into());
        let columns = vec![
            column("5.10", &[("a", "pass", "a() = 0")]),
            broken,
            column("7.2", &[("a", "pass", "a() = 1")]),
        ];
        let steps = Matrix::new(columns, []).steps();
        let [step] = &*steps else { panic!("{steps:?}") };
        assert_eq!((&*step.from, &*step.to), ("5.10", "7.2"));
        assert_eq!(step.changes[0].what, "`a` returns 1 instead of 0");
        let passes = (Verdict::Pass, Verdict::Pass);
        assert_eq!(step.changes[0].seen[0].verdicts, passes);
    }

    #[test]
    fn a_scenario_that_passed_at_first_and_failed_in_a_further_run_has_failed() {
        let again = column("6.1", &[("a", "pass", "a() = 0"), ("a", "fail", "a() = 1")]);
        let matrix = Matrix::new(vec![again], []);
        assert_eq!(matrix.columns[0].verdict("a"), Verdict::Fail);
        assert_eq!(matrix.columns[0].answers("a").len(), 2);
        assert_eq!(matrix.verdicts(), [Verdict::Fail]);
    }
}
