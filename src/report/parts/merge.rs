//! Merges parts into one result, or says which of them do not belong together.

use super::{Head, Part, quoted};
use crate::run::{ScenarioReport, Shard};
use perf_records::units::{shown, shown_path};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Why parts do not make one result.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// There are no parts.
    #[error("there are no parts")]
    Nothing,
    /// The set has no scenario.
    #[error("`{}` is of a set without a scenario", shown_path(.file))]
    Empty {
        /// The part's file.
        file: PathBuf,
    },
    /// Two parts of different numbers of shards.
    #[error("`{}` is of {first_of} shards, and `{}` of {second_of}", shown_path(.first), shown_path(.second))]
    OtherCount {
        /// A part's file.
        first: PathBuf,
        /// How many shards it knows of.
        first_of: usize,
        /// Another part's file.
        second: PathBuf,
        /// How many shards that one knows of.
        second_of: usize,
    },
    /// Two parts made by different versions of the harness.
    #[error("`{}` was made by harness {first_version}, and `{}` by {second_version}", shown_path(.first), shown_path(.second))]
    OtherVersion {
        /// A part's file.
        first: PathBuf,
        /// Its version.
        first_version: String,
        /// Another part's file.
        second: PathBuf,
        /// The version of that one.
        second_version: String,
    },
    /// Two parts of different runs.
    #[error("`{}` is of {}, and `{}` of {}", shown_path(.first), run(.first_run), shown_path(.second), run(.second_run))]
    OtherRun {
        /// A part's file.
        first: PathBuf,
        /// Its run.
        first_run: Option<String>,
        /// Another part's file.
        second: PathBuf,
        /// The run of that one.
        second_run: Option<String>,
    },
    /// Two parts whose verdicts do not mean the same.
    #[error("`{}` was made with {}, and `{}` with {}", shown_path(.first), options(.first_options), shown_path(.second), options(.second_options))]
    OtherOptions {
        /// A part's file.
        first: PathBuf,
        /// Its options.
        first_options: Vec<String>,
        /// Another part's file.
        second: PathBuf,
        /// The options of that one.
        second_options: Vec<String>,
    },
    /// Two parts of different sets of scenarios.
    #[error("`{}` and `{}` are of different sets of scenarios: {what}", shown_path(.first), shown_path(.second))]
    OtherSet {
        /// A part's file.
        first: PathBuf,
        /// Another part's file.
        second: PathBuf,
        /// The first difference.
        what: String,
    },
    /// Two parts that are the same shard.
    #[error("`{}` and `{}` are both shard {shard}", shown_path(.first), shown_path(.second))]
    Doubled {
        /// A part's file.
        first: PathBuf,
        /// Another part's file.
        second: PathBuf,
        /// The shard.
        shard: Shard,
    },
    /// Shards without a part.
    #[error("there is no part of {}", .shards.iter().map(|it| format!("shard {it}")).collect::<Vec<_>>().join(", "))]
    MissingParts {
        /// Those shards.
        shards: Vec<Shard>,
    },
    /// A scenario that two parts have.
    #[error("`{}` and `{}` both have the scenario `{name}`", shown_path(.first), shown_path(.second))]
    DoubledScenario {
        /// A part's file.
        first: PathBuf,
        /// Another part's file.
        second: PathBuf,
        /// The scenario's name.
        name: String,
    },
    /// Scenarios that no part has.
    #[error("no part has {}", quoted(.names))]
    MissingScenarios {
        /// Their names.
        names: BTreeSet<String>,
    },
}

fn run(id: &Option<String>) -> String {
    id.as_ref().map_or_else(
        || "no named run".to_owned(),
        |id| format!("run `{}`", shown(id)),
    )
}

fn options(all: &[String]) -> String {
    match all {
        [] => "no option".to_owned(),
        all => format!("`{}`", shown(&all.join(" "))),
    }
}

