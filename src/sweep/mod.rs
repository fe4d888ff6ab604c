//! What a sweep learns from a run, fails once each, and makes of the answers.
//!
//! A *site* stands for the calls of a run that cannot be told apart: the same program makes the
//! same call, of the same files, with the same functions above it. For each site and each error
//! that such a call can have there is one run with one fault, and each run has a class. Nothing
//! here runs anything: the runs are made in `run`, as those of `harness run` are.

mod class;
mod errors;
mod files;
mod found;
mod kind;
mod learned;
mod meant;
mod seen;
mod site;
mod stored;

pub use class::{Class, Given, How, Told, classify};
pub use errors::{Errors, NoRow, known_errors};
pub use learned::Learned;
pub use meant::{Matching, opened_where};
pub use seen::Seen;
pub use site::{Choice, Lost, Place, Shape, Site, Spot, gone, sites};
pub use stored::looked_at;
