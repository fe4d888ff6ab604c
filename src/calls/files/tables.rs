//! The tables of all processes, and which process has which.

use super::super::many::made_as;
use super::super::names::{self, Abi};
use super::super::pool::{Key, Pool};
use super::super::tree::{self, Tree, Where};
use super::super::{Actor, Call, Entry, Observation, ThreadId};
use super::calls::{self, Plan};
use super::climbing::{Direct, Moves};
use super::directory::Directory;
use super::file::{Description, FileKind, OpenFile};
use super::in_memory;
use super::lookup::State;
use super::pending::Pending;
use super::table::{Doing, Flight, Number, Range, Table};
use super::tasks::{Left, UNKNOWN_PROGRAM};
use perf_records::units::Pid;
use std::collections::HashMap;
use std::sync::Arc;

/// What the workload's first process starts with.
#[derive(Clone, Debug, Default)]
pub struct Initial {
    /// Its open descriptors: each description, with the numbers that refer to it.
    pub files: Vec<(FileKind, Vec<i32>)>,
    /// Whether these are all: then every other number is closed.
    pub complete: bool,
    /// Its working directory, absolute.
    pub directory: Option<Vec<u8>>,
}

/// What the observations tell, and what is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Watched {
    /// Whether every call of [`needed`](super::needed) is among the observations; else every
    /// look-up is unknown.
    pub complete: bool,
    /// Whether [`Tables::submitted`] is told what rings are given to do; else a ring may open and
    /// close whatever it likes.
    pub submissions: bool,
    /// Whether calls get the absolute paths of their arguments ([`path`](super::Files::path)).
    pub paths: bool,
    /// Whether they get the files that these and their descriptors lead to
    /// ([`reached`](super::Files::reached)), for which every call of [`naming`](super::naming) is
    /// among the observations.
    pub names: bool,
}

/// Follows the descriptors and working directories of all processes of one run.
#[derive(Debug)]
pub struct Tables {
    pub(super) initial: Initial,
    pub(super) watched: Watched,
    pub(super) tables: Pool<Table>,
    pub(super) directories: Pool<Directory>,
    pub(super) threads: Vec<Option<Box<Thread>>>,
    pub(super) is_started: bool,
    n_descriptions: u64,
    made: HashMap<&'static str, u32>,
    n_groups: u32,
    /// What threads left that ended in an exec: the leader, which lives on, gets it.
    pub(super) left: Vec<Left>,
    /// Threads in calls that install a descriptor in another task's table.
    pub(super) installing: Vec<ThreadId>,
    /// The names of files, where these are followed.
    pub(super) tree: Option<Box<Tree>>,
    /// The names by which programs are meant that may be executed ([`Tables::allow`]).
    pub(super) programs: Vec<Vec<u8>>,
    /// The threads with each id, in their own pid namespaces.
    pub(super) ids: HashMap<u32, Vec<ThreadId>>,
    pub(super) moves: Moves,
}

/// One thread's.
#[derive(Clone, Debug)]
pub(super) struct Thread {
    pub(super) pid: Pid,
    pub(super) table: Key,
    pub(super) directory: Key,
    pub(super) pending: Option<Pending>,
    /// Whether it did anything that was seen.
    pub(super) is_seen: bool,
    /// The file that its process runs.
    pub(super) program: Where,
    /// The paths of what the kernel mapped as code for it, while it executes it.
    pub(super) code: Vec<Box<[u8]>>,
}

/// A thread, and what it has.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    pub(super) thread: ThreadId,
    pub(super) table: Key,
    pub(super) directory: Key,
}

impl Tables {
    /// Tables for one run.
    #[must_use]
    pub fn new(initial: Initial, watched: Watched) -> Self {
        Self {
            initial,
            watched,
            tables: Pool::default(),
            directories: Pool::default(),
            threads: Vec::new(),
            is_started: false,
            n_descriptions: 0,
            made: HashMap::new(),
            n_groups: 0,
            left: Vec::new(),
            installing: Vec::new(),
            tree: None,
            programs: Vec::new(),
            ids: HashMap::new(),
            moves: Moves::default(),
        }
    }

