//! Searches for a deed for each step.

use super::answer::Answer;
use super::binder::{Binder, Bound};
use super::bindings::Bindings;
use super::candidates::{Candidate, can_all_differ, fits, of_leaves, prune, start};
use super::field::has_capture;
use super::gaps::Excluded;
use super::order::{Place, Scene};
use super::shape::{Gap, LeafId, Shape};
use crate::trace::Part;
use std::collections::{HashMap, HashSet};

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// All steps have a deed.
    All,
    /// They cannot all have one.
    None,
    /// The answer would have taken too long.
    GaveUp,
}

/// A depth-first search: each step in its order takes the first deed that fits and leaves deeds for
/// the steps after it. A failed state is not tried again; a state holds only what later steps
/// depend on.
pub(super) struct Search<'s, 'a> {
    pub(super) scene: &'s Scene<'a>,
    pub(super) shape: &'s Shape<'s>,
    pub(super) candidates: Vec<Vec<Candidate>>,
    pub(super) gaps: Vec<Vec<Excluded<'s>>>,
    /// Whether unknown values count as the wanted ones.
    pub(super) is_lenient: bool,
    /// The moment from which on absence is known, if the search depends on it.
    known_from: u64,
    /// How many deeds were tried, and how many may be.
    pub(super) tries: u64,
    most: u64,
    /// The deeds of the leaves, which get them in their order.
    pub(super) chosen: Vec<Place>,
    /// These again, by the list that a leaf belongs to.
    taken: HashSet<(bool, Place)>,
    /// The leaf before each that is as it: its deed comes first.
    twins: Vec<Option<LeafId>>,
    pub(super) bound: Vec<Option<Bound>>,
    /// The captures in the order of their binding.
    pub(super) trail: Vec<usize>,
    /// The first of the longest partial matches.
    pub(super) best: Vec<Vec<Place>>,
    /// Numbers for values of captures, so that a state is a few numbers.
    parts: HashMap<Part, usize>,
    in_vain: HashSet<Box<[usize]>>,
    /// How many numbers these are.
    n_in_vain: usize,
}

/// How many numbers of failed states are kept; a state that is not kept may be tried again.
const MOST_IN_VAIN: usize = 16_000_000;

/// The state of one leaf in the search.
struct Frame {
    /// The next candidate to try, and the first not to try.
    next: usize,
    end: usize,
    has_tried: bool,
    /// How many captures were bound before it.
    bound: usize,
    state: Box<[usize]>,
}

