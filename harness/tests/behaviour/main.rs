//! What the program does, seen from outside, and what the cork and the account of events promise.
//!
//! One test program instead of several, so that the support is compiled once and none of it is dead
//! code.

mod support;

mod after;
mod asked;
mod baseline;
mod bisect;
mod capture;
mod check;
mod cli;
mod confined;
mod cork;
mod crash;
mod dying;
mod elsewhere;
mod flight;
mod forgotten_probes;
mod gate;
mod hostile;
mod inherit;
mod insta;
mod isolation;
mod keep;
mod killed;
mod laid;
mod lent;
mod limits;
mod linked;
mod living;
mod loss;
#[cfg(target_arch = "x86_64")]
mod musl;
mod mutants;
mod nameless;
mod netlink;
mod on_failure;
mod page;
mod panics;
mod policy;
mod probes;
mod recorded_baseline;
mod recorded_command;
mod recorder;
mod removal;
mod replay;
mod round_trip;
mod rust_probes;
mod sampling;
mod script;
mod sight;
mod since;
mod source;
mod survivors;
mod sweep;
mod terminal;
mod times;
mod trials;
mod unbuilt;
mod untold_probes;
mod unwinding;
mod user;
mod words;
mod world;
