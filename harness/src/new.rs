//! `harness new`: a scenario of what a command does, with its snapshot, ready to be tightened.

mod files;
mod place;
mod world;

use crate::out::{note, note_for_now};
use crate::suite::{refuse, skipped};
use crate::{bench, complain, is_ci, out, signals, status};
use files::Laid;
pub(crate) use files::{plain, relative};
use perf_live::host::Host;
use perf_live::sandbox::{LaunchError, NotExecuted};
use perf_live::units::ExitKind;
use perf_records::units::{shell_path, shown, shown_path};
use place::{Made, Target};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};
use trace_harness::calibrate::{Calibration, Unsettled};
use trace_harness::run::{
    Bench, CalibrateError, Calibrating, Control, RecordError, RunError, Suite, SuiteError,
};
use trace_harness::scenario::{
    Command, Draft, EventSpec, EventWish, Since, SnapshotSpec, Workload,
};
use trace_harness::suggest::{self, Given, NoEnd};
use trace_harness::verdict::{Run, Verdict};
use world::World;

/// How many runs are compared before the calibration: what varies between these is not expected.
const RECORDED: u32 = 5;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The command runs in a world of its own, as in every scenario: in an empty directory, with no network. Files below the \
current directory that an argument names, as a whole or behind a `=`, or a word of `sh -c`, are laid in, others with --file; the \
scenario refers to them where they are. A command that does not end with status 0 is recorded with --exit alone.\n\n\
Exit status: 0 written, 1 the command's runs are no test, 2 usage error, 77 the scenario would be skipped here, 99 the harness itself \
could not do its work."
)]
pub(crate) struct Arguments {
    /// The name of the scenario: `durability/save` is scenarios/durability/save.yaml; a path that
    /// ends in .yaml is taken as it is
    #[arg(value_name = "NAME")]
    name: PathBuf,
    /// What to record, as in `harness trace -e`: openat,%net,!close,sched:* [default: files and
    /// folders by name, writes, syncs, network, programs]
    #[arg(short = 'e', long = "events", value_name = "EVENTS")]
    events: Vec<String>,
    /// A file, or a folder with its files, below the current directory that the command needs and
    /// does not name
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<PathBuf>,
    /// How many runs the snapshot must be the same in [default: 300, or as many as can be begun in
    /// a minute]
    #[arg(short, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    n: Option<u32>,
    /// How long a run may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    #[command(flatten)]
    world: World,
    /// The command
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<String>,
}

