//! A run that is judged from its records, and what is kept of one that failed.

use super::once::once;
use super::recorded::{Saved, Sum};
use super::rejudge::replayed;
use super::scenario::judged;
use super::workload::world;
use super::{
    Bench, Control, Extras, Item, Options, Outcome, RecordedRun, RunError, StoreError, Subject,
    attempt,
};
use crate::plan::Plan;
use crate::scenario::Last;
use crate::snapshot::Stored;
use crate::verdict::{About, Finding, Verdict};
use perf_live::errors::chain;
use perf_live::files::{self, Access, Output};
use perf_live::sandbox::WorkDir;
use perf_records::perfdata::{Feature, Ordered, Prologue, ReadError, Reader, Writer, features};
use perf_records::record::{self, Record, kind};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Runs a scenario as [`attempt`] does. If the run is no pass and the scenario asks for it, keeps
/// the end of the run in a file and returns that file's path.
///
/// # Errors
/// [`RunError`].
pub(super) fn attempt_and_keep(
    bench: &Bench<'_>,
    plan: &Plan,
    (item, stored): (&Item, &Stored),
    control: &mut dyn Control,
    options: &Options,
    dir: &WorkDir,
) -> Result<(Outcome, Option<PathBuf>), RunError> {
    let overwrites = plan.events.overwrites();
    let last = plan.on_failure.zip(options.dumps.as_ref());
    let named = options.file_of(item);
    let file = item.file.as_path();
    let subject = Subject { file, stored };
    if !overwrites && last.is_none() {
        let extras = options.extras(named.as_deref());
        let outcome = attempt(bench, plan, subject, control, extras, dir)?;
        return Ok((outcome, None));
    }
    // This folder is removed with the base, even if the harness is killed.
    let base = bench.base()?;
    let folder = tempfile::Builder::new()
        .prefix("recording-")
        .tempdir_in(base.directory());
    let folder = folder.map_err(StoreError::Write)?;
    let recording = named.unwrap_or_else(|| folder.path().join("run.data"));
    // A recording that an earlier run left says nothing about this run.
    let stamp = || {
        let found = std::fs::metadata(&recording).ok()?;
        Some((found.ino(), found.mtime(), found.mtime_nsec()))
    };
    let before = stamp();
    let extras = Extras {
        save: Some((&recording, options.about())),
        ..options.extras(None)
    };
    let mut outcome = match overwrites {
        true => judged_when_over(bench, plan, subject, control, extras, dir)?,
        false => attempt(bench, plan, subject, control, extras, dir)?,
    };
    let is_wanted = !matches!(outcome.verdict, Verdict::Pass | Verdict::Skipped);
    let mut dumped = None;
    if let Some((last, (to, _))) = last.filter(|_| is_wanted && stamp() != before) {
        let to = to.join(format!("{}.perf.data", item.name));
        match keep(&recording, &to, last) {
            Ok(()) => dumped = Some(to),
            Err(error) => {
                let why = format!("its end could not be kept: {}", chain(&error));
                outcome.findings.push(Finding::remark(About::Run, why));
            }
        }
    }
    Ok((outcome, dumped))
}

/// Runs the scenario, and judges the records that its rings still hold at the end.
fn judged_when_over(
    bench: &Bench<'_>,
    plan: &Plan,
    subject: Subject<'_>,
    control: &mut dyn Control,
    extras: Extras<'_>,
    dir: &WorkDir,
) -> Result<Outcome, RunError> {
    // Times of files have the grain of the kernel's tick.
    let since = SystemTime::now() - Duration::from_millis(10);
    let file = extras.save.map(|(file, _)| file).unwrap_or(Path::new(""));
    let mut remembered = || {
        once(bench, plan, control, extras, dir)?;
        let recording = RecordedRun::open(file)?.of_this_machine(world(bench, plan), since);
        replayed(bench, (plan, subject.file), &recording, control)
    };
    judged(plan, subject.stored, remembered())
}

