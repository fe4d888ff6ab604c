//! How many deeds a matcher means.

use super::Matcher;
use super::answer::Answer;
use super::candidates::meant;
use super::order::Scene;

/// How many deeds of a scene a matcher without captures means: for certain, and at most, where not
/// all was read.
#[must_use]
pub fn tally(matcher: &Matcher, scene: &Scene<'_>) -> (u64, u64) {
    let meant = meant(scene, matcher);
    let certain = meant.iter().filter(|found| found.answer == Answer::Yes);
    (certain.count() as u64, meant.len() as u64)
}
