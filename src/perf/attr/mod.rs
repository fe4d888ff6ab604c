//! `perf_event_attr` as a value, and the layout of the records that it asks the kernel for.
//!
//! One attribute gives both: what [`Attr::raw`] puts into the kernel is what [`Layout`] expects to
//! come out, so that the two cannot drift.

mod chain;
mod source;
mod stored;
#[cfg(test)]
mod tests;

pub use chain::Chain;
pub use source::{Access, Bits, BitsError, Modes, Source};
pub use stored::{AttrError, AttrFlags, StoredAttr};

use perf_event_open_sys::bindings;

/// Bits of `perf_event_attr.sample_type`: which fields a sample has
/// (`enum perf_event_sample_format`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleType(pub u64);

impl SampleType {
    /// Instruction pointer.
    pub const IP: Self = Self(1 << 0);
    /// Process and thread id.
    pub const TID: Self = Self(1 << 1);
    /// Time stamp.
    pub const TIME: Self = Self(1 << 2);
    /// Data address.
    pub const ADDR: Self = Self(1 << 3);
    /// The counter's value (`read_format`).
    pub const READ: Self = Self(1 << 4);
    /// Call chain.
    pub const CALLCHAIN: Self = Self(1 << 5);
    /// Event id.
    pub const ID: Self = Self(1 << 6);
    /// CPU number.
    pub const CPU: Self = Self(1 << 7);
    /// Sampling period.
    pub const PERIOD: Self = Self(1 << 8);
    /// Id of the inherited event.
    pub const STREAM_ID: Self = Self(1 << 9);
    /// The raw tracepoint record; `PERF_SAMPLE_TP_RECORD` when it was young.
    pub const RAW: Self = Self(1 << 10);
    /// Branch stack.
    pub const BRANCH_STACK: Self = Self(1 << 11);
    /// User registers.
    pub const REGS_USER: Self = Self(1 << 12);
    /// A copy of the user stack.
    pub const STACK_USER: Self = Self(1 << 13);
    /// Weight.
    pub const WEIGHT: Self = Self(1 << 14);
    /// Memory data source.
    pub const DATA_SRC: Self = Self(1 << 15);
    /// Event id at a place that does not depend on the other bits.
    pub const IDENTIFIER: Self = Self(1 << 16);
    /// Transaction flags.
    pub const TRANSACTION: Self = Self(1 << 17);
    /// Registers at the interrupt.
    pub const REGS_INTR: Self = Self(1 << 18);
    /// Physical address.
    pub const PHYS_ADDR: Self = Self(1 << 19);
    /// AUX area data.
    pub const AUX: Self = Self(1 << 20);
    /// Control group id.
    pub const CGROUP: Self = Self(1 << 21);
    /// Page size of the data address.
    pub const DATA_PAGE_SIZE: Self = Self(1 << 22);
    /// Page size of the code address.
    pub const CODE_PAGE_SIZE: Self = Self(1 << 23);
    /// Weight as a structure.
    pub const WEIGHT_STRUCT: Self = Self(1 << 24);
    /// Every bit that this build knows how to step over.
    pub const KNOWN: Self = Self((1 << 25) - 1);

    /// Both sets of bits.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether any of `other`'s bits is set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// The fields that every record of ours carries. The CPU is known from the ring.
pub const SAMPLE_TYPE: SampleType = SampleType::IDENTIFIER
    .and(SampleType::TID)
    .and(SampleType::TIME)
    .and(SampleType::RAW);

/// Bits of `perf_event_attr.read_format`: what a counter says of itself
/// (`enum perf_event_read_format`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadFormat(pub u64);

impl ReadFormat {
    /// Time enabled.
    pub const TOTAL_TIME_ENABLED: Self = Self(1 << 0);
    /// Time running.
    pub const TOTAL_TIME_RUNNING: Self = Self(1 << 1);
    /// The event's id.
    pub const ID: Self = Self(1 << 2);
    /// All members of the group.
    pub const GROUP: Self = Self(1 << 3);
    /// Lost records; Linux 6.0.
    pub const LOST: Self = Self(1 << 4);

