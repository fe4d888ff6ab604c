//! Which processes live in a run and which created which, by the records of forks, execs and ends.
//!
//! A process begins with the record of the thread that makes it, and lives until the last of its
//! threads has ended. Its creator is the process that made the call, with the command line of that
//! moment: not the one that adopted it later, nor with what the creator executed since.

use super::call::{Call, Observation, Outcome, ThreadId};
use crate::memory::State;
use perf_records::record::{Comm, Task};
use perf_records::units::{Nanos, Pid, Tid};
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

/// Bytes of a command line that are kept of each process; the rest of it is dropped.
const LONGEST_COMMAND: usize = 4096;

/// The processes of one run.
#[derive(Debug, Default)]
pub struct Lineage {
    /// In the order of their creation.
    living: BTreeMap<u32, Process>,
    by_pid: HashMap<Pid, u32>,
    /// Those whose id in their own namespace is not told yet, by their first thread.
    unnamed: HashMap<ThreadId, Rc<Identity>>,
    n_processes: u32,
    init: Option<Pid>,
    main: Option<Rc<Identity>>,
}

/// What a process is known by, also when it is dead and its children are not.
#[derive(Debug)]
struct Identity {
    pid: Pid,
    id: Cell<Option<i32>>,
}

#[derive(Debug)]
struct Process {
    identity: Rc<Identity>,
    started: Option<Nanos>,
    command: Rc<[String]>,
    threads: HashSet<Tid>,
    parent: Option<(Rc<Identity>, Rc<[String]>)>,
}

/// A living process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Living {
    /// Its id where the harness lives.
    pub pid: Pid,
    /// The id that its creator knows it by, in its own namespace; `None` where no record told yet.
    pub id: Option<i32>,
    /// When it was created; `None` where no record told.
    pub started: Option<Nanos>,
    /// Whether it is the main process.
    pub is_main: bool,
    /// What it executed last, or its creator before the fork. The name in brackets where the
    /// arguments were not read, and empty where nothing is known.
    pub command: Vec<String>,
    /// Its creator, with the command line of that moment; `None` for the main process.
    pub creator: Option<Creator>,
}

/// The creator of a process, dead or alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Creator {
    /// Its id where the harness lives.
    pub pid: Pid,
    /// Its id in its own namespace; `None` where no record told yet.
    pub id: Option<i32>,
    /// What it had executed when it created the other.
    pub command: Vec<String>,
}

impl Lineage {
    /// Begins without processes. The processes that `init` makes have no creator.
    #[must_use]
    pub fn new(init: Option<Pid>) -> Self {
        Self {
            init,
            ..Self::default()
        }
    }

    /// Returns the living processes, in the order of creation, without the namespace's init.
    #[must_use]
    pub fn living(&self) -> Vec<Living> {
        let is_main = |process: &Process| {
            let main = self.main.as_ref();
            main.is_some_and(|main| Rc::ptr_eq(main, &process.identity))
        };
        let members = self.living.values();
        members
            .map(|process| Living {
                pid: process.identity.pid,
                id: process.identity.id.get(),
                started: process.started,
                is_main: is_main(process),
                command: process.command.to_vec(),
                creator: process.creator(),
            })
            .collect()
    }

    /// The main process' id in its own namespace, which no record tells.
    pub fn name_main(&self, id: i32) {
        if let Some(main) = &self.main {
            main.id.set(Some(id));
        }
    }

    /// `PERF_RECORD_FORK`.
    pub fn fork(&mut self, task: &Task) {
        if task.pid == task.parent_pid {
            if let Some(process) = self.process(task.pid) {
                process.threads.insert(task.tid);
            }
            return;
        }
        let creator = self
            .process(task.parent_pid)
            .map(|creator| (Rc::clone(&creator.identity), Rc::clone(&creator.command)));
        // Its memory is its creator's until it executes something, and so is its command line.
        let command = creator.as_ref().map(|(_, command)| Rc::clone(command));
        let is_of_init = Some(task.parent_pid) == self.init;
        let process = Process {
            identity: Rc::new(Identity {
                pid: task.pid,
                id: Cell::new(None),
            }),
            started: Some(task.time),
            command: command.unwrap_or_default(),
            threads: HashSet::from([task.tid]),
            parent: creator.filter(|_| !is_of_init),
        };
        self.insert(process);
    }

    /// `PERF_RECORD_EXIT`, of a thread that has ended and not only gone out of sight.
    pub fn exit(&mut self, task: &Task) {
        let Some(process) = self.process(task.pid) else {
            return;
        };
        process.threads.remove(&task.tid);
        if process.threads.is_empty()
            && let Some(number) = self.by_pid.remove(&task.pid)
        {
            self.living.remove(&number);
        }
    }

    /// `PERF_RECORD_COMM`. The first program that is executed is the main process'.
    pub fn comm(&mut self, comm: &Comm<'_>) {
        if !comm.exec || Some(comm.pid) == self.init {
            return;
        }
        self.know(comm.pid, comm.tid);
        if let Some(process) = self.process(comm.pid) {
            // An exec leaves one thread, with the leader's id.
            process.threads = HashSet::from([comm.tid]);
            process.command = [format!("[{}]", String::from_utf8_lossy(comm.name))].into();
            let identity = Rc::clone(&process.identity);
            self.main.get_or_insert(identity);
        }
    }

