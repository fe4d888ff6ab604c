//! `harness policy`: what scenarios need of the kernel, as a policy for seccomp.

mod recordings;

use crate::out::note;
use crate::suite::{Chosen, graver, require_all};
use crate::{out, signals, status};
use perf_live::errors::chain;
use perf_live::files;
use perf_records::units::shown_path;
use recordings::recordings;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use trace_harness::policy::{Demand, Form, Needs, Policy, drift, why};
use trace_harness::report;
use trace_harness::run::{Bench, Control, Item, Options, ScenarioReport, Suite};
use trace_harness::verdict::{Known, Verdict};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each scenario is run as by `harness run`, with every call recorded, whatever it asks for. A policy is made only if all runs \
were complete and passed; any other is named, and nothing is written. It allows what was seen and no more: --repeat sees more of what differs \
from run to run, and what no scenario does is refused.\n\n\
Exit status: 0 the policy was made, or does not differ; 1 some scenario did not pass, was not complete, or needs what no policy of the form \
can say, or the policy differs; 2 usage error or invalid file; 99 the harness itself could not do its work."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// The form of the policy
    #[arg(
        long,
        value_enum,
        required_unless_present = "check",
        conflicts_with = "check"
    )]
    format: Option<PolicyForm>,
    /// Write it to this file, and to FILE.why which scenario needs each rule, where the form has no
    /// comments [default: standard output, without the second]
    #[arg(long, short, value_name = "FILE", conflicts_with = "check")]
    output: Option<PathBuf>,
    /// Tell calls by their names alone, and not by the commands of `ioctl`, the families of
    /// `socket` and `socketpair`, the options of `prctl` and the flags of `clone`
    #[arg(long, conflicts_with = "check")]
    names: bool,
    /// Allow these calls beside, which no scenario makes: those of a container's runtime between
    /// its filter and the program
    #[arg(long, value_name = "CALLS", value_delimiter = ',', value_parser = also)]
    also: Vec<(String, Needs)>,
    /// Run each scenario this many times: what any of the runs needs is needed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Take recorded runs in place of making any: a file of one scenario, a folder of `harness run
    /// --save DIR --every-call`, or one of `harness matrix --save`. May be given several times.
    /// Each folder must have all scenarios, and each recording every call
    #[arg(long, value_name = "RECORDING", conflicts_with = "repeat")]
    from: Vec<PathBuf>,
    /// Make none, and compare this one with what the scenarios need: rules that no scenario needs,
    /// and calls that no rule allows
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum PolicyForm {
    /// The object `linux.seccomp` of a container's config.json: crun, runc, Docker, Podman
    Oci,
    /// Lines for the unit of a service, with comments
    Systemd,
    /// A policy for minijail0 -S, with comments
    Minijail,
}

/// Who needs what is named on the command line.
const ALSO: &str = "--also";

fn also(name: &str) -> Result<(String, Needs), String> {
    let needs = Needs::of_name(name);
    let needs = needs.ok_or_else(|| format!("there is no call `{name}`"))?;
    Ok((name.to_owned(), needs))
}

impl PolicyForm {
    fn form(self) -> Form {
        match self {
            Self::Oci => Form::Oci,
            Self::Systemd => Form::Systemd,
            Self::Minijail => Form::Minijail,
        }
    }
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    let checked = match arguments.check.as_deref().map(read).transpose() {
        Ok(checked) => checked,
        Err(status) => return status,
    };
    let items = match arguments.chosen.found() {
        Ok(items) => items,
        Err(status) => return status,
    };
    let mut demand = match demand(arguments, items) {
        Ok(demand) => demand,
        Err(status) => return status,
    };
    for (_, needs) in &arguments.also {
        demand.add(ALSO, None, needs);
    }
    match &checked {
        Some(policy) => compare(policy, &demand),
        None => make(arguments, &demand),
    }
}

/// Reads a policy; says what is not understood of it.
pub(crate) fn read(file: &Path) -> Result<Policy, u8> {
    let shown = shown_path(file);
    let text = files::text(file, files::POLICY).map_err(|error| {
        note!("harness: cannot read `{shown}`: {}", chain(&error));
        status::USAGE
    })?;
    Policy::read(&text).map_err(|complaint| {
        note!("harness: {shown}:{complaint}");
        status::USAGE
    })
}

