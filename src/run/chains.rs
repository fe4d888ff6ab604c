//! Names the functions that led to calls and events while the run goes on: the mappings are those
//! of the moment, and a process that has ended cannot be asked.

use super::Setting;
use super::faults::{Mapping, Scene};
use super::functions::Functions;
use super::halves::word;
use crate::matching::is_function;
use crate::plan::EventsPlan;
use crate::scenario::Test;
use perf_live::host::Host;
use perf_live::symbols::Book;
use perf_records::attr::Layout;
use perf_records::format::Format;
use perf_records::print;
use perf_records::record::{Header, Record, RecordError, Sample};
use perf_records::space::{
    Depth, KERNEL, Maps, Origin, Place, Snapshot, Stack, StackFrame, Symbols, USER, addresses,
};
use perf_records::units::Pid;
use std::collections::VecDeque;
use std::sync::Arc;

/// `PERF_RECORD_MISC_CPUMODE_MASK`.
const MODE: u16 = 7;

/// The most frames read from a copy of the stack, as in perf (`PERF_MAX_STACK_DEPTH`).
const MOST: usize = 127;

/// How many ended processes are remembered: some events arrive after their task's end.
const REMEMBERED: usize = 256;

/// Names the functions of call chains.
#[derive(Debug)]
pub(super) struct Chains {
    maps: Maps,
    book: Book,
    /// For each request, the mask of user registers in its records.
    registers: Vec<u64>,
    ended: VecDeque<Pid>,
    /// For each event that is no call, the fields that are functions of the kernel.
    functions: Vec<Vec<FunctionField>>,
    /// The functions that expectations say led to an event, and that neither a frame nor a file of
    /// a process has had so far.
    missing: Vec<Test>,
    known: Functions,
    /// Whether the kernel's functions may be meant, too.
    has_kernels: bool,
}

/// A field whose value is an address in a function of the kernel.
#[derive(Debug)]
struct FunctionField {
    /// Its place among the fields.
    place: usize,
    /// Where it lies in the record, in bytes.
    offset: usize,
    /// Whether the event's text says how far into the function.
    has_offset: bool,
}

/// The function that such a field points into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFunction {
    /// The field's place among those of the event.
    pub place: usize,
    /// The function's name.
    pub name: Arc<str>,
    /// The offset into the function in bytes, if the event's text shows it.
    pub into: Option<u64>,
}

/// The fields of an event that its text shows as functions.
fn function_fields(format: &Format) -> Vec<FunctionField> {
    let fields = print::function_fields(format).into_iter();
    let fields = fields.filter_map(|(name, has_offset)| {
        let place = format.fields.iter().position(|field| field.name == name)?;
        let field = format.fields.get(place).filter(|field| field.size == 8)?;
        Some(FunctionField {
            place,
            offset: field.offset,
            has_offset,
        })
    });
    fields.collect()
}

impl Chains {
    /// Returns `None` if the plan has no call chains, software events or functions to name.
    pub(super) fn new(plan: &EventsPlan, setting: &Setting) -> Option<Self> {
        let formats = plan.named.iter().map(|planned| planned.format.as_deref());
        let functions: Vec<_> = formats
            .map(|format| format.map(function_fields).unwrap_or_default())
            .collect();
        let has_functions = functions.iter().any(|fields| !fields.is_empty());
        (plan.has_chains() || plan.has_software() || has_functions).then(|| {
            let mut book = Book::new(Host::running());
            if let Some((inside, outside)) = &setting.moved {
                book.moved(inside, outside);
            }
            Self {
                maps: Maps::default(),
                book,
                registers: plan
                    .requests
                    .iter()
                    .map(|request| request.attr.user_registers)
                    .collect(),
                ended: VecDeque::new(),
                functions,
                missing: plan.functions.clone(),
                known: Functions::default(),
                has_kernels: false,
            }
        })
    }

    /// Says on which machine and with which build ids the records were made.
    pub(super) fn recorded(&mut self, origin: Origin) {
        self.book.recorded(origin);
    }

    /// Says which user registers the records of a request have.
    pub(super) fn has_registers(&mut self, place: usize, mask: u64) {
        if let Some(known) = self.registers.get_mut(place) {
            *known = mask;
        }
    }

    /// Returns the mask of user registers that the records of a request have.
    pub(super) fn registers(&self, place: usize) -> u64 {
        self.registers.get(place).copied().unwrap_or_default()
    }

    /// Takes mappings and their ends from a record.
    pub(super) fn record(&mut self, record: &Record<'_>, bytes: &[u8]) {
        let head = bytes.first_chunk().copied().unwrap_or_default();
        match record {
            Record::Comm(comm, _) if comm.exec => self.maps.executed(comm.pid),
            Record::Fork(task, _) => self.maps.fork(task),
            Record::Map(map, _) => self.maps.map(map, Header::from_bytes(head).misc),
            Record::Exit(task, _) if task.pid.0 == task.tid.0 => {
                self.ended.push_back(task.pid);
                if self.ended.len() > REMEMBERED
                    && let Some(pid) = self.ended.pop_front()
                {
                    self.maps.forget(pid);
                }
            }
            _ => {}
        }
    }

