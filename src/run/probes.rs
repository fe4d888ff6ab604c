//! Makes events of probes, which last for a run or as long as the process.

mod copied;

use self::copied::Copies;
use super::workload::workload;
use super::{Bench, PATH, ProbedFile, RunError};
use crate::plan::{EventsError, Meaning, Plan};
use crate::scenario::{FileSource, Scenario, Workload};
use perf_live::events::Opened;
use perf_live::host::{Catalogue, EventSource, HostError};
use perf_live::probes::{ElfError, ProbeError, Registered, Registry};
use perf_live::sandbox;
use perf_live::units::{ENTRIES, Probe};
use perf_records::attr::Source;
use perf_records::format::Format;
use perf_records::units::TracepointName;
use std::borrow::Cow;
use std::collections::HashMap;
use std::env;
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Where libraries are, on all machines and distributions (`ld.so(8)`).
const LIBRARIES: &[&str] = &[
    "/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
];

/// The probes that this process has made.
#[derive(Debug, Default)]
pub(super) struct Probes {
    registry: Mutex<Option<Arc<Registry>>>,
    /// Those of command lines, which last as long as the process.
    kept: Mutex<Vec<(Probe, Registered)>>,
    /// The text of each format by its event's id, with the name that the event has in this process.
    texts: Mutex<HashMap<u16, (String, String)>>,
}

impl Bench<'_> {
    /// Makes an event of a probe. The event lasts as long as the value; `file` is the program of a
    /// probe of a program, and `copy` the copy of it that is executed.
    ///
    /// # Errors
    /// [`HostError::Probe`], [`HostError::NoProbes`], [`HostError::Read`].
    pub fn register(
        &self,
        probe: &Probe,
        file: Option<&Path>,
        copy: Option<&Path>,
    ) -> Result<Registered, HostError> {
        let registry = self.registry().map_err(failed)?;
        let made = registry.register(self.host, probe, file, copy);
        let made = made.map_err(failed)?;
        let text = (probe.name.clone(), made.format_text.clone());
        let mut texts = lock(&self.probes.texts);
        texts.insert(made.format.id, text);
        Ok(made)
    }

    /// The files that have probes of this process'; what lies in the second folder lies in the
    /// first for the workload.
    #[must_use]
    pub fn probed_files(&self, moved: Option<(&Path, &Path)>) -> Vec<ProbedFile> {
        let kept = lock(&self.probes.kept);
        files(kept.iter().map(|(probe, made)| (&*probe.name, made)), moved)
    }

    fn registry(&self) -> Result<Arc<Registry>, ProbeError> {
        let mut registry = lock(&self.probes.registry);
        if let Some(registry) = &*registry {
            return Ok(Arc::clone(registry));
        }
        let made = Arc::new(Registry::new(self.host)?);
        Ok(Arc::clone(registry.insert(made)))
    }

    /// Keeps a tracepoint registered. A probe is not kept: it could not be removed.
    pub(super) fn pin(&self, source: Source) {
        if let Source::Tracepoint(id) = source
            && !lock(&self.probes.texts).contains_key(&id)
        {
            self.pins.hold(id);
        }
    }

    /// The text of the format of an event that is open.
    pub(super) fn format_text(
        &self,
        event: &Opened<'_>,
        name: &TracepointName,
    ) -> Result<String, HostError> {
        if let Source::Tracepoint(id) = event.attr.source
            && let Some((known, text)) = lock(&self.probes.texts).get(&id)
            && known == name.as_str()
        {
            return Ok(text.clone());
        }
        self.host.format_text(name)
    }
}

/// The machine's events, and probes: a probe becomes an event when it is asked for, until the
/// process ends.
impl Catalogue for Bench<'_> {
    fn source_names(&self) -> Vec<String> {
        self.host.source_names()
    }

    fn source(&self, name: &str) -> Option<EventSource> {
        self.host.source(name)
    }

    fn format(&self, name: &TracepointName) -> Result<Arc<Format>, HostError> {
        self.host.format(name)
    }

    fn systems(&self) -> Result<Vec<String>, HostError> {
        self.host.systems()
    }

    fn events(&self, system: &str) -> Result<Vec<String>, HostError> {
        self.host.events(system)
    }

    fn probe(&self, probe: &Probe) -> Result<Arc<Format>, HostError> {
        let known = |kept: &Vec<(Probe, Registered)>| {
            let mut kept = kept.iter();
            let found = kept.find(|(known, _)| known == probe);
            found.map(|(_, made)| Arc::clone(&made.format))
        };
        if let Some(format) = known(&lock(&self.probes.kept)) {
            return Ok(format);
        }
        let path = env::var_os("PATH").unwrap_or_default();
        let file = file(probe, Path::new(""), &path);
        let made = self.register(probe, file.as_deref(), None)?;
        let format = Arc::clone(&made.format);
        lock(&self.probes.kept).push((probe.clone(), made));
        Ok(format)
    }
}

