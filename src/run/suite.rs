//! Finds scenarios, runs them side by side, and reports on each as it ends.

use super::dumping::attempt_and_keep;
use super::ready::{Ready, SuiteError, no_same_snapshot, read_file, ready};
use super::rejudge::rejudge;
use super::scenario::stored;
use super::side_by_side::side_by_side;
use super::storing::differs;
use super::{
    Bench, Control, Item, Options, PATH, RecordedRun, ScenarioReport, Subject, Update, lay_out,
};

use crate::plan::{self, Counting, Facts, MemoryReader, Plan, PlanError, Reach};
use crate::scenario::{Feature, Scenario};
use crate::snapshot::Place;
use crate::verdict::{About, Finding, Kind, Verdict};
use perf_live::sandbox::{self, Program};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::OsStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Why a recorded run's machine may lack something.
const UNTOLD: &str = "the recording does not say whether its machine has it";

/// The facts of a recorded run's machine, as far as any of them says it: whatever it needed was
/// there when it took place.
fn of_recording<'f>(facts: Facts<'f>, recording: &RecordedRun) -> Facts<'f> {
    Facts {
        untold: Some(UNTOLD),
        reader: recording.memory().reader,
        without_bpf: Some("the recording does not hold what calls were given"),
        reach: recording.reach(),
        io_uring_disabled: None,
        is_root: true,
        cannot_limit: &|_| None,
        cannot_tell: &|_| None,
        ..facts
    }
}

/// A set of scenarios, all of them read and resolved before the first runs.
#[derive(Debug)]
pub struct Suite<'a> {
    pub(super) bench: &'a Bench<'a>,
    /// The recording that runs are read from; `None` for live runs.
    recording: Option<&'a RecordedRun>,
    pub(super) scenarios: Vec<(Item, Ready)>,
}

impl<'a> Suite<'a> {
    /// Reads and resolves the scenarios.
    ///
    /// # Errors
    /// Every complaint about a file, or the host's error that kept any from being resolved.
    pub fn read(bench: &'a Bench<'a>, items: Vec<Item>) -> Result<Self, SuiteError> {
        Self::with(bench, None, items, HashMap::new())
    }

    /// Reads and resolves a scenario for a recorded run: its facts are those of the recording.
    ///
    /// # Errors
    /// As above; [`SuiteError::ManyOfOne`] for more than one scenario.
    pub fn of_recording(
        bench: &'a Bench<'a>,
        recording: &'a RecordedRun,
        items: Vec<Item>,
    ) -> Result<Self, SuiteError> {
        if items.len() > 1 {
            let names = items.into_iter().map(|item| item.name).collect();
            return Err(SuiteError::ManyOfOne { names });
        }
        let suite = Self::with(bench, Some(recording), items, HashMap::new())?;
        let mut all = suite.scenarios.iter();
        if !all.all(|(_, ready)| matches!(ready, Ready::Plan(..))) {
            recording.is_whole()?;
        }
        Ok(suite)
    }

    /// The release of the kernel that its runs were recorded on; `None` for live runs, and where
    /// the recording does not say so.
    #[must_use]
    pub fn recorded_on(&self) -> Option<&str> {
        self.recording.and_then(RecordedRun::release)
    }

    /// Reads and resolves one file that is not written yet, as if `text` were its content.
    ///
    /// # Errors
    /// As above.
    pub fn of_text(bench: &'a Bench<'a>, file: &Path, text: &str) -> Result<Self, SuiteError> {
        let read = crate::scenario::read_all(file, text, &bench.programs);
        let rows = read.map_err(|complaint| SuiteError::Invalid(vec![complaint]))?;
        let item = Item {
            name: Place::of(file).name,
            file: file.to_owned(),
            row: String::new(),
        };
        let files = HashMap::from([(file.to_owned(), Some(rows))]);
        Self::with(bench, None, vec![item], files)
    }

    /// Resolves one scenario that was read already.
    ///
    /// # Errors
    /// As above.
    pub fn of_scenario(
        bench: &'a Bench<'a>,
        file: &Path,
        scenario: Scenario,
    ) -> Result<Self, SuiteError> {
        let item = Item {
            name: Place::of(file).name,
            file: file.to_owned(),
            row: String::new(),
        };
        let files = HashMap::from([(file.to_owned(), Some(vec![scenario]))]);
        Self::with(bench, None, vec![item], files)
    }

