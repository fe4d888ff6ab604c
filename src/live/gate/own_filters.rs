//! Filters of calls that a workload installs by itself, as far as they matter to the gate.
//!
//! Of the answers of a task's filters the strictest counts: `SECCOMP_RET_USER_NOTIF`, by which a
//! call is held, comes before `SECCOMP_RET_TRACE`, by which a filter asks the task's tracer
//! (`seccomp_run_filters()`, kernel/seccomp.c). So of a call that is held no tracer is asked.
//!
//! Stricter are errors and signals, of which there are records, and `SECCOMP_RET_KILL_THREAD`: in a
//! process with several threads it ends the one that makes the call (`do_exit()`), and no
//! tracepoint tells of the call. Before Linux 5.16 none tells of one that ends the process.

use super::Held;
use super::filter::{ARCH, HeldCalls, IF_AT_LEAST, IF_EQUAL, JUMP, LOAD, NUMBER, RETURN};
use crate::sys::gate::Instruction;
use crate::sys::memory;
use std::io;
use syscall_model::names::{self, Abi};

/// `PR_SET_SECCOMP`, `SECCOMP_MODE_FILTER`, include/uapi/linux/prctl.h and seccomp.h.
const SET_SECCOMP: u32 = 22;
const MODE_FILTER: u64 = 2;
/// `PR_SET_SYSCALL_USER_DISPATCH`, which `PR_SYS_DISPATCH_OFF`, 0, ends.
const DISPATCH: u32 = 59;
/// `SECCOMP_SET_MODE_FILTER`, `SECCOMP_FILTER_FLAG_NEW_LISTENER`.
const SET_FILTER: u32 = 1;
const NEW_LISTENER: u64 = 1 << 3;
const ACTION: u32 = 0xffff_0000;
const TRACE: u32 = 0x7ff0_0000;
const KILL_THREAD: u32 = 0;
const KILL_PROCESS: u32 = 0x8000_0000;
/// `BPF_MAXINSNS`.
const MOST: usize = 4096;

// include/uapi/linux/bpf_common.h, filter.h
const CLASS: u16 = 7;
const LOADS: u16 = 0;
const COMPUTES: u16 = 4;
const JUMPS: u16 = 5;
const MOVES: u16 = 7;
const LOAD_CONSTANT: u16 = 0x00;
const AND: u16 = 0x54;
const IF_MORE: u16 = 0x25;
const IF_SET: u16 = 0x45;
const RETURN_ACCUMULATOR: u16 = 0x16;
const FROM_INDEX: u16 = 0x87;

/// Whether a call installs a filter that may ask a tracer for a call that is held.
///
/// # Errors
/// Its program could not be read.
pub fn asks_tracer(call: &Held, held: &HeldCalls) -> io::Result<bool> {
    let program = installed(call)?;
    Ok(program.is_some_and(|program| may_answer(&program, held, TRACE)))
}

/// What a call asks for by which other calls do not come to the gate, or not to it alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// It installs a filter that may ask a tracer for a call that is held.
    pub asks_tracer: bool,
    /// It installs a filter that may end the thread, or the process, at a call that faults are for.
    pub ends_threads: bool,
    /// It asks for a listener of its own, and gets `EBUSY`.
    pub listens: bool,
    /// It has calls given back to the program, before any filter is asked and with no record
    /// (`syscall_user_dispatch()`, `kernel/entry/syscall_user_dispatch.c`).
    pub dispatches: bool,
}

impl Own {
    /// Looks at a call; faults are for the calls `meant` among those that are held.
    ///
    /// # Errors
    /// The program of a filter could not be read.
    pub fn of(call: &Held, held: &HeldCalls, meant: &HeldCalls) -> io::Result<Self> {
        let [first, second, ..] = call.arguments;
        let asks = match names::name_of(call.abi, call.number) {
            Some("prctl") => (false, first as u32 == DISPATCH && second != 0),
            Some("seccomp") => (
                first as u32 == SET_FILTER && second & NEW_LISTENER != 0,
                false,
            ),
            _ => return Ok(Self::default()),
        };
        // A call that installs none has an empty one, which gives no answer.
        let program = installed(call)?.unwrap_or_default();
        Ok(Self {
            asks_tracer: may_answer(&program, held, TRACE),
            ends_threads: [KILL_THREAD, KILL_PROCESS]
                .iter()
                .any(|action| may_answer(&program, meant, *action)),
            listens: asks.0,
            dispatches: asks.1,
        })
    }
}

