//! Lists the mutants of a run.

use super::apply::{Change, Spot, apply};
use super::edit::{of_field, of_result};
use super::pool::Pool;
use super::told::Scope;
use super::{Mutant, Operator, Recorded, Thread, foreign, sample};
use crate::trace::{Deed, Part};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use syscall_model::constants::Constants;
use syscall_model::kinds::ArgKind;
use syscall_model::names::{self, Abi};

/// How many kinds of events that did not occur are inserted: if all calls are asked for, there are
/// hundreds that a program does not make.
const MOST_FOREIGN: usize = 24;

/// The mutants of a run, each with another text, in an order that depends on the run alone.
#[derive(Debug)]
pub struct Mutants<'a> {
    threads: &'a [Thread],
    lines: Vec<Vec<String>>,
    candidates: Vec<Candidate>,
    order: std::vec::IntoIter<usize>,
    untold: usize,
    seen: HashSet<Difference>,
}

/// A mutant that is not made yet; its text may turn out not to differ.
#[derive(Debug)]
struct Candidate {
    operator: Operator,
    spot: Spot,
    change: Change,
    stratum: String,
}

/// How a mutant's text differs: for each thread, how many lines at the start are equal, how many
/// after these are gone, and the lines in their place. Two mutants of one run have equal text if
/// and only if this is equal.
type Difference = Vec<(usize, usize, usize, Vec<String>)>;

impl<'a> Mutants<'a> {
    /// Lists all changes to a run.
    #[must_use]
    pub fn of(recorded: &Recorded<'a>) -> Self {
        let threads = recorded.threads;
        let of_thread = |thread: &Thread| thread.deeds.iter().map(Deed::line).collect();
        let lines: Vec<Vec<String>> = threads.iter().map(of_thread).collect();
        let seed = lines
            .iter()
            .flatten()
            .fold(0, |seed, line| sample::hash(seed, line.as_bytes()));
        let active = threads
            .iter()
            .zip(0..)
            .filter(|(thread, _)| !thread.deeds.is_empty());
        let mut list = List {
            recorded,
            seed,
            pool: Pool::of(threads),
            scope: recorded.tells.map(|tells| Scope::of(tells, threads)),
            active: active.map(|(_, at)| at).collect(),
            candidates: Vec::new(),
            untold: 0,
        };
        list.fill();
        let (candidates, untold) = (list.candidates, list.untold);
        let strata: Vec<&str> = candidates.iter().map(|it| it.stratum.as_str()).collect();
        let order = sample::order(&strata, seed).into_iter();
        Self {
            threads,
            lines,
            candidates,
            order,
            untold,
            seen: HashSet::new(),
        }
    }

    /// Returns how many there are at most: some may turn out to have the text of the run or of
    /// another mutant.
    #[must_use]
    pub fn n_candidates(&self) -> usize {
        self.candidates.len()
    }

    /// Returns how many of these were not tried yet.
    #[must_use]
    pub fn n_left(&self) -> usize {
        self.order.len()
    }

    /// Returns how many changes there are besides, of what no expectation tells.
    #[must_use]
    pub fn n_untold(&self) -> usize {
        self.untold
    }

    fn difference(&self, changed: &[(usize, Vec<Deed>)]) -> Difference {
        let mut difference = Difference::new();
        for (place, deeds) in changed {
            let old = self
                .lines
                .get(*place)
                .map(Vec::as_slice)
                .unwrap_or_default();
            let mut new: Vec<String> = deeds.iter().map(Deed::line).collect();
            let same = |(one, other): &(&String, &String)| one == other;
            let before = old.iter().zip(&new).take_while(same).count();
            let rest = old.len().min(new.len()).saturating_sub(before);
            let behind = old.iter().rev().zip(new.iter().rev()).take(rest);
            let behind = behind.take_while(same).count();
            let gone = old.len().saturating_sub(before).saturating_sub(behind);
            new.truncate(new.len().saturating_sub(behind));
            let now: Vec<String> = new.drain(before..).collect();
            if gone > 0 || !now.is_empty() {
                difference.push((*place, before, gone, now));
            }
        }
        difference
    }

