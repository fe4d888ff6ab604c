//! Explains deeds that must not occur, and numbers that are not as expected.

use super::nearest::{differences, nearest};
use super::stretch::{Mark, around};
use super::{Explainer, cut};
use crate::matching::bindings::Bindings;
use crate::matching::order::Place;
use crate::matching::{Matcher, words};
use crate::scenario::CountRange;
use std::collections::BTreeMap;

/// How many of the surplus deeds are shown.
const SHOWN: usize = 3;

impl Explainer<'_, '_> {
    /// Explains a failed `never`.
    pub(in crate::matching) fn occurs(&self, matcher: &Matcher, deeds: &[Place]) -> String {
        let (step, line) = (words::of_matcher(matcher), matcher.line);
        let times = match deeds.len() {
            1 => "occurs".to_owned(),
            many => format!("occurs {many} times"),
        };
        let mut lines = vec![format!(
            "`{}.never`: `{step}` {times} (line {line})",
            self.label
        )];
        lines.extend(self.shown(deeds, '-'));
        lines.join("\n")
    }

    /// Explains a failed `only`: by name, with the differences from the most similar allowed deed.
    pub(in crate::matching) fn not_allowed(
        &self,
        matchers: &[Matcher],
        deeds: &[Place],
        bindings: &Bindings,
    ) -> String {
        const GROUPS: usize = 6;
        let mut groups: BTreeMap<&str, Vec<Place>> = BTreeMap::new();
        for place in deeds {
            if let Some(deed) = self.scene.deeds.get(*place) {
                groups.entry(&deed.name).or_default().push(*place);
            }
        }
        let mut groups: Vec<(&str, Vec<Place>)> = groups.into_iter().collect();
        groups.sort_by_key(|(_, places)| places.first().copied());
        let (many, all) = (deeds.len(), self.scene.deeds.len());
        let mut lines = vec![format!(
            "`{}.only` does not allow {many} of {all} events",
            self.label
        )];
        for (name, places) in groups.iter().take(GROUPS) {
            let Some(first) = places.first() else {
                continue;
            };
            let more = match places.len() {
                1 => String::new(),
                many => format!("   (and {} more `{name}`)", many - 1),
            };
            lines.push(format!("- {}{more}", self.deed(*first)));
            lines.extend(self.nearest_allowed(matchers, *first, bindings));
        }
        let rest = groups.get(GROUPS..).unwrap_or_default();
        if !rest.is_empty() {
            let names: Vec<String> = rest.iter().map(|(name, _)| format!("`{name}`")).collect();
            lines.push(cut(&format!("- and {}", names.join(", "))));
        }
        lines.join("\n")
    }

    fn nearest_allowed(
        &self,
        matchers: &[Matcher],
        place: Place,
        bindings: &Bindings,
    ) -> Vec<String> {
        let Some(deed) = self.scene.deeds.get(place) else {
            return Vec::new();
        };
        let of_name = matchers.iter().filter(|it| it.names.contains(&*deed.name));
        let nearest = of_name
            .map(|it| (it, differences(deed, it, bindings)))
            .min_by_key(|(_, differences)| differences.len());
        nearest.map_or_else(Vec::new, |(matcher, differences)| {
            let (step, line) = (words::of_matcher(matcher), matcher.line);
            let allowed = format!("    line {line} allows {step}");
            let differences = differences.iter().map(|it| format!("~     {it}"));
            std::iter::once(allowed).chain(differences).collect()
        })
    }

    /// Explains a failed `count`.
    pub(in crate::matching) fn miscounted(
        &self,
        matcher: &Matcher,
        range: CountRange,
        deeds: &[Place],
        bindings: &Bindings,
    ) -> String {
        let (step, count) = (words::of_matcher(matcher), deeds.len());
        let mut lines = vec![format!(
            "{} {range} of `{step}`, got {count}",
            self.expected()
        )];
        let near = nearest(self.scene, matcher, bindings, None);
        if let Some(near) = near.first().filter(|_| count == 0) {
            lines.push(format!("  nearest: {}", self.deed(near.deed)));
            let deed = self.scene.deeds.get(near.deed);
            let differences = deed.map(|deed| differences(deed, matcher, bindings));
            let differences = differences.into_iter().flatten();
            lines.extend(differences.map(|it| format!("~   {it}")));
        }
        let shown = deeds.iter().take(SHOWN);
        lines.extend(shown.map(|deed| format!("+ {}", self.deed(*deed))));
        lines.extend(more(deeds, '+'));
        lines.join("\n")
    }

    /// Returns the first of some deeds, with their tasks.
    fn shown(&self, deeds: &[Place], sign: char) -> Vec<String> {
        let first = deeds.iter().take(SHOWN);
        let marks: Vec<Mark> = first
            .map(|deed| Mark {
                deed: *deed,
                sign,
                note: String::new(),
            })
            .collect();
        let mut lines = around(self.scene, &marks);
        lines.extend(more(deeds, sign));
        lines
    }
}

/// Says how many more there are than are shown.
fn more(deeds: &[Place], sign: char) -> Option<String> {
    let more = deeds.len().saturating_sub(SHOWN);
    (more > 0).then(|| format!("{sign} and {more} more"))
}
