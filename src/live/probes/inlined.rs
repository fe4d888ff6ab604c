//! How often a compiler has put a function into its callers, where a probe of the function is not.

use super::dwarf::{Entry, Unit, attribute, begins, dwarf, sections, text};
use super::elf::Binary;
use crate::elf::{Elf, Pieces};
use gimli::{AttributeValue, DebugInfoOffset};
use object::Object;
use std::collections::BTreeMap;

/// By what a function is known in several units of translation: name, file and line.
type Identity = (String, Option<String>, Option<u64>);

impl Binary {
    /// How many copies of the function at an address there are in functions that call it
    /// (`DW_TAG_inlined_subroutine`), as the debugging information says; 0 where there is none.
    pub(super) fn copies(&self, address: u64) -> u64 {
        let Ok(elf) = self.elf() else { return 0 };
        let code = Pieces::of(&elf, true);
        let files = [self.elf().ok(), self.debug()].into_iter().flatten();
        let copies = files.filter_map(|elf| inlined(&elf, &code, address).ok());
        copies.max().unwrap_or(0)
    }
}

fn inlined(elf: &Elf<'_>, code: &Pieces, address: u64) -> gimli::Result<u64> {
    if elf.section_by_name(".debug_info").is_none() {
        return Ok(0);
    }
    let sections = sections(elf)?;
    let dwarf = dwarf(elf, &sections);
    // Where the function is described, and as what.
    let mut own: Option<(DebugInfoOffset, Option<Identity>)> = None;
    // Where the functions are described, and how many copies each has.
    let mut copies: BTreeMap<usize, u64> = BTreeMap::new();
    let mut units = dwarf.units();
    while let Some(header) = units.next()? {
        let unit = dwarf.unit(header)?;
        let unit = unit.unit_ref(&dwarf);
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            match entry.tag() {
                gimli::DW_TAG_inlined_subroutine => {
                    // A linker leaves entries of what it throws away, with other numbers in them.
                    let begin = begins(unit, entry)?;
                    if begin.is_some_and(|begin| code.offset_of(begin).is_none()) {
                        continue;
                    }
                    if let Some(origin) = origin(unit, entry) {
                        *copies.entry(origin.0).or_default() += 1;
                    }
                }
                gimli::DW_TAG_subprogram
                    if own.is_none() && begins(unit, entry)? == Some(address) =>
                {
                    let here = entry.offset().to_debug_info_offset(&unit.header);
                    let described = origin(unit, entry).or(here);
                    let inside = described.and_then(|at| at.to_unit_offset(&unit.header));
                    let identity = match inside {
                        Some(at) => identity(unit, &unit.entry(at)?)?,
                        None => None,
                    };
                    own = described.map(|at| (at, identity));
                }
                _ => {}
            }
        }
    }
    let Some((described, own)) = own else {
        return Ok(0);
    };
    let mut all = 0;
    let mut units = dwarf.units();
    while let Some(header) = units.next()? {
        let unit = dwarf.unit(header)?;
        let unit = unit.unit_ref(&dwarf);
        let begin = unit.header.debug_info_offset().map_or(0, |begin| begin.0);
        let end = begin.saturating_add(unit.header.length_including_self());
        for (origin, n) in copies.range(begin..end) {
            let origin = DebugInfoOffset(*origin);
            let Some(at) = origin.to_unit_offset(&unit.header) else {
                continue;
            };
            let is_alike =
                || gimli::Result::Ok(own.is_some() && identity(unit, &unit.entry(at)?)? == own);
            if origin == described || is_alike()? {
                all += n;
            }
        }
    }
    Ok(all)
}

/// Where the function is described that an entry is an instance of.
fn origin(unit: Unit<'_, '_>, entry: &Entry<'_>) -> Option<DebugInfoOffset> {
    match entry.attr_value(gimli::DW_AT_abstract_origin)? {
        AttributeValue::UnitRef(at) => at.to_debug_info_offset(&unit.header),
        AttributeValue::DebugInfoRef(at) => Some(at),
        _ => None,
    }
}

/// As what a function is described.
fn identity<'d>(unit: Unit<'_, 'd>, entry: &Entry<'d>) -> gimli::Result<Option<Identity>> {
    let linked = text(unit, entry, gimli::DW_AT_linkage_name)?;
    let name = match linked {
        Some(name) => Some(name),
        None => text(unit, entry, gimli::DW_AT_name)?,
    };
    let line = attribute(unit, entry, gimli::DW_AT_decl_line)?;
    let file = match attribute(unit, entry, gimli::DW_AT_decl_file)? {
        Some(AttributeValue::FileIndex(index)) => Some(index),
        Some(value) => value.udata_value(),
        None => None,
    };
    let header = unit.line_program.as_ref().map(|program| program.header());
    let file = header
        .zip(file)
        .and_then(|(header, index)| header.file(index));
    let file = file.map(|file| unit.attr_string(file.path_name()));
    let file = file.transpose()?;
    let file = file.map(|file| file.to_string_lossy().into_owned());
    let line = line.and_then(|line| line.udata_value());
    Ok(name.map(|name| (name, file, line)))
}