/// The program of the filter that a call installs; `None` where it installs none.
fn installed(call: &Held) -> io::Result<Option<Vec<Instruction>>> {
    let [first, second, third, ..] = call.arguments;
    // The kernel takes 32 bits of what is asked for.
    let first = first as u32;
    let installs = match names::name_of(call.abi, call.number) {
        Some("prctl") => first == SET_SECCOMP && second == MODE_FILTER,
        // One with a listener is refused: the gate has the only one.
        Some("seccomp") => first == SET_FILTER && second & NEW_LISTENER == 0,
        _ => false,
    };
    if !installs {
        return Ok(None);
    }
    match program(call, third) {
        // So programs ask whether the kernel knows filters and their flags: it fails with EFAULT.
        Err(error) if third == 0 && error.raw_os_error() == Some(libc::EFAULT) => Ok(None),
        program => program.map(Some),
    }
}

/// Whether a program may answer one of these calls by an action.
fn may_answer(program: &[Instruction], calls: &HeldCalls, action: u32) -> bool {
    let mut calls = calls.numbers();
    calls.any(|call| may_give(program, call, action))
}

/// The program of a `struct sock_fprog`.
fn program(call: &Held, address: u64) -> io::Result<Vec<Instruction>> {
    let is_short = matches!(call.abi, Abi::I386 | Abi::Arm | Abi::X32);
    let mut head = [0; 16];
    let head = head.get_mut(..if is_short { 8 } else { 16 });
    let head = head.unwrap_or_default();
    read(call, address, head)?;
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    let length = head.first_chunk().ok_or_else(invalid)?;
    let length = usize::from(u16::from_ne_bytes(*length)).min(MOST);
    let at = match is_short {
        true => u64::from(u32::from_ne_bytes(*head.last_chunk().ok_or_else(invalid)?)),
        false => u64::from_ne_bytes(*head.last_chunk().ok_or_else(invalid)?),
    };
    let mut bytes = vec![0; length * size_of::<Instruction>()];
    read(call, at, &mut bytes)?;
    let instruction = |bytes: &[u8; 8]| {
        let [code, more, if_true, if_false, operand @ ..] = *bytes;
        Instruction {
            code: u16::from_ne_bytes([code, more]),
            if_true,
            if_false,
            operand: u32::from_ne_bytes(operand),
        }
    };
    let (instructions, _) = bytes.as_chunks();
    Ok(instructions.iter().map(instruction).collect())
}

fn read(call: &Held, address: u64, bytes: &mut [u8]) -> io::Result<()> {
    let mut there = 0;
    while let Some(rest) = bytes.get_mut(there..).filter(|rest| !rest.is_empty()) {
        let at = address.wrapping_add(there as u64);
        match memory::read_memory(call.thread, at, rest)? {
            0 => return Err(io::Error::from_raw_os_error(libc::EFAULT)),
            more => there += more,
        }
    }
    Ok(())
}

/// What is known of the accumulator where an instruction begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Value(u32),
    Any,
}

