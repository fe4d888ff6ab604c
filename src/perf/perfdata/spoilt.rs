//! Files and pipes that are cut or damaged: all that comes before the damage is read, and then an
//! error says where and what it is.

use super::tests::{EVENTS, Got, PIPE, kind, read, whole};
use super::*;

/// The place of a record of this type, in bytes from the start.
fn place_of(bytes: &[u8], wanted: u32) -> usize {
    let records = whole(bytes);
    let found = records.iter().find(|(_, bytes)| kind(bytes) == wanted);
    usize::try_from(found.unwrap().0.at).unwrap()
}

/// What was changed behind `length` bytes still gives all records that lie before, with what
/// follows them outside of their size.
fn assert_starts_as_whole(got: &Got, whole: &[(Place, Vec<u8>)], length: usize) {
    // What was compressed stands behind the record that it was in, and is as whole as that is.
    let plain = || {
        whole
            .iter()
            .filter(|(place, _)| place.inside.is_none())
            .map(|(place, _)| place.at)
    };
    let behind = plain().skip(1).chain([u64::MAX]);
    let count = behind.take_while(|end| *end <= length as u64).count();
    let limit = plain().nth(count).unwrap_or(0);
    let before = whole.iter().take_while(|(place, _)| place.at < limit);
    for (given, expected) in got.records.iter().zip(before.clone()) {
        assert_eq!(given, expected, "of {length} bytes");
    }
    assert!(got.records.len() >= before.count(), "of {length} bytes");
}

#[test]
fn a_file_that_is_cut_anywhere_ends_in_an_error_behind_all_that_is_there() {
    let all = whole(EVENTS);
    for length in (0..EVENTS.len()).step_by(64) {
        let got = read(&EVENTS[..length]);
        let error = got.error.as_ref().expect("a file knows where it ends");
        assert!(!error.to_string().is_empty());
        let has_attributes = !matches!(error, ReadError::Ends { what, .. } if what.contains("attribute") || what.contains("header"));
        if has_attributes && length >= FILE_HEADER {
            assert_starts_as_whole(&got, &all, length);
        }
    }
}

#[test]
fn a_pipe_that_is_cut_anywhere_ends_in_an_error_or_behind_a_record() {
    let all = whole(PIPE);
    let ends: Vec<usize> = all
        .iter()
        .filter(|(place, _)| place.inside.is_none())
        .map(|(place, _)| usize::try_from(place.at).unwrap())
        .collect();
    for length in (0..PIPE.len()).step_by(64) {
        let got = read(&PIPE[..length]);
        assert_starts_as_whole(&got, &all, length);
        let is_between = ends.contains(&length);
        assert!(
            got.error.is_some() || is_between,
            "{length} bytes end in silence"
        );
    }
}

#[test]
fn where_a_file_is_cut_is_said() {
    let at = place_of(EVENTS, own::FINISHED_INIT);
    let got = read(&EVENTS[..at + 4]);
    let error = got.error.unwrap().to_string();
    assert_eq!(
        error,
        format!("a record's header at byte {at} has 8 bytes, and 4 are there")
    );
    let got = read(&EVENTS[..at]);
    let error = got.error.unwrap().to_string();
    assert!(
        error.starts_with(&format!("the records at byte {at} ")),
        "{error}"
    );
}

#[test]
fn a_bit_that_is_flipped_never_makes_it_panic_and_takes_nothing_that_was_before_it() {
    for bytes in [EVENTS, PIPE] {
        let all = whole(bytes);
        let first = usize::try_from(all[0].0.at).unwrap();
        let mut spoilt = bytes.to_vec();
        // Every seventh byte, fewer of a large recording, and another bit of each.
        let step = (bytes.len() / 2_700).max(7);
        for at in (0..bytes.len()).step_by(step) {
            let bit = 1 << (at / step % 8);
            spoilt[at] ^= bit;
            let got = read(&spoilt);
            if at >= first {
                assert_starts_as_whole(&got, &all, at);
            }
            spoilt[at] ^= bit;
        }
    }
}

#[test]
fn many_changes_at_once_never_make_it_panic() {
    // xorshift64: the same changes on every machine.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 16).unwrap()
    };
    for round in 0..600 {
        let mut spoilt = if round % 2 == 0 { EVENTS } else { PIPE }.to_vec();
        for _ in 0..=random() % 8 {
            let at = random() % spoilt.len();
            match random() % 4 {
                0 => spoilt[at] = 0xff,
                1 => spoilt[at] = random() as u8,
                2 => spoilt.truncate(at.max(1)),
                _ => {
                    let bytes = spoilt[at..]
                        .iter()
                        .take(random() % 64)
                        .copied()
                        .collect::<Vec<_>>();
                    let to = random() % spoilt.len();
                    spoilt.splice(to..to, bytes);
                }
            }
        }
        let got = read(&spoilt);
        assert!(got.records.len() <= spoilt.len());
    }
}

