//! What is expected of the events of a run or a section, against its deeds.

use super::bindings::Bindings;
use super::closed::{self, Sight};
use super::explain::Explainer;
use super::order::Scene;
use super::search::{Found, Search};
use super::shape::Shape;
use super::{Expected, Matcher};
use crate::scenario::Pattern;

/// How many deeds a search may try at most: about a second's worth.
pub const MOST_TRIES: u64 = 2_000_000;

/// What is to be said of one expectation that was not met. Its first line says it all; the others
/// say why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// It was certainly not met.
    Failed(String),
    /// It is not known: the answer depends on values that were not read.
    Unknown(String),
    /// To tell whether it was met would have taken too long.
    GaveUp(String),
}

impl Finding {
    /// What is to be said.
    #[must_use]
    pub fn text(&self) -> &str {
        let (Self::Failed(text) | Self::Unknown(text) | Self::GaveUp(text)) = self;
        text
    }
}

/// What came of all expectations; nothing where all were met.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// In the order of the keys: `sequence`, `any_order`, `never`, `only`, `count`.
    pub findings: Vec<Finding>,
    /// What captures stand for: those of `sequence` and `any_order`, and the outer ones.
    pub bindings: Bindings,
}

/// Judges what is expected of these deeds: of those of a section, or of all. Captures that stand
/// for something in `outer` do so here; what hangs on one that does not, as what binds it was not
/// met, is not judged.
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
    judgement.findings.extend(findings);
    judgement
}

/// The parts that bind captures.
fn ordered(
    expected: &Expected,
    explainer: &Explainer<'_, '_>,
    judgement: &mut Judgement,
    most: u64,
) {
    let outer = judgement.bindings.clone();
    let (sequence, any_order) = (expected.sequence.as_slice(), expected.any_order.as_slice());
    let captures = Shape::new(sequence, any_order).captures;
    // What these are was to be found elsewhere, and was not: that is said there.
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
    // What is wrong with the one by itself is said of it; otherwise it is that both do not go
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

/// What came of one search.
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
            Found::GaveUp => Some(Finding::GaveUp(explainer.gave_up(&shape, most))),
            Found::None if explainer.scene.forgets_a_step(&shape) => {
                Some(Finding::Unknown(explainer.forgot_steps(&shape)))
            }
            Found::None => Some(match found(true) {
                (Found::All, _) if explainer.scene.forgets_between(&shape) => {
                    Finding::Unknown(explainer.forgot_between(&shape))
                }
                (Found::All, mut search) => Finding::Unknown(explainer.unknown(&mut search)),
                (Found::GaveUp, _) => Finding::GaveUp(explainer.gave_up(&shape, most)),
                (Found::None, _) => Finding::Failed(explainer.failed(&shape, outer)),
            }),
        };
        Self { finding, bindings }
    }
}
