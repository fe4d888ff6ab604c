//! Why names that an author wrote cannot be planned.

use super::Lack;
use super::calls::MOST_CALLS;
use super::filter::FilterError;
use super::terms::TermError;
use perf_live::host::{HOW_TO_GET_PROBES, HOW_TO_GET_RIGHTS, HostError};
use perf_live::units::{Probe, ProbeSyntax};
use syscall_model::select::UnknownWord;

/// Why names are no plan; `at` is the place in the list of wants, and within it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum EventsError {
    /// No such call, glob or class.
    #[error("unknown system call `{}`", .unknown.word)]
    Syscall {
        /// The want's place, and the word's within it.
        at: (usize, usize),
        /// The word, and what comes near.
        unknown: UnknownWord,
    },
    /// No such tracepoint.
    #[error("this kernel has no tracepoint `{name}`")]
    Tracepoint {
        /// The want's place.
        at: usize,
        /// As written.
        name: String,
        /// The nearest that there is.
        nearest: Option<String>,
    },
    /// No event of any kind: neither a call nor a software event.
    #[error("there is no event `{name}`")]
    Unknown {
        /// The want's place.
        at: usize,
        /// As written.
        name: String,
        /// The nearest that there is.
        nearest: Option<String>,
    },
    /// The event has no records that a trace could show.
    #[error("a trace does not show `{name}`")]
    Untraced {
        /// The want's place.
        at: usize,
        /// As written.
        name: String,
    },
    /// A clock never fires by itself, so it has to be sampled.
    #[error("`{name}` goes on all the time, so that it is sampled or only counted")]
    Unsampled {
        /// The want's place.
        at: usize,
        /// Its name.
        name: String,
    },
    /// No such source of events.
    #[error("this machine has no source of events `{name}`")]
    NoSource {
        /// The want's place.
        at: usize,
        /// As written.
        name: String,
        /// The nearest that there is.
        nearest: Option<String>,
        /// The sources that it has.
        all: String,
    },
    /// It cannot be asked for in this form, together with the others, or in that mode of the
    /// processor.
    #[error("`{name}` cannot be: {why}")]
    Cannot {
        /// The want's place.
        at: usize,
        /// As written.
        name: String,
        /// The reason.
        why: &'static str,
    },
    /// More samples a second than the kernel lets an event have.
    #[error(
        "`{name}` is to have {frequency} samples a second, and `kernel.perf_event_max_sample_rate` is {most}"
    )]
    TooOften {
        /// The event.
        name: String,
        /// What is asked for.
        frequency: u64,
        /// The most that the kernel allows.
        most: u64,
    },
    /// No such operation of io_uring.
    #[error("io_uring has no operation `{name}`")]
    Operation {
        /// The want's place.
        at: usize,
        /// As written.
        name: String,
        /// The nearest that there is.
        nearest: Option<String>,
    },
    /// The text is no event's name at all.
    #[error("`{name}` is no event: a tracepoint is named `system:name`")]
    NoEvent {
        /// The want's place.
        at: usize,
        /// As written.
        name: String,
    },
    /// The word is meant to be a probe.
    #[error("`{word}` is no probe")]
    ProbeWord {
        /// The want's place.
        at: usize,
        /// As written.
        word: String,
        /// The place in the word, and the error.
        source: ProbeSyntax,
    },
    /// The kernel refuses the probe.
    #[error("cannot probe `{probe}`")]
    Probe {
        /// The want's place.
        at: usize,
        /// As it would be written.
        probe: String,
        /// The error of making the probe.
        source: HostError,
    },
    /// Two probes would have the same name.
    #[error("there is a probe `{name}` already: give one of them another name")]
    SameName {
        /// The want's place.
        at: usize,
        /// The name.
        name: String,
    },
    /// The filter cannot be.
    #[error("the filter of `{name}` is wrong")]
    Filter {
        /// The want's place.
        at: usize,
        /// The event.
        name: String,
        /// The error in the filter.
        source: FilterError,
    },
    /// A filter for an event that is no tracepoint.
    #[error("`{name}` takes no filter: the kernel filters tracepoints alone")]
    NotFiltered {
        /// The want's place.
        at: usize,
        /// The event.
        name: String,
    },
    /// The terms after an event's name are wrong.
    #[error("the terms of `{name}` are wrong")]
    Terms {
        /// The want's place.
        at: usize,
        /// As written.
        name: String,
        /// The error in the terms.
        source: TermError,
    },
    /// More calls than such a user can have recorded.
    #[error(
        "without the right to trace everything each call takes two events of its own, which every fork inherits: at most {MOST_CALLS} calls \
         can be traced at a time"
    )]
    TooMany,
    /// It can be opened without the right to trace everything, and then shows nothing.
    #[error("`{name}` shows nothing without the right to trace everything")]
    OutOfReach {
        /// The want's place.
        at: usize,
        /// The tracepoint.
        name: String,
    },
    /// The host could not be asked.
    #[error(transparent)]
    Host(#[from] HostError),
    /// One of the kernel's own tracepoints lacks a field that it always had.
    #[error("`{name}` has no field `{field}` of the known form on this kernel")]
    Shape {
        /// The tracepoint.
        name: String,
        /// The field.
        field: &'static str,
    },
}

