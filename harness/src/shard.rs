//! Which shard of the chosen scenarios is to run, by the command line or by the environment.

use crate::out::note;
use crate::{complain, status};
use perf_live::errors::chain;
use perf_live::files;
use perf_records::units::shown_path;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;
use trace_harness::report;
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
    durations: Option<PathBuf>,
}

/// The share of a shard.
pub(crate) struct Share {
    shard: Shard,
    of_all: usize,
    /// The first line in JSON.
    pub(crate) line: String,
}

impl Share {
    /// `(shard 1/4 of 24 scenarios)`.
    pub(crate) fn said(&self) -> String {
        format!("(shard {} of {} scenarios)", self.shard, self.of_all)
    }
}

impl Sharding {
    /// Leaves only the shard's scenarios, if one is chosen. A scenario that is named exactly is
    /// chosen already, and the environment does not choose again.
    pub(crate) fn keep(&self, items: &mut Vec<Item>, is_exact: bool) -> Result<Option<Share>, u8> {
        let shard = match self.shard {
            Some(shard) => Some(shard),
            None if is_exact => None,
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
            return Ok(None);
        };
        let whole = whole(items).map_err(|error| {
            complain(&error, None);
            status::USAGE
        })?;
        let names: BTreeSet<String> = whole.keys().cloned().collect();
        let share = shard.share(&names, &self.durations()?);
        let mut line = String::new();
        report::shard_json(&mut line, shard, env!("CARGO_PKG_VERSION"), &whole, &share);
        items.retain(|item| share.contains(&item.name));
        Ok(Some(Share {
            shard,
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
