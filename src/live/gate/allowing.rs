//! The filter of a policy: what it does not allow is refused in the kernel.

use super::filter::{
    ALLOW, ARCH, IF_AT_LEAST, IF_EQUAL, LAST_WORD, NUMBER, arch, give, halves, jump, load,
    on_the_wire, ranges, when,
};
use crate::sys::gate::Instruction;
use std::collections::BTreeMap;
use syscall_model::names::Abi;

const AND: u16 = 0x54;
const FIRST_WORD: u32 = 16;
/// `SECCOMP_RET_ERRNO`, `SECCOMP_RET_KILL_PROCESS`: include/uapi/linux/seccomp.h.
const ERRNO: u32 = 0x0005_0000;
const KILL: u32 = 0x8000_0000;
/// `BPF_MAXINSNS`.
const MOST: usize = 4096;

/// What becomes of a call that is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    /// It fails with this error.
    Error(u16),
    /// Its process is killed by `SIGSYS`.
    Kill,
}

/// The place of an argument, bits of it, and what these must be.
type Test = (u8, u64, u64);

/// The calls that are allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedCalls {
    /// By convention and number; `None` for all such calls.
    calls: BTreeMap<(u32, u32), Option<Vec<Test>>>,
}

/// The program for the kernel is longer than the kernel takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the policy takes {0} instructions, and the kernel takes {MOST} at most")]
pub struct TooLong(usize);

impl AllowedCalls {
    /// Allows the call of a number in a convention, if an argument passes the test.
    pub fn allow(&mut self, abi: Abi, number: u32, test: Option<Test>) {
        let key = (arch(abi), on_the_wire(abi, number));
        let tests = self.calls.entry(key).or_insert_with(|| Some(Vec::new()));
        match (test, tests) {
            (None, tests) => *tests = None,
            (Some(test), Some(tests)) => tests.push(test),
            (Some(_), None) => {}
        }
    }

    /// The program for the kernel. Calls with this word as their sixth are those of the cork, and
    /// pass.
    ///
    /// # Errors
    /// [`TooLong`].
    pub fn program(&self, denial: Denial, token: u64) -> Result<Vec<Instruction>, TooLong> {
        let deny = give(match denial {
            Denial::Error(error) => ERRNO | u32::from(error),
            Denial::Kill => KILL,
        });
        let [low, high] = halves(token);
        let mut program = vec![
            load(LAST_WORD),
            when(IF_EQUAL, low, 0, 3),
            load(LAST_WORD + 4),
            when(IF_EQUAL, high, 0, 1),
            give(ALLOW),
            load(ARCH),
        ];
        let mut arches: Vec<u32> = self.calls.keys().map(|(arch, _)| *arch).collect();
        arches.dedup();
        for arch in arches {
            let of_arch = self.calls.iter().filter(|((of, _), _)| *of == arch);
            let of_arch = of_arch.map(|((_, number), tests)| (*number, tests));
            let block = block(of_arch, deny);
            program.extend([when(IF_EQUAL, arch, 1, 0), jump(block.len() as u32)]);
            program.extend(block);
        }
        program.push(deny);
        match program.len() {
            0..=MOST => Ok(program),
            length => Err(TooLong(length)),
        }
    }
}

/// What is done with the calls of one convention.
fn block<'a>(
    calls: impl Iterator<Item = (u32, &'a Option<Vec<Test>>)>,
    deny: Instruction,
) -> Vec<Instruction> {
    let (mut plain, mut tested) = (Vec::new(), Vec::new());
    for (number, tests) in calls {
        match tests {
            None => plain.push(number),
            Some(tests) => tested.push((number, tests)),
        }
    }
    let mut block = vec![load(NUMBER)];
    for (first, last) in ranges(plain.into_iter()) {
        block.extend([
            when(IF_AT_LEAST, first, 0, 2),
            when(IF_AT_LEAST, last.saturating_add(1), 1, 0),
            give(ALLOW),
        ]);
    }
    for (number, tests) in tested {
        let mut inner: Vec<Instruction> = tests.iter().flat_map(|test| pass(*test)).collect();
        inner.push(deny);
        block.extend([when(IF_EQUAL, number, 1, 0), jump(inner.len() as u32)]);
        block.extend(inner);
    }
    block.push(deny);
    block
}

