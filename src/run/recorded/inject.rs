//! Build ids, put into what was recorded without them.
//!
//! A recorder may have had no time to look into the programs that ran, and a pipe knows them at its
//! end only. perf's own `inject` refuses pipes with tracepoints ("tracing data size mismatch", perf
//! 6.1 and 7.2); here, bytes that follow a record outside of its size are copied with it.

use super::store::build_id_of;
use perf_live::elf;
use perf_live::host::Host;
use perf_records::perfdata::{Feature, Item, Prologue, ReadError, Reader, Writer, features, own};
use perf_records::record::{self, Record};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Seek, Write};

/// The numbers of a finished injection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Injected {
    /// How many records were copied.
    pub n_records: u64,
    /// How many programs and libraries had no build id in the input and have one now.
    pub n_build_ids: u64,
    /// How many have no build id, or are no longer on this machine.
    pub n_without: u64,
    /// What a pipe's stream has no room for ([`Prologue::fit_pipe`]).
    pub left_out: Vec<(Feature, usize)>,
}

/// Why no build ids were injected.
#[derive(Debug, thiserror::Error)]
pub enum InjectError {
    /// The input cannot be read.
    #[error("cannot read the input")]
    Read(#[from] ReadError),
    /// The input is of another kind of machine, whose programs are not here.
    #[error(
        "the input is of a machine of the other byte order: its programs, and their build ids, are there"
    )]
    Foreign,
    /// The output cannot be written.
    #[error("cannot write the output")]
    Write(#[from] io::Error),
}

/// The build ids known so far, while records pass.
struct Ids<'a> {
    host: &'a Host,
    known: BTreeSet<Vec<u8>>,
    injected: Injected,
}

impl<'a> Ids<'a> {
    fn new(host: &'a Host) -> Self {
        Self {
            host,
            known: BTreeSet::new(),
            injected: Injected::default(),
        }
    }

    /// Takes the build ids that the input has: records of type [`own::BUILD_ID`], one after
    /// another.
    fn has(&mut self, mut records: &[u8]) {
        while let Some((one, _, rest)) = features::first_build_id(records) {
            self.known.insert(one.to_vec());
            records = rest;
        }
    }

    /// Returns the record of the build id of the file that this record maps code of, if it is the
    /// first to map it.
    fn of(&mut self, item: &Item<'_>) -> Option<Vec<u8>> {
        let (_, layout) = item.event()?;
        let map = match record::parse(item.bytes, layout).ok()? {
            Record::Map(map, _) => map,
            _ => return None,
        };
        let is_kernel = map.name.starts_with(b"[kernel.kallsyms]");
        let is_file = map.name.starts_with(b"/") && !map.name.starts_with(b"//anon");
        let name: &[u8] = if is_kernel {
            b"[kernel.kallsyms]"
        } else {
            map.name
        };
        if !(is_kernel || is_file) || !self.known.insert(name.to_vec()) {
            return None;
        }
        let found = if is_kernel {
            let notes = self.host.kernel_notes();
            let id = notes.as_deref().and_then(elf::build_id_in);
            id.map(features::kernel_build_id)
        } else {
            build_id_of(name).map(|id| features::build_id(&id, name))
        };
        match &found {
            Some(_) => self.injected.n_build_ids += 1,
            None => self.injected.n_without += 1,
        }
        found
    }
}

/// Copies a file and adds the build ids of all mapped code to its features; writes a file, or a
/// pipe's stream.
///
/// # Errors
/// [`InjectError`].
pub fn inject_file<R: Read + Seek, W: Write>(
    mut reader: Reader<R>,
    open: impl FnOnce(Prologue) -> io::Result<Writer<W>>,
    host: &Host,
) -> Result<(Injected, W), InjectError> {
    let meta = reader.meta();
    if meta.is_foreign {
        return Err(InjectError::Foreign);
    }
    let mut features = meta.features.clone();
    for derived in [
        Feature::TRACING_DATA,
        Feature::EVENT_DESC,
        Feature::COMPRESSED,
        // What was in the many files of a directory is now in one.
        Feature::DIR_FORMAT,
    ] {
        features.remove(&derived);
    }
    let mut all = features.remove(&Feature::BUILD_ID).unwrap_or_default();
    let mut ids = Ids::new(host);
    ids.has(&all);
    let mut writer = open(Prologue {
        events: meta.events.clone(),
        tracing: meta.tracing.clone(),
        features,
        compression: None,
    })?;
    while let Some(item) = reader.next()? {
        all.extend(ids.of(&item).unwrap_or_default());
        writer.plain(item.bytes)?;
        writer.plain(item.trailing)?;
        ids.injected.n_records += 1;
    }
    let late = BTreeMap::from([(Feature::BUILD_ID, all)]);
    let (out, _) = writer.finish(late)?;
    Ok((ids.injected, out))
}

/// Copies a pipe's stream, with a record of each build id behind the first that maps the code.
///
/// # Errors
/// [`InjectError`].
pub fn inject_pipe<R: Read, W: Write>(
    mut reader: Reader<R>,
    out: &mut W,
    host: &Host,
) -> Result<Injected, InjectError> {
    if reader.meta().is_foreign {
        return Err(InjectError::Foreign);
    }
    let mut ids = Ids::new(host);
    out.write_all(&features::pipe_header())?;
    while let Some(item) = reader.next()? {
        let kind = item.header().kind;
        if kind == own::BUILD_ID {
            ids.has(item.bytes);
        }
        // The output is not compressed.
        let is_of_compression =
            kind == own::FEATURE && features::told(item.bytes) == Some(Feature::COMPRESSED);
        if !is_of_compression {
            out.write_all(item.bytes)?;
            out.write_all(item.trailing)?;
            ids.injected.n_records += 1;
        }
        if let Some(record) = ids.of(&item) {
            out.write_all(&record)?;
        }
        if kind == own::FINISHED_ROUND {
            out.flush()?;
        }
    }
    out.flush()?;
    Ok(ids.injected)
}
