//! Judges `between`: for each `first` and the next `then` behind it, something comes between.
//!
//! "Behind" and "between" are what they are in `sequence`. Of several `then` of which none comes
//! before the others, each is the next. A `first` without a `then` behind it demands nothing.

use super::Matcher;
use super::answer::Answer;
use super::bindings::{Bindings, Within};
use super::candidates::{Candidate, fits, made, start};
use super::closed::Sight;
use super::field::{captures_of, has_capture};
use super::judge::{Finding, Said};
use super::order::{Place, Scene, When};
use crate::scenario::Between;
use crate::trace::Part;
use std::collections::HashMap;

/// A `first`, a next `then` behind it, and the captures that they bind.
#[derive(Clone)]
pub(super) struct Pair<'s> {
    pub(super) first: Place,
    pub(super) then: Place,
    within: Within<'s>,
    /// How many captures `first` binds.
    of_first: usize,
    /// Whether both are certainly meant.
    is_certain: bool,
    /// Whether `there_is` comes between.
    holds: Answer,
}

impl Pair<'_> {
    /// The values of captures, and which of the two bound each.
    pub(super) fn bindings(&self, outer: &Bindings) -> Bindings {
        let mut bindings = outer.clone();
        self.within.bind(0..self.of_first, &mut bindings, "`first`");
        self.within.bind(self.of_first.., &mut bindings, "`then`");
        bindings
    }
}

/// What was found of an element.
#[derive(Default)]
struct Tally<'s> {
    /// How many `first` have a `then` behind them, and how many may have.
    certain: u64,
    possible: u64,
    /// How many of them lack what must come between; the first of those.
    unmet: u64,
    lacking: Option<Pair<'s>>,
    /// The first of those of which it is not known.
    undecided: Option<Pair<'s>>,
    /// Whether a `then`, or what must come between, may have been overwritten.
    is_forgotten: bool,
}

/// The search takes too long.
struct GaveUp;

/// Judges every element.
pub(super) fn judge(
    elements: &[Between<Matcher>],
    sight: &Sight<'_, '_>,
    most: u64,
) -> Vec<Finding> {
    let judged = elements.iter().filter_map(|element| {
        let explainer = sight.explainer;
        let of = |text: String| Said::from(text).of(&element.there_is);
        if element.steps().iter().any(|step| misses(sight, step)) {
            return None;
        }
        let mut search = Search::new(explainer.scene, element, sight.bindings, most);
        let Ok(tally) = search.run() else {
            let text = explainer.gave_up_between(element, most);
            return Some(Finding::GaveUp(of(text)));
        };
        let forgets = |step| explainer.scene.forgets(step);
        let forgets = forgets(&element.first) || forgets(&element.then);
        let (least, possible, times) = (tally.certain, tally.possible, element.times);
        if let Some(pair) = &tally.lacking {
            let numbers = (tally.unmet, least);
            let text = explainer.not_between(element, pair, numbers, sight.bindings);
            return Some(Finding::Failed(of(text)));
        }
        let is_too_many = times.max.is_some_and(|max| least > max);
        if is_too_many || possible < times.min && !forgets {
            let text = explainer.mispaired(element, least, sight.bindings);
            return Some(Finding::Failed(Said::from(text).of(&element.first)));
        }
        if forgets || tally.is_forgotten {
            return Some(Finding::Unknown(of(explainer.forgot_between_two(element))));
        }
        if let Some(pair) = &tally.undecided {
            let text = explainer.undecided_between(element, pair, sight.bindings);
            return Some(Finding::Unknown(of(text)));
        }
        let is_certain = times.contains(least) && times.contains(possible);
        (!is_certain).then(|| Finding::Unknown(of(explainer.unpaired(element, least))))
    });
    judged.collect()
}

/// Whether a capture of a step has no value, as the step that binds it did not occur.
fn misses(sight: &Sight<'_, '_>, step: &Matcher) -> bool {
    let mut names = Vec::new();
    for (_, test) in &step.fields {
        captures_of(test, &mut names);
    }
    sight.bindings.misses(&names)
}

/// The deeds that an element may mean, each list by the start of their effects.
struct Search<'s, 'a> {
    scene: &'s Scene<'a>,
    element: &'s Between<Matcher>,
    within: Within<'s>,
    firsts: Vec<Candidate>,
    thens: Vec<Candidate>,
    middles: Vec<Candidate>,
    /// For values of captures, the place in `thens` from which on none has them.
    none_from: HashMap<Vec<(String, Part)>, usize>,
    tries: u64,
    most: u64,
}

impl<'s, 'a> Search<'s, 'a> {
    fn new(
        scene: &'s Scene<'a>,
        element: &'s Between<Matcher>,
        bindings: &'s Bindings,
        most: u64,
    ) -> Self {
        let by_start = |matcher: &Matcher| {
            let mut all = made(scene, matcher);
            all.sort_by_key(|candidate| start(scene, candidate.deed));
            all
        };
        Self {
            scene,
            element,
            within: Within::new(bindings),
            firsts: by_start(&element.first),
            thens: by_start(&element.then),
            middles: by_start(&element.there_is),
            none_from: HashMap::new(),
            tries: 0,
            most,
        }
    }

