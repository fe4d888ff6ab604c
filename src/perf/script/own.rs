//! Records of a tool's own, in words (`perf_event__fprintf_*()`, `tools/perf/util/event.c`).

use super::put;
use crate::perfdata::{Feature, Item, own};
use crate::record::HEADER_SIZE;
use crate::units::shown;
use std::io::Write;

const KERNEL: [&str; 23] = [
    "UNKNOWN",
    "MMAP",
    "LOST",
    "COMM",
    "EXIT",
    "THROTTLE",
    "UNTHROTTLE",
    "FORK",
    "READ",
    "SAMPLE",
    "MMAP2",
    "AUX",
    "ITRACE_START",
    "LOST_SAMPLES",
    "SWITCH",
    "SWITCH_CPU_WIDE",
    "NAMESPACES",
    "KSYMBOL",
    "BPF_EVENT",
    "CGROUP",
    "TEXT_POKE",
    "AUX_OUTPUT_HW_ID",
    "CALLCHAIN_DEFERRED",
];

const OWN: [&str; 20] = [
    "ATTR",
    "EVENT_TYPE",
    "TRACING_DATA",
    "BUILD_ID",
    "FINISHED_ROUND",
    "ID_INDEX",
    "AUXTRACE_INFO",
    "AUXTRACE",
    "AUXTRACE_ERROR",
    "THREAD_MAP",
    "CPU_MAP",
    "STAT_CONFIG",
    "STAT",
    "STAT_ROUND",
    "EVENT_UPDATE",
    "TIME_CONV",
    "FEATURE",
    "COMPRESSED",
    "FINISHED_INIT",
    "COMPRESSED2",
];

fn known(kind: u32) -> Option<&'static str> {
    let place = |first: u32| usize::try_from(kind.checked_sub(first)?).ok();
    match place(own::FIRST) {
        Some(place) => OWN.get(place).copied(),
        None => KERNEL.get(place(0)?).copied().filter(|_| kind > 0),
    }
}

/// perf's name of a type of records.
pub(super) fn name(kind: u32) -> &'static str {
    known(kind).unwrap_or("UNKNOWN")
}

pub(super) fn is_known(kind: u32) -> bool {
    known(kind).is_some()
}

/// Words of a record behind its header.
struct Words<'a>(&'a [u8]);

impl Words<'_> {
    fn u64(&self, at: usize) -> u64 {
        let word = self.0.get(at..).and_then(<[u8]>::first_chunk);
        word.copied().map_or(0, u64::from_ne_bytes)
    }

    fn u32(&self, at: usize) -> u32 {
        let word = self.0.get(at..).and_then(<[u8]>::first_chunk);
        word.copied().map_or(0, u32::from_ne_bytes)
    }

    fn text(&self, at: usize) -> String {
        let rest = self.0.get(at..).unwrap_or_default();
        let text = rest.split(|byte| *byte == 0).next().unwrap_or_default();
        shown(&String::from_utf8_lossy(text)).into_owned()
    }

    fn behind(&self, at: usize) -> Self {
        Words(self.0.get(at..).unwrap_or_default())
    }
}

/// Appends the line of a record of a tool's own, and the lines below it.
pub(super) fn text(out: &mut Vec<u8>, item: &Item<'_>) {
    let header = item.header();
    let body = Words(item.bytes.get(HEADER_SIZE..).unwrap_or_default());
    let _to_memory = write!(out, "PERF_RECORD_{}", name(header.kind));
    let _to_memory = match header.kind {
        own::ATTR => {
            let size = match body.u32(4) {
                0 => 64,
                size => size as usize,
            };
            let ids = body.0.get(size..).unwrap_or_default();
            let ids = ids.chunks_exact(8).map(|id| Words(id).u64(0).to_string());
            let ids = ids.collect::<Vec<_>>().join(" ");
            write!(
                out,
                ": type: {} config: {:#x} ids: {ids}",
                body.u32(0),
                body.u64(8)
            )
        }
        own::TRACING_DATA | own::AUXTRACE => {
            write!(out, " size: {} bytes behind it", item.trailing.len())
        }
        own::BUILD_ID => build_id(out, &body, header.misc),
        own::ID_INDEX => ids(out, &body),
        own::THREAD_MAP => {
            let _to_memory = write!(out, " nr: {}", body.u64(0));
            for thread in body.behind(8).0.chunks_exact(24) {
                let _to_memory = write!(out, " thread: {}", Words(thread).u64(0).cast_signed());
            }
            Ok(())
        }
        own::EVENT_UPDATE => {
            let _to_memory = write!(out, "\n... id:    {}\n", body.u64(8));
            match body.u64(0) {
                0 => write!(out, "... unit:  {}", body.text(16)),
                1 => write!(out, "... scale: {}", f64::from_bits(body.u64(16))),
                2 => write!(out, "... name:  {}", body.text(16)),
                3 => write!(out, "... cpus"),
                other => write!(out, "... unknown type: {other}"),
            }
        }
        own::FEATURE => {
            let feature = Feature(u32::try_from(body.u64(0)).unwrap_or(u32::MAX));
            let length = body.behind(8).0.len();
            let name = feature.name().unwrap_or("of no name here");
            write!(out, ": {} {name}, {length} bytes", feature.0)
        }
        own::COMPRESSED | own::COMPRESSED2 => write!(out, ": {} bytes", body.0.len()),
        own::TIME_CONV => write!(
            out,
            ": shift {} multiplier {} zero {}",
            body.u64(0),
            body.u64(8),
            body.u64(16)
        ),
        kind if !is_known(kind) => write!(out, ": of type {kind}, {} bytes", body.0.len()),
        _ => Ok(()),
    };
    out.push(b'\n');
}

fn build_id(out: &mut Vec<u8>, body: &Words<'_>, misc: u16) -> std::io::Result<()> {
    /// `PERF_RECORD_MISC_BUILD_ID_SIZE`: the byte behind the 20 of the id says how many they are.
    const HAS_SIZE: u16 = 1 << 15;
    let size = match body.0.get(24) {
        Some(size) if misc & HAS_SIZE != 0 => usize::from(*size).min(20),
        _ => 20,
    };
    write!(out, ": {} ", body.u32(0).cast_signed())?;
    for byte in body.behind(4).0.iter().take(size) {
        put::pair(out, *byte);
    }
    write!(out, " {}", body.text(28))
}

fn ids(out: &mut Vec<u8>, body: &Words<'_>) -> std::io::Result<()> {
    let count = body.u64(0);
    write!(out, " nr: {count}")?;
    let entries = body.behind(8).0.chunks_exact(32);
    for (entry, _) in entries.map(Words).zip(0..count) {
        write!(
            out,
            "\n ... id: {}  idx: {}  cpu: {}  tid: {}",
            entry.u64(0),
            entry.u64(8),
            entry.u64(16).cast_signed(),
            entry.u64(24).cast_signed()
        )?;
    }
    Ok(())
}