    /// What else came out of the records: ids by the results of calls, and the arguments of
    /// programs.
    pub fn observe(&mut self, observation: &Observation) {
        match observation {
            Observation::Born { child, parent, .. } => {
                if parent.is_none() && Some(child.pid) != self.init {
                    self.know(child.pid, child.tid);
                }
                if child.pid.0 == child.tid.0
                    && let Some(process) = self.process(child.pid)
                {
                    let identity = Rc::clone(&process.identity);
                    self.unnamed.insert(child.thread, identity);
                }
            }
            Observation::Named { thread, id } => {
                if let Some(identity) = self.unnamed.remove(thread) {
                    identity.id.set(Some(*id));
                }
            }
            Observation::Gone(thread) => {
                // The call that made it may return after its end; by then only a process that has
                // children is asked for.
                let is_asked_for = |identity: &mut Rc<Identity>| Rc::strong_count(identity) > 1;
                if !self.unnamed.get_mut(thread).is_some_and(is_asked_for) {
                    self.unnamed.remove(thread);
                }
            }
            Observation::Call(call) if call.injected.answer.is_none() => {
                if let Some(command) = executed(call)
                    && let Some(process) = self.process(call.actor.pid)
                {
                    process.command = command;
                }
            }
            _ => {}
        }
    }

    /// A process that no fork announced.
    fn know(&mut self, pid: Pid, tid: Tid) {
        if self.by_pid.contains_key(&pid) {
            return;
        }
        self.insert(Process {
            identity: Rc::new(Identity {
                pid,
                id: Cell::new(None),
            }),
            started: None,
            command: Rc::default(),
            threads: HashSet::from([tid]),
            parent: None,
        });
    }

    fn insert(&mut self, process: Process) {
        let number = self.n_processes;
        self.n_processes += 1;
        // The process that had this id has ended, though no record said so.
        if let Some(stale) = self.by_pid.insert(process.identity.pid, number) {
            self.living.remove(&stale);
        }
        self.living.insert(number, process);
    }

    fn process(&mut self, pid: Pid) -> Option<&mut Process> {
        self.living.get_mut(self.by_pid.get(&pid)?)
    }
}

impl Process {
    fn creator(&self) -> Option<Creator> {
        let (creator, command) = self.parent.as_ref()?;
        Some(Creator {
            pid: creator.pid,
            id: creator.id.get(),
            command: command.to_vec(),
        })
    }
}

