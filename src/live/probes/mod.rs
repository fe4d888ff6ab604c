//! Probes: from a name in a program or in the kernel to an event of tracefs that is a tracepoint
//! like any other, and goes with its owner.
//!
//! The kernel could also be asked for the place alone (its `uprobe` and `kprobe` event sources);
//! but those events have no fields.

mod convention;
mod dwarf;
mod elf;
mod error;
mod inlined;
mod mapped;
mod names;
mod registry;

pub use elf::{Binary, Found};
pub use error::{ArgumentError, ElfError, ProbeError};
pub use mapped::Mapped;
pub use registry::{Registered, Registry};
