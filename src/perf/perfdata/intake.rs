//! What records of the tool's own say: in a pipe they take the place of a file's attributes and
//! features.

use super::header::Numbers;
use super::meta::{Meta, tracing};
use super::{Feature, ReadError, own};
use crate::attr::StoredAttr;
use crate::record::{HEADER_SIZE, Header};

/// `PERF_EVENT_UPDATE__NAME`.
const EVENT_UPDATE_NAME: u64 = 2;

/// All numbers are in this machine's order by now.
const NATIVE: Numbers = Numbers::new(false);

impl Meta {
    /// Takes in what a record at this place says, and what follows it outside of its size.
    pub(super) fn take_in(
        &mut self,
        record: &[u8],
        trailing: &[u8],
        at: u64,
    ) -> Result<(), ReadError> {
        let header = Header::from_bytes(record.first_chunk().copied().unwrap_or_default());
        if header.kind < own::FIRST {
            self.settle();
            return Ok(());
        }
        let body = record.get(HEADER_SIZE..).unwrap_or_default();
        match header.kind {
            own::ATTR if self.is_pipe => {
                let (attr, ids) = attribute(body, at)?;
                self.add_event(attr, ids);
            }
            own::TRACING_DATA if self.is_pipe => {
                let at = at.saturating_add(record.len() as u64);
                self.set_tracing(tracing(trailing, at)?);
            }
            // One without contents marks the end of them.
            own::FEATURE if self.is_pipe && body.len() > 8 => {
                let number = u32::try_from(NATIVE.u64(body, 0)).unwrap_or(u32::MAX);
                let bytes = body.get(8..).unwrap_or_default().to_vec();
                self.add_feature(Feature(number), bytes);
            }
            own::BUILD_ID if self.is_pipe => self.add_build_id(record),
            own::EVENT_UPDATE if NATIVE.u64(body, 0) == EVENT_UPDATE_NAME => {
                let name = body.get(16..).unwrap_or_default();
                let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
                let name = String::from_utf8_lossy(name).into_owned();
                self.set_name(NATIVE.u64(body, 8), name);
            }
            _ => {}
        }
        Ok(())
    }
}

/// The attribute and the ids of a record of type [`own::ATTR`].
fn attribute(body: &[u8], at: u64) -> Result<(StoredAttr, Vec<u64>), ReadError> {
    // The first attributes had no size, and were the shortest.
    let said = match NATIVE.u32(body, 4) {
        0 => 64,
        said => usize::try_from(said).unwrap_or(usize::MAX),
    };
    let (attr, ids) = body.split_at_checked(said).unwrap_or((body, &[]));
    let attr =
        StoredAttr::from_bytes(attr, false).map_err(|source| ReadError::Attr { at, source })?;
    let ids = ids.chunks_exact(8).map(|id| NATIVE.u64(id, 0)).collect();
    Ok((attr, ids))
}

/// What a compressed record holds; `None` of any other.
pub(super) fn packed(record: &[u8], at: u64) -> Result<Option<&[u8]>, ReadError> {
    let header = Header::from_bytes(record.first_chunk().copied().unwrap_or_default());
    let body = record.get(HEADER_SIZE..).unwrap_or_default();
    match header.kind {
        own::COMPRESSED => Ok(Some(body)),
        own::COMPRESSED2 => {
            let said = NATIVE.u64(body, 0);
            let rest = body.get(8..).unwrap_or_default();
            let packed = usize::try_from(said).ok().and_then(|size| rest.get(..size));
            let what = "the size of what is compressed in the record";
            packed.map(Some).ok_or(ReadError::Value { at, what, said })
        }
        _ => Ok(None),
    }
}
