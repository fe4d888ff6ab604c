//! Policies for seccomp, and rules of [Landlock](landlock): made from what scenarios need, read,
//! compared and judged by.
//!
//! ```text
//! Observation --note--> Needs of a run --add--> Demand of all scenarios --Policy::of--> Policy
//!                         |                        |                                     |
//!                         +-- told(policy): what it refuses            text, why <-------+
//!                                                  +-- drift(policy)   Policy::read -----^
//! ```
//! Nothing here runs anything, and nothing here reads a file.

mod demand;
mod drift;
mod file;
mod groups;
mod json;
pub mod landlock;
mod minijail;
mod model;
mod needs;
mod oci;
mod systemd;
mod told;
mod why;

pub use demand::{Demand, Need, Needed, Whose};
pub use drift::{Drift, drift};
pub use file::PolicyFile;
pub use model::{Answer, Complaint, Form, Place, Policy, Rule, Test};
pub use needs::{Needs, Words, told_by};
pub use told::{Refusal, told};
pub use why::why;

#[cfg(test)]
mod tests;
