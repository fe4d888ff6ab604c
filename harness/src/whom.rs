//! Options of the commands that follow tasks as perf does: which tasks, and which events.

use crate::out::note;
use crate::trace::{Trouble, other, workload};
use clap::CommandFactory;
use perf_live::events::Subject;
use perf_live::host::{Grant, Host, Living};
use perf_live::sandbox::{self, Corked, Running, Stdio};
use perf_live::sys::rights;
use perf_records::units::{Cpu, Pid};
use std::ffi::OsString;
use std::time::Duration;
use trace_harness::plan;
use trace_harness::run::{Bench, Recording, RunError, chosen_cpus, living};

#[derive(Debug, clap::Args)]
pub(crate) struct Whom {
    /// Events, a list with commas; may be repeated
    #[arg(short, long = "event", alias = "events", value_name = "EVENTS")]
    events: Vec<String>,
    /// A filter of the kernel's for the event before it; may be repeated
    #[arg(long, value_name = "FILTER")]
    filter: Vec<String>,
    /// All tasks on all CPUs, until the command ends or a signal comes
    #[arg(short, long, conflicts_with = "pid")]
    all_cpus: bool,
    /// These processes with all their threads, a list with commas
    #[arg(short, long, value_name = "PID", value_delimiter = ',')]
    pid: Vec<u32>,
    /// On these CPUs alone: 0-3,8. Without a process or command, all tasks there
    #[arg(short = 'C', long, value_name = "CPUS", value_parser = cpus)]
    cpu: Option<CpuList>,
    /// The command and its arguments
    #[arg(trailing_var_arg = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
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

impl Whom {
    /// Returns which tasks the events are of.
    pub(crate) fn whose(&self) -> Result<Recording, Trouble> {
        let is_nobody = self.pid.is_empty() && self.command.is_empty();
        match () {
            () if self.all_cpus || (self.cpu.is_some() && is_nobody) => Ok(Recording::Machine),
            () if !self.pid.is_empty() => Ok(Recording::Tasks),
            () if is_nobody => {
                let message =
                    "nothing to follow: name a command, a process (-p) or the machine (-a)";
                Err(Trouble::Usage(message.to_owned()))
            }
            () => Ok(Recording::Command),
        }
    }

    /// Describes the followed tasks in words.
    pub(crate) fn named(&self) -> String {
        let command = self.command.join(" ".as_ref());
        match () {
            () if !self.pid.is_empty() => {
                let pids: Vec<_> = self.pid.iter().map(u32::to_string).collect();
                format!("process {}", pids.join(", "))
            }
            () if self.all_cpus || self.command.is_empty() => "the machine".to_owned(),
            () => format!("`{}`", command.to_string_lossy()),
        }
    }

    /// The events of the command line, each with its filter. `command` is the name of ours that
    /// they were given to.
    pub(crate) fn words(&self, command: &str) -> Result<Vec<(String, Option<String>)>, Trouble> {
        words(&self.events_with_filters(command)).map_err(Trouble::Usage)
    }

    /// Whether CPUs are named.
    pub(crate) fn names_cpus(&self) -> bool {
        self.cpu.is_some()
    }

    /// The CPUs that are named, or all.
    pub(crate) fn cpus(&self, bench: &Bench<'_>) -> Result<Vec<Cpu>, Trouble> {
        let named = self.cpu.as_ref().map_or(&[][..], |list| &list.0);
        let cpus = chosen_cpus(bench, named);
        if cpus.is_empty() {
            let message = "none of these CPUs is online".to_owned();
            return Err(Trouble::Usage(message));
        }
        Ok(cpus)
    }

    /// The processes that are named; those of the whole machine are looked for when its events run.
    pub(crate) fn living(&self, whose: Recording, host: &Host) -> Result<Vec<Living>, Trouble> {
        if whose != Recording::Tasks {
            return Ok(Vec::new());
        }
        let found = self.pid.iter().map(|pid| living(host, Pid(*pid)));
        Ok(found.collect::<Result<_, _>>().map_err(RunError::Attach)?)
    }

