//! A perf.data file with samples of tracepoints, as small as perf takes it.

use perf_records::attr::{AttrFlags, SampleType, StoredAttr};
use perf_records::perfdata::{ATTR_SIZE, FILE_HEADER, Feature, MAGIC, TracingData};

const TRACEPOINT: u32 = 2;
const RECORD_SAMPLE: u32 = 9;

/// As tracefs has it.
const HEADER_PAGE: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
    \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
    \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
    \tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";

/// The bytes of a file with these formats (system, text of `format`, id) and these records (the
/// place of their format, payload), which are a microsecond apart, from the first on.
pub(crate) fn file(formats: &[(String, String, u16)], samples: &[(usize, Vec<u8>)]) -> Vec<u8> {
    let ids: Vec<u8> = (1..=formats.len() as u64)
        .flat_map(u64::to_ne_bytes)
        .collect();
    let mut attrs = Vec::new();
    for (at, (_, _, config)) in formats.iter().enumerate() {
        attrs.extend(attr(*config).to_bytes(ATTR_SIZE));
        attrs.extend(((FILE_HEADER + at * 8) as u64).to_ne_bytes());
        attrs.extend(8_u64.to_ne_bytes());
    }
    let data: Vec<u8> = (0..)
        .zip(samples)
        .flat_map(|(index, (event, payload))| sample(index, *event, payload))
        .collect();
    let tracing = TracingData {
        long_size: 8,
        page_size: 4096,
        // perf refuses a file in which these are empty.
        header_page: HEADER_PAGE.to_owned(),
        header_event: " ".to_owned(),
        formats: formats
            .iter()
            .map(|(system, text, _)| (system.clone(), text.clone()))
            .collect(),
        ..TracingData::default()
    };
    let features = [
        (Feature::TRACING_DATA, tracing.to_bytes()),
        (
            Feature::NRCPUS,
            [1_u32, 1].into_iter().flat_map(u32::to_ne_bytes).collect(),
        ),
    ];
    let attrs_at = FILE_HEADER + ids.len();
    let data_at = attrs_at + attrs.len();
    let table_at = data_at + data.len();
    let mut out = Vec::new();
    let words = [
        MAGIC,
        FILE_HEADER as u64,
        u64::from(ATTR_SIZE) + 16,
        attrs_at as u64,
        attrs.len() as u64,
        data_at as u64,
        data.len() as u64,
        0,
        0,
        features.iter().map(|(feature, _)| 1_u64 << feature.0).sum(),
        0,
        0,
        0,
    ];
    out.extend(words.into_iter().flat_map(u64::to_ne_bytes));
    out.extend([ids, attrs, data].concat());
    let mut at = table_at + features.len() * 16;
    for (_, bytes) in &features {
        out.extend((at as u64).to_ne_bytes());
        out.extend((bytes.len() as u64).to_ne_bytes());
        at += bytes.len();
    }
    out.extend(features.into_iter().flat_map(|(_, bytes)| bytes));
    out
}

fn attr(config: u16) -> StoredAttr {
    let types = [
        SampleType::IDENTIFIER,
        SampleType::TID,
        SampleType::TIME,
        SampleType::CPU,
        SampleType::RAW,
    ];
    StoredAttr {
        kind: TRACEPOINT,
        config: u64::from(config),
        period_or_frequency: 1,
        sample_type: types.into_iter().fold(SampleType(0), SampleType::and),
        flags: AttrFlags::SAMPLE_ID_ALL,
        ..StoredAttr::default()
    }
}

/// Identifier, task, time, CPU, and the record with its size in front.
fn sample(index: u64, event: usize, payload: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    body.extend((event as u64 + 1).to_ne_bytes());
    body.extend([1_u32, 1].into_iter().flat_map(u32::to_ne_bytes));
    body.extend(((index + 1) * 1000).to_ne_bytes());
    body.extend(0_u64.to_ne_bytes());
    body.extend((payload.len() as u32).to_ne_bytes());
    body.extend(payload);
    assert_eq!(body.len() % 8, 0, "records end at a multiple of 8");
    let mut record = RECORD_SAMPLE.to_ne_bytes().to_vec();
    record.extend(1_u16.to_ne_bytes());
    record.extend((body.len() as u16 + 8).to_ne_bytes());
    record.extend(body);
    record
}
