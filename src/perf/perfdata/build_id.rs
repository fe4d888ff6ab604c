//! Build ids, in the notes of programs, libraries and the kernel (`elf(5)`).

use std::io::{self, Read, Seek, SeekFrom};

/// `PT_NOTE`.
const PT_NOTE: u32 = 4;
/// `NT_GNU_BUILD_ID`.
const NT_GNU_BUILD_ID: u32 = 3;
/// How much of a file's notes is read: those of a program take some hundred bytes.
const LONGEST: u64 = 1 << 16;

fn u16_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?).into())
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The build id among notes.
#[must_use]
pub fn in_notes(notes: &[u8]) -> Option<&[u8]> {
    let mut rest = notes;
    loop {
        let (name, length) = (u32_at(rest, 0)? as usize, u32_at(rest, 4)? as usize);
        let kind = u32_at(rest, 8)?;
        let value = 12_usize.checked_add(name.checked_next_multiple_of(4)?)?;
        let end = value.checked_add(length)?;
        if kind == NT_GNU_BUILD_ID && rest.get(12..12_usize.checked_add(name)?)? == b"GNU\0" {
            return rest.get(value..end).filter(|id| !id.is_empty());
        }
        rest = rest.get(end.checked_next_multiple_of(4)?..)?;
    }
}

/// The build id of a program or library of this machine's byte order; `None` for what has none or
/// is something else.
///
/// # Errors
/// Those of `file`.
pub fn of_file(mut file: impl Read + Seek) -> io::Result<Option<Vec<u8>>> {
    let mut head = Vec::new();
    file.by_ref().take(64).read_to_end(&mut head)?;
    let Some(headers) = headers(&head) else {
        return Ok(None);
    };
    for number in 0..headers.number {
        let mut entry = Vec::new();
        let at = number.saturating_mul(headers.size);
        file.seek(SeekFrom::Start(headers.at.saturating_add(at)))?;
        file.by_ref().take(headers.size).read_to_end(&mut entry)?;
        let Some((at, length)) = notes(&entry, headers.is_64) else {
            continue;
        };
        let mut notes = Vec::new();
        file.seek(SeekFrom::Start(at))?;
        file.by_ref()
            .take(length.min(LONGEST))
            .read_to_end(&mut notes)?;
        if let Some(id) = in_notes(&notes) {
            return Ok(Some(id.to_vec()));
        }
    }
    Ok(None)
}

/// Where the program headers are.
struct Headers {
    is_64: bool,
    at: u64,
    size: u64,
    number: u64,
}

fn headers(head: &[u8]) -> Option<Headers> {
    let order = if cfg!(target_endian = "little") { 1 } else { 2 };
    let class = *head.strip_prefix(b"\x7fELF")?.first()?;
    (head.get(5) == Some(&order)).then_some(())?;
    match class {
        1 => Some(Headers {
            is_64: false,
            at: u32_at(head, 28)?.into(),
            size: u16_at(head, 42)?,
            number: u16_at(head, 44)?,
        }),
        2 => Some(Headers {
            is_64: true,
            at: u64_at(head, 32)?,
            size: u16_at(head, 54)?,
            number: u16_at(head, 56)?,
        }),
        _ => None,
    }
}

/// Place and length of the notes that a program header tells of.
fn notes(entry: &[u8], is_64: bool) -> Option<(u64, u64)> {
    (u32_at(entry, 0)? == PT_NOTE).then_some(())?;
    if is_64 {
        Some((u64_at(entry, 8)?, u64_at(entry, 32)?))
    } else {
        Some((u32_at(entry, 4)?.into(), u32_at(entry, 16)?.into()))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn note(name: &[u8], kind: u32, value: &[u8]) -> Vec<u8> {
        let mut note = Vec::new();
        for word in [name.len() as u32, value.len() as u32, kind] {
            note.extend_from_slice(&word.to_ne_bytes());
        }
        for part in [name, value] {
            note.extend_from_slice(part);
            note.resize(note.len().next_multiple_of(4), 0);
        }
        note
    }

    #[test]
    fn a_build_id_is_found_behind_other_notes() {
        let mut notes = note(b"Xen\0", NT_GNU_BUILD_ID, b"not it");
        notes.extend(note(b"GNU\0", 5, b"property"));
        notes.extend(note(b"GNU\0", NT_GNU_BUILD_ID, b"0123456789abcdefghij"));
        assert_eq!(in_notes(&notes), Some(&b"0123456789abcdefghij"[..]));
        for length in 0..notes.len() {
            assert_eq!(in_notes(notes.get(..length).unwrap()), None);
        }
    }

    #[test]
    fn what_is_no_program_has_none_and_does_no_harm() {
        for bytes in [&b""[..], b"\x7fELF", &[0x7f; 64], b"#!/bin/sh\n"] {
            assert_eq!(of_file(Cursor::new(bytes)).unwrap(), None);
        }
        let mut endless = b"\x7fELF\x02\x01".to_vec();
        endless.resize(64, 0xff);
        assert_eq!(of_file(Cursor::new(endless)).unwrap(), None);
    }
}
