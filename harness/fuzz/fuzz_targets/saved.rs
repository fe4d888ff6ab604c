//! What a recording knows of its run beside the records: what is read is written as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trace_harness::run::Saved;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(saved) = Saved::from_bytes(bytes) {
        let again = saved.to_bytes();
        let same = Saved::from_bytes(&again).expect("what was written is read");
        assert_eq!(again, same.to_bytes());
    }
});
