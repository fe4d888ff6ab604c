//! Writes page faults as lines, in the form of `perf trace -F`.

use crate::trace::{FieldValue, TracedEvent};
use perf_live::units::{SoftwareEvent, SoftwareKind};
use std::fmt::Write;

/// Appends `minfault [main+0x1a] => /usr/lib/libc.so.6@0x1234 (d.)` and a line feed: the
/// function that the program was in, and the file and offset of the address; `?` for a mapping
/// without a record, `k` for a fault in the kernel, all of it behind `lead`. Returns whether the
/// event is a fault.
pub fn fault_line(out: &mut String, lead: &str, event: &TracedEvent) -> bool {
    let word = match SoftwareEvent::parse(&event.name).map(|event| event.kind) {
        Some(SoftwareKind::PageFaults) => "pagefault",
        Some(SoftwareKind::MinorFaults) => "minfault",
        Some(SoftwareKind::MajorFaults) => "majfault",
        _ => return false,
    };
    let field = |name: &str| {
        let mut fields = event.fields.iter();
        fields
            .find(|(known, _)| **known == *name)
            .map(|(_, value)| value)
    };
    let text = |name: &str| match field(name) {
        Some(FieldValue::Text(bytes)) => Some(bytes.escape_ascii().to_string()),
        _ => None,
    };
    let number = |name: &str| match field(name) {
        Some(FieldValue::Address(address)) => *address,
        Some(FieldValue::Number(number)) => u64::try_from(*number).unwrap_or_default(),
        _ => 0,
    };
    out.push_str(lead);
    let ip = number("ip");
    let instruction = text("function").unwrap_or_else(|| format!("{ip:#x}"));
    let level = if ip >> 63 == 1 { 'k' } else { '.' };
    let _always_fits = match text("map") {
        Some(map) => writeln!(
            out,
            "{word} [{instruction}] => {map}@{:#x} (d{level})",
            number("offset")
        ),
        None => writeln!(
            out,
            "{word} [{instruction}] => {:#x} (?{level})",
            number("addr")
        ),
    };
    true
}
