//! What is known of a program without faults.

use crate::trace::{Deed, Value};
use crate::verdict::{Known, Run};
use std::collections::{BTreeMap, BTreeSet};
use syscall_model::signals::signal_name;

/// What is known of the program without faults.
#[derive(Clone, Debug, Default)]
pub struct Learned {
    /// The lines that each run wrote to standard output and to standard error.
    said: Vec<BTreeSet<Vec<u8>>>,
    /// How many of its processes a signal ended that stands for a crash, by signal and program.
    crashes: BTreeMap<String, usize>,
}

impl Learned {
    /// Adds a run.
    pub fn add(&mut self, run: &Run) {
        self.said.push(lines(run).collect());
        for (crash, times) in counted(&crashes(run)) {
            let most = self.crashes.entry(crash).or_default();
            *most = times.max(*most);
        }
    }

    /// Whether a run wrote a line that none of these did; `None` where these differ from each
    /// other, so that a line tells nothing.
    pub(super) fn has_news(&self, run: &Run) -> Option<bool> {
        let differ = self
            .said
            .windows(2)
            .any(|two| matches!(two, [one, other] if one != other));
        let is_known = |line: &Vec<u8>| self.said.iter().any(|said| said.contains(line));
        let has_news = lines(run).any(|line| !is_known(&line));
        (!has_news || !differ).then_some(has_news)
    }

    /// Whether other processes crashed than in these runs.
    pub(super) fn has_more(&self, found: &[Crash]) -> bool {
        let most = |crash: &str| self.crashes.get(crash).copied().unwrap_or_default();
        let mut counted = counted(found).into_iter();
        counted.any(|(crash, times)| times > most(&crash))
    }
}

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
