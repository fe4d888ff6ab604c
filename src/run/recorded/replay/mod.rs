//! A recorded run, read as if it took place now.
//!
//! The file stands in for the machine: a plan is made with its formats, and an event that it lacks
//! is one that the machine does not have. What only the harness knows of a run comes from the
//! harness' own recordings ([`Saved`]). A recording of perf does not say it, and what depends on it
//! is not judged.

mod catalogue;
mod command;
mod feed;
mod lacking;
mod recount;
mod stream;
mod wanted;
mod ways;
mod whole;

use super::saved::Saved;
use crate::crash::Kept;
use crate::plan::{MemoryPlan, MemoryReader, Reach};
use crate::run::given::Sums;
use crate::run::session::SessionError;
use perf_live::sandbox::World;
use perf_records::format::{self, Format};
use perf_records::perfdata::{self, EventDesc, Feature, ReadError};
use perf_records::space::Origin;
use perf_records::units::TracepointName;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use syscall_model::names::{self, Abi};
use syscall_model::select::Selection;

const ENTER: &str = "raw_syscalls:sys_enter";
const LEAVE: &str = "raw_syscalls:sys_exit";

/// A file with the records of a run, opened.
#[derive(Debug)]
pub struct RecordedRun {
    path: PathBuf,
    /// The bytes of a pipe, which can be read only once.
    stream: Option<File>,
    events: Vec<EventDesc>,
    formats: HashMap<TracepointName, Arc<Format>>,
    release: Option<String>,
    /// The architecture of its machine, as `uname -m` has it, if the file says so.
    architecture: Option<String>,
    origin: Origin,
    saved: Option<Saved>,
    /// The world and the start of a run that was on this machine just now.
    machine: Option<(World, SystemTime)>,
    /// Whether it would show if the file's end were cut off.
    has_end: bool,
    wall_clock_offset: Option<i64>,
    /// The command that recorded it, if the file says so.
    command: Option<Vec<String>>,
}

/// Why a recording cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The file cannot be opened.
    #[error("cannot read the recording `{path}`")]
    Open {
        /// The file.
        path: PathBuf,
        /// The error of opening it.
        source: io::Error,
    },
    /// The file cannot be read.
    #[error("cannot read the recording `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// The place and the error.
        source: ReadError,
    },
    /// The file holds a format that cannot be parsed.
    #[error("cannot understand the format of a tracepoint in the recording `{path}`")]
    Format {
        /// The file.
        path: PathBuf,
        /// The error of parsing it.
        source: format::FormatError,
    },
    /// What the harness itself added to the file makes no sense.
    #[error("cannot understand what the recording `{path}` says of its run: {why}")]
    Saved {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The file ends, or a part of it does, before what it says is there.
    #[error("the recording `{path}` is cut or damaged")]
    Cut {
        /// The file.
        path: PathBuf,
        /// The place.
        source: ReadError,
    },
    /// The file is of a machine whose calls have other numbers.
    #[error(
        "the recording `{path}` is of {architecture}, and the calls that are known here are those \
         of {}",
        std::env::consts::ARCH
    )]
    Elsewhere {
        /// The file.
        path: PathBuf,
        /// Its architecture, as `uname -m` has it.
        architecture: String,
    },
    /// The file is not as it was written.
    #[error("the recording `{path}` was changed or damaged after it was written")]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// The file lacks what the plan needs.
    #[error("the recording `{path}` does not hold {what}")]
    Lacks {
        /// The file.
        path: PathBuf,
        /// What it lacks.
        what: String,
    },
    /// Its records cannot be understood.
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// Returns the file of the baseline's records, beside the scenario's own: `x.baseline.data` beside
/// `x.data`.
pub(in crate::run) fn of_baseline(file: &Path) -> PathBuf {
    file.with_extension("baseline.data")
}

impl RecordedRun {
    /// Reads the head of a file and the description of its events. The bytes of a pipe are kept in
    /// a temporary file.
    ///
    /// # Errors
    /// [`ReplayError`].
    pub fn open(path: &Path) -> Result<Self, ReplayError> {
        let mut recording = Self {
            path: path.to_owned(),
            stream: stream::spooled(path)?,
            events: Vec::new(),
            formats: HashMap::new(),
            release: None,
            architecture: None,
            origin: Origin::default(),
            saved: None,
            machine: None,
            has_end: true,
            wall_clock_offset: None,
            command: None,
        };
        let mut reader = recording.reader()?;
        // A pipe's stream is known only when all of it was read.
        while reader.meta().is_pipe
            && reader
                .next()
                .map_err(|source| recording.unreadable(source))?
                .is_some()
        {}
        let meta = reader.meta();
        recording.events.clone_from(&meta.events);
        recording.has_end = !meta.is_pipe && !meta.is_unfinished;
        recording.command = meta.texts(Feature::CMDLINE);
        recording.origin = meta.origin();
        recording.wall_clock_offset = meta.wall_clock_offset();
        recording.release = meta.text(Feature::OSRELEASE);
        let named = meta.text(Feature::ARCH);
        recording.architecture = named.filter(|name| !name.is_empty());
        if let Some(other) = &recording.architecture
            && other != std::env::consts::ARCH
        {
            return Err(ReplayError::Elsewhere {
                path: path.to_owned(),
                architecture: other.clone(),
            });
        }
        if let Some(bytes) = meta.features.get(&Saved::FEATURE) {
            let saved = Saved::from_bytes(bytes).map_err(|why| ReplayError::Saved {
                path: path.to_owned(),
                why,
            })?;
            recording.saved = Some(saved);
        }
        let formats = meta.tracing.iter().flat_map(|tracing| &tracing.formats);
        for (system, text) in formats {
            let format = format::parse(text).map_err(|source| ReplayError::Format {
                path: path.to_owned(),
                source,
            })?;
            let name = TracepointName::parse(&format!("{system}:{}", format.name));
            let is_recorded = |name: &TracepointName| {
                let mut events = meta.events.iter();
                events.any(|event| event.name == name.as_str())
            };
            if let Some(name) = name.filter(is_recorded) {
                recording.formats.insert(name, Arc::new(format));
            }
        }
        Ok(recording)
    }

