//! The workload's whole life: `Corked -> Running -> Exited`, each the only way to the next.
//!
//! ```text
//! launch(&Workload) -> Corked      parked; events are opened on Corked::pid()
//! Corked::uncork()  -> Running     or the stage that failed and its errno
//! Running::collect()               output and obituary, as they come
//! Running::finish() -> Exited      reaped
//! ```
//! Dropping one of the first two ends the workload: nothing survives an error or a panic.

mod base;
mod cgroup;
mod controllers;
mod error;
mod files;
mod holes;
mod launch;
mod left;
mod output;
mod part;
mod process;
mod program;
mod running;
mod spec;
mod status;
mod stdio;
mod steps;
mod user;
mod world;

pub use base::Base;
pub use cgroup::{Cgroup, CgroupError, Members};
pub use error::LaunchError;
pub use files::{Content, File, WorkDir, WorkDirError};
pub use holes::{Parts, held};
pub use launch::{Corked, Workload, launch};
pub use left::{FileType, Left, LeftContent, LeftFile, Room};
pub use output::Captured;
pub use part::Part;
pub use program::{NotExecuted, Program};
pub use running::{Exited, Running};
pub use spec::{Addresses, Network, Root, Survivors, UserSpec, WorldSpec};
pub use stdio::Stdio;
pub use user::find_user;
pub use world::{INSIDE, OwnWorld, World, Worlds};
