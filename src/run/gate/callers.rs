//! The functions that led to a call, while it is held.
//!
//! ```text
//! procfs: it sleeps, at this stack pointer and instruction --> Sleepers: its registers there
//!     its stack and its mappings, as they are now --> Book: each caller, by name
//! ```

use crate::matching::functions_of;
use crate::run::chains::frame;
use crate::run::functions::Functions;
use crate::scenario::Test;
use perf_live::events::Sleepers;
use perf_live::gate::{Held, stack_from};
use perf_live::host::{CodeMapping, Host};
use perf_live::symbols::Book;
use perf_records::record::Map;
use perf_records::space::{End, Frame, Maps, Snapshot, Stack, StackFrame, Symbols, USER};
use perf_records::units::{Pid, Tid, shown_path};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The most functions of a chain. The copies of stacks that are recorded have fewer.
const MOST: usize = 1024;

/// How much of a stack is read: first, and where that is too little.
const PIECES: [usize; 2] = [32 << 10, 8 << 20];

/// How long it waits for a thread that goes to sleep, after some looks without any wait.
const TICK: Duration = Duration::from_micros(100);
const LOOKS: u32 = 100;

/// Finds the functions that led to calls.
#[derive(Debug)]
pub(super) struct Callers<'a> {
    host: &'a Host,
    pub(super) sleepers: Sleepers,
    book: Book,
    functions: Functions,
}

impl<'a> Callers<'a> {
    /// Makes one; the first folder is the working directory as the workload sees it, and the second
    /// where it lies on the host.
    pub(super) fn new(
        host: &'a Host,
        sleepers: Sleepers,
        (inside, outside): (&Path, &Path),
    ) -> Self {
        let mut book = Book::new(Host::running());
        book.moved(inside, outside);
        Self {
            host,
            sleepers,
            book,
            functions: Functions::default(),
        }
    }

    /// The functions that led to a call, or why they are not known; `waits` says whether it is
    /// still held, and `asked` are the tests of those that are asked for.
    pub(super) fn of(
        &mut self,
        call: &Held,
        asked: &[&Test],
        waits: &dyn Fn() -> bool,
    ) -> Result<Arc<Stack>, String> {
        let gone = || "it waits no more".to_owned();
        let at = self.asleep(call, waits).ok_or_else(gone)?;
        self.sleepers.look();
        let registers = self.sleepers.registers(call.thread, at);
        let registers = registers.map_err(|error| error.to_string())?;
        let pid = Pid(self.host.process_of(call.thread).ok_or_else(gone)?);
        let code = self.host.code_of(pid);
        let maps = mappings(pid, &code);
        let (mut addresses, mut end) = (Vec::new(), End::Cut);
        for most in PIECES {
            let stack = stack_from(call.thread, at.0, most);
            let snapshot = Snapshot {
                pid,
                mask: self.sleepers.mask(),
                registers,
                stack: &stack,
            };
            addresses.clear();
            end = self.book.unwind(&maps, &snapshot, MOST, &mut addresses);
            if end != End::Cut || stack.len() < most {
                break;
            }
        }
        let mut stack = Stack {
            end: Some(end),
            ..Stack::default()
        };
        for address in addresses {
            let from = (&maps, &mut self.book);
            frame(from, &mut stack, (pid, USER), address, 0);
        }
        let mut functions = asked.iter().flat_map(|test| functions_of(test));
        let has = |test: &Test| self.functions.has((pid, &maps), &mut self.book, test);
        let are_known = functions.all(has);
        match are_known {
            true => self.name_others((pid, &maps), &mut stack),
            false => stack.is_partial = true,
        }
        Ok(Arc::new(stack))
    }

    /// Names the functions whose files are known and have no name for them: where each function
    /// that is asked for is one of some file, they are none of these.
    fn name_others(&mut self, (pid, maps): (Pid, &Maps), stack: &mut Stack) {
        for frame in &mut stack.frames {
            let place = maps.find(pid, USER, frame.address);
            let is_known = place.is_some_and(|place| {
                place.name.starts_with(b"/") && self.book.has_function(&place, &|_| true).is_some()
            });
            if let (None, Some(file), true) = (&frame.function, &frame.file, is_known) {
                let last = file.rsplit('/').next().unwrap_or_default();
                frame.function = Some(Frame {
                    name: format!("[{last}]").into(),
                    into: 0,
                    line: None,
                    is_inlined: false,
                });
            }
        }
    }

    /// Waits until a thread is off its CPU, which it is soon: where it sleeps then. `None` where
    /// its call is held no more.
    fn asleep(&self, call: &Held, waits: &dyn Fn() -> bool) -> Option<(u64, u64)> {
        let mut looks = 0;
        while waits() {
            if let Some((stack, instruction)) = self.host.sleeps_at(call.thread) {
                let is_it = instruction == call.instruction;
                return is_it.then_some((stack, instruction));
            }
            looks += 1;
            match looks {
                ..LOOKS => std::thread::yield_now(),
                _ => std::thread::sleep(TICK),
            }
        }
        None
    }

    /// What could not be named, and why: each is given once.
    pub(super) fn notes(&mut self) -> impl Iterator<Item = String> {
        self.book.notes()
    }
}

/// Why a chain does not tell more; `None` where it tells all.
pub(super) fn why(stack: &Stack) -> Option<String> {
    let name = |frame: &StackFrame| match frame.name() {
        Some(name) => format!("`{name}`"),
        None => {
            let file = frame.file.as_deref().unwrap_or("no file");
            format!("a function of `{}`", shown_path(Path::new(file)))
        }
    };
    let last = stack.frames.last().map(name);
    let last =
        last.unwrap_or_else(|| "the call, which has not the registers of 64 bits".to_owned());
    let mut frames = stack.frames.iter();
    let unnamed = frames.find(|frame| frame.function.is_none());
    Some(match stack.end {
        Some(End::Lost) => format!("nothing tells the caller of {last}"),
        Some(End::NoTable) => {
            let file = stack.frames.last().and_then(|frame| frame.file.as_deref());
            let file = shown_path(Path::new(file.unwrap_or("no file")));
            format!(
                "`{file}` has no table of the caller of {last}, `.eh_frame` or `.debug_frame`: \
                 install its debug symbols"
            )
        }
        Some(End::Cut) => format!("the stack could not be read behind {last}"),
        Some(End::Enough) => format!("there are more than {MOST} functions"),
        Some(End::Outermost) | None if stack.is_partial => {
            "no file of the process has a function that is asked for: its name was stripped, or it \
             was put into its caller"
                .to_owned()
        }
        Some(End::Outermost) | None => format!("{} has no name", name(unnamed?)),
    })
}

/// The mappings of code of a process, as they are now.
fn mappings(pid: Pid, code: &[CodeMapping]) -> Maps {
    let mut maps = Maps::default();
    for code in code {
        let (start, end) = code.range;
        let map = Map {
            pid,
            tid: Tid(pid.0),
            address: start,
            length: end.saturating_sub(start),
            offset: code.offset,
            name: code.name.as_bytes(),
            is_data: false,
            more: None,
        };
        maps.map(&map, USER);
    }
    maps
}
