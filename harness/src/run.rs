//! `harness run`: scenarios and folders of them.

use crate::{complain, is_ci, signals, status};
use regex::Regex;
use std::collections::HashSet;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use trace_harness::errors::chain;
use trace_harness::host::Host;
use trace_harness::report;
use trace_harness::run::{
    Bench, Control, Fault, Item, Options, ScenarioReport, Suite, SuiteError, Update, discover,
};
use trace_harness::snapshot::{self, Place};
use trace_harness::verdict::Verdict;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 all passed, 1 some scenario failed, 2 usage error or invalid scenario, 77 all were skipped, \
99 the harness itself could not do its work.\n\n\
Environment: CI set means that nothing is ever written; HARNESS_REQUIRE=all turns skips into failures."
)]
pub(crate) struct Arguments {
    /// Scenario files, or folders of them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Write new and changed snapshots
    #[arg(long)]
    update: bool,
    /// How many scenarios run side by side [default: the number of CPUs]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Run each scenario so many times; every trace must be the same
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Keep the directory that each scenario was run in, and say where it is; with --repeat that of the last run
    #[arg(long)]
    keep: bool,
    /// Only scenarios whose name matches
    #[arg(long, value_name = "RE")]
    filter: Option<Regex>,
    /// The form of the report
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Human,
    Json,
    Junit,
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    if arguments.update && is_ci() {
        anstream::eprintln!("harness: nothing is written when CI is set; unset it to use --update");
        return status::USAGE;
    }
    let items = match find(arguments) {
        Ok(items) => items,
        Err(message) => {
            anstream::eprintln!("harness: {message}");
            return status::USAGE;
        }
    };
    let host = Host::running();
    let bench = match Bench::new(&host) {
        Ok(bench) => bench,
        Err(error) => {
            complain(&error, error.hint());
            return status::TROUBLE;
        }
    };
    let bench = bench.for_runs(jobs(arguments));
    match Suite::read(&bench, items) {
        Ok(suite) => match bench.reach() {
            Ok(_) => run(arguments, &suite),
            Err(error) => {
                complain(&error, error.hint());
                status::TROUBLE
            }
        },
        Err(error) => refuse(&error),
    }
}

fn find(arguments: &Arguments) -> Result<Vec<Item>, String> {
    let mut items = discover(&arguments.paths)
        .map_err(|(path, error)| format!("cannot read `{}`: {}", path.display(), chain(&error)))?;
    if items.is_empty() {
        return Err("there is no scenario (*.yaml) in what was named".to_owned());
    }
    if let Some(filter) = &arguments.filter {
        items.retain(|item| filter.is_match(&item.name));
        if items.is_empty() {
            return Err(format!("no scenario's name matches `{filter}`"));
        }
    }
    Ok(items)
}

/// Says what is wrong with scenarios.
pub(crate) fn refuse(error: &SuiteError) -> u8 {
    match error {
        SuiteError::Invalid(complaints) => {
            let color = std::io::stderr().is_terminal();
            for complaint in complaints {
                anstream::eprintln!("{}\n", complaint.render(color).trim_end());
            }
            complain(error, None);
            status::USAGE
        }
        SuiteError::Read { .. } | SuiteError::SameSnapshot { .. } | SuiteError::NoRow { .. } => {
            complain(error, None);
            status::USAGE
        }
        SuiteError::Host(host) => {
            complain(error, host.hint());
            status::TROUBLE
        }
    }
}

fn run(arguments: &Arguments, suite: &Suite<'_>) -> u8 {
    let signals = match signals::watch() {
        Ok(signals) => signals,
        Err(error) => {
            complain(&error, None);
            return status::TROUBLE;
        }
    };
    let options = Options {
        update: match (arguments.update, is_ci()) {
            (true, _) => Update::Accept,
            (false, true) => Update::Never,
            (false, false) => Update::Pending,
        },
        repeat: arguments.repeat,
        jobs: jobs(arguments),
        require_all: std::env::var("HARNESS_REQUIRE").is_ok_and(|value| value == "all"),
        keep: arguments.keep,
        fault: Fault::default(),
    };
    let printer = Printer {
        format: arguments.format,
        total: suite.items().count(),
        progress: std::io::stderr().is_terminal() && arguments.format == Format::Human,
        reports: Mutex::default(),
    };
    let control = || -> Box<dyn Control + '_> { Box::new(signals::EndAll(&signals)) };
    printer.show_progress(0);
    suite.run(&options, &control, &|report| printer.report(report));
    let reports = printer.finish();
    if arguments.format == Format::Human && arguments.filter.is_none() {
        warn_of_orphans(&arguments.paths, &reports);
    }
    let verdicts: Vec<Verdict> = reports.iter().map(|report| report.verdict).collect();
    exit_status(&verdicts)
}

