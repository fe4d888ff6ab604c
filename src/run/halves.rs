//! The words of a call's halves, and the convention that it was made by.

use crate::record::Sample;
use crate::syscall::names::Abi;
use crate::syscall::{Call, Outcome};

pub(super) fn word(raw: &[u8], at: usize) -> Option<u64> {
    raw.get(at..)?
        .first_chunk()
        .map(|bytes| u64::from_ne_bytes(*bytes))
}

pub(super) fn number(raw: &[u8], at: usize) -> Option<i32> {
    raw.get(at..)?
        .first_chunk()
        .map(|bytes| i32::from_ne_bytes(*bytes))
}

/// By which convention a call was made, as its number alone does not say.
///
/// On x86 the `syscall` instruction leaves its return address in `cx`, so that it equals `ip` when the call is entered; `int 0x80` from
/// 64-bit code leaves the program's own value there, and 32-bit code is told by the registers' own mark.
pub(super) fn convention(number: i32, sample: &Sample<'_>) -> Abi {
    const ABI_32: u64 = 1;
    const X32_BIT: i32 = 1 << 30;
    let native = Abi::native();
    let Some(registers) = sample.user_registers else {
        return native;
    };
    let by_syscall = native != Abi::X86_64 || registers.get(0) == registers.get(1);
    match native.compat() {
        Some(compat) if registers.abi == ABI_32 || !by_syscall => compat,
        _ if native == Abi::X86_64 && number & X32_BIT != 0 => Abi::X32,
        _ => native,
    }
}

/// Where the instruction behind the one that made a call lies; `None` where that is not recorded.
pub(super) fn instruction(sample: &Sample<'_>) -> Option<u64> {
    sample.user_registers?.get(1)
}

/// Whether a call sets up an io_uring, or hands something to one.
pub(super) fn works_on_a_ring(call: &Call) -> bool {
    match (call.name(), &call.outcome) {
        (Some("io_uring_setup"), Outcome::Returned { value, .. }) => *value >= 0,
        (Some("io_uring_enter"), Outcome::Returned { value, .. }) => *value > 0,
        _ => false,
    }
}
