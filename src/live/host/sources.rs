//! The sources of events (PMUs), as sysfs describes them.

use super::{Host, cpu_list};
use perf_records::units::Cpu;
use std::collections::BTreeMap;
use std::path::Path;

const SOURCES: &str = "sys/bus/event_source/devices";

/// A source of events.
///
/// `Documentation/ABI/testing/sysfs-bus-event_source-devices-*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventSource {
    /// Its name: `cpu`, `msr`, `armv8_pmuv3`.
    pub name: String,
    /// Its number, which differs from machine to machine: `perf_event_attr.type`.
    pub kind: u32,
    /// Where the numbers stand that tell its events from each other: `config:0-7`, by the name of
    /// each.
    pub format: BTreeMap<String, String>,
    /// Its events, by their names.
    pub events: BTreeMap<String, SourceEvent>,
    /// The CPUs on which it is opened once for all of a package: it counts for all tasks there.
    pub for_all_on: Option<Vec<Cpu>>,
    /// The CPUs that have it, where not all do.
    pub of_cpus: Option<Vec<Cpu>>,
    /// What else it says of itself, by the names of the files.
    pub caps: BTreeMap<String, String>,
}

/// A named event of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceEvent {
    /// The numbers that it is: `event=0x3c,umask=0x01`.
    pub terms: String,
    /// What a count is to be multiplied with.
    pub scale: Option<String>,
    /// What it is in then.
    pub unit: Option<String>,
}

impl Host {
    /// The sources of events: `tracepoint` and `software`, which every kernel has, `uprobe`,
    /// `kprobe`, `cpu`. Empty where it is not known.
    #[must_use]
    pub fn event_sources(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.root.join(SOURCES));
        let entries = entries.into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort_unstable();
        names
    }

    /// One of them, whole; `None` where there is none of the name.
    #[must_use]
    pub fn event_source(&self, name: &str) -> Option<EventSource> {
        if name.is_empty() || name.contains('/') || name.starts_with('.') {
            return None;
        }
        let folder = Path::new(SOURCES).join(name);
        let text = |path: &Path| {
            let path = folder.join(path);
            self.read(path.to_str()?).ok()
        };
        let cpus = |file: &str| {
            let list = text(Path::new(file))?;
            Some(cpu_list(&list))
        };
        let files = |inner: &str| -> BTreeMap<String, String> {
            let entries = std::fs::read_dir(self.root.join(&folder).join(inner));
            let names = entries.into_iter().flatten().flatten();
            let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
            let read = |name: String| {
                let value = text(&Path::new(inner).join(&name))?;
                Some((name, value.trim().to_owned()))
            };
            names.filter_map(read).collect()
        };
        Some(EventSource {
            name: name.to_owned(),
            kind: text(Path::new("type"))?.trim().parse().ok()?,
            format: files("format"),
            events: events(files("events")),
            for_all_on: cpus("cpumask"),
            of_cpus: cpus("cpus"),
            caps: files("caps"),
        })
    }

    /// Whether one of those counts the cycles of a processor: `cpu-cycles` on x86, `cpu_cycles` on
    /// aarch64.
    #[must_use]
    pub fn counts_cycles(&self) -> bool {
        let mut sources = self.event_sources().into_iter();
        sources.any(|name| {
            let source = self.event_source(&name);
            source.is_some_and(|source| {
                let cycles = ["cpu-cycles", "cpu_cycles"];
                cycles.iter().any(|name| source.events.contains_key(*name))
            })
        })
    }
}

/// What the files of a folder `events` say: `NAME`, and of some `NAME.scale`, `NAME.unit` and
/// others.
fn events(files: BTreeMap<String, String>) -> BTreeMap<String, SourceEvent> {
    let mut events: BTreeMap<String, SourceEvent> = BTreeMap::new();
    for (name, value) in files {
        match name.rsplit_once('.') {
            Some((event, "scale")) => {
                events.entry(event.to_owned()).or_default().scale = Some(value)
            }
            Some((event, "unit")) => events.entry(event.to_owned()).or_default().unit = Some(value),
            Some(_) => {}
            None => events.entry(name).or_default().terms = value,
        }
    }
    events.retain(|_, event| !event.terms.is_empty());
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::captured_sources::{AARCH64, X86_64, machine};

    #[test]
    fn a_source_is_what_its_files_say() {
        let (_root, host) = machine(AARCH64);
        assert_eq!(
            host.event_sources(),
            [
                "armv8_pmuv3",
                "breakpoint",
                "kprobe",
                "software",
                "tracepoint",
                "uprobe"
            ]
        );
        let source = host.event_source("armv8_pmuv3").unwrap();
        assert_eq!(source.kind, 8);
        assert_eq!(source.format["event"], "config:0-15");
        assert_eq!(source.format["long"], "config1:0");
        assert_eq!(source.events["cpu_cycles"].terms, "event=0x0011");
        assert_eq!(source.of_cpus, Some(vec![Cpu(0), Cpu(1)]));
        assert_eq!((source.for_all_on, source.caps.len()), (None, 3));
        assert!(host.counts_cycles());
    }

    #[test]
    fn what_is_no_source_is_none() {
        let (_root, host) = machine(X86_64);
        for name in ["cpu", "", "..", "msr/events", "armv8_pmuv3"] {
            assert_eq!(host.event_source(name), None, "{name}");
        }
        assert!(!host.counts_cycles());
    }
}
