//! Which tasks share what: tables and directories that are parted, moved, or changed by a ring.

use super::super::names::{self, Abi};
use super::super::{Call, ThreadId};
use super::directory::{Directory, Doubted};
use super::effects::Over;
use super::file::{FileKind, Object};
use super::lookup::State;
use super::table::{Held, Number, Table};
use super::tables::{At, Tables};
use crate::memory::{Memory, Moment, State as Read};
use std::sync::Arc;

const CLONE_FS: u64 = 0x200;
pub(super) const CLONE_FILES: u64 = 0x400;
const CLONE_PIDFD: u64 = 0x1000;
pub(super) const CLONE_NEWNS: u64 = 0x2_0000;
pub(super) const CLONE_NEWUSER: u64 = 0x1000_0000;

/// Whether a call that makes a task makes a descriptor for it too; `None` if that is not known.
pub(super) fn makes_pidfd(
    abi: Abi,
    number: i32,
    args: &[u64; 6],
    memory: Option<&Memory>,
) -> Option<bool> {
    let flags = match names::name_of(abi, number) {
        Some("clone") => args[0],
        Some("clone3") => {
            let piece = memory?.piece(0, Moment::Enter)?;
            u64::from_ne_bytes(*piece.bytes.first_chunk()?)
        }
        _ => 0,
    };
    Some(flags & CLONE_PIDFD != 0)
}

impl Tables {
    /// Called when records were lost: all that was known of open descriptors and of working
    /// directories is forgotten.
    pub fn lost(&mut self) {
        for (_, table) in self.tables.iter_mut() {
            table.forget_all();
        }
        for (_, directory) in self.directories.iter_mut() {
            directory.forget();
        }
        if let Some(tree) = &mut self.tree {
            tree.lose("a lost call");
        }
    }

    /// What a number of a thread refers to now, for what a call names otherwise than by an
    /// argument.
    #[must_use]
    pub fn look_up(&self, thread: ThreadId, number: i32) -> super::Files {
        let mut files = super::Files::default();
        if let Ok(number) = u32::try_from(number) {
            let at = self.at(thread).filter(|_| self.watched.complete);
            files.set_result(at.map_or(State::Unknown, |at| self.look(at, number).state()));
        }
        files
    }

    /// The absolute path of what a thread would name now by a path and the descriptor of a
    /// directory, or `AT_FDCWD`.
    #[must_use]
    pub fn resolve(&self, thread: ThreadId, directory: i32, path: &[u8]) -> Option<Vec<u8>> {
        let at = self.at(thread).filter(|_| self.watched.complete)?;
        let known = self.directories.get(at.directory)?;
        if directory == libc::AT_FDCWD {
            self.steady(at)?;
            return known.resolve(known.current.as_deref(), path);
        }
        let base = match u32::try_from(directory).map(|number| self.look(at, number)) {
            Ok(Number::Open(held)) => Some(held.description.now()),
            _ => None,
        };
        known.resolve(base.as_ref().and_then(|file| file.path()), path)
    }

    /// Tells that a thread gave a ring something to do: the operation's code (`IORING_OP_*`), as
    /// `io_uring:io_uring_submit_req` has it.
    ///
    /// It is done at any time from now on, and nothing tells when or under which numbers.
    pub fn submitted(&mut self, thread: ThreadId, operation: u8) {
        const OPENING: [u8; 7] = [10, 13, 18, 28, 45, 54, 62];
        const CLOSE: u8 = 19;
        // Those that a later kernel has may do anything.
        const LAST_KNOWN: u8 = 63;
        // Renames, removals, links and folders.
        const NAMING: std::ops::RangeInclusive<u8> = 35..=39;
        if let (true, Some(tree)) = (
            NAMING.contains(&operation) || operation > LAST_KNOWN,
            &mut self.tree,
        ) {
            tree.lose("io_uring_enter");
        }
        let opens = OPENING.contains(&operation) || operation > LAST_KNOWN;
        let closes = operation == CLOSE || operation > LAST_KNOWN;
        if let (Some(at), true) = (self.at(thread), opens || closes) {
            self.ring_works(at, opens, closes);
        }
    }

    pub(super) fn ring_works(&mut self, at: At, opens: bool, closes: bool) {
        let group = self.tables.get(at.table).and_then(|table| table.group);
        for (key, table) in self.tables.iter_mut() {
            if key == at.table || (group.is_some() && table.group == group) {
                table.ring_opens |= opens;
                table.ring_closes |= closes;
            }
        }
    }

    pub(super) fn reads_open(&mut self, at: At) {
        let group = self.tables.get(at.table).and_then(|table| table.group);
        for (key, table) in self.tables.iter_mut() {
            table.reads_open |= key == at.table || (group.is_some() && table.group == group);
        }
    }

    pub(super) fn is_shared(&self, at: At) -> bool {
        let table = self.tables.get(at.table);
        self.tables.is_shared(at.table) || table.is_some_and(|table| table.group.is_some())
    }

    /// The version of a thread's directory, where no other thread is changing it.
    pub(super) fn steady(&self, at: At) -> Option<u64> {
        let directory = self.directories.get(at.directory)?;
        (!directory.is_changed_by_others(at.thread)).then_some(directory.version)
    }

