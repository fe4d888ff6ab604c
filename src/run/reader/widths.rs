//! Tells by what processes map whether they are of 32 bits, for records of calls that do not say by
//! which convention a call was made.
//!
//! perf records calls without registers unless it is asked for them. The kernel maps a page of its
//! own into each program (`arch_setup_additional_pages()`): into one of 64 bits above 4 GiB, into
//! one of 32 bits below. A record of each mapping of code tells both.

use perf_records::record::{Comm, Map, Record};
use perf_records::units::{Nanos, Pid};
use std::collections::HashMap;

/// Of how many bits a program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run) enum Width {
    /// All its calls are native, unless it goes out of its way (`int 0x80`).
    Of64,
    /// Its calls are those of the 32-bit convention.
    Of32,
}

/// The first address that a program of 32 bits cannot have.
const END_OF_32: u64 = 1 << 32;

/// The kernel's own pages in a program of 32 bits: of x86 and arm64, and of the latter without a
/// vDSO for such programs.
const PAGES_OF_32: [&[u8]; 3] = [b"[vdso]", b"[sigpage]", b"[vectors]"];

/// The programs that processes run, as far as their mappings were recorded.
#[derive(Debug, Default)]
pub(super) struct Widths {
    of: HashMap<Pid, Program>,
    n_of_32: u64,
    n_untold: u64,
}

/// What is known of the program that a process runs.
#[derive(Clone, Copy, Debug, Default)]
struct Program {
    /// `None` as long as its mappings do not tell it.
    width: Option<Width>,
    /// Whether it is known to be a program, rather than a task of the kernel's.
    is_one: bool,
}

impl Program {
    fn untold(self) -> u64 {
        u64::from(self.is_one && self.width.is_none())
    }
}

impl Widths {
    /// Takes births, programs and mappings.
    pub(super) fn take(&mut self, record: &Record<'_>) {
        match record {
            Record::Comm(
                Comm {
                    exec: true, pid, ..
                },
                _,
            ) => {
                let width = None;
                let is_one = true;
                self.begin(*pid, Program { width, is_one });
            }
            Record::Fork(task, _) if task.pid != task.parent_pid => {
                // A recorder tells so of processes that lived already, which may have executed a
                // program since they were born.
                let is_told = task.time == Nanos(0);
                let parent = self.of.get(&task.parent_pid).filter(|_| !is_told);
                self.begin(task.pid, parent.copied().unwrap_or_default());
            }
            Record::Map(map, _) if is_code(map) => self.mapped(map),
            _ => {}
        }
    }

    /// Returns what is known of a process that makes a call with these words. A program of 32 bits
    /// has no registers for one that is longer. So of a process whose mappings are in no record, as
    /// it was born while the recorder looked for those that lived, its first calls tell it.
    pub(super) fn of(&mut self, pid: Pid, words: &[u64]) -> Option<Width> {
        let program = self.of.entry(pid).or_default();
        program.is_one = true;
        if program.width.is_none() && words.iter().any(|word| *word >= END_OF_32) {
            program.width = Some(Width::Of64);
        }
        program.width
    }

    /// How many programs of 32 bits were seen.
    pub(super) fn n_of_32(&self) -> u64 {
        self.n_of_32
    }

    /// Of how many programs it is not known of how many bits they are; 1 if none was seen at all.
    pub(super) fn n_untold(&self) -> u64 {
        match self.of.is_empty() {
            true => 1,
            false => self.n_untold + self.of.values().map(|it| it.untold()).sum::<u64>(),
        }
    }

    fn begin(&mut self, pid: Pid, program: Program) {
        if let Some(before) = self.of.insert(pid, program) {
            self.n_untold += before.untold();
        }
    }

    fn mapped(&mut self, map: &Map<'_>) {
        let width = &mut self.of.entry(map.pid).or_default().width;
        let is_above = map.address.saturating_add(map.length) > END_OF_32;
        if is_above && *width != Some(Width::Of64) {
            // None of the kernel's pages for programs of 32 bits is there, whatever has that name.
            self.n_of_32 -= u64::from(*width == Some(Width::Of32));
            *width = Some(Width::Of64);
        } else if width.is_none() && PAGES_OF_32.contains(&map.name) {
            *width = Some(Width::Of32);
            self.n_of_32 += 1;
        }
    }
}

