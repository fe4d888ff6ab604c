//! Software events.

/// An event that the kernel counts in its own code, and that has a record for each time, or a clock, which is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SoftwareEvent {
    /// A page that was not mapped.
    PageFaults,
    /// The same, where it was in memory already.
    MinorFaults,
    /// The same, where it had to be read from a disk.
    MajorFaults,
    /// A task was taken off its CPU for another one.
    ContextSwitches,
    /// A task was moved to another CPU.
    CpuMigrations,
    /// Nanoseconds while a task is on a CPU.
    CpuClock,
    /// The same by another clock.
    TaskClock,
}

/// How often an event is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// Each time that it has counted so far: so many occurrences, or nanoseconds of a clock.
    Period(u64),
    /// So many samples a second, as far as the kernel gets it right.
    Frequency(u64),
}

impl SoftwareEvent {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::PageFaults,
        Self::MinorFaults,
        Self::MajorFaults,
        Self::ContextSwitches,
        Self::CpuMigrations,
        Self::CpuClock,
        Self::TaskClock,
    ];

    /// Reads perf's name or its short one, with or without `software:` in front.
    ///
    /// ```
    /// use trace_harness::units::SoftwareEvent;
    /// assert_eq!(SoftwareEvent::parse("cs"), Some(SoftwareEvent::ContextSwitches));
    /// assert_eq!(SoftwareEvent::parse("software:faults").map(SoftwareEvent::name), Some("software:page-faults"));
    /// ```
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        let word = word.strip_prefix("software:").unwrap_or(word);
        Some(match word {
            "page-faults" | "faults" => Self::PageFaults,
            "minor-faults" => Self::MinorFaults,
            "major-faults" => Self::MajorFaults,
            "context-switches" | "cs" => Self::ContextSwitches,
            "cpu-migrations" | "migrations" => Self::CpuMigrations,
            "cpu-clock" => Self::CpuClock,
            "task-clock" => Self::TaskClock,
            _ => return None,
        })
    }

    /// As it stands in a trace.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::PageFaults => "software:page-faults",
            Self::MinorFaults => "software:minor-faults",
            Self::MajorFaults => "software:major-faults",
            Self::ContextSwitches => "software:context-switches",
            Self::CpuMigrations => "software:cpu-migrations",
            Self::CpuClock => "software:cpu-clock",
            Self::TaskClock => "software:task-clock",
        }
    }

    /// Its number (`enum perf_sw_ids`, `include/uapi/linux/perf_event.h`).
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            Self::CpuClock => 0,
            Self::TaskClock => 1,
            Self::PageFaults => 2,
            Self::ContextSwitches => 3,
            Self::CpuMigrations => 4,
            Self::MinorFaults => 5,
            Self::MajorFaults => 6,
        }
    }

    /// Whether it goes on all the time, so that it is sampled or counted, and never fires by itself.
    #[must_use]
    pub fn is_clock(self) -> bool {
        matches!(self, Self::CpuClock | Self::TaskClock)
    }

    /// Whether each has an address that was to be read, written or executed.
    #[must_use]
    pub fn is_fault(self) -> bool {
        matches!(
            self,
            Self::PageFaults | Self::MinorFaults | Self::MajorFaults
        )
    }
}
