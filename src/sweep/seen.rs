//! What a run made, for another run to be compared with it.

use super::site::{Shape, Spot};
use std::collections::HashSet;

/// The calls of a run, as far as those of another run can be told by them.
#[derive(Clone, Debug, Default)]
pub struct Seen(HashSet<(String, String, Shape)>);

impl Seen {
    /// Those of these sites.
    #[must_use]
    pub fn of(spots: &[Spot]) -> Self {
        Self(spots.iter().map(Self::key).collect())
    }

    /// Whether there are calls like those of a site of another run.
    #[must_use]
    pub fn has(&self, spot: &Spot) -> bool {
        self.0.contains(&Self::key(spot))
    }

    fn key(spot: &Spot) -> (String, String, Shape) {
        let call = spot.matching.call.clone();
        (spot.program.clone(), call, spot.without_numbers.clone())
    }
}
