//! What a run may use, and what it used.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// What can be limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Limit {
    /// The time on the wall.
    Timeout,
    /// The time on CPUs, of all processes together.
    Cpu,
    /// Memory, of all processes together.
    Memory,
    /// Processes and threads at a time.
    Processes,
    /// Open files of a process.
    OpenFiles,
    /// The size of a file.
    FileSize,
    /// What is written to standard output and standard error together.
    Output,
}

impl Limit {
    /// All of them, in the order of a report.
    pub const ALL: [Self; 7] = [
        Self::Timeout,
        Self::Cpu,
        Self::Memory,
        Self::Processes,
        Self::OpenFiles,
        Self::FileSize,
        Self::Output,
    ];

    /// Its word in scenarios and in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::Processes => "processes",
            Self::OpenFiles => "open_files",
            Self::FileSize => "file_size",
            Self::Output => "output",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The limits of a run; `None` for what is not limited. The timeout stands elsewhere, as every run
/// has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time on CPUs, of all processes together.
    pub cpu: Option<Duration>,
    /// Bytes of memory, of all processes together.
    pub memory: Option<u64>,
    /// Processes and threads at a time.
    pub processes: Option<u64>,
    /// Open files of a process.
    pub open_files: Option<u64>,
    /// Bytes of a file.
    pub file_size: Option<u64>,
    /// Bytes of standard output and standard error together.
    pub output: Option<u64>,
}

impl Limits {
    /// How many processes and threads a run may have at a time where its scenario says nothing:
    /// more than any test needs, and too few to take a machine down.
    pub const PROCESSES: u64 = 1024;
    /// The least memory in bytes that a program can be started in.
    pub const LEAST_MEMORY: u64 = 1 << 20;
    /// No limit at all.
    pub const NONE: Self = Self {
        cpu: None,
        memory: None,
        processes: None,
        open_files: None,
        file_size: None,
        output: None,
    };
}

impl Limits {
    /// A limit in words; `None` for what is not limited here.
    #[must_use]
    pub fn said(&self, limit: Limit) -> Option<String> {
        match limit {
            Limit::Timeout => None,
            Limit::Cpu => self.cpu.map(|time| format!("{time:?}")),
            Limit::Memory => self.memory.map(bytes),
            Limit::Processes => self.processes.map(|number| number.to_string()),
            Limit::OpenFiles => self.open_files.map(|number| number.to_string()),
            Limit::FileSize => self.file_size.map(bytes),
            Limit::Output => self.output.map(bytes),
        }
    }
}

/// A number of bytes as people write it: whole, or with a tenth of the unit.
fn bytes(number: u64) -> String {
    let units = [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.iter().find(|(size, _)| number >= *size);
    match unit {
        None => format!("{number} B"),
        Some((size, name)) if number.is_multiple_of(*size) => format!("{} {name}", number / size),
        Some((size, name)) => format!("{:.1} {name}", number as f64 / *size as f64),
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            processes: Some(Self::PROCESSES),
            ..Self::NONE
        }
    }
}

/// What a run used; `None` for what this machine does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Time on CPUs, of all processes together.
    pub cpu: Option<Duration>,
    /// The most memory at a time in bytes, of all processes together (`memory.peak` of the control
    /// group).
    pub memory_peak: Option<u64>,
    /// The most memory that one process had in its address space at a time, in bytes (`ru_maxrss`).
    pub largest_process: Option<u64>,
    /// The most processes and threads at a time.
    pub processes_peak: Option<u64>,
    /// How often a task gave its CPU up or lost it.
    pub context_switches: Option<u64>,
}

impl Usage {
    /// Both, of which each has seen a part: the larger numbers.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            cpu: self.cpu.max(other.cpu),
            memory_peak: self.memory_peak.max(other.memory_peak),
            largest_process: self.largest_process.max(other.largest_process),
            processes_peak: self.processes_peak.max(other.processes_peak),
            context_switches: self.context_switches.max(other.context_switches),
        }
    }

    /// What was used of that which a limit is on, in words.
    #[must_use]
    pub fn said(&self, limit: Limit) -> Option<String> {
        match limit {
            Limit::Cpu => self.cpu.map(|time| format!("used {time:.2?}")),
            Limit::Memory => self
                .memory_peak
                .map(|peak| format!("{} at most", bytes(peak))),
            Limit::Processes => self.processes_peak.map(|peak| format!("{peak} at most")),
            Limit::Timeout | Limit::OpenFiles | Limit::FileSize | Limit::Output => None,
        }
    }
}

/// `1.20s of CPU, 64 MiB of memory, 60.2 MiB in the largest process, 4 processes and threads at a time, 120 context switches`:
/// what is known of it.
impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.cpu.map(|time| format!("{time:.2?} of CPU")),
            self.memory_peak
                .map(|peak| format!("{} of memory", bytes(peak))),
            self.largest_process
                .map(|size| format!("{} in the largest process", bytes(size))),
            self.processes_peak
                .map(|number| format!("{number} processes and threads at a time")),
            self.context_switches
                .map(|number| format!("{number} context switches")),
        ];
        let known: Vec<String> = parts.into_iter().flatten().collect();
        f.write_str(&known.join(", "))
    }
}

/// A limit that a run ran into.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Struck {
    /// The limit.
    pub limit: Limit,
    /// How that showed, in words: "the kernel killed it".
    pub how: String,
    /// Whether it was the end of the run, wherever that was just then; otherwise a call failed, or
    /// one process was ended by a signal.
    pub is_end: bool,
}

/// A process that lived when it should not: when the main one had ended, or at the timeout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Survivor {
    /// Its id in the workload's namespace; 0 if not known.
    pub pid: i32,
    /// Its command line; its name in brackets where it has none.
    pub command: Vec<String>,
    /// Its creator, if the trace tells: its id, or 0, and its command line at that time.
    pub parent: Option<(i32, Vec<String>)>,
    /// Its number in the run's trace, if that is known.
    #[serde(default)]
    pub process: Option<u32>,
}

/// A user that a workload can run as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// User number.
    pub uid: u32,
    /// Number of the main group.
    pub gid: u32,
    /// Numbers of all groups.
    pub groups: Vec<u32>,
}
