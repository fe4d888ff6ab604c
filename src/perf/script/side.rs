//! The records that are no samples, as text.

use super::put;
use crate::record::{Lost, Map, MappedFile, Other, Record, SampleId, Switched};
use crate::units::{Pid, Tid, shown};
use std::io::Write;

/// Which records are printed besides samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shown(u8);

impl Shown {
    /// Names, forks and exits of tasks.
    pub const TASKS: Self = Self(1);
    /// Mappings.
    pub const MAPS: Self = Self(2);
    /// Loss.
    pub const LOST: Self = Self(4);
    /// Switches from one task to another.
    pub const SWITCHES: Self = Self(8);
    /// Namespaces of tasks.
    pub const NAMESPACES: Self = Self(16);
    /// What there is besides: of BPF programs, control groups, changed code, throttling.
    pub const OTHERS: Self = Self(32);

    /// All of these.
    pub const ALL: Self = Self(63);

    /// Both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether it is among them.
    #[must_use]
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// What all of these records have.
#[derive(Clone, Copy, Debug)]
pub(super) struct About {
    pub(super) id: SampleId,
    pub(super) shown: Shown,
    /// The thread whose name is shown.
    pub(super) tid: Option<Tid>,
    /// Of the task, where the record has no trailer.
    pub(super) task: Option<(Pid, Tid)>,
    name: &'static str,
    pub(super) json: &'static str,
}

pub(super) fn about(record: &Record<'_>) -> Option<About> {
    let (id, shown, task, name, json) = match record {
        Record::Comm(comm, id) => (id, Shown::TASKS, Some((comm.pid, comm.tid)), "COMM", "comm"),
        Record::Fork(task, id) => (id, Shown::TASKS, Some((task.pid, task.tid)), "FORK", "fork"),
        Record::Exit(task, id) => (id, Shown::TASKS, Some((task.pid, task.tid)), "EXIT", "exit"),
        Record::Map(map, id) => {
            let name = if map.more.is_some() { "MMAP2" } else { "MMAP" };
            (id, Shown::MAPS, Some((map.pid, map.tid)), name, "mmap")
        }
        Record::Lost(_, id) => (id, Shown::LOST, id.task, "LOST", "lost"),
        Record::LostSamples(_, id) => (id, Shown::LOST, id.task, "LOST_SAMPLES", "lost_samples"),
        Record::Other(other, id) => {
            let (shown, task, name, json) = about_other(other);
            (id, shown, task.or(id.task), name, json)
        }
        Record::Sample(_) | Record::Unknown { .. } => return None,
    };
    Some(About {
        id: *id,
        shown,
        tid: task.map(|(_, tid)| tid),
        task,
        name,
        json,
    })
}

type AboutOther = (Shown, Option<(Pid, Tid)>, &'static str, &'static str);

fn about_other(other: &Other<'_>) -> AboutOther {
    let rest = |name, json| (Shown::OTHERS, None, name, json);
    match other {
        Other::Throttle(true, _) => rest("THROTTLE", "throttle"),
        Other::Throttle(false, _) => rest("UNTHROTTLE", "unthrottle"),
        Other::Read(pid, tid, _) => (Shown::OTHERS, Some((*pid, *tid)), "READ", "read"),
        Other::Aux { .. } => rest("AUX", "aux"),
        Other::ItraceStart(pid, tid) => {
            let task = Some((*pid, *tid));
            (Shown::OTHERS, task, "ITRACE_START", "itrace_start")
        }
        Other::Switch(_) => (Shown::SWITCHES, None, "SWITCH", "switch"),
        Other::SwitchCpuWide(..) => (Shown::SWITCHES, None, "SWITCH_CPU_WIDE", "switch"),
        Other::Namespaces(pid, tid, _) => {
            let task = Some((*pid, *tid));
            (Shown::NAMESPACES, task, "NAMESPACES", "namespaces")
        }
        Other::Ksymbol { .. } => rest("KSYMBOL", "ksymbol"),
        Other::Bpf { .. } => rest("BPF_EVENT", "bpf_event"),
        Other::Cgroup(..) => rest("CGROUP", "cgroup"),
        Other::TextPoke { .. } => rest("TEXT_POKE", "text_poke"),
        Other::AuxOutputHardwareId(_) => rest("AUX_OUTPUT_HW_ID", "aux_output_hw_id"),
        Other::CallchainDeferred { .. } => rest("CALLCHAIN_DEFERRED", "callchain_deferred"),
    }
}

// perf_event__fprintf(), tools/perf/util/event.c.
pub(super) fn text(out: &mut Vec<u8>, record: &Record<'_>, about: &About) {
    out.extend_from_slice(b"PERF_RECORD_");
    out.extend_from_slice(about.name.as_bytes());
    match record {
        Record::Comm(comm, _) => {
            out.extend_from_slice(if comm.exec { b" exec: " } else { b": " });
            put::foreign(out, comm.name);
            let _to_memory = write!(out, ":{}/{}", comm.pid, comm.tid);
        }
        Record::Fork(task, _) | Record::Exit(task, _) => {
            let _to_memory = write!(
                out,
                "({}:{}):({}:{})",
                signed(task.pid.0),
                signed(task.tid.0),
                signed(task.parent_pid.0),
                signed(task.parent_tid.0)
            );
        }
        Record::Map(map, _) => text_of_map(out, map),
        Record::Lost(Lost { count, .. }, _) | Record::LostSamples(count, _) => {
            let _to_memory = write!(out, " lost {count}");
        }
        Record::Other(other, _) => text_of_other(out, other),
        Record::Sample(_) | Record::Unknown { .. } => {}
    }
    out.push(b'\n');
}

/// The same as a dump has it: there perf says of which event records were lost
/// (`machine__process_lost_event()`, `tools/perf/util/machine.c`).
pub(super) fn dumped(out: &mut Vec<u8>, record: &Record<'_>, about: &About) {
    let _to_memory = match record {
        Record::Lost(Lost { id, count }, _) => {
            writeln!(out, "PERF_RECORD_LOST: id:{id}: lost:{count}")
        }
        Record::LostSamples(count, id) => {
            let id = id.identifier.or(id.id).unwrap_or(u64::MAX);
            writeln!(
                out,
                "PERF_RECORD_LOST_SAMPLES: id:{id}: lost samples :{count}"
            )
        }
        _ => return text(out, record, about),
    };
}

pub(super) fn signed(id: u32) -> i32 {
    id.cast_signed()
}

// perf_event__fprintf_mmap() and perf_event__fprintf_mmap2().
fn text_of_map(out: &mut Vec<u8>, map: &Map<'_>) {
    let _to_memory = write!(
        out,
        " {}/{}: [{:#x}({:#x}) @ ",
        signed(map.pid.0),
        signed(map.tid.0),
        map.address,
        map.length
    );
    // `%#lx` has no 0x for a zero.
    let _to_memory = match map.offset {
        0 => write!(out, "0"),
        offset => write!(out, "{offset:#x}"),
    };
    let Some(more) = &map.more else {
        out.extend_from_slice(if map.is_data { b"]: r " } else { b"]: x " });
        put::foreign(out, map.name);
        return;
    };
    match &more.file {
        MappedFile::Inode {
            major,
            minor,
            inode,
            generation,
        } => {
            let _to_memory = write!(out, " {major:02x}:{minor:02x} {inode} {generation}");
        }
        MappedFile::BuildId(id) => {
            out.extend_from_slice(b" <");
            for byte in *id {
                put::pair(out, *byte);
            }
            out.push(b'>');
        }
    }
    out.extend_from_slice(b"]: ");
    for (bit, letter) in [(1, b'r'), (2, b'w'), (4, b'x')] {
        let is_set = more.protection & bit != 0;
        out.push(if is_set { letter } else { b'-' });
    }
    // MAP_SHARED.
    out.push(if more.flags & 1 != 0 { b's' } else { b'p' });
    out.push(b' ');
    put::foreign(out, map.name);
}

/// Names of namespaces by `*_NS_INDEX`.
pub(super) const NAMESPACES: [&str; 7] = ["net", "uts", "ipc", "pid", "user", "mnt", "cgroup"];

fn text_of_other(out: &mut Vec<u8>, other: &Other<'_>) {
    let _to_memory = match other {
        Other::Switch(switched) => write!(out, " {}", way(switched)),
        Other::SwitchCpuWide(switched, pid, tid) => write!(
            out,
            " {}  {} pid/tid: {:>5}/{:<5}",
            way(switched),
            if switched.out { "next" } else { "prev" },
            signed(pid.0),
            signed(tid.0)
        ),
        Other::Namespaces(pid, tid, namespaces) => {
            let count = namespaces.iter().count();
            let _to_memory = write!(out, " {pid}/{tid} - nr_namespaces: {count}\n\t\t[");
            for (place, (device, inode)) in namespaces.iter().enumerate() {
                let name = NAMESPACES.get(place).unwrap_or(&"unknown");
                let before = match place {
                    0 => "",
                    place if place % 4 == 0 => ", \n\t\t ",
                    _ => ", ",
                };
                let _to_memory = write!(out, "{before}{place}/{name}: {device}/{inode:#x}");
            }
            write!(out, "]")
        }
        Other::Ksymbol {
            address,
            length,
            kind,
            flags,
            name,
        } => write!(
            out,
            " addr {address:x} len {length} type {kind} flags {flags:#x} name {}",
            shown(&String::from_utf8_lossy(name))
        ),
        Other::Bpf {
            kind, flags, id, ..
        } => write!(out, " type {kind}, flags {flags}, id {id}"),
        Other::Cgroup(id, path) => {
            write!(
                out,
                " cgroup: {id} {}",
                shown(&String::from_utf8_lossy(path))
            )
        }
        Other::TextPoke { address, old, new } => write!(
            out,
            " addr {address:#x} old len {} new len {}",
            old.len(),
            new.len()
        ),
        Other::Throttle(_, throttle) => write!(out, " id {}", throttle.id),
        Other::Read(pid, tid, read) => {
            let value = read.iter().next().unwrap_or_default().value;
            write!(out, " {pid}/{tid}: {value}")
        }
        Other::Aux {
            offset,
            size,
            flags,
        } => write!(
            out,
            " offset: {offset:#x} size: {size:#x} flags: {flags:#x}"
        ),
        Other::ItraceStart(pid, tid) => write!(out, " pid: {pid} tid: {tid}"),
        Other::AuxOutputHardwareId(id) => write!(out, " hw_id: {id:#x}"),
        Other::CallchainDeferred { cookie, words } => {
            write!(out, " cookie {cookie:#x}, nr:{}", words.len() / 8)
        }
    };
}

// perf_event__fprintf_switch(): padded to one width, all but the last.
fn way(switched: &Switched) -> &'static str {
    match (switched.out, switched.preempted) {
        (false, _) => "IN         ",
        (true, false) => "OUT        ",
        (true, true) => "OUT preempt",
    }
}
