//! Probes of runs: events for as long as somebody wants them.

use super::Bench;
use crate::attr::Source;
use crate::events::Opened;
use crate::format::Format;
use crate::host::{Catalogue, HostError};
use crate::probes::{ProbeError, Registered, Registry};
use crate::units::{Probe, TracepointName};
use std::collections::HashMap;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What this process has probed.
#[derive(Debug, Default)]
pub(super) struct Probes {
    registry: Mutex<Option<Arc<Registry>>>,
    /// Those that last as long as the process: the ones of command lines.
    kept: Mutex<Vec<(Probe, Registered)>>,
    /// The text of each format by its event's id, with the name of its events.
    texts: Mutex<HashMap<u16, (String, String)>>,
}

impl Bench<'_> {
    /// Makes an event of a probe, for as long as the value lives; one of a program is in this file.
    ///
    /// # Errors
    /// [`HostError::Probe`], [`HostError::NoProbes`], [`HostError::Read`].
    pub fn register(&self, probe: &Probe, file: Option<&Path>) -> Result<Registered, HostError> {
        let registry = self.registry().map_err(|error| failed(probe, error))?;
        let made = registry.register(self.host, probe, file);
        let made = made.map_err(|error| failed(probe, error))?;
        let text = (probe.name.clone(), made.format_text.clone());
        let mut texts = lock(&self.probes.texts);
        texts.insert(made.format.id, text);
        Ok(made)
    }

    fn registry(&self) -> Result<Arc<Registry>, ProbeError> {
        let mut registry = lock(&self.probes.registry);
        if let Some(registry) = &*registry {
            return Ok(Arc::clone(registry));
        }
        let made = Arc::new(Registry::new(self.host)?);
        Ok(Arc::clone(registry.insert(made)))
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

/// The machine's, and probes: each is an event from the moment on that it is asked for, to the end of the process.
impl Catalogue for Bench<'_> {
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
        let made = self.register(probe, file.as_deref())?;
        let format = Arc::clone(&made.format);
        lock(&self.probes.kept).push((probe.clone(), made));
        Ok(format)
    }
}

/// The program or library of a probe: a name without a slash is looked for in the search path, another is relative to this directory.
pub(super) fn file(probe: &Probe, directory: &Path, path: &std::ffi::OsStr) -> Option<PathBuf> {
    if !probe.kind.is_of_user() {
        return None;
    }
    let written = Path::new(&probe.file);
    if probe.file.contains('/') {
        return Some(directory.join(written));
    }
    let mut places = env::split_paths(path).map(|folder| folder.join(written));
    Some(
        places
            .find(|place| place.is_file())
            .unwrap_or_else(|| written.to_owned()),
    )
}

fn failed(probe: &Probe, error: ProbeError) -> HostError {
    match error {
        ProbeError::Host(error) => error,
        other => HostError::Probe {
            probe: probe.to_string(),
            source: Arc::new(other),
        },
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
