//! Recordings that perf made, whole and spoilt in every way.

use super::*;
use crate::record::{self, Header, Record};
use std::collections::BTreeSet;
use std::io::Cursor;

pub(super) const EVENTS: &[u8] = include_bytes!("../../../harness/fixtures/perfdata/events.data");
const FOREIGN: &[u8] = include_bytes!("../../../harness/fixtures/perfdata/foreign.data");
const CHAINS: &[u8] = include_bytes!("../../../harness/fixtures/perfdata/chains.data");
pub(super) const PIPE: &[u8] = include_bytes!("../../../harness/fixtures/perfdata/pipe.data");

/// What a reader gave, and how it ended.
pub(super) struct Got {
    pub(super) records: Vec<(Place, Vec<u8>)>,
    pub(super) error: Option<ReadError>,
}

/// Reads all of a file. What is given is no more than could come of the input.
pub(super) fn read(bytes: &[u8]) -> Got {
    let mut records = Vec::new();
    let mut reader = match Reader::file(Cursor::new(bytes)) {
        Ok(reader) => reader,
        Err(error) => {
            let error = Some(error);
            return Got { records, error };
        }
    };
    loop {
        match reader.next() {
            Ok(Some(item)) => {
                // Whatever it is, it can be looked at.
                let _event = item.event();
                let _time = item.time();
                if let Some((_, layout)) = item.event() {
                    let _record = record::parse(item.bytes, layout);
                }
                assert!(item.trailing.len() <= bytes.len());
                records.push((item.place, item.bytes.to_vec()));
            }
            end => {
                let error = end.err();
                assert!(matches!(reader.next(), Ok(None)), "nothing is behind it");
                return Got { records, error };
            }
        }
    }
}

pub(super) fn whole(bytes: &[u8]) -> Vec<(Place, Vec<u8>)> {
    let got = read(bytes);
    assert!(got.error.is_none(), "{:?}", got.error);
    got.records
}

pub(super) fn kind(record: &[u8]) -> u32 {
    Header::from_bytes(*record.first_chunk().unwrap()).kind
}

fn count(records: &[(Place, Vec<u8>)], wanted: u32) -> usize {
    records
        .iter()
        .filter(|(_, bytes)| kind(bytes) == wanted)
        .count()
}

#[test]
fn a_file_says_its_events_features_and_formats_before_its_first_record() {
    let reader = Reader::file(Cursor::new(EVENTS)).unwrap();
    let meta = reader.meta();
    let names: Vec<&str> = (0..meta.events.len())
        .map(|event| meta.name(event))
        .collect();
    assert_eq!(names, ["sched:sched_process_exec", "sched:sched_switch"]);
    assert_eq!(meta.tracing.as_ref().unwrap().formats.len(), 2);
    assert_eq!(meta.text(Feature::ARCH).as_deref(), Some("x86_64"));
    let cpus = meta.halves(Feature::NRCPUS).unwrap();
    // Those that there are, and those that were online: an event was opened on each of these.
    assert_eq!(cpus.len(), 2);
    assert_eq!(usize::try_from(cpus[1]), Ok(meta.events[0].ids.len()));
    assert!(cpus[0] >= cpus[1] && cpus[1] >= 1, "{cpus:?}");
    let words = meta.texts(Feature::CMDLINE).unwrap();
    assert_eq!(words.last().unwrap(), "/bin/true & /bin/true; wait");
    let time = meta.words(Feature::SAMPLE_TIME).unwrap();
    assert!(time[0] > 0 && time[0] < time[1]);
}

#[test]
fn each_record_is_told_its_event_and_parses() {
    for bytes in [EVENTS, CHAINS, PIPE] {
        let mut reader = Reader::file(Cursor::new(bytes)).unwrap();
        let mut samples = 0;
        while let Some(item) = reader.next().unwrap() {
            if item.header().kind < own::FIRST {
                let (_, layout) = item.event().unwrap();
                let record = record::parse(item.bytes, layout).unwrap();
                samples += usize::from(matches!(record, Record::Sample(_)));
            }
        }
        assert!(samples > 3, "{samples}");
    }
}

