//! The little of an ELF file that is asked here: a section by its name, how much of it is loaded,
//! and who loads it.
//!
//! Only files of 64-bit machines with the lesser byte first are read, as kernels and programs of
//! x86-64 and aarch64 are.
//!
//! # References
//! `elf(5)`.

/// A file's bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elf<'a>(&'a [u8]);

/// `PT_LOAD` and `PT_INTERP`.
const LOAD: u32 = 1;
const INTERPRETER: u32 = 3;

/// A program header: its type, where it begins in the file, how many bytes it has there.
struct Segment {
    kind: u32,
    offset: usize,
    length: usize,
}

impl<'a> Elf<'a> {
    /// `None` for what is no such file.
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        // Magic, 64 bits, the lesser byte first.
        bytes.starts_with(b"\x7fELF\x02\x01").then_some(Self(bytes))
    }

    /// The contents of a section.
    pub(super) fn section(self, name: &str) -> Option<&'a [u8]> {
        let (table, size, n) = (self.long(40)?, self.half(58)?, self.half(60)?);
        let header = |index: usize| table.checked_add(index.checked_mul(size)?);
        let names = self.contents(header(self.half(62)?)?)?;
        (0..n).find_map(|index| {
            let header = header(index)?;
            let named = names.get(self.word(header)? as usize..)?;
            let is_it = named.strip_prefix(name.as_bytes())?.first() == Some(&0);
            is_it.then(|| self.contents(header))?
        })
    }

    fn contents(self, header: usize) -> Option<&'a [u8]> {
        let offset = self.long(header.checked_add(24)?)?;
        let length = self.long(header.checked_add(32)?)?;
        self.0.get(offset..offset.checked_add(length)?)
    }

    /// The bytes that a loader needs: what lies behind them is for debuggers.
    pub(super) fn loaded(self) -> &'a [u8] {
        let ends = self.segments().filter(|segment| segment.kind == LOAD);
        let end = ends.filter_map(|segment| segment.offset.checked_add(segment.length));
        let end = end.max().unwrap_or(self.0.len());
        self.0.get(..end).unwrap_or(self.0)
    }

    /// The path of the program's loader; a static program has none.
    pub(super) fn interpreter(self) -> Option<&'a str> {
        let segment = self
            .segments()
            .find(|segment| segment.kind == INTERPRETER)?;
        let end = segment.offset.checked_add(segment.length)?;
        let text = std::str::from_utf8(self.0.get(segment.offset..end)?).ok()?;
        Some(text.trim_end_matches('\0'))
    }

    fn segments(self) -> impl Iterator<Item = Segment> {
        let table = self.long(32).unwrap_or(0);
        let size = self.half(54).unwrap_or(0);
        (0..self.half(56).unwrap_or(0)).map_while(move |index| {
            let header = table.checked_add(index.checked_mul(size)?)?;
            Some(Segment {
                kind: self.word(header)?,
                offset: self.long(header.checked_add(8)?)?,
                length: self.long(header.checked_add(32)?)?,
            })
        })
    }

    fn half(self, at: usize) -> Option<usize> {
        let bytes = self.0.get(at..at.checked_add(2)?)?;
        Some(u16::from_le_bytes(bytes.try_into().ok()?).into())
    }

    fn word(self, at: usize) -> Option<u32> {
        let bytes = self.0.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    fn long(self, at: usize) -> Option<usize> {
        let bytes = self.0.get(at..at.checked_add(8)?)?;
        usize::try_from(u64::from_le_bytes(bytes.try_into().ok()?)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Vec<u8> {
        std::fs::read(std::env::current_exe().unwrap()).unwrap()
    }

    #[test]
    fn of_this_program_the_loader_and_the_sections_are_found() {
        let bytes = own();
        let elf = Elf::new(&bytes).unwrap();
        assert!(elf.interpreter().unwrap().contains("/ld-"));
        assert!(elf.section(".text").unwrap().len() > 4096);
        assert!(elf.section(".tex").is_none());
    }

    #[test]
    fn what_is_loaded_runs_without_the_rest() {
        let bytes = own();
        let loaded = Elf::new(&bytes).unwrap().loaded();
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
        let head: Vec<u8> = bytes.iter().copied().take(4096).collect();
        for end in 0..head.len() {
            if let Some(elf) = Elf::new(head.get(..end).unwrap()) {
                assert!(elf.section(".text").is_none());
                assert!(elf.loaded().len() <= end);
                let _some_or_none = elf.interpreter();
            }
        }
    }
}