/// The probes of a planned run.
pub(super) struct Probed<'p> {
    plan: Cow<'p, Plan>,
    /// Each with the name of its event.
    made: Vec<(String, Registered)>,
    /// Those of the entries of functions.
    _entries: Vec<Registered>,
    /// Dropped behind the probes that are in them.
    copies: Copies,
}

impl Probed<'_> {
    /// Returns the plan, with each probe replaced by its event.
    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the files that have probes, of a run whose directory on the host is `outside` and
    /// `inside` for the workload.
    pub(super) fn files(&self, (inside, outside): (&Path, &Path)) -> Vec<ProbedFile> {
        let made = self.made.iter().map(|(name, made)| (name.as_str(), made));
        let mut files = files(made, Some((inside, outside)));
        for file in &mut files {
            if let Some((original, id)) = self.copies.original(&file.path) {
                file.path = original.as_os_str().as_bytes().to_vec();
                file.original = Some(id);
            }
        }
        files
    }

    /// Returns the plan's workload, which sees the copies of files that have probes.
    ///
    /// # Errors
    /// As [`workload`].
    pub(super) fn workload(
        &self,
        bench: &Bench<'_>,
        directory: &Path,
    ) -> Result<sandbox::Workload, RunError> {
        let mut workload = workload(bench, &self.plan, directory, bench.group())?;
        workload.world.replace(self.copies.pairs());
        Ok(workload)
    }
}

/// The files that have probes; what lies in the second folder lies in the first for the workload.
fn files<'m>(
    made: impl Iterator<Item = (&'m str, &'m Registered)>,
    moved: Option<(&Path, &Path)>,
) -> Vec<ProbedFile> {
    // The kernel's paths are without symbolic links.
    let moved = moved.filter(|(inside, outside)| inside != outside);
    let moved = moved.map(|(inside, outside)| {
        let outside = outside.canonicalize().unwrap_or(outside.to_owned());
        (inside, outside)
    });
    let seen = |path: &[u8]| {
        let (inside, outside) = moved.as_ref()?;
        let path = Path::new(OsStr::from_bytes(path));
        let below = path.strip_prefix(outside).ok()?;
        Some(inside.join(below).into_os_string().into_vec())
    };
    let of = |(name, made): (&str, &Registered)| {
        let mapped = made.mapped.clone()?;
        Some(ProbedFile {
            event: name.to_owned(),
            path: seen(&mapped.path).unwrap_or_else(|| mapped.path.clone()),
            id: mapped.id,
            original: None,
            is_held: made.is_everywhere(),
            copies: made.copies,
            mapped: Some(mapped),
        })
    };
    let mut files: Vec<ProbedFile> = Vec::new();
    for file in made.filter_map(of) {
        let is_same = |it: &ProbedFile| (&it.event, &it.path) == (&file.event, &file.path);
        // Of entries there is one beside that of the returns.
        if !file.event.starts_with(ENTRIES) && !files.iter().any(is_same) {
            files.push(file);
        }
    }
    files
}

