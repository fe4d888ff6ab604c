//! Why a workload could not be followed to its end.

use super::{ReplayError, SessionError, StoreError};
use crate::plan::Lack;
use crate::verdict::Finding;
use perf_live::capture::CaptureError;
use perf_live::errors::chain;
use perf_live::events::OpenError;
use perf_live::sandbox::WorkDirError;

/// Why a workload could not be followed to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The events to record could not be planned.
    #[error(transparent)]
    Plan(crate::plan::EventsError),
    /// The working directory could not be made or removed.
    #[error(transparent)]
    WorkDir(#[from] WorkDirError),
    /// The directory of this process could not be told.
    #[error("cannot tell the working directory")]
    Here(#[source] std::io::Error),
    /// The workload could not be started.
    #[error(transparent)]
    Launch(#[from] perf_live::sandbox::LaunchError),
    /// Its events could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The programs that read its memory could not be loaded.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// It lives already, and could not be followed.
    #[error(transparent)]
    Attach(#[from] super::AttachError),
    /// Its control group could not be made.
    #[error(transparent)]
    Cgroup(#[from] perf_live::sandbox::CgroupError),
    /// It was to run beside others, and there was no thread for it.
    #[error("cannot start a thread for a run beside others")]
    Beside(#[source] std::io::Error),
    /// Its limits could not be watched.
    #[error("cannot watch what the workload uses")]
    Watch(#[source] std::io::Error),
    /// Calls that faults are about could not be answered.
    #[error(transparent)]
    Gate(#[from] perf_live::gate::GateError),
    /// What answers them could not be started, or panicked.
    #[error("what answers the calls that faults are about could not do it")]
    Supervisor(#[source] std::io::Error),
    /// The run could not be followed.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The recording that it is judged from could not be read.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// What it is given could not be read, to be kept with its recording.
    #[error(transparent)]
    Given(#[from] super::UnreadFile),
    /// Its recording could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its snapshot could not be read or written.
    #[error(transparent)]
    Snapshot(#[from] crate::snapshot::SnapshotError),
    /// A tracepoint's record could not be decoded.
    #[error("cannot decode a record of `{event}`")]
    Decode {
        /// The tracepoint's name.
        event: String,
        /// The error of decoding the record.
        source: perf_records::decode::DecodeError,
    },
    /// A state that a power cut may leave could not be laid out, or the folder before it not be
    /// read.
    #[error("cannot lay out or read a folder for `crash`")]
    State(#[source] std::io::Error),
    /// An argument, a variable or a path holds a zero byte, which no program can be given.
    #[error("`{text}` holds a zero byte")]
    ZeroByte {
        /// The text with the zero byte.
        text: String,
    },
}

impl RunError {
    /// Whether the user or the machine lacks a right that the run takes: the workload was not
    /// executed.
    #[must_use]
    pub fn is_of_rights(&self) -> bool {
        matches!(self, Self::Launch(error) if error.is_of_rights())
    }

    /// Returns the right that a sandbox takes here and the user or the machine lacks, as an unmet
    /// requirement of each scenario; `None` for any other error.
    #[must_use]
    pub(super) fn unmet(&self) -> Option<Finding> {
        let text = || format!("needs the right to make a sandbox: {}", self.with_hint());
        self.is_of_rights().then(|| Lack::of_machine(text()).into())
    }

    /// Returns the error and its causes, with what the user can do about it.
    #[must_use]
    pub(super) fn with_hint(&self) -> String {
        let hint = self.hint().map(|hint| format!(" (hint: {hint})"));
        chain(self) + &hint.unwrap_or_default()
    }

    /// Returns what the user can do about the error.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Launch(error) => error.hint(),
            Self::Open(error) => error.hint(),
            Self::Attach(error) => error.hint(),
            _ => None,
        }
    }
}
