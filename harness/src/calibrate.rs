//! `harness calibrate`: how strict the snapshot of a scenario can be.

use crate::out::{note, note_for_now};
use crate::{bench, complain, is_ci, out, signals, status, suite};
use perf_live::errors::chain;
use perf_live::files;
use perf_live::host::Host;
use perf_records::units::shown_path;
use std::path::PathBuf;
use trace_harness::calibrate::{Calibration, Finding, Unpinned, Varying};
use trace_harness::run::{CalibrateError, Calibrating, Control, Suite, given_programs};
use trace_harness::scenario;
use trace_harness::trace::Level;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The runs take turns: on the machine as it is, with every CPU busy, with every CPU taken away for moments, on one CPU (where sched_getaffinity \
is recorded and the program does not make it), beside copies of itself.\n\n\
Exit status: 0 calibrated, 1 a run failed for another reason than its trace or no level holds, 2 usage error or invalid scenario, \
77 the scenario would be skipped, 99 the harness itself could not do its work."
)]
pub(crate) struct Arguments {
    /// The scenario file
    #[arg(value_name = "SCENARIO")]
    file: PathBuf,
    /// How many complete runs to make [default: 300, or as many as can be begun in a minute]
    #[arg(short, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    n: Option<u32>,
    /// Only say what would be written
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    if !arguments.dry_run && is_ci() {
        note!("harness: nothing is written when CI is set; use --dry-run");
        return status::USAGE;
    }
    let items = match suite::of_file(&arguments.file) {
        Ok(items) => items,
        Err(status) => return status,
    };
    let host = Host::running();
    let bench = match bench(&host) {
        Ok(bench) => bench,
        Err(status) => return status,
    };
    suite::read(&bench, items, |suite| calibrate(arguments, suite))
}

fn calibrate(arguments: &Arguments, suite: &Suite<'_>) -> u8 {
    let signals = match signals::watched() {
        Ok(signals) => signals,
        Err(status) => return status,
    };
    let control = || -> Box<dyn Control + '_> { Box::new(signals::EndAll(&signals)) };
    let is_watched = out::has_sequences(&std::io::stderr());
    let progress = |done: u32, total: u32| {
        if is_watched {
            note_for_now!("{done} of {total} runs");
        }
    };
    let calibrating = arguments
        .n
        .map_or_else(Calibrating::default, Calibrating::exactly);
    let calibration = suite.calibrate(&calibrating, &control, &progress);
    if is_watched {
        note_for_now!("");
    }
    match calibration {
        Ok(calibration) => conclude(arguments, suite, &calibration),
        Err(error) => {
            let hint = match &error {
                CalibrateError::Run(error) => error.hint(),
                _ => None,
            };
            complain(&error, hint);
            match error {
                CalibrateError::Unmet(_) => suite::skipped(),
                CalibrateError::KnownFailure(_) | CalibrateError::Overwritten => status::USAGE,
                CalibrateError::Failed { .. } | CalibrateError::Unsettled(_) => status::FAILED,
                CalibrateError::Incomplete { .. }
                | CalibrateError::Interrupted
                | CalibrateError::Run(_) => status::TROUBLE,
            }
        }
    }
}

/// Reports the findings, and writes the files.
fn conclude(arguments: &Arguments, suite: &Suite<'_>, calibration: &Calibration) -> u8 {
    let file = &arguments.file;
    let text = match files::text(file, files::SCENARIO) {
        Ok(text) => text,
        Err(error) => {
            note!(
                "harness: cannot read `{}`: {}",
                shown_path(file),
                chain(&error)
            );
            return status::USAGE;
        }
    };
    // A result that could not be reported is not written either.
    if !out::told(out::print(&report(calibration))) {
        return status::TROUBLE;
    }
    // All rows of a file have the same.
    let wanted = scenario::read_all(file, &text, &given_programs()).and_then(|scenarios| {
        let found = scenarios.into_iter().next();
        let found = found.map(|scenario| scenario.snapshot).unwrap_or_default();
        scenario::edit::with_snapshot(file, &text, &calibration.spec(&found))
    });
    let changed = match wanted {
        Ok(changed) => changed,
        Err(complaint) => {
            let color = out::has_colors(&std::io::stderr());
            note!("{}", complaint.render(color).trim_end());
            return status::USAGE;
        }
    };
    if arguments.dry_run {
        return status::PASSED;
    }
    match suite.accept(calibration, &changed) {
        Ok(()) => status::PASSED,
        Err(error) => {
            complain(&error, None);
            status::TROUBLE
        }
    }
}

