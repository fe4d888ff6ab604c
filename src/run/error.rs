//! Why a workload could not be followed to its end.

use super::{ReplayError, SessionError, StoreError};
use perf_live::capture::CaptureError;
use perf_live::events::OpenError;
use perf_live::sandbox::WorkDirError;

/// Why a workload could not be followed to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// What to record.
    #[error(transparent)]
    Plan(crate::plan::EventsError),
    /// Its working directory.
    #[error(transparent)]
    WorkDir(#[from] WorkDirError),
    /// Its start.
    #[error(transparent)]
    Launch(#[from] perf_live::sandbox::LaunchError),
    /// Its events.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// What reads its memory.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// Its control group.
    #[error(transparent)]
    Cgroup(#[from] perf_live::sandbox::CgroupError),
    /// Its limits.
    #[error("cannot watch what the workload uses")]
    Watch(#[source] std::io::Error),
    /// The run.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The recording that it is judged from.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// What is kept of it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its snapshot.
    #[error(transparent)]
    Snapshot(#[from] crate::snapshot::SnapshotError),
    /// A tracepoint's record.
    #[error("cannot decode a record of `{event}`")]
    Decode {
        /// The tracepoint.
        event: String,
        /// Why.
        source: perf_records::decode::DecodeError,
    },
    /// An argument, a variable or a path that no program can be given.
    #[error("`{text}` holds a zero byte")]
    ZeroByte {
        /// It.
        text: String,
    },
}

impl RunError {
    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Launch(error) => error.hint(),
            Self::Open(error) => error.hint(),
            _ => None,
        }
    }
}
