//! `harness merge`: the results of all shards as one.

use crate::out::note;
use crate::results::{Results, Whole};
use crate::suite::exit_status;
use crate::{complain, out, status};
use perf_live::errors::chain;
use perf_live::files;
use perf_records::units::shown_path;
use std::path::PathBuf;
use trace_harness::report::{self, Part};
use trace_harness::verdict::Verdict;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each FILE holds what `harness run --shard K/N --format json` has printed. They must be all parts of one set of scenarios, each \
once: a part that is missing, doubled, cut off or of another set is an error that names it.\n\n\
Exit status: that of `harness run` for all of them: 0 all passed, 1 some scenario failed, 77 all were skipped, 99 something was broken; 2 if \
the parts do not make one result."
)]
pub(crate) struct Arguments {
    /// What the shards have printed
    #[arg(required = true, value_name = "FILE")]
    parts: Vec<PathBuf>,
    #[command(flatten)]
    results: Results,
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    let mut parts = Vec::new();
    let mut all_well = true;
    for path in &arguments.parts {
        let part = files::text(path, files::TRACE).map_err(|error| chain(&error));
        let part =
            part.and_then(|text| Part::read(path.clone(), &text).map_err(|error| chain(&error)));
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
    let merged = match report::merge(parts) {
        Ok(merged) => merged,
        Err(error) => {
            let hint = error.hint();
            complain(&error, hint);
            return status::USAGE;
        }
    };
    if let Err(status) = arguments.results.check() {
        return status;
    }
    let whole = Whole {
        reports: &merged.reports,
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