/// Returns what a user should know before believing the result.
pub(crate) fn report(calibration: &Calibration) -> String {
    let n_runs: u32 = calibration.n_runs.values().sum();
    let conditions = calibration.n_runs.iter();
    let conditions: Vec<String> = conditions
        .map(|(condition, count)| format!("{count} {condition}"))
        .collect();
    let mut text = format!("{n_runs} runs: {}\n", conditions.join(", "));
    text.push_str(match calibration.unpinned {
        None => "",
        Some(Unpinned::Asks) => {
            "the program asks on how many CPUs it may run (sched_getaffinity), so it would do \
             something else on one: runs for that were made on the machine as it is\n"
        }
        Some(Unpinned::Unrecorded) => {
            "runs on one CPU were made on the machine as it is: a program may do something else \
             there that asks on how many it may run, and sched_getaffinity is not recorded\n"
        }
    });
    if calibration.processes_vary {
        text.push_str(
            "not every run has the same processes: those of a program are taken together\n",
        );
    }
    for (glob, example) in &calibration.temporary {
        text.push_str(&format!(
            "temporary `{glob}`, such as `{example}`: a file has another name in each run\n"
        ));
    }
    for finding in &calibration.findings {
        text.push_str(&found(finding));
    }
    text.push_str(match calibration.findings.is_empty() {
        true => "every process did the same in every run: level sequence\n",
        false => "all other processes did the same in every run: level sequence\n",
    });
    text
}

fn found(finding: &Finding) -> String {
    let mut text = format!("{}: level {}", finding.who, finding.level.word());
    for (how, word) in [
        (Some(Level::Counts), "counts of"),
        (Some(Level::Set), "set of"),
        (None, "without"),
    ] {
        let others = finding.others.iter().filter(|(_, found)| **found == how);
        let names: Vec<&str> = others.map(|(name, _)| name.as_str()).collect();
        if !names.is_empty() {
            text.push_str(&format!("; {word} {}", names.join(", ")));
        }
    }
    text.push('\n');
    let provoked: Vec<String> = finding
        .provoked_by()
        .map(|(condition, unlike, all)| format!("{unlike} of {all} {condition}"))
        .collect();
    if !provoked.is_empty() {
        text.push_str(&format!(
            "  runs unlike the most common one: {}\n",
            provoked.join(", ")
        ));
    }
    for (name, reason) in &finding.expected {
        text.push_str(&format!("  {name}, though not in these runs: {reason}\n"));
    }
    if finding.varying.is_empty() && finding.expected.is_empty() {
        text.push_str("  as another process of this program that does the same\n");
    }
    for varying in &finding.varying {
        text.push_str(&varies(varying));
    }
    text
}

fn varies(varying: &Varying) -> String {
    let Varying {
        name,
        times: (least, most),
        example,
        reason,
    } = varying;
    let times = match (least == most, most) {
        (true, 1) => "once".to_owned(),
        (true, most) => format!("{most} times"),
        (false, most) => format!("{least} to {most} times"),
    };
    let mut text = format!("  {name}, {times}: {reason}\n");
    if let Some((one, other)) = example {
        text.push_str(&format!("    {one}\n    {other}\n"));
    }
    text
}
