//! The records that only readers of files ask for: of the machine, of its programs, of the events
//! themselves.

use super::side_band::padded;
use super::{Cursor, Layout, ReadValues, RecordError, kind};
use crate::units::{Nanos, Pid, Tid};

/// What a record says that is neither a sample, nor of a task, a mapping or a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Other<'a> {
    /// `PERF_RECORD_THROTTLE`, perf_log_throttle(): an event came too often and stands still. With
    /// `false`, it goes on.
    Throttle(bool, Throttle),
    /// `PERF_RECORD_READ`, perf_event_read_event(): the counter of a task that ended.
    Read(Pid, Tid, ReadValues<'a>),
    /// `PERF_RECORD_AUX`, perf_event_aux_event(): a piece of a hardware trace is there.
    Aux {
        /// Where it begins, in bytes since the start.
        offset: u64,
        /// Its length in bytes.
        size: u64,
        /// `PERF_AUX_FLAG_*`.
        flags: u64,
    },
    /// `PERF_RECORD_ITRACE_START`, perf_log_itrace_start().
    ItraceStart(Pid, Tid),
    /// `PERF_RECORD_SWITCH`, perf_event_switch_output(): the task of the record comes onto the CPU,
    /// or leaves it.
    Switch(Switched),
    /// `PERF_RECORD_SWITCH_CPU_WIDE`: the same, with the task that was or will be there.
    SwitchCpuWide(Switched, Pid, Tid),
    /// `PERF_RECORD_NAMESPACES`, perf_event_namespaces_output(): of a task, in the order of
    /// `*_NS_INDEX`.
    Namespaces(Pid, Tid, Namespaces<'a>),
    /// `PERF_RECORD_KSYMBOL`, perf_event_ksymbol_output(): code came into the kernel, or left it.
    Ksymbol {
        /// The address of the code.
        address: u64,
        /// Its length in bytes.
        length: u32,
        /// `PERF_RECORD_KSYMBOL_TYPE_*`: 1 is BPF, 2 out of line.
        kind: u16,
        /// `PERF_RECORD_KSYMBOL_FLAGS_*`: 1 where it left.
        flags: u16,
        /// Its name, up to its NUL.
        name: &'a [u8],
    },
    /// `PERF_RECORD_BPF_EVENT`, perf_event_bpf_output().
    Bpf {
        /// `PERF_BPF_EVENT_*`: 1 loaded, 2 unloaded.
        kind: u16,
        /// None are defined.
        flags: u16,
        /// The program's id.
        id: u32,
        /// The program's tag.
        tag: [u8; 8],
    },
    /// `PERF_RECORD_CGROUP`, perf_event_cgroup_output(): a control group has this path.
    Cgroup(u64, &'a [u8]),
    /// `PERF_RECORD_TEXT_POKE`, perf_event_text_poke_output(): the kernel changed its own code.
    TextPoke {
        /// The address that was changed.
        address: u64,
        /// What stood there.
        old: &'a [u8],
        /// What stands there now.
        new: &'a [u8],
    },
    /// `PERF_RECORD_AUX_OUTPUT_HW_ID`, perf_report_aux_output_id().
    AuxOutputHardwareId(u64),
    /// `PERF_RECORD_CALLCHAIN_DEFERRED`, perf_event_callchain_deferred(): the user's part of call
    /// chains that were taken in the kernel.
    CallchainDeferred {
        /// What stands in those chains.
        cookie: u64,
        /// The chain's words, native endian.
        words: &'a [u8],
    },
}

/// `PERF_RECORD_THROTTLE` and `PERF_RECORD_UNTHROTTLE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Throttle {
    /// The time of the record.
    pub time: Nanos,
    /// The event.
    pub id: u64,
    /// The inherited event.
    pub stream_id: u64,
}

/// Which way a task went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switched {
    /// Whether it left the CPU (`PERF_RECORD_MISC_SWITCH_OUT`).
    pub out: bool,
    /// Whether it would have stayed (`PERF_RECORD_MISC_SWITCH_OUT_PREEMPT`).
    pub preempted: bool,
}

