//! The walls of `src/ARCHITECTURE.md`, enforced by reading the sources.
//!
//! Each rule is a function from sources to complaints; a complaint names file and line and says
//! what to do. Beside the repository itself every rule is shown a planted violation, so that no
//! rule can fall asleep.

mod documents;
mod graph;
mod paths;
mod repository;
mod source;
mod walls;

use source::Source;

/// Fails with all complaints, one a line.
fn expect_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

/// Fails unless a rule complains exactly once about a planted file, at this place.
fn expect_one_at(place: &str, complaints: &[String]) {
    let [complaint] = complaints else {
        panic!("{place}: {complaints:?}")
    };
    assert!(complaint.starts_with(&format!("{place}: ")), "{complaint}");
}

/// A file that is not there, for a rule to look at.
fn planted(path: &str, text: &str) -> [&'static Source; 1] {
    [Box::leak(Box::new(Source::new(
        path.to_owned(),
        text.to_owned(),
    )))]
}
