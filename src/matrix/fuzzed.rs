//! For `harness/fuzz`: what comes from a guest, whatever it is.

use super::frame::Frame;
use super::trouble::{Boot, Console, Said};
use std::io::Write;

/// Reads messages of a guest, which must be written as they came, and the console of one.
pub fn fuzzed(bytes: &[u8]) {
    let mut rest = bytes;
    while let Ok(Some(frame)) = Frame::read(&mut rest) {
        let mut written = Vec::new();
        frame.write(&mut written).expect("memory");
        let again = Frame::read(&mut &*written).expect("what was written is read");
        assert_eq!(again.as_ref(), Some(&frame));
    }
    let said = Said::new().expect("a file");
    (&said.console).write_all(bytes).expect("room for a file");
    let _cause = Boot::of(&said).cause();
    let console = Console::of(&said);
    assert!(console.lines().iter().all(|line| !line.is_empty()));
}
