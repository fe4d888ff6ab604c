//! What `perf_event_open(2)` is given: `struct perf_event_attr` (`linux/perf_event.h`), as far as
//! its flags.

use super::pen::Pen;
use super::site::Site;
use crate::constants::{Constants, tables};
use crate::text::Values;

/// `PERF_ATTR_SIZE_VER0`, which also 0 stands for.
const SMALLEST: u32 = 64;

/// The flags, from the lowest bit on; a gap is one that is told otherwise.
const FLAGS: [&str; 40] = [
    "disabled",
    "inherit",
    "pinned",
    "exclusive",
    "exclude_user",
    "exclude_kernel",
    "exclude_hv",
    "exclude_idle",
    "mmap",
    "comm",
    "freq",
    "inherit_stat",
    "enable_on_exec",
    "task",
    "watermark",
    PRECISE,
    "",
    "mmap_data",
    "sample_id_all",
    "exclude_host",
    "exclude_guest",
    "exclude_callchain_kernel",
    "exclude_callchain_user",
    "mmap2",
    "comm_exec",
    "use_clockid",
    "context_switch",
    "write_backward",
    "namespaces",
    "ksymbol",
    "bpf_event",
    "aux_output",
    "cgroup",
    "text_poke",
    "build_id",
    "inherit_thread",
    "remove_on_exec",
    "sigtrap",
    "defer_callchain",
    "defer_output",
];

/// A number of two bits.
const PRECISE: &str = "precise_ip";

const FREQUENCY: u64 = 1 << 10;

/// An event. The size that the kernel writes where it refuses the program's (`E2BIG`) is not told:
/// nothing is read behind a call that failed.
pub(super) fn attributes<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let bytes = site.given()?;
    let size = bytes.u32(4)?;
    if (1..SMALLEST).contains(&size) {
        return None;
    }
    let kind = bytes.u32(0)?;
    pen.text("{type=");
    pen.constants(&tables::PERF_TYPES, kind.into());
    pen.text(", size=");
    pen.constants(&tables::PERF_SIZES, size.into());
    pen.text(", config=");
    config(pen, kind, bytes.u64(8)?);
    let flags = bytes.u64(40)?;
    let is_frequency = flags & FREQUENCY != 0;
    pen.text(if is_frequency {
        ", sample_freq="
    } else {
        ", sample_period="
    });
    pen.number(bytes.u64(16)?);
    pen.text(", sample_type=");
    pen.constants(&tables::PERF_SAMPLES, bytes.u64(24)?);
    pen.text(", read_format=");
    pen.constants(&tables::PERF_FORMATS, bytes.u64(32)?);
    for (bit, name) in FLAGS.iter().enumerate() {
        match *name {
            "" => {}
            PRECISE => {
                pen.text(", precise_ip=");
                pen.number(flags >> bit & 3);
            }
            name if flags >> bit & 1 != 0 => {
                pen.text(", ");
                pen.text(name);
                pen.text("=1");
            }
            _ => {}
        }
    }
    let reserved = flags >> FLAGS.len();
    if reserved != 0 {
        pen.text(", __reserved_1=");
        pen.hex(reserved);
    }
    pen.text(", ...}");
    Some(())
}

/// What is counted, by the kind of event.
fn config<V: Values>(pen: &mut Pen<'_, V>, kind: u32, config: u64) {
    const HARDWARE: u32 = 0;
    const SOFTWARE: u32 = 1;
    const TRACEPOINT: u32 = 2;
    const CACHE: u32 = 3;
    match kind {
        HARDWARE => {
            shifted(pen, config >> 32, 32);
            pen.constants(&tables::PERF_HARDWARE, config & 0xffff_ffff);
        }
        SOFTWARE => pen.constants(&tables::PERF_SOFTWARE, config),
        TRACEPOINT => pen.number(config),
        CACHE => {
            const PARTS: [(u32, &Constants); 3] = [
                (16, &tables::PERF_CACHE_RESULTS),
                (8, &tables::PERF_CACHE_OPERATIONS),
                (0, &tables::PERF_CACHES),
            ];
            shifted(pen, config >> 32, 32);
            shifted(pen, config >> 24 & 0xff, 24);
            for (shift, names) in PARTS {
                pen.constants(names, config >> shift & 0xff);
                if shift != 0 {
                    pen.text(&format!("<<{shift}|"));
                }
            }
        }
        _ => pen.hex(config),
    }
}

/// Bits that are of a processor's part, where there are some.
fn shifted<V: Values>(pen: &mut Pen<'_, V>, bits: u64, shift: u32) {
    if bits != 0 {
        pen.hex(bits);
        pen.text(&format!("<<{shift}|"));
    }
}
