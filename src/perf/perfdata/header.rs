//! What a file has around its records: the header in front, attributes and ids, and the features
//! behind.

use super::meta::{Meta, tracing};
use super::{BESIDES_MAGIC, FILE_HEADER, Feature, MAGIC, PIPE_HEADER, ReadError};
use crate::attr::StoredAttr;
use std::io::{Read, Seek, SeekFrom};

/// The length of the header of old files: without the bits of features.
const OLD_HEADER: u64 = 72;

/// What an attribute is followed by: where its ids are, and how many bytes of them.
const IDS: u64 = 16;

/// A stretch of a file, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    pub(super) at: u64,
    pub(super) size: u64,
}

/// Numbers of an input, of either byte order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    is_foreign: bool,
}

impl Numbers {
    pub(super) const fn new(is_foreign: bool) -> Self {
        Self { is_foreign }
    }

    /// The number at this place; 0 behind the end.
    pub(super) fn u64(self, bytes: &[u8], at: usize) -> u64 {
        let word = bytes.get(at..).and_then(<[u8]>::first_chunk);
        u64::from_ne_bytes(self.native(word))
    }

    pub(super) fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let word = bytes.get(at..).and_then(<[u8]>::first_chunk);
        u32::from_ne_bytes(self.native(word))
    }

    /// The bytes in the order of this machine.
    fn native<const N: usize>(self, bytes: Option<&[u8; N]>) -> [u8; N] {
        let mut bytes = bytes.copied().unwrap_or([0; N]);
        if self.is_foreign {
            bytes.reverse();
        }
        bytes
    }

    fn section(self, bytes: &[u8], at: usize) -> Section {
        Section {
            at: self.u64(bytes, at),
            size: self.u64(bytes, at.saturating_add(8)),
        }
    }
}

/// The header of a file or pipe.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) is_pipe: bool,
    pub(super) is_foreign: bool,
    attr_size: u64,
    attrs: Section,
    pub(super) data: Section,
    features: [u64; 4],
}

impl Header {
    /// Reads one. `bytes` are the first of the input, as many as there are, up to [`FILE_HEADER`]
    /// of a file and [`PIPE_HEADER`] of a pipe.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        let magic = bytes.first_chunk().copied().map(u64::from_ne_bytes);
        let is_foreign = match magic {
            Some(MAGIC) => false,
            Some(magic) if magic.swap_bytes() == MAGIC => true,
            _ => {
                let found = bytes.iter().take(8).copied().collect();
                return Err(ReadError::Magic { found });
            }
        };
        let numbers = Numbers::new(is_foreign);
        let cut = |needs: usize| ReadError::Ends {
            at: 0,
            what: "the header",
            needs: needs as u64,
            there: bytes.len() as u64,
        };
        if bytes.len() < PIPE_HEADER {
            return Err(cut(PIPE_HEADER));
        }
        let size = numbers.u64(bytes, 8);
        let is_pipe = size == PIPE_HEADER as u64;
        if !is_pipe && size != FILE_HEADER as u64 && size != OLD_HEADER {
            let what = "the size of the header";
            return Err(ReadError::Value {
                at: 8,
                what,
                said: size,
            });
        }
        if !is_pipe && (bytes.len() as u64) < size {
            return Err(cut(usize::try_from(size).unwrap_or(FILE_HEADER)));
        }
        let has_features = size == FILE_HEADER as u64;
        Ok(Self {
            is_pipe,
            is_foreign,
            attr_size: numbers.u64(bytes, 16),
            attrs: numbers.section(bytes, 24),
            data: numbers.section(bytes, 40),
            features: if has_features {
                bits(bytes, numbers)
            } else {
                [0; 4]
            },
        })
    }

    fn features(&self) -> impl Iterator<Item = Feature> {
        (0_u32..).zip(self.features).flat_map(|(place, word)| {
            (0..64_u32)
                .filter(move |bit| word.checked_shr(*bit).unwrap_or(0) & 1 != 0)
                .map(move |bit| Feature(place.saturating_mul(64).saturating_add(bit)))
        })
    }
}

/// The bits of features: an array of `unsigned long`. A foreign machine's may have 32 bits; every
/// file has HOSTNAME, which tells (`perf_file_header__read()`).
fn bits(bytes: &[u8], numbers: Numbers) -> [u64; 4] {
    let words = [72, 80, 88, 96].map(|at| numbers.u64(bytes, at));
    let has_host = |words: &[u64; 4]| words.first().is_some_and(|word| word & (1 << 3) != 0);
    let turned = words.map(|word| word.rotate_left(32));
    if numbers.is_foreign && !has_host(&words) && has_host(&turned) {
        return turned;
    }
    words
}

/// A file whose parts are read by their places, none of which is allocated before it is known to be
/// there.
struct Parts<'a, R> {
    input: &'a mut R,
    length: u64,
    /// How much more may be read: parts that lie over each other could be larger than the file many
    /// times over.
    left: u64,
}

