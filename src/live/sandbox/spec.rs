//! What a world is to be.

use crate::units::Limits;
use std::fmt;

/// A world of the workload's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorldSpec {
    /// What it sees of the network.
    pub network: Network,
    /// What it may write of the host's files.
    pub root: Root,
    /// The user that it runs as; `None` for the user of the harness.
    pub user: Option<UserSpec>,
    /// The name of its machine.
    pub hostname: String,
    /// The file mode creation mask, `0o777` at most.
    pub umask: u32,
    /// Whether addresses are the same in each run.
    pub addresses: Addresses,
    /// What it may use.
    pub limits: Limits,
    /// What becomes of processes that outlive the main one.
    pub survivors: Survivors,
}

impl Default for WorldSpec {
    fn default() -> Self {
        Self {
            network: Network::None,
            root: Root::ReadOnly,
            user: None,
            hostname: "sandbox".to_owned(),
            umask: 0o022,
            addresses: Addresses::Fixed,
            limits: Limits::default(),
            survivors: Survivors::Forbidden,
        }
    }
}

/// What a workload sees of the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Network {
    /// A loopback interface of its own.
    #[default]
    None,
    /// The host's.
    Host,
}

/// What a workload may write of the host's files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Root {
    /// None; it has a `/tmp` and a `/dev` of its own.
    #[default]
    ReadOnly,
    /// Whatever its user may.
    Host,
}

/// Whether the kernel places stack, libraries and heap at random.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Addresses {
    /// It does not.
    #[default]
    Fixed,
    /// It does.
    Random,
}

/// What becomes of processes that outlive the main one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Survivors {
    /// They are a leak.
    #[default]
    Forbidden,
    /// The run goes on until they have ended.
    Allowed,
}

/// A user in the machine's table of users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserSpec {
    /// By name; never empty.
    Name(String),
    /// By number.
    Id(u32),
}

impl fmt::Display for UserSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Id(id) => id.fmt(f),
        }
    }
}