/// Whether code of a process was mapped; the kernel's own has no process.
fn is_code(map: &Map<'_>) -> bool {
    !map.is_data && map.pid != Pid(u32::MAX) && map.is_executable()
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_records::record::Task;
    use perf_records::units::Tid;

    fn exec(pid: u32) -> Record<'static> {
        let comm = Comm {
            pid: Pid(pid),
            tid: Tid(pid),
            exec: true,
            name: b"x",
        };
        Record::Comm(comm, Default::default())
    }

    fn map(pid: u32, address: u64, name: &'static [u8]) -> Record<'static> {
        let map = Map {
            pid: Pid(pid),
            tid: Tid(pid),
            address,
            length: 0x1000,
            offset: 0,
            name,
            is_data: false,
            more: None,
        };
        Record::Map(map, Default::default())
    }

    fn fork(pid: u32, parent: u32, time: u64) -> Record<'static> {
        let task = Task {
            pid: Pid(pid),
            parent_pid: Pid(parent),
            tid: Tid(pid),
            parent_tid: Tid(parent),
            time: Nanos(time),
        };
        Record::Fork(task, Default::default())
    }

    const VDSO: &[u8] = b"[vdso]";
    const LOW: u64 = 0xf7f0_0000;
    const HIGH: u64 = 0x7ffc_0000_0000;

    #[test]
    fn where_the_page_of_the_kernel_lies_tells_of_how_many_bits_a_program_is() {
        let of = |maps: &[(u64, &'static [u8])]| {
            let mut widths = Widths::default();
            widths.take(&exec(1));
            for (address, name) in maps {
                widths.take(&map(1, *address, name));
            }
            (widths.of(Pid(1), &[]), widths.n_of_32(), widths.n_untold())
        };
        let (native, compat) = (Some(Width::Of64), Some(Width::Of32));
        // A static program that is not moved lies low, and the kernel's page does not.
        assert_eq!(of(&[(0x40_0000, b"/x"), (HIGH, VDSO)]), (native, 0, 0));
        assert_eq!(of(&[(HIGH, VDSO), (LOW, VDSO)]), (native, 0, 0));
        assert_eq!(of(&[(LOW, VDSO), (HIGH, b"/x")]), (native, 0, 0));
        assert_eq!(of(&[(0x5655_5000, b"/x"), (LOW, VDSO)]), (compat, 1, 0));
        // A kernel without such pages (`vdso=0`) tells nothing of what lies low.
        assert_eq!(of(&[(0x40_0000, b"/x")]), (None, 0, 1));
        assert_eq!(of(&[]), (None, 0, 1));
    }

    #[test]
    fn a_process_is_what_its_parent_was_until_it_executes_a_program() {
        let mut widths = Widths::default();
        assert_eq!(widths.n_untold(), 1, "nothing was recorded of any program");
        widths.take(&map(1, LOW, VDSO));
        widths.take(&fork(2, 1, 9));
        assert_eq!(widths.of(Pid(2), &[]), Some(Width::Of32));
        widths.take(&exec(2));
        assert_eq!((widths.of(Pid(2), &[]), widths.n_untold()), (None, 1));
        widths.take(&map(2, HIGH, VDSO));
        assert_eq!(
            (widths.of(Pid(2), &[]), widths.n_untold()),
            (Some(Width::Of64), 0)
        );
        assert_eq!((widths.of(Pid(3), &[]), widths.n_untold()), (None, 1));
    }

    #[test]
    fn a_word_of_more_than_32_bits_is_of_a_64_bit_program() {
        let mut widths = Widths::default();
        assert_eq!(widths.of(Pid(1), &[3, 0xffff_ff9c]), None);
        assert_eq!(widths.n_untold(), 1);
        assert_eq!(widths.of(Pid(1), &[3, HIGH]), Some(Width::Of64));
        assert_eq!(widths.n_untold(), 0);
        // What is mapped in it is better known.
        widths.take(&exec(2));
        widths.take(&map(2, LOW, VDSO));
        assert_eq!(widths.of(Pid(2), &[HIGH]), Some(Width::Of32));
    }

    #[test]
    fn what_a_recorder_tells_of_living_processes_is_no_birth_and_a_task_of_the_kernel_no_program() {
        let mut widths = Widths::default();
        widths.take(&map(1, HIGH, VDSO));
        widths.take(&fork(2, 1, 0));
        widths.take(&fork(3, 1, 0));
        widths.take(&map(2, LOW, VDSO));
        assert_eq!((widths.n_of_32(), widths.n_untold()), (1, 0));
        assert_eq!(widths.of(Pid(2), &[]), Some(Width::Of32));
        // A program of 64 bits may map the page of the others beside its own
        // (`ARCH_MAP_VDSO_32`), and its children have it.
        widths.take(&fork(4, 1, 9));
        widths.take(&map(4, LOW, VDSO));
        assert_eq!(widths.of(Pid(4), &[]), Some(Width::Of64));
    }
}
