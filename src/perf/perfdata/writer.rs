//! Files and pipes, written.

use super::compress::Compressor;
use super::{ATTR_SIZE, BESIDES_MAGIC, EventDesc, FILE_HEADER, Feature, MAGIC, TracingData};
use super::{features, own};
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};

/// `PERF_EVENT_UPDATE__NAME`.
const UPDATE_NAME: u64 = 2;

/// The feature `COMPRESSED`: its version, and `PERF_COMP_ZSTD`.
const COMPRESSION: [u32; 2] = [1, 1];

/// The length of `struct perf_file_section`: a place and a length.
const SECTION: u32 = 16;

/// How much a `COMPRESSED` record holds at most, which is how much room perf's reader makes for it.
const DECOMPRESSED: u32 = 64 << 10;

/// What is known before the first record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prologue {
    /// The events.
    pub events: Vec<EventDesc>,
    /// The formats of the tracepoints among them.
    pub tracing: Option<TracingData>,
    /// Features, but for those that follow from the rest: `TRACING_DATA`, `EVENT_DESC` and
    /// `COMPRESSED`.
    pub features: BTreeMap<Feature, Vec<u8>>,
    /// The level of zstd; `None` for records as they are.
    pub compression: Option<i32>,
}

impl Prologue {
    /// Takes out the features that are too long for a record, and so for a pipe's stream; returns
    /// them with their lengths in bytes. perf's own leaves them out, too (`__do_write_buf()`).
    pub fn fit_pipe(&mut self) -> Vec<(Feature, usize)> {
        let mut too_long = Vec::new();
        self.features.retain(|feature, bytes| {
            let fits = own_header(own::FEATURE, told_in_pipe(bytes.len())).is_ok();
            if !fits {
                too_long.push((*feature, bytes.len()));
            }
            fits
        });
        too_long
    }

    fn features(&self) -> BTreeMap<Feature, Vec<u8>> {
        let mut all = self.features.clone();
        all.insert(Feature::EVENT_DESC, features::event_desc(&self.events));
        if let Some(level) = self.compression {
            let [version, kind] = COMPRESSION;
            // The ratio that was reached is for people, and not known yet.
            let words = [version, kind, level.unsigned_abs(), 1, DECOMPRESSED];
            all.insert(Feature::COMPRESSED, features::words(&words));
        }
        all
    }
}

/// How to get to a place in the output; a pipe has no such thing.
type SeekTo<W> = fn(&mut BufWriter<W>, SeekFrom) -> io::Result<u64>;

/// Writes a file or a pipe's stream. A file that is not [finished](Self::finish) has no features
/// and no length, and cannot be read.
pub struct Writer<W: Write> {
    out: BufWriter<W>,
    at: u64,
    file: Option<(SeekTo<W>, Start)>,
    features: BTreeMap<Feature, Vec<u8>>,
    compressor: Option<Compressor>,
}

impl<W: Write> std::fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = self.at;
        f.debug_struct("Writer")
            .field("at", &at)
            .finish_non_exhaustive()
    }
}

/// Where the parts of a file begin.
#[derive(Clone, Copy, Debug)]
struct Start {
    attributes: u64,
    data: u64,
}

impl<W: Write + Seek> Writer<W> {
    /// A file, from the place where `out` stands, which has to be its first byte.
    ///
    /// # Errors
    /// Those of `out`, and zstd's for a level that it does not have.
    pub fn file(out: W, prologue: &Prologue) -> io::Result<Self> {
        let ids = prologue.events.iter().map(|event| event.ids.len());
        let ids = ids.fold(FILE_HEADER, |sum, n| {
            sum.saturating_add(n.saturating_mul(8))
        });
        let attribute = ATTR_SIZE.saturating_add(SECTION).into();
        let length = (prologue.events.len() as u64).saturating_mul(attribute);
        let start = Start {
            attributes: ids as u64,
            data: (ids as u64).saturating_add(length),
        };
        let mut features = prologue.features();
        if let Some(tracing) = &prologue.tracing {
            features.insert(Feature::TRACING_DATA, tracing.to_bytes());
        }
        let mut writer = Self::new(out, prologue, features)?;
        writer.file = Some((BufWriter::seek, start));
        writer.write(&header(start, 0, &BTreeMap::new()))?;
        let mut at = FILE_HEADER as u64;
        let mut table = Vec::new();
        for event in &prologue.events {
            writer.write(&features::longs(&event.ids))?;
            let length = (event.ids.len() as u64).saturating_mul(8);
            table.extend_from_slice(&event.attr.to_bytes(ATTR_SIZE));
            table.extend_from_slice(&features::longs(&[at, length]));
            at = at.saturating_add(length);
        }
        writer.write(&table)?;
        Ok(writer)
    }
}

