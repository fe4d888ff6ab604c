//! How far musl's dynamic loader is (`__dls2b()`, `__dls3()`, ldso/dynlink.c).
//!
//! It is the C library itself: the loader's calls and the program's are made by the same
//! instructions. But it runs nothing of the program before it jumps to the entry point, neither
//! resolvers nor a `malloc` of the program's, and works in an order of its own:
//!
//! 1. It sets up the first thread (`arch_prctl(ARCH_SET_FS)` on x86-64, `set_tid_address`), before
//!    anything else. glibc's first call is another (`brk`).
//! 2. It finds and maps all libraries, and asks for all the memory that it needs.
//! 3. It relocates the libraries, itself among them, and the program last. Of each it makes
//!    read-only what is constant from then on (`PT_GNU_RELRO`).
//! 4. It sets up the first thread again, if the thread's own memory is larger than is built in.
//!
//! So the first call of step 3 tells that no file is the loader's from then on, and the one for the
//! program, or step 4, that nothing is. A C library that has nothing to make read-only, nor any
//! library of the program, leaves open where the program begins: then nothing is the loader's.

use super::{ARCH_SET_FS, is_reading};
use std::ops::Range;

#[derive(Debug)]
pub(super) struct Musl {
    /// Where the program's code begins.
    program: u64,
    /// Where the loader's code begins.
    loader: u64,
    /// Where it mapped what libraries may write to.
    libraries: Vec<Range<u64>>,
    step: Step,
    /// How often it said where the first thread's own memory is.
    memories: u8,
    /// How often it asked for the first thread's id.
    ids: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Maps,
    Relocates,
    IsLinked,
}

/// How far an image reaches at most, in bytes: its code finds its data by 32 bits with a sign.
const REACH: u64 = 1 << 31;

impl Musl {
    /// Whether a loader that makes this call first is musl's; of a program whose code begins there.
    pub(super) fn begins(
        name: &str,
        args: &[u64; 6],
        program: Option<u64>,
        loader: &[Range<u64>],
    ) -> Option<Musl> {
        let is_it = name == "set_tid_address" || name == "arch_prctl" && args[0] == ARCH_SET_FS;
        let loader = loader.iter().map(|range| range.start).min();
        program
            .zip(loader)
            .filter(|_| is_it)
            .map(|(program, loader)| Musl {
                program,
                loader,
                libraries: Vec::new(),
                step: Step::Maps,
                memories: 0,
                ids: 0,
            })
    }

    /// Whether all files of the program are known to be mapped.
    pub(super) fn has_linked(&self) -> bool {
        self.step > Step::Maps
    }

    /// Whether the loader would make this call now.
    pub(super) fn loads(&mut self, name: &str, args: &[u64; 6]) -> bool {
        match name {
            "arch_prctl" if args[0] == ARCH_SET_FS => {
                self.memories = self.memories.saturating_add(1);
                return self.sets_up(self.memories);
            }
            "set_tid_address" => {
                self.ids = self.ids.saturating_add(1);
                return self.sets_up(self.ids);
            }
            "mprotect" if args[2] as i32 == libc::PROT_READ => return self.seals(args[0]),
            _ => {}
        }
        self.step == Step::Maps && self.maps(name, args)
    }

    /// Whether it sets up the first thread by a call now that came so often: before all else, or
    /// again behind it.
    fn sets_up(&mut self, times: u8) -> bool {
        if times == 2 && self.has_linked() {
            self.step = Step::IsLinked;
            return true;
        }
        times == 1
    }

    /// Whether it makes read-only, from this address on, what is constant in an image.
    fn seals(&mut self, address: u64) -> bool {
        let begins = |image: u64| image <= address && address - image < REACH;
        let is_library = self.libraries.iter().any(|range| range.contains(&address));
        let is_nearer = self.loader > self.program || !begins(self.program);
        let is_loader = begins(self.loader) && is_nearer;
        let next = match is_library || is_loader {
            true => Step::Relocates,
            false if begins(self.program) => Step::IsLinked,
            false => return false,
        };
        let is_now = self.step < Step::IsLinked;
        self.step = self.step.max(next);
        is_now
    }

