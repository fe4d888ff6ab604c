//! `harness record`: what `perf record` does, without hardware events.

use crate::trace::options::size;
use crate::trace::{Trouble, other, status_of, unusable, workload};
use crate::{signals, status};
use clap::CommandFactory;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;
use trace_harness::attr::Sampling;
use trace_harness::errors::chain;
use trace_harness::events::Subject;
use trace_harness::host::{Host, Living};
use trace_harness::plan::{self, Reach, RecordWish};
use trace_harness::run::{
    Bench, Output, Recording, RunError, Store, StoreOptions, Stored, chosen_cpus, record,
};
use trace_harness::sandbox::{self, Corked, Running, Stdio};
use trace_harness::units::{Cpu, Pid};

/// What perf takes where nobody says a level.
const LEVEL: &str = "1";

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Events: a tracepoint (sched:sched_switch, sched:*); a software event by perf's name (cpu-clock, task-clock, page-faults, \
minor-faults, major-faults, context-switches, cpu-migrations, dummy, bpf-output); a system call, a glob or a class of them (openat, rename*, \
%file), which are recorded as raw_syscalls with a filter. Nothing named means cpu-clock.\n\n\
Exit status: the command's own, 128 + n when signal n killed it; 127 where it was not found, 126 where it could not be executed, \
125 when the harness had trouble, lost events included."
)]
pub(crate) struct Arguments {
    /// Events to record, a list with commas; may be repeated
    #[arg(short, long = "event", alias = "events", value_name = "EVENTS")]
    events: Vec<String>,
    /// A filter of the kernel's for the event before it; may be repeated
    #[arg(long, value_name = "FILTER")]
    filter: Vec<String>,
    /// Everybody on all CPUs, until the command ends or a signal comes
    #[arg(short, long, conflicts_with = "pid")]
    all_cpus: bool,
    /// These processes with all their threads, a list with commas
    #[arg(short, long, value_name = "PID", value_delimiter = ',')]
    pid: Vec<u32>,
    /// On these CPUs alone: 0-3,8. Without a process or command, everybody there
    #[arg(short = 'C', long, value_name = "CPUS", value_parser = cpus)]
    cpu: Option<CpuList>,
    /// A sample each time that the event has counted so far
    #[arg(short, long, value_name = "N", conflicts_with = "freq", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// So many samples a second
    #[arg(short = 'F', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    freq: Option<u64>,
    /// Size of each CPU's ring: pages, or bytes with a unit (64KiB, 4M); rounded up to a power of two of pages
    #[arg(short, long, value_name = "PAGES|SIZE", value_parser = pages)]
    mmap_pages: Option<u64>,
    /// Samples come with call chains, by frame pointers
    #[arg(short = 'g')]
    call_graph: bool,
    /// Write to this file, and keep an older one as FILE.old; `-` for a pipe: the command's output then goes to standard error
    #[arg(short, long, value_name = "FILE", default_value = "perf.data")]
    output: OsString,
    /// Compress by zstd, at this level
    #[arg(short = 'z', long, value_name = "LEVEL", num_args = 0..=1, default_missing_value = LEVEL, require_equals = true, value_parser = clap::value_parser!(i32).range(1..=22))]
    compression_level: Option<i32>,
    /// The command and its arguments
    #[arg(trailing_var_arg = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// CPUs, as `perf` and `taskset` have them.
#[derive(Clone, Debug)]
struct CpuList(Vec<Cpu>);

fn cpus(text: &str) -> Result<CpuList, String> {
    let wrong = || "expected CPUs such as 0-3,8".to_owned();
    let mut all = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.parse::<u16>().map_err(|_| wrong());
        all.extend((number(first)?..=number(last)?).map(|cpu| Cpu(cpu.into())));
    }
    (!all.is_empty()).then_some(CpuList(all)).ok_or_else(wrong)
}

fn pages(text: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(pages) => Ok(pages.saturating_mul(trace_harness::sys::page_size() as u64)),
        Err(_) => size(text),
    }
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    status_of(run(arguments))
}

