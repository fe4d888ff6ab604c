//! What a recovery makes of the states that a power cut may leave.

use super::{About, Finding, Known, PowerCut, Run, Verdict, joined};
use crate::plan::Plan;
use std::fmt::{Display, Formatter, Write};

/// What became of the states of a run.
#[derive(Clone, Debug, Default)]
pub struct Crashed {
    /// The name of the model.
    pub model: String,
    /// How many states were tried.
    pub tried: usize,
    /// How many there are, as a power of two, where not all were tried.
    pub of_about: Option<u32>,
    /// What chose among them then.
    pub seed: u64,
    /// How many of them the recovery failed on.
    pub failed: usize,
    /// On how many of them its program could not be executed.
    pub unexecuted: usize,
    /// On how many of them it was killed for its time, or for a process that lived on.
    pub killed: usize,
    /// The one that lost least.
    pub worst: Option<Failure>,
    /// Why what was tried says nothing, or not all.
    pub unknown: Vec<String>,
    /// Behind which promise the power cuts come.
    pub since: Option<String>,
    /// Why there is nothing to lose, if there is not.
    pub idle: Option<Idle>,
    /// Whether the recovery passes as well where each byte that the run wrote is another one, as no
    /// power cut leaves it; `None` where that was not tried.
    pub is_blind: Option<bool>,
}

/// A state that the recovery failed on.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Its number, by which it is made again.
    pub state: usize,
    /// How many steps of the log were before the power cut.
    pub moment: usize,
    /// The last call before the power cut; `None` for one before the first change.
    pub behind: Option<String>,
    /// The functions that led to that call, the innermost first; `None` if they were not recorded.
    pub behind_from: Option<String>,
    /// What did not reach the disk, of calls before.
    pub lost: Vec<String>,
    /// The functions that led to the calls of these.
    pub lost_from: Vec<Option<String>>,
    /// The steps of the log that these are of.
    pub steps: Vec<usize>,
    /// What was not as the program had left it, a line for each name.
    pub folder: Vec<String>,
    /// The verdict on the recovery.
    pub verdict: Verdict,
    /// What was found of it.
    pub findings: Vec<Finding>,
}

impl Failure {
    /// What was lost, with the functions that led to each call behind the last that is of it.
    #[must_use]
    pub fn lost_with_callers(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (place, lost) in self.lost.iter().enumerate() {
            let is_last = self.steps.get(place) != self.steps.get(place + 1);
            let from = self.lost_from.get(place).filter(|_| is_last);
            lines.push(with_callers(lost, from.and_then(Option::as_deref)));
        }
        lines
    }

    /// The last call before the power cut, with the functions that led to it.
    #[must_use]
    pub fn behind_with_callers(&self) -> Option<String> {
        let from = self.behind_from.as_deref();
        self.behind.as_ref().map(|call| with_callers(call, from))
    }
}

fn with_callers(call: &str, from: Option<&str>) -> String {
    match from {
        Some(from) => format!("{call}, from {from}"),
        None => call.to_owned(),
    }
}

/// Why no power cut can take anything of a run: such a scenario could never fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Idle {
    /// The workload changed nothing in the folder.
    Unchanged,
    /// The power cuts begin behind this text, and the workload did not promise it.
    Unmarked(String),
    /// Behind this text the workload changed nothing, and all that it had changed is durable.
    Settled(String),
}

impl Display for Idle {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unchanged => write!(
                f,
                "the workload changed nothing in the folder, so no power cut can take anything"
            ),
            Self::Unmarked(text) => write!(
                f,
                "the power cuts begin behind \"{}\", and the workload never wrote that where it \
                 promises (`acknowledged`)",
                text.escape_debug()
            ),
            Self::Settled(text) => write!(
                f,
                "the workload changed nothing in the folder behind \"{}\", and all that it changed \
                 before is durable, so no power cut can take anything",
                text.escape_debug()
            ),
        }
    }
}

/// What is said of a recovery that is blind.
const BLIND: &str = "the recovery passes as well where each byte that the run wrote is another one: \
                     it does not look at what was written";

/// So many lines of a folder, and of what was lost, are shown.
const SHOWN: usize = 12;

