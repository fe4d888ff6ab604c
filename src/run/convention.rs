//! Which table a call's number counts by.

use crate::record::Sample;
use crate::syscall::names::Abi;

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
