//! Decides what becomes of each call that is held.

use super::Doing;
use super::blocks::Blocks;
use super::callers::{Callers, why};
use super::counts::Counts;
use super::deed::{self, Main, Maker};
use super::looked::Looks;
use crate::matching::{Matcher, is_meant};
use crate::plan::{FaultPlan, REFUSED, held, is_guarded, meant};
use crate::scenario::{Per, Test};
use crate::trace::{Deed, Reached, Value, View};
use crate::verdict::Faults;
use perf_live::gate::{
    Aliases, Decision, End, Held, HeldCalls, Judge, Logged, Own, Paths, Streams, length_of,
    read_memory,
};
use perf_live::sys::memory;
use perf_records::space::Stack;
use std::collections::BTreeSet;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use syscall_model::files::path_from;
use syscall_model::many::name_made;
use syscall_model::memory::Memory;
use syscall_model::{Answer, Injected, waits};

/// Decides by the faults of a plan.
pub(super) struct Decider<'a> {
    doing: Doing<'a>,
    view: View,
    counts: Counts,
    blocks: Blocks,
    /// The workload's first process, where a fault asks for it.
    main: Option<Main>,
    streams: Option<Streams>,
    paths: Paths,
    /// Finds the functions that led to calls, where a fault asks for them.
    callers: Option<Callers<'a>>,
    /// All calls that are held, and those that faults are for.
    held: HeldCalls,
    meant: HeldCalls,
    may_end_threads: bool,
    aliases: Arc<Aliases>,
    /// Whether that is of the first call's root, and not of none.
    has_aliases: bool,
    looks: Looks,
    unknown: BTreeSet<String>,
    remarks: BTreeSet<&'static str>,
}

const PASSED: &str = "a signal took a call back that was counted for a fault, after later ones were: \
                      it is not known which number each call has";
const NO_RINGS: &str =
    "io_uring_setup was answered with ENOSYS: what a ring does could not be held";
const NO_AIO: &str = "io_setup was answered with ENOSYS: what is submitted there could not be held";
const OWN_LISTENER: &str = "the workload asked for a listener of its own for seccomp, and got EBUSY: the faults have the only one";

pub(in crate::run) const TRACER: &str = "the workload has a filter of its own by which its tracer is asked (`SECCOMP_RET_TRACE`) for \
     a call that is held: it is made without; run it without that filter";

const DISPATCHED: &str = "the workload asked that calls be given back to it (PR_SET_SYSCALL_USER_DISPATCH): these come \
     to no filter, and are in no record; run it without";

impl<'a> Decider<'a> {
    pub(super) fn new(
        doing: Doing<'a>,
        (main, streams): (Main, Option<Streams>),
        paths: Paths,
        callers: Option<Callers<'a>>,
    ) -> Self {
        let matchers = doing.faults.iter();
        let matchers = matchers.flat_map(|fault| [Some(&fault.matcher), fault.until.as_ref()]);
        let mut fields = matchers.flatten().flat_map(|matcher| &matcher.fields);
        let asks = fields.any(|(word, _)| word == "process");
        Self {
            main: asks.then_some(main),
            streams,
            paths,
            callers,
            held: held(doing.faults),
            meant: meant(doing.faults),
            may_end_threads: false,
            aliases: Arc::default(),
            has_aliases: doing.aliases.is_empty(),
            looks: Looks::default(),
            doing,
            view: View {
                directory: Some(doing.directory.to_string_lossy().into_owned()),
                ..View::default()
            },
            counts: Counts::of(doing.faults.len()),
            blocks: Blocks::default(),
            unknown: BTreeSet::new(),
            remarks: BTreeSet::new(),
        }
    }

    pub(super) fn into_faults(self) -> Faults {
        Faults {
            outcomes: self.counts.outcomes,
            done_to: Vec::new(),
            elsewhere: Vec::new(),
            of_start: Vec::new(),
            looked_at: self.looks.into_all(),
            may_end_threads: self.may_end_threads,
            remarks: self.remarks.into_iter().map(str::to_owned).collect(),
            unknown: self.unknown.into_iter().collect(),
        }
    }

    /// What is done to a call by the first fault that is due, and that fault's place; each fault
    /// counts what it matches.
    fn inject(
        &mut self,
        call: &Held,
        name: &str,
        deed: Option<Option<&Deed>>,
        guarded: Option<Injected>,
    ) -> Option<(Option<usize>, Injected)> {
        let mut injected = guarded.map(|guarded| (None, guarded));
        let mut counted = Vec::new();
        for (place, fault) in self.doing.faults.iter().enumerate() {
            if !fault.is_about(name) {
                continue;
            }
            let answer = match (answer(deed, &fault.matcher), names_one(deed, &fault.within)) {
                (Some(false), _) | (_, Some(false)) => continue,
                (Some(true), Some(true)) => Some(true),
                _ => None,
            };
            let process = match fault.per {
                Per::Run => Some(0),
                Per::Process => self.doing.bench.host.process_of(call.thread),
                Per::Thread => Some(call.thread),
            };
            let group = process.filter(|_| answer.is_some());
            counted.extend(group.map(|_| place));
            let is_free = injected.is_none() && self.is_long_enough(fault, call);
            if self.counts.count(call.id(), (place, fault), group, is_free) {
                injected = Some((Some(place), fault.injected));
            }
        }
        if let Some(Some(deed)) = deed {
            self.looks.note(call, name, deed, counted);
        }
        injected
    }

