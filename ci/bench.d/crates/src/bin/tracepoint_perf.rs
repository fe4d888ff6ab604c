//! A perf.data to lines, by `tracepoint_perf` and `tracepoint_decode`.
//!
//! The crates order the records, parse samples, read the formats and show every field of a
//! tracepoint by name. They neither follow the names of tasks nor read a `print fmt`, and strings
//! at a `__data_loc` come out empty. Here they write into one buffer, without padding.

use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, Write};
use tracepoint_decode::PerfEventHeaderType;
use tracepoint_perf::{PerfDataFileEventOrder, PerfDataFileReader};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("tracepoint_perf FILE")?;
    let mut reader = PerfDataFileReader::new();
    reader.open_file(&path, PerfDataFileEventOrder::Time)?;
    let mut out = String::new();
    let mut stdout = io::stdout().lock();
    while reader.move_next_event()? {
        let event = reader.current_event();
        if event.header.ty != PerfEventHeaderType::Sample {
            continue;
        }
        let info = reader
            .get_sample_event_info(&event)
            .map_err(|error| format!("{error:?}"))?;
        let (time, name) = (info.time, info.name());
        let (seconds, micros) = (time / 1_000_000_000, time % 1_000_000_000 / 1_000);
        write!(
            out,
            "{} [{}] {seconds}.{micros:06}: {name}:",
            info.tid, info.cpu
        )?;
        if let Some(format) = info.format() {
            for field in format.fields().iter().skip(format.common_field_count()) {
                write!(
                    out,
                    " {}={}",
                    field.name(),
                    field.get_field_value(&info).display()
                )?;
            }
        }
        out.push('\n');
        if out.len() >= 1 << 16 {
            stdout.write_all(out.as_bytes())?;
            out.clear();
        }
    }
    Ok(stdout.write_all(out.as_bytes())?)
}
