//! The meaning of a field's bytes, settled once from its declaration.

use super::ctype::{self, Known};
use super::declaration::Declaration;

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
/// The two differ for arguments of system calls: each has a slot of a whole register, of which the
/// kernel uses only what the argument's C type holds (`__SC_CAST` in `include/linux/syscalls.h`).
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
    /// From the field's own offset to the end of the payload, alignment padding included: a
    /// flexible array.
    Trailing,
    /// `__data_loc`: a `u32` whose low half is an offset from the start of the record, whose high
    /// half a length.
    DataLoc,
    /// `__rel_loc`: the same, but the offset counts from the end of that `u32`.
    RelLoc,
}

/// What the bytes of a block hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Text that ends at the first NUL, or with the block.
    Text,
    /// Unsigned or structured bytes without a meaning known here: `u8[16]`, `uuid_t`, `struct`
    /// values.
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

/// The shape of a field so declared, of `size` bytes, with the file's `signed` flag.
pub(super) fn classify(declaration: &Declaration<'_>, size: usize, signed: bool) -> Shape {
    let is_flexible = size == 0;
    match (declaration.locator, declaration.dimension) {
        // `__data_loc char[][2]`, strings of a kprobe: locators in a row, which nothing here
        // follows.
        (Some(_), Some(dimension)) if dimension.contains('[') => {
            Shape::Block(Extent::Fixed, Content::Bytes)
        }
        (Some(extent), _) => Shape::Block(extent, content(declaration, None, signed)),
        (None, Some(_)) if is_flexible => {
            Shape::Block(Extent::Trailing, content(declaration, None, signed))
        }
        // Events of a probe print `[]` for arrays of a fixed size too (seen in v6.1, not in
        // v5.10): the size decides.
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
        // The type knows better than the flag, which describes the slot: an `off_t` argument is
        // flagged unsigned.
        Known::Integer(width, of_type) => Shape::Integer(Integer {
            slot,
            width: width.min(slot),
            signed: of_type.unwrap_or(signed),
        }),
        Known::Character | Known::Nothing => Shape::Integer(Integer {
            slot,
            width: slot,
            signed,
        }),
    }
}

