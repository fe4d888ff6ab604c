//! `harness run`: scenarios and folders of them.

mod folders;
mod printer;
mod steering;

use crate::kernels::Listed;
use crate::out::note;
use crate::results::{Form, Results};
use crate::shard::{self, Sharding, Share};
use crate::suite::{Chosen, exit_status, require_all};
use crate::trace::options::Source;
use crate::{is_ci, out, signals, status};
use clap::ValueEnum;
use folders::{dumps, warn_of_orphans, written};
use perf_live::host::Host;
use perf_live::sys::landlock;
use perf_records::units::{shown, shown_path};
use printer::Printer;
use std::cell::Cell;
use std::path::PathBuf;
use steering::{CANNOT_TELL, StatusFor};
pub(crate) use steering::{STOP, is_asked_for as is_for_bisect};
use trace_harness::policy::PolicyFile;
use trace_harness::report;
use trace_harness::run::{Action, Bench, Enforced};
use trace_harness::run::{Control, Fault, Item, Options, Suite, Update};
use trace_harness::scenario::Architecture;
use trace_harness::verdict::Verdict;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 all passed, 1 some scenario failed, 2 usage error or invalid scenario, 77 all were skipped, \
99 the harness itself could not do its work.\n\n\
With --status bisect it is for git bisect run: 0 all passed; 1 some scenario certainly failed; 125 neither, as one was skipped, incomplete or \
broken, its program could not be executed, or it has no snapshot; 255, at which git stops, for all else: an invalid scenario, wrong usage, a \
machine that cannot trace; 128 + n for a signal. HARNESS_REQUIRE is not heeded then, and no snapshot is written.\n\n\
Environment: CI set, but to neither 0 nor false, means that no snapshot is ever written; HARNESS_REQUIRE=all turns skips into failures; TEST_TOTAL_SHARDS and \
TEST_SHARD_INDEX (from 0) choose a shard as --shard does, but of neither scenarios that --exact names nor a recorded run; GITHUB_ACTIONS=true adds annotations to the report \
for people, and a summary to the file of GITHUB_STEP_SUMMARY."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    sharding: Sharding,
    /// Write new and changed snapshots; with `kernel`, what differs from a snapshot for all kernels
    /// becomes one for this kernel's version (NAME@6.1.snap), and the other stays; with `unseen`,
    /// only what has no snapshot yet gets one, and a changed one waits for `harness review`
    #[arg(long, value_name = "FOR", num_args = 0..=1, require_equals = true, default_missing_value = "all", value_enum)]
    update: Option<UpdateFor>,
    /// What the exit status is for
    #[arg(long, value_name = "FOR", value_enum, default_value_t = StatusFor::Verdict)]
    status: StatusFor,
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
    /// Record every call, however few the scenarios ask for, and the files that calls reach, where
    /// the machine can tell: `harness policy --from` takes what is kept so
    #[arg(long, requires = "save", conflicts_with = "from")]
    every_call: bool,
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
    /// Run each workload under this policy, in a form of `harness policy`: what it refuses is told,
    /// with the line in FILE, and fails the scenario
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    policy: Option<PathBuf>,
    /// What becomes of a call that the policy refuses
    #[arg(long, value_enum, default_value_t = PolicyAction::Errno, requires = "policy")]
    policy_action: PolicyAction,
    /// What writes the records of calls; the kernel does in any case for calls with call chains, in
    /// rings that are overwritten, and of users who may execute set-user-ID programs
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Source::Auto)]
    source: Source,
    /// Run nothing, and print the names of the scenarios
    #[arg(long, conflicts_with_all = ["vm", "from"])]
    list: bool,
    #[command(flatten)]
    results: Results,
    /// With --format json: before all else a line for the machine, with its settings, and in the
    /// line of each scenario its trace: what the snapshot shows, or else which calls there were
    #[arg(long)]
    traces: bool,
    /// Run all of them this many times one after the other, and report on each
    #[arg(long, value_name = "N", default_value_t = 1, hide = true)]
    rounds: u32,
}

/// What becomes of a refused call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PolicyAction {
    /// It fails with the error of the policy
    Errno,
    /// It is made, and told
    Log,
    /// It kills its process
    Kill,
}

/// Which snapshots are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum UpdateFor {
    /// For all kernels that have none of their own
    All,
    /// For this kernel's version
    Kernel,
    /// For this kernel's architecture
    Arch,
    /// Where there is none yet
    Unseen,
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    if arguments.status != StatusFor::Bisect {
        return begin(arguments, &Cell::new(false));
    }
    if arguments.update.is_some() || arguments.list || arguments.from.is_some() {
        note!(
            "harness: --status bisect is for runs of a revision: neither --update, --list nor --from belongs to it"
        );
        return STOP;
    }
    let is_of_scenarios = Cell::new(false);
    steering::guard(|| (begin(arguments, &is_of_scenarios), is_of_scenarios.get()))
}

