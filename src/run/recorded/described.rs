//! Makes what stands before a run's records: its events, their formats, the machine.

use super::store::{StoreError, StoreOptions, origin};
use crate::run::Bench;
use perf_live::events::{EventSet, Opened, Origin};
use perf_live::host::{HostError, KernelCode, Module};
use perf_live::sys;
use perf_records::attr::Source;
use perf_records::perfdata::{EventDesc, Feature, Prologue, TracingData, features, synthesized};
use perf_records::units::{Pid, Tid, TracepointName};
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;

/// What each file of a session begins with.
#[derive(Clone, Debug)]
pub struct Preface {
    pub(in crate::run) prologue: Prologue,
    /// The kernel's code, and its modules.
    pub(in crate::run) kernel: Option<KernelCode>,
    pub(in crate::run) modules: Vec<Module>,
    /// The side-band event, to which records of what was there before are attributed.
    pub(in crate::run) side_band: Option<synthesized::Origin>,
    pub(in crate::run) n_requests: usize,
}

impl Preface {
    /// Describes the events and the machine.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn new(
        options: &StoreOptions,
        events: &EventSet,
        bench: &Bench<'_>,
    ) -> Result<Self, StoreError> {
        let opened = events.opened()?;
        let mut side_band = opened
            .iter()
            .filter(|event| event.origin == Origin::SideBand);
        let nobody = (Pid(0), Tid(0));
        Ok(Self {
            prologue: Prologue {
                events: described(&opened),
                tracing: tracing(&opened, bench)?,
                features: about(bench, options),
                compression: options.compression,
            },
            kernel: bench.host.kernel_code(),
            modules: bench.host.modules(),
            side_band: side_band.next().map(|event| origin(event, nobody, 0)),
            n_requests: events.n_requests(),
        })
    }
}

/// Orders the events in the file: the requests, then the side-band, last the records of BPF
/// programs.
fn place(origin: Origin) -> (u8, usize) {
    match origin {
        Origin::Request(place) => (0, place),
        Origin::SideBand => (1, 0),
        Origin::Memory => (2, 0),
    }
}

fn described(opened: &[Opened<'_>]) -> Vec<EventDesc> {
    let mut events = BTreeMap::new();
    for event in opened {
        let entry = events.entry(place(event.origin));
        let desc = entry.or_insert_with(|| EventDesc {
            attr: event.attr.stored(),
            ids: Vec::new(),
            name: event.shown.unwrap_or(event.name).to_owned(),
        });
        desc.ids.push(event.id);
    }
    events.into_values().collect()
}

fn tracing(opened: &[Opened<'_>], bench: &Bench<'_>) -> Result<Option<TracingData>, HostError> {
    let is_tracepoint = |event: &&Opened<'_>| matches!(event.attr.source, Source::Tracepoint(_));
    let names: BTreeMap<_, _> = opened
        .iter()
        .filter(is_tracepoint)
        .filter_map(|event| Some((TracepointName::parse(event.name)?, event)))
        .collect();
    if names.is_empty() {
        return Ok(None);
    }
    let (header_page, header_event) = bench.host.tracing_headers()?;
    let mut formats = Vec::new();
    for (name, event) in names {
        let text = bench.format_text(event, &name)?;
        formats.push((name.system().to_owned(), text));
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

/// What time it is by the events' clock and by the clock on the wall.
fn clock_data() -> Vec<u8> {
    let events = sys::monotonic_now().0;
    let wall = events.saturating_add_signed(sys::wall_clock_offset());
    features::clock_data(libc::CLOCK_MONOTONIC as u32, wall, events)
}

fn about(bench: &Bench<'_>, options: &StoreOptions) -> BTreeMap<Feature, Vec<u8>> {
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
    all.insert(Feature::CLOCK_DATA, clock_data());
    let command = options.command.iter().map(|word| word.as_bytes());
    all.insert(Feature::CMDLINE, features::strings(command));
    all
}
