//! `harness run`: scenarios and folders of them.

use crate::kernels::Listed;
use crate::out::{note, note_for_now};
use crate::suite::{Chosen, exit_status, require_all};
use crate::trace::Trouble;
use crate::{complain, is_ci, out, signals, status};
use perf_live::host::Host;
use perf_records::units::shown_path;
use std::collections::{BTreeSet, HashSet};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use trace_harness::report;
use trace_harness::run::{Control, Fault, Options, ScenarioReport, Suite, Update};
use trace_harness::snapshot::{self, Place};
use trace_harness::verdict::Verdict;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 all passed, 1 some scenario failed, 2 usage error or invalid scenario, 77 all were skipped, \
99 the harness itself could not do its work.\n\n\
Environment: CI set means that no snapshot is ever written; HARNESS_REQUIRE=all turns skips into failures."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// Write new and changed snapshots; with `kernel`, what differs from a snapshot for all kernels
    /// becomes one for this kernel's version (NAME@6.1.snap), and the other stays
    #[arg(long, value_name = "FOR", num_args = 0..=1, require_equals = true, default_missing_value = "all", value_enum)]
    update: Option<UpdateFor>,
    /// Run each scenario this many times; every trace must be the same
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Keep the directory of each scenario's run, and say where it is; with --repeat that of the
    /// last run
    #[arg(long)]
    keep: bool,
    /// Judge the run that is recorded in this file (perf.data, of `harness run --save` or of perf
    /// record) instead of making one
    #[arg(long, value_name = "FILE", conflicts_with_all = ["repeat", "keep", "update"])]
    from: Option<PathBuf>,
    /// Keep the records of each scenario's last run in DIR/NAME.data, for `perf script`,
    /// `harness trace -i` and `harness run --from`
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    /// Keep the ends of failed runs whose scenarios say `on_failure: dump`, in DIR/NAME.perf.data
    /// and DIR/NAME.txt; the default is the DIR of --save, or else harness-dumps
    #[arg(long, value_name = "DIR")]
    dumps: Option<PathBuf>,
    /// Run them in a virtual machine, which takes no right to trace, on this kernel of the list
    /// [default: the first]; what is kept or updated lands here all the same
    #[arg(long, value_name = "KERNEL", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(conflicts_with_all = ["from", "keep"])]
    vm: Option<String>,
    #[command(flatten)]
    listed: Listed,
    /// Run nothing, and print the names of the scenarios
    #[arg(long, conflicts_with_all = ["vm", "from"])]
    list: bool,
    /// The form of the report
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// With --format json: before all else a line for the machine, with its settings, and in the
    /// line of each scenario its trace: what the snapshot shows, or else which calls there were
    #[arg(long)]
    traces: bool,
    /// Run all of them this many times one after the other, and report on each
    #[arg(long, value_name = "N", default_value_t = 1, hide = true)]
    rounds: u32,
}

/// Which kernels a new snapshot is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum UpdateFor {
    /// All that have no snapshot of their own
    All,
    /// Those of this kernel's version
    Kernel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Human,
    Json,
    Junit,
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    if arguments.update.is_some() && is_ci() {
        note!("harness: nothing is written when CI is set; unset it to use --update");
        return status::USAGE;
    }
    if arguments.traces && arguments.format != Format::Json {
        note!("harness: --traces belongs to --format json");
        return status::USAGE;
    }
    if arguments.list {
        return list(arguments);
    }
    if let Some(kernel) = &arguments.vm {
        let kernel = Some(kernel.as_str()).filter(|name| !name.is_empty());
        let (folders, made) = written(arguments);
        let status = crate::vm::again(kernel, &arguments.listed, &folders);
        for folder in made {
            // Only if nothing was written to it.
            std::fs::remove_dir(folder).ok();
        }
        return status;
    }
    let from = arguments.from.as_deref();
    arguments
        .chosen
        .work_from(from, |suite| run(arguments, suite))
}

/// The names, without a look at the machine: a list takes no right to trace.
fn list(arguments: &Arguments) -> u8 {
    let items = match arguments.chosen.find() {
        Ok(items) => items,
        Err(message) => {
            note!("harness: {message}");
            return status::USAGE;
        }
    };
    let mut text = String::new();
    match arguments.format {
        Format::Json => report::list_json(&mut text, env!("CARGO_PKG_VERSION"), &items),
        Format::Human => text.extend(items.iter().flat_map(|item| [&item.name, "\n"])),
        Format::Junit => {
            note!("harness: --list belongs to --format human or json");
            return status::USAGE;
        }
    }
    let told = out::Told::default();
    told.print(&text);
    if told.all() { 0 } else { status::TROUBLE }
}

fn run(arguments: &Arguments, suite: &Suite<'_>) -> u8 {
    let signals = match signals::watched() {
        Ok(signals) => signals,
        Err(status) => return status,
    };
    let options = Options {
        update: match (arguments.update, is_ci()) {
            (Some(UpdateFor::All), _) => Update::Accept,
            (Some(UpdateFor::Kernel), _) => Update::Variant,
            (None, true) => Update::Never,
            (None, false) => Update::Pending,
        },
        repeat: arguments.repeat,
        jobs: arguments.chosen.jobs(),
        require_all: require_all(),
        keep: arguments.keep,
        fault: Fault::default(),
        save: arguments
            .save
            .clone()
            .map(|folder| (folder, crate::record::about(None))),
        dumps: Some((dumps(arguments), crate::record::about(None))),
    };
    let told = out::Told::default();
    if arguments.traces && arguments.format == Format::Json {
        let mut text = String::new();
        let host = Host::running();
        let release = host.kernel_release().unwrap_or_default();
        report::machine_json(&mut text, &release, &host.settings());
        told.print(&text);
    }
    let printer = Printer {
        told,
        is_whole: AtomicBool::new(true),
        format: arguments.format,
        traces: arguments.traces,
        total: suite.items().count(),
        progress: std::io::stderr().is_terminal() && arguments.format == Format::Human,
        reports: Mutex::default(),
    };
    let control = || -> Box<dyn Control + '_> { Box::new(signals::EndAll(&signals)) };
    printer.show_progress(0);
    for _ in 0..arguments.rounds {
        suite.run(&options, &control, &|report| printer.report(report));
    }
    let (reports, is_told) = printer.finish();
    if arguments.format == Format::Human && arguments.chosen.is_all() {
        warn_of_orphans(&arguments.chosen.paths, &reports);
    }
    if !is_told {
        return status::TROUBLE;
    }
    let verdicts: Vec<Verdict> = reports.iter().map(|report| report.verdict).collect();
    exit_status(&verdicts)
}

