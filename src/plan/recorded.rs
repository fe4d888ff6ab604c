//! Plans recorded events, from names as perf's users write them.

use super::calls::{ENTER, LEAVE, MOST_CALLS, RAW, own_tracepoint, raw_format, registers_of};
use super::error::EventsError;
use super::found::Found;
use super::source;
use super::terms::Terms;
use super::word::{Kind, Word, refuse_filter, take_apart};
use perf_live::events::EventRequest;
use perf_live::host::Catalogue;
use perf_records::attr::{Attr, Chain, Maps, ReadFormat, SampleType, Sampling, Source};
use syscall_model::names::{self, Abi};
use syscall_model::select::{FilterPlan, Selection, native_filter};

/// The default samples a second of an event that is no tracepoint, as in perf.
const FREQUENCY: u64 = 4000;

/// What is to be recorded.
#[derive(Clone, Debug, Default)]
pub struct RecordWish {
    /// Events, each with its terms and its filter: calls, globs and classes of them; tracepoints,
    /// `sys:*`; software events. None means `cpu-clock`.
    pub words: Vec<(String, Option<String>)>,
    /// How often there is a sample; `None` for perf's default: every occurrence of a tracepoint,
    /// 4000 a second of other events.
    pub sampling: Option<Sampling>,
    /// The call chains of samples.
    pub call_chain: Option<Chain>,
    /// Whether the oldest records are overwritten, unless a term says otherwise.
    pub overwrite: bool,
    /// Whether the tasks that a task creates are followed.
    pub inherit: bool,
    /// Whether it begins at the next `execve(2)`.
    pub on_exec: bool,
    /// Whether the kernel's part is left out.
    pub exclude_kernel: bool,
    /// Whether the kernel counts lost records.
    pub has_lost: bool,
    /// How many samples a second the kernel allows an event; `None` if it does not say.
    pub most_samples: Option<u64>,
}

impl RecordWish {
    fn attr(&self, source: Source, terms: &Terms) -> Attr {
        use SampleType as S;
        let each = match source {
            Source::Tracepoint(_) | Source::Breakpoint { .. } => true,
            source => matches!(source, Source::DUMMY | Source::BPF_OUTPUT),
        };
        let base = [S::IDENTIFIER, S::IP, S::TID, S::TIME, S::CPU, S::PERIOD];
        let mut sample_type = base.into_iter().fold(S::default(), S::and);
        if matches!(source, Source::Breakpoint { .. }) {
            sample_type = sample_type.and(S::ADDR);
        } else if each && source != Source::DUMMY {
            sample_type = sample_type.and(S::RAW);
        }
        let lost = if self.has_lost { ReadFormat::LOST.0 } else { 0 };
        Attr {
            sampling: match terms.sampling.or(self.sampling) {
                Some(sampling) => sampling,
                None if each => Sampling::Period(1),
                // As perf does: the default frequency is lowered to the machine's limit, a written
                // one is not.
                None => Sampling::Frequency(FREQUENCY.min(self.most_samples.unwrap_or(FREQUENCY))),
            },
            sample_type,
            read_format: ReadFormat(ReadFormat::ID.0 | lost),
            inherit: terms.inherit.unwrap_or(self.inherit),
            enable_on_exec: self.on_exec,
            exclude_kernel: self.exclude_kernel,
            write_backward: self.overwrites(terms),
            ..Attr::counting(source)
        }
        .with_chain(terms.chain(self.call_chain))
    }

    fn overwrites(&self, terms: &Terms) -> bool {
        terms.overwrite.unwrap_or(self.overwrite)
    }

    /// Returns the event whose ring gets names, forks, exits, mappings of code and namespaces, and
    /// which never fires. These records are never overwritten.
    #[must_use]
    pub fn side_band(&self) -> Attr {
        // Decided by the words alone, as their meaning is only found out with the events. More
        // mappings than needed do no harm.
        let is_copied =
            |word: &str| word.contains("call-graph=dwarf") || word.contains("stack-size=");
        let copies_stacks = self.call_chain.is_some_and(|chain| chain.user_stack > 0)
            || self.words.iter().any(|(word, _)| is_copied(word));
        let without_chains = Self {
            call_chain: None,
            words: Vec::new(),
            ..self.clone()
        };
        Attr {
            sampling: Sampling::Never,
            side_band: true,
            maps: match copies_stacks {
                // perf finds there the tables by which it follows a copy of the stack.
                true => Maps::All,
                false => Maps::Files,
            },
            // Seeing other tasks in the kernel takes the same right as seeing namespaces.
            namespaces: !self.exclude_kernel,
            exclude_kernel: true,
            write_backward: false,
            ..without_chains.attr(Source::DUMMY, &Terms::default())
        }
    }

