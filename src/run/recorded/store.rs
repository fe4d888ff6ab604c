//! Writes a run's records to a file or a pipe, as perf would.

use super::described::Preface;
use super::sum::Sum;
use super::tally::{Stored, Tally, sum_of};
use crate::run::Bench;
use perf_live::elf;
use perf_live::events::{EventSet, Opened, Origin};
use perf_live::files;
use perf_live::host::{CodeMapping, Host, HostError, KernelCode, Living, Module};
use perf_live::sys;
use perf_records::perfdata::synthesized::{self, CounterValue, Mapped};
use perf_records::perfdata::{Feature, Writer, features};
use perf_records::record::{self, HEADER_SIZE, Header, LayoutTable};
use perf_records::units::{Cpu, Pid, Tid};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;

/// The offset of the file's name in `PERF_RECORD_MMAP2`.
const MAPPED_NAME: usize = HEADER_SIZE + 64;
/// `PERF_RECORD_MISC_MMAP_BUILD_ID`.
const HAS_BUILD_ID: u16 = 1 << 14;

/// Where a recording goes.
#[derive(Debug)]
pub enum Output {
    /// A file, empty and seekable.
    File(File),
    /// Any sink of bytes: describing records take the place of a file's head.
    Pipe(File),
}

impl Output {
    /// Takes a file that is replaced; one that is written in place gets the form of a pipe.
    ///
    /// # Errors
    /// Those of `dup(2)`.
    pub fn of(output: &files::Output) -> io::Result<Self> {
        let file = output.file()?;
        Ok(match output.is_stream() {
            true => Self::Pipe(file),
            false => Self::File(file),
        })
    }
}

/// What to write besides the records.
#[derive(Clone, Debug, Default)]
pub struct StoreOptions {
    /// The command line that asked for it.
    pub command: Vec<OsString>,
    /// The version of the tool.
    pub version: String,
    /// The level of zstd; `None` for no compression.
    pub compression: Option<i32>,
}

impl StoreOptions {
    /// Names no command and no version.
    pub const NOBODY: Self = Self {
        command: Vec::new(),
        version: String::new(),
        compression: None,
    };
}

/// Why a recording cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The machine cannot be described.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The output cannot be written.
    #[error("cannot write the recording")]
    Write(#[from] io::Error),
}

/// Writes the records of a run, in any order within a round, and what a reader needs beside them.
#[derive(Debug)]
pub struct Store {
    writer: Writer<File>,
    is_pipe: bool,
    samples: Tally,
    /// The kernel's code and modules, and the event that records of them are attributed to.
    kernel: Option<KernelCode>,
    modules: Vec<Module>,
    side_band: Option<synthesized::Origin>,
    span: Option<(u64, u64)>,
    /// The sum of the records, if the end needs one: it costs more than writing them.
    sum: Option<Sum>,
    files: BTreeSet<Vec<u8>>,
    left_out: Vec<(Feature, usize)>,
}

