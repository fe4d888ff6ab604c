//! From the names that perf's users write to the events that are recorded.

use super::calls::{ENTER, LEAVE, raw_format};
use super::error::EventsError;
use super::expand::{expand, unknown_tracepoint};
use super::filter;
use crate::attr::{Attr, Maps, ReadFormat, SampleType, Sampling, Source};
use crate::events::Recorded;
use crate::host::{Catalogue, HostError};
use crate::syscall::names::Abi;
use crate::syscall::select::{FilterPlan, Selection, in_kernel_filter};

/// Software events by perf's names (`event_symbols_sw`, `tools/perf/util/parse-events.c`), and their `PERF_COUNT_SW_*`.
const SOFTWARE: &[(&str, u32)] = &[
    ("cpu-clock", 0),
    ("task-clock", 1),
    ("page-faults", 2),
    ("faults", 2),
    ("context-switches", 3),
    ("cs", 3),
    ("cpu-migrations", 4),
    ("migrations", 4),
    ("minor-faults", 5),
    ("major-faults", 6),
    ("alignment-faults", 7),
    ("emulation-faults", 8),
    ("dummy", 9),
    ("bpf-output", 10),
];

const DUMMY: u32 = 9;
const BPF_OUTPUT: u32 = 10;

/// Samples a second of an event that is no tracepoint, as perf has it.
const FREQUENCY: u64 = 4000;

/// What is to be recorded.
#[derive(Clone, Debug, Default)]
pub struct RecordWish {
    /// Events, each with its filter: calls, globs and classes of them; tracepoints, `sys:*`; software events. None means `cpu-clock`.
    pub words: Vec<(String, Option<String>)>,
    /// When there is a sample; `None` for what perf does: every occurrence of a tracepoint, else 4000 a second.
    pub sampling: Option<Sampling>,
    /// Whether samples come with call chains.
    pub call_chain: bool,
    /// Whether what a task creates is followed.
    pub inherit: bool,
    /// Whether it begins at the next `execve(2)`.
    pub on_exec: bool,
    /// Whether what happens in the kernel is left out.
    pub exclude_kernel: bool,
    /// Whether the kernel counts lost records.
    pub has_lost: bool,
}

impl RecordWish {
    fn attr(&self, source: Source) -> Attr {
        use SampleType as S;
        let each = match source {
            Source::Tracepoint(_) => true,
            Source::Software(number) => matches!(number, DUMMY | BPF_OUTPUT),
        };
        let base = [S::IDENTIFIER, S::IP, S::TID, S::TIME, S::CPU, S::PERIOD];
        let mut sample_type = base.into_iter().fold(S::default(), S::and);
        if each && source != Source::DUMMY {
            sample_type = sample_type.and(S::RAW);
        }
        if self.call_chain {
            sample_type = sample_type.and(S::CALLCHAIN);
        }
        let lost = if self.has_lost { ReadFormat::LOST.0 } else { 0 };
        Attr {
            source,
            sampling: match self.sampling {
                Some(sampling) => sampling,
                None if each => Sampling::Period(1),
                None => Sampling::Frequency(FREQUENCY),
            },
            sample_type,
            user_registers: 0,
            read_format: ReadFormat(ReadFormat::ID.0 | lost),
            inherit: self.inherit,
            enable_on_exec: self.on_exec,
            side_band: false,
            maps: Maps::No,
            namespaces: false,
            exclude_kernel: self.exclude_kernel,
            wakeup_bytes: 0,
            write_backward: false,
        }
    }

    /// The event that tells of names, forks, exits, mappings of code and namespaces, and never fires.
    #[must_use]
    pub fn side_band(&self) -> Attr {
        Attr {
            sampling: Sampling::Never,
            side_band: true,
            maps: Maps::Files,
            // To see what others do in the kernel and to see namespaces takes the same right.
            namespaces: !self.exclude_kernel,
            exclude_kernel: true,
            ..self.attr(Source::DUMMY)
        }
    }

    /// The events, those of calls first.
    ///
    /// # Errors
    /// [`EventsError`], for the first word that cannot be.
    pub fn events(&self, catalogue: &dyn Catalogue) -> Result<Vec<Recorded>, EventsError> {
        let mut calls = Vec::new();
        let mut events = Vec::new();
        for (at, (word, filter)) in self.words.iter().enumerate() {
            if let Some((_, number)) = SOFTWARE.iter().find(|(name, _)| name == word) {
                refuse_filter(at, word, filter.as_deref())?;
                events.push(self.named(word, Source::Software(*number), None));
            } else if word.contains(':') && !word.trim_start_matches('!').starts_with('/') {
                self.tracepoints(at, word, filter.as_deref(), catalogue, &mut events)?;
            } else {
                refuse_filter(at, word, filter.as_deref())?;
                calls.push((at, word.as_str()));
            }
        }
        if !calls.is_empty() {
            let mut all = self.calls(&calls, catalogue)?;
            all.append(&mut events);
            events = all;
        }
        if events.is_empty() {
            events.push(self.named("cpu-clock", Source::Software(0), None));
        }
        Ok(events)
    }