    /// A task was made, perhaps with a descriptor for it.
    pub(super) fn made_task(&mut self, over: Over<'_>, call: &mut Call) {
        let makes = makes_pidfd(call.abi, call.number, over.args, Some(&call.memory));
        if makes == Some(false) {
            return;
        }
        let piece = call.memory.piece(2, Moment::Exit);
        let number = piece
            .filter(|piece| piece.state == Read::Whole && call.name() == Some("clone"))
            .and_then(|piece| Some(u32::from_ne_bytes(*piece.bytes.first_chunk()?)));
        match number {
            Some(number) => {
                let description = self.describe_here(over.at, FileKind::Object(Object::Pidfd));
                let file = State::Open(description.now());
                call.files.add_in_memory(number as i32, file);
                let held = Held {
                    description,
                    on_exec: Some(true),
                };
                self.install(over.at, number, held, over.disturbed);
            }
            None => self.forget_closed(over.at),
        }
    }

    pub(super) fn unshared(&mut self, over: Over<'_>) {
        let flags = over.args[0];
        if flags & CLONE_FILES != 0 {
            self.unshare_table(over, false);
        }
        // A new mount or user namespace implies it (ksys_unshare()).
        if flags & (CLONE_FS | CLONE_NEWNS | CLONE_NEWUSER) != 0 {
            let Some(directory) = self.directories.get(over.at.directory) else {
                return;
            };
            let mut own = directory.copy(over.at.thread);
            if over.pending.version != Some(directory.version) {
                own.forget();
            }
            if flags & (CLONE_NEWNS | CLONE_NEWUSER) != 0 {
                self.part_space(&mut own);
            }
            self.directories.release(over.at.directory);
            let directory = self.directories.add(own);
            if let Some(thread) = self.thread(over.at.thread) {
                thread.directory = directory;
            }
        }
    }

    /// Mounts made here are not seen elsewhere, or it is not known whether they are.
    pub(super) fn part_space(&mut self, directory: &mut Directory) {
        if let (Some(tree), Some(space)) = (&mut self.tree, directory.spots.space) {
            directory.spots.space = Some(tree.copy_space(space));
        }
    }

    /// Gives the thread a table of its own, or one that may be its own.
    pub(super) fn unshare_table(&mut self, over: Over<'_>, is_unsure: bool) -> At {
        let at = over.at;
        let new_group = self.new_group();
        let Some(table) = self.tables.get_mut(at.table) else {
            return at;
        };
        let mut own = table.copy(at.thread);
        for range in over.disturbed {
            own.forget(*range);
        }
        if is_unsure {
            own.group = Some(*table.group.get_or_insert(new_group));
        }
        self.move_to(at, own);
        self.at(at.thread).unwrap_or(at)
    }

    pub(super) fn describe_here(
        &mut self,
        at: At,
        kind: FileKind,
    ) -> Arc<super::file::Description> {
        let ordinal = self
            .tables
            .get(at.table)
            .map(|table: &Table| table.ordinal(&kind));
        self.describe(kind, ordinal.unwrap_or(1), None)
    }

    /// Changes a thread's directory, and counts the change for calls that are under way.
    pub(super) fn change_directory(&mut self, at: At, change: impl FnOnce(&mut Directory)) {
        if let Some(directory) = self.directories.get_mut(at.directory) {
            directory.version += 1;
            change(directory);
        }
    }

    /// A call is going to change the directory.
    pub(super) fn enter_directory(&mut self, at: At) {
        for directory in self.same_directories(at) {
            directory.version += 1;
            directory.changing.push(at.thread);
        }
    }

    /// A call that was to change the directory did not, or has.
    pub(super) fn left_directory(&mut self, at: At) {
        for directory in self.same_directories(at) {
            directory.version += 1;
            directory.changing.retain(|other| *other != at.thread);
        }
    }

    /// A thread's directory, and those that may be the same.
    fn same_directories(&mut self, at: At) -> impl Iterator<Item = &mut Directory> {
        let group = self.directories.get(at.directory).and_then(|it| it.group);
        let all = self.directories.iter_mut();
        all.filter(move |(key, it)| *key == at.directory || (group.is_some() && it.group == group))
            .map(|(_, directory)| directory)
    }

    pub(super) fn changed_directory(
        &mut self,
        at: At,
        (path, spot): (Option<Arc<[u8]>>, Option<Doubted>),
        is_root: bool,
    ) {
        let is_raced = self.steady(at).is_none();
        self.left_directory(at);
        let path = path.filter(|_| !is_raced);
        let spot = spot.filter(|_| !is_raced);
        let mut group = None;
        self.change_directory(at, |directory| {
            group = directory.group;
            if is_root {
                directory.root = path;
                directory.spots.root =
                    spot.and_then(|(spot, doubt)| doubt.is_none().then_some(spot));
            } else {
                directory.current = path;
                let (spot, doubt) = spot.unzip();
                directory.spots.current = spot;
                directory.spots.doubt = doubt.flatten();
            }
        });
        if group.is_some() {
            for (key, other) in self.directories.iter_mut() {
                if key != at.directory && other.group == group {
                    other.forget();
                }
            }
        }
    }
}
