//! The results of the same scenarios on several kernels, and their differences.

use super::cell::Cell;
use super::why::Trouble;
use crate::snapshot;
use crate::upgrade::{Answer, Facts};
use crate::verdict::{About, Finding, Kind, Sign, Verdict};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::time::Duration;

fn verdict(word: &str) -> Option<Verdict> {
    Verdict::ALL.into_iter().find(|known| known.word() == word)
}

/// The results of all scenarios on one kernel.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// The kernel's name in the list.
    pub kernel: String,
    /// Its release, once it is known.
    pub release: String,
    /// How long all of it took.
    pub took: Duration,
    /// Why some scenarios have no result.
    pub trouble: Option<Trouble>,
    /// Whether it has none for them as the harness was asked to end.
    pub interrupted: bool,
    /// How many lines of a harness it has sent.
    pub heard: usize,
    /// Further facts about the kernel.
    pub facts: Facts,
    cells: BTreeMap<String, Cell>,
    /// The scenarios that fail by their snapshots alone.
    only_snapshot: BTreeSet<String>,
    /// The scenarios of which further runs have not ended.
    not_ended: BTreeSet<String>,
    /// The scenario that ended last.
    last: Option<String>,
    /// By scenario: its file, and how long its first run took.
    places: BTreeMap<String, (String, Duration)>,
    /// By scenario: the answer of the first run, then those of repeated runs.
    answers: BTreeMap<String, Vec<Answer>>,
}

/// A line of `harness run --format json`, as far as it is needed.
#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    name: Option<String>,
    file: Option<String>,
    verdict: Option<String>,
    duration_ms: Option<u64>,
    kernel: Option<String>,
    #[serde(default)]
    findings: Vec<Finding>,
    #[serde(default)]
    notes: Vec<String>,
    trace: Option<String>,
    #[serde(default)]
    only_snapshot: bool,
    release: Option<String>,
    #[serde(default)]
    arch: String,
    #[serde(default)]
    settings: BTreeMap<String, String>,
}

impl Column {
    /// Makes an empty column for the kernel of this name.
    #[must_use]
    pub fn of(kernel: &str) -> Self {
        Self {
            kernel: kernel.to_owned(),
            ..Self::default()
        }
    }

    /// Takes a line of `harness run --format json --traces`; returns whether a scenario ended.
    /// Later ends of a scenario show what varies: one that did not pass in every run is no pass.
    /// One that was interrupted has not ended.
    pub fn line(&mut self, text: &str) -> bool {
        let Ok(line) = serde_json::from_str::<Line>(text) else {
            return false;
        };
        self.heard = self.heard.saturating_add(1);
        if let ("machine", Some(release)) = (line.kind.as_str(), &line.release) {
            self.facts.release.clone_from(release);
            self.facts.arch = line.arch;
            self.facts.settings = line.settings;
            return false;
        }
        let word = line.verdict.as_deref().and_then(verdict);
        let (Some(name), Some(word), "scenario") = (line.name, word, line.kind.as_str()) else {
            return false;
        };
        if line.findings.iter().any(|it| it.kind == Kind::Interrupted) {
            return false;
        }
        if let Some(release) = line.kernel {
            self.release = release;
        }
        if let (Some(file), Some(time)) = (line.file, line.duration_ms) {
            let place = (file, Duration::from_millis(time));
            self.places.entry(name.clone()).or_insert(place);
        }
        if line.only_snapshot && !self.cells.contains_key(&name) {
            self.only_snapshot.insert(name.clone());
        }
        if !line.only_snapshot && word != Verdict::Pass {
            self.only_snapshot.remove(&name);
        }
        self.answers.entry(name.clone()).or_default().push(Answer {
            verdict: word.word().to_owned(),
            findings: line.findings.clone(),
            trace: line.trace.unwrap_or_default(),
        });
        self.last = Some(name.clone());
        let cell = Cell::of(word, line.findings, line.notes);
        match self.cells.entry(name) {
            Entry::Vacant(entry) => {
                entry.insert(cell);
            }
            Entry::Occupied(mut known) => known.get_mut().again(cell),
        }
        true
    }

    /// Returns a scenario's trace for its snapshot: of a run that passed, or that fails by its
    /// snapshot alone (then true). `None` if runs on this kernel differ among themselves.
    #[must_use]
    pub fn traced(&self, scenario: &str) -> Option<(&str, bool)> {
        let (first, again) = self.answers(scenario).split_first()?;
        let is_right = self.verdict(scenario) == Verdict::Pass;
        let is_new = self.only_snapshot.contains(scenario);
        let is_stable = again.iter().all(|answer| answer.trace == first.trace);
        (is_stable && (is_right || is_new)).then_some((&first.trace, is_new))
    }

