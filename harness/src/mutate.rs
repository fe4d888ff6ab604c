//! `harness mutate`: shows what scenarios do not test.

use crate::suite::{Chosen, exit_status, require_all};
use crate::{out, signals, status};
use std::sync::Mutex;
use trace_harness::report;
use trace_harness::run::{Control, MutationOptions, MutationReport, Suite};
use trace_harness::verdict::Verdict;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "A mutant is a run in which an event is left out, repeated, reordered or edited. One that the expectations and the snapshot \
let through shows what they do not look at. Without a snapshot only what the expectations tell of is changed: the events that their \
steps mean, the fields that they test, the order and the number that they give.\n\n\
Exit status: 0 where at least 95 % of each scenario's mutants are killed or it says with `lenient` why not, 1 where not or where a \
scenario does not pass, 2 usage error or invalid scenario, 77 all were skipped, 99 the harness itself could not do its work.\n\n\
Environment: HARNESS_REQUIRE=all turns skips into failures."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// Judge by the expectations alone, as if there were no snapshots
    #[arg(long)]
    without_snapshot: bool,
    /// Also change what no expectation tells of; with a snapshot, that is always done
    #[arg(long)]
    all: bool,
    /// How many mutants of a run are tried; a sample if there are more
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..))]
    most: u32,
    /// The form of the report
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Human,
    Json,
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    arguments.chosen.work(|suite| mutate(arguments, suite))
}

fn mutate(arguments: &Arguments, suite: &Suite<'_>) -> u8 {
    let signals = match signals::watched() {
        Ok(signals) => signals,
        Err(status) => return status,
    };
    let options = MutationOptions {
        most: usize::try_from(arguments.most).unwrap_or(usize::MAX),
        without_snapshot: arguments.without_snapshot,
        all: arguments.all,
        jobs: arguments.chosen.jobs(),
        require_all: require_all(),
    };
    let told = out::Told::default();
    let reports = Mutex::new(Vec::new());
    let show = |report: MutationReport| {
        let mut text = String::new();
        match arguments.format {
            Format::Human => {
                report::mutation_human(&mut text, &report, out::has_colors(&std::io::stdout()));
            }
            Format::Json => report::mutation_json(&mut text, &report),
        }
        told.print(&text);
        if let Ok(mut reports) = reports.lock() {
            reports.push(report);
        }
    };
    let control = || -> Box<dyn Control + '_> { Box::new(signals::EndAll(&signals)) };
    suite.mutate(&options, &control, &show);
    let reports = reports.into_inner().unwrap_or_default();
    let mut text = String::new();
    match arguments.format {
        Format::Human => report::mutations_human(&mut text, &reports),
        Format::Json => report::mutations_json(&mut text, &reports),
    }
    told.print(&text);
    if !told.all() {
        return status::TROUBLE;
    }
    let verdicts: Vec<Verdict> = reports.iter().map(verdict).collect();
    exit_status(&verdicts)
}

/// Returns the verdict that a report amounts to.
fn verdict(report: &MutationReport) -> Verdict {
    match &report.result {
        Ok(survey) if survey.standing().is_good() => Verdict::Pass,
        Ok(_) => Verdict::Fail,
        Err((verdict, _)) => *verdict,
    }
}