impl EventsError {
    /// Returns what the machine or the user lacks, as an unmet requirement; `None` for a mistake.
    #[must_use]
    pub fn lacks(&self) -> Option<Lack> {
        match self {
            Self::TooMany | Self::OutOfReach { .. } => Some(Lack::of_machine(self.to_string())),
            Self::Probe {
                source: source @ HostError::NoProbes { list },
                ..
            } => {
                let probes = match *list {
                    "uprobe_events" => "uprobes",
                    "kprobe_events" => "kprobes",
                    _ => "probes",
                };
                Some(Lack::of_kernel(format!("needs {probes}: {source}")))
            }
            Self::Probe {
                source: source @ HostError::Read { .. },
                ..
            } if source.is_permission() => Some(Lack::of_machine(format!(
                "needs the right to make probes: {}",
                perf_live::errors::chain(source)
            ))),
            _ => None,
        }
    }

    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let did_you_mean = |name: &String| format!("did you mean `{name}`?");
        match self {
            Self::Syscall { unknown, .. } => unknown.hint(),
            Self::Tracepoint { nearest, .. }
            | Self::Operation { nearest, .. }
            | Self::Unknown { nearest, .. } => nearest.as_ref().map(did_you_mean),
            Self::Untraced { .. } => {
                Some("count it with `harness stat -e`, or sample it with `harness record -e`".to_owned())
            }
            Self::Unsampled { .. } => Some(
                "say how often: `freq: 1000` a second or `period: 1000000` ns in a scenario, cpu-clock/freq=1000/ with -e"
                    .to_owned(),
            ),
            Self::NoSource {
                nearest: Some(nearest),
                ..
            } => Some(did_you_mean(nearest)),
            Self::NoSource { all, .. } if all.is_empty() => None,
            Self::NoSource { all, .. } => Some(format!(
                "it has {all}; a virtual machine has no `cpu` where its host gives it no counters (a PMU)"
            )),
            Self::Filter { source, .. } => source.hint(),
            Self::Terms { source, .. } => source.hint(),
            Self::TooMany => Some(format!(
                "name those of interest: -e openat,write, or `syscalls` in a scenario's `trace.events`; for all of them {HOW_TO_GET_RIGHTS}"
            )),
            Self::TooOften { .. } => Some(
                "ask for fewer, for as many as there may be (-F max), or raise it: sysctl kernel.perf_event_max_sample_rate=N".to_owned(),
            ),
            Self::OutOfReach { name, .. } if Probe::is_meant(name) => {
                Some(HOW_TO_GET_PROBES.to_owned())
            }
            Self::OutOfReach { .. } => Some(HOW_TO_GET_RIGHTS.to_owned()),
            Self::Probe { source, .. } if source.is_permission() => {
                Some(HOW_TO_GET_PROBES.to_owned())
            }
            Self::Host(error) | Self::Probe { source: error, .. } => error.hint(),
            Self::ProbeWord { .. } | Self::SameName { .. } => None,
            Self::NoEvent { .. }
            | Self::Cannot { .. }
            | Self::NotFiltered { .. }
            | Self::Shape { .. } => None,
        }
    }
}
