//! From a function's name to its place in the file, which is what the kernel takes.

use super::error::ElfError;
use super::names::{demangled, ends, is_meant, is_whole};
use crate::elf::{Elf, Pieces, debugging_information, hexadecimal};
use crate::units::ProbePlace;
use object::read::elf::{FileHeader, Sym, SymbolTable, VersionTable};
use object::{Endianness, Object, elf};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

type Header = elf::FileHeader64<Endianness>;

/// A program or library.
#[derive(Debug)]
pub struct Binary {
    bytes: Vec<u8>,
    /// Of the file that holds what was stripped from it.
    debug: Option<Vec<u8>>,
}

/// A place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Behind the beginning of the file, in bytes.
    pub offset: u64,
    /// As its own tables count, in memory.
    pub address: u64,
    /// Whether it is where a function begins, whose arguments are in their registers there.
    pub is_entry: bool,
}

/// How many names are told of those that one may have meant.
const MOST_NAMES: usize = 5;

/// A symbol that has a name that is meant.
struct Candidate {
    name: String,
    address: u64,
    size: u64,
    kind: Kind,
    /// Whether it is not the one that programs are linked with today.
    is_old: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Function,
    Chooser,
    Data,
    Imported,
}

impl Binary {
    /// Reads a file; `path` is where it lies, beside which its debugging information may be.
    ///
    /// # Errors
    /// [`ElfError::Read`], [`ElfError::NoElf`].
    pub fn read(mut file: &File, path: &Path) -> Result<Self, ElfError> {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(ElfError::Read)?;
        let elf = parse(&bytes)?;
        let debug = debugging_information(&elf, path);
        Ok(Self { bytes, debug })
    }

    pub(super) fn elf(&self) -> Result<Elf<'_>, ElfError> {
        parse(&self.bytes)
    }

    /// Returns the file with its debugging information, if that is another file.
    pub(super) fn debug(&self) -> Option<Elf<'_>> {
        self.debug.as_deref().and_then(|bytes| parse(bytes).ok())
    }

    /// Finds where a place of a probe lies in the file.
    ///
    /// # Errors
    /// [`ElfError`].
    pub fn find(&self, place: &ProbePlace) -> Result<Found, ElfError> {
        let elf = self.elf()?;
        let (name, behind) = match place {
            ProbePlace::Symbol(name, behind) => (name, *behind),
            ProbePlace::Offset(offset) => {
                let address = Pieces::of(&elf, true).address_of(*offset);
                let address = address.ok_or(ElfError::NoCode { offset: *offset })?;
                return Ok(Found {
                    offset: *offset,
                    address,
                    is_entry: false,
                });
            }
        };
        let symbol = self.symbol(&elf, name)?;
        if symbol.size > 0 && behind >= symbol.size {
            return Err(ElfError::Beyond {
                name: name.clone(),
                size: symbol.size,
                offset: behind,
            });
        }
        let address = symbol.address.wrapping_add(behind);
        let offset = Pieces::of(&elf, true)
            .offset_of(address)
            .ok_or(ElfError::NoCode { offset: address })?;
        Ok(Found {
            offset,
            address,
            is_entry: behind == 0,
        })
    }

    fn symbol(&self, elf: &Elf<'_>, name: &str) -> Result<Candidate, ElfError> {
        let mut tables = Tables {
            wanted: name,
            found: Vec::new(),
            nearest: None,
            ended: BTreeSet::new(),
        };
        let endian = elf.endian();
        let versions = elf.elf_section_table().versions(endian, elf.data());
        tables.look(elf, elf.elf_symbol_table(), None);
        tables.look(
            elf,
            elf.elf_dynamic_symbol_table(),
            versions.ok().flatten().as_ref(),
        );
        let has_own = !elf.elf_symbol_table().is_empty();
        let debug = self.debug();
        if let Some(debug) = &debug {
            tables.look(debug, debug.elf_symbol_table(), None);
        }
        let Tables {
            found,
            nearest,
            ended,
            ..
        } = tables;
        match choose(name, elf, found) {
            Err(ElfError::NoSymbol { .. }) if !has_own && debug.is_none() => {
                let id = elf.build_id().ok().flatten();
                Err(ElfError::NoSymbols {
                    build_id: id.map(hexadecimal),
                })
            }
            Err(ElfError::NoSymbol { name, .. }) => Err(ElfError::NoSymbol {
                name,
                nearest: match ended.len() {
                    0 => nearest.map(|(_, near)| near),
                    _ => Some(
                        ended
                            .into_iter()
                            .take(MOST_NAMES)
                            .collect::<Vec<_>>()
                            .join("` or `"),
                    ),
                },
            }),
            chosen => chosen,
        }
    }
}

/// What is found in several tables of symbols.
struct Tables<'w> {
    wanted: &'w str,
    found: Vec<Candidate>,
    nearest: Option<(usize, String)>,
    /// The paths that end in the name.
    ended: BTreeSet<String>,
}

