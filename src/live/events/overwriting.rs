//! The events that write into rings that are overwritten.

use super::{OpenEvent, Origin};
use crate::sys::perf::{self, Counts};
use perf_records::record::LayoutTable;
use std::io;
use std::os::fd::AsFd;

/// They, and the table that their records are read by.
#[derive(Clone, Copy, Debug)]
pub struct Overwriting<'a> {
    pub(super) events: &'a [OpenEvent],
    pub(super) table: &'a LayoutTable<Origin>,
}

/// One of the session's requests, on all CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overwritten<'a> {
    /// Its name.
    pub name: &'a str,
    /// Whether [each occurrence](perf_records::attr::Attr::records_each) has a record.
    pub records_each: bool,
    /// What it counted so far, since it was opened.
    pub counts: Counts,
}

impl<'a> Overwriting<'a> {
    /// The table.
    #[must_use]
    pub fn table(&self) -> &'a LayoutTable<Origin> {
        self.table
    }

    /// The session's request of that place with what it counted so far, if it is one of those that
    /// overwrite.
    ///
    /// # Errors
    /// Those of `read(2)`.
    pub fn request(&self, place: usize) -> io::Result<Option<Overwritten<'a>>> {
        let mut all: Option<Overwritten<'a>> = None;
        let is_it = |event: &&OpenEvent| {
            event.origin == Origin::Request(place) && event.attr.write_backward
        };
        for event in self.events.iter().filter(is_it) {
            let mut counts = perf::read_counts(event.fd.as_fd(), event.attr.read_format.0)?;
            if let Some(so_far) = &all {
                let lost = so_far.counts.lost.zip(counts.lost);
                counts.value += so_far.counts.value;
                counts.lost = lost.map(|(before, lost)| before + lost);
            }
            all = Some(Overwritten {
                name: &event.name,
                records_each: event.attr.records_each(),
                counts,
            });
        }
        Ok(all)
    }
}
