//! What calls do to tables: when they are entered, and when they return.

use super::super::names::Abi;
use super::super::{Call, Outcome};
use super::arguments::PathArgument;
use super::calls::{CLOSE_ON_EXEC, Effect, Plan, What};
use super::directory::Directory;
use super::lookup::State;
use super::opening::{BPF_RUN, creates, installs_elsewhere, may_receive};
use super::pending::{Pending, Undo};
use super::sharing::{CLONE_FILES, CLONE_NEWNS, makes_pidfd};
use super::table::{Doing, Held, Number, Range};
use super::tables::{At, Tables};
use crate::received::is_bare;
use std::sync::Arc;

// Commands of fcntl(2) and ioctl(2), the same on all machines of `Abi`.
pub(super) const F_DUPFD: u32 = 0;
pub(super) const F_SETFD: u32 = 2;
pub(super) const F_DUPFD_CLOEXEC: u32 = 1030;
const FD_CLOEXEC: u64 = 1;
pub(super) const FIONCLEX: u32 = 0x5450;
pub(super) const FIOCLEX: u32 = 0x5451;
pub(super) const CLOSE_RANGE_UNSHARE: u64 = 2;
pub(super) const CLOSE_RANGE_CLOEXEC: u64 = 4;

/// How a call ended, as far as tables are concerned.
pub(super) enum Ended {
    With(u64),
    /// By an error, or to be entered again.
    Without(i64),
    /// Its end is not in the records.
    Unseen,
}

impl Ended {
    pub(super) fn of(outcome: &Outcome) -> Self {
        match *outcome {
            Outcome::Returned { value, .. } if (-4095..0).contains(&value) => Self::Without(value),
            Outcome::Returned { value, .. } => Self::With(value as u64),
            Outcome::Restarted { errno, .. } | Outcome::Interrupted { errno, .. } => {
                Self::Without(-i64::from(errno))
            }
            // It was not made.
            Outcome::Refused { .. } => Self::Without(-i64::from(libc::ENOSYS)),
            Outcome::Untold { .. } | Outcome::NeverReturned | Outcome::Missing => Self::Unseen,
        }
    }
}

/// A call that returned: whose, what it was given, and what other threads changed in the meantime.
#[derive(Clone, Copy)]
pub(super) struct Over<'a> {
    pub(super) at: At,
    pub(super) args: &'a [u64; 6],
    pub(super) pending: &'a Pending,
    pub(super) disturbed: &'a [Range],
}

/// The numbers of a `close_range(2)`; `None` where it is refused.
pub(super) fn range([first, last, ..]: &[u64; 6]) -> Option<Range> {
    let (first, last) = (*first as u32, *last as u32);
    (first <= last).then_some(Range { first, last })
}

impl Tables {
    /// What a call may change from now on, and what it changes at once.
    pub(super) fn begin(
        &mut self,
        at: At,
        plan: Plan,
        (abi, number): (Abi, i32),
        pending: &mut Pending,
    ) {
        let Some(args) = pending.args else { return };
        if plan.in_memory {
            self.fly(at, Doing::Looks);
        }
        let [first, second, third, ..] = args;
        match plan.effect {
            Effect::Closes => {
                let range = Range::one(first as u32);
                self.fly(at, Doing::Closes(range));
                self.change(at, range, |table| table.set(range.first, Number::Closed));
            }
            Effect::ClosesRange if third & CLOSE_RANGE_UNSHARE != 0 => self.fly(at, Doing::Copies),
            Effect::ClosesRange => {
                if let (Some(range), 0) = (range(&args), third) {
                    let before = self.tables.get(at.table).cloned();
                    pending.undo = before.map(|table| Box::new(Undo::Table(table)));
                    self.fly(at, Doing::Closes(range));
                    self.change(at, range, |table| table.close_range(range));
                }
            }
            Effect::Replaces if first as u32 != second as u32 => {
                self.fly(at, Doing::Replaces(second as u32));
            }
            Effect::MakesTask => {
                self.fly(at, Doing::Copies);
                if makes_pidfd(abi, number, &args, None) != Some(false) {
                    self.fly(at, Doing::Opens);
                }
            }
            Effect::Executes => self.fly(at, Doing::Copies),
            Effect::Unshares if first & CLONE_FILES != 0 => self.fly(at, Doing::Copies),
            Effect::ChangesDirectory | Effect::ChangesDirectoryTo => self.enter_directory(at),
            Effect::ChangesRoot => {
                self.enter_directory(at);
                let directory = self.directories.get_mut(at.directory);
                let root = directory.and_then(|directory| directory.root.take());
                pending.undo = Some(Box::new(Undo::Root(root)));
            }
            Effect::Submits if second as u32 > 0 && !self.watched.submissions => {
                self.ring_works(at, true, true);
                if let Some(tree) = &mut self.tree {
                    tree.lose("io_uring_enter");
                }
            }
            effect if installs_elsewhere(effect, &args) => self.installing.push(at.thread),
            effect if creates(effect, &args) && may_receive(effect, pending.first.as_ref()) => {
                self.fly(at, Doing::Opens);
            }
            _ => {}
        }
    }

