//! `harness trace`: traces one command, live.

mod chosen;
mod delivered;
mod events;
mod form;
mod inject;
mod living;
pub(crate) mod options;
mod prepare;
mod printer;
pub(crate) mod replay;
mod sched;
mod setting;
mod sink;
mod spans;
mod unseen;
mod wishes;
pub(crate) mod workload;

pub(crate) use sink::{Sink, sink, sink_at_the_end, sink_of_results, unwritable};

use crate::out::note;
use crate::{complain, signals, status};
use delivered::Signals;
use form::form;
use options::{By, Descriptors, Faults, Format, Ids, Order, Source, Strings, Times};
use perf_live::errors::chain;
use perf_live::host::Host;
use perf_live::sandbox::{self, LaunchError, NotExecuted};
use perf_live::sys;
use perf_records::attr::Chain;
use prepare::{Planned, bench, planned};
use printer::Printer;
use spans::Spans;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use trace_harness::plan::{self, EventsError};
use trace_harness::run::{Patience, RunError, Saving, follow};
use trace_harness::verdict::Known;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Events: a system call (openat), a glob (rename*), a regular expression that matches in a name (/^open), a class of \
strace's (%file), all, none; any of them taken away again (!futex); a call that this kernel may not have (?openat2); a tracepoint \
(sched:sched_switch, sched:*), a probe with its arguments (uprobe:/path:function path n=%si:u32, uretprobe:, kprobe:function, kretprobe:), an operation of io_uring (io_uring:IORING_OP_FSYNC). With io_uring_enter come all operations that are \
submitted. A list that starts with `!` is taken away as a whole (!open,close). Nothing named means all system \
calls.\n\n\
An error is shown by its name and, as text, with what the name means; in JSON by its name.\n\n\
Exit status: the command's own, 128 + n when signal n killed it; 127 where it was not found, 126 where it could not be executed, \
125 when the harness had trouble, lost events included. With --input 0, and 125 for a recording that lost events or cannot be read."
)]
pub(crate) struct Arguments {
    /// Events to trace, a list with commas; may be repeated. `trace=` in front of it is accepted;
    /// `status=` and `fd=` choose among calls by their outcomes and descriptors, as strace's do
    #[arg(short = 'e', long = "events", alias = "trace", value_name = "EVENTS")]
    events: Vec<String>,
    /// The same as -e inject=SET
    #[arg(long, value_name = "SET")]
    inject: Vec<String>,
    /// The same as -e fault=SET
    #[arg(long, value_name = "SET")]
    fault: Vec<String>,
    /// Do not say which injections were done to no call; other messages of strace are never written
    #[arg(short = 'q', action = clap::ArgAction::Count)]
    quieter: u8,
    /// The same as -q
    #[arg(long = "quiet", aliases = ["silent", "silence"], value_name = "SET",
        num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    quiet: Vec<String>,
    /// Show page faults beside the calls (-e none: alone), each with its instruction and the
    /// mapping of its address
    #[arg(short = 'F', long = "pf", value_name = "KIND", value_enum)]
    faults: Option<Faults>,
    /// Show at the end, for each thread, from its birth or exec to its exit: how long it was on a
    /// CPU, how long it could have been and was not, how long it slept (state S), waited
    /// undisturbed (D) and was stopped (T), the longest time off, how often, and which threads woke
    /// it, by themselves or in an interrupt. Wakings by other tasks than the command's are counted
    /// and not seen: then the time to the next turn counts as sleep
    #[arg(long)]
    sched: bool,
    /// Pair two events that share a key, and print the time between them as a line of its own; may
    /// be repeated. Written NAME=BEGIN,END followed by any number of ,KEY, where a KEY is a field
    /// that both have, or FIELD=FIELD if its names differ; `process` is the process; without a KEY
    /// the two are of one thread. Both events are traced. An END belongs to the last BEGIN with its
    /// key
    #[arg(long = "span", value_name = "RULE", value_parser = spans::rule)]
    spans: Vec<spans::Rule>,
    /// Only calls that name this path, or use a descriptor that refers to it; may be repeated.
    /// Calls are also shown if that is not known. Paths are compared as text, without `.` and `..`:
    /// other symbolic links to the file are not found
    #[arg(short = 'P', long = "path", alias = "trace-path", value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Only calls that returned an error or were interrupted
    #[arg(
        short = 'Z',
        long,
        alias = "failure",
        conflicts_with = "successful_only"
    )]
    failed_only: bool,
    /// Only calls that returned without an error
    #[arg(short = 'z', long)]
    successful_only: bool,
    /// In a world of its own, as a scenario with no key `sandbox` has: an empty working directory,
    /// the host's files read-only, no network, a fixed environment, no descriptors but the standard
    /// ones. All of it ends with the command and what it started
    #[arg(long)]
    sandbox: bool,
    /// Print tables of the calls instead of lines: how many, how many failed, with which errors,
    /// and how long they took by the clock, waiting included. For a run that lost events they say
    /// INCOMPLETE
    #[arg(short = 'c', long, alias = "summary-only")]
    summary: bool,
    /// Lines, and at the end the tables of --summary
    #[arg(short = 'C', long, alias = "summary-also", conflicts_with = "summary")]
    with_summary: bool,
    /// What the tables are sorted by
    #[arg(
        short = 'S',
        long,
        alias = "summary-sort-by",
        value_name = "KEY",
        value_enum,
        default_value_t = Order::Time
    )]
    summary_sort: Order,
    /// What each table of the summary is about
    #[arg(long, value_name = "WHOM", value_enum, default_value_t = By::Total)]
    summary_by: By,
    /// Show this many bytes of what is read, written, sent and received, instead of the buffer's
    /// address alone. Paths and other strings are not cut by it
    #[arg(short, long, value_name = "BYTES", default_value_t = 0)]
    string_limit: u16,
    /// What reads the strings that calls are given
    #[arg(long, value_name = "SOURCE", value_enum, default_value_t = Strings::Auto)]
    strings: Strings,
    /// What writes the records of calls. Those of all other events are the kernel's
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Source::Auto)]
    source: Source,
    /// Show the functions that led to each call and event: fp, by frame pointers; dwarf, by a copy
    /// of the stack, of this many bytes (8192). Terms choose for single events: -e
    /// 'fsync/call-graph=dwarf/,sched:sched_switch/max-stack=8/'. Calls show the program's
    /// functions
    #[arg(long, value_name = "fp|dwarf[,SIZE]", value_parser = options::call_graph)]
    call_graph: Option<Chain>,
    /// The same as --call-graph dwarf
    #[arg(
        short = 'k',
        long,
        alias = "stack-traces",
        conflicts_with = "call_graph"
    )]
    stack_trace: bool,
    /// Write the trace to this file instead of standard error (with -i and -p: standard output): a
    /// new file grows as the command runs, an existing one is replaced at the end
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Keep the records themselves in this file, for `perf script` and `harness trace -i`; a pipe
    /// or device gets them as a pipe's stream
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Follow the command's descendants: the default, accepted for users of strace
    #[arg(short, long)]
    follow: bool,
    /// The form of the trace
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    times: Times,
    /// What is written of a descriptor
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Descriptors::All)]
    decode_fds: Descriptors,
    /// Write the name of its program behind each task's id, in front of lines and in arguments
    #[arg(long, value_name = "WHAT", value_enum)]
    decode_pids: Option<Ids>,
    /// The same as --decode-pids comm
    #[arg(short = 'Y')]
    command_names: bool,
    /// Write what descriptors refer to: the default, accepted for users of strace
    #[arg(short = 'y', action = clap::ArgAction::Count)]
    _names: u8,
    /// Size of each CPU's ring (64KiB, 4MiB), rounded up to a power of two of pages
    #[arg(short = 'm', long = "ring-size", value_name = "SIZE", value_parser = options::size)]
    ring_size: Option<u64>,
    /// How much of the trace may wait to be read, give or take the rings: 256 MiB of it in memory,
    /// the rest in files in TMPDIR [default: until 1 GiB is free there]
    #[arg(long, value_name = "SIZE", value_parser = options::size)]
    backlog: Option<u64>,
    /// Show the calls and events recorded in this file instead of a command's: perf.data, of
    /// --save, harness record or perf record. Without -e, all that was recorded
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["command", "sandbox", "strings", "ring_size"])]
    input: Option<PathBuf>,
    /// Follow these processes, which live already, with all their threads and all that they start
    /// from now on; a list with commas. A signal ends the trace, not the processes
    #[arg(short = 'p', long, alias = "attach", value_name = "PID", value_delimiter = ',',
        conflicts_with_all = ["command", "sandbox", "input", "save"])]
    pid: Vec<u32>,
    /// The command and its arguments
    #[arg(
        required_unless_present_any = ["input", "pid"],
        trailing_var_arg = true,
        value_name = "CMD"
    )]
    command: Vec<OsString>,
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    if arguments.source == Source::Bpf && (arguments.input.is_some() || !arguments.pid.is_empty()) {
        return status_of(Err(Trouble::Usage(NOT_BY_BPF.to_owned())));
    }
    status_of(match &arguments.input {
        Some(file) => replay::trace(arguments, file),
        None if !arguments.pid.is_empty() => living::trace(arguments),
        None => trace(arguments),
    })
}

