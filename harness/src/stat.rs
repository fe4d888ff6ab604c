//! `harness stat`: does what `perf stat` does.

use crate::out::note;
use crate::trace::{Trouble, other, sink_at_the_end, status_of, unusable};
use crate::whom::{self, Whom};
use crate::{signals, status};
use perf_live::host::Host;
use perf_live::sandbox::Stdio;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Instant;
use trace_harness::plan::RecordWish;
use trace_harness::report::Counted;
use trace_harness::run::{Recording, RunError};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Events: a software event by perf's name (task-clock, cpu-clock, page-faults, minor-faults, major-faults, \
context-switches, cpu-migrations); a hardware event by perf's name, where the machine has a counter for it (cycles, instructions, \
L1-dcache-load-misses, r1a8); an event of a source that sysfs describes (msr/tsc/, cpu/event=0x3c,umask=1/); what is done to a place of \
memory (mem:0x404010/4:w); a tracepoint (sched:sched_switch, sched:*); a probe (uprobe:/path:function, uretprobe:, kprobe:, kretprobe:); a system call, a glob or a class of them (openat, rename*, \
%file), one counter of how often any of them was entered. Nothing named means task-clock, context-switches, cpu-migrations and page-faults.\n\n\
Modifiers stand behind a colon (page-faults:u): u, k, h for user mode, kernel and hypervisor alone. Events in braces ({page-faults,cs}) are \
counted at the same times or not at all, and read at one moment.\n\n\
Counted is what the command does and all that it starts, to the last of them. Values are what was counted: where events had to share \
counters, the share of the time stands beside them. An event that the machine has no counter for, or that happens where this user may not look, is <not supported>; one that never came \
to be counted is <not counted>. Where none of them can be counted, the command is not started.\n\n\
Exit status: the command's own, 128 + n when signal n killed it; 127 where it was not found, 126 where it could not be executed, \
125 when the harness had trouble."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    whom: Whom,
    /// Write to this file instead of standard error
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Scale counts up to all of the time, if events had to share counters
    #[arg(long)]
    scale: bool,
    /// How to write it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Text, as perf stat prints it
    Text,
    /// An object for each counter, and a summary last
    Json,
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    status_of(run(arguments))
}

fn run(arguments: &Arguments) -> Result<u8, Trouble> {
    let host = Host::running();
    let whom = &arguments.whom;
    let whose = whom.whose()?;
    whom::keep_to_own(whose, &host);
    let bench = whom::bench(&host)?;
    if arguments.scale && whom.names_cpus() && whose != Recording::Machine {
        let message = "--scale cannot be with -C and a command or process: an event waits while its task is on another CPU";
        return Err(Trouble::Usage(message.to_owned()));
    }
    let words = whom.words("stat")?;
    let wish = RecordWish {
        words,
        inherit: whose != Recording::Machine,
        on_exec: whose == Recording::Command,
        exclude_kernel: whom::leaves_out_kernel(&bench, "counted"),
        ..RecordWish::default()
    };
    let living = whom.living(whose, &host)?;
    let mut output = sink_at_the_end(arguments.output.as_ref())?;
    let corked = whom.launch(Stdio::Inherited, &bench)?;
    let subject = whom::subject(whose, &living, corked.as_ref());
    let cpus = whom.cpus(&bench)?;
    let counters = match bench.open_counters(&wish, &subject, &cpus, !whom.names_cpus()) {
        Err(RunError::Plan(error)) => return Err(unusable(error)),
        opened => opened?,
    };
    let signals = signals::watch().map_err(|error| other(error, None))?;
    let mut control = signals::PassOn(signals);
    if !wish.on_exec {
        counters.enable().map_err(|error| other(error, None))?;
    }
    let begin = Instant::now();
    let running = whom::uncork(&bench, corked)?;
    let counted = counters.count(running, whose, &mut control);
    let (counts, end) = counted.map_err(|error| other(error, None))?;
    let counted = Counted {
        counts: &counts,
        elapsed: begin.elapsed(),
        cpu: end.exited.as_ref().and_then(|exited| exited.usage.cpu),
        exit: end.exited.as_ref().map(|exited| exited.exit),
        scaled: arguments.scale,
    };
    let absent: BTreeSet<&String> = counts
        .iter()
        .filter_map(|count| count.absent.as_ref())
        .collect();
    for why in absent {
        note!("harness: {why}");
    }
    let mut text = String::new();
    match arguments.format {
        Format::Text => counted.human(&mut text, &whom.named()),
        Format::Json => counted.json(&mut text),
    }
    output.put(&text)?;
    output.finish()?;
    if end.left {
        note!("harness: what the command left behind lives on, uncounted");
    }
    let status = end.exited.map_or(0, |exited| exited.exit.shell_status());
    Ok(u8::try_from(status).unwrap_or(status::TRACE_TROUBLE))
}
