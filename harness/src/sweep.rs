//! `harness sweep`: fails each call of a scenario's run once.

mod writing;

use crate::out::note;
use crate::progress::Progress;
use crate::suite::{graver, skipped};
use crate::{bench, out, signals, status, suite};
use perf_live::errors::chain;
use perf_live::host::Host;
use perf_records::units::shown_path;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use syscall_model::names::Abi;
use syscall_model::select::Selection;
use trace_harness::report;
use trace_harness::run::{
    Bench, Control, Item, Shard, Suite, Sweep, SweepError, SweepOptions, SweepPlan, Swept,
};
use trace_harness::sweep::{Class, Errors};
use trace_harness::verdict::Verdict;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "A run without a fault must pass; then there is one run for each call that differs from the others (a site), and each error that it \
can have. Each run is crashed, hung, retried without end, leaked, silent (it says that it worked, and an expectation of results fails), \
forbidden (it says that it failed, and did what `never` or `confined` forbid), unknown, or handled.\n\n\
Exit status: 0 a call of each site was failed (each of the first 16 alike syncs or closes is one) and all were handled, 1 some were not, or the scenario does not pass, 2 usage error or invalid scenario, 77 it would be \
skipped, 99 interrupted, or the harness itself could not do its work.\n\n\
Environment: HARNESS_REQUIRE=all turns a skip into a failure."
)]
pub(crate) struct Arguments {
    /// The scenario file
    #[arg(value_name = "SCENARIO")]
    file: PathBuf,
    /// Fail only these calls: names, globs, %classes, each taken away again by !
    #[arg(
        short = 'e',
        long = "filter",
        value_name = "CALLS",
        value_delimiter = ','
    )]
    calls: Vec<String>,
    /// Try these errors, of all that a call can have [default: the usual ones of each call]
    #[arg(long, value_name = "ERRORS", value_delimiter = ',')]
    errors: Vec<String>,
    /// Fail all calls from the first on, and not that one alone: a disk that stays full
    #[arg(long)]
    lasting: bool,
    /// Write a scenario for each run that was not handled into this folder
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
    /// How many runs are made side by side [default: the number of CPUs]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Make only the runs of shard K of N, which are always the same share of the same runs
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
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
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    let options = match options(arguments) {
        Ok(options) => options,
        Err(message) => {
            note!("harness: {message}");
            return status::USAGE;
        }
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
        sweep(arguments, &options, (&bench, suite), &items)
    })
}

fn options(arguments: &Arguments) -> Result<SweepOptions, String> {
    let errors = match arguments.errors.as_slice() {
        [] => Errors::Usual,
        names => {
            Errors::named(names.iter().map(|name| name.trim())).map_err(|error| chain(&error))?
        }
    };
    let words: Vec<&str> = arguments.calls.iter().map(|word| word.trim()).collect();
    let calls = match words.as_slice() {
        [] => None,
        words => Some(Selection::parse(words, Abi::native()).map_err(|error| {
            let hint = error.hint().map(|hint| format!("; {hint}"));
            format!("{error}{}", hint.unwrap_or_default())
        })?),
    };
    if let Some(folder) = &arguments.write {
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("cannot make `{}`: {error}", shown_path(folder)))?;
    }
    let of_machine = || std::thread::available_parallelism().map_or(1, usize::from);
    Ok(SweepOptions {
        errors,
        calls,
        shard: arguments.shard,
        lasting: arguments.lasting,
        jobs: arguments.jobs.map_or_else(of_machine, usize::from),
    })
}

fn sweep(
    arguments: &Arguments,
    options: &SweepOptions,
    (bench, suite): (&Bench<'_>, &Suite<'_>),
    items: &[Item],
) -> u8 {
    let signals = match signals::watched() {
        Ok(signals) => signals,
        Err(status) => return status,
    };
    let control = || -> Box<dyn Control + '_> { Box::new(signals::EndAll(&signals)) };
    let told = out::Told::default();
    let mut sweeps = Vec::new();
    let mut worst = status::PASSED;
    for item in items {
        let printer = Printer::new(arguments, bench, &told);
        let mut begin = |plan: &SweepPlan| printer.begin(plan, options);
        let swept = suite.sweep(item, options, &control, &mut begin, &|swept| {
            printer.report(swept)
        });
        match swept {
            Ok(sweep) => {
                worst = graver(worst, printer.finish(&sweep));
                let is_over = sweep.interrupted;
                sweeps.push(sweep);
                if is_over {
                    break;
                }
            }
            Err(error) => {
                note!("harness: {}: {}", item.name, chain(&error));
                worst = graver(worst, status_of(&error));
                if matches!(error, SweepError::Interrupted) {
                    break;
                }
            }
        }
    }
    let mut text = String::new();
    match arguments.format {
        // There is nothing to sum up.
        _ if sweeps.is_empty() => {}
        Format::Human => report::sweeps_human(&mut text, &sweeps),
        Format::Json => report::sweeps_json(&mut text, &sweeps),
    }
    told.print(&text);
    match told.all() {
        true => worst,
        false => status::TROUBLE,
    }
}