    /// Reads and resolves scenarios; `files` were read already.
    fn with(
        bench: &'a Bench<'a>,
        recording: Option<&'a RecordedRun>,
        items: Vec<Item>,
        mut files: HashMap<PathBuf, Option<Vec<Scenario>>>,
    ) -> Result<Self, SuiteError> {
        no_same_snapshot(&items, bench.kernel())?;
        let mut scenarios = Vec::new();
        let mut complaints = Vec::new();
        let mut of_plans = Vec::new();
        let has_command = |command: &str| {
            Program::find(OsStr::new(command), OsStr::new(PATH), Path::new("/")).is_ok()
        };
        if recording.is_none() {
            bench.warm_up();
            bench.has_what_reading_takes()?;
        }
        let (reader, without_bpf) = bench.reader();
        let is_everything = bench.reach().unwrap_or_default() == Reach::Everything;
        let facts = Facts {
            reader,
            every_call: bench.every_call,
            every_path: bench
                .every_path
                .is_some_and(|is_needed| is_needed || is_everything && reader == MemoryReader::Bpf),
            without_bpf: without_bpf.as_deref(),
            release: &bench.release,
            has_command: &has_command,
            untold: None,
            default_ring: bench.default_ring(),
            // A missing right is reported by the caller, once for the suite.
            reach: bench.reach().unwrap_or_default(),
            page_size: perf_live::sys::page_size(),
            io_uring_disabled: bench.host.io_uring_disabled(),
            user: &sandbox::find_user,
            is_root: bench.host.has_rights_of_root(),
            signatures: &bench.signatures,
            lacks: &|feature| bench.lacks(feature),
            cannot_limit: &|limits| bench.cannot_limit(limits),
            cannot_tell: &|limit| bench.cannot_tell(limit),
            counting: Counting::Live(&|event| bench.cannot_count(event)),
        };
        let counted = recording.map(RecordedRun::counted).unwrap_or_default();
        let met = |what: &str| recording.is_some_and(|it| it.met(what));
        let had_command = |command: &str| met(&plan::of_command(command));
        let had_feature = |feature: Feature| (!met(feature.word())).then(|| UNTOLD.to_owned());
        let facts = match recording {
            None => facts,
            Some(recording) => Facts {
                has_command: &had_command,
                lacks: &had_feature,
                counting: Counting::Recorded(&counted),
                ..of_recording(facts, recording)
            },
        };
        let mut fetches = Vec::new();
        for item in items {
            let rows = match files.entry(item.file.clone()) {
                Entry::Occupied(read) => read.into_mut(),
                Entry::Vacant(new) => {
                    new.insert(read_file(&item.file, &bench.programs, &mut complaints)?)
                }
            };
            // One complaint a file is enough.
            let Some(scenarios_of_file) = rows else {
                continue;
            };
            let is_its = |scenario: &&Scenario| scenario.label() == item.row;
            let Some(scenario) = scenarios_of_file.iter().find(is_its) else {
                return Err(SuiteError::NoRow { name: item.name });
            };
            match ready(bench, recording, &facts, scenario, &item.file) {
                Ok(ready) => scenarios.push((item, ready.sharing(&mut fetches))),
                Err(PlanError::Invalid(diagnostic)) => {
                    of_plans.push(*diagnostic);
                    *rows = None;
                }
                Err(PlanError::Host(error)) => return Err(SuiteError::Host(error)),
            }
        }
        // What cannot be read of the kernel's calls and events is no mistake of a scenario.
        if complaints.is_empty() && !of_plans.is_empty() && recording.is_none() {
            bench.reach()?;
        }
        complaints.append(&mut of_plans);
        if complaints.is_empty() {
            Ok(Self {
                bench,
                recording,
                scenarios,
            })
        } else {
            Err(SuiteError::Invalid(complaints))
        }
    }

    /// Returns the scenarios, each with the reasons for which it will be skipped, if any.
    pub fn items(&self) -> impl Iterator<Item = (&Item, &[Finding])> {
        self.scenarios.iter().map(|(item, ready)| match ready {
            Ready::Plan(..) | Ready::Refused(_) => (item, [].as_slice()),
            Ready::Unmet(findings) => (item, findings.as_slice()),
        })
    }

    /// Returns the plan of each scenario, with the label of its row and its file; or why one of
    /// them would be skipped.
    pub(super) fn plans(&self) -> Result<Vec<(String, &Path, &Plan)>, Vec<Finding>> {
        let scenarios = self.scenarios.iter();
        let plans = scenarios.map(|(item, ready)| match ready {
            Ready::Plan(plan, _) => Ok((item.name.clone(), item.file.as_path(), &**plan)),
            Ready::Unmet(findings) | Ready::Refused(findings) => Err(findings.clone()),
        });
        plans.collect()
    }

    /// Returns the scenarios that can run, and what each is about.
    pub(super) fn described(&self) -> impl Iterator<Item = (&Item, &str)> {
        let scenarios = self.scenarios.iter();
        scenarios.filter_map(|(item, ready)| match ready {
            Ready::Plan(_, description) => Some((item, description.as_str())),
            Ready::Unmet(_) | Ready::Refused(_) => None,
        })
    }