fn run(arguments: &Arguments) -> Result<u8, Trouble> {
    let host = Host::running();
    let bench = Bench::new(&host).map_err(|error| {
        let hint = error.hint();
        other(error, hint)
    })?;
    let bench = bench.for_runs(1).sparing_workloads();
    let is_machine = arguments.all_cpus
        || (arguments.cpu.is_some() && arguments.pid.is_empty() && arguments.command.is_empty());
    let whose = match (is_machine, arguments.pid.is_empty()) {
        (true, _) => Recording::Machine,
        (_, false) => Recording::Tasks,
        _ if arguments.command.is_empty() => {
            let message = "nothing to record: name a command, a process (-p) or the machine (-a)";
            return Err(Trouble::Usage(message.to_owned()));
        }
        _ => Recording::Command,
    };
    let words = words(&events_with_filters(arguments)).map_err(Trouble::Usage)?;
    // Whoever may not even read tracefs may still record what needs none; an event that does need it says so.
    let exclude_kernel = !matches!(bench.reach(), Ok(Reach::Everything));
    if exclude_kernel {
        anstream::eprintln!(
            "harness: recorded with the rights of an ordinary user: what happens in the kernel is left out"
        );
    }
    let wish = RecordWish {
        words,
        sampling: match (arguments.count, arguments.freq) {
            (Some(count), _) => Some(Sampling::Period(count)),
            (_, Some(frequency)) => Some(Sampling::Frequency(frequency)),
            _ => None,
        },
        call_chain: arguments.call_graph,
        overwrite: false,
        inherit: whose != Recording::Machine,
        on_exec: whose == Recording::Command,
        exclude_kernel,
        has_lost: bench.has_lost_counts(),
    };
    let living = living(arguments, whose, &host)?;
    let is_pipe = arguments.output == "-";
    let corked = launch(arguments, is_pipe, &bench)?;
    let subject = subject(whose, &living, corked.as_ref());
    let named = arguments.cpu.as_ref().map_or(&[][..], |list| &list.0);
    let cpus = chosen_cpus(&bench, named);
    if cpus.is_empty() {
        let message = "none of these CPUs is online".to_owned();
        return Err(Trouble::Usage(message));
    }
    let bytes = arguments.mmap_pages.unwrap_or_else(|| bench.default_ring());
    let pages = plan::ring_pages(bytes, trace_harness::sys::page_size());
    let mut events = match bench.open_recorded(&wish, &subject, &cpus, pages) {
        Err(RunError::Plan(error)) => return Err(unusable(error)),
        opened => opened?,
    };
    let signals = signals::watch().map_err(|error| other(error, None))?;
    let options = about(arguments.compression_level);
    let output = output(&arguments.output)?;
    let mut store = Store::begin(output, &options, &events, &bench).map_err(trouble)?;
    if !wish.on_exec {
        events.enable().map_err(RunError::Open)?;
    }
    // Whoever comes to life from here on tells of himself.
    let living = match whose {
        Recording::Machine => host.everybody(),
        _ => living,
    };
    store.tell_of(&living, &events, &host).map_err(trouble)?;
    let running = uncork(corked)?;
    let mut control = signals::PassOn(signals);
    let end = record(running, &mut events, &mut store, whose, &mut control).map_err(trouble)?;
    let stored = store
        .end(&events, &host, |_| BTreeMap::new())
        .map_err(trouble)?;
    if end.left {
        anstream::eprintln!("harness: what the command left behind lives on, unrecorded");
    }
    say(&stored, &arguments.output);
    if stored.lost() > 0 {
        return Ok(status::TRACE_TROUBLE);
    }
    let status = end.exited.map_or(0, |exited| exited.exit.shell_status());
    Ok(u8::try_from(status).unwrap_or(status::TRACE_TROUBLE))
}

/// What is said in a recording of who made it.
pub(crate) fn about(compression: Option<i32>) -> StoreOptions {
    StoreOptions {
        command: std::env::args_os().collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        compression,
    }
}

fn trouble(error: impl std::error::Error + 'static) -> Trouble {
    other(error, None)
}

/// Each `-e` with the filters that stand behind it, in the order of the command line, which a list of each does not tell.
fn events_with_filters(arguments: &Arguments) -> Vec<(String, Vec<String>)> {
    let line = crate::Arguments::command().try_get_matches_from(std::env::args_os());
    let places = |name: &str| -> Vec<usize> {
        let line = line.as_ref().ok();
        let matches = line.and_then(|line| line.subcommand_matches("record"));
        let places = matches.and_then(|matches| matches.indices_of(name));
        places.into_iter().flatten().collect()
    };
    let filters: Vec<_> = places("filter")
        .into_iter()
        .zip(&arguments.filter)
        .collect();
    let starts = places("events");
    let ends = starts.iter().skip(1).copied().chain([usize::MAX]);
    let spans = starts.iter().copied().zip(ends);
    let mut all: Vec<(String, Vec<String>)> = spans
        .zip(&arguments.events)
        .map(|((from, to), word)| {
            let of_it = filters.iter().filter(|(at, _)| (from..to).contains(at));
            (
                word.clone(),
                of_it.map(|(_, text)| (*text).clone()).collect(),
            )
        })
        .collect();
    let first = starts.first().copied().unwrap_or(usize::MAX);
    if let Some((_, text)) = filters.iter().find(|(at, _)| *at < first) {
        all.push((String::new(), vec![(*text).clone()]));
    }
    all
}

/// The words of all lists, the last of each with the filters behind it.
fn words(lists: &[(String, Vec<String>)]) -> Result<Vec<(String, Option<String>)>, String> {
    let mut all: Vec<(String, Option<String>)> = Vec::new();
    for (list, filters) in lists {
        let words = plan::event_words(list).into_iter();
        all.extend(words.map(|word| (word.to_owned(), None)));
        let filter = match filters.as_slice() {
            [] => continue,
            [one] => one.clone(),
            // As perf has it: all of them.
            many => {
                let parts: Vec<_> = many.iter().map(|text| format!("({text})")).collect();
                parts.join(" && ")
            }
        };
        match all.last_mut() {
            Some((_, place)) if !list.is_empty() => *place = Some(filter),
            _ => return Err("--filter stands behind the -e whose event it is for".to_owned()),
        }
    }
    Ok(all)
}

