//! From what serde says to what an author reads.

use serde_path_to_error::Segment as SerdeSegment;

use super::diagnostic::{Diagnostic, Source};
use super::key_path::KeyPath;
use super::nearest::did_you_mean;
use super::places::Places;

/// Turns a complaint of serde into one with a place, in the words of the scenario's reference.
pub(super) fn explain(
    source: &Source,
    places: &Places,
    error: &serde_path_to_error::Error<serde_yaml::Error>,
) -> Diagnostic {
    let path = key_path(error.path());
    let text = error.inner().to_string();
    if let Some((holder, key)) = path.split_last_key()
        && let Some(known) = text.strip_prefix(&format!("unknown field `{key}`, "))
    {
        let at = places.range_of(source, &path.clone().key_itself());
        let message = format!(
            "unknown key `{}` in {}",
            key.escape_debug(),
            holder.in_words()
        );
        return source
            .diagnostic(at, message)
            .with_help(known_keys(key, known));
    }
    let at = places.range_of(source, &path);
    if let Some(key) = text.strip_prefix("missing field ") {
        let lacking = source.diagnostic(at, format!("{} lacks the key {key}", path.in_words()));
        let has = |key| {
            let at = KeyPath::root().key(key);
            places.describe(source, &at).is_some()
        };
        return match !has("workload") && (has("expect") || has("tests")) {
            true => lacking.with_help(
                "without `workload` these are rules for a command: harness check FILE -- COMMAND",
            ),
            false => lacking,
        };
    }
    if let Some((_, expected)) = text.rsplit_once(", expected ")
        && (text.starts_with("invalid type: ") || text.starts_with("invalid value: "))
    {
        return wrong_type(source, places, &path, plain_words(expected));
    }
    // One of our own types said it: a line, and a second line of advice where there is one.
    let (message, help) = text.split_once('\n').unzip();
    let message = message.unwrap_or(&text);
    let complaint = source.diagnostic(at, format!("{}: {message}", path.in_words()));
    match help {
        Some(help) => complaint.with_help(help),
        None => complaint,
    }
}

fn wrong_type(source: &Source, places: &Places, path: &KeyPath, expected: &str) -> Diagnostic {
    let words = path.in_words();
    let message = match places.describe(source, path) {
        Some(found) => format!("{words} must be {expected}, not {found}"),
        None => format!("{words} has no value: it must be {expected}"),
    };
    let at = places.range_of(source, path);
    let written = source.text().get(at.clone()).unwrap_or_default();
    let is_reference = written.trim_matches(['"', '\'']).starts_with("${");
    let complaint = source.diagnostic(at, message);
    if source.is_row() && is_reference {
        return complaint.with_help("a value is of the type that it has in `matrix`");
    }
    match places.plain_text(source, path) {
        Some(plain) if expected == "a string" || expected.starts_with("a string, or") => {
            complaint.with_help(format!("quote it: \"{plain}\""))
        }
        Some(_) if expected == "a list" => {
            complaint.with_help("a list is written `[one, two]`, or as lines that begin with `- `")
        }
        _ => complaint,
    }
}

/// The nearest of the keys that serde lists between backticks, or all of them.
fn known_keys(key: &str, list: &str) -> String {
    let keys: Vec<&str> = list.split('`').skip(1).step_by(2).collect();
    match (did_you_mean(key, keys.iter().copied()), &keys[..]) {
        (Some(advice), _) => advice,
        (None, [only]) => format!("the only key here is `{only}`"),
        (None, keys) => {
            let quoted: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
            format!("the keys here are {}", quoted.join(", "))
        }
    }
}

/// YAML's words for the types that serde names.
fn plain_words(expected: &str) -> &str {
    match expected {
        "a sequence" => "a list",
        "a map" => "a mapping",
        other => other,
    }
}

fn key_path(path: &serde_path_to_error::Path) -> KeyPath {
    let mut result = KeyPath::root();
    for segment in path {
        result = match segment {
            SerdeSegment::Seq { index } => result.index(*index),
            SerdeSegment::Map { key } => result.key(key),
            SerdeSegment::Enum { .. } | SerdeSegment::Unknown => return result,
        };
    }
    result
}
