//! Resolves spans: two events of a scenario, and the fields by which they belong together.

use super::expected::Resolver;
use super::field_tests::Named;
use super::fields::{Field, FieldKind};
use super::{PlanError, WHY_OF_NOBODY, invalid, is_of_nobody};
use crate::matching::{Matcher, SPAN, SharedBy, SharedField, SpanRule};
use crate::scenario::{KeyPath, Scenario, SharedSpec, SpanSpec, StepSpec, Test};
use std::collections::BTreeSet;

/// A field of a key that stands for the thread that did the deed.
const THREAD: &str = "thread";

/// Resolves the pairing rules of a scenario.
pub(super) fn rules(
    scenario: &Scenario,
    resolver: &Resolver<'_>,
) -> Result<Vec<SpanRule>, PlanError> {
    let specs = scenario.trace.spans.iter();
    specs.map(|spec| rule(spec, scenario, resolver)).collect()
}

fn rule(
    spec: &SpanSpec,
    scenario: &Scenario,
    resolver: &Resolver<'_>,
) -> Result<SpanRule, PlanError> {
    let begin = end_of(&spec.begin, scenario, resolver)?;
    let end = end_of(&spec.end, scenario, resolver)?;
    if let (false, Some(name)) = (
        begin.names.iter().any(|name| is_of_nobody(name)),
        end.names.iter().find(|name| is_of_nobody(name)),
    ) {
        let message = format!("no span ends with `{name}`: {WHY_OF_NOBODY}");
        let help = "end it with an event of the workload's: the call that waits for it, or `sched:sched_switch` with its `next_pid`";
        let help = Some(help.to_owned());
        return Err(invalid(scenario.complaint(&spec.end.at, message, help)));
    }
    let key = spec.key.iter();
    let key = key.map(|shared| share(shared, &begin, &end, scenario, resolver));
    Ok(SpanRule {
        name: format!("{SPAN}{}", spec.name).into(),
        key: key.collect::<Result<_, PlanError>>()?,
        begin,
        end,
    })
}

fn end_of(
    step: &StepSpec,
    scenario: &Scenario,
    resolver: &Resolver<'_>,
) -> Result<Matcher, PlanError> {
    refuse(step, scenario, "a span begins and ends with an event")?;
    resolver.matcher(step)
}

/// Refuses a span in a place that takes only events.
pub(super) fn refuse(step: &StepSpec, scenario: &Scenario, why: &str) -> Result<(), PlanError> {
    if !step.event.starts_with(SPAN) {
        return Ok(());
    }
    let help = "name the event that begins it, or the one that ends it".to_owned();
    let message = format!("a span cannot stand here: {why}");
    Err(invalid(scenario.complaint(&step.at, message, Some(help))))
}

/// Resolves a field of the key, which both ends must have with values that can be equal.
fn share(
    shared: &SharedSpec,
    begin: &Matcher,
    end: &Matcher,
    scenario: &Scenario,
    resolver: &Resolver<'_>,
) -> Result<SharedField, PlanError> {
    let of_begin = kind(&shared.begin, &shared.begin_at, begin, resolver)?;
    let of_end = kind(&shared.end, &shared.end_at, end, resolver)?;
    let by = by(of_begin.kind, of_end.kind).ok_or_else(|| {
        let named = |field, matcher: &Matcher, word: &str| {
            let event = matcher.word.clone();
            let named = Named {
                field,
                event: &event,
                word,
            };
            let is = named.kind();
            match word {
                THREAD => format!("the thread is {is}"),
                _ => format!("{named} is {is}"),
            }
        };
        let message = format!(
            "{} and {}, so they are never equal",
            named(of_begin, begin, &shared.begin),
            named(of_end, end, &shared.end),
        );
        invalid(scenario.complaint(&shared.end_at, message, None))
    })?;
    Ok(SharedField {
        begin: shared.begin.clone(),
        end: shared.end.clone(),
        by,
    })
}

/// Returns the kind of a key's field, which every event of that end must have.
fn kind(
    word: &str,
    at: &KeyPath,
    matcher: &Matcher,
    resolver: &Resolver<'_>,
) -> Result<Field, PlanError> {
    if word == THREAD {
        return Ok(Field::plain(FieldKind::Task));
    }
    let mut first = None;
    for event in &matcher.names {
        let field = resolver.key_field(event, word, at)?;
        // A value that is compared has to be read.
        resolver.note(
            &Named { field, event, word },
            &Test::Capture(String::new()),
            at,
        )?;
        first.get_or_insert(field);
    }
    Ok(first.unwrap_or(Field::plain(FieldKind::Anything)))
}

fn by(one: FieldKind, other: FieldKind) -> Option<SharedBy> {
    let is_text = |kind| {
        matches!(
            kind,
            FieldKind::Path | FieldKind::Text | FieldKind::Ip | FieldKind::Contents
        )
    };
    let is_task = |kind| {
        matches!(
            kind,
            FieldKind::Task | FieldKind::TaskOfMachine | FieldKind::Process
        )
    };
    let is_shown = |kind| {
        matches!(
            kind,
            FieldKind::Anything | FieldKind::Address | FieldKind::Mapped
        )
    };
    match (one, other) {
        (one, other) if is_task(one) && is_task(other) => Some(SharedBy::Task),
        (FieldKind::File, FieldKind::File) => Some(SharedBy::File),
        (one, other) if is_shown(one) && is_shown(other) => Some(SharedBy::Text),
        (one, other) if is_text(one) && is_text(other) => Some(SharedBy::Bytes),
        (one, other) if is_text(one) || is_text(other) => None,
        _ => Some(SharedBy::Number),
    }
}

/// The names of spans that a word stands for.
pub(super) fn names_of(
    word: &str,
    scenario: &Scenario,
) -> Result<BTreeSet<String>, (String, Option<String>)> {
    let known = scenario.trace.spans.iter();
    let known: BTreeSet<String> = known.map(|spec| format!("{SPAN}{}", spec.name)).collect();
    if word == "span:*" && !known.is_empty() {
        return Ok(known);
    }
    if known.contains(word) {
        return Ok(BTreeSet::from([word.to_owned()]));
    }
    let near = crate::scenario::did_you_mean(word, known.iter().map(String::as_str));
    let help = near.unwrap_or_else(|| {
        "declare it under `trace.spans`, with its `begin` and its `end`".to_owned()
    });
    Err((
        format!("there is no span `{}`", word.escape_debug()),
        Some(help),
    ))
}
