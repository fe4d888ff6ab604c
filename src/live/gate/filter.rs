//! The filter in the kernel: by convention and number, and everything else passes at once.

use crate::sys::gate::Instruction;
use std::collections::BTreeSet;
use syscall_model::names::Abi;

// include/uapi/linux/bpf_common.h, include/uapi/linux/filter.h
pub(super) const LOAD: u16 = 0x20;
pub(super) const JUMP: u16 = 0x05;
pub(super) const IF_EQUAL: u16 = 0x15;
pub(super) const IF_AT_LEAST: u16 = 0x35;
pub(super) const RETURN: u16 = 0x06;
// Offsets in `struct seccomp_data`, include/uapi/linux/seccomp.h.
pub(super) const NUMBER: u32 = 0;
pub(super) const ARCH: u32 = 4;
pub(super) const LAST_WORD: u32 = 16 + 5 * 8;
pub(super) const ALLOW: u32 = 0x7fff_0000;
const NOTIFY: u32 = 0x7fc0_0000;

const X32_BIT: u32 = 1 << 30;

/// The calls that are held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldCalls {
    calls: BTreeSet<(u32, u32)>,
}

impl HeldCalls {
    /// Adds the call of a number in a convention.
    pub fn hold(&mut self, abi: Abi, number: u32) {
        self.calls.insert((arch(abi), on_the_wire(abi, number)));
    }

    /// Whether no call is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// The calls, each by the word of its convention and its number there.
    pub(super) fn numbers(&self) -> impl Iterator<Item = (u32, u32)> {
        self.calls.iter().copied()
    }

    /// The program for the kernel. Calls with this word as their sixth, which none of them has,
    /// are those of the cork, and pass.
    #[must_use]
    pub fn program(&self, token: u64) -> Vec<Instruction> {
        let mut program = vec![load(ARCH)];
        let mut arches: Vec<u32> = self.calls.iter().map(|(arch, _)| *arch).collect();
        arches.dedup();
        for arch in arches {
            let of_arch = self.calls.iter().filter(|(of, _)| *of == arch);
            let ranges = ranges(of_arch.map(|(_, number)| *number));
            // A range takes three instructions; behind them the call passes.
            let behind = ranges.len() as u32 * 3 + 8;
            program.extend([when(IF_EQUAL, arch, 1, 0), jump(behind)]);
            program.push(load(NUMBER));
            for (place, (first, last)) in ranges.iter().enumerate() {
                let left = (ranges.len() - place) as u32 * 3;
                // To the end of all of this convention, where the token is looked at.
                let to_token = left - 2;
                program.extend([
                    when(IF_AT_LEAST, *first, 0, 2),
                    when(IF_AT_LEAST, last.saturating_add(1), 1, 0),
                    jump(to_token),
                ]);
            }
            program.push(give(ALLOW));
            let [low, high] = halves(token);
            program.extend([
                load(LAST_WORD),
                when(IF_EQUAL, low, 0, 3),
                load(LAST_WORD + 4),
                when(IF_EQUAL, high, 0, 1),
                give(ALLOW),
                give(NOTIFY),
                load(ARCH),
            ]);
        }
        program.push(give(ALLOW));
        program
    }
}

/// The convention that a call was made by, and its number in that convention's table.
#[must_use]
pub(super) fn convention(arch_word: u32, number: i32) -> Option<(Abi, i32)> {
    let native = Abi::native();
    let is_x32 = number >= 0 && number as u32 & X32_BIT != 0;
    if native == Abi::X86_64 && arch_word == arch(native) && is_x32 {
        return Some((Abi::X32, number));
    }
    let conventions = [Some(native), native.compat()];
    let mut conventions = conventions.into_iter().flatten();
    let abi = conventions.find(|abi| arch(*abi) == arch_word)?;
    Some((abi, number))
}

/// `AUDIT_ARCH_*`, include/uapi/linux/audit.h.
pub(super) const fn arch(abi: Abi) -> u32 {
    match abi {
        Abi::X86_64 | Abi::X32 => 0xc000_003e,
        Abi::I386 => 0x4000_0003,
        Abi::Aarch64 => 0xc000_00b7,
        Abi::Arm => 0x4000_0028,
    }
}

pub(super) const fn on_the_wire(abi: Abi, number: u32) -> u32 {
    match abi {
        Abi::X32 => number | X32_BIT,
        _ => number,
    }
}

pub(super) fn ranges(numbers: impl Iterator<Item = u32>) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    ranges
}

/// The halves of a word as they lie in memory, where the lower one comes first.
pub(super) const fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

pub(super) const fn load(offset: u32) -> Instruction {
    when(LOAD, offset, 0, 0)
}

pub(super) const fn jump(over: u32) -> Instruction {
    when(JUMP, over, 0, 0)
}

pub(super) const fn give(action: u32) -> Instruction {
    when(RETURN, action, 0, 0)
}

pub(super) const fn when(code: u16, operand: u32, if_true: u8, if_false: u8) -> Instruction {
    Instruction {
        code,
        if_true,
        if_false,
        operand,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: u64 = 0x1234_5678_9abc_def0;

    /// Runs a program as the kernel does.
    fn run(program: &[Instruction], arch: u32, number: u32, last: u64) -> u32 {
        let (mut at, mut accumulator) = (0_usize, 0_u32);
        loop {
            let it = program[at];
            at += 1;
            match it.code {
                LOAD if it.operand == NUMBER => accumulator = number,
                LOAD if it.operand == ARCH => accumulator = arch,
                LOAD if it.operand == LAST_WORD => accumulator = last as u32,
                LOAD => accumulator = (last >> 32) as u32,
                JUMP => at += it.operand as usize,
                IF_EQUAL if accumulator == it.operand => at += usize::from(it.if_true),
                IF_AT_LEAST if accumulator >= it.operand => at += usize::from(it.if_true),
                IF_EQUAL | IF_AT_LEAST => at += usize::from(it.if_false),
                RETURN => return it.operand,
                code => panic!("{code}"),
            }
        }
    }

    #[test]
    fn a_call_is_held_by_number_and_convention_and_all_others_pass() {
        let mut held = HeldCalls::default();
        for number in [1, 2, 3, 74, 257] {
            held.hold(Abi::X86_64, number);
        }
        held.hold(Abi::I386, 4);
        held.hold(Abi::X32, 1);
        let program = held.program(TOKEN);
        let of = |abi| {
            let program = &program;
            move |number| run(program, arch(abi), number, 0)
        };
        let (native, compat) = (of(Abi::X86_64), of(Abi::I386));
        for number in 0..400 {
            let expected = [1, 2, 3, 74, 257].contains(&number);
            assert_eq!(native(number) == NOTIFY, expected, "{number}");
            assert_eq!(compat(number) == NOTIFY, number == 4, "{number}");
        }
        assert_eq!(native(1 | X32_BIT), NOTIFY);
        assert_eq!(native(2 | X32_BIT), ALLOW);
    }

    #[test]
    fn a_call_with_the_token_passes_and_one_with_half_of_it_is_held() {
        let mut held = HeldCalls::default();
        held.hold(Abi::X86_64, 59);
        let program = held.program(TOKEN);
        let with = |last| run(&program, arch(Abi::X86_64), 59, last);
        assert_eq!(with(TOKEN), ALLOW);
        assert_eq!(with(TOKEN ^ 1), NOTIFY);
        assert_eq!(with(TOKEN ^ 1 << 40), NOTIFY);
    }
}
