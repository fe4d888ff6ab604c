//! `harness matrix`: the same scenarios on every kernel of a list.

mod guests;

use crate::kernels::Listed;
use crate::reports::Reports;
use crate::status;
use crate::suite::{Chosen, exit_status};
use crate::vm::Size;
use guests::Suite;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each kernel of the list is booted in a virtual machine, which needs no rights, and `harness run` runs the scenarios there. A \
kernel that cannot be had, or a guest that hangs, panics or runs out of memory, makes its scenarios broken, with the end of its console.\n\n\
Exit status: 0 all passed on all kernels, 1 some scenario failed, 2 usage error, 77 all were skipped, 99 something was broken.\n\n\
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
    #[command(flatten)]
    size: Size,
    #[command(flatten)]
    reports: Reports,
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    match run(arguments) {
        Ok(status) | Err(status) => status,
    }
}

fn run(arguments: &Arguments) -> Result<u8, u8> {
    let items = arguments.chosen.find().map_err(|message| {
        anstream::eprintln!("harness: {message}");
        status::USAGE
    })?;
    let kernels = arguments.listed.read()?;
    arguments.reports.check()?;
    let names: Vec<String> = match arguments.kernel.as_slice() {
        [] => kernels.specs.iter().map(|spec| spec.name.clone()).collect(),
        names => names.to_vec(),
    };
    for name in &names {
        kernels.choose(Some(name))?;
    }
    let suite = Suite {
        kernels: &kernels,
        chosen: &arguments.chosen,
        size: &arguments.size,
        guests: guests(arguments, names.len()),
        scenarios: items.into_iter().map(|item| item.name).collect(),
    };
    let matrix = suite.on_each(&names);
    if arguments.reports.tell(&matrix) {
        Ok(exit_status(&matrix.verdicts()))
    } else {
        Err(status::TROUBLE)
    }
}

fn guests(arguments: &Arguments, kernels: usize) -> usize {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let each = usize::try_from(arguments.size.cpus()).unwrap_or(1).max(1);
    let usual = (cpus / each).max(1);
    arguments.guests.map_or(usual, usize::from).min(kernels)
}
