//! Explains why steps do not occur as expected.

use super::nearest::{Near, difference, nearest};
use super::stretch::{Mark, around};
use super::{Explainer, cut};
use crate::matching::answer::Answer;
use crate::matching::bindings::Bindings;
use crate::matching::candidates::Candidate;
use crate::matching::field::captures_of;
use crate::matching::judge::Said;
use crate::matching::order::Place;
use crate::matching::search::Search;
use crate::matching::shape::{Leaf, LeafId, Shape};
use crate::matching::{Matcher, words};
use std::collections::{BTreeMap, BTreeSet};
use syscall_model::kin;

/// How many deeds the search for the longest beginning may try.
const MOST_TRIES: u64 = 200_000;

/// Why a deed that fits a step cannot be that step.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Trouble {
    /// It came before another step.
    Before(LeafId),
    /// It began while another step was under way.
    During(LeafId),
    /// It is another step already.
    Taken(LeafId),
    /// A forbidden deed lies in a gap beside it.
    Between(usize, Place),
}

/// The end of a partial match.
struct End {
    met: Vec<Place>,
    bindings: Bindings,
    /// If the step must be the very next: the step before it, and the deed that is next.
    next: Option<(LeafId, Option<Place>)>,
    /// The deeds most similar to the missing step.
    near: Vec<Near>,
    many: usize,
    trouble: Option<Trouble>,
}

impl Explainer<'_, '_> {
    /// Explains why the steps have no deeds.
    pub(in crate::matching) fn failed(&self, shape: &Shape<'_>, outer: &Bindings) -> Said {
        let mut search = Search::new(self.scene, shape, outer, true, MOST_TRIES);
        search.run_as_far_as_possible();
        let beginnings = std::mem::take(&mut search.best);
        let ends = beginnings.iter();
        let ends = ends.map(|met| self.end(&mut search, shape, met, outer));
        let cost = |end: &End| match (end.near.first(), &end.trouble) {
            (Some(near), trouble) => (near.wrong.len(), usize::from(trouble.is_some())),
            (None, _) => (usize::MAX, 0),
        };
        let Some(end) = ends.min_by_key(cost) else {
            return Said::default();
        };
        let Some(leaf) = shape.leaves.get(end.met.len()) else {
            return self.nothing_but_gaps(&mut search).into();
        };
        let marks = marks(shape, leaf, &end);
        let mut lines = vec![self.headline(shape, leaf, &end)];
        lines.extend(steps(shape, leaf, &end, &marks));
        lines.extend(self.near(leaf, &end));
        lines.extend(around(self.scene, &marks));
        let got = end.near.first().map(|near| self.deed(near.deed));
        Said::from(lines.join("\n")).of(leaf.matcher).with(|told| {
            told.step = Some(leaf.number.clone());
            told.got = got;
        })
    }

    /// Returns how a partial match ends.
    fn end(
        &self,
        search: &mut Search<'_, '_>,
        shape: &Shape<'_>,
        met: &[Place],
        outer: &Bindings,
    ) -> End {
        search.replay(met);
        let mut bindings = outer.clone();
        search.bind(&mut bindings, self.label);
        let mut end = End {
            met: met.to_vec(),
            bindings,
            next: None,
            near: Vec::new(),
            many: 0,
            trouble: None,
        };
        let Some(leaf) = shape.leaves.get(met.len()) else {
            return end;
        };
        let before = leaf
            .after
            .iter()
            .filter_map(|it| Some((*it, *met.get(*it)?)));
        let last = before.max_by_key(|(_, deed)| *deed);
        end.near = nearest(self.scene, leaf.matcher, &end.bindings, last.map(|it| it.1));
        end.many = end.near.len();
        if let Some((step, last)) = last.filter(|_| leaf.is_next) {
            let next = self.scene.next(last);
            end.near.retain(|near| Some(near.deed) == next);
            end.next = Some((step, next));
        }
        let likes = end.near.iter().take_while(|near| near.wrong.is_empty());
        let troubles = likes.map(|near| self.trouble(search, shape, met, near.deed));
        let troubles: Vec<_> = troubles.take(100).collect();
        // A deed in its way explains more than its coming too early.
        let is_better = |it: &Option<Trouble>| matches!(it, Some(Trouble::Between(..)));
        let at = troubles.iter().position(is_better).unwrap_or(0);
        if let Some(found) = troubles.into_iter().nth(at) {
            end.near.swap(0, at);
            end.trouble = found;
        }
        let fewest = end.near.first().map_or(0, |near| near.wrong.len());
        end.near.retain(|near| near.wrong.len() == fewest);
        end.near.truncate(if fewest == 0 { 1 } else { 2 });
        end
    }

