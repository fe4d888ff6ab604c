//! Finds the deeds that each step may be: first by their fields alone, then by the steps that
//! follow.

use super::answer::Answer;
use super::bindings::{Bindings, Within};
use super::field::{Captures, Free, has_capture};
use super::order::{Place, Scene};
use super::shape::{LeafId, Shape};
use super::{Matcher, elsewhere, named};
use crate::scenario::Test;
use crate::trace::{Deed, State, Value};
use std::collections::{HashMap, HashSet, VecDeque};
use syscall_model::has_all_of;

/// A deed that may be a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Candidate {
    pub(super) deed: Place,
    /// [`Answer::Yes`] or [`Answer::Unknown`].
    pub(super) answer: Answer,
}

/// Whether the fields of a deed that `which` picks pass their tests. Whether the kernel made the
/// call or something answered it is not looked at: it was asked for.
pub(super) fn fits(
    deed: &Deed,
    matcher: &Matcher,
    captures: &mut dyn Captures,
    which: &dyn Fn(&Test) -> bool,
) -> Answer {
    let mut answer = match deed.ends.as_ref().map(|ends| ends.state()) {
        Some(State::Unknown) => Answer::Unknown,
        _ => may_mean(deed, matcher),
    };
    for (word, test) in matcher.fields.iter().filter(|(_, test)| which(test)) {
        answer = answer.and(field_fits(deed, matcher, (word, test), captures));
        if answer == Answer::No {
            break;
        }
    }
    answer
}

/// Whether a deed with one of a matcher's names is one that the matcher, which has no captures,
/// means; `None` where that is not known. The name itself is not looked at: see [`may_be`].
#[must_use]
pub fn is_meant(deed: &Deed, matcher: &Matcher) -> Option<bool> {
    match fits(deed, matcher, &mut Free, &|_| true) {
        Answer::Yes => Some(true),
        Answer::No => Some(false),
        Answer::Unknown => None,
    }
}

/// Whether a deed may be one that a matcher means, with these values of its captures.
#[must_use]
pub fn may_be(deed: &Deed, matcher: &Matcher, bindings: &Bindings) -> bool {
    let mut within = Within::new(bindings);
    matcher.names.contains(&*deed.name) && fits(deed, matcher, &mut within, &|_| true) != Answer::No
}

/// Whether a deed has one of the matcher's names. Not known for a call that stands for many, if the
/// record does not say which it is.
fn may_mean(deed: &Deed, matcher: &Matcher) -> Answer {
    if has_all_of(&deed.name, |name| matcher.names.contains(name)) {
        return Answer::Yes;
    }
    Answer::unless_more(false, deed.unseen.is_some())
}

/// Whether one field of a deed passes its test.
pub(super) fn field_fits(
    deed: &Deed,
    matcher: &Matcher,
    (word, test): (&str, &Test),
    captures: &mut dyn Captures,
) -> Answer {
    match deed.part(word) {
        // Whether there is one is not known either.
        Some(part) if part.value == Value::Unread && deed.is_behind(word) => Answer::Unknown,
        // Which are open between both ends is not told.
        Some(part) if word == "fd" && &*deed.name == "close_range" => {
            named::holds(test, &part, matcher.is_closed, captures).or(Answer::Unknown)
        }
        Some(part) => named::holds(test, &part, matcher.is_closed, captures),
        // It may be among the arguments that were not seen.
        None if may_be_unseen(deed, word) => Answer::Unknown,
        // No call chain was recorded for this event.
        None if matches!(word, "stack" | "from") => Answer::Unknown,
        None => elsewhere::holds(deed, matcher, (word, test), captures),
    }
}

/// Whether a field that a deed does not show may be there all the same. What a call that starts a
/// program hides is its environment.
fn may_be_unseen(deed: &Deed, word: &str) -> bool {
    let starts = matches!(&*deed.name, "execve" | "execveat");
    match deed.unseen {
        Some("...") if starts => word == "envp",
        Some(_) => word != "returns",
        None => false,
    }
}