#[test]
fn names_are_derived_where_nothing_says_them() {
    let mut bare = EVENTS.to_vec();
    // The bit of the feature EVENT_DESC goes, and its place in the table is another's.
    let bits = u64::from_le_bytes(*bare[72..].first_chunk().unwrap());
    bare[72..80].copy_from_slice(&(bits & 0x0f).to_le_bytes());
    let reader = Reader::file(Cursor::new(&bare[..])).unwrap();
    let meta = reader.meta();
    assert_eq!(meta.name(1), "sched:sched_switch");
    bare[72..80].copy_from_slice(&0_u64.to_le_bytes());
    let reader = Reader::file(Cursor::new(&bare[..])).unwrap();
    assert_eq!(reader.meta().name(1), "unknown tracepoint");
}

#[test]
fn a_pipe_is_read_as_the_file_that_it_was_saved_to() {
    let records = whole(PIPE);
    let mut reader = Reader::pipe(PIPE).unwrap();
    for (place, bytes) in &records {
        let item = reader.next().unwrap().unwrap();
        assert_eq!((item.place, item.bytes), (*place, &bytes[..]));
    }
    assert!(reader.next().unwrap().is_none());
    let meta = reader.meta();
    assert_eq!(meta.name(0), "sched:sched_process_exec");
    assert_eq!(meta.name(1), "cpu-clock");
    assert_eq!(meta.text(Feature::ARCH).as_deref(), Some("x86_64"));
}

#[test]
fn what_is_compressed_comes_behind_the_record_that_it_was_in() {
    let records = whole(PIPE);
    let first = records
        .iter()
        .position(|(_, bytes)| kind(bytes) == own::COMPRESSED)
        .unwrap();
    let (packed, inner) = (&records[first], &records[first + 1]);
    assert_eq!(inner.0.at, packed.0.at);
    assert_eq!((packed.0.inside, inner.0.inside), (None, Some(0)));
    assert!(count(&records[first..], record::kind::SAMPLE) > 5);
    assert_eq!(count(&records[..first], record::kind::SAMPLE), 0);
}

#[test]
fn a_pipe_that_brings_a_file_is_refused() {
    assert!(Reader::pipe(EVENTS).is_err());
}

#[test]
fn a_file_of_the_other_byte_order_gives_the_same_records() {
    let (native, foreign) = (whole(EVENTS), whole(FOREIGN));
    let bytes = |records: &[(Place, Vec<u8>)]| -> Vec<Vec<u8>> {
        records.iter().map(|(_, bytes)| bytes.clone()).collect()
    };
    assert_eq!(bytes(&native), bytes(&foreign));
    let reader = Reader::file(Cursor::new(FOREIGN)).unwrap();
    let native = Reader::file(Cursor::new(EVENTS)).unwrap();
    let (meta, native) = (reader.meta(), native.meta());
    assert!(meta.is_foreign && !native.is_foreign);
    assert_eq!(meta.events, native.events);
    assert_eq!(
        meta.tracing.as_ref().unwrap().formats,
        native.tracing.as_ref().unwrap().formats
    );
    for feature in [Feature::HOSTNAME, Feature::CPUDESC] {
        assert_eq!(meta.text(feature), native.text(feature));
    }
    assert_eq!(
        meta.words(Feature::SAMPLE_TIME),
        native.words(Feature::SAMPLE_TIME)
    );
    assert_eq!(meta.texts(Feature::CMDLINE), native.texts(Feature::CMDLINE));
}

#[test]
fn records_come_by_time_and_what_has_none_where_it_stands() {
    let mut ordered = Ordered::new(Reader::file(Cursor::new(EVENTS)).unwrap());
    let (mut last, mut count, mut was_out_of_order) = (0, 0, false);
    while let Some(item) = ordered.next().unwrap() {
        count += 1;
        let time = item.time().map_or(0, |time| time.0);
        if time > 0 {
            assert!(time >= last);
            last = time;
        }
    }
    assert_eq!((count, ordered.late()), (whole(EVENTS).len(), 0));
    let mut reader = Reader::file(Cursor::new(EVENTS)).unwrap();
    last = 0;
    let mut cpus = BTreeSet::new();
    while let Some(item) = reader.next().unwrap() {
        if let Some((_, layout)) = item.event()
            && let Record::Sample(sample) = record::parse(item.bytes, layout).unwrap()
        {
            cpus.insert(sample.cpu);
        }
        let time = item.time().map_or(0, |time| time.0);
        was_out_of_order |= time > 0 && time < last;
        last = last.max(time);
    }
    // The rings of several CPUs are read one after the other.
    assert!(was_out_of_order || cpus.len() == 1, "{cpus:?}");
}
