//! One program or library: its symbols, and what tells where callers are.

use super::table::{Binding, Symbol, Table, readable};
use super::unwind::CallFrames;
use crate::elf::{Pieces, debug_file, uncompressed};
use crate::files;
use object::elf;
use object::read::ReadRef;
use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolFlags};
use std::path::{Path, PathBuf};

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
    pieces: Pieces,
    /// Where the kernel starts it: what is there has no caller.
    pub(super) entry: u64,
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
                let frames = &mut binary.call_frames.debug;
                *frames = frames.take().or(more.call_frames.debug);
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
            pieces: Pieces::of(&file, false),
            entry: file.entry(),
            call_frames: CallFrames {
                header: section(".eh_frame_hdr"),
                frames: section(".eh_frame"),
                debug: file
                    .section_by_name(".debug_frame")
                    .and_then(|section| Some(uncompressed(&section)?.into_owned()))
                    .filter(|data| !data.is_empty()),
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
        self.pieces.address_of(offset)
    }

    /// Where in the file a function begins.
    #[cfg(test)]
    pub(super) fn offset_of(&self, name: &str) -> Option<u64> {
        self.pieces.offset_of(self.table.address_of(name)?)
    }
}

/// Whether the debug information of a file has such a name: of a function, though it may stand for
/// something else as well.
pub(super) fn has_debug_name(path: &Path, is_it: &dyn Fn(&str) -> bool) -> bool {
    let names = || {
        let cache = object::ReadCache::new(files::open(path).ok()?);
        let file = object::File::parse(&cache).ok()?;
        let section = file.section_by_name(".debug_str")?;
        let mut names = section.data().ok()?.split(|byte| *byte == 0);
        Some(names.any(|name| str::from_utf8(name).is_ok_and(|name| is_it(&readable(name)))))
    };
    names().unwrap_or(false)
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
            *is_code = sh_flags.contains(elf::SHF_EXECINSTR);
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
    let kind = st_info.st_type();
    if !is_code || !matches!(kind, elf::STT_NOTYPE | elf::STT_FUNC | elf::STT_GNU_IFUNC) {
        return None;
    }
    Some(Symbol {
        address: symbol.address(),
        size: symbol.size(),
        binding: match st_info.st_bind() {
            elf::STB_LOCAL => Binding::Local,
            elf::STB_WEAK => Binding::Weak,
            _ => Binding::Global,
        },
        is_function: kind != elf::STT_NOTYPE,
        name: String::from_utf8_lossy(name).into(),
    })
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
