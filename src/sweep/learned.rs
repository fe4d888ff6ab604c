//! What is known of a program without faults.

use super::files::Files;
use crate::trace::{Deed, Value};
use crate::verdict::{Known, Run};
use perf_live::sandbox::Left;
use std::collections::{BTreeMap, BTreeSet};
use syscall_model::signals::signal_name;

/// What is known of the program without faults.
#[derive(Clone, Debug, Default)]
pub struct Learned {
    /// The lines that each run wrote to standard output and to standard error.
    said: Vec<BTreeSet<Vec<u8>>>,
    /// How many of its processes a signal ended that stands for a crash, by signal and program.
    crashes: BTreeMap<String, usize>,
    /// The files that it is given, and what each run left.
    files: Files,
}

impl Learned {
    /// Of a program that is given these files.
    #[must_use]
    pub fn of_files(given: Left) -> Self {
        Self {
            files: Files::of(given),
            ..Self::default()
        }
    }

    /// Adds a run.
    pub fn add(&mut self, run: &Run) {
        self.files.add(run);
        self.said.push(lines(run).collect());
        for (crash, times) in counted(&crashes(run)) {
            let most = self.crashes.entry(crash).or_default();
            *most = times.max(*most);
        }
    }

    /// The first lines of a run that none of these wrote; `None` where these differ from each
    /// other, so that a line tells nothing.
    pub(super) fn news(&self, run: &Run) -> Option<Vec<String>> {
        let differ = self
            .said
            .windows(2)
            .any(|two| matches!(two, [one, other] if one != other));
        let is_known = |line: &Vec<u8>| self.said.iter().any(|said| said.contains(line));
        let news = lines(run).filter(|line| !is_known(line));
        let shown = news.map(|line| String::from_utf8_lossy(&line).into_owned());
        let news: Vec<String> = shown.take(MOST_NEWS).collect();
        (news.is_empty() || !differ).then_some(news)
    }

    /// Which of the files that it was given a run lost, and of which that is not known.
    pub(super) fn lost(&self, run: &Run) -> (Vec<String>, Vec<String>) {
        self.files.lost(run)
    }

    /// Whether other processes crashed than in these runs.
    pub(super) fn has_more(&self, found: &[Crash]) -> bool {
        let most = |crash: &str| self.crashes.get(crash).copied().unwrap_or_default();
        let mut counted = counted(found).into_iter();
        counted.any(|(crash, times)| times > most(&crash))
    }
}

/// So many lines are shown of what a program said of a fault.
const MOST_NEWS: usize = 3;

/// A process that a signal ended which stands for a crash.
pub(super) struct Crash {
    /// The signal and the program.
    what: String,
    /// The same for people, with the task.
    pub(super) told: String,
}

fn counted(crashes: &[Crash]) -> BTreeMap<String, usize> {
    let mut counted = BTreeMap::new();
    for crash in crashes {
        *counted.entry(crash.what.clone()).or_default() += 1;
    }
    counted
}

/// The signals that end a process with a core, where nobody takes them (`signal(7)`).
const CORES: [i32; 10] = [
    libc::SIGABRT,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGQUIT,
    libc::SIGSEGV,
    libc::SIGSYS,
    libc::SIGTRAP,
    libc::SIGXCPU,
    libc::SIGXFSZ,
];

/// Returns the signals by which processes of a run crashed, where the run has their deliveries.
pub(super) fn crashes(run: &Run) -> Vec<Crash> {
    let deeds = run.trace.blocks.iter().flat_map(|block| &block.deeds);
    let delivered = deeds.filter(|deed| &*deed.name == "signal:signal_deliver");
    let is_core = |number: i128| CORES.iter().any(|core| i128::from(*core) == number);
    let of = |deed: &Deed, field: &str| match deed.part(field).map(|part| part.value.clone()) {
        Some(Value::Number(number)) => Some(number),
        Some(Value::Names(_, number) | Value::Address(number)) => Some(number.into()),
        _ => None,
    };
    let crashed = delivered.filter(|deed| {
        of(deed, "sig").is_some_and(is_core) && of(deed, "sa_handler").is_none_or(|way| way == 0)
    });
    let signal = |deed: &Deed| of(deed, "sig").and_then(|number| i32::try_from(number).ok());
    crashed
        .filter_map(|deed| {
            let name = signal_name(signal(deed)?);
            Some(Crash {
                what: format!("{name} {}", deed.program),
                told: format!("{name} ended {} (`{}`)", deed.task, deed.program),
            })
        })
        .collect()
}

fn lines(run: &Run) -> impl Iterator<Item = Vec<u8>> {
    let outputs = [&run.stdout, &run.stderr]
        .into_iter()
        .filter_map(Known::yes);
    let lines = outputs.flat_map(|output| output.bytes.split(|byte| *byte == b'\n'));
    lines
        .filter(|line| !line.trim_ascii().is_empty())
        .map(<[u8]>::to_vec)
}
