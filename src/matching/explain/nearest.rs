//! Finds the differences between a deed and what was expected of it.

use crate::matching::answer::Answer;
use crate::matching::bindings::{Bindings, Within};
use crate::matching::candidates::field_fits;
use crate::matching::field::is_set;
use crate::matching::order::{Place, Scene};
use crate::matching::{Matcher, named, words};
use crate::scenario::{Literal, Test};
use crate::trace::{Deed, Part, Value};

/// How many deeds of a name are looked at: if more differ, they differ in the same way.
const MOST: usize = 5000;

/// A deed, and the places in the matcher of the fields that are not as expected.
#[derive(Clone, Debug)]
pub(super) struct Near {
    pub(super) deed: Place,
    pub(super) wrong: Vec<usize>,
}

/// Returns the deeds with a matcher's names, those with the fewest differing fields first; among
/// equal ones, the nearest to `to`.
pub(super) fn nearest(
    scene: &Scene<'_>,
    matcher: &Matcher,
    bindings: &Bindings,
    to: Option<Place>,
) -> Vec<Near> {
    let names = matcher.names.iter().flat_map(|name| scene.named(name));
    let mut all: Vec<Near> = names
        .take(MOST)
        .filter_map(|deed| {
            let wrong = wrong(scene.deeds.get(*deed)?, matcher, bindings);
            Some(Near { deed: *deed, wrong })
        })
        .collect();
    let distance = |near: &Near| to.map_or(near.deed, |to| near.deed.abs_diff(to));
    all.sort_by_key(|near| (near.wrong.len(), distance(near)));
    all
}

/// The fields of a deed that are certainly not as expected.
fn wrong(deed: &Deed, matcher: &Matcher, bindings: &Bindings) -> Vec<usize> {
    let mut within = Within::new(bindings);
    let fields = matcher.fields.iter().enumerate();
    let wrong = fields.filter(|(_, (word, test))| {
        field_fits(deed, matcher, (word.as_str(), test), &mut within) == Answer::No
    });
    wrong.map(|(place, _)| place).collect()
}

/// A line for each field of a deed that is certainly not as expected.
pub(super) fn differences(deed: &Deed, matcher: &Matcher, bindings: &Bindings) -> Vec<String> {
    let wrong = wrong(deed, matcher, bindings).into_iter();
    let fields = wrong.filter_map(|place| matcher.fields.get(place));
    fields
        .map(|(word, test)| difference(deed, word, test, bindings))
        .collect()
}

/// `fd: expected $fd, which is <$DIR/new> (step 1), got <$DIR/old>`.
pub(super) fn difference(deed: &Deed, word: &str, test: &Test, bindings: &Bindings) -> String {
    let Some(part) = deed.part(word) else {
        let (wanted, name) = (wanted(word, test, bindings, None), &deed.name);
        return match deed.unseen {
            _ if word == "function" && deed.part("ip").is_some() => {
                format!("{word}: expected {wanted}, and no symbol names the place of this `{name}`")
            }
            Some(_) => format!("{word}: expected {wanted}, and it was not seen"),
            None => format!("{word}: expected {wanted}, and this `{name}` has none"),
        };
    };
    let got = match &part.value {
        // For a descriptor the trace shows what it refers to.
        Value::File { number, .. } if is_of_numbers(test) && *number > 2 => {
            format!("{number}{}", part.text)
        }
        _ => got(&part),
    };
    let wanted = wanted(word, test, bindings, Some(&got));
    let flags = flags(test, &part).unwrap_or_default();
    let why = named::why_unknown(&part).map(|why| format!(" (which file that is: {why})"));
    let why = why.unwrap_or_default();
    format!("{word}: expected {wanted}, got {got}{flags}{why}")
}

fn is_of_numbers(test: &Test) -> bool {
    matches!(test, Test::Is(Literal::Number(_)) | Test::Range(..))
}

/// Returns what was expected; for a capture, its value.
fn wanted(word: &str, test: &Test, bindings: &Bindings, got: Option<&str>) -> String {
    let bound = match test {
        Test::Capture(name) => bindings.get(name),
        _ => None,
    };
    let said = words::of_test(word, test);
    match bound {
        Some(bound) if Some(bound.part.text.as_str()) == got => {
            format!(
                "{said}, which is another {} ({})",
                bound.part.text, bound.by
            )
        }
        Some(bound) => format!("{said}, which is {} ({})", bound.part.text, bound.by),
        None => said,
    }
}

/// Returns a value as the trace shows it. A relative path also shows where it leads, unless that is
/// below the working directory.
fn got(part: &Part) -> String {
    match &part.value {
        Value::Path {
            given,
            absolute: Some(absolute),
            ..
        } if !given.starts_with(b"/") && *absolute != [b"$DIR/", given.as_slice()].concat() => {
            format!("{} ({})", part.text, String::from_utf8_lossy(absolute))
        }
        Value::Bytes { .. } => super::contents(part).unwrap_or_else(|| super::cut(&part.text)),
        Value::Strings { .. } => super::cut(&part.text),
        _ => part.text.clone(),
    }
}

/// Returns which flags are missing and which are too many.
fn flags(test: &Test, part: &Part) -> Option<String> {
    let Value::Names(names, _) = &part.value else {
        return None;
    };
    if is_set(names) {
        return None;
    }
    let (wanted, is_all): (Vec<&str>, bool) = match test {
        Test::Contains(words) => (
            words.iter().flat_map(|words| words.split('|')).collect(),
            false,
        ),
        Test::Is(Literal::Text(words)) => (words.split('|').collect(), true),
        _ => return None,
    };
    let missing: Vec<&str> = wanted
        .iter()
        .map(|word| word.trim())
        .filter(|word| names.iter().all(|name| **name != **word))
        .collect();
    let more: Vec<&str> = names
        .iter()
        .map(|name| &**name)
        .filter(|name| is_all && !wanted.contains(name))
        .collect();
    // If the value is one constant of several, neither counts as too many.
    if missing.len() == 1 && more.len() == 1 && names.len() == 1 {
        return None;
    }
    let missing = (!missing.is_empty()).then(|| format!("missing {}", missing.join("|")));
    let more = (!more.is_empty()).then(|| format!("unwanted {}", more.join("|")));
    let said: Vec<String> = missing.into_iter().chain(more).collect();
    (!said.is_empty()).then(|| format!(" ({})", said.join(", ")))
}
