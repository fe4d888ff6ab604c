//! `harness policy`: what scenarios need of the kernel, as a policy for seccomp or Landlock.

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
use trace_harness::policy::landlock::{self, DIRECTORY, Ruleset};
use trace_harness::policy::{Demand, Form, Needs, Policy, PolicyFile, drift, why};
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
    #[arg(long)]
    names: bool,
    /// The ABI of Landlock whose rights the policy speaks of, for kernels that have it: 1 to 6
    /// [default: 6, of Linux 6.12]
    #[arg(long, value_name = "N", conflicts_with = "check", value_parser = clap::value_parser!(u32).range(1..=i64::from(landlock::ABI)))]
    abi: Option<u32>,
    /// Where the program will work: of a policy for Landlock it stands for the scenarios' working
    /// directory, in place of a variable that whoever enforces it has to define
    #[arg(long, value_name = "PATH", conflicts_with = "check")]
    directory: Option<String>,
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
    /// Rules of Landlock for files, ports of TCP and what is kept within the program: JSON, as
    /// landlockconfig has it
    Landlock,
}

/// What a policy is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    Calls(Form),
    /// The ABI.
    Rules(u32),
}

/// Who needs what is named on the command line.
const ALSO: &str = "--also";

fn also(name: &str) -> Result<(String, Needs), String> {
    let needs = Needs::of_name(name);
    let needs = needs.ok_or_else(|| format!("there is no call `{name}`"))?;
    Ok((name.to_owned(), needs))
}

impl About {
    /// Returns what is asked for.
    ///
    /// # Errors
    /// An option that is about another form.
    fn of(arguments: &Arguments, checked: Option<&PolicyFile>) -> Result<Self, &'static str> {
        let form = match (arguments.format, checked) {
            (Some(PolicyForm::Oci), _) => Self::Calls(Form::Oci),
            (Some(PolicyForm::Systemd), _) => Self::Calls(Form::Systemd),
            (Some(PolicyForm::Minijail), _) => Self::Calls(Form::Minijail),
            (Some(PolicyForm::Landlock), _) => Self::Rules(arguments.abi.unwrap_or(landlock::ABI)),
            (None, Some(PolicyFile::Calls(policy))) => Self::Calls(policy.form),
            (None, Some(PolicyFile::Rules(rules))) => Self::Rules(rules.abi),
            (None, None) => return Err("--format or --check is missing"),
        };
        let is_of_rules = arguments.abi.is_some() || arguments.directory.is_some();
        let is_of_calls = arguments.names || !arguments.also.is_empty();
        match form {
            Self::Calls(_) if is_of_rules => Err("--abi and --directory are for --format landlock"),
            Self::Rules(_) if is_of_calls => Err("--names and --also are for policies of calls"),
            form => Ok(form),
        }
    }
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    let checked = match arguments.check.as_deref().map(read).transpose() {
        Ok(checked) => checked,
        Err(status) => return status,
    };
    let about = match About::of(arguments, checked.as_ref()) {
        Ok(about) => about,
        Err(message) => {
            note!("harness: {message}");
            return status::USAGE;
        }
    };
    let items = match arguments.chosen.found() {
        Ok(items) => items,
        Err(status) => return status,
    };
    let mut demand = match demand(arguments, about, items) {
        Ok(demand) => demand,
        Err(status) => return status,
    };
    for (_, needs) in &arguments.also {
        demand.add(ALSO, None, needs);
    }
    match &checked {
        Some(policy) => compare(policy, &demand, !arguments.names),
        None => make(arguments, about, &demand),
    }
}

/// Reads a policy; says what is not understood of it.
pub(crate) fn read(file: &Path) -> Result<PolicyFile, u8> {
    let shown = shown_path(file);
    let text = files::text(file, files::POLICY).map_err(|error| {
        note!("harness: cannot read `{shown}`: {}", chain(&error));
        status::USAGE
    })?;
    PolicyFile::read(&text).map_err(|complaint| {
        note!("harness: {shown}:{complaint}");
        status::USAGE
    })
}

/// Runs all scenarios, or reads their recordings, and returns what they need.
fn demand(arguments: &Arguments, about: About, items: Vec<Item>) -> Result<Demand, u8> {
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
        let change = |bench: &mut Bench<'_>| match about {
            About::Calls(_) => bench.record_every_call(),
            About::Rules(_) => bench.record_every_path(true),
        };
        let chosen = &arguments.chosen;
        let ended = chosen.work_with(change, items, recording.as_deref(), work);
        status = graver(status, ended);
    }
    let untold = match about {
        About::Calls(_) => [demand.nameless(), demand.refused()].concat(),
        About::Rules(abi) => [demand.refused(), landlock::untold(&demand, abi)].concat(),
    };
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
    signals::all_is_over(&signals);
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

fn compare(policy: &PolicyFile, demand: &Demand, by_word: bool) -> u8 {
    let drift = match policy {
        PolicyFile::Calls(policy) => drift(policy, demand, by_word),
        PolicyFile::Rules(rules) => landlock::drift(rules, demand),
    };
    if !out::told(out::print(&drift.to_string())) {
        return status::TROUBLE;
    }
    match drift.is_none() {
        true => status::PASSED,
        false => status::FAILED,
    }
}

fn make(arguments: &Arguments, about: About, demand: &Demand) -> u8 {
    let (text, why) = match about {
        About::Calls(form) => {
            let policy = Policy::of(demand, form, !arguments.names);
            let unsaid = policy.unsaid(demand);
            if !unsaid.is_empty() {
                for line in unsaid {
                    note!("harness: {line}");
                }
                return status::FAILED;
            }
            let why = (!form.has_comments()).then(|| why(&policy, demand));
            (policy.text(demand), why)
        }
        About::Rules(abi) => {
            let rules = Ruleset::of(demand, abi, arguments.directory.as_deref());
            remark(&rules);
            (rules.text(), Some(landlock::why(&rules, demand)))
        }
    };
    let Some(file) = &arguments.output else {
        return match out::told(out::print(&text)) {
            true => status::PASSED,
            false => status::TROUBLE,
        };
    };
    let mut beside: OsString = file.clone().into();
    beside.push(".why");
    let beside = PathBuf::from(beside);
    let beside = why.as_ref().map(|why| (&beside, why));
    let both = [(file, &text)].into_iter().chain(beside);
    match write(&both.collect::<Vec<_>>()) {
        Ok(()) => status::PASSED,
        Err(message) => {
            note!("harness: {message}");
            status::USAGE
        }
    }
}

/// Says what of rules must be known to whoever enforces them.
fn remark(rules: &Ruleset) {
    for rule in rules.of_root() {
        note!("harness: the rule `{rule}` is for every file there is");
    }
    if rules.has_directory() && rules.directory.is_none() {
        note!(
            "harness: `{DIRECTORY}` stands for the scenarios' working directory: say by --directory which it will be, or define the variable"
        );
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
