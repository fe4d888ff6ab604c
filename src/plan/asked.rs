//! Plans events in two steps: first what is asked for, then what shows the calls.

use super::calls::{MOST_CALLS, Reach};
use super::chains;
use super::crash;
use super::error::EventsError;
use super::evasions;
use super::events::{EventsPlan, Grouping, Meaning, PlannedEvent};
use super::filter;
use super::following;
use super::found::{Found, Sought};
use super::memory::MemoryPlan;
use super::operations::{self, Operations};
use super::probes;
use super::wanted::{Wanted, WantedEvent};
use crate::matching::MARKING;
use crate::trace::Naming;
use perf_live::events::EventRequest;
use perf_live::host::Catalogue;
use perf_live::units::{CALLER, Probe, SoftwareEvent};
use perf_records::attr::Source;
use std::collections::BTreeSet;
use std::mem::take;
use std::sync::Arc;
use syscall_model::files::Watched;
use syscall_model::names::Abi;
use syscall_model::select::Selection;

// An inherited event slows each fork, by the square of their number: 10 of them make it 1.6 times
// as slow, 200 of them 48 times.
const INHERITED: usize = 6;

/// The words for calls of all wants as one list; each has the place of its want and its own.
struct CallWords<'w> {
    places: Vec<(usize, usize)>,
    words: Vec<&'w str>,
}

impl<'w> CallWords<'w> {
    fn of(wants: &'w [Wanted]) -> Self {
        let (mut places, mut words) = (Vec::new(), Vec::new());
        for (at, want) in wants.iter().enumerate() {
            if let Wanted::Syscalls(list) = want {
                places.extend((0..list.len()).map(|word| (at, word)));
                words.extend(list.iter().map(String::as_str));
            }
        }
        Self { places, words }
    }

    fn parse(&self) -> Result<Selection, EventsError> {
        Selection::parse(&self.words, Abi::native()).map_err(|unknown| {
            let at = self.places.get(unknown.index).copied().unwrap_or_default();
            EventsError::Syscall { at, unknown }
        })
    }
}

/// The calls by which is judged what the run is confined to.
fn confined(wants: &[Wanted]) -> Option<impl Iterator<Item = &str>> {
    wants.iter().find_map(|want| match want {
        Wanted::Confined(calls) => Some(calls.iter().copied()),
        _ => None,
    })
}

impl EventsPlan {
    /// Takes the first step: plans what is asked for by name, and opens the events that are no
    /// calls.
    pub(super) fn asked_for(
        reach: Reach,
        wants: &[Wanted],
        memory: MemoryPlan,
        catalogue: &dyn Catalogue,
    ) -> Result<Self, EventsError> {
        let mut words = CallWords::of(wants);
        let named = words.parse()?;
        let is_named = |want: &Wanted| {
            matches!(
                want,
                Wanted::Syscalls(_) | Wanted::Event(_) | Wanted::Counted(_)
            )
        };
        let has_calls = !words.words.is_empty() || !wants.iter().any(is_named);
        let asked = has_calls.then(|| named.clone());
        let is_everything = asked.as_ref().is_some_and(Selection::is_everything);
        let confined = confined(wants).filter(|_| !is_everything);
        let selection = match confined {
            Some(calls) => {
                words.words.extend(calls);
                Some(words.parse()?)
            }
            None => asked.clone(),
        };
        let mut plan = Self {
            requests: Vec::new(),
            meanings: Vec::new(),
            asked,
            selection,
            recorded: named,
            named: Vec::new(),
            operations: Operations::default(),
            grouping: Grouping::No,
            watched: Watched::default(),
            memory,
            maps: false,
            fetches: Arc::default(),
            copies: Vec::new(),
            starts: wants.contains(&Wanted::Starts),
            every: wants.contains(&Wanted::Every),
            turns: wants.contains(&Wanted::Turns),
            reach,
            chained: chains::chained(wants)?,
            without_tracepoint: Vec::new(),
            named_calls: evasions::named_calls(wants, evasions::EITHER),
            entered_calls: evasions::named_calls(wants, evasions::ENTERED),
            functions: Vec::new(),
            exact_paths: Vec::new(),
            programs: None,
        };
        for (at, want) in wants.iter().enumerate() {
            if let Wanted::Event(wanted) = want
                && !operations::is_operation(&wanted.name)
            {
                plan.add_event(at, wanted, catalogue)?;
            }
        }
        plan.add_operations(wants, catalogue)?;
        Ok(plan)
    }

