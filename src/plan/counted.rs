//! Plans counted events, from names as perf's users write them.

use super::RecordWish;
use super::calls::{ENTER, own_tracepoint, raw_format};
use super::error::EventsError;
use super::source::{Unit, is_clock};
use super::word::{Kind, Word, refuse_filter, take_apart};
use super::words;
use perf_live::events::EventRequest;
use perf_live::host::Catalogue;
use perf_records::attr::{Attr, Maps, ReadFormat, Source};
use perf_records::units::Cpu;
use syscall_model::names::{self, Abi};

/// The events that are counted if none is named: the software events of `perf stat`.
const DEFAULT: &[&str] = &[
    "task-clock",
    "context-switches",
    "cpu-migrations",
    "page-faults",
];

/// A name, and the events whose counts add up to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedEvent {
    /// What it is called.
    pub name: String,
    /// The events that are counted for it.
    pub parts: Vec<EventRequest>,
    /// The unit of its counts.
    pub unit: Option<Unit>,
    /// The CPUs on which it is opened for all tasks, if it cannot count for a single one.
    pub for_all_on: Option<Vec<Cpu>>,
    /// The number of its group; events of a group count at the same times or not at all.
    pub group: Option<usize>,
}

/// Terms about records, which counted events do not have.
const OF_RECORDS: &[&str] = &[
    "period",
    "freq",
    "call-graph",
    "max-stack",
    "stack-size",
    "nr",
    "overwrite",
    "no-overwrite",
];

impl RecordWish {
    /// Returns an event that never fires and has no records: its ring hangs up when the last task
    /// has exited.
    #[must_use]
    pub fn ends(&self) -> Attr {
        Attr {
            side_band: false,
            maps: Maps::No,
            namespaces: false,
            ..self.side_band()
        }
    }

    /// Returns these words as events that are only counted; a glob of tracepoints gives one event
    /// for each. A word for calls counts their entries. No word at all means the events of `perf
    /// stat`.
    ///
    /// Calls are counted by their own tracepoints, which show native calls alone. `raw_syscalls`
    /// also fires for 32-bit programs, and its filter sees only a number, which means another call
    /// there.
    ///
    /// # Errors
    /// [`EventsError`], for the first word that cannot be.
    pub fn counters(&self, catalogue: &dyn Catalogue) -> Result<Vec<CountedEvent>, EventsError> {
        if self.words.is_empty() {
            let words = DEFAULT.iter().map(|word| ((*word).to_owned(), None));
            let wish = Self {
                words: words.collect(),
                ..self.clone()
            };
            return wish.counters(catalogue);
        }
        let mut events = Vec::new();
        for (at, (word, filter)) in self.words.iter().enumerate() {
            let filter = filter.as_deref();
            let refuse = |why| {
                let name = word.clone();
                Err(EventsError::Cannot { at, name, why })
            };
            if !word.starts_with('{') {
                let wanted = take_apart(at, word, "", filter, catalogue)?;
                self.counter(&wanted, None, catalogue, &mut events)?;
                continue;
            }
            let Some((members, letters)) = words::group(word) else {
                return refuse(
                    "a group is written `{a,b}`, and modifiers of all its members `{a,b}:u`",
                );
            };
            if filter.is_some() {
                return refuse(
                    "a filter is of one event: name that alone, or last and in no group",
                );
            }
            if members.is_empty() {
                return refuse("it has no members");
            }
            for member in members {
                let wanted = take_apart(at, member, letters, None, catalogue)?;
                self.counter(&wanted, Some(at), catalogue, &mut events)?;
            }
        }
        for part in events.iter_mut().flat_map(|event| &mut event.parts) {
            let times = ReadFormat::TOTAL_TIME_ENABLED.0 | ReadFormat::TOTAL_TIME_RUNNING.0;
            let Attr {
                source,
                inherit,
                modes,
                ..
            } = part.attr;
            part.attr = Attr {
                inherit,
                modes,
                enable_on_exec: self.on_exec,
                exclude_kernel: self.exclude_kernel,
                read_format: ReadFormat(times),
                ..Attr::counting(source)
            };
        }
        Ok(events)
    }

