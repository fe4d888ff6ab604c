//! `harness check`: any command with all that it starts, stated or held to rules.

mod handing;
mod stating;
mod words;

use crate::out;
use crate::results::{Form, Results, Whole};
use crate::suite::{exit_status, refuse, require_all, skipped};
use crate::trace::workload::{directory, inherited, workload};
use crate::trace::{Sink, Trouble, options, other, sink_at_the_end};
use crate::{complain, is_ci, signals, status, whom};
use handing::{directories, handed, named, started_as};
use perf_live::errors::chain;
use perf_live::files;
use perf_live::host::Host;
use perf_live::ring::Bounds;
use perf_live::sys::temporary;
use perf_records::glob::is_glob;
use perf_records::units::shown_path;
use stating::state;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use trace_harness::matching::{Blaming, blaming_calls, stated_calls};
use trace_harness::run::{CheckSubject, Checked, RunError, Suite, SuiteError};
use trace_harness::scenario::{BlameBy, SandboxSpec, Scenario, read_rules, text};
use trace_harness::verdict::Verdict;
pub(crate) use words::are_rules;
use words::{Blame, World, is_folder, rules_file};

#[derive(Debug, clap::Args)]
#[command(
    override_usage = "harness check [OPTIONS] [RULES.yaml] -- CMD...",
    mut_arg("format", |format| format.help(FORMAT)),
    mut_arg("files", |files| files.help(REPORT)),
    after_help = "\
Examples:\n  \
  harness check -- make install                     what it does, and whether that is all\n  \
  harness check --learn rules.yaml -- make install  writes rules that allow that\n  \
  harness check rules.yaml -- make install          fails where it does anything else\n\n\
Without rules it states what the command did: programs executed; files read outside of the working \
directory, written, removed and renamed; peers and addresses; privileges; signals to other \
processes; and whether that is all. What it says goes to standard error, as standard output is the \
command's.\n\n\
The command has this machine, your descriptors and your environment, as if it were called without \
the harness. A process of its that still runs when it has ended is killed, and the report names \
it.\n\n\
Exit status: with rules 0 pass, 1 fail, 2 usage error or wrong rules, 77 skipped, 99 the harness \
itself could not do its work. Without rules the command's own, 128 + n when signal n killed it; 127 \
where it was not found, 126 where it could not be executed, 125 when the harness had trouble, or \
the statement is not complete."
)]
pub(crate) struct Arguments {
    /// What the command is held to: `expect` with `confined`, `never`, `only`, `count`, `exit`, and
    /// `tests` with what single tests may do
    #[arg(value_name = "RULES.yaml", value_parser = rules_file)]
    rules: Option<PathBuf>,
    /// In a world of its own, as a scenario with no key `sandbox` has: an empty working directory,
    /// the host's files read-only, no network, a fixed environment, no descriptors but the standard
    /// ones
    #[arg(long)]
    sandbox: bool,
    /// Hand the command no descriptors but 0, 1 and 2: a runner may leave its own open, as ctest
    /// does with its log
    #[arg(long, conflicts_with = "sandbox")]
    close_fds: bool,
    /// Look at what lies in this folder before the command starts, as is done with the working
    /// directory, that of temporary files and the folders of `writes`: a name that the command uses
    /// there is then known for what it was; may be given several times
    #[arg(long, value_name = "DIR", value_parser = is_folder, conflicts_with = "sandbox")]
    folder: Vec<PathBuf>,
    /// How the statement finds the test that did something: by the process of a test, by the name
    /// of its thread, or by what the runner had last printed; where there are rules, their `blame`
    /// says it instead
    #[arg(long, value_name = "BY", value_enum, conflicts_with = "rules")]
    blame: Option<Blame>,
    /// Write rules that let the command do what it did to FILE. Names that look drawn become globs
    /// of their shape, and many files of a folder one glob: read them [default: rules.yaml]
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "rules.yaml")]
    #[arg(conflicts_with = "rules")]
    learn: Option<PathBuf>,
    /// Write rules for these keys of `confined` alone, separated by commas: what is read is often
    /// long, and changes with each package of the machine [default: all]
    #[arg(
        long,
        value_name = "KEYS",
        value_enum,
        value_delimiter = ',',
        requires = "learn"
    )]
    learn_only: Vec<World>,
    /// End the command after so many seconds [default: never]
    #[arg(long, value_name = "SECONDS")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=31_000_000))]
    timeout: Option<u64>,
    /// Write the report to this file instead of standard error
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How much room the records of each CPU have until they are read (64KiB, 4MiB): a power of two
    /// of memory pages, rounded up
    #[arg(short = 'm', long = "ring-size", value_name = "SIZE", value_parser = options::size)]
    ring_size: Option<u64>,
    /// How much of the trace may wait to be read, give or take the rings: 256 MiB of it in memory,
    /// the rest in files in TMPDIR [default: until 1 GiB is free there]
    #[arg(long, value_name = "SIZE", value_parser = options::size)]
    backlog: Option<u64>,
    #[command(flatten)]
    results: Results,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// The right to trace is too small.