    /// Whether a shorter call would be one: its length is larger. A vector that cannot be read has
    /// none.
    fn is_long_enough(&mut self, fault: &FaultPlan, call: &Held) -> bool {
        let Some(Answer::Short(most)) = fault.injected.answer else {
            return true;
        };
        let length = length_of(call);
        if length.as_ref().is_err_and(memory::is_lack) {
            self.unknown.insert(memory::NO_CALLS.to_owned());
        }
        length.is_ok_and(|length| length > most)
    }

    /// Says whether the call waits by the fault `by`, and notes for whom it is waited.
    fn block(
        &mut self,
        call: &Held,
        name: &str,
        deed: Option<Option<&Deed>>,
        by: Option<usize>,
    ) -> bool {
        for (place, fault) in self.doing.faults.iter().enumerate() {
            let Some(until) = fault.until.as_ref().filter(|_| fault.waits_for(name)) else {
                continue;
            };
            match answer(deed, until) {
                Some(true) => self.blocks.come(place, call.id()),
                Some(false) => {}
                None => {
                    let (word, until) = (&fault.matcher.word, &until.word);
                    self.unknown.insert(format!(
                        "it is not known whether a call was the `{until}` until which `{word}` is blocked"
                    ));
                }
            }
        }
        by.is_some_and(|by| self.blocks.wait(by, call.id()))
    }

    /// What a call is that would get around the faults.
    fn guard(&mut self, call: &Held, name: &str) -> Option<Injected> {
        match Own::of(call, &self.held, &self.meant) {
            Ok(own) => {
                let doubts = [(own.asks_tracer, TRACER), (own.dispatches, DISPATCHED)];
                let doubts = doubts.into_iter().filter(|(is_it, _)| *is_it);
                self.unknown.extend(doubts.map(|(_, why)| why.to_owned()));
                self.remarks.extend(own.listens.then_some(OWN_LISTENER));
                self.may_end_threads |= own.ends_threads;
            }
            Err(error) => {
                let why = format!("a filter of the workload's own could not be read: {error}");
                self.unknown.insert(why);
            }
        }
        is_guarded(self.doing.faults, name).then(|| {
            self.remarks.insert(match name {
                "io_setup" => NO_AIO,
                _ => NO_RINGS,
            });
            REFUSED
        })
    }

    /// Looks which files have other names, by the root of the first call that is looked at.
    fn find_aliases(&mut self, call: &Held) {
        let root = self.doing.bench.host.root_of(call.thread).ok();
        let aliases = Aliases::of(self.doing.aliases.to_vec(), root);
        self.aliases = Arc::new(aliases);
        self.has_aliases = true;
    }

    fn has_fields(&self, name: &str) -> bool {
        let looks = |matcher: &Matcher| !matcher.fields.is_empty() || !matcher.names.contains(name);
        self.doing.faults.iter().any(|fault| {
            fault.is_about(name) && (looks(&fault.matcher) || !fault.within.is_empty())
                || fault.waits_for(name) && fault.until.as_ref().is_some_and(looks)
        })
    }

    /// Adds to a call the functions that led to it, where it depends on them what is done.
    fn add_callers(
        &mut self,
        call: &Held,
        name: &str,
        deed: Option<&mut Deed>,
        waits: &dyn Fn() -> bool,
    ) -> Option<Arc<Stack>> {
        let (deed, callers) = deed.zip(self.callers.as_mut())?;
        let faults = self.doing.faults.iter();
        let faults = faults.filter(|fault| fault.asks_callers() && fault.holds(name));
        let asked: Vec<&Test> = faults.clone().flat_map(|fault| &fault.callers).collect();
        let of = |fault: &'a FaultPlan| {
            let until = fault.until.as_ref().filter(|_| fault.waits_for(name));
            let own = fault.is_about(name).then_some(&fault.matcher);
            [own, until]
        };
        let matchers: Vec<&Matcher> = faults.flat_map(of).flatten().collect();
        let depends = |deed: &Deed| matchers.iter().any(|it| is_meant(deed, it).is_none());
        if !depends(deed) {
            return None;
        }
        let (stack, why) = match callers.of(call, &asked, waits) {
            Ok(stack) => {
                deed.led_by(&stack);
                let why = why(&stack).filter(|_| depends(deed));
                if why.is_some() {
                    self.unknown.extend(callers.notes());
                }
                (Some(stack), why)
            }
            Err(why) => (None, Some(why)),
        };
        // Of a call that waits no more nothing is decided.
        self.unknown.extend(why.filter(|_| waits()).map(|why| {
            format!("the functions that led to a call of `{name}` are not all known: {why}")
        }));
        stack
    }

    /// What is read for a call as it is for those that are recorded.
    fn memory(&self, call: &Held) -> Memory {
        read_memory(call, &self.doing.events.fetches)
    }
}