/// Why there is no new scenario.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NewError {
    #[error("{0}")]
    Usage(String),
    #[error("cannot read `{}`", shown_path(.0))]
    Read(PathBuf, #[source] std::io::Error),
    #[error(transparent)]
    Suite(#[from] SuiteError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    NotExecuted(#[from] NotExecuted),
    #[error("the command ended otherwise than expected: {exit}{said}")]
    Ended { exit: ExitKind, said: String },
    #[error(transparent)]
    NoEnd(#[from] NoEnd),
    #[error(transparent)]
    Calibrate(#[from] CalibrateError),
    #[error(transparent)]
    Write(#[from] trace_harness::snapshot::SnapshotError),
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    if is_ci() {
        note!("harness: nothing is written when CI is set");
        return status::USAGE;
    }
    let host = Host::running();
    let bench = match bench(&host) {
        Ok(bench) => bench,
        Err(status) => return status,
    };
    if let Err(error) = bench.reach() {
        complain(&error, error.hint());
        return match error.is_of_rights() {
            true => skipped(),
            false => status::TROUBLE,
        };
    }
    match new(arguments, &bench) {
        Ok(text) => match out::told(out::print(&text)) {
            true => status::PASSED,
            false => status::TROUBLE,
        },
        Err(error) => say(&error),
    }
}

fn say(error: &NewError) -> u8 {
    if let NewError::Suite(error) = error {
        return refuse(error);
    }
    let hint = match error {
        NewError::NotExecuted(error)
        | NewError::Record(RecordError::Run(RunError::Launch(LaunchError::NotExecuted(error)))) => {
            world::way_in(error)
        }
        NewError::Record(RecordError::Run(error))
        | NewError::Calibrate(CalibrateError::Run(error)) => error.hint(),
        NewError::Record(RecordError::NoRun(Verdict::Leak, _)) => {
            Some("--survivors allowed lets them".to_owned())
        }
        NewError::Record(RecordError::NoRun(Verdict::Timeout, _)) => {
            Some("--timeout gives it more".to_owned())
        }
        NewError::Ended { exit, .. } => Some(format!(
            "a file that it lacks is laid in with --file; if it is to end so, --exit {} records it",
            world::word(*exit)
        )),
        NewError::NoEnd(_) => Some("a test needs a program that ends as it did before".to_owned()),
        _ => None,
    };
    complain(error, hint);
    match error {
        NewError::Usage(_) | NewError::Read(..) => status::USAGE,
        NewError::Record(RecordError::Unmet(_)) | NewError::Calibrate(CalibrateError::Unmet(_)) => {
            skipped()
        }
        NewError::Record(RecordError::NoRun(..))
        | NewError::NoEnd(_)
        | NewError::NotExecuted(_)
        | NewError::Ended { .. }
        | NewError::Calibrate(CalibrateError::Failed { .. } | CalibrateError::Unsettled(_)) => {
            status::FAILED
        }
        _ => status::TROUBLE,
    }
}

/// Makes the scenario, and returns what was done.
fn new(arguments: &Arguments, bench: &Bench<'_>) -> Result<String, NewError> {
    let target = Target::of(&arguments.name)?;
    arguments.world.finds(arguments.command.first(), bench)?;
    let laid = files::collect(&arguments.command, &arguments.files)?;
    let stdin = arguments.world.stdin()?;
    for (path, why) in &laid.left_out {
        note!("harness: not laid in: {}, {why}", shown_path(path));
    }
    // The files' paths are relative to the scenario's folder, so that folder has to be there.
    let made = Made::folder_of(&target.file)?;
    let signals = signals::watch().map_err(|error| NewError::Usage(error.to_string()))?;
    let control = || -> Box<dyn Control + '_> { Box::new(signals::EndAll(&signals)) };
    let mut draft = draft(arguments, &target, &laid, stdin);
    let mut said = String::new();
    for file in &laid.named {
        said.push_str(&format!(
            "laid in, as the command names it: {}\n",
            shown_path(file)
        ));
    }
    let suite = Suite::of_text(bench, &target.file, &recorded(&draft, arguments).text())?;
    let mut runs: Vec<Run> = Vec::new();
    for _ in 0..RECORDED {
        let run = suite.record(&mut *control())?;
        ended(&run, arguments.world.exit())?;
        runs.push(run);
    }
    let given = Given {
        files: laid.contents,
        now: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs()),
        has_all_events: arguments.events.is_empty(),
    };
    suggest::fill(&mut draft, &runs, &given)?;
    said.push_str(&summary(&draft, &runs));
    let (suite, calibration) = settle(arguments, bench, &target, &mut draft, &control)?;
    match &calibration {
        Ok(calibration) => {
            draft.snapshot = calibration.spec(&draft.snapshot);
            said.push_str(&crate::calibrate::report(calibration));
        }
        Err(why) => said.push_str(&format!("no snapshot: {why}\n")),
    }
    let snapshot = suite.create(calibration.as_ref().ok(), &draft.text())?;
    made.keep();
    let file = shown_path(&target.file);
    let word = shell_path(&target.file);
    let written: Vec<String> = snapshot
        .iter()
        .map(|path| shown_path(path).to_string())
        .collect();
    let written = [&[file.to_string()][..], &written].concat().join(", ");
    said.push_str(&format!(
        "written: {written}\n\
         Now say in `description` what it must do, take the `#` away from what must hold, and run: harness run {word}\n",
    ));
    if draft.schema.is_none() {
        said.push_str("Editors complete the keys of a scenario that names the schema: harness schema > scenarios/schema.json\n");
    }
    Ok(said)
}

/// Calibrates; an expectation that fails meanwhile is dropped, and so is the snapshot where its
/// runs differ at every level.
fn settle<'a, 'c>(
    arguments: &Arguments,
    bench: &'a Bench<'a>,
    target: &Target,
    draft: &mut Draft,
    control: &(dyn Fn() -> Box<dyn Control + 'c> + Sync),
) -> Result<(Suite<'a>, Result<Calibration, Unsettled>), NewError> {
    let is_watched = out::has_sequences(&std::io::stderr());
    let progress = |done: u32, total: u32| {
        if is_watched {
            note_for_now!("{done} of {total} runs");
        }
    };
    let calibrating = arguments
        .n
        .map_or_else(Calibrating::default, Calibrating::exactly);
    loop {
        let suite = Suite::of_text(bench, &target.file, &draft.text())?;
        let calibration = suite.calibrate(&calibrating, control, &progress);
        if is_watched {
            note_for_now!("");
        }
        match calibration {
            Ok(calibration) => return Ok((suite, Ok(calibration))),
            Err(CalibrateError::Unsettled(
                why @ (Unsettled::Programs(_) | Unsettled::Remains(_)),
            )) => {
                draft.on_snapshot = vec![format!("No snapshot is the same in each run: {why}.")];
                draft.snapshot = SnapshotSpec::Off;
                let suite = Suite::of_text(bench, &target.file, &draft.text())?;
                return Ok((suite, Err(why)));
            }
            Err(CalibrateError::Failed { findings, .. }) if suggest::give_up(draft, &findings) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// The draft with what is recorded to suggest from.
fn recorded(draft: &Draft, arguments: &Arguments) -> Draft {
    let mut recorded = draft.clone();
    if arguments.events.is_empty() {
        let beside = suggest::BESIDE.map(str::to_owned);
        recorded.events.push(EventSpec::Syscalls(beside.to_vec()));
    }
    recorded
}

/// Drafts the scenario before the command has run.
fn draft(arguments: &Arguments, target: &Target, laid: &Laid, stdin: Option<String>) -> Draft {
    let is_shell = |program: &str| matches!(program, "sh" | "/bin/sh");
    let command = match arguments.command.as_slice() {
        [program, flag, text] if is_shell(program) && flag == "-c" => Command::Shell(text.clone()),
        argv => Command::Run(argv.to_vec()),
    };
    let words = match &command {
        Command::Shell(text) => text.clone(),
        Command::Run(argv) => argv.join(" "),
    };
    let is_own = !arguments.events.is_empty();
    let description = format!("{} does what it did when it was recorded", short(&words));
    let workload = Workload {
        command,
        env: arguments.world.env(),
        stdin,
        files: laid.specs(&target.file),
        timeout: std::time::Duration::from_secs(arguments.timeout),
    };
    let events = match is_own {
        true => own_events(&arguments.events),
        false => vec![EventSpec::Syscalls(
            suggest::EVENTS.map(str::to_owned).to_vec(),
        )],
    };
    let mut draft = Draft::new(description, workload, events);
    draft.schema = target.schema();
    draft.sandbox = arguments.world.sandbox();
    draft.head = vec![
        "Recorded by `harness new`. It passes as long as the command does this and nothing else of the kind;".to_owned(),
        "what is commented out held in the runs that were recorded.".to_owned(),
    ];
    if !is_own {
        draft.on_events = vec![
            "Fewer names make a better test: keep those that the description is about.".to_owned(),
        ];
    }
    // Where no call is recorded, no call tells that the program has begun.
    if draft
        .events
        .iter()
        .any(|it| matches!(it, EventSpec::Syscalls(_)))
    {
        draft.since = Since::Main;
    }
    draft
}

/// Returns the first line, cut if it is long.
fn short(text: &str) -> String {
    const LONGEST: usize = 60;
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() > LONGEST || line.len() < text.len() {
        let cut: String = line.chars().take(LONGEST).collect();
        format!("{} ...", cut.trim_end())
    } else {
        line.to_owned()
    }
}

/// Turns names into events: a name with a colon is a tracepoint, any other a call.
fn own_events(events: &[String]) -> Vec<EventSpec> {
    let words = events.iter().flat_map(|events| {
        // A comma within a regular expression belongs to it.
        let is_regex = events.starts_with('/');
        let words: Vec<&str> = if is_regex {
            vec![events]
        } else {
            events.split(',').collect()
        };
        words
    });
    let (tracepoints, calls): (Vec<&str>, Vec<&str>) = words
        .filter(|word| !word.is_empty())
        .partition(|word| word.contains(':') && !word.starts_with('/'));
    let calls: Vec<String> = calls.into_iter().map(str::to_owned).collect();
    let calls = (!calls.is_empty()).then_some(EventSpec::Syscalls(calls));
    let tracepoints = tracepoints.into_iter().map(|name| {
        EventSpec::Event(EventWish {
            name: name.to_owned(),
            ..EventWish::default()
        })
    });
    calls.into_iter().chain(tracepoints).collect()
}

/// Says in a line what was recorded.
fn summary(draft: &Draft, runs: &[Run]) -> String {
    let first = runs.first();
    let counts = first.map_or_else(Default::default, |run| run.trace.counts());
    let beside = |name: &str| suggest::BESIDE.contains(&name);
    let n_calls: u64 = counts
        .iter()
        .filter(|(name, _)| !beside(name))
        .map(|it| it.1)
        .sum();
    let stdout = first.and_then(|run| run.stdout.yes());
    let n_bytes = stdout.map_or(0, |stdout| stdout.bytes.len());
    let n_files = draft.files_after.len();
    format!(
        "recorded: {}, {n_bytes} bytes of output, {n_files} file{} changed, {n_calls} calls\n",
        draft.exit,
        if n_files == 1 { "" } else { "s" },
    )
}

/// Refuses a command that ends otherwise than it is to: a file may be missing.
fn ended(run: &Run, wanted: ExitKind) -> Result<(), NewError> {
    let Some(exit) = run.exit.yes().copied().filter(|exit| *exit != wanted) else {
        return Ok(());
    };
    let stderr = run.stderr.yes();
    let stderr = stderr.map(|stderr| String::from_utf8_lossy(&stderr.bytes));
    let said = stderr.as_deref().and_then(|text| text.lines().next());
    let said = said.map_or(String::new(), |line| {
        format!(", saying `{}`", shown(&short(line)))
    });
    Err(NewError::Ended { exit, said })
}
