//! A policy's file, whatever it is about.

use super::json::{map, parse};
use super::landlock::Ruleset;
use super::model::{Complaint, Policy};

/// A policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyFile {
    /// Of calls, for seccomp.
    Calls(Policy),
    /// Of files, ports and others, for Landlock.
    Rules(Ruleset),
}

impl PolicyFile {
    /// Reads a policy's file.
    ///
    /// # Errors
    /// The first thing that is not understood.
    pub fn read(text: &str) -> Result<Self, Complaint> {
        const OF_RULES: [&str; 4] = ["abi", "netPort", "pathBeneath", "ruleset"];
        let top = text.trim_start().starts_with('{').then(|| parse(text));
        let top = top.transpose()?;
        let keys = top.as_ref().and_then(|top| map(top, "a policy").ok());
        let is_rules = keys
            .into_iter()
            .flatten()
            .any(|(key, ..)| OF_RULES.contains(&key.as_str()));
        match is_rules {
            true => Ruleset::read(text).map(Self::Rules),
            false => Policy::read(text).map(Self::Calls),
        }
    }
}
