//! The command that is traced, on the bare host or in a sandbox.

use super::{Trouble, other};
use perf_live::host::Host;
use perf_live::sandbox::WorldSpec;
use perf_live::sandbox::{INSIDE, Program, Stdio, WorkDir, Workload, World};
use perf_live::sys::standard::was_closed;
use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use syscall_model::files::{FileKind, Initial};
use trace_harness::run::{Bench, RunError, environment};

/// The working directory of a command in a sandbox.
pub(crate) fn directory(sandboxed: bool, bench: &Bench<'_>) -> Result<Option<WorkDir>, Trouble> {
    let made = || WorkDir::lay_out(bench.base()?, &[], None);
    let made = sandboxed.then(made).transpose();
    Ok(made.map_err(RunError::WorkDir)?)
}

/// What the command inherits, by the names that the kernel has for it.
pub(crate) fn inherited(sandboxed: Option<&WorkDir>, workload: &Workload) -> Initial {
    let host = Host::running();
    let file = |number: &i32| {
        if u8::try_from(*number).is_ok_and(was_closed) {
            return None;
        }
        let link = host.own_descriptor(*number)?.into_os_string().into_vec();
        Some((FileKind::of_link(link), vec![*number]))
    };
    let directory = match sandboxed {
        Some(_) => Some(INSIDE.into()),
        None => std::env::current_dir().ok(),
    };
    Initial {
        files: [0, 1, 2]
            .iter()
            .chain(&workload.inherited)
            .filter_map(file)
            .collect(),
        complete: true,
        directory: directory.map(|path| path.into_os_string().into_vec()),
    }
}

pub(crate) fn workload(
    command: &[OsString],
    bench: &Bench<'_>,
    sandboxed: Option<&WorkDir>,
) -> Result<Workload, Trouble> {
    let c_string = |text: &OsStr| CString::new(text.as_bytes()).map_err(|error| other(error, None));
    let path = std::env::var_os("PATH").filter(|_| sandboxed.is_none());
    let path = path.unwrap_or_else(|| trace_harness::run::PATH.into());
    let name = command.first().map(OsString::as_os_str).unwrap_or_default();
    let variables: Vec<(OsString, OsString)> = match sandboxed {
        None => std::env::vars_os().collect(),
        Some(_) => environment(Path::new(INSIDE))
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
    };
    let environment = variables.into_iter().map(|(mut name, value)| {
        name.push("=");
        name.push(value);
        CString::new(name.into_vec()).map_err(|error| other(error, None))
    });
    let inherited = match sandboxed {
        None => {
            let all = bench.host.inherited_descriptors();
            all.map_err(|error| other(error, None))?
        }
        Some(_) => Vec::new(),
    };
    let (world, umask) = match sandboxed {
        None => (World::Host, None),
        Some(_) => {
            let spec = WorldSpec::default();
            (bench.worlds.own(&spec, None), Some(spec.umask))
        }
    };
    let from = sandboxed.map_or(Path::new("."), WorkDir::path);
    let program = Program::find(name, &path, from);
    let program = match sandboxed {
        None => program,
        Some(_) => program
            .map_err(|error| error.or_elsewhere(&world))
            .and_then(|found| found.or_another(name, &world)),
    };
    Ok(Workload {
        program: program.map_err(Trouble::NotExecuted)?,
        arguments: command
            .iter()
            .map(|argument| c_string(argument))
            .collect::<Result<_, _>>()?,
        environment: environment.collect::<Result<_, _>>()?,
        directory: sandboxed.map(|directory| directory.path().to_owned()),
        stdio: Stdio::Inherited,
        inherited,
        world,
        umask,
        fixed_addresses: sandboxed.is_some(),
        limits: bench.own_limits(),
        group: None,
        held: Default::default(),
        lasts: None,
        allowed: None,
        ruled: None,
    })
}
