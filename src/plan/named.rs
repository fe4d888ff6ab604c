//! Finds out what the names in a scenario's expectations and in its snapshot stand for.

use super::{EventsPlan, PlanError, invalid, operations, spans};
use crate::matching::SPAN;
use crate::scenario::{
    EventSpec, EventWish, KeyPath, LevelSpec, Scenario, SnapshotBy, SnapshotLevel, did_you_mean,
};
use crate::trace::{By, Level, Naming, Treatment, View};
use perf_live::units::SoftwareEvent;
use perf_records::glob::{glob, is_glob};
use std::collections::{BTreeSet, HashMap, HashSet};
use syscall_model::names::Abi;
use syscall_model::select::Selection;
use syscall_model::uring;

/// Returns the names in a trace that a word stands for: a tracepoint's own, or those of the calls
/// that it selects.
///
/// # Errors
/// With `all`, if the word also stands for a call that is not traced: how often that call occurs is
/// not known.
pub(super) fn names_of(
    word: &str,
    events: &EventsPlan,
    scenario: &Scenario,
    all: bool,
) -> Result<HashSet<String>, (String, Option<String>)> {
    let software = SoftwareEvent::parse(word).map(SoftwareEvent::name);
    let word = software.as_deref().unwrap_or(word);
    if word.starts_with(SPAN) {
        return spans::names_of(word, scenario).map(HashSet::from_iter);
    }
    if operations::is_operation(word) {
        return operations_of(word, events, all);
    }
    if word.contains(':') {
        return tracepoints_of(word, events, scenario);
    }
    let meant = Selection::parse(&[word], Abi::native())
        .map_err(|unknown| (format!("unknown system call `{word}`"), unknown.hint()))?;
    let traced: HashSet<&str> = events.asked.iter().flat_map(Selection::all_names).collect();
    let is_traced = |name: &&str| traced.contains(name);
    let named = meant.all_names().filter(is_traced);
    let mut names: HashSet<String> = named.map(str::to_owned).collect();
    // A call that was refused before it said which operation it is may be any of them.
    let whole = names.iter().filter_map(|name| name.split_once('.'));
    let whole: HashSet<String> = whole.map(|(call, _)| call.to_owned()).collect();
    names.extend(whole);
    if let Some(missing) = meant
        .all_names()
        .find(|name| all && !names.is_empty() && !is_traced(name))
    {
        return Err((also_means(word, missing), None));
    }
    if names.is_empty() {
        return Err((never(word), None));
    }
    let mut asked = events.asked.iter();
    if all && meant.has_nameless() && !asked.any(Selection::has_nameless) {
        let message = format!(
            "`{word}` also means calls that have no name here, which are not among the events of \
             this scenario"
        );
        return Err((message, Some("`all` records them".to_owned())));
    }
    Ok(names)
}

/// Does so for tracepoints. A glob must be one of the recorded events too, so that all tracepoints
/// it means are recorded.
fn tracepoints_of(
    word: &str,
    events: &EventsPlan,
    scenario: &Scenario,
) -> Result<HashSet<String>, (String, Option<String>)> {
    let is_asked_for = |spec: &EventSpec| match spec {
        EventSpec::Event(EventWish { name, .. }) => name == word,
        EventSpec::Syscalls(_) | EventSpec::Chained(..) | EventSpec::Counted(_) => false,
    };
    let is_glob = is_glob(word) && scenario.trace.events.iter().any(is_asked_for);
    let opened = events
        .named
        .iter()
        .filter_map(|planned| match &planned.naming {
            Naming::Own(name) => Some(&**name),
            Naming::Operations => None,
        });
    let meant = opened
        .clone()
        .filter(|name| *name == word || is_glob && glob(word, name));
    let meant: HashSet<String> = meant.map(str::to_owned).collect();
    if meant.is_empty() {
        return Err((never(word), did_you_mean(word, opened)));
    }
    Ok(meant)
}

