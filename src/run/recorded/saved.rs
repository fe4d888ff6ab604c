//! What a recording says of its run besides the records: what only the harness could know.
//!
//! A file holds it as JSON behind all that perf reads ([`Feature::BESIDES`]). A recording of perf
//! lacks it, and so does a pipe.

use super::bytes::Bytes;
use super::executed::{self, Executed};
use super::held::{self, HeldCall};
use super::lay::{LaidMounts, Lay};
use super::left::LeftOne;
use super::sum::Sum;
use crate::crash::Kept;
use crate::plan::EventsPlan;
use crate::run::given::Sums;
use crate::run::{Names, ProbedFile, Setting};
use crate::verdict::{Faults, Known, Run};
use perf_live::events::{Account, EventRequest};
use perf_live::sandbox::{Captured, Left};
use perf_live::units::{ExitKind, FileId, Limit, Struck, Survivor, Usage};
use perf_records::perfdata::Feature;
use perf_records::units::Pid;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use syscall_model::files::{FileKind, Initial};
use syscall_model::select::Selection;

/// What the harness knows of a run besides its records.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Saved {
    /// The version of this form: 2.
    version: u32,
    /// The calls that were asked for, as the scenario's words; `None` for none.
    pub(in crate::run) calls: Option<Vec<String>>,
    /// The calls that were recorded, as the scenario's words.
    recorded: Vec<String>,
    /// The tracepoints that were asked for.
    pub(in crate::run) tracepoints: Vec<String>,
    /// What was recorded: the events and the filters in the kernel.
    requests: Vec<(String, Option<String>)>,
    /// The command and its arguments; empty if the workload already ran.
    pub(in crate::run) command: Vec<String>,
    /// What the run was given besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::run) given: Option<Sums>,
    /// How long the run was allowed to take, in nanoseconds; `None` for as long as it liked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timeout: Option<u64>,
    /// What its scenario required of the machine and the machine had.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(in crate::run) met: BTreeSet<String>,
    init: Option<u32>,
    reads_memory: bool,
    contents: u16,
    of_group: bool,
    streams: Vec<(Given, Vec<i32>)>,
    is_all: bool,
    directory: Option<Bytes>,
    exit: Option<ExitKind>,
    main_pid: Option<i32>,
    stdout: Option<Output>,
    stderr: Option<Output>,
    used: Usage,
    timed_out: Option<bool>,
    interrupted: bool,
    left_alone: bool,
    struck: Option<Vec<Struck>>,
    untold: Vec<(Limit, String)>,
    survivors: Option<Vec<Survivor>>,
    usage: Usage,
    account: Account,
    left: Vec<(Bytes, LeftOne)>,
    unseen: Vec<(Bytes, String)>,
    /// What lay under each name that was looked up, if names were followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    names: Option<Vec<(Bytes, Lay)>>,
    /// How mounts were shared then, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shared: Option<LaidMounts>,
    /// Files that were programs which the kernel loads by itself, of those that were executed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    loaded: Vec<Bytes>,
    /// The calls that were held for faults.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    held: Vec<HeldCall>,
    /// What became of the faults, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    faults: Option<Faults>,
    /// What the kernel executed beside each program, if files were followed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    programs: Executed,
    /// What was seen of the calls that changed the working directory, if power cuts are tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::run) changes: Option<Kept>,
    /// The files that had probes, each with its event and its path; `None` if the plan had none, or
    /// in files of before this was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    probed: Option<Vec<(String, Bytes, FileId)>>,
    /// The events of those whose probes were in all processes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    everywhere: Vec<String>,
    /// The sum over the records and these fields.
    sum: u64,
}

/// What a descriptor refers to when the workload starts.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Given {
    Path(Bytes),
    Named(Bytes),
    Unread,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Output {
    bytes: Bytes,
    dropped: u64,
}

impl From<&Captured> for Output {
    fn from(captured: &Captured) -> Self {
        Self {
            bytes: captured.bytes.as_slice().into(),
            dropped: captured.dropped,
        }
    }
}

impl Output {
    fn captured(&self) -> Captured {
        Captured {
            bytes: self.bytes.to_vec(),
            dropped: self.dropped,
        }
    }
}

impl Saved {
    /// Its place in a file.
    pub const FEATURE: Feature = Feature::BESIDES;