    /// Whether any of `other`'s bits is set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// Which occurrences of an event have a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// None: it is only counted.
    Never,
    /// Each time that it has counted so far; 1 for every occurrence.
    Period(u64),
    /// So many a second, as far as the kernel gets it right.
    Frequency(u64),
}

impl Sampling {
    /// Whether a record stands for more than one occurrence, so that most have none of their own.
    #[must_use]
    pub fn skips(self) -> bool {
        matches!(self, Self::Period(2..) | Self::Frequency(_))
    }
}

/// Which mappings of code an event tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maps {
    /// None.
    No,
    /// Place and file name.
    Names,
    /// Also device, inode and protection.
    Files,
    /// The same, and of data as well as of code.
    All,
}

/// An event as it is asked of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attr {
    /// What it measures.
    pub source: Source,
    /// When it leaves a record.
    pub sampling: Sampling,
    /// The fields of its samples.
    pub sample_type: SampleType,
    /// User registers to copy, as the architecture's bit mask (`asm/perf_regs.h`); only with
    /// [`SampleType::REGS_USER`].
    pub user_registers: u64,
    /// What its counter says when read.
    pub read_format: ReadFormat,
    /// Whether what the task creates is followed as well.
    pub inherit: bool,
    /// Whether it starts at the next successful `execve(2)`; otherwise it starts disabled.
    pub enable_on_exec: bool,
    /// Whether it reports names, execs, forks and exits.
    pub side_band: bool,
    /// Whether it reports mappings of code.
    pub maps: Maps,
    /// Whether it reports namespaces.
    pub namespaces: bool,
    /// Whether it reports when a task comes onto a CPU and leaves it.
    pub switches: bool,
    /// Whether occurrences in kernel mode are left out. More than this a user without further
    /// rights cannot ask for.
    pub exclude_kernel: bool,
    /// What else is left out, and how near to what happened the instruction pointer of a sample is.
    pub modes: Modes,
    /// How many bytes of records wake the reader; 0 leaves it to the kernel (half the ring).
    pub wakeup_bytes: u32,
    /// Whether its records go from the end of the ring to the start, so that the newest of a ring
    /// that is overwritten can be found.
    pub write_backward: bool,
    /// How many frames a call chain has at most; 0 for `kernel.perf_event_max_stack`, beyond which
    /// the kernel says `EOVERFLOW`.
    pub max_stack: u16,
    /// What call chains are made of; only with the fields of [`Chain::sample_type`].
    pub chain: Chain,
}

impl Attr {
    /// An event that only holds its tracepoint, and never counts.
    #[must_use]
    pub fn holding(tracepoint: u16) -> Self {
        Self {
            source: Source::Tracepoint(tracepoint),
            sampling: Sampling::Period(1),
            sample_type: SampleType::IDENTIFIER,
            user_registers: 0,
            read_format: ReadFormat(0),
            inherit: false,
            enable_on_exec: false,
            side_band: false,
            maps: Maps::No,
            namespaces: false,
            switches: false,
            exclude_kernel: true,
            modes: Modes::default(),
            wakeup_bytes: 0,
            write_backward: false,
            max_stack: 0,
            chain: Chain::default(),
        }
    }

    /// An event that is counted and leaves no record: for a task and all that it comes to create,
    /// from the `execve(2)` of each on.
    #[must_use]
    pub fn counting(source: Source) -> Self {
        Self {
            source,
            sampling: Sampling::Never,
            sample_type: SampleType::default(),
            inherit: true,
            enable_on_exec: true,
            exclude_kernel: false,
            ..Self::holding(0)
        }
    }

    /// An event of which each occurrence has a record, with the fields of [`SAMPLE_TYPE`]: for a
    /// task and all that it comes to create, from the `execve(2)` of each on.
    #[must_use]
    pub fn recording(source: Source) -> Self {
        Self {
            sampling: Sampling::Period(1),
            sample_type: SAMPLE_TYPE,
            ..Self::counting(source)
        }
    }

