//! `harness merge`: the results of all shards as one.

use crate::out::note;
use crate::results::{Results, Whole};
use crate::suite::{exit_status, require_all};
use crate::{complain, out, status};
use perf_live::errors::chain;
use perf_live::files;
use perf_records::units::shown_path;
use std::path::{Path, PathBuf};
use trace_harness::report::{self, Part};
use trace_harness::verdict::Verdict;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each FILE holds what `harness run --shard K/N --format json` has printed. They must be all parts of one set of scenarios, each \
once: a part that is missing, doubled, cut off, or of another set or run is an error that names it.\n\n\
Exit status: that of `harness run` for all of them: 0 all passed, 1 some scenario failed, 77 all were skipped, 99 something was broken; 2 if \
the parts do not make one result.\n\n\
Environment: HARNESS_REQUIRE=all turns skips into failures, here as in `harness run`."
)]
pub(crate) struct Arguments {
    /// What the shards have printed
    #[arg(required = true, value_name = "FILE")]
    parts: Vec<PathBuf>,
    #[command(flatten)]
    results: Results,
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    if let Some(part) = written_over(arguments) {
        note!(
            "harness: `{}` is a part, and a report would stand in its place: name another file",
            shown_path(part)
        );
        return status::USAGE;
    }
    let texts: Vec<_> = arguments.parts.iter().map(|path| read(path)).collect();
    if let Err(status) = arguments.results.begin() {
        return status;
    }
    let mut parts = Vec::new();
    let mut all_well = true;
    for (path, text) in arguments.parts.iter().zip(texts) {
        let part =
            text.and_then(|text| Part::read(path.clone(), &text).map_err(|error| chain(&error)));
        match part {
            Ok(part) => parts.push(part),
            Err(why) => {
                note!("harness: `{}` is no part: {why}", shown_path(path));
                all_well = false;
            }
        }
    }
    if !all_well {
        return status::USAGE;
    }
    let mut merged = match report::merge(parts) {
        Ok(merged) => merged,
        Err(error) => {
            let hint = error.hint();
            complain(&error, hint);
            return status::USAGE;
        }
    };
    if require_all() {
        for report in &mut merged.reports {
            report.verdict = report.verdict.required();
        }
    }
    let whole = Whole {
        reports: &merged.reports,
        submission: arguments.results.submission(),
        share: None,
        traces: true,
        head: "",
    };
    let told = out::Told::default();
    told.print(&whole.text(
        arguments.results.format,
        out::has_colors(&std::io::stdout()),
    ));
    if !arguments.results.write(&whole, &told) || !told.all() {
        return status::TROUBLE;
    }
    let verdicts: Vec<Verdict> = merged.reports.iter().map(|it| it.verdict).collect();
    exit_status(&verdicts)
}

/// The first part that a report would be written over: parts cannot be had again.
fn written_over(arguments: &Arguments) -> Option<&Path> {
    let mut parts = arguments.parts.iter().map(PathBuf::as_path);
    parts.find(|part| arguments.results.replace(part))
}

fn read(path: &Path) -> Result<String, String> {
    files::text(path, files::TRACE).map_err(|error| chain(&error))
}
