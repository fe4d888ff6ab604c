//! Expressions, settled once from their text.

use super::number::{Number, Operator, Sign, Type};
use crate::format::Field;

/// An argument of a `print fmt`, or a part of one.
#[derive(Clone, Debug)]
pub(super) enum Expression {
    Constant(Number),
    /// A string of the format's own.
    Literal(Vec<u8>),
    /// A number in the record.
    Scalar(Box<Field>, Type),
    /// A number at this byte of the record, that is no field: a certain element of an array.
    At(usize, Type),
    /// Bytes in the record, as an array in C: its elements' type, where that is known.
    Bytes(Box<Field>, Option<Type>),
    /// How many bytes those are: `__get_dynamic_array_len()`.
    Length(Box<Field>),
    Sign(Sign, Box<Self>),
    Binary(Operator, Box<[Self; 2]>),
    /// `&&` if true, or `||`.
    Logic(bool, Box<[Self; 2]>),
    /// `?:`.
    Choice(Box<[Self; 3]>),
    Cast(Type, Box<Self>),
    /// An element of bytes.
    Element(Type, Box<[Self; 2]>),
    /// `__print_flags()`, `__print_symbolic()`.
    Names(Box<Names>),
    /// `__print_hex()` with its blanks, or `__print_hex_str()` without: bytes and their number.
    Hex {
        is_spaced: bool,
        of: Box<[Self; 2]>,
    },
    /// `__print_array()`: bytes, number of elements, bytes of each.
    Array(Box<[Self; 3]>),
    /// `__print_dynamic_array()`: bytes, bytes of each element.
    WholeArray(Box<[Self; 2]>),
    /// `__get_bitmask()`, `__get_cpumask()`.
    Bitmask(Box<Self>),
}

/// A number, and the names that it or its bits have.
#[derive(Clone, Debug)]
pub(super) struct Names {
    pub(super) of: Expression,
    /// What stands between the names of bits; nothing where a number has one name.
    pub(super) delimiter: Option<Vec<u8>>,
    /// In the order of the format.
    pub(super) entries: Vec<(u64, Vec<u8>)>,
}

impl Expression {
    pub(super) fn constant(&self) -> Option<Number> {
        match self {
            Self::Constant(number) => Some(*number),
            _ => None,
        }
    }

    /// Whether it holds a `?:`.
    pub(super) fn has_choice(&self) -> bool {
        matches!(self, Self::Choice(_)) || self.parts().iter().any(Self::has_choice)
    }

    /// The parts, from left to right.
    pub(super) fn parts(&self) -> &[Self] {
        match self {
            Self::Constant(_)
            | Self::Literal(_)
            | Self::Scalar(..)
            | Self::At(..)
            | Self::Bytes(..)
            | Self::Length(_) => &[],
            Self::Sign(_, of) | Self::Cast(_, of) | Self::Bitmask(of) => std::slice::from_ref(of),
            Self::Binary(_, two)
            | Self::Logic(_, two)
            | Self::Element(_, two)
            | Self::WholeArray(two)
            | Self::Hex { of: two, .. } => two.as_slice(),
            Self::Choice(three) | Self::Array(three) => three.as_slice(),
            Self::Names(names) => std::slice::from_ref(&names.of),
        }
    }
}
