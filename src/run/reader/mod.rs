//! Turns records into observations: the middle of the diagram, without the rings.

mod accounting;
mod contents;
mod draining;
mod family;
mod forgotten;
mod gaps;
mod held;
mod life;
mod midlife;
mod names;
mod other_files;
mod returns;
mod side_band;
mod software;
mod stacks;
mod telling;
mod turns;
mod widths;

pub(in crate::run) use life::Life;
pub(in crate::run) use midlife::Begun;
pub(in crate::run) use widths::Width;

pub(super) use names::exact_paths;

use super::chains::Chains;
use super::halves::{convention, instruction, is_disguised, left_by, number, word};
use super::session::SessionError;
use super::setting::{Convention, Fault, Fired, Observer, Setting};
use crate::plan::{EventsPlan, Meaning};
use perf_live::events::Origin;
use perf_live::sys::page_size;
use perf_records::attr::Layout;
use perf_records::record::{self, Header, LayoutTable, Sample, kind};
use perf_records::space::Stack;
use perf_records::units::{Cpu, Hashed, Nanos, Pid, Tid};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::RangeInclusive;
use std::sync::Arc;
use syscall_model::files::Tables;
use syscall_model::mappings::Maps;
use syscall_model::{Lineage, Observation, Sources, Starts, Tracker};
use widths::Widths;

// The offset of `common_pid` in a tracepoint's record (`struct trace_entry`, linux/trace_events.h).
const COMMON_PID: usize = 4;

/// Turns the records of one run, in their order, into what an [`Observer`] sees, and counts them.
pub struct Reader<'a> {
    plan: &'a EventsPlan,
    observer: &'a mut dyn Observer,
    tracker: Tracker,
    lineage: Lineage,
    /// Follows the starts of programs; `None` if the plan does not ask for that.
    starts: Option<Starts>,
    tables: Tables,
    maps: Maps,
    out: Vec<Observation>,
    out_of_sight: u64,
    throttled: u64,
    left_group: u64,
    unended: u64,
    legacy_calls: u64,
    disguised: u64,
    /// The name of the control group that all events are counted for.
    group: Option<String>,
    blind_rings: u64,
    reads_memory: bool,
    /// The calls for which something is read from memory.
    fetched: accounting::Fetched,
    /// Threads of which a call was seen since calls were overwritten; `None` if none were.
    remembered: Option<HashSet<Tid>>,
    saw_uncorking: bool,
    /// Samples of other times are counted and not understood.
    span: RangeInclusive<Nanos>,
    /// The followed tasks, where the first of them lived already.
    family: Option<family::Family>,
    /// What was found of processes that lived already, until the records have come as far.
    found: Option<midlife::Found>,
    delivered: Vec<u64>,
    lost: gaps::Lost,
    n_samples: u64,
    /// Whether the workload's program runs yet. Events of a control group see what the cork does
    /// before it; those of tasks do not.
    started: bool,
    life: Option<Life>,
    /// The number of the workload's living threads, and its maximum so far.
    pub(super) threads: (u64, u64),
    init: Option<Pid>,
    fault: Fault,
    /// What is known of calls that were held.
    held: Option<held::Calls>,
    error: Option<SessionError>,
    /// Whether the rest of the records was not read, as the harness was asked to end.
    broke_off: bool,
    /// `None` if no event has call chains.
    chains: Option<Chains>,
    /// The user registers that the samples of each request have.
    registers: Vec<u64>,
    /// The programs that processes run; `None` where all calls have registers that tell it.
    widths: Option<Widths>,
    /// Whether calls of 32-bit programs are in no record.
    misses_compat: bool,
    /// What the kernel knows of calls of probed functions; `None` if no returns are probed.
    returns: Option<returns::Returns>,
    /// The files that have probes; `None` if none has.
    other_files: Option<other_files::OtherFiles>,
    /// The events of probes in functions of which there are copies, and how many.
    copied: BTreeMap<String, u64>,
    /// The probes that the kernel may forget; `None` if there are none.
    forgets: Option<forgotten::Forgets>,
    /// The call chains of calls that have not returned, by thread and time.
    stacks: HashMap<(Tid, Nanos), Arc<Stack>, Hashed>,
}

impl std::fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader")
            .field("delivered", &self.delivered)
            .finish_non_exhaustive()
    }
}

