//! Runs a command that is no scenario's, and judges all that it did.

use super::limits::no_core;
use super::once::{Start, started};
use super::ready::Ready;
use super::scenario::{NoRun, Outcome, judged};
use super::{Bench, Control, Extras, Names, RunError, ScenarioReport, Suite};
use crate::matching::{Confinement, Handed, HandedTo, Judged, Realm, changed_among};
use crate::plan::Plan;
use crate::snapshot::Stored;
use crate::verdict::{About, Finding, Kind, Run, Verdict};
use perf_live::sandbox::{WorkDir, Workload};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
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
    /// The files and sockets among the descriptors that it starts with.
    pub handed: Vec<Handed>,
    /// Folders whose files it may change, beside its directory.
    pub folders: Vec<PathBuf>,
    /// Whether a command that cannot be executed fails; without rules it is an error.
    pub is_judged: bool,
    /// How long it may take; `None` for any time.
    pub timeout: Option<Duration>,
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
        report.is_command = true;
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
    let handed = handed(plan, &subject.handed);
    let is_judged = subject.is_judged;
    let mut remarks = Vec::new();
    let ran = match live(bench, plan, subject, control) {
        Ok((run, linked, known)) => {
            remarks = known.remarks();
            Ok(Run {
                findings: [run.findings, handed, linked].concat(),
                ..run
            })
        }
        Err(error) if is_judged => Err(NoRun::from(error)),
        Err(error) => return Err(error),
    };
    let mut outcome = judged(plan, &Stored::default(), ran)?;
    outcome.remarks.extend(remarks);
    Ok(outcome)
}

fn live(
    bench: &Bench<'_>,
    plan: &Plan,
    subject: Subject<'_>,
    control: &mut dyn Control,
) -> Result<(Run, Vec<Finding>, Names), RunError> {
    let mut workload = subject.workload;
    workload.group = bench.group();
    workload.limits.extend(no_core());
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
    let names = plan.events.watched.names.then(names);
    let known = names.clone().unwrap_or_default();
    let start = Start {
        names,
        workload,
        initial: subject.initial,
        probed: Vec::new(),
        inside: inside.clone(),
        outside: &outside,
    };
    let (run, _) = started(bench, plan, control, Extras::default(), start)?;
    let linked = linked(plan, &run, &known, &inside);
    Ok((run, linked, known))
}

/// The files that were changed by one of their names, and have others that are not known: these may
/// lie where nothing may be written.
fn linked(plan: &Plan, run: &Run, known: &Names, directory: &Path) -> Vec<Finding> {
    let is_closed = |confinement: &Confinement| confinement.closes(Realm::Writes);
    if !plan.confinement.as_ref().is_none_or(is_closed) {
        return Vec::new();
    }
    let named = |path: Vec<u8>| match path.strip_prefix(directory.as_os_str().as_bytes()) {
        Some(below) if below.starts_with(b"/") => [b"$DIR", below].concat(),
        _ => path,
    };
    let names = known.with_other_names().into_iter().map(named).collect();
    let changed = changed_among(&run.trace, &names).into_iter();
    let findings = changed.map(|name| {
        let shown = perf_records::units::shown(&name);
        let text = format!(
            "`{shown}` was changed, and its file has other names (hard links) that are not known"
        );
        Finding::new(
            Kind::Unknown,
            About::Confined(Realm::Writes.word().to_owned()),
            text,
        )
    });
    findings.collect()
}

/// What a command may do by descriptors that it was handed: no call of it says that it has them.
fn handed(plan: &Plan, all: &[Handed]) -> Vec<Finding> {
    let Some(confinement) = &plan.confinement else {
        return Vec::new();
    };
    let finding = |handed: &Handed, judged: Judged| {
        let number = handed.number;
        let realm = judged.realm.word();
        let shown = judged.what.as_deref().map(perf_records::units::shown);
        let shown = shown.map(|what| format!("`{what}`"));
        let what = match (&handed.to, shown) {
            (HandedTo::File { .. }, Some(file)) => {
                let way = match judged.realm {
                    Realm::Reads => "reading",
                    _ => "writing",
                };
                format!("open for {way} {file}")
            }
            (_, Some(address)) => format!("a socket of {address}"),
            (_, None) => "a socket whose other side has no name".to_owned(),
        };
        let remedy = match judged.what {
            Some(_) => format!(", or allow that in `{realm}`"),
            None => String::new(),
        };
        let text = format!(
            "the command was handed descriptor {number}, {what}: close it ({number}>&-){remedy}"
        );
        let kind = match judged.is_forbidden {
            true => Kind::Missed,
            false => Kind::Unknown,
        };
        Finding::new(kind, About::Confined(realm.to_owned()), text)
    };
    let all = all.iter();
    let all = all.flat_map(|handed| {
        confinement
            .judge(handed)
            .into_iter()
            .map(move |it| (handed, it))
    });
    all.map(|(handed, judged)| finding(handed, judged))
        .collect()
}
