//! Judging: what was expected against what came, and the word for it.

mod counters;
mod delta;
mod events;
mod files;
mod finding;
mod known;
mod limits;
mod sections;

pub use delta::{Counted, delta};
pub use files::{files_after, reads_content};
pub use finding::{About, Finding, Judgement, Kind, joined};
pub use known::Known;

use crate::plan::Plan;
use crate::scenario::ExpectedOutput;
use crate::trace::Deed;
use perf_live::events::{Account, EventAccount, MEMORY};
use perf_live::sandbox::{Captured, Exited};
use perf_live::units::{ExitKind, Limit, Struck, Survivor, Usage};
use std::collections::BTreeMap;
use std::fmt;

/// The verdict on a scenario; each has its own word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// All expectations met, on a complete trace.
    Pass,
    /// An expectation was not met.
    Fail,
    /// Records are missing: nothing can be concluded.
    Incomplete,
    /// The workload had to be ended.
    Timeout,
    /// A process outlived the workload, where the scenario forbids it.
    Leak,
    /// A requirement is not met on this machine.
    Skipped,
    /// The harness could not do its work.
    Broken,
    /// It was known to fail, and passed.
    UnexpectedPass,
}

impl Verdict {
    /// All of them, in the order of a summary.
    pub const ALL: [Self; 8] = [
        Self::Pass,
        Self::Fail,
        Self::Incomplete,
        Self::Timeout,
        Self::Leak,
        Self::Skipped,
        Self::Broken,
        Self::UnexpectedPass,
    ];

    /// Its word in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Incomplete => "incomplete",
            Self::Timeout => "timeout",
            Self::Leak => "leak",
            Self::Skipped => "skipped",
            Self::Broken => "broken",
            Self::UnexpectedPass => "unexpected_pass",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// How a run ended, apart from what it showed.
#[derive(Clone, Debug)]
pub struct Ended {
    /// How the main process ended.
    pub exit: Known<ExitKind>,
    /// The pid of the main process in its own namespace, where it got as far as having one.
    pub main_pid: Option<i32>,
    /// What the workload wrote to standard output; empty where that was inherited.
    pub stdout: Known<Captured>,
    /// And to standard error.
    pub stderr: Known<Captured>,
    /// What the main process and all that it waited for used.
    pub used_by_main: Usage,
    /// Whether it had to be ended for its time.
    pub timed_out: bool,
    /// Whether somebody asked for its end.
    pub interrupted: bool,
    /// Whether descendants were left alone while they lived on.
    pub left: bool,
    /// The limits that it ran into.
    pub struck: Vec<Struck>,
    /// The limits that nobody can tell whether it ran into, and why.
    pub untold: Vec<(Limit, String)>,
    /// Who lived when everything was ended: at the timeout, or after the end of the main process
    /// where nobody may outlive it.
    pub survivors: Vec<Survivor>,
    /// What it used.
    pub usage: Usage,
    /// Every record accounted for.
    pub account: Account,
}

impl Ended {
    /// A run whose workload came to this end by itself.
    #[must_use]
    pub fn of(exited: Exited, usage: Usage, account: Account) -> Self {
        Self {
            exit: Known::Yes(exited.exit),
            main_pid: exited.main_pid,
            stdout: Known::Yes(exited.stdout),
            stderr: Known::Yes(exited.stderr),
            used_by_main: exited.usage,
            timed_out: false,
            interrupted: false,
            left: false,
            struck: Vec::new(),
            untold: Vec::new(),
            survivors: Vec::new(),
            usage,
            account,
        }
    }

    /// All limits that it ran into, its time among them.
    #[must_use]
    pub fn struck(&self) -> Vec<Limit> {
        let time = self.timed_out.then_some(Limit::Timeout);
        let others = self.struck.iter().map(|struck| struck.limit);
        time.into_iter().chain(others).collect()
    }

    /// Whether a limit was its end, at whatever point it had come to: its trace is another one in
    /// each run.
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        self.timed_out || self.struck.iter().any(|struck| struck.is_end)
    }
}

