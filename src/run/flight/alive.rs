//! Which tasks live, with their names, threads and code: the sum of the records of names, forks,
//! exits and mappings.

use perf_live::host::{CodeMapping, Living, LivingThread};
use perf_records::record::{Comm, Map, MappedFile, Record, Task};
use perf_records::units::{Pid, Tid};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// How many mappings of code are kept of a process. No record tells that a mapping was removed, and
/// a program that generates code makes ever more of them; none has more than this at a time
/// (`vm.max_map_count`).
const MOST_MAPPINGS: usize = 65_536;

/// How many of the threads that ended last are remembered. The kernel tells of an exit before the
/// thread has done its last: after that (`perf_event_exit_task()` in `do_exit()`) it wakes its
/// parent and gives up its CPU, and samples tell of both.
const MOST_ENDED: usize = 256;

/// The tasks that live at a moment. Of dead ones only the last few are kept, so that memory is
/// bounded by the living.
#[derive(Debug, Default)]
pub(super) struct Alive {
    processes: BTreeMap<Pid, Process>,
    threads: BTreeMap<Tid, Thread>,
    /// The threads that ended last, the latest at the back.
    ended: VecDeque<(Tid, Thread)>,
}

#[derive(Debug)]
struct Thread {
    of: Pid,
    name: Arc<[u8]>,
}

#[derive(Debug)]
struct Process {
    parent: Pid,
    threads: BTreeSet<Tid>,
    /// Shared with the parent until the process maps something itself.
    code: Arc<Code>,
}

/// Mappings by their first address.
#[derive(Clone, Debug, Default)]
struct Code(BTreeMap<u64, CodeMapping>);

impl Code {
    /// Replaces the mappings in the range of a new one, as `mmap(2)` does; the rest of them stays.
    fn map(&mut self, new: CodeMapping) {
        let (start, end) = new.range;
        let overlaps = self.0.range(..end).rev();
        let hit: Vec<u64> = overlaps
            .take_while(|(_, old)| old.range.1 > start)
            .map(|(place, _)| *place)
            .collect();
        for place in hit {
            let Some(old) = self.0.remove(&place) else {
                continue;
            };
            if old.range.0 < start && old.range.1 > start {
                let range = (old.range.0, start);
                let left = CodeMapping {
                    range,
                    ..old.clone()
                };
                self.0.insert(range.0, left);
            }
            if old.range.1 > end && old.range.0 < end {
                let offset = old.offset.saturating_add(end.saturating_sub(old.range.0));
                let range = (end, old.range.1);
                let right = CodeMapping {
                    range,
                    offset,
                    ..old
                };
                self.0.insert(end, right);
            }
        }
        if self.0.len() >= MOST_MAPPINGS {
            // Code without a file has no symbols to look up.
            self.0.retain(|_, code| code.name != "//anon");
        }
        if self.0.len() >= MOST_MAPPINGS {
            self.0.pop_first();
        }
        self.0.insert(start, new);
    }
}

impl Alive {
    /// Begins with these living processes.
    pub(super) fn begin(living: &[Living]) -> Self {
        let mut all = Self::default();
        for process in living {
            let code = process.code.iter().map(|code| (code.range.0, code.clone()));
            let threads = process.threads.iter();
            all.processes.insert(
                process.pid,
                Process {
                    parent: process.parent,
                    threads: threads.clone().map(|thread| thread.tid).collect(),
                    code: Arc::new(Code(code.collect())),
                },
            );
            all.threads.extend(threads.map(|thread| {
                let name = thread.name.as_slice().into();
                let of = process.pid;
                (thread.tid, Thread { of, name })
            }));
        }
        all
    }

    /// Takes the next record by time.
    pub(super) fn fold(&mut self, record: &Record<'_>) {
        match record {
            Record::Comm(comm, _) => self.name(comm),
            Record::Fork(task, _) => self.fork(*task),
            Record::Exit(task, _) => self.exit(task.tid),
            Record::Map(map, _) if !map.is_data => self.map(map),
            _ => {}
        }
    }

