//! Messages of netlink: the protocol, and how much more there is, in front of the bytes.
#![no_main]

use harness_fuzz::Bytes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Bytes(bytes);
    let (protocol, more) = (bytes.byte() % 24, bytes.short());
    let _text = syscall_model::structs::fuzzed(protocol, bytes.0, more);
});