/// Makes events of a plan's probes in the files of this run's directory: each run has its own
/// files.
///
/// # Errors
/// [`RunError::Plan`].
pub(super) fn in_directory<'p>(
    bench: &Bench<'_>,
    plan: &'p Plan,
    directory: &Path,
) -> Result<Probed<'p>, RunError> {
    let path = plan.workload.env.get("PATH").map_or(PATH, String::as_str);
    let mut probed = Probed {
        plan: Cow::Borrowed(plan),
        made: Vec::new(),
        _entries: Vec::new(),
        copies: Copies::of(bench, plan, directory, OsStr::new(path))?,
    };
    for (place, planned) in plan.events.named.iter().enumerate() {
        let Some(probe) = &planned.probe else {
            continue;
        };
        let file = file(probe, directory, OsStr::new(path));
        let copy = file.as_ref().and_then(|file| probed.copies.copy(file));
        let is_own = copy.is_some()
            || file
                .as_ref()
                .is_some_and(|file| directory.parent().is_some() && file.starts_with(directory));
        let register = |probe: &Probe| {
            let made = bench
                .register(probe, file.as_deref(), copy)
                .and_then(|mut made| {
                    if is_own {
                        made.plant_everywhere().map_err(failed)?;
                    }
                    Ok(made)
                });
            made.map_err(|source| {
                RunError::Plan(EventsError::Probe {
                    at: place,
                    probe: probe.to_string(),
                    source,
                })
            })
        };
        let made = register(probe)?;
        let entries = probe
            .of_entries()
            .map(|probe| register(&probe))
            .transpose()?;
        let events = &mut probed.plan.to_mut().events;
        let requests = events.requests.iter_mut().zip(&events.meanings);
        for (request, meaning) in requests {
            let made = match meaning {
                Meaning::Event(at) if *at == place => Some(&made),
                Meaning::Entries { place: at, .. } if *at == place => entries.as_ref(),
                _ => None,
            };
            if let Some(made) = made {
                request.attr.source = Source::Tracepoint(made.format.id);
            }
        }
        if let Some(planned) = events.named.get_mut(place) {
            planned.format = Some(Arc::clone(&made.format));
        }
        probed.made.push((planned.name.to_string(), made));
        probed._entries.extend(entries);
    }
    Ok(probed)
}

/// The catalogue that a scenario is planned with: the machine, and the programs where its `files`
/// come from.
pub(super) struct Foreseen<'a> {
    pub(super) bench: &'a Bench<'a>,
    pub(super) scenario: &'a Scenario,
    pub(super) file: &'a Path,
}

/// Makes each probe to see its format, and removes it: it is made anew for every run.
impl Catalogue for Foreseen<'_> {
    fn format(&self, name: &TracepointName) -> Result<Arc<Format>, HostError> {
        self.bench.host.format(name)
    }

    fn systems(&self) -> Result<Vec<String>, HostError> {
        self.bench.host.systems()
    }

    fn events(&self, system: &str) -> Result<Vec<String>, HostError> {
        self.bench.host.events(system)
    }

    fn probe(&self, probe: &Probe) -> Result<Arc<Format>, HostError> {
        let Workload { files, env, .. } = &self.scenario.workload;
        let written = Path::new(&probe.file);
        let place = match probe.file.contains('/') && written.is_relative() {
            true => {
                let plain: PathBuf = written.components().skip_while(is_here).collect();
                let none = || ProbeError::File {
                    path: written.to_owned(),
                    source: ElfError::NotLaidOut,
                };
                match files.get(&plain).map(|file| &file.source) {
                    Some(FileSource::From(from)) => {
                        Some(self.file.parent().unwrap_or(Path::new("")).join(from))
                    }
                    _ => return Err(failed(none())),
                }
            }
            false => {
                let path = env.get("PATH").map_or(PATH, String::as_str);
                file(probe, Path::new("/"), OsStr::new(path))
            }
        };
        let made = self.bench.register(probe, place.as_deref(), None)?;
        Ok(Arc::clone(&made.format))
    }
}

fn is_here(component: &Component<'_>) -> bool {
    *component == Component::CurDir
}

/// Returns the program or library of a probe: a name without a slash is looked for in the search
/// path, any other is relative to `directory`.
pub(super) fn file(probe: &Probe, directory: &Path, path: &OsStr) -> Option<PathBuf> {
    if !probe.kind.is_of_user() {
        return None;
    }
    let written = Path::new(&probe.file);
    if probe.file.contains('/') {
        return Some(directory.join(written));
    }
    let mut places = env::split_paths(path)
        .chain(LIBRARIES.iter().map(PathBuf::from))
        .map(|folder| folder.join(written));
    let found = places.find(|place| place.is_file());
    Some(found.unwrap_or_else(|| written.to_owned()))
}

fn failed(error: ProbeError) -> HostError {
    match error {
        ProbeError::Host(error) => error,
        other => HostError::Probe(Arc::new(other)),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
