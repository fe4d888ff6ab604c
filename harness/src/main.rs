//! `harness`: the command line of `trace-harness`.
//!
//! All printing and all exit statuses are decided here and nowhere else.

mod ahead;
mod calibrate;
mod check;
mod completions;
mod crash;
mod diff;
mod doctor;
mod dump;
mod events;
mod formats;
mod help;
mod inject;
mod input;
mod kcidb;
mod kernels;
mod man;
mod matrix;
mod merge;
mod mutate;
mod new;
mod out;
mod policy;
mod progress;
mod record;
mod reports;
mod results;
mod review;
mod run;
mod schema;
mod script;
mod shard;
mod signals;
mod stat;
mod suite;
mod sweep;
mod trace;
mod vm;
mod whom;

use crate::out::note;
use clap::{Parser, Subcommand};
use perf_live::host::Host;
use perf_live::sys::{disposed, rights};
use std::process::ExitCode;
use trace_harness::run::Bench;

/// Tests of a program's conversation with the kernel.
///
/// A scenario names a workload and the kernel events to expect. The workload runs without ptrace;
/// its events come from perf rings, every one accounted for; the trace is made the same on every
/// run and compared with what is stored. A run that lost an event never passes.
#[derive(Debug, Parser)]
#[command(
    name = "harness",
    version,
    max_term_width = 100,
    after_help = "To begin: harness doctor, then harness new NAME -- CMD. Options of a command: harness help COMMAND."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run scenarios, and folders of them
    Run(run::Arguments),
    /// Record a command and write the scenario of what it does
    New(new::Arguments),
    /// Trace one command, live, on the bare host
    Trace(trace::Arguments),
    /// Record events into a file or pipe, as `perf record` does
    Record(record::Arguments),
    /// Count events, as `perf stat` does
    Stat(stat::Arguments),
    /// Put build ids into a file or pipe, as `perf inject -b` does
    Inject(inject::Arguments),
    /// Print what a perf.data holds, as `perf script` does
    Script(script::Arguments),
    /// Print a perf.data record by record, as `perf report -D` does
    Dump(dump::Arguments),
    /// Find out by many runs how strict a snapshot can be
    Calibrate(calibrate::Arguments),
    /// Change recorded runs, and say which changes pass
    Mutate(mutate::Arguments),
    /// Fail each call of a scenario's run once, and say what came of it
    Sweep(sweep::Arguments),
    /// Run a recovery on every state that a power cut may leave
    Crash(crash::Arguments),
    /// Make a seccomp or Landlock policy of scenarios, or compare one
    Policy(policy::Arguments),
    /// Run any command, say what it did, or hold that to rules
    Check(check::Arguments),
    /// Accept or reject the traces that wait for review
    Review(review::Arguments),
    /// List the events of this kernel, with their fields
    Events(events::Arguments),
    /// Run scenarios on several kernels, and say what differs
    Matrix(matrix::Arguments),
    /// Make one result of what all shards of `run --shard` have printed
    Merge(merge::Arguments),
    /// Compare two traces, or the events of two kernels
    Diff(diff::Arguments),
    /// Run a command on another kernel, in a virtual machine
    Vm(vm::Arguments),
    /// What a guest starts with
    #[command(hide = true)]
    VmInit,
    /// Say what this machine allows, and what to do about the rest
    Doctor(doctor::Arguments),
    /// Print the JSON schema of scenario files, for editors
    Schema,
    /// Print a shell's completions of this command line
    Completions(completions::Arguments),
    /// Print the man page of harness, or write the pages of all commands
    Man(man::Arguments),
}

impl Command {
    /// Whether it may skip something, and heeds what the environment requires.
    fn may_skip(&self) -> bool {
        let skips = matches!(self, Self::Run(_) | Self::New(_) | Self::Calibrate(_));
        let skips = skips || matches!(self, Self::Mutate(_) | Self::Check(_) | Self::Crash(_));
        let skips = skips || matches!(self, Self::Sweep(_) | Self::Policy(_));
        skips || matches!(self, Self::Merge(_) | Self::Matrix(_))
    }

    /// Whether it opens events of this machine, and so may need rights that the program's file
    /// lends.
    fn traces(&self) -> bool {
        match self {
            Self::Run(_) | Self::New(_) | Self::Calibrate(_) | Self::Mutate(_) => true,
            Self::Check(_) | Self::Crash(_) | Self::Sweep(_) | Self::Policy(_) => true,
            Self::Trace(_) | Self::Record(_) | Self::Stat(_) => true,
            // It reads the formats of this machine's events.
            Self::Events(_) | Self::Diff(_) | Self::Doctor(_) => true,
            Self::Inject(_) | Self::Script(_) | Self::Dump(_) | Self::Review(_) => false,
            Self::Merge(_) | Self::Matrix(_) | Self::Vm(_) | Self::VmInit => false,
            Self::Schema | Self::Completions(_) | Self::Man(_) => false,
        }
    }
}