impl Store {
    /// Describes the events and the machine, and sums up what follows.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn begin(
        output: Output,
        options: &StoreOptions,
        events: &EventSet,
        bench: &Bench<'_>,
    ) -> Result<Self, StoreError> {
        let preface = Preface::new(options, events, bench)?;
        let prologue = &preface.prologue;
        let mut sum = Sum::default();
        sum.events(&prologue.events, prologue.tracing.as_ref());
        Ok(Self {
            sum: Some(sum),
            ..Self::of(output, &preface)?
        })
    }

    /// Begins with events that are described already, and without a sum.
    ///
    /// # Errors
    /// Those of the output.
    pub fn of(output: Output, preface: &Preface) -> io::Result<Self> {
        let is_pipe = matches!(output, Output::Pipe(_));
        let mut left_out = Vec::new();
        Ok(Self {
            writer: match output {
                Output::File(file) => Writer::file(file, &preface.prologue)?,
                Output::Pipe(pipe) => {
                    let mut prologue = preface.prologue.clone();
                    left_out = prologue.fit_pipe();
                    Writer::pipe(pipe, &prologue)?
                }
            },
            is_pipe,
            samples: Tally::of_all(preface.n_requests),
            kernel: preface.kernel,
            modules: preface.modules.clone(),
            side_band: preface.side_band,
            span: None,
            sum: None,
            files: BTreeSet::new(),
            left_out,
        })
    }

    /// Adds records of what was there before the events began: the code of the kernel and its
    /// modules, and these processes.
    ///
    /// # Errors
    /// Those of the output.
    pub fn tell_of(&mut self, living: &[Living]) -> io::Result<()> {
        let Some(side_band) = self.side_band else {
            return Ok(());
        };
        let origin = |pid, tid| synthesized::Origin {
            task: (pid, tid),
            ..side_band
        };
        let of_kernel = origin(Pid(u32::MAX), Tid(0));
        if let Some(KernelCode { symbol, start, end }) = self.kernel {
            self.write(&synthesized::kernel(&of_kernel, symbol, start, end))?;
        }
        for module in std::mem::take(&mut self.modules) {
            let name = module.name.as_bytes();
            let record = synthesized::module(&of_kernel, module.address, module.length, name);
            self.write(&record)?;
        }
        for process in living {
            let Living { pid, parent, .. } = *process;
            for thread in &process.threads {
                let of = if thread.tid.0 == pid.0 { parent } else { pid };
                let origin = origin(pid, thread.tid);
                let record = synthesized::fork(&origin, (of, Tid(of.0)));
                self.write(&record)?;
                self.write(&synthesized::comm(&origin, &thread.name))?;
            }
            for code in &process.code {
                let record = synthesized::mapping(&origin(pid, Tid(pid.0)), &mapped(code));
                self.keep_name(&record);
                self.write(&record)?;
            }
        }
        self.writer.initialised()
    }

    /// Takes one record.
    ///
    /// # Errors
    /// Those of the output.
    pub fn record(&mut self, table: &LayoutTable<Origin>, bytes: &[u8]) -> io::Result<()> {
        let header = bytes.first_chunk().map(|head| Header::from_bytes(*head));
        match header.map(|header| header.kind) {
            Some(record::kind::SAMPLE) => {
                self.samples.count(table, bytes);
                if let Some(time) = table.time(bytes) {
                    let (first, last) = self.span.unwrap_or((time.0, time.0));
                    self.span = Some((first.min(time.0), last.max(time.0)));
                }
            }
            Some(record::kind::MMAP2) => self.keep_name(bytes),
            _ => {}
        }
        self.write(bytes)
    }

    fn write(&mut self, record: &[u8]) -> io::Result<()> {
        if let Some(sum) = &mut self.sum {
            sum.record(record);
        }
        self.writer.record(record)
    }

    /// Remembers the file of a mapping.
    fn keep_name(&mut self, record: &[u8]) {
        let Some(name) = record.get(MAPPED_NAME..) else {
            return;
        };
        let head = record.first_chunk().copied().unwrap_or_default();
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        let is_file = name.starts_with(b"/") && !name.starts_with(b"//");
        if is_file
            && Header::from_bytes(head).misc & HAS_BUILD_ID == 0
            && !self.files.contains(name)
        {
            self.files.insert(name.to_vec());
        }
    }

    /// Returns how many occurrences of a request the samples tell of so far.
    pub(in crate::run) fn occurrences_of(&self, request: usize) -> u64 {
        self.samples.occurrences_of(request)
    }

    /// Notes that all rings have been drained once.
    ///
    /// # Errors
    /// Those of the output.
    pub fn round(&mut self) -> io::Result<()> {
        self.writer.round()
    }

    /// Writes the counters after the last record, and the end of the file. The features are made
    /// with the sum of all records, 0 without one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn end(
        mut self,
        of: &EventSet,
        host: &Host,
        besides: impl FnOnce(u64) -> BTreeMap<Feature, Vec<u8>>,
    ) -> Result<Stored, StoreError> {
        let opened = of.opened()?;
        let now = sys::monotonic_now().0;
        let nobody = (Pid(0), Tid(0));
        for event in &opened {
            let Some(counts) = event.counts else {
                continue;
            };
            let origin = origin(event, nobody, now);
            let lost = counts.lost.unwrap_or(0);
            if lost > 0 {
                self.write(&synthesized::lost_samples(&origin, lost))?;
            }
            let value = CounterValue {
                format: event.attr.read_format,
                value: counts.value,
                lost,
            };
            self.write(&synthesized::read(&origin, value))?;
        }
        self.writer.round()?;
        let late = besides(self.sum.map_or(0, Sum::number));
        let events = self.samples.accounts(&opened);
        let throttled = self.samples.throttled(&opened);
        let side_band_lost = sum_of(&opened, Origin::SideBand).1.unwrap_or(0);
        let full_rings = of.full_rings();
        let left_out = std::mem::take(&mut self.left_out);
        let (n_samples, length) = self.close(host, late)?;
        Ok(Stored {
            n_samples,
            length,
            events,
            throttled,
            side_band_lost,
            full_rings,
            left_out,
        })
    }

    /// Writes the end of the file with these features; returns the number of samples and the
    /// length.
    ///
    /// # Errors
    /// Those of the output.
    pub fn close(
        self,
        host: &Host,
        mut late: BTreeMap<Feature, Vec<u8>>,
    ) -> io::Result<(u64, u64)> {
        let build_ids = self.build_ids(host);
        if !build_ids.is_empty() {
            late.insert(Feature::BUILD_ID, build_ids);
        }
        if let (Some((first, last)), false) = (self.span, self.is_pipe) {
            late.insert(Feature::SAMPLE_TIME, features::longs(&[first, last]));
        }
        let (_, length) = self.writer.finish(late)?;
        Ok((self.samples.n_samples(), length))
    }

    /// Returns the build ids of mapped files that are still there.
    fn build_ids(&self, host: &Host) -> Vec<u8> {
        let mut all = Vec::new();
        if let Some(id) = host.kernel_notes().as_deref().and_then(elf::build_id_in) {
            all.extend(features::kernel_build_id(id));
        }
        for name in &self.files {
            if let Some(id) = build_id_of(name) {
                all.extend(features::build_id(&id, name));
            }
        }
        all
    }
}

