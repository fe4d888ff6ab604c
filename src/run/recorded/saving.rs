//! Keeps the records of a run while they are read.

use super::store::{Output, Store, StoreError, StoreOptions};
use super::tally::Stored;
use crate::crash::Kept;
use crate::plan::EventsPlan;
use crate::run::{Bench, Saved, Setting};
use crate::verdict::Run;
use perf_live::events::{EventSet, Origin};
use perf_live::files::{self, Access};
use perf_live::host::Host;
use perf_live::sandbox::Corked;
use perf_records::record::LayoutTable;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;

impl Bench<'_> {
    /// Has the records of all later runs kept.
    pub fn keep_records(&self) {
        self.keeps_records.store(true, Ordering::Relaxed);
    }
}

/// Writes records in the order in which they are delivered. A regular file gets its name when it is
/// whole.
#[derive(Debug)]
pub struct Saving {
    store: Store,
    file: files::Output,
    error: Option<io::Error>,
}

impl Saving {
    /// Describes the events, and the task that they are opened on, in a file of a temporary name.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn begin(
        to: &Path,
        options: &StoreOptions,
        (events, corked): (&EventSet, &Corked),
        bench: &Bench<'_>,
    ) -> Result<Self, StoreError> {
        let folder = match to.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        std::fs::create_dir_all(folder)?;
        let file = files::Output::begin(to, Access::Private).map_err(io::Error::from)?;
        let mut store = Store::begin(Output::of(&file)?, options, events, bench)?;
        store.tell_of(bench.host.corked(corked.pid()).as_slice())?;
        Ok(Self {
            store,
            file,
            error: None,
        })
    }

    /// Takes a record. A failed write is reported by [`Self::end`].
    pub fn record(&mut self, table: &LayoutTable<Origin>, bytes: &[u8]) {
        if self.error.is_none() {
            self.error = self.store.record(table, bytes).err();
        }
    }

    /// Of how many occurrences of a request the samples tell so far.
    pub(in crate::run) fn occurrences_of(&self, request: usize) -> u64 {
        self.store.occurrences_of(request)
    }

    /// Notes that all rings have been drained once.
    pub fn round(&mut self) {
        if self.error.is_none() {
            self.error = self.store.round().err();
        }
    }

    /// Adds the counters and what is known of the run besides, and gives the file its name.
    ///
    /// # Errors
    /// [`StoreError`], also if a record could not be written.
    pub fn end(
        self,
        events: &EventSet,
        host: &Host,
        plan: &EventsPlan,
        (setting, changes): (&Setting, Option<Kept>),
        run: &Run<()>,
    ) -> Result<Stored, StoreError> {
        if let Some(error) = self.error {
            return Err(error.into());
        }
        let setting = Setting {
            reads_memory: events.reads_memory(),
            of_group: !events.hang_up(),
            ..setting.clone()
        };
        let mut saved = Saved::of(plan, &setting, run);
        saved.changes = changes;
        let besides = |sum| [(Saved::FEATURE, saved.sealed(sum).to_bytes())].into();
        let stored = self.store.end(events, host, besides)?;
        self.file.finish()?;
        Ok(stored)
    }
}
