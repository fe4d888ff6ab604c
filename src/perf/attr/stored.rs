//! `perf_event_attr` as files and pipes carry it: of any size that a kernel has had, every member
//! kept.

use super::{Layout, ReadFormat, SampleType};
use perf_event_open_sys::bindings;

/// The bits behind `read_format`, `disabled` first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AttrFlags(pub u64);

impl AttrFlags {
    /// Starts disabled.
    pub const DISABLED: Self = Self(1 << 0);
    /// What the task creates is followed.
    pub const INHERIT: Self = Self(1 << 1);
    /// Not in user mode.
    pub const EXCLUDE_USER: Self = Self(1 << 4);
    /// Not in kernel mode.
    pub const EXCLUDE_KERNEL: Self = Self(1 << 5);
    /// Tells of mappings of code.
    pub const MMAP: Self = Self(1 << 8);
    /// Tells of names.
    pub const COMM: Self = Self(1 << 9);
    /// `period_or_frequency` is a frequency.
    pub const FREQ: Self = Self(1 << 10);
    /// Starts at the next `execve(2)`.
    pub const ENABLE_ON_EXEC: Self = Self(1 << 12);
    /// Tells of forks and exits.
    pub const TASK: Self = Self(1 << 13);
    /// `wakeup` is a number of bytes.
    pub const WATERMARK: Self = Self(1 << 14);
    /// Tells of mappings of data.
    pub const MMAP_DATA: Self = Self(1 << 17);
    /// Records other than samples have a trailer.
    pub const SAMPLE_ID_ALL: Self = Self(1 << 18);
    /// Mappings come with device and inode.
    pub const MMAP2: Self = Self(1 << 23);
    /// A name that comes from an `execve(2)` says so.
    pub const COMM_EXEC: Self = Self(1 << 24);
    /// Its clock is `clockid`.
    pub const USE_CLOCKID: Self = Self(1 << 25);
    /// Tells of context switches.
    pub const CONTEXT_SWITCH: Self = Self(1 << 26);
    /// Its ring is written backward.
    pub const WRITE_BACKWARD: Self = Self(1 << 27);
    /// Tells of namespaces.
    pub const NAMESPACES: Self = Self(1 << 28);
    /// Mappings come with build ids.
    pub const BUILD_ID: Self = Self(1 << 34);

    /// Whether any of `other`'s bits is set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// The members of a `perf_event_attr`, in this machine's byte order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredAttr {
    /// `type`: a `PERF_TYPE_*`, or the number of a PMU.
    pub kind: u32,
    /// What of that.
    pub config: u64,
    /// `sample_period`, or `sample_freq` with [`AttrFlags::FREQ`].
    pub period_or_frequency: u64,
    /// The fields of a sample.
    pub sample_type: SampleType,
    /// What a counter says of itself.
    pub read_format: ReadFormat,
    /// The bits.
    pub flags: AttrFlags,
    /// `wakeup_events`, or `wakeup_watermark` with [`AttrFlags::WATERMARK`].
    pub wakeup: u32,
    /// `bp_type`.
    pub breakpoint_type: u32,
    /// `config1`, `bp_addr`, `kprobe_func`, `uprobe_path`.
    pub config1: u64,
    /// `config2`, `bp_len`, `kprobe_addr`, `probe_offset`.
    pub config2: u64,
    /// `branch_sample_type`.
    pub branch_sample_type: u64,
    /// `sample_regs_user`.
    pub user_registers: u64,
    /// `sample_stack_user`, in bytes.
    pub user_stack: u32,
    /// `clockid`.
    pub clock: i32,
    /// `sample_regs_intr`.
    pub interrupt_registers: u64,
    /// `aux_watermark`.
    pub aux_watermark: u32,
    /// `sample_max_stack`.
    pub max_stack: u16,
    /// `aux_sample_size`.
    pub aux_sample_size: u32,
    /// `aux_action`, or what stood in its place.
    pub aux_action: u32,
    /// `sig_data`.
    pub signal_data: u64,
    /// `config3`.
    pub config3: u64,
    /// What is behind these in attributes of kernels to come.
    pub rest: Vec<u8>,
}