/// The processes that are named; those of the whole machine are looked for when its events run.
fn living(arguments: &Arguments, whose: Recording, host: &Host) -> Result<Vec<Living>, Trouble> {
    if whose != Recording::Tasks {
        return Ok(Vec::new());
    }
    let found = |pid: &u32| {
        let gone = || Trouble::Usage(format!("there is no process {pid}"));
        host.living(Pid(*pid)).ok_or_else(gone)
    };
    arguments.pid.iter().map(found).collect()
}

fn subject(whose: Recording, living: &[Living], corked: Option<&Corked>) -> Subject {
    match (whose, corked) {
        (Recording::Command, Some(corked)) => Subject::Tasks(vec![corked.pid()]),
        (Recording::Tasks, _) => {
            let threads = living.iter().flat_map(|process| &process.threads);
            Subject::Tasks(threads.map(|thread| Pid(thread.tid.0)).collect())
        }
        _ => Subject::Everybody,
    }
}

fn launch(
    arguments: &Arguments,
    is_pipe: bool,
    bench: &Bench<'_>,
) -> Result<Option<Corked>, Trouble> {
    if arguments.command.is_empty() {
        return Ok(None);
    }
    let mut workload = workload::workload(&arguments.command, bench, None)?;
    if is_pipe {
        workload.stdio = Stdio::OutputToError;
    }
    let corked = sandbox::launch(&workload).map_err(RunError::Launch)?;
    Ok(Some(corked))
}

fn uncork(corked: Option<Corked>) -> Result<Option<Running>, Trouble> {
    let patience = Duration::from_secs(3600);
    let running = corked.map(|corked| corked.uncork(patience)).transpose();
    Ok(running.map_err(RunError::Launch)?)
}

fn output(name: &OsString) -> Result<Output, Trouble> {
    let failed = |error: io::Error| {
        let name = Path::new(name).display();
        Trouble::Usage(format!("cannot write `{name}`: {}", chain(&error)))
    };
    if name == "-" {
        let stdout = io::stdout().as_fd().try_clone_to_owned().map_err(failed)?;
        return Ok(Output::Pipe(stdout.into()));
    }
    let is_recording = std::fs::metadata(name).is_ok_and(|file| file.is_file() && file.len() > 0);
    if is_recording {
        let mut old = name.clone();
        old.push(".old");
        std::fs::rename(name, old).map_err(failed)?;
    }
    // As perf has it: what was recorded is none of the others' business.
    let mut file = File::options();
    file.write(true).create(true).truncate(true).mode(0o600);
    Ok(Output::File(file.open(name).map_err(failed)?))
}

fn say(stored: &Stored, output: &OsString) {
    let Stored {
        n_samples, length, ..
    } = stored;
    let (whole, tenth) = (length >> 10, (length & 1023) * 10 / 1024);
    let output = Path::new(output).display();
    let lost = stored.lost();
    anstream::eprintln!(
        "[ harness record: {n_samples} samples, {lost} lost, {whole}.{tenth} KiB -> {output} ]"
    );
    if lost == 0 {
        return;
    }
    for event in stored.events.iter().filter(|event| !event.is_complete()) {
        anstream::eprintln!("  {event}");
    }
    if stored.side_band_lost > 0 {
        let n = stored.side_band_lost;
        anstream::eprintln!("  names, forks, exits and mappings: {n} lost");
    }
    anstream::eprintln!("hint: use larger rings (-m 64M), or name fewer events (-e)");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_of_the_last_event_before_it() {
        let lists = [
            (
                "sched:sched_switch,sched:sched_wakeup".to_owned(),
                vec!["prio > 1".to_owned()],
            ),
            ("cpu-clock".to_owned(), Vec::new()),
            ("irq:*".to_owned(), vec!["a".to_owned(), "b".to_owned()]),
        ];
        let words = words(&lists).unwrap();
        let shown: Vec<_> = words
            .iter()
            .map(|(word, filter)| (word.as_str(), filter.as_deref()))
            .collect();
        assert_eq!(
            shown,
            [
                ("sched:sched_switch", None),
                ("sched:sched_wakeup", Some("prio > 1")),
                ("cpu-clock", None),
                ("irq:*", Some("(a) && (b)")),
            ]
        );
    }

    #[test]
    fn a_filter_before_any_event_is_refused() {
        assert!(words(&[(String::new(), vec!["a".to_owned()])]).is_err());
    }

    #[test]
    fn cpus_are_lists_of_ranges() {
        let read = |text| cpus(text).map(|list| list.0);
        assert_eq!(read("0-2,5"), Ok([0, 1, 2, 5].map(Cpu).to_vec()));
        assert!(read("").is_err());
        assert!(read("a").is_err());
    }
}
