//! Offers the events of a recording like the tracepoints of a machine.

use super::RecordedRun;
use perf_live::host::{Catalogue, HostError, ProbeList};
use perf_live::units::Probe;
use perf_records::format::Format;
use perf_records::units::TracepointName;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Catalogue for RecordedRun {
    fn format(&self, name: &TracepointName) -> Result<Arc<Format>, HostError> {
        let format = self.formats.get(name).cloned();
        format.ok_or_else(|| HostError::NoTracepoint { name: name.clone() })
    }

    fn may_add(&self, name: &str, filter: &str) -> bool {
        let saved = self.saved.as_ref();
        saved.is_some_and(|saved| saved.filters(name).any(|it| it == Some(filter)))
    }

    fn probe(&self, probe: &Probe) -> Result<Arc<Format>, HostError> {
        let list = match probe.kind.is_of_user() {
            true => ProbeList::User,
            false => ProbeList::Kernel,
        };
        let name = TracepointName::parse(&probe.name);
        let format = name.and_then(|name| self.formats.get(&name).cloned());
        format.ok_or(HostError::NoProbes { list: list.file() })
    }

    fn systems(&self) -> Result<Vec<String>, HostError> {
        let systems = self.formats.keys().map(|name| name.system().to_owned());
        let systems: BTreeSet<String> = systems.collect();
        Ok(systems.into_iter().collect())
    }

    fn events(&self, system: &str) -> Result<Vec<String>, HostError> {
        let mut events: Vec<String> = self
            .formats
            .keys()
            .filter(|name| name.system() == system)
            .map(|name| name.event().to_owned())
            .collect();
        events.sort_unstable();
        Ok(events)
    }
}
