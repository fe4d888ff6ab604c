//! The text of a tracepoint's format, and a payload behind its first NUL.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perf_records::{decode, format};

fuzz_target!(|bytes: &[u8]| {
    let end = bytes.iter().position(|byte| *byte == 0);
    let (text, payload) = bytes.split_at(end.unwrap_or(bytes.len()));
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    if let Ok(format) = format::parse(text) {
        for (_, value) in decode::fields(payload, &format) {
            let _text = value.map(|value| value.to_string());
        }
    }
});