    /// Returns the living processes.
    pub(super) fn living(&self) -> Vec<Living> {
        let living = |(pid, process): (&Pid, &Process)| {
            let thread = |tid: &Tid| {
                let thread = self.threads.get(tid)?;
                let name = thread.name.to_vec();
                Some(LivingThread { tid: *tid, name })
            };
            Living {
                pid: *pid,
                parent: process.parent,
                threads: process.threads.iter().filter_map(thread).collect(),
                code: process.code.0.values().cloned().collect(),
            }
        };
        self.processes.iter().map(living).collect()
    }

    /// Returns the threads that ended last and that records may still tell of, each by itself and
    /// without code.
    pub(super) fn ended(&self) -> Vec<Living> {
        let alone = |(tid, thread): &(Tid, Thread)| Living {
            pid: thread.of,
            parent: Pid(0),
            threads: vec![LivingThread {
                tid: *tid,
                name: thread.name.to_vec(),
            }],
            code: Vec::new(),
        };
        self.ended.iter().map(alone).collect()
    }

    fn name(&mut self, comm: &Comm<'_>) {
        if comm.exec {
            // All other threads are dead, and the thread that called execve has taken the leader's
            // id.
            let old = self.processes.get(&comm.pid);
            let threads: Vec<Tid> = old.iter().flat_map(|old| old.threads.clone()).collect();
            let parent = old.map_or(Pid(0), |old| old.parent);
            for tid in threads {
                self.threads.remove(&tid);
            }
            let process = Process {
                parent,
                threads: BTreeSet::new(),
                code: Arc::default(),
            };
            self.processes.insert(comm.pid, process);
        }
        self.add(comm.pid, comm.tid, Pid(0), comm.name.into());
    }

    fn fork(&mut self, task: Task) {
        // The record of the end of the id's former task is missing.
        self.exit(task.tid);
        let creator = self.threads.get(&task.parent_tid);
        let name = creator.map(|creator| Arc::clone(&creator.name));
        self.add(
            task.pid,
            task.tid,
            task.parent_pid,
            name.unwrap_or_default(),
        );
        if task.pid != task.parent_pid
            && let Some(code) = self.processes.get(&task.parent_pid)
            && let code = Arc::clone(&code.code)
            && let Some(process) = self.processes.get_mut(&task.pid)
        {
            process.code = code;
        }
    }

    fn add(&mut self, of: Pid, tid: Tid, parent: Pid, name: Arc<[u8]>) {
        let process = self.processes.entry(of).or_insert_with(|| Process {
            parent,
            threads: BTreeSet::new(),
            code: Arc::default(),
        });
        process.threads.insert(tid);
        self.ended.retain(|(old, _)| *old != tid);
        self.threads.insert(tid, Thread { of, name });
    }

    fn exit(&mut self, tid: Tid) {
        let Some(thread) = self.threads.remove(&tid) else {
            return;
        };
        if let Some(process) = self.processes.get_mut(&thread.of) {
            process.threads.remove(&tid);
            if process.threads.is_empty() {
                self.processes.remove(&thread.of);
            }
        }
        if self.ended.len() >= MOST_ENDED {
            self.ended.pop_front();
        }
        self.ended.push_back((tid, thread));
    }