    /// Says why it has come to no end that is known. If each of these scenarios has a result all
    /// the same, the one that ended last is no pass: what it did may be what ended the kernel.
    pub fn fail<'a>(&mut self, trouble: Trouble, mut scenarios: impl Iterator<Item = &'a String>) {
        let has_all = scenarios.all(|name| self.answers.contains_key(name));
        if let Some(last) = self.last.clone().filter(|_| has_all) {
            let why = format!("it was the last to end there, and then {}", trouble.said);
            self.did_not_end(&last, &why);
        }
        self.trouble = Some(trouble);
    }

    /// Says that further runs of a scenario have not ended there, and why: what passed before may
    /// be what ended the guest.
    pub fn did_not_end(&mut self, scenario: &str, why: &str) {
        self.only_snapshot.remove(scenario);
        self.not_ended.insert(scenario.to_owned());
        if let Some(cell) = self.cells.get_mut(scenario) {
            cell.again(Cell::broken(why));
        }
    }

    /// Says that only these scenarios were run there, and why.
    pub fn only(&mut self, scenarios: &BTreeSet<String>, why: &str) {
        for (name, cell) in &mut self.cells {
            if !scenarios.contains(name) {
                let unmet = Finding::new(Kind::Unmet, About::Run, why);
                *cell = Cell::of(Verdict::Skipped, vec![unmet], Vec::new());
            }
        }
    }

    /// Says that it was interrupted: what has no result had not ended.
    pub fn interrupt(&mut self) {
        self.interrupted = true;
        self.trouble = Some("interrupted".into());
    }

    /// Returns what the runs of a scenario say to a search for the first bad kernel.
    #[must_use]
    pub fn sign(&self, scenario: &str) -> Sign {
        if self.not_ended.contains(scenario) {
            return Sign::Unclear;
        }
        let signs = self.answers(scenario).iter().map(|answer| {
            let verdict = verdict(&answer.verdict).unwrap_or(Verdict::Broken);
            Sign::of(verdict, &answer.findings)
        });
        Sign::of_rounds(signs)
    }

    /// The kernel, as far as it decides which snapshot is right.
    #[must_use]
    pub fn of_snapshots(&self) -> snapshot::Kernel<'_> {
        snapshot::Kernel {
            release: &self.release,
            arch: &self.facts.arch,
        }
    }

    /// Makes a scenario pass whose trace has become its snapshot.
    pub fn accept(&mut self, scenario: &str) {
        self.only_snapshot.remove(scenario);
        if let Some(cell) = self.cells.get_mut(scenario) {
            cell.accept();
        }
        for answer in self.answers.get_mut(scenario).into_iter().flatten() {
            Verdict::Pass.word().clone_into(&mut answer.verdict);
            answer.findings.clear();
        }
    }

    /// How many scenarios have ended.
    #[must_use]
    pub fn done(&self) -> usize {
        self.cells.len()
    }

    /// Whether all scenarios have a result.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.trouble.is_none() && !self.answers.is_empty()
    }

    /// Returns the answers of a scenario, one for each run, in their order.
    #[must_use]
    pub fn answers(&self, scenario: &str) -> &[Answer] {
        self.answers.get(scenario).map_or(&[], Vec::as_slice)
    }

    /// Whether the trace of any of these scenarios has events, whose formats may differ between
    /// kernels.
    #[must_use]
    pub fn has_events<'a>(&self, scenarios: impl IntoIterator<Item = &'a String>) -> bool {
        let mut answers = scenarios.into_iter().flat_map(|name| self.answers(name));
        answers.any(Answer::has_events)
    }

    /// Returns the file of a scenario that has run, and the line that its first located finding is
    /// about; the first line without one.
    #[must_use]
    pub fn place(&self, scenario: &str) -> Option<(String, usize)> {
        let (file, _) = self.places.get(scenario)?;
        let findings = self.cells.get(scenario).map(|cell| cell.findings.iter());
        let mut lines = findings?.filter_map(|finding| finding.detail.line);
        Some((file.clone(), lines.next().unwrap_or(1)))
    }

    /// Returns how long the first run of a scenario took, if it has run.
    #[must_use]
    pub fn time(&self, scenario: &str) -> Option<Duration> {
        self.places.get(scenario).map(|(_, time)| *time)
    }

    /// Returns the verdict on a scenario.
    #[must_use]
    pub fn verdict(&self, scenario: &str) -> Verdict {
        self.cells
            .get(scenario)
            .map_or(Verdict::Broken, Cell::verdict)
    }

    /// Returns the verdicts on all runs of a scenario, each once.
    #[must_use]
    pub fn verdicts(&self, scenario: &str) -> BTreeSet<Verdict> {
        let cell = self.cells.get(scenario);
        cell.map_or_else(|| [Verdict::Broken].into(), |cell| cell.verdicts().clone())
    }
}

