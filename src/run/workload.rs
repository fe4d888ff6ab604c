//! Prepares a scenario's workload for the sandbox.

use super::{Bench, RunError, limits, needing};
use crate::plan::{Plan, WorldPlan, held, watched};
use crate::scenario::FileSource;
pub use crate::scenario::PATH;
use perf_live::sandbox::Addresses;
use perf_live::sandbox::{
    self, Cgroup, Content, File, Program, Stdio, WorkDir, WorkDirError, World,
};
use std::collections::BTreeMap;
use std::ffi::{CString, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How much longer than its timeout a world of its own may last: the harness ends it before, unless
/// it is stopped.
const GRACE: Duration = Duration::from_secs(3);

/// Makes the directory of a planned scenario, with its files.
///
/// # Errors
/// [`WorkDirError`]; no file is left behind then.
pub fn lay_out(bench: &Bench<'_>, plan: &Plan, file: &Path) -> Result<WorkDir, WorkDirError> {
    let user = plan.world.as_ref().and_then(|world| world.user.as_ref());
    let owner = user.map(|user| (user.uid, user.gid));
    let dir = WorkDir::lay_out(bench.base()?, &files(plan, file, owner), owner)?;
    for folder in plan.crash.iter().flat_map(|crash| crash.watch.folders()) {
        make(&dir, OsStr::from_bytes(folder), owner)?;
    }
    Ok(dir)
}

/// Makes a folder with those above it, where there is none.
fn make(dir: &WorkDir, path: &OsStr, owner: Option<(u32, u32)>) -> Result<(), WorkDirError> {
    let mut at = dir.path().to_owned();
    for part in Path::new(path) {
        at.push(part);
        let made = match std::fs::create_dir(&at) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            made => made,
        };
        let owned = made.and_then(|()| match owner {
            Some((user, group)) => std::os::unix::fs::chown(&at, Some(user), Some(group)),
            None => Ok(()),
        });
        owned.map_err(|source| WorkDirError::Lay {
            path: path.into(),
            source,
        })?;
    }
    Ok(())
}

fn files(plan: &Plan, scenario: &Path, owner: Option<(u32, u32)>) -> Vec<File> {
    let base = scenario.parent().unwrap_or(Path::new(""));
    let content = |source: &FileSource| match source {
        FileSource::Content(text) => Content::Bytes(text.clone().into_bytes()),
        FileSource::From(path) => Content::CopyOf(base.join(path)),
        FileSource::FolderOf(path) => Content::FolderAs(base.join(path)),
        FileSource::LinkOf(path) => Content::LinkAs(base.join(path)),
    };
    let files = plan.workload.files.iter();
    files
        .map(|(path, file)| File {
            path: path.clone(),
            content: content(&file.source),
            mode: file.mode,
            owner: plan
                .owners
                .get(path)
                .map(|user| (user.uid, user.gid))
                .or(owner),
        })
        .collect()
}

/// The variables that every workload has in a sandbox, where its working directory is `home`.
#[must_use]
pub fn environment(home: &Path) -> BTreeMap<String, String> {
    let home = home.to_string_lossy();
    [("PATH", PATH), ("HOME", &home), ("TMPDIR", &home)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

/// Returns the world that a plan's workload lives in.
pub(super) fn world(bench: &Bench<'_>, plan: &Plan) -> World {
    match &plan.world {
        None => World::Host,
        Some(WorldPlan { spec, user }) => bench.worlds.own(spec, user.as_ref()),
    }
}

pub(super) fn workload(
    bench: &Bench<'_>,
    plan: &Plan,
    dir: &Path,
    group: Option<Arc<Cgroup>>,
) -> Result<sandbox::Workload, RunError> {
    let c_string = |text: String| {
        CString::new(text).map_err(|error| RunError::ZeroByte {
            text: String::from_utf8_lossy(&error.into_vec()).into_owned(),
        })
    };
    let world = world(bench, plan);
    let (umask, fixed_addresses) = match &plan.world {
        None => (0o022, true),
        Some(WorldPlan { spec, .. }) => (spec.umask, spec.addresses == Addresses::Fixed),
    };
    let home = world.inside(dir);
    let argv = plan.workload.command.argv();
    let mut environment = environment(&home);
    environment.extend(plan.workload.env.clone());
    let path = environment.get("PATH").cloned().unwrap_or_default();
    let program = argv.first().copied().unwrap_or_default();
    Ok(sandbox::Workload {
        program: Program::find(OsStr::new(program), OsStr::new(&path), dir)
            .map_err(|error| sandbox::LaunchError::NotExecuted(error.or_elsewhere(&world)))?,
        arguments: argv
            .iter()
            .map(|&argument| c_string(argument.to_owned()))
            .collect::<Result<_, _>>()?,
        environment: environment
            .into_iter()
            .map(|(name, value)| c_string(format!("{name}={value}")))
            .collect::<Result<_, _>>()?,
        directory: Some(dir.to_owned()),
        stdio: Stdio::Captured {
            input: plan.workload.stdin.clone().map(String::into_bytes),
        },
        world,
        umask: Some(umask),
        inherited: Vec::new(),
        fixed_addresses,
        limits: limits::of_processes(bench, plan),
        group,
        allowed: needing::allowed(bench, plan),
        ruled: needing::ruled(bench, plan, &home),
        held: match &plan.crash {
            Some(crash) => watched(crash.acknowledged.are_sent()),
            None => held(&plan.faults),
        },
        lasts: plan.workload.timeout.checked_add(GRACE),
    })
}