    /// Takes the second step, which only adds: the events that show the calls, those by which
    /// tasks, descriptors and mappings are followed, and the memory that is read, as it is known by
    /// now how much is needed.
    pub(super) fn show_calls(
        &mut self,
        wants: &[Wanted],
        memory: MemoryPlan,
        catalogue: &dyn Catalogue,
    ) -> Result<(), EventsError> {
        let mut words = CallWords::of(wants);
        let (beside, watched) =
            following::beside(self.selection.as_ref(), memory, (self.reach, self.every));
        words.words.extend(beside);
        // An empty list means every call: a word added to it would take the others away.
        if !self
            .selection
            .as_ref()
            .is_some_and(Selection::is_everything)
        {
            words.words.extend(confined(wants).into_iter().flatten());
            words
                .words
                .extend((self.starts || self.every).then_some("all"));
            for wanted in wants {
                if let Wanted::Changes { sends } = wanted {
                    words.words.extend(crash::recorded(*sends));
                }
            }
            if wants.contains(&Wanted::Marks) {
                words.words.extend(MARKING);
            }
            words
                .words
                .extend(evasions::beside(wants, self.selection.as_ref()));
        }
        let recorded = words.parse()?;
        (self.memory, self.watched) = (memory, watched);
        self.maps = following::has_mappings(&recorded);
        self.fetches = Arc::new(following::fetches(&recorded, memory));
        // Calls come first.
        let asked_for = (take(&mut self.requests), take(&mut self.meanings));
        self.add_calls(&recorded, catalogue)?;
        self.recorded = recorded;
        self.add_refusals(catalogue)?;
        self.chain_calls();
        self.requests.extend(asked_for.0);
        self.meanings.extend(asked_for.1);
        let is_software =
            |request: &&EventRequest| matches!(request.attr.source, Source::Software(_));
        let n_software = self.requests.iter().filter(is_software).count();
        let n_others = self.requests.len() - n_software;
        if self.reach == Reach::OwnCalls && n_others > 2 * MOST_CALLS {
            return Err(EventsError::TooMany);
        }
        self.watch_legacy(catalogue)?;
        self.watched.submissions = self.operations.recorded.len() > usize::from(u8::MAX);
        self.decide_grouping(catalogue)
    }

    fn decide_grouping(&mut self, catalogue: &dyn Catalogue) -> Result<(), EventsError> {
        let needed = self.of_group_alone().is_some();
        self.grouping = match self.named.len() + self.copies.len() {
            _ if needed => Grouping::Needed,
            // Counting for a group takes the right to follow whole CPUs.
            _ if self.reach.has_own_tracepoints() => Grouping::No,
            0..=INHERITED => Grouping::No,
            _ => Grouping::Faster,
        };
        if self.grouping != Grouping::No {
            self.watch_group(catalogue)?;
        }
        Ok(())
    }

    /// Whether programs or libraries have probes: others may come to be executed in their places.
    #[must_use]
    pub fn probes_files(&self) -> bool {
        let mut probes = self.named.iter().filter_map(|it| it.probe.as_ref());
        probes.any(|probe| probe.kind.is_of_user())
    }

    fn add_event(
        &mut self,
        at: usize,
        wanted: &WantedEvent,
        catalogue: &dyn Catalogue,
    ) -> Result<(), EventsError> {
        if let Some(event) = SoftwareEvent::parse(&wanted.name) {
            return self.add_software(at, event, wanted);
        }
        if let Some(probe) = &wanted.probe
            && let Some(known) = self.named.iter().find(|known| *known.name == *probe.name)
        {
            let name = probe.name.clone();
            if known.probe.as_deref() != Some(probe) {
                return Err(EventsError::SameName { at, name });
            }
        }
        let sought = Sought {
            at,
            name: &wanted.name,
            probe: wanted.probe.as_ref(),
            filter: wanted.filter.as_deref(),
            check: filter::check_of_scenario,
            reach: self.reach,
        };
        for found in sought.find(catalogue)? {
            match self.opened(&found.name) {
                Some((request, planned)) => {
                    planned.filters.extend(wanted.filter.clone());
                    let has_each = request.filter.is_some() && wanted.filter.is_some();
                    request.filter = has_each.then(|| either(&planned.filters));
                    request.attr = request.attr.with_chain(wanted.chain);
                    planned.others.push(at);
                }
                None => self.add_found(at, found, wanted, catalogue)?,
            }
        }
        Ok(())
    }

    /// The event of this name that was asked for already: one occurrence has one record.
    fn opened(&mut self, name: &str) -> Option<(&mut EventRequest, &mut PlannedEvent)> {
        let named = &mut self.named;
        let mut opened = self.requests.iter_mut().zip(&self.meanings);
        let (request, place) = opened.find_map(|(request, meaning)| match meaning {
            Meaning::Event(place) if request.name == name => Some((request, *place)),
            _ => None,
        })?;
        Some((request, named.get_mut(place)?))
    }

    fn add_found(
        &mut self,
        at: usize,
        found: Found,
        wanted: &WantedEvent,
        catalogue: &dyn Catalogue,
    ) -> Result<(), EventsError> {
        let entries = probes::entries(at, (&found.name, found.probe.as_ref()), catalogue)?;
        let naming = Naming::Own(found.name.as_str().into());
        self.open(&found.name, &found.format, wanted.filter.clone(), naming);
        if let (Some(request), Some(planned)) = (self.requests.last_mut(), self.named.last_mut()) {
            // A probe of a program, counted for a group, would be planted into all that runs on the
            // machine.
            let is_of_user = |probe: &Probe| probe.kind.is_of_user();
            request.of_group = !found.probe.as_ref().is_some_and(is_of_user);
            request.attr = request.attr.with_chain(wanted.chain);
            planned.want = Some(at);
            planned.filters.extend(wanted.filter.clone());
            planned.probe = found.probe.map(Arc::new);
        }
        if let (Some((name, format)), Some(place)) = (entries, self.named.len().checked_sub(1)) {
            let offset = |field| format.field(field).map(|field| field.offset);
            if let (Some(function), Some(caller)) = (offset("__probe_ip"), offset(CALLER)) {
                let meaning = Meaning::Entries {
                    place,
                    function,
                    caller,
                };
                self.add(&name, format.id, None, meaning);
            }
        }
        Ok(())
    }
}

/// The filter that lets through what one of these does.
fn either(filters: &BTreeSet<String>) -> String {
    let several = filters.len() > 1;
    let each = filters.iter().map(|filter| match several {
        true => format!("({filter})"),
        false => filter.clone(),
    });
    each.collect::<Vec<_>>().join(" || ")
}
