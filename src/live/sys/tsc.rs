//! The processor's time stamp counter.

use std::time::{Duration, Instant};

/// For how long its rate is taken: the two ends are known to about a microsecond.
const WINDOW: Duration = Duration::from_millis(50);

/// How often an end is read anew because something came between the two clocks.
const ATTEMPTS: usize = 20;

/// The rate of the time stamp counter in kHz, measured against `CLOCK_MONOTONIC` within 50 ms;
/// `None` on a processor that has none.
#[must_use]
pub fn tsc_khz() -> Option<u64> {
    let begun = both()?;
    std::thread::sleep(WINDOW);
    let ended = both()?;
    let nanos = u64::try_from(ended.1.duration_since(begun.1).as_nanos()).ok()?;
    let ticks = ended.0.checked_sub(begun.0)?;
    u64::try_from(u128::from(ticks) * 1_000_000 / u128::from(nanos.max(1))).ok()
}

/// Both clocks at the same moment: of several readings the one that took the least time.
fn both() -> Option<(u64, Instant)> {
    let mut best: Option<(u64, u64, Instant)> = None;
    for _ in 0..ATTEMPTS {
        let before = ticks()?;
        let now = Instant::now();
        let took = ticks()?.saturating_sub(before);
        if best.is_none_or(|(least, ..)| took < least) {
            best = Some((took, before + took / 2, now));
        }
    }
    best.map(|(_, ticks, now)| (ticks, now))
}

#[cfg(target_arch = "x86_64")]
fn ticks() -> Option<u64> {
    // SAFETY: every x86-64 processor has the instruction, and it touches no memory. Where it is
    // forbidden (prctl(PR_SET_TSC)), so is the clock of the vDSO, which has been read before.
    Some(unsafe { std::arch::x86_64::_rdtsc() })
}

#[cfg(not(target_arch = "x86_64"))]
fn ticks() -> Option<u64> {
    None
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_the_same_whenever_it_is_measured() {
        let (one, other) = (tsc_khz().unwrap(), tsc_khz().unwrap());
        assert!(one > 100_000, "{one} kHz");
        assert!(one.abs_diff(other) < one / 200, "{one} and {other} kHz");
    }
}
