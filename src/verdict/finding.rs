//! Findings on a run, as data. Their words are for people; no code reads them again.

use super::Verdict;
use crate::matching::ByTest;
use crate::plan::{Lack, LackOf};
use crate::scenario::{KeyPath, Positions};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a finding means for the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An expectation was not met.
    Missed,
    /// The run never came to what it was to test: a fault did not fire, a mark did not come. What
    /// else failed may have failed for that, and is no known failure.
    Unreached,
    /// Whether an expectation was met is not known.
    Unknown,
    /// Records are missing, so that nothing can be concluded from the others.
    Lost,
    /// The workload took longer than allowed, and the scenario does not expect that.
    TooLong,
    /// A process outlived the main process, where the scenario forbids that.
    Outlived,
    /// This machine lacks what the scenario needs.
    Unmet,
    /// The harness could not do its work.
    Broken,
    /// The harness was asked to end before the run had ended.
    Interrupted,
    /// The run failed as it is known to fail.
    KnownFailure,
    /// The run is known to fail, and passed.
    UnexpectedPass,
    /// It explains other findings, and does not count for the verdict.
    Remark,
}

/// What a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "about", content = "name", rename_all = "snake_case")]
pub enum About {
    /// The run as a whole.
    Run,
    /// Its calls and events.
    Events,
    /// A section of it.
    Section(String),
    /// What the run is confined to, by the key below `confined`.
    Confined(String),
    /// The value of a counter.
    Counter(String),
    /// The program, which could not be executed.
    Program,
    /// How the main process ended.
    Exit,
    /// What it wrote to standard output.
    Stdout,
    /// What it wrote to standard error.
    Stderr,
    /// A limit, by its word in a scenario.
    Limit(String),
    /// Processes that lived on.
    Processes,
    /// A path of `files_after`, as the scenario has it.
    File(String),
    /// The stored snapshot differs.
    Snapshot,
    /// No snapshot is stored.
    NoSnapshot,
    /// The run of its baseline.
    Baseline,
    /// The states that a power cut may leave.
    Crash,
    /// The kernel, its events and features.
    Kernel,
    /// The architecture, and which calls it has.
    Architecture,
    /// The machine apart from its kernel: programs, rights, settings.
    Machine,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Finding {
    /// What it means for the verdict.
    pub kind: Kind,
    /// What it is about.
    #[serde(flatten)]
    pub about: About,
    /// Its words for people.
    pub text: String,
    /// What of it is known as data.
    #[serde(flatten)]
    pub detail: Detail,
}

/// What of a finding is known as data.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Detail {
    /// The line of the scenario's file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column there, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// The number of the step in its list: `2`, or `2.1` within a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The event, as the scenario has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// What was expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What came instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub got: Option<String>,
    /// The state after a power cut that the recovery fails on and that loses least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_cut: Option<PowerCut>,
    /// What tests of a suite did of it, in order of their names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<ByTest>,
}

/// A state after a power cut.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PowerCut {
    /// Its number, by which `harness crash --state` makes it again.
    pub state: usize,
    /// The last call before the power cut; `None` for one before the first change.
    pub behind: Option<String>,
    /// The functions that led to that call, the innermost first; `None` if they were not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind_from: Option<String>,
    /// What did not reach the disk, of calls before.
    pub lost: Vec<String>,
    /// The functions that led to the calls of these.
    #[serde(default)]
    pub lost_from: Vec<Option<String>>,
    /// What was not as the program had left it, a line for each name.
    pub left: Vec<String>,
    /// How many states were tried.
    pub tried: usize,
    /// How many of them the recovery failed on.
    pub failed: usize,
}

impl Finding {
    /// A finding in these words.
    pub fn new(kind: Kind, about: About, text: impl Into<String>) -> Self {
        Self {
            kind,
            about,
            text: text.into(),
            detail: Detail::default(),
        }
    }

    /// Adds what was expected, and what came.
    #[must_use]
    pub fn but(mut self, expected: impl Into<String>, got: impl Into<String>) -> Self {
        self.detail.expected = Some(expected.into());
        self.detail.got = Some(got.into());
        self
    }

    /// Adds the event that it is about.
    #[must_use]
    pub fn of_event(mut self, event: &str) -> Self {
        self.detail.event = Some(event.to_owned());
        self
    }

