//! What a run was given besides its command, so that the recording of a run is not judged as that
//! of another one.

use super::recorded::Sum;
use crate::matching::Matcher;
use crate::plan::{FaultPlan, Plan, WorldPlan};
use crate::scenario::{FileSource, Workload};
use perf_live::sandbox::WorldSpec;
use perf_records::units::shown_path;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A sum over each thing that a run was given, by its place in the scenario. What a thing holds
/// stays out of the recording.
pub(super) type Sums = BTreeMap<String, u64>;

/// A file that a run is given cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read `{}`, which a run is given", shown_path(path))]
pub struct UnreadFile {
    path: PathBuf,
    source: io::Error,
}

/// Returns what a run is given whose files have been laid into a directory.
pub(super) fn laid_out(plan: &Plan, directory: &Path) -> Result<Sums, UnreadFile> {
    given(plan, |path, source| read(directory.join(path), source))
}

/// Returns what a run of a scenario's file would be given.
pub(super) fn to_lay_out(plan: &Plan, scenario: &Path) -> Result<Sums, UnreadFile> {
    let base = scenario.parent().unwrap_or(Path::new(""));
    given(plan, |_, source| match source {
        FileSource::Content(text) => Ok(text.clone().into_bytes()),
        FileSource::From(path) | FileSource::FolderOf(path) | FileSource::LinkOf(path) => {
            read(base.join(path), source)
        }
    })
}

/// Returns the places of what a scenario gives its run.
pub(super) fn laid(plan: &Plan) -> Vec<String> {
    let Workload {
        env, stdin, files, ..
    } = &plan.workload;
    let given = |is_given: bool, place: &str| is_given.then(|| place.to_owned());
    // That processes may outlive the main one is for the judge, and nothing that a run is given.
    let usual = |world: &WorldPlan| WorldSpec {
        survivors: world.spec.survivors,
        ..WorldSpec::default()
    };
    let is_of_its_own = |world: &WorldPlan| world.spec != usual(world);
    let places = [
        given(!env.is_empty(), "workload.env"),
        given(stdin.is_some(), "workload.stdin"),
        given(plan.world.as_ref().is_some_and(is_of_its_own), "sandbox"),
        given(!plan.faults.is_empty(), "faults"),
    ];
    let files = files.keys();
    let files = files.map(|path| format!("workload.files.{}", path.display()));
    places.into_iter().flatten().chain(files).collect()
}

/// Returns the places of what differs.
pub(super) fn differences<'a>(one: &'a Sums, other: &'a Sums) -> Vec<&'a str> {
    let places: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let differ = |place: &&String| one.get(*place) != other.get(*place);
    places
        .into_iter()
        .filter(differ)
        .map(String::as_str)
        .collect()
}

/// Returns what a file holds; of a link where it leads, and of a folder its mode.
fn read(path: PathBuf, source: &FileSource) -> Result<Vec<u8>, UnreadFile> {
    let held = match source {
        FileSource::Content(_) | FileSource::From(_) => std::fs::read(&path),
        FileSource::FolderOf(_) => {
            let mode = path.metadata().map(|folder| folder.permissions().mode());
            mode.map(|mode| (mode & 0o7777).to_le_bytes().to_vec())
        }
        FileSource::LinkOf(_) => {
            let target = path.read_link();
            target.map(|target| target.into_os_string().into_vec())
        }
    };
    held.map_err(|source| UnreadFile { path, source })
}

fn given(
    plan: &Plan,
    content: impl Fn(&Path, &FileSource) -> Result<Vec<u8>, UnreadFile>,
) -> Result<Sums, UnreadFile> {
    let workload = &plan.workload;
    let world = plan.world.as_ref().map(|world| &world.spec);
    let faults: Vec<_> = plan.faults.iter().map(fault).collect();
    let mut given = Sums::from([
        ("workload.env".to_owned(), sum(&workload.env)),
        ("workload.stdin".to_owned(), sum(&workload.stdin)),
        ("sandbox".to_owned(), sum(&world)),
        ("faults".to_owned(), sum(&faults)),
    ]);
    if let Some(crash) = &plan.crash {
        given.insert("crash.watch".to_owned(), sum(&crash.watch));
        given.insert("crash.acknowledged".to_owned(), sum(&crash.acknowledged));
    }
    for (path, file) in &workload.files {
        let mut all = Sum::default();
        all.add(&content(path, &file.source)?);
        let whole = (all.number(), file.mode, &file.owner);
        given.insert(format!("workload.files.{}", path.display()), sum(&whole));
    }
    Ok(given)
}

/// What a fault does, wherever it stands in the file.
fn fault(fault: &FaultPlan) -> impl Debug + '_ {
    let calls = |matcher: &Matcher| format!("{} {:?}", matcher.word, matcher.fields);
    (
        calls(&fault.matcher),
        (fault.when, fault.per, fault.injected),
        fault.until.as_ref().map(calls),
        &fault.within,
    )
}

fn sum(of: &impl Debug) -> u64 {
    let mut sum = Sum::default();
    sum.add(format!("{of:?}").as_bytes());
    sum.number()
}
