//! Counts the deeds that a matcher means.

use super::Matcher;
use super::answer::Answer;
use super::candidates::made;
use super::order::Scene;

/// Returns how many deeds of a scene a matcher without captures certainly means, and how many it
/// may mean if some values were not read.
#[must_use]
pub fn tally(matcher: &Matcher, scene: &Scene<'_>) -> (u64, u64) {
    let meant = made(scene, matcher);
    let certain = meant.iter().filter(|found| found.answer == Answer::Yes);
    (certain.count() as u64, meant.len() as u64)
}