/// Why bytes are no attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttrError {
    /// No kernel had one that short: `PERF_ATTR_SIZE_VER0` is 64.
    #[error("an attribute of {0} bytes, where the shortest ever has 64")]
    Short(usize),
    /// Its own size is not that of its bytes.
    #[error("an attribute says that it has {said} bytes, and there are {there}")]
    Size {
        /// The member `size`.
        said: u32,
        /// The number of bytes there are.
        there: usize,
    },
}

/// The size of the shortest attribute, `PERF_ATTR_SIZE_VER0`.
const SHORTEST: usize = 64;

/// A reader that gives zeros where an attribute of an older kernel has ended.
struct Members<'a> {
    rest: &'a [u8],
    is_foreign: bool,
}

impl Members<'_> {
    fn chunk<const N: usize>(&mut self) -> [u8; N] {
        let (head, rest) = self.rest.split_at(self.rest.len().min(N));
        self.rest = rest;
        let mut chunk = [0; N];
        if head.len() == N {
            chunk.copy_from_slice(head);
        }
        if self.is_foreign {
            chunk.reverse();
        }
        chunk
    }

    fn u64(&mut self) -> u64 {
        u64::from_ne_bytes(self.chunk())
    }

    fn u32(&mut self) -> u32 {
        u32::from_ne_bytes(self.chunk())
    }
}

impl From<&bindings::perf_event_attr> for StoredAttr {
    fn from(raw: &bindings::perf_event_attr) -> Self {
        Self {
            kind: raw.type_,
            config: raw.config,
            period_or_frequency: raw.sample_period,
            sample_type: SampleType(raw.sample_type),
            read_format: ReadFormat(raw.read_format),
            flags: AttrFlags(raw._bitfield_1.get(0, 64)),
            wakeup: raw.wakeup_events,
            user_registers: raw.sample_regs_user,
            user_stack: raw.sample_stack_user,
            clock: raw.clockid,
            max_stack: raw.sample_max_stack,
            ..Self::default()
        }
    }
}

impl StoredAttr {
    /// Reads one, all of whose bytes are given; `is_foreign` where they are of the other byte
    /// order.
    ///
    /// # Errors
    /// [`AttrError`].
    pub fn from_bytes(bytes: &[u8], is_foreign: bool) -> Result<Self, AttrError> {
        if bytes.len() < SHORTEST {
            return Err(AttrError::Short(bytes.len()));
        }
        let mut members = Members {
            rest: bytes,
            is_foreign,
        };
        let kind = members.u32();
        let said = members.u32();
        // The first attributes had no size.
        if said != 0 && usize::try_from(said) != Ok(bytes.len()) {
            let there = bytes.len();
            return Err(AttrError::Size { said, there });
        }
        let mut attr = Self {
            kind,
            config: members.u64(),
            period_or_frequency: members.u64(),
            sample_type: SampleType(members.u64()),
            read_format: ReadFormat(members.u64()),
            flags: AttrFlags(members.u64()),
            wakeup: members.u32(),
            breakpoint_type: members.u32(),
            config1: members.u64(),
            config2: members.u64(),
            branch_sample_type: members.u64(),
            user_registers: members.u64(),
            user_stack: members.u32(),
            clock: members.u32().cast_signed(),
            interrupt_registers: members.u64(),
            aux_watermark: members.u32(),
            ..Self::default()
        };
        attr.max_stack = u16::from_ne_bytes(members.chunk());
        let _reserved: [u8; 2] = members.chunk();
        attr.aux_sample_size = members.u32();
        attr.aux_action = members.u32();
        attr.signal_data = members.u64();
        attr.config3 = members.u64();
        attr.rest = members.rest.to_vec();
        if is_foreign {
            // Bit fields are given out from the other end of the word as well
            // (perf_event__attr_swap(), tools/perf/util/session.c).
            attr.flags = AttrFlags(attr.flags.0.reverse_bits());
        }
        Ok(attr)
    }

