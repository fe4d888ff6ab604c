//! The reader's part of the account: whether all records came.

use super::family::Family;
use super::widths::Widths;
use super::{Reader, held, number};
use crate::plan::LEGACY_CALLS;
use perf_live::events::{Account, EventSet};
use perf_records::units::Hashed;
use std::collections::HashSet;
use std::io;
use syscall_model::memory::{Fetches, Moment};
use syscall_model::names::{self, Abi};
use syscall_model::{Call, Entry};

impl Reader<'_> {
    /// Draws up the account of events whose records were all read here.
    pub(in crate::run) fn account(&self, events: &mut EventSet) -> io::Result<Account> {
        let left = if events.has_group() {
            self.left_group
        } else {
            0
        };
        let out_of_sight = self.out_of_sight + left;
        let account = events.account(&self.delivered, self.lost.records(), out_of_sight)?;
        Ok(Account {
            events: account.events,
            side_band_lost: account.side_band_lost,
            full_rings: account.full_rings,
            full_backlog: account.full_backlog,
            ..self.own_account(out_of_sight)
        })
    }

    /// Called when every task is dead: a task whose end has no record went where no event looks.
    pub(in crate::run) fn expect_ends(&mut self) {
        if !self.broke_off {
            self.unended = self.lineage.living().len() as u64;
        }
    }

    /// Whether a record of `cgroup:cgroup_attach_task` says that a task came into the workload's
    /// group; until then it was elsewhere.
    pub(super) fn joins(&self, path: usize, raw: &[u8]) -> bool {
        let Some(group) = &self.group else {
            return false;
        };
        // `__data_loc`: where it is, and how long.
        let found = number(raw, path).and_then(|place| {
            let (at, length) = (place as u32 & 0xffff, place as u32 >> 16);
            raw.get(at as usize..)?.get(..length as usize)
        });
        // A path that cannot be read may be the group's.
        let Some(found) = found else { return true };
        let found = found.split(|byte| *byte == 0).next().unwrap_or_default();
        let mut names = found.split(|byte| *byte == b'/');
        names.any(|name| name == group.as_bytes())
    }

    /// Counts a call made through the vsyscall page, which only the oldest programs use.
    pub(super) fn legacy(&mut self, call: i32) {
        let name = usize::try_from(call)
            .ok()
            .and_then(|call| LEGACY_CALLS.get(call));
        let number = name.and_then(|name| names::number(Abi::native(), name));
        let selection = self.plan.selection.as_ref();
        let is_wanted = selection.is_some_and(|selection| match number {
            Some(number) => selection.contains(Abi::native(), number),
            None => true,
        });
        self.legacy_calls += u64::from(is_wanted || self.plan.every);
    }

    /// Whether a task is born into another control group, where none of its events is counted for
    /// the workload.
    pub(super) fn is_born_elsewhere(call: &Call) -> bool {
        const CLONE_INTO_CGROUP: u64 = 1 << 33;
        let Some(flags) = call.memory.piece(0, Moment::Enter) else {
            return false;
        };
        let flags = flags.bytes.first_chunk();
        flags.is_some_and(|flags| u64::from_ne_bytes(*flags) & CLONE_INTO_CGROUP != 0)
            && call.name() == Some("clone3")
            && call.error().is_none()
    }

    /// Returns the part of the account that the records alone tell.
    fn own_account(&self, out_of_sight: u64) -> Account {
        Account {
            out_of_sight,
            unended: self.unended,
            broke_off: self.broke_off,
            legacy_calls: self.legacy_calls,
            disguised: self.disguised,
            unheld: self
                .widths
                .as_ref()
                .filter(|_| self.misses_compat)
                .map_or(0, Widths::n_of_32),
            untold: self.widths.as_ref().map_or(0, Widths::n_untold),
            throttled: self.throttled,
            blind_rings: self.blind_rings,
            never_started: !self.saw_uncorking,
            unread: self.fetched.unread(),
            half_made: self.family.as_ref().map_or(0, Family::half_made),
            lost_records: self.lost.records(),
            untold_returns: self
                .returns
                .as_ref()
                .map_or_else(Vec::new, |returns| returns.untold(self.plan)),
            other_files: self
                .other_files
                .as_ref()
                .map_or_else(Vec::new, |files| files.found().to_vec()),
            forgotten: self
                .forgets
                .as_ref()
                .map_or_else(Vec::new, |forgets| forgets.found()),
            copied: self.copied.clone(),
            answered: self.held.as_ref().map_or(0, held::Calls::answered),
            unpaired: self.held.as_ref().map_or(0, held::Calls::unpaired),
            not_again: self.held.as_ref().map_or(0, held::Calls::not_again),
            differing: self.held.as_ref().map_or(0, held::Calls::differing),
            ..Account::default()
        }
    }

    /// Returns the same of records that come from a file, with the number of records of each
    /// request; the last number is that of the BPF programs.
    pub(in crate::run) fn recorded(&self) -> (Account, &[u64]) {
        (self.own_account(self.out_of_sight), &self.delivered)
    }
}

/// The calls for which something is read from memory, and how many were not.
#[derive(Debug, Default)]
pub(super) struct Fetched {
    native: HashSet<u32, Hashed>,
    compat: HashSet<u32, Hashed>,
    unread: u64,
    /// Of 32-bit calls, which programs read where the kernel tells them which those are.
    unread_compat: u64,
    reads_compat: bool,
}

impl Fetched {
    pub(super) fn of(fetches: &Fetches) -> Self {
        let of = |wanted: Option<Abi>| {
            let calls = fetches.keys().filter(|(abi, _)| Some(*abi) == wanted);
            calls.map(|(_, number)| *number).collect()
        };
        Self {
            native: of(Some(Abi::native())),
            compat: of(Abi::native().compat()),
            ..Self::default()
        }
    }

    /// Takes a call: nothing may have come of what is read for one that was seen to enter.
    pub(super) fn take(&mut self, call: &Call) {
        let is_native = call.abi == Abi::native();
        let is_compat = Some(call.abi) == Abi::native().compat();
        if call.memory.is_read() {
            self.reads_compat |= is_compat;
            return;
        }
        let Ok(number) = u32::try_from(call.number) else {
            return;
        };
        if matches!(call.entry, Entry::Seen { .. }) {
            self.unread += u64::from(is_native && self.native.contains(&number));
            self.unread_compat += u64::from(is_compat && self.compat.contains(&number));
        }
    }

    /// How many were not read, where calls of their kind are.
    fn unread(&self) -> u64 {
        match self.reads_compat {
            true => self.unread + self.unread_compat,
            false => self.unread,
        }
    }
}