    /// The kernel's form. The clock is `CLOCK_MONOTONIC`, and all records carry their sample id.
    #[must_use]
    pub fn raw(&self) -> bindings::perf_event_attr {
        let mut raw = bindings::perf_event_attr {
            size: size_of::<bindings::perf_event_attr>() as u32,
            sample_type: self.sample_type.0,
            read_format: self.read_format.0,
            sample_regs_user: self.user_registers,
            clockid: libc::CLOCK_MONOTONIC,
            sample_max_stack: self.max_stack,
            sample_stack_user: self.chain.user_stack,
            ..Default::default()
        };
        self.source.write(&mut raw);
        self.modes.write(&mut raw);
        match self.sampling {
            Sampling::Never => {}
            Sampling::Period(period) => raw.sample_period = period,
            Sampling::Frequency(frequency) => {
                raw.set_freq(1);
                raw.sample_freq = frequency;
            }
        }
        // One that only programs write to needs no start.
        raw.set_disabled((self.source != Source::BPF_OUTPUT).into());
        raw.set_inherit(self.inherit.into());
        raw.set_enable_on_exec(self.enable_on_exec.into());
        raw.set_exclude_kernel((self.exclude_kernel || self.modes.exclude_kernel).into());
        raw.set_use_clockid(1);
        raw.set_sample_id_all(1);
        if self.side_band {
            raw.set_comm(1);
            raw.set_comm_exec(1);
            raw.set_task(1);
        }
        raw.set_mmap((self.maps != Maps::No).into());
        raw.set_mmap2(matches!(self.maps, Maps::Files | Maps::All).into());
        raw.set_mmap_data((self.maps == Maps::All).into());
        raw.set_namespaces(self.namespaces.into());
        raw.set_context_switch(self.switches.into());
        raw.set_exclude_callchain_kernel(self.chain.user_only.into());
        // The copy of the stack tells.
        raw.set_exclude_callchain_user((self.chain.user_stack > 0).into());
        raw.set_write_backward(self.write_backward.into());
        if self.wakeup_bytes > 0 {
            raw.set_watermark(1);
            raw.wakeup_watermark = self.wakeup_bytes;
        }
        raw
    }

    /// As files and pipes carry it: what the kernel was given.
    #[must_use]
    pub fn stored(&self) -> StoredAttr {
        let mut stored = StoredAttr::from(&self.raw());
        self.source.store(&mut stored);
        stored
    }

    /// The layout of the records it leads to.
    #[must_use]
    pub fn layout(&self) -> Layout {
        Layout {
            sample_type: self.sample_type,
            read_format: self.read_format,
            user_registers: self.user_registers.count_ones(),
            interrupt_registers: 0,
            branch_hardware_index: false,
            branch_counters: false,
            sample_id_all: true,
        }
    }
}

/// All that must be known of an attribute to read its records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The fields of a sample.
    pub sample_type: SampleType,
    /// The form of the value in a sample with [`SampleType::READ`].
    pub read_format: ReadFormat,
    /// How many user registers a sample carries.
    pub user_registers: u32,
    /// How many interrupt registers a sample carries.
    pub interrupt_registers: u32,
    /// Whether a branch stack starts with its hardware index (`PERF_SAMPLE_BRANCH_HW_INDEX`).
    pub branch_hardware_index: bool,
    /// Whether a branch stack ends with counters (`PERF_SAMPLE_BRANCH_COUNTERS`).
    pub branch_counters: bool,
    /// Whether records other than samples carry the sample id trailer.
    pub sample_id_all: bool,
}

impl Layout {
    /// Where a sample has its time, in bytes from the start of the record: fixed by the bits before
    /// it.
    #[must_use]
    pub fn sample_time_offset(&self) -> Option<usize> {
        let kind = self.sample_type;
        let words = 1
            + usize::from(kind.has(SampleType::IDENTIFIER))
            + usize::from(kind.has(SampleType::IP))
            + usize::from(kind.has(SampleType::TID));
        kind.has(SampleType::TIME).then_some(words * 8)
    }

    /// Where the other records have theirs, in bytes back from the end: fixed by the bits behind
    /// it.
    #[must_use]
    pub fn trailer_time_offset(&self) -> Option<usize> {
        let kind = self.sample_type;
        let words = 1
            + usize::from(kind.has(SampleType::ID))
            + usize::from(kind.has(SampleType::STREAM_ID))
            + usize::from(kind.has(SampleType::CPU))
            + usize::from(kind.has(SampleType::IDENTIFIER));
        (self.sample_id_all && kind.has(SampleType::TIME)).then_some(words * 8)
    }
}