impl<W: Write> Writer<W> {
    fn new(out: W, prologue: &Prologue, features: BTreeMap<Feature, Vec<u8>>) -> io::Result<Self> {
        Ok(Self {
            out: BufWriter::with_capacity(1 << 17, out),
            at: 0,
            file: None,
            features,
            compressor: prologue.compression.map(Compressor::new).transpose()?,
        })
    }

    /// A pipe's stream: what a file says in its features comes as records, the formats of
    /// tracepoints behind the attributes that need them.
    ///
    /// # Errors
    /// Those of `out`; `InvalidInput` for an event whose ids do not fit one record.
    pub fn pipe(out: W, prologue: &Prologue) -> io::Result<Self> {
        let mut writer = Self::new(out, prologue, BTreeMap::new())?;
        writer.write(&features::pipe_header())?;
        for event in &prologue.events {
            let mut body = event.attr.to_bytes(ATTR_SIZE);
            body.extend_from_slice(&features::longs(&event.ids));
            writer.own(own::ATTR, &body)?;
        }
        for event in &prologue.events {
            let Some(id) = event.ids.first() else {
                continue;
            };
            let mut body = features::longs(&[UPDATE_NAME, *id]);
            body.extend_from_slice(event.name.as_bytes());
            body.push(0);
            body.resize(body.len().next_multiple_of(8), 0);
            writer.own(own::EVENT_UPDATE, &body)?;
        }
        let features = prologue.features().into_iter();
        for (feature, bytes) in features.filter(|(feature, _)| *feature != Feature::BESIDES) {
            writer.feature(feature, &bytes)?;
        }
        if let Some(tracing) = &prologue.tracing {
            let mut bytes = tracing.to_bytes();
            bytes.resize(bytes.len().next_multiple_of(8), 0);
            writer.own(
                own::TRACING_DATA,
                &features::words(&[bytes.len() as u32, 0]),
            )?;
            writer.write(&bytes)?;
        }
        writer.out.flush()?;
        Ok(writer)
    }

    /// Writes a record, header included.
    ///
    /// # Errors
    /// Those of the output.
    pub fn record(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Self {
            compressor,
            out,
            at,
            ..
        } = self;
        match compressor {
            Some(compressor) => compressor.record(bytes, &mut |chunk| compressed(out, at, chunk)),
            None => self.write(bytes),
        }
    }

    /// Writes a record that is never compressed, as those of the tool are: a reader must understand
    /// them first. Also what follows one outside of its size.
    ///
    /// # Errors
    /// Those of the output.
    pub fn plain(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.flush_compressed()?;
        self.write(bytes)
    }

    /// Ends a round: what comes behind the end of the next one is younger than all that was written
    /// before this one.
    ///
    /// # Errors
    /// Those of the output.
    pub fn round(&mut self) -> io::Result<()> {
        self.flush_compressed()?;
        self.own(own::FINISHED_ROUND, &[])?;
        if self.file.is_none() {
            self.out.flush()?;
        }
        Ok(())
    }

    /// Says that what was there before the events began has been told.
    ///
    /// # Errors
    /// Those of the output.
    pub fn initialised(&mut self) -> io::Result<()> {
        self.flush_compressed()?;
        self.own(own::FINISHED_INIT, &[])
    }

