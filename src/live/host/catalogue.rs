//! The tracepoints and probes of a machine.

use super::{EventSource, Host, HostError, ProbeList, tracefs};
use crate::units::Probe;
use perf_records::format::{self, Format};
use perf_records::units::TracepointName;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

/// Where the formats of tracepoints come from; the running host, a captured one, or a table in a
/// test.
pub trait Catalogue {
    /// The format of one tracepoint.
    ///
    /// # Errors
    /// [`HostError::NoTracepoint`], or what kept it from being read.
    fn format(&self, name: &TracepointName) -> Result<Arc<Format>, HostError>;
    /// The systems there are, sorted.
    ///
    /// # Errors
    /// [`HostError::Tracefs`], [`HostError::Read`].
    fn systems(&self) -> Result<Vec<String>, HostError>;
    /// The events of a system, sorted; none where there is no such system.
    ///
    /// # Errors
    /// [`HostError::Tracefs`], [`HostError::Read`].
    fn events(&self, system: &str) -> Result<Vec<String>, HostError>;
    /// The names of the other sources of events, sorted; none where they are not known, as in a
    /// recording.
    fn source_names(&self) -> Vec<String> {
        Vec::new()
    }
    /// One of them.
    fn source(&self, _name: &str) -> Option<EventSource> {
        None
    }
    /// Whether an event may be recorded with this filter beside all others; in a recording it was,
    /// or it was not.
    fn may_add(&self, _name: &str, _filter: &str) -> bool {
        true
    }
    /// Makes an event of a probe, and returns its format. The catalogue decides how long the event
    /// lasts.
    ///
    /// # Errors
    /// [`HostError::Probe`]; [`HostError::NoProbes`], also where nothing can be probed.
    fn probe(&self, probe: &Probe) -> Result<Arc<Format>, HostError> {
        let list = match probe.kind.is_of_user() {
            true => ProbeList::User,
            false => ProbeList::Kernel,
        };
        Err(HostError::NoProbes { list: list.file() })
    }
}

impl Catalogue for Host {
    fn source_names(&self) -> Vec<String> {
        self.event_sources()
    }

    fn source(&self, name: &str) -> Option<EventSource> {
        self.event_source(name)
    }

    fn format(&self, name: &TracepointName) -> Result<Arc<Format>, HostError> {
        let known = |formats: &HashMap<TracepointName, Arc<Format>>| formats.get(name).cloned();
        if let Some(format) = self.formats.lock().ok().as_deref().and_then(known) {
            return Ok(format);
        }
        let path = self
            .tracefs()?
            .events()
            .join(name.system())
            .join(name.event())
            .join("format");
        let text = tracefs::text(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => HostError::NoTracepoint { name: name.clone() },
            _ => HostError::Read {
                path,
                source: Arc::new(source),
            },
        })?;
        let format = format::parse(&text).map_err(|source| HostError::Format {
            name: name.clone(),
            source,
        })?;
        let format = Arc::new(format);
        if let Ok(mut formats) = self.formats.lock() {
            formats.insert(name.clone(), Arc::clone(&format));
        }
        Ok(format)
    }

    fn systems(&self) -> Result<Vec<String>, HostError> {
        self.list(&self.tracefs()?.events())
    }

    fn events(&self, system: &str) -> Result<Vec<String>, HostError> {
        match self.list(&self.tracefs()?.events().join(system)) {
            Err(HostError::Read { source, .. })
                if matches!(
                    source.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                Ok(Vec::new())
            }
            listed => listed,
        }
    }
}