impl Crashed {
    /// How many states were tried, of how many.
    #[must_use]
    pub fn extent(&self) -> String {
        let (tried, model) = (self.tried, &self.model);
        let states = if tried == 1 { "state" } else { "states" };
        let since = self.since.as_ref();
        let since = since.map(|text| format!(" behind \"{}\"", text.escape_debug()));
        let since = since.unwrap_or_default();
        match self.of_about {
            None => format!("{tried} {states}, all that `{model}` allows{since}"),
            Some(power) => format!(
                "{tried} {states} of about 2^{power} that `{model}` allows{since}, by the seed {}",
                self.seed
            ),
        }
    }

    /// What is said where the recovery had to be killed, so that it came to no result.
    fn cut_short(&self) -> Option<String> {
        let states = if self.killed == 1 { "state" } else { "states" };
        let killed = self.killed;
        (killed > 0).then(|| {
            format!("on {killed} {states} the recovery was killed before it came to a result")
        })
    }

    /// What is to be known of the recovery beside that it passes.
    #[must_use]
    pub fn remark(&self) -> Option<&'static str> {
        (self.is_blind == Some(true)).then_some(BLIND)
    }
}

/// Returns findings on the states.
pub(super) fn judge(plan: &Plan, run: &Run) -> Vec<Finding> {
    if plan.crash.is_none() {
        return Vec::new();
    }
    let crashed = match &run.crash {
        Known::Yes(crashed) => crashed,
        Known::No(why) => return vec![Finding::unknown(About::Crash, why)],
    };
    let unknown = crashed.unknown.iter();
    let mut findings: Vec<_> = unknown
        .map(|why| Finding::unknown(About::Crash, why))
        .collect();
    if let Some(idle) = crashed.idle.as_ref().filter(|_| findings.is_empty()) {
        findings.push(Finding::unreached(About::Crash, idle.to_string()));
    }
    let is_never_run = crashed.unexecuted > 0 && crashed.unexecuted == crashed.tried;
    if let Some(worst) = crashed.worst.as_ref().filter(|_| is_never_run) {
        // Where it ran on another state, this one took its program away.
        let said = joined(&worst.findings, "; ");
        let text = format!("the recovery ran on no state, so nothing was tested: {said}");
        findings.push(Finding::unreached(About::Crash, text));
    } else if let Some(worst) = &crashed.worst {
        let mut finding = Finding::missed(About::Crash, said(crashed, worst));
        finding.detail.power_cut = Some(PowerCut {
            state: worst.state,
            behind: worst.behind.clone(),
            behind_from: worst.behind_from.clone(),
            lost: worst.lost.clone(),
            lost_from: worst.lost_from.clone(),
            left: worst.folder.clone(),
            tried: crashed.tried,
            failed: crashed.failed,
        });
        findings.push(finding);
        if let Some(text) = crashed.cut_short() {
            findings.push(Finding::unreached(About::Crash, text));
        }
    } else if findings.is_empty() {
        let text = format!("recovers after a power cut: {}", crashed.extent());
        findings.push(Finding::remark(About::Crash, text));
    }
    let remark = crashed.remark();
    findings.extend(remark.map(|text| Finding::remark(About::Crash, text)));
    findings
}

fn said(crashed: &Crashed, worst: &Failure) -> String {
    let mut text = format!(
        "the recovery fails after {} of the power cuts ({}); the one that loses least is state {}:",
        crashed.failed,
        crashed.extent(),
        worst.state
    );
    // Writing to a string never fails.
    let mut line = |head: &str, line: &str| {
        let _ = write!(text, "\n  {head}{line}");
    };
    match worst.behind_with_callers() {
        Some(call) => line("power cut behind: ", &call),
        None => line("power cut before the first change", ""),
    }
    list(&mut line, "lost: ", &worst.lost_with_callers(), "nothing");
    list(&mut line, "left: ", &worst.folder, "all as it was");
    let said = joined(&worst.findings, "; ");
    line("the recovery: ", &format!("{}: {said}", worst.verdict));
    text
}

fn list(line: &mut dyn FnMut(&str, &str), head: &str, all: &[String], none: &str) {
    if all.is_empty() {
        line(head, none);
    }
    for one in all.iter().take(SHOWN) {
        line(head, one);
    }
    if let Some(more) = all.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        line(head, &format!("and {more} more"));
    }
}