impl Tables<'_> {
    fn look(
        &mut self,
        elf: &Elf<'_>,
        table: &SymbolTable<'_, Header>,
        versions: Option<&VersionTable<'_, Header>>,
    ) {
        let endian = elf.endian();
        for (index, symbol) in table.enumerate() {
            let Ok(name) = symbol.name(endian, table.strings()) else {
                continue;
            };
            let Ok(mut name) = String::from_utf8(name.to_vec()) else {
                continue;
            };
            let kind = match symbol.st_type() {
                _ if symbol.st_shndx(endian) == elf::SHN_UNDEF => Kind::Imported,
                elf::STT_FUNC | elf::STT_NOTYPE => Kind::Function,
                elf::STT_GNU_IFUNC => Kind::Chooser,
                elf::STT_OBJECT => Kind::Data,
                _ => continue,
            };
            if name.is_empty() {
                continue;
            }
            let mut is_old = false;
            if let Some(versions) = versions {
                let version = versions.version_index(endian, index);
                is_old = version.is_hidden();
                if let Ok(Some(version)) = versions.version(version.index()) {
                    let at = if is_old { "@" } else { "@@" };
                    name += at;
                    name += &String::from_utf8_lossy(version.name());
                }
            }
            let (plain, version) = match name.split_once('@') {
                Some((plain, version)) => (plain, Some(version)),
                None => (name.as_str(), None),
            };
            is_old |= version.is_some_and(|version| !version.starts_with('@'));
            let (wanted, wanted_version) = match self.wanted.split_once('@') {
                Some((plain, version)) => (plain, Some(version)),
                None => (self.wanted, None),
            };
            let trimmed = |version: &str| version.trim_start_matches('@').to_owned();
            let has_version =
                wanted_version.is_none() || wanted_version.map(trimmed) == version.map(trimmed);
            if has_version && (wanted == plain || is_meant(wanted, plain)) {
                self.found.push(Candidate {
                    address: symbol.st_value(endian),
                    size: symbol.st_size(endian),
                    kind,
                    is_old,
                    name,
                });
            } else if kind == Kind::Function {
                self.ended.extend(ends(wanted, plain));
                let limit = (wanted.chars().count() / 3).max(1);
                let distance = strsim::osa_distance(wanted, plain);
                let best = self
                    .nearest
                    .as_ref()
                    .map_or(limit.saturating_add(1), |(best, _)| *best);
                if distance < best {
                    self.nearest = Some((distance, plain.to_owned()));
                }
            }
        }
    }
}

/// The one that is meant.
fn choose(name: &str, elf: &Elf<'_>, mut found: Vec<Candidate>) -> Result<Candidate, ElfError> {
    let name = name.to_owned();
    let is_there = |kind: Kind| found.iter().any(|candidate| candidate.kind == kind);
    if is_there(Kind::Chooser) {
        let functions = alternatives(elf, &name);
        return Err(ElfError::Chooser { name, functions });
    }
    if !is_there(Kind::Function) {
        return Err(match () {
            () if is_there(Kind::Data) => ElfError::Data { name },
            () if is_there(Kind::Imported) => ElfError::Imported { name },
            () => ElfError::NoSymbol {
                name,
                nearest: None,
            },
        });
    }
    found.retain(|candidate| candidate.kind == Kind::Function);
    // Of several versions the one that is linked with; of several functions that a name stands for
    // the one that is called just that.
    if found.iter().any(|candidate| !candidate.is_old) {
        found.retain(|candidate| !candidate.is_old);
    }
    let is_own = |candidate: &Candidate| {
        is_whole(&name, candidate.name.split('@').next().unwrap_or_default())
    };
    if found.iter().any(is_own) {
        found.retain(is_own);
    }
    // The longest first: an alias of no size tells less.
    found.sort_by_key(|candidate| (candidate.address, std::cmp::Reverse(candidate.size)));
    found.dedup_by_key(|candidate| candidate.address);
    if found.len() > 1 {
        let code = Pieces::of(elf, true);
        let place = |candidate: &Candidate| {
            let offset = code
                .offset_of(candidate.address)
                .unwrap_or(candidate.address);
            match demangled(&candidate.name) {
                Some(plain) => format!("{plain} at {offset:#x}"),
                None => format!("{} at {offset:#x}", candidate.name),
            }
        };
        let places = found.iter().map(place).collect();
        return Err(ElfError::Several { name, places });
    }
    found.pop().ok_or(ElfError::NoSymbol {
        name: String::new(),
        nearest: None,
    })
}

/// What such a symbol of the C library may choose: `__strlen_avx2` for `strlen`.
fn alternatives(elf: &Elf<'_>, name: &str) -> Vec<String> {
    let name = name.split('@').next().unwrap_or_default();
    let begin = format!("__{name}_");
    let table = elf.elf_symbol_table();
    let names = table.iter().filter_map(|symbol| {
        let name = symbol.name(elf.endian(), table.strings()).ok()?;
        let name = std::str::from_utf8(name).ok()?;
        name.starts_with(&begin).then(|| name.to_owned())
    });
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn parse(bytes: &[u8]) -> Result<Elf<'_>, ElfError> {
    let wrong = |error: object::Error| ElfError::NoElf(error.to_string());
    let elf = Elf::parse(bytes).map_err(wrong)?;
    let machine = match std::env::consts::ARCH {
        "aarch64" => elf::EM_AARCH64,
        _ => elf::EM_X86_64,
    };
    if elf.elf_header().e_machine(elf.endian()) != machine {
        return Err(ElfError::NoElf("it is of another machine".to_owned()));
    }
    Ok(elf)
}