/// Kernels, and the results of the scenarios on each.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// The kernels in the order of their list.
    pub columns: Vec<Column>,
    /// The scenarios by name.
    pub scenarios: Vec<String>,
    /// Whether kernels of different architectures are compared.
    pub(super) is_across: bool,
}

/// A result that is not the same everywhere, or not a pass anywhere; with all kernels and scenarios
/// that have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The kernels that it holds for, in the order of the list.
    pub kernels: Vec<String>,
    /// The other verdicts on these scenarios, each with its kernels.
    pub elsewhere: Vec<(Verdict, Vec<String>)>,
    /// The verdict on these kernels.
    pub verdict: Verdict,
    /// The findings on these kernels.
    pub findings: Vec<Finding>,
    /// What was not judged on these kernels.
    pub notes: Vec<String>,
    /// The scenarios that it holds for.
    pub scenarios: Vec<String>,
}

impl Difference {
    /// Whether it is the same result, of other scenarios.
    fn is_as(&self, other: &Self) -> bool {
        let facts = |of: &Self| (of.kernels.clone(), of.elsewhere.clone(), of.verdict);
        facts(self) == facts(other) && self.findings == other.findings && self.notes == other.notes
    }
}

impl Matrix {
    /// Joins the columns. A scenario without a result on a kernel is broken there.
    #[must_use]
    pub fn new(mut columns: Vec<Column>, scenarios: impl IntoIterator<Item = String>) -> Self {
        let told = columns
            .iter()
            .flat_map(|column| column.cells.keys().cloned());
        let scenarios: BTreeSet<String> = scenarios.into_iter().chain(told).collect();
        for column in &mut columns {
            let why = match &column.trouble {
                Some(trouble) => &trouble.said,
                None => "the harness in the guest told nothing of it",
            };
            for name in &scenarios {
                let cell = || Cell::broken(why);
                column.cells.entry(name.clone()).or_insert_with(cell);
            }
        }
        Self {
            columns,
            scenarios: scenarios.into_iter().collect(),
            is_across: false,
        }
    }

    /// The same with kernels of different architectures [compared](Self::steps), too.
    #[must_use]
    pub fn across_architectures(mut self) -> Self {
        self.is_across = true;
        self
    }

