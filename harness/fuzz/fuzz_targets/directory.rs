//! A directory of perf.data files: the length of the first in two bytes, then both.
#![no_main]

use harness_fuzz::file_of;
use libfuzzer_sys::fuzz_target;
use perf_records::perfdata::{Files, Ordered, Reader};

fuzz_target!(|bytes: &[u8]| {
    let Some((length, both)) = bytes.split_first_chunk() else {
        return;
    };
    let length = usize::from(u16::from_le_bytes(*length)).min(both.len());
    let (first, thread) = both.split_at(length);
    let files = Files {
        first: file_of(first),
        threads: vec![(0, file_of(thread))],
        name: "perf.data".into(),
        is_directory: true,
    };
    let Ok(reader) = Reader::files(files) else {
        return;
    };
    let mut reader = Ordered::new(reader);
    while let Ok(Some(_)) = reader.next() {}
});
