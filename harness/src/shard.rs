//! Which shard of the chosen scenarios is to run, by the command line or by the environment.

use crate::out::note;
use crate::{complain, status};
use perf_live::errors::chain;
use perf_live::files;
use perf_records::units::shown_path;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;
use trace_harness::report::{self, Made};
use trace_harness::run::{Item, Shard, whole};

/// The number of the shard, from 0; how many there are; a file to touch that says that the program
/// knows of them. As Bazel has them.
const INDEX: &str = "TEST_SHARD_INDEX";
const TOTAL: &str = "TEST_TOTAL_SHARDS";
pub(crate) const STATUS_FILE: &str = "TEST_SHARD_STATUS_FILE";

/// The variables of the environment that choose a shard: a harness that is started for a part of
/// the work must not divide that part again.
pub(crate) const VARIABLES: [&str; 3] = [INDEX, TOTAL, STATUS_FILE];

/// A shard of the chosen scenarios.
#[derive(Debug, clap::Args)]
pub(crate) struct Sharding {
    /// Run only shard K of N, which is always the same share of the same scenarios; with --format
    /// json, `harness merge` makes one result of all shards
    #[arg(long, value_name = "K/N", conflicts_with_all = ["exact", "from", "rounds"])]
    shard: Option<Shard>,
    /// Divide by how long scenarios took, as an earlier `run --format json` or `merge` has it in
    /// FILE: the same file for all shards [default: by the hash of each name]
    #[arg(long, value_name = "FILE")]
    pub(crate) durations: Option<PathBuf>,
    /// The run that the shard belongs to: `harness merge` takes parts of one run only [default:
    /// what CI calls its run, if it does]
    #[arg(long, value_name = "ID", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    run_id: Option<String>,
}

/// How CI systems call one run of all jobs, the words of each joined by `/`: GitHub Actions,
/// GitLab, Buildkite, CircleCI, Azure Pipelines, Jenkins.
const RUNS: [&[&str]; 6] = [
    &["GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT"],
    &["CI_PIPELINE_ID"],
    &["BUILDKITE_BUILD_ID"],
    &["CIRCLE_WORKFLOW_ID"],
    &["BUILD_BUILDID"],
    &["BUILD_TAG"],
];

/// Returns what CI calls this run.
fn run_of_environment(value: impl Fn(&str) -> Option<String>) -> Option<String> {
    let of = |names: &&[&str]| {
        let values = names.iter().map(|name| value(name));
        let values: Option<Vec<String>> = values.map(|it| it.filter(|it| !it.is_empty())).collect();
        values.map(|values| values.join("/"))
    };
    RUNS.iter().find_map(of)
}

/// Returns what CI calls this run, if it does.
pub(crate) fn run_of_ci() -> Option<String> {
    run_of_environment(|name| std::env::var(name).ok())
}

/// The share of a shard.
pub(crate) struct Share {
    shard: Shard,
    own: usize,
    of_all: usize,
    /// The first line in JSON.
    pub(crate) line: String,
}

impl Share {
    /// Whether it has no scenario: the others have all of them.
    pub(crate) fn is_empty(&self) -> bool {
        self.own == 0
    }

    /// `(shard 1/4 of 24 scenarios)`.
    pub(crate) fn said(&self) -> String {
        let word = if self.of_all == 1 {
            "scenario"
        } else {
            "scenarios"
        };
        format!("(shard {} of {} {word})", self.shard, self.of_all)
    }
}

impl Sharding {
    /// Leaves only the shard's scenarios, if one is chosen. Where the scenarios are `fixed`, the
    /// environment does not choose among them; `options` are what changes the meaning of a verdict.
    pub(crate) fn keep(
        &self,
        items: &mut Vec<Item>,
        fixed: bool,
        options: Vec<String>,
    ) -> Result<Option<Share>, u8> {
        let shard = match self.shard {
            Some(shard) => Some(shard),
            None if fixed => None,
            None => of_environment(|name| std::env::var(name).ok()).map_err(|message| {
                note!("harness: {message}");
                status::USAGE
            })?,
        };
        let Some(shard) = shard else {
            if self.durations.is_some() {
                note!("harness: --durations divides the scenarios of --shard, which is not given");
                return Err(status::USAGE);
            }
            if self.run_id.is_some() {
                note!("harness: --run-id names the run of --shard, which is not given");
                return Err(status::USAGE);
            }
            return Ok(None);
        };
        let whole = whole(items).map_err(|error| {
            complain(&error, None);
            status::USAGE
        })?;
        let names: BTreeSet<String> = whole.keys().cloned().collect();
        let share = shard.share(&names, &self.durations()?);
        let mut line = String::new();
        let made = Made {
            run: self.run_id.clone().or_else(run_of_ci),
            options,
        };
        let version = env!("CARGO_PKG_VERSION");
        report::shard_json(&mut line, shard, version, &made, &whole, &share);
        items.retain(|item| share.contains(&item.name));
        Ok(Some(Share {
            shard,
            own: items.len(),
            of_all: whole.len(),
            line,
        }))
    }

