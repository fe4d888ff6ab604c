//! Judges `never`, `only` and `count`.

use super::Matcher;
use super::answer::Answer;
use super::bindings::{Bindings, Within};
use super::candidates::{Candidate, fits, is_made, meant};
use super::explain::Explainer;
use super::field::{captures_of, has_capture};
use super::judge::{Finding, Said};
use super::order::Place;
use crate::scenario::NumberOf;

/// What these judge deeds with.
pub(super) struct Sight<'s, 'a> {
    pub(super) explainer: &'s Explainer<'s, 'a>,
    pub(super) bindings: &'s Bindings,
}

impl Sight<'_, '_> {
    /// Returns the deeds that a matcher means; `None` if the value of one of its captures is not
    /// known.
    fn meant(&self, matcher: &Matcher) -> Option<Vec<Candidate>> {
        let mut names = Vec::new();
        for (_, test) in &matcher.fields {
            captures_of(test, &mut names);
        }
        if self.bindings.misses(&names) {
            return None;
        }
        let scene = self.explainer.scene;
        let all = meant(scene, matcher).into_iter();
        let bound = all.filter_map(|candidate| {
            let deed = scene.deeds.get(candidate.deed)?;
            let mut within = Within::new(self.bindings);
            let answer = fits(deed, matcher, &mut within, &has_capture);
            let answer = answer.and(candidate.answer);
            (answer != Answer::No).then_some(Candidate {
                answer,
                ..candidate
            })
        });
        Some(bound.collect())
    }
}

fn places(candidates: &[Candidate], answer: Answer) -> Vec<Place> {
    let all = candidates.iter().filter(|it| it.answer == answer);
    all.map(|candidate| candidate.deed).collect()
}

/// Judges `never`: none of these may occur.
pub(super) fn never(matchers: &[Matcher], sight: &Sight<'_, '_>) -> Vec<Finding> {
    let judged = matchers.iter().filter_map(|matcher| {
        let meant = sight.meant(matcher)?;
        let (certain, unknown) = (places(&meant, Answer::Yes), places(&meant, Answer::Unknown));
        match (certain.is_empty(), unknown.first()) {
            (false, _) => {
                let text = sight.explainer.occurs(matcher, &certain);
                let got = certain.first().map(|deed| sight.explainer.deed(*deed));
                let said = Said::from(text).of(matcher).with(|told| {
                    told.expected = format!("no {}", told.expected);
                    told.got = got;
                });
                Some(Finding::Failed(said))
            }
            (true, Some(_)) => {
                let text = sight.explainer.may_occur(matcher, &unknown, sight.bindings);
                Some(Finding::Unknown(Said::from(text).of(matcher)))
            }
            (true, None) if sight.explainer.scene.forgets(matcher) => {
                let text = sight.explainer.forgot("never", matcher);
                Some(Finding::Unknown(Said::from(text).of(matcher)))
            }
            (true, None) => None,
        }
    });
    judged.collect()
}

/// Judges `only`: nothing else may occur.
pub(super) fn only(matchers: &[Matcher], sight: &Sight<'_, '_>) -> Option<Finding> {
    if matchers.is_empty() {
        return None;
    }
    let mut answers = vec![Answer::No; sight.explainer.scene.deeds.len()];
    for matcher in matchers {
        for candidate in sight.meant(matcher)? {
            if let Some(answer) = answers.get_mut(candidate.deed) {
                *answer = (*answer).or(candidate.answer);
            }
        }
    }
    let of = |wanted: Answer| -> Vec<Place> {
        let all = answers.iter().enumerate();
        let deeds = &sight.explainer.scene.deeds;
        // `only` does not concern spans, which are made of events.
        let is_event = |place: &Place| deeds.get(*place).is_some_and(|deed| deed.ends.is_none());
        all.filter(|(_, answer)| **answer == wanted)
            .map(|(place, _)| place)
            .filter(is_event)
            .collect()
    };
    let (forbidden, unknown) = (of(Answer::No), of(Answer::Unknown));
    match (forbidden.is_empty(), unknown.is_empty()) {
        (false, _) => {
            let text = sight
                .explainer
                .not_allowed(matchers, &forbidden, sight.bindings);
            Some(Finding::Failed(text.into()))
        }
        (true, false) => {
            let text = sight
                .explainer
                .may_not_be_allowed(matchers, &unknown, sight.bindings);
            Some(Finding::Unknown(text.into()))
        }
        (true, true) => {
            let is_free = |name: &&String| {
                let mut free = matchers.iter().filter(|matcher| matcher.fields.is_empty());
                free.any(|matcher| matcher.names.contains(*name))
            };
            let mut forgotten = sight.explainer.scene.forgotten().iter();
            let name = forgotten.find(|name| !is_free(name))?;
            Some(Finding::Unknown(sight.explainer.forgot_others(name).into()))
        }
    }
}

/// Judges `count`: so many of each must occur.
pub(super) fn count(counts: &[NumberOf<Matcher>], sight: &Sight<'_, '_>) -> Vec<Finding> {
    let judged = counts.iter().filter_map(|count| {
        let (matcher, range) = (&count.step, count.times);
        let meant = sight.meant(matcher)?;
        let (certain, mut unknown) = (places(&meant, Answer::Yes), places(&meant, Answer::Unknown));
        let deeds = &sight.explainer.scene.deeds;
        let is_made = |deed: &&Place| deeds.get(**deed).map(|deed| is_made(deed));
        let answered = certain
            .iter()
            .filter(|deed| is_made(deed) != Some(Answer::Yes));
        unknown.extend(answered);
        unknown.sort_unstable();
        let (asked, most) = (certain.len() as u64, meant.len() as u64);
        let least = most - unknown.len() as u64;
        // What must not be there is there as soon as it was asked for.
        let is_too_many = range.max.is_some_and(|max| asked > max);
        let got = if is_too_many { asked } else { least };
        let forgets = sight.explainer.scene.forgets(matcher);
        let of = |text: String| {
            Said::from(text).of(matcher).with(|told| {
                told.expected = format!("{range} of {}", told.expected);
                told.got = Some(got.to_string());
            })
        };
        if is_too_many || (most < range.min && !forgets) {
            let text = sight
                .explainer
                .miscounted(matcher, range, &certain, sight.bindings);
            return Some(Finding::Failed(of(text)));
        }
        if forgets {
            let is_met = least >= range.min && range.max.is_none();
            let text = || sight.explainer.forgot_some(matcher, range, least);
            return (!is_met).then(|| Finding::Unknown(of(text())));
        }
        let is_certain = range.contains(least) && range.contains(most);
        (!is_certain).then(|| {
            let explainer = sight.explainer;
            Finding::Unknown(of(explainer.uncounted(
                count,
                least,
                &unknown,
                sight.bindings,
            )))
        })
    });
    judged.collect()
}
