//! Reads and resolves scenarios, before the first of them runs.

use super::probes::Foreseen;
use super::{Bench, Item, RecordedRun};
use crate::plan::{self, Facts, Lack, LackOf, Plan, PlanError, Resolved};
use crate::scenario::{Diagnostic, Programs, Scenario};
use crate::snapshot::{Kernel, Place};
use crate::verdict::{About, Finding};
use perf_live::errors::chain;
use perf_live::files;
use perf_live::host::Catalogue;
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use syscall_model::memory::Fetches;

/// A scenario that was read and resolved: ready to run, or known not to.
#[derive(Debug)]
pub(super) enum Ready {
    /// It can run: the plan, and what the scenario is about.
    Plan(Box<Plan>, String),
    /// It will be skipped, for these reasons.
    Unmet(Vec<Finding>),
    /// It fails without a run, for these reasons.
    Refused(Vec<Finding>),
}

impl Ready {
    /// Shares the specification of what is read of memory with plans in `known` that have the same
    /// one: it is large, and most plans have the same.
    pub(super) fn sharing(mut self, known: &mut Vec<Arc<Fetches>>) -> Self {
        if let Self::Plan(plan, _) = &mut self {
            let own = &mut plan.events.fetches;
            match known.iter().find(|known| *known == own) {
                Some(known) => own.clone_from(known),
                None => known.push(Arc::clone(own)),
            }
        }
        self
    }
}

/// The programs that the environment of this process gives to scenarios.
#[must_use]
pub fn given_programs() -> Programs {
    // Without a working directory no relative path leads anywhere.
    Programs::of(
        std::env::vars_os(),
        &std::env::current_dir().unwrap_or_default(),
    )
}

/// Reads the scenarios of a file; `None`, and one more complaint, if the file is wrong.
pub(super) fn read_file(
    file: &Path,
    programs: &Programs,
    complaints: &mut Vec<Diagnostic>,
) -> Result<Option<Vec<Scenario>>, SuiteError> {
    let bytes = files::read(file, files::SCENARIO).map_err(|error| SuiteError::Read {
        file: file.to_owned(),
        source: error.into(),
    })?;
    let rows = crate::scenario::text(file, &bytes)
        .and_then(|text| crate::scenario::read_all(file, &text, programs));
    Ok(rows.map_err(|complaint| complaints.push(complaint)).ok())
}

/// Checks scenarios without looking at this machine, for a run elsewhere.
///
/// # Errors
/// Every complaint about a file.
pub fn check(items: &[Item]) -> Result<(), SuiteError> {
    let files: BTreeSet<&Path> = items.iter().map(|item| item.file.as_path()).collect();
    let programs = given_programs();
    let mut complaints = Vec::new();
    for file in files {
        read_file(file, &programs, &mut complaints)?;
    }
    if complaints.is_empty() {
        Ok(())
    } else {
        Err(SuiteError::Invalid(complaints))
    }
}

/// Makes a plan of a scenario, or says which requirements are not met.
pub(super) fn ready(
    bench: &Bench<'_>,
    recording: Option<&RecordedRun>,
    facts: &Facts<'_>,
    scenario: &Scenario,
    file: &Path,
) -> Result<Ready, PlanError> {
    // For a recorded run no file is laid out.
    if recording.is_none()
        && let Some(complaint) = super::sources::complaint(scenario, file)
    {
        return Err(PlanError::Invalid(Box::new(complaint)));
    }
    // Nor can it be told what else the scenario needs.
    if recording.is_none()
        && let Err(error) = bench.reach()
        && error.is_of_rights()
    {
        let text = format!("needs the right to trace: {}", chain(&error));
        return Ok(Ready::Unmet(vec![Lack::of_machine(text).into()]));
    }
    let description = scenario.description.clone();
    let catalogue: &dyn Catalogue = match recording {
        Some(recording) => recording,
        None => &Foreseen {
            bench,
            scenario,
            file,
        },
    };
    let out_of_reach = |events| match recording {
        Some(recording) => recording.check(events).err().map(|error| chain(&error)),
        None => {
            let event = bench.out_of_reach(events)?;
            Some(format!("needs the right to trace `{event}`"))
        }
    };
    Ok(match plan::resolve(scenario, facts, catalogue)? {
        Resolved::Plan(plan) => match out_of_reach(&plan.events) {
            Some(text) => Ready::Unmet(vec![Lack::of_machine(text).into()]),
            None => Ready::Plan(Box::new(plan.with_patience(bench.patience)), description),
        },
        Resolved::Unmet(lacks) => Ready::Unmet(findings(lacks)),
        Resolved::Refused(lacks) => Ready::Refused(refused(lacks)),
    })
}

