//! Finds forbidden deeds between steps.

use super::Matcher;
use super::answer::Answer;
use super::candidates::{Candidate, fits, meant};
use super::field::has_capture;
use super::order::{Place, Scene};
use super::search::Search;
use super::shape::{Gap, LeafId};

/// The deeds that must not be in a gap.
pub(super) struct Excluded<'s> {
    matcher: &'s Matcher,
    /// In the order of entering.
    deeds: Vec<Candidate>,
    /// For each deed, the latest end of it and those before it.
    until: Vec<u64>,
}

impl<'s, 'a> Search<'s, 'a> {
    /// Returns a forbidden deed in a gap.
    pub(super) fn violator(&mut self, gap: usize) -> Option<Place> {
        let (scene, shape) = (self.scene, self.shape);
        let it = shape.gaps.get(gap)?;
        let may_lack = it.matchers.iter().any(|matcher| scene.forgets(matcher));
        if may_lack && self.is_forgotten_behind(&it.after) {
            return Some(0);
        }
        let excluded = self.gaps.get_mut(gap).map(std::mem::take)?;
        let found = excluded
            .iter()
            .filter_map(|excluded| self.intruder(scene, it, excluded))
            .min();
        if let Some(slot) = self.gaps.get_mut(gap) {
            *slot = excluded;
        }
        found
    }

    fn intruder(
        &mut self,
        scene: &Scene<'a>,
        gap: &Gap<'_>,
        excluded: &Excluded<'_>,
    ) -> Option<Place> {
        let deeds = |leaves: &[LeafId]| -> Vec<Place> {
            let chosen = leaves.iter().filter_map(|leaf| self.chosen.get(*leaf));
            chosen.copied().collect()
        };
        let (after, before) = (deeds(&gap.after), deeds(&gap.before));
        let when = |place: &Place| scene.when.get(*place);
        let from = after.iter().filter_map(when).map(|when| when.entered).max();
        let to = before.iter().filter_map(when).map(|when| when.end).min();
        let mut found = None;
        for (candidate, until) in excluded.up_to(scene, to).rev() {
            if from.is_some_and(|from| until < from) {
                break;
            }
            self.tries += 1;
            let deed = candidate.deed;
            let is_before = |anchor: &Place| *anchor == deed || scene.is_before(deed, *anchor);
            let is_behind = |anchor: &Place| *anchor == deed || scene.is_before(*anchor, deed);
            if after.iter().any(is_before) || before.iter().any(is_behind) {
                continue;
            }
            let Some(it) = scene.deeds.get(deed) else {
                continue;
            };
            let bound = self.trail.len();
            let fitting = fits(it, excluded.matcher, &mut self.binder(None), &has_capture);
            self.undo(self.chosen.len(), bound);
            let answer = candidate.answer.and(fitting);
            let is_there = match self.is_lenient {
                true => answer == Answer::Yes,
                false => answer != Answer::No,
            };
            if is_there {
                found = Some(deed);
            }
        }
        found
    }
}

impl<'s> Excluded<'s> {
    pub(super) fn new(scene: &Scene<'_>, matcher: &'s Matcher) -> Self {
        let deeds = meant(scene, matcher);
        let mut latest = 0;
        let until = deeds.iter().map(|candidate| {
            latest = latest.max(scene.when.get(candidate.deed).map_or(0, |when| when.left));
            latest
        });
        Self {
            matcher,
            until: until.collect(),
            deeds,
        }
    }

    /// Returns the deeds entered up to a moment.
    fn up_to(
        &self,
        scene: &Scene<'_>,
        moment: Option<u64>,
    ) -> impl DoubleEndedIterator<Item = (Candidate, u64)> + ExactSizeIterator {
        let is_before = |candidate: &Candidate| {
            let entered = scene.when.get(candidate.deed).map(|when| when.entered);
            moment.is_none_or(|moment| entered.is_some_and(|entered| entered <= moment))
        };
        let many = self.deeds.partition_point(is_before);
        let deeds = self.deeds.get(..many).unwrap_or_default();
        let until = self.until.get(..many).unwrap_or_default();
        deeds.iter().copied().zip(until.iter().copied())
    }
}
