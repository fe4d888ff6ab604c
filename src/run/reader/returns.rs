//! Follows which calls of probed functions the kernel still waits for, as it leaves returns out.
//!
//! For each call of a function whose returns are probed the kernel keeps where it returns to, for
//! 64 calls of a thread at a time (`MAX_URETPROBE_DEPTH`, prepare_uretprobe() in
//! `kernel/events/uprobes.c`, Linux 5.10 to 7.2). The return of a further call has no record, and
//! no counter tells of it. Where the entries of the functions are recorded as well, they are
//! counted here by the kernel's own rules, jumps out of functions (`longjmp(3)`) included. Where
//! they are not, as in recordings of other tools, the returns alone say how deep calls may have
//! been nested: of a thread that unwound 64 frames, each with a return, deeper ones may be missing.

use super::Reader;
use crate::plan::{EventsPlan, Meaning};
use crate::run::halves::{stack_pointer, word};
use perf_live::events::UntoldReturns;
use perf_live::units::{ProbeKind, VFS_GETNAME};
use perf_records::record::{Record, Sample};
use perf_records::units::{Hashed, Pid, Tid};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The most calls of a thread whose returns the kernel waits for.
const MOST: usize = 64;

/// What the kernel puts in the place of a return address begins a page (`xol_area`).
const PAGE: u64 = 4096;

/// The calls of all threads that the kernel waits for.
#[derive(Debug)]
pub(super) struct Returns {
    /// For each event of the plan that is of returns, where its records have the function.
    functions: Vec<Option<usize>>,
    /// Whether the entries of all these functions are recorded.
    has_entries: bool,
    threads: HashMap<Tid, Thread, Hashed>,
    untold: BTreeMap<usize, Untold>,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    /// The calls that have not returned, the innermost last.
    pending: Vec<Pending>,
    /// Where entries are not recorded: the returns that may be of calls inside of one that returns
    /// later, the innermost last, each with how many were nested there.
    returned: Vec<(u64, usize)>,
}

/// A call that has not returned.
#[derive(Clone, Copy, Debug)]
struct Pending {
    /// The stack pointer where the function was entered.
    stack: u64,
    /// The function.
    function: u64,
    /// The request that told of it.
    by: usize,
}

/// Where returns of an event were left out, or may have been.
#[derive(Debug)]
struct Untold {
    first: (Pid, Tid),
    threads: BTreeSet<Tid>,
    /// `None` where the entries are not recorded.
    calls: Option<u64>,
}

/// A call of a probed function.
#[derive(Clone, Copy, Debug)]
struct Entry {
    call: Pending,
    /// Where it returns to.
    caller: u64,
}

impl Thread {
    /// Takes a call; returns whether the kernel will not tell its return.
    fn enter(&mut self, Entry { call, caller }: Entry) -> bool {
        let is_known = |top: &Pending| {
            (top.stack, top.function) == (call.stack, call.function) && top.by != call.by
        };
        // Several probes of one place: the kernel waits once.
        if self.pending.last().is_some_and(is_known) {
            return false;
        }
        // Before it forgets what will never return.
        if self.pending.len() >= MOST {
            return true;
        }
        // A function that was jumped to has the stack of the one that jumped
        // (arch_uretprobe_is_alive()), and returns to where the kernel waits.
        let is_chained = caller % PAGE == 0;
        let is_alive = |it: &Pending| call.stack < it.stack || is_chained && call.stack == it.stack;
        while self.pending.pop_if(|top| !is_alive(top)).is_some() {}
        self.pending.push(call);
        false
    }

    /// Takes a return, at which the stack pointer is `stack`.
    fn leave(&mut self, stack: u64) {
        // What calls pushed on x86 is taken from the stack by then.
        let has_left = |it: &mut Pending| match cfg!(target_arch = "aarch64") {
            true => it.stack <= stack,
            false => it.stack < stack,
        };
        while self.pending.pop_if(has_left).is_some() {}
    }

