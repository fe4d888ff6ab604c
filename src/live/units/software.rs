//! Software events.

/// An event that the kernel counts in its own code, and that has a record for each time, or a
/// clock, which is sampled; in some mode of the processor or in all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SoftwareEvent {
    /// What it counts.
    pub kind: SoftwareKind,
    /// The only mode in which it counts, if it is not all of them.
    pub mode: Option<Mode>,
}

/// A mode of the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// That of programs.
    User,
    /// That of the kernel.
    Kernel,
}

/// What a software event counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SoftwareKind {
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
    /// Reads perf's name or its short one, with or without `software:` in front, and with perf's
    /// letters of modes behind it.
    ///
    /// ```
    /// use perf_live::units::{Mode, SoftwareEvent, SoftwareKind};
    /// assert_eq!(SoftwareEvent::parse("cs"), Some(SoftwareKind::ContextSwitches.into()));
    /// let of_programs = SoftwareEvent::parse("software:faults:u").unwrap();
    /// assert_eq!((of_programs.mode, of_programs.name().as_str()), (Some(Mode::User), "software:page-faults:u"));
    /// ```
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        let (word, letters) = Self::split(word);
        let kind = SoftwareKind::parse(word)?;
        let has = |letter| letters.unwrap_or("uk").contains(letter);
        let is_known =
            letters.is_none_or(|it| it.chars().all(|letter| matches!(letter, 'u' | 'k' | 'h')));
        let mode = match (has('u'), has('k')) {
            (true, true) => None,
            (true, false) => Some(Mode::User),
            (false, true) => Some(Mode::Kernel),
            // A hypervisor runs none of the kernel's code.
            (false, false) => return None,
        };
        is_known.then_some(Self { kind, mode })
    }

    /// A word as what may be the name of a software event, and the letters behind it.
    #[must_use]
    pub fn split(word: &str) -> (&str, Option<&str>) {
        let word = word.strip_prefix(Self::SYSTEM).unwrap_or(word);
        match word.split_once(':') {
            Some((name, letters)) => (name, Some(letters)),
            None => (word, None),
        }
    }

    const SYSTEM: &str = "software:";

    /// As it stands in a trace.
    #[must_use]
    pub fn name(self) -> String {
        let letter = match self.mode {
            None => "",
            Some(Mode::User) => ":u",
            Some(Mode::Kernel) => ":k",
        };
        format!("{}{}{letter}", Self::SYSTEM, self.kind.word())
    }
}

impl From<SoftwareKind> for SoftwareEvent {
    fn from(kind: SoftwareKind) -> Self {
        Self { kind, mode: None }
    }
}

impl SoftwareKind {
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

    /// Reads perf's name or its short one.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
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

    /// perf's name.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::PageFaults => "page-faults",
            Self::MinorFaults => "minor-faults",
            Self::MajorFaults => "major-faults",
            Self::ContextSwitches => "context-switches",
            Self::CpuMigrations => "cpu-migrations",
            Self::CpuClock => "cpu-clock",
            Self::TaskClock => "task-clock",
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

    /// Whether it goes on all the time, so that it is sampled or counted, and never fires by
    /// itself.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_say_the_mode_and_both_of_them_say_nothing() {
        let name = |word| SoftwareEvent::parse(word).map(SoftwareEvent::name);
        for (word, expected) in [
            ("faults", Some("software:page-faults")),
            ("faults:u", Some("software:page-faults:u")),
            ("software:page-faults:k", Some("software:page-faults:k")),
            ("cpu-clock:uk", Some("software:cpu-clock")),
            ("cpu-clock:ku", Some("software:cpu-clock")),
            ("cpu-clock:kh", Some("software:cpu-clock:k")),
            ("cpu-clock:h", None),
            ("cpu-clock:", None),
            ("cpu-clock:p", None),
            ("cpu-clock:u:u", None),
            ("sched:u", None),
        ] {
            assert_eq!(name(word).as_deref(), expected, "{word}");
        }
    }
}