/// Reports what went wrong, and returns the exit status.
pub(crate) fn status_of(ended: Result<u8, Trouble>) -> u8 {
    match ended {
        Ok(status) => status,
        Err(Trouble::Usage(message)) => {
            note!("harness: {message}");
            status::TRACE_TROUBLE
        }
        Err(Trouble::ReaderGone) => status::READER_GONE,
        Err(Trouble::NotExecuted(error)) => {
            complain(&error, error.hint());
            u8::try_from(error.shell_status()).unwrap_or(status::TRACE_TROUBLE)
        }
        Err(Trouble::Other(error, hint)) => {
            complain(error.as_ref(), hint);
            status::TRACE_TROUBLE
        }
    }
}

pub(crate) enum Trouble {
    Usage(String),
    NotExecuted(NotExecuted),
    /// What reads standard output wants no more.
    ReaderGone,
    Other(Box<dyn std::error::Error>, Option<String>),
}

impl From<RunError> for Trouble {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Launch(LaunchError::NotExecuted(error)) => Self::NotExecuted(error),
            other => {
                let hint = other.hint();
                Self::Other(Box::new(other), hint)
            }
        }
    }
}

pub(crate) fn other(error: impl std::error::Error + 'static, hint: Option<String>) -> Trouble {
    Trouble::Other(Box::new(error), hint)
}