/// Judges a run by everything but its snapshot.
///
/// Of a run whose workload had to be ended for its time, on the wall or on CPUs, of one with a
/// loss, and of one in which a process that outlived the main one had to be ended, nothing else is
/// judged. Running into a limit is a failure, unless that is what the scenario expects; then how
/// the workload ended is judged only where the author wrote that down, and what it had done by then
/// as ever.
#[must_use]
pub fn judge(
    plan: &Plan,
    ended: &Ended,
    counts: &BTreeMap<String, u64>,
    deeds: &[&Deed],
) -> Judgement {
    let missing = missing(&ended.account);
    let mut findings = limits::unexpected(plan, ended);
    if findings.iter().any(|finding| finding.kind == Kind::TooLong) {
        let alive = survivors(&ended.survivors, Kind::Remark, "was still alive");
        let findings = [findings, alive, missing].concat();
        return Judgement { findings };
    }
    // Those who lived at an expected timeout have outlived nobody.
    let outlived = match ended.timed_out {
        true => Vec::new(),
        false => survivors(
            &ended.survivors,
            Kind::Outlived,
            "outlived the main process",
        ),
    };
    if !missing.is_empty() || !outlived.is_empty() {
        let findings = match missing.is_empty() {
            true => [outlived, findings].concat(),
            false => [missing, findings, outlived].concat(),
        };
        return Judgement { findings };
    }
    let limit = limits::missed(plan, ended);
    let (mut unknown, missed): (Vec<Finding>, Vec<Finding>) = limit
        .into_iter()
        .partition(|finding| finding.kind == Kind::Unknown);
    findings.extend(missed);
    let is_expected = plan
        .expect
        .limit
        .is_some_and(|limit| limits::reached(ended, limit));
    let is_explained = is_expected || ended.is_cut_short();
    let wanted = plan.expect.exit.unwrap_or(ExitKind::Code(0));
    let is_asked = plan.expect.exit.is_some() || !is_explained;
    match &ended.exit {
        Known::Yes(exit) if is_asked && *exit != wanted => {
            let text = format!("expected {wanted}, got {exit}");
            findings.push(Finding::missed(About::Exit, text));
            let said = ended.stderr.yes().map_or(&[][..], |said| &said.bytes);
            let said = String::from_utf8_lossy(said);
            if plan.expect.stderr.is_none() && !said.trim().is_empty() {
                let text = quoted("standard error", &excerpt(&said));
                findings.push(Finding::remark(About::Stderr, text));
            }
        }
        Known::No(why) if is_asked => unknown.push(Finding::unknown(About::Exit, why)),
        _ => {}
    }
    let (stdout, stderr) = (&plan.expect.stdout, &plan.expect.stderr);
    for (about, name, expected, got) in [
        (About::Stdout, "standard output", stdout, &ended.stdout),
        (About::Stderr, "standard error", stderr, &ended.stderr),
    ] {
        match (expected, got) {
            (None, _) => {}
            (Some(expected), Known::Yes(got)) => {
                let wrong = output(name, expected, got);
                findings.extend(wrong.map(|text| Finding::missed(about, text)));
            }
            // One reason that holds for several is said once.
            (Some(_), Known::No(why)) if unknown.iter().any(|it| it.text == *why) => {}
            (Some(_), Known::No(why)) => unknown.push(Finding::unknown(about, why)),
        }
    }
    findings.extend(unknown);
    findings.extend(events::judge(plan, ended, counts, deeds));
    findings.extend(counters::judge(plan, ended));
    if !findings.is_empty() {
        findings.extend(limits::unknown(plan, ended));
    }
    Judgement { findings }
}

/// What is missing of a run's records; something, where anything is.
fn missing(account: &Account) -> Vec<Finding> {
    let lost = |text| Finding::new(Kind::Lost, About::Run, text);
    let missing: Vec<Finding> = account.complaints().into_iter().map(lost).collect();
    if missing.is_empty() && !account.is_complete() {
        return vec![lost("records are missing".to_owned())];
    }
    missing
}

