//! Holds a run to its limits, and tells which of them it reached.
//!
//! The control group enforces what it has a controller for. Limits of single processes are set with
//! `setrlimit(2)`; a call that failed by such a limit is found by counting calls with that error.
//! The rest is watched ([`super::Watch`]).

use super::{Bench, RunError, Watch};
use crate::plan::{FaultPlan, Plan};
use crate::scenario::KernelVersion;
use crate::verdict::{Known, Run};
use nix::sys::resource::{Resource, getrlimit};
use perf_live::errors::chain;
use perf_live::events::{Counted, Counter, EventRequest};
use perf_live::host::Catalogue;
use perf_live::sandbox::{Cgroup, Corked};
use perf_live::sys::process::ResourceLimit;
use perf_live::units::{ExitKind, Limit, Limits, Struck};
use perf_records::attr::{Attr, Source};
use perf_records::units::{Pid, TracepointName};
use std::sync::Arc;
use std::time::Duration;
use syscall_model::Answer;
use syscall_model::errno::errno_name;
use syscall_model::names::{self, Abi};

const LEAVE: &str = "raw_syscalls:sys_exit";

/// The soft and hard limits that each workload of a sandbox starts with, where it is not given
/// others: the kernel's own (`INIT_RLIMITS`), and of open files those of systemd. That of processes
/// and of queued signals depend on the machine's memory.
const SAME: [(Resource, u64, u64); 9] = {
    const NONE: u64 = libc::RLIM_INFINITY;
    [
        (Resource::RLIMIT_AS, NONE, NONE),
        (Resource::RLIMIT_CPU, NONE, NONE),
        (Resource::RLIMIT_DATA, NONE, NONE),
        (Resource::RLIMIT_FSIZE, NONE, NONE),
        (Resource::RLIMIT_MEMLOCK, 8 << 20, 8 << 20),
        (Resource::RLIMIT_MSGQUEUE, 819_200, 819_200),
        (Resource::RLIMIT_NOFILE, 1024, 524_288),
        (Resource::RLIMIT_RSS, NONE, NONE),
        (Resource::RLIMIT_STACK, 8 << 20, NONE),
    ]
};

/// The limits of one run.
#[derive(Debug)]
pub(super) struct Limiter {
    limits: Limits,
    group: Option<Arc<Cgroup>>,
    /// The CPU time that the group used before the workload ran: that of the cork.
    base: Duration,
    counters: Vec<(Limit, Result<Counter, String>)>,
}

/// The limits that a plan's processes start with.
///
/// The limit of processes does not bind root. Since Linux 5.14 it counts only the processes in the
/// workload's own user namespace. Before, it counts all processes of the user on the machine, so it
/// is not set there.
pub(super) fn of_processes(bench: &Bench<'_>, plan: &Plan) -> Vec<ResourceLimit> {
    // A process in a user namespace cannot have a higher limit than the harness.
    let one = |resource, soft: u64, hard: u64| {
        let most = getrlimit(resource).map_or(u64::MAX, |(_, hard)| hard);
        ResourceLimit {
            resource,
            soft: soft.min(most),
            hard: hard.min(most),
        }
    };
    let both = |resource, value| one(resource, value, value);
    let Some(world) = &plan.world else {
        let mut own = bench.own_limits();
        own.extend(plan.confinement.as_ref().and_then(|_| no_core()));
        return own;
    };
    let limits = &world.spec.limits;
    let harness = nix::unistd::geteuid().as_raw();
    let user = world.user.as_ref().map_or(harness, |user| user.uid);
    let counts_own = KernelVersion::of_release(&bench.release)
        .is_some_and(|version| (version.major, version.minor) >= (5, 14));
    // The namespace's init counts too if it runs as the same user as the workload.
    let processes = limits
        .processes
        .filter(|_| user != 0 && counts_own)
        .map(|most| most.saturating_add(u64::from(user == harness)));
    let cpu = limits.cpu.map(|time| time.as_secs().saturating_add(2));
    let open_files = limits
        .open_files
        .map(|most| both(Resource::RLIMIT_NOFILE, most));
    // Those of whoever starts the harness would reach the trace: a server raises that of open
    // files, and the stack's decides where mappings lie.
    let same = SAME.map(|(resource, soft, hard)| Some(one(resource, soft, hard)));
    let own = [
        // With 1 no dump file has room, and the kernel starts no program for core dumps (`|` in
        // core(5)); with 0 it would start one.
        Some(both(Resource::RLIMIT_CORE, 1)),
        open_files,
        limits
            .file_size
            .map(|most| both(Resource::RLIMIT_FSIZE, most)),
        processes.map(|most| both(Resource::RLIMIT_NPROC, most)),
        // In case the watching thread comes too late.
        cpu.map(|soft| one(Resource::RLIMIT_CPU, soft, soft.saturating_add(1))),
    ];
    same.into_iter().chain(own).flatten().collect()
}

