//! The descriptors that `poll(2)` and `select(2)` are given in memory.

use super::Call;
use crate::memory::Moment;

/// Whether a call of this name waits for descriptors that stand in memory.
#[must_use]
pub fn waits(name: &str) -> bool {
    is_poll(name) || is_select(name)
}

/// The descriptors that such a call waits for; `None` where they were not read.
pub(super) fn waited_for(call: &Call) -> Option<Vec<i32>> {
    numbers(call, |bytes, length| bytes.get(..length))
}

/// Those of them that were read.
pub(super) fn read_of(call: &Call) -> Vec<i32> {
    numbers(call, |bytes, length| {
        Some(bytes.get(..length).unwrap_or(bytes))
    })
    .unwrap_or_default()
}

/// `first` takes so many bytes of what there is, or nothing.
fn numbers(call: &Call, first: impl Fn(&[u8], usize) -> Option<&[u8]>) -> Option<Vec<i32>> {
    let args = call.entry.args()?;
    let given = |place: usize, length: usize| {
        let piece = call.memory.piece(place, Moment::Enter)?;
        first(&piece.bytes, length)
    };
    if is_poll(call.name()?) {
        let count = usize::try_from(args[1] as u32).ok()?;
        let entries = match count {
            0 => &[][..],
            _ => given(0, count.checked_mul(POLLFD)?)?,
        };
        let number = |entry: &[u8]| {
            entry
                .first_chunk()
                .map(|number| i32::from_ne_bytes(*number))
        };
        return entries.chunks_exact(POLLFD).map(number).collect();
    }
    let bound = usize::try_from(args[0] as i32).ok()?.min(FD_SETSIZE);
    let mut numbers = Vec::new();
    for place in (1..=3).filter(|place| args[*place] != 0 && bound > 0) {
        let set = given(place, bound.div_ceil(64) * 8)?;
        let is_set = |number: &usize| {
            let byte = set.get(number / 8);
            byte.is_some_and(|byte| byte >> (number % 8) & 1 == 1)
        };
        numbers.extend(
            (0..bound)
                .filter(is_set)
                .filter_map(|number| i32::try_from(number).ok()),
        );
    }
    Some(numbers)
}

/// The size of `struct pollfd`, in bytes.
const POLLFD: usize = 8;
/// How many descriptors `fd_set` has room for; what is behind them is not read.
const FD_SETSIZE: usize = libc::FD_SETSIZE;

fn is_poll(name: &str) -> bool {
    matches!(name, "poll" | "ppoll" | "ppoll_time64")
}

fn is_select(name: &str) -> bool {
    matches!(
        name,
        "select" | "_newselect" | "pselect6" | "pselect6_time64"
    )
}
