//! The one reader of ELF files: build ids, places in the file and in memory, what a loader needs,
//! and where lies what was stripped from a file.
//!
//! The tables inside are parsed by `object`. Files with debugging information are looked for where
//! gdb does ("Debugging Information in Separate Files" of its manual).

use crate::files;
use object::elf::{ELF_NOTE_GNU, FileHeader32, FileHeader64, NT_GNU_BUILD_ID, PN_XNUM};
use object::read::elf::{ElfFile64, FileHeader, NoteIterator, ProgramHeader};
use object::read::{FileKind, ReadCache, ReadRef};
use object::{CompressionFormat, Endianness, NativeEndian, Object, ObjectSection, ObjectSegment};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

pub(crate) type Elf<'d> = ElfFile64<'d, Endianness>;

/// Where files lie that hold what was stripped from others.
const DEBUG_FILES: &str = "/usr/lib/debug";
/// How many bytes of a file's notes are read at most: those of a program take some hundred.
const LONGEST_NOTES: u64 = 1 << 16;

/// The contents of a section of a file of a 64-bit machine.
#[must_use]
pub fn section<'d>(bytes: &'d [u8], name: &str) -> Option<&'d [u8]> {
    let elf = Elf::parse(bytes).ok()?;
    elf.section_by_name(name)?.data().ok()
}

/// The bytes of a section, as they were before they were compressed; `None` where they cannot be
/// had.
pub(crate) fn uncompressed<'d>(section: &impl ObjectSection<'d>) -> Option<Cow<'d, [u8]>> {
    let data = section.compressed_data().ok()?;
    let mut bytes = Vec::new();
    let whole = match data.format {
        CompressionFormat::None => return Some(Cow::Borrowed(data.data)),
        CompressionFormat::Zlib => {
            let mut decoder = flate2::read::ZlibDecoder::new(data.data);
            decoder.read_to_end(&mut bytes).is_ok()
        }
        CompressionFormat::Zstandard => zstd::stream::copy_decode(data.data, &mut bytes).is_ok(),
        _ => false,
    };
    whole.then_some(Cow::Owned(bytes))
}

/// The bytes that a loader needs of a program of a 64-bit machine: what lies behind them is for
/// debuggers. All of them where the file is something else.
#[must_use]
pub fn loaded(bytes: &[u8]) -> &[u8] {
    let Ok(elf) = Elf::parse(bytes) else {
        return bytes;
    };
    let end = |segment: &_| {
        let (offset, length) = ObjectSegment::file_range(segment);
        offset.checked_add(length)
    };
    let end = elf.segments().filter_map(|segment| end(&segment)).max();
    let end = end.and_then(|end| usize::try_from(end).ok());
    end.and_then(|end| bytes.get(..end)).unwrap_or(bytes)
}

/// The number of the machine that a program of a 64-bit machine is for, as `EM_X86_64`.
#[must_use]
pub fn machine(bytes: &[u8]) -> Option<u16> {
    let elf = Elf::parse(bytes).ok()?;
    Some(elf.elf_header().e_machine(elf.endian()).0)
}

/// Whether a program of a 64-bit machine has a note of this owner and kind in what is loaded of it.
#[must_use]
pub fn has_note(bytes: &[u8], owner: &[u8], kind: u32) -> bool {
    let Ok(elf) = Elf::parse(bytes) else {
        return false;
    };
    let endian = elf.endian();
    let mut headers = elf.elf_program_headers().iter();
    let notes = headers.find_map(|header| header.notes(endian, bytes).ok().flatten());
    notes.is_some_and(|notes| {
        let mut notes = notes.filter_map(Result::ok);
        notes.any(|note| note.name() == owner && note.n_type(endian).0 == kind)
    })
}

/// The path of the loader of a program of a 64-bit machine; a static program has none.
#[must_use]
pub fn interpreter(bytes: &[u8]) -> Option<&str> {
    let elf = Elf::parse(bytes).ok()?;
    let mut headers = elf.elf_program_headers().iter();
    let path = headers.find_map(|header| header.interpreter(elf.endian(), bytes).ok()?)?;
    std::str::from_utf8(path).ok()
}