    /// The nanoseconds by which the clock on the wall was ahead of that of the events, if the file
    /// tells it.
    #[must_use]
    pub fn wall_clock_offset(&self) -> Option<i64> {
        self.wall_clock_offset
    }

    /// What its run was given besides its command, if it tells that.
    pub(in crate::run) fn given(&self) -> Option<&Sums> {
        self.saved.as_ref()?.given.as_ref()
    }

    /// Whether it is known that its machine had what a scenario requires, as reports name it.
    pub(in crate::run) fn met(&self, what: &str) -> bool {
        let saved = self.saved.as_ref();
        saved.is_some_and(|saved| saved.met.contains(what))
    }

    /// How long its run was allowed to take, if that is known.
    pub(in crate::run) fn timeout(&self) -> Option<Duration> {
        self.saved.as_ref()?.timeout()
    }

    /// What was seen of the calls that changed the working directory.
    pub(in crate::run) fn changes(&self) -> Option<&Kept> {
        self.saved.as_ref()?.changes.as_ref()
    }

    /// Opens the baseline's recording, if there is one beside this one.
    #[must_use]
    pub fn baseline(&self) -> Option<Result<Self, ReplayError>> {
        let path = of_baseline(&self.path);
        path.exists().then(|| Self::open(&path))
    }

    fn unreadable(&self, source: ReadError) -> ReplayError {
        let path = self.path.clone();
        ReplayError::Read { path, source }
    }

    fn reader(&self) -> Result<perfdata::Reader<File>, ReplayError> {
        let unopened = |source| ReplayError::Open {
            path: self.path.clone(),
            source,
        };
        if let Some(stream) = &self.stream {
            let stream = stream.try_clone().map_err(unopened)?;
            return perfdata::Reader::file(stream).map_err(|source| self.unreadable(source));
        }
        let files = perf_live::files::recording(&self.path).map_err(unopened)?;
        perfdata::Reader::files(files).map_err(|source| self.unreadable(source))
    }

    /// Returns why it records another command than this one, if it says which command ran.
    #[must_use]
    pub fn of_another(&self, argv: &[&str]) -> Option<String> {
        let told = self.command.as_deref().map(command::told);
        let ran = match &self.saved {
            Some(saved) => saved.command.as_slice(),
            None => told.unwrap_or_default().ran,
        };
        let is_another = !ran.is_empty() && !command::is_same(ran, argv);
        is_another.then(|| {
            format!(
                "the recording is of `{}`, and the workload is `{}`",
                ran.join(" "),
                argv.join(" ")
            )
        })
    }

    fn lacks(&self, what: impl Into<String>) -> ReplayError {
        ReplayError::Lacks {
            path: self.path.clone(),
            what: what.into(),
        }
    }

    /// Returns the release of the kernel that it was recorded on, if the file says so.
    #[must_use]
    pub fn release(&self) -> Option<&str> {
        self.release.as_deref()
    }

    fn has(&self, name: &str) -> bool {
        self.events.iter().any(|event| event.name == name)
    }

    /// Returns which events its calls are recorded by.
    #[must_use]
    pub fn reach(&self) -> Reach {
        if self.has(ENTER) && self.has(LEAVE) {
            Reach::Everything
        } else {
            Reach::Recorded
        }
    }

    /// Returns what read the memory of the workload.
    #[must_use]
    pub fn memory_reader(&self) -> MemoryReader {
        match &self.saved {
            Some(saved) if saved.contents().is_some() => MemoryReader::Bpf,
            _ => MemoryReader::Nobody,
        }
    }

    /// Returns the calls whose own two tracepoints are both recorded.
    fn own_calls(&self) -> Vec<String> {
        let has = |half: &str, call: &str| {
            let mut names = names::tracefs_names(call);
            names.any(|name| self.has(&format!("syscalls:{half}_{name}")))
        };
        let all = Selection::parse(&["all"], Abi::native());
        let all = all.iter().flat_map(Selection::names);
        all.filter(|call| has("sys_enter", call) && has("sys_exit", call))
            .map(str::to_owned)
            .collect()
    }

    fn format_of(&self, name: &str) -> Option<&Arc<Format>> {
        self.formats.get(&TracepointName::parse(name)?)
    }

    /// Returns the names of the events that were counted without records.
    pub(in crate::run) fn counted(&self) -> Vec<String> {
        let counters = self
            .saved
            .iter()
            .flat_map(|saved| &saved.account().counters);
        counters.map(|counter| counter.name.clone()).collect()
    }

    /// Returns what its plan may expect of memory.
    #[must_use]
    pub fn memory(&self) -> MemoryPlan {
        let contents = self.saved.as_ref().and_then(Saved::contents);
        MemoryPlan {
            reader: self.memory_reader(),
            contents: contents.unwrap_or_default(),
            ..MemoryPlan::default()
        }
    }
}