/// Runs; says whether the status is one of scenarios.
fn begin(arguments: &Arguments, is_of_scenarios: &Cell<bool>) -> u8 {
    if arguments.update.is_some() && is_ci() {
        note!("harness: nothing is written when CI is set; unset it to use --update");
        return status::USAGE;
    }
    if arguments.traces && arguments.results.format != Form::Json {
        note!("harness: --traces belongs to --format json");
        return status::USAGE;
    }
    if let Err(status) = shard::touch_status_file() {
        return status;
    }
    if arguments.list {
        return list(arguments);
    }
    if arguments.vm.is_some() && reads_report(arguments) {
        note!("harness: the guest of --vm reads the file of --durations: it cannot be a --report");
        return status::USAGE;
    }
    // Durations may come from a report that is written anew.
    let chosen = arguments.vm.is_none().then(|| choose(arguments));
    if let Err(status) = arguments.results.begin() {
        return status;
    }
    if let Some(kernel) = &arguments.vm {
        let kernel = Some(kernel.as_str()).filter(|name| !name.is_empty());
        let (folders, made) = written(arguments);
        let status = crate::vm::again(kernel, &arguments.listed, &folders);
        // Trouble of the guest's own has none of these.
        is_of_scenarios.set([status::PASSED, status::FAILED, CANNOT_TELL].contains(&status));
        for folder in made {
            // Only if nothing was written to it.
            std::fs::remove_dir(folder).ok();
        }
        return status;
    }
    let from = arguments.from.as_deref();
    let enforced = match enforced(arguments) {
        Ok(enforced) => enforced,
        Err(status) => return status,
    };
    match chosen.unwrap_or_else(|| choose(arguments)) {
        Ok((items, share)) => {
            let work = |suite: &Suite<'_>| run(arguments, suite, share.as_ref(), is_of_scenarios);
            let change = |bench: &mut Bench<'_>| {
                enforced.into_iter().for_each(|it| bench.enforce(it));
                if arguments.every_call {
                    bench.record_every_path(false);
                }
                bench.record_by(arguments.source.into());
            };
            arguments.chosen.work_with(change, items, from, work)
        }
        Err(status) => status,
    }
}

/// Returns the policy that workloads run under.
fn enforced(arguments: &Arguments) -> Result<Option<Enforced>, u8> {
    let Some(file) = &arguments.policy else {
        return Ok(None);
    };
    let action = match arguments.policy_action {
        PolicyAction::Errno => Action::Error,
        PolicyAction::Log => Action::Tell,
        PolicyAction::Kill => Action::Kill,
    };
    let policy = crate::policy::read(file)?;
    let file = shown_path(file).to_string();
    if let PolicyFile::Rules(rules) = &policy {
        let has = landlock::abi();
        if arguments.policy_action == PolicyAction::Kill {
            note!("harness: {file}: Landlock refuses by an error, and kills nothing");
            return Err(status::USAGE);
        }
        // What it does not know it would allow.
        if action == Action::Error && has.is_none_or(|has| has < rules.abi) {
            let has = has.map_or("no Landlock".to_owned(), |abi| format!("ABI {abi} of it"));
            note!(
                "harness: {file} is for ABI {} of Landlock, and this kernel has {has}",
                rules.abi
            );
            return Err(status::TROUBLE);
        }
    }
    Ok(Some(Enforced {
        policy,
        file,
        action,
    }))
}

/// Returns the scenarios that are to run, and which share of all chosen ones they are.
fn choose(arguments: &Arguments) -> Result<(Vec<Item>, Option<Share>), u8> {
    let mut items = arguments.chosen.found()?;
    // What is named exactly, and the one run of a recording, were chosen by who divides; rounds
    // are of all.
    let fixed =
        !arguments.chosen.exact.is_empty() || arguments.from.is_some() || arguments.rounds > 1;
    let options = verdict_options(arguments);
    let share = arguments.sharding.keep(&mut items, fixed, options)?;
    Ok((items, share))
}

/// Whether durations come from a file that a report replaces.
fn reads_report(arguments: &Arguments) -> bool {
    let durations = arguments.sharding.durations.as_ref();
    durations.is_some_and(|path| arguments.results.replace(path))
}

