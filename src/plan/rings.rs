//! Chooses the sizes of rings.

use super::Facts;
use crate::scenario::{RingMode, RingSpec, Scenario};

/// The size of all rings of a run together, in bytes: a machine with many CPUs divides it among
/// them.
const ALL_RINGS: usize = 64 << 20;

/// Returns the default size of a CPU's ring, in bytes: up to 16 MiB, some 40 ms of the fastest
/// flood of calls. A reader that shares its CPU with busy loops may need that much; at a quarter of
/// it some runs lost records. With many CPUs it is smaller.
#[must_use]
pub fn default_ring(n_cpus: usize) -> u64 {
    (ALL_RINGS / n_cpus.max(1)).clamp(512 << 10, 16 << 20) as u64
}

/// Returns the largest ring, in bytes, that a user may map on each CPU at the same time without a
/// right to lock memory: the rest of `perf_event_mlock_kb` after the ring's first page, as a power
/// of two of pages.
#[must_use]
pub fn allowed_ring(mlock_kb: u64, page_size: usize) -> u64 {
    let page_size = page_size.max(1) as u64;
    let pages = (mlock_kb.saturating_mul(1024) / page_size).saturating_sub(1);
    page_size << pages.max(1).ilog2()
}

/// Data pages for a ring of at least so many bytes: a power of two, as `perf_mmap()` demands.
#[must_use]
pub fn ring_pages(bytes: u64, page_size: usize) -> usize {
    let bytes = usize::try_from(bytes)
        .unwrap_or(usize::MAX / 4)
        .min(usize::MAX / 4);
    bytes.div_ceil(page_size.max(1)).max(1).next_power_of_two()
}

/// Data pages of each CPU's ring that is read while it fills.
pub(super) fn of(scenario: &Scenario, facts: &Facts<'_>) -> usize {
    let bytes = match scenario.trace.ring {
        // The size is that of the ring that is overwritten.
        RingSpec {
            mode: RingMode::Flight,
            ..
        } => None,
        RingSpec { size, .. } => size,
    };
    ring_pages(bytes.unwrap_or(facts.default_ring), facts.page_size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_users_rings_leave_room_for_the_first_page_of_each() {
        assert_eq!(allowed_ring(516, 4096), 512 << 10);
        assert_eq!(allowed_ring(512, 4096), 256 << 10);
        assert_eq!(allowed_ring(516, 65536), 256 << 10);
        assert_eq!(allowed_ring(0, 4096), 4096);
    }
}
