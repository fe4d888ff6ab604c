#![doc = include_str!("README.md")]
#![forbid(unsafe_code)]

pub mod calibrate;
#[cfg(test)]
#[path = "perf/captured.rs"]
mod captured;
#[cfg(test)]
#[path = "live/captured_sources.rs"]
mod captured_sources;
pub mod crash;
pub mod matching;
pub mod matrix;
pub mod mutate;
pub mod plan;
pub mod policy;
pub mod report;
pub mod run;
pub mod scenario;
pub mod snapshot;
pub mod suggest;
pub mod sweep;
pub mod testing;
pub mod trace;
pub mod upgrade;
pub mod verdict;

pub use testing::{Error, Scenario};
