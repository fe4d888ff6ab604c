//! Which calls a dynamic loader makes to start a program.
//!
//! An exec maps the program and the loader that it names (`load_elf_binary()`), and the kernel reports each mapping that is executable
//! (`PERF_RECORD_MMAP`). What the process then does first comes from the loader's instructions: it maps the libraries, relocates, and gives way
//! to the program. So the calls that lie in the loader and come before all others are the loader's, and the first that does not is the program's.
//! With one exception: glibc's loader has the C library initialise itself while it is still at work (`__libc_early_init()`), which asks for the
//! limit of the stack. The constructors of libraries run behind that and are the program's.
//!
//! A static program names no loader: nothing is the loader's. musl's loader is the C library itself, so that nothing comes from elsewhere and the
//! loader's part has no end that could be seen.

use super::names::{self, Abi};
use crate::units::Pid;
use std::collections::HashMap;
use std::ops::Range;

/// What a call is to the start of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The loader's, if the program's ever come.
    Loads,
    /// The program's first.
    First,
}

/// Follows the starts of all programs of a run.
#[derive(Debug, Default)]
pub struct Starts {
    /// Those that are not over.
    processes: HashMap<Pid, Start>,
}

#[derive(Debug, Default)]
struct Start {
    /// The file that was mapped first.
    program: Option<Box<[u8]>>,
    /// Where the loader's code lies.
    loader: Vec<Range<u64>>,
    /// Whether it has made a call.
    has_begun: bool,
    /// Whether the C library has asked for the limit of the stack.
    has_asked: bool,
}

impl Starts {
    /// A process executes a program.
    pub fn executed(&mut self, process: Pid) {
        self.processes.insert(process, Start::default());
    }

    /// Code was mapped from a file, or from none: then its name stands in brackets (`[vdso]`) or begins with two slashes.
    pub fn mapped(&mut self, process: Pid, range: Range<u64>, name: &[u8]) {
        let Some(start) = self.processes.get_mut(&process) else {
            return;
        };
        // Later ones are the loader's own doing.
        let is_file = name.starts_with(b"/") && !name.starts_with(b"//");
        if start.has_begun || !is_file {
            return;
        }
        match &start.program {
            None => start.program = Some(name.into()),
            Some(program) if **program == *name => {}
            Some(_) => start.loader.push(range),
        }
    }

    /// A process makes a call, from the instruction before this address.
    pub fn entered(
        &mut self,
        process: Pid,
        ip: u64,
        (abi, number): (Abi, i32),
        args: &[u64; 6],
    ) -> Option<Role> {
        let start = self.processes.get_mut(&process)?;
        let is_first = !std::mem::replace(&mut start.has_begun, true);
        if start.loader.iter().any(|range| range.contains(&ip)) {
            return Some(Role::Loads);
        }
        if !(is_first || start.has_asked) && asks_for_stack(abi, number, args) {
            start.has_asked = true;
            return Some(Role::Loads);
        }
        self.processes.remove(&process);
        (!is_first).then_some(Role::First)
    }

    /// A process is gone.
    pub fn ended(&mut self, process: Pid) {
        self.processes.remove(&process);
    }
}

/// `prlimit64(0, RLIMIT_STACK, NULL, ...)`.
fn asks_for_stack(abi: Abi, number: i32, args: &[u64; 6]) -> bool {
    let [pid, resource, new, ..] = args;
    let is_stack = *resource as u32 == libc::RLIMIT_STACK;
    names::name_of(abi, number) == Some("prlimit64") && (*pid, *new) == (0, 0) && is_stack
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHO: Pid = Pid(7);

    fn call(starts: &mut Starts, ip: u64, name: &str, args: [u64; 6]) -> Option<Role> {
        let number = names::number(Abi::native(), name).unwrap() as i32;
        starts.entered(WHO, ip, (Abi::native(), number), &args)
    }

    /// The roles of calls that come from these addresses, after an exec that mapped this.
    fn roles(mapped: &[(&str, u64)], calls: &[(u64, &str, [u64; 6])]) -> Vec<Option<Role>> {
        let mut starts = Starts::default();
        starts.executed(WHO);
        for (name, at) in mapped {
            starts.mapped(WHO, *at..at + 0x1000, name.as_bytes());
        }
        calls
            .iter()
            .map(|(ip, name, args)| call(&mut starts, *ip, name, *args))
            .collect()
    }

    const DYNAMIC: [(&str, u64); 3] = [
        ("/usr/bin/it", 0x1000),
        ("/lib/ld.so", 0x8000),
        ("[vdso]", 0xa000),
    ];
    const STACK: [u64; 6] = [0, libc::RLIMIT_STACK as u64, 0, 1, 0, 0];
    const LOADS: Option<Role> = Some(Role::Loads);
    const FIRST: Option<Role> = Some(Role::First);
    const ANY: [u64; 6] = [0; 6];

    #[test]
    fn the_first_calls_are_the_loaders_until_one_comes_from_elsewhere() {
        let calls = [
            (0x8010, "brk"),
            (0x8020, "openat"),
            (0x5000, "brk"),
            (0x8010, "openat"),
        ];
        let calls = calls.map(|(ip, name)| (ip, name, ANY));
        assert_eq!(roles(&DYNAMIC, &calls), [LOADS, LOADS, FIRST, None]);
    }

    #[test]
    fn the_librarys_question_for_the_stacks_limit_is_part_of_the_start_once() {
        let asks = (0x5000, "prlimit64", STACK);
        let loads = (0x8010, "munmap", ANY);
        let calls = [loads, asks, loads, asks, loads];
        assert_eq!(roles(&DYNAMIC, &calls), [LOADS, LOADS, LOADS, FIRST, None]);
        let other = (0x5000, "prlimit64", [0, 7, 0, 1, 0, 0]);
        assert_eq!(
            roles(&DYNAMIC, &[loads, other, loads]),
            [LOADS, FIRST, None]
        );
        let sets = (0x5000, "prlimit64", [0, STACK[1], 1, 0, 0, 0]);
        assert_eq!(roles(&DYNAMIC, &[loads, sets]), [LOADS, FIRST]);
    }

    #[test]
    fn a_static_program_has_no_loader_and_what_is_mapped_later_is_none() {
        let calls = [(0x1010, "brk", ANY), (0x1020, "write", ANY)];
        let mapped = [("/it", 0x1000), ("/it", 0x3000), ("[vdso]", 0xa000)];
        assert_eq!(roles(&mapped, &calls), [None, None]);
        let mut starts = Starts::default();
        starts.executed(WHO);
        starts.mapped(WHO, 0x1000..0x2000, b"/it");
        assert_eq!(call(&mut starts, 0x1010, "mmap", ANY), None);
        starts.mapped(WHO, 0x5000..0x6000, b"/lib/libc.so");
        assert_eq!(call(&mut starts, 0x5010, "brk", ANY), None);
    }

    #[test]
    fn each_exec_is_a_start_of_its_own_and_others_have_none() {
        let mut starts = Starts::default();
        starts.executed(WHO);
        starts.mapped(WHO, 0x1000..0x2000, b"/it");
        starts.mapped(WHO, 0x8000..0x9000, b"/ld.so");
        assert_eq!(call(&mut starts, 0x8010, "brk", ANY), LOADS);
        starts.executed(WHO);
        assert_eq!(
            call(&mut starts, 0x8010, "brk", ANY),
            None,
            "nothing is mapped there"
        );
        starts.ended(WHO);
        assert!(starts.processes.is_empty());
    }
}
