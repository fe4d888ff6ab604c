//! A pipe's stream: it gives what the file gives that it is saved to.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perf_records::perfdata::Reader;
use std::io::Cursor;

fuzz_target!(|bytes: &[u8]| {
    let (Ok(mut pipe), Ok(mut file)) = (Reader::pipe(bytes), Reader::file(Cursor::new(bytes)))
    else {
        return;
    };
    if !file.meta().is_pipe {
        return;
    }
    loop {
        match (pipe.next(), file.next()) {
            (Ok(Some(one)), Ok(Some(other))) => {
                assert_eq!((one.place, one.bytes), (other.place, other.bytes));
            }
            (Ok(None), Ok(None)) | (Err(_), Err(_)) => break,
            _ => panic!("the one ends where the other does not"),
        }
    }
});
