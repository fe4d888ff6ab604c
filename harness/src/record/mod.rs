//! `harness record`: does what `perf record` does.

mod switch;

use crate::out::note;
use crate::trace::options::size;
use crate::trace::{Trouble, other, status_of, unusable, unwritable};
use crate::whom::{self, Whom};
use crate::{out, signals, status};
use perf_live::errors::chain;
use perf_live::events::full_rings;
use perf_live::files::{self, Access};
use perf_live::host::Host;
use perf_live::ring::Bounds;
use perf_live::sandbox::Stdio;
use perf_records::attr::{Chain, Sampling};
use perf_records::units::shown_path;
use std::ffi::OsString;
use std::path::Path;
use trace_harness::plan::{self, RecordWish};
use trace_harness::run::{
    Alarm, Ask, Bench, Destination, Dumps, Output, Recorder, Recording, RunError, StoreError,
    StoreOptions, Stored, Switch, Triggers, record,
};

/// The level of compression that perf takes by default.
const LEVEL: &str = "1";

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Events: a tracepoint (sched:sched_switch, sched:*); a probe with its arguments (uprobe:/path:function path, uretprobe:, kprobe:function, kretprobe:); a software event by perf's name (cpu-clock, task-clock, page-faults, \
minor-faults, major-faults, context-switches, cpu-migrations, dummy, bpf-output); a hardware event (cycles, L1-dcache-load-misses, r1a8), where \
the machine has a counter for it; one of a source that sysfs describes (cpu/event=0x3c/); what is done to a place of memory (mem:0x404010/4:w); modifiers \
(page-faults:u); a system call, a glob or a class of them (openat, rename*, \
%file), which are recorded as raw_syscalls with a filter on their native numbers: of a 32-bit program it is the calls with these numbers, \
which are others, as `harness trace` tells; an ordinary user's are recorded by their own tracepoints, at most 100 of them. Nothing named means cpu-clock. Terms of one event stand behind it between slashes (sched:sched_switch/call-graph=no,nr=100/): overwrite, \
no-overwrite, call-graph=fp, dwarf or no, stack-size=BYTES, max-stack=FRAMES, nr=RECORDS, period=N, freq=N, name=NAME, inherit, no-inherit.\n\n\
Exit status: the command's own, 128 + n when signal n killed it; 127 where it was not found, 126 where it could not be executed, \
125 when the harness had trouble, lost events included."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    whom: Whom,
    /// Take a sample each time the event has counted this far
    #[arg(short, long, value_name = "N", conflicts_with = "freq", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Take this many samples a second, or `max` for as many as kernel.perf_event_max_sample_rate
    /// allows
    #[arg(short = 'F', long, value_name = "N|max", value_parser = frequency)]
    freq: Option<Frequency>,
    /// Size of each CPU's ring: pages, or bytes with a unit (64KiB, 4M); rounded up to a power of
    /// two of pages
    #[arg(short, long, value_name = "PAGES|SIZE", value_parser = pages)]
    mmap_pages: Option<u64>,
    /// How much may wait to be written, give or take the rings: 256 MiB of it in memory,
    /// the rest in files in TMPDIR [default: until 1 GiB is free there]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    backlog: Option<u64>,
    /// Record call chains: fp, by frame pointers; dwarf, by a copy of the stack, of this many bytes
    /// (8192)
    #[arg(long, value_name = "fp|dwarf[,SIZE]", value_parser = crate::trace::options::call_graph)]
    call_graph: Option<Chain>,
    /// The same as --call-graph fp
    #[arg(short = 'g', conflicts_with = "call_graph")]
    frame_pointers: bool,
    /// Write to this file, and keep an older one as FILE.old; `-` for a pipe: the command's output
    /// then goes to standard error
    #[arg(short, long, value_name = "FILE", default_value = "perf.data")]
    output: OsString,
    /// Compress by zstd, at this level
    #[arg(short = 'z', long, value_name = "LEVEL", num_args = 0..=1, default_missing_value = LEVEL, require_equals = true, value_parser = clap::value_parser!(i32).range(1..=22))]
    compression_level: Option<i32>,
    #[command(flatten)]
    files: switch::Files,
}

/// The number of samples a second.
#[derive(Clone, Copy, Debug)]
enum Frequency {
    Of(u64),
    Max,
}

fn frequency(text: &str) -> Result<Frequency, String> {
    match text.parse() {
        _ if text == "max" => Ok(Frequency::Max),
        Ok(number) if number > 0 => Ok(Frequency::Of(number)),
        _ => Err("expected a number above 0, or max".to_owned()),
    }
}

