//! What is mapped where: which file an address belongs to.

use crate::record::{Map, Task};
use crate::units::Pid;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// What stands where a name is not known.
pub const UNKNOWN: &[u8] = b"[unknown]";

/// `PERF_RECORD_MISC_CPUMODE_MASK` and its values.
const CPU_MODE: u16 = 7;
pub(super) const KERNEL: u16 = 1;
pub(super) const USER: u16 = 2;

/// Of whom the kernel's mappings are told.
const KERNEL_PID: Pid = Pid(u32::MAX);

/// `PROT_EXEC`.
const EXECUTABLE: u32 = 4;

/// The mappings of the kernel and of every process.
#[derive(Debug, Default)]
pub(super) struct Maps {
    kernel: Space,
    processes: HashMap<Pid, Rc<Space>>,
}

/// Mappings by their first address; none overlaps another.
#[derive(Clone, Debug, Default)]
struct Space(BTreeMap<u64, Mapped>);

#[derive(Clone, Debug)]
struct Mapped {
    end: u64,
    offset: u64,
    name: Rc<[u8]>,
    is_file: bool,
}

/// A file and the place in it, in bytes, that an address shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The file, or a word for what is none: `[vdso]`, `[kernel.kallsyms]`.
    pub name: &'a [u8],
    /// Where in the file; what is no file has addresses.
    pub offset: u64,
    /// Whether it is the kernel's.
    pub is_kernel: bool,
}

impl Space {
    fn insert(&mut self, start: u64, mapped: Mapped) {
        let end = mapped.end;
        // What overlaps is gone, all but what stands out at either end.
        if let Some((&before, old)) = self.0.range_mut(..start).next_back()
            && old.end > start
        {
            let tail = old.clone();
            old.end = start;
            if tail.end > end {
                self.0.insert(end, tail.from(before, end));
            }
        }
        while let Some((&inside, _)) = self.0.range(start..end).next() {
            let Some(old) = self.0.remove(&inside) else {
                break;
            };
            if old.end > end {
                self.0.insert(end, old.from(inside, end));
            }
        }
        self.0.insert(start, mapped);
    }

    fn find(&self, address: u64) -> Option<(u64, &Mapped)> {
        let (start, mapped) = self.0.range(..=address).next_back()?;
        (address < mapped.end).then_some((*start, mapped))
    }
}

impl Mapped {
    /// What is left of it from `start` on, where it began at `was`.
    fn from(self, was: u64, start: u64) -> Self {
        Self {
            offset: self.offset.saturating_add(start.saturating_sub(was)),
            ..self
        }
    }
}

impl Maps {
    pub(super) fn map(&mut self, map: &Map<'_>, misc: u16) {
        let is_kernel = map.pid == KERNEL_PID || misc & CPU_MODE == KERNEL;
        let anonymous = !is_kernel && is_anonymous(map.name);
        let is_code = map
            .more
            .is_none_or(|more| more.protection & EXECUTABLE != 0);
        let name = if is_kernel {
            kernel_name(map.name).into()
        } else if anonymous && is_code {
            // The file in which a compiler at run time can say what it made (map__new(), tools/perf/util/map.c).
            format!("/tmp/perf-{}.map", map.pid).into_bytes().into()
        } else {
            map.name.into()
        };
        let mapped = Mapped {
            end: map.address.saturating_add(map.length),
            offset: map.offset,
            name,
            is_file: !is_kernel && !anonymous,
        };
        if is_kernel {
            self.kernel.insert(map.address, mapped);
        } else {
            let space = self.processes.entry(map.pid).or_default();
            Rc::make_mut(space).insert(map.address, mapped);
        }
    }

    /// A new process has the mappings of the one that made it.
    pub(super) fn fork(&mut self, task: &Task) {
        if task.pid == task.parent_pid {
            return;
        }
        match self.processes.get(&task.parent_pid) {
            Some(space) => {
                let space = Rc::clone(space);
                self.processes.insert(task.pid, space);
            }
            None => {
                self.processes.remove(&task.pid);
            }
        }
    }

    /// A process that executes another program has none of its mappings any more.
    pub(super) fn executed(&mut self, pid: Pid) {
        self.processes.remove(&pid);
    }

    /// A process, by the id of its first thread, is gone for long.
    pub(super) fn forget(&mut self, pid: Pid) {
        self.processes.remove(&pid);
    }

    /// What is at an address that was seen in the CPU's mode `misc`.
    pub(super) fn find(&self, pid: Pid, misc: u16, address: u64) -> Option<Place<'_>> {
        let is_kernel = match misc & CPU_MODE {
            KERNEL => true,
            USER => false,
            _ => return None,
        };
        let space = if is_kernel {
            &self.kernel
        } else {
            self.processes.get(&pid)?
        };
        let (start, mapped) = space.find(address)?;
        let offset = if mapped.is_file {
            address.saturating_sub(start).saturating_add(mapped.offset)
        } else {
            address
        };
        Some(Place {
            name: &mapped.name,
            offset,
            is_kernel,
        })
    }
}

// is_anon_memory() and is_no_dso_memory(), tools/perf/util/map.c.
fn is_anonymous(name: &[u8]) -> bool {
    name.starts_with(b"//anon")
        || name.starts_with(b"/dev/zero")
        || name.starts_with(b"/anon_hugepage")
        || name.starts_with(b"[stack")
        || name.starts_with(b"/SYSV")
        || name.starts_with(b"[heap]")
}

/// `[kernel.kallsyms]` without the symbol that says where it is, and a module without its folder.
fn kernel_name(name: &[u8]) -> Vec<u8> {
    const KERNEL_ITSELF: &[u8] = b"[kernel.kallsyms]";
    if name.starts_with(KERNEL_ITSELF) {
        return KERNEL_ITSELF.to_vec();
    }
    let file = name.rsplit(|byte| *byte == b'/').next().unwrap_or(name);
    if file.len() == name.len() {
        return name.to_vec();
    }
    let stem = file.split(|byte| *byte == b'.').next().unwrap_or(file);
    let mut module = vec![b'['];
    // The file may have a minus where the module's name has none.
    module.extend(
        stem.iter()
            .map(|byte| if *byte == b'-' { b'_' } else { *byte }),
    );
    module.push(b']');
    module
}
