//! Finds out what a recording was asked to record.

use super::{ENTER, LEAVE, RecordedRun};
use crate::plan::{Reach, Wanted, WantedEvent};
use perf_live::units::SoftwareEvent;
use perf_records::attr::{AttrFlags, Chain, SampleType, Sampling};
use perf_records::perfdata::EventDesc;

impl RecordedRun {
    /// Returns what the recorder was asked to record.
    #[must_use]
    pub fn wanted(&self) -> Vec<Wanted> {
        let every_call = || vec!["all".to_owned()];
        let tracepoint = |name: &String| {
            Wanted::Event(WantedEvent {
                name: name.clone(),
                chain: self.chain_of(|event| event.name == *name),
                sampling: self.sampling_of(name),
                ..WantedEvent::default()
            })
        };
        if let Some(saved) = &self.saved {
            let calls = saved.calls.clone().map(Wanted::Syscalls);
            let tracepoints = saved.tracepoints.iter().map(tracepoint);
            return calls
                .into_iter()
                .chain(tracepoints)
                .chain(self.chains())
                .collect();
        }
        let is_call = |name: &str| {
            [ENTER, LEAVE].contains(&name)
                || name.starts_with("syscalls:sys_enter_")
                || name.starts_with("syscalls:sys_exit_")
        };
        let names = self.events.iter().map(|event| &event.name);
        let words = match self.reach() {
            Reach::Everything => every_call(),
            _ => self.own_calls(),
        };
        let is_without_calls = words.is_empty();
        let calls = (!words.is_empty()).then_some(Wanted::Syscalls(words));
        let is_other = |name: &&String| {
            let is_known =
                || self.format_of(name).is_some() || SoftwareEvent::parse(name).is_some();
            !is_call(name) && is_known()
        };
        let others = names.filter(is_other).map(tracepoint);
        let chains = self.chains().filter(|_| !is_without_calls);
        calls.into_iter().chain(others).chain(chains).collect()
    }

    /// Returns the call chains that its calls have.
    fn chains(&self) -> Option<Wanted> {
        let is_entering = |event: &EventDesc| {
            event.name == ENTER || event.name.starts_with("syscalls:sys_enter_")
        };
        let chain = self.chain_of(is_entering)?;
        Some(Wanted::Chains(Vec::new(), chain))
    }

    /// Returns the kind of call chain of the first such event that has one.
    fn chain_of(&self, is_it: impl Fn(&EventDesc) -> bool) -> Option<Chain> {
        let mut events = self.events.iter().filter(|event| is_it(event));
        let found = events.find(|event| event.attr.sample_type.has(SampleType::CALLCHAIN))?;
        Some(Chain {
            user_stack: found.attr.user_stack,
            ..Chain::default()
        })
    }

    /// Returns how an event was sampled, unless each occurrence has a record.
    fn sampling_of(&self, name: &str) -> Option<Sampling> {
        let found = self.events.iter().find(|event| event.name == *name)?;
        let how_often = found.attr.period_or_frequency;
        if found.attr.flags.has(AttrFlags::FREQ) {
            Some(Sampling::Frequency(how_often))
        } else {
            (how_often > 1).then_some(Sampling::Period(how_often))
        }
    }
}