/// The limit by which the kernel writes no core dump and starts no program for one, and which the
/// process may raise as it may that of the harness.
pub(super) fn no_core() -> Option<ResourceLimit> {
    let (_, hard) = getrlimit(Resource::RLIMIT_CORE).ok()?;
    Some(ResourceLimit {
        resource: Resource::RLIMIT_CORE,
        soft: hard.min(1),
        hard,
    })
}

/// The calls that make tasks.
const MAKERS: [&str; 4] = ["clone", "clone3", "fork", "vfork"];

/// Returns a filter on the returns of the calls that a limit makes fail.
fn failures(limit: Limit) -> Option<String> {
    let numbers = || {
        let numbers = MAKERS
            .iter()
            .filter_map(|call| names::number(Abi::native(), call));
        let each: Vec<String> = numbers.map(|number| format!("id == {number}")).collect();
        each.join(" || ")
    };
    match limit {
        Limit::OpenFiles | Limit::FileSize => Some(format!("ret == -{}", errno_of(limit))),
        Limit::Processes => Some(format!("ret == -{} && ({})", libc::EAGAIN, numbers())),
        _ => None,
    }
}

impl Limiter {
    /// Sets the limits of the group, which must be empty or hold only the corked workload.
    pub(super) fn new(
        bench: &Bench<'_>,
        plan: &Plan,
        corked: &Corked,
        group: Option<Arc<Cgroup>>,
    ) -> Result<Self, RunError> {
        let limits = plan.limits();
        if let Some(group) = &group {
            group.limit(&limits)?;
        }
        let by_group = group
            .as_ref()
            .is_some_and(|group| group.enforces(Limit::Processes));
        let is_counted = |limit: &Limit| match limit {
            Limit::OpenFiles => limits.open_files.is_some(),
            Limit::FileSize => limits.file_size.is_some(),
            Limit::Processes => {
                let most = limits.processes.unwrap_or(Limits::PROCESSES);
                most != Limits::PROCESSES && !by_group
            }
            _ => false,
        };
        let counted = Limit::ALL.into_iter().filter(is_counted);
        let counters = counted.map(|limit| (limit, bench.counter(limit, Some(corked.pid()))));
        let base = group.as_ref().and_then(|group| group.cpu());
        Ok(Self {
            base: base.unwrap_or_default(),
            limits,
            counters: counters.collect(),
            group,
        })
    }

    /// Starts to watch the limits that the kernel does not enforce.
    pub(super) fn watch(&self, bench: &Bench<'_>, corked: &Corked) -> Result<Watch, RunError> {
        let group = (self.group.clone(), self.base);
        Watch::new(corked.pid(), group, &self.limits, bench.cpus.len()).map_err(RunError::Watch)
    }

