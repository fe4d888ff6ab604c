//! Writes reports for people and programs: calls and events as text and as JSON lines, summaries of
//! calls, runs as text, JSON lines, JUnit, KTAP, KCIDB, Markdown and HTML; and reads the JSON lines
//! of a suite's parts again, to write them as one.
//!
//! All functions append to a `String`; the command line prints it.

mod bisected;
mod chain;
mod counts;
mod crash;
mod date;
mod fault;
mod formats;
mod github;
mod html;
mod json;
mod junit;
mod kcidb;
mod ktap;
mod lead;
mod line;
mod listed;
mod matrix;
mod mutation;
mod page;
mod parts;
mod signal;
mod span;
mod statement;
mod suite;
mod summary;
mod sweep;
mod timeline;
mod unfinished;
mod values;
mod xml;

pub use bisected::{bisected_human, bisected_json};
pub use chain::{chain_json, chain_lines};
pub use counts::Counted;
pub use crash::{crash_json, crash_log, crashed_html, crashed_human, crashed_json, state_json};
pub use fault::fault_line;
pub use formats::{formats_human, formats_json};
pub use github::{github, markdown};
pub use json::{Object, call_json, event_json, object_line, summary_json};
pub use junit::junit;
pub use kcidb::{Submission, kcidb};
pub use ktap::ktap;
pub use lead::{Lead, TimeForm};
pub use line::{call_line, duration_of_line, event_line};
pub use listed::{listed_json, listed_line};
pub use matrix::MatrixReport;
pub use mutation::{mutation_human, mutation_json, mutations_human, mutations_json};
pub use page::html;
pub use parts::{Made, MergeError, Merged, Part, PartError, durations, merge, shard_json};
pub use signal::{Delivered, exited_line, signal_json, signal_line};
pub use span::{Fields, Span, SpanEnd, span_json, span_line};
pub use statement::Stated;
pub use suite::{counted, human, list_json, machine_json, scenario_json, suite_json, text_of};
pub use summary::{Summary, SummaryOrder};
pub use sweep::{sweep_human, sweep_json, sweeps_human, sweeps_json, swept_json};
pub use timeline::{OnCpu, Timeline};
pub use unfinished::{unfinished, unfinished_json};
pub use values::{Plain, TaskNames};
