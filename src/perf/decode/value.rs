//! What a field holds.

use std::slice::ChunksExact;

use super::bytes;
use crate::format::{Element, Width};

/// The value of one field; it borrows from the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// A number with a sign.
    Signed(i64),
    /// A number without one.
    Unsigned(u64),
    /// An address.
    Pointer(u64),
    /// Text without its NUL, in whatever encoding the traced program used.
    Text(&'a [u8]),
    /// Bytes without a known meaning.
    Bytes(&'a [u8]),
    /// Numbers or addresses in a row.
    Array(Array<'a>),
    /// A set of CPUs.
    CpuMask(CpuMask<'a>),
}

impl Value<'_> {
    /// The number, if this is one and an `i64` can hold it.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Self::Signed(value) => Some(value),
            Self::Unsigned(value) | Self::Pointer(value) => value.try_into().ok(),
            _ => None,
        }
    }

    /// The number or address, if this is one and not negative.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match *self {
            Self::Signed(value) => value.try_into().ok(),
            Self::Unsigned(value) | Self::Pointer(value) => Some(value),
            _ => None,
        }
    }
}

/// Elements in a row, decoded as they are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Array<'a> {
    element: Element,
    /// A whole number of elements.
    bytes: &'a [u8],
}

impl<'a> Array<'a> {
    /// Nothing if the last element would be cut.
    pub(super) fn new(element: Element, bytes: &'a [u8]) -> Option<Self> {
        let remainder = bytes.len().checked_rem(element.width().bytes());
        (remainder == Some(0)).then_some(Self { element, bytes })
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.iter().len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The element at `index` counted from 0, widened to 64 bits: a sign is carried upwards.
    #[must_use]
    pub fn bits(&self, index: usize) -> Option<u64> {
        let width = self.element.width();
        let bits = bytes::integer(self.bytes, index.checked_mul(width.bytes())?, width)?;
        Some(match self.element {
            Element::Integer { signed: true, .. } => {
                bytes::sign_extend(bits, width).cast_unsigned()
            }
            Element::Integer { .. } | Element::Pointer(_) => bits,
        })
    }

    /// The elements, each [`Value::Signed`], [`Value::Unsigned`] or [`Value::Pointer`].
    #[must_use]
    pub fn iter(&self) -> ArrayIter<'a> {
        ArrayIter {
            element: self.element,
            chunks: self.bytes.chunks_exact(self.element.width().bytes()),
        }
    }
}

impl<'a> IntoIterator for &Array<'a> {
    type Item = Value<'a>;
    type IntoIter = ArrayIter<'a>;

    fn into_iter(self) -> ArrayIter<'a> {
        self.iter()
    }
}

/// The elements of an [`Array`].
#[derive(Debug, Clone)]
pub struct ArrayIter<'a> {
    element: Element,
    chunks: ChunksExact<'a, u8>,
}

impl<'a> Iterator for ArrayIter<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        let width = self.element.width();
        let bits = bytes::integer(self.chunks.next()?, 0, width)?;
        Some(match self.element {
            Element::Integer { signed: true, .. } => Value::Signed(bytes::sign_extend(bits, width)),
            Element::Integer { signed: false, .. } => Value::Unsigned(bits),
            Element::Pointer(_) => Value::Pointer(bits),
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.chunks.size_hint()
    }
}

impl ExactSizeIterator for ArrayIter<'_> {}

/// A set of CPUs, `cpumask_t`: bit 0 of the first word stands for CPU 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuMask<'a> {
    words: Array<'a>,
}

impl<'a> CpuMask<'a> {
    /// The kernel's `unsigned long`.
    pub(super) const WORD: Element = Element::Integer {
        width: Width::W8,
        signed: false,
    };

    pub(super) fn new(words: Array<'a>) -> Self {
        Self { words }
    }

    /// The CPUs of the set, in ascending order.
    pub fn cpus(&self) -> impl Iterator<Item = usize> + use<'a> {
        self.words
            .bytes
            .iter()
            .enumerate()
            .flat_map(|(index, byte)| {
                let bits = (0..8_usize).filter(move |bit| byte.unbounded_shr(*bit as u32) & 1 == 1);
                bits.map(move |bit| index.saturating_mul(8).saturating_add(bit))
            })
    }
}
