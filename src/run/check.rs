//! Runs a command that is no scenario's, and judges all that it did.

use super::once::{Start, started};
use super::ready::Ready;
use super::scenario::{NoRun, Outcome, judged};
use super::{Bench, Control, Extras, Names, RunError, ScenarioReport, Suite};
use crate::matching::Realm;
use crate::plan::Plan;
use crate::snapshot::Stored;
use crate::verdict::{About, Finding, Kind, Run, Verdict};
use perf_live::sandbox::{WorkDir, Workload};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use syscall_model::files::Initial;

/// A command that is ready to run.
#[derive(Debug)]
pub struct Subject<'a> {
    /// What is executed, and how; its control group is chosen here.
    pub workload: Workload,
    /// The descriptors that it starts with, and its directory.
    pub initial: Initial,
    /// The directory that was laid out for it; `None` on the bare host, where it is this process's.
    pub directory: Option<&'a WorkDir>,
    /// The files that it was handed open for writing, beside its standard streams.
    pub given: Vec<Given>,
    /// Folders whose files it may change, beside its directory.
    pub folders: Vec<PathBuf>,
    /// Whether a command that cannot be executed fails; without rules it is an error.
    pub is_judged: bool,
    /// How long it may take; `None` for any time.
    pub timeout: Option<Duration>,
}

/// A file that a command was handed open for writing.
#[derive(Clone, Debug)]
pub struct Given {
    /// The number of the descriptor.
    pub number: i32,
    /// The file.
    pub path: PathBuf,
}

/// What became of a command.
#[derive(Debug)]
pub struct Checked {
    /// The report, as that of a scenario.
    pub report: ScenarioReport,
    /// The run, unless there was none.
    pub run: Option<Box<Run>>,
}

impl Suite<'_> {
    /// Runs a command, and judges what it did by the only scenario of this suite, whose workload it
    /// is.
    ///
    /// # Errors
    /// [`RunError`], if the harness could not do its work; the command is dead by then.
    pub fn check(
        &self,
        subject: Subject<'_>,
        control: &mut dyn Control,
    ) -> Result<Option<Checked>, RunError> {
        let begun = Instant::now();
        let Some((item, ready)) = self.scenarios.first() else {
            return Ok(None);
        };
        let mut report = ScenarioReport::of(item, &self.bench.release);
        let plan = match ready {
            Ready::Plan(plan, _) => plan,
            Ready::Unmet(findings) | Ready::Refused(findings) => {
                report.verdict = Verdict::Skipped;
                report.findings.clone_from(findings);
                return Ok(Some(Checked { report, run: None }));
            }
        };
        let mut plan = plan.clone();
        plan.keeps_all = true;
        if let Some(timeout) = subject.timeout {
            plan.workload.timeout = timeout;
        }
        report.notes.clone_from(&plan.notes);
        let mut outcome = attempt(self.bench, &plan, subject, control)?;
        let run = outcome.run.take();
        report.take(&mut outcome);
        report.duration = begun.elapsed();
        for finding in &mut report.findings {
            finding.locate(&plan.positions);
        }
        Ok(Some(Checked { report, run }))
    }
}

fn attempt(
    bench: &Bench<'_>,
    plan: &Plan,
    subject: Subject<'_>,
    control: &mut dyn Control,
) -> Result<Outcome, RunError> {
    let handed = handed(plan, &subject.given)?;
    let is_judged = subject.is_judged;
    let ran = match live(bench, plan, subject, control) {
        Ok(run) => Ok(Run {
            findings: [run.findings, handed].concat(),
            ..run
        }),
        Err(error) if is_judged => Err(NoRun::from(error)),
        Err(error) => return Err(error),
    };
    judged(plan, &Stored::default(), ran)
}

fn live(
    bench: &Bench<'_>,
    plan: &Plan,
    subject: Subject<'_>,
    control: &mut dyn Control,
) -> Result<Run, RunError> {
    let mut workload = subject.workload;
    workload.group = bench.group();
    let (inside, outside) = match subject.directory {
        Some(directory) => {
            let inside = workload.world.inside(directory.path());
            (inside.to_path_buf(), directory.path().to_owned())
        }
        None => {
            let here = std::env::current_dir().map_err(RunError::Here)?;
            (here.clone(), here)
        }
    };
    let folders = [vec![outside.clone()], subject.folders].concat();
    let names = || match subject.directory {
        Some(_) => Names::of_run(&workload.world, &inside, &outside),
        None => Names::of_machine(&folders),
    };
    let start = Start {
        names: plan.events.watched.names.then(names),
        workload,
        initial: subject.initial,
        inside,
        outside: &outside,
    };
    let (run, _) = started(bench, plan, control, Extras::default(), start)?;
    Ok(run)
}

/// What a command may write by descriptors that it was handed: no call of it says that it does.
fn handed(plan: &Plan, given: &[Given]) -> Result<Vec<Finding>, RunError> {
    let Some(confinement) = &plan.confinement else {
        return Ok(Vec::new());
    };
    let here = std::env::current_dir().map_err(RunError::Here)?;
    let lets = |path: &PathBuf| match path.strip_prefix(&here) {
        Ok(below) => {
            let below = PathBuf::from("$DIR").join(below);
            confinement.lets_write(below.as_os_str().as_bytes())
        }
        Err(_) => confinement.lets_write(path.as_os_str().as_bytes()),
    };
    let forbidden = given.iter().filter(|it| !lets(&it.path));
    let findings = forbidden
        .map(|Given { number, path }| {
            let shown = perf_records::units::shown_path(path);
            let text = format!(
                "the command was handed descriptor {number}, open for writing `{shown}`: \
                 close it ({number}>&-), or allow the file in `writes`"
            );
            let about = About::Confined(Realm::Writes.word().to_owned());
            Finding::new(Kind::Missed, about, text)
        })
        .collect();
    Ok(findings)
}