    fn mutant(
        &self,
        place: usize,
        candidate: &Candidate,
        changed: Vec<(usize, Vec<Deed>)>,
    ) -> Option<Mutant> {
        let Candidate {
            operator,
            spot,
            change,
            ..
        } = candidate;
        let thread = self.threads.get(spot.thread)?;
        let line_at = |place| {
            self.lines
                .get(spot.thread)
                .and_then(|lines| lines.get(place))
                .cloned()
        };
        let line = line_at(spot.deed).unwrap_or_default();
        let here = thread.deeds.get(spot.deed);
        let (mut event, mut field, mut now) = (
            here.map_or_else(String::new, |deed| deed.name.as_ref().to_owned()),
            None,
            None,
        );
        match change {
            Change::Exchange(other) => now = line_at(*other),
            Change::Reassign(other) => now = self.threads.get(*other).map(|it| it.task.to_string()),
            Change::Insert(deed) => {
                event = deed.name.as_ref().to_owned();
                now = Some(deed.line());
            }
            Change::Edit(_, part) => {
                field = Some(part.name.as_ref().to_owned());
                let new = changed.first().and_then(|(_, deeds)| deeds.get(spot.deed));
                now = new.map(Deed::line);
            }
            Change::DropProcess => event = format!("P{}", thread.task.process),
            Change::Drop | Change::Repeat | Change::Delay | Change::DropAll => {}
        }
        Some(Mutant {
            place,
            operator: *operator,
            event,
            field,
            task: thread.task,
            line,
            now,
            changed,
        })
    }
}

impl Iterator for Mutants<'_> {
    type Item = Mutant;

    fn next(&mut self) -> Option<Mutant> {
        loop {
            let place = self.order.next()?;
            let candidate = self.candidates.get(place)?;
            let Some(changed) = apply(self.threads, candidate.spot, &candidate.change) else {
                continue;
            };
            let difference = self.difference(&changed);
            if difference.is_empty() || self.seen.contains(&difference) {
                continue;
            }
            let mutant = self.mutant(place, candidate, changed);
            self.seen.insert(difference);
            if mutant.is_some() {
                return mutant;
            }
        }
    }
}

/// The list under construction.
struct List<'a, 'r> {
    recorded: &'r Recorded<'a>,
    seed: u64,
    pool: Pool,
    /// What is told of, where not all is.
    scope: Option<Scope<'a>>,
    /// The places of the threads that have events.
    active: Vec<usize>,
    candidates: Vec<Candidate>,
    /// How many changes are left out, as nothing is told of what they change.
    untold: usize,
}

impl List<'_, '_> {
    fn fill(&mut self) {
        let threads = self.recorded.threads;
        let mut names = BTreeMap::new();
        let mut processes = BTreeMap::new();
        for (thread, at) in threads.iter().zip(0..) {
            for (deed, place) in thread.deeds.iter().zip(0..) {
                let spot = Spot {
                    thread: at,
                    deed: place,
                };
                self.of_one(thread, deed, spot);
                names.entry(&*deed.name).or_insert((spot, deed));
                processes.entry(thread.task.process).or_insert(spot);
            }
        }
        for (name, (spot, deed)) in names {
            self.add(Operator::DropAll, name, spot, Change::DropAll);
            self.insert_its_like(deed);
        }
        if processes.len() > 1 {
            for spot in processes.into_values() {
                self.add(Operator::DropProcess, "", spot, Change::DropProcess);
            }
        }
        self.insert_foreign();
    }

    fn of_one(&mut self, thread: &Thread, deed: &Deed, spot: Spot) {
        let name = &*deed.name;
        self.add(Operator::Drop, name, spot, Change::Drop);
        self.add(Operator::Repeat, name, spot, Change::Repeat);
        let behind = thread
            .deeds
            .len()
            .saturating_sub(spot.deed)
            .saturating_sub(1);
        if behind > 0 {
            self.add(
                Operator::Swap,
                name,
                spot,
                Change::Exchange(spot.deed.saturating_add(1)),
            );
            self.add(Operator::Delay, name, spot, Change::Delay);
        }
        if let Some(further) = behind.checked_sub(1).filter(|further| *further > 0) {
            let step = self.random(spot) % further as u64;
            let other = usize::try_from(step).unwrap_or_default().saturating_add(2);
            self.add(
                Operator::Exchange,
                name,
                spot,
                Change::Exchange(spot.deed.saturating_add(other)),
            );
        }
        if let Some(other) = self.another_thread(spot.thread) {
            self.add(Operator::Reassign, name, spot, Change::Reassign(other));
        }
        for (place, others) in self.edits(deed) {
            for part in others {
                let stratum = format!("{name} {}", part.name);
                self.add(
                    Operator::Edit,
                    &stratum,
                    spot,
                    Change::Edit(place, Box::new(part)),
                );
            }
        }
    }