    /// Returns the functions that led to a sample of the request `place`.
    pub(super) fn stack(
        &mut self,
        place: usize,
        layout: &Layout,
        sample: &Sample<'_>,
        bytes: &[u8],
    ) -> Result<Option<Arc<Stack>>, RecordError> {
        let (Some(words), Some((pid, _))) = (sample.callchain, sample.task) else {
            return Ok(None);
        };
        let head = bytes.first_chunk().copied().unwrap_or_default();
        let misc = Header::from_bytes(head).misc;
        let mut stack = Stack::default();
        let mut before = None;
        for (mode, address) in addresses(misc, words) {
            // Each frame but the innermost of its kind holds the return address, which may lie in
            // the next function already.
            let is_caller = before.replace(mode) == Some(mode);
            let (at, back) = ((pid, mode), u64::from(is_caller));
            frame((&self.maps, &mut self.book), &mut stack, at, address, back);
        }
        let tail = sample.tail(layout)?;
        let registers = sample.user_registers.or(tail.user_registers);
        let mask = self.registers(place);
        if let (Some(registers), Some(copy)) = (registers, tail.user_stack)
            && !copy.is_empty()
        {
            let snapshot = Snapshot {
                pid,
                mask,
                registers,
                stack: copy,
            };
            let mut unwound = Vec::new();
            let end = self.book.unwind(&self.maps, &snapshot, MOST, &mut unwound);
            stack.end = Some(end);
            for address in unwound {
                frame(
                    (&self.maps, &mut self.book),
                    &mut stack,
                    (pid, USER),
                    address,
                    0,
                );
            }
        }
        self.look_for_missing(pid, &stack);
        Ok((!stack.frames.is_empty()).then(|| Arc::new(stack)))
    }

    /// Takes out of what is missing what the frames of a stack or the files of its process have.
    fn look_for_missing(&mut self, pid: Pid, stack: &Stack) {
        self.has_kernels |= stack.frames.iter().any(|frame| frame.is_kernel);
        let (maps, book, known) = (&self.maps, &mut self.book, &mut self.known);
        self.missing.retain(|test| {
            let mut names = stack.frames.iter().filter_map(StackFrame::name);
            !names.any(|name| is_function(test, name)) && !known.has((pid, maps), book, test)
        });
    }

    /// Whether each function that expectations say led to an event is one that some process, or the
    /// kernel, has. One that none has may have led to any: its name was stripped, or it was put
    /// into its callers.
    pub(super) fn has_all(&mut self) -> bool {
        let (has_kernels, book) = (self.has_kernels, &mut self.book);
        let is_the_kernels = |test: &Test| book.kernel_has(&|name| is_function(test, name));
        has_kernels && self.missing.iter().all(is_the_kernels) || self.missing.is_empty()
    }

    /// Returns the function in which a software event fired, and the mapping that a fault's address
    /// is in.
    pub(super) fn scene(
        &mut self,
        sample: &Sample<'_>,
        bytes: &[u8],
        wants_functions: bool,
    ) -> Scene {
        let Some((pid, _)) = sample.task else {
            return Scene::default();
        };
        let head = bytes.first_chunk().copied().unwrap_or_default();
        let mode = Header::from_bytes(head).misc & MODE;
        let function = sample.ip.filter(|_| wants_functions).and_then(|ip| {
            let place = self.maps.find(pid, mode, ip)?;
            self.book
                .frames(&place, ip, Depth::Function)
                .first()
                .cloned()
        });
        let address = sample.address.filter(|address| *address != 0);
        let found = address.and_then(|address| {
            let place = self.maps.find(pid, USER, address)?;
            let is_file = place.name.starts_with(b"/") && !place.name.starts_with(b"//");
            Some(Mapping {
                name: String::from_utf8_lossy(place.name).into(),
                offset: match is_file {
                    true => place.offset,
                    false => address.saturating_sub(place.start),
                },
            })
        });
        Scene {
            function,
            mapping: found,
        }
    }

    /// Returns the functions that an event's fields point into.
    pub(super) fn functions(&mut self, place: usize, raw: &[u8]) -> Vec<NamedFunction> {
        let fields = self.functions.get(place).map_or(&[][..], Vec::as_slice);
        let mut named = Vec::new();
        for field in fields {
            let Some(address) = word(raw, field.offset) else {
                continue;
            };
            let Some(place) = self.maps.find(Pid(u32::MAX), KERNEL, address) else {
                continue;
            };
            let found = self.book.frames(&place, address, Depth::Function);
            if let Some(found) = found.last() {
                named.push(NamedFunction {
                    place: field.place,
                    name: Arc::clone(&found.name),
                    into: field.has_offset.then_some(found.into),
                });
            }
        }
        named
    }

    /// Returns what could not be named, and why.
    pub(super) fn notes(&mut self) -> Vec<String> {
        self.book.notes().collect()
    }
}

/// Appends the function at an address, looked up `back` bytes before it.
pub(super) fn frame(
    (maps, book): (&Maps, &mut Book),
    stack: &mut Stack,
    (pid, mode): (Pid, u16),
    address: u64,
    back: u64,
) {
    let looked = address.wrapping_sub(back);
    let place = maps.find(pid, mode, looked);
    let file = place.map(|place: Place<'_>| String::from_utf8_lossy(place.name).into());
    let is_kernel = mode == KERNEL;
    let frame = |function| StackFrame {
        address,
        is_kernel,
        file: Option::<Arc<str>>::clone(&file),
        function,
    };
    let found = match &place {
        Some(place) => book.frames(place, looked, Depth::Lines),
        None => &[],
    };
    if found.is_empty() {
        stack.frames.push(frame(None));
    }
    for found in found {
        let mut function = found.clone();
        function.into = function.into.wrapping_add(back);
        stack.frames.push(frame(Some(function)));
    }
}