/// Returns the folders that a run may write to, those of snapshots and those on the command line,
/// and which of them are new. Missing ones are made, as a guest can write to nothing else.
fn written(arguments: &Arguments) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let items = arguments.chosen.find().unwrap_or_default();
    let snapshots = items.iter().map(|item| Place::of(&item.file).root);
    let named = arguments.save.iter().chain(&arguments.dumps).cloned();
    let all = named.chain(snapshots.filter(|_| !is_ci()));
    let (mut folders, mut made) = (Vec::new(), Vec::new());
    for folder in all.collect::<BTreeSet<PathBuf>>() {
        let is_new = !folder.exists();
        // A folder that cannot be made is reported when a file is written there.
        std::fs::create_dir_all(&folder).ok();
        if let Ok(folder) = std::fs::canonicalize(folder) {
            made.extend(is_new.then(|| folder.clone()));
            folders.push(folder);
        }
    }
    folders.sort();
    folders.dedup();
    (folders, made)
}

/// Returns the folder for the ends of failed runs.
fn dumps(arguments: &Arguments) -> PathBuf {
    let chosen = arguments.dumps.as_ref().or(arguments.save.as_ref());
    chosen.map_or_else(|| PathBuf::from("harness-dumps"), Clone::clone)
}

/// Writes the text beside the end of a failed run.
fn write_text(report: &ScenarioReport) -> bool {
    let Some(dump) = &report.dumped else {
        return true;
    };
    let reasons = report.findings.iter();
    let reasons = reasons.flat_map(|finding| finding.text.lines());
    let reasons: String = reasons.map(|line| format!("#   {line}\n")).collect();
    let head = format!(
        "# {}: {}\n{reasons}# Each line: when it was entered, in seconds of CLOCK_MONOTONIC, the thread, and what it did.\n",
        report.name, report.verdict
    );
    let written = crate::trace::replay::text(dump, &head, &report::text_of(dump));
    let is_written = written.is_ok();
    match written {
        Ok(()) => {}
        Err(Trouble::Other(error, hint)) => complain(&*error, hint),
        Err(Trouble::NotExecuted(error)) => complain(&error, None),
        Err(Trouble::Usage(text)) => note!("harness: {text}"),
    }
    is_written
}

struct Printer {
    told: out::Told,
    /// Whether all else that belongs to the report was written.
    is_whole: AtomicBool,
    format: Format,
    traces: bool,
    total: usize,
    progress: bool,
    reports: Mutex<Vec<ScenarioReport>>,
}

impl Printer {
    fn report(&self, mut report: ScenarioReport) {
        if !write_text(&report) {
            self.is_whole.store(false, Ordering::Relaxed);
        }
        report.trace = report.trace.filter(|_| self.traces);
        let mut text = String::new();
        match self.format {
            Format::Human => report::human(&mut text, &report, std::io::stdout().is_terminal()),
            Format::Json => report::scenario_json(&mut text, &report),
            Format::Junit => {}
        }
        if self.progress {
            note_for_now!("\r\u{1b}[K");
        }
        self.told.print(&text);
        let done = self.reports.lock().map_or(0, |mut reports| {
            reports.push(report);
            reports.len()
        });
        self.show_progress(done);
    }

    fn show_progress(&self, done: usize) {
        if self.progress && done < self.total {
            note_for_now!("\r\u{1b}[K{done} of {} done", self.total);
        }
    }

    /// Returns the reports, and whether all of them were printed.
    fn finish(self) -> (Vec<ScenarioReport>, bool) {
        let mut reports = self.reports.into_inner().unwrap_or_default();
        reports.sort_by(|a, b| a.name.cmp(&b.name));
        let verdicts: Vec<Verdict> = reports.iter().map(|report| report.verdict).collect();
        let mut is_whole = self.is_whole.into_inner();
        let mut text = String::new();
        match self.format {
            Format::Human => text = summary(&verdicts),
            Format::Json => report::suite_json(&mut text, &verdicts),
            Format::Junit => match report::junit(&reports) {
                Ok(xml) => text = xml,
                Err(error) => {
                    complain(&error, None);
                    is_whole = false;
                }
            },
        }
        self.told.print(&text);
        let is_told = self.told.all() && is_whole;
        (reports, is_told)
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

/// Warns of snapshots below these folders that belong to no scenario.
fn warn_of_orphans(paths: &[PathBuf], reports: &[ScenarioReport]) {
    let names: HashSet<String> = reports
        .iter()
        .map(|report| Place::of(&report.file).of_row(&report.row).name)
        .collect();
    // The root of the snapshots, and the prefix of the names that belong to the folder.
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
            note!(
                "warning: no scenario uses the snapshot `{}`",
                shown_path(file)
            );
        }
    }
}
