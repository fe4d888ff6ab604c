//! Uses the kernel's own copies of the memory behind arguments, if BPF programs may not read it.
//! From Linux 6.19 on a call's own tracepoint holds some of its strings: `sys_enter_openat` has
//! `__filename_val` behind `filename` (`sys_fault_user()`, `kernel/trace/trace_syscalls.c`).
//! `raw_syscalls` lacks them, so each call takes a tracepoint of its own.

use super::calls::own_tracepoint;
use super::error::EventsError;
use super::events::{EventsPlan, Meaning};
use super::following;
use super::memory::MemoryReader;
use perf_live::host::{Catalogue, HostError};
use perf_records::format::{Extent as Place, Field, Format, Shape};
use syscall_model::memory::{Extent, Fetch, Moment};
use syscall_model::names::{self, Abi};
use syscall_model::pointers;
use syscall_model::select::Selection;

/// A call, and the arguments that its own tracepoint copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copies {
    /// The call's number, in the native convention.
    pub number: u32,
    /// The arguments that are copied.
    pub copied: Vec<Copied>,
}

/// A copied argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// The argument's place, from 0.
    pub argument: u8,
    /// The argument itself: the address.
    pub address: Field,
    /// The copy: a `__data_loc`.
    pub copy: Field,
    /// The form of the copied memory.
    pub form: Form,
}

/// The form of copied memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// A string. Its zero byte is copied as well, so that an empty one differs from one that could
    /// not be read. Of a long one there are some bytes (63, unless the kernel was built otherwise)
    /// and `...` behind them; bytes that Latin-1 has no printable character for are replaced by
    /// dots.
    Text,
    /// Bytes as they are, or as many of them as the kernel copies.
    Bytes {
        /// The argument that says how many there are.
        count: Field,
        /// How many fields are wanted.
        limit: u16,
    },
}

impl Copies {
    /// Returns which of these pieces of memory a tracepoint's record has; `None` if it has none.
    #[must_use]
    pub fn of(number: u32, format: &Format, wanted: &[Fetch]) -> Option<Self> {
        let own = |field: &&Field| !field.name.starts_with("__");
        let arguments: Vec<&Field> = format.fields.iter().filter(own).collect();
        let copied = wanted.iter().filter(|fetch| fetch.moment == Moment::Enter);
        let copied: Vec<Copied> = copied
            .filter_map(|fetch| {
                let address = *arguments.get(usize::from(fetch.argument))?;
                let copy = format.field(&format!("__{}_val", address.name))?;
                matches!(copy.shape, Shape::Block(Place::DataLoc, _)).then_some(())?;
                let form = match fetch.extent {
                    Extent::String => Form::Text,
                    Extent::Counted { count, unit: 1 } => Form::Bytes {
                        count: (*arguments.get(usize::from(count))?).clone(),
                        limit: fetch.limit,
                    },
                    _ => return None,
                };
                Some(Copied {
                    argument: fetch.argument,
                    address: address.clone(),
                    copy: copy.clone(),
                    form,
                })
            })
            .collect();
        (!copied.is_empty()).then_some(Self { number, copied })
    }
}

/// Whether this kernel copies strings at all: it does so for `openat(2)`, or for no call.
///
/// # Errors
/// [`HostError`].
pub fn has_copies(catalogue: &dyn Catalogue) -> Result<bool, HostError> {
    let openat = pointers::fetches_of("openat", 0);
    let format = own_tracepoint("sys_enter", "openat", catalogue)?;
    Ok(format.is_some_and(|(_, format)| Copies::of(0, &format, &openat).is_some()))
}

impl EventsPlan {
    /// Opens the own tracepoints of those calls whose strings they hold, if the kernel is to read.
    pub(super) fn add_copies(
        &mut self,
        recorded: &Selection,
        catalogue: &dyn Catalogue,
    ) -> Result<(), EventsError> {
        if self.memory.reader != MemoryReader::Kernel {
            return Ok(());
        }
        let wanted = following::wanted(recorded, self.memory.contents);
        let native = wanted
            .into_iter()
            .filter(|((abi, _), _)| *abi == Abi::native());
        for ((_, number), wanted) in native {
            let Some(call) = names::name(Abi::native(), number) else {
                continue;
            };
            if let Some((name, format)) = own_tracepoint("sys_enter", call, catalogue)?
                && let Some(copies) = Copies::of(number, &format, &wanted)
            {
                let meaning = Meaning::Copies(self.copies.len());
                self.add(name.as_str(), format.id, None, meaning);
                self.copies.push(copies);
            }
        }
        Ok(())
    }
}