impl<'s, 'a> Search<'s, 'a> {
    /// Makes a search that takes unknown values for the wanted ones, or else for others.
    pub(super) fn new(
        scene: &'s Scene<'a>,
        shape: &'s Shape<'s>,
        outer: &Bindings,
        is_lenient: bool,
        most: u64,
    ) -> Self {
        let mut candidates = of_leaves(scene, shape);
        for own in &mut candidates {
            own.retain(|candidate| is_lenient || candidate.answer == Answer::Yes);
        }
        let excluded = |gap: &Gap<'s>| {
            let matchers = gap.matchers.iter();
            matchers.map(|it| Excluded::new(scene, it)).collect()
        };
        let from_outside = |name: &&str| {
            let bound = outer.get(name)?;
            Some(Bound {
                part: bound.part.clone(),
                by: None,
            })
        };
        Self {
            scene,
            shape,
            candidates,
            gaps: shape.gaps.iter().map(excluded).collect(),
            is_lenient,
            known_from: 0,
            tries: 0,
            most,
            chosen: Vec::new(),
            bound: shape.captures.iter().map(from_outside).collect(),
            trail: Vec::new(),
            best: vec![Vec::new()],
            parts: HashMap::new(),
            in_vain: HashSet::new(),
            n_in_vain: 0,
            taken: HashSet::new(),
            twins: Vec::new(),
        }
    }

    /// Makes it treat nothing as absent that may have been overwritten.
    pub(super) fn minding_what_is_forgotten(mut self) -> Self {
        self.known_from = self.scene.remembered_from();
        self
    }

    /// Whether an overwritten deed may have come after all of these steps.
    pub(super) fn is_forgotten_behind(&self, leaves: &[LeafId]) -> bool {
        let chosen = leaves.iter().filter_map(|leaf| self.chosen.get(*leaf));
        let left = chosen.filter_map(|deed| self.scene.when.get(*deed));
        left.map(|when| when.left).max().unwrap_or(0) < self.known_from
    }

    /// Whether there is a deed for each step.
    pub(super) fn run(&mut self) -> Found {
        prune(self.scene, self.shape, &mut self.candidates);
        match can_all_differ(self.shape, &self.candidates) {
            true => self.descend(),
            false => Found::None,
        }
    }

    /// Searches without a look ahead, to find the longest partial match.
    pub(super) fn run_as_far_as_possible(&mut self) -> Found {
        self.descend()
    }

    fn descend(&mut self) -> Found {
        self.twins = self.shape.twins(&self.candidates);
        let Some(mut frames) = self.frame(0).map(|frame| vec![frame]) else {
            let are_clear = (0..self.gaps.len()).all(|gap| self.violator(gap).is_none());
            return if are_clear { Found::All } else { Found::None };
        };
        // It ends at a step without any candidate.
        let unreachable = self.candidates.iter().position(Vec::is_empty);
        while let Some(frame) = frames.last_mut() {
            let leaf = self.shape_place(frame);
            self.undo(leaf, frame.bound);
            if frame.next >= frame.end {
                // A state in which no candidate was tried is not worth remembering.
                let tried = frames.pop().filter(|frame| frame.has_tried);
                if let Some(Frame { state, .. }) = tried
                    && self.n_in_vain < MOST_IN_VAIN
                {
                    self.n_in_vain += state.len();
                    self.in_vain.insert(state);
                }
                continue;
            }
            let candidate = self
                .candidates
                .get(leaf)
                .and_then(|own| own.get(frame.next));
            let Some(candidate) = candidate.copied() else {
                frame.next = frame.end;
                continue;
            };
            frame.next += 1;
            frame.has_tried = true;
            self.tries += 1;
            if self.tries > self.most {
                return Found::GaveUp;
            }
            if !self.choose(leaf, candidate) {
                continue;
            }
            if self.keep_best() && unreachable == Some(self.chosen.len()) {
                return Found::None;
            }
            match self.frame(leaf + 1) {
                None => return Found::All,
                Some(frame) if self.in_vain.contains(&frame.state) => {}
                Some(frame) => frames.push(frame),
            }
        }
        Found::None
    }

    /// Keeps the longest partial matches; returns whether there are enough of them.
    fn keep_best(&mut self) -> bool {
        const ENOUGH: usize = 64;
        let known = self.best.first().map_or(0, Vec::len);
        if self.chosen.len() > known {
            self.best.clear();
        }
        if self.chosen.len() >= known && self.best.len() < ENOUGH {
            self.best.push(self.chosen.clone());
        }
        self.best.len() >= ENOUGH
    }

    /// Sets the search to the state in which just these are chosen.
    pub(super) fn replay(&mut self, chosen: &[Place]) {
        self.undo(0, 0);
        for (leaf, deed) in chosen.iter().enumerate() {
            let answer = Answer::Yes;
            self.choose(
                leaf,
                Candidate {
                    deed: *deed,
                    answer,
                },
            );
        }
    }

    /// Returns the forbidden deed in a gap that must be empty if a leaf gets this deed.
    pub(super) fn blocked(&mut self, leaf: LeafId, candidate: Candidate) -> Option<(usize, Place)> {
        let bound = self.trail.len();
        self.choose(leaf, candidate);
        let due = self.shape.due.get(leaf)?;
        let found = due
            .iter()
            .find_map(|gap| Some((*gap, self.violator(*gap)?)));
        self.undo(leaf, bound);
        found
    }

    /// Returns the leaf of a frame: the first number of its state.
    fn shape_place(&self, frame: &Frame) -> LeafId {
        frame.state.first().copied().unwrap_or_default()
    }

    /// Starts on a leaf; `None` after the last one.
    fn frame(&mut self, leaf: LeafId) -> Option<Frame> {
        let it = self.shape.leaves.get(leaf)?;
        let own = self.candidates.get(leaf)?;
        let scene = self.scene;
        let starts_before =
            |moment: u64| own.partition_point(|candidate| start(scene, candidate.deed) < moment);
        let before = it.after.iter().filter_map(|leaf| self.chosen.get(*leaf));
        let (next, end) = match it.is_next {
            true => match before.max().and_then(|last| scene.next(*last)) {
                Some(next) => {
                    let moment = start(scene, next);
                    (starts_before(moment), starts_before(moment + 1))
                }
                None => (0, 0),
            },
            false => {
                let entered = before.filter_map(|deed| Some(scene.when.get(*deed)?.entered));
                (entered.max().map_or(0, starts_before), own.len())
            }
        };
        let after_twin = self.deed_of_twin(leaf).map_or(0, |deed| {
            let place = own.iter().position(|candidate| candidate.deed == deed);
            place.map_or(0, |place| place + 1)
        });
        Some(Frame {
            next: next.max(after_twin),
            end,
            has_tried: false,
            bound: self.trail.len(),
            state: self.state(leaf),
        })
    }

    /// What was chosen for the leaf before this one that is as it.
    fn deed_of_twin(&self, leaf: LeafId) -> Option<Place> {
        let twin = self.twins.get(leaf).copied().flatten()?;
        self.chosen.get(twin).copied()
    }

    fn state(&mut self, leaf: LeafId) -> Box<[usize]> {
        let mut state = vec![leaf];
        state.extend(self.deed_of_twin(leaf));
        if let Some(live) = self.shape.live.get(leaf) {
            let chosen = live.leaves.iter().filter_map(|leaf| self.chosen.get(*leaf));
            state.extend(chosen);
            for capture in &live.captures {
                let bound = self.bound.get(*capture).and_then(Option::as_ref);
                state.push(bound.map_or(0, |bound| {
                    let known = self.parts.get(&bound.part).copied();
                    known.unwrap_or_else(|| {
                        let number = self.parts.len() + 1;
                        self.parts.insert(bound.part.clone(), number);
                        number
                    })
                }));
            }
        }
        state.into()
    }

    /// Takes back what was chosen for a leaf, and what was bound since.
    pub(super) fn undo(&mut self, leaf: LeafId, bound: usize) {
        for (deed, of) in self
            .chosen
            .drain(leaf.min(self.chosen.len())..)
            .zip(self.shape.leaves.iter().skip(leaf))
        {
            self.taken.remove(&(of.is_free, deed));
        }
        for capture in self.trail.drain(bound.min(self.trail.len())..) {
            if let Some(slot) = self.bound.get_mut(capture) {
                *slot = None;
            }
        }
    }

    /// Gives a leaf a deed, if nothing speaks against it.
    fn choose(&mut self, leaf: LeafId, candidate: Candidate) -> bool {
        let (scene, shape) = (self.scene, self.shape);
        let deed = candidate.deed;
        let Some((it, found)) = shape.leaves.get(leaf).zip(scene.deeds.get(deed).copied()) else {
            return false;
        };
        let mut before = it.after.iter().filter_map(|leaf| self.chosen.get(*leaf));
        if it.is_next && before.clone().max().and_then(|last| scene.next(*last)) != Some(deed) {
            return false;
        }
        if !before.all(|earlier| scene.is_before(*earlier, deed))
            || it.is_next && self.is_forgotten_behind(&it.after)
        {
            return false;
        }
        // Order alone does not always exclude it: an event within a waiting call comes after the
        // call's entry and before its return.
        if self.taken.contains(&(it.is_free, deed)) {
            return false;
        }
        let answer = fits(
            found,
            it.matcher,
            &mut self.binder(Some(leaf)),
            &has_capture,
        );
        let is_wanted = match self.is_lenient {
            true => answer != Answer::No,
            false => answer == Answer::Yes,
        };
        if !is_wanted {
            return false;
        }
        self.chosen.push(deed);
        self.taken.insert((it.is_free, deed));
        let due = shape.due.get(leaf).map_or(&[][..], Vec::as_slice);
        due.iter().all(|gap| self.violator(*gap).is_none())
    }

    /// Copies the values of captures into `bindings`.
    pub(super) fn bind(&self, bindings: &mut Bindings, label: &str) {
        for (name, bound) in self.shape.captures.iter().zip(&self.bound) {
            let Some(bound) = bound else { continue };
            let by = bound.by.and_then(|leaf| self.shape.leaves.get(leaf));
            let by = by.map_or_else(String::new, |leaf| {
                let key = if leaf.is_free {
                    "any_order"
                } else {
                    "sequence"
                };
                format!("step {} of `{label}.{key}`", leaf.number)
            });
            bindings.bind(name, &bound.part, by);
        }
    }

    pub(super) fn binder(&mut self, by: Option<LeafId>) -> Binder<'_> {
        Binder {
            names: &self.shape.captures,
            bound: &mut self.bound,
            trail: &mut self.trail,
            by,
        }
    }
}
