//! From what a scenario says to the text of a file, as a person would write it.

mod file;
mod rules;
mod sandbox;
pub(super) mod scalar;
mod steps;

pub use file::{Draft, Suggestion};
pub use rules::RulesDraft;
pub use steps::event;

use super::snapshot::{LevelSpec, SnapshotSpec};

/// The words of a list, between brackets.
pub(super) fn list<'a>(items: impl IntoIterator<Item = &'a String>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| scalar::flow(item)).collect();
    format!("[{}]", items.join(", "))
}

/// The keys of `snapshot` in the order of the reference and what stands under each; `None` under a
/// key that can be left out.
pub(super) fn snapshot_keys(spec: &SnapshotSpec) -> Vec<(&'static str, Option<String>)> {
    let Some(keys) = spec.keys() else {
        return Vec::new();
    };
    let level = keys.level;
    let contents = keys.contents;
    let names = |names: &Vec<String>| (!names.is_empty()).then(|| list(names));
    vec![
        (
            "level",
            (level != Default::default()).then(|| level.to_string()),
        ),
        ("levels", levels_of(&keys.levels)),
        (
            "by",
            (keys.by != Default::default()).then(|| keys.by.as_str().to_owned()),
        ),
        ("show", names(&keys.show)),
        ("hide", names(&keys.hide)),
        ("contents", (contents > 0).then(|| contents.to_string())),
        ("temporary", names(&keys.temporary)),
        ("section", keys.section.as_deref().map(scalar::flow)),
    ]
}

/// The mapping of `levels`, between braces; `None` for an empty one.
fn levels_of(levels: &[(String, LevelSpec)]) -> Option<String> {
    let level = |spec: &LevelSpec| {
        let names = [
            ("counts", &spec.counts),
            ("set", &spec.set),
            ("hide", &spec.hide),
        ];
        let is_default = spec.level == Default::default();
        let level = (!is_default).then(|| format!("level: {}", spec.level));
        let names = names.iter().filter(|(_, names)| !names.is_empty());
        let names: Vec<String> = names
            .map(|(key, names)| format!("{key}: {}", list(*names)))
            .collect();
        match names.is_empty() {
            true => spec.level.to_string(),
            false => {
                let said: Vec<String> = level.into_iter().chain(names).collect();
                format!("{{ {} }}", said.join(", "))
            }
        }
    };
    let levels: Vec<String> = levels
        .iter()
        .map(|(of, spec)| format!("{}: {}", scalar::flow(of), level(spec)))
        .collect();
    (!levels.is_empty()).then(|| format!("{{ {} }}", levels.join(", ")))
}

/// What stands under `snapshot`, between braces; `None` where the key can be left out.
pub(super) fn snapshot(spec: &SnapshotSpec) -> Option<String> {
    if *spec == SnapshotSpec::Off {
        return Some("false".to_owned());
    }
    let keys = snapshot_keys(spec).into_iter();
    let said: Vec<String> = keys
        .filter_map(|(key, value)| Some(format!("{key}: {}", value?)))
        .collect();
    (!said.is_empty()).then(|| format!("{{ {} }}", said.join(", ")))
}