/// Whether a program may answer a call by an action, whatever the call's arguments are. Programs
/// jump forward alone: so each instruction is looked at once.
fn may_give(program: &[Instruction], (arch, number): (u32, u32), action: u32) -> bool {
    let mut before: Vec<Option<Known>> = vec![None; program.len()];
    if let Some(first) = before.first_mut() {
        *first = Some(Known::Any);
    }
    for (place, it) in program.iter().enumerate() {
        let Some(known) = before.get(place).copied().flatten() else {
            continue;
        };
        let jumps = |over: u32| place + 1 + over as usize;
        let (of_true, of_false) = (u32::from(it.if_true), u32::from(it.if_false));
        let branches = |holds: fn(u32, u32) -> bool| match known {
            Known::Value(value) if holds(value, it.operand) => vec![jumps(of_true)],
            Known::Value(_) => vec![jumps(of_false)],
            Known::Any => vec![jumps(of_true), jumps(of_false)],
        };
        let next = match it.code {
            RETURN if it.operand & ACTION == action => return true,
            RETURN => Vec::new(),
            RETURN_ACCUMULATOR => match known {
                Known::Value(value) if value & ACTION != action => Vec::new(),
                _ => return true,
            },
            JUMP => vec![jumps(it.operand)],
            IF_EQUAL => branches(|value, operand| value == operand),
            IF_AT_LEAST => branches(|value, operand| value >= operand),
            IF_MORE => branches(|value, operand| value > operand),
            IF_SET => branches(|value, operand| value & operand != 0),
            code if code & CLASS == JUMPS => vec![jumps(of_true), jumps(of_false)],
            _ => vec![jumps(0)],
        };
        let behind = match (it.code, known) {
            (LOAD, _) if it.operand == NUMBER => Known::Value(number),
            (LOAD, _) if it.operand == ARCH => Known::Value(arch),
            (LOAD_CONSTANT, _) => Known::Value(it.operand),
            (AND, Known::Value(value)) => Known::Value(value & it.operand),
            (code, _) if code & CLASS == LOADS || code & CLASS == COMPUTES => Known::Any,
            (code, _) if code & CLASS == MOVES && code == FROM_INDEX => Known::Any,
            (_, known) => known,
        };
        for next in next {
            if let Some(there) = before.get_mut(next) {
                *there = match *there {
                    Some(other) if other != behind => Some(Known::Any),
                    _ => Some(behind),
                };
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::filter::{arch, give, jump, load, when};

    const ALLOW: u32 = 0x7fff_0000;

    fn asks(program: &[Instruction], number: u32) -> bool {
        may_give(program, (arch(Abi::X86_64), number), TRACE)
    }

    #[test]
    fn a_filter_asks_the_tracer_for_those_calls_for_which_it_may_come_to_that() {
        let program = [
            load(ARCH),
            when(IF_EQUAL, arch(Abi::X86_64), 1, 0),
            give(TRACE | 1),
            load(NUMBER),
            when(IF_AT_LEAST, 0x4000_0000, 0, 1),
            give(ALLOW),
            when(IF_EQUAL, 74, 0, 3),
            // Of one call by its first argument.
            load(16),
            when(IF_EQUAL, 100, 0, 1),
            give(TRACE | 7),
            load(NUMBER),
            when(IF_MORE, 300, 1, 0),
            give(ALLOW),
            jump(1),
            give(TRACE),
            when(AND, 0, 0, 0),
            when(RETURN_ACCUMULATOR, 0, 0, 0),
        ];
        assert!(asks(&program, 74));
        assert!(!asks(&program, 75) && !asks(&program, 300) && !asks(&program, 301));
        assert!(may_give(&program, (arch(Abi::I386), 75), TRACE));
        assert!(asks(&[load(16), when(RETURN_ACCUMULATOR, 0, 0, 0)], 1));
        assert!(!asks(&[give(0x7ffc_0000)], 1) && !asks(&[], 1));
    }

    #[test]
    fn a_filter_ends_threads_at_those_calls_that_it_has_no_other_answer_for() {
        let program = [
            load(NUMBER),
            when(IF_EQUAL, 1, 2, 0),
            when(IF_EQUAL, 74, 2, 0),
            give(KILL_THREAD | 7),
            give(ALLOW),
            give(KILL_PROCESS),
        ];
        let ends = |number| may_give(&program, (arch(Abi::X86_64), number), KILL_THREAD);
        assert!(ends(75) && !ends(74) && !ends(1));
        let by_argument = [load(16), when(RETURN_ACCUMULATOR, 0, 0, 0)];
        assert!(may_give(&by_argument, (arch(Abi::X86_64), 1), KILL_THREAD));
    }
}
