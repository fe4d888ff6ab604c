//! What a guest sends through its port and says on its console.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| trace_harness::matrix::fuzzed(bytes));