    fn edits(&self, deed: &Deed) -> Vec<(usize, Vec<Part>)> {
        let field = |part: &Part| match &*part.name {
            // The number of a tracepoint's call is not the program's choice.
            "__syscall_nr" => Vec::new(),
            name if self.is_chosen_by(&deed.name, name) => Vec::new(),
            _ => of_field(part, &self.pool, self.constants(deed, part)),
        };
        let fields = deed.fields.iter().map(field);
        let returns = deed.returns.iter().map(|part| of_result(part, &self.pool));
        (0..).zip(fields.chain(returns)).collect()
    }

    fn is_chosen_by(&self, event: &str, field: &str) -> bool {
        let fields = self.recorded.chosen_by;
        !fields.is_empty() && fields.contains(&(event.to_owned(), field.to_owned()))
    }

    /// Returns the names that an argument can have.
    fn constants(&self, deed: &Deed, part: &Part) -> Option<&'static Constants> {
        let abi = Abi::native();
        let number = names::number(abi, &deed.name).filter(|_| deed.convention.is_none())?;
        self.recorded
            .signatures
            .with(abi, i32::try_from(number).ok()?, |signature| {
                let argument = signature.arguments.iter().find(|it| it.name == part.name)?;
                match argument.kind {
                    ArgKind::Constants(constants) => Some(constants),
                    _ => None,
                }
            })
    }

    /// Returns the next thread that has events, after the last one the first.
    fn another_thread(&self, thread: usize) -> Option<usize> {
        let next = self.active.iter().find(|at| **at > thread);
        let next = next.or(self.active.first()).copied();
        next.filter(|next| *next != thread)
    }

    /// Inserts one more event of a kind that occurs, with another path, file or other value.
    fn insert_its_like(&mut self, deed: &Deed) {
        let edits = self.edits(deed);
        let mut others = edits
            .into_iter()
            .flat_map(|(place, parts)| parts.into_iter().map(move |part| (place, part)));
        let Some((place, part)) = others.next() else {
            return;
        };
        let mut like = deed.clone();
        let n_fields = like.fields.len();
        match like.fields.get_mut(place) {
            Some(field) => *field = part,
            None if place == n_fields => like.returns = Some(part),
            None => return,
        }
        self.insert(like);
    }

    fn insert_foreign(&mut self) {
        let mut absent: Vec<&String> = self.recorded.absent.iter().collect();
        absent.sort_by_key(|name| (sample::hash(self.seed, name.as_bytes()), *name));
        let chosen: BTreeSet<&String> = absent.into_iter().take(MOST_FOREIGN).collect();
        for name in chosen {
            self.insert(foreign::deed(name, self.recorded, &self.pool));
        }
    }

    fn insert(&mut self, deed: Deed) {
        let Some((thread, place)) = foreign::busiest(self.recorded.threads) else {
            return;
        };
        let spot = Spot {
            thread,
            deed: place,
        };
        let name = deed.name.clone();
        self.add(
            Operator::Insert,
            &name,
            spot,
            Change::Insert(Box::new(deed)),
        );
    }

    fn add(&mut self, operator: Operator, stratum: &str, spot: Spot, change: Change) {
        if let Some(scope) = &self.scope
            && !scope.asks(spot, &change)
        {
            self.untold = self.untold.saturating_add(1);
            return;
        }
        let stratum = format!("{operator} {stratum}");
        self.candidates.push(Candidate {
            operator,
            spot,
            change,
            stratum,
        });
    }

    fn random(&self, spot: Spot) -> u64 {
        let place = [spot.thread, spot.deed].map(usize::to_le_bytes).concat();
        sample::hash(self.seed, &place)
    }
}
