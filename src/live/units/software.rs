//! Software events.

use super::modifiers;
use perf_records::attr::{Modes, Source};

/// An event that the kernel counts in its own code, and that has a record for each time, or a
/// clock, which is sampled; in some mode of the processor or in all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoftwareEvent {
    /// What it counts.
    pub kind: SoftwareKind,
    /// The modes in which it counts: of programs, of the kernel, or both.
    pub modes: Modes,
}

/// What a software event counts, with its number (`enum perf_sw_ids`,
/// `include/uapi/linux/perf_event.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum SoftwareKind {
    /// Nanoseconds while a task is on a CPU.
    CpuClock = 0,
    /// The same by another clock.
    TaskClock = 1,
    /// A page that was not mapped.
    PageFaults = 2,
    /// A task was taken off its CPU for another one.
    ContextSwitches = 3,
    /// A task was moved to another CPU.
    CpuMigrations = 4,
    /// A page fault whose page was in memory already.
    MinorFaults = 5,
    /// A page fault whose page had to be read from a disk.
    MajorFaults = 6,
    /// The kernel mended an access that was not aligned.
    AlignmentFaults = 7,
    /// The kernel carried out an instruction in the processor's place.
    EmulationFaults = 8,
    /// Nothing: it never happens.
    Dummy = 9,
    /// What BPF programs write.
    BpfOutput = 10,
    /// A task was taken off its CPU for one of another control group.
    CgroupSwitches = 11,
}

impl SoftwareEvent {
    /// Reads perf's name or its short one, with or without `software:` in front, and with perf's
    /// letters of modes behind it.
    ///
    /// ```
    /// use perf_live::units::{SoftwareEvent, SoftwareKind};
    /// assert_eq!(SoftwareEvent::parse("cs"), Some(SoftwareKind::ContextSwitches.into()));
    /// let of_programs = SoftwareEvent::parse("software:faults:u").unwrap();
    /// assert!(of_programs.modes.exclude_kernel && !of_programs.modes.exclude_user);
    /// assert_eq!(of_programs.name(), "software:page-faults:u");
    /// ```
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        let (word, letters) = Self::split(word);
        let kind = SoftwareKind::parse(word).filter(|kind| SoftwareKind::TRACED.contains(kind))?;
        let mut modes = Modes::default();
        if let Some(letters) = letters {
            modifiers::read(letters, &mut modes).ok()?;
            let is_said = !letters.is_empty() && modes.precise == 0;
            match (modes.exclude_user, modes.exclude_kernel) {
                (false, false) if is_said => modes = Modes::default(),
                // A hypervisor runs none of the kernel's code.
                (true, true) => return None,
                _ if is_said => modes.exclude_hypervisor = true,
                _ => return None,
            }
        }
        Some(Self { kind, modes })
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
        let letter = match (self.modes.exclude_user, self.modes.exclude_kernel) {
            (false, true) => ":u",
            (true, false) => ":k",
            _ => "",
        };
        format!("{}{}{letter}", Self::SYSTEM, self.kind.word())
    }
}

impl From<SoftwareKind> for SoftwareEvent {
    fn from(kind: SoftwareKind) -> Self {
        let modes = Modes::default();
        Self { kind, modes }
    }
}

impl SoftwareKind {
    /// All of them, by their numbers.
    pub const ALL: [Self; 12] = [
        Self::CpuClock,
        Self::TaskClock,
        Self::PageFaults,
        Self::ContextSwitches,
        Self::CpuMigrations,
        Self::MinorFaults,
        Self::MajorFaults,
        Self::AlignmentFaults,
        Self::EmulationFaults,
        Self::Dummy,
        Self::BpfOutput,
        Self::CgroupSwitches,
    ];

    /// Those that a trace may show.
    pub const TRACED: [Self; 7] = [
        Self::PageFaults,
        Self::MinorFaults,
        Self::MajorFaults,
        Self::ContextSwitches,
        Self::CpuMigrations,
        Self::CpuClock,
        Self::TaskClock,
    ];

    /// perf's names (`event_symbols_sw`, `tools/perf/util/parse-events.c`), and the short ones
    /// behind them.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let all = Self::ALL.into_iter();
        all.flat_map(|kind| [Some(kind.word()), kind.short()])
            .flatten()
    }

    /// Reads perf's name or its short one.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        let is_it = |kind: &Self| kind.word() == word || kind.short() == Some(word);
        Self::ALL.into_iter().find(is_it)
    }

    /// The one that a source is; `None` for another source, or a number of a younger kernel.
    #[must_use]
    pub fn of(source: Source) -> Option<Self> {
        let is_it = |kind: &Self| kind.source() == source;
        Self::ALL.into_iter().find(is_it)
    }

    /// What is asked of the kernel for it.
    #[must_use]
    pub fn source(self) -> Source {
        Source::Software(self as u32)
    }

    fn short(self) -> Option<&'static str> {
        match self {
            Self::PageFaults => Some("faults"),
            Self::ContextSwitches => Some("cs"),
            Self::CpuMigrations => Some("migrations"),
            _ => None,
        }
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
            Self::AlignmentFaults => "alignment-faults",
            Self::EmulationFaults => "emulation-faults",
            Self::Dummy => "dummy",
            Self::BpfOutput => "bpf-output",
            Self::CgroupSwitches => "cgroup-switches",
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
            ("dummy", None),
        ] {
            assert_eq!(name(word).as_deref(), expected, "{word}");
        }
    }

    #[test]
    fn each_is_found_by_its_names_and_by_its_number() {
        for (number, kind) in (0..).zip(SoftwareKind::ALL) {
            assert_eq!(kind.source(), Source::Software(number));
            assert_eq!(SoftwareKind::of(kind.source()), Some(kind));
            assert_eq!(SoftwareKind::parse(kind.word()), Some(kind));
        }
        assert_eq!(SoftwareKind::names().count(), SoftwareKind::ALL.len() + 3);
        assert_eq!(SoftwareKind::of(Source::Software(99)), None);
    }
}