fn status_of(error: &SweepError) -> u8 {
    match error {
        SweepError::Unmet(_) => skipped(),
        SweepError::NoPass { verdict, .. } => match verdict {
            Verdict::Incomplete | Verdict::Broken => status::TROUBLE,
            _ => status::FAILED,
        },
        SweepError::Unfit(_)
        | SweepError::NotTraced
        | SweepError::NoSite { .. }
        | SweepError::Text(_) => status::USAGE,
        SweepError::Interrupted | SweepError::Suite(_) | SweepError::Run(_) => status::TROUBLE,
    }
}

/// Prints a sweep while it runs, and writes the scenarios of what was not handled.
struct Printer<'a> {
    arguments: &'a Arguments,
    bench: &'a Bench<'a>,
    told: &'a out::Told,
    state: Mutex<State>,
}

struct State {
    begun: Option<(SweepPlan, Progress)>,
    written: BTreeMap<(usize, i32), String>,
    /// The status that what could not be written asks for.
    unwritten: u8,
}

impl<'a> Printer<'a> {
    fn new(arguments: &'a Arguments, bench: &'a Bench<'a>, told: &'a out::Told) -> Self {
        Self {
            arguments,
            bench,
            told,
            state: Mutex::new(State {
                begun: None,
                written: BTreeMap::new(),
                unwritten: status::PASSED,
            }),
        }
    }

    fn begin(&self, plan: &SweepPlan, options: &SweepOptions) {
        let shard = options.shard.map(|shard| shard.to_string());
        let mut text = String::new();
        match self.arguments.format {
            Format::Json => report::sweep_json(&mut text, plan, shard.as_deref()),
            Format::Human => {
                let of_all = shard
                    .as_ref()
                    .map(|shard| format!(" (shard {shard} of {} runs)", plan.of_all));
                let none = match (plan.runs, shard) {
                    (0, Some(_)) => ": none of them is of this shard",
                    _ => "",
                };
                text = format!(
                    "{}: {} sites, {} runs{}{none}\n",
                    plan.item.name,
                    plan.sites.len(),
                    plan.runs,
                    of_all.unwrap_or_default()
                );
            }
        }
        self.told.print(&text);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.begun = Some((plan.clone(), Progress::begin(plan.runs, "runs")));
    }

    fn report(&self, swept: &Swept) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((plan, progress)) = state.begun.take() else {
            return;
        };
        let file = self.write(&plan, swept, &mut state);
        if self.arguments.format == Format::Json {
            let mut text = String::new();
            report::swept_json(&mut text, &plan, swept, file.as_deref());
            self.told.print(&text);
        }
        progress.one_more();
        state.begun = Some((plan, progress));
    }

    /// Writes the scenario of a run that was not handled; returns its path.
    fn write(&self, plan: &SweepPlan, swept: &Swept, state: &mut State) -> Option<String> {
        let folder = self.arguments.write.as_ref()?;
        if swept.told.class == Class::Handled {
            return None;
        }
        match writing::write(self.bench, plan, swept, folder) {
            Ok(path) => {
                let path = path.to_string_lossy().into_owned();
                state
                    .written
                    .insert((swept.site, swept.error), path.clone());
                Some(path)
            }
            Err((status, message)) => {
                note!("harness: {message}");
                state.unwritten = graver(state.unwritten, status);
                None
            }
        }
    }

    /// Prints what is to be known when all is over; returns the status.
    fn finish(&self, sweep: &Sweep) -> u8 {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, progress)) = &state.begun {
            progress.end();
        }
        if self.arguments.format == Format::Human {
            let mut text = String::new();
            let color = out::has_colors(&std::io::stdout());
            report::sweep_human(&mut text, sweep, &state.written, color);
            self.told.print(&text);
        }
        if let Some(folder) = &self.arguments.write {
            let own: Vec<&Path> = state.written.values().map(Path::new).collect();
            writing::tell_earlier(&sweep.plan, folder, &own);
        }
        let is_handled = |swept: &Swept| swept.told.class == Class::Handled;
        let of_runs = if sweep.interrupted || sweep.runs.iter().any(|swept| swept.is_broken) {
            status::TROUBLE
        } else if !sweep.runs.iter().all(is_handled) || !sweep.plan.lost.is_empty() {
            status::FAILED
        } else {
            status::PASSED
        };
        graver(of_runs, state.unwritten)
    }
}
