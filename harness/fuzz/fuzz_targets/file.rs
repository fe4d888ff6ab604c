//! A perf.data file, read by time and dumped. Start from `harness/fixtures/perfdata`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perf_records::perfdata::{Ordered, Reader};
use perf_records::script::Dump;
use std::io::Cursor;

fuzz_target!(|bytes: &[u8]| {
    let Ok(reader) = Reader::file(Cursor::new(bytes)) else {
        return;
    };
    let mut reader = Ordered::new(reader);
    let (mut dump, mut text) = (Dump::new(String::new()), Vec::new());
    while let Ok(Some(item)) = reader.next() {
        text.clear();
        dump.record(&item, &mut text);
    }
    dump.totals(&mut text);
});