    /// Takes a return where no entries are known; returns how many nested ones it may complete.
    /// Without a stack pointer each may be around all that were before.
    fn nest(&mut self, stack: Option<u64>) -> usize {
        let mut nested = 1;
        while let Some((inner, n)) = self.returned.pop() {
            match stack {
                Some(stack) if inner > stack => {
                    self.returned.push((inner, n));
                    break;
                }
                // One that followed another from the same place.
                Some(stack) if inner == stack => nested = nested.max(n),
                _ => nested = nested.max(n.saturating_add(1)),
            }
        }
        self.returned.push((stack.unwrap_or_default(), nested));
        nested
    }
}

impl Returns {
    /// Returns `None` if the plan has no probe of returns.
    pub(super) fn of(plan: &EventsPlan) -> Option<Self> {
        let is_kernels = |name: &str| {
            let (system, _) = name.split_once(':').unwrap_or_default();
            system == ProbeKind::Kretprobe.word() || name == VFS_GETNAME
        };
        let functions = plan.named.iter().map(|planned| {
            let format = planned
                .format
                .as_ref()
                .filter(|_| !is_kernels(&planned.name))?;
            let function = format.field("__probe_func")?.offset;
            format.field("__probe_ret_ip").map(|_| function)
        });
        let functions: Vec<Option<usize>> = functions.collect();
        let has_entries = |of: usize| {
            let mut meanings = plan.meanings.iter();
            meanings.any(|it| matches!(it, Meaning::Entries { place, .. } if *place == of))
        };
        let mut places = (0..).zip(&functions);
        let has_entries = places.all(|(place, it)| it.is_none() || has_entries(place));
        functions.iter().any(Option::is_some).then(|| Self {
            functions,
            has_entries,
            threads: HashMap::default(),
            untold: BTreeMap::new(),
        })
    }

    /// Takes births, ends and programs: a process begins with copies of what the kernel waits for
    /// in the thread that made it (dup_utask()), and a program with nothing.
    pub(super) fn take(&mut self, record: &Record<'_>) {
        match record {
            Record::Comm(comm, _) if comm.exec => _ = self.threads.remove(&comm.tid),
            Record::Exit(task, _) => _ = self.threads.remove(&task.tid),
            Record::Fork(task, _) if task.pid != task.parent_pid => {
                let parent = self.threads.get(&task.parent_tid).cloned();
                match parent {
                    Some(thread) => _ = self.threads.insert(task.tid, thread),
                    None => _ = self.threads.remove(&task.tid),
                }
            }
            Record::Fork(task, _) => _ = self.threads.remove(&task.tid),
            _ => {}
        }
    }

    fn thread(&mut self, tid: Tid) -> &mut Thread {
        self.threads.entry(tid).or_default()
    }

    fn note(&mut self, place: usize, who: (Pid, Tid), is_certain: bool) {
        let untold = self.untold.entry(place).or_insert_with(|| Untold {
            first: who,
            threads: BTreeSet::new(),
            calls: Some(0),
        });
        untold.threads.insert(who.1);
        untold.calls = untold.calls.filter(|_| is_certain).map(|calls| calls + 1);
    }

    /// Returns where returns were left out, or may have been, an entry for each event.
    pub(super) fn untold(&self, plan: &EventsPlan) -> Vec<UntoldReturns> {
        let all = self.untold.iter().filter_map(|(place, untold)| {
            let planned = plan.named.get(*place)?;
            Some(UntoldReturns {
                name: planned.name.as_ref().to_owned(),
                process: untold.first.0.0,
                thread: untold.first.1.0,
                others: (untold.threads.len() as u64).saturating_sub(1),
                calls: untold.calls,
            })
        });
        all.collect()
    }
}

