//! The payload of a tracepoint of the other byte order, turned in place: its format tells what is a
//! number, and of which width.

use super::Meta;
use crate::attr::StoredAttr;
use crate::format::{Content, Extent, Field, Format, Shape, parse};
use std::collections::BTreeMap;
use std::ops::Range;

/// The formats of the tracepoints that came so far, by id; `None` where there is none, or it makes
/// no sense.
#[derive(Debug, Default)]
pub(super) struct Formats {
    by_id: BTreeMap<u64, Option<Format>>,
    revision: u64,
}

impl Formats {
    /// Turns the payload of a sample, by the format of its event. One without a format stays as it
    /// is.
    pub(super) fn turn(&mut self, payload: &mut [u8], attr: &StoredAttr, meta: &Meta) {
        let Some(tracing) = meta.tracing.as_ref().filter(|_| attr.kind == TRACEPOINT) else {
            return;
        };
        if self.revision != meta.revision {
            self.by_id.clear();
            self.revision = meta.revision;
        }
        let format = self.by_id.entry(attr.config).or_insert_with(|| {
            let (_, text) = tracing.format_of(attr.config)?;
            parse(text).ok()
        });
        let Some(format) = format else { return };
        for field in format.common.iter().chain(&format.fields) {
            turn(payload, field, tracing.long_size.into());
        }
    }
}

/// `PERF_TYPE_TRACEPOINT`.
const TRACEPOINT: u32 = 2;

fn turn(payload: &mut [u8], field: &Field, long: usize) {
    let own = field.offset..field.offset.saturating_add(field.size);
    let (extent, content) = match field.shape {
        Shape::Integer(integer) => return numbers(payload, own, integer.slot.bytes()),
        Shape::Pointer(width) => return numbers(payload, own, width.bytes()),
        Shape::Block(extent, content) => (extent, content),
    };
    let range = match extent {
        Extent::Fixed => own,
        Extent::Trailing => field.offset..payload.len(),
        Extent::DataLoc | Extent::RelLoc => {
            numbers(payload, own.clone(), 4);
            let Some(locator) = payload.get(own.clone()).and_then(<[u8]>::first_chunk) else {
                return;
            };
            let [low, high] = halves(u32::from_ne_bytes(*locator));
            let base = if extent == Extent::RelLoc { own.end } else { 0 };
            let start = base.saturating_add(low);
            start..start.saturating_add(high)
        }
    };
    match content {
        Content::Text | Content::Bytes => {}
        Content::Array(element) => numbers(payload, range, element.width().bytes()),
        Content::CpuMask => numbers(payload, range, long),
    }
}

/// A place and a length.
fn halves(locator: u32) -> [usize; 2] {
    [
        (locator & 0xffff) as usize,
        locator.wrapping_shr(16) as usize,
    ]
}

fn numbers(payload: &mut [u8], range: Range<usize>, width: usize) {
    let bytes = payload.get_mut(range).unwrap_or_default();
    if width > 1 {
        bytes.chunks_exact_mut(width).for_each(<[u8]>::reverse);
    }
}
