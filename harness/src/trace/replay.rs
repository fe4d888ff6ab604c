//! `harness trace -i FILE`: what somebody recorded, as if it took place now.

use super::printer::Printer;
use super::{Arguments, Trouble, events, form, other, sink, unusable};
use crate::status;
use std::path::Path;
use trace_harness::host::{Catalogue, Host};
use trace_harness::plan::{self, MemoryPlan};
use trace_harness::run::RecordedRun;
use trace_harness::syscall::{Signatures, UNREAD};
use trace_harness::units::TracepointName;

pub(super) fn trace(arguments: &Arguments, file: &Path) -> Result<u8, Trouble> {
    let recording = RecordedRun::open(file).map_err(|error| other(error, None))?;
    let wanted = match arguments.events.as_slice() {
        [] => recording.wanted(),
        named => events::wanted(named).map_err(Trouble::Usage)?,
    };
    if wanted.is_empty() {
        return Err(Trouble::Usage(format!(
            "`{}` holds neither calls nor tracepoints; `harness script` shows all records",
            file.display()
        )));
    }
    let memory = MemoryPlan {
        contents: arguments.string_limit,
        paths: !arguments.paths.is_empty(),
        ..recording.memory()
    };
    let plan = plan::events_within(recording.reach(), &wanted, memory, &recording);
    let plan = plan.map_err(unusable)?;
    recording.check(&plan).map_err(|error| other(error, None))?;
    // The names of calls' arguments do not change from kernel to kernel; those of tracepoints' fields do, and are the recording's.
    let host = Host::running();
    let signatures = Signatures::new(Box::new(|event| {
        let name = TracepointName::parse(&format!("syscalls:{event}"))?;
        recording.format(&name).or_else(|_| host.format(&name)).ok()
    }));
    let sink = sink(arguments.output.as_ref())?;
    let mut printer = Printer::new(&plan, &signatures, form(arguments)?, sink);
    let replayed = recording
        .replay(&plan, &mut printer)
        .map_err(|error| other(error, None))?;
    let exit = replayed.has_exit.then_some(replayed.ended.exited.exit);
    let status = printer.finish(&replayed.ended.account, exit)?;
    for line in &replayed.untold {
        anstream::eprintln!("harness: {line}");
    }
    if plan.points() && recording.memory_reader() == plan::MemoryReader::Nobody {
        anstream::eprintln!(
            "harness: what calls were given is not in the recording, and shown as {UNREAD}"
        );
    }
    Ok(match status {
        status::TRACE_TROUBLE if !replayed.ended.account.is_complete() => status,
        _ => 0,
    })
}
