//! What a control group limits and counts.
//!
//! Two controllers are asked for, memory and processes; every group of version 2 counts CPU time.
//! Which files exist depends on the kernel and on where the controllers are enabled
//! (`Documentation/admin-guide/cgroup-v2.rst`): what is missing is unlimited or unknown, and no
//! error.

use super::{Cgroup, CgroupError};
use crate::host::text::text;
use crate::units::{Limit, Limits, Struck, Usage};
use std::path::Path;
use std::time::Duration;

/// The controllers that a run is given, by their words and a file that stands for each.
const WANTED: [(&str, Limit, &str); 2] = [
    ("memory", Limit::Memory, "memory.max"),
    ("pids", Limit::Processes, "pids.max"),
];

/// Gives the groups below a group the wanted controllers, from the top of the hierarchy down. What
/// is refused stays as it is: the group then has other ways to be limited.
///
/// In a group that has processes of its own, and is not the top, the kernel refuses the memory
/// controller (`EBUSY`). It would give that of processes alone, but only to groups of threads, so
/// that is not tried.
pub(super) fn enable(group: &Path) {
    let words = |group: &Path, file: &str| -> Vec<String> {
        let text = text(&group.join(file)).unwrap_or_default();
        text.split_whitespace().map(str::to_owned).collect()
    };
    let offered = |group: &&Path| group.join("cgroup.controllers").exists();
    let groups: Vec<&Path> = group.ancestors().take_while(offered).collect();
    for group in groups.into_iter().rev() {
        let there = words(group, "cgroup.controllers");
        let enabled = words(group, "cgroup.subtree_control");
        let is_top = !group.join("cgroup.type").exists();
        if !is_top && !there.iter().any(|word| word == "memory") {
            return;
        }
        let missing = WANTED.iter().filter(|(word, ..)| {
            there.iter().any(|there| there == word)
                && !enabled.iter().any(|enabled| enabled == word)
        });
        let missing: Vec<String> = missing.map(|(word, ..)| format!("+{word}")).collect();
        if !missing.is_empty()
            && std::fs::write(group.join("cgroup.subtree_control"), missing.join(" ")).is_err()
        {
            return;
        }
    }
}

impl Cgroup {
    /// Whether the kernel holds the group to a limit of that kind.
    #[must_use]
    pub fn enforces(&self, limit: Limit) -> bool {
        WANTED
            .iter()
            .any(|(_, wanted, file)| *wanted == limit && self.file(file).exists())
    }

    /// Sets the limits that it enforces. One process more than may be has room: the namespace's
    /// init.
    ///
    /// # Errors
    /// [`CgroupError::Limit`].
    pub fn limit(&self, limits: &Limits) -> Result<(), CgroupError> {
        let write = |name: &str, value: String| {
            let file = self.file(name);
            match std::fs::write(&file, value) {
                Err(source) if file.exists() => Err(CgroupError::Limit { file, source }),
                _ => Ok(()),
            }
        };
        if let Some(bytes) = limits.memory {
            write("memory.max", bytes.to_string())?;
            write("memory.swap.max", "0".to_owned())?;
            write("memory.oom.group", "1".to_owned())?;
        }
        if let Some(number) = limits.processes {
            write("pids.max", number.saturating_add(1).to_string())?;
        }
        Ok(())
    }

    /// The CPU time of all that ever was in the group.
    #[must_use]
    pub fn cpu(&self) -> Option<Duration> {
        self.count("cpu.stat", "usage_usec")
            .map(Duration::from_micros)
    }

    /// What was used so far. `memory.peak` came with Linux 5.19, `pids.peak` with 6.11.
    #[must_use]
    pub fn usage(&self) -> Usage {
        let number = |name| self.read(name)?.trim().parse::<u64>().ok();
        Usage {
            cpu: self.cpu(),
            memory_peak: number("memory.peak"),
            processes_peak: number("pids.peak").map(|all| all.saturating_sub(1)),
            ..Usage::default()
        }
    }

    /// The limits that the kernel had to enforce.
    #[must_use]
    pub fn struck(&self) -> Vec<Struck> {
        let mut struck = Vec::new();
        let killed = self.count("memory.events", "oom_kill").unwrap_or(0);
        let refused = self.count("memory.events", "oom").unwrap_or(0);
        if killed > 0 || refused > 0 {
            struck.push(Struck {
                limit: Limit::Memory,
                how: match killed {
                    0 => "the kernel refused to give it more".to_owned(),
                    _ => "the kernel killed it".to_owned(),
                },
                is_end: killed > 0,
            });
        }
        let refused = self.count("pids.events", "max").unwrap_or(0);
        if refused > 0 {
            struck.push(Struck {
                limit: Limit::Processes,
                how: "the kernel refused to make another (EAGAIN)".to_owned(),
                is_end: false,
            });
        }
        struck
    }

    fn read(&self, name: &str) -> Option<String> {
        text(&self.file(name)).ok()
    }

    /// A number of a file whose lines have a key each.
    fn count(&self, name: &str, key: &str) -> Option<u64> {
        let text = self.read(name)?;
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        let (_, value) = lines.find(|(word, _)| *word == key)?;
        value.trim().parse().ok()
    }
}