impl Reader<'_> {
    /// Follows a sample that is of a return from a probed function, or of an entry.
    pub(super) fn follow_returns(
        &mut self,
        who: (Pid, Tid),
        (request, meaning): (usize, Meaning),
        sample: &Sample<'_>,
        raw: &[u8],
    ) {
        let stack = stack_pointer(sample, self.registers(request));
        let Some(returns) = &mut self.returns else {
            return;
        };
        match meaning {
            Meaning::Entries {
                place,
                function,
                caller,
            } => {
                let (function, caller) = (word(raw, function), word(raw, caller));
                let (Some(stack), Some(function), Some(caller)) = (stack, function, caller) else {
                    returns.has_entries = false;
                    return;
                };
                let call = Pending {
                    stack,
                    function,
                    by: request,
                };
                if returns.thread(who.1).enter(Entry { call, caller }) {
                    returns.note(place, who, true);
                }
            }
            Meaning::Event(place) => {
                let function = returns.functions.get(place).copied().flatten();
                let function = function.and_then(|at| word(raw, at));
                // The kernel's own are in the upper half.
                if function.is_none_or(|function| function >> 63 != 0) {
                    return;
                }
                match (returns.has_entries, stack) {
                    (true, Some(stack)) => returns.thread(who.1).leave(stack),
                    (_, stack) => {
                        if returns.thread(who.1).nest(stack) >= MOST {
                            returns.note(place, who, false);
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod tests {
    use super::*;

    fn entry(stack: u64, function: u64, caller: u64) -> Entry {
        let by = 0;
        Entry {
            call: Pending {
                stack,
                function,
                by,
            },
            caller,
        }
    }

    /// The stack of a call at this depth.
    fn at(depth: u64) -> u64 {
        0x7fff_0000 - 16 * depth
    }

    #[test]
    fn the_65th_call_inside_of_others_has_no_return_and_one_behind_them_has() {
        let mut thread = Thread::default();
        let left_out: Vec<u64> = (0..70)
            .filter(|depth| thread.enter(entry(at(*depth), 1, 0x1234)))
            .collect();
        assert_eq!(left_out, [64, 65, 66, 67, 68, 69]);
        for depth in (0..64).rev() {
            thread.leave(at(depth) + 8);
            assert_eq!(thread.pending.len() as u64, depth);
        }
        assert!(!thread.enter(entry(at(0), 1, 0x1234)));
    }

    #[test]
    fn calls_one_behind_the_other_are_not_nested_however_many_there_are() {
        let mut thread = Thread::default();
        for depth in 0..1000 {
            assert!(!thread.enter(entry(at(depth), 1, 0x1234)));
            thread.leave(at(depth) + 8);
        }
        assert!(thread.pending.is_empty());
    }

    #[test]
    fn what_was_jumped_out_of_is_forgotten_at_the_next_call_unless_there_is_no_room() {
        let mut thread = Thread::default();
        for _ in 0..1000 {
            assert!(!thread.enter(entry(at(5), 1, 0x1234)), "it never returns");
            assert!(!thread.enter(entry(at(6), 1, 0x1234)), "nor does this");
        }
        for depth in 0..64 {
            thread.enter(entry(at(depth), 1, 0x1234));
        }
        assert!(
            thread.enter(entry(at(0), 1, 0x1234)),
            "the kernel looks first"
        );
    }

    #[test]
    fn a_function_that_another_jumped_to_returns_for_both() {
        let mut thread = Thread::default();
        let trampoline = 0x7fff_ffff_e000;
        assert!(!thread.enter(entry(at(1), 1, 0x1234)));
        let left_out = (0..70).filter(|_| thread.enter(entry(at(1), 2, trampoline)));
        assert_eq!(left_out.count(), 70 - 63);
        thread.leave(at(1) + 8);
        assert!(thread.pending.is_empty());
    }

    #[test]
    fn two_probes_of_one_function_wait_once() {
        let mut thread = Thread::default();
        for depth in 0..64 {
            for by in [3, 4] {
                let mut entry = entry(at(depth), 1, 0x1234);
                entry.call.by = by;
                assert!(!thread.enter(entry), "{depth}");
            }
        }
        assert_eq!(thread.pending.len(), 64);
    }

    #[test]
    fn without_entries_returns_from_ever_further_out_may_be_nested_and_others_are_not() {
        let nested = |stacks: &[Option<u64>]| {
            let mut thread = Thread::default();
            let nested = stacks.iter().map(|stack| thread.nest(*stack));
            nested.max().unwrap_or_default()
        };
        let out: Vec<_> = (0..100).rev().map(|depth| Some(at(depth))).collect();
        let inward: Vec<_> = (0..100).map(|depth| Some(at(depth))).collect();
        assert_eq!((nested(&out), nested(&inward)), (100, 1));
        assert_eq!(nested(&[Some(at(1)); 100]), 1);
        assert_eq!(nested(&[Some(at(2)), Some(at(1))].repeat(100)), 2);
        assert_eq!(nested(&[None; 100]), 100, "unknown is not flat");
    }
}
