//! What lay under each name before a run: its directory as it was laid out, and the machine's files
//! where it cannot change them.

use perf_live::host::{Lying, lying};
use perf_live::sandbox::{Part, World};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use syscall_model::{Found, Ground};

/// What is known of the files before a run, and where to look for more. All copies share what is
/// known.
#[derive(Clone, Debug, Default)]
pub struct Names(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    /// The path of the workload's directory as the workload sees it, once all in it is known.
    directory: Option<Vec<u8>>,
    found: BTreeMap<Vec<u8>, Found>,
    machine: Option<Machine>,
}

#[derive(Debug)]
struct Machine {
    world: World,
    started: SystemTime,
}

impl Names {
    /// Lists the directory of a run that has not begun; the workload sees it as `inside`.
    pub(super) fn of_run(world: &World, inside: &Path, directory: &Path) -> Self {
        let mut known = Known {
            directory: Some(inside.as_os_str().as_bytes().to_vec()),
            machine: Some(Machine {
                world: world.clone(),
                // Times of files have the grain of the kernel's tick.
                started: SystemTime::now() - Duration::from_millis(10),
            }),
            ..Known::default()
        };
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            let found = looked(&directory.join(&folder), None);
            let is_folder = matches!(found, Found::Folder(_));
            let path = match folder.as_os_str().is_empty() {
                true => inside.to_owned(),
                false => inside.join(&folder),
            };
            known.found.insert(path.into_os_string().into_vec(), found);
            let entries = is_folder.then(|| std::fs::read_dir(directory.join(&folder)));
            for entry in entries.into_iter().flatten().flatten().flatten() {
                folders.push(folder.join(entry.file_name()));
            }
        }
        Self(Arc::new(Mutex::new(known)))
    }

    /// Lets the machine's own files be looked up too, by a run that began at `since`.
    pub(super) fn asking(self, world: &World, since: SystemTime) -> Self {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.machine = Some(Machine {
            world: world.clone(),
            started: since,
        });
        drop(known);
        self
    }

    /// Returns what a recording holds of the files before its run.
    pub(super) fn recorded(directory: Option<Vec<u8>>, found: BTreeMap<Vec<u8>, Found>) -> Self {
        Self(Arc::new(Mutex::new(Known {
            directory,
            found,
            machine: None,
        })))
    }

    /// Returns all that was looked up so far.
    pub(super) fn found(&self) -> BTreeMap<Vec<u8>, Found> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .found
            .clone()
    }
}

impl Ground for Names {
    fn look(&mut self, path: &[u8]) -> Found {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.found.get(path) {
            return found.clone();
        }
        let directory = known.directory.as_deref();
        if directory.is_some_and(|directory| is_below(path, directory)) {
            return Found::Missing;
        }
        let Some(machine) = &known.machine else {
            return Found::Unknown;
        };
        let found = machine.look(Path::new(OsStr::from_bytes(path)));
        known.found.insert(path.to_vec(), found.clone());
        found
    }

    fn list(&mut self, path: &[u8]) -> Vec<Vec<u8>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let below = [path, b"/"].concat();
        let inside = known.found.range(below.clone()..);
        let inside = inside.take_while(|(found, _)| found.starts_with(&below));
        let names = inside.filter_map(|(found, _)| found.strip_prefix(below.as_slice()));
        names
            .filter(|name| !name.contains(&b'/'))
            .map(<[u8]>::to_vec)
            .collect()
    }
}

fn is_below(path: &[u8], directory: &[u8]) -> bool {
    let rest = path.strip_prefix(directory);
    rest.is_some_and(|rest| rest.starts_with(b"/"))
}

impl Machine {
    fn look(&self, path: &Path) -> Found {
        match self.world.part(path) {
            Part::Host => looked(path, Some(self.started)),
            Part::Folder => Found::Folder(None),
            Part::Link(to) => Found::Link(None, to.as_bytes().into()),
            Part::File => Found::File(None),
            Part::Nothing => Found::Missing,
        }
    }
}

/// Looks up a path; a link that changed after `since` may have been another one before.
fn looked(path: &Path, since: Option<SystemTime>) -> Found {
    match lying(path) {
        Lying::Nothing => Found::Missing,
        Lying::Folder(identity) => Found::Folder(Some(identity)),
        Lying::Link(_, _, changed) if since.is_some_and(|since| changed >= since) => Found::Unknown,
        Lying::Link(identity, to, _) => Found::Link(Some(identity), to.into()),
        Lying::File(identity) => Found::File(Some(identity)),
        Lying::Processes => Found::Processes,
        Lying::Unknown => Found::Unknown,
    }
}
