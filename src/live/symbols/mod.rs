//! Names of addresses: functions by the symbols of their files, source lines and inlined functions
//! by debug information, the kernel's by what it tells of itself; and callers, by the copy of a
//! stack.
//!
//! ```text
//! space::Place --Book--> Binary: symbols, call frames | Kernel: symbols | Reader: lines --> space::Frame
//! ```
//!
//! A name is never guessed. If a file or a kernel is not the one that was recorded, it names
//! nothing, and says so once ([`Book::notes`]). Of several names for one address, the choice is
//! perf's.

mod file;
mod kernel;
mod lines;
mod table;
mod unwind;

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests;

use crate::files;
use crate::host::Host;
use file::Binary;
use kernel::Kernel;
use perf_records::space::{Depth, End, Frame, Line, Maps, Origin, Place, Snapshot, Symbols, USER};
use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use table::readable;
use unwind::State;

/// So many addresses are remembered.
const REMEMBERED: usize = 1 << 16;

/// The kernel's own library in each program.
const VDSO: &[u8] = b"[vdso]";

/// Knows names, as the files of this machine and its kernel tell them.
#[derive(Debug)]
pub struct Book {
    host: Host,
    /// What is known by the first path lies at the second.
    moved: Option<(PathBuf, PathBuf)>,
    origin: Option<Origin>,
    files: HashMap<Box<[u8]>, Vec<Known>>,
    kernel: Option<Option<Kernel>>,
    is_same_kernel: Option<bool>,
    /// Whether it was recorded on another kind of machine, and that this was said.
    is_elsewhere: bool,
    /// Whether it was reported that the kernel's address is not known.
    is_without_place: bool,
    lines: lines::Reader,
    /// Files whose debug information makes no sense.
    without_lines: HashSet<PathBuf>,
    found: HashMap<Key, Box<[Frame]>>,
    context: gimli::UnwindContext<usize>,
    notes: VecDeque<String>,
}

/// A file, as it was recorded.
#[derive(Debug)]
struct Known {
    build_id: Option<Box<[u8]>>,
    /// Unless it is not to be used.
    binary: Option<Code>,
    number: usize,
}

#[derive(Debug)]
enum Code {
    Binary(Box<Binary>),
    /// What a compiler at run time says of its code: by addresses.
    Compiled(table::Table),
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    file: usize,
    address: u64,
    depth: Depth,
}

/// The kernel's place among the files.
const OF_KERNEL: usize = usize::MAX;

impl Book {
    /// Of what runs on this machine now, until [`Symbols::recorded`] says where it was.
    #[must_use]
    pub fn new(host: Host) -> Self {
        Self {
            host,
            moved: None,
            origin: None,
            files: HashMap::new(),
            kernel: None,
            is_same_kernel: None,
            is_elsewhere: false,
            is_without_place: false,
            lines: lines::Reader::new(),
            without_lines: HashSet::new(),
            found: HashMap::new(),
            context: gimli::UnwindContext::new(),
            notes: VecDeque::new(),
        }
    }

    /// What was known by the path `inside` where it was recorded lies at `outside`.
    pub fn moved(&mut self, inside: &Path, outside: &Path) {
        self.moved = Some((inside.to_owned(), outside.to_owned()));
    }

    /// What could not be named, and why: each is given once.
    pub fn notes(&mut self) -> impl Iterator<Item = String> {
        self.notes.drain(..)
    }

    /// Whether a file has a function with a name that `is_it` knows, one that was put into its
    /// callers where its debug information has it; `None` where nothing is known of the file.
    pub fn has_function(
        &mut self,
        place: &Place<'_>,
        is_it: &dyn Fn(&str) -> bool,
    ) -> Option<bool> {
        let (_, code) = self.file(place).filter(|_| !place.is_kernel)?;
        let (table, lines) = match code {
            Code::Binary(binary) => (&binary.table, binary.lines.as_deref()),
            Code::Compiled(table) => (table, None),
        };
        let is_named = table.names().any(|name| is_it(&readable(name)));
        Some(is_named || lines.is_some_and(|file| file::has_debug_name(file, is_it)))
    }