/// Why the end of a run could not be kept.
#[derive(Debug, thiserror::Error)]
enum KeepError {
    #[error("cannot read the records")]
    Read(#[from] ReadError),
    #[error("cannot write `{to}`")]
    Write { to: PathBuf, source: io::Error },
    #[error("cannot read the records")]
    Open(#[source] io::Error),
    #[error("{0}")]
    Saved(String),
}

/// Copies the end of a recording. All records of tasks and mappings are copied from the start on,
/// so that names in that end are known. Records that are left out count as overwritten.
fn keep(recording: &Path, to: &Path, last: Last) -> Result<(), KeepError> {
    let refused = |source| KeepError::Write {
        to: to.to_owned(),
        source,
    };
    let folder = to.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(refused)?;
    let file = Output::begin(to, Access::Private).map_err(|error| refused(error.into()))?;
    let open = || -> Result<_, KeepError> {
        let file = files::open(recording).map_err(|error| KeepError::Open(error.into()))?;
        Ok(Reader::file(BufReader::new(file))?)
    };
    let since = match last {
        Last::All => 0,
        _ => start(open()?, last)?,
    };
    let mut reader = open()?;
    let meta = reader.meta();
    let mut kept = meta.features.clone();
    let derived = [
        Feature::TRACING_DATA,
        Feature::EVENT_DESC,
        Feature::COMPRESSED,
    ];
    derived.iter().for_each(|feature| {
        kept.remove(feature);
    });
    let saved = kept.remove(&Saved::FEATURE);
    let saved = saved.map(|bytes| Saved::from_bytes(&bytes)).transpose();
    let mut saved = saved.map_err(KeepError::Saved)?;
    let build_ids = kept.remove(&Feature::BUILD_ID);
    let prologue = Prologue {
        events: meta.events.clone(),
        tracing: meta.tracing.clone(),
        features: kept,
        compression: None,
    };
    let mut names = Vec::new();
    for event in &prologue.events {
        let same = names.iter().filter(|(name, _)| *name == event.name);
        let before = same.count();
        names.push((event.name.as_str(), before));
    }
    let mut sum = Sum::default();
    sum.events(&prologue.events, prologue.tracing.as_ref());
    let output = file.file().map_err(refused)?;
    let writer = match file.is_stream() {
        true => Writer::pipe(output, &prologue),
        false => Writer::file(output, &prologue),
    };
    let mut writer = writer.map_err(refused)?;
    let mut span: Option<(u64, u64)> = None;
    while let Some(item) = reader.next()? {
        if let (kind::SAMPLE, Some((event, layout)), Some(time)) =
            (item.header().kind, item.event(), item.time())
        {
            if time.0 < since {
                let weight = match record::parse(item.bytes, layout) {
                    Ok(Record::Sample(sample)) => sample.period.unwrap_or(1),
                    _ => 1,
                };
                if let (Some(saved), Some(event)) = (&mut saved, names.get(event)) {
                    saved.forgets(*event, weight, since);
                }
                continue;
            }
            let (first, end) = span.unwrap_or((time.0, time.0));
            span = Some((first.min(time.0), end.max(time.0)));
        }
        sum.record(item.bytes);
        writer.plain(item.bytes).map_err(refused)?;
        writer.plain(item.trailing).map_err(refused)?;
    }
    let mut late: BTreeMap<Feature, Vec<u8>> = BTreeMap::new();
    late.extend(build_ids.map(|ids| (Feature::BUILD_ID, ids)));
    let saved = saved.map(|saved| saved.sealed(sum.number()).to_bytes());
    late.extend(saved.map(|bytes| (Saved::FEATURE, bytes)));
    late.extend(span.map(|(first, end)| (Feature::SAMPLE_TIME, features::longs(&[first, end]))));
    writer.finish(late).map_err(refused)?;
    file.finish().map_err(refused)
}

/// Returns the time of the first sample that is kept.
fn start(reader: Reader<BufReader<File>>, last: Last) -> Result<u64, KeepError> {
    let mut samples: Vec<(u64, u64)> = Vec::new();
    let mut end = 0;
    let mut records = Ordered::new(reader);
    while let Some(item) = records.next()? {
        let Some(time) = item.time() else { continue };
        end = end.max(time.0);
        if item.header().kind == kind::SAMPLE {
            samples.push((time.0, item.bytes.len() as u64));
        }
    }
    samples.sort_unstable_by_key(|(time, _)| std::cmp::Reverse(*time));
    Ok(match last {
        Last::All => 0,
        Last::Time(time) => {
            let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            end.saturating_sub(nanos)
        }
        Last::Bytes(most) => {
            let mut bytes = 0;
            let mut fitting = samples.iter().take_while(|(_, length)| {
                bytes += length;
                bytes <= most
            });
            // Samples of the first moment that does not fit whole are all left out.
            let n_fitting = fitting.by_ref().count();
            samples.get(n_fitting).map_or(0, |(time, _)| time + 1)
        }
    })
}