    fn run(&mut self) -> Result<Tally<'s>, GaveUp> {
        let scene = self.scene;
        let mut tally = Tally::default();
        let forgets_then = scene.forgets(&self.element.then);
        let forgets = forgets_then || scene.forgets(&self.element.there_is);
        // From the last one, for `none_from`.
        for first in std::mem::take(&mut self.firsts).into_iter().rev() {
            let pairs = self.pairs(first)?;
            let left = scene.when.get(first.deed).map_or(0, |when| when.left);
            let is_early = left < scene.remembered_from();
            tally.is_forgotten |= is_early && forgets_then;
            tally.possible += u64::from(!pairs.is_empty());
            tally.certain += u64::from(pairs.iter().any(|pair| pair.is_certain));
            let Some(open) = pairs.iter().find(|pair| pair.holds != Answer::Yes) else {
                continue;
            };
            // Where it is not known which is the next, none of them may do.
            let all_lack = pairs.iter().all(|pair| pair.holds == Answer::No);
            let all_are = pairs.iter().all(|pair| pair.is_certain);
            let lacks = |pair: &&Pair<'_>| pair.is_certain && pair.holds == Answer::No;
            match pairs.iter().find(lacks) {
                _ if is_early && forgets => tally.is_forgotten = true,
                Some(pair) if all_lack || all_are => {
                    tally.unmet += 1;
                    tally.lacking = Some(pair.clone());
                }
                _ => tally.undecided = Some(open.clone()),
            }
        }
        Ok(tally)
    }

    /// Returns a `first` with each `then` that is or may be the next behind it.
    fn pairs(&mut self, first: Candidate) -> Result<Vec<Pair<'s>>, GaveUp> {
        let mut within = self.within.clone();
        let is_first = self.fit(first, &self.element.first, &mut within)?;
        let Some(began) = self.when(first.deed).filter(|_| is_first != Answer::No) else {
            return Ok(Vec::new());
        };
        let of_first = within.bound();
        let from = self.behind(&self.thens, began.entered);
        let end = self.none_from.get(within.own()).copied();
        let end = end.unwrap_or(self.thens.len());
        let mut pairs: Vec<Pair<'s>> = Vec::new();
        let mut certain: Vec<When> = Vec::new();
        let mut has_some = false;
        for at in from..end {
            let Some(candidate) = self.thens.get(at).copied() else {
                break;
            };
            let Some(when) = self.when(candidate.deed) else {
                continue;
            };
            if certain.iter().any(|next| next.end <= when.start) {
                break;
            }
            within.undo(of_first);
            let is_then = self.fit(candidate, &self.element.then, &mut within)?;
            has_some |= is_then != Answer::No;
            let is_behind = began.is_before(&when);
            let is_next = !certain.iter().any(|next| next.is_before(&when));
            if is_then == Answer::No || !is_behind || !is_next {
                continue;
            }
            let is_certain = is_first == Answer::Yes && is_then == Answer::Yes;
            if is_then == Answer::Yes {
                certain.push(when);
            }
            let holds = self.holds(&began, &when, &mut within.clone())?;
            pairs.push(Pair {
                first: first.deed,
                then: candidate.deed,
                within: within.clone(),
                of_first,
                is_certain,
                holds,
            });
        }
        within.undo(of_first);
        if !has_some {
            self.none_from.insert(within.own().to_vec(), from.min(end));
        }
        Ok(pairs)
    }

    /// Whether what must come between does.
    fn holds(
        &mut self,
        first: &When,
        then: &When,
        within: &mut Within<'s>,
    ) -> Result<Answer, GaveUp> {
        let bound = within.bound();
        let mut best = Answer::No;
        for at in self.behind(&self.middles, first.entered)..self.middles.len() {
            let candidate = self.middles.get(at).copied();
            let Some((candidate, when)) = candidate.and_then(|it| Some((it, self.when(it.deed)?)))
            else {
                continue;
            };
            if best == Answer::Yes || when.start > then.left {
                break;
            }
            self.count()?;
            if first.is_over_before(&when) && when.is_over_before(then) {
                within.undo(bound);
                best = best.or(self.fit(candidate, &self.element.there_is, within)?);
            }
        }
        Ok(best)
    }

    /// The place of the first of some deeds that starts at this moment or later.
    fn behind(&self, deeds: &[Candidate], moment: u64) -> usize {
        deeds.partition_point(|candidate| start(self.scene, candidate.deed) < moment)
    }

    fn when(&self, deed: Place) -> Option<When> {
        self.scene.when.get(deed).copied()
    }

    fn fit(
        &mut self,
        candidate: Candidate,
        matcher: &Matcher,
        within: &mut Within<'_>,
    ) -> Result<Answer, GaveUp> {
        self.count()?;
        let deed = self.scene.deeds.get(candidate.deed);
        let answer = deed.map_or(Answer::No, |deed| fits(deed, matcher, within, &has_capture));
        Ok(answer.and(candidate.answer))
    }

    fn count(&mut self) -> Result<(), GaveUp> {
        self.tries += 1;
        match self.tries > self.most {
            true => Err(GaveUp),
            false => Ok(()),
        }
    }
}
