use super::*;
use crate::trace::Deed;
use notation::deeds;

mod answered;
mod between;
mod confined;
mod confined_calls;
mod confined_names;
mod confined_ways;
mod effort;
mod exhaustive;
mod explained;
mod fields;
mod forgotten;
mod marks;
pub(crate) mod notation;
mod orders;
mod spans;

/// Steps as YAML's flow style has them, one a line or `;`: `openat: { path: a, returns: $fd }`;
/// `next`, `never`, `any_order`, `sequence` hold lists.
pub(super) fn expected(text: &str) -> Expected {
    steps::expected(text)
}

mod steps;

/// The words for the findings: `failed`, `unknown`, `gave up`, and nothing for a pass.
pub(super) fn judged(expected: &str, trace: &str) -> Vec<&'static str> {
    judgement(expected, trace)
        .findings
        .iter()
        .map(|finding| match finding {
            Finding::Failed(_) => "failed",
            Finding::Unknown(_) => "unknown",
            Finding::GaveUp(_) => "gave up",
            Finding::Remark(_) => "remarked",
        })
        .collect()
}

pub(super) fn judgement(text: &str, trace: &str) -> Judgement {
    let deeds = deeds(trace);
    let deeds: Vec<&Deed> = deeds.iter().collect();
    judge(
        &expected(text),
        &Scene::new(&deeds),
        None,
        &Bindings::default(),
        MOST_TRIES,
    )
}