    /// Returns what keeps a deed with the right fields from being the step.
    fn trouble(
        &self,
        search: &mut Search<'_, '_>,
        shape: &Shape<'_>,
        met: &[Place],
        deed: Place,
    ) -> Option<Trouble> {
        let id = met.len();
        let leaf = shape.leaves.get(id)?;
        let chosen = |it: &LeafId| Some((*it, *met.get(*it)?));
        let mut taken = leaf.rivals.iter().chain(&leaf.after).filter_map(chosen);
        if let Some((rival, _)) = taken.find(|(_, other)| *other == deed) {
            return Some(Trouble::Taken(rival));
        }
        for (earlier, other) in leaf.after.iter().filter_map(chosen) {
            if !self.scene.is_before(other, deed) {
                return Some(match self.scene.is_before(deed, other) {
                    true => Trouble::Before(earlier),
                    false => Trouble::During(earlier),
                });
            }
        }
        let candidate = Candidate {
            deed,
            answer: Answer::Yes,
        };
        let between = search.blocked(id, candidate);
        between.map(|(gap, deed)| Trouble::Between(gap, deed))
    }

    fn headline(&self, shape: &Shape<'_>, leaf: &Leaf<'_>, end: &End) -> String {
        let step = self.step(leaf);
        let word = &leaf.matcher.word;
        let number = |it: &LeafId| {
            shape
                .leaves
                .get(*it)
                .map_or("", |leaf| leaf.number.as_str())
        };
        match (&end.trouble, &end.next, end.many) {
            (Some(Trouble::Between(gap, deed)), ..) => {
                let name = self.scene.deeds.get(*deed).map_or("", |deed| &*deed.name);
                let line = self.forbids(shape, *gap, *deed).map_or(0, |it| it.line);
                let place = match line > leaf.matcher.line {
                    true => "behind",
                    false => "before",
                };
                format!(
                    "{step} occurs, but not without the `{name}` {place} it that line {line} forbids"
                )
            }
            (_, Some((earlier, None)), _) => {
                let number = number(earlier);
                format!("{step} does not occur: its thread does nothing behind step {number}")
            }
            (_, Some((earlier, Some(_))), _) => {
                let number = number(earlier);
                format!("{step} is not what its thread does next behind step {number}")
            }
            (_, None, 0) => {
                let kin = self.kin(&leaf.matcher.names);
                format!("{step} never occurs: there is no `{word}`{kin}")
            }
            (None, None, 1) => format!("{step} never occurs: the only `{word}` is not like it"),
            (None, None, many) => {
                format!("{step} never occurs: of {many} `{word}` none is like it")
            }
            (Some(Trouble::Before(earlier)), ..) => {
                format!("{step} occurs, but before step {}", number(earlier))
            }
            (Some(Trouble::During(earlier)), ..) => {
                let number = number(earlier);
                format!("{step} occurs, but while step {number} was under way in another thread")
            }
            (Some(Trouble::Taken(rival)), ..) => {
                let number = number(rival);
                format!("{step} occurs once too few: what is like it is step {number}")
            }
        }
    }

    /// What was called in the place of calls of these names: `, but 2 renameat`.
    fn kin(&self, names: &BTreeSet<String>) -> String {
        let all: BTreeSet<&str> = names.iter().flat_map(|name| kin(name)).copied().collect();
        let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
        let others = self.scene.deeds.iter().map(|deed| &*deed.name);
        for name in others.filter(|name| all.contains(name) && !names.contains(*name)) {
            *seen.entry(name).or_default() += 1;
        }
        let seen = seen.iter().map(|(name, times)| format!("{times} `{name}`"));
        let seen = seen.collect::<Vec<_>>().join(" and ");
        if seen.is_empty() {
            seen
        } else {
            format!(", but {seen}")
        }
    }