    fn durations(&self) -> Result<BTreeMap<String, Duration>, u8> {
        let Some(path) = &self.durations else {
            return Ok(BTreeMap::new());
        };
        let refuse = |why: String| {
            note!(
                "harness: cannot read durations from `{}`: {why}",
                shown_path(path)
            );
            status::USAGE
        };
        let text = files::text(path, files::TRACE).map_err(|error| refuse(chain(&error)))?;
        report::durations(&text).map_err(|error| refuse(chain(&error)))
    }
}

/// Tells the program that runs the shards that this one knows of them.
pub(crate) fn touch_status_file() -> Result<(), u8> {
    let chooses = std::env::var_os(TOTAL).is_some();
    let Some(path) = std::env::var_os(STATUS_FILE).filter(|path| chooses && !path.is_empty())
    else {
        return Ok(());
    };
    let opened = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path);
    opened.map(drop).map_err(|error| {
        let path = PathBuf::from(path);
        note!(
            "harness: cannot touch `{}` ({STATUS_FILE}): {}",
            shown_path(&path),
            chain(&error)
        );
        status::USAGE
    })
}

/// Returns the shard that the environment names.
fn of_environment(value: impl Fn(&str) -> Option<String>) -> Result<Option<Shard>, String> {
    let (index, total) = match (value(INDEX), value(TOTAL)) {
        (None, None) => return Ok(None),
        (Some(index), Some(total)) => (index, total),
        (Some(_), None) => return Err(format!("{INDEX} is set, and {TOTAL} is not")),
        (None, Some(_)) => return Err(format!("{TOTAL} is set, and {INDEX} is not")),
    };
    let shard = || {
        let number = index.parse::<usize>().ok()?.checked_add(1)?;
        Shard::new(number, total.parse().ok()?)
    };
    let wrong =
        || format!("{INDEX} is `{index}`, and {TOTAL} is `{total}`: the first counts from 0");
    shard().map(Some).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(index: Option<&str>, total: Option<&str>) -> Result<Option<String>, String> {
        let shard = of_environment(|name| {
            let value = if name == INDEX { index } else { total };
            value.map(str::to_owned)
        });
        shard.map(|shard| shard.map(|shard| shard.to_string()))
    }

    #[test]
    fn a_run_of_ci_is_known_by_all_its_words_or_not_at_all() {
        let of = |set: &[(&str, &str)]| {
            run_of_environment(|name| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(of(&[]), None);
        let github = [("GITHUB_RUN_ID", "7"), ("GITHUB_RUN_ATTEMPT", "2")];
        assert_eq!(of(&github), Some("7/2".to_owned()));
        assert_eq!(of(&github[..1]), None);
        assert_eq!(of(&[("CI_PIPELINE_ID", "9")]), Some("9".to_owned()));
        assert_eq!(of(&[("CI_PIPELINE_ID", "")]), None);
    }

    #[test]
    fn the_environment_counts_from_zero_and_names_both_or_none() {
        assert_eq!(of(None, None), Ok(None));
        assert_eq!(of(Some("0"), Some("4")), Ok(Some("1/4".to_owned())));
        assert_eq!(of(Some("3"), Some("4")), Ok(Some("4/4".to_owned())));
        for (index, total) in [
            (Some("4"), Some("4")),
            (Some("0"), Some("0")),
            (Some(""), Some("1")),
            (Some("x"), Some("1")),
            (Some("18446744073709551615"), Some("4")),
            (Some("0"), None),
            (None, Some("1")),
        ] {
            assert!(of(index, total).is_err(), "{index:?} {total:?}");
        }
    }
}
