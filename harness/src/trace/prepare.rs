//! What a trace needs before anything runs: the bench and the plan.

use super::{Arguments, Trouble, other, unusable, wishes};
use crate::whom;
use perf_live::errors::chain;
use perf_live::host::Host;
use perf_live::ring::Bounds;
use trace_harness::plan::{self, EventsError, EventsPlan, MemoryPlan};
use trace_harness::run::{Bench, Reading};

/// What is to be opened for a trace.
pub(super) struct Planned<'a> {
    pub(super) plan: EventsPlan,
    pub(super) reading: Reading<'a>,
    pub(super) shows_signals: bool,
}

pub(super) fn planned<'a>(
    arguments: &Arguments,
    sets: &[String],
    bench: &'a Bench<'_>,
) -> Result<Planned<'a>, Trouble> {
    let (wanted, shows_signals) = wishes::wanted(arguments, sets, bench)?;
    if let Err(error) = bench.can_record_calls() {
        let hint = error.hint();
        return Err(other(error, hint));
    }
    let reading = bench.reading().map_err(|error| {
        let hint = error.hint().map(|hint| format!("\nhint: {hint}"));
        Trouble::Usage(chain(&error) + &hint.unwrap_or_default())
    })?;
    let memory = MemoryPlan {
        reader: reading.reader,
        contents: arguments.string_limit,
        paths: !arguments.paths.is_empty(),
        names: false,
    };
    let reach = bench.reach();
    let within = reach.as_ref().copied().unwrap_or_default();
    let planned = plan::events_within(within, &wanted, memory, bench);
    let plan = match (planned, reach) {
        (Ok(plan), Ok(_)) => plan,
        // The right to trace is what is missing, and that error knows what to do about it.
        (Ok(_) | Err(EventsError::Host(_)), Err(error)) => {
            let hint = error.hint();
            return Err(other(error, hint));
        }
        // A word that is no event is reported in any case, and first.
        (Err(error), _) => return Err(unusable(error)),
    };
    Ok(Planned {
        plan,
        reading,
        shows_signals,
    })
}

/// Returns the bench of a command, which ends with the harness if calls of it are `held`. Its rings
/// are made at once if they have the default size.
pub(super) fn bench<'a>(
    arguments: &Arguments,
    host: &'a Host,
    held: bool,
) -> Result<Bench<'a>, Trouble> {
    let bench = match held {
        true => whom::bench_of_one(host)?,
        false => whom::bench(host)?,
    };
    let bench = bench
        .with_strings(arguments.strings.into())
        .with_source(arguments.source.into());
    let bench = bench.with_backlog(arguments.backlog.map(Bounds::of));
    if arguments.ring_size.is_none() {
        bench.warm_up();
    }
    Ok(bench)
}
