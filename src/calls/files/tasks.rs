//! Tasks that are made, that execute, that end: what they get of whose tables.

use super::super::pool::Key;
use super::super::tree::{Space, Where, Why};
use super::super::{Actor, Call, Shares, ThreadId, names};
use super::calls;
use super::directory::{Directory, Spots};
use super::file::FileKind;
use super::pending::Pending;
use super::sharing::{CLONE_NEWNS, CLONE_NEWUSER};
use super::table::{Doing, Held, Number, Table};
use super::tables::{At, Tables, Thread};
use perf_records::units::Pid;
use std::sync::Arc;

/// What a process runs of which nothing is known.
pub(super) const UNKNOWN_PROGRAM: Where = Where::Unknown(Why::Descriptor);

/// What a thread left that ended in an exec.
#[derive(Clone, Debug)]
pub(super) struct Left {
    /// Its process.
    pid: Pid,
    /// Nothing shares it any more.
    table: Table,
    /// Another process may share it.
    directory: Key,
}

impl Tables {
    pub(super) fn born(&mut self, child: &Actor, parent: Option<ThreadId>, shares: Shares) {
        let mother = parent.and_then(|parent| self.threads.get(parent.0 as usize)?.as_deref());
        let program = mother.map_or(UNKNOWN_PROGRAM, |it| it.program.clone());
        let mother = mother.map(|thread| {
            let pending = thread.pending.as_ref();
            (thread.is_seen, pending.and_then(|pending| pending.version))
        });
        let at = parent.and_then(|parent| self.at(parent));
        let (table, directory) = match (mother, at) {
            // Before its first call a process is the harness' own, made to start the workload.
            (Some((true, version)), Some(at)) => (
                self.inherit_table(at, shares.files),
                self.inherit_directory(at, shares.directory, version),
            ),
            _ if parent.is_some() || !self.is_started => self.start(),
            _ => (
                self.tables.add(Table::unknown()),
                self.directories.add(Directory::new(None)),
            ),
        };
        let place = child.thread.0 as usize;
        if self.threads.len() <= place {
            self.threads.resize(place + 1, None);
        }
        if let Some(slot) = self.threads.get_mut(place) {
            *slot = Some(Box::new(Thread {
                pid: child.pid,
                table,
                directory,
                pending: None,
                is_seen: false,
                program,
                code: Vec::new(),
            }));
        }
    }

    /// What the workload's first process has.
    fn start(&mut self) -> (Key, Key) {
        self.is_started = true;
        let mut table = if self.initial.complete {
            Table::default()
        } else {
            Table::unknown()
        };
        for (kind, numbers) in self.initial.files.clone() {
            let ordinal = table.ordinal(&kind);
            let description = self.describe(kind, ordinal, None);
            for number in numbers {
                let held = Held {
                    description: Arc::clone(&description),
                    on_exec: Some(false),
                };
                if let Ok(number) = u32::try_from(number) {
                    table.set(number, Number::Open(held));
                }
            }
        }
        let current = self.initial.directory.as_deref().map(Arc::from);
        let mut directory = Directory::new(current);
        if let (Some(tree), Some(path)) = (&mut self.tree, &self.initial.directory) {
            directory.spots = Spots {
                current: tree.before(path),
                doubt: None,
                root: Some(tree.root()),
                space: Some(Space::FIRST),
            };
        }
        (self.tables.add(table), self.directories.add(directory))
    }

    /// Threads of one process that lived before its calls were recorded share what they have.
    pub fn belong_together(&mut self, threads: &[ThreadId]) {
        let Some((first, others)) = threads.split_first() else {
            return;
        };
        let Some(At {
            table, directory, ..
        }) = self.at(*first)
        else {
            return;
        };
        for other in others {
            let Some(own) = self.at(*other) else { continue };
            self.tables.release(own.table);
            self.directories.release(own.directory);
            self.tables.share(table);
            self.directories.share(directory);
            if let Some(thread) = self.thread(*other) {
                (thread.table, thread.directory) = (table, directory);
            }
        }
        for thread in threads {
            if let Some(thread) = self.thread(*thread) {
                thread.is_seen = true;
            }
        }
    }

    /// What a process was found to have, each descriptor with whether an exec closes it, and its
    /// directory if that is below the root that all others have. Of what its calls have told of
    /// since recording began, these know better.
    pub fn found(
        &mut self,
        thread: ThreadId,
        files: Vec<(u32, FileKind, Option<bool>)>,
        directory: Option<Vec<u8>>,
    ) {
        let Some(at) = self.at(thread) else { return };
        let nothing = Table::unknown();
        for (number, kind, on_exec) in files {
            let known = self.tables.get(at.table).map(|table| table.get(number));
            if !matches!(known, Some(Number::Unknown)) {
                continue;
            }
            // Whether several of one name were opened once is not told: they count as the first.
            let ordinal = nothing.ordinal(&kind);
            let description = self.describe(kind, ordinal, None);
            if let Some(table) = self.tables.get_mut(at.table) {
                let held = Held {
                    description,
                    on_exec: on_exec.filter(|_| !table.has_flagged),
                };
                table.set(number, Number::Open(held));
            }
        }
        let own = self.directories.get_mut(at.directory);
        if let Some(own) = own.filter(|own| own.current.is_none() && own.version == 0) {
            match directory {
                Some(directory) => own.current = Some(Arc::from(directory)),
                None => own.forget(),
            }
        }
    }

