//! The JSON lines of a shard, and those that a guest tells a matrix.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trace_harness::matrix::{Column, EventFormats, Matrix};
use trace_harness::report::Part;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let _part = Part::read("a.json".into(), text);
    let _formats = EventFormats::read(text);
    let mut column = Column::of("6.1");
    for line in text.lines() {
        column.line(line);
    }
    let _matrix = Matrix::new(vec![column, Column::of("6.12")], ["a".to_owned()]);
});
