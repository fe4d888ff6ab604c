//! Collects what runs did.

use super::Condition;
use crate::trace::{Stretch, Trace};
use std::collections::BTreeMap;

/// What the runs of a scenario did, and under which conditions.
#[derive(Debug, Default)]
pub struct Evidence {
    rows: BTreeMap<String, Vec<Form>>,
}

/// Runs that were the same in the strictest view.
#[derive(Debug)]
pub(super) struct Form {
    pub(super) trace: Trace,
    /// The part of them that is shown; `None` for all.
    pub(super) stretch: Option<Stretch>,
    text: String,
    /// How many there were under each condition.
    pub(super) seen: BTreeMap<Condition, u32>,
}

impl Form {
    pub(super) fn n_runs(&self) -> u32 {
        self.seen.values().sum()
    }
}

impl Evidence {
    /// Takes a run of a row of the scenario's matrix, with the part of it that is shown, and its
    /// text in the strictest view.
    pub fn add(
        &mut self,
        row: &str,
        condition: Condition,
        (trace, stretch): (Trace, Option<Stretch>),
        text: String,
    ) {
        let forms = self.rows.entry(row.to_owned()).or_default();
        let known = forms.iter_mut().find(|form| form.text == text);
        let seen = match known {
            Some(form) => &mut form.seen,
            None => {
                let seen = BTreeMap::new();
                forms.push(Form {
                    trace,
                    stretch,
                    text,
                    seen,
                });
                match forms.last_mut() {
                    Some(form) => &mut form.seen,
                    None => return,
                }
            }
        };
        *seen.entry(condition).or_default() += 1;
    }

    /// Returns how many runs there are under each condition.
    #[must_use]
    pub fn n_runs(&self) -> BTreeMap<Condition, u32> {
        let mut n_runs = BTreeMap::new();
        let forms = self.rows.values().flatten();
        for (condition, count) in forms.flat_map(|form| &form.seen) {
            *n_runs.entry(*condition).or_default() += count;
        }
        n_runs
    }

    /// The rows: only runs of the same row can be compared.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&str, &[Form])> {
        let rows = self.rows.iter();
        rows.map(|(row, forms)| (row.as_str(), forms.as_slice()))
    }
}
