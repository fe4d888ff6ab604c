//! Rules of Landlock: made from what scenarios did to files, ports and others, read, compared and
//! judged by.
//!
//! ```text
//! Call --Touched::note--> Touched of a run --Demand--> wanted() --Ruleset::of--> Ruleset
//!                            |                            |                        |
//!                            +-- refusals(ruleset)        +-- drift(ruleset)       +-- text, why
//! ```
//! A rule is about what was there before the run, as it is made before the program begins: a file
//! by its own name, and a file that the run makes by the nearest folder above it that was there.

mod acts;
mod adding;
mod named;
mod opened;
mod ports;
mod read;
mod rights;
mod ruleset;
mod told;
mod touched;
mod wanted;

pub use rights::{ABI, Port, Right, Scope};
pub use ruleset::{DIRECTORY, Rule, Ruleset};
pub use told::{drift, refusals, why};
pub use touched::{Programs, Touched, Touching};
pub use wanted::untold;

#[cfg(test)]
mod tests;
