//! What a reader has to say of whether all came.

use super::Reader;
use crate::events::{Account, EventSet};
use std::io;

impl Reader<'_> {
    /// Draws up the account of the events whose records were all read here.
    pub(in crate::run) fn account(&self, events: &mut EventSet) -> io::Result<Account> {
        let left = if events.has_group() {
            self.left_group
        } else {
            0
        };
        let out_of_sight = self.out_of_sight + left;
        let account = events.account(&self.delivered, self.lost_records, out_of_sight)?;
        Ok(Account {
            events: account.events,
            side_band_lost: account.side_band_lost,
            ..self.own_account(out_of_sight)
        })
    }

    /// What of an account the records alone tell.
    fn own_account(&self, out_of_sight: u64) -> Account {
        Account {
            out_of_sight,
            throttled: self.throttled,
            blind_rings: self.blind_rings,
            never_started: !self.saw_uncorking,
            unread: self.unread,
            lost_records: self.lost_records,
            ..Account::default()
        }
    }

    /// The same of records that come from a file, and how many of each request there are; the last number is that of what programs read.
    pub(in crate::run) fn recorded(&self) -> (Account, &[u64]) {
        (self.own_account(self.out_of_sight), &self.delivered)
    }
}
