//! Where the keys of a scenario stand, for those who have the scenario no more.

use super::diagnostic::Source;
use super::key_path::KeyPath;
use super::model::Scenario;
use super::places::Places;
use std::sync::Arc;

/// The positions of a scenario's keys and values in its file.
#[derive(Clone, Debug)]
pub struct Positions(Arc<(Source, Places)>);

impl Positions {
    /// Those of this scenario.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Self {
        Self(Arc::new((scenario.source.clone(), scenario.places.clone())))
    }

    /// Whether the file has such a key.
    #[must_use]
    pub fn has(&self, at: &KeyPath) -> bool {
        self.0.1.key_range(at).is_some()
    }

    /// Returns the line and the column of what stands there, counted from 1; of the nearest
    /// ancestor where the file has no such path.
    #[must_use]
    pub fn get(&self, at: &KeyPath) -> (usize, usize) {
        let (source, places) = &*self.0;
        let found = source.diagnostic(places.range_of(source, at), "");
        (found.line, found.column)
    }
}
