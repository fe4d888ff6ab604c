//! A policy of any format.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trace_harness::policy::PolicyFile;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _policy = PolicyFile::read(text);
    }
});
