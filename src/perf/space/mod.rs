//! What is mapped where: the file of an address, the words of call chains, and the names that a
//! [`Symbols`] has for an address.
//!
//! ```text
//! records of mappings, forks, execs --Maps--> Place: a file and where in it --Symbols--> Frames: functions, source lines
//! ```

mod stack;

pub use stack::{Stack, StackFrame};

use crate::record::{Map, MappedFile, Task};
use crate::units::Pid;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// What stands where a name is not known.
pub const UNKNOWN: &[u8] = b"[unknown]";

/// `PERF_RECORD_MISC_CPUMODE_MASK` and its values.
const CPU_MODE: u16 = 7;
/// Of what the kernel did (`PERF_RECORD_MISC_KERNEL`).
pub const KERNEL: u16 = 1;
/// Of what a program did (`PERF_RECORD_MISC_USER`).
pub const USER: u16 = 2;

/// The process id of the kernel's mappings in their records.
const KERNEL_PID: Pid = Pid(u32::MAX);

/// The kernel without its modules, in records of mappings.
pub const KERNEL_ITSELF: &[u8] = b"[kernel.kallsyms]";

/// The mappings of the kernel and of every process.
#[derive(Debug, Default)]
pub struct Maps {
    kernel: Space,
    processes: HashMap<Pid, Arc<Space>>,
}

/// Mappings by their first address; none overlaps another.
#[derive(Clone, Debug, Default)]
struct Space(BTreeMap<u64, Mapped>);

#[derive(Clone, Debug)]
struct Mapped {
    end: u64,
    offset: u64,
    name: Arc<[u8]>,
    is_file: bool,
    build_id: Option<Arc<[u8]>>,
    reference: Option<Reference>,
}

/// A symbol of the kernel, and where it was when this was recorded: it is elsewhere after each
/// boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// `_text` or `_stext`.
    pub name: &'static str,
    /// Its address at that time.
    pub address: u64,
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
    /// Where the mapping begins in memory.
    pub start: u64,
    /// Of the kernel itself, what tells where it lay.
    pub reference: Option<Reference>,
    /// Of the file that was mapped, where the record of the mapping tells.
    pub build_id: Option<&'a [u8]>,
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
    /// Takes a record of a mapping, whose header has `misc`.
    pub fn map(&mut self, map: &Map<'_>, misc: u16) {
        let is_kernel = map.pid == KERNEL_PID || misc & CPU_MODE == KERNEL;
        let anonymous = !is_kernel && is_anonymous(map.name);
        let name = if is_kernel {
            kernel_name(map.name).into()
        } else if anonymous && map.is_executable() {
            // The file in which a compiler at run time can say what it made (map__new(),
            // tools/perf/util/map.c).
            format!("/tmp/perf-{}.map", map.pid).into_bytes().into()
        } else {
            map.name.into()
        };
        let mapped = Mapped {
            end: map.address.saturating_add(map.length),
            offset: map.offset,
            name,
            is_file: !is_kernel && !anonymous,
            build_id: match map.more.map(|more| more.file) {
                Some(MappedFile::BuildId(id)) if !id.is_empty() => Some(id.into()),
                _ => None,
            },
            reference: is_kernel.then(|| reference(map)).flatten(),
        };
        if is_kernel {
            self.kernel.insert(map.address, mapped);
        } else {
            let space = self.processes.entry(map.pid).or_default();
            Arc::make_mut(space).insert(map.address, mapped);
        }
    }

    /// A new process has the mappings of the one that made it.
    pub fn fork(&mut self, task: &Task) {
        if task.pid == task.parent_pid {
            return;
        }
        match self.processes.get(&task.parent_pid) {
            Some(space) => {
                let space = Arc::clone(space);
                self.processes.insert(task.pid, space);
            }
            None => {
                self.processes.remove(&task.pid);
            }
        }
    }

    /// A process that executes another program has none of its mappings any more.
    pub fn executed(&mut self, pid: Pid) {
        self.processes.remove(&pid);
    }

    /// A process, by the id of its first thread, is gone for long.
    pub fn forget(&mut self, pid: Pid) {
        self.processes.remove(&pid);
    }

    /// The files that a process has mapped, each mapping by its beginning.
    pub fn files(&self, pid: Pid) -> impl Iterator<Item = Place<'_>> {
        let space = self.processes.get(&pid).into_iter();
        let starts = space.flat_map(|space| space.0.keys());
        let places = starts.filter_map(move |start| self.find(pid, USER, *start));
        places.filter(|place| place.name.starts_with(b"/"))
    }

    /// What is at an address that was seen in the CPU's mode `misc`. Where nothing tells of the
    /// kernel's mappings, all that is the kernel's is in [`KERNEL_ITSELF`], as in perf.
    pub fn find(&self, pid: Pid, misc: u16, address: u64) -> Option<Place<'_>> {
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
        if is_kernel && self.kernel.0.is_empty() {
            return Some(Place {
                name: KERNEL_ITSELF,
                offset: address,
                is_kernel,
                start: 0,
                reference: None,
                build_id: None,
            });
        }
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
            start,
            reference: mapped.reference,
            build_id: mapped.build_id.as_deref(),
        })
    }
}

