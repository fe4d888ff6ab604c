//! What the reader of a trace must know of its run.

use super::{Arguments, workload};
use perf_live::gate::Log;
use perf_live::sandbox::{INSIDE, WorkDir, Workload};
use perf_records::units::Pid;
use std::path::Path;
use trace_harness::plan::FaultPlan;
use trace_harness::run::{Bench, Setting};

/// Of a command: the sandbox's init, its directory, the workload, and the faults.
pub(super) fn of(
    arguments: &Arguments,
    bench: &Bench<'_>,
    (init, directory, workload): (Option<Pid>, Option<&WorkDir>, &Workload),
    faults: &[FaultPlan],
) -> Setting {
    let words = arguments.command.iter();
    let moved = directory.map(|directory| (Path::new(INSIDE), directory.path()));
    Setting {
        init,
        command: words.map(|word| word.to_string_lossy().into()).collect(),
        initial: workload::inherited(directory, workload),
        probed: Some(bench.probed_files(moved)),
        moved: moved.map(|(inside, outside)| (inside.to_owned(), outside.to_owned())),
        held: match (faults.is_empty(), arguments.save.is_some()) {
            (true, _) => None,
            (false, true) => Some(Log::keeping()),
            (false, false) => Some(Log::default()),
        },
        ..Setting::default()
    }
}
