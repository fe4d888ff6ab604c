//! What runs need that a test makes by the library, on this machine.

use trace_harness::plan::{Counting, Facts, MemoryReader, Reach};
use trace_harness::run::Bench;

/// The facts of a machine that lacks nothing.
pub(crate) fn facts<'a>(bench: &'a Bench<'_>) -> Facts<'a> {
    Facts {
        untold: None,
        every_call: false,
        every_path: false,
        user: &|_| None,
        is_root: true,
        signatures: &bench.signatures,
        lacks: &|_| None,
        cannot_limit: &|_| None,
        cannot_tell: &|_| None,
        counting: Counting::Live(&|_| None),
        release: &bench.release,
        has_command: &|_| true,
        default_ring: bench.default_ring(),
        reach: Reach::Everything,
        page_size: perf_live::sys::page_size(),
        io_uring_disabled: None,
        reader: MemoryReader::Bpf,
        without_bpf: None,
    }
}
