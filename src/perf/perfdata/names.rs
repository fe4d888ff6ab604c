//! Names of events that nothing in the input names, as perf spells them (`evsel__name()`,
//! `tools/perf/util/evsel.c`).

use super::TracingData;
use crate::attr::StoredAttr;
use std::fmt::Write as _;

const HARDWARE: u32 = 0;
const SOFTWARE: u32 = 1;
const TRACEPOINT: u32 = 2;
const CACHE: u32 = 3;
const RAW: u32 = 4;
const BREAKPOINT: u32 = 5;

const HARDWARE_NAMES: [&str; 10] = [
    "cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "branches",
    "branch-misses",
    "bus-cycles",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "ref-cycles",
];

const SOFTWARE_NAMES: [&str; 12] = [
    "cpu-clock",
    "task-clock",
    "page-faults",
    "context-switches",
    "cpu-migrations",
    "minor-faults",
    "major-faults",
    "alignment-faults",
    "emulation-faults",
    "dummy",
    "bpf-output",
    "cgroup-switches",
];

const CACHES: [&str; 7] = [
    "L1-dcache",
    "L1-icache",
    "LLC",
    "dTLB",
    "iTLB",
    "branch",
    "node",
];

const CACHE_ACCESSES: [[&str; 2]; 3] = [
    ["loads", "load-misses"],
    ["stores", "store-misses"],
    ["prefetches", "prefetch-misses"],
];

/// The name of an event; `None` of a tracepoint whose format is not there.
pub(super) fn derived(attr: &StoredAttr, tracing: Option<&TracingData>) -> Option<String> {
    let place = usize::try_from(attr.config).unwrap_or(usize::MAX);
    let mut name = match attr.kind {
        TRACEPOINT => return tracing?.format_of(attr.config).map(full_name),
        HARDWARE => HARDWARE_NAMES
            .get(place)
            .copied()
            .unwrap_or("unknown-hardware")
            .to_owned(),
        SOFTWARE => SOFTWARE_NAMES
            .get(place)
            .copied()
            .unwrap_or("unknown-software")
            .to_owned(),
        CACHE => cache(attr.config),
        RAW => format!("raw {:#x}", attr.config),
        BREAKPOINT => breakpoint(attr),
        other => return Some(format!("unknown attr type: {other}")),
    };
    modifiers(attr, &mut name);
    Some(name)
}

fn full_name((system, text): (&str, &str)) -> String {
    format!("{system}:{}", line(text, "name: ").unwrap_or_default())
}

/// The rest of the line of a format that begins with this word.
fn line<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    text.lines()
        .find_map(|line| line.strip_prefix(word))
        .map(str::trim)
}

impl TracingData {
    /// The format of the tracepoint with this id on the machine that it comes from: its system and
    /// its text.
    #[must_use]
    pub fn format_of(&self, id: u64) -> Option<(&str, &str)> {
        let is_it = |text: &str| line(text, "ID: ").and_then(|id| id.parse().ok()) == Some(id);
        let (system, text) = self.formats.iter().find(|(_, text)| is_it(text))?;
        Some((system, text))
    }
}

// __evsel__hw_cache_name(): the kind of cache, what is done, and whether it fails, a byte each.
fn cache(config: u64) -> String {
    let [kind, access, is_miss, ..] = config.to_le_bytes();
    let names = CACHES.get(usize::from(kind)).zip(
        CACHE_ACCESSES
            .get(usize::from(access))
            .and_then(|names| names.get(usize::from(is_miss))),
    );
    names.map_or_else(
        || "unknown-ext-hardware-cache-type".to_owned(),
        |(kind, access)| format!("{kind}-{access}"),
    )
}

fn breakpoint(attr: &StoredAttr) -> String {
    let mut name = format!("mem:{:#x}:", attr.config1);
    for (bit, letter) in [(1, 'r'), (2, 'w'), (4, 'x')] {
        if attr.breakpoint_type & bit != 0 {
            name.push(letter);
        }
    }
    name
}

// evsel__add_modifiers(): where something is excluded, what is not.
fn modifiers(attr: &StoredAttr, name: &mut String) {
    let bit = |place: u32| attr.flags.0.checked_shr(place).unwrap_or(0) & 1 != 0;
    let (user, kernel, hypervisor) = (bit(4), bit(5), bit(6));
    let precise = attr.flags.0.checked_shr(15).unwrap_or(0) & 3;
    let mut word = String::new();
    let mut is_guest_default = false;
    if user || kernel || hypervisor {
        for (is_excluded, letter) in [(kernel, 'k'), (user, 'u'), (hypervisor, 'h')] {
            if !is_excluded {
                word.push(letter);
            }
        }
        is_guest_default = true;
    }
    if precise > 0 {
        (0..precise).for_each(|_| word.push('p'));
        is_guest_default = true;
    }
    let (host, guest) = (bit(19), bit(20));
    if host || guest == is_guest_default {
        for (is_excluded, letter) in [(host, 'H'), (guest, 'G')] {
            if !is_excluded {
                word.push(letter);
            }
        }
    }
    if !word.is_empty() {
        let _infallible = write!(name, ":{word}");
    }
}