    /// Plans what one word counts.
    fn counter(
        &self,
        wanted: &Word<'_>,
        group: Option<usize>,
        catalogue: &dyn Catalogue,
        events: &mut Vec<CountedEvent>,
    ) -> Result<(), EventsError> {
        for term in OF_RECORDS {
            wanted.refuse(term, "what is counted leaves no records")?;
        }
        let name = |known: &str| {
            wanted
                .terms
                .name
                .clone()
                .unwrap_or_else(|| known.to_owned())
        };
        let event = |name, parts| CountedEvent {
            name,
            parts,
            unit: None,
            for_all_on: None,
            group,
        };
        match wanted.kind() {
            Kind::Source(named) => {
                refuse_filter(wanted)?;
                if is_clock(named.source) {
                    wanted.refuse_modes("a clock counts in all modes")?;
                }
                let mut part = self.named(&wanted.shown, named.source, None, &wanted.terms);
                part.attr.modes = wanted.modes;
                events.push(CountedEvent {
                    unit: named.unit.clone(),
                    for_all_on: named.for_all_on.clone(),
                    ..event(name(&wanted.shown), vec![part])
                });
            }
            Kind::Tracepoints | Kind::Probe => {
                let parts = self.found(wanted, catalogue)?.into_iter();
                events.extend(parts.map(|part| event(name(&part.name), vec![part])));
            }
            Kind::Calls => {
                refuse_filter(wanted)?;
                let parts = self.entered(wanted, catalogue)?;
                events.push(event(name(wanted.name), parts));
            }
        }
        Ok(())
    }

    /// Counts the entries of these calls. A call without a tracepoint is not in this kernel.
    fn entered(
        &self,
        wanted: &Word<'_>,
        catalogue: &dyn Catalogue,
    ) -> Result<Vec<EventRequest>, EventsError> {
        let calls = wanted.calls()?;
        let named = |name: &str, id| self.named(name, Source::Tracepoint(id), None, &wanted.terms);
        if calls.is_everything() {
            return Ok(vec![named(ENTER, raw_format(ENTER, catalogue)?.id)]);
        }
        let mut parts = Vec::new();
        let native = Abi::native();
        for call in calls
            .numbers(native)
            .filter_map(|number| names::name(native, number))
        {
            if let Some((name, format)) = own_tracepoint("sys_enter", call, catalogue)? {
                parts.push(named(name.as_str(), format.id));
            }
        }
        Ok(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_live::host::Host;
    use perf_records::attr::{SampleType, Sampling};
    use std::path::Path;

    fn counters(words: &[&str]) -> Result<Vec<CountedEvent>, EventsError> {
        let words = words.iter().map(|word| ((*word).to_owned(), None));
        let wish = RecordWish {
            words: words.collect(),
            inherit: true,
            ..RecordWish::default()
        };
        wish.counters(&Host::at(Path::new("/nonexistent")))
    }

    #[test]
    fn nothing_named_is_what_perf_stat_counts_then_and_nothing_has_records() {
        let counters = counters(&[]).unwrap();
        let names: Vec<_> = counters.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(names, DEFAULT);
        for event in counters.iter().flat_map(|event| &event.parts) {
            assert_eq!(event.attr.sampling, Sampling::Never);
            assert_eq!(event.attr.sample_type, SampleType::default());
            assert!(event.attr.inherit);
        }
    }

    #[test]
    fn a_term_about_records_is_refused() {
        for term in [
            "period=5",
            "freq=9",
            "call-graph=no",
            "max-stack=3",
            "nr=1",
            "overwrite",
        ] {
            let word = format!("page-faults/{term}/");
            let error = counters(&[&word]).unwrap_err();
            assert!(matches!(error, EventsError::Terms { at: 0, .. }), "{error}");
        }
        let named = counters(&["page-faults/name=touched,no-inherit/"]).unwrap();
        let [touched] = named.as_slice() else {
            panic!("{named:?}")
        };
        assert_eq!(touched.name, "touched");
        assert!(touched.parts.iter().all(|part| !part.attr.inherit));
    }
}