impl Judge for Decider<'_> {
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let callers = self.callers.iter();
        callers.flat_map(|it| it.sleepers.descriptors()).collect()
    }

    fn look(&mut self) {
        if let Some(callers) = &mut self.callers {
            callers.sleepers.look();
        }
    }

    fn decide(&mut self, call: &Held, waits: &dyn Fn() -> bool) -> Decision {
        let [first, ..] = call.arguments;
        let Some(name) = name_made(call.abi, call.number, first) else {
            return Decision::default();
        };
        let looks = self.has_fields(name);
        if looks && !self.has_aliases {
            self.find_aliases(call);
        }
        let mut memory = looks.then(|| self.memory(call));
        let mut deed = memory.as_ref().map(|memory| {
            let signatures = &self.doing.bench.signatures;
            let maker = Maker {
                host: self.doing.bench.host,
                signatures,
                view: &self.view,
                main: self.main,
                streams: self.streams.as_ref(),
                paths: &mut self.paths,
                aliases: &self.aliases,
            };
            deed::of(maker, (call, memory))
        });
        let known = deed.as_mut().and_then(Option::as_mut);
        let stack = self.add_callers(call, name, known, waits);
        // A guard is kept whatever else would be done.
        let guarded = self.guard(call, name);
        let deed = deed.as_ref().map(Option::as_ref);
        let injected = self.inject(call, name, deed, guarded);
        let by = injected.and_then(|(by, injected)| by.filter(|_| injected.is_blocked));
        let waits = self.block(call, name, deed, by);
        let is_injected = injected.is_some();
        let injected = injected.map_or_else(Injected::default, |(_, injected)| injected);
        let number = u32::try_from(call.number).unwrap_or(u32::MAX);
        let is_recorded = self.doing.events.recorded.contains(call.abi, number);
        if is_injected && memory.is_none() {
            memory = Some(self.memory(call));
        }
        // What was looked at and goes on is compared with what the kernel read.
        let log = memory.filter(|_| is_recorded).map(|memory| Logged {
            stack,
            ..Logged::of(call, memory, injected)
        });
        Decision {
            injected,
            log,
            waits,
        }
    }

    fn go(&mut self, call: &Held) -> Vec<u64> {
        self.blocks.go(call.id())
    }

    fn settle(&mut self, call: &Held, end: End) {
        for fault in self.blocks.settle(call.id(), &end) {
            let outcome = self.counts.outcomes.get_mut(fault);
            if let (Some(outcome), End::Unmade) = (outcome, &end) {
                outcome.come_unmade += 1;
            }
        }
        let holds = self.counts.settle(call.id(), &end);
        match end {
            End::Failed(why) => {
                self.unknown.insert(why);
            }
            _ if !holds => {
                self.unknown.insert(PASSED.to_owned());
            }
            _ => {}
        }
    }
}

/// Whether a call is meant; `deed` is `None` where its name says all.
fn answer(deed: Option<Option<&Deed>>, matcher: &Matcher) -> Option<bool> {
    deed.map_or(Some(true), |deed| is_meant(deed?, matcher))
}

/// Whether a call names or uses one of these files, as all do where there are none; `None` where
/// that is not known.
fn names_one(deed: Option<Option<&Deed>>, files: &BTreeSet<Vec<u8>>) -> Option<bool> {
    if files.is_empty() {
        return Some(true);
    }
    let deed = deed??;
    // What it waits for stands in memory.
    let mut is_known = !waits(&deed.name);
    for (place, part) in (0..).zip(&deed.fields) {
        let is_one = |name: &Vec<u8>| files.contains(name);
        match &part.value {
            Value::Path {
                given,
                absolute,
                reached,
            } => {
                if is_one(given) || absolute.iter().any(is_one) {
                    return Some(true);
                }
                match reached {
                    Reached::Known { names, .. } if names.iter().any(is_one) => return Some(true),
                    Reached::Unknown(_) => is_known = false,
                    _ => {}
                }
            }
            Value::File { name, .. } if is_one(name) => return Some(true),
            Value::UnknownFile { .. } => is_known = false,
            // Any other argument is no name of a file: a buffer.
            Value::Unread if path_from(&deed.name, place).is_some() => is_known = false,
            _ => {}
        }
    }
    is_known.then_some(false)
}