impl<'a> Reader<'a> {
    /// Makes a reader for the records of a plan with `n_requests` requests.
    #[must_use]
    pub fn new(
        plan: &'a EventsPlan,
        n_requests: usize,
        observer: &'a mut dyn Observer,
        setting: Setting,
    ) -> Self {
        let chains = Chains::new(plan, &setting);
        let tables = names::tables(plan, &setting);
        Self {
            plan,
            observer,
            chains,
            registers: plan
                .requests
                .iter()
                .map(|it| it.attr.user_registers)
                .collect(),
            widths: setting.convention.map(|_| Widths::default()),
            misses_compat: setting.convention == Some(Convention::NativeAlone),
            returns: returns::Returns::of(plan),
            other_files: other_files::OtherFiles::of(plan, setting.probed.as_deref()),
            copied: setting.copied(),
            forgets: forgotten::Forgets::of(plan, &setting),
            stacks: HashMap::default(),
            tracker: Tracker::new(Sources {
                signals: setting.reads_memory,
                own_tracepoints: plan.reach.has_own_tracepoints(),
                of_group: setting.of_group,
                calls: setting.calls,
                refusals: plan.tells_refusals(),
            }),
            lineage: Lineage::new(setting.init),
            starts: plan.starts.then(Starts::default),
            tables,
            maps: Maps::new(plan.maps, page_size() as u64),
            out: Vec::new(),
            out_of_sight: 0,
            throttled: 0,
            left_group: 0,
            unended: 0,
            legacy_calls: 0,
            disguised: 0,
            group: setting.group.clone(),
            blind_rings: 0,
            reads_memory: setting.reads_memory,
            fetched: accounting::Fetched::of(&plan.fetches),
            remembered: None,
            saw_uncorking: setting.attached,
            span: Nanos(0)..=Nanos(u64::MAX),
            family: None,
            found: None,
            // The last number counts the records of BPF programs.
            delivered: vec![0; n_requests + 1],
            lost: gaps::Lost::default(),
            n_samples: 0,
            started: setting.attached,
            life: None,
            threads: (1, 1),
            init: setting.init,
            fault: setting.fault,
            held: setting.held.clone().map(held::Calls::new),
            error: None,
            broke_off: false,
        }
    }

    /// Returns the tasks that live, as far as the records read so far tell.
    pub(super) fn lineage(&mut self) -> &mut Lineage {
        &mut self.lineage
    }

    /// Takes one record of a CPU's ring.
    ///
    /// # Errors
    /// [`SessionError`], for a record that cannot be right.
    pub fn record(
        &mut self,
        cpu: Cpu,
        table: &LayoutTable<Origin>,
        bytes: &[u8],
    ) -> Result<(), SessionError> {
        let (layout, origin) = table.resolve(bytes).ok_or(SessionError::Stranger { cpu })?;
        self.take(cpu, layout, origin, bytes)
    }

    /// Takes one record whose event is known.
    ///
    /// # Errors
    /// [`SessionError`], for a record that cannot be right.
    pub fn take(
        &mut self,
        cpu: Cpu,
        layout: &Layout,
        origin: Origin,
        bytes: &[u8],
    ) -> Result<(), SessionError> {
        let spoilt = |source| SessionError::Record { cpu, source };
        let head = bytes.first_chunk().copied().unwrap_or_default();
        if Header::from_bytes(head).kind == kind::SAMPLE {
            let mut sample = Sample::default();
            record::parse_sample(bytes, layout, &mut sample).map_err(spoilt)?;
            let place = match origin {
                Origin::Request(place) => place,
                Origin::Memory => return self.memory(&sample),
                Origin::SideBand => return Err(SessionError::Stranger { cpu }),
            };
            let number = self.n_samples;
            self.n_samples += 1;
            if self.fault.drop_sample != Some(number) {
                if let Some(delivered) = self.delivered.get_mut(place) {
                    *delivered += sample.period.unwrap_or(1);
                }
                let stack = self.stack(cpu, place, layout, &sample, bytes)?;
                self.sample(cpu, place, (&sample, bytes), stack)?;
            }
        } else {
            let record = record::parse(bytes, layout).map_err(spoilt)?;
            self.side_band(cpu, &record, bytes);
        }
        self.flush();
        Ok(())
    }

    /// Whether a sample is the workload's, after the start of its program.
    fn is_of_workload(&mut self, place: usize, (pid, tid): (Pid, Tid), meaning: Meaning) -> bool {
        let has_started = self.started || self.starts(place);
        let is_its = has_started && Some(pid) != self.init && self.follows(tid);
        if is_its {
            self.note_half(tid, meaning);
        }
        is_its
    }

