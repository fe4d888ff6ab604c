//! What a recording says lay under a name before the run.

use super::bytes::Bytes;
use serde::{Deserialize, Serialize};
use syscall_model::{Found, Sharing};

/// What lay under a name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Lay {
    Missing,
    Folder(Option<(u64, u64)>),
    Link(Option<(u64, u64)>, Bytes),
    File(Option<(u64, u64)>),
    Processes,
    Unknown,
}

impl From<&Found> for Lay {
    fn from(found: &Found) -> Self {
        match found {
            Found::Missing => Self::Missing,
            Found::Folder(identity) => Self::Folder(*identity),
            Found::Link(identity, to) => Self::Link(*identity, to.as_ref().into()),
            Found::File(identity) => Self::File(*identity),
            Found::Processes => Self::Processes,
            Found::Unknown => Self::Unknown,
        }
    }
}

impl Lay {
    pub(super) fn found(&self) -> Found {
        match self {
            Self::Missing => Found::Missing,
            Self::Folder(identity) => Found::Folder(*identity),
            Self::Link(identity, to) => Found::Link(*identity, to.to_vec().into()),
            Self::File(identity) => Found::File(*identity),
            Self::Processes => Found::Processes,
            Self::Unknown => Found::Unknown,
        }
    }
}

/// How mounts were shared before the run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum LaidMounts {
    Nothing,
    Alone,
    Peers,
}

impl From<Sharing> for LaidMounts {
    fn from(sharing: Sharing) -> Self {
        match sharing {
            Sharing::Nothing => Self::Nothing,
            Sharing::Alone => Self::Alone,
            Sharing::Peers => Self::Peers,
        }
    }
}

impl From<LaidMounts> for Sharing {
    fn from(shared: LaidMounts) -> Self {
        match shared {
            LaidMounts::Nothing => Self::Nothing,
            LaidMounts::Alone => Self::Alone,
            LaidMounts::Peers => Self::Peers,
        }
    }
}
