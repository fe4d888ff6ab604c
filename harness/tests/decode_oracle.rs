//! Captured records decode to what libtraceevent read from the same bytes.
//!
//! The captures are described in `fixtures/payloads/README.md`. Where the two differ by design, the
//! comparison says so: libtraceevent reads an argument of a system call as wide as its slot.

use std::fs;
use std::path::Path;

use perf_records::decode::{self, Value};
use perf_records::format::{self, Field, Format, Shape};

/// What libtraceevent made of one field: `integer pid 42`, `text comm 7368`, `bytes args 00..`.
#[derive(Debug)]
struct Reading<'a> {
    kind: &'a str,
    field: &'a str,
    value: &'a str,
}

/// One record: its bytes, and each field as libtraceevent read it.
struct Record<'a> {
    payload: Vec<u8>,
    readings: Vec<Reading<'a>>,
}

/// The records of a capture, paragraphs between the heading and the format.
fn records(capture: &str) -> Vec<Record<'_>> {
    let paragraphs = capture
        .split("\n\n")
        .filter(|text| text.starts_with("payload "));
    let record = |paragraph| {
        let mut lines = str::lines(paragraph).map(|line| line.splitn(3, ' '));
        let payload = lines.next().and_then(|mut words| words.nth(1));
        Record {
            payload: bytes(payload.expect("a payload has bytes")),
            readings: lines.map(reading).collect(),
        }
    };
    paragraphs.map(record).collect()
}

fn reading<'a>(mut words: impl Iterator<Item = &'a str>) -> Reading<'a> {
    let mut word = || {
        words
            .next()
            .expect("a reading is a kind, a field and a value")
    };
    Reading {
        kind: word(),
        field: word(),
        value: word(),
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks(2);
    let texts = pairs.map(|pair| str::from_utf8(pair).expect("hexadecimal digits are ASCII"));
    texts
        .map(|pair| u8::from_str_radix(pair, 16).expect("a pair of digits"))
        .collect()
}

#[test]
fn captured_records_decode_as_libtraceevent_reads_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/payloads");
    let (mut events, mut values) = (0, 0);
    for file in fs::read_dir(folder).expect("the fixtures exist") {
        let path = file.expect("the folder is readable").path();
        if path.extension().is_none_or(|extension| extension != "txt") {
            continue;
        }
        let capture = fs::read_to_string(&path).expect("a capture is text");
        if !capture.contains("\nreader perf ") {
            continue;
        }
        let start = capture
            .find("\n\nname: ")
            .expect("a capture ends with the format");
        let format =
            format::parse(capture[start..].trim_start()).expect("a captured format parses");
        for record in records(&capture) {
            compare(&format, &record);
            values += record.readings.len();
        }
        events += 1;
    }
    println!("{events} events, {values} values");
    assert!(events >= 20, "only {events} captures were compared");
}

/// Every field has a reading, and every reading is that of a field.
fn compare(format: &Format, record: &Record<'_>) {
    let event = &format.name;
    for field in &format.fields {
        let has_reading = record
            .readings
            .iter()
            .any(|reading| reading.field == field.name);
        assert!(has_reading, "{event}: no reading of `{}`", field.name);
    }
    for reading in &record.readings {
        let field = format.field(reading.field);
        let field = field.unwrap_or_else(|| panic!("{event}: no field for {reading:?}"));
        let value = decode::field(&record.payload, field);
        let value = value.unwrap_or_else(|error| panic!("{event}: {error}"));
        assert!(
            agrees(field, &value, reading),
            "{event}: {value:?} is not {reading:?}"
        );
    }
}

fn agrees(field: &Field, value: &Value<'_>, reading: &Reading<'_>) -> bool {
    match (reading.kind, value) {
        // Above the argument's own bytes a register may hold anything, which libtraceevent reads
        // too.
        ("integer", Value::Signed(_) | Value::Unsigned(_) | Value::Pointer(_)) => {
            let bits = u64::MAX >> (64 - 8 * significant_bytes(field));
            let read: i128 = reading.value.parse().expect("an integer");
            let value = value.as_i64().map(i64::cast_unsigned).or(value.as_u64());
            value.map(|value| value & bits) == Some(read as u64 & bits)
        }
        // libtraceevent takes bytes for text where they happen to be printable, and text for bytes
        // where it is not.
        ("text", Value::Text(value) | Value::Bytes(value)) => {
            until_nul(&bytes(reading.value)) == until_nul(value)
        }
        ("bytes", Value::Text(text)) => until_nul(&bytes(reading.value)) == *text,
        ("bytes", Value::Bytes(value)) => bytes(reading.value) == *value,
        ("bytes", Value::Array(array)) => {
            let elements = array
                .iter()
                .map(|element| element.as_u64().expect("no sign is captured"));
            elements.flat_map(u64::to_le_bytes).eq(bytes(reading.value))
        }
        _ => false,
    }
}

fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// How many bytes of a field carry its number.
fn significant_bytes(field: &Field) -> usize {
    match field.shape {
        Shape::Integer(integer) => integer.width.bytes(),
        _ => field.size,
    }
}