    fn map(&mut self, map: &Map<'_>) {
        // The kernel's own mapping.
        if map.pid == Pid(u32::MAX) {
            return;
        }
        // An unknown process began before the first record.
        if !self.processes.contains_key(&map.pid) {
            self.add(map.pid, map.tid, Pid(0), Arc::default());
        }
        let Some(process) = self.processes.get_mut(&map.pid) else {
            return;
        };
        let more = map.more;
        let (device, inode) = match more.map(|more| more.file) {
            Some(MappedFile::Inode {
                major,
                minor,
                inode,
                ..
            }) => ((major, minor), inode),
            _ => ((0, 0), 0),
        };
        Arc::make_mut(&mut process.code).map(CodeMapping {
            range: (map.address, map.address.saturating_add(map.length)),
            protection: more.map_or(0, |more| more.protection),
            flags: more.map_or(0, |more| more.flags),
            offset: map.offset,
            device,
            inode,
            name: String::from_utf8_lossy(map.name).into_owned(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_records::record::SampleId;
    use perf_records::units::Nanos;

    fn comm(pid: u32, tid: u32, name: &'static str, exec: bool) -> Record<'static> {
        let comm = Comm {
            pid: Pid(pid),
            tid: Tid(tid),
            name: name.as_bytes(),
            exec,
        };
        Record::Comm(comm, SampleId::default())
    }

    fn task(pid: u32, tid: u32, parent: u32) -> Task {
        Task {
            pid: Pid(pid),
            parent_pid: Pid(parent),
            tid: Tid(tid),
            parent_tid: Tid(parent),
            time: Nanos(0),
        }
    }

    fn fork(pid: u32, tid: u32, parent: u32) -> Record<'static> {
        Record::Fork(task(pid, tid, parent), SampleId::default())
    }

    fn exit(pid: u32, tid: u32) -> Record<'static> {
        Record::Exit(task(pid, tid, 1), SampleId::default())
    }

    fn map(pid: u32, range: (u64, u64), name: &'static str) -> Record<'static> {
        let map = Map {
            pid: Pid(pid),
            tid: Tid(pid),
            address: range.0,
            length: range.1 - range.0,
            offset: 0,
            name: name.as_bytes(),
            is_data: false,
            more: None,
        };
        Record::Map(map, SampleId::default())
    }

    /// `pid<parent tid=name.. range=file+offset..`, one a process.
    fn shown(alive: &Alive) -> Vec<String> {
        let living = alive.living().into_iter().map(|process| {
            let threads = process.threads.iter().map(|thread| {
                let name = String::from_utf8_lossy(&thread.name).into_owned();
                format!(" {}={name}", thread.tid)
            });
            let code = process.code.iter().map(|code| {
                let (from, to) = code.range;
                format!(" {from}-{to}={}+{}", code.name, code.offset)
            });
            let all: String = threads.chain(code).collect();
            format!("{}<{}{all}", process.pid, process.parent)
        });
        living.collect()
    }

    fn fold(records: &[Record<'_>]) -> Alive {
        let mut alive = Alive::default();
        for record in records {
            alive.fold(record);
        }
        alive
    }

    #[test]
    fn a_child_has_its_parents_name_and_code_until_it_has_its_own() {
        let mut alive = fold(&[
            comm(7, 7, "sh", true),
            map(7, (10, 20), "/sh"),
            fork(8, 8, 7),
            fork(9, 9, 7),
            map(9, (30, 40), "/lib"),
            comm(8, 8, "cat", true),
            map(8, (50, 60), "/cat"),
        ]);
        let all = [
            "7<0 7=sh 10-20=/sh+0",
            "8<7 8=cat 50-60=/cat+0",
            "9<7 9=sh 10-20=/sh+0 30-40=/lib+0",
        ];
        assert_eq!(shown(&alive), all);
        for pid in [7, 8] {
            alive.fold(&exit(pid, pid));
        }
        assert_eq!(shown(&alive), all[2..]);
    }

    #[test]
    fn a_process_lives_as_long_as_one_of_its_threads() {
        let mut alive = fold(&[
            comm(7, 7, "main", true),
            fork(7, 8, 7),
            comm(7, 8, "worker", false),
            exit(7, 7),
        ]);
        assert_eq!(shown(&alive), ["7<0 8=worker"]);
        alive.fold(&exit(7, 8));
        assert_eq!((shown(&alive).len(), alive.threads.len()), (0, 0));
    }

    #[test]
    fn a_thread_that_executes_a_program_is_the_leader_from_then_on() {
        let alive = fold(&[
            comm(7, 7, "main", true),
            map(7, (10, 20), "/main"),
            fork(7, 8, 7),
            fork(7, 9, 7),
            exit(7, 7),
            exit(7, 9),
            comm(7, 7, "next", true),
            map(7, (50, 60), "/next"),
        ]);
        assert_eq!(shown(&alive), ["7<0 7=next 50-60=/next+0"]);
    }

    #[test]
    fn an_id_that_is_there_again_is_somebody_else() {
        let alive = fold(&[
            comm(7, 7, "a", true),
            map(7, (10, 20), "/a"),
            comm(8, 8, "b", true),
            // The end of 7 was lost.
            fork(7, 7, 8),
        ]);
        assert_eq!(shown(&alive), ["7<8 7=b", "8<0 8=b"]);
    }

    #[test]
    fn what_is_mapped_over_others_leaves_what_it_does_not_cover() {
        let alive = fold(&[
            comm(7, 7, "a", true),
            map(7, (10, 20), "/a"),
            map(7, (20, 30), "/b"),
            map(7, (40, 60), "/c"),
            map(7, (15, 25), "/d"),
            map(7, (45, 50), "/e"),
            map(7, (45, 50), "/f"),
        ]);
        let mappings = "7<0 7=a 10-15=/a+0 15-25=/d+0 25-30=/b+5 40-45=/c+0 45-50=/f+0 50-60=/c+10";
        assert_eq!(shown(&alive), [mappings]);
    }

    #[test]
    fn hours_of_forks_leave_nothing_behind() {
        let mut alive = fold(&[comm(1, 1, "sh", true), map(1, (10, 20), "/sh")]);
        let before = shown(&alive);
        for pid in (2..1000).chain(2..1000) {
            alive.fold(&fork(pid, pid, 1));
            alive.fold(&comm(pid, pid, "true", true));
            alive.fold(&map(pid, (10, 20), "/true"));
            alive.fold(&exit(pid, pid));
        }
        assert_eq!(shown(&alive), before);
        assert_eq!((alive.processes.len(), alive.threads.len()), (1, 1));
        assert_eq!(alive.ended().len(), MOST_ENDED);
    }

    #[test]
    fn a_thread_that_ended_keeps_its_name_until_its_id_is_anothers() {
        let mut alive = fold(&[comm(7, 7, "sh", true), fork(8, 8, 7), exit(8, 8)]);
        let names = |alive: &Alive| -> Vec<(u32, Vec<u8>)> {
            let ended = alive.ended();
            let threads = ended.iter().flat_map(|process| &process.threads);
            threads.map(|it| (it.tid.0, it.name.clone())).collect()
        };
        assert_eq!(names(&alive), [(8, b"sh".to_vec())]);
        alive.fold(&fork(8, 8, 7));
        assert_eq!(names(&alive), []);
    }

    #[test]
    fn code_that_is_made_as_it_goes_is_bounded_and_takes_no_files_place() {
        let mut alive = fold(&[comm(1, 1, "java", true), map(1, (1, 9), "/java")]);
        for at in 1..(MOST_MAPPINGS as u64 + 9) {
            alive.fold(&map(1, (at * 10, at * 10 + 5), "//anon"));
        }
        let code = &alive.living()[0].code;
        assert_eq!((code[0].name.as_str(), code.len()), ("/java", 10));
        for at in 1..(MOST_MAPPINGS as u64 + 9) {
            alive.fold(&map(1, (at * 10, at * 10 + 5), "/file"));
        }
        assert_eq!(alive.living()[0].code.len(), MOST_MAPPINGS);
    }

    #[test]
    fn who_lived_before_lives_on() {
        let host = perf_live::host::Host::running();
        let living = host.living(Pid(std::process::id())).unwrap();
        let alive = Alive::begin(std::slice::from_ref(&living));
        assert_eq!(alive.living(), [living]);
    }
}