/// Does so for operations of io_uring.
fn operations_of(
    word: &str,
    events: &EventsPlan,
    all: bool,
) -> Result<HashSet<String>, (String, Option<String>)> {
    let meant = operations::meant(word).map_err(|nearest| {
        let help = nearest.map(|name| format!("did you mean `{name}`?"));
        (format!("io_uring has no operation `{word}`"), help)
    })?;
    let recorded = &events.operations.recorded;
    let name = |opcode: &u8| uring::event_name(*opcode).as_ref().to_owned();
    let names: HashSet<String> = meant.intersection(recorded).map(name).collect();
    if names.is_empty() {
        return Err((never(word), None));
    }
    if let Some(missing) = meant.difference(recorded).next().filter(|_| all) {
        return Err((also_means(word, &name(missing)), None));
    }
    Ok(names)
}

fn never(word: &str) -> String {
    format!("`{word}` is not among the events of this scenario, so it can never occur")
}

fn also_means(word: &str, missing: &str) -> String {
    format!("`{word}` also means `{missing}`, which is not among the events of this scenario")
}

pub(super) fn view(scenario: &Scenario, events: &EventsPlan) -> Result<Option<View>, PlanError> {
    let Some(keys) = scenario.snapshot.keys() else {
        return Ok(None);
    };
    let at = KeyPath::root().key("snapshot");
    let names = |at: &KeyPath, words: &[String]| {
        let mut all = HashSet::new();
        for (place, word) in words.iter().enumerate() {
            all.extend(
                names_of(word, events, scenario, false).map_err(|(message, help)| {
                    invalid(scenario.complaint(&at.clone().index(place), message, help))
                })?,
            );
        }
        Ok::<_, PlanError>(all)
    };
    let treatment = |(of, spec): &(String, LevelSpec)| {
        let at = at.clone().key("levels").key(of);
        let named = |key: &str, words, how| {
            let names = names(&at.clone().key(key), words)?;
            Ok::<_, PlanError>(names.into_iter().map(move |name| (name, how)))
        };
        let mut others = HashMap::new();
        others.extend(named("counts", &spec.counts, Some(Level::Counts))?);
        others.extend(named("set", &spec.set, Some(Level::Set))?);
        others.extend(named("hide", &spec.hide, None)?);
        Ok::<_, PlanError>(Treatment {
            of: of.clone(),
            level: level_of(spec.level),
            others,
        })
    };
    let mut view = View {
        level: level_of(keys.level),
        levels: keys
            .levels
            .iter()
            .map(treatment)
            .collect::<Result<_, _>>()?,
        by: match keys.by {
            SnapshotBy::Process => By::Process,
            SnapshotBy::Program => By::Program,
        },
        hidden: names(&at.clone().key("hide"), &keys.hide)?,
        shown: names(&at.clone().key("show"), &keys.show)?,
        directory: None,
        contents: usize::from(keys.contents),
        temporary: keys.temporary.clone(),
        stretch: None,
    };
    view.hidden.extend(unsteady(events, &view));
    let mut names = events.names();
    names.extend(spans::names_of("span:*", scenario).unwrap_or_default());
    if !names.iter().any(|name| view.may_show(name)) {
        let key = match names.iter().any(|name| view.shows(name)) {
            true => "levels",
            false if keys.hide.is_empty() => "show",
            false => "hide",
        };
        let message = "the snapshot shows no event of this scenario";
        let help = "to have none write `snapshot: false`".to_owned();
        return Err(invalid(scenario.complaint(
            &at.key(key),
            message,
            Some(help),
        )));
    }
    Ok(Some(view))
}

/// Returns software events that the snapshot shows and the author did not name: how often they
/// occur depends on the machine and differs from run to run.
fn unsteady(events: &EventsPlan, view: &View) -> Vec<String> {
    let names = events.named.iter().filter_map(|event| match &event.naming {
        Naming::Own(name) => Some(name.as_ref()),
        Naming::Operations => None,
    });
    let is_unsteady = |name: &&str| {
        let mut others = view.levels.iter().map(|treatment| &treatment.others);
        let is_named = view.shown.contains(*name) || others.any(|it| it.contains_key(*name));
        SoftwareEvent::parse(name).is_some() && !is_named
    };
    let names: BTreeSet<&str> = names.filter(is_unsteady).collect();
    names.into_iter().map(str::to_owned).collect()
}

fn level_of(level: SnapshotLevel) -> Level {
    match level {
        SnapshotLevel::Sequence => Level::Sequence,
        SnapshotLevel::Counts => Level::Counts,
        SnapshotLevel::Set => Level::Set,
    }
}