/// The path of the loader of a program, whatever machine it is for; `Some(None)` if it takes none,
/// and `None` for what is no program.
#[must_use]
pub fn loader(file: File) -> Option<Option<Vec<u8>>> {
    let file = &ReadCache::new(file);
    match FileKind::parse(file).ok()? {
        FileKind::Elf32 => loader_of::<FileHeader32<Endianness>, _>(file),
        FileKind::Elf64 => loader_of::<FileHeader64<Endianness>, _>(file),
        _ => None,
    }
}

fn loader_of<'d, H: FileHeader, R: ReadRef<'d>>(data: R) -> Option<Option<Vec<u8>>> {
    let header = H::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let headers = header.program_headers(endian, data).ok()?;
    for header in headers {
        if let Some(path) = header.interpreter(endian, data).ok()? {
            return Some(Some(path.to_vec()));
        }
    }
    Some(None)
}

/// The build id of a program or library; `None` for what has none, is something else or cannot be
/// read.
#[must_use]
pub fn build_id(file: File) -> Option<Vec<u8>> {
    let file = &ReadCache::new(file);
    let found = match FileKind::parse(file).ok()? {
        FileKind::Elf32 => in_segments::<FileHeader32<Endianness>, _>(file),
        FileKind::Elf64 => in_segments::<FileHeader64<Endianness>, _>(file),
        _ => None,
    };
    found.map(<[u8]>::to_vec)
}

fn in_segments<'d, H: FileHeader, R: ReadRef<'d>>(data: R) -> Option<&'d [u8]> {
    let header = H::parse(data).ok()?;
    let endian = header.endian().ok()?;
    // So many headers no program has.
    let segments = (header.e_phnum(endian) != PN_XNUM)
        .then(|| header.program_headers(endian, data).ok())
        .flatten()?;
    segments
        .iter()
        .filter(|segment| segment.p_filesz(endian).into() <= LONGEST_NOTES)
        .find_map(|segment| among(segment.notes(endian, data).ok()??, endian))
}

/// The build id among notes of this machine's byte order, as the kernel shows its own.
#[must_use]
pub fn build_id_in(notes: &[u8]) -> Option<&[u8]> {
    type Header = FileHeader64<NativeEndian>;
    among(
        NoteIterator::<Header>::new(NativeEndian, 4, notes).ok()?,
        NativeEndian,
    )
}

fn among<'d, H: FileHeader>(notes: NoteIterator<'d, H>, endian: H::Endian) -> Option<&'d [u8]> {
    let mut ids = notes
        .filter_map(Result::ok)
        .filter(|note| note.name() == ELF_NOTE_GNU && note.n_type(endian) == NT_GNU_BUILD_ID);
    ids.next()
        .map(|note| note.desc())
        .filter(|id| !id.is_empty())
}

/// Pieces of a file and where they are in memory before the file is moved: the offset in the file,
/// the address, the length.
#[derive(Debug)]
pub(crate) struct Pieces(Vec<(u64, u64, u64)>);

impl Pieces {
    /// All that is loaded; with `code`, of that what may be executed.
    pub(crate) fn of<'d>(file: &impl Object<'d>, code: bool) -> Self {
        let is_meant = |piece: &_| !code || ObjectSegment::permissions(piece).executable();
        let meant = file.segments().filter(is_meant);
        let pieces = meant.map(|segment| {
            let (offset, length) = segment.file_range();
            (offset, segment.address(), length)
        });
        Self(pieces.collect())
    }

    pub(crate) fn address_of(&self, offset: u64) -> Option<u64> {
        self.0.iter().find_map(|(start, address, length)| {
            let into = offset.checked_sub(*start).filter(|into| into < length)?;
            address.checked_add(into)
        })
    }

    pub(crate) fn offset_of(&self, address: u64) -> Option<u64> {
        self.0.iter().find_map(|(start, begin, length)| {
            let into = address.checked_sub(*begin).filter(|into| into < length)?;
            start.checked_add(into)
        })
    }
}

/// Where the file of a build id lies that holds what was stripped.
pub(crate) fn debug_file(id: &[u8]) -> Option<PathBuf> {
    let digits = hexadecimal(id);
    let (first, rest) = digits.split_at_checked(2)?;
    Some(Path::new(DEBUG_FILES).join(format!(".build-id/{first}/{rest}.debug")))
}