    /// Returns the matcher of a gap that a deed fits.
    fn forbids<'e>(&self, shape: &Shape<'e>, gap: usize, deed: Place) -> Option<&'e Matcher> {
        let name = &*self.scene.deeds.get(deed)?.name;
        let mut matchers = shape.gaps.get(gap)?.matchers.iter();
        matchers.find(|matcher| matcher.names.contains(name))
    }

    /// Returns the most similar deeds, with their differences.
    fn near(&self, leaf: &Leaf<'_>, end: &End) -> Vec<String> {
        let width = leaf.number.len();
        let here = format!(" of `{}`", self.key(leaf));
        let word = if end.next.is_some() {
            "next"
        } else {
            "nearest"
        };
        let mut lines = Vec::new();
        for near in end.near.iter().filter(|near| !near.wrong.is_empty()) {
            let Some(deed) = self.scene.deeds.get(near.deed) else {
                continue;
            };
            lines.push(format!("  {:width$}  {word}: {}", "", self.deed(near.deed)));
            let wrong = near
                .wrong
                .iter()
                .filter_map(|it| leaf.matcher.fields.get(*it));
            lines.extend(wrong.map(|(word, test)| {
                let difference = difference(deed, word, test, &end.bindings);
                format!("~ {:width$}    {}", "", difference.replace(&here, ""))
            }));
        }
        lines
    }

    /// Explains expectations that consist of forbidden deeds only.
    fn nothing_but_gaps(&self, search: &mut Search<'_, '_>) -> String {
        let gaps = 0..search.gaps.len();
        let found: Vec<Place> = gaps.filter_map(|gap| search.violator(gap)).collect();
        let marks: Vec<Mark> = found.iter().map(|deed| mark(*deed, '-', "")).collect();
        let mut lines = vec![format!(
            "`{}.sequence`: what must not occur does",
            self.label
        )];
        lines.extend(around(self.scene, &marks));
        lines.join("\n")
    }
}

/// Returns the missing step, and before it the last found steps that the trace below shows.
fn steps(shape: &Shape<'_>, leaf: &Leaf<'_>, end: &End, marks: &[Mark]) -> Vec<String> {
    let width = leaf.number.len();
    let met = shape.leaves.iter().zip(&end.met);
    let shown = met.filter(|(_, deed)| marks.iter().any(|mark| mark.deed == **deed));
    let mut lines: Vec<String> = shown
        .map(|(other, _)| {
            let (number, step) = (&other.number, words::of_matcher(other.matcher));
            cut(&format!("+ {number:width$}  {step}"))
        })
        .collect();
    let step = words::of_matcher(leaf.matcher);
    lines.push(cut(&format!("- {}  {step}", leaf.number)));
    lines
}

fn mark(deed: Place, sign: char, note: &str) -> Mark {
    Mark {
        deed,
        sign,
        note: note.to_owned(),
    }
}

/// Returns the marks in the trace: the deed in the way, the found steps that matter, and similar
/// deeds.
fn marks(shape: &Shape<'_>, leaf: &Leaf<'_>, end: &End) -> Vec<Mark> {
    const MOST: usize = 3;
    let captures = |matcher: &Matcher| {
        let mut names = Vec::new();
        for (_, test) in &matcher.fields {
            captures_of(test, &mut names);
        }
        names.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let own = captures(leaf.matcher);
    let bears = |at: usize, other: &Leaf<'_>| {
        let is_rival = matches!(end.trouble, Some(Trouble::Taken(rival)) if rival == at);
        let is_last = at + 1 == end.met.len() && leaf.rivals.is_empty();
        let binds = || {
            captures(other.matcher)
                .iter()
                .any(|name| own.contains(name))
        };
        is_last || is_rival || leaf.after.contains(&at) || binds()
    };
    let met = shape.leaves.iter().zip(&end.met).enumerate();
    let met: Vec<Mark> = met
        .filter(|(at, (other, _))| bears(*at, other))
        .map(|(_, (other, deed))| mark(*deed, '+', &other.number))
        .collect();
    let mut marks = Vec::new();
    if let Some(Trouble::Between(_, deed)) = &end.trouble {
        marks.push(mark(*deed, '-', ""));
    }
    marks.extend(met.iter().rev().take(MOST).rev().cloned());
    let number = match end.trouble.is_some() {
        true => leaf.number.as_str(),
        false => "",
    };
    marks.extend(end.near.iter().map(|near| mark(near.deed, '~', number)));
    if let Some((_, Some(next))) = end.next {
        marks.push(mark(next, '-', ""));
    }
    marks
}
