//! Says why it is not known whether an expectation was met.

use super::Explainer;
use super::nearest::difference;
use crate::matching::answer::Answer;
use crate::matching::bindings::{Bindings, Within};
use crate::matching::candidates::field_fits;
use crate::matching::order::Place;
use crate::matching::search::Search;
use crate::matching::shape::Shape;
use crate::matching::{Matcher, words};
use crate::scenario::NumberOf;

impl Explainer<'_, '_> {
    /// Explains a search that took too long.
    pub(in crate::matching) fn gave_up(&self, shape: &Shape<'_>, most: u64) -> String {
        let many = |matcher: &Matcher| {
            let names = matcher.names.iter();
            names
                .map(|name| self.scene.named(name).len())
                .sum::<usize>()
        };
        let leaves = shape.leaves.iter();
        let crowded = leaves.max_by_key(|leaf| many(leaf.matcher));
        crowded.map_or_else(String::new, |leaf| {
            let (matcher, step) = (leaf.matcher, self.step(leaf));
            format!(
                "{step} may be one of {} `{}`, and whether one fits all steps could not be told within {most} attempts; \
                 what the steps say of their fields decides how many there are",
                many(matcher),
                matcher.word
            )
        })
    }

    /// Explains steps that occur only if values that were not read are as expected.
    pub(in crate::matching) fn unknown(&self, search: &mut Search<'_, '_>) -> String {
        let mut bindings = Bindings::default();
        search.bind(&mut bindings, self.label);
        let shape = search.shape;
        let mut lines = Vec::new();
        for (leaf, deed) in shape.leaves.iter().zip(search.chosen.clone()) {
            let unread = self.unread(leaf.matcher, deed, &bindings);
            if !unread.is_empty() {
                let step = self.step(leaf);
                lines.push(format!("{step} occurs or not: what decides was not read"));
                lines.push(format!("~ {}", self.deed(deed)));
                lines.extend(unread);
            }
        }
        if lines.is_empty() {
            search.is_lenient = false;
            let gaps = 0..shape.gaps.len();
            let found: Vec<Place> = gaps.filter_map(|gap| search.violator(gap)).collect();
            lines.push(format!(
                "`{}.sequence`: whether what must not lie between its steps does was not read",
                self.label
            ));
            lines.extend(found.iter().map(|deed| format!("~ {}", self.deed(*deed))));
        }
        lines.truncate(12);
        lines.join("\n")
    }

    /// Returns the fields that decide and whose value is not known.
    pub(super) fn unread(
        &self,
        matcher: &Matcher,
        deed: Place,
        bindings: &Bindings,
    ) -> Vec<String> {
        let Some(deed) = self.scene.deeds.get(deed) else {
            return Vec::new();
        };
        let mut within = Within::new(bindings);
        let fields = matcher.fields.iter();
        let unknown = fields.filter(|(word, test)| {
            field_fits(deed, matcher, (word.as_str(), test), &mut within) == Answer::Unknown
        });
        let unknown =
            unknown.map(|(word, test)| format!("~   {}", difference(deed, word, test, bindings)));
        let answered = deed.is_answered().then(|| self.answered());
        answered.into_iter().chain(unknown).collect()
    }

    /// Says of a call why it is not known that the kernel made it.
    pub(super) fn answered(&self) -> String {
        let forgets = !self.scene.forgotten().is_empty();
        let or = if forgets {
            " or it was overwritten, or"
        } else {
            ""
        };
        format!(
            "~   its entry is in no record:{or} a seccomp filter, of the workload's own or of a \
             policy, answered it, and the kernel did not make it"
        )
    }

    /// Explains an undecided `never`.
    pub(in crate::matching) fn may_occur(
        &self,
        matcher: &Matcher,
        deeds: &[Place],
        bindings: &Bindings,
    ) -> String {
        let (step, line) = (words::of_matcher(matcher), matcher.line);
        let head = format!(
            "`{}.never`: whether `{step}` occurs (line {line}) was not read",
            self.label
        );
        self.listed(head, &[matcher], deeds, bindings)
    }

    /// Explains an undecided `only`.
    pub(in crate::matching) fn may_not_be_allowed(
        &self,
        matchers: &[Matcher],
        deeds: &[Place],
        bindings: &Bindings,
    ) -> String {
        let many = deeds.len();
        let head = format!(
            "`{}.only`: whether it allows {many} of the events was not read",
            self.label
        );
        let matchers: Vec<&Matcher> = matchers.iter().collect();
        self.listed(head, &matchers, deeds, bindings)
    }

    /// Explains an undecided `count`.
    pub(in crate::matching) fn uncounted(
        &self,
        NumberOf { step, times }: &NumberOf<Matcher>,
        least: u64,
        unknown: &[Place],
        bindings: &Bindings,
    ) -> String {
        let (word, more) = (words::of_matcher(step), unknown.len());
        let head = format!(
            "{} {times} of `{word}`, got {least}, and {more} of which it was not read",
            self.expected()
        );
        self.listed(head, &[step], unknown, bindings)
    }

    fn listed(
        &self,
        head: String,
        matchers: &[&Matcher],
        deeds: &[Place],
        bindings: &Bindings,
    ) -> String {
        const MOST: usize = 3;
        let mut lines = vec![head];
        for deed in deeds.iter().take(MOST) {
            let name = self.scene.deeds.get(*deed).map(|deed| &deed.name);
            let of_name = matchers
                .iter()
                .filter(|it| name.is_some_and(|name| it.names.contains(&**name)));
            let unread = of_name.map(|it| self.unread(it, *deed, bindings));
            lines.push(format!("~ {}", self.deed(*deed)));
            lines.extend(unread.into_iter().flatten());
        }
        let more = deeds.len().saturating_sub(MOST);
        if more > 0 {
            lines.push(format!("~ and {more} more"));
        }
        lines.join("\n")
    }
}
