//! Shows a part of the trace, with marks.

use super::{cut, line};
use crate::matching::order::{Place, Scene};
use std::collections::{BTreeMap, BTreeSet};

/// How many lines of the trace are shown at most.
const MOST: usize = 10;

/// A deed with a mark.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    pub(super) deed: Place,
    /// The first letter of its line.
    pub(super) sign: char,
    /// The text before the deed: a step's number.
    pub(super) note: String,
}

/// Returns the trace of the tasks that did the marked deeds, around these.
pub(super) fn around(scene: &Scene<'_>, marks: &[Mark]) -> Vec<String> {
    let mut by_deed: BTreeMap<Place, &Mark> = BTreeMap::new();
    for mark in marks {
        by_deed.entry(mark.deed).or_insert(mark);
    }
    let when = |deed: &Place| scene.when.get(*deed);
    let threads: BTreeSet<usize> = by_deed
        .keys()
        .filter_map(when)
        .map(|it| it.thread)
        .collect();
    let of_threads = scene.when.iter().filter(|it| threads.contains(&it.thread));
    let own: Vec<Place> = of_threads.map(|it| it.place).collect();
    let shown = chosen(&own, &by_deed);
    let tasks: BTreeSet<String> = shown
        .iter()
        .filter_map(|at| scene.deeds.get(*own.get(*at)?))
        .map(|deed| format!("{} {}", deed.task, deed.program))
        .collect();
    let width = marks.iter().map(|mark| mark.note.len()).max().unwrap_or(0);
    let tasks: Vec<String> = tasks.into_iter().collect();
    let mut lines = match tasks.is_empty() {
        true => Vec::new(),
        false => vec![format!("@@ {} @@", tasks.join(", "))],
    };
    let mut last = None;
    for at in shown {
        if let Some(last) = last {
            match at - last - 1 {
                0 => {}
                1 => lines.push(format!("  {:width$}   (1 more)", "")),
                many => lines.push(format!("  {:width$}   ({many} more)", "")),
            }
        }
        last = Some(at);
        let Some((place, deed)) = own
            .get(at)
            .and_then(|place| Some((place, scene.deeds.get(*place)?)))
        else {
            continue;
        };
        let (sign, note) = match by_deed.get(place) {
            Some(mark) => (mark.sign, mark.note.as_str()),
            None => (' ', ""),
        };
        let who = match threads.len() {
            1 => String::new(),
            _ => format!("{} ", deed.task),
        };
        lines.push(format!(
            "{sign} {note:width$}  {}",
            cut(&(who + &line(deed)))
        ));
    }
    lines
}

/// Returns the lines that are shown: the marked ones, and as many around each as fit.
fn chosen(own: &[Place], marks: &BTreeMap<Place, &Mark>) -> Vec<usize> {
    let marked: Vec<usize> = own
        .iter()
        .enumerate()
        .filter_map(|(at, place)| marks.contains_key(place).then_some(at))
        .collect();
    let beside = |many: usize| -> BTreeSet<usize> {
        let last = own.len().saturating_sub(1);
        let around = marked
            .iter()
            .flat_map(|at| at.saturating_sub(many)..=(at + many).min(last));
        around.collect()
    };
    let fitting = [2, 1, 0].into_iter().map(beside);
    let mut fitting = fitting.filter(|shown| shown.len() <= MOST);
    let shown = fitting.next().unwrap_or_else(|| beside(0));
    shown.into_iter().take(MOST).collect()
}
