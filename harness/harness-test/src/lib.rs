//! Tests of a program's conversation with the kernel, in that program's own `cargo test`.
//!
//! This crate is small: the work is done by the program `harness`, which has to be installed. It is
//! found by the variable `HARNESS`, else in `PATH`.
//!
//! # A folder of scenarios
//!
//! Each scenario file below `tests/kernel` is a test, with the arguments of `cargo test` (names,
//! `--exact`, `--skip`, `--list`, `--ignored`) and of `cargo nextest`. In `Cargo.toml`:
//!
//! ```toml
//! [[test]]
//! name = "kernel"
//! harness = false
//! ```
//!
//! In `tests/kernel.rs`:
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     harness_test::run("tests/kernel")
//! }
//! ```
//!
//! A test is named after its file; names of files that are called the same begin with the folders
//! that these are in.
//!
//! A scenario refers to the package's program `save` as `${CARGO_BIN_EXE_save}`. The program is
//! laid into the working directory of the sandbox, wherever the target folder is:
//!
//! ```yaml
//! description: save syncs the file before it renames it
//! workload: { run: ["${CARGO_BIN_EXE_save}", config], files: { config: "a = 1\n" } }
//! trace: { events: [{ syscalls: [fsync, "rename*"] }] }
//! expect: { sequence: [{ fsync: { returns: 0 } }, { "rename*": {} }] }
//! ```
//!
//! Snapshots are written and compared as `harness run` does it. `HARNESS_UPDATE` has insta's words,
//! and else `INSTA_UPDATE` is looked at: with `always` or `force` new ones are accepted, with
//! `unseen` those that have none yet, with `new` or `auto` they wait for review, with `no` nothing
//! is written. Nothing is written where `CI` is set either.
//!
//! `TEST_TOTAL_SHARDS` and `TEST_SHARD_INDEX`, as Bazel sets them, choose a share of the tests; with
//! `--list` or `--exact` they do not, as there somebody else divides.
//!
//! # In a test function
//!
//! ```no_run
//! use harness_test::Check;
//! # const SAVE: &str = "/bin/true";
//!
//! #[test]
//! fn save_syncs_before_it_renames() {
//!     // In a package with the program `save`: env!("CARGO_BIN_EXE_save")
//!     Check::of(SAVE)
//!         .args(["config"])
//!         .file("config", "a = 1\n")
//!         .sequence(["fsync: { fd: config.tmp, returns: 0 }", "rename*: { to: config }"])
//!         .never("%network")
//!         .files_after("config", "a = 2\n")
//!         .run()
//!         .assert();
//! }
//! ```
//!
//! A test that this machine cannot run (`requires`, a missing right) is ignored in a folder of
//! scenarios, and fails in a test function. `HARNESS_REQUIRE=all` makes it a failure everywhere,
//! and so does nextest, which has no word for a test that finds out that it has to be skipped.

#![forbid(unsafe_code)]

mod check;
mod outcome;
mod program;
mod trials;
mod update;
#[cfg(test)]
mod update_tests;
mod words;

pub use check::{Check, trace};
pub use outcome::{Outcome, Verdict};
pub use program::{Error, Refused};
pub use trials::run;
pub use words::{Events, Expected};
