//! Which call a site is, among those that a fault is meant for.

use super::learning::Resolved;
use crate::sweep::{Lost, Matching, Place, Seen, Site, Spot};
use crate::trace::Normalised;
use std::collections::{BTreeMap, HashMap};

const NEW: &str = "only the second of the two runs without faults has such a call";

const UNTOLD: &str = "which call it is cannot be told: the trace counts other calls than were held";

/// Gives each site the number of its first call among those that its faults are meant for; returns
/// beside them those of which no number is known, and why.
///
/// A site whose files had other names in the run before is found by its number among all calls of
/// its name; and so is one of which the trace does not tell what was told while calls were held.
pub(super) fn numbered(
    (spots, before): (Vec<Spot>, &Seen),
    matchers: &BTreeMap<Matching, Resolved>,
    held: Option<&Normalised>,
) -> (Vec<Site>, Vec<Lost>) {
    let held = held.map(Normalised::in_order).unwrap_or_default();
    let mut numbers: BTreeMap<Matching, Option<HashMap<Place, u64>>> = BTreeMap::new();
    let mut number = |matching: &Matching, spot: &Spot| -> Option<u64> {
        let Resolved { matcher, counted } = matchers.get(matching)?;
        let of_matching = numbers.entry(matching.clone()).or_insert_with(|| {
            let numbers = matching.numbers(matcher, &held);
            numbers.filter(|numbers| numbers.len() as u64 == *counted)
        });
        of_matching.as_ref()?.get(&spot.place).copied()
    };
    let (mut sites, mut untold) = (Vec::new(), Vec::new());
    for spot in spots {
        let found = spot.matchings().into_iter();
        let mut found = found.filter_map(|matching| Some((number(&matching, &spot)?, matching)));
        match found.next() {
            Some((when, matching)) => sites.push(Site {
                number: sites.len() + 1,
                has_new_names: !before.has(&spot),
                spot,
                matching,
                when,
            }),
            None => {
                let mut all = spot.matchings().into_iter();
                let is_new = !all.any(|it| matchers.contains_key(&it));
                let why = if is_new { NEW } else { UNTOLD };
                untold.push(Lost { spot, why });
            }
        }
    }
    (sites, untold)
}