    /// Adds to a run that has ended what it used and which limits it reached.
    pub(super) fn conclude(&self, plan: &Plan, run: &mut Run<()>) {
        if let Some(group) = &self.group {
            let mut usage = group.usage();
            usage.cpu = usage.cpu.map(|time| time.saturating_sub(self.base));
            run.usage = run.usage.and(usage);
            group
                .struck()
                .into_iter()
                .for_each(|struck| self.add(run, struck));
        }
        for (limit, counter) in &self.counters {
            let failed = counter.as_ref().map_err(Clone::clone).and_then(|counter| {
                counter
                    .read()
                    .map(|counts| counts.value)
                    .map_err(|error| error.to_string())
            });
            // What a fault answered has not come to the limit.
            let failed = failed.and_then(|number| {
                let answered = answered(plan, run, *limit)?;
                Ok(number.saturating_sub(answered))
            });
            match failed {
                Ok(0) => {}
                Ok(number) => {
                    let calls = if number == 1 { "call" } else { "calls" };
                    let how = format!(
                        "{number} {calls} failed with {}",
                        errno_name(errno_of(*limit)).unwrap_or("an error")
                    );
                    self.add(run, struck(*limit, how, false));
                }
                Err(why) => run.untold.push((*limit, why)),
            }
        }
        let by_signal = match run.exit.yes().copied() {
            Some(ExitKind::Signal(libc::SIGXCPU)) => Some((Limit::Cpu, "SIGXCPU", true)),
            Some(ExitKind::Signal(libc::SIGXFSZ)) => Some((Limit::FileSize, "SIGXFSZ", false)),
            _ => None,
        };
        if let Some((limit, signal, is_end)) = by_signal {
            self.add(
                run,
                struck(limit, format!("the kernel sent {signal}"), is_end),
            );
        }
        // An output that passed its limit and ended before the watch looked.
        let outputs = [&run.stdout, &run.stderr];
        let outputs = outputs.into_iter().filter_map(|output| output.yes());
        let written: u64 = outputs
            .map(|output| output.bytes.len() as u64 + output.dropped)
            .sum();
        let limits = &self.limits;
        let passed = [
            (
                Limit::Cpu,
                run.usage.cpu >= limits.cpu && limits.cpu.is_some(),
            ),
            (
                Limit::Output,
                limits.output.is_some_and(|most| written > most),
            ),
            (
                Limit::Processes,
                run.usage.processes_peak > limits.processes && limits.processes.is_some(),
            ),
        ];
        for (limit, _) in passed.into_iter().filter(|(_, passed)| *passed) {
            let how = "it passed it and ended by itself".to_owned();
            self.add(run, struck(limit, how, true));
        }
    }

    /// Adds a finding for a limit, at most once each and only if it was set: a group is also held
    /// to the limits of the groups above it.
    fn add(&self, run: &mut Run<()>, struck: Struck) {
        if !run.struck().contains(&struck.limit)
            && self.limits.said(struck.limit).is_some()
            && let Known::Yes(known) = &mut run.struck
        {
            known.push(struck);
        }
    }
}

fn struck(limit: Limit, how: String, is_end: bool) -> Struck {
    Struck { limit, how, is_end }
}

/// The error of a call that a limit makes fail.
fn errno_of(limit: Limit) -> i32 {
    match limit {
        Limit::OpenFiles => libc::EMFILE,
        Limit::FileSize => libc::EFBIG,
        _ => libc::EAGAIN,
    }
}

/// How many of the calls that count for a limit were answered by faults, or why that is not known.
fn answered(plan: &Plan, run: &Run<()>, limit: Limit) -> Result<u64, String> {
    let errno = errno_of(limit);
    let has_error = |fault: &FaultPlan| match fault.injected.answer {
        Some(Answer::Error(error)) => error == errno,
        Some(Answer::Value(value)) => value == -i64::from(errno),
        Some(Answer::Short(_) | Answer::Whole) | None => false,
    };
    let is_counted = |name: &str| limit != Limit::Processes || MAKERS.contains(&name);
    let mut with_error = plan.faults.iter().filter(|fault| has_error(fault));
    let is_of_both = |fault: &FaultPlan| {
        let mut names = fault.matcher.names.iter();
        names.any(|name| is_counted(name))
            && !fault.matcher.names.iter().all(|name| is_counted(name))
    };
    if with_error.any(is_of_both) {
        return Err("a fault has its error, of calls that count for it and of others".to_owned());
    }
    let answers = |fault: &FaultPlan| {
        has_error(fault) && fault.matcher.names.iter().any(|name| is_counted(name))
    };
    if !plan.faults.iter().any(answers) {
        return Ok(0);
    }
    match &run.faults {
        Known::Yes(faults) => {
            let outcomes = plan.faults.iter().zip(&faults.outcomes);
            let answered = outcomes.filter(|(fault, _)| answers(fault));
            Ok(answered.map(|(_, outcome)| outcome.fired).sum())
        }
        Known::No(why) => Err(why.clone()),
    }
}

