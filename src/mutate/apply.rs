//! Applies changes to a run.

use super::Thread;
use crate::trace::{Deed, Part, Value};

/// A change, by the places of threads in the run and of events in their thread.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// Leaves the event out.
    Drop,
    /// Repeats the event, right after itself.
    Repeat,
    /// Exchanges the event with the one at this place.
    Exchange(usize),
    /// Moves the event behind all others.
    Delay,
    /// Leaves out every event of its name.
    DropAll,
    /// Leaves out all events of its process.
    DropProcess,
    /// Has this thread do it.
    Reassign(usize),
    /// Replaces the part at this place (the result comes after the fields).
    Edit(usize, Box<Part>),
    /// Inserts this event after it, or at the beginning if the thread has none.
    Insert(Box<Deed>),
}

/// The place of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) thread: usize,
    pub(super) deed: usize,
}

/// Returns the threads that change, and their new deeds.
pub(super) fn apply(
    threads: &[Thread],
    spot: Spot,
    change: &Change,
) -> Option<Vec<(usize, Vec<Deed>)>> {
    let thread = threads.get(spot.thread)?;
    let here = thread.deeds.get(spot.deed);
    let mut deeds = match change {
        // These two are applied to several threads below.
        Change::DropAll | Change::DropProcess => Vec::new(),
        _ => thread.deeds.clone(),
    };
    match change {
        Change::Drop => drop(deeds.remove(spot.deed)),
        Change::Repeat => deeds.insert(spot.deed.checked_add(1)?, again(here?)),
        Change::Exchange(other) => exchange(&mut deeds, spot.deed, *other),
        Change::Delay => {
            for next in spot.deed.checked_add(1)?..deeds.len() {
                exchange(&mut deeds, next.saturating_sub(1), next);
            }
        }
        Change::DropAll => {
            let name = &here?.name;
            return Some(without(threads, |_, deed| deed.name == *name));
        }
        Change::DropProcess => {
            let process = thread.task.process;
            return Some(without(threads, |thread, _| thread.task.process == process));
        }
        Change::Reassign(other) => {
            let to = threads.get(*other)?;
            let deed = deeds.remove(spot.deed);
            let mut theirs = to.deeds.clone();
            theirs.push(done_by(to, deed));
            return Some(vec![(spot.thread, deeds), (*other, in_order(theirs))]);
        }
        Change::Edit(place, part) => {
            let deed = deeds.get_mut(spot.deed)?;
            let mut parts = deed.fields.iter_mut().chain(&mut deed.returns);
            let edited = parts.nth(*place)?;
            let is_structure = matches!(edited.value, Value::Text | Value::Raw(_));
            *edited = part.as_ref().clone();
            // What stands in a structure is another, too.
            for part in deed.behind.iter_mut().filter(|_| is_structure) {
                part.value = Value::Never;
            }
        }
        Change::Insert(deed) => {
            let moment = here.map_or(0, |here| here.left);
            let deed = Deed {
                entered: moment,
                left: moment,
                ..deed.as_ref().clone()
            };
            let at = if here.is_some() {
                spot.deed.checked_add(1)?
            } else {
                0
            };
            deeds.insert(at, done_by(thread, deed));
        }
    }
    Some(vec![(spot.thread, in_order(deeds))])
}

/// Returns the deed again, right after itself, in an order that no scheduler can change.
fn again(deed: &Deed) -> Deed {
    Deed {
        entered: deed.left,
        ..deed.clone()
    }
}

/// Exchanges two deeds; the moments stay in their places.
fn exchange(deeds: &mut [Deed], one: usize, other: usize) {
    let (low, high) = (one.min(other), one.max(other));
    let Some((before, after)) = deeds.split_at_mut_checked(high) else {
        return;
    };
    let (Some(one), Some(other)) = (before.get_mut(low), after.first_mut()) else {
        return;
    };
    std::mem::swap(one, other);
    std::mem::swap(&mut one.entered, &mut other.entered);
    std::mem::swap(&mut one.left, &mut other.left);
}

/// Returns the deed as this thread's, with the program that the thread ran at that moment.
fn done_by(thread: &Thread, deed: Deed) -> Deed {
    let before = thread.deeds.iter().rfind(|its| its.entered <= deed.entered);
    let near = before.or(thread.deeds.first());
    let program = near.map_or(&thread.program, |near| &near.program);
    Deed {
        task: thread.task,
        thread: thread.thread,
        program: program.clone(),
        ..deed
    }
}

fn in_order(mut deeds: Vec<Deed>) -> Vec<Deed> {
    deeds.sort_by_key(|deed| deed.entered);
    deeds
}

/// Returns the threads that lose events.
fn without(
    threads: &[Thread],
    is_gone: impl Fn(&Thread, &Deed) -> bool,
) -> Vec<(usize, Vec<Deed>)> {
    let mut changed = Vec::new();
    for (place, thread) in threads.iter().enumerate() {
        let stays = |deed: &&Deed| !is_gone(thread, deed);
        let left: Vec<Deed> = thread.deeds.iter().filter(stays).cloned().collect();
        if left.len() < thread.deeds.len() {
            changed.push((place, left));
        }
    }
    changed
}