/// The bytes of such a file, if it belongs to this program or library.
pub(crate) fn debugging_information(elf: &Elf<'_>, path: &Path) -> Option<Vec<u8>> {
    let read = |path: &Path| files::read(path, files::PROGRAM).ok();
    let id = elf.build_id().ok().flatten();
    if let Some(bytes) = id.and_then(debug_file).and_then(|path| read(&path))
        && Elf::parse(&*bytes).is_ok()
    {
        return Some(bytes);
    }
    let (name, sum) = elf.gnu_debuglink().ok().flatten()?;
    let name = OsStr::from_bytes(name);
    let path = path.canonicalize().ok()?;
    let folder = path.parent()?;
    let below = folder.strip_prefix("/").unwrap_or(folder);
    let places = [
        folder.join(name),
        folder.join(".debug").join(name),
        Path::new(DEBUG_FILES).join(below).join(name),
    ];
    places.iter().find_map(|place| {
        let bytes = read(place)?;
        let other = Elf::parse(&*bytes).ok()?;
        let belongs = match (id, other.build_id().ok().flatten()) {
            (Some(id), Some(other)) => id == other,
            _ => crc(&bytes) == sum,
        };
        (belongs && place != &path).then_some(bytes)
    })
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _always_fits = write!(text, "{byte:02x}");
        text
    })
}

/// The sum in `.gnu_debuglink`: CRC-32 as in `zlib`.
fn crc(bytes: &[u8]) -> u32 {
    let mut sum = flate2::Crc::new();
    sum.update(bytes);
    sum.sum()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use std::io::{Seek, Write};

    fn own() -> Vec<u8> {
        std::fs::read(std::env::current_exe().unwrap()).unwrap()
    }

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        file
    }

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
        let kind = NT_GNU_BUILD_ID.0;
        let mut notes = note(b"Xen\0", kind, b"not it");
        notes.extend(note(b"GNU\0", 5, b"property"));
        notes.extend(note(b"GNU\0", kind, b"0123456789abcdefghij"));
        assert_eq!(build_id_in(&notes), Some(&b"0123456789abcdefghij"[..]));
        for length in 0..notes.len() {
            assert_eq!(build_id_in(notes.get(..length).unwrap()), None);
        }
    }

    #[test]
    fn what_is_no_program_has_no_build_id_and_does_no_harm() {
        for bytes in [&b""[..], b"\x7fELF", &[0x7f; 64], b"#!/bin/sh\n"] {
            assert_eq!(build_id(file(bytes)), None);
        }
        let mut endless = b"\x7fELF\x02\x01\x01".to_vec();
        endless.resize(64, 0xff);
        assert_eq!(build_id(file(&endless)), None);
    }

    #[test]
    fn notes_of_a_file_without_end_are_not_read() {
        let mut bytes = own();
        let n_headers = bytes.get(56).copied().unwrap();
        for header in (0..usize::from(n_headers)).map(|number| 64 + number * 56) {
            let entry = bytes.get_mut(header..header + 56).unwrap();
            if entry.starts_with(&4_u32.to_le_bytes()) {
                entry
                    .get_mut(32..40)
                    .unwrap()
                    .copy_from_slice(&(1_u64 << 40).to_le_bytes());
            }
        }
        let file = file(&bytes);
        file.set_len(1 << 41).unwrap();
        assert_eq!(build_id(file), None);
    }

    #[test]
    fn of_this_program_the_loader_and_the_sections_are_found() {
        let bytes = own();
        assert!(interpreter(&bytes).unwrap().contains("/ld-"));
        assert!(section(&bytes, ".text").unwrap().len() > 4096);
        assert!(section(&bytes, ".tex").is_none());
        let id = Elf::parse(&*bytes)
            .unwrap()
            .build_id()
            .unwrap()
            .map(<[u8]>::to_vec);
        assert_eq!(build_id(file(&bytes)), id);
    }

    #[test]
    fn what_is_loaded_runs_without_the_rest() {
        let bytes = own();
        let loaded = loaded(&bytes);
        assert!(loaded.len() < bytes.len(), "tests have symbols");
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("copy");
        std::fs::write(&copy, loaded).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&copy, mode).unwrap();
        let listed = std::process::Command::new(&copy).arg("--list").output();
        assert!(listed.unwrap().status.success());
    }

    #[test]
    fn a_file_cut_anywhere_in_its_headers_is_no_panic() {
        let bytes = own();
        for end in 0..4096 {
            let head = bytes.get(..end).unwrap();
            assert!(section(head, ".text").is_none());
            assert!(loaded(head).len() <= end);
            let _some_or_none = interpreter(head);
        }
    }
}