    /// Whether an event can be opened and would never show anything, as the kernel's part is left
    /// out. The kernel then passes on only tracepoints that it fires with the registers of user
    /// mode (`perf_tp_event_match()`, kernel/events/core.c). Of a tracepoint of the kernel's other
    /// than `raw_syscalls` no records can be opened then, but a counter can
    /// (`perf_trace_event_perm()`, kernel/trace/trace_event_perf.c).
    #[must_use]
    pub fn never_shows(&self, event: &EventRequest) -> bool {
        let Attr { source, modes, .. } = event.attr;
        let is_of_kernel = match source {
            Source::Tracepoint(_) => {
                let system = event.name.split_once(':').map(|(system, _)| system);
                system == Some(RAW)
            }
            source => source::is_of_kernel(source),
        };
        self.exclude_kernel && (is_of_kernel || modes.exclude_user && !modes.exclude_kernel)
    }

    fn refuse_unseen(&self, at: usize, event: &EventRequest) -> Result<(), EventsError> {
        let name = || event.name.clone();
        match self.never_shows(event) {
            true => Err(EventsError::OutOfReach { at, name: name() }),
            false => Ok(()),
        }
    }

    /// Returns the events, those of calls first.
    ///
    /// # Errors
    /// [`EventsError`], for the first word that cannot be.
    pub fn events(&self, catalogue: &dyn Catalogue) -> Result<Vec<EventRequest>, EventsError> {
        let mut calls = Vec::new();
        let mut events = Vec::new();
        for wanted in self.wanted(catalogue)? {
            let terms = &wanted.terms;
            if self.overwrites(terms) {
                wanted.refuse("nr", "the first that came are overwritten")?;
            }
            match wanted.kind() {
                Kind::Source(named) => {
                    refuse_filter(&wanted)?;
                    let mut event = self.named(&wanted.shown, named.source, None, terms);
                    event.attr.modes = wanted.modes;
                    self.refuse_unseen(wanted.at, &event)?;
                    source::refuse_same_id(wanted.at, &event, &events)?;
                    events.push(event);
                }
                Kind::Tracepoints | Kind::Probe => {
                    for event in self.found(&wanted, catalogue)? {
                        self.refuse_unseen(wanted.at, &event)?;
                        // perf keeps an event that is named twice as two events; here each record
                        // would come twice.
                        if !events.contains(&event) {
                            events.push(event);
                        }
                    }
                }
                Kind::Calls => {
                    wanted.refuse_unknown()?;
                    refuse_filter(&wanted)?;
                    let why = "calls are recorded as `raw_syscalls`, one event where they are entered and one where they return";
                    wanted.refuse("name", why)?;
                    calls.push(wanted);
                }
            }
        }
        let mut all = self.all_calls(&calls, catalogue)?;
        all.append(&mut events);
        if all.is_empty() {
            let none = Terms::default();
            all.push(self.named("cpu-clock", Source::Software(0), None, &none));
        }
        for event in &mut all {
            // Without them a recording does not tell 32-bit calls of 64-bit programs.
            event.attr = event.attr.with_user_registers(registers_of(&event.name));
            match (event.attr.sampling, self.most_samples) {
                (Sampling::Frequency(frequency), Some(most)) if frequency > most => {
                    return Err(EventsError::TooOften {
                        name: event.name.clone(),
                        frequency,
                        most,
                    });
                }
                _ => {}
            }
        }
        Ok(all)
    }