impl Bench<'_> {
    /// Returns the limits that the harness was started with and has raised for itself.
    #[must_use]
    pub fn own_limits(&self) -> Vec<ResourceLimit> {
        let own = self.open_files.map(|(soft, hard)| ResourceLimit {
            resource: Resource::RLIMIT_NOFILE,
            soft,
            hard,
        });
        own.into_iter().collect()
    }

    /// Opens a counter of the calls of a task that a limit makes fail, or returns why it cannot.
    /// Without a task, it only tries whether that works.
    fn counter(&self, limit: Limit, task: Option<Pid>) -> Result<Counter, String> {
        let filter = failures(limit).unwrap_or_default();
        let name = TracepointName::parse(LEAVE).ok_or_else(|| LEAVE.to_owned())?;
        let format = self.host.format(&name).map_err(|error| chain(&error))?;
        let attr = Attr::counting(Source::Tracepoint(format.id));
        let event = EventRequest {
            filter: Some(filter),
            ..EventRequest::new(LEAVE, attr)
        };
        let whom = task.map_or(Counted::Myself, Counted::Task);
        Counter::open(&event, whom).map_err(|error| chain(&error))
    }

    /// Returns why it cannot be told here whether a run reached a limit; `None` if it can.
    pub(super) fn cannot_tell(&self, limit: Limit) -> Option<String> {
        failures(limit)?;
        let group = self.group();
        if limit == Limit::Processes && group.is_some_and(|group| group.enforces(limit)) {
            return None;
        }
        self.counter(limit, None).err()
    }

    /// Returns the first limit that cannot be set here, and why.
    pub(super) fn cannot_limit(&self, limits: &Limits) -> Option<(Limit, String)> {
        let hard = self.open_files.map_or(u64::MAX, |(_, hard)| hard);
        if limits.open_files.is_some_and(|most| most > hard) {
            return Some((
                Limit::OpenFiles,
                format!("the hard limit of open files is {hard}"),
            ));
        }
        let wanted = [
            (Limit::Memory, limits.memory.is_some()),
            (
                Limit::Processes,
                limits
                    .processes
                    .is_some_and(|most| most != Limits::PROCESSES),
            ),
            (Limit::Cpu, limits.cpu.is_some()),
        ];
        let mut wanted = wanted
            .into_iter()
            .filter_map(|(limit, wanted)| wanted.then_some(limit));
        if self.host.tells_of_children() {
            return None;
        }
        let group = self.group();
        let by_kernel = |limit: Limit| {
            group
                .as_ref()
                .is_some_and(|group| group.enforces(limit) || limit == Limit::Cpu)
        };
        let limit = wanted.find(|limit| !by_kernel(*limit))?;
        let why = "there is no control group for it, and this kernel does not list the children of processes \
                   (CONFIG_PROC_CHILDREN)";
        Some((limit, why.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_calls_are_told_by_filters_that_the_kernel_takes() {
        assert_eq!(failures(Limit::OpenFiles).unwrap(), "ret == -24");
        assert_eq!(failures(Limit::FileSize).unwrap(), "ret == -27");
        let processes = failures(Limit::Processes).unwrap();
        assert!(
            processes.starts_with("ret == -11 && (id == "),
            "{processes}"
        );
        assert_eq!(failures(Limit::Memory), None);
    }
}
