//! Chooses what reads the memory behind the arguments of calls, on this machine.

use super::{Bench, SuiteError};
use crate::plan::{self, MemoryReader, StringSource};
use perf_live::capture::CaptureError;
use perf_live::errors::chain;

/// The reader of memory that was chosen.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// The reader.
    pub reader: MemoryReader,
    /// Why the reader is not BPF, if BPF was wanted and failed.
    pub without_bpf: Option<&'a CaptureError>,
}

/// Why the reader that the user asked for cannot read.
#[derive(Debug, thiserror::Error)]
pub enum UnreadError {
    /// BPF programs cannot be loaded.
    #[error("{why}")]
    Bpf {
        /// The error with all its causes, on one line.
        why: String,
        /// What the user can do about it.
        hint: Option<String>,
    },
    /// The kernel copies no strings.
    #[error("this kernel copies no strings into its tracepoints of calls: Linux before 6.19")]
    NoCopies,
}

impl UnreadError {
    /// Returns what the user can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Bpf { hint, .. } => hint.clone(),
            Self::NoCopies => Some("let BPF read them: --strings bpf".to_owned()),
        }
    }
}

impl Reading<'_> {
    /// Returns why BPF does not read, and what can be done about it, on one line.
    #[must_use]
    pub fn why_not_bpf(&self) -> Option<String> {
        let error = self.without_bpf?;
        let hint = error.hint().map(|hint| format!(" ({hint})"));
        Some(chain(error) + &hint.unwrap_or_default())
    }
}

/// The limits of the kernel's own copies of strings.
pub const LIMITS_OF_COPIES: &str = "at most 63 bytes of each, a dot in place of every byte that cannot be printed, and none of what \
`execve` passes on, of `stat` and a few other calls, of structures and of socket addresses";

impl Bench<'_> {
    /// Returns the reader of workloads' memory, which may be none, and why it is not BPF.
    #[must_use]
    pub fn reader(&self) -> (MemoryReader, Option<String>) {
        match self.reading() {
            Ok(reading) => (reading.reader, reading.why_not_bpf()),
            Err(error) => (MemoryReader::Nobody, Some(chain(&error))),
        }
    }

    /// Tells what is missing on this machine from what was missing at this moment, for which no
    /// scenario is skipped.
    ///
    /// # Errors
    /// [`SuiteError::Unread`].
    pub(super) fn has_what_reading_takes(&self) -> Result<(), SuiteError> {
        match self.capture() {
            Err(error) if error.is_for_want_of_resources() => {
                Err(SuiteError::Unread { why: chain(error) })
            }
            _ => Ok(()),
        }
    }

    /// Returns the reader of workloads' memory.
    ///
    /// # Errors
    /// [`UnreadError`], if the reader that the user asked for cannot read. If the user asked for
    /// none in particular, the best available reader is chosen.
    pub fn reading(&self) -> Result<Reading<'_>, UnreadError> {
        let has_copies = || plan::has_copies(self.host).unwrap_or(false);
        let mut without_bpf = None;
        let reader = match (self.strings, self.capture()) {
            (StringSource::None, _) => MemoryReader::Nobody,
            (StringSource::Auto | StringSource::Bpf, Ok(_)) => MemoryReader::Bpf,
            (StringSource::Bpf, Err(error)) => {
                let (why, hint) = (chain(error), error.hint());
                return Err(UnreadError::Bpf { why, hint });
            }
            (StringSource::Kernel, _) if !has_copies() => return Err(UnreadError::NoCopies),
            (StringSource::Kernel, _) => MemoryReader::Kernel,
            (StringSource::Auto, Err(error)) => {
                without_bpf = Some(error);
                if has_copies() {
                    MemoryReader::Kernel
                } else {
                    MemoryReader::Nobody
                }
            }
        };
        Ok(Reading {
            reader,
            without_bpf,
        })
    }
}