    /// Takes what happened next; puts into a call what its descriptors referred to.
    pub fn observe(&mut self, observation: &mut Observation) {
        match observation {
            Observation::Entered {
                actor,
                abi,
                number,
                entry,
                is_answered,
            } => match is_answered {
                // It will not be made.
                true => {}
                false => self.entered(actor, *abi, *number, entry),
            },
            Observation::Call(call) if call.injected.answer.is_some() => self.answered(call),
            Observation::Call(call) => self.called(call),
            Observation::Born {
                child,
                parent,
                shares,
            } => self.born(child, *parent, *shares),
            Observation::Executed(actor) => self.executed(actor),
            Observation::Gone(thread) => self.gone(*thread),
            Observation::Named { thread, id } => {
                let of_id = self.ids.entry(*id as u32).or_default();
                of_id.push(*thread);
            }
            Observation::Global { .. }
            | Observation::Starting(..)
            | Observation::Vanished(_)
            | Observation::OutOfSight(_) => {}
        }
    }

    pub(super) fn plan(&self, abi: Abi, number: i32) -> Option<Plan> {
        let plan = calls::plan(abi, number);
        let matters = plan.descriptors != 0
            || plan.effect != calls::Effect::None
            || plan.commands.is_some()
            || plan.in_memory
            || plan.moves
            || (self.watched.paths && !plan.paths.is_empty())
            || (self.tree.is_some() && changes_names(abi, number));
        matters.then_some(plan)
    }

    fn entered(&mut self, actor: &Actor, abi: Abi, number: i32, entry: &Entry) {
        let Some(plan) = self.plan(abi, number).filter(|_| self.watched.complete) else {
            return;
        };
        let Some(at) = self.at(actor.thread) else {
            return;
        };
        let mut pending = self.pending(at, plan, (abi, number), entry);
        self.reaches(at, names::name_of(abi, number), &mut pending);
        self.begin(at, plan, (abi, number), &mut pending);
        if plan.moves {
            self.moves.enter();
        }
        if let Some(thread) = self.thread(actor.thread) {
            thread.is_seen = true;
            thread.pending = Some(pending);
        }
    }

    fn called(&mut self, call: &mut Call) {
        let Some(mut plan) = self.plan(call.abi, call.number) else {
            return;
        };
        let at = self.at(call.actor.thread).filter(|_| self.watched.complete);
        let pending = self.thread(call.actor.thread).and_then(|thread| {
            let pending = thread.pending.take();
            pending.filter(|pending| made_as(pending.call.0, pending.call.1) == call.made_as())
        });
        let (Some(at), Some(mut pending)) = (at, pending) else {
            for (place, _) in descriptors(plan, call.entry.args()) {
                call.files.set_argument(place, State::Unknown);
            }
            call.files.set_result(State::Unknown);
            in_memory::unknown(call);
            if plan.effect == calls::Effect::Executes {
                self.runs(call.actor.thread, UNKNOWN_PROGRAM);
            }
            return;
        };
        let is_late = pending.call != (call.abi, call.number);
        if is_late {
            pending = self.told_late(at, plan, call, pending);
        } else if plan.moves {
            self.moves.end();
        }
        call.files = std::mem::take(&mut pending.files);
        if is_late && plan.in_memory && self.is_shared(at) {
            in_memory::unknown(call);
            plan.in_memory = false;
        }
        self.name_paths(at, call, plan, pending.version);
        pending.walks = self.walks(at, call, plan.paths, &pending);
        self.tells_code(at, call, &pending);
        self.renames(at, call, &pending);
        self.end(at, plan, pending, call);
        self.reached_result(call);
    }

    /// The entry of a call of which was not known then what it stands for. What its descriptors
    /// refer to now may have changed since, if another thread did anything to them.
    fn told_late(&mut self, at: At, plan: Plan, call: &Call, entered: Pending) -> Pending {
        let table = self.tables.get_mut(at.table);
        table.map_or_else(Vec::new, |table| table.land(at.thread));
        let made = (call.abi, call.number);
        let mut pending = self.pending(at, plan, made, &call.entry);
        self.reaches(at, call.form(), &mut pending);
        let Pending {
            version,
            moves,
            since,
            ..
        } = entered;
        (pending.version, pending.moves, pending.since) = (version, moves, since);
        if self.is_shared(at) {
            for (place, _) in descriptors(plan, call.entry.args()) {
                pending.files.set_argument(place, State::Unknown);
            }
            pending.first = pending.first.map(|_| Number::Unknown);
        }
        pending
    }

    /// Puts into a call the absolute paths of its arguments, where these are watched.
    pub(super) fn name_paths(&self, at: At, call: &mut Call, plan: Plan, version: Option<u64>) {
        if !self.watched.paths {
            return;
        }
        for argument in plan.paths {
            if let Some(path) = self.path(at, call, *argument, version) {
                call.files.add_path(argument.path, path);
            }
        }
    }