    /// Adds where the scenario says what it is about, unless that is known more exactly.
    pub fn locate(&mut self, positions: &Positions) {
        if self.detail.line.is_none() {
            let expect = || KeyPath::root().key("expect");
            let at = match &self.about {
                About::Run | About::Kernel | About::Architecture | About::Machine => {
                    KeyPath::root()
                }
                About::Events => expect(),
                About::Section(name) => expect().key("sections").key(name),
                About::Confined(realm) => expect().key("confined").key(realm),
                About::Counter(name) => expect().key("count").key(name),
                About::Program => KeyPath::root().key("workload"),
                About::Exit => expect().key("exit"),
                About::Stdout => expect().key("stdout"),
                About::Stderr => expect().key("stderr"),
                About::Limit(word) if word == "timeout" => {
                    KeyPath::root().key("workload").key(word)
                }
                About::Limit(word) => KeyPath::root().key("sandbox").key("limits").key(word),
                About::Processes => KeyPath::root().key("sandbox").key("survivors"),
                About::File(path) => expect().key("files_after").key(path),
                About::Snapshot | About::NoSnapshot => KeyPath::root().key("snapshot"),
                About::Baseline => expect().key("delta"),
                About::Crash => KeyPath::root().key("crash").key_itself(),
            };
            // What is expected without a key is expected of the workload.
            let has_key = at == KeyPath::root() || positions.has(&at);
            let at = if has_key {
                at
            } else {
                KeyPath::root().key("workload")
            };
            self.place(positions, &at);
        }
    }

    /// Whether it is about what a run did, and not about what it left.
    fn is_of_deeds(&self) -> bool {
        matches!(
            self.about,
            About::Confined(_) | About::Events | About::Section(_) | About::Exit
        )
    }

    /// Adds where that stands.
    pub(super) fn place(&mut self, positions: &Positions, at: &KeyPath) {
        let (line, column) = positions.get(at);
        self.detail.line = Some(line);
        self.detail.column = Some(column);
    }

    /// An expectation that was not met.
    pub fn missed(about: About, text: impl Into<String>) -> Self {
        Self::new(Kind::Missed, about, text)
    }

    /// Makes a finding on what a run was to come to, and never did.
    pub fn unreached(about: About, text: impl Into<String>) -> Self {
        Self::new(Kind::Unreached, about, text)
    }

    /// Makes a finding on an expectation that cannot be decided.
    pub fn unknown(about: About, text: impl Into<String>) -> Self {
        Self::new(Kind::Unknown, about, text)
    }

    /// Makes a finding on a failure of the harness itself.
    pub fn broken(text: impl Into<String>) -> Self {
        Self::new(Kind::Broken, About::Run, text)
    }

    /// Makes a finding that explains others.
    pub fn remark(about: About, text: impl Into<String>) -> Self {
        Self::new(Kind::Remark, about, text)
    }
}

impl From<Lack> for Finding {
    fn from(lack: Lack) -> Self {
        let about = match lack.of {
            LackOf::Kernel => About::Kernel,
            LackOf::Architecture => About::Architecture,
            LackOf::Machine | LackOf::Recording => About::Machine,
        };
        Self::new(Kind::Unmet, about, lack.text)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl AsRef<str> for Finding {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

/// Joins the words of findings, with a separator.
#[must_use]
pub fn joined(findings: &[Finding], between: &str) -> String {
    let texts: Vec<&str> = findings.iter().map(AsRef::as_ref).collect();
    texts.join(between)
}

/// All findings on a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// The findings, in the order in which they are shown.
    pub findings: Vec<Finding>,
}

impl Judgement {
    /// Makes a judgement of a single finding.
    #[must_use]
    pub fn of(finding: Finding) -> Self {
        Self {
            findings: vec![finding],
        }
    }

    /// Whether any finding is of this kind.
    #[must_use]
    pub fn has(&self, kind: Kind) -> bool {
        self.findings.iter().any(|finding| finding.kind == kind)
    }

    /// Returns the verdict. The order of precedence is decided here and nowhere else.
    ///
    /// A failure of the harness says nothing of the workload. A workload that was killed for its
    /// time has failed in that alone. From a trace with a loss neither a failure nor a pass
    /// follows. If a process outlived the main one and was killed, it is not known what the others
    /// would have done. Otherwise a certain failure counts, whatever else is not known.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        const ORDER: [(Kind, Verdict); 11] = [
            (Kind::KnownFailure, Verdict::Pass),
            (Kind::UnexpectedPass, Verdict::UnexpectedPass),
            (Kind::Unmet, Verdict::Skipped),
            (Kind::TooLong, Verdict::Timeout),
            (Kind::Lost, Verdict::Incomplete),
            (Kind::Outlived, Verdict::Leak),
            (Kind::Missed, Verdict::Fail),
            (Kind::Unreached, Verdict::Fail),
            (Kind::Broken, Verdict::Broken),
            (Kind::Interrupted, Verdict::Broken),
            (Kind::Unknown, Verdict::Incomplete),
        ];
        let first = ORDER.into_iter().find(|(kind, _)| self.has(*kind));
        first.map_or(Verdict::Pass, |(_, verdict)| verdict)
    }

