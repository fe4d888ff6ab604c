//! Records of a tool on a machine of the other byte order, turned to this one's in place
//! (`perf_event__swap_ops`, `tools/perf/util/session.c`).

use super::own;
use crate::attr::StoredAttr;
use crate::record::{
    HEADER_SIZE, Header,
    turn::{Rest, Turn},
};

/// Turns a record of the tool's own behind its header, which has been turned. A feature stays as it
/// is.
///
/// Gives `None` where a field reaches beyond its end.
pub(super) fn own(record: &mut [u8]) -> Option<()> {
    let header = Header::from_bytes(*record.first_chunk()?);
    let body = record.get_mut(HEADER_SIZE..)?;
    if header.kind == own::ATTR {
        return attribute(body);
    }
    let mut all = Turn::new(body);
    let (widths, rest): (&[usize], _) = match header.kind {
        own::EVENT_TYPE | own::FEATURE | own::COMPRESSED2 => (&[8], Rest::Bytes),
        own::TRACING_DATA => (&[4], Rest::Bytes),
        own::BUILD_ID => (&[4], Rest::Bytes),
        own::ID_INDEX | own::STAT_CONFIG | own::STAT_ROUND => (&[], Rest::Words),
        own::AUXTRACE_INFO => (&[4, 4], Rest::Words),
        own::AUXTRACE => (&[8, 8, 8, 4, 4, 4, 4], Rest::Bytes),
        own::AUXTRACE_ERROR => (&[4, 4, 4, 4, 4, 4, 8], Rest::Bytes),
        own::STAT => (&[8, 4, 4], Rest::Words),
        // Since Linux 5.10 with the counter's value and mask, and two bytes.
        own::TIME_CONV if header.size < 48 => (&[8, 8, 8], Rest::Bytes),
        own::TIME_CONV => (&[8, 8, 8, 8, 8], Rest::Bytes),
        own::THREAD_MAP => {
            for _ in 0..all.u64()? {
                all.u64()?;
                all.skip(16)?;
            }
            (&[], Rest::Bytes)
        }
        own::CPU_MAP => return cpus(&mut all),
        own::EVENT_UPDATE => {
            let kind = all.u64()?;
            all.u64()?;
            match kind {
                EVENT_UPDATE_SCALE => (&[8], Rest::Bytes),
                EVENT_UPDATE_CPUS => return cpus(&mut all),
                _ => (&[], Rest::Bytes),
            }
        }
        _ => (&[], Rest::Bytes),
    };
    all.members(widths, rest)
}

/// `PERF_EVENT_UPDATE__SCALE`: a floating point number.
const EVENT_UPDATE_SCALE: u64 = 1;

/// `PERF_EVENT_UPDATE__CPUS`.
const EVENT_UPDATE_CPUS: u64 = 3;

fn attribute(body: &mut [u8]) -> Option<()> {
    let size = u32::from_ne_bytes(*body.get(4..)?.first_chunk()?).swap_bytes();
    let size = if size == 0 { 64 } else { size };
    let (attr, ids) = body.split_at_mut_checked(usize::try_from(size).ok()?)?;
    let turned = StoredAttr::from_bytes(attr, true).ok()?.to_bytes(size);
    attr.copy_from_slice(turned.get(..attr.len())?);
    Turn::new(ids).members(&[], Rest::Words)
}

// struct perf_record_cpu_map_data: CPUs one by one, a mask, or from one to another.
fn cpus(all: &mut Turn<'_>) -> Option<()> {
    match all.u16()? {
        0 => {
            for _ in 0..all.u16()? {
                all.u16()?;
            }
            Some(())
        }
        1 => {
            let count = all.u16()?;
            if all.u16()? == 4 {
                for _ in 0..count {
                    all.u32()?;
                }
                return Some(());
            }
            all.skip(4)?;
            all.words(count.into())
        }
        2 => {
            all.skip(2)?;
            all.u16()?;
            all.u16().map(drop)
        }
        _ => Some(()),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn a_clock_s_record_is_turned_whole_as_of_before_linux_5_10_and_since() {
        let flags = [1, 0, 0, 0, 0, 0, 0, 0];
        for (count, flags) in [(3_u64, &flags[..0]), (5, &flags)] {
            let record = |turned: fn(u64) -> u64| {
                let size = u16::try_from(8 + count * 8).unwrap() + u16::from(count > 3) * 8;
                let header = [
                    &own::TIME_CONV.to_ne_bytes()[..],
                    &[0; 2],
                    &size.to_ne_bytes(),
                ];
                let body = (1..=count).map(turned).flat_map(u64::to_ne_bytes);
                [&header.concat(), &body.collect::<Vec<u8>>()[..], flags].concat()
            };
            let mut bytes = record(u64::swap_bytes);
            own(&mut bytes).unwrap();
            assert_eq!(bytes, record(|word| word));
        }
    }
}