    /// Whether it finds, reads or maps libraries by this call, or gets memory for that.
    fn maps(&mut self, name: &str, args: &[u64; 6]) -> bool {
        match name {
            "mmap" => {
                let (prot, flags) = (args[2] as i32, args[3] as i32);
                if prot & libc::PROT_WRITE != 0 && flags & libc::MAP_FIXED != 0 {
                    let end = args[0].saturating_add(args[1]);
                    self.libraries.push(args[0]..end);
                }
                flags & libc::MAP_TYPE == libc::MAP_PRIVATE
            }
            "openat" => is_reading(args[2]),
            "open" => is_reading(args[1]),
            "fcntl" => args[1] as i32 == libc::F_SETFD,
            "brk" | "mprotect" | "munmap" | "mremap" | "madvise" | "read" | "readv" | "pread64"
            | "lseek" | "close" | "fstat" | "newfstatat" | "statx" | "readlink" | "readlinkat" => {
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Role;
    use super::super::tests::{ANY, FIRST, LOADS, roles};

    const MAPPED: [(&str, u64); 3] = [
        ("/usr/bin/it", 0x5000_1000),
        ("/usr/lib/musl/libc.so", 0x7f00_0000_0000),
        ("[vdso]", 0x7fff_0000_0000),
    ];
    const SETS_UP: [(&str, [u64; 6]); 2] = [
        ("arch_prctl", [super::ARCH_SET_FS, 0, 0, 0, 0, 0]),
        ("set_tid_address", ANY),
    ];
    /// A library's data, mapped into the place that was made for it.
    const LIBRARY: (&str, [u64; 6]) = ("mmap", [0x7eff_0000_0000, 0x2000, 3, 0x12, 3, 0]);
    const OPENS: (&str, [u64; 6]) = ("open", [0, libc::O_CLOEXEC as u64, 0, 0, 0, 0]);
    const ASKS: (&str, [u64; 6]) = ("mmap", [0, 0x31000, 3, 0x22, u64::MAX, 0]);

    /// Makes what is constant read-only in the image that has this address.
    fn seals(address: u64) -> (&'static str, [u64; 6]) {
        ("mprotect", [address, 0x1000, 1, 0, 0, 0])
    }

    fn of_library() -> (&'static str, [u64; 6]) {
        seals(0x7eff_0000_1000)
    }

    fn of_loader() -> (&'static str, [u64; 6]) {
        seals(0x7f00_0009_6000)
    }

    fn of_program() -> (&'static str, [u64; 6]) {
        seals(0x5000_3000)
    }

    /// The roles of what the C library calls, behind the set-up of the first thread.
    fn behind_set_up(calls: &[(&'static str, [u64; 6])]) -> Vec<Option<Role>> {
        let all = SETS_UP.iter().chain(calls);
        let all = all.map(|(name, args)| (0x7f00_0000_0010, *name, *args));
        let mut roles = roles(&MAPPED, &all.collect::<Vec<_>>());
        assert_eq!(roles.drain(..2).collect::<Vec<_>>(), [LOADS; 2]);
        roles
    }

    #[test]
    fn libraries_are_the_loaders_and_the_programs_constant_data_is_its_last_deed() {
        let calls = [
            ("brk", ANY),
            ("readlink", ANY),
            OPENS,
            ("fcntl", [3, 2, 1, 0, 0, 0]),
            ("read", ANY),
            LIBRARY,
            ("close", ANY),
            of_library(),
            of_loader(),
            of_program(),
            OPENS,
            ASKS,
        ];
        let mut expected = [LOADS; 10].to_vec();
        expected.extend([FIRST, None]);
        assert_eq!(behind_set_up(&calls), expected);
    }

    #[test]
    fn behind_its_first_relocation_the_loader_neither_opens_nor_asks_for_memory() {
        for call in [OPENS, ASKS, ("brk", ANY), ("read", ANY), ("write", ANY)] {
            let calls = [LIBRARY, of_loader(), call];
            assert_eq!(behind_set_up(&calls), [LOADS, LOADS, FIRST], "{call:?}");
        }
    }

    #[test]
    fn memory_of_the_first_thread_that_is_larger_than_is_built_in_is_set_up_again_once() {
        let [sets, registers] = SETS_UP;
        let calls = [of_loader(), of_program(), sets, registers, registers];
        assert_eq!(behind_set_up(&calls), [LOADS, LOADS, LOADS, LOADS, FIRST]);
        let calls = [of_loader(), sets, registers, of_program()];
        assert_eq!(behind_set_up(&calls), [LOADS, LOADS, LOADS, FIRST]);
        assert_eq!(behind_set_up(&[sets, of_loader()]), [None, None]);
    }

    #[test]
    fn what_is_made_read_only_elsewhere_is_the_programs() {
        let elsewhere = seals(0x7eff_8000_0000);
        assert_eq!(behind_set_up(&[of_loader(), elsewhere]), [LOADS, FIRST]);
        let calls = [of_loader(), of_program(), of_program()];
        assert_eq!(behind_set_up(&calls), [LOADS, LOADS, FIRST]);
    }

    #[test]
    fn a_loader_that_makes_nothing_read_only_leaves_open_where_the_program_begins() {
        let calls = [OPENS, LIBRARY, OPENS, ("write", ANY), OPENS];
        assert_eq!(behind_set_up(&calls), [LOADS, LOADS, LOADS, None, None]);
        // So does one that does not find a library, and says so.
        let calls = [OPENS, ("writev", ANY), ("exit_group", ANY)];
        assert_eq!(behind_set_up(&calls), [LOADS, None, None]);
    }
}
