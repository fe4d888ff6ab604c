//! `harness trace -i FILE`: shows a recording as if its run took place now.

use super::form::form;
use super::options::Format;
use super::printer::{Form, Printer};
use super::spans::Spans;
use super::{Arguments, Trouble, delivered, other, sink, sink_of_results, unusable, wishes};
use crate::out::note;
use crate::status;
use perf_live::host::{Catalogue, Host};
use perf_records::units::TracepointName;
use perf_records::units::shown_path;
use std::path::Path;
use syscall_model::files::Watched;
use syscall_model::{Choice, Signatures, UNREAD};
use trace_harness::plan::{self, MemoryPlan};
use trace_harness::report::{Lead, Plain, TimeForm};
use trace_harness::run::RecordedRun;
use trace_harness::verdict::{self, Known};

pub(super) fn trace(arguments: &Arguments, file: &Path) -> Result<u8, Trouble> {
    let recording = RecordedRun::open(file).map_err(|error| other(error, None))?;
    let (named, shows_signals) = wishes::wanted(arguments, &arguments.events, &recording)?;
    let names_events = arguments.events.iter().any(|set| wishes::names_events(set));
    let wanted = match names_events {
        true => named,
        false => recording.wanted(),
    };
    if wanted.is_empty() {
        return Err(Trouble::Usage(format!(
            "`{}` holds neither calls nor tracepoints; `harness script` shows all records",
            shown_path(file)
        )));
    }
    let memory = MemoryPlan {
        contents: arguments.string_limit,
        paths: !arguments.paths.is_empty(),
        names: false,
        ..recording.memory()
    };
    let plan = plan::events_within(recording.reach(), &wanted, memory, &recording);
    let mut plan = plan.map_err(unusable)?;
    if recording.chosen_calls().is_some() {
        // What changed descriptors and mappings may not have been chosen.
        plan.watched = Watched::default();
        plan.maps = false;
    }
    let has_events = recording.has_events(&plan);
    has_events.map_err(|error| other(error, None))?;
    let filtered = recording.filtered(&plan);
    let host = Host::running();
    let signatures = signatures(&recording, &host);
    let sink = sink_of_results(arguments.output.as_ref())?;
    sink.is_not(arguments.input.as_deref(), "-i")?;
    let mut printer = Printer::new(
        &plan,
        &signatures,
        form(arguments, recording.wall_clock_offset())?,
        sink,
    );
    let spans = Spans::new(&arguments.spans, &plan, &signatures);
    printer.spans = spans.map_err(Trouble::Usage)?;
    printer.sched = arguments
        .sched
        .then(|| super::sched::View::of(arguments.format));
    printer.signals = shows_signals.then(delivered::Signals::default);
    let replayed = recording.replay_with_parts(&plan, &mut printer);
    let (run, parts) = replayed.map_err(|error| other(error, None))?;
    if let Some(overwritten) = verdict::overwritten(&run.account) {
        note!("harness: {overwritten}");
    }
    let exit = &run.exit;
    let status = printer.finish((&run.account, &parts), exit.yes().copied())?;
    if let Known::No(why) = exit {
        note!("harness: {why}");
    }
    for (event, filter) in &filtered {
        note!("harness: the recording holds `{event}` only where `{filter}`");
    }
    for finding in &run.findings {
        note!("harness: {finding}");
    }
    if plan.points() && recording.memory_reader() == plan::MemoryReader::Nobody {
        note!("harness: what calls were given is not in the recording, and shown as {UNREAD}");
    }
    Ok(match status {
        status::TRACE_TROUBLE if !(run.account.is_complete() && parts.is_empty()) => status,
        _ => 0,
    })
}

/// Returns the signatures for a recording: the names of calls' arguments are the same on all
/// kernels, those of tracepoints' fields are the recording's.
pub(crate) fn signatures<'a>(recording: &'a RecordedRun, host: &'a Host) -> Signatures<'a> {
    Signatures::new(Box::new(|event| {
        let name = TracepointName::parse(&format!("syscalls:{event}"))?;
        recording.format(&name).or_else(|_| host.format(&name)).ok()
    }))
}

/// Writes all that a recording holds as text, a line each with its time, after `head`.
pub(crate) fn text(file: &Path, head: &str, to: &Path) -> Result<(), Trouble> {
    let recording = RecordedRun::open(file).map_err(|error| other(error, None))?;
    let memory = recording.memory();
    let plan = plan::events_within(recording.reach(), &recording.wanted(), memory, &recording);
    let plan = plan.map_err(unusable)?;
    let host = Host::running();
    let signatures = signatures(&recording, &host);
    let mut sink = sink(Some(&to.to_owned()))?;
    sink.put(head)?;
    let form = Form {
        format: Format::Text,
        choice: Choice::default(),
        values: Plain {
            contents: memory.contents.into(),
            ..Plain::default()
        },
        lines: true,
        lead: Lead::new(Some(TimeForm::Events), 0),
        durations: false,
        summary: None,
    };
    let mut printer = Printer::new(&plan, &signatures, form, sink);
    let replayed = recording.replay(&plan, &mut printer);
    replayed.map_err(|error| other(error, None))?;
    printer.end()
}
