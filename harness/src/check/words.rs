//! Words of the command line of `harness check`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use trace_harness::matching::Realm;
use trace_harness::scenario::BlameBy;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Blame {
    Process,
    Thread,
    Output,
}

impl From<Blame> for BlameBy {
    fn from(blame: Blame) -> Self {
        match blame {
            Blame::Process => Self::Process,
            Blame::Thread => Self::Thread,
            Blame::Output => Self::Output,
        }
    }
}

/// A key of `confined`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum World {
    Writes,
    Reads,
    Network,
    Programs,
    Privileges,
}

impl World {
    pub(super) fn is(self, realm: Realm) -> bool {
        realm
            == match self {
                Self::Writes => Realm::Writes,
                Self::Reads => Realm::Reads,
                Self::Network => Realm::Network,
                Self::Programs => Realm::Programs,
                Self::Privileges => Realm::Privileges,
            }
    }
}

/// Whether a word is the name of a file of rules.
pub(crate) fn are_rules(word: &OsStr) -> bool {
    let ending = Path::new(word).extension();
    ending.is_some_and(|ending| ending == "yaml" || ending == "yml")
}

pub(super) fn rules_file(word: &str) -> Result<PathBuf, String> {
    match are_rules(word.as_ref()) {
        true => Ok(word.into()),
        false => {
            Err("rules are a file that ends in .yaml; the command stands behind --".to_owned())
        }
    }
}

pub(super) fn is_folder(word: &str) -> Result<PathBuf, String> {
    match std::fs::canonicalize(word) {
        Ok(folder) if folder.parent().is_none() => {
            Err("all files of the machine are too many: name the folders that matter".to_owned())
        }
        Ok(folder) if folder.is_dir() => Ok(folder),
        _ => Err("there is no such folder".to_owned()),
    }
}
