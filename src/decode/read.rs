//! From a payload and a field to its value.

use super::bytes;
use super::value::{Array, CpuMask, Value};
use crate::format::{Content, Element, Extent, Field, Format, Integer, Shape, Width};

/// Why a field's value could not be had from a payload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("field `{field}`: {fault}")]
pub struct DecodeError {
    /// The field's name.
    pub field: String,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What can be wrong with a field of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The payload ends before the field does.
    #[error("{size} bytes at offset {offset}, in a payload of {payload}")]
    BeyondPayload {
        /// Where the field begins.
        offset: usize,
        /// How many bytes it has.
        size: usize,
        /// How many bytes the payload has.
        payload: usize,
    },
    /// A locator points out of the payload.
    #[error("located at {length} bytes from offset {offset}, in a payload of {payload}")]
    LocatedBeyondPayload {
        /// From the start of the payload.
        offset: usize,
        /// As the locator says.
        length: usize,
        /// How many bytes the payload has.
        payload: usize,
    },
    /// The bytes of an array are no whole number of elements.
    #[error("{length} bytes are no whole number of elements of {element} bytes")]
    CutElement {
        /// How many bytes there are.
        length: usize,
        /// The size of one element.
        element: usize,
    },
    /// The field does not hold what the caller asks for.
    #[error("the format does not declare it as {wanted}")]
    WrongShape {
        /// What it was asked for.
        wanted: &'static str,
    },
}

/// The value of `field` in `payload`.
///
/// # Errors
///
/// Where not all bytes of the value lie in the payload, or an array's last element is cut.
pub fn field<'a>(payload: &'a [u8], field: &Field) -> Result<Value<'a>, DecodeError> {
    let value = match field.shape {
        Shape::Integer(integer) => {
            number(payload, field, integer).map(|bits| match integer.signed {
                true => Value::Signed(bits.cast_signed()),
                false => Value::Unsigned(bits),
            })
        }
        Shape::Pointer(width) => raw(payload, field, width).map(Value::Pointer),
        Shape::Block(extent, content) => {
            block(payload, field, extent).and_then(|bytes| interpret(bytes, content))
        }
    };
    value.map_err(|fault| named(field, fault))
}

/// Every field of the event's own with its value, in the order of the format.
pub fn fields<'a, 'f>(
    payload: &'a [u8],
    format: &'f Format,
) -> impl Iterator<Item = (&'f Field, Result<Value<'a>, DecodeError>)> {
    let own = format.fields.iter();
    own.map(move |own| (own, field(payload, own)))
}

/// The integer or address of `field`, widened to 64 bits: a sign is carried upwards. For paths that run per record.
///
/// # Errors
///
/// Where it does not lie in the payload, or the field is neither integer nor pointer.
pub fn bits(payload: &[u8], field: &Field) -> Result<u64, DecodeError> {
    let bits = match field.shape {
        Shape::Integer(integer) => number(payload, field, integer),
        Shape::Pointer(width) => raw(payload, field, width),
        Shape::Block(..) => Err(Fault::WrongShape { wanted: "a number" }),
    };
    bits.map_err(|fault| named(field, fault))
}

/// The text of `field` without its NUL.
///
/// # Errors
///
/// Where it does not lie in the payload, or the field is not text.
pub fn text<'a>(payload: &'a [u8], field: &Field) -> Result<&'a [u8], DecodeError> {
    let text = match field.shape {
        Shape::Block(extent, Content::Text) => block(payload, field, extent).map(until_nul),
        _ => Err(Fault::WrongShape { wanted: "text" }),
    };
    text.map_err(|fault| named(field, fault))
}

/// The elements of `field`: `args` of `raw_syscalls:sys_enter`.
///
/// # Errors
///
/// Where they do not all lie in the payload, or the field is no array of numbers.
pub fn array<'a>(payload: &'a [u8], field: &Field) -> Result<Array<'a>, DecodeError> {
    let array = match field.shape {
        Shape::Block(extent, Content::Array(element)) => {
            block(payload, field, extent).and_then(|bytes| elements(bytes, element))
        }
        _ => Err(Fault::WrongShape { wanted: "an array" }),
    };
    array.map_err(|fault| named(field, fault))
}

#[cold]
fn named(field: &Field, fault: Fault) -> DecodeError {
    DecodeError {
        field: field.name.clone(),
        fault,
    }
}

/// The value of an integer, widened to 64 bits.
fn number(payload: &[u8], field: &Field, integer: Integer) -> Result<u64, Fault> {
    let bits = raw(payload, field, integer.slot)?;
    Ok(match integer.signed {
        true => bytes::sign_extend(bits, integer.width).cast_unsigned(),
        false => bytes::truncate(bits, integer.width),
    })
}

fn raw(payload: &[u8], field: &Field, width: Width) -> Result<u64, Fault> {
    let bits = bytes::integer(payload, field.offset, width);
    bits.ok_or_else(|| beyond(payload, field, width.bytes()))
}

fn beyond(payload: &[u8], field: &Field, size: usize) -> Fault {
    Fault::BeyondPayload {
        offset: field.offset,
        size,
        payload: payload.len(),
    }
}

/// The bytes of a block, wherever its extent says that they lie.
fn block<'a>(payload: &'a [u8], field: &Field, extent: Extent) -> Result<&'a [u8], Fault> {
    let from_offset = || payload.get(field.offset..);
    let bytes = match extent {
        Extent::Fixed => from_offset().and_then(|bytes| bytes.get(..field.size)),
        Extent::Trailing => from_offset(),
        Extent::DataLoc => return located(payload, field, 0),
        Extent::RelLoc => {
            return located(
                payload,
                field,
                field.offset.saturating_add(size_of::<u32>()),
            );
        }
    };
    bytes.ok_or_else(|| beyond(payload, field, field.size))
}

/// What a locator points to: its low half is an offset from `origin`, its high half a length (`__dynamic_array` and
/// `__rel_dynamic_array` of `include/trace/stages/stage5_get_offsets.h`, v6.1).
fn located<'a>(payload: &'a [u8], field: &Field, origin: usize) -> Result<&'a [u8], Fault> {
    let locator = raw(payload, field, Width::W4)?;
    let [low, high] = [locator, locator.wrapping_shr(16)].map(|half| usize::from(half as u16));
    let offset = origin.saturating_add(low);
    let bytes = payload.get(offset..).and_then(|bytes| bytes.get(..high));
    bytes.ok_or(Fault::LocatedBeyondPayload {
        offset,
        length: high,
        payload: payload.len(),
    })
}

fn interpret(bytes: &[u8], content: Content) -> Result<Value<'_>, Fault> {
    Ok(match content {
        Content::Text => Value::Text(until_nul(bytes)),
        Content::Bytes => Value::Bytes(bytes),
        Content::Array(element) => Value::Array(elements(bytes, element)?),
        Content::CpuMask => Value::CpuMask(CpuMask::new(elements(bytes, CpuMask::WORD)?)),
    })
}

fn elements(bytes: &[u8], element: Element) -> Result<Array<'_>, Fault> {
    Array::new(element, bytes).ok_or(Fault::CutElement {
        length: bytes.len(),
        element: element.width().bytes(),
    })
}

/// The length in a locator counts the NUL, that of a fixed array what lies behind it too.
fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or(bytes)
}
