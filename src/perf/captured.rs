//! Captured records for tests: see `harness/fixtures/payloads/README.md`.

use perf_records::format::{Field, Format, parse};

/// An event with its format and some of its records.
pub(crate) struct Captured {
    pub(crate) format: Format,
    pub(crate) payloads: Vec<Vec<u8>>,
}

impl Captured {
    /// The content of one file: lines of a keyword and a value, then the text of the format file.
    pub(crate) fn read(file: &str) -> Self {
        let records = file
            .lines()
            .filter_map(|line| line.strip_prefix("payload "));
        Self {
            format: parse(format_text(file)).expect("a captured format parses"),
            payloads: records.map(bytes).collect(),
        }
    }

    pub(crate) fn field(&self, name: &str) -> &Field {
        self.format
            .field(name)
            .expect("the captured format has the field")
    }
}

/// The format file in the content of a capture.
pub(crate) fn format_text(file: &str) -> &str {
    let records_end = file
        .find("\n\nname: ")
        .expect("a capture ends with the format");
    file.split_at(records_end).1.trim_start()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits
        .chunks(2)
        .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | *digit as u8))
        .collect()
}
