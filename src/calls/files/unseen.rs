//! Calls of which one half was not seen: what they may have changed is unknown.

use super::super::Call;
use super::calls::{Effect, What};
use super::directory::Directory;
use super::effects::{
    CLOSE_RANGE_CLOEXEC, CLOSE_RANGE_UNSHARE, Ended, F_SETFD, FIOCLEX, FIONCLEX, Over, range,
};
use super::lookup::State;
use super::opening::{BPF_RUN, creates, installs_elsewhere};
use super::sharing::CLONE_FILES;
use super::table::Range;
use super::tables::{At, Tables};

impl Tables {
    /// A call that ended unseen did what it does or did not.
    pub(super) fn unseen_end(&mut self, over: Over<'_>, effect: Effect) {
        let Over { at, args, .. } = over;
        let [first, second, third, ..] = *args;
        match effect {
            Effect::Controls if second as u32 == F_SETFD => self.set_on_exec(at, first, None),
            Effect::Commands if matches!(second as u32, FIOCLEX | FIONCLEX) => {
                self.set_on_exec(at, first, None)
            }
            Effect::Replaces => {
                let range = Range::one(second as u32);
                self.change(at, range, |table| table.forget(range));
            }
            Effect::ClosesRange if third != 0 => {
                let Some(range) = range(args) else { return };
                let at = if third & CLOSE_RANGE_UNSHARE != 0 {
                    self.unshare_table(over, true)
                } else {
                    at
                };
                if third & CLOSE_RANGE_CLOEXEC != 0 {
                    self.change(at, range, |table| table.set_on_exec(range, None));
                } else {
                    self.change(at, range, |table| table.forget(range));
                }
            }
            Effect::MakesTask => self.forget_closed(at),
            Effect::Opens(What::Foreign, _) | Effect::Receives | Effect::Multiplexed => {
                self.received(at);
            }
            Effect::Opens(What::Bpf, _) if first as u32 == BPF_RUN => self.ran(at),
            _ if installs_elsewhere(effect, args) => {
                self.installing.retain(|thread| *thread != at.thread);
                self.forget_everywhere();
            }
            Effect::Unshares => {
                if first & CLONE_FILES != 0 {
                    self.unshare_table(over, true);
                }
                self.change_directory(at, Directory::forget);
            }
            Effect::ChangesDirectory
            | Effect::ChangesDirectoryTo
            | Effect::ChangesRoot
            | Effect::PivotsRoot
            | Effect::EntersNamespace => {
                self.left_directory(at);
                self.change_directory(at, Directory::forget);
            }
            effect if creates(effect, args) => self.forget_closed(at),
            _ => {}
        }
    }

    /// Of a call whose entering half is not there only the result is known. One that was refused
    /// before it has an error.
    pub(super) fn unseen_entry(&mut self, at: At, effect: Effect, call: &mut Call) {
        match (effect, Ended::of(&call.outcome)) {
            (_, Ended::Without(_)) | (Effect::Executes | Effect::MakesTask, _) => {}
            (Effect::Opens(What::Bpf, _), Ended::With(_)) => {
                self.ran(at);
                call.files.set_result(State::Unknown);
            }
            // Its request may have been one for other tasks' tables.
            (Effect::Commands, Ended::With(_)) => self.forget_everywhere(),
            (Effect::Opens(..) | Effect::Duplicates, Ended::With(number)) => {
                let range = Range::one(number as u32);
                self.change(at, range, |table| table.forget(range));
                call.files.set_result(State::Unknown);
            }
            _ => {
                if let Some(table) = self.tables.get_mut(at.table) {
                    table.forget_all();
                }
                self.change_directory(at, Directory::forget);
            }
        }
    }
}
