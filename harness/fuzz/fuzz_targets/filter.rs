//! A filter of a tracepoint, of each of some formats of a kernel.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perf_records::format::{self, Format};
use std::sync::LazyLock;
use trace_harness::plan::check_filter;

static FORMATS: LazyLock<Vec<Format>> = LazyLock::new(|| {
    let captures = [
        include_str!("../../fixtures/payloads/sched.sched_process_exec.txt"),
        include_str!("../../fixtures/payloads/sched.sched_switch.txt"),
    ];
    let text = |capture: &'static str| capture.split_once("\nname: ").expect("a format").1;
    let parse = |capture| format::parse(&format!("name: {}", text(capture))).expect("a format");
    captures.into_iter().map(parse).collect()
});

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        for format in &*FORMATS {
            let _taken = check_filter(text, format);
        }
    }
});
