//! Whether a recording is as it was written.

use super::super::sum::Sum;
use super::{RecordedRun, ReplayError};
use perf_records::perfdata::ReadError;

impl RecordedRun {
    /// Reads all of it, and compares it with the sum that it was written with, if it has one. What
    /// a cut or damaged file lacks says nothing about its run or a machine.
    ///
    /// # Errors
    /// [`ReplayError`].
    pub(in crate::run) fn is_whole(&self) -> Result<(), ReplayError> {
        let spoilt = |source| match source {
            ReadError::Ends { .. } => ReplayError::Cut {
                path: self.path.clone(),
                source,
            },
            source => self.unreadable(source),
        };
        let mut sum = Sum::default();
        let mut reader = self.reader()?;
        while let Some(record) = reader.next().map_err(spoilt)? {
            sum.record(record.bytes);
        }
        let meta = reader.meta();
        sum.events(&meta.events, meta.tracing.as_ref());
        let is_sealed = |saved: &super::Saved| saved.is_sealed_by(sum.number());
        match self.saved.as_ref().is_none_or(is_sealed) {
            true => Ok(()),
            false => Err(ReplayError::Damaged {
                path: self.path.clone(),
            }),
        }
    }
}