fn pages(text: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(pages) => Ok(pages.saturating_mul(perf_live::sys::page_size() as u64)),
        Err(_) => size(text),
    }
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    status_of(run(arguments))
}

fn run(arguments: &Arguments) -> Result<u8, Trouble> {
    // From the first moment on: a signal that comes early must not end the recording.
    signals::hold_back_requests().map_err(|error| other(error, None))?;
    let is_pipe = arguments.output == "-";
    let dumps = arguments.files.files(is_pipe).map_err(Trouble::Usage)?;
    let host = Host::running();
    let whom = &arguments.whom;
    let whose = whom.whose()?;
    whom::keep_to_own(whose, &host);
    let bench = whom::bench(&host)?.with_backlog(arguments.backlog.map(Bounds::of));
    let wish = wish(arguments, whose, &bench)?;
    let living = whom.living(whose, &host)?;
    let stdio = match is_pipe {
        true => Stdio::OutputToError,
        false => Stdio::Inherited,
    };
    let corked = whom.launch(stdio, &bench)?;
    let subject = whom::subject(whose, &living, corked.as_ref());
    let cpus = whom.cpus(&bench)?;
    let bytes = arguments.mmap_pages.unwrap_or_else(|| bench.default_ring());
    let pages = plan::ring_pages(bytes, perf_live::sys::page_size());
    let mut events = match bench.open_recorded(&wish, &subject, &cpus, pages) {
        Err(RunError::Plan(error)) => return Err(unusable(error)),
        opened => opened?,
    };
    let alarm = alarm(arguments, &wish, |wish| {
        bench.open_alarm(wish, &subject, &cpus)
    })?;
    let signals = signals::watch().map_err(|error| other(error, None))?;
    let asked = dumps.map(|_| signals::count_requests()).transpose();
    let mut asked = asked.map_err(|error| other(error, None))?;
    let triggers = Triggers::new(
        dumps.map_or(Switch::Never, |(switch, _)| switch),
        asked.as_mut().map(|asked| asked as &mut dyn Ask),
        dumps.and_then(|_| bench.open_requests(signals::REQUEST as i32)),
        alarm,
    );
    let mut named = None;
    let to = match dumps {
        Some((_, most)) => Destination::Many(Dumps::new(Path::new(&arguments.output), most)),
        None => {
            let (to, name) = output(&arguments.output)?;
            named = name;
            Destination::One(to)
        }
    };
    let options = about(arguments.compression_level);
    let mut told = switch::Told::new(Path::new(&arguments.output));
    let mut tell = |file: Result<&_, &_>| told.say(file);
    let mut recorder = Recorder::begin(to, &options, &mut events, &bench, triggers, &mut tell)
        .map_err(|error| no_first(&arguments.output, error))?;
    if !wish.on_exec {
        recorder.enable()?;
        events.enable().map_err(RunError::Open)?;
    }
    // Processes that begin from here on have records of their own.
    let living = match whose {
        Recording::Machine => host.everybody(),
        _ => {
            let corked = corked.as_ref().and_then(|it| host.corked(it.pid()));
            [living, corked.into_iter().collect()].concat()
        }
    };
    recorder.tell_of(&living, &mut events).map_err(trouble)?;
    drop(living);
    let running = whom::uncork(&bench, corked)?;
    let mut control = signals::PassOn(signals);
    let end = record(running, &mut events, &mut recorder, whose, &mut control).map_err(trouble)?;
    let (stored, n_failed) = recorder.end(&mut events).map_err(trouble)?;
    if let Some(file) = named {
        let finished = file.finish_beside_old(".old");
        finished.map_err(|error| unwritable(Path::new(&arguments.output), &error))?;
    }
    if end.left {
        note!("harness: what the command left behind lives on, unrecorded");
    }
    if !told.is_any {
        say(&stored, &arguments.output);
    }
    say_throttled(&stored, bench.host);
    say_lost(&stored);
    if !stored.is_complete() || n_failed > 0 {
        return Ok(status::TRACE_TROUBLE);
    }
    let status = end.exited.map_or(0, |exited| exited.exit.shell_status());
    Ok(u8::try_from(status).unwrap_or(status::TRACE_TROUBLE))
}

