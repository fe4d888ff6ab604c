//! Divides a set of scenarios into shards that run apart from each other.

use super::Item;
use perf_live::files;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// One shard of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    /// Its place among them, from 0.
    place: usize,
    count: NonZeroUsize,
}

/// The text is no shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a shard is written K/N: a number from 1 to N, and how many there are")]
pub struct NoShard;

impl Shard {
    /// Shard number `number`, counted from 1, of `count`.
    #[must_use]
    pub fn new(number: usize, count: usize) -> Option<Self> {
        let count = NonZeroUsize::new(count)?;
        let place = number.checked_sub(1)?;
        (place < count.get()).then_some(Self { place, count })
    }

    /// Its number, from 1.
    #[must_use]
    pub fn number(self) -> usize {
        self.place.saturating_add(1)
    }

    /// How many shards there are.
    #[must_use]
    pub fn count(self) -> usize {
        self.count.get()
    }

    /// Returns the names that belong to this shard: each name belongs to exactly one of all shards.
    ///
    /// A name without a known duration belongs to the shard that its hash says. The others, the
    /// longest first, go to the shard with the least to do.
    #[must_use]
    pub fn share(
        self,
        names: &BTreeSet<String>,
        durations: &BTreeMap<String, Duration>,
    ) -> BTreeSet<String> {
        let known = names
            .iter()
            .filter_map(|name| durations.get_key_value(name));
        let mut known: Vec<(&String, Duration)> = known.map(|(name, time)| (name, *time)).collect();
        known.sort_by_key(|(name, time)| (Reverse(*time), *name));
        let sum: Duration = known.iter().map(|(_, time)| *time).sum();
        let usual = u32::try_from(known.len()).ok();
        let usual = usual.and_then(|n| sum.checked_div(n)).unwrap_or_default();
        let mut loads = vec![Duration::ZERO; self.count()];
        let mut own = BTreeSet::new();
        let mut give = |place: usize, name: &String, time: Duration, loads: &mut Vec<Duration>| {
            if let Some(load) = loads.get_mut(place) {
                *load = load.saturating_add(time);
            }
            if place == self.place {
                own.insert(name.clone());
            }
        };
        for name in names.iter().filter(|name| !durations.contains_key(*name)) {
            let count = self.count.get() as u64;
            let place = usize::try_from(hash(name.as_bytes()) % count).unwrap_or_default();
            give(place, name, usual, &mut loads);
        }
        for (name, time) in known {
            let least = loads.iter().enumerate().min_by_key(|(_, load)| **load);
            let place = least.map_or(0, |(place, _)| place);
            give(place, name, time, &mut loads);
        }
        own
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number(), self.count)
    }
}

impl FromStr for Shard {
    type Err = NoShard;

    fn from_str(text: &str) -> Result<Self, NoShard> {
        let (number, count) = text.split_once('/').ok_or(NoShard)?;
        let number = number.parse().map_err(|_| NoShard)?;
        let count = count.parse().map_err(|_| NoShard)?;
        Self::new(number, count).ok_or(NoShard)
    }
}

/// FNV-1a of 64 bits, whose bits are mixed once more: a remainder depends on all of them.
fn hash(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, step);
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ (hash >> 32)
}

/// The whole set that is divided into shards: each scenario's name, and a sum over its file. The
/// sum tells versions of a file apart; it guards against accidents, not against a forger.
pub type Whole = BTreeMap<String, String>;

/// Why a set cannot be divided.
#[derive(Debug, thiserror::Error)]
pub enum WholeError {
    /// Two scenarios that no name tells apart.
    #[error(
        "`{first}` and `{second}` have the same name, so that no shard of them can be told from another: rename one"
    )]
    SameName {
        /// The first scenario's file.
        first: PathBuf,
        /// The second scenario's file.
        second: PathBuf,
    },
    /// A file that cannot be read.
    #[error("cannot read the scenario `{file}`")]
    Read {
        /// The file.
        file: PathBuf,
        /// The error of reading it.
        source: files::InputError,
    },
}