    /// Returns what a recording should keep of a run.
    #[must_use]
    pub fn of(plan: &EventsPlan, setting: &Setting, run: &Run<()>) -> Self {
        let names = setting.names.as_ref();
        let given = |kind: &FileKind| match kind {
            FileKind::Path(path) => Given::Path(path.as_ref().into()),
            FileKind::Given(name) => Given::Named(name.as_ref().into()),
            _ => Given::Unread,
        };
        let files = setting.initial.files.iter();
        let requests = plan.requests.iter();
        let tracepoints = plan.named.iter();
        let request = |request: &EventRequest| (request.name.clone(), request.filter.clone());
        let left = run.left.yes();
        let files_left = left.into_iter().flat_map(|left| &left.files);
        let unseen = left.into_iter().flat_map(|left| &left.unseen);
        let unseen = unseen.map(|(path, why)| (path.as_slice().into(), why.clone()));
        // A directory that was not looked into is marked at its root.
        let all_unseen = match &run.left {
            Known::Yes(_) => None,
            Known::No(why) => Some(([].as_slice().into(), why.clone())),
        };
        Self {
            version: 2,
            calls: plan.selection.as_ref().map(Selection::words),
            recorded: plan.recorded.words(),
            tracepoints: tracepoints.map(|it| it.name.as_ref().to_owned()).collect(),
            requests: requests.map(request).collect(),
            command: setting.command.clone(),
            given: setting.given.clone(),
            timeout: setting
                .timeout
                .map(|it| u64::try_from(it.as_nanos()).unwrap_or(u64::MAX)),
            met: setting.met.clone(),
            init: setting.init.map(|pid| pid.0),
            reads_memory: setting.reads_memory,
            contents: plan.memory.contents,
            of_group: setting.of_group,
            streams: files
                .map(|(kind, numbers)| (given(kind), numbers.clone()))
                .collect(),
            is_all: setting.initial.complete,
            directory: setting.initial.directory.as_deref().map(Bytes::from),
            exit: run.exit.yes().copied(),
            main_pid: run.main_pid,
            stdout: run.stdout.yes().map(Into::into),
            stderr: run.stderr.yes().map(Into::into),
            used: run.used_by_main,
            timed_out: run.timed_out.yes().copied(),
            interrupted: run.interrupted,
            left_alone: run.left_alone,
            struck: run.struck.yes().cloned(),
            untold: run.untold.clone(),
            survivors: run.survivors.yes().cloned(),
            usage: run.usage,
            account: run.account.clone(),
            left: files_left
                .map(|(path, file)| (path.as_slice().into(), file.into()))
                .collect(),
            unseen: unseen.chain(all_unseen).collect(),
            names: names.map(|names| {
                let found = names.found();
                let found = found.iter();
                found
                    .map(|(path, found)| (path.as_slice().into(), found.into()))
                    .collect()
            }),
            shared: names.and_then(|names| Some(names.shares()?.into())),
            loaded: names.map_or_else(Vec::new, |names| {
                let loaded = names.loaded();
                loaded.iter().map(|path| path.as_slice().into()).collect()
            }),
            held: setting.held.as_ref().map(held::kept).unwrap_or_default(),
            faults: run.faults.yes().cloned(),
            programs: executed::keep(&run.programs),
            changes: None,
            probed: plan.probes_files().then(|| {
                let probed = setting.probed.iter().flatten();
                let probed = probed.map(|it| (it.event.clone(), it.path.as_slice().into(), it.id));
                probed.collect()
            }),
            everywhere: setting.everywhere(),
            sum: 0,
        }
    }

    /// Counts occurrences of an event before `until` as overwritten, as they are left out of a
    /// copy; `before` as in [`Account::of`].
    pub(in crate::run) fn forgets(&mut self, (name, before): (&str, usize), many: u64, until: u64) {
        let mut events = self.account.events.iter_mut();
        let mut events = events.by_ref().filter(|event| event.name == name);
        if let Some(event) = events.nth(before) {
            event.overwritten += many;
            event.delivered = event.delivered.saturating_sub(many);
            let known = &mut self.account.remembers_from;
            *known = (*known).max(Some(until));
        }
    }

    /// Adds a sum over itself and the records, which shows a change of either.
    #[must_use]
    pub fn sealed(mut self, records: u64) -> Self {
        self.sum = 0;
        let mut own = Sum::default();
        own.add(&self.to_bytes());
        self.sum = own.number().wrapping_add(records);
        self
    }

    /// Whether it and the records are as they were written.
    pub(in crate::run) fn is_sealed_by(&self, records: u64) -> bool {
        self.clone().sealed(records).sum == self.sum
    }