/// Returns the deeds that a matcher may mean, for any values of its captures, in the order of
/// entry.
pub(super) fn meant(scene: &Scene<'_>, matcher: &Matcher) -> Vec<Candidate> {
    let names = matcher.names.iter();
    let mut all: Vec<Candidate> = names
        .flat_map(|name| scene.named(name))
        .filter_map(|place| {
            let deed = scene.deeds.get(*place)?;
            let answer = fits(deed, matcher, &mut Free, &|test| !has_capture(test));
            (answer != Answer::No).then_some(Candidate {
                deed: *place,
                answer,
            })
        })
        .collect();
    all.sort_unstable_by_key(|candidate| candidate.deed);
    all
}

/// The same for what must be there: a call that a seccomp filter answered is no certain one.
pub(super) fn made(scene: &Scene<'_>, matcher: &Matcher) -> Vec<Candidate> {
    let mut all = meant(scene, matcher);
    for candidate in &mut all {
        let deed = scene.deeds.get(candidate.deed);
        candidate.answer = deed.map_or(Answer::No, |it| candidate.answer.and(is_made(it)));
    }
    all
}

/// Whether the kernel made a call. What answered it in its place may have done the same.
pub(super) fn is_made(deed: &Deed) -> Answer {
    match deed.is_answered() {
        true => Answer::Unknown,
        false => Answer::Yes,
    }
}

/// Returns the candidates of each leaf, by the start of their effect.
pub(super) fn of_leaves(scene: &Scene<'_>, shape: &Shape<'_>) -> Vec<Vec<Candidate>> {
    let by_start = |candidate: &Candidate| start(scene, candidate.deed);
    let leaves = shape.leaves.iter();
    leaves
        .map(|leaf| {
            let mut all = made(scene, leaf.matcher);
            all.sort_by_key(by_start);
            all
        })
        .collect()
}

pub(super) fn start(scene: &Scene<'_>, deed: Place) -> u64 {
    scene.when.get(deed).map_or(0, |when| when.start)
}

/// Removes deeds that can be in no match: no deed of a later step can follow, or no other step with
/// the same capture has the same file. Without captures the search needs no more than this, and
/// never takes a choice back.
pub(super) fn prune(scene: &Scene<'_>, shape: &Shape<'_>, candidates: &mut [Vec<Candidate>]) {
    same_files(scene, shape, candidates);
    for leaf in (0..shape.leaves.len()).rev() {
        let followers = shape.leaves.iter().enumerate();
        let followers = followers.filter(|(_, later)| later.after.contains(&leaf));
        for (follower, _) in followers {
            let latest = Latest::of(scene, candidates.get(follower).map_or(&[], Vec::as_slice));
            if let Some(own) = candidates.get_mut(leaf) {
                own.retain(|candidate| latest.has_one_behind(scene, candidate.deed));
            }
        }
    }
}

/// The latest of some deeds.
#[derive(Default)]
struct Latest {
    /// The latest start with its thread, and the latest of another thread.
    starts: [Option<(u64, usize)>; 2],
    /// The last deed of each thread.
    of_thread: Vec<Option<Place>>,
}

impl Latest {
    fn of(scene: &Scene<'_>, candidates: &[Candidate]) -> Self {
        let mut latest = Self::default();
        let found = candidates.iter();
        for when in found.filter_map(|candidate| scene.when.get(candidate.deed)) {
            if latest.of_thread.len() <= when.thread {
                latest.of_thread.resize(when.thread + 1, None);
            }
            if let Some(last) = latest.of_thread.get_mut(when.thread) {
                *last = (*last).max(Some(when.place));
            }
            let mine = (when.start, when.thread);
            latest.starts = match latest.starts {
                [Some(first), second] if first.1 == when.thread => [Some(first.max(mine)), second],
                [first, _] if first.is_none_or(|first| first.0 < when.start) => [Some(mine), first],
                [first, second] if second.is_none_or(|second| second.0 < when.start) => {
                    [first, Some(mine)]
                }
                both => both,
            };
        }
        latest
    }

    fn has_one_behind(&self, scene: &Scene<'_>, deed: Place) -> bool {
        let Some(when) = scene.when.get(deed) else {
            return false;
        };
        let of_thread = self.of_thread.get(when.thread).copied().flatten();
        let mut others = self.starts.iter().flatten();
        of_thread.is_some_and(|last| last > when.place)
            || others.any(|(start, thread)| *thread != when.thread && *start >= when.end)
    }
}