fn main() -> ExitCode {
    // Before there is a second thread, and before any path that the user names is opened.
    if let Err(error) = rights::settle() {
        let remedy = "chmod ug-s PATH_OF_HARNESS; what it takes instead, harness doctor says";
        complain(&error, Some(remedy.to_owned()));
        return ExitCode::from(match (is_of_a_command(), is_for_bisect()) {
            (_, true) => run::STOP,
            (true, _) => status::TRACE_TROUBLE,
            (false, _) => status::TROUBLE,
        });
    }
    // If that failed, the limit would end this program as it ends others.
    let _ends_us = disposed::outlive_the_limit_of_files();
    let arguments = match help::read() {
        Ok(arguments) => arguments,
        Err(error) => return ExitCode::from(say(&error)),
    };
    if arguments.command.may_skip()
        && let Err(given) = suite::requirement()
    {
        let given = given.to_string_lossy();
        note!(
            "error: HARNESS_REQUIRE is `{given}`, which asks for nothing: `all` turns a skip into a failure"
        );
        return ExitCode::from(misused());
    }
    if !arguments.command.traces() {
        rights::forget();
    }
    let status = match &arguments.command {
        Command::Run(arguments) => run::main(arguments),
        Command::Trace(arguments) => trace::main(arguments),
        Command::Record(arguments) => record::main(arguments),
        Command::Stat(arguments) => stat::main(arguments),
        Command::Inject(arguments) => inject::main(arguments),
        Command::Script(arguments) => script::main(arguments),
        Command::Events(arguments) => events::main(arguments),
        Command::Dump(arguments) => dump::main(arguments),
        Command::Calibrate(arguments) => calibrate::main(arguments),
        Command::Mutate(arguments) => mutate::main(arguments),
        Command::New(arguments) => new::main(arguments),
        Command::Sweep(arguments) => sweep::main(arguments),
        Command::Crash(arguments) => crash::main(arguments),
        Command::Policy(arguments) => policy::main(arguments),
        Command::Check(arguments) => check::main(arguments),
        Command::Review(arguments) => review::main(arguments),
        Command::Matrix(arguments) => matrix::main(arguments),
        Command::Merge(arguments) => merge::main(arguments),
        Command::Diff(arguments) => diff::main(arguments),
        Command::Vm(arguments) => vm::main(arguments),
        Command::VmInit => vm::init(),
        Command::Doctor(arguments) => doctor::main(arguments),
        Command::Schema => schema::main(),
        Command::Completions(arguments) => completions::main(arguments),
        Command::Man(arguments) => man::main(arguments),
    };
    perf_live::sys::process::end_starter();
    ExitCode::from(status)
}

/// The status of a wrong call.
fn misused() -> u8 {
    match (is_of_a_command(), is_for_bisect()) {
        (_, true) => run::STOP,
        (true, _) => status::TRACE_TROUBLE,
        (false, _) => status::USAGE,
    }
}

/// Prints help, or what is wrong with the command line. The status of an error is that of trouble
/// in the harness, if any other status could be the traced command's.
fn say(error: &clap::Error) -> u8 {
    let trouble = misused();
    let text = error.render().ansi().to_string();
    if error.use_stderr() {
        out::say(format_args!("{text}"));
        return trouble;
    }
    let printed = out::print_styled(&text);
    let printed = out::ended(printed, status::PASSED, trouble);
    // Help says nothing of a revision.
    if is_for_bisect() { trouble } else { printed }
}

/// Whether the exit status would steer a bisect.
fn is_for_bisect() -> bool {
    run::is_for_bisect(std::env::args_os())
}

/// Whether the exit status is that of a command.
fn is_of_a_command() -> bool {
    let mut words = std::env::args_os().skip(1);
    match words.next() {
        Some(word) if word == "check" => {
            // With rules it is that of a verdict.
            let own = words.take_while(|word| word != "--");
            !own.into_iter().any(|word| check::are_rules(&word))
        }
        Some(word) => word == "trace" || word == "record" || word == "vm",
        None => false,
    }
}

/// Exit statuses of `run`, which scripts rely on.
mod status {
    pub(crate) const PASSED: u8 = 0;
    pub(crate) const FAILED: u8 = 1;
    pub(crate) const USAGE: u8 = 2;
    pub(crate) const ALL_SKIPPED: u8 = 77;
    pub(crate) const TROUBLE: u8 = 99;
    /// `trace` and `record`: the harness could not do its work, or records were lost.
    pub(crate) const TRACE_TROUBLE: u8 = 125;
    /// A command that prints, and whose reader has gone: as a shell reports a death by SIGPIPE.
    pub(crate) const READER_GONE: u8 = 141;
}

/// Reports an error with all its causes, and what can be done about it.
fn complain(error: &(dyn std::error::Error + 'static), hint: Option<String>) {
    note!("harness: {}", perf_live::errors::chain(error));
    if let Some(hint) = hint {
        note!("hint: {hint}");
    }
}

/// Makes the bench for runs; if this machine cannot be read, reports that and returns the exit
/// status.
fn bench(host: &Host) -> Result<Bench<'_>, u8> {
    // While this process is small. Without it runs are as they are with it, and take longer.
    let _slower = perf_live::sys::process::begin_starter();
    Bench::new(host).map_err(|error| {
        complain(&error, error.hint());
        status::TROUBLE
    })
}

/// Whether this is a CI run, in which nothing is ever written: `CI` is set, and not to a word for
/// no.
fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
}
