//! `harness script`: prints a perf.data as text.

use crate::ahead::Ahead;
use crate::input::Unprinted;
use crate::out::note;
use crate::{input, out, status};
use perf_live::host::Host;
use perf_live::symbols::Book;
use perf_records::perfdata::Reader;
use perf_records::script::{Choice, Counts, Filter, Options, Script, Shown, Span};
use std::error::Error;
use std::io::{Read, Write};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Columns are those of perf 7.2. Records come in the order of their times.\n\n\
With --format json each sample is an object on a line, with all that was recorded of it: event, time_ns, comm, pid, tid, cpu, mode, id, \
stream_id, period, ip with dso, dso_offset_bytes, sym, symoff_bytes, file and line, addr, read, callchain (each frame with the same, and \
inlined; callchain_end says how one ended that was found in a copy of the stack: outermost, limit, cut, no_table, unknown), branches, \
user_regs, user_stack_hex, weight, data_src, transaction, intr_regs, phys_addr, cgroup, data_page_size_bytes, code_page_size_bytes, aux_hex, and the fields of its \
tracepoint by name (raw_hex where the file has no format of it). What was not recorded is not there. Addresses are numbers; a field that \
its event's text shows as a function of the kernel is {value, symbol}.\n\n\
Functions are named by the files that were recorded, where they are still there (their build ids are compared), by debug files below \
/usr/lib/debug, and by this kernel, where it is the one that was recorded.\n\n\
Exit status: 0, or 2 where the input cannot be read to its end; all that comes before that place is printed."
)]
pub(crate) struct Arguments {
    /// The file, or - for standard input [default: standard input if it is a pipe, else perf.data]
    #[arg(short, long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Fields to show, a list with commas, for some events alone with hw:, sw:, trace:, raw:,
    /// break: or other: in front; +FIELD and -FIELD change what is shown anyway. May be repeated
    #[arg(
        short = 'F',
        long,
        value_name = "FIELDS",
        allow_hyphen_values = true,
        value_parser = fields
    )]
    fields: Vec<Choice>,
    /// Times in nanoseconds
    #[arg(long)]
    ns: bool,
    /// The form of the text
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Only these events: sched:sched_switch, sched:*
    #[arg(short, long = "event", value_name = "EVENTS", value_delimiter = ',')]
    events: Vec<String>,
    /// Only these processes
    #[arg(long = "pid", value_name = "PIDS", value_delimiter = ',')]
    pids: Vec<u32>,
    /// Only these threads
    #[arg(long = "tid", value_name = "TIDS", value_delimiter = ',')]
    tids: Vec<u32>,
    /// Only tasks of these names
    #[arg(
        long,
        visible_alias = "comm",
        value_name = "NAMES",
        value_delimiter = ','
    )]
    comms: Vec<String>,
    /// Only these CPUs: 0,2-3
    #[arg(short = 'C', long = "cpu", value_name = "CPUS", value_delimiter = ',', value_parser = cpus)]
    cpus: Vec<Cpus>,
    /// Only from one time to another, both in seconds: 12.5,13 or 12.5, or ,13
    #[arg(long, value_name = "FROM,TO", value_parser = span)]
    time: Option<Span>,
    /// Do not show functions that the compiler put into others
    #[arg(long)]
    no_inline: bool,
    /// Show names, forks and exits of tasks too
    #[arg(long)]
    show_task_events: bool,
    /// Show mappings too
    #[arg(long)]
    show_mmap_events: bool,
    /// Show where records were lost too
    #[arg(long)]
    show_lost_events: bool,
    /// Show switches from one task to another too
    #[arg(long)]
    show_switch_events: bool,
    /// Show namespaces of tasks too
    #[arg(long)]
    show_namespace_events: bool,
    /// Show every record of the kernel's
    #[arg(long)]
    show_all_events: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Lines, in the layout of perf script
    Text,
    /// JSON lines
    Json,
}

/// One number of a list, or a range.
#[derive(Clone, Copy, Debug)]
struct Cpus {
    first: u32,
    last: u32,
}

fn cpus(text: &str) -> Result<Cpus, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| {
        text.trim()
            .parse::<u32>()
            .map_err(|error| error.to_string())
    };
    let (first, last) = (number(first)?, number(last)?);
    // More than any kernel has (NR_CPUS).
    if last > 8192 {
        return Err("no machine has so many CPUs".to_owned());
    }
    Ok(Cpus { first, last })
}

