#![doc = include_str!("README.md")]

#[cfg(test)]
extern crate self as perf_live;

pub mod capture;
#[cfg(test)]
mod captured_sources;
pub mod elf;
pub mod errors;
pub mod events;
pub mod files;
pub mod gate;
pub mod host;
pub mod probes;
pub mod ring;
pub mod sandbox;
pub mod symbols;
#[expect(unsafe_code, reason = "the one room for it")]
pub mod sys;
pub mod units;