    /// A call is over: what it changed, and what its result refers to.
    pub(super) fn end(&mut self, at: At, plan: Plan, pending: Pending, call: &mut Call) {
        if plan.effect == Effect::None && !plan.in_memory {
            return;
        }
        let table = self.tables.get_mut(at.table);
        let disturbed = table.map_or_else(Vec::new, |table| table.land(at.thread));
        let Some(args) = pending.args else {
            self.unseen_entry(at, plan.effect, call);
            return;
        };
        let over = Over {
            at,
            args: &args,
            pending: &pending,
            disturbed: &disturbed,
        };
        if plan.in_memory {
            self.look_into_memory(over, call);
        }
        match Ended::of(&call.outcome) {
            Ended::With(value) => self.succeeded(over, plan.effect, value as u32, call),
            Ended::Without(error) => self.failed(over, plan.effect, error, call),
            Ended::Unseen => self.unseen_end(over, plan.effect),
        }
    }

    fn succeeded(&mut self, over: Over<'_>, effect: Effect, number: u32, call: &mut Call) {
        let Over {
            at, args, pending, ..
        } = over;
        let [first, second, third, ..] = *args;
        match effect {
            Effect::Opens(What::Foreign, _) => self.arrived(over, number, call),
            Effect::Opens(What::Bpf, _) if first as u32 == BPF_RUN => self.ran(at),
            Effect::Opens(what, on_exec) => {
                if creates(effect, args) {
                    self.opened(over, (what, on_exec), number, call);
                } else if effect.is_given_descriptor() {
                    call.files.set_result(state(pending.first.as_ref()));
                }
            }
            Effect::Duplicates => self.duplicated(over, number, false, call),
            Effect::Controls => match second as u32 {
                F_DUPFD => self.duplicated(over, number, false, call),
                F_DUPFD_CLOEXEC => self.duplicated(over, number, true, call),
                F_SETFD => self.set_on_exec(at, first, Some(third & FD_CLOEXEC != 0)),
                _ => {}
            },
            Effect::Replaces if first as u32 == second as u32 => {
                call.files.set_result(state(pending.first.as_ref()));
            }
            Effect::Replaces => {
                let has_flags = call.name() == Some("dup3");
                let on_exec = has_flags && third & CLOSE_ON_EXEC != 0;
                self.duplicated(over, number, on_exec, call);
            }
            Effect::Commands => match second as u32 {
                FIOCLEX => self.set_on_exec(at, first, Some(true)),
                FIONCLEX => self.set_on_exec(at, first, Some(false)),
                _ if installs_elsewhere(effect, args) => {
                    self.installed_elsewhere(at, Some(number));
                }
                _ if creates(effect, args) => self.forget_closed(at),
                _ => {}
            },
            Effect::Closes => self.closed(at, first as u32, pending),
            Effect::ClosesRange => self.closed_range(over),
            Effect::Pipes { .. } | Effect::Pairs => self.opened_two(over, effect, call),
            Effect::Binds | Effect::Connects => self.addressed(effect, pending, call),
            Effect::Receives => {
                if may_receive(effect, pending.first.as_ref()) && !is_bare(call) {
                    self.received(at);
                }
            }
            Effect::Multiplexed if creates(effect, args) => self.received(at),
            Effect::AsksSocket | Effect::SetsRing if creates(effect, args) => {
                self.forget_closed(at);
            }
            Effect::MakesTask => self.made_task(over, call),
            Effect::Unshares => self.unshared(over),
            Effect::ChangesDirectory | Effect::ChangesRoot => {
                let path = PathArgument {
                    directory: None,
                    path: 0,
                };
                self.restore_root(at, pending);
                let path = self.path(at, call, path, pending.version);
                let spot = Self::changed_to(pending, call);
                let is_root = effect == Effect::ChangesRoot;
                self.changed_directory(at, (path.map(Arc::from), spot), is_root);
            }
            Effect::ChangesDirectoryTo => {
                let to = match pending.first.as_ref().map(Number::state) {
                    Some(State::Open(file)) => {
                        let (spot, doubt) = file.place.start();
                        let spot = spot.ok().map(|spot| (spot, doubt));
                        (file.path().map(Arc::from), spot)
                    }
                    _ => (None, None),
                };
                self.changed_directory(at, to, false);
            }
            Effect::PivotsRoot => {
                // Every task that was at the old root is moved (chroot_fs_refs()).
                for (_, directory) in self.directories.iter_mut() {
                    directory.forget();
                }
            }
            Effect::EntersNamespace if second == 0 || second & CLONE_NEWNS != 0 => {
                self.change_directory(at, Directory::forget);
            }
            Effect::Executes => self.ran_file(at, pending, call),
            Effect::None
            | Effect::Submits
            | Effect::Multiplexed
            | Effect::AsksSocket
            | Effect::SetsRing
            | Effect::EntersNamespace => {}
        }
    }

