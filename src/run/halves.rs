//! Reads the two records of a call: its arguments and result, and the convention that it was made
//! by.

use super::reader::Width;
use perf_records::record::Sample;
use syscall_model::names::Abi;

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

/// Returns the convention that a call was made by, which its number alone does not say.
///
/// On x86 the `syscall` instruction leaves its return address in `cx`, so that it equals `ip` when
/// the call is entered; `int 0x80` from 64-bit code leaves the program's own value there, and
/// 32-bit code is told by the registers' own mark.
///
/// A sample without registers says nothing of that; then a call is of the convention that its
/// program is of.
pub(super) fn convention(
    number: i32,
    (sample, mask): (&Sample<'_>, u64),
    width: Option<Width>,
) -> Abi {
    const X32_BIT: i32 = 1 << 30;
    let native = Abi::native();
    let is_compat = match sample.user_registers {
        None => width == Some(Width::Of32),
        Some(registers) => {
            let register = |bit| registers.get(place_of(mask, bit)?);
            // Both are there where the harness recorded, or where somebody thought of it.
            let are_two = register(X86_CX).zip(register(X86_IP));
            let by_interrupt = are_two.is_some_and(|(cx, ip)| cx != ip);
            registers.abi == ABI_32 || native == Abi::X86_64 && by_interrupt
        }
    };
    // A negative number has the bit, too, and is in no table.
    let has_bit = native == Abi::X86_64 && number >= 0 && number & X32_BIT != 0;
    match native.compat() {
        // What tells nothing but the program does not contradict the bit.
        Some(compat) if is_compat && (sample.user_registers.is_some() || !has_bit) => compat,
        _ if has_bit => Abi::X32,
        _ => native,
    }
}

/// Whether a call may be one of 32 bits whose program has put into `cx` what `syscall` leaves
/// there.
///
/// The kernel takes the second and the fourth argument of such a call from `cx` and `si`, those of
/// a native one from `si` and `r10` (`syscall_get_arguments()`), where a program that means to be
/// taken for it may put the same. Without `si`, which files of old do not have, `cx` alone tells.
/// Or whether it may be a native one of a program of 32 bits.
pub(super) fn is_disguised(args: &[u64; 6], sample: &Sample<'_>, mask: u64) -> bool {
    let Some(registers) = sample.user_registers else {
        return false;
    };
    let register = |bit| registers.get(place_of(mask, bit)?);
    let (second, fourth) = (register(X86_CX), register(X86_SI));
    // Before Linux 5.11 the mark is the program's, whatever code it runs.
    if registers.abi == ABI_32 {
        return Abi::native() == Abi::X86_64 && second.is_some() && second == register(X86_IP);
    }
    let may_be = |arg: u64, from: u64| arg as u32 == from as u32;
    Abi::native() == Abi::X86_64
        && second == register(X86_IP)
        && second.is_some_and(|from| may_be(args[1], from))
        && fourth.is_none_or(|from| may_be(args[3], from))
}

/// Returns the convention of a call by the record of its return: number, value, and whether nothing
/// of its thread was seen before. The number -1 is in no table, and the registers there are those
/// of another place. Behind an `execve(2)` they are those that a program begins with; the calls of
/// 32 bits that have its numbers are obsolete (`oldolduname`), or return no 0 (`timerfd_create`).
pub(super) fn left_by(
    (number, value, is_first): (i32, i64, bool),
    sample: (&Sample<'_>, u64),
    width: Option<Width>,
) -> Abi {
    match number {
        -1 => Abi::native(),
        _ if is_first && value == 0 && is_exec(number) => Abi::native(),
        _ => convention(number, sample, width),
    }
}

/// Returns the address of the instruction behind the call; `None` if the record does not have it.
pub(super) fn instruction(sample: &Sample<'_>, mask: u64) -> Option<u64> {
    sample
        .user_registers?
        .get(place_of(mask, register_of_instruction())?)
}

/// Returns the stack pointer; `None` if the record does not have it.
pub(super) fn stack_pointer(sample: &Sample<'_>, mask: u64) -> Option<u64> {
    let register = match Abi::native() {
        Abi::Aarch64 => ARM64_SP,
        _ => X86_SP,
    };
    sample.user_registers?.get(place_of(mask, register)?)
}

/// `PERF_SAMPLE_REGS_ABI_32`.
const ABI_32: u64 = 1;

/// `PERF_REG_X86_CX`, `_SI`, `_SP` and `_IP`, and `PERF_REG_ARM64_SP` and `_PC`.
const X86_CX: u32 = 2;
const X86_SI: u32 = 4;
const X86_SP: u32 = 7;
const X86_IP: u32 = 8;
const ARM64_SP: u32 = 31;
const ARM64_PC: u32 = 32;

/// The register that says where a task is. Files are read on the architecture that they are of.
fn register_of_instruction() -> u32 {
    match Abi::native() {
        Abi::Aarch64 => ARM64_PC,
        _ => X86_IP,
    }
}

/// Returns the place of a register among those of a mask, or `None` if the mask lacks it.
fn place_of(mask: u64, bit: u32) -> Option<usize> {
    let below = (1_u64 << bit).wrapping_sub(1);
    (mask >> bit & 1 != 0).then(|| (mask & below).count_ones() as usize)
}

/// Whether a call is the one that starts the workload's program; before it no call is of interest.
pub(super) fn is_exec(number: i32) -> bool {
    [libc::SYS_execve, libc::SYS_execveat].contains(&number.into())
}

#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod tests {
    use super::*;
    use perf_records::attr::{Attr, SampleType};
    use perf_records::record::{Record, kind, parse};

    #[test]
    fn a_return_of_which_nothing_else_was_seen_is_that_of_an_exec_though_the_registers_are_new() {
        let mask = 1_u64 << X86_CX | 1 << X86_IP;
        let attr = Attr {
            sample_type: SampleType::REGS_USER,
            user_registers: mask,
            ..Attr::holding(0)
        };
        // Registers of 64 bits: a program's first instruction, and nothing in `cx`.
        let words = [2, 0, 0x7f00_0000_1000_u64];
        let head = u64::from(kind::SAMPLE) | (8 * (1 + words.len() as u64)) << 48;
        let bytes: Vec<u8> = std::iter::once(head)
            .chain(words)
            .flat_map(u64::to_ne_bytes)
            .collect();
        let layout = attr.layout();
        let Ok(Record::Sample(sample)) = parse(&bytes, &layout) else {
            panic!("no sample");
        };
        let execve = libc::SYS_execve as i32;
        let by =
            |number, value, is_first| left_by((number, value, is_first), (&sample, mask), None);
        assert_eq!(by(execve, 0, true), Abi::X86_64);
        assert_eq!(by(execve, 0, false), Abi::I386, "its entry says what it is");
        assert_eq!(by(execve, -2, true), Abi::I386);
        assert_eq!(by(1, 0, true), Abi::I386);
    }
}
