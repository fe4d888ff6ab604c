//! How strict a snapshot can be: from what many runs did to the strictest view in which all of them
//! are the same.
//!
//! ```text
//! runs under several conditions -> Evidence -> search: everything in sequence, and as long as two runs of a scenario differ, the first
//!                                              process that differs is shown with less:
//!
//!   sequence    names of files that are other ones in each run become temporary
//!   sequence    but for some calls, of which only the number counts, or that they occur, or nothing
//!   counts      but for some calls, of which it counts that they occur, or nothing
//!   set         but for calls that not every run makes
//! ```
//!
//! The first one that differs: things (pipes, sockets) are numbered in the order of the text, so
//! what comes before a difference cannot be its effect. If the processes themselves differ between
//! runs, those of a program are taken together.
//!
//! Pure. What is the same in every run is taken to be fixed: the conditions of the runs have to
//! bring out what varies. What varies too rarely for that is looked for in the runs themselves:
//! races that show whichever task won them (`hazard`); what varies in another process of the same
//! program that does the same; what threads do that do anything in another order; and calls that
//! some runs made only once or twice, and others more often, which some run to come will not make
//! at all.

mod compare;
mod condition;
mod evidence;
mod finding;
mod hazard;
mod reason;
mod search;
mod temporary;
mod treated;
mod varying;

pub use condition::Condition;
pub use evidence::Evidence;
pub use finding::{Calibration, Finding, Unpinned, Unsettled, Who};
pub use reason::Reason;
pub use search::calibrate;
pub use varying::Varying;

#[cfg(test)]
mod tests;
