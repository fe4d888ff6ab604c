//! Explains `between`: what lacks something between, and what is most similar to it.

use super::nearest::{Near, difference, nearest};
use super::stretch::{Mark, around};
use super::{Explainer, cut};
use crate::matching::between::Pair;
use crate::matching::bindings::Bindings;
use crate::matching::order::Place;
use crate::matching::{Matcher, words};
use crate::scenario::Between;

impl Explainer<'_, '_> {
    /// Explains a failed element: so many of those with a `then` behind them lack it.
    pub(in crate::matching) fn not_between(
        &self,
        element: &Between<Matcher>,
        pair: &Pair<'_>,
        (unmet, of): (u64, u64),
        outer: &Bindings,
    ) -> String {
        let Between { first, then, .. } = element;
        let (label, missing) = (self.between(element), &element.there_is.word);
        let (before, behind) = (&first.word, &then.word);
        let many = match of {
            1 => String::new(),
            of => format!(", in {unmet} of {of} cases"),
        };
        let mut lines = vec![format!(
            "{label}: there is no `{missing}` between `{before}` and `{behind}`{many}"
        )];
        lines.extend(steps(element));
        let bindings = pair.bindings(outer);
        let near = self.nearest_between(&element.there_is, pair, &bindings);
        let mut marks = vec![mark(pair.first, '+', "first"), mark(pair.then, '+', "then")];
        if let Some((near, place)) = near {
            lines.push(format!("  nearest: {}{place}", self.deed(near.deed)));
            lines.extend(self.wrong(&element.there_is, &near, &bindings));
            marks.push(mark(near.deed, '~', ""));
        }
        lines.extend(around(self.scene, &marks));
        lines.join("\n")
    }

    /// Explains that not as many `first` as expected have a `then` behind them.
    pub(in crate::matching) fn mispaired(
        &self,
        element: &Between<Matcher>,
        certain: u64,
        outer: &Bindings,
    ) -> String {
        let Between {
            first, then, times, ..
        } = element;
        let (label, before, behind) = (self.between(element), &first.word, &then.word);
        let mut lines = vec![match certain {
            0 => format!("{label} never occurs: no `{before}` has a `{behind}` behind it"),
            _ => format!(
                "{label}: expected {times} of `{before}` with a `{behind}` behind, got {certain}"
            ),
        }];
        for matcher in [first, then].into_iter().filter(|_| certain == 0) {
            let near = nearest(self.scene, matcher, outer, None);
            let step = words::of_matcher(matcher);
            match near.first() {
                None => lines.push(cut(&format!("- {step}: there is no `{}`", matcher.word))),
                Some(near) if near.wrong.is_empty() => {
                    lines.push(cut(&format!("+ {step}: {}", self.deed(near.deed))));
                }
                Some(near) => {
                    lines.push(cut(&format!("- {step}")));
                    lines.push(format!("  nearest: {}", self.deed(near.deed)));
                    lines.extend(self.wrong(matcher, near, outer));
                }
            }
        }
        lines.join("\n")
    }

    /// Explains an undecided element.
    pub(in crate::matching) fn undecided_between(
        &self,
        element: &Between<Matcher>,
        pair: &Pair<'_>,
        outer: &Bindings,
    ) -> String {
        let (label, word) = (self.between(element), &element.there_is.word);
        let bindings = pair.bindings(outer);
        let mut lines = vec![format!(
            "{label}: whether there is the `{word}` between was not read"
        )];
        for (matcher, deed) in [(&element.first, pair.first), (&element.then, pair.then)] {
            lines.push(format!("~ {}", self.deed(deed)));
            lines.extend(self.unread(matcher, deed, &bindings));
        }
        let mut all =
            nearest(self.scene, &element.there_is, &bindings, Some(pair.then)).into_iter();
        if let Some(near) = all.find(|near| self.is_between(near.deed, pair)) {
            lines.push(format!("~ {}", self.deed(near.deed)));
            lines.extend(self.unread(&element.there_is, near.deed, &bindings));
        }
        lines.join("\n")
    }