#[test]
fn a_record_whose_size_lies_is_told_by_its_place() {
    let at = place_of(EVENTS, own::FINISHED_INIT);
    for size in [0_u16, 7, 65535] {
        let mut spoilt = EVENTS.to_vec();
        spoilt[at + 6..at + 8].copy_from_slice(&size.to_le_bytes());
        let error = read(&spoilt).error.unwrap().to_string();
        let expected = match size {
            65535 => format!("a record at byte {at} has 65535 bytes, and "),
            size => format!("the size of the record at byte {at} cannot be {size}"),
        };
        assert!(error.starts_with(&expected), "{error}");
    }
}

#[test]
fn a_record_with_the_id_of_nobody_is_given_and_belongs_to_no_event() {
    let records = whole(EVENTS);
    let at = place_of(EVENTS, crate::record::kind::SAMPLE);
    let mut spoilt = EVENTS.to_vec();
    // Behind IP, TID and TIME: these events have no IDENTIFIER.
    spoilt[at + 32..at + 40].copy_from_slice(&u64::MAX.to_le_bytes());
    let mut reader = Reader::file(std::io::Cursor::new(&spoilt[..])).unwrap();
    let (mut count, mut strangers) = (0, 0);
    while let Some(item) = reader.next().unwrap() {
        count += 1;
        strangers += usize::from(item.header().kind < own::FIRST && item.event().is_none());
    }
    assert_eq!((count, strangers), (records.len(), 1));
}

#[test]
fn formats_that_make_no_sense_are_told_behind_the_records() {
    let reader = Reader::file(std::io::Cursor::new(EVENTS)).unwrap();
    let blob = reader.meta().features[&Feature::TRACING_DATA].clone();
    let at = EVENTS
        .windows(16)
        .position(|bytes| bytes == &blob[..16])
        .unwrap();
    let mut spoilt = EVENTS.to_vec();
    spoilt[at] = 0;
    let got = read(&spoilt);
    assert_eq!(got.records.len(), whole(EVENTS).len());
    let expected = format!("the formats of tracepoints at byte {at} make no sense");
    assert_eq!(got.error.unwrap().to_string(), expected);
}

#[test]
fn numbers_that_nothing_could_hold_are_errors_and_allocate_nothing() {
    // Where the header says how large attributes are, how many there are, and where records end.
    for (at, what) in [
        (16, "the size of an attribute"),
        (32, "the attributes"),
        (48, "the table of features"),
    ] {
        let mut spoilt = EVENTS.to_vec();
        spoilt[at..at + 8].copy_from_slice(&(u64::MAX / 2).to_le_bytes());
        let error = read(&spoilt).error.unwrap().to_string();
        let is_told = error.starts_with(what) || error.starts_with("an attribute");
        let is_data = at == 48 && error.contains("at byte");
        assert!(is_told || is_data, "{error}");
    }
    // How much follows a record outside of its size.
    let at = place_of(PIPE, own::TRACING_DATA);
    let mut spoilt = PIPE.to_vec();
    spoilt[at + 8..at + 12].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = read(&spoilt).error.unwrap().to_string();
    assert!(
        error.starts_with(&format!(
            "a record and what follows it at byte {at} has 42949673"
        )),
        "{error}"
    );
}

#[test]
fn a_file_whose_writer_was_killed_gives_its_records() {
    let mut spoilt = EVENTS.to_vec();
    let data = usize::try_from(whole(EVENTS)[0].0.at).unwrap();
    let size = usize::try_from(u64::from_le_bytes(*EVENTS[48..].first_chunk().unwrap())).unwrap();
    spoilt[48..56].copy_from_slice(&0_u64.to_le_bytes());
    spoilt.truncate(data + size);
    let reader = Reader::file(std::io::Cursor::new(&spoilt[..])).unwrap();
    assert!(reader.meta().is_unfinished);
    assert_eq!(whole(&spoilt), whole(EVENTS));
}

#[test]
fn what_is_no_perf_data_says_with_what_it_begins() {
    let error = read(b"#!/bin/sh\n").error.unwrap().to_string();
    assert!(
        error.contains("[23, 21, 2f, 62, 69, 6e, 2f, 73]"),
        "{error}"
    );
    assert!(matches!(read(b"").error, Some(ReadError::Magic { .. })));
}