    pub(super) fn thread(&mut self, thread: ThreadId) -> Option<&mut Thread> {
        self.threads.get_mut(thread.0 as usize)?.as_deref_mut()
    }

    pub(super) fn at(&self, thread: ThreadId) -> Option<At> {
        let known = self.threads.get(thread.0 as usize)?.as_deref()?;
        Some(At {
            thread,
            table: known.table,
            directory: known.directory,
        })
    }

    /// What a number of a thread refers to at this moment.
    pub(super) fn look(&self, at: At, number: u32) -> Number {
        if !self.installing.is_empty() {
            return Number::Unknown;
        }
        let Some(table) = self.tables.get(at.table) else {
            return Number::Unknown;
        };
        let slot = table.get(number);
        let in_doubt = |table: &Table| table.is_in_doubt(number, &slot, at.thread);
        let is_doubtful = match table.group {
            None => in_doubt(table),
            Some(_) => self
                .tables
                .iter()
                .any(|(_, other)| other.group == table.group && in_doubt(other)),
        };
        if is_doubtful { Number::Unknown } else { slot }
    }

    /// A new description. A path has the ordinal that is free in its table; both ends of a pipe are
    /// one thing.
    pub(super) fn describe(
        &mut self,
        kind: FileKind,
        ordinal: u32,
        other_end: Option<&Description>,
    ) -> Arc<Description> {
        let id = self.n_descriptions;
        self.n_descriptions += 1;
        let mut file = OpenFile {
            id,
            thing: id,
            ordinal,
            place: kind.place(),
            direct: Direct::default(),
            kind,
        };
        if let Some(other) = other_end.map(Description::now) {
            (file.thing, file.ordinal) = (other.thing, other.ordinal);
        } else if let Some(class) = file.class() {
            let made = self.made.entry(class).or_default();
            *made += 1;
            file.ordinal = *made;
        }
        Description::new(file)
    }

    /// Notes a call that has not returned.
    pub(super) fn fly(&mut self, at: At, doing: Doing) {
        let disturbed = match self.tables.get(at.table) {
            // What others were doing before may still come to pass in between.
            Some(table) if matches!(doing, Doing::Copies | Doing::Looks) => {
                table.unfinished(at.thread)
            }
            _ => Vec::new(),
        };
        if let Some(table) = self.tables.get_mut(at.table) {
            table.flights.push(Flight {
                thread: at.thread,
                doing,
                disturbed,
            });
        }
    }

    /// Changes a table, and notes the changed numbers in it and in the tables that may be the same
    /// one.
    pub(super) fn change(&mut self, at: At, range: Range, change: impl FnOnce(&mut Table)) {
        let Some(table) = self.tables.get_mut(at.table) else {
            return;
        };
        change(table);
        table.disturb(range, at.thread);
        let Some(group) = table.group else { return };
        for (key, other) in self.tables.iter_mut() {
            if other.group == Some(group) && key != at.table {
                other.forget(range);
                other.disturb(range, at.thread);
            }
        }
    }

    /// Numbers that are not known as open may have become so.
    pub(super) fn forget_closed(&mut self, at: At) {
        let group = self.tables.get(at.table).and_then(|table| table.group);
        for (key, table) in self.tables.iter_mut() {
            if key == at.table || (group.is_some() && table.group == group) {
                table.forget_closed();
            }
        }
    }

    pub(super) fn new_group(&mut self) -> u32 {
        self.n_groups += 1;
        self.n_groups - 1
    }
}

fn changes_names(abi: Abi, number: i32) -> bool {
    names::name_of(abi, number).is_some_and(|name| tree::change(name).is_some())
}

/// The arguments of a call that are descriptors and not negative.
pub(super) fn descriptors(
    plan: Plan,
    args: Option<&[u64; 6]>,
) -> impl Iterator<Item = (usize, u32)> {
    let args = args.copied().unwrap_or([u64::MAX; 6]);
    let by_command = plan.commands.map(|commands| commands.descriptors(&args));
    let all = plan.descriptors | by_command.unwrap_or_default();
    let marked = (0..6usize).filter(move |place| all & (1u8.wrapping_shl(*place as u32)) != 0);
    marked.filter_map(move |place| {
        let number = *args.get(place)? as i32;
        Some((place, u32::try_from(number).ok()?))
    })
}