/// What was overwritten in a run, and what would tell of it; `None` where nothing was.
#[must_use]
pub fn overwritten(account: &Account) -> Option<String> {
    let events = account.events.iter();
    // What was read for calls goes with them.
    let events = events.filter(|event| event.overwritten > 0 && event.name != MEMORY);
    let each = events.map(|event| {
        let EventAccount {
            name, overwritten, ..
        } = event;
        format!("{overwritten} of `{name}`")
    });
    let each: Vec<String> = each.collect();
    let overwritten = (!each.is_empty()).then(|| {
        format!(
            "records were overwritten: {}; a larger ring (`trace.ring.size`) would hold more of them, and with `ring: stream` none are",
            each.join(", ")
        )
    });
    let sampled = account.events.iter().filter(|event| event.sampled);
    let sampled =
        sampled.map(|event| format!("`{}` is sampled: most of it has no record", event.name));
    let all: Vec<String> = overwritten.into_iter().chain(sampled).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// A finding for each process, and one for all that are too many.
fn survivors(survivors: &[Survivor], kind: Kind, did: &str) -> Vec<Finding> {
    const MOST: usize = 10;
    let named = survivors.iter().take(MOST).map(|survivor| {
        let mut text = match survivor.pid {
            0 => "a process".to_owned(),
            pid => format!("process {pid}"),
        };
        text += &format!(" (`{}`)", command(&survivor.command));
        if let Some((pid, words)) = &survivor.parent {
            text += match pid {
                0 => ", started by".to_owned(),
                pid => format!(", started by {pid}"),
            }
            .as_str();
            text += &match (pid, command(words)) {
                (0, command) => format!(" `{command}`"),
                (_, command) => format!(" (`{command}`)"),
            };
            text += ",";
        }
        format!("{text} {did}")
    });
    let more = survivors.len().saturating_sub(MOST);
    let all = named.chain((more > 0).then(|| format!("and {more} more {did}")));
    all.map(|text| Finding::new(kind, About::Processes, text))
        .collect()
}

/// A command line on one line: its words as they are, without what would be more than one line or
/// no text.
fn command(words: &[String]) -> String {
    const ROOM: usize = 80;
    let text = words.join(" ");
    let mut shown: String = text.chars().take(ROOM).collect();
    shown = perf_records::units::shown(&shown).into_owned();
    if text.chars().nth(ROOM).is_some() {
        shown += "...";
    }
    shown
}

/// A scenario that is known to fail passes by failing, and only by failing.
#[must_use]
pub fn with_known_failure(plan: &Plan, mut judgement: Judgement) -> Judgement {
    match (&plan.expect_failure, judgement.verdict()) {
        (Some(known), Verdict::Pass) => {
            let text = format!("it was known to fail ({known}), and passed");
            Judgement::of(Finding::new(Kind::UnexpectedPass, About::Run, text))
        }
        (Some(known), Verdict::Fail) => {
            let text = format!("fails as known: {known}");
            let known = Finding::new(Kind::KnownFailure, About::Run, text);
            judgement.findings.insert(0, known);
            judgement
        }
        _ => judgement,
    }
}

/// What is wrong with an output.
fn output(name: &str, expected: &ExpectedOutput, got: &Captured) -> Option<String> {
    if got.dropped > 0 {
        let kept = got.bytes.len();
        return Some(format!(
            "{name} is too long to judge: {kept} bytes kept, {} more",
            got.dropped
        ));
    }
    (!expected.accepts(&got.bytes)).then(|| {
        let wanted = match expected {
            ExpectedOutput::Exact(text) => format!("{:?}", excerpt(text)),
            ExpectedOutput::Contains(text) => {
                format!("something that contains {:?}", excerpt(text))
            }
            ExpectedOutput::Matches(regex) => format!("something that matches /{regex}/"),
        };
        let said = String::from_utf8_lossy(&got.bytes);
        format!("expected {name} to be {wanted}, got {:?}", excerpt(&said))
    })
}

/// What a workload said, each line marked as its own where there are several.
fn quoted(name: &str, said: &str) -> String {
    match said.contains(['\n', '\r']) {
        false => format!("{name}: {said}"),
        true => {
            let lines = said.split('\n').map(|line| format!("\n  | {line}"));
            format!("{name}:{}", lines.collect::<String>())
        }
    }
}

/// The start of a text, as much as a report has room for.
fn excerpt(text: &str) -> String {
    const ROOM: usize = 400;
    match text.char_indices().nth(ROOM) {
        None => text.trim_end_matches('\n').to_owned(),
        Some((end, _)) => format!(
            "{}... ({} bytes)",
            text.get(..end).unwrap_or_default(),
            text.len()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    fn said(pid: i32, of: &str, parent: Option<(i32, &str)>) -> String {
        let survivor = Survivor {
            pid,
            command: words(of),
            parent: parent.map(|(pid, of)| (pid, words(of))),
        };
        joined(&survivors(&[survivor], Kind::Remark, "lived"), "")
    }

    #[test]
    fn a_survivor_is_named_as_far_as_it_is_known() {
        assert_eq!(
            said(7, "sleep 100", Some((5, "sh -c x"))),
            "process 7 (`sleep 100`), started by 5 (`sh -c x`), lived"
        );
        assert_eq!(said(7, "[sleep]", None), "process 7 (`[sleep]`) lived");
        assert_eq!(
            said(0, "a", Some((0, "b"))),
            "a process (`a`), started by `b`, lived"
        );
    }

    #[test]
    fn a_command_line_is_one_line_and_has_an_end() {
        assert_eq!(
            said(1, "a\nb\u{1b}[1m \u{e9}", None),
            "process 1 (`a\\nb\\u{1b}[1m \u{e9}`) lived"
        );
        let long = said(1, &"x".repeat(81), None);
        assert_eq!(long, format!("process 1 (`{}...`) lived", "x".repeat(80)));
    }

    #[test]
    fn ten_survivors_are_named_and_the_others_counted() {
        let all = vec![
            Survivor {
                pid: 1,
                command: words("a"),
                parent: None
            };
            13
        ];
        let reasons = survivors(&all, Kind::Remark, "lived");
        assert_eq!(reasons.len(), 11);
        assert_eq!(reasons.last().map(AsRef::as_ref), Some("and 3 more lived"));
        assert_eq!(survivors(&all[..10], Kind::Remark, "lived").len(), 10);
        assert_eq!(survivors(&[], Kind::Remark, "lived"), []);
    }
}
