//! What stands in front of a run's records: its events, their formats, the machine.

use super::Bench;
use super::store::StoreOptions;
use crate::attr::Source;
use crate::events::{Opened, Origin};
use crate::host::{Host, HostError};
use crate::perfdata::{EventDesc, Feature, TracingData, features};
use crate::sys;
use crate::units::TracepointName;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;

/// The place of an event in the file: the requests in their order, then the side-band, last what programs write.
fn place(origin: Origin) -> (u8, usize) {
    match origin {
        Origin::Request(place) => (0, place),
        Origin::SideBand => (1, 0),
        Origin::Memory => (2, 0),
    }
}

pub(super) fn described(opened: &[Opened<'_>]) -> Vec<EventDesc> {
    let mut events = BTreeMap::new();
    for event in opened {
        let entry = events.entry(place(event.origin));
        let desc = entry.or_insert_with(|| EventDesc {
            attr: event.attr.stored(),
            ids: Vec::new(),
            name: event.name.to_owned(),
        });
        desc.ids.push(event.id);
    }
    events.into_values().collect()
}

pub(super) fn tracing(
    opened: &[Opened<'_>],
    host: &Host,
) -> Result<Option<TracingData>, HostError> {
    let is_tracepoint = |event: &&Opened<'_>| matches!(event.attr.source, Source::Tracepoint(_));
    let names: BTreeSet<_> = opened
        .iter()
        .filter(is_tracepoint)
        .filter_map(|event| TracepointName::parse(event.name))
        .collect();
    if names.is_empty() {
        return Ok(None);
    }
    let (header_page, header_event) = host.tracing_headers()?;
    let mut formats = Vec::new();
    for name in names {
        formats.push((name.system().to_owned(), host.format_text(&name)?));
    }
    Ok(Some(TracingData {
        is_big_endian: cfg!(target_endian = "big"),
        long_size: size_of::<libc::c_long>() as u8,
        page_size: sys::page_size() as u32,
        header_page,
        header_event,
        formats,
        ..TracingData::default()
    }))
}

pub(super) fn about(bench: &Bench<'_>, options: &StoreOptions) -> BTreeMap<Feature, Vec<u8>> {
    let machine = bench.host.machine();
    let mut all = BTreeMap::new();
    for (feature, text) in [
        (Feature::HOSTNAME, machine.name.as_str()),
        (Feature::OSRELEASE, &bench.release),
        (Feature::VERSION, &options.version),
        (Feature::ARCH, std::env::consts::ARCH),
        (Feature::CPUDESC, &machine.processor),
        (Feature::CPUID, &machine.processor_id),
    ] {
        if !text.is_empty() {
            all.insert(feature, features::string(text.as_bytes()));
        }
    }
    let cpus = [machine.n_cpus, bench.cpus.len() as u32];
    all.insert(Feature::NRCPUS, features::words(&cpus));
    all.insert(Feature::TOTAL_MEM, features::longs(&[machine.memory_kib]));
    // CLOCK_MONOTONIC counts nanoseconds.
    all.insert(Feature::CLOCKID, features::longs(&[1]));
    let command = options.command.iter().map(|word| word.as_bytes());
    all.insert(Feature::CMDLINE, features::strings(command));
    all
}