    /// Explains that it is not known how many `first` have a `then` behind them.
    pub(in crate::matching) fn unpaired(&self, element: &Between<Matcher>, certain: u64) -> String {
        let Between {
            first, then, times, ..
        } = element;
        let (label, before, behind) = (self.between(element), &first.word, &then.word);
        let head = format!(
            "{label}: expected {times} of `{before}` with a `{behind}` behind, got {certain}, \
             and others of which it was not read"
        );
        let names = [first, then].into_iter().flat_map(|step| &step.names);
        let places = names.flat_map(|name| self.scene.named(name));
        let is_answered = |place: &&Place| {
            let deed = self.scene.deeds.get(**place);
            deed.is_some_and(|deed| deed.is_answered())
        };
        let answered = places.filter(is_answered).take(3);
        let lines =
            answered.flat_map(|place| [format!("~ {}", self.deed(*place)), self.answered()]);
        std::iter::once(head)
            .chain(lines)
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Explains an element of which earlier deeds were overwritten.
    pub(in crate::matching) fn forgot_between_two(&self, element: &Between<Matcher>) -> String {
        let label = self.between(element);
        let names = element.steps().map(|step| &step.word);
        let [first, then, there_is] = names;
        format!(
            "{label}: what else there was of `{first}`, `{then}` and `{there_is}` is not known, as records are missing"
        )
    }

    /// Explains a search that took too long.
    pub(in crate::matching) fn gave_up_between(
        &self,
        element: &Between<Matcher>,
        most: u64,
    ) -> String {
        let label = self.between(element);
        format!(
            "{label}: whether it holds could not be told within {most} attempts; \
             what its events say of their fields decides how many there are"
        )
    }

    /// Returns an element and its line: "`expect.between` (line 9)".
    fn between(&self, element: &Between<Matcher>) -> String {
        format!("`{}.between` (line {})", self.label, element.first.line)
    }

    /// Returns the deed that is most like what must come between, and where it is if not there. One
    /// that is there explains more than one that is elsewhere.
    fn nearest_between(
        &self,
        matcher: &Matcher,
        pair: &Pair<'_>,
        bindings: &Bindings,
    ) -> Option<(Near, &'static str)> {
        let all = nearest(self.scene, matcher, bindings, Some(pair.then));
        let inside = all.iter().find(|near| self.is_between(near.deed, pair));
        if let Some(near) = inside {
            return Some((near.clone(), ""));
        }
        let near = all.first()?.clone();
        let is_before = |one, other| self.scene.is_before(one, other);
        let place = match near.deed {
            deed if is_before(deed, pair.first) => ", before `first`",
            deed if is_before(pair.then, deed) => ", behind `then`",
            deed if !is_before(pair.first, deed) => ", begun before `first` had ended",
            _ => ", not ended before `then` began",
        };
        Some((near, place))
    }

    fn is_between(&self, deed: Place, pair: &Pair<'_>) -> bool {
        self.scene.is_before(pair.first, deed) && self.scene.is_before(deed, pair.then)
    }

    fn wrong(&self, matcher: &Matcher, near: &Near, bindings: &Bindings) -> Vec<String> {
        let Some(deed) = self.scene.deeds.get(near.deed) else {
            return Vec::new();
        };
        let fields = near.wrong.iter().filter_map(|it| matcher.fields.get(*it));
        fields
            .map(|(word, test)| format!("~   {}", difference(deed, word, test, bindings)))
            .collect()
    }
}

fn steps(element: &Between<Matcher>) -> [String; 3] {
    let Between {
        first,
        then,
        there_is,
        ..
    } = element;
    [
        ("+ first   ", first),
        ("- there_is", there_is),
        ("+ then    ", then),
    ]
    .map(|(key, matcher)| cut(&format!("{key}  {}", words::of_matcher(matcher))))
}

fn mark(deed: Place, sign: char, note: &str) -> Mark {
    Mark {
        deed,
        sign,
        note: note.to_owned(),
    }
}