/// The arguments of a call that has executed a program, where they were read.
fn executed(call: &Call) -> Option<Rc<[String]>> {
    if !matches!(call.outcome, Outcome::Returned { value: 0, .. }) {
        return None;
    }
    let arguments = match call.name()? {
        "execve" => 1,
        "execveat" => 2,
        _ => return None,
    };
    let mut room = LONGEST_COMMAND;
    let words: Rc<[String]> = call
        .memory
        .strings(arguments)
        .take_while(|piece| matches!(piece.state, State::Whole | State::Cut))
        .map_while(|piece| {
            room = room.checked_sub(piece.bytes.len() + 1)?;
            Some(String::from_utf8_lossy(&piece.bytes).into_owned())
        })
        .collect();
    (!words.is_empty()).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Files;
    use crate::memory::{Memory, Moment, Piece};
    use crate::names::Abi;
    use crate::{Actor, Entry, Shares, ShortName};

    const INIT: u32 = 1;
    const MAIN: u32 = 10;

    /// A lineage in which the main process runs.
    fn run() -> Lineage {
        let mut lineage = Lineage::new(Some(Pid(INIT)));
        fork(&mut lineage, INIT, MAIN, MAIN);
        exec(&mut lineage, MAIN, MAIN, &["main", "x"]);
        lineage.name_main(2);
        lineage
    }

    fn task(parent: u32, pid: u32, tid: u32) -> Task {
        Task {
            pid: Pid(pid),
            parent_pid: Pid(parent),
            tid: Tid(tid),
            parent_tid: Tid(parent),
            time: Nanos(u64::from(tid)),
        }
    }

    fn actor(pid: u32, tid: u32) -> Actor {
        Actor {
            thread: ThreadId(tid),
            pid: Pid(pid),
            tid: Tid(tid),
            comm: ShortName::new(b"x"),
        }
    }

    fn fork(lineage: &mut Lineage, parent: u32, pid: u32, tid: u32) {
        lineage.fork(&task(parent, pid, tid));
        lineage.observe(&Observation::Born {
            child: actor(pid, tid),
            parent: Some(ThreadId(parent)),
            shares: Shares::default(),
        });
    }

    fn name(lineage: &mut Lineage, tid: u32, id: i32) {
        let thread = ThreadId(tid);
        lineage.observe(&Observation::Named { thread, id });
    }

    fn exit(lineage: &mut Lineage, pid: u32, tid: u32) {
        lineage.exit(&task(INIT, pid, tid));
        lineage.observe(&Observation::Gone(ThreadId(tid)));
    }

    fn exec(lineage: &mut Lineage, pid: u32, tid: u32, words: &[&str]) {
        let (pid, tid) = (Pid(pid), Tid(tid));
        let name = b"name";
        let exec = true;
        lineage.comm(&Comm {
            pid,
            tid,
            name,
            exec,
        });
        let piece = |(element, word): (u16, &&str)| Piece {
            argument: 1,
            element,
            moment: Moment::Enter,
            address: 0,
            state: State::Whole,
            bytes: word.as_bytes().into(),
        };
        let call = Call {
            actor: actor(pid.0, tid.0),
            abi: Abi::native(),
            number: libc::SYS_execve as i32,
            entry: Entry::Uncorking,
            outcome: Outcome::Returned {
                time: Nanos(0),
                value: 0,
            },
            memory: Memory::new((0..).zip(words).map(piece).collect()),
            files: Files::default(),
            places: Default::default(),
            injected: Default::default(),
        };
        lineage.observe(&Observation::Call(call));
    }

    /// `id command < id command of the creator`, in the order of creation.
    fn told(lineage: &Lineage) -> Vec<String> {
        let id = |id: Option<i32>| id.map_or("?".to_owned(), |id| id.to_string());
        let living = lineage.living();
        living
            .iter()
            .map(|one| {
                let main = if one.is_main { "main " } else { "" };
                let creator = one
                    .creator
                    .as_ref()
                    .map(|creator| format!(" < {} {}", id(creator.id), creator.command.join(" ")));
                let creator = creator.unwrap_or_default();
                format!("{main}{} {}{creator}", id(one.id), one.command.join(" "))
            })
            .collect()
    }

    #[test]
    fn the_main_process_is_the_first_that_executes_something() {
        assert_eq!(told(&run()), ["main 2 main x"]);
        let mut without_fork = Lineage::new(None);
        exec(&mut without_fork, MAIN, MAIN, &[]);
        assert_eq!(told(&without_fork), ["main ? [name]"]);
    }

    #[test]
    fn a_daemon_is_its_creators_when_that_one_is_dead() {
        let mut lineage = run();
        fork(&mut lineage, MAIN, 11, 11);
        // It forks before the call returns that made it.
        fork(&mut lineage, 11, 12, 12);
        name(&mut lineage, 11, 3);
        name(&mut lineage, 12, 4);
        exit(&mut lineage, 11, 11);
        exec(&mut lineage, 12, 12, &["sleep", "9"]);
        exit(&mut lineage, MAIN, MAIN);
        assert_eq!(told(&lineage), ["4 sleep 9 < 3 main x"]);
    }

    #[test]
    fn an_id_that_is_told_when_its_owner_is_dead_is_told_to_its_children() {
        let mut lineage = run();
        fork(&mut lineage, MAIN, 11, 11);
        fork(&mut lineage, 11, 12, 12);
        exit(&mut lineage, 11, 11);
        assert_eq!(told(&lineage), ["main 2 main x", "? main x < ? main x"]);
        name(&mut lineage, 11, 3);
        assert_eq!(told(&lineage), ["main 2 main x", "? main x < 3 main x"]);
    }

    #[test]
    fn what_a_creator_executes_later_is_not_what_it_was() {
        let mut lineage = run();
        fork(&mut lineage, MAIN, 11, 11);
        exec(&mut lineage, MAIN, MAIN, &["other"]);
        assert_eq!(told(&lineage), ["main 2 other", "? main x < 2 main x"]);
    }

    #[test]
    fn a_process_lives_until_its_last_thread_has_ended() {
        let mut lineage = run();
        fork(&mut lineage, MAIN, MAIN, 11);
        exit(&mut lineage, MAIN, MAIN);
        assert_eq!(told(&lineage).len(), 1);
        exit(&mut lineage, MAIN, 11);
        assert_eq!(told(&lineage), [""; 0]);
    }

    #[test]
    fn an_exec_by_another_thread_leaves_one_thread() {
        let mut lineage = run();
        fork(&mut lineage, MAIN, MAIN, 11);
        exit(&mut lineage, MAIN, MAIN);
        // No record tells of the end of the caller's own old id.
        exec(&mut lineage, MAIN, MAIN, &["other"]);
        assert_eq!(told(&lineage), ["main 2 other"]);
        exit(&mut lineage, MAIN, MAIN);
        assert_eq!(told(&lineage), [""; 0]);
    }

    #[test]
    fn an_id_that_comes_again_is_somebody_else() {
        let mut lineage = run();
        fork(&mut lineage, MAIN, 11, 11);
        exec(&mut lineage, 11, 11, &["stale"]);
        fork(&mut lineage, MAIN, 11, 11);
        assert_eq!(told(&lineage), ["main 2 main x", "? main x < 2 main x"]);
    }

    #[test]
    fn a_command_line_has_an_end() {
        let mut lineage = run();
        let long = "y".repeat(LONGEST_COMMAND - 10);
        exec(&mut lineage, MAIN, MAIN, &["a", &long, &long, "b"]);
        assert_eq!(told(&lineage), [format!("main 2 a {long}")]);
    }
}