    /// Adds further findings, as far as they can be judged: none for a run that had to be killed,
    /// of one whose last processes were killed only what it did, and only unknown ones for a run
    /// with a loss.
    pub fn add(&mut self, others: impl IntoIterator<Item = Finding>) {
        let is_ended = self.has(Kind::TooLong);
        let has_survivors = self.has(Kind::Outlived);
        let is_lost = self.has(Kind::Lost);
        for finding in others {
            let is_judged = !is_ended
                && (!has_survivors || finding.is_of_deeds())
                && (!is_lost || finding.kind == Kind::Unknown);
            if is_judged && !self.findings.contains(&finding) {
                self.findings.push(finding);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(kind: Kind, text: &str) -> Finding {
        Finding::new(kind, About::Run, text)
    }

    #[test]
    fn what_is_certain_counts_whatever_is_not_known_beside_it() {
        let cases: [(&[Kind], Verdict); 12] = [
            (&[], Verdict::Pass),
            (&[Kind::Remark], Verdict::Pass),
            (&[Kind::Unknown], Verdict::Incomplete),
            (&[Kind::Unknown, Kind::Missed], Verdict::Fail),
            (&[Kind::Broken, Kind::Unknown], Verdict::Broken),
            (&[Kind::Broken, Kind::Missed], Verdict::Fail),
            (&[Kind::Lost, Kind::Missed], Verdict::Incomplete),
            (&[Kind::Outlived, Kind::Missed], Verdict::Leak),
            (&[Kind::Lost, Kind::Outlived], Verdict::Incomplete),
            (&[Kind::TooLong, Kind::Lost], Verdict::Timeout),
            (&[Kind::KnownFailure, Kind::Missed], Verdict::Pass),
            (&[Kind::UnexpectedPass], Verdict::UnexpectedPass),
        ];
        for (kinds, verdict) in cases {
            let findings = kinds.iter().map(|kind| found(*kind, "x")).collect();
            let judgement = Judgement { findings };
            assert_eq!(judgement.verdict(), verdict, "{kinds:?}");
        }
    }

    #[test]
    fn of_a_run_with_a_loss_only_what_is_unknown_is_added() {
        let after = |first: Kind, others: &[(Kind, &str)]| {
            let mut judgement = Judgement::of(found(first, "first"));
            judgement.add(others.iter().map(|(kind, text)| found(*kind, text)));
            joined(&judgement.findings, " ")
        };
        let others = [(Kind::Missed, "m"), (Kind::Unknown, "u")];
        assert_eq!(after(Kind::Remark, &others), "first m u");
        assert_eq!(after(Kind::Missed, &others), "first m u");
        assert_eq!(after(Kind::Lost, &others), "first u");
        assert_eq!(after(Kind::Outlived, &others), "first");
        assert_eq!(after(Kind::TooLong, &others), "first");
        // Of a run whose last processes were killed what it did stands.
        let mut judgement = Judgement::of(found(Kind::Outlived, "first"));
        let wrote = About::Confined("writes".to_owned());
        judgement.add([
            Finding::missed(wrote, "writes"),
            Finding::missed(About::Stdout, "output"),
        ]);
        assert_eq!(joined(&judgement.findings, " "), "first writes");
        assert_eq!(judgement.verdict(), Verdict::Leak);
        assert_eq!(after(Kind::Unknown, &[(Kind::Unknown, "first")]), "first");
    }

    #[test]
    fn what_a_run_never_came_to_is_a_failure_of_a_kind_of_its_own() {
        let never_fired = Finding::unreached(About::Events, "never fired");
        let json = serde_json::to_value(&never_fired).unwrap();
        assert_eq!(json["kind"], "unreached");
        let mut judgement = Judgement::of(never_fired);
        assert_eq!(judgement.verdict(), Verdict::Fail);
        judgement.add([found(Kind::Unknown, "u"), found(Kind::Broken, "b")]);
        assert_eq!(judgement.verdict(), Verdict::Fail);
        judgement.add([found(Kind::Lost, "l")]);
        assert_eq!(judgement.verdict(), Verdict::Incomplete);
    }

    #[test]
    fn a_finding_is_one_object_of_json_with_what_it_is_about() {
        let finding = Finding::missed(About::File("a b".to_owned()), "expected");
        let json = serde_json::to_string(&finding).unwrap();
        assert_eq!(
            json,
            r#"{"kind":"missed","about":"file","name":"a b","text":"expected"}"#
        );
        assert_eq!(serde_json::from_str::<Finding>(&json).unwrap(), finding);
        let finding = Finding::unknown(About::Exit, "it was not seen");
        let json = serde_json::to_string(&finding).unwrap();
        assert_eq!(
            json,
            r#"{"kind":"unknown","about":"exit","text":"it was not seen"}"#
        );
        assert_eq!(serde_json::from_str::<Finding>(&json).unwrap(), finding);
    }
}