fn jobs(arguments: &Arguments) -> usize {
    let of_machine = || std::thread::available_parallelism().map_or(1, usize::from);
    arguments.jobs.map_or_else(of_machine, usize::from)
}

fn exit_status(verdicts: &[Verdict]) -> u8 {
    let all = |wanted: Verdict| verdicts.iter().all(|verdict| *verdict == wanted);
    let good = |verdict: &Verdict| matches!(verdict, Verdict::Pass | Verdict::Skipped);
    if verdicts.contains(&Verdict::Broken) {
        status::TROUBLE
    } else if !verdicts.iter().all(good) {
        status::FAILED
    } else if all(Verdict::Skipped) {
        status::ALL_SKIPPED
    } else {
        status::PASSED
    }
}

struct Printer {
    format: Format,
    total: usize,
    progress: bool,
    reports: Mutex<Vec<ScenarioReport>>,
}

impl Printer {
    fn report(&self, report: ScenarioReport) {
        let mut text = String::new();
        match self.format {
            Format::Human => report::human(&mut text, &report, std::io::stdout().is_terminal()),
            Format::Json => report::scenario_json(&mut text, &report),
            Format::Junit => {}
        }
        if self.progress {
            anstream::eprint!("\r\u{1b}[K");
        }
        print(&text);
        let done = self.reports.lock().map_or(0, |mut reports| {
            reports.push(report);
            reports.len()
        });
        self.show_progress(done);
    }

    fn show_progress(&self, done: usize) {
        if self.progress && done < self.total {
            anstream::eprint!("\r\u{1b}[K{done} of {} done", self.total);
        }
    }

    fn finish(self) -> Vec<ScenarioReport> {
        let mut reports = self.reports.into_inner().unwrap_or_default();
        reports.sort_by(|a, b| a.name.cmp(&b.name));
        let verdicts: Vec<Verdict> = reports.iter().map(|report| report.verdict).collect();
        let mut text = String::new();
        match self.format {
            Format::Human => text = summary(&verdicts),
            Format::Json => report::suite_json(&mut text, &verdicts),
            Format::Junit => match report::junit(&reports) {
                Ok(xml) => text = xml,
                Err(error) => complain(&error, None),
            },
        }
        print(&text);
        reports
    }
}

/// `24 scenarios: 23 pass, 1 fail`.
fn summary(verdicts: &[Verdict]) -> String {
    let counts = Verdict::ALL.iter().filter_map(|word| {
        let count = verdicts.iter().filter(|verdict| *verdict == word).count();
        (count > 0).then(|| format!("{count} {}", word.word().replace('_', " ")))
    });
    let counts: Vec<String> = counts.collect();
    let plural = if verdicts.len() == 1 { "" } else { "s" };
    format!(
        "{} scenario{plural}: {}\n",
        verdicts.len(),
        counts.join(", ")
    )
}

/// A reader that has gone away is no reason to panic.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _gone = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Says which snapshots below the folders that were run belong to no scenario.
fn warn_of_orphans(paths: &[PathBuf], reports: &[ScenarioReport]) {
    let names: HashSet<String> = reports
        .iter()
        .map(|report| Place::of(&report.file).of_row(&report.row).name)
        .collect();
    // The root of the snapshots, and what the names begin with of those that belong to the folder.
    let mut folders: Vec<(PathBuf, String)> = paths
        .iter()
        .filter(|path| path.is_dir())
        .map(|path| Place::of(&path.join("x")))
        .map(|place| (place.root, place.name.trim_end_matches('x').to_owned()))
        .collect();
    folders.sort();
    folders.dedup();
    for (root, prefix) in folders {
        let used = |file: &PathBuf| {
            let below = file.strip_prefix(&root).unwrap_or(file).with_extension("");
            let name = below.to_string_lossy().into_owned();
            let name = name.split('@').next().unwrap_or_default().to_owned();
            !name.starts_with(&prefix) || names.contains(&name)
        };
        for file in snapshot::files_below(&root, ".snap")
            .unwrap_or_default()
            .iter()
            .filter(|file| !used(file))
        {
            anstream::eprintln!(
                "warning: no scenario uses the snapshot `{}`",
                file.display()
            );
        }
    }
}