#[derive(Debug, thiserror::Error)]
#[error(
    "to say all that a command does takes the right to trace everything, and this user may trace \
     the calls of own programs alone"
)]
struct Within;

const FORMAT: &str = "The form of the report. A statement has human, json (a line for each thing, \
    then a summary) and markdown; a verdict by rules has all";
const REPORT: &str = "Also write the report to FILE, in the form of its ending: .txt, .json or \
    .jsonl (lines), .md (Markdown); by rules also .xml (JUnit), .tap (KTAP), .html (a single \
    page). Folders on the way are made below the working directory alone; may be given several \
    times";

/// How many bytes of a line of a runner are read.
const LINE: u16 = 1024;

/// Why a command was not checked.
enum NoCheck {
    Trouble(Trouble),
    Suite(SuiteError),
    /// All is said, and this is the status.
    Said(u8),
}

impl From<Trouble> for NoCheck {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

impl From<RunError> for NoCheck {
    fn from(error: RunError) -> Self {
        Self::Trouble(error.into())
    }
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    let has_rules = arguments.rules.is_some();
    match check(arguments) {
        Ok(status) | Err(NoCheck::Said(status)) => status,
        Err(NoCheck::Suite(error)) => match (refuse(&error), has_rules) {
            (status, true) => status,
            (_, false) => status::TRACE_TROUBLE,
        },
        Err(NoCheck::Trouble(trouble)) if !has_rules => crate::trace::status_of(Err(trouble)),
        Err(NoCheck::Trouble(trouble)) => {
            let status = match &trouble {
                Trouble::Usage(_) => status::USAGE,
                Trouble::NotExecuted(_) => status::FAILED,
                Trouble::ReaderGone | Trouble::Other(..) => status::TROUBLE,
            };
            let _own = crate::trace::status_of(Err(trouble));
            status
        }
    }
}

fn check(arguments: &Arguments) -> Result<u8, NoCheck> {
    let command: Vec<String> = arguments
        .command
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    suits(arguments)?;
    let host = Host::running();
    let mut scenario = scenario(arguments, &command)?;
    if arguments.sandbox {
        scenario.sandbox = SandboxSpec::default();
    } else {
        scenario.beside.directories = directories();
    }
    if let Some(size) = arguments.ring_size {
        scenario.trace.ring.size = Some(size);
    }
    if arguments.rules.is_none() {
        scenario.beside.calls = stated_calls();
        scenario.beside.blame = Some(arguments.blame.map_or_else(BlameBy::default, Into::into));
    }
    let by = scenario.beside.blame.unwrap_or_default();
    let finds_tests = scenario.beside.finds_tests();
    if finds_tests {
        scenario.beside.calls.extend(blaming_calls(by));
        if by != BlameBy::Process {
            scenario.beside.contents = LINE;
        }
    }
    scenario.beside.outputs = outputs(&host);
    scenario.beside.started_as = started_as();
    let blaming = Blaming {
        by,
        command: command.clone(),
        outputs: scenario.beside.outputs.clone(),
    };
    let folders = folders(&scenario, &arguments.folder);
    let bench = whom::bench(&host)?.with_backlog(arguments.backlog.map(Bounds::of));
    let has_rules = arguments.rules.is_some();
    let reach = bench.reach().map_err(|error| {
        let hint = error.hint();
        match has_rules && error.is_of_rights() {
            true => no_right(&error, hint),
            false => other(error, hint).into(),
        }
    })?;
    if reach.has_own_tracepoints() {
        let hint = Some("run as root, or grant what `harness doctor` says is missing".to_owned());
        return Err(match has_rules {
            true => no_right(&Within, hint),
            false => other(Within, hint).into(),
        });
    }
    let file = arguments.rules.as_deref().unwrap_or(Path::new("check"));
    let suite = Suite::of_scenario(&bench, file, scenario).map_err(NoCheck::Suite)?;
    let directory = directory(arguments.sandbox, &bench)?;
    let mut workload = workload(&arguments.command, &bench, directory.as_ref())?;
    if arguments.close_fds {
        workload.inherited.clear();
    }
    let signals = signals::watch().map_err(|error| other(error, None))?;
    let mut sink = sink_at_the_end(arguments.output.as_ref())?;
    sink.is_not(arguments.learn.as_deref(), "--learn")?;
    arguments.results.begin().map_err(NoCheck::Said)?;
    let handed = handed(&host, &workload.inherited);
    let subject = CheckSubject {
        initial: inherited(directory.as_ref(), &workload),
        handed: handed.clone(),
        workload,
        directory: directory.as_ref(),
        folders: folders.clone(),
        is_judged: arguments.rules.is_some(),
        timeout: arguments.timeout.map(Duration::from_secs),
    };
    let mut control = signals::PassOn(signals);
    let checked = suite.check(subject, &mut control)?;
    if let Some(directory) = directory {
        directory.remove().map_err(RunError::WorkDir)?;
    }
    let Some(checked) = checked else {
        return Ok(status::TROUBLE);
    };
    let said = match &arguments.rules {
        Some(_) => judge(arguments, checked, &mut sink)?,
        None => state(arguments, &blaming, &handed, (checked, folders), &mut sink)?,
    };
    sink.finish()?;
    Ok(said)
}

/// Says that rules are not tried, as the right to trace is missing.
fn no_right(error: &(dyn std::error::Error + 'static), hint: Option<String>) -> NoCheck {
    complain(error, hint);
    NoCheck::Said(skipped())
}

/// Refuses forms that a statement does not have.
fn suits(arguments: &Arguments) -> Result<(), NoCheck> {
    if arguments.learn.is_some() && is_ci() {
        let text = "nothing is written when CI is set; unset it to use --learn";
        return Err(Trouble::Usage(text.to_owned()).into());
    }
    if let Some(file) = arguments.learn.as_ref().filter(|file| file.exists()) {
        let text = format!(
            "`{}` is there already: --learn writes a new file",
            shown_path(file)
        );
        return Err(Trouble::Usage(text).into());
    }
    let mut forms = arguments.results.forms().map(|(form, _)| form);
    let is_stated = |form| matches!(form, Form::Human | Form::Json | Form::Markdown);
    if arguments.rules.is_none() && !(is_stated(arguments.results.format) && forms.all(is_stated)) {
        let text = "a statement is written as text, Markdown or JSON: other forms are of \
                    verdicts, so give RULES.yaml";
        return Err(Trouble::Usage(text.to_owned()).into());
    }
    Ok(())
}

/// Reads the rules; without a file there are none.
fn scenario(arguments: &Arguments, command: &[String]) -> Result<Scenario, NoCheck> {
    let invalid = |complaint| NoCheck::Suite(SuiteError::Invalid(vec![complaint]));
    let Some(file) = &arguments.rules else {
        let none = "description: what a command does\n";
        return read_rules(Path::new("check"), none, command).map_err(invalid);
    };
    let bytes = files::read(file, files::SCENARIO).map_err(|error| {
        let text = format!("cannot read `{}`: {}", shown_path(file), chain(&error));
        Trouble::Usage(text)
    })?;
    let text = text(file, &bytes).map_err(invalid)?;
    read_rules(file, &text, command).map_err(invalid)
}

/// The folders that the command may change, and whose links must be known before: that of temporary
/// files, those of the rules, and those that were named.
fn folders(scenario: &Scenario, named: &[PathBuf]) -> Vec<PathBuf> {
    let rules = scenario.beside.tests.iter().map(|test| &test.confined);
    let rules = rules.chain(&scenario.expect.confined);
    let globs = rules.flat_map(|rules| rules.writes.iter().flatten());
    let fixed = globs.filter(|glob| glob.starts_with('/')).map(|glob| {
        let parts = glob.split('/').take_while(|part| !is_glob(part));
        let parts: Vec<&str> = parts.collect();
        let folder = PathBuf::from(parts.join("/"));
        match folder.is_dir() {
            true => folder,
            false => folder.parent().map_or_else(PathBuf::new, Path::to_owned),
        }
    });
    let mut folders: Vec<PathBuf> = fixed
        .chain([temporary::folder()])
        .chain(named.iter().cloned())
        .filter(|folder| folder.components().count() > 1)
        .filter_map(|folder| std::fs::canonicalize(folder).ok())
        .collect();
    folders.sort();
    folders.dedup();
    folders
}

/// The files that the command's outputs go to, as a trace names them.
fn outputs(host: &Host) -> Vec<String> {
    let here = std::env::current_dir().unwrap_or_default();
    let name = |number: &i32| {
        let name = named(&host.own_descriptor(*number)?, &here);
        Some(name.to_string_lossy().into_owned())
    };
    [1, 2].iter().filter_map(name).collect()
}

/// Reports the verdict; returns the exit status.
fn judge(arguments: &Arguments, checked: Checked, sink: &mut Sink) -> Result<u8, NoCheck> {
    let mut report = checked.report;
    if report.verdict == Verdict::Skipped && require_all() {
        report.verdict = Verdict::Skipped.required();
    }
    let verdict = report.verdict;
    let results = &arguments.results;
    let reports = [report];
    let whole = Whole {
        reports: &reports,
        submission: results.submission(),
        share: None,
        traces: false,
        head: "",
    };
    let color = arguments.output.is_none() && out::has_colors(&std::io::stderr());
    let is_said = sink.put(&whole.text(results.format, color));
    let told = out::Told::default();
    let all_well = results.write(&whole, &told) && told.all();
    is_said?;
    Ok(match all_well {
        true => exit_status(&[verdict]),
        false => status::TROUBLE,
    })
}
