//! What a program's debugging information says of the parameters of a function.

use super::convention::{Function, Parameter, Type};
use super::elf::Binary;
use crate::elf::{self, Elf};
use gimli::{
    AttributeValue, DebuggingInformationEntry, EndianSlice, Operation, RunTimeEndian, UnitOffset,
    UnitRef,
};
use object::Object;
use std::borrow::Cow;

pub(super) type Slice<'d> = EndianSlice<'d, RunTimeEndian>;
pub(super) type Entry<'d> = DebuggingInformationEntry<Slice<'d>>;
pub(super) type Unit<'a, 'd> = UnitRef<'a, Slice<'d>>;
type Offset = UnitOffset<usize>;

/// How many types may stand for each other (`typedef`, `const`) before it is taken for a circle.
const DEEPEST: usize = 32;

impl Binary {
    /// The function that begins at an address; `None` where nothing is known of it.
    pub(super) fn function(&self, address: u64) -> Option<Function> {
        let has_own = |elf: &Elf<'_>| elf.section_by_name(".debug_info").is_some();
        let elf = self.elf().ok().filter(has_own).or_else(|| self.debug())?;
        function(&elf, address).ok().flatten()
    }
}

fn function(elf: &Elf<'_>, address: u64) -> gimli::Result<Option<Function>> {
    let sections = sections(elf)?;
    let dwarf = dwarf(elf, &sections);
    let mut units = dwarf.units();
    while let Some(header) = units.next()? {
        let unit = dwarf.unit(header)?;
        let unit = unit.unit_ref(&dwarf);
        let mut ranges = unit.unit_ranges()?;
        let mut is_here = false;
        while let Some(range) = ranges.next()? {
            is_here |= (range.begin..range.end).contains(&address);
        }
        if is_here && let Some(at) = subprogram(unit, address)? {
            return read(unit, at, address).map(Some);
        }
    }
    Ok(None)
}

/// The sections with debugging information.
pub(super) fn sections<'d>(elf: &Elf<'d>) -> gimli::Result<gimli::DwarfSections<Cow<'d, [u8]>>> {
    gimli::DwarfSections::load(|id| {
        let found = elf.section_by_name(id.name());
        let bytes = found.and_then(|section| elf::uncompressed(&section));
        gimli::Result::Ok(bytes.unwrap_or_default())
    })
}

pub(super) fn dwarf<'s>(
    elf: &Elf<'_>,
    sections: &'s gimli::DwarfSections<Cow<'_, [u8]>>,
) -> gimli::Dwarf<Slice<'s>> {
    let endian = match elf.is_little_endian() {
        true => RunTimeEndian::Little,
        false => RunTimeEndian::Big,
    };
    sections.borrow(|section| EndianSlice::new(section, endian))
}

fn subprogram(unit: Unit<'_, '_>, address: u64) -> gimli::Result<Option<Offset>> {
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs()? {
        if entry.tag() != gimli::DW_TAG_subprogram {
            continue;
        }
        if begins(unit, entry)? == Some(address) {
            return Ok(Some(entry.offset()));
        }
    }
    Ok(None)
}

/// Where the code of a function begins; `None` where an entry only describes it.
pub(super) fn begins<'d>(unit: Unit<'_, 'd>, entry: &Entry<'d>) -> gimli::Result<Option<u64>> {
    match entry.attr_value(gimli::DW_AT_low_pc) {
        Some(value) => unit.attr_address(value),
        // One in several pieces begins with the first.
        None => Ok(unit.die_ranges(entry)?.next()?.map(|range| range.begin)),
    }
}