    fn inherit_table(&mut self, at: At, shared: Option<bool>) -> Key {
        if shared == Some(true) {
            return self.tables.share(at.table);
        }
        let group = self.new_group();
        let Some(table) = self.tables.get_mut(at.table) else {
            return self.tables.add(Table::unknown());
        };
        let mut copy = table.copy(at.thread);
        table
            .flights
            .retain(|it| it.thread != at.thread || it.doing != Doing::Copies);
        if shared.is_none() {
            // Either they share it or they do not. Each is right about what it changes itself, and
            // wrong only about what the other changes: that becomes unknown.
            copy.group = Some(*table.group.get_or_insert(group));
        }
        self.tables.add(copy)
    }

    fn inherit_directory(&mut self, at: At, shared: Option<bool>, version: Option<u64>) -> Key {
        if shared == Some(true) {
            return self.directories.share(at.directory);
        }
        let group = self.new_group();
        let Some(directory) = self.directories.get_mut(at.directory) else {
            return self.directories.add(Directory::new(None));
        };
        let mut copy = directory.copy(at.thread);
        if version != Some(directory.version) {
            copy.forget();
        }
        if shared.is_none() {
            copy.group = Some(*directory.group.get_or_insert(group));
        }
        if self.may_part_space(at) {
            self.part_space(&mut copy);
        }
        self.directories.add(copy)
    }

    /// Whether the call that made a task may have given it mounts of its own.
    fn may_part_space(&mut self, at: At) -> bool {
        let thread = self
            .thread(at.thread)
            .and_then(|thread| thread.pending.as_ref());
        let Some(Pending { call, args, .. }) = thread else {
            return true;
        };
        match (names::name_of(call.0, call.1), args) {
            (Some("fork" | "vfork"), _) => false,
            (Some("clone"), Some([flags, ..])) => flags & (CLONE_NEWNS | CLONE_NEWUSER) != 0,
            _ => true,
        }
    }

    /// `begin_new_exec()`: the process gets a table of its own, less what closes on exec.
    pub(super) fn executed(&mut self, actor: &Actor) {
        let Some(at) = self.at(actor.thread) else {
            return;
        };
        let of_caller = self.left.iter().position(|left| left.pid == actor.pid);
        let table = match of_caller.map(|place| self.left.swap_remove(place)) {
            Some(left) => {
                self.directories.release(at.directory);
                if let Some(thread) = self.thread(actor.thread) {
                    thread.directory = left.directory;
                }
                Some(left.table)
            }
            None => {
                let table = self.tables.get(at.table);
                table.map(|table| table.copy(at.thread))
            }
        };
        let mut table = table.unwrap_or_else(Table::unknown);
        table.execute();
        self.move_to(at, table);
        if let Some(thread) = self.thread(actor.thread) {
            thread.is_seen = true;
            thread.code.clear();
            let call = thread.pending.as_ref().map(|pending| pending.call);
            // Until the call is over, whose path may be that of the program before.
            let is_in_call = call.is_some_and(|(abi, number)| {
                calls::plan(abi, number).effect == calls::Effect::Executes
            });
            if !is_in_call {
                thread.program = UNKNOWN_PROGRAM;
            }
        }
    }

    /// A call has executed a file.
    pub(super) fn ran_file(&mut self, at: At, pending: &Pending, call: &Call) {
        let argument = calls::plan(call.abi, call.number).paths.first();
        let mut program = UNKNOWN_PROGRAM;
        if let Some(argument) = argument
            && let Where::At(spot, doubt) = self.opened_at(call, *argument, pending)
            && let Some(tree) = &mut self.tree
            && tree.is_program(spot.node())
        {
            program = Where::At(spot, doubt);
        }
        self.runs(at.thread, program);
    }

    /// A thread's process runs this file.
    pub(super) fn runs(&mut self, thread: ThreadId, program: Where) {
        if let Some(thread) = self.thread(thread) {
            thread.program = program;
        }
    }

    /// Gives a thread a table of its own.
    pub(super) fn move_to(&mut self, at: At, table: Table) {
        if let Some(old) = self.tables.get_mut(at.table) {
            old.land(at.thread);
        }
        self.tables.release(at.table);
        let table = self.tables.add(table);
        if let Some(thread) = self.thread(at.thread) {
            thread.table = table;
        }
    }

    pub(super) fn gone(&mut self, thread: ThreadId) {
        let Some(at) = self.at(thread) else { return };
        let gone = self.threads.get_mut(thread.0 as usize);
        let Some(gone) = gone.and_then(Option::take) else {
            return;
        };
        let executes = gone.pending.is_some_and(|pending| {
            let (abi, number) = pending.call;
            calls::plan(abi, number).effect == calls::Effect::Executes
        });
        if let Some(table) = self.tables.get_mut(at.table) {
            if executes {
                self.left.push(Left {
                    pid: gone.pid,
                    table: table.copy(thread),
                    directory: at.directory,
                });
                self.directories.share(at.directory);
            }
            table.land(thread);
        }
        if let Some(directory) = self.directories.get_mut(at.directory) {
            directory.changing.retain(|other| *other != thread);
        }
        self.tables.release(at.table);
        self.directories.release(at.directory);
    }
}
