//! `harness trace -p PID`: traces processes that live already.

use super::delivered::Signals;
use super::form::form;
use super::prepare::{Planned, bench, planned};
use super::printer::Printer;
use super::spans::Spans;
use super::{Arguments, Trouble, inject, other, sched, sink_of_results, unseen};
use crate::out::note;
use crate::{signals, whom};
use perf_live::host::Host;
use perf_live::sys;
use perf_records::units::Pid;
use std::collections::BTreeSet;
use std::time::Duration;
use trace_harness::plan;
use trace_harness::run::{Recording, follow_living};

pub(super) fn trace(arguments: &Arguments) -> Result<u8, Trouble> {
    let host = Host::running();
    whom::keep_to_own(Recording::Tasks, &host);
    let pids: BTreeSet<Pid> = arguments.pid.iter().copied().map(Pid).collect();
    if pids.contains(&Pid(std::process::id())) {
        let message = "cannot trace this harness itself: each line would cause the next";
        return Err(Trouble::Usage(message.to_owned()));
    }
    let pids: Vec<Pid> = pids.into_iter().collect();
    let (sets, faults) = inject::split(&inject::sets(arguments)).map_err(Trouble::Usage)?;
    if !faults.is_empty() {
        let message = "-e inject= is of a command: a filter of calls cannot be put on a process that lives already";
        return Err(Trouble::Usage(message.to_owned()));
    }
    let bench = bench(arguments, &host, false)?;
    let form = form(arguments, Some(sys::wall_clock_offset()))?;
    let Planned {
        plan,
        reading,
        shows_signals,
    } = planned(arguments, &sets, &bench)?;
    if plan.has_chains() {
        let message = "call chains (-k, --call-graph) of a process that lives already take its mappings, which no record tells\n\
            hint: harness record -g -p";
        return Err(Trouble::Usage(message.to_owned()));
    }
    let spans = Spans::new(&arguments.spans, &plan, &bench.signatures).map_err(Trouble::Usage)?;
    let signals = signals::watch().map_err(|error| other(error, None))?;
    let sink = sink_of_results(arguments.output.as_ref())?;
    let bytes = arguments.ring_size.unwrap_or_else(|| bench.default_ring());
    let pages = plan::ring_pages(bytes, sys::page_size());
    let attached = bench.attach(&plan, &pids, pages)?;
    let why = match host.has_own_pid_namespace() {
        true => unseen::OTHER_NUMBERS,
        false => unseen::NO_WHOLE_CPU,
    };
    unseen::say_unread(&reading, &plan, attached.events.reads_memory(), why);
    unseen::say_unseen(&plan);
    let mut printer = Printer::new(&plan, &bench.signatures, form, sink);
    printer.reader_gone = signals::end_the_watch;
    printer.spans = spans;
    printer.sched = arguments.sched.then(|| sched::View::of(arguments.format));
    printer.signals = shows_signals.then(Signals::default);
    for process in &attached.living {
        let n = process.threads.len();
        let threads = if n == 1 { "thread" } else { "threads" };
        note!(
            "harness: following process {} with {n} {threads}",
            process.pid
        );
    }
    if attached.found.iter().any(|process| process.is_closed) {
        note!(
            "harness: procfs does not tell this user what descriptors refer to, and which calls threads are in"
        );
    }
    let tick = Duration::from_millis(50);
    let mut control = signals::PassOn(signals);
    let followed = follow_living(attached, &bench, &plan, tick, &mut control, &mut printer);
    let (account, lives_on) = followed.map_err(Trouble::from)?;
    if lives_on {
        note!("harness: the processes live on, untraced");
    }
    printer.finish((&account, &[]), None)
}