/// Keeps only files that all steps of a capture have, if all these steps use it for a descriptor.
fn same_files(scene: &Scene<'_>, shape: &Shape<'_>, candidates: &mut [Vec<Candidate>]) {
    let mut uses: HashMap<&str, Vec<(LeafId, &str)>> = HashMap::new();
    for (leaf, it) in shape.leaves.iter().enumerate() {
        for (word, test) in &it.matcher.fields {
            if let Test::Capture(name) = test {
                uses.entry(name).or_default().push((leaf, word));
            }
        }
    }
    for uses in uses.values().filter(|uses| uses.len() > 1) {
        let sets = uses.iter().map(|(leaf, word)| {
            let found = candidates.get(*leaf).map_or(&[][..], Vec::as_slice);
            let mut files = HashSet::new();
            for candidate in found {
                match file(scene, candidate.deed, word) {
                    Some(Some(file)) => {
                        files.insert(file);
                    }
                    Some(None) => {}
                    None => return None,
                }
            }
            Some(files)
        });
        let Some(sets) = sets.collect::<Option<Vec<_>>>() else {
            continue;
        };
        for (leaf, word) in uses {
            if let Some(own) = candidates.get_mut(*leaf) {
                own.retain(|candidate| {
                    let file = file(scene, candidate.deed, word).flatten();
                    file.is_some_and(|file| sets.iter().all(|set| set.contains(&file)))
                });
            }
        }
    }
}

/// Returns the file that a part refers to; `Some(None)` if it certainly is no file, and `None` if
/// it may be equal to one.
fn file(scene: &Scene<'_>, deed: Place, word: &str) -> Option<Option<u64>> {
    let part = scene.deeds.get(deed)?.part(word)?;
    match &part.value {
        Value::File { description, .. } | Value::UnknownFile { description, .. }
            if description.is_some() =>
        {
            Some(*description)
        }
        Value::Error(_) | Value::Nothing | Value::Never => Some(None),
        _ => None,
    }
}

/// Whether each leaf of `sequence` can have a deed of its own, and each of `any_order` too, leaving
/// captures and order aside. One leaf of each list may share a deed.
pub(super) fn can_all_differ(shape: &Shape<'_>, candidates: &[Vec<Candidate>]) -> bool {
    let ordered = shape.leaves.iter().take_while(|leaf| !leaf.is_free).count();
    let (sequence, any_order) = candidates.split_at(ordered.min(candidates.len()));
    can_differ(sequence) && can_differ(any_order)
}

fn can_differ(candidates: &[Vec<Candidate>]) -> bool {
    let mut pairs = Pairs {
        deed_of: HashMap::new(),
        leaf_of: HashMap::new(),
    };
    (0..candidates.len()).all(|leaf| pairs.add(leaf, candidates))
}

/// A deed for each leaf.
struct Pairs {
    deed_of: HashMap<LeafId, Place>,
    leaf_of: HashMap<Place, LeafId>,
}

impl Pairs {
    /// Gives one more leaf a deed, if necessary by giving other leaves another deed (the shortest
    /// path that augments the matching).
    fn add(&mut self, leaf: LeafId, candidates: &[Vec<Candidate>]) -> bool {
        let mut asked_by: HashMap<Place, LeafId> = HashMap::new();
        let mut waiting = VecDeque::from([leaf]);
        while let Some(leaf) = waiting.pop_front() {
            let own = candidates.get(leaf).map_or(&[][..], Vec::as_slice);
            // Each leaf needs no more candidates than there are leaves.
            for Candidate { deed, .. } in own.iter().take(candidates.len()) {
                if asked_by.contains_key(deed) {
                    continue;
                }
                asked_by.insert(*deed, leaf);
                match self.leaf_of.get(deed) {
                    Some(other) => waiting.push_back(*other),
                    None => {
                        self.shift(*deed, &asked_by);
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Moves each deed of the path to the leaf that asked for it.
    fn shift(&mut self, free: Place, asked_by: &HashMap<Place, LeafId>) {
        let mut deed = Some(free);
        while let Some((given, leaf)) = deed.and_then(|it| Some((it, *asked_by.get(&it)?))) {
            deed = self.deed_of.insert(leaf, given);
            self.leaf_of.insert(given, leaf);
        }
    }
}