    /// The words, taken apart.
    fn wanted<'a>(&'a self, catalogue: &dyn Catalogue) -> Result<Vec<Word<'a>>, EventsError> {
        let words = self.words.iter().enumerate();
        words
            .map(|(at, (word, filter))| match word.starts_with('{') {
                true => Err(EventsError::Cannot {
                    at,
                    name: word.clone(),
                    why: "a group is counted by `harness stat`; recorded are single events",
                }),
                false => take_apart(at, word, "", filter.as_deref(), catalogue),
            })
            .collect()
    }

    /// The tracepoints or the probe that a word names.
    pub(super) fn found(
        &self,
        wanted: &Word<'_>,
        catalogue: &dyn Catalogue,
    ) -> Result<Vec<EventRequest>, EventsError> {
        let found = wanted.found(catalogue)?.into_iter();
        let event = |found: Found| {
            let filter = wanted.filter.map(str::to_owned);
            let source = Source::Tracepoint(found.format.id);
            let mut event = self.named(&found.name, source, filter, &wanted.terms);
            event.attr.modes = wanted.modes;
            event
        };
        Ok(found.map(event).collect())
    }

    pub(super) fn named(
        &self,
        name: &str,
        source: Source,
        filter: Option<String>,
        terms: &Terms,
    ) -> EventRequest {
        EventRequest {
            filter,
            shown: terms.name.clone(),
            at_most: terms.at_most,
            ..EventRequest::new(name, self.attr(source, terms))
        }
    }

    /// All calls whose terms say the same are one choice.
    fn all_calls(
        &self,
        words: &[Word<'_>],
        catalogue: &dyn Catalogue,
    ) -> Result<Vec<EventRequest>, EventsError> {
        let mut groups: Vec<Vec<&Word<'_>>> = Vec::new();
        let said = |word: &Word<'_>| (self.attr(Source::DUMMY, &word.terms), word.terms.at_most);
        for word in words {
            let is_same = |group: &&mut Vec<&Word<'_>>| {
                group.first().is_some_and(|one| said(one) == said(word))
            };
            match groups.iter_mut().find(is_same) {
                Some(group) => group.push(word),
                None => groups.push(vec![word]),
            }
        }
        let mut all = Vec::new();
        for group in groups {
            all.append(&mut self.calls(&group, catalogue)?);
        }
        Ok(all)
    }

    fn calls(
        &self,
        words: &[&Word<'_>],
        catalogue: &dyn Catalogue,
    ) -> Result<Vec<EventRequest>, EventsError> {
        let list: Vec<&str> = words.iter().map(|word| word.name).collect();
        let selection = Selection::parse(&list, Abi::native()).map_err(|unknown| {
            match words.get(unknown.index) {
                Some(word) => word.no_call(unknown),
                None => EventsError::Syscall {
                    at: (0, 0),
                    unknown,
                },
            }
        })?;
        if let (Some(word), None, false) = (
            words.first(),
            selection.names().next(),
            selection.is_empty(),
        ) {
            return Err(EventsError::Cannot {
                at: word.at,
                name: word.name.to_owned(),
                why: "32-bit programs alone have it, and `harness trace` tells their calls",
            });
        }
        let none = Terms::default();
        let terms = words.first().map_or(&none, |word| &word.terms);
        if self.exclude_kernel {
            return self.own_calls(words, &selection, terms, catalogue);
        }
        let mut events = Vec::new();
        for (name, enter) in [(ENTER, true), (LEAVE, false)] {
            let source = Source::Tracepoint(raw_format(name, catalogue)?.id);
            match native_filter(&selection, enter) {
                FilterPlan::Nothing => {}
                FilterPlan::Everything => events.push(self.named(name, source, None, terms)),
                FilterPlan::Only(text) => events.push(self.named(name, source, Some(text), terms)),
            }
        }
        Ok(events)
    }

    /// Records each call by its own tracepoints, which alone are handed the registers of the
    /// program. A call without them is not in this kernel.
    fn own_calls(
        &self,
        words: &[&Word<'_>],
        selection: &Selection,
        terms: &Terms,
        catalogue: &dyn Catalogue,
    ) -> Result<Vec<EventRequest>, EventsError> {
        let native = Abi::native();
        if selection.is_everything() || selection.numbers(native).count() > MOST_CALLS {
            return Err(EventsError::TooMany);
        }
        let mut events = Vec::new();
        for call in selection
            .numbers(native)
            .filter_map(|number| names::name(native, number))
        {
            for half in ["sys_enter", "sys_exit"] {
                if let Some((name, format)) = own_tracepoint(half, call, catalogue)? {
                    let source = Source::Tracepoint(format.id);
                    events.push(self.named(name.as_str(), source, None, terms));
                }
            }
        }
        match words.first() {
            Some(word) if events.is_empty() && !selection.is_empty() => Err(EventsError::Cannot {
                at: word.at,
                name: word.name.to_owned(),
                why: "this kernel has no tracepoint of its own for it, by which an ordinary user sees calls",
            }),
            _ => Ok(events),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_live::host::Host;

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
    fn events(wish: &RecordWish) -> Result<Vec<EventRequest>, EventsError> {
        wish.events(&Host::at(std::path::Path::new("/nonexistent")))
    }

    #[test]
    fn what_is_nearly_a_software_event_is_no_call() {
        for (word, wanted) in [("page-fault", "page-faults"), ("cpu-clok", "cpu-clock")] {
            let error = events(&wish(&[(word, None)])).unwrap_err();
            assert_eq!(error.to_string(), format!("there is no event `{word}`"));
            assert_eq!(error.hint(), Some(format!("did you mean `{wanted}`?")));
        }
    }

    #[test]
    fn more_samples_than_the_kernel_allows_are_refused_and_by_default_there_are_fewer() {
        let mut wish = wish(&[("cpu-clock", None)]);
        wish.most_samples = Some(1000);
        let sampling = |wish: &RecordWish| events(wish).unwrap()[0].attr.sampling;
        assert_eq!(sampling(&wish), Sampling::Frequency(1000));
        wish.words.clear();
        assert_eq!(sampling(&wish), Sampling::Frequency(1000));
        for words in [vec![], vec![("cpu-clock/freq=1001/".to_owned(), None)]] {
            let frequency = Some(Sampling::Frequency(1001));
            wish.sampling = frequency.filter(|_| words.is_empty());
            wish.words = words;
            let refused = events(&wish).unwrap_err();
            assert_eq!(
                refused.to_string(),
                "`cpu-clock` is to have 1001 samples a second, and `kernel.perf_event_max_sample_rate` is 1000"
            );
        }
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

    #[test]
    fn terms_hold_for_their_event_alone() {
        let mut wish = wish(&[
            ("cpu-clock/period=9,call-graph=no,overwrite,name=x/", None),
            ("faults/max-stack=3/", None),
            ("cs/no-inherit,nr=4/", None),
        ]);
        (wish.call_chain, wish.inherit) = (Some(Chain::default()), true);
        let recorded = events(&wish).unwrap();
        let [clock, faults, switches] = recorded.as_slice() else {
            panic!("{recorded:?}");
        };
        let has_chain = |event: &EventRequest| event.attr.sample_type.has(SampleType::CALLCHAIN);
        assert_eq!(clock.attr.sampling, Sampling::Period(9));
        assert_eq!(
            (clock.attr.write_backward, clock.shown.as_deref()),
            (true, Some("x"))
        );
        assert_eq!((has_chain(clock), has_chain(faults)), (false, true));
        assert_eq!(
            (faults.attr.max_stack, faults.attr.raw().sample_max_stack),
            (3, 3)
        );
        assert_eq!((switches.attr.inherit, switches.at_most), (false, Some(4)));
        assert!(faults.attr.inherit && !faults.attr.write_backward);
    }

    #[test]
    fn letters_leave_out_modes() {
        let words = ["faults:u", "cpu-clock:k", "mem:0x1000:w:u"];
        let wish = wish(&words.map(|word| (word, None)));
        let excluded = |event: &EventRequest| {
            let raw = event.attr.raw();
            (raw.exclude_user(), raw.exclude_kernel(), raw.exclude_hv())
        };
        let excluded: Vec<_> = events(&wish).unwrap().iter().map(excluded).collect();
        let (user, kernel) = ((0, 1, 1), (1, 0, 1));
        assert_eq!(excluded, [user, kernel, user]);
    }

    #[test]
    fn what_one_occurrence_fires_twice_is_refused_as_nobody_could_tell_the_records_apart() {
        let of = |words: &[&str]| {
            let words: Vec<_> = words.iter().map(|word| (*word, None)).collect();
            events(&wish(&words)).map(|events| events.len())
        };
        assert!(matches!(
            of(&["faults", "faults:k"]),
            Err(EventsError::Cannot { at: 1, .. })
        ));
        assert_eq!(of(&["faults:u", "faults:k", "minor-faults"]).unwrap(), 3);
        assert_eq!(of(&["cpu-clock", "cpu-clock:u"]).unwrap(), 2);
    }

    #[test]
    fn who_says_how_deep_a_chain_is_wants_one() {
        let recorded = events(&wish(&[("cs/max-stack=2/", None)])).unwrap();
        assert!(recorded[0].attr.sample_type.has(SampleType::CALLCHAIN));
        let recorded = events(&wish(&[("cs/max-stack=2,call-graph=no/", None)])).unwrap();
        assert!(!recorded[0].attr.sample_type.has(SampleType::CALLCHAIN));
    }

    #[test]
    fn the_first_records_are_not_counted_out_where_they_are_overwritten() {
        let mut wish = wish(&[("cs/nr=4/", None)]);
        assert!(events(&wish).is_ok());
        wish.overwrite = true;
        let refused = perf_live::errors::chain(&events(&wish).unwrap_err());
        let said = "the terms of `cs/nr=4/` are wrong: at character 4: `nr` cannot be here: the first that came are overwritten";
        assert_eq!(refused, said);
    }

    #[test]
    fn the_side_band_is_never_overwritten() {
        let mut wish = wish(&[("cs", None), ("faults/no-overwrite/", None)]);
        wish.overwrite = true;
        let recorded = events(&wish).unwrap();
        let backward: Vec<_> = recorded
            .iter()
            .map(|event| event.attr.write_backward)
            .collect();
        assert_eq!(backward, [true, false]);
        assert!(!wish.side_band().write_backward);
    }
}
