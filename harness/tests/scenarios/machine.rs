//! The machine that all trials of this process share: looked at once, by the first that needs it.

use std::fmt::Write;
use std::sync::OnceLock;

use libtest_mimic::Completion;
use trace_harness::Error;
use trace_harness::report;
use trace_harness::run::{Bench, Control, Item, Options, ScenarioReport, Suite, Update};
use trace_harness::verdict::{Verdict, joined};

use crate::interrupt::Interrupt;
use crate::{is_nextest, update};

/// What the environment asks of the trials, and what they need of the machine.
pub(crate) struct Machine {
    interrupt: Interrupt,
    options: Options,
    /// Whether a trace that differs from its snapshot is forgiven.
    force_pass: bool,
    bench: OnceLock<Result<Bench<'static>, String>>,
}

impl Machine {
    /// Reads the environment. To be made before any thread is: the signals are watched from here
    /// on, and end what runs instead of leaving its directories behind.
    ///
    /// # Errors
    /// A word of the environment that is none, in words for a person.
    pub(crate) fn new() -> Result<Self, String> {
        let written = update::Update::of_environment()?;
        let options = Options {
            update: match written {
                update::Update::Never => Update::Never,
                update::Update::Pending => Update::Pending,
                update::Update::Unseen => Update::Unseen,
                update::Update::Accept => Update::Accept,
            },
            require_all: is("HARNESS_REQUIRE", "all"),
            ..Options::default()
        };
        let interrupt = Interrupt::watch().expect("a descriptor for signals");
        Ok(Self {
            interrupt,
            options,
            force_pass: written.is_forgiven(),
            bench: OnceLock::new(),
        })
    }

    /// What runs scenarios, or why nothing can be traced here.
    fn bench(&self) -> Result<&Bench<'static>, &String> {
        self.bench.get_or_init(look).as_ref()
    }

    /// Whether the scenario is known to be skipped without running it; the reason goes to stderr.
    pub(crate) fn must_skip(&self, item: &Item) -> bool {
        let reason = match self.bench() {
            Err(reason) => Some(reason.clone()),
            Ok(bench) => match Suite::read(bench, vec![item.clone()]) {
                Ok(suite) => unmet(&suite),
                // The trial says so, and fails.
                Err(_) => None,
            },
        };
        if let Some(reason) = &reason {
            eprintln!("{}: {reason}", item.name);
        }
        reason.is_some() && !self.options.require_all
    }

    /// Runs the scenario; an error is the text for a person.
    pub(crate) fn run(&self, item: &Item) -> Result<Completion, String> {
        let bench = match self.bench() {
            Ok(bench) => bench,
            Err(reason) => return self.skip(reason),
        };
        let suite = Suite::read(bench, vec![item.clone()]);
        let suite = suite.map_err(|error| format!("{:?}", Error::from(error)))?;
        if let Some(reason) = unmet(&suite) {
            return self.skip(&reason);
        }
        let control = || -> Box<dyn Control + '_> { Box::new(&self.interrupt) };
        let report = suite.run_one(item, &self.options, &control);
        let is_forgiven = self.force_pass && report.only_snapshot;
        match report.verdict {
            Verdict::Pass => Ok(Completion::Completed),
            Verdict::Fail if is_forgiven => Ok(Completion::Completed),
            Verdict::Skipped => self.skip(&joined(&report.findings, "; ")),
            _ => Err(failure(&report)),
        }
    }

    /// A skip is never a pass: it is shown as ignored where that has a word, and fails elsewhere.
    fn skip(&self, reason: &str) -> Result<Completion, String> {
        if self.options.require_all {
            Err(format!(
                "HARNESS_REQUIRE is `all`, but this scenario is skipped: {reason}"
            ))
        } else if is_nextest() {
            Err(format!(
                "skipped, and nextest would take that for a pass: {reason}"
            ))
        } else {
            Ok(Completion::ignored_with(reason))
        }
    }
}

fn look() -> Result<Bench<'static>, String> {
    let said = |error: Error| format!("{error:?}");
    let bench = Bench::of_this_machine().map_err(|error| said(error.into()))?;
    let patience = std::env::var("HARNESS_PATIENCE").unwrap_or_else(|_| "1".to_owned());
    let times = patience.parse().map_err(|_| {
        format!("HARNESS_PATIENCE is `{patience}`, and how often a scenario gets its timeout is a number")
    })?;
    let bench = bench.with_patience(times);
    bench.reach().map_err(|error| said(error.into()))?;
    Ok(bench)
}

/// Why the only scenario of this suite will be skipped, if it will.
fn unmet(suite: &Suite<'_>) -> Option<String> {
    let mut reasons = suite.items().map(|(_, findings)| joined(findings, "; "));
    reasons.next().filter(|reasons| !reasons.is_empty())
}

fn failure(report: &ScenarioReport) -> String {
    let file = report.file.display();
    let mut text = String::new();
    report::human(&mut text, report, false);
    let _always_fits = write!(text, "this one alone: cargo run --release -- run {file}");
    if !report.row.is_empty() {
        let row = regex::escape(&format!("[{}]", report.row));
        let _always_fits = write!(text, " --filter '{row}$'");
    }
    if report.only_snapshot {
        let _always_fits = write!(text, "\nif the new trace is right, add: --update");
    }
    text
}

fn is(name: &str, value: &str) -> bool {
    std::env::var_os(name).is_some_and(|set| set == value)
}