    /// As a file holds it.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        // It cannot fail: all keys are strings.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads what a file holds.
    ///
    /// # Errors
    /// What makes no sense in it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let saved: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        match saved.version {
            2 => Ok(saved),
            other => Err(format!(
                "it is of version {other}, and 2 is known here: record the run again"
            )),
        }
    }

    /// Returns what the reader must know of the run to understand its records.
    pub(in crate::run) fn setting(&self) -> Setting {
        let kind = |given: &Given| match given {
            Given::Path(path) => FileKind::Path(path.to_vec().into()),
            Given::Named(name) => FileKind::Given(name.to_vec().into()),
            Given::Unread => FileKind::Unread,
        };
        let streams = self.streams.iter();
        Setting {
            init: self.init.map(Pid),
            initial: Initial {
                files: streams
                    .map(|(given, numbers)| (kind(given), numbers.clone()))
                    .collect(),
                complete: self.is_all,
                directory: self.directory.as_ref().map(Bytes::to_vec),
            },
            names: self.names.as_ref().map(|names| {
                let names = names.iter();
                let found = names.map(|(path, lay)| (path.to_vec(), lay.found()));
                let directory = self.directory.as_ref().map(Bytes::to_vec);
                let loaded = self.loaded.iter().map(Bytes::to_vec).collect();
                let shared = self.shared.map(Into::into);
                Names::recorded(directory, found.collect(), loaded, shared)
            }),
            reads_memory: self.reads_memory,
            of_group: self.of_group,
            probed: self.probed(),
            held: (!self.held.is_empty()).then(|| held::log(&self.held).unwrap_or_default()),
            ..Setting::default()
        }
    }

    fn probed(&self) -> Option<Vec<ProbedFile>> {
        let of = |(event, path, id): &(String, Bytes, FileId)| ProbedFile {
            event: event.clone(),
            path: path.to_vec(),
            id: *id,
            original: None,
            is_held: self.everywhere.contains(event),
            copies: 0,
            mapped: None,
        };
        Some(self.probed.as_ref()?.iter().map(of).collect())
    }

    /// What is known of the run.
    pub(in crate::run) fn run(&self) -> Run<()> {
        let unknown = Run::recorded(self.account.clone());
        let output = |output: &Option<Output>| output.as_ref().map(|it| Known::Yes(it.captured()));
        let directory = self.directory.as_ref().map(Bytes::to_vec);
        Run {
            exit: self.exit.map_or(unknown.exit, Known::Yes),
            main_pid: self.main_pid,
            stdout: output(&self.stdout).unwrap_or(unknown.stdout),
            stderr: output(&self.stderr).unwrap_or(unknown.stderr),
            left: Known::Yes(self.left()),
            used_by_main: self.used,
            timed_out: self.timed_out.map_or(unknown.timed_out, Known::Yes),
            interrupted: self.interrupted,
            left_alone: self.left_alone,
            struck: self.struck.clone().map_or(unknown.struck, Known::Yes),
            untold: self.untold.clone(),
            survivors: self.survivors.clone().map_or(unknown.survivors, Known::Yes),
            usage: self.usage,
            faults: self.faults.clone().map_or(unknown.faults, Known::Yes),
            programs: executed::kept(&self.programs),
            directory: directory.map(|path| String::from_utf8_lossy(&path).into_owned()),
            ..unknown
        }
    }

    /// Returns what was left in the directory; what was not looked into then is not known.
    fn left(&self) -> Left {
        let mut left = Left::default();
        for (path, one) in &self.left {
            match one.file() {
                Ok(file) => _ = left.files.insert(path.to_vec(), file),
                Err(why) => _ = left.unseen.insert(path.to_vec(), why),
            }
        }
        let unseen = self.unseen.iter();
        let unseen: BTreeMap<_, _> = unseen
            .map(|(path, why)| (path.to_vec(), why.clone()))
            .collect();
        left.unseen.extend(unseen);
        left
    }

    /// Whether all calls of a set were recorded.
    pub(in crate::run) fn has_calls(&self, wanted: &Selection) -> bool {
        let words: Vec<&str> = self.recorded.iter().map(String::as_str).collect();
        Selection::parse(&words, wanted.native()).is_ok_and(|recorded| recorded.covers(wanted))
    }

    /// Returns the filters that an event was recorded with, `None` among them for no filter; empty
    /// for an event that was not recorded.
    pub(in crate::run) fn filters<'a>(
        &'a self,
        name: &'a str,
    ) -> impl Iterator<Item = Option<&'a str>> {
        let requests = self.requests.iter();
        requests
            .filter(move |(known, _)| known == name)
            .map(|(_, filter)| filter.as_deref())
    }

    /// How long the run was allowed to take, if that is known.
    pub(in crate::run) fn timeout(&self) -> Option<Duration> {
        self.timeout.map(Duration::from_nanos)
    }

    /// Returns the account of then.
    pub(in crate::run) fn account(&self) -> &Account {
        &self.account
    }

    /// Returns how many bytes of each buffer the recording holds; `None` if memory was not read.
    pub(in crate::run) fn contents(&self) -> Option<u16> {
        self.reads_memory.then_some(self.contents)
    }
}
