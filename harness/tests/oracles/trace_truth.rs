//! The trace tells what the workload knows that it did.

mod births;
mod endings;
mod lines;
mod refusals;
mod rings;
mod signals;