pub(in crate::run) fn origin(
    event: &Opened<'_>,
    task: (Pid, Tid),
    time: u64,
) -> synthesized::Origin {
    synthesized::Origin {
        sample_type: event.attr.sample_type,
        id: event.id,
        task,
        time,
        cpu: event.cpu,
    }
}

fn mapped(code: &CodeMapping) -> Mapped<'_> {
    let (start, end) = code.range;
    Mapped {
        address: start,
        length: end.saturating_sub(start),
        offset: code.offset,
        device: code.device,
        inode: code.inode,
        protection: code.protection,
        flags: code.flags,
        name: code.name.as_bytes(),
    }
}

/// Returns the CPUs to record: those that were named, or all if none was.
#[must_use]
pub fn chosen_cpus(bench: &Bench<'_>, named: &[Cpu]) -> Vec<Cpu> {
    let is_chosen = |cpu: &&Cpu| named.is_empty() || named.contains(cpu);
    bench.cpus.iter().filter(is_chosen).copied().collect()
}

/// The build id of a file, if it is still there and has one.
pub(in crate::run) fn build_id_of(name: &[u8]) -> Option<Vec<u8>> {
    let file = std::path::Path::new(OsStr::from_bytes(name));
    // The process that mapped it may have seen another file system than the harness.
    let opened = files::open(file).ok()?;
    elf::build_id(opened)
}