    /// How many bytes were written.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.at
    }

    /// Writes what is known at the end alone, and for a file its header; gives the output and its
    /// length.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(mut self, late: BTreeMap<Feature, Vec<u8>>) -> io::Result<(W, u64)> {
        self.flush_compressed()?;
        match self.file {
            None => {
                for (feature, bytes) in late {
                    match feature {
                        // They are records already.
                        Feature::BUILD_ID => self.write(&bytes)?,
                        Feature::BESIDES => {}
                        feature => self.feature(feature, &bytes)?,
                    }
                }
            }
            Some((seek, start)) => {
                self.features.extend(late);
                let mut all = std::mem::take(&mut self.features);
                let besides = all.remove(&Feature::BESIDES);
                let data = self.at.saturating_sub(start.data);
                let table = (all.len() as u64).saturating_mul(SECTION.into());
                let mut at = self.at.saturating_add(table);
                for bytes in all.values() {
                    let length = bytes.len() as u64;
                    self.write(&features::longs(&[at, length]))?;
                    at = at.saturating_add(length);
                }
                for bytes in all.values() {
                    self.write(bytes)?;
                }
                if let Some(besides) = besides {
                    self.write(&besides)?;
                    self.write(&features::longs(&[besides.len() as u64]))?;
                    self.write(&BESIDES_MAGIC)?;
                }
                let end = self.at;
                seek(&mut self.out, SeekFrom::Start(0))?;
                self.write(&header(start, data, &all))?;
                seek(&mut self.out, SeekFrom::Start(end))?;
                self.at = end;
            }
        }
        let length = self.at;
        let out = self
            .out
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        Ok((out, length))
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.at = self.at.saturating_add(bytes.len() as u64);
        self.out.write_all(bytes)
    }

    fn own(&mut self, kind: u32, body: &[u8]) -> io::Result<()> {
        let header = own_header(kind, body.len())?;
        self.write(&header)?;
        self.write(body)
    }

    fn feature(&mut self, feature: Feature, bytes: &[u8]) -> io::Result<()> {
        let mut body = features::longs(&[feature.0.into()]);
        body.extend_from_slice(bytes);
        self.own(own::FEATURE, &body)
    }

    fn flush_compressed(&mut self) -> io::Result<()> {
        let Self {
            compressor,
            out,
            at,
            ..
        } = self;
        match compressor {
            Some(compressor) => compressor.flush(&mut |chunk| compressed(out, at, chunk)),
            None => Ok(()),
        }
    }
}

/// How long the body of the record of a feature of so many bytes is: its number before it. No
/// zeros follow that make it a multiple of 8, as none do in perf's: perf takes what is left behind
/// the feature for what its later versions say there (`process_cpu_topology()`), and gives up.
fn told_in_pipe(length: usize) -> usize {
    length.saturating_add(8)
}

fn own_header(kind: u32, body: usize) -> io::Result<[u8; 8]> {
    let size = u16::try_from(body.saturating_add(8)).map_err(|_| {
        let message = format!("{body} bytes do not fit a record of type {kind}");
        io::Error::new(io::ErrorKind::InvalidInput, message)
    })?;
    let (kind, [low, high]) = (kind.to_ne_bytes(), size.to_ne_bytes());
    let [a, b, c, d] = kind;
    Ok([a, b, c, d, 0, 0, low, high])
}

fn compressed(out: &mut impl Write, at: &mut u64, chunk: &[u8]) -> io::Result<()> {
    let header = own_header(own::COMPRESSED, chunk.len())?;
    for part in [&header[..], chunk] {
        *at = at.saturating_add(part.len() as u64);
        out.write_all(part)?;
    }
    Ok(())
}