    /// Whether the kernel has a function with a name that `is_it` knows; one whose symbols cannot
    /// be read may.
    pub fn kernel_has(&mut self, is_it: &dyn Fn(&str) -> bool) -> bool {
        self.kernel().is_none_or(|kernel| kernel.names().any(is_it))
    }

    /// The file of a place; its number is `None` where nothing is known of it.
    fn file(&mut self, place: &Place<'_>) -> Option<(usize, &Code)> {
        let recorded = place.build_id.or_else(|| {
            let origin = self.origin.as_ref()?;
            Some(&**origin.build_ids.get(place.name)?)
        });
        let recorded: Option<Box<[u8]>> = recorded.map(Into::into);
        let known = self.files.get(place.name).map_or(&[][..], Vec::as_slice);
        let at = known.iter().position(|known| known.build_id == recorded);
        let at = match at {
            Some(at) => at,
            None => {
                let binary = self.open(place.name, recorded.as_deref());
                let number = self.files.values().map(Vec::len).sum();
                let all = self.files.entry(place.name.into()).or_default();
                all.push(Known {
                    build_id: recorded,
                    binary,
                    number,
                });
                all.len().saturating_sub(1)
            }
        };
        let known = self.files.get(place.name)?.get(at)?;
        Some((known.number, known.binary.as_ref()?))
    }

    fn open(&mut self, name: &[u8], recorded: Option<&[u8]>) -> Option<Code> {
        let path = Path::new(OsStr::from_bytes(name));
        let shown = perf_records::units::shown_path(path);
        if name == VDSO {
            let binary = Binary::of_memory(&self.host.vdso()?).ok()?;
            let is_it = match recorded {
                Some(recorded) => binary.build_id.as_deref() == Some(recorded),
                None => self.is_same_kernel(),
            };
            return is_it.then(|| Code::Binary(Box::new(binary)));
        }
        if !name.starts_with(b"/") || name.starts_with(b"//") {
            return None;
        }
        if name.starts_with(b"/tmp/perf-") && name.ends_with(b".map") {
            let text = files::read(path, files::FUNCTIONS).ok()?;
            return Some(Code::Compiled(file::compiled(&text)));
        }
        let moved = self.moved.as_ref();
        let moved = moved.and_then(|(inside, outside)| {
            let below = path.strip_prefix(inside).ok()?;
            Some(outside.join(below))
        });
        let binary = match Binary::open(moved.as_deref().unwrap_or(path)) {
            Ok(binary) => binary,
            Err(error) => {
                let error = crate::errors::chain(&error);
                self.notes
                    .push_back(format!("functions of `{shown}` are not named: it {error}"));
                return None;
            }
        };
        if recorded.is_some_and(|recorded| binary.build_id.as_deref() != Some(recorded)) {
            self.notes.push_back(format!(
                "functions of `{shown}` are not named: it is another file than the one that was recorded (its build id differs)"
            ));
            return None;
        }
        if binary.table.is_empty() && binary.lines.is_none() {
            self.notes.push_back(format!(
                "functions of `{shown}` are not named: it has no symbols"
            ));
        }
        Some(Code::Binary(Box::new(binary)))
    }

