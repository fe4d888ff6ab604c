//! What is known of a program without faults.

use super::files::Files;
use crate::trace::{Deed, Value};
use crate::verdict::{Known, Run};
use perf_live::sandbox::{Captured, Left};
use std::collections::BTreeMap;
use syscall_model::signals::signal_name;

/// What is known of the program without faults.
#[derive(Clone, Debug, Default)]
pub struct Learned {
    /// What each run wrote.
    said: Vec<Lines>,
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
        self.said.push(Lines::of(run));
        for (crash, times) in counted(&crashes(run)) {
            let most = self.crashes.entry(crash).or_default();
            *most = times.max(*most);
        }
    }

    /// What a run said that neither of these did. Of standard output it is known whether that is
    /// said or a result where results are expected of it.
    pub(super) fn news(&self, run: &Run, expects_stdout: bool) -> News {
        let own = Lines::of(run);
        let of_stderr = self.of(&|lines| &lines.stderr, &own);
        let of_stdout = self.of(&|lines| &lines.stdout, &own);
        match (of_stderr, of_stdout) {
            (Change::Lines(lines), _) => News::Lines(lines),
            (_, Change::Lines(lines)) if expects_stdout => News::Lines(lines),
            (_, Change::Lines(_) | Change::Fewer) if !expects_stdout => News::Doubtful,
            (Change::Untold, _) | (_, Change::Untold) => News::Untold,
            _ => News::Nothing,
        }
    }

    fn of(&self, stream: &dyn Fn(&Lines) -> &[Vec<u8>], own: &Lines) -> Change {
        let mut said = self.said.iter().map(stream);
        let own = stream(own);
        let is_known = |line: &&Vec<u8>| self.said.iter().any(|said| stream(said).contains(line));
        let news = own.iter().filter(|line| !is_known(line));
        let shown = news.map(|line| String::from_utf8_lossy(line).into_owned());
        let news: Vec<String> = shown.take(MOST_NEWS).collect();
        let first = said.next().unwrap_or_default();
        match (news.is_empty(), said.any(|other| other != first)) {
            (true, false) if own != first => Change::Fewer,
            (true, _) => Change::None,
            (false, false) => Change::Lines(news),
            (false, true) => Change::Untold,
        }
    }

    /// Which of the files that it was given a run lost, and of which that is not known.
    pub(super) fn lost(&self, run: &Run) -> (Vec<String>, Vec<String>) {
        self.files.lost(run)
    }

    /// What a run left otherwise than these.
    pub(super) fn otherwise(&self, run: &Run) -> Vec<String> {
        let stdout = self.of(&|lines| &lines.stdout, &Lines::of(run));
        let is_other = matches!(stdout, Change::Lines(_) | Change::Fewer);
        let stdout = is_other.then(|| "standard output is another".to_owned());
        let left = run.left.yes().map(|left| self.files.otherwise(left));
        stdout
            .into_iter()
            .chain(left.into_iter().flatten())
            .collect()
    }

    /// Whether other processes crashed than in these runs.
    pub(super) fn has_more(&self, found: &[Crash]) -> bool {
        let most = |crash: &str| self.crashes.get(crash).copied().unwrap_or_default();
        let mut counted = counted(found).into_iter();
        counted.any(|(crash, times)| times > most(&crash))
    }
}

/// What a run said that was not said without its fault.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum News {
    Nothing,
    /// The first of its new lines.
    Lines(Vec<String>),
    /// Standard output is another, of which nothing is expected: that may be a message or a wrong
    /// result.
    Doubtful,
    /// It differs without a fault as well.
    Untold,
}

/// How an output differs from those without a fault.
enum Change {
    None,
    /// The first of its new lines.
    Lines(Vec<String>),
    /// Lines are missing, or came more often, and none is new.
    Fewer,
    /// New lines, as in each run without a fault.
    Untold,
}

/// What a run wrote: the lines of each output that are not empty, sorted, as processes that run
/// side by side write theirs in any order.
#[derive(Clone, Debug, Default)]
struct Lines {
    stdout: Vec<Vec<u8>>,
    stderr: Vec<Vec<u8>>,
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

impl Lines {
    fn of(run: &Run) -> Self {
        Self {
            stdout: lines(&run.stdout),
            stderr: lines(&run.stderr),
        }
    }
}

fn lines(output: &Known<Captured>) -> Vec<Vec<u8>> {
    let bytes = output.yes().map(|output| &*output.bytes);
    let lines = bytes.unwrap_or_default().split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !line.trim_ascii().is_empty());
    let mut lines: Vec<Vec<u8>> = lines.map(<[u8]>::to_vec).collect();
    lines.sort_unstable();
    lines
}