    fn sample(
        &mut self,
        cpu: Cpu,
        place: usize,
        (sample, bytes): (&Sample<'_>, &[u8]),
        stack: Option<Arc<Stack>>,
    ) -> Result<(), SessionError> {
        let requests = &self.plan.requests;
        let lacks = |field| SessionError::Lacks {
            event: requests
                .get(place)
                .map_or_else(String::new, |it| it.name.clone()),
            field,
        };
        let (mut pid, mut tid) = sample.task.ok_or_else(|| lacks("thread"))?;
        let time = sample.time.ok_or_else(|| lacks("time"))?;
        if !self.span.contains(&time) {
            return Ok(());
        }
        self.catch_up(time);
        let common = sample.raw.and_then(|raw| number(raw, COMMON_PID));
        if let (u32::MAX, Some(common)) = (tid.0, common) {
            // The task is reaped: only the tracepoint's record still has its id.
            (pid, tid) = (Pid(common as u32), Tid(common as u32));
        }
        let meaning = self.plan.meanings.get(place).copied();
        let meaning = meaning.ok_or_else(|| lacks("meaning"))?;
        if !self.is_of_workload(place, (pid, tid), meaning) {
            return Ok(());
        }
        if let Meaning::Event(event) = meaning
            && self.plan.has_no_payload(event)
        {
            self.software(cpu, (pid, tid), event, time, (sample, bytes), stack);
            return Ok(());
        }
        let raw = sample.raw.ok_or_else(|| lacks("payload"))?;
        let common = common.ok_or_else(|| lacks("common_pid"))?;
        // This event fires for any task of the machine.
        if let Meaning::JoinsGroup { path } = meaning {
            self.left_group += u64::from(self.joins(path, raw));
            return Ok(());
        }
        self.tracker.global((pid, tid), common, &mut self.out);
        let word = |at: usize| word(raw, at).ok_or_else(|| lacks("number or arguments"));
        let number = |at: usize| number(raw, at).ok_or_else(|| lacks("number or arguments"));
        let is_first = self.forgot_calls_of(tid);
        self.sees_half(tid, meaning);
        self.follow_returns((pid, tid), (place, meaning), sample, raw);
        match meaning {
            Meaning::Enter {
                id,
                args,
                n_args,
                copies,
            } => {
                let number = number(id)?;
                let mut words = [0; 6];
                for (at, to) in (args..).step_by(8).zip(&mut words).take(n_args) {
                    *to = word(at)?;
                }
                if let Some(copies) = copies {
                    self.copied((pid, tid), copies, raw)
                        .ok_or_else(|| lacks("strings"))?;
                }
                self.with_call((pid, tid), place, raw, args + 8 * n_args)?;
                let mask = self.registers(place);
                let abi = convention(number, (sample, mask), self.width(pid, &words));
                self.disguised += u64::from(is_disguised(&words, sample, mask));
                self.entered((pid, tid), time, (abi, number), (words, stack));
                self.starting((pid, tid), instruction(sample, mask), (abi, number), &words);
            }
            Meaning::Leave { id, ret } => {
                self.with_call((pid, tid), place, raw, ret + 8)?;
                let (number, value) = (number(id)?, word(ret)? as i64);
                let call = (number, value, is_first);
                let abi = left_by(call, (sample, self.registers(place)), self.width(pid, &[]));
                self.left((pid, tid), time, (abi, number), value);
            }
            Meaning::Refusal => self.tracker.refused((pid, tid), &mut self.out),
            Meaning::LeavesGroup => self.left_group += 1,
            Meaning::JoinsGroup { .. } | Meaning::Entries { .. } => {}
            Meaning::LegacyCall { number: at } => self.legacy(number(at)?),
            Meaning::Copies(copies) => {
                self.copied((pid, tid), copies, raw)
                    .ok_or_else(|| lacks("strings"))?;
            }
            Meaning::Event(place) => {
                let actor = self.tracker.actor(pid, tid, &mut self.out);
                self.flush();
                if let Some(operation) = self.plan.operation(place, raw) {
                    self.tables.submitted(actor.thread, operation);
                }
                let chains = self.chains.as_mut();
                let functions = chains.map(|chains| chains.functions(place, raw));
                self.observer.event(&Fired {
                    actor: &actor,
                    time,
                    cpu,
                    place,
                    sample,
                    stack: stack.as_ref(),
                    scene: None,
                    functions: functions.as_deref().unwrap_or_default(),
                });
            }
        }
        Ok(())
    }
}
