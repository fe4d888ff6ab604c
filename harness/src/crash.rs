//! `harness crash`: the states that a power cut may leave, and what a recovery makes of each.

mod writing;

use crate::out::note;
use crate::progress::Progress;
use crate::suite::skipped;
use crate::{bench, out, signals, status, suite};
use perf_live::errors::chain;
use perf_live::host::Host;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use trace_harness::report;
use trace_harness::run::{
    Bench, Control, CrashError, CrashOptions, CrashStart, CrashStudy, Item, Suite,
};
use trace_harness::verdict::Verdict;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The scenario has the key `crash`. Its workload runs once; then the recovery runs on each state that the model allows. A state \
has the same number in each run of the same calls.\n\n\
Exit status: 0 the recovery passed on all states, 1 it failed on some, or the scenario does not pass, 2 usage error or invalid scenario, \
77 it would be skipped, 99 interrupted, not known, or the harness itself could not do its work.\n\n\
Environment: HARNESS_REQUIRE=all turns a skip into a failure."
)]
pub(crate) struct Arguments {
    /// The scenario file
    #[arg(value_name = "SCENARIO")]
    file: PathBuf,
    /// Print the calls that changed the folder or made it durable, and by which each is durable
    #[arg(long)]
    log: bool,
    /// Try this state alone
    #[arg(long, value_name = "N")]
    state: Option<usize>,
    /// Keep its folder as the power cut leaves it
    #[arg(long, requires = "state")]
    keep: bool,
    /// Write a scenario that reproduces the failing state that lost least into this folder
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
    /// Try at most so many states [default: as the scenario says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    states: Option<u32>,
    /// Choose others among more states than that [default: as the scenario says]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How many states are tried side by side [default: the number of CPUs]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Multiply the time of each run by this, for a slow machine [default: 1, in an emulated
    /// guest 6]
    #[arg(long, value_name = "N", env = "HARNESS_PATIENCE", hide_env_values = true, value_parser = clap::value_parser!(u32).range(1..=1000))]
    patience: Option<u32>,
    /// The form of the report
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Human,
    Json,
    Html,
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    let of_machine = || std::thread::available_parallelism().map_or(1, usize::from);
    let options = CrashOptions {
        states: arguments.states.map(|states| states as usize),
        seed: arguments.seed,
        only: arguments.state,
        keep: arguments.keep,
        jobs: arguments.jobs.map_or_else(of_machine, usize::from),
    };
    let items = match suite::of_file(&arguments.file) {
        Ok(items) => items,
        Err(status) => return status,
    };
    let host = Host::running();
    let bench = match bench(&host) {
        Ok(bench) => bench.for_runs(options.jobs),
        Err(status) => return status,
    };
    let bench = bench.with_patience(arguments.patience.unwrap_or(1));
    suite::read(&bench, items.clone(), |suite| {
        crash(arguments, &options, (&bench, suite), &items)
    })
}

fn crash(
    arguments: &Arguments,
    options: &CrashOptions,
    (bench, suite): (&Bench<'_>, &Suite<'_>),
    items: &[Item],
) -> u8 {
    let signals = match signals::watched() {
        Ok(signals) => signals,
        Err(status) => return status,
    };
    let control = || -> Box<dyn Control + '_> { Box::new(signals::EndAll(&signals)) };
    let told = out::Told::default();
    let mut worst = status::PASSED;
    for item in items {
        let printer = Printer::new(arguments, &told);
        let mut begin = |start: &CrashStart| printer.begin(start);
        let studied = suite.crash(item, options, &control, &mut begin, &|tried| {
            printer.report(tried)
        });
        let (of_item, is_over) = match studied {
            Ok(study) => {
                let is_over = study.interrupted;
                (printer.finish(bench, &study), is_over)
            }
            Err(error) => {
                note!("harness: {}: {}", item.name, chain(&error));
                (status_of(&error), matches!(error, CrashError::Interrupted))
            }
        };
        worst = suite::graver(worst, of_item);
        if is_over {
            break;
        }
    }
    match told.all() {
        true => worst,
        false => status::TROUBLE,
    }
}

fn status_of(error: &CrashError) -> u8 {
    match error {
        CrashError::Unmet(_) => skipped(),
        CrashError::NoPass { verdict, .. } => match verdict {
            Verdict::Incomplete | Verdict::Broken => status::TROUBLE,
            _ => status::FAILED,
        },
        CrashError::Unfit(_)
        | CrashError::NoState { .. }
        | CrashError::Unwritten(_)
        | CrashError::Text(_) => status::USAGE,
        CrashError::Interrupted | CrashError::Run(_) => status::TROUBLE,
    }
}

/// Prints states as they are tried.
struct Printer<'a> {
    arguments: &'a Arguments,
    told: &'a out::Told,
    begun: Mutex<Option<(CrashStart, Progress)>>,
}

impl<'a> Printer<'a> {
    fn new(arguments: &'a Arguments, told: &'a out::Told) -> Self {
        Self {
            arguments,
            told,
            begun: Mutex::new(None),
        }
    }

    fn begin(&self, start: &CrashStart) {
        let mut text = String::new();
        match self.arguments.format {
            Format::Json => report::crash_json(&mut text, start),
            Format::Html => {}
            Format::Human => {
                text = format!(
                    "{}: {} calls, {}\n",
                    start.item.name,
                    start.calls.len(),
                    start.extent
                );
                if self.arguments.log {
                    report::crash_log(&mut text, start);
                }
            }
        }
        self.told.print(&text);
        let states = self.arguments.state.map_or(start.states, |_| 1);
        let progress = Progress::begin(states, "states");
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        *begun = Some((start.clone(), progress));
    }

    fn report(&self, tried: &trace_harness::verdict::Failure) {
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((start, progress)) = begun.as_ref() else {
            return;
        };
        if self.arguments.format == Format::Json {
            let mut text = String::new();
            report::state_json(&mut text, start, tried);
            self.told.print(&text);
        }
        progress.one_more();
    }

    fn finish(&self, bench: &Bench<'_>, study: &CrashStudy) -> u8 {
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = begun.as_ref();
        if let Some((_, progress)) = begun {
            progress.end();
        }
        let folder = self.arguments.write.as_deref();
        let written = folder.zip(study.worst.as_ref()).map(|(folder, worst)| {
            writing::write(bench, worst, folder)
                .inspect_err(|(_, why)| note!("harness: {}: {why}", study.item.name))
        });
        let path = written.as_ref().and_then(|written| written.as_deref().ok());
        let mut text = String::new();
        match self.arguments.format {
            Format::Json => report::crashed_json(&mut text, study, path),
            Format::Html => {
                if let Some((start, _)) = begun {
                    report::crashed_html(&mut text, start, study);
                }
            }
            Format::Human => report::crashed_human(&mut text, study, path),
        }
        self.told.print(&text);
        if let Some(Err((unwritten, _))) = written {
            return suite::graver(unwritten, Self::status(study));
        }
        Self::status(study)
    }

    fn status(study: &CrashStudy) -> u8 {
        if study.interrupted {
            status::TROUBLE
        } else if study.crashed.failed > 0 {
            status::FAILED
        } else if !study.crashed.unknown.is_empty() {
            status::TROUBLE
        } else {
            status::PASSED
        }
    }
}
