//! The records of a run in a file: written as perf does, with what only the harness knows of the
//! run, and read again as if the run took place now.

mod bytes;
mod described;
mod executed;
mod held;
mod held_stack;
mod inject;
mod lay;
mod left;
mod replay;
mod saved;
mod saving;
mod store;
mod sum;
mod tally;

pub use described::Preface;
pub use inject::{InjectError, Injected, inject_file, inject_pipe};
pub(super) use replay::of_baseline;
pub use replay::{RecordedRun, ReplayError};
pub use saved::Saved;
pub use saving::Saving;
pub(super) use store::origin;
pub use store::{Output, Store, StoreError, StoreOptions, chosen_cpus};
pub(super) use sum::Sum;
pub use tally::Stored;
pub(super) use tally::{Counted, Tally, sum_of};