/// Lets the call pass if its argument is right, and goes on behind if it is not.
fn pass((place, mask, value): Test) -> [Instruction; 7] {
    let at = FIRST_WORD + 8 * u32::from(place);
    let ([mask_low, mask_high], [low, high]) = (halves(mask), halves(value));
    [
        load(at),
        when(AND, mask_low, 0, 0),
        when(IF_EQUAL, low, 0, 4),
        load(at + 4),
        when(AND, mask_high, 0, 0),
        when(IF_EQUAL, high, 0, 1),
        give(ALLOW),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::filter::{JUMP, LOAD, RETURN};

    const TOKEN: u64 = 0x1234_5678_9abc_def0;
    const DENIED: u32 = ERRNO | 1;

    /// Runs a program as the kernel does.
    fn run(program: &[Instruction], arch: u32, number: u32, words: [u64; 6]) -> u32 {
        let (mut at, mut accumulator) = (0_usize, 0_u32);
        loop {
            let it = program[at];
            at += 1;
            match it.code {
                LOAD if it.operand == NUMBER => accumulator = number,
                LOAD if it.operand == ARCH => accumulator = arch,
                LOAD => {
                    let half = (it.operand - FIRST_WORD) / 4;
                    accumulator = halves(words[half as usize / 2])[half as usize % 2];
                }
                AND => accumulator &= it.operand,
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
    fn what_is_not_allowed_by_number_and_convention_is_refused() {
        let mut allowed = AllowedCalls::default();
        for number in [0, 1, 3, 59, 257] {
            allowed.allow(Abi::X86_64, number, None);
        }
        allowed.allow(Abi::I386, 4, None);
        let program = allowed.program(Denial::Error(1), TOKEN).expect("short");
        for number in 0..400 {
            let is_allowed = [0, 1, 3, 59, 257].contains(&number);
            let of = |abi| run(&program, arch(abi), number, [0; 6]) == ALLOW;
            assert_eq!(of(Abi::X86_64), is_allowed, "{number}");
            assert_eq!(of(Abi::I386), number == 4, "{number}");
            assert!(!of(Abi::Aarch64), "{number}");
        }
        // x32 shares the convention of x86_64, and its numbers are none of them.
        let x32 = on_the_wire(Abi::X32, 1);
        assert_eq!(run(&program, arch(Abi::X32), x32, [0; 6]), DENIED);
    }

    #[test]
    fn a_call_is_allowed_by_any_one_of_its_tests_of_all_their_bits() {
        let int = 0xffff_ffff;
        let mut allowed = AllowedCalls::default();
        allowed.allow(Abi::X86_64, 16, Some((1, int, 0x5401)));
        allowed.allow(Abi::X86_64, 16, Some((1, int, 0x8004_5430)));
        allowed.allow(Abi::X86_64, 56, Some((0, u64::MAX, 1 << 40 | 17)));
        allowed.allow(Abi::X86_64, 57, None);
        let program = allowed.program(Denial::Kill, TOKEN).expect("short");
        let of = |number, place: usize, word| {
            let mut words = [0; 6];
            words[place] = word;
            run(&program, arch(Abi::X86_64), number, words) == ALLOW
        };
        assert!(of(16, 1, 0x5401));
        assert!(of(16, 1, 0xffff_ffff_8004_5430), "the kernel takes 32 bits");
        assert!(!of(16, 1, 0x5402));
        assert!(!of(16, 0, 0x5401), "another argument");
        assert!(of(56, 0, 1 << 40 | 17));
        assert!(!of(56, 0, 17), "the upper half counts");
        assert!(of(57, 0, 5) && !of(58, 0, 5));
    }

    #[test]
    fn calls_of_the_cork_pass_and_those_with_half_of_its_token_do_not() {
        let program = AllowedCalls::default().program(Denial::Error(1), TOKEN);
        let program = program.expect("short");
        let with = |last| run(&program, arch(Abi::X86_64), 59, [0, 0, 0, 0, 0, last]);
        assert_eq!(with(TOKEN), ALLOW);
        assert_eq!(with(TOKEN ^ 1), DENIED);
        assert_eq!(with(TOKEN ^ 1 << 40), DENIED);
    }

    #[test]
    fn a_program_that_the_kernel_does_not_take_is_none() {
        let mut allowed = AllowedCalls::default();
        // `BPF_MAXINSNS`, include/uapi/linux/bpf_common.h.
        const MOST: usize = 4096;
        let mut lengths = (0..600).map(|value| {
            allowed.allow(Abi::X86_64, 16, Some((1, u64::MAX, value)));
            allowed.program(Denial::Kill, TOKEN).map(|it| it.len())
        });
        let first_not = lengths.find(|length| !matches!(length, Ok(length) if *length <= MOST));
        assert!(matches!(first_not, Some(Err(TooLong(length))) if length > MOST));
    }
}