/// Describes the set of these scenarios.
///
/// # Errors
/// [`WholeError`].
pub fn whole(items: &[Item]) -> Result<Whole, WholeError> {
    let mut sums: BTreeMap<&Path, String> = BTreeMap::new();
    let mut seen: BTreeMap<&str, &Path> = BTreeMap::new();
    let mut whole = Whole::new();
    for item in items {
        if let Some(first) = seen.insert(&item.name, &item.file) {
            return Err(WholeError::SameName {
                first: first.to_owned(),
                second: item.file.clone(),
            });
        }
        let sum = match sums.get(item.file.as_path()) {
            Some(sum) => sum.clone(),
            None => {
                let bytes = files::read(&item.file, files::SCENARIO).map_err(|source| {
                    let file = item.file.clone();
                    WholeError::Read { file, source }
                })?;
                let sum = format!("{:016x}", hash(&bytes));
                sums.insert(&item.file, sum.clone());
                sum
            }
        };
        whole.insert(item.name.clone(), sum);
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(n: usize) -> BTreeSet<String> {
        (0..n).map(|n| format!("folder/scenario-{n}")).collect()
    }

    fn shares(
        count: usize,
        names: &BTreeSet<String>,
        durations: &BTreeMap<String, Duration>,
    ) -> Vec<BTreeSet<String>> {
        let shards = (1..=count).map(|number| Shard::new(number, count).unwrap());
        shards.map(|shard| shard.share(names, durations)).collect()
    }

    #[test]
    fn each_name_belongs_to_exactly_one_shard_whatever_is_known_of_durations() {
        let all = names(200);
        let known = all.iter().step_by(3).enumerate();
        let some: BTreeMap<String, Duration> = known
            .map(|(n, name)| (name.clone(), Duration::from_millis(n as u64 % 7)))
            .collect();
        for durations in [BTreeMap::new(), some] {
            for count in [1, 2, 3, 7, 64, 500] {
                let shares = shares(count, &all, &durations);
                let n: usize = shares.iter().map(BTreeSet::len).sum();
                let union: BTreeSet<String> = shares.into_iter().flatten().collect();
                assert_eq!((n, union), (all.len(), all.clone()), "{count}");
            }
        }
    }

    #[test]
    fn without_durations_the_shard_of_a_name_does_not_depend_on_other_names() {
        let (few, many) = (names(20), names(2000));
        let known = BTreeMap::new();
        for (of_few, of_many) in shares(4, &few, &known).iter().zip(shares(4, &many, &known)) {
            assert!(of_few.is_subset(&of_many));
            assert!((400..600).contains(&of_many.len()), "{}", of_many.len());
        }
    }

    #[test]
    fn by_durations_the_longest_has_a_shard_for_itself_and_the_others_share_the_rest() {
        let all: BTreeSet<String> = ["long", "a", "b", "c", "d"].map(str::to_owned).into();
        let durations = all.iter().map(|name| {
            let time = if name == "long" { 4000 } else { 1000 };
            (name.clone(), Duration::from_millis(time))
        });
        let shares = shares(2, &all, &durations.collect());
        let sizes: BTreeSet<usize> = shares.iter().map(BTreeSet::len).collect();
        assert_eq!(sizes, BTreeSet::from([1, 4]), "{shares:?}");
    }

    #[test]
    fn a_shard_is_a_number_of_a_number() {
        let shard: Shard = "2/4".parse().unwrap();
        assert_eq!((shard.number(), shard.count()), (2, 4));
        assert_eq!(shard.to_string(), "2/4");
        for text in ["", "0/4", "5/4", "1/0", "1", "a/4", "1/b", "-1/4", "1/4/2"] {
            assert_eq!(text.parse::<Shard>(), Err(NoShard), "{text}");
        }
    }
}
