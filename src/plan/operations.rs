//! Plans submissions to an io_uring, which are no calls: the wanted operations, and the event that
//! shows them.

use super::error::EventsError;
use super::events::EventsPlan;
use super::filter;
use super::wanted::{Wanted, WantedEvent};
use crate::scenario::nearest;
use crate::trace::{Naming, SUBMISSION};
use perf_live::host::{Catalogue, HostError};
use perf_records::format::Format;
use perf_records::glob::glob;
use perf_records::units::TracepointName;
use std::collections::BTreeSet;
use std::sync::Arc;
use syscall_model::names::{self, Abi};
use syscall_model::select::Selection;
use syscall_model::uring;

/// The tracepoint of a submission: it had the second name in Linux 6.1, and has the first one since
/// 6.12.
pub(super) const TRACEPOINTS: [&str; 2] = [
    "io_uring:io_uring_submit_req",
    "io_uring:io_uring_submit_sqe",
];

/// What is recorded of submissions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// The operations that are recorded, by number.
    pub recorded: BTreeSet<u8>,
    /// Whether submissions are wanted and cannot be recorded: the kernel has no tracepoint for
    /// them, or none for this user. A kernel without io_uring also has none, and then nothing is
    /// missed; the run still looks for calls that set a ring up or enter it.
    pub is_blind: bool,
}

/// Whether a word names operations of io_uring.
pub(super) fn is_operation(word: &str) -> bool {
    word.starts_with(uring::PREFIX)
}

/// Returns the operations that a word means, which may be a glob; or the most similar name.
pub(super) fn meant(word: &str) -> Result<BTreeSet<u8>, Option<String>> {
    let meant: BTreeSet<u8> = (0..=u8::MAX)
        .filter(|opcode| glob(word, &*uring::event_name(*opcode)))
        .collect();
    if meant.is_empty() {
        return Err(nearest(word, uring::event_names()).map(str::to_owned));
    }
    Ok(meant)
}

/// Returns the format of a submission's tracepoint, if this kernel has it.
pub(super) fn tracepoint(
    catalogue: &dyn Catalogue,
) -> Result<Option<(&'static str, Arc<Format>)>, HostError> {
    for name in TRACEPOINTS {
        let Some(parsed) = TracepointName::parse(name) else {
            continue;
        };
        match catalogue.format(&parsed) {
            Err(HostError::NoTracepoint { .. }) => {}
            format => return Ok(Some((name, format?))),
        }
    }
    Ok(None)
}

impl EventsPlan {
    /// Opens the tracepoint of submissions: for all of them if `io_uring_enter` is among the calls,
    /// and for the operations asked for by name. One event serves all wants, so that one submission
    /// has one record.
    pub(super) fn add_operations(
        &mut self,
        wants: &[Wanted],
        catalogue: &dyn Catalogue,
    ) -> Result<(), EventsError> {
        let mut plain = BTreeSet::new();
        let mut filtered = Vec::new();
        let mut asked = None;
        for (at, want) in wants.iter().enumerate() {
            let Wanted::Event(WantedEvent { name, filter, .. }) = want else {
                continue;
            };
            if !is_operation(name) {
                continue;
            }
            asked.get_or_insert(at);
            let meant = meant(name).map_err(|nearest| EventsError::Operation {
                at,
                name: name.clone(),
                nearest,
            })?;
            match filter {
                Some(filter) => filtered.push((at, meant, filter)),
                None => plain.extend(meant),
            }
        }
        if self.selection.as_ref().is_some_and(takes_submissions) {
            plain.extend(0..=u8::MAX);
        }
        if plain.is_empty() && filtered.is_empty() {
            return Ok(());
        }
        let [newest, _] = TRACEPOINTS;
        if self.reach.has_own_tracepoints() {
            self.operations.is_blind = true;
            let name = newest.to_owned();
            return asked.map_or(Ok(()), |at| Err(EventsError::OutOfReach { at, name }));
        }
        let Some((name, format)) = tracepoint(catalogue)? else {
            self.operations.is_blind = true;
            return asked.map_or(Ok(()), |at| {
                Err(EventsError::Tracepoint {
                    at,
                    name: newest.to_owned(),
                    nearest: None,
                })
            });
        };
        if let Some(field) = SUBMISSION
            .iter()
            .find(|field| format.field(field).is_none())
        {
            return Err(EventsError::Shape {
                name: name.to_owned(),
                field,
            });
        }
        let mut filters = Vec::new();
        for (at, meant, written) in filtered {
            filter::check_of_scenario(written, &format).map_err(|source| EventsError::Filter {
                at,
                name: name.to_owned(),
                source,
            })?;
            filters.push(match filter_text(&meant) {
                Some(operations) => Some(format!("(({operations}) && ({written}))")),
                None => Some(format!("({written})")),
            });
            self.operations.recorded.extend(meant);
        }
        if !plain.is_empty() {
            filters.push(filter_text(&plain));
            self.operations.recorded.extend(plain);
        }
        // Where one wish has no filter, everything is let through.
        let filters: Option<Vec<String>> = filters.into_iter().collect();
        let filter = filters.map(|filters| filters.join(" || "));
        self.open(name, &format, filter, Naming::Operations);
        Ok(())
    }
}

fn takes_submissions(selection: &Selection) -> bool {
    let enter = names::number(Abi::native(), "io_uring_enter");
    enter.is_some_and(|number| selection.contains(Abi::native(), number))
}

/// Returns the filter that passes these operations; `None` for all of them.
fn filter_text(operations: &BTreeSet<u8>) -> Option<String> {
    if operations.len() > usize::from(u8::MAX) {
        return None;
    }
    let terms: Vec<String> = operations
        .iter()
        .map(|opcode| format!("opcode == {opcode}"))
        .collect();
    Some(terms.join(" || "))
}
