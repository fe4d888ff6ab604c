//! What came of a run.

use crate::program::{self, Error, text};
use serde_json::Value;
use std::fmt;
use std::process::Command;

/// How a run was judged: the words are those of `harness run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// All that was expected is so, and no record was lost.
    Pass,
    /// Something that was expected is not so.
    Fail,
    /// Records were lost or something could not be read: nothing follows from the run.
    Incomplete,
    /// The run took longer than it may.
    Timeout,
    /// A process outlived the program.
    Leak,
    /// The machine lacks what the scenario requires.
    Skipped,
    /// The harness could not do its work.
    Broken,
    /// A scenario that is known to fail passed.
    UnexpectedPass,
}

impl Verdict {
    fn of(word: &str) -> Option<Self> {
        Some(match word {
            "pass" => Self::Pass,
            "fail" => Self::Fail,
            "incomplete" => Self::Incomplete,
            "timeout" => Self::Timeout,
            "leak" => Self::Leak,
            "skipped" => Self::Skipped,
            "broken" => Self::Broken,
            "unexpected_pass" => Self::UnexpectedPass,
            _ => return None,
        })
    }
}

/// What came of a run. Its text is what a person needs of a failure.
///
/// It fails no test before it is asked, so the compiler warns of one that is not:
///
/// ```compile_fail
/// #![deny(unused_must_use)]
/// # fn main() {
/// harness_test::Check::of("true").run();
/// # }
/// ```
///
/// ```no_run
/// #![deny(unused_must_use)]
/// # fn main() {
/// harness_test::Check::of("true").run().assert();
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a run fails no test before its outcome is asked: call `assert`"]
pub struct Outcome {
    pub(crate) verdict: Verdict,
    word: String,
    name: String,
    reasons: Vec<String>,
    pub(crate) trace: Option<String>,
    /// Whether nothing is wrong but that the trace is not the stored one.
    pub(crate) only_snapshot: bool,
    scenario: Option<String>,
    /// What the harness said besides: how to get a right that is missing.
    said: String,
}

impl Outcome {
    /// Runs one scenario; `scenario` is its text where its file does not stay.
    pub(crate) fn of(command: Command, scenario: Option<String>) -> Result<Self, Error> {
        let (lines, said) = program::lines(command)?;
        let is_scenario = |line: &&Value| text(line, "type") == Some("scenario");
        let mut reports = lines.iter().filter(is_scenario);
        let (Some(line), None) = (reports.next(), reports.next()) else {
            return Err(Error::Line("not one scenario".to_owned()));
        };
        let word = text(line, "verdict").unwrap_or_default().to_owned();
        let unknown = || Error::Line(line.to_string());
        let mut verdict = Verdict::of(&word).ok_or_else(unknown)?;
        // A trace that is asked for has no stored one to differ from.
        let only_snapshot = line["only_snapshot"] == Value::Bool(true);
        let has_none_stored = scenario.is_some() && only_snapshot;
        if verdict == Verdict::Fail && has_none_stored {
            verdict = Verdict::Pass;
        }
        // Its folder is gone by the time that this is read.
        let is_missing = |finding: &&Value| text(finding, "about") == Some("no_snapshot");
        let findings = line["findings"].as_array().into_iter().flatten();
        let missing = findings.filter(|_| scenario.is_some()).filter(is_missing);
        let missing: Vec<&str> = missing.filter_map(|it| text(it, "text")).collect();
        let reasons = line["reasons"].as_array().ok_or_else(unknown)?;
        let reasons = reasons.iter().filter_map(Value::as_str);
        let reasons = reasons.filter(|reason| !missing.contains(reason));
        let reasons = reasons.map(str::to_owned);
        Ok(Self {
            verdict,
            word,
            name: text(line, "name").unwrap_or_default().to_owned(),
            reasons: reasons.collect(),
            trace: text(line, "trace").map(str::to_owned),
            only_snapshot,
            scenario,
            said: match verdict {
                Verdict::Skipped | Verdict::Broken => said,
                _ => String::new(),
            },
        })
    }

    /// How it was judged.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Why it is no pass, each in words for a person, of one line or more.
    #[must_use]
    pub fn reasons(&self) -> &[String] {
        &self.reasons
    }

    /// Panics unless the verdict is a pass: a skipped or an incomplete run is none.
    ///
    /// # Panics
    /// See above; the message says what was expected, and what was nearest to it.
    #[track_caller]
    pub fn assert(&self) {
        assert!(self.verdict == Verdict::Pass, "{self}");
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.word.replace('_', " ");
        match &self.scenario {
            Some(scenario) => write!(f, "{word}, of this scenario:\n{scenario}")?,
            None => writeln!(f, "{word}  {}", self.name)?,
        }
        for line in self.reasons.iter().flat_map(|reason| reason.lines()) {
            writeln!(f, "      {line}")?;
        }
        if !self.said.is_empty() {
            writeln!(f, "{}", self.said)?;
        }
        Ok(())
    }
}
