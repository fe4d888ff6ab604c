//! Judges the expectations for a run or a section by its deeds.

use super::between;
use super::bindings::Bindings;
use super::closed::{self, Sight};
use super::explain::Explainer;
use super::order::Scene;
use super::search::{Found, Search};
use super::shape::Shape;
use super::{Expected, Matcher, words};
use crate::scenario::{KeyPath, Pattern};
use serde::{Deserialize, Serialize};

/// How many deeds a search may try at most: about a second's worth.
pub const MOST_TRIES: u64 = 2_000_000;

/// An expectation that was not met or not decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// It was certainly not met.
    Failed(Said),
    /// It is not known: the answer depends on values that were not read.
    Unknown(Said),
    /// The search for the answer would have taken too long.
    GaveUp(Said),
    /// It is said, and fails nothing.
    Remark(Said),
}

/// What is said of an expectation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// The words for people. The first line says all; the others explain.
    pub text: String,
    /// The expectation, where it is a single one.
    pub of: Option<Box<Told>>,
    /// What single tests did of it.
    pub by: Vec<ByTest>,
}

/// What a test did that is not allowed, or not known to be.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ByTest {
    /// Its name.
    pub test: String,
    /// The paths and addresses, as rules have them, each once; what has no name is left out.
    pub did: Vec<String>,
}

/// A single expectation as data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Where it stands in the file.
    pub at: KeyPath,
    /// Its number among the steps of its list; `None` where it is not of a list of steps.
    pub step: Option<String>,
    /// The event, as the author wrote it.
    pub event: String,
    /// What was expected.
    pub expected: String,
    /// What came instead: the most similar or the first forbidden event, or a number.
    pub got: Option<String>,
}

impl From<String> for Said {
    fn from(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

impl Said {
    /// Says it of this matcher.
    pub(super) fn of(self, matcher: &Matcher) -> Self {
        let told = Told {
            at: matcher.at.clone(),
            event: matcher.word.clone(),
            expected: words::of_matcher(matcher),
            ..Told::default()
        };
        Self {
            of: Some(Box::new(told)),
            ..self
        }
    }

    /// Adds what is known besides.
    pub(super) fn with(mut self, add: impl FnOnce(&mut Told)) -> Self {
        if let Some(told) = &mut self.of {
            add(told);
        }
        self
    }
}

impl Finding {
    /// Returns the text for a report.
    #[must_use]
    pub fn text(&self) -> &str {
        let (Self::Failed(said) | Self::Unknown(said) | Self::GaveUp(said) | Self::Remark(said)) =
            self;
        &said.text
    }
}

/// The result for all expectations; empty if all were met.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// In the order of the keys: `sequence`, `any_order`, `never`, `only`, `count`, `between`.
    pub findings: Vec<Finding>,
    /// The values of captures: those of `sequence` and `any_order`, and the outer ones.
    pub bindings: Bindings,
}

/// Judges the expectations for these deeds: of a section, or of the whole run. Captures keep their
/// values from `outer`. An expectation with a capture that is missing there is not judged.
///
/// `most` is how many deeds the search may try ([`MOST_TRIES`]).
#[must_use]
pub fn judge(
    expected: &Expected,
    scene: &Scene<'_>,
    section: Option<&str>,
    outer: &Bindings,
    most: u64,
) -> Judgement {
    let label = section.map_or_else(
        || "expect".to_owned(),
        |name| format!("expect.sections.{name}"),
    );
    let mut judgement = Judgement {
        findings: Vec::new(),
        bindings: outer.clone(),
    };
    let explainer = Explainer {
        scene,
        label: &label,
        section,
    };
    ordered(expected, &explainer, &mut judgement, most);
    let sight = Sight {
        explainer: &explainer,
        bindings: &judgement.bindings,
    };
    let mut findings = closed::never(&expected.never, &sight);
    findings.extend(closed::only(&expected.only, &sight));
    findings.extend(closed::count(&expected.count, &sight));
    findings.extend(between::judge(&expected.between, &sight, most));
    judgement.findings.extend(findings);
    judgement
}

/// Judges the lists that bind captures.
fn ordered(
    expected: &Expected,
    explainer: &Explainer<'_, '_>,
    judgement: &mut Judgement,
    most: u64,
) {
    let outer = judgement.bindings.clone();
    let (sequence, any_order) = (expected.sequence.as_slice(), expected.any_order.as_slice());
    let captures = Shape::new(sequence, any_order).captures;
    // The missing capture has a finding of its own.
    if outer.misses(&captures) {
        judgement.bindings.miss(&captures);
        return;
    }
    let attempt = |sequence, any_order| Attempt::new(explainer, sequence, any_order, &outer, most);
    let both = attempt(sequence, any_order);
    let Some(finding) = both.finding else {
        judgement.bindings = both.bindings;
        return;
    };
    judgement.bindings.miss(&captures);
    let is_failed = matches!(finding, Finding::Failed(_));
    if !is_failed || sequence.is_empty() || any_order.is_empty() {
        judgement.findings.push(finding);
        return;
    }
    // A list that fails by itself gets a finding of its own; otherwise the two lists do not fit
    // together.
    match attempt(sequence, &[]).finding {
        Some(finding) => {
            let other = attempt(&[], any_order).finding;
            judgement
                .findings
                .extend(std::iter::once(finding).chain(other));
        }
        None => judgement.findings.push(finding),
    }
}

/// The result of one search.
struct Attempt {
    finding: Option<Finding>,
    bindings: Bindings,
}

impl Attempt {
    fn new(
        explainer: &Explainer<'_, '_>,
        sequence: &[Pattern<Matcher>],
        any_order: &[Pattern<Matcher>],
        outer: &Bindings,
        most: u64,
    ) -> Self {
        let shape = Shape::new(sequence, any_order);
        let found = |is_lenient| {
            let mut search = Search::new(explainer.scene, &shape, outer, is_lenient, most);
            (search.run(), search)
        };
        let search = Search::new(explainer.scene, &shape, outer, false, most);
        let mut search = search.minding_what_is_forgotten();
        let certain = search.run();
        let mut bindings = outer.clone();
        let finding = match certain {
            Found::All => {
                search.bind(&mut bindings, explainer.label);
                None
            }
            Found::GaveUp => Some(Finding::GaveUp(explainer.gave_up(&shape, most).into())),
            Found::None if explainer.scene.forgets_a_step(&shape) => {
                Some(Finding::Unknown(explainer.forgot_steps(&shape).into()))
            }
            Found::None => Some(match found(true) {
                (Found::All, _) if explainer.scene.forgets_between(&shape) => {
                    Finding::Unknown(explainer.forgot_between(&shape).into())
                }
                (Found::All, mut search) => Finding::Unknown(explainer.unknown(&mut search).into()),
                (Found::GaveUp, _) => Finding::GaveUp(explainer.gave_up(&shape, most).into()),
                (Found::None, _) => Finding::Failed(explainer.failed(&shape, outer)),
            }),
        };
        Self { finding, bindings }
    }
}