    fn user_frames(&mut self, place: &Place<'_>, address: u64, depth: Depth) -> Box<[Frame]> {
        let Some((_, code)) = self.file(place) else {
            return Box::default();
        };
        let (table, at, lines) = match code {
            Code::Binary(binary) => {
                let Some(at) = binary.address(place.offset) else {
                    return Box::default();
                };
                (&binary.table, at, binary.lines.clone())
            }
            Code::Compiled(table) => (table, address, None),
        };
        let symbol = table.find(at);
        let symbol = symbol.map(|(symbol, into)| (readable(&symbol.name), into));
        let mut said = lines::Lines::default();
        if let (Depth::Lines, Some(file)) = (depth, lines) {
            match self.lines.find(&file, at) {
                Ok(lines) => said = lines,
                Err(error) => {
                    if self.without_lines.insert(file.clone()) {
                        let file = perf_records::units::shown_path(file);
                        self.notes
                            .push_back(format!("`{file}` has no source lines: {error}"));
                    }
                }
            }
        }
        let Some((name, into)) = symbol.or_else(|| Some((said.name.take()?, 0))) else {
            return Box::default();
        };
        let frame = |name, line: Option<Line>, is_inlined| Frame {
            name,
            into,
            line,
            is_inlined,
        };
        let inlined = said.inlined.into_iter();
        let inlined = inlined.map(|(name, line)| frame(name, line, true));
        inlined.chain([frame(name, said.line, false)]).collect()
    }
}

impl Symbols for Book {
    fn recorded(&mut self, origin: Origin) {
        if self.origin.as_ref() != Some(&origin) {
            self.origin = Some(origin);
            self.is_same_kernel = None;
            self.files.clear();
            self.found.clear();
        }
        let origin = self.origin.as_ref();
        let machine = origin.and_then(|origin| origin.machine.as_deref());
        let other = machine.filter(|machine| *machine != std::env::consts::ARCH);
        let was_elsewhere = std::mem::replace(&mut self.is_elsewhere, other.is_some());
        if let Some(machine) = other.filter(|_| !was_elsewhere) {
            self.notes.push_back(format!(
                "no functions are named: it was recorded on another kind of machine ({machine})"
            ));
        }
    }

    fn frames(&mut self, place: &Place<'_>, address: u64, depth: Depth) -> &[Frame] {
        let file = if self.is_elsewhere {
            None
        } else if place.is_kernel {
            Some(OF_KERNEL)
        } else {
            self.file(place).map(|(number, _)| number)
        };
        let Some(file) = file else {
            return &[];
        };
        // The same place of a file is the same function wherever it is mapped.
        let key = Key {
            file,
            address: if place.is_kernel {
                address
            } else {
                place.offset
            },
            depth,
        };
        if self.found.len() > REMEMBERED {
            self.found.clear();
        }
        if !self.found.contains_key(&key) {
            let frames = if place.is_kernel {
                self.kernel_frames(place, address)
            } else {
                self.user_frames(place, address, depth)
            };
            return self.found.entry(key).or_insert(frames);
        }
        self.found.get(&key).map_or(&[], |frames| frames)
    }

    fn unwind(
        &mut self,
        maps: &Maps,
        snapshot: &Snapshot<'_>,
        most: usize,
        addresses: &mut Vec<u64>,
    ) -> End {
        let machine = unwind::MACHINE;
        if self.is_elsewhere {
            return End::Lost;
        }
        // PERF_SAMPLE_REGS_ABI_64: frames of 32-bit programs have another layout.
        let values = snapshot.registers.iter();
        let Some(mut state) = (snapshot.registers.abi == 2)
            .then(|| State::new(machine, snapshot.mask, values, snapshot.stack))
            .flatten()
        else {
            return End::Lost;
        };
        let mut context = std::mem::take(&mut self.context);
        let mut n_frames = 0_usize;
        let end = loop {
            let address = state.address();
            addresses.push(address);
            n_frames = n_frames.saturating_add(1);
            if n_frames >= most {
                break End::Enough;
            }
            let Some(place) = maps.find(snapshot.pid, USER, address) else {
                break End::Lost;
            };
            let Some((_, Code::Binary(binary))) = self.file(&place) else {
                break End::Lost;
            };
            let Some(at) = binary.address(place.offset) else {
                break End::Lost;
            };
            if n_frames == 1 && at == binary.entry {
                break End::Outermost;
            }
            let slide = address.wrapping_sub(at);
            if let Err(end) = state.step(machine, &binary.call_frames, &mut context, slide) {
                break end;
            }
        };
        self.context = context;
        end
    }
}