    fn failed(&mut self, over: Over<'_>, effect: Effect, error: i64, call: &Call) {
        let Over {
            at, args, pending, ..
        } = over;
        match (effect, pending.undo.as_deref()) {
            _ if installs_elsewhere(effect, args) => self.installed_elsewhere(at, None),
            // The descriptors of a message are there before the kernel fails to write the rest of
            // what it has to say.
            (Effect::Receives | Effect::Multiplexed, _) if error == -i64::from(libc::EFAULT) => {
                self.received(at);
            }
            (Effect::Commands, _) if error == -i64::from(libc::EFAULT) && creates(effect, args) => {
                self.forget_closed(at);
            }
            // Closed all the same, for all errors but this one.
            (Effect::Closes, _) if error != -i64::from(libc::EBADF) => {
                self.closed(at, args[0] as u32, pending);
            }
            (Effect::ClosesRange, Some(Undo::Table(before))) => {
                let is_shared = self.is_shared(at);
                match (self.tables.get_mut(at.table), range(args)) {
                    (Some(table), _) if !is_shared => *table = before.clone(),
                    (_, Some(range)) => self.change(at, range, |table| table.forget(range)),
                    _ => {}
                }
            }
            (Effect::ChangesDirectory | Effect::ChangesDirectoryTo, _) => self.left_directory(at),
            (Effect::ChangesRoot, _) => {
                self.restore_root(at, pending);
                self.left_directory(at);
            }
            // Where it goes on by itself, that is where it leads.
            (Effect::Connects, _) if error == -i64::from(libc::EINPROGRESS) || error <= -512 => {
                self.addressed(effect, pending, call);
            }
            _ => {}
        }
    }

    /// Puts a description under a number that a call of this thread opened; other threads may have
    /// used the number before that was seen.
    pub(super) fn install(&mut self, at: At, number: u32, held: Held, disturbed: &[Range]) {
        let Some(table) = self.tables.get(at.table) else {
            return;
        };
        let was_taken = matches!(table.get(number), Number::Open(_)) && self.is_shared(at);
        let slot = if was_taken || disturbed.iter().any(|range| range.contains(number)) {
            Number::Unknown
        } else {
            Number::Open(held)
        };
        self.change(at, Range::one(number), |table| table.set(number, slot));
    }

    fn duplicated(&mut self, over: Over<'_>, number: u32, on_exec: bool, call: &mut Call) {
        let Over {
            at,
            disturbed,
            args,
            ..
        } = over;
        let Some(Number::Open(from)) = &over.pending.first else {
            call.files.set_result(State::Unknown);
            let range = Range::one(number);
            return self.change(at, range, |table| table.set(number, Number::Unknown));
        };
        let held = Held {
            description: Arc::clone(&from.description),
            on_exec: Some(on_exec),
        };
        call.files.set_result(State::Open(from.description.now()));
        let replaces = matches!(call.name(), Some("dup2" | "dup3"));
        let is_target = replaces && args[1] as u32 == number;
        let is_disturbed = disturbed.iter().any(|range| range.contains(number));
        if is_target && !is_disturbed {
            // What was there is closed by this.
            let range = Range::one(number);
            self.change(at, range, |table| table.set(number, Number::Open(held)));
        } else {
            self.install(at, number, held, disturbed);
        }
    }

    /// `close(2)` was applied when it was entered, if what it closed was known as open.
    fn closed(&mut self, at: At, number: u32, pending: &Pending) {
        if matches!(pending.first, Some(Number::Open(_))) {
            return;
        }
        // It closed something that was not known as open: what another thread has opened there
        // since, or is about to be seen opening.
        let Some(table) = self.tables.get_mut(at.table) else {
            return;
        };
        for flight in &mut table.flights {
            if flight.doing == Doing::Opens {
                flight.disturbed.push(Range::one(number));
            }
        }
        if matches!(table.get(number), Number::Open(_)) {
            let range = Range::one(number);
            self.change(at, range, |table| table.forget(range));
        }
    }

    /// Without flags it was applied when it was entered, as `close(2)` is.
    fn closed_range(&mut self, over: Over<'_>) {
        let flags = over.args[2];
        let Some(range) = range(over.args).filter(|_| flags != 0) else {
            return;
        };
        let at = if flags & CLOSE_RANGE_UNSHARE != 0 {
            self.unshare_table(over, false)
        } else {
            over.at
        };
        if flags & CLOSE_RANGE_CLOEXEC != 0 {
            self.change(at, range, |table| table.set_on_exec(range, Some(true)));
        } else {
            self.change(at, range, |table| table.close_range(range));
        }
    }

    /// Puts a failed change of root back; while a root is being changed, it is not known.
    fn restore_root(&mut self, at: At, pending: &Pending) {
        let directory = self.directories.get_mut(at.directory);
        if let (Some(directory), Some(Undo::Root(root))) = (directory, pending.undo.as_deref()) {
            directory.root.clone_from(root);
        }
    }

    pub(super) fn set_on_exec(&mut self, at: At, number: u64, on_exec: Option<bool>) {
        let range = Range::one(number as u32);
        self.change(at, range, |table| table.set_on_exec(range, on_exec));
    }
}

/// What is known of a number, for a call.
fn state(slot: Option<&Number>) -> State {
    slot.map_or(State::Unknown, Number::state)
}
