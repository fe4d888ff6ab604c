//! A scenario file, a file of rules or a list of kernels: what is wrong with it has a place in it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;
use trace_harness::scenario::{Programs, read_all, read_kernels, read_rules};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let name = Path::new("a.yaml");
    let wrong = [
        read_all(name, text, &Programs::default()).err(),
        read_rules(name, text, &["true".to_owned()]).err(),
        read_kernels(name, text).err(),
    ];
    for wrong in wrong.into_iter().flatten() {
        assert!(wrong.to_string().contains("--> a.yaml:"), "{wrong}");
    }
});