/// `struct perf_file_header`.
fn header(start: Start, data: u64, features: &BTreeMap<Feature, Vec<u8>>) -> Vec<u8> {
    let mut bits = [0_u64; 4];
    for feature in features.keys() {
        if let Some(word) = bits.get_mut((feature.0 >> 6) as usize) {
            *word |= 1_u64.rotate_left(feature.0 & 63);
        }
    }
    let attribute = ATTR_SIZE.saturating_add(SECTION).into();
    let mut words = vec![MAGIC, FILE_HEADER as u64, attribute];
    words.extend([
        start.attributes,
        start.data.saturating_sub(start.attributes),
    ]);
    words.extend([start.data, data, 0, 0]);
    words.extend(bits);
    features::longs(&words)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::attr::{Attr, StoredAttr};
    use crate::perfdata::Reader;
    use crate::record::Header;
    use std::io::Cursor;

    const SAMPLE: u32 = 9;
    /// One that this version does not know.
    const LATEST: Feature = Feature(200);

    /// Samples of the only event, up to the longest that there can be, of bytes that cannot be
    /// compressed.
    fn records() -> Vec<Vec<u8>> {
        let mut state = 1_u64;
        let mut word = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state.rotate_left(32)
        };
        let lengths = [1_usize, 2, 3, 500, 8190, 1, 8190, 8190, 2];
        lengths
            .into_iter()
            .map(|n_words| {
                let body: Vec<u64> = (0..n_words).map(|_| word()).collect();
                let body = features::longs(&body);
                let mut header = own_header(SAMPLE, body.len()).unwrap().to_vec();
                header.extend_from_slice(&body);
                header
            })
            .collect()
    }

    fn prologue(compression: Option<i32>) -> Prologue {
        let event = |tracepoint: u16, ids: &[u64]| EventDesc {
            attr: Attr::holding(tracepoint).stored(),
            ids: ids.to_vec(),
            name: format!("sys:event_{tracepoint}"),
        };
        Prologue {
            events: vec![event(3, &[31, 32]), event(4, &[41])],
            tracing: Some(TracingData {
                long_size: 8,
                page_size: 4096,
                formats: vec![("sys".to_owned(), "name: event_3\n".to_owned())],
                ..TracingData::default()
            }),
            features: [
                (Feature::HOSTNAME, features::string(b"a-machine")),
                (Feature::NRCPUS, features::words(&[2, 2])),
                (LATEST, features::words(&[1, 2, 3])),
            ]
            .into(),
            compression,
        }
    }

    fn write(mut writer: Writer<Cursor<Vec<u8>>>) -> Vec<u8> {
        writer.initialised().unwrap();
        for record in records() {
            writer.record(&record).unwrap();
            // Some chunks hold several records, and some a part of one.
            if record.len() > 1000 {
                writer.round().unwrap();
            }
        }
        let own_feature = Feature::BESIDES;
        let late = [(own_feature, b"own".to_vec())].into();
        let (out, length) = writer.finish(late).unwrap();
        let bytes = out.into_inner();
        assert_eq!(bytes.len() as u64, length);
        bytes
    }

    fn check(bytes: &[u8]) {
        let mut reader = Reader::file(Cursor::new(bytes)).unwrap();
        let mut samples = Vec::new();
        let mut rounds = 0_usize;
        while let Some(item) = reader.next().unwrap() {
            match Header::from_bytes(*item.bytes.first_chunk().unwrap()).kind {
                SAMPLE => samples.push(item.bytes.to_vec()),
                own::FINISHED_ROUND => rounds = rounds.saturating_add(1),
                _ => {}
            }
        }
        assert_eq!(samples, records());
        assert_eq!(rounds, 4);
        let meta = reader.meta();
        let described: Vec<(StoredAttr, Vec<u64>)> = meta
            .events
            .iter()
            .map(|event| (event.attr.clone(), event.ids.clone()))
            .collect();
        let expected: Vec<_> = prologue(None)
            .events
            .into_iter()
            .map(|event| (event.attr, event.ids))
            .collect();
        assert_eq!(described, expected);
        assert_eq!(meta.name(0), "sys:event_3");
        assert_eq!(meta.text(Feature::HOSTNAME).as_deref(), Some("a-machine"));
        assert_eq!(meta.tracing, prologue(None).tracing);
        // To the byte: what follows it would be taken for more of it.
        for (feature, bytes) in prologue(None).features {
            assert_eq!(meta.features.get(&feature), Some(&bytes), "{feature:?}");
        }
    }

    #[test]
    fn what_is_written_to_a_file_is_what_is_read() {
        for compression in [None, Some(1), Some(19)] {
            let out = Cursor::new(Vec::new());
            let bytes = write(Writer::file(out, &prologue(compression)).unwrap());
            check(&bytes);
            let reader = Reader::file(Cursor::new(&bytes)).unwrap();
            let own_feature = Feature::BESIDES;
            let kept = reader.meta().features.get(&own_feature);
            assert_eq!(kept.map(Vec::as_slice), Some(&b"own"[..]));
        }
    }

    #[test]
    fn what_is_written_to_a_pipe_is_what_is_read() {
        for compression in [None, Some(1)] {
            let out = Cursor::new(Vec::new());
            check(&write(Writer::pipe(out, &prologue(compression)).unwrap()));
        }
    }

    #[test]
    fn ids_that_do_not_fit_a_pipes_record_are_refused() {
        let mut prologue = prologue(None);
        prologue.events = vec![EventDesc {
            ids: vec![1; 9000],
            ..EventDesc::default()
        }];
        let refused = Writer::pipe(Cursor::new(Vec::new()), &prologue).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
        assert!(Writer::file(Cursor::new(Vec::new()), &prologue).is_ok());
    }
}