/// What a scenario must have: that it is lacking is a failure, that this is not known is none.
fn refused(lacks: Vec<Lack>) -> Vec<Finding> {
    let finding = |lack: Lack| match lack.of {
        LackOf::Recording => Finding::unknown(About::Machine, lack.text),
        LackOf::Kernel | LackOf::Architecture | LackOf::Machine => lack.into(),
    };
    lacks.into_iter().map(finding).collect()
}

fn findings(lacks: Vec<Lack>) -> Vec<Finding> {
    lacks.into_iter().map(Finding::from).collect()
}

/// Checks that no two scenarios have one snapshot, and that none has one that is a variant of
/// another's for some kernels.
pub(super) fn no_same_snapshot(items: &[Item], kernel: Kernel<'_>) -> Result<(), SuiteError> {
    let same = |first: &Path, second: &Path| {
        Err(SuiteError::SameSnapshot {
            first: first.to_owned(),
            second: second.to_owned(),
        })
    };
    let mut places: HashMap<Place, &Path> = HashMap::new();
    for item in items {
        if let Some(first) = places.insert(item.place(), &item.file) {
            return same(first, &item.file);
        }
    }
    for item in items {
        let whose = item.place().whose_variant();
        if let Some(first) = whose.and_then(|place| places.get(&place)) {
            return same(first, &item.file);
        }
        // It may be there and not be run.
        let mut beside = Place::beside(&item.file, kernel).into_iter();
        if let Some(first) = beside.find(|file| file.is_file()) {
            return same(&item.file, &first);
        }
    }
    Ok(())
}

/// Why a suite cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// Scenarios that are wrong.
    #[error("{} scenario file{} cannot be used", .0.len(), if .0.len() == 1 { "" } else { "s" })]
    Invalid(Vec<Diagnostic>),
    /// Two scenarios whose snapshots would be one file.
    #[error("`{first}` and `{second}` have the same name, and so the same snapshot: rename one")]
    SameSnapshot {
        /// The first scenario's file.
        first: PathBuf,
        /// The second scenario's file.
        second: PathBuf,
    },
    /// A file that cannot be read.
    #[error("cannot read the scenario `{file}`")]
    Read {
        /// The file.
        file: PathBuf,
        /// The error of reading it.
        source: io::Error,
    },
    /// More than one scenario for one recorded run.
    #[error("one recorded run is judged by one scenario, and these are {}: {}; --filter chooses one", .names.len(), .names.join(", "))]
    ManyOfOne {
        /// Their names.
        names: Vec<String>,
    },
    /// A row that its file no longer has.
    #[error("`{name}` is no row of its file's `matrix`")]
    NoRow {
        /// The row's name.
        name: String,
    },
    /// This process may trace nothing, and without that some of the scenarios cannot be checked.
    #[error(transparent)]
    Access(#[from] super::AccessError),
    /// Memory could not be read for want of files or memory, and not for want of a right.
    #[error("{why}")]
    Unread {
        /// The error with all its causes, on one line.
        why: String,
    },
    /// What the recording lacks was cut off, or it is damaged.
    #[error(transparent)]
    Recording(#[from] super::recorded::ReplayError),
    /// The host could not be read.
    #[error(transparent)]
    Host(#[from] perf_live::host::HostError),
}
