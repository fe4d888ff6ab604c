//! By which ways a recording of another tool shows that a call was made.
//!
//! A live run records these ways beside what is asked for (`plan::evasions`). Of a recording it is
//! to be found out whether it has them.

use super::{ENTER, RecordedRun, command};
use crate::plan::{EventsPlan, Reach};
use crate::run::Convention;
use perf_live::units::SoftwareEvent;
use perf_records::attr::SampleType;
use perf_records::perfdata::EventDesc;
use syscall_model::names::{self, Abi};
use syscall_model::select::Selection;
use syscall_model::uring;

impl RecordedRun {
    /// Returns what does not tell by which convention its calls were made.
    pub(super) fn convention(&self, plan: &EventsPlan) -> Option<Convention> {
        let has_calls = plan.selection.is_some() || plan.every || plan.named_calls.is_some();
        if !has_calls {
            return None;
        }
        if plan.reach != Reach::Everything || self.chosen_calls().is_some() {
            return Some(Convention::NativeAlone);
        }
        let is_of_calls = |event: &&EventDesc| [ENTER, super::LEAVE].contains(&event.name.as_str());
        let lacks = |event: &EventDesc| !event.attr.sample_type.has(SampleType::REGS_USER);
        let mut events = self.events.iter().filter(is_of_calls);
        events.any(lacks).then_some(Convention::ByMappings)
    }

    /// Returns the words by which `harness record` was told to record some calls alone; `None` if
    /// it has all of them, or none as `raw_syscalls`.
    ///
    /// The events have no trace of that: the kernel's filter is in no perf.data.
    #[must_use]
    pub fn chosen_calls(&self) -> Option<String> {
        if self.saved.is_some() || !self.has(ENTER) {
            return None;
        }
        let told = command::told(self.command.as_deref()?);
        let words: Vec<&str> = told
            .events
            .iter()
            .flat_map(|list| command::words(list))
            .collect();
        let is_event = |word: &str| {
            let name = word
                .trim_start_matches('{')
                .split(['/', '}'])
                .next()
                .unwrap_or_default();
            let is_tracepoint =
                word.contains(':') && !word.trim_start_matches('!').starts_with('/');
            is_tracepoint
                || SoftwareEvent::parse(name).is_some()
                || self.has(name)
                || self.has(word)
        };
        let calls: Vec<&str> = words.into_iter().filter(|word| !is_event(word)).collect();
        if calls.is_empty() {
            return None;
        }
        let names: Vec<&str> = calls
            .iter()
            .map(|word| command::without_terms(word))
            .collect();
        let are_all = Selection::parse(&names, Abi::native())
            .is_ok_and(|selection| selection.is_everything());
        (!are_all).then(|| calls.join(","))
    }

    /// Returns what a recording of some calls' own tracepoints lacks of the calls that are asked
    /// for. That the machine had no tracepoint for a call it does not say.
    pub(super) fn lacking_calls(&self, plan: &EventsPlan) -> Option<String> {
        if plan.reach == Reach::Everything {
            return None;
        }
        let asked = plan.selection.as_ref();
        if plan.every || asked.is_some_and(Selection::is_everything) {
            let said = "the recording holds calls by their own tracepoints, and not all of those that are asked for";
            return Some(said.to_owned());
        }
        let lacks = |call: &&str| plan.without_tracepoint.contains(call);
        let call = asked
            .into_iter()
            .flat_map(Selection::own_names)
            .find(lacks)?;
        Some(format!(
            "the recording does not hold `{call}`, which is asked for"
        ))
    }

    /// Returns by which ways wanted calls may have been made that the recording does not show, a
    /// line each.
    pub(super) fn unseen_ways(&self, plan: &EventsPlan) -> Vec<String> {
        // Where all calls are recorded, so are these.
        if plan.reach == Reach::Everything {
            return Vec::new();
        }
        let wanted = || plan.selection.iter().chain(&plan.named_calls);
        let first =
            |does: fn(&str) -> bool| wanted().flat_map(Selection::names).find(|name| does(name));
        let is_held = |call: &str| {
            let mut names = names::tracefs_names(call);
            names.any(|name| self.has(&format!("syscalls:sys_enter_{name}")))
        };
        let ways = [
            ("io_uring_setup", first(uring::does)),
            ("io_uring_enter", first(uring::does)),
            (uring::AIO, first(uring::aio_does)),
        ];
        let unseen = ways.into_iter().filter(|(way, _)| !is_held(way));
        unseen
            .filter_map(|(way, call)| {
                let call = call?;
                Some(format!(
                    "the recording does not hold `{way}`, by which what `{call}` does can be done unseen"
                ))
            })
            .collect()
    }
}
