//! One program or library: its symbols, and what tells where callers are.

use super::table::{Binding, Symbol, Table};
use super::unwind::CallFrames;
use crate::files;
use object::read::ReadRef;
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, SectionFlags, SymbolFlags};
use std::path::{Path, PathBuf};

/// Where debug files lie (`gdb(1)`, "Debugging Information in Separate Files").
const DEBUG_FILES: &str = "/usr/lib/debug";
/// `SHF_EXECINSTR`.
const EXECUTABLE: u64 = 4;
/// `STB_*` and `STT_*` (`elf(5)`).
const LOCAL: u8 = 0;
const WEAK: u8 = 2;
const NOTYPE: u8 = 0;
const FUNC: u8 = 2;
const GNU_IFUNC: u8 = 10;

/// Why nothing is known of a file.
#[derive(Debug, thiserror::Error)]
pub(super) enum FileError {
    #[error("cannot be read")]
    Read(#[from] std::io::Error),
    #[error("is no program and no library")]
    Object(#[from] object::read::Error),
}

/// What is known of a file.
#[derive(Debug)]
pub(super) struct Binary {
    pub(super) build_id: Option<Vec<u8>>,
    pub(super) table: Table,
    /// Pieces of the file and where they are in memory, before they are moved: the offset in the
    /// file, the address, the length.
    segments: Vec<(u64, u64, u64)>,
    pub(super) call_frames: CallFrames,
    /// Which file has source lines, if one has.
    pub(super) lines: Option<PathBuf>,
}

impl Binary {
    /// Reads a file, and the debug file that is found by its build id.
    pub(super) fn open(path: &Path) -> Result<Self, FileError> {
        let cache = object::ReadCache::new(files::open(path).map_err(std::io::Error::from)?);
        let (mut binary, mut symbols) = Self::parse(&cache)?;
        if binary.lines.is_some() {
            binary.lines = Some(path.to_owned());
        }
        // What was stripped of a file is in another, if it is anywhere.
        if let Some(debug) = binary.build_id.as_deref().and_then(debug_file)
            && let Ok(file) = files::open(&debug)
        {
            let cache = object::ReadCache::new(file);
            if let Ok((more, all)) = Self::parse(&cache)
                && more.build_id == binary.build_id
            {
                symbols.extend(all);
                if binary.lines.is_none() && more.lines.is_some() {
                    binary.lines = Some(debug);
                }
            }
        }
        binary.table = Table::new(symbols);
        Ok(binary)
    }

    /// Of what the kernel maps by itself: the vDSO.
    pub(super) fn of_memory(bytes: &[u8]) -> Result<Self, FileError> {
        let (mut binary, symbols) = Self::parse(bytes)?;
        binary.lines = None;
        binary.table = Table::new(symbols);
        Ok(binary)
    }

    fn parse<'data, R: ReadRef<'data>>(data: R) -> Result<(Self, Vec<Symbol>), FileError> {
        let file = object::File::parse(data)?;
        let segments = file.segments().map(|segment| {
            let (offset, length) = segment.file_range();
            (offset, segment.address(), length)
        });
        let section = |name: &str| {
            let section = file.section_by_name(name)?;
            let data = section.data().ok().filter(|data| !data.is_empty())?;
            Some((section.address(), data.to_vec()))
        };
        let address = |name: &str| file.section_by_name(name).map(|section| section.address());
        let has_lines = file.section_by_name(".debug_info").is_some();
        let binary = Self {
            build_id: file.build_id()?.map(<[u8]>::to_vec),
            table: Table::default(),
            segments: segments.collect(),
            call_frames: CallFrames {
                header: section(".eh_frame_hdr"),
                frames: section(".eh_frame"),
                text: address(".text").unwrap_or(0),
                got: address(".got").unwrap_or(0),
            },
            // Which file it is its opener knows.
            lines: has_lines.then(PathBuf::new),
        };
        let code: Vec<bool> = code_sections(&file);
        let all = file.symbols().chain(file.dynamic_symbols());
        let symbols = all.filter_map(|symbol| self::symbol(&symbol, &code));
        Ok((binary, symbols.collect()))
    }

    /// The address that a place in the file has before the file is moved.
    pub(super) fn address(&self, offset: u64) -> Option<u64> {
        self.segments.iter().find_map(|(start, address, length)| {
            let into = offset.checked_sub(*start).filter(|into| into < length)?;
            address.checked_add(into)
        })
    }

    /// Where in the file a function begins.
    #[cfg(test)]
    pub(super) fn offset_of(&self, name: &str) -> Option<u64> {
        let at = self.table.address_of(name)?;
        self.segments.iter().find_map(|(start, address, length)| {
            let into = at.checked_sub(*address).filter(|into| into < length)?;
            start.checked_add(into)
        })
    }
}

/// Whether the section of each number holds code.
fn code_sections<'data, R: ReadRef<'data>>(file: &object::File<'data, R>) -> Vec<bool> {
    let mut code = Vec::new();
    for section in file.sections() {
        let number = section.index().0;
        if code.len() <= number {
            code.resize(number.saturating_add(1), false);
        }
        if let (SectionFlags::Elf { sh_flags, .. }, Some(is_code)) =
            (section.flags(), code.get_mut(number))
        {
            *is_code = sh_flags.0 & EXECUTABLE != 0;
        }
    }
    code
}

// elf_sym__filter() and elf_sym__is_label(), tools/perf/util/symbol-elf.c.
fn symbol<'data>(symbol: &impl ObjectSymbol<'data>, code: &[bool]) -> Option<Symbol> {
    let SymbolFlags::Elf { st_info, .. } = symbol.flags() else {
        return None;
    };
    let section = symbol.section_index()?.0;
    let is_code = code.get(section).copied().unwrap_or(false);
    let name = symbol.name_bytes().ok().filter(|name| !name.is_empty())?;
    let kind = st_info.0 & 0xf;
    if !is_code || !matches!(kind, NOTYPE | FUNC | GNU_IFUNC) {
        return None;
    }
    Some(Symbol {
        address: symbol.address(),
        size: symbol.size(),
        binding: match st_info.0 >> 4 {
            LOCAL => Binding::Local,
            WEAK => Binding::Weak,
            _ => Binding::Global,
        },
        is_function: kind != NOTYPE,
        name: String::from_utf8_lossy(name).into(),
    })
}

/// The debug file of a build id.
fn debug_file(id: &[u8]) -> Option<PathBuf> {
    let digits: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    let (folder, name) = digits.split_at_checked(2)?;
    let file = format!("{name}.debug");
    let path = Path::new(DEBUG_FILES).join(".build-id");
    Some(path.join(folder).join(file))
}

/// What a compiler at run time says of its code (`tools/perf/Documentation/jit-interface.txt`):
/// `START SIZE NAME` in each line, in hexadecimal.
pub(super) fn compiled(text: &[u8]) -> Table {
    let text = String::from_utf8_lossy(text);
    let symbols = text.lines().filter_map(|line| {
        let mut columns = line.splitn(3, ' ');
        let mut number = || {
            let word = columns.next()?;
            u64::from_str_radix(word.trim_start_matches("0x"), 16).ok()
        };
        let (address, size) = (number()?, number()?);
        Some(Symbol {
            address,
            size,
            binding: Binding::Global,
            is_function: true,
            name: columns.next()?.into(),
        })
    });
    Table::new(symbols.collect())
}
