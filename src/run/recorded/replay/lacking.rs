//! What a recording of another tool lacks, or does not say.

use super::{RecordedRun, ReplayError, command};
use crate::plan::{EventsPlan, Meaning};
use perf_live::events::EventRequest;
use perf_records::attr::{AttrFlags, ReadFormat, SampleType, StoredAttr};
use perf_records::perfdata::EventDesc;

impl RecordedRun {
    /// Whether it holds all that a plan records.
    ///
    /// # Errors
    /// [`ReplayError::Lacks`].
    pub fn check(&self, plan: &EventsPlan) -> Result<(), ReplayError> {
        self.has_events(plan)?;
        let Some(saved) = &self.saved else {
            return Ok(());
        };
        // No filter is applied to records: only those of the same filter are what is asked for.
        let is_there = |it: &&EventRequest| {
            let mut filters = saved.filters(&it.name);
            filters.any(|filter| filter == it.filter.as_deref())
        };
        let Some(absent) = not_of_calls(plan).find(|it| !is_there(it)) else {
            return Ok(());
        };
        let name = &absent.name;
        let there = saved.filters(name).flatten().next();
        Err(self.lacks(match (there, &absent.filter) {
            (None, Some(wanted)) => format!("`{name}` by the filter `{wanted}`, but all of them"),
            (there, _) => format!("`{name}` but where `{}`", there.unwrap_or_default()),
        }))
    }

    /// Whether it holds all events that a plan records, though the kernel may have left some of
    /// them out by a filter.
    ///
    /// # Errors
    /// [`ReplayError::Lacks`].
    pub fn has_events(&self, plan: &EventsPlan) -> Result<(), ReplayError> {
        let Some(saved) = &self.saved else {
            return Ok(());
        };
        if !saved.has_calls(&plan.recorded) {
            return Err(self.lacks("all calls that are asked for, or that following them takes"));
        }
        let mut requests = plan.requests.iter();
        if let Some(absent) = requests.find(|it| saved.filters(&it.name).next().is_none()) {
            return Err(self.lacks(format!("`{}`", absent.name)));
        }
        let contents = saved.contents();
        if contents.is_some_and(|there| there < plan.memory.contents) {
            return Err(self.lacks("as much of what was read and written as is to be shown"));
        }
        Ok(())
    }

    /// Returns the events of a plan that were recorded by filters alone that are not the plan's,
    /// each with its filter. That of calls is not among them.
    #[must_use]
    pub fn filtered(&self, plan: &EventsPlan) -> Vec<(String, String)> {
        let Some(saved) = &self.saved else {
            return Vec::new();
        };
        let mut filtered = Vec::new();
        for request in not_of_calls(plan) {
            let name = &request.name;
            let wanted = request.filter.as_deref();
            let is_enough = |filter: Option<&str>| filter.is_none() || filter == wanted;
            let mut filters = saved.filters(name).flatten();
            if let Some(filter) = filters.next()
                && !saved.filters(name).any(is_enough)
            {
                filtered.push((name.clone(), filter.to_owned()));
            }
        }
        filtered
    }

    /// Returns what another tool's recording does not say, a line each.
    pub(super) fn untold(&self) -> Vec<String> {
        let mut untold = Vec::new();
        let counts_lost = |event: &&EventDesc| event.attr.read_format.has(ReadFormat::LOST);
        if !self.events.iter().all(|event| counts_lost(&event)) {
            untold.push(
                "the recording does not say whether records were lost at its end (PERF_FORMAT_LOST)"
                    .to_owned(),
            );
        }
        if !self.has_end {
            untold.push("the recording does not say where its records end".to_owned());
        }
        untold
    }

    /// Returns why another tool did not record all that the workload did, or may not have, a line
    /// each: neither that an event is there nor that it is not says anything then. The
    /// [parts](Self::parts) are not among them.
    pub(super) fn may_lack(&self, plan: &EventsPlan) -> Vec<String> {
        let mut untold = Vec::new();
        let told = self.command.as_deref().map(command::told);
        match told.as_ref().map(|told| told.selecting) {
            Some(None) => {}
            Some(Some(option)) => untold.push(format!(
                "it was recorded with `{option}`, which may leave out what the workload did, or take in what others did"
            )),
            None => untold.push("the recording does not say with which options it was made".to_owned()),
        }
        untold.extend(self.chosen_calls().map(|words| {
            format!(
                "it was recorded with `-e {words}`: it holds these calls alone, and not by every way to make them"
            )
        }));
        untold.extend(not_of_calls(plan).filter_map(|request| {
            let (name, filter) = (&request.name, request.filter.as_ref()?);
            Some(format!(
                "the recording holds `{name}` by no filter, and the scenario asks for those alone where `{filter}`"
            ))
        }));
        untold.extend(self.lacking_calls(plan));
        untold.extend(self.unseen_ways(plan));
        untold
    }

    /// Returns of which events of a plan another tool recorded samples or some alone, a line each.
    pub(super) fn parts(&self, plan: &EventsPlan) -> Vec<String> {
        let mut parts = Vec::new();
        if self.saved.is_some() {
            return parts;
        }
        let told = self.command.as_deref().map(command::told);
        let lists = told.iter().flat_map(|told| &told.events);
        let limited = lists.flat_map(|list| command::words(list));
        parts.extend(
            limited
                .filter(|word| command::is_limited(word))
                .map(|word| format!("the recording holds the first records alone of `{word}`")),
        );
        let is_asked = |event: &&EventDesc| {
            let mut requests = plan.requests.iter();
            requests.any(|request| request.name == event.name)
        };
        for event in self.events.iter().filter(is_asked) {
            let (attr, name) = (&event.attr, &event.name);
            if !has_every_occurrence(attr) {
                parts.push(format!("the recording does not hold every `{name}`"));
            }
            if attr.flags.has(AttrFlags::WRITE_BACKWARD) {
                parts.push(format!(
                    "the recording holds the last `{name}` alone: older ones were overwritten"
                ));
            }
            if self.is_from_exec() && !attr.flags.has(AttrFlags::INHERIT) {
                parts.push(format!(
                    "the recording holds `{name}` of the first process alone"
                ));
            }
        }
        parts
    }

    /// Whether its events began with a program that the recorder executed; if not, they show tasks
    /// that already ran.
    pub(super) fn is_from_exec(&self) -> bool {
        let mut events = self.events.iter();
        events.any(|event| event.attr.flags.has(AttrFlags::ENABLE_ON_EXEC))
    }
}

/// Returns what a plan records besides halves of calls, which are told apart by their numbers.
fn not_of_calls(plan: &EventsPlan) -> impl Iterator<Item = &EventRequest> {
    let all = plan.requests.iter().zip(&plan.meanings);
    all.filter(|(_, meaning)| !matches!(meaning, Meaning::Enter { .. } | Meaning::Leave { .. }))
        .map(|(request, _)| request)
}

/// Whether every occurrence of a tracepoint is a sample, at any period: if its samples have a
/// period, the kernel makes one for each occurrence (`perf_swevent_event()`).
fn has_every_occurrence(attr: &StoredAttr) -> bool {
    let is_each = match attr.period_or_frequency {
        0 => false,
        1 => true,
        _ => attr.sample_type.has(SampleType::PERIOD),
    };
    is_each && !attr.flags.has(AttrFlags::FREQ)
}
