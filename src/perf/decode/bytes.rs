//! The one place that knows the byte order.

use crate::format::Width;

/// The integer of that width at `offset`, zero-extended; nothing unless all of it lies in `bytes`.
pub(super) fn integer(bytes: &[u8], offset: usize, width: Width) -> Option<u64> {
    let at_offset = bytes.get(offset..)?;
    Some(match width {
        Width::W1 => u64::from(*at_offset.first()?),
        Width::W2 => u64::from(u16::from_le_bytes(*at_offset.first_chunk()?)),
        Width::W4 => u64::from(u32::from_le_bytes(*at_offset.first_chunk()?)),
        Width::W8 => u64::from_le_bytes(*at_offset.first_chunk()?),
    })
}

/// The low `width` of `value`, without what stands above it.
pub(super) fn truncate(value: u64, width: Width) -> u64 {
    match width {
        Width::W1 => value & 0xff,
        Width::W2 => value & 0xffff,
        Width::W4 => value & 0xffff_ffff,
        Width::W8 => value,
    }
}

/// The low `width` of `value`, its top bit carried upwards.
pub(super) fn sign_extend(value: u64, width: Width) -> i64 {
    let [b0, b1, b2, b3, ..] = value.to_le_bytes();
    match width {
        Width::W1 => i64::from(i8::from_le_bytes([b0])),
        Width::W2 => i64::from(i16::from_le_bytes([b0, b1])),
        Width::W4 => i64::from(i32::from_le_bytes([b0, b1, b2, b3])),
        Width::W8 => value.cast_signed(),
    }
}
