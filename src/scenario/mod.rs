//! What the author wrote: the scenario file, read strictly, each complaint with its place in the
//! file.
//!
//! This is the only room that knows YAML. Reading is pure and total: no file is opened, no input
//! makes it panic, and what it allocates is bounded by the length of the text.
//!
//! ```text
//! text -> Places (saphyr-parser: every key and value and where it stands; limits, duplicates, tags)
//!      -> Value  (serde_yaml: the same as serde takes it; its own parser tells no places)
//!      -> the same for each row of a matrix
//!      -> Written* (serde: keys and types)  --assemble-->  Scenario, which keeps its Places for later complaints
//! ```
//!
//! ```
//! use std::path::Path;
//! use trace_harness::scenario::{self, KeyPath};
//!
//! let text = "description: it lists\nworkload: { run: [ls] }\ntrace: { events: [{ syscalls: [opnat] }] }\n";
//! let scenario = scenario::read(Path::new("ls.yaml"), text)?;
//! let selector = KeyPath::root().key("trace").key("events").index(0).key("syscalls").index(0);
//! let complaint = scenario.complaint(&selector, "unknown syscall `opnat`", None);
//! assert_eq!((complaint.line, complaint.column), (3, 32));
//! # Ok::<(), scenario::Diagnostic>(())
//! ```

mod address;
mod assemble;
mod chain;
mod confined;
mod counted;
mod counts;
mod crash;
mod diagnostic;
pub mod edit;
mod expect;
mod explain;
mod faulted;
mod faults;
mod field_test;
mod files_after;
mod flexible;
mod folders;
mod guests;
mod hardware;
mod kernel_range;
mod kernels;
mod key_path;
mod matrix;
mod model;
mod nearest;
mod patterns;
mod places;
mod positions;
mod probe;
mod programs;
mod quantity;
mod reader;
mod recovery;
mod requires;
mod ring;
mod rules;
mod sandbox;
mod schema;
mod sections;
mod snapshot;
mod spans;
mod spelled;
mod steps;
#[cfg(test)]
mod tests;
mod trace;
mod workload;
mod write;

pub use address::AddressPattern;
pub use chain::CallChain;
pub use confined::{Confined, PRIVILEGED, literal};
pub use counted::CountedSpec;
pub use counts::{CountRange, Difference};
pub use crash::{CrashSpec, Promises, Rings};
pub use diagnostic::Diagnostic;
pub use expect::{Expect, ExpectedOutput};
pub use faulted::{Added, AddedFault, faulted};
pub use faults::{FaultSpec, Per, When};
pub use field_test::{Literal, Test};
pub use files_after::FileAfter;
pub use guests::{Architecture, Guest, Share};
pub use hardware::Hardware;
pub use kernel_range::{KernelRange, KernelVersion};
pub use kernels::{KernelSource, KernelSpec, read_kernels};
pub use key_path::KeyPath;
pub use model::{Mark, Scenario, SectionSpec};
pub(crate) use nearest::did_you_mean;
pub use nearest::nearest;
pub use positions::Positions;
pub use programs::Programs;
pub use reader::{labels, read, read_all, text};
pub use recovery::{Remnant, recovery};
pub use requires::{Feature, Needs, Requires};
pub use ring::{Last, RingMode, RingSpec};
pub use rules::{Beside, BlameBy, StartedAs, TestRules, read_rules};
pub use sandbox::SandboxSpec;
pub use schema::schema;
pub use snapshot::{LevelSpec, SnapshotBy, SnapshotKeys, SnapshotLevel, SnapshotSpec};
pub use spans::{SharedSpec, SpanSpec};
pub use steps::{Between, Expectations, NumberOf, Pattern, Role, StepSpec};
pub use trace::{EventSpec, EventWish, Since, TraceSpec};
pub use workload::{Command, FileSource, FileSpec, PATH, Workload};
pub use write::{Draft, RulesDraft, Suggestion, event};
