//! Which calls a dynamic loader makes to start a program.
//!
//! An exec maps the program and the loader that it names (`load_elf_binary()`), and the kernel
//! reports each mapping that is executable (`PERF_RECORD_MMAP`). What the process then does first
//! comes from the loader's instructions: it maps the libraries, relocates, and gives way to the
//! program. So the calls that lie in the loader and come before all others are the loader's, and
//! the first that does not is the program's. With one exception: glibc's loader has the C library
//! initialise itself while it is still at work (`__libc_early_init()`), which asks for the limit of
//! the stack. The constructors of libraries run behind that and are the program's.
//!
//! The place of an instruction does not tell how the program came to it: a constructor, or a
//! resolver called while the loader relocates (`STT_GNU_IFUNC`), may jump into the loader. Until
//! the first thread's memory is set up (`init_tls()`: `set_tid_address`, and on x86-64
//! `arch_prctl(ARCH_SET_FS)` before it) nothing of the program has run, and all calls that find and
//! map files are the loader's. From then on only calls that protect memory, or ask for some, count
//! as the loader's. Its last call unmaps the cache of libraries, the only file that it mapped at no
//! fixed place and without execution in mind (`_dl_unload_cache()`): calls after that are the
//! program's, wherever they lie. So a call that is left out by mistake opens nothing, reads nothing
//! and writes nothing.
//!
//! A static program names no loader: nothing is the loader's. A loader that the program brings
//! along is part of the program. musl's loader is the C library itself, so that the place of an
//! instruction tells nothing: see [`musl`].

mod musl;

use self::musl::Musl;
use super::names::{self, Abi};
use perf_records::units::Pid;
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
    /// Where the program's code begins.
    code: Option<u64>,
    /// Where the loader's code lies.
    loader: Vec<Range<u64>>,
    /// How far the loader is, if it is musl's.
    musl: Option<Musl>,
    /// Whether it has made a call.
    has_begun: bool,
    /// Whether the C library has asked for the limit of the stack.
    has_asked: bool,
    /// Whether code of the program may have run.
    is_linking: bool,
    /// Whether the loader has nothing left to do.
    is_over: bool,
    /// How long the files are that it mapped to read them.
    read: Vec<u64>,
}

/// `arch_prctl(2)`: where the thread's own memory is.
const ARCH_SET_FS: u64 = 0x1002;

/// Where the machine's own loaders are.
const OF_MACHINE: [&[u8]; 4] = [b"/lib", b"/usr/lib", b"/nix/store/", b"/gnu/store/"];

impl Starts {
    /// A process executes a program.
    pub fn executed(&mut self, process: Pid) {
        self.processes.insert(process, Start::default());
    }

    /// Code was mapped from a file, or from none: then its name stands in brackets (`[vdso]`) or
    /// begins with two slashes.
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
            None => {
                start.program = Some(name.into());
                start.code = Some(range.start);
            }
            Some(program) if **program == *name => {}
            Some(_) if !OF_MACHINE.iter().any(|place| name.starts_with(place)) => {}
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
        let is_there = start.loader.iter().any(|range| range.contains(&ip));
        if let (true, true, Some(name)) = (is_first, is_there, names::name_of(abi, number)) {
            start.musl = Musl::begins(name, args, start.code, &start.loader);
        }
        if let Some(musl) = &mut start.musl {
            let name = names::name_of(abi, number).filter(|_| is_there);
            if name.is_some_and(|name| musl.loads(name, args)) {
                return Some(Role::Loads);
            }
            let is_first = musl.has_linked();
            self.processes.remove(&process);
            return is_first.then_some(Role::First);
        }
        if is_there && !start.is_over && start.loads(abi, number, args) {
            return Some(Role::Loads);
        }
        if !(is_first || start.has_asked || start.is_over) && asks_for_stack(abi, number, args) {
            start.has_asked = true;
            return Some(Role::Loads);
        }
        // It says what it does not find, and ends.
        let gives_up = is_there && !(start.is_linking || start.is_over);
        self.processes.remove(&process);
        (!is_first && !gives_up).then_some(Role::First)
    }

    /// A process is gone.
    pub fn ended(&mut self, process: Pid) {
        self.processes.remove(&process);
    }
}