fn wish(arguments: &Arguments, whose: Recording, bench: &Bench<'_>) -> Result<RecordWish, Trouble> {
    let most_samples = bench.host.perf_event_max_sample_rate();
    Ok(RecordWish {
        most_samples,
        words: arguments.whom.words("record")?,
        sampling: match (arguments.count, arguments.freq) {
            (Some(count), _) => Some(Sampling::Period(count)),
            (_, Some(Frequency::Of(frequency))) => Some(Sampling::Frequency(frequency)),
            (_, Some(Frequency::Max)) => most_samples.map(Sampling::Frequency),
            _ => None,
        },
        call_chain: arguments
            .call_graph
            .or(arguments.frame_pointers.then(Chain::default)),
        overwrite: arguments.files.overwrite,
        inherit: whose != Recording::Machine,
        on_exec: whose == Recording::Command,
        exclude_kernel: whom::leaves_out_kernel(bench, "recorded"),
        has_lost: bench.has_lost_counts(),
    })
}

/// Opens the events whose records ask for files.
fn alarm(
    arguments: &Arguments,
    wish: &RecordWish,
    open: impl FnOnce(&RecordWish) -> Result<Alarm, RunError>,
) -> Result<Option<Alarm>, Trouble> {
    let Some(list) = &arguments.files.switch_output_event else {
        return Ok(None);
    };
    let words = plan::event_words(list).into_iter();
    let wish = RecordWish {
        words: words.map(|word| (word.to_owned(), None)).collect(),
        sampling: None,
        overwrite: false,
        ..wish.clone()
    };
    match open(&wish) {
        Err(RunError::Plan(error)) => Err(unusable(error)),
        opened => Ok(Some(opened?)),
    }
}

/// Returns what a recording says of its maker.
pub(crate) fn about(compression: Option<i32>) -> StoreOptions {
    StoreOptions {
        command: std::env::args_os().collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        compression,
    }
}

/// Makes the error of the first of several files, without which there can be none.
fn no_first(output: &OsString, error: StoreError) -> Trouble {
    match error {
        StoreError::Write(error) => {
            let name = shown_path(Path::new(output));
            Trouble::Usage(format!("cannot write beside `{name}`: {}", chain(&error)))
        }
        error => trouble(error),
    }
}

fn trouble(error: impl std::error::Error + 'static) -> Trouble {
    other(error, None)
}

/// Opens the output for one recording; the second value gets its name at the end.
fn output(name: &OsString) -> Result<(Output, Option<files::Output>), Trouble> {
    let path = Path::new(name);
    if name == "-" {
        let stdout = out::stdout().map_err(|error| unwritable(path, &error))?;
        return Ok((Output::Pipe(stdout), None));
    }
    let file = files::Output::begin(path, Access::Private);
    let file = file.map_err(|error| unwritable(path, &error))?;
    let to = Output::of(&file).map_err(|error| unwritable(path, &error))?;
    Ok((to, Some(file)))
}

fn say(stored: &Stored, output: &OsString) {
    let (samples, lost) = (stored.n_samples, stored.lost());
    let length = switch::kibibytes(stored.length);
    let output = shown_path(Path::new(output));
    note!("[ harness record: {samples} samples, {lost} lost, {length} -> {output} ]");
    out::say_left_out(&stored.left_out);
}

/// Reports throttled events. They have fewer samples than they would have had; that is no loss, as
/// it cannot be said how many.
fn say_throttled(stored: &Stored, host: &Host) {
    let rate = host.perf_event_max_sample_rate().unwrap_or_default();
    for (name, times) in &stored.throttled {
        note!(
            "  `{name}`: throttled {times} times, as it had more samples than kernel.perf_event_max_sample_rate ({rate}) allows; what \
             happened then is no sample"
        );
    }
}

fn say_lost(stored: &Stored) {
    if stored.is_complete() {
        return;
    }
    let (mut is_for_two, mut is_lost) = (false, stored.side_band_lost + stored.full_rings > 0);
    for event in stored.events.iter().filter(|event| !event.is_complete()) {
        note!("  {event}");
        match event.said_lost {
            Some(0) if plan::is_counted_for_two(&event.name) => is_for_two = true,
            _ => is_lost = true,
        }
    }
    if stored.side_band_lost > 0 {
        let n = stored.side_band_lost;
        note!("  names, forks, exits and mappings: {n} lost");
    }
    if stored.full_rings > 0 {
        note!("  {}", full_rings(stored.full_rings));
    }
    if is_for_two {
        note!(
            "hint: the kernel counts an event of a wake-up for the woken task too, and records it for the waker alone; with -a each \
             is counted once"
        );
    }
    if is_lost {
        note!("hint: use larger rings (-m 64M), or name fewer events (-e)");
    }
}