// machine__process_kernel_mmap_event(), tools/perf/util/machine.c: the offset is the address of the
// symbol behind the name.
fn reference(map: &Map<'_>) -> Option<Reference> {
    let symbol = map.name.strip_prefix(KERNEL_ITSELF)?;
    let name = ["_text", "_stext"]
        .into_iter()
        .find(|name| name.as_bytes() == symbol)?;
    (map.offset != 0).then_some(Reference {
        name,
        address: map.offset,
    })
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

/// The addresses of a call chain, each with the mode of the CPU. Words from -4095 on are marks
/// (`PERF_CONTEXT_*`) of the mode of those behind.
pub fn addresses(misc: u16, words: &[u8]) -> impl Iterator<Item = (u16, u64)> {
    let (words, _) = words.as_chunks::<8>();
    let mut mode = misc & CPU_MODE;
    words.iter().filter_map(move |word| {
        let word = u64::from_ne_bytes(*word);
        mode = match word.cast_signed() {
            -32 => 3,
            -128 => KERNEL,
            -512 | -640 => USER,
            -4095..=-1 => 0,
            _ => return Some((mode, word)),
        };
        None
    })
}

/// A function at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its name, as perf has it.
    pub name: Arc<str>,
    /// How far into it the address is, in bytes.
    pub into: u64,
    /// The line of the source.
    pub line: Option<Line>,
    /// Whether it stands inside of the next, which is the one that called it.
    pub is_inlined: bool,
}

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The path, as the compiler knew it.
    pub file: Arc<str>,
    /// The number, from 1.
    pub number: u32,
}

/// What is to be known of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Depth {
    /// The function, by the symbols of its file.
    Function,
    /// Source lines as well, and the functions that the compiler put into it.
    Lines,
}

/// What a thread was doing when it was looked at: registers, and the end of its stack.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'a> {
    /// The process whose mappings hold.
    pub pid: Pid,
    /// Bits of `PERF_REG_*`, and the values of those registers.
    pub mask: u64,
    /// In the order of the bits.
    pub registers: crate::record::Registers<'a>,
    /// From the stack pointer on.
    pub stack: &'a [u8],
}

/// How the way from frame to frame ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// At the first function of the thread.
    Outermost,
    /// There are as many as were asked for.
    Enough,
    /// The copy of the stack is too short for the next.
    Cut,
    /// What tells where the caller of the last frame is leads nowhere.
    Lost,
    /// No table tells where the caller of the last frame is: neither in the function's file nor in
    /// a file of debugging information for it.
    NoTable,
}

/// The machine that addresses were recorded on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The kind of machine, as `uname -m` has it.
    pub machine: Option<String>,
    /// The kernel's release.
    pub release: Option<String>,
    /// Build ids of files by their names; that of the kernel by [`KERNEL_ITSELF`].
    pub build_ids: BTreeMap<Box<[u8]>, Box<[u8]>>,
}

/// Finds the names of addresses, and the way from a frame to its caller.
pub trait Symbols {
    /// Says where the addresses of later calls were recorded. Without it they are of this machine,
    /// now.
    fn recorded(&mut self, origin: Origin);

    /// The functions at an address, the innermost first: those that were inlined there, and the one
    /// that they were put into. None where it is not known.
    fn frames(&mut self, place: &Place<'_>, address: u64, depth: Depth) -> &[Frame];

    /// Appends the addresses of a thread's frames, from the innermost on; of a caller the last byte
    /// of its call.
    fn unwind(
        &mut self,
        maps: &Maps,
        snapshot: &Snapshot<'_>,
        most: usize,
        addresses: &mut Vec<u64>,
    ) -> End;
}

/// Knows no name and no caller.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSymbols;

impl Symbols for NoSymbols {
    fn recorded(&mut self, _: Origin) {}

    fn frames(&mut self, _: &Place<'_>, _: u64, _: Depth) -> &[Frame] {
        &[]
    }

    fn unwind(&mut self, _: &Maps, _: &Snapshot<'_>, _: usize, _: &mut Vec<u64>) -> End {
        End::Lost
    }
}