    /// A scenario's row, in the order of the kernels.
    pub fn row<'a>(&'a self, scenario: &'a str) -> impl Iterator<Item = (&'a Column, &'a Cell)> {
        let cell = move |column: &'a Column| Some((column, column.cells.get(scenario)?));
        self.columns.iter().filter_map(cell)
    }

    /// Every verdict.
    #[must_use]
    pub fn verdicts(&self) -> Vec<Verdict> {
        let cells = self.columns.iter().flat_map(|column| column.cells.values());
        cells.map(Cell::verdict).collect()
    }

    /// Returns all results that are no plain pass; equal results of several kernels and scenarios
    /// are one.
    #[must_use]
    pub fn differences(&self) -> Vec<Difference> {
        let mut found: Vec<Difference> = Vec::new();
        for scenario in &self.scenarios {
            for difference in self.of_row(scenario) {
                let same = found.iter_mut().find(|known| known.is_as(&difference));
                match same {
                    Some(known) => known.scenarios.push(scenario.clone()),
                    None => found.push(difference),
                }
            }
        }
        found
    }

    fn of_row(&self, scenario: &str) -> Vec<Difference> {
        let mut groups: Vec<(&Cell, Vec<String>)> = Vec::new();
        for (column, cell) in self.row(scenario) {
            match groups.iter_mut().find(|(known, _)| *known == cell) {
                Some((_, kernels)) => kernels.push(column.kernel.clone()),
                None => groups.push((cell, vec![column.kernel.clone()])),
            }
        }
        let odd = groups.iter().filter(|(cell, _)| !cell.is_plain());
        let difference = |(cell, kernels): &(&Cell, Vec<String>)| Difference {
            kernels: kernels.clone(),
            elsewhere: groups
                .iter()
                .filter(|(other, _)| other != cell)
                .map(|(other, kernels)| (other.verdict(), kernels.clone()))
                .collect(),
            verdict: cell.verdict(),
            findings: cell.findings.clone(),
            notes: cell.notes.clone(),
            scenarios: vec![scenario.to_owned()],
        };
        odd.map(difference).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Printed;
    use crate::verdict::joined;

    fn column(kernel: &str, cells: &[(&str, &str, &str)]) -> Column {
        let mut column = Column::of(kernel);
        for (name, verdict, reason) in cells {
            let findings = match *reason {
                "" => Vec::new(),
                text => vec![Finding::missed(About::Run, text)],
            };
            let findings = serde_json::to_string(&findings).unwrap();
            let line = format!(
                "{{\"type\":\"scenario\",\"name\":\"{name}\",\"verdict\":\"{verdict}\",\"findings\":{findings},\"kernel\":\"{kernel}.0\"}}"
            );
            assert!(column.line(&line), "{line}");
        }
        column
    }

    fn shown(matrix: &Matrix) -> Vec<String> {
        let show = |found: Difference| {
            format!(
                "{} on {}: {}: {}",
                found.verdict,
                found.kernels.join(" "),
                found.scenarios.join(" "),
                joined(&found.findings, "; ")
            )
        };
        matrix.differences().into_iter().map(show).collect()
    }

    #[test]
    fn each_difference_is_told_once() {
        let matrix = Matrix::new(
            vec![
                column(
                    "5.10",
                    &[
                        ("a", "pass", ""),
                        ("b", "fail", "x"),
                        ("c", "skipped", "no t"),
                        ("d", "skipped", "no t"),
                    ],
                ),
                column(
                    "6.1",
                    &[
                        ("a", "pass", ""),
                        ("b", "fail", "x"),
                        ("c", "pass", ""),
                        ("d", "pass", ""),
                    ],
                ),
                column(
                    "7.2",
                    &[
                        ("a", "pass", ""),
                        ("b", "fail", "y"),
                        ("c", "pass", ""),
                        ("d", "pass", ""),
                    ],
                ),
            ],
            [],
        );
        assert_eq!(
            shown(&matrix),
            [
                "fail on 5.10 6.1: b: x",
                "fail on 7.2: b: y",
                "skipped on 5.10: c d: no t"
            ]
        );
        let elsewhere = &matrix.differences()[2].elsewhere;
        assert_eq!(
            *elsewhere,
            [(Verdict::Pass, vec!["6.1".to_owned(), "7.2".to_owned()])]
        );
        assert_eq!(matrix.columns[0].release, "5.10.0");
    }

    #[test]
    fn what_did_not_pass_in_every_run_on_a_kernel_is_no_pass_there() {
        let varies = |first: &str, then: [&str; 2]| {
            let runs = [first, then[0], then[1]].map(|verdict| match verdict {
                "pass" => ("a", verdict, ""),
                _ => ("a", verdict, "why"),
            });
            let matrix = Matrix::new(vec![column("6.1", &runs)], []);
            let (_, cell) = matrix.row("a").next().unwrap();
            let words: Vec<&str> = cell.verdicts().iter().map(|it| it.word()).collect();
            let found = joined(&cell.findings, "; ");
            format!(
                "{} ({}): {found}: {}",
                cell.verdict(),
                words.join(" "),
                cell.notes.join("; ")
            )
        };
        let said = "fail (pass fail): why: not the same in all runs: pass, fail";
        assert_eq!(varies("pass", ["fail", "pass"]), said);
        assert_eq!(varies("fail", ["pass", "pass"]), said);
        assert_eq!(varies("fail", ["fail", "fail"]), "fail (fail): why: ");
        assert_eq!(varies("pass", ["pass", "pass"]), "pass (pass): : ");
        let failed = varies("skipped", ["fail", "pass"]);
        assert!(
            failed.starts_with("fail (pass fail skipped): why"),
            "{failed}"
        );
        assert_eq!(
            varies("fail", ["pass", "timeout"]),
            "fail (pass fail timeout): why: not the same in all runs: pass, fail, timeout"
        );
    }

    #[test]
    fn a_trace_becomes_a_snapshot_where_no_run_failed_by_anything_else() {
        let by_snapshot = r#"{"type":"scenario","name":"a","verdict":"fail","only_snapshot":true,"findings":[],"trace":"t"}"#;
        let otherwise =
            r#"{"type":"scenario","name":"a","verdict":"timeout","findings":[],"trace":"t"}"#;
        for (lines, is_new) in [
            ([by_snapshot, by_snapshot], true),
            ([by_snapshot, otherwise], false),
            ([otherwise, by_snapshot], false),
        ] {
            let mut column = Column::of("6.1");
            assert!(lines.iter().all(|line| column.line(line)));
            assert_eq!(
                column.traced("a"),
                is_new.then_some(("t", true)),
                "{lines:?}"
            );
        }
    }

    #[test]
    fn what_was_not_to_be_run_on_a_kernel_is_skipped_there() {
        let cells = [("a", "fail", "x"), ("b", "pass", "")];
        let joined = Matrix::new(vec![column("6.1", &cells), column("7.2", &cells)], []);
        let mut between = joined.columns[0].clone();
        between.only(&BTreeSet::from(["a".to_owned()]), "not run");
        let matrix = Matrix::new(vec![between, joined.columns[1].clone()], []);
        assert_eq!(
            shown(&matrix),
            ["fail on 6.1 7.2: a: x", "skipped on 6.1: b: not run"]
        );
    }

    #[test]
    fn what_a_kernel_told_nothing_of_is_broken_there() {
        let mut died = column("6.1", &[("a", "pass", "")]);
        died.trouble = Some(Trouble {
            printed: Printed::of("it said", "panic"),
            ..Trouble::from("it ended")
        });
        let silent = column("7.2", &[]);
        let matrix = Matrix::new(vec![died, silent], ["b".to_owned(), "a".to_owned()]);
        assert_eq!(
            shown(&matrix),
            [
                "broken on 7.2: a: the harness in the guest told nothing of it",
                "broken on 6.1: b: it ended",
                "broken on 7.2: b: the harness in the guest told nothing of it"
            ]
        );
    }

    #[test]
    fn what_passed_and_did_not_end_when_it_was_run_again_is_no_pass_and_no_snapshot() {
        let mut column = Column::of("6.1");
        for name in ["a", "b"] {
            let line = "\"verdict\":\"pass\",\"trace\":\"P1 x\\n\"";
            assert!(column.line(&format!(
                "{{\"type\":\"scenario\",\"name\":\"{name}\",{line}}}"
            )));
        }
        assert!(column.traced("a").is_some());
        assert_eq!(column.sign("a"), Sign::Good);
        column.did_not_end("a", "the guest ended");
        assert_eq!(
            (column.traced("a"), column.sign("a")),
            (None, Sign::Unclear)
        );
        assert_eq!(column.verdict("a"), Verdict::Broken);
        assert_eq!(
            column.verdicts("a"),
            [Verdict::Pass, Verdict::Broken].into()
        );
        assert_eq!(column.verdict("b"), Verdict::Pass);
        let shown = shown(&Matrix::new(vec![column], []));
        assert_eq!(shown, ["broken on 6.1: a: the guest ended"]);
    }

    #[test]
    fn what_ended_last_on_a_kernel_that_then_ended_by_itself_is_no_pass() {
        let names = ["a", "b"].map(str::to_owned);
        let failed = |told: &[&str]| {
            let mut column = Column::of("6.1");
            for name in told {
                let line = format!("\"name\":\"{name}\",\"verdict\":\"pass\"");
                assert!(column.line(&format!("{{\"type\":\"scenario\",{line}}}")));
            }
            column.fail("the guest ended".into(), names.iter());
            shown(&Matrix::new(vec![column], names.clone()))
        };
        assert_eq!(failed(&["a"]), ["broken on 6.1: b: the guest ended"]);
        let last = "it was the last to end there, and then the guest ended";
        assert_eq!(failed(&["b", "a"]), [format!("broken on 6.1: a: {last}")]);
    }

    #[test]
    fn lines_that_end_no_scenario_are_none() {
        let mut column = Column::of("6.1");
        for line in [
            "",
            "warning",
            "{\"type\":\"summary\",\"pass\":1}",
            "{\"type\":\"scenario\",\"name\":\"a\",\"verdict\":\"odd\"}",
        ] {
            assert!(!column.line(line), "{line}");
        }
        assert_eq!((column.done(), column.heard), (0, 2));
    }
}