/// What an array of `declaration.base` holds, whose bytes number `size` if that is fixed.
fn content(declaration: &Declaration<'_>, size: Option<usize>, signed: bool) -> Content {
    let by_name = ctype::known(declaration.base);
    // A dimension that is a number tells the width without knowing the type; some are expressions
    // or enumerators.
    let by_division = || {
        let count: usize = declaration.dimension?.parse().ok()?;
        let bytes = size?.checked_div(count)?;
        (bytes.checked_mul(count) == size).then_some(bytes)
    };
    let (width, signed) = match by_name {
        Known::Character => return Content::Text,
        Known::CpuMask => return Content::CpuMask,
        Known::Structure => return Content::Bytes,
        Known::Pointer => {
            let width = by_division().and_then(Width::of).unwrap_or(Width::W8);
            return Content::Array(Element::Pointer(width));
        }
        Known::Integer(width, of_type) => {
            let width = by_division().map_or(Some(width), Width::of);
            (width, of_type.unwrap_or(signed))
        }
        Known::Nothing => (by_division().and_then(Width::of), signed),
    };
    match width {
        None => Content::Bytes,
        Some(Width::W1) if !signed => Content::Bytes,
        Some(width) => Content::Array(Element::Integer { width, signed }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::captured::{Captured, format_text};
    use crate::format::parse;

    fn shape(event: &Captured, field: &str) -> Shape {
        event.field(field).shape
    }

    fn integers(width: Width, signed: bool) -> Content {
        Content::Array(Element::Integer { width, signed })
    }

    #[test]
    fn text_is_located_by_data_loc() {
        let exec = captured!("sched.sched_process_exec");
        assert_eq!(
            shape(&exec, "filename"),
            Shape::Block(Extent::DataLoc, Content::Text)
        );
    }

    #[test]
    fn both_locators_are_understood_wherever_the_brackets_stand() {
        let event = captured!("harness_locators.harness_located@6.1");
        for (prefix, extent) in [("data", Extent::DataLoc), ("rel", Extent::RelLoc)] {
            let of = |suffix: &str| shape(&event, &format!("{prefix}_{suffix}"));
            assert_eq!(of("text"), Shape::Block(extent, Content::Text));
            assert_eq!(of("bits"), Shape::Block(extent, integers(Width::W8, false)));
            assert_eq!(of("cpus"), Shape::Block(extent, Content::CpuMask));
        }
        let numbers = |field, extent, width| {
            assert_eq!(
                shape(&event, field),
                Shape::Block(extent, integers(width, true))
            );
        };
        numbers("data_numbers", Extent::DataLoc, Width::W2);
        numbers("rel_numbers", Extent::RelLoc, Width::W4);
        assert_eq!(event.field("rel_text").c_type, "__rel_loc char[]");
    }

    #[test]
    fn what_a_call_writes_is_bytes_although_declared_as_text() {
        let write = captured!("syscalls.sys_enter_write@7.2");
        assert_eq!(
            shape(&write, "__buf_val"),
            Shape::Block(Extent::DataLoc, Content::Bytes)
        );
        let openat = captured!("syscalls.sys_enter_openat@7.2");
        assert_eq!(
            shape(&openat, "__filename_val"),
            Shape::Block(Extent::DataLoc, Content::Text)
        );
    }

    #[test]
    fn an_argument_is_as_wide_as_its_type_and_not_as_its_slot() {
        let openat = captured!("syscalls.sys_enter_openat");
        let argument = |width, signed| {
            Shape::Integer(Integer {
                slot: Width::W8,
                width,
                signed,
            })
        };
        assert_eq!(
            (openat.field("dfd").size, openat.field("dfd").signed),
            (8, false)
        );
        assert_eq!(shape(&openat, "dfd"), argument(Width::W4, true));
        assert_eq!(shape(&openat, "mode"), argument(Width::W2, false));
        assert_eq!(shape(&openat, "filename"), Shape::Pointer(Width::W8));
    }

    #[test]
    fn the_sign_is_that_of_the_type_where_the_flag_denies_it() {
        let lseek = captured!("syscalls.sys_enter_lseek");
        let offset = lseek.field("offset");
        assert_eq!((offset.c_type.as_str(), offset.signed), ("off_t", false));
        let integer = Integer {
            slot: Width::W8,
            width: Width::W8,
            signed: true,
        };
        assert_eq!(offset.shape, Shape::Integer(integer));
    }

    #[test]
    fn fixed_arrays_keep_the_width_of_their_elements() {
        let args = shape(&captured!("raw_syscalls.sys_enter"), "args");
        assert_eq!(
            args,
            Shape::Block(Extent::Fixed, integers(Width::W8, false))
        );
        let comm = shape(&captured!("sched.sched_switch"), "prev_comm");
        assert_eq!(comm, Shape::Block(Extent::Fixed, Content::Text));
        let address = shape(&captured!("sock.inet_sock_set_state"), "saddr");
        assert_eq!(address, Shape::Block(Extent::Fixed, Content::Bytes));
    }

    #[test]
    fn an_array_without_dimension_but_with_a_size_is_fixed() {
        let probe = captured!("harness.kprobe@6.1");
        let words = probe.field("words");
        assert_eq!((words.c_type.as_str(), words.size), ("u64[]", 16));
        assert_eq!(
            words.shape,
            Shape::Block(Extent::Fixed, integers(Width::W8, false))
        );
    }

    #[test]
    fn an_array_of_locators_and_a_structure_stay_bytes() {
        let opaque = Shape::Block(Extent::Fixed, Content::Bytes);
        assert_eq!(shape(&captured!("harness.kprobe@6.1"), "strings"), opaque);
        assert_eq!(
            shape(&captured!("harness_locators.harness_located@6.1"), "pair"),
            opaque
        );
    }

    #[test]
    fn a_misspelt_locator_is_not_taken_for_one() {
        let exec = include_str!("../../../harness/fixtures/payloads/sched.sched_process_exec.txt");
        let text = format_text(exec).replace("__data_loc", "__dyn_loc");
        let format = parse(&text).expect("unknown types are no error");
        let shape = format.field("filename").map(|field| field.shape);
        assert_eq!(shape, Some(Shape::Block(Extent::Fixed, Content::Bytes)));
    }
}
