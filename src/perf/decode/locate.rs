//! Where in a payload a field's bytes lie: every access of a payload is here.

use super::bytes;
use super::error::Fault;
use crate::format::{Extent, Field, Width};

/// The unsigned integer of that width at the field's own offset.
pub(super) fn raw(payload: &[u8], field: &Field, width: Width) -> Result<u64, Fault> {
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
pub(super) fn block<'a>(
    payload: &'a [u8],
    field: &Field,
    extent: Extent,
) -> Result<&'a [u8], Fault> {
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

/// What a locator points to: its low half is an offset from `origin`, its high half a length
/// (`__dynamic_array` and `__rel_dynamic_array` of `include/trace/stages/stage5_get_offsets.h`,
/// v6.1).
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