/// Runs all scenarios, or reads their recordings, and returns what they need.
fn demand(arguments: &Arguments, items: Vec<Item>) -> Result<Demand, u8> {
    let sources = match arguments.from.as_slice() {
        [] => vec![(None, items)],
        from => {
            let found = recordings(from, &items).map_err(|message| {
                note!("harness: {message}");
                status::USAGE
            })?;
            let found = found.into_iter();
            found.map(|(path, items)| (Some(path), items)).collect()
        }
    };
    let (mut demand, mut status) = (Demand::default(), status::PASSED);
    for (recording, items) in sources {
        let work = |suite: &Suite<'_>| add(arguments, suite, &mut demand);
        let change = |bench: &mut Bench<'_>| bench.record_every_call();
        let chosen = &arguments.chosen;
        let ended = chosen.work_with(change, items, recording.as_deref(), work);
        status = graver(status, ended);
    }
    let untold = [demand.nameless(), demand.refused()].concat();
    for line in &untold {
        note!("harness: {line}");
    }
    if !untold.is_empty() {
        status = graver(status, status::FAILED);
    }
    match status {
        status::PASSED => Ok(demand),
        // It was said, and nothing ran.
        status::USAGE => Err(status),
        status => {
            note!(
                "harness: there is no policy of runs that did not all pass and tell each of their calls"
            );
            Err(status)
        }
    }
}

/// Runs these scenarios, or reads their recording, and adds what they need. Returns whether each
/// passed and tells that, as an exit status.
fn add(arguments: &Arguments, suite: &Suite<'_>, demand: &mut Demand) -> u8 {
    let signals = match signals::watched() {
        Ok(signals) => signals,
        Err(status) => return status,
    };
    let options = Options {
        repeat: arguments.repeat,
        jobs: arguments.chosen.jobs(),
        require_all: require_all(),
        ..Options::default()
    };
    let reports = Mutex::new(Vec::new());
    let control = || -> Box<dyn Control + '_> { Box::new(signals::EndAll(&signals)) };
    suite.run(&options, &control, &|report| {
        let mut reports = reports.lock().unwrap_or_else(PoisonError::into_inner);
        reports.push(report);
    });
    let mut reports: Vec<ScenarioReport> =
        reports.into_inner().unwrap_or_else(PoisonError::into_inner);
    reports.sort_by(|one, other| one.name.cmp(&other.name));
    let mut status = status::PASSED;
    for report in &reports {
        match (&report.verdict, &report.needs) {
            (Verdict::Pass, Some(Known::Yes(needs))) => {
                demand.add(&report.name, suite.recorded_on(), needs);
            }
            (Verdict::Pass, needs) => {
                let why = needs.as_ref().and_then(Known::no);
                let why = why.unwrap_or("its calls were not recorded");
                note!("harness: {}: {why}", report.name);
                status = graver(status, status::FAILED);
            }
            (verdict, _) => {
                let mut text = String::new();
                report::human(&mut text, report, out::has_colors(&std::io::stderr()));
                note!("{}", text.trim_end());
                status = graver(
                    status,
                    match verdict {
                        Verdict::Broken => status::TROUBLE,
                        _ => status::FAILED,
                    },
                );
            }
        }
    }
    status
}

fn compare(policy: &Policy, demand: &Demand) -> u8 {
    let drift = drift(policy, demand);
    if !out::told(out::print(&drift.to_string())) {
        return status::TROUBLE;
    }
    match drift.is_none() {
        true => status::PASSED,
        false => status::FAILED,
    }
}

fn make(arguments: &Arguments, demand: &Demand) -> u8 {
    let Some(form) = arguments.format else {
        return status::USAGE;
    };
    let policy = Policy::of(demand, form.form(), !arguments.names);
    let unsaid = policy.unsaid(demand);
    if !unsaid.is_empty() {
        for line in unsaid {
            note!("harness: {line}");
        }
        return status::FAILED;
    }
    let text = policy.text(demand);
    let Some(file) = &arguments.output else {
        return match out::told(out::print(&text)) {
            true => status::PASSED,
            false => status::TROUBLE,
        };
    };
    let mut beside: OsString = file.clone().into();
    beside.push(".why");
    let beside = PathBuf::from(beside);
    let why = why(&policy, demand);
    let beside = (!policy.form.has_comments()).then_some((&beside, &why));
    let both = [(file, &text)].into_iter().chain(beside);
    match write(&both.collect::<Vec<_>>()) {
        Ok(()) => status::PASSED,
        Err(message) => {
            note!("harness: {message}");
            status::USAGE
        }
    }
}

/// Writes these files.
fn write(files: &[(&PathBuf, &String)]) -> Result<(), String> {
    for (path, text) in files {
        files::write(path, text.as_bytes())
            .map_err(|error| format!("cannot write `{}`: {}", shown_path(path), chain(&error)))?;
    }
    Ok(())
}
