//! Single calls of a workload, held in front of the kernel and answered.
//!
//! ```text
//! HeldCalls --program--> the filter, installed by the child in front of its execve
//!    a call of these  --> Listener --> Supervisor --> Judge::decide -> Decision
//!                                          |  delay, signal, a call made for its thread
//!                                          +--> Log (what the records do not tell) and the answer
//! ```
//! A call that is answered has no entering half in the records: `syscall_trace_enter()` asks
//! seccomp before it fires the tracepoint. The log has what is missing there.

mod aliases;
mod allowing;
mod buffer;
mod copying;
mod depending;
mod filter;
mod log;
mod looking;
mod making;
mod moving;
mod opened;
mod own_filters;
mod parts;
mod present;
mod reaching;
mod reading;
mod resolving;
mod supervisor;
mod walking;

pub use crate::sys::landlock::Ruled;
pub use aliases::Aliases;
pub use allowing::{AllowedCalls, Denial, TooLong};
pub use filter::HeldCalls;
pub use log::{Log, Logged};
pub use looking::{Look, Named, OpenFile};
pub use making::{MADE, SHORTER, first_without};
pub use opened::{Streams, name_of};
pub use own_filters::{Own, asks_tracer};
pub use parts::length_of;
pub use reaching::Wanted;
pub use reading::{read_memory, stack_from};
pub use resolving::{Led, Paths, Start};
pub use supervisor::{Decision, End, GateError, Held, Judge, Supervisor};