impl Start {
    /// Whether a loader would make this call now.
    fn loads(&mut self, abi: Abi, number: i32, args: &[u64; 6]) -> bool {
        let Some(name) = names::name_of(abi, number) else {
            return false;
        };
        let flags = |word: u64| word as i32;
        match name {
            "set_tid_address" => self.is_linking = true,
            "arch_prctl" => self.is_linking |= args[0] == ARCH_SET_FS,
            "munmap" if self.read.contains(&args[1]) => self.is_over = true,
            "mmap" => {
                let is_private = flags(args[3]) == libc::MAP_PRIVATE;
                let is_cache = is_private && flags(args[2]) == libc::PROT_READ;
                if is_cache && !self.is_linking {
                    self.read.push(args[1]);
                }
                return !self.is_linking || flags(args[3]) & libc::MAP_ANONYMOUS != 0;
            }
            "set_robust_list" | "rseq" | "mprotect" | "munmap" | "brk" | "getrandom" => {}
            "openat" => return !self.is_linking && is_reading(args[2]),
            "open" => return !self.is_linking && is_reading(args[1]),
            "read" | "pread64" | "lseek" | "close" | "fstat" | "newfstatat" | "stat" | "statx"
            | "access" | "faccessat" | "faccessat2" | "readlink" | "readlinkat" | "getcwd"
            | "uname" | "prctl" | "futex" | "getuid" | "geteuid" | "getgid" | "getegid" => {
                return !self.is_linking;
            }
            _ => return false,
        }
        true
    }
}

/// Whether `open(2)` with these flags changes nothing.
fn is_reading(flags: u64) -> bool {
    let writing = libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC;
    flags as i32 & writing == libc::O_RDONLY
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
    pub(super) fn roles(
        mapped: &[(&str, u64)],
        calls: &[(u64, &str, [u64; 6])],
    ) -> Vec<Option<Role>> {
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
    pub(super) const LOADS: Option<Role> = Some(Role::Loads);
    pub(super) const FIRST: Option<Role> = Some(Role::First);
    pub(super) const ANY: [u64; 6] = [0; 6];

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

    const MAPPED: [u64; 6] = [0, 18115, 1, 2, 3, 0];

    #[test]
    fn what_comes_from_the_loader_behind_its_last_deed_is_the_programs() {
        let calls = [
            (0x8010, "mmap", MAPPED),
            (0x8020, "openat", ANY),
            (0x8030, "set_tid_address", ANY),
            (0x8040, "mprotect", ANY),
            (0x8050, "munmap", [0x7000, 18115, 0, 0, 0, 0]),
            (0x8060, "mprotect", ANY),
        ];
        let found = roles(&DYNAMIC, &calls);
        assert_eq!(found, [LOADS, LOADS, LOADS, LOADS, LOADS, FIRST]);
    }

    #[test]
    fn what_no_loader_does_is_the_programs_also_where_it_comes_from_the_loader() {
        let creates = [0, 0, libc::O_CREAT as u64, 0, 0, 0];
        for (name, args) in [("unlink", ANY), ("connect", ANY), ("openat", creates)] {
            let calls = [
                (0x8010, "brk", ANY),
                (0x8020, "set_tid_address", ANY),
                (0x8030, name, args),
            ];
            assert_eq!(roles(&DYNAMIC, &calls), [LOADS, LOADS, FIRST], "{name}");
        }
        for name in ["openat", "read", "newfstatat"] {
            let calls = [
                (0x8010, "brk", ANY),
                (0x8020, "set_tid_address", ANY),
                (0x8030, name, ANY),
            ];
            assert_eq!(roles(&DYNAMIC, &calls), [LOADS, LOADS, FIRST], "{name}");
        }
    }

    #[test]
    fn a_loader_that_gives_up_before_it_sets_up_the_first_thread_never_gives_way() {
        let calls = [
            (0x8010, "openat", ANY),
            (0x8020, "writev", ANY),
            (0x8030, "exit_group", ANY),
        ];
        assert_eq!(roles(&DYNAMIC, &calls), [LOADS, None, None]);
    }

    #[test]
    fn a_loader_that_the_program_brings_along_is_part_of_it() {
        let mapped = [("/tmp/it", 0x1000), ("/tmp/ld.so", 0x8000)];
        let calls = [(0x8010, "brk", ANY), (0x8020, "openat", ANY)];
        assert_eq!(roles(&mapped, &calls), [None, None]);
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
        starts.mapped(WHO, 0x8000..0x9000, b"/lib/ld.so");
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