fn read(unit: Unit<'_, '_>, at: Offset, address: u64) -> gimli::Result<Function> {
    let mut parameters = Vec::new();
    let mut tree = unit.entries_tree(Some(at))?;
    let root = tree.root()?;
    let own = root.entry().clone();
    let mut children = root.children();
    while let Some(child) = children.next()? {
        let entry = child.entry();
        if entry.tag() != gimli::DW_TAG_formal_parameter {
            continue;
        }
        parameters.push(Parameter {
            name: text(unit, entry, gimli::DW_AT_name)?,
            ty: type_of(unit, entry, 0)?,
            register: register(unit, entry, address)?,
        });
    }
    let mut of_unit = unit.entries();
    let language = match of_unit.next_dfs()? {
        Some(entry) => entry.attr_value(gimli::DW_AT_language),
        None => None,
    };
    Ok(Function {
        parameters,
        returns: type_of(unit, &own, 0)?,
        is_rust: language == Some(AttributeValue::Language(gimli::DW_LANG_Rust)),
    })
}

/// An attribute of an entry, or of what it is an instance of.
pub(super) fn attribute<'d>(
    unit: Unit<'_, 'd>,
    entry: &Entry<'d>,
    name: gimli::DwAt,
) -> gimli::Result<Option<AttributeValue<Slice<'d>>>> {
    let mut entry = entry.clone();
    for _ in 0..DEEPEST {
        if let Some(value) = entry.attr_value(name) {
            return Ok(Some(value));
        }
        let origin = entry
            .attr_value(gimli::DW_AT_abstract_origin)
            .or_else(|| entry.attr_value(gimli::DW_AT_specification));
        match origin {
            Some(AttributeValue::UnitRef(offset)) => entry = unit.entry(offset)?,
            _ => break,
        }
    }
    Ok(None)
}

pub(super) fn text<'d>(
    unit: Unit<'_, 'd>,
    entry: &Entry<'d>,
    name: gimli::DwAt,
) -> gimli::Result<Option<String>> {
    Ok(match attribute(unit, entry, name)? {
        Some(value) => Some(unit.attr_string(value)?.to_string_lossy().into_owned()),
        None => None,
    })
}

fn number<'d>(
    unit: Unit<'_, 'd>,
    entry: &Entry<'d>,
    name: gimli::DwAt,
) -> gimli::Result<Option<u64>> {
    Ok(attribute(unit, entry, name)?.and_then(|value| value.udata_value()))
}

/// The type that an entry has.
fn type_of<'d>(unit: Unit<'_, 'd>, entry: &Entry<'d>, depth: usize) -> gimli::Result<Type> {
    let value = attribute(unit, entry, gimli::DW_AT_type)?;
    match value {
        None => Ok(Type::Nothing),
        Some(AttributeValue::UnitRef(offset)) if depth < DEEPEST => {
            named(unit, &unit.entry(offset)?, depth.saturating_add(1))
        }
        Some(_) => Ok(Type::Unknown),
    }
}

/// The type that an entry is.
fn named<'d>(unit: Unit<'_, 'd>, entry: &Entry<'d>, depth: usize) -> gimli::Result<Type> {
    let size = number(unit, entry, gimli::DW_AT_byte_size)?;
    Ok(match entry.tag() {
        gimli::DW_TAG_typedef
        | gimli::DW_TAG_const_type
        | gimli::DW_TAG_volatile_type
        | gimli::DW_TAG_restrict_type
        | gimli::DW_TAG_atomic_type => type_of(unit, entry, depth)?,
        gimli::DW_TAG_pointer_type => Type::Pointer {
            is_text: is_char(unit, entry, depth)?,
        },
        gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type => {
            Type::Pointer { is_text: false }
        }
        gimli::DW_TAG_enumeration_type => match type_of(unit, entry, depth)? {
            Type::Nothing => Type::Integer {
                size: size.unwrap_or(4),
                is_signed: false,
            },
            underlying => underlying,
        },
        gimli::DW_TAG_base_type => base(unit, entry, size.unwrap_or(0))?,
        gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
            let convention = attribute(unit, entry, gimli::DW_AT_calling_convention)?;
            let by_reference = AttributeValue::CallingConvention(gimli::DW_CC_pass_by_reference);
            let mut leaves = Vec::new();
            let is_known = leaves_of(unit, entry.offset(), 0, depth, &mut leaves)?;
            Type::Aggregate {
                size: size.unwrap_or(0),
                leaves: is_known.then_some(leaves),
                by_reference: convention == Some(by_reference),
            }
        }
        _ => Type::Unknown,
    })
}