impl MergeError {
    /// Returns what can be done about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::DoubledScenario { .. } | Self::MissingScenarios { .. } => Some(
                "parts divide a set in one way only with the same file of --durations".to_owned(),
            ),
            Self::OtherRun { .. } => Some(
                "a part of an earlier run says nothing of this one; --run-id names the run that \
                 parts belong to"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

/// The results of all parts, by name.
#[derive(Debug)]
pub struct Merged {
    /// The reports.
    pub reports: Vec<ScenarioReport>,
}

/// Merges parts into one result.
///
/// # Errors
/// [`MergeError`]: they must be all parts of one set, each once.
pub fn merge(parts: Vec<Part>) -> Result<Merged, MergeError> {
    let Some(first) = parts.first() else {
        return Err(MergeError::Nothing);
    };
    if first.head.scenarios.is_empty() {
        let file = first.file.clone();
        return Err(MergeError::Empty { file });
    }
    for part in &parts {
        same(first, part)?;
    }
    let mut by_shard: BTreeMap<Shard, &Part> = BTreeMap::new();
    let mut by_name: BTreeMap<&str, &Part> = BTreeMap::new();
    for part in &parts {
        if let Some(other) = by_shard.insert(part.shard, part) {
            return Err(MergeError::Doubled {
                first: other.file.clone(),
                second: part.file.clone(),
                shard: part.shard,
            });
        }
    }
    let count = first.shard.count();
    let all = (1..=count).filter_map(|number| Shard::new(number, count));
    let shards: Vec<Shard> = all.filter(|it| !by_shard.contains_key(it)).collect();
    if !shards.is_empty() {
        return Err(MergeError::MissingParts { shards });
    }
    for part in &parts {
        for report in &part.reports {
            if let Some(other) = by_name.insert(&report.name, part) {
                return Err(MergeError::DoubledScenario {
                    first: other.file.clone(),
                    second: part.file.clone(),
                    name: report.name.clone(),
                });
            }
        }
    }
    let names = first.head.scenarios.keys();
    let names = names.filter(|name| !by_name.contains_key(name.as_str()));
    let names: BTreeSet<String> = names.cloned().collect();
    if !names.is_empty() {
        return Err(MergeError::MissingScenarios { names });
    }
    let mut reports: Vec<ScenarioReport> = parts.into_iter().flat_map(|it| it.reports).collect();
    reports.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Merged { reports })
}

/// Checks that two parts are of one set, divided into as many shards by one version.
fn same(first: &Part, second: &Part) -> Result<(), MergeError> {
    let files = || (first.file.clone(), second.file.clone());
    let (a, b) = (&first.head, &second.head);
    if a.of != b.of {
        let (first, second) = files();
        return Err(MergeError::OtherCount {
            first,
            first_of: a.of,
            second,
            second_of: b.of,
        });
    }
    if a.version != b.version {
        let (first, second) = files();
        return Err(MergeError::OtherVersion {
            first,
            first_version: a.version.clone(),
            second,
            second_version: b.version.clone(),
        });
    }
    if a.made.run != b.made.run {
        let (first, second) = files();
        return Err(MergeError::OtherRun {
            first,
            first_run: a.made.run.clone(),
            second,
            second_run: b.made.run.clone(),
        });
    }
    if a.made.options != b.made.options {
        let (first, second) = files();
        return Err(MergeError::OtherOptions {
            first,
            first_options: a.made.options.clone(),
            second,
            second_options: b.made.options.clone(),
        });
    }
    let names: BTreeSet<&String> = a.scenarios.keys().chain(b.scenarios.keys()).collect();
    let differs = |name: &&&String| a.scenarios.get(**name) != b.scenarios.get(**name);
    let Some(name) = names.iter().find(differs) else {
        return Ok(());
    };
    let has = |head: &Head| head.scenarios.contains_key(*name);
    let what = match (has(a), has(b)) {
        (true, true) => format!("the file of `{name}` is not the same"),
        (true, false) => format!("only the first has `{name}`"),
        _ => format!("only the second has `{name}`"),
    };
    let (first, second) = files();
    Err(MergeError::OtherSet {
        first,
        second,
        what,
    })
}
