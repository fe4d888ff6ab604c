//! `harness matrix`: the same scenarios on every kernel of a list.

mod bisect;
mod changed;
mod guests;
mod running;
mod said;
mod saved;
mod update;

use crate::kernels::Listed;
use crate::out::note;
use crate::reports::Reports;
use crate::suite::{Chosen, exit_status, refuse};
use crate::vm::Size;
use crate::{complain, is_ci, signals, status};
use guests::Suite;
use std::path::PathBuf;
use std::sync::Mutex;
use trace_harness::matrix::{Column, Matrix};
use trace_harness::run::whole;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each kernel of the list is booted in a virtual machine, which needs no rights, and `harness run` runs the scenarios there. A \
kernel that cannot be had, or a guest that hangs, panics or runs out of memory, makes its scenarios broken, with the end of its console. \
What differs from a kernel to the next runs there again, three times: a difference is what every run has.\n\n\
With --bisect all scenarios run on GOOD and BAD, which must be what they are called; then those that pass on GOOD and fail on BAD, in every \
one of three more runs, on the middle of what is left, until the first bad kernel is known. A kernel that does not boot, or where a scenario \
is incomplete, skipped, broken or not the same in all runs, cannot tell, and is passed over: then a range may be left.\n\n\
Exit status: 0 all passed on all kernels, 1 some scenario failed, 2 usage error, 77 all were skipped, 99 something was broken, \
128 + n interrupted by signal n, with what is known until then in all reports. With --bisect: 0 the first bad kernel was found, 1 a range is \
left, or GOOD is not good or BAD not bad; 77 or 99 if that cannot be told, as all was skipped or something was broken.\n\n\
Environment: HARNESS_CACHE is where kernels are kept [default: harness in XDG_CACHE_HOME or ~/.cache]; HARNESS_REQUIRE=all turns skips into \
failures."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    listed: Listed,
    /// Only these kernels of the list, by their names; may be given several times
    #[arg(long, short, value_name = "NAME")]
    kernel: Vec<String>,
    /// How many guests run side by side [default: as many as have CPUs of their own]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    guests: Option<u16>,
    /// Write new and changed snapshots when all kernels have answered: one common snapshot for what
    /// is the same on all of them, variants (NAME@6.1.snap) for what differs. A common snapshot
    /// that is right on any of them stays; with `kernel` it always stays. Variants of other kernels
    /// are left alone; those of these kernels that have become equal to the common one are removed
    #[arg(long, value_name = "FOR", num_args = 0..=1, require_equals = true, default_missing_value = "all", value_enum)]
    update: Option<UpdateFor>,
    /// Keep the records of each scenario on each kernel in DIR/KERNEL/NAME.data, every call among
    /// them: `harness policy --from DIR` makes a policy for all of these kernels
    #[arg(long, value_name = "DIR", conflicts_with = "bisect")]
    save: Option<PathBuf>,
    /// Compare the architectures of the list, too: each kernel of a further one with that of the
    /// first in the list that has the same version, or the last of either where none has. Where
    /// only the ABI makes the difference (`rename` is `renameat` there), it is told as such
    #[arg(long, conflicts_with = "bisect")]
    across_arch: bool,
    /// Search the list, from the kernel GOOD to the kernel BAD behind it, for the first on which
    /// scenarios fail that pass on GOOD
    #[arg(long, value_name = "GOOD..BAD", conflicts_with_all = ["kernel", "update"])]
    bisect: Option<String>,
    #[command(flatten)]
    size: Size,
    #[command(flatten)]
    reports: Reports,
}

/// Which snapshots are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum UpdateFor {
    /// The common ones and those of these kernels' versions
    All,
    /// Those of these kernels' versions
    Kernel,
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    match run(arguments) {
        Ok(status) | Err(status) => status,
    }
}

fn run(arguments: &Arguments) -> Result<u8, u8> {
    if arguments.update.is_some() && is_ci() {
        note!("harness: nothing is written when CI is set; unset it to use --update");
        return Err(status::USAGE);
    }
    let items = arguments.chosen.find().map_err(|message| {
        note!("harness: {message}");
        status::USAGE
    })?;
    trace_harness::run::check(&items).map_err(|error| refuse(&error))?;
    let before = whole(&items).map_err(|error| {
        complain(&error, None);
        status::USAGE
    })?;
    let kernels = arguments.listed.read()?;
    let history = match &arguments.bisect {
        Some(ends) => Some(bisect::history(&kernels, ends)?),
        None => None,
    };
    for name in arguments.reports.built() {
        kernels.choose(Some(name))?;
    }
    let names: Vec<String> = match arguments.kernel.as_slice() {
        [] => kernels.specs.iter().map(|spec| spec.name.clone()).collect(),
        names => names.to_vec(),
    };
    for name in &names {
        kernels.unpack(name)?;
    }
    arguments.reports.begin()?;
    // Of all kernels, those that turn out not to boot too: no policy is made of a folder without
    // records.
    let save = arguments.save.as_deref();
    let folders = save.map(|save| saved::folders(save, &names)).transpose();
    let folders = folders.map_err(|message| {
        note!("harness: {message}");
        status::USAGE
    })?;
    let stop = signals::ask_guests().unwrap_or_default();
    let suite = Suite {
        kernels: &kernels,
        chosen: &arguments.chosen,
        size: &arguments.size,
        guests: guests(arguments, names.len()),
        scenarios: items.iter().map(|item| item.name.clone()).collect(),
        machine: arguments.size.machine_until(stop.clone()),
        is_terminal: guests::is_terminal(),
        folders: folders.unwrap_or_default(),
        is_across: arguments.across_arch,
        columns: Mutex::default(),
    };
    if let Some(history) = history {
        return Ok(bisect::run(&suite, &history, &arguments.reports));
    }
    let tell = || interrupted(&suite.so_far(), &arguments.reports);
    signals::work(&stop, || suite.on_each(&names), tell);
    let mut matrix = suite.so_far();
    if signals::asked().is_some() {
        return Err(tell());
    }
    changed::unsettle(&mut matrix, &items, &before);
    if let Some(whom) = arguments.update {
        update::accept(&mut matrix, &items, whom == UpdateFor::Kernel)?;
    }
    if arguments.reports.tell(&matrix) {
        Ok(exit_status(&matrix.verdicts()))
    } else {
        Err(status::TROUBLE)
    }
}

/// Tells what had ended; what had not is neither broken nor judged. Returns the exit status.
fn interrupted(matrix: &Matrix, reports: &Reports) -> u8 {
    note!("harness: interrupted: {}", so_far(matrix));
    let is_told = reports.tell(matrix);
    signals::asked()
        .filter(|_| is_told)
        .unwrap_or(status::TROUBLE)
}

/// `6.1: 12 of 24 scenarios had ended`, for each kernel.
fn so_far(matrix: &Matrix) -> String {
    let all = matrix.scenarios.len();
    let of = |column: &Column| {
        let scenarios = matrix.scenarios.iter();
        let ended = scenarios.filter(|name| !column.answers(name).is_empty());
        format!(
            "{}: {} of {all} scenarios had ended",
            column.kernel,
            ended.count()
        )
    };
    let columns: Vec<String> = matrix.columns.iter().map(of).collect();
    columns.join(", ")
}

fn guests(arguments: &Arguments, kernels: usize) -> usize {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let each = usize::try_from(arguments.size.cpus()).unwrap_or(1).max(1);
    let usual = (cpus / each).max(1);
    arguments.guests.map_or(usual, usize::from).min(kernels)
}
