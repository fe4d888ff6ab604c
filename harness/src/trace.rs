//! `harness trace`: one command, live.

use crate::{complain, signals, status};
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use trace_harness::errors::chain;
use trace_harness::host::Host;
use trace_harness::plan::{self, EventsError, EventsPlan, Wanted};
use trace_harness::report;
use trace_harness::run::{Bench, Observer, Patience, RunError, Setting, follow};
use trace_harness::sandbox::{self, LaunchError, NotExecuted, Program, Stdio, Workload};
use trace_harness::sys::process::World;
use trace_harness::syscall::files::{FileKind, Initial};
use trace_harness::syscall::{Actor, Observation, Signatures};
use trace_harness::trace::TracedEvent;
use trace_harness::units::{Cpu, Nanos};
use trace_harness::verdict::Ended;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Events: a system call (openat), a glob (rename*), a class of strace's (%file), any of them taken away again \
(!futex), a tracepoint (sched:sched_switch, sched:*), an operation of io_uring (io_uring:IORING_OP_FSYNC). With io_uring_enter come all \
operations that are submitted. Nothing named means all system calls.\n\n\
Exit status: the command's own, 128 + n when signal n killed it; 127 where it was not found, 126 where it could not be executed, \
125 when the harness had trouble, lost events included."
)]
pub(crate) struct Arguments {
    /// Events to trace, a list with commas; may be repeated
    #[arg(
        short = 'e',
        long = "events",
        value_name = "EVENTS",
        value_delimiter = ','
    )]
    events: Vec<String>,
    /// Write the trace to this file instead of standard error
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Follow the command's descendants: the default, accepted for those whose fingers know it
    #[arg(short, long)]
    follow: bool,
    /// The form of the trace
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Size of each CPU's ring (64KiB, 4MiB), rounded up to a power of two of pages
    #[arg(short = 'm', long = "ring-size", value_name = "SIZE", value_parser = size)]
    ring_size: Option<u64>,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "CMD")]
    command: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
}

fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text.get(digits.len()..).unwrap_or_default() {
        "" | "B" => 1,
        "K" | "k" | "KiB" => 1 << 10,
        "M" | "MiB" => 1 << 20,
        "G" | "GiB" => 1 << 30,
        unit => return Err(format!("unknown unit `{unit}`: B, KiB, MiB or GiB")),
    };
    let number: u64 = digits
        .parse()
        .map_err(|_| "expected a number such as 64KiB".to_owned())?;
    number
        .checked_mul(unit)
        .filter(|size| *size > 0)
        .ok_or_else(|| "expected a size above zero".to_owned())
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    match trace(arguments) {
        Ok(status) => status,
        Err(Trouble::Usage(message)) => {
            anstream::eprintln!("harness: {message}");
            status::TRACE_TROUBLE
        }
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

enum Trouble {
    Usage(String),
    NotExecuted(NotExecuted),
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

fn other(error: impl std::error::Error + 'static, hint: Option<String>) -> Trouble {
    Trouble::Other(Box::new(error), hint)
}

fn trace(arguments: &Arguments) -> Result<u8, Trouble> {
    let host = Host::running();
    let bench = Bench::new(&host).map_err(|error| {
        let hint = error.hint();
        other(error, hint)
    })?;
    let plan = plan::events(&wants(&arguments.events), &host).map_err(unusable)?;
    bench.check_access().map_err(|error| {
        let hint = error.hint();
        other(error, hint)
    })?;
    let workload = workload(&arguments.command, &bench)?;
    let signals = signals::watch().map_err(|error| other(error, None))?;
    let sink = sink(arguments.output.as_ref())?;
    let group = bench.group_for(&plan).map_err(RunError::Open)?;
    let corked = sandbox::launch(&workload).map_err(RunError::Launch)?;
    let default = plan::default_ring(bench.cpus.len());
    let bytes = arguments.ring_size.unwrap_or(default);
    let pages = plan::ring_pages(bytes, trace_harness::sys::page_size());
    let mut events = bench.open(&plan, &corked, group.as_ref(), pages)?;
    let running = corked
        .uncork(Duration::from_secs(3600))
        .map_err(RunError::Launch)?;
    let mut printer = Printer {
        plan: &plan,
        signatures: &bench.signatures,
        format: arguments.format,
        text: String::with_capacity(Printer::FULL * 2),
        sink,
        n_events: 0,
        error: None,
    };
    let patience = Patience {
        timeout: None,
        tick: Duration::from_millis(50),
    };
    let mut control = signals::PassOn(signals);
    let mut ended = follow(
        running,
        &mut events,
        &plan,
        patience,
        &mut control,
        &mut printer,
        Setting {
            initial: inherited(),
            ..Setting::default()
        },
    )
    .map_err(RunError::Session)?;
    ended.account.other_cpus = !bench.has_same_cpus();
    if ended.left {
        anstream::eprintln!("harness: what the command left behind lives on, untraced");
    }
    printer.finish(&ended)
}

/// What the command inherits, by the names that the kernel has for it.
fn inherited() -> Initial {
    let file = |number: i32| {
        let link = Host::running()
            .own_descriptor(number)?
            .into_os_string()
            .into_vec();
        let kind = if link.starts_with(b"/") {
            FileKind::Path
        } else {
            FileKind::Given
        };
        Some((kind(link.into()), vec![number]))
    };
    let directory = std::env::current_dir().ok();
    Initial {
        files: (0..=2).filter_map(file).collect(),
        complete: true,
        directory: directory.map(|path| path.into_os_string().into_vec()),
    }
}

/// `openat,!futex,sched:*` as the plan wants it. `trace=` in front is strace's habit.
fn wants(words: &[String]) -> Vec<Wanted> {
    let words = words
        .iter()
        .map(|word| word.strip_prefix("trace=").unwrap_or(word));
    let (tracepoints, calls): (Vec<&str>, Vec<&str>) = words
        .filter(|word| !word.is_empty())
        .partition(|word| word.contains(':'));
    let mut wants = Vec::new();
    if !calls.is_empty() {
        wants.push(Wanted::Syscalls(
            calls.into_iter().map(str::to_owned).collect(),
        ));
    }
    wants.extend(tracepoints.into_iter().map(|name| Wanted::Tracepoint {
        name: name.to_owned(),
        filter: None,
    }));
    wants
}

fn unusable(error: EventsError) -> Trouble {
    let nearest = match &error {
        EventsError::Syscall { unknown, .. } => unknown.hint(),
        EventsError::Tracepoint { nearest, .. } | EventsError::Operation { nearest, .. } => nearest
            .as_ref()
            .map(|name| format!("did you mean `{name}`?")),
        EventsError::Host(host) => {
            let hint = host.hint();
            return other(error, hint);
        }
        _ => None,
    };
    let nearest = nearest
        .map(|nearest| format!("\nhint: {nearest}"))
        .unwrap_or_default();
    Trouble::Usage(format!("{}{nearest}", chain(&error)))
}

fn workload(command: &[OsString], bench: &Bench<'_>) -> Result<Workload, Trouble> {
    let c_string = |text: &OsStr| CString::new(text.as_bytes()).map_err(|error| other(error, None));
    let path = std::env::var_os("PATH").unwrap_or_else(|| trace_harness::run::PATH.into());
    let name = command.first().map(OsString::as_os_str).unwrap_or_default();
    let environment = std::env::vars_os().map(|(mut name, value)| {
        name.push("=");
        name.push(value);
        CString::new(name.into_vec()).map_err(|error| other(error, None))
    });
    Ok(Workload {
        program: Program::find(name, &path, Path::new(".")).map_err(Trouble::NotExecuted)?,
        arguments: command
            .iter()
            .map(|argument| c_string(argument))
            .collect::<Result<_, _>>()?,
        environment: environment.collect::<Result<_, _>>()?,
        directory: None,
        stdio: Stdio::Inherited,
        world: World::Host,
        umask: None,
        fixed_addresses: false,
        open_files: bench.open_files,
    })
}

fn sink(output: Option<&PathBuf>) -> Result<Box<dyn Write>, Trouble> {
    match output {
        None => Ok(Box::new(io::stderr())),
        Some(path) => match File::create(path) {
            Ok(file) => Ok(Box::new(file)),
            Err(error) => Err(Trouble::Usage(format!(
                "cannot write `{}`: {}",
                path.display(),
                chain(&error)
            ))),
        },
    }
}

/// Writes calls and events as they come.
struct Printer<'a> {
    plan: &'a EventsPlan,
    signatures: &'a Signatures<'a>,
    format: Format,
    text: String,
    sink: Box<dyn Write>,
    n_events: u64,
    error: Option<Trouble>,
}

impl Printer<'_> {
    const FULL: usize = 1 << 16;

    fn flush(&mut self) {
        if let Err(error) = self.sink.write_all(self.text.as_bytes()) {
            self.error.get_or_insert(other(
                error,
                Some("the trace could not be written".to_owned()),
            ));
        }
        self.text.clear();
    }

    fn counted(&mut self) {
        self.n_events += 1;
        if self.text.len() >= Self::FULL {
            self.flush();
        }
    }

    fn finish(mut self, ended: &Ended) -> Result<u8, Trouble> {
        let lost = ended.account.lost();
        if self.format == Format::Json {
            let complete = ended.account.is_complete();
            report::summary_json(
                &mut self.text,
                self.n_events,
                lost,
                complete,
                ended.exited.exit,
            );
        }
        self.flush();
        if let Some(error) = self.error {
            return Err(error);
        }
        if !ended.account.is_complete() {
            anstream::eprintln!("harness: the trace is incomplete: {lost} records lost");
            for line in ended.account.complaints() {
                anstream::eprintln!("  {line}");
            }
            if lost > 0 {
                anstream::eprintln!("hint: use larger rings (-m 64MiB), or name fewer events (-e)");
            }
            return Ok(status::TRACE_TROUBLE);
        }
        Ok(u8::try_from(ended.exited.exit.shell_status()).unwrap_or(status::TRACE_TROUBLE))
    }
}

impl Observer for Printer<'_> {
    fn observe(&mut self, observation: &Observation) {
        let Observation::Call(call) = observation else {
            return;
        };
        if !self.plan.wants(call) {
            return;
        }
        match self.format {
            Format::Text => report::call_line(&mut self.text, call, self.signatures),
            Format::Json => report::call_json(&mut self.text, call, self.signatures),
        }
        self.counted();
    }

    fn event(&mut self, actor: &Actor, time: Nanos, cpu: Cpu, tracepoint: usize, payload: &[u8]) {
        let Some(planned) = self.plan.tracepoints.get(tracepoint) else {
            return;
        };
        match TracedEvent::decode(&planned.naming, &planned.format, payload) {
            Ok(event) => match self.format {
                Format::Text => report::event_line(&mut self.text, actor, &event),
                Format::Json => report::event_json(&mut self.text, actor, time, cpu, &event),
            },
            Err(source) => {
                let event = planned.name.as_ref().to_owned();
                self.error
                    .get_or_insert(RunError::Decode { event, source }.into());
            }
        }
        self.counted();
    }

    fn pause(&mut self) {
        self.flush();
    }
}
