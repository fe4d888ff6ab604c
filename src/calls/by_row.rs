//! What is known of each call, looked up by its number as fast as a name is.

use super::names::{self, Abi};

/// A value for each row of the table of names, that is for each call of any convention.
#[derive(Debug)]
pub(super) struct ByRow<T>(Vec<T>);

impl<T: Copy> ByRow<T> {
    /// Asks once for each call, by its name.
    pub(super) fn new(of: impl Fn(&'static str) -> T) -> Self {
        Self(
            (0..names::ROW_COUNT)
                .map(|row| of(names::row_name(row)))
                .collect(),
        )
    }

    /// The row of a call and what is known of it; `None` for a number without a name.
    #[inline]
    pub(super) fn get(&self, abi: Abi, number: i32) -> Option<(usize, T)> {
        let row = names::row(abi, u32::try_from(number).ok()?)?;
        Some((row, *self.0.get(row)?))
    }

    /// The names of the calls of which this holds, sorted.
    pub(super) fn names(&self, holds: impl Fn(&T) -> bool) -> Vec<&'static str> {
        let rows = self.0.iter().enumerate();
        rows.filter(|(_, known)| holds(known))
            .map(|(row, _)| names::row_name(row))
            .collect()
    }
}
