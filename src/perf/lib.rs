#![doc = include_str!("README.md")]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate self as perf_records;

/// A capture by the name of its file.
#[cfg(test)]
macro_rules! captured {
    ($name:literal) => {
        $crate::captured::Captured::read(include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../harness/fixtures/payloads/",
            $name,
            ".txt"
        )))
    };
}

#[cfg(test)]
mod captured;

pub mod attr;
#[deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used
)]
pub mod decode;
#[deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used
)]
pub mod format;
pub mod glob;
pub mod merge;
#[deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used
)]
pub mod perfdata;
#[deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used
)]
pub mod print;
#[deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used
)]
pub mod record;
pub mod script;
pub mod space;
pub mod units;
