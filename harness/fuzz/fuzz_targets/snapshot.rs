//! A snapshot and a trace behind its first NUL: they match, or differ in some line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trace_harness::snapshot;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let (stored, trace) = text.split_once('\0').unwrap_or((text, ""));
    let differs = snapshot::diff(stored, trace)
        .lines()
        .any(|line| line.starts_with(['+', '-']));
    if snapshot::matches(stored, trace) {
        assert!(!differs, "{stored:?} {trace:?}");
    }
});
