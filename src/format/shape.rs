//! The meaning of a field's bytes, settled once from its declaration.

use super::ctype::{self, Known};

/// How the bytes of a field are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A number in the fixed part of the record.
    Integer(Integer),
    /// An address of that width; what it points to is not in the record.
    Pointer(Width),
    /// Bytes that lie where `Extent` says and hold what `Content` says.
    Block(Extent, Content),
}

/// A number: the bytes it is given, and the part of them that carries it.
///
/// The two differ for arguments of system calls: each has a slot of a whole register, of which the kernel uses only
/// what the argument's C type holds (`__SC_CAST` in `include/linux/syscalls.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Integer {
    /// Bytes in the record.
    pub slot: Width,
    /// Low-order bytes of the slot that carry the value; never wider than `slot`.
    pub width: Width,
    /// Whether the top bit of those is a sign.
    pub signed: bool,
}

/// The size of a machine integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    /// One byte.
    W1,
    /// Two bytes.
    W2,
    /// Four bytes.
    W4,
    /// Eight bytes.
    W8,
}

impl Width {
    /// The width of that many bytes, if integers come in it.
    #[must_use]
    pub const fn of(bytes: usize) -> Option<Self> {
        Some(match bytes {
            1 => Self::W1,
            2 => Self::W2,
            4 => Self::W4,
            8 => Self::W8,
            _ => return None,
        })
    }

    /// The number of bytes.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::W1 => 1,
            Self::W2 => 2,
            Self::W4 => 4,
            Self::W8 => 8,
        }
    }
}

/// Where the bytes of a block lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// At the field's own offset, as many as its size.
    Fixed,
    /// From the field's own offset to the end of the payload, alignment padding included: a flexible array.
    Trailing,
    /// `__data_loc`: a `u32` whose low half is an offset from the start of the record, whose high half a length.
    DataLoc,
    /// `__rel_loc`: the same, but the offset counts from the end of that `u32`.
    RelLoc,
}

/// What the bytes of a block hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Text that ends at the first NUL, or with the block.
    Text,
    /// Unsigned or structured bytes without a meaning known here: `u8[16]`, `uuid_t`, `struct` values.
    Bytes,
    /// Equal elements, back to back.
    Array(Element),
    /// A bit for each CPU, in words of the kernel's `unsigned long`.
    CpuMask,
}

/// One element of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// A number that fills its bytes.
    Integer {
        /// Bytes of each.
        width: Width,
        /// Whether the top bit is a sign.
        signed: bool,
    },
    /// An address.
    Pointer(Width),
}

impl Element {
    /// The size of one element.
    #[must_use]
    pub const fn width(self) -> Width {
        match self {
            Self::Integer { width, .. } | Self::Pointer(width) => width,
        }
    }
}

/// A field's declaration, taken apart: `char comm[16]` is base `char`, dimension `16`.
pub(super) struct Declaration<'a> {
    /// `__data_loc` or `__rel_loc`, if the declaration begins with one.
    pub(super) locator: Option<Extent>,
    /// The C type without locator and dimension.
    pub(super) base: &'a str,
    /// The text between the brackets, empty for `[]`.
    pub(super) dimension: Option<&'a str>,
}

/// The shape of a field so declared, of `size` bytes, with the file's `signed` flag.
pub(super) fn classify(declaration: &Declaration<'_>, size: usize, signed: bool) -> Shape {
    let is_flexible = size == 0;
    match (declaration.locator, declaration.dimension) {
        // `__data_loc char[][2]`, strings of a kprobe: locators in a row, which nothing here follows.
        (Some(_), Some(dimension)) if dimension.contains('[') => {
            Shape::Block(Extent::Fixed, Content::Bytes)
        }
        (Some(extent), _) => Shape::Block(extent, content(declaration, None, signed)),
        (None, Some(_)) if is_flexible => {
            Shape::Block(Extent::Trailing, content(declaration, None, signed))
        }
        // Dynamic events print `[]` for arrays of a fixed size too (since 5.19): the size decides.
        (None, Some(_)) => Shape::Block(Extent::Fixed, content(declaration, Some(size), signed)),
        (None, None) => scalar(declaration.base, size, signed),
    }
}

fn scalar(base: &str, size: usize, signed: bool) -> Shape {
    let opaque = Shape::Block(Extent::Fixed, Content::Bytes);
    let Some(slot) = Width::of(size) else {
        return opaque;
    };
    match ctype::known(base) {
        Known::Structure => opaque,
        Known::CpuMask => Shape::Block(Extent::Fixed, Content::CpuMask),
        Known::Pointer => Shape::Pointer(slot),
        // Only in a wider slot does the type know better than the file: the flag describes the slot.
        Known::Integer(width, of_type) if width < slot => Shape::Integer(Integer {
            slot,
            width,
            signed: of_type,
        }),
        Known::Integer(..) | Known::Character | Known::Nothing => Shape::Integer(Integer {
            slot,
            width: slot,
            signed,
        }),
    }
}

/// What an array of `declaration.base` holds, whose bytes number `size` if that is fixed.
fn content(declaration: &Declaration<'_>, size: Option<usize>, signed: bool) -> Content {
    let by_name = ctype::known(declaration.base);
    // A dimension that is a number tells the width without knowing the type; some are expressions or enumerators.
    let by_division = || {
        let count: usize = declaration.dimension?.parse().ok()?;
        let bytes = size?.checked_div(count)?;
        (bytes.checked_mul(count) == size).then_some(bytes)
    };
    let width = match by_name {
        Known::Character => return Content::Text,
        Known::CpuMask => return Content::CpuMask,
        Known::Structure => return Content::Bytes,
        Known::Pointer => {
            let width = by_division().and_then(Width::of).unwrap_or(Width::W8);
            return Content::Array(Element::Pointer(width));
        }
        Known::Integer(width, _) => by_division().map_or(Some(width), Width::of),
        Known::Nothing => by_division().and_then(Width::of),
    };
    match width {
        None => Content::Bytes,
        Some(Width::W1) if !signed => Content::Bytes,
        Some(width) => Content::Array(Element::Integer { width, signed }),
    }
}
