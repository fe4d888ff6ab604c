//! A record of any layout, as it is and of the other byte order: sample_type, read_format, then the
//! record.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perf_records::attr::{Layout, ReadFormat, SampleType};
use perf_records::record;

fuzz_target!(|bytes: &[u8]| {
    let Some((words, bytes)) = bytes.split_first_chunk::<16>() else {
        return;
    };
    let word = |at: usize| u64::from_ne_bytes(std::array::from_fn(|place| words[at + place]));
    let layout = Layout {
        sample_type: SampleType(word(0) & SampleType::KNOWN.0),
        read_format: ReadFormat(word(8)),
        user_registers: 3,
        interrupt_registers: 2,
        sample_id_all: true,
        ..Layout::default()
    };
    let _record = record::parse(bytes, &layout);
    let mut turned = bytes.to_vec();
    if record::turn::header(&mut turned).is_some() {
        let payload = record::turn::record(&mut turned, &layout);
        assert!(payload.is_none_or(|payload| payload.end <= bytes.len()));
    }
});