    /// Its bytes, cut to `size` or filled up with zeros; `size` becomes its member of that name.
    #[must_use]
    pub fn to_bytes(&self, size: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut words = |all: &[u64]| {
            for word in all {
                bytes.extend_from_slice(&word.to_ne_bytes());
            }
        };
        let pair = |low: u32, high: u32| {
            let mut word = [0; 8];
            word[..4].copy_from_slice(&low.to_ne_bytes());
            word[4..].copy_from_slice(&high.to_ne_bytes());
            u64::from_ne_bytes(word)
        };
        words(&[
            pair(self.kind, size),
            self.config,
            self.period_or_frequency,
            self.sample_type.0,
            self.read_format.0,
            self.flags.0,
            pair(self.wakeup, self.breakpoint_type),
            self.config1,
            self.config2,
            self.branch_sample_type,
            self.user_registers,
            pair(self.user_stack, self.clock.cast_unsigned()),
            self.interrupt_registers,
        ]);
        bytes.extend_from_slice(&self.aux_watermark.to_ne_bytes());
        bytes.extend_from_slice(&self.max_stack.to_ne_bytes());
        bytes.extend_from_slice(&[0; 2]);
        bytes.extend_from_slice(&self.aux_sample_size.to_ne_bytes());
        bytes.extend_from_slice(&self.aux_action.to_ne_bytes());
        bytes.extend_from_slice(&self.signal_data.to_ne_bytes());
        bytes.extend_from_slice(&self.config3.to_ne_bytes());
        bytes.extend_from_slice(&self.rest);
        bytes.resize(size as usize, 0);
        bytes
    }

    /// The layout of the records of its event.
    #[must_use]
    pub fn layout(&self) -> Layout {
        let branches = |bit: u32| self.branch_sample_type & u64::from(bit) != 0;
        Layout {
            sample_type: self.sample_type,
            read_format: self.read_format,
            user_registers: self.user_registers.count_ones(),
            interrupt_registers: self.interrupt_registers.count_ones(),
            branch_hardware_index: branches(bindings::PERF_SAMPLE_BRANCH_HW_INDEX),
            branch_counters: branches(bindings::PERF_SAMPLE_BRANCH_COUNTERS),
            sample_id_all: self.flags.has(AttrFlags::SAMPLE_ID_ALL),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attr() -> StoredAttr {
        StoredAttr {
            kind: 2,
            config: 365,
            period_or_frequency: 1,
            sample_type: SampleType::IDENTIFIER.and(SampleType::REGS_USER),
            flags: AttrFlags(AttrFlags::DISABLED.0 | AttrFlags::SAMPLE_ID_ALL.0),
            user_registers: 0b101,
            clock: -1,
            max_stack: 127,
            ..StoredAttr::default()
        }
    }

    #[test]
    fn what_is_written_is_read_whatever_the_size() {
        for size in [64, 72, 112, 128, 136, 144, 160] {
            let bytes = attr().to_bytes(size);
            assert_eq!(bytes.len(), size as usize);
            let read = StoredAttr::from_bytes(&bytes, false).unwrap();
            assert_eq!((read.kind, read.config, read.flags), (2, 365, attr().flags));
            let registers = if size > 80 { 2 } else { 0 };
            assert_eq!(read.layout().user_registers, registers);
        }
        let read = StoredAttr::from_bytes(&attr().to_bytes(136), false);
        assert_eq!(read, Ok(attr()));
    }

    #[test]
    fn an_attribute_of_a_machine_of_the_other_byte_order_says_the_same() {
        let mut bytes = Vec::new();
        let all = attr().to_bytes(128);
        let widths = [
            4, 4, 8, 8, 8, 8, 8, 4, 4, 8, 8, 8, 8, 4, 4, 8, 4, 2, 2, 4, 4, 8,
        ];
        let mut rest = all.as_slice();
        for width in widths {
            let (head, tail) = rest.split_at(width);
            bytes.extend(head.iter().rev());
            rest = tail;
        }
        assert!(rest.is_empty());
        let flags = attr().flags.0.reverse_bits().to_ne_bytes();
        bytes[40..48].copy_from_slice(&flags.iter().rev().copied().collect::<Vec<_>>());
        assert_eq!(StoredAttr::from_bytes(&bytes, true), Ok(attr()));
    }

    #[test]
    fn what_is_too_short_or_lies_about_its_size_is_refused() {
        let bytes = attr().to_bytes(128);
        assert_eq!(
            StoredAttr::from_bytes(&bytes[..63], false),
            Err(AttrError::Short(63))
        );
        let lie = AttrError::Size {
            said: 128,
            there: 120,
        };
        assert_eq!(StoredAttr::from_bytes(&bytes[..120], false), Err(lie));
    }
}
