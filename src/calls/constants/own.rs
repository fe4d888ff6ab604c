//! Values that are more than a choice of names.

use super::tables::{
    CLOCK_NAMES, ETHER_TYPES, FUTEX_WAKE_COMPARISONS, FUTEX_WAKE_OPS, IOCTL_NAMES, IOPRIO_CLASSES,
    MOUNT_FLAG_BITS, PERSONALITY_PARTS, QUOTA_OPERATIONS, QUOTA_TYPES,
};
use super::{Constants, write_constants, write_signal};
use crate::errno::errno_name;
use crate::files::Lookup;
use crate::numerals::{decimal, hex_or_zero, unsigned};
use crate::text::Values;

/// Which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Own {
    /// A device number as user space packs it (`new_decode_dev()`).
    Device,
    /// A clock: one of the system, or that of a process or descriptor (`posix-timers_types.h`).
    Clock,
    /// An I/O priority: class, hint and level.
    IoPriority,
    /// An execution domain; 0xffffffff asks and sets none.
    Personality,
    /// What `FUTEX_WAKE_OP` does and compares, as `FUTEX_OP()` packs it.
    WakeOperation,
    /// The flags of `mount`, below the magic number that old programs set.
    Mount,
    /// A command of `quotactl` and the kind of its quota, as `QCMD()` packs them.
    Quota,
    /// A request of `ioctl`.
    Ioctl,
    /// A protocol of a packet socket, in the order of the network's bytes.
    EtherType,
    /// A signal of which the kernel takes the whole register.
    WideSignal,
    /// The number of an error.
    Error,
}

impl Own {
    pub(super) fn write(self, out: &mut String, word: u64, values: &mut impl Values) {
        match self {
            Self::Device => device(out, word),
            Self::Clock => clock(out, word as u32 as i32, values),
            Self::IoPriority => io_priority(out, word),
            Self::Personality if word == 0xffff_ffff => hex_or_zero(out, word),
            Self::Personality => write_constants(out, &PERSONALITY_PARTS, word, values),
            Self::WakeOperation => wake_operation(out, word),
            Self::Mount => mount(out, word, values),
            Self::Quota => quota(out, word),
            Self::Ioctl => ioctl(out, word),
            Self::EtherType => {
                out.push_str("htons(");
                name_or_hex(out, &ETHER_TYPES, u64::from((word as u16).swap_bytes()));
                out.push(')');
            }
            Self::WideSignal => match i32::try_from(word) {
                Ok(number) => write_signal(out, number),
                Err(_) => unsigned(out, word),
            },
            Self::Error => match errno_name(word as u32 as i32) {
                Some(name) => out.push_str(name),
                None => decimal(out, word as i64),
            },
        }
    }
}

fn name_or_hex(out: &mut String, names: &Constants, value: u64) {
    match names.find(value) {
        Some(name) => out.push_str(name),
        None => hex_or_zero(out, value),
    }
}

fn device(out: &mut String, word: u64) {
    out.push_str("makedev(");
    hex_or_zero(out, (word >> 8) & 0xfff);
    out.push_str(", ");
    hex_or_zero(out, (word & 0xff) | ((word >> 12) & 0xf_ff00));
    out.push(')');
}

/// A negative clock is the inverted id of a task, or a descriptor, above three bits that say what
/// it measures.
fn clock(out: &mut String, clock: i32, values: &mut impl Values) {
    const DESCRIPTOR: i32 = 3;
    const OF_THREAD: i32 = 4;
    if clock >= 0 {
        return name_or_hex(out, &CLOCK_NAMES, clock as u64);
    }
    let id = !(clock >> 3);
    if clock & (OF_THREAD | DESCRIPTOR) == DESCRIPTOR {
        out.push_str("FD_TO_CLOCKID(");
        values.descriptor(id, Lookup::Untracked, out);
        return out.push(')');
    }
    let is_thread = clock & OF_THREAD != 0;
    out.push_str(if is_thread {
        "MAKE_THREAD_CPUCLOCK("
    } else {
        "MAKE_PROCESS_CPUCLOCK("
    });
    match id {
        // The caller itself.
        0 => out.push('0'),
        _ => values.task(id, out),
    }
    out.push_str(", ");
    match clock & 3 {
        0 => out.push_str("CPUCLOCK_PROF"),
        1 => out.push_str("CPUCLOCK_VIRT"),
        2 => out.push_str("CPUCLOCK_SCHED"),
        other => decimal(out, other.into()),
    }
    out.push(')');
}

fn io_priority(out: &mut String, word: u64) {
    out.push_str("IOPRIO_PRIO_VALUE(");
    name_or_hex(out, &IOPRIO_CLASSES, (word & 0xffff_ffff) >> 13);
    out.push_str(", ");
    decimal(out, (word & 0x1fff) as i64);
    out.push(')');
}

fn wake_operation(out: &mut String, word: u64) {
    const SHIFT_OPERAND: u64 = 8;
    let operation = (word >> 28) & 15;
    if operation & SHIFT_OPERAND != 0 {
        out.push_str("FUTEX_OP_OPARG_SHIFT<<28|");
    }
    name_or_hex(out, &FUTEX_WAKE_OPS, operation & !SHIFT_OPERAND);
    out.push_str("<<28|");
    hex_or_zero(out, (word >> 12) & 0xfff);
    out.push_str("<<12|");
    name_or_hex(out, &FUTEX_WAKE_COMPARISONS, (word >> 24) & 15);
    out.push_str("<<24|");
    hex_or_zero(out, word & 0xfff);
}

fn mount(out: &mut String, word: u64, values: &mut impl Values) {
    const MAGIC: u64 = 0xc0ed_0000;
    const MAGIC_MASK: u64 = 0xffff_0000;
    let is_old = word & MAGIC_MASK == MAGIC;
    let flags = if is_old { word & !MAGIC_MASK } else { word };
    if is_old {
        out.push_str("MS_MGC_VAL");
        if flags == 0 {
            return;
        }
        out.push('|');
    }
    write_constants(out, &MOUNT_FLAG_BITS, flags, values);
}

fn quota(out: &mut String, word: u64) {
    out.push_str("QCMD(");
    name_or_hex(out, &QUOTA_OPERATIONS, (word & 0xffff_ffff) >> 8);
    out.push_str(", ");
    name_or_hex(out, &QUOTA_TYPES, word & 0xff);
    out.push(')');
}

/// The name of a request, or direction, type, number and size, of which most are made (`_IOC()`).
fn ioctl(out: &mut String, word: u64) {
    if let Some(name) = IOCTL_NAMES.find(word) {
        return out.push_str(name);
    }
    out.push_str("_IOC(");
    out.push_str(match (word >> 30) & 3 {
        0 => "_IOC_NONE",
        1 => "_IOC_WRITE",
        2 => "_IOC_READ",
        _ => "_IOC_READ|_IOC_WRITE",
    });
    for field in [word >> 8 & 0xff, word & 0xff, word >> 16 & 0x3fff] {
        out.push_str(", ");
        hex_or_zero(out, field);
    }
    out.push(')');
}