    fn named(&self, name: &str, source: Source, filter: Option<String>) -> Recorded {
        Recorded {
            name: name.to_owned(),
            attr: self.attr(source),
            filter,
        }
    }

    fn calls(
        &self,
        words: &[(usize, &str)],
        catalogue: &dyn Catalogue,
    ) -> Result<Vec<Recorded>, EventsError> {
        let list: Vec<&str> = words.iter().map(|(_, word)| *word).collect();
        let selection = Selection::parse(&list, Abi::native()).map_err(|unknown| {
            let at = words.get(unknown.index).map_or(0, |(at, _)| *at);
            EventsError::Syscall {
                at: (at, 0),
                unknown,
            }
        })?;
        let mut events = Vec::new();
        for (name, enter) in [(ENTER, true), (LEAVE, false)] {
            let source = Source::Tracepoint(raw_format(name, catalogue)?.id);
            match in_kernel_filter(&selection, enter) {
                FilterPlan::Nothing => {}
                FilterPlan::Everything => events.push(self.named(name, source, None)),
                FilterPlan::Only(text) => events.push(self.named(name, source, Some(text))),
            }
        }
        Ok(events)
    }

    fn tracepoints(
        &self,
        at: usize,
        word: &str,
        filter: Option<&str>,
        catalogue: &dyn Catalogue,
        events: &mut Vec<Recorded>,
    ) -> Result<(), EventsError> {
        for name in expand(at, word, catalogue)? {
            let format = match catalogue.format(&name) {
                Err(HostError::NoTracepoint { .. }) => {
                    return Err(unknown_tracepoint(at, name.as_str(), catalogue));
                }
                other => other?,
            };
            if let Some(text) = filter {
                let name = name.to_string();
                let wrong = |source| EventsError::Filter { at, name, source };
                filter::check(text, &format).map_err(wrong)?;
            }
            let filter = filter.map(str::to_owned);
            let event = self.named(name.as_str(), Source::Tracepoint(format.id), filter);
            // perf keeps one that is named twice as two; here they would be the same records twice.
            if !events.contains(&event) {
                events.push(event);
            }
        }
        Ok(())
    }
}

/// The kernel filters tracepoints alone.
fn refuse_filter(at: usize, word: &str, filter: Option<&str>) -> Result<(), EventsError> {
    match filter {
        None => Ok(()),
        Some(_) => Err(EventsError::NotFiltered {
            at,
            name: word.to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Host;

    fn wish(words: &[(&str, Option<&str>)]) -> RecordWish {
        let words = words.iter().map(|(word, filter)| {
            let filter = filter.map(str::to_owned);
            ((*word).to_owned(), filter)
        });
        RecordWish {
            words: words.collect(),
            ..RecordWish::default()
        }
    }

    /// A machine without tracefs: what is asked for here needs none.
    fn events(wish: &RecordWish) -> Result<Vec<Recorded>, EventsError> {
        wish.events(&Host::at(std::path::Path::new("/nonexistent")))
    }

    #[test]
    fn nothing_named_is_what_perf_records_then() {
        let recorded = events(&wish(&[])).unwrap();
        let shown: Vec<_> = recorded
            .iter()
            .map(|event| (event.name.as_str(), event.attr.source, event.attr.sampling))
            .collect();
        let clock = Source::Software(0);
        assert_eq!(shown, [("cpu-clock", clock, Sampling::Frequency(4000))]);
    }

    #[test]
    fn software_events_are_sampled_as_perf_samples_them() {
        let mut wish = wish(&[("faults", None), ("bpf-output", None), ("dummy", None)]);
        let sampling = |wish: &RecordWish| -> Vec<Sampling> {
            let recorded = events(wish).unwrap();
            recorded.iter().map(|event| event.attr.sampling).collect()
        };
        let each = Sampling::Period(1);
        assert_eq!(sampling(&wish), [Sampling::Frequency(4000), each, each]);
        wish.sampling = Some(Sampling::Period(7));
        assert_eq!(sampling(&wish), [Sampling::Period(7); 3]);
    }

    #[test]
    fn what_is_no_tracepoint_takes_no_filter() {
        for word in ["cpu-clock", "openat"] {
            let refused = events(&wish(&[(word, Some("a > 1"))])).unwrap_err();
            let said = format!("`{word}` takes no filter: the kernel filters tracepoints alone");
            assert_eq!(refused.to_string(), said);
        }
    }

    #[test]
    fn the_side_band_has_its_time_where_all_have_it() {
        let wish = wish(&[("cpu-clock", None)]);
        let (side_band, recorded) = (wish.side_band(), events(&wish).unwrap());
        for event in &recorded {
            assert_eq!(
                event.attr.layout().sample_time_offset(),
                side_band.layout().sample_time_offset()
            );
        }
        assert!(side_band.namespaces && side_band.maps == Maps::Files);
        let modest = RecordWish {
            exclude_kernel: true,
            ..wish
        };
        assert!(!modest.side_band().namespaces);
    }
}