    /// Starts the command, if there is one, and parks it in front of its program.
    pub(crate) fn launch(
        &self,
        stdio: Stdio,
        bench: &Bench<'_>,
    ) -> Result<Option<Corked>, Trouble> {
        if self.command.is_empty() {
            return Ok(None);
        }
        let mut workload = workload::workload(&self.command, bench, None)?;
        workload.stdio = stdio;
        let corked = sandbox::launch(&workload).map_err(RunError::Launch)?;
        Ok(Some(corked))
    }

    /// Each `-e` with the filters that stand behind it, in the order of the command line, which a
    /// list of each does not tell.
    fn events_with_filters(&self, command: &str) -> Vec<(String, Vec<String>)> {
        let line = crate::Arguments::command().try_get_matches_from(std::env::args_os());
        let places = |name: &str| -> Vec<usize> {
            let line = line.as_ref().ok();
            let matches = line.and_then(|line| line.subcommand_matches(command));
            let places = matches.and_then(|matches| matches.indices_of(name));
            places.into_iter().flatten().collect()
        };
        let filters: Vec<_> = places("filter").into_iter().zip(&self.filter).collect();
        let starts = places("events");
        let ends = starts.iter().skip(1).copied().chain([usize::MAX]);
        let spans = starts.iter().copied().zip(ends);
        let mut all: Vec<(String, Vec<String>)> = spans
            .zip(&self.events)
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

/// What one command needs of the machine, whose workload may outlive the harness.
pub(crate) fn bench(host: &Host) -> Result<Bench<'_>, Trouble> {
    Ok(bench_of_one(host)?.sparing_workloads())
}

/// What one command needs of the machine, whose workload ends with the harness, where that has a
/// control group for it.
pub(crate) fn bench_of_one(host: &Host) -> Result<Bench<'_>, Trouble> {
    let bench = Bench::new(host).map_err(|error| {
        let hint = error.hint();
        other(error, hint)
    })?;
    Ok(bench.for_runs(1))
}

/// Of the whole machine, and of processes that are there already, rights that the program's file
/// lends to its user show nothing: they are given up here, unless the machine's administrator
/// grants that.
pub(crate) fn keep_to_own(whose: Recording, host: &Host) {
    if whose == Recording::Command || !rights::are_lent() || host.grants(Grant::Machine) {
        return;
    }
    rights::forget();
    note!(
        "harness: with your own rights alone: those that its file lends reach commands that it starts"
    );
    note!(
        "hint: run as root, or let root write a line `{}` into {}",
        Grant::Machine.word(),
        Host::RIGHTS
    );
}

/// Whether events in the kernel are left out because the user may not see them; reports that for
/// what is `done` with the rest.
pub(crate) fn leaves_out_kernel(bench: &Bench<'_>, done: &str) -> bool {
    let leaves_out = !bench.sees_kernel();
    if leaves_out {
        note!(
            "harness: {done} with the rights of an ordinary user: what happens in the kernel is left out"
        );
    }
    leaves_out
}

/// Returns the tasks that the events follow.
pub(crate) fn subject(whose: Recording, living: &[Living], corked: Option<&Corked>) -> Subject {
    match (whose, corked) {
        (Recording::Command, Some(corked)) => Subject::Tasks(vec![corked.pid()]),
        (Recording::Tasks, _) => {
            let threads = living.iter().flat_map(|process| &process.threads);
            Subject::Tasks(threads.map(|thread| Pid(thread.tid.0)).collect())
        }
        _ => Subject::Everybody,
    }
}

/// Lets the command go.
pub(crate) fn uncork(
    bench: &Bench<'_>,
    corked: Option<Corked>,
) -> Result<Option<Running>, Trouble> {
    let patience = Duration::from_secs(3600);
    bench.has_opened();
    let running = corked.map(|corked| corked.uncork(patience)).transpose();
    Ok(running.map_err(RunError::Launch)?)
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
