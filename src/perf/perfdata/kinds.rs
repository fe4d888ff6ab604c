//! The numbers of what is in a file or pipe.

/// Types of records that are the tool's own (`enum perf_user_event_type`,
/// `tools/lib/perf/include/perf/event.h`). The kernel's are below 64.
pub mod own {
    /// An attribute and its ids.
    pub const ATTR: u32 = 64;
    /// Of an old perf; ignored.
    pub const EVENT_TYPE: u32 = 65;
    /// The formats of tracepoints follow, outside of the record's own size.
    pub const TRACING_DATA: u32 = 66;
    /// A program's or library's build id.
    pub const BUILD_ID: u32 = 67;
    /// What comes behind the next of its kind is younger than all that came before this one.
    pub const FINISHED_ROUND: u32 = 68;
    /// Which CPU and task an id belongs to.
    pub const ID_INDEX: u32 = 69;
    /// Hardware traces.
    pub const AUXTRACE_INFO: u32 = 70;
    /// A piece of a hardware trace follows, outside of the record's own size.
    pub const AUXTRACE: u32 = 71;
    /// What went wrong with a hardware trace.
    pub const AUXTRACE_ERROR: u32 = 72;
    /// Tasks.
    pub const THREAD_MAP: u32 = 73;
    /// CPUs.
    pub const CPU_MAP: u32 = 74;
    /// Of `perf stat`.
    pub const STAT_CONFIG: u32 = 75;
    /// Of `perf stat`.
    pub const STAT: u32 = 76;
    /// Of `perf stat`.
    pub const STAT_ROUND: u32 = 77;
    /// The name, unit, scale or CPUs of an event.
    pub const EVENT_UPDATE: u32 = 78;
    /// How the time stamp counter's ticks become nanoseconds.
    pub const TIME_CONV: u32 = 79;
    /// A feature.
    pub const FEATURE: u32 = 80;
    /// Records, compressed by zstd, as long as the record is.
    pub const COMPRESSED: u32 = 81;
    /// All that was synthesized in front has been written.
    pub const FINISHED_INIT: u32 = 82;
    /// Records, compressed by zstd, with a length of their own.
    pub const COMPRESSED2: u32 = 83;
    /// The first that is not the kernel's.
    pub const FIRST: u32 = ATTR;
}

/// A feature of a file (`HEADER_*`, `tools/perf/util/header.h`), by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Feature(pub u32);

impl Feature {
    /// The formats of tracepoints: [`TracingData`](super::TracingData).
    pub const TRACING_DATA: Self = Self(1);
    /// Build ids, as records of type [`own::BUILD_ID`].
    pub const BUILD_ID: Self = Self(2);
    /// The machine's name.
    pub const HOSTNAME: Self = Self(3);
    /// The kernel's release.
    pub const OSRELEASE: Self = Self(4);
    /// The tool's version.
    pub const VERSION: Self = Self(5);
    /// The machine's architecture, as uname(2) has it.
    pub const ARCH: Self = Self(6);
    /// How many CPUs there are, and are online: two u32.
    pub const NRCPUS: Self = Self(7);
    /// What CPU it is, for people.
    pub const CPUDESC: Self = Self(8);
    /// What CPU it is, for programs.
    pub const CPUID: Self = Self(9);
    /// The memory of the machine in KiB: u64.
    pub const TOTAL_MEM: Self = Self(10);
    /// The command that recorded it.
    pub const CMDLINE: Self = Self(11);
    /// The attributes once more, with their names and ids.
    pub const EVENT_DESC: Self = Self(12);
    /// The time of the first sample and of the last: two u64.
    pub const SAMPLE_TIME: Self = Self(21);
    /// The resolution of the clock that was asked for, in nanoseconds: u64.
    pub const CLOCKID: Self = Self(23);
    /// Of a directory: which form of one, 1 where perf's threads have files of their own: u64.
    pub const DIR_FORMAT: Self = Self(24);
    /// What it is compressed by: five u32.
    pub const COMPRESSED: Self = Self(27);
    /// The events' clock beside the clock on the wall: the version (1) and the clock's number, two
    /// u32, and the time of both clocks at one moment, in nanoseconds, two u64.
    pub const CLOCK_DATA: Self = Self(29);
    /// None of perf's: what only a file of ours holds. It stands behind all that perf reads, where
    /// nothing points to, as programs of perf that copy features end in a segmentation fault at one
    /// that they do not know (`perf inject` 6.1 and 7.2); and never in a pipe.
    pub const BESIDES: Self = Self(u32::MAX);

    /// perf's name of it; `None` of one that is younger than 7.2.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        NAMES.get(usize::try_from(self.0).ok()?).copied()
    }
}

const NAMES: [&str; 35] = [
    "RESERVED",
    "TRACING_DATA",
    "BUILD_ID",
    "HOSTNAME",
    "OSRELEASE",
    "VERSION",
    "ARCH",
    "NRCPUS",
    "CPUDESC",
    "CPUID",
    "TOTAL_MEM",
    "CMDLINE",
    "EVENT_DESC",
    "CPU_TOPOLOGY",
    "NUMA_TOPOLOGY",
    "BRANCH_STACK",
    "PMU_MAPPINGS",
    "GROUP_DESC",
    "AUXTRACE",
    "STAT",
    "CACHE",
    "SAMPLE_TIME",
    "MEM_TOPOLOGY",
    "CLOCKID",
    "DIR_FORMAT",
    "BPF_PROG_INFO",
    "BPF_BTF",
    "COMPRESSED",
    "CPU_PMU_CAPS",
    "CLOCK_DATA",
    "HYBRID_TOPOLOGY",
    "PMU_CAPS",
    "CPU_DOMAIN_INFO",
    "E_MACHINE",
    "CLN_SIZE",
];