/// Pairs of device and inode, by `*_NS_INDEX`: net, uts, ipc, pid, user, mnt, cgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Namespaces<'a> {
    words: &'a [u8],
}

impl Namespaces<'_> {
    /// Device and inode of each.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        let (pairs, _) = self.words.as_chunks::<16>();
        pairs.iter().map(|pair| {
            let [device, inode] = pair.as_chunks::<8>().0 else {
                return (0, 0);
            };
            (u64::from_ne_bytes(*device), u64::from_ne_bytes(*inode))
        })
    }
}

/// `PERF_RECORD_MISC_SWITCH_OUT` and `PERF_RECORD_MISC_SWITCH_OUT_PREEMPT`.
const SWITCH_OUT: u16 = 1 << 13;
const SWITCH_OUT_PREEMPT: u16 = 1 << 14;

/// Reads the body of a record of `kind`, whose trailer has been taken off; `None` for a kind that
/// is not here.
pub(super) fn other<'a>(
    cursor: &mut Cursor<'a>,
    kind: u32,
    misc: u16,
    layout: &Layout,
) -> Result<Option<Other<'a>>, RecordError> {
    let switched = Switched {
        out: misc & SWITCH_OUT != 0,
        preempted: misc & SWITCH_OUT_PREEMPT != 0,
    };
    Ok(Some(match kind {
        kind::THROTTLE | kind::UNTHROTTLE => {
            let throttle = Throttle {
                time: Nanos(cursor.u64("time")?),
                id: cursor.u64("id")?,
                stream_id: cursor.u64("stream_id")?,
            };
            Other::Throttle(kind == kind::THROTTLE, throttle)
        }
        kind::READ => {
            let (pid, tid) = task(cursor)?;
            Other::Read(pid, tid, ReadValues::read(cursor, layout.read_format)?)
        }
        kind::AUX => Other::Aux {
            offset: cursor.u64("aux_offset")?,
            size: cursor.u64("aux_size")?,
            flags: cursor.u64("flags")?,
        },
        kind::ITRACE_START => {
            let (pid, tid) = task(cursor)?;
            Other::ItraceStart(pid, tid)
        }
        kind::SWITCH => Other::Switch(switched),
        kind::SWITCH_CPU_WIDE => {
            let (pid, tid) = task(cursor)?;
            Other::SwitchCpuWide(switched, pid, tid)
        }
        kind::NAMESPACES => {
            let (pid, tid) = task(cursor)?;
            let count = cursor.u64("nr_namespaces")?;
            let words = cursor.words(count.saturating_mul(2), "link_info")?;
            Other::Namespaces(pid, tid, Namespaces { words })
        }
        kind::KSYMBOL => Other::Ksymbol {
            address: cursor.u64("addr")?,
            length: cursor.u32("len")?,
            kind: cursor.u16("ksym_type")?,
            flags: cursor.u16("flags")?,
            name: padded(cursor),
        },
        kind::BPF_EVENT => Other::Bpf {
            kind: cursor.u16("type")?,
            flags: cursor.u16("flags")?,
            id: cursor.u32("id")?,
            tag: cursor.u64("tag")?.to_ne_bytes(),
        },
        kind::CGROUP => Other::Cgroup(cursor.u64("id")?, padded(cursor)),
        kind::TEXT_POKE => {
            let address = cursor.u64("addr")?;
            let (old, new) = (cursor.u16("old_len")?, cursor.u16("new_len")?);
            Other::TextPoke {
                address,
                old: cursor.take(old.into(), "old bytes")?,
                new: cursor.take(new.into(), "new bytes")?,
            }
        }
        kind::AUX_OUTPUT_HW_ID => Other::AuxOutputHardwareId(cursor.u64("hw_id")?),
        kind::CALLCHAIN_DEFERRED => {
            let cookie = cursor.u64("cookie")?;
            let count = cursor.u64("nr")?;
            let words = cursor.words(count, "ips")?;
            Other::CallchainDeferred { cookie, words }
        }
        _ => return Ok(None),
    }))
}

fn task(cursor: &mut Cursor<'_>) -> Result<(Pid, Tid), RecordError> {
    Ok((Pid(cursor.u32("pid")?), Tid(cursor.u32("tid")?)))
}
