//! The values that options take.

use perf_live::units::{SoftwareEvent, SoftwareKind};
use perf_records::attr::Chain;
use trace_harness::plan::{self, CallSource, StringSource, Wanted, WantedEvent};
use trace_harness::report::{SummaryOrder, TimeForm};

/// The form of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// Lines as strace has them
    Text,
    /// An object a line
    Json,
    /// Trace events that ui.perfetto.dev and its `trace_processor` show on a time line
    Perfetto,
}

/// The times that lines of text tell.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(super) struct Times {
    /// Begin each line of text with the time of day; -tt with microseconds, -ttt with seconds since
    /// 1970 instead
    #[arg(short = 't', action = clap::ArgAction::Count)]
    times: u8,
    /// Begin each line of text with the seconds since the line before it, which may be one of a
    /// later moment if it is another thread's
    #[arg(
        short = 'r',
        long,
        alias = "relative-timestamps",
        conflicts_with = "times"
    )]
    relative: bool,
    /// End each line of a call with the seconds from its entry to its return
    #[arg(short = 'T', long, alias = "syscall-times")]
    pub(super) durations: bool,
}

impl Times {
    /// Returns the form of the times that lines begin with.
    pub(super) fn form(self) -> Option<TimeForm> {
        match (self.times, self.relative) {
            (0, false) => None,
            (0, true) => Some(TimeForm::Relative),
            (1, _) => Some(TimeForm::Day),
            (2, _) => Some(TimeForm::DayMicros),
            _ => Some(TimeForm::Epoch),
        }
    }
}

/// What is written of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Descriptors {
    /// The number and what it refers to
    All,
    /// The number
    None,
}

/// What is written of a task's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Ids {
    /// The id, and the name of the task's program
    Comm,
}

/// The page faults to record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Faults {
    /// Those of both kinds
    All,
    /// Of pages that were in memory
    Min,
    /// Of pages that had to be read
    Maj,
}

impl Faults {
    /// Returns what has to be recorded for it.
    pub(super) fn wants(self) -> impl Iterator<Item = Wanted> {
        let kinds: &[SoftwareKind] = match self {
            Self::All => &[SoftwareKind::MinorFaults, SoftwareKind::MajorFaults],
            Self::Min => &[SoftwareKind::MinorFaults],
            Self::Maj => &[SoftwareKind::MajorFaults],
        };
        kinds.iter().map(|kind| {
            Wanted::Event(WantedEvent {
                name: SoftwareEvent::from(*kind).name(),
                ..WantedEvent::default()
            })
        })
    }
}

/// What a summary has a table for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum By {
    /// All threads together
    Total,
    /// Each thread
    Thread,
}

/// The order of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Order {
    /// The most time first
    #[value(alias = "total-time", alias = "time-total")]
    Time,
    /// The most calls first
    #[value(alias = "count")]
    Calls,
    /// The most errors first
    #[value(alias = "error")]
    Errors,
    /// By name
    #[value(alias = "syscall", alias = "syscall-name")]
    Name,
}

impl From<Order> for SummaryOrder {
    fn from(order: Order) -> Self {
        match order {
            Order::Time => Self::Time,
            Order::Calls => Self::Calls,
            Order::Errors => Self::Errors,
            Order::Name => Self::Name,
        }
    }
}

/// What reads strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Strings {
    /// BPF if it is allowed, else the kernel's tracepoints if they hold strings, else none
    Auto,
    /// A BPF program
    Bpf,
    /// The kernel's own tracepoints (Linux 6.19 and later)
    Kernel,
    /// None: strings are shown as `<unread>`, buffers by their addresses
    None,
}

impl From<Strings> for StringSource {
    fn from(strings: Strings) -> Self {
        match strings {
            Strings::Auto => Self::Auto,
            Strings::Bpf => Self::Bpf,
            Strings::Kernel => Self::Kernel,
            Strings::None => Self::None,
        }
    }
}

/// What writes the records of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Source {
    /// A BPF program where one may be loaded, else the kernel
    #[default]
    Auto,
    /// The kernel, for its events
    Perf,
    /// A BPF program, in half the time; the kernel counts the calls all the same, and a trace
    /// without one that it counted is incomplete
    Bpf,
}

impl From<Source> for CallSource {
    fn from(source: Source) -> Self {
        match source {
            Source::Auto => Self::Auto,
            Source::Perf => Self::Perf,
            Source::Bpf => Self::Bpf,
        }
    }
}

/// `fp`, `dwarf` or `dwarf,SIZE`, as perf's `--call-graph`.
pub(crate) fn call_graph(text: &str) -> Result<Chain, String> {
    plan::call_graph(text).ok_or_else(|| {
        format!(
            "expected fp, dwarf or dwarf,SIZE with at most {} bytes",
            Chain::MOST_STACK
        )
    })
}

/// Bytes, as `64KiB` or `4MiB`.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text.get(digits.len()..).unwrap_or_default() {
        "" | "B" => 1,
        "K" | "k" | "KiB" => 1 << 10,
        "M" | "MiB" => 1 << 20,
        "G" | "GiB" => 1 << 30,
        unit => return Err(format!("unknown unit `{unit}`: B, KiB, MiB or GiB")),
    };
    let number: u64 = digits
        .parse()
        .map_err(|_| "expected a number such as 64KiB".to_owned())?;
    number
        .checked_mul(unit)
        .filter(|size| *size > 0)
        .ok_or_else(|| "expected a size above zero".to_owned())
}