    /// Runs all scenarios, `jobs` at a time, and hands over each report as its scenario ends. A
    /// panic in a scenario breaks only that one.
    pub fn run<'c>(
        &self,
        options: &Options,
        control: &(dyn Fn() -> Box<dyn Control + 'c> + Sync),
        report: &(dyn Fn(ScenarioReport) + Sync),
    ) {
        let mut ready = self.scenarios.iter().map(|(_, ready)| ready);
        let keeps = |ready: &Ready| matches!(ready, Ready::Plan(plan, _) if plan.events.overwrites() || plan.on_failure.is_some());
        if options.save.is_some() || ready.any(keeps) {
            self.bench.keep_records();
        }
        let run = |(item, _): &(Item, Ready)| self.run_one(item, options, control);
        side_by_side(&self.scenarios, options.jobs, &run, report);
    }

    /// Runs one of the suite's scenarios.
    pub fn run_one<'c>(
        &self,
        item: &Item,
        options: &Options,
        control: &(dyn Fn() -> Box<dyn Control + 'c> + Sync),
    ) -> ScenarioReport {
        let start = Instant::now();
        let found = self.scenarios.iter().find(|(known, _)| known == item);
        let mut report = ScenarioReport::of(item, &self.bench.release);
        match found {
            None => report
                .findings
                .push(Finding::broken("it is no scenario of this suite")),
            Some((_, Ready::Unmet(findings))) => {
                report.verdict = Verdict::Skipped;
                report.findings.clone_from(findings);
            }
            Some((_, Ready::Refused(findings))) => {
                let is_known = |finding: &Finding| finding.kind != Kind::Unknown;
                report.verdict = match findings.iter().any(is_known) {
                    true => Verdict::Fail,
                    false => Verdict::Incomplete,
                };
                report.findings.clone_from(findings);
            }
            Some((item, Ready::Plan(plan, description))) => {
                report.notes.clone_from(&plan.notes);
                let run = || self.repeat(item, plan, description, options, control, &mut report);
                if catch_unwind(AssertUnwindSafe(run)).is_err() {
                    report.verdict = Verdict::Broken;
                    let panicked = Finding::broken("the harness panicked");
                    report.findings.push(panicked);
                }
                for finding in &mut report.findings {
                    finding.locate(&plan.positions);
                }
            }
        }
        if options.require_all {
            report.verdict = report.verdict.required();
        }
        report.duration = start.elapsed();
        report
    }

    fn repeat<'c>(
        &self,
        item: &Item,
        plan: &Plan,
        description: &str,
        options: &Options,
        control: &(dyn Fn() -> Box<dyn Control + 'c> + Sync),
        report: &mut ScenarioReport,
    ) {
        let mut first: Option<String> = None;
        let before = match stored(self.bench, plan, item) {
            Ok(stored) => stored,
            Err(error) => return report.break_by(&error),
        };
        let n_rounds = options.repeat.max(1);
        for round in 1..=n_rounds {
            let mut directory = None;
            let run = || {
                let laid_out = lay_out(self.bench, plan, &item.file)?;
                let dir = directory.insert(laid_out);
                let subject = (item, &before);
                attempt_and_keep(self.bench, plan, subject, &mut *control(), options, dir)
            };
            let outcome = self
                .recording
                .map_or_else(run, |recording| {
                    let subject = Subject {
                        file: &item.file,
                        stored: &before,
                    };
                    let control = &mut *control();
                    Ok((
                        rejudge(self.bench, plan, subject, recording, control)?,
                        None,
                    ))
                })
                .and_then(|(outcome, dumped)| {
                    report.dumped = dumped;
                    let differs = differs(first.as_deref(), outcome.text.as_deref());
                    // A trace that another run does not have is none to keep.
                    let update = differs.as_ref().map_or(options.update, |_| Update::Never);
                    let of = (item, description);
                    let outcome = self.store(of, update, round == n_rounds, outcome)?;
                    Ok((outcome, differs))
                });
            match outcome {
                Ok((mut outcome, differs)) => {
                    first = first.or(outcome.text.take());
                    report.take(&mut outcome);
                    if let Some(diff) = differs {
                        report.verdict = Verdict::Fail;
                        let text = format!("the trace differs from that of the first run:\n{diff}");
                        report.findings.push(Finding::missed(About::Snapshot, text));
                    }
                }
                Err(error) => report.break_by(&error),
            }
            let is_last = report.verdict != Verdict::Pass || round == n_rounds;
            report.part_with(directory, options.keep && is_last);
            if report.verdict != Verdict::Pass {
                if options.repeat > 1 {
                    let which = format!("in run {round} of {}", options.repeat);
                    report
                        .findings
                        .insert(0, Finding::remark(About::Run, which));
                }
                return;
            }
        }
    }
}