/// What changes the meaning of a verdict.
fn verdict_options(arguments: &Arguments) -> Vec<String> {
    let repeat = (arguments.repeat > 1).then(|| format!("--repeat {}", arguments.repeat));
    let update = arguments.update.map(|whom| match whom {
        UpdateFor::All => "--update=all".to_owned(),
        UpdateFor::Kernel => "--update=kernel".to_owned(),
        UpdateFor::Arch => "--update=arch".to_owned(),
        UpdateFor::Unseen => "--update=unseen".to_owned(),
    });
    let policy = arguments.policy.as_ref().map(|file| {
        let action = arguments.policy_action.to_possible_value();
        let action = action.map(|action| action.get_name().to_owned());
        format!(
            "--policy {} --policy-action {}",
            shown_path(file),
            action.unwrap_or_default()
        )
    });
    let require = require_all().then(|| "HARNESS_REQUIRE=all".to_owned());
    let guest = std::env::var(crate::vm::GUEST_KERNEL).ok();
    let guest = guest.map(|kernel| format!("--vm={kernel}"));
    let given = [repeat, update, policy, require, guest];
    given.into_iter().flatten().collect()
}

/// The names, without a look at the machine: a list takes no right to trace.
fn list(arguments: &Arguments) -> u8 {
    let items = match choose(arguments) {
        Ok((items, _)) => items,
        Err(status) => return status,
    };
    let mut text = String::new();
    match arguments.results.format {
        Form::Json => report::list_json(&mut text, env!("CARGO_PKG_VERSION"), &items),
        // A line each, whatever is in a name.
        Form::Human => text.extend(items.iter().map(|item| format!("{}\n", shown(&item.name)))),
        _ => {
            note!("harness: --list belongs to --format human or json");
            return status::USAGE;
        }
    }
    let told = out::Told::default();
    told.print(&text);
    if told.all() { 0 } else { status::TROUBLE }
}

fn run(
    arguments: &Arguments,
    suite: &Suite<'_>,
    share: Option<&Share>,
    is_of_scenarios: &Cell<bool>,
) -> u8 {
    let is_for_bisect = arguments.status == StatusFor::Bisect;
    let signals = match signals::watched() {
        Ok(signals) => signals,
        Err(status) => return status,
    };
    let options = Options {
        update: match (arguments.update, is_ci()) {
            (Some(UpdateFor::All), _) => Update::Accept,
            (Some(UpdateFor::Kernel), _) => Update::Variant,
            (Some(UpdateFor::Arch), _) => Update::OfArch,
            (Some(UpdateFor::Unseen), _) => Update::Unseen,
            (None, is_ci) if is_ci || is_for_bisect => Update::Never,
            (None, _) => Update::Pending,
        },
        repeat: arguments.repeat,
        jobs: arguments.chosen.jobs(),
        require_all: require_all() && !is_for_bisect,
        keep: arguments.keep,
        fault: Fault::default(),
        save: arguments
            .save
            .clone()
            .map(|folder| (folder, crate::record::about(None))),
        dumps: Some((dumps(arguments), crate::record::about(None))),
    };
    let format = arguments.results.format;
    let told = out::Told::default();
    let mut head = String::new();
    if arguments.traces {
        let host = Host::running();
        let release = host.kernel_release().unwrap_or_default();
        let arch = Architecture::OWN.word();
        report::machine_json(&mut head, (&release, arch), &host.settings());
    }
    head.extend(share.map(|share| share.line.as_str()));
    if format == Form::Json {
        told.print(&head);
    }
    let ready = suite.items().filter(|(_, findings)| findings.is_empty());
    let rounds = usize::try_from(arguments.repeat).unwrap_or(usize::MAX);
    let mut printer = Printer::new(told, &arguments.results);
    printer.share = share;
    printer.head = head;
    printer.traces = arguments.traces;
    printer.total = suite.items().count();
    printer.runs = (arguments.repeat > 1).then(|| ready.count().saturating_mul(rounds));
    let printer = printer;
    // Each run asks for one.
    let control = || -> Box<dyn Control + '_> {
        printer.begin();
        Box::new(signals::EndAll(&signals))
    };
    printer.show_progress();
    for _ in 0..arguments.rounds {
        suite.run(&options, &control, &|report| printer.report(report));
    }
    signals::all_is_over(&signals);
    let (reports, is_told) = printer.finish();
    if format == Form::Human && arguments.chosen.is_all() && share.is_none() {
        warn_of_orphans(&arguments.chosen.paths, &reports);
    }
    if !is_told {
        return status::TROUBLE;
    }
    if is_for_bisect {
        is_of_scenarios.set(true);
        return steering::of(&reports, &signals);
    }
    let verdicts: Vec<Verdict> = reports.iter().map(|report| report.verdict).collect();
    match share {
        Some(share) if share.is_empty() => status::PASSED,
        _ => exit_status(&verdicts),
    }
}
