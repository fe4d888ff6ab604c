//! What features hold, as bytes (`write_*()` in `tools/perf/util/header.c`).

use super::{ATTR_SIZE, EventDesc, Feature, MAGIC, PIPE_HEADER, own};
use crate::record::{HEADER_SIZE, Header};

/// What the length of a string and of a build id's file name is a multiple of (`NAME_ALIGN`).
const NAME_ALIGN: usize = 64;

/// `PERF_RECORD_MISC_KERNEL`, `PERF_RECORD_MISC_USER`: whose code it is.
const MISC_KERNEL: u16 = 1;
const MISC_USER: u16 = 2;

/// A program's, and the length of the id is told (`PERF_RECORD_MISC_BUILD_ID_SIZE`).
const MISC_BUILD_ID: u16 = MISC_USER | MISC_BUILD_ID_SIZE;
/// `PERF_RECORD_MISC_BUILD_ID_SIZE`.
const MISC_BUILD_ID_SIZE: u16 = 1 << 15;

/// The room for a build id, `BUILD_ID_SIZE`.
const BUILD_ID_ROOM: usize = 20;

/// With a zero behind it, to a multiple of the alignment.
fn padded(text: &[u8]) -> Vec<u8> {
    let mut padded = text.to_vec();
    padded.push(0);
    padded.resize(padded.len().next_multiple_of(NAME_ALIGN), 0);
    padded
}

fn push_string(out: &mut Vec<u8>, text: &[u8]) {
    let padded = padded(text);
    out.extend_from_slice(&(padded.len() as u32).to_ne_bytes());
    out.extend_from_slice(&padded);
}

/// One string: `HOSTNAME`, `OSRELEASE`, `VERSION`, `ARCH`, `CPUDESC`, `CPUID`.
#[must_use]
pub fn string(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    push_string(&mut out, text);
    out
}

/// Strings behind their number: `CMDLINE`.
#[must_use]
pub fn strings<'a>(texts: impl ExactSizeIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut out = (texts.len() as u32).to_ne_bytes().to_vec();
    texts.for_each(|text| push_string(&mut out, text));
    out
}

/// Numbers of 32 bits: `NRCPUS`, `COMPRESSED`.
#[must_use]
pub fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// Numbers of 64 bits: `TOTAL_MEM`, `SAMPLE_TIME`, `CLOCKID`.
#[must_use]
pub fn longs(longs: &[u64]) -> Vec<u8> {
    longs.iter().flat_map(|long| long.to_ne_bytes()).collect()
}

/// `CLOCK_DATA`: the times of the clock on the wall and of the events' clock at one moment, in
/// nanoseconds (`write_clock_data()`, `tools/perf/util/header.c`).
#[must_use]
pub fn clock_data(clock: u32, wall: u64, events: u64) -> Vec<u8> {
    let mut out = words(&[1, clock]);
    out.extend(longs(&[wall, events]));
    out
}

/// `EVENT_DESC`: the attributes once more, with names and ids.
#[must_use]
pub fn event_desc(events: &[EventDesc]) -> Vec<u8> {
    let mut out = words(&[events.len() as u32, ATTR_SIZE]);
    for event in events {
        out.extend_from_slice(&event.attr.to_bytes(ATTR_SIZE));
        out.extend_from_slice(&(event.ids.len() as u32).to_ne_bytes());
        push_string(&mut out, event.name.as_bytes());
        out.extend_from_slice(&longs(&event.ids));
    }
    out
}

/// The same of the kernel.
#[must_use]
pub fn kernel_build_id(id: &[u8]) -> Vec<u8> {
    build_id_record(
        id,
        b"[kernel.kallsyms]",
        MISC_BUILD_ID & !MISC_USER | MISC_KERNEL,
    )
}

/// A record that tells the build id of a program or library, by its path; of the feature `BUILD_ID`
/// one for each. What is longer than the room for an id is cut.
#[must_use]
pub fn build_id(id: &[u8], path: &[u8]) -> Vec<u8> {
    build_id_record(id, path, MISC_BUILD_ID)
}

/// Returns the first of the records of build ids: the name, the id, and the rest of the records.
/// `None` if there is no record left or it is malformed.
#[must_use]
pub fn first_build_id(records: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    const ID: usize = 8 + 4;
    const NAME: usize = ID + BUILD_ID_ROOM + 4;
    let header = Header::from_bytes(*records.first_chunk()?);
    let (record, rest) = records.split_at_checked(header.size.into())?;
    let name = record
        .get(NAME..)
        .filter(|_| header.kind == own::BUILD_ID)?;
    let length = name.iter().position(|byte| *byte == 0);
    let room = record.get(ID..NAME)?;
    let id_length = match room.get(BUILD_ID_ROOM) {
        Some(length) if header.misc & MISC_BUILD_ID_SIZE != 0 => usize::from(*length),
        _ => BUILD_ID_ROOM,
    };
    let id = room.get(..id_length.min(BUILD_ID_ROOM))?;
    Some((name.get(..length.unwrap_or(name.len()))?, id, rest))
}

/// Which feature a pipe's record of type [`own::FEATURE`] tells.
#[must_use]
pub fn told(record: &[u8]) -> Option<Feature> {
    let number = record.get(HEADER_SIZE..)?.first_chunk()?;
    u32::try_from(u64::from_ne_bytes(*number)).ok().map(Feature)
}

/// What a pipe's stream begins with.
#[must_use]
pub fn pipe_header() -> Vec<u8> {
    longs(&[MAGIC, PIPE_HEADER as u64])
}

fn build_id_record(id: &[u8], path: &[u8], misc: u16) -> Vec<u8> {
    let id = id.get(..id.len().min(BUILD_ID_ROOM)).unwrap_or_default();
    let mut body = id.to_vec();
    body.resize(BUILD_ID_ROOM, 0);
    body.extend_from_slice(&[id.len() as u8, 0, 0, 0]);
    // A path has at most PATH_MAX bytes, so that the size fits.
    body.extend(padded(path));
    // Of the host, not of a guest.
    let of_whom = (-1_i32).to_ne_bytes();
    let length = [8, of_whom.len(), body.len()].iter().sum::<usize>();
    // perf 7.2 refuses a pipe's record that is not a multiple of eight bytes long, which its own
    // was before.
    let size = length.next_multiple_of(8);
    let mut out = own::BUILD_ID.to_ne_bytes().to_vec();
    out.extend_from_slice(&misc.to_ne_bytes());
    out.extend_from_slice(&(size as u16).to_ne_bytes());
    out.extend_from_slice(&of_whom);
    out.extend_from_slice(&body);
    out.resize(size, 0);
    out
}