impl<R: Read + Seek> Parts<'_, R> {
    fn read(&mut self, section: Section, what: &'static str) -> Result<Vec<u8>, ReadError> {
        let Section { at, size } = section;
        let there = self.length.saturating_sub(at).min(self.left);
        if size > there {
            return Err(ReadError::Ends {
                at,
                what,
                needs: size,
                there,
            });
        }
        self.left = self.left.saturating_sub(size);
        let failed = |source| ReadError::Io { at, what, source };
        self.input.seek(SeekFrom::Start(at)).map_err(failed)?;
        let mut bytes = Vec::new();
        let mut part = self.input.by_ref().take(size);
        part.read_to_end(&mut bytes).map_err(failed)?;
        let there = bytes.len() as u64;
        if there < size {
            return Err(ReadError::Ends {
                at,
                what,
                needs: size,
                there,
            });
        }
        Ok(bytes)
    }
}

/// Reads what is around the records of a file. The second of what is given back is why not all
/// features could be read: they stand behind the records, which are there all the same.
pub(super) fn around<R: Read + Seek>(
    input: &mut R,
    header: &Header,
) -> Result<(Meta, Option<ReadError>), ReadError> {
    let length = input
        .seek(SeekFrom::End(0))
        .map_err(|source| ReadError::Io {
            at: 0,
            what: "the length of the file",
            source,
        })?;
    let mut parts = Parts {
        input,
        length,
        left: length.saturating_mul(2),
    };
    let mut meta = Meta::new(false, header.is_foreign);
    attributes(&mut parts, header, &mut meta)?;
    meta.settle();
    meta.is_unfinished = header.data.size == 0;
    let trouble = if meta.is_unfinished {
        None
    } else {
        let known = features(&mut parts, header, &mut meta);
        known
            .and_then(|()| besides(&mut parts, header, &mut meta))
            .err()
    };
    Ok((meta, trouble))
}

fn attributes<R: Read + Seek>(
    parts: &mut Parts<'_, R>,
    header: &Header,
    meta: &mut Meta,
) -> Result<(), ReadError> {
    let numbers = Numbers::new(header.is_foreign);
    let attr_size = header
        .attr_size
        .checked_sub(IDS)
        .and_then(|size| usize::try_from(size).ok())
        .filter(|size| *size >= 64)
        .ok_or(ReadError::Value {
            at: 16,
            what: "the size of an attribute",
            said: header.attr_size,
        })?;
    let all = parts.read(header.attrs, "the attributes")?;
    let mut at = header.attrs.at;
    for entry in all.chunks(attr_size.saturating_add(16)) {
        let Some((attr, ids)) = entry
            .split_at_checked(attr_size)
            .filter(|(_, ids)| ids.len() == 16)
        else {
            return Err(ReadError::Ends {
                at,
                what: "an attribute",
                needs: header.attr_size,
                there: entry.len() as u64,
            });
        };
        // One that a tool took over from an older file may be shorter than its place.
        let said = usize::try_from(numbers.u32(attr, 4)).unwrap_or(usize::MAX);
        let attr = attr.get(..said).filter(|_| said >= 64).unwrap_or(attr);
        let attr = StoredAttr::from_bytes(attr, header.is_foreign)
            .map_err(|source| ReadError::Attr { at, source })?;
        let ids = parts.read(numbers.section(ids, 0), "the ids of an attribute")?;
        let ids = ids.chunks_exact(8).map(|id| numbers.u64(id, 0)).collect();
        meta.add_event(attr, ids);
        at = at.saturating_add(header.attr_size);
    }
    Ok(())
}

/// Reads what stands at the very end of a file of ours.
fn besides<R: Read + Seek>(
    parts: &mut Parts<'_, R>,
    header: &Header,
    meta: &mut Meta,
) -> Result<(), ReadError> {
    const END: u64 = 16;
    let what = "what stands behind the features";
    let Some(at) = parts.length.checked_sub(END) else {
        return Ok(());
    };
    let end = parts.read(Section { at, size: END }, what)?;
    if end.last_chunk() != Some(&BESIDES_MAGIC) {
        return Ok(());
    }
    let size = Numbers::new(header.is_foreign).u64(&end, 0);
    let section = at.checked_sub(size).map(|at| Section { at, size });
    let section = section.ok_or(ReadError::Value {
        at,
        what,
        said: size,
    })?;
    meta.add_feature(Feature::BESIDES, parts.read(section, what)?);
    Ok(())
}

fn features<R: Read + Seek>(
    parts: &mut Parts<'_, R>,
    header: &Header,
    meta: &mut Meta,
) -> Result<(), ReadError> {
    let numbers = Numbers::new(header.is_foreign);
    let present: Vec<_> = header.features().collect();
    let table = Section {
        at: header.data.at.saturating_add(header.data.size),
        size: (present.len() as u64).saturating_mul(16),
    };
    let table = parts.read(table, "the table of features")?;
    let mut trouble = Ok(());
    for (feature, entry) in present.into_iter().zip(table.chunks_exact(16)) {
        let section = numbers.section(entry, 0);
        // The first trouble is the one that is told; the other features may be whole.
        let result = parts.read(section, "a feature").and_then(|bytes| {
            if feature == Feature::TRACING_DATA {
                meta.set_tracing(tracing(&bytes, section.at)?);
            }
            meta.add_feature(feature, bytes);
            Ok(())
        });
        trouble = trouble.and(result);
    }
    trouble
}
