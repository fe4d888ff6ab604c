#![doc = include_str!("ARCHITECTURE.md")]

pub mod attr;
pub mod calibrate;
pub mod capture;
#[deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used
)]
pub mod decode;
pub mod errors;
pub mod events;
pub mod files;
#[deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used
)]
pub mod format;
pub mod host;
pub mod matching;
pub mod matrix;
pub mod memory;
pub mod merge;
pub mod mutate;
#[deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used
)]
pub mod perfdata;
pub mod plan;
#[deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used
)]
pub mod print;
pub mod probes;
#[deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used
)]
pub mod record;
pub mod report;
pub mod ring;
pub mod run;
pub mod sandbox;
pub mod scenario;
pub mod script;
pub mod snapshot;
pub mod space;
pub mod suggest;
pub mod symbols;
#[expect(unsafe_code, reason = "the one room for it")]
pub mod sys;
pub mod syscall;
pub mod trace;
pub mod units;
pub mod upgrade;
pub mod verdict;