/// What BPF does not record.
const NOT_BY_BPF: &str = "BPF records no calls with call chains, and none of processes that live already or of a recording (--source bpf)
hint: leave it to the kernel: --source perf";

fn trace(arguments: &Arguments) -> Result<u8, Trouble> {
    let host = Host::running();
    let all = inject::sets(arguments);
    let (sets, mut faults) = inject::split(&all).map_err(Trouble::Usage)?;
    let bench = bench(arguments, &host, !faults.is_empty())?;
    let form = form(arguments, Some(sys::wall_clock_offset()))?;
    let Planned {
        plan,
        reading,
        shows_signals,
    } = planned(arguments, &sets, &bench)?;
    let spans = Spans::new(&arguments.spans, &plan, &bench.signatures).map_err(Trouble::Usage)?;
    let directory = workload::directory(arguments.sandbox, &bench)?;
    let mut workload = workload::workload(&arguments.command, &bench, directory.as_ref())?;
    let signals = signals::watch().map_err(|error| other(error, None))?;
    let sink = sink(arguments.output.as_ref())?;
    sink.is_not(arguments.save.as_deref(), "--save")?;
    let initial = workload::inherited(directory.as_ref(), &workload);
    let chosen = (arguments.paths.as_slice(), initial.directory.as_deref());
    let restricted = inject::restrict(&mut faults, &plan, chosen);
    restricted.map_err(|error| other(error, None))?;
    workload.held = plan::held(&faults);
    // What is killed with the harness makes no call that nobody answers any more.
    workload.group = match plan.grouping {
        plan::Grouping::No if faults.is_empty() => None,
        _ => bench.group(),
    };
    if !faults.is_empty() && workload.group.is_none() && !arguments.sandbox {
        note!(
            "harness: without a control group the command goes on if the harness is killed, and \
             calls that faults are about then fail with ENOSYS"
        );
    }
    let corked = sandbox::launch(&workload).map_err(RunError::Launch)?;
    let init = corked.has_init().then(|| corked.pid());
    let bytes = arguments.ring_size.unwrap_or_else(|| bench.default_ring());
    let pages = plan::ring_pages(bytes, sys::page_size());
    if arguments.save.is_some() {
        bench.keep_records();
    }
    let mut events = bench.open(&plan, &corked, workload.group.as_deref(), pages)?;
    if arguments.source == Source::Bpf && !events.records_by_programs() {
        return Err(Trouble::Usage(NOT_BY_BPF.to_owned()));
    }
    unseen::say_unread(&reading, &plan, events.reads_memory(), unseen::NO_WHOLE_CPU);
    unseen::say_unseen(&plan);
    // The reader of the trace may be slower than the workload.
    let apart = events.drain_apart();
    apart.map_err(|error| other(error, None))?;
    let about = crate::record::about(None);
    let saving = arguments.save.as_ref();
    let saving = saving.map(|file| Saving::begin(file, &about, (&events, &corked), &bench));
    let saving = saving.transpose().map_err(RunError::Store)?;
    bench.has_opened();
    let running = corked
        .uncork(Duration::from_secs(3600))
        .map_err(RunError::Launch)?;
    let mut printer = Printer::new(&plan, &bench.signatures, form, sink);
    printer.spans = spans;
    printer.sched = arguments.sched.then(|| sched::View::of(arguments.format));
    printer.signals = shows_signals.then(Signals::default);
    printer.saving = saving;
    let patience = Patience {
        timeout: None,
        tick: Duration::from_millis(50),
        watch: None,
    };
    let mut control = signals::PassOn(signals);
    let begun = (init, directory.as_ref(), &workload);
    let setting = setting::of(arguments, &bench, begun, &faults);
    let held = setting.held.clone().unwrap_or_default();
    let doing = inject::doing(&bench, &plan, &faults, &setting);
    let (mut run, done) = doing.supervised(held, (running, None), |running| {
        let (control, to) = (&mut control, &mut printer);
        follow(
            running,
            &mut events,
            &plan,
            patience,
            control,
            to,
            setting.clone(),
        )
    })?;
    run.faults = inject::say(done, &faults);
    run.account.other_cpus = !bench.has_same_cpus();
    run.account.other_files.extend(setting.written());
    if let Some(saving) = printer.saving.take() {
        if let Some(directory) = &directory {
            run.left = Known::Yes(sandbox::Left::below(directory.path(), &|_| true));
        }
        let saved = saving.end(&events, &host, &plan, (&setting, None), &run);
        saved.map_err(RunError::Store)?;
    }
    if run.left_alone {
        note!("harness: what the command left behind lives on, untraced");
    }
    if let Some(directory) = directory {
        directory.remove().map_err(RunError::WorkDir)?;
    }
    let status = printer.finish((&run.account, &[]), run.exit.yes().copied());
    inject::say_never(&run.faults, &faults, (arguments, &all));
    status
}

pub(crate) fn unusable(error: EventsError) -> Trouble {
    if let EventsError::Host(host) = &error {
        let hint = host.hint();
        return other(error, hint);
    }
    let hint = error.hint().map(|hint| format!("\nhint: {hint}"));
    Trouble::Usage(chain(&error) + &hint.unwrap_or_default())
}