fn base<'d>(unit: Unit<'_, 'd>, entry: &Entry<'d>, size: u64) -> gimli::Result<Type> {
    let encoding = match attribute(unit, entry, gimli::DW_AT_encoding)? {
        Some(AttributeValue::Encoding(encoding)) => encoding,
        _ => return Ok(Type::Unknown),
    };
    Ok(match encoding {
        gimli::DW_ATE_signed | gimli::DW_ATE_signed_char => Type::Integer {
            size,
            is_signed: true,
        },
        gimli::DW_ATE_unsigned
        | gimli::DW_ATE_unsigned_char
        | gimli::DW_ATE_boolean
        | gimli::DW_ATE_UTF => Type::Integer {
            size,
            is_signed: false,
        },
        gimli::DW_ATE_float => Type::Float { size },
        _ => Type::Unknown,
    })
}

/// Whether a pointer points to characters of the C language.
fn is_char<'d>(unit: Unit<'_, 'd>, pointer: &Entry<'d>, depth: usize) -> gimli::Result<bool> {
    let mut entry = pointer.clone();
    for _ in depth..DEEPEST {
        let Some(AttributeValue::UnitRef(offset)) = attribute(unit, &entry, gimli::DW_AT_type)?
        else {
            return Ok(false);
        };
        entry = unit.entry(offset)?;
        match entry.tag() {
            gimli::DW_TAG_typedef | gimli::DW_TAG_const_type | gimli::DW_TAG_volatile_type => {}
            gimli::DW_TAG_base_type => {
                return Ok(text(unit, &entry, gimli::DW_AT_name)?.as_deref() == Some("char"));
            }
            _ => return Ok(false),
        }
    }
    Ok(false)
}

/// Where the numbers and addresses lie that a structure is made of, and which of them are floats.
/// Says whether all are known.
fn leaves_of(
    unit: Unit<'_, '_>,
    at: Offset,
    behind: u64,
    depth: usize,
    leaves: &mut Vec<(u64, bool)>,
) -> gimli::Result<bool> {
    let mut tree = unit.entries_tree(Some(at))?;
    let mut children = tree.root()?.children();
    while let Some(child) = children.next()? {
        let entry = child.entry();
        let is_part = matches!(
            entry.tag(),
            gimli::DW_TAG_member | gimli::DW_TAG_inheritance
        );
        let is_static = entry.attr_value(gimli::DW_AT_external).is_some();
        if !is_part || is_static {
            if entry.tag() == gimli::DW_TAG_variant_part {
                return Ok(false);
            }
            continue;
        }
        let place = number(unit, entry, gimli::DW_AT_data_member_location)?;
        let place = behind.saturating_add(place.unwrap_or(0));
        match type_of(unit, entry, depth)? {
            Type::Integer { .. } | Type::Pointer { .. } => leaves.push((place, false)),
            Type::Float { .. } => leaves.push((place, true)),
            Type::Aggregate {
                leaves: Some(inner),
                ..
            } => leaves.extend(
                inner
                    .into_iter()
                    .map(|(at, is_float)| (place.saturating_add(at), is_float)),
            ),
            Type::Aggregate { .. } | Type::Nothing | Type::Unknown => return Ok(false),
        }
    }
    Ok(true)
}

/// The register that a parameter is in where the function begins, where a compiler that optimises
/// says so.
fn register<'d>(unit: Unit<'_, 'd>, entry: &Entry<'d>, address: u64) -> gimli::Result<Option<u16>> {
    let Some(value) = entry.attr_value(gimli::DW_AT_location) else {
        return Ok(None);
    };
    let Some(mut locations) = unit.attr_locations(value)? else {
        return Ok(None);
    };
    while let Some(location) = locations.next()? {
        if !(location.range.begin..location.range.end).contains(&address) {
            continue;
        }
        let mut operations = location.data.operations(unit.encoding());
        let first = operations.next()?;
        let is_alone = operations.next()?.is_none();
        if let (Some(Operation::Register { register }), true) = (first, is_alone) {
            return Ok(Some(register.0));
        }
    }
    Ok(None)
}