fn span(text: &str) -> Result<Span, String> {
    Span::parse(text).ok_or_else(|| "not two times in seconds with a comma between them".to_owned())
}

fn fields(text: &str) -> Result<Choice, String> {
    let mut choice = Choice::default();
    choice.add(text).map_err(|error| error.to_string())?;
    Ok(choice)
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    input::status_of(script(arguments))
}

fn options(arguments: &Arguments) -> Options {
    let mut choice = Choice::default();
    arguments.fields.iter().for_each(|more| choice.append(more));
    let shown = [
        (arguments.show_task_events, Shown::TASKS),
        (arguments.show_mmap_events, Shown::MAPS),
        (arguments.show_lost_events, Shown::LOST),
        (arguments.show_switch_events, Shown::SWITCHES),
        (arguments.show_namespace_events, Shown::NAMESPACES),
        (arguments.show_all_events, Shown::ALL),
    ];
    let shown = shown.iter().filter(|(is_shown, _)| *is_shown);
    Options {
        fields: choice,
        nanoseconds: arguments.ns,
        json: arguments.format == Format::Json,
        no_inline: arguments.no_inline,
        shown: shown.fold(Shown::default(), |all, (_, one)| all.and(*one)),
        filter: Filter {
            comms: arguments
                .comms
                .iter()
                .map(|name| name.clone().into_bytes())
                .collect(),
            pids: arguments.pids.clone(),
            tids: arguments.tids.clone(),
            cpus: arguments
                .cpus
                .iter()
                .flat_map(|cpus| cpus.first..=cpus.last)
                .collect(),
            events: arguments.events.clone(),
            times: arguments.time.unwrap_or_default(),
        },
    }
}

fn script(arguments: &Arguments) -> Result<u8, Box<dyn Error>> {
    let (reader, _) = input::open(arguments.input.as_deref())?;
    let book = Book::new(Host::running());
    print(reader, Script::new(options(arguments), book))
}

/// How many bytes of text are written at once.
const PIECE: usize = 1 << 16;

fn print<R: Read + Send + 'static>(
    reader: Reader<R>,
    mut script: Script<Book>,
) -> Result<u8, Box<dyn Error>> {
    let mut stdout = out::stdout().map_err(Unprinted)?;
    let mut text = Vec::with_capacity(2 * PIECE);
    let mut ahead = Ahead::new(reader)?;
    let mut late = 0;
    let mut end: Result<(), Box<dyn Error>> = Ok(());
    'batches: while let Some(mut batch) = ahead.next() {
        for record in batch.records() {
            late = record.late;
            if let Err(source) = script.record(&batch.meta, record.bytes, &mut text) {
                let at = record.at;
                end = Err(Unread { at, source }.into());
                break 'batches;
            }
            if text.len() >= PIECE {
                stdout.write_all(&text).map_err(Unprinted)?;
                text.clear();
            }
        }
        if let Some(told) = batch.end.take() {
            late = batch.late;
            end = told.map_err(Into::into);
            break;
        }
        ahead.reuse(batch);
    }
    stdout.write_all(&text).map_err(Unprinted)?;
    tell(&script.counts(), late);
    for note in script.symbols().notes() {
        note!("harness: {note}");
    }
    end.map(|()| status::PASSED)
}

#[derive(Debug, thiserror::Error)]
#[error("the record at byte {at} cannot be shown")]
struct Unread {
    at: u64,
    source: perf_records::script::ScriptError,
}

/// Reports what is missing.
fn tell(counts: &Counts, late: u64) {
    let all = [
        (counts.lost, "records were lost when this was recorded"),
        (late, "records came late, and stand behind younger ones"),
        (
            counts.cut,
            "call chains end where the copy of the stack does (call-graph=dwarf,stack-size=BYTES makes it longer)",
        ),
        (
            counts.strangers,
            "records with the id of no event are not shown",
        ),
        (
            counts.unknown,
            "records of a type that this version does not know are not shown",
        ),
    ];
    for (count, what) in all {
        if count > 0 {
            note!("harness: {count} {what}");
        }
    }
}
