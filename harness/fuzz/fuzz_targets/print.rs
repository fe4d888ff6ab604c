//! The text of a tracepoint's format and a payload behind its first NUL, as `harness script` prints
//! them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perf_records::format;
use perf_records::print::Text;

fuzz_target!(|bytes: &[u8]| {
    let end = bytes.iter().position(|byte| *byte == 0);
    let (text, payload) = bytes.split_at(end.unwrap_or(bytes.len()));
    let Ok(Ok(format)) = std::str::from_utf8(text).map(format::parse) else {
        return;
    };
    let mut line = Vec::new();
    Text::new(&format).write(payload.get(1..).unwrap_or_default(), &mut line);
});
