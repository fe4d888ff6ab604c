//! The key `requires`.

use schemars::{JsonSchema, Schema};
use serde::Deserialize;

use super::flexible::{Text, deserialize_flexible};
use super::guests::Architecture;
use super::kernel_range::KernelRange;
use super::nearest::{did_you_mean, unknown};
use super::schema::words;
use perf_records::units::TracepointName;

/// What the machine must offer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requires {
    /// Else the scenario is skipped. It is asked for first: where the scenario makes no sense,
    /// nothing else is of interest.
    pub soft: Needs,
    /// Else the scenario fails.
    pub hard: Needs,
    /// Else the scenario runs all the same, without what is missing.
    pub best_effort: Needs,
}

/// What is asked of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The architecture on which the scenario makes sense.
    pub arch: Option<Architecture>,
    /// The kernels on which the scenario makes sense.
    pub kernel: Option<KernelRange>,
    /// Tracepoints that the kernel must have.
    pub tracepoints: Vec<TracepointName>,
    /// Programs that must be found in `PATH`; none is the empty string.
    pub commands: Vec<String>,
    /// What else the machine must have.
    pub features: Vec<Feature>,
}

/// What a machine may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// A BPF program reads what the arguments of calls point to.
    Bpf,
    /// Probes of instructions of programs.
    Uprobes,
    /// Probes of instructions of the kernel.
    Kprobes,
    /// Programs may use io_uring.
    IoUring,
    /// The user of the harness may make user namespaces.
    UserNamespaces,
    /// Runs have control groups of version 2.
    Cgroup2,
    /// With the controller of memory.
    Cgroup2Memory,
    /// With the controller of the number of processes.
    Cgroup2Pids,
    /// The processor counts what it does: cycles, instructions.
    HardwareCounters,
    /// The kernel counts lost records for each event (Linux 6.0).
    LostCounts,
    /// The harness runs as root.
    Root,
}

impl Feature {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 11] = [
        Self::Bpf,
        Self::Uprobes,
        Self::Kprobes,
        Self::IoUring,
        Self::UserNamespaces,
        Self::Cgroup2,
        Self::Cgroup2Memory,
        Self::Cgroup2Pids,
        Self::HardwareCounters,
        Self::LostCounts,
        Self::Root,
    ];

    /// The word for it in scenarios.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Bpf => "bpf",
            Self::Uprobes => "uprobes",
            Self::Kprobes => "kprobes",
            Self::IoUring => "io_uring",
            Self::UserNamespaces => "user_namespaces",
            Self::Cgroup2 => "cgroup2",
            Self::Cgroup2Memory => "cgroup2_memory",
            Self::Cgroup2Pids => "cgroup2_pids",
            Self::HardwareCounters => "hardware_counters",
            Self::LostCounts => "lost_counts",
            Self::Root => "root",
        }
    }
}

/// `requires`: what the machine must offer, else the scenario is skipped.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping")]
pub(super) struct WrittenRequires {
    /// The architecture on which the scenario makes sense.
    arch: Option<RequiredArchitecture>,
    /// The kernels on which the scenario makes sense.
    kernel: Option<KernelRange>,
    /// Tracepoints that the kernel must have.
    #[serde(default)]
    tracepoints: Vec<RequiredTracepoint>,
    /// Programs that must be found in `PATH`.
    #[serde(default)]
    commands: Vec<RequiredCommand>,
    /// What else the machine must have.
    #[serde(default)]
    features: Vec<RequiredFeature>,
    /// What the machine must offer, else the scenario fails.
    hard: Option<WrittenNeeds>,
    /// What the machine should offer; where it does not, the scenario runs without.
    best_effort: Option<WrittenNeeds>,
}

/// The same below `hard` and `best_effort`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping")]
struct WrittenNeeds {
    /// As beside it.
    arch: Option<RequiredArchitecture>,
    /// As beside it.
    kernel: Option<KernelRange>,
    /// As beside it.
    #[serde(default)]
    tracepoints: Vec<RequiredTracepoint>,
    /// As beside it.
    #[serde(default)]
    commands: Vec<RequiredCommand>,
    /// As beside it.
    #[serde(default)]
    features: Vec<RequiredFeature>,
}

impl WrittenRequires {
    /// What was written, or the key that says nothing.
    pub(super) fn read(self) -> Result<Requires, &'static str> {
        let soft = WrittenNeeds {
            arch: self.arch,
            kernel: self.kernel,
            tracepoints: self.tracepoints,
            commands: self.commands,
            features: self.features,
        };
        let below = |key, written: Option<WrittenNeeds>| match written.map(WrittenNeeds::read) {
            None => Ok(Needs::default()),
            Some(needs) if needs == Needs::default() => Err(key),
            Some(needs) => Ok(needs),
        };
        Ok(Requires {
            soft: soft.read(),
            hard: below("hard", self.hard)?,
            best_effort: below("best_effort", self.best_effort)?,
        })
    }
}

impl WrittenNeeds {
    fn read(self) -> Needs {
        Needs {
            arch: self.arch.map(|known| known.0),
            kernel: self.kernel,
            tracepoints: self.tracepoints.into_iter().map(|name| name.0).collect(),
            commands: self.commands.into_iter().map(|name| name.0).collect(),
            features: self.features.into_iter().map(|name| name.0).collect(),
        }
    }
}

#[derive(Debug)]
struct RequiredTracepoint(TracepointName);

#[derive(Debug)]
struct RequiredCommand(String);

#[derive(Debug)]
struct RequiredFeature(Feature);

#[derive(Debug)]
struct RequiredArchitecture(Architecture);

impl Text for RequiredArchitecture {
    const EXPECTED: &'static str = "an architecture such as `arm64`";

    fn schema() -> Schema {
        words(Architecture::ALL.map(Architecture::word))
    }

    fn read(text: &str) -> Option<Result<Self, String>> {
        let known = Architecture::ALL.into_iter().find(|it| it.word() == text);
        Some(known.map(Self).ok_or_else(|| {
            let all = Architecture::ALL.map(Architecture::word).join(", ");
            unknown("architecture", text, Some(format!("there are {all}")))
        }))
    }
}

impl Text for RequiredTracepoint {
    const EXPECTED: &'static str = "a string such as `sched:sched_switch`";
    const LIKE: &'static str = "^[^:]+:[^:]+$";

    fn read(text: &str) -> Option<Result<Self, String>> {
        TracepointName::parse(text).map(|name| Ok(Self(name)))
    }
}

impl Text for RequiredCommand {
    const EXPECTED: &'static str = "a string such as `python3`";

    fn read(text: &str) -> Option<Result<Self, String>> {
        Some(if text.is_empty() || text.contains('\0') {
            Err("this is no program's name".to_owned())
        } else {
            Ok(Self(text.to_owned()))
        })
    }
}

impl Text for RequiredFeature {
    const EXPECTED: &'static str = "a feature's name such as `io_uring`";

    fn schema() -> Schema {
        words(Feature::ALL.map(Feature::word))
    }

    fn read(text: &str) -> Option<Result<Self, String>> {
        let known = Feature::ALL.into_iter().find(|it| it.word() == text);
        Some(known.map(Self).ok_or_else(|| {
            let words = Feature::ALL.map(Feature::word);
            let all = || format!("there are {}", words.join(", "));
            let help = did_you_mean(text, words).unwrap_or_else(all);
            unknown("feature", text, Some(help))
        }))
    }
}

deserialize_flexible!(
    RequiredTracepoint,
    RequiredCommand,
    RequiredFeature,
    RequiredArchitecture
);
