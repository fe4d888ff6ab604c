//! A perf.data of `raw_syscalls:*` to lines, by `linux-perf-data` and `linux-perf-event-reader`.
//!
//! The crates order the records, parse samples and tell their events. They know nothing of the
//! formats of tracepoints: the fields of these two are read here from where they are on every
//! 64-bit kernel, which is less work than to go by a format. So is the text: numbers by `itoa` into
//! one buffer, without padding. All of that is in favour of the crates.

use linux_perf_data::linux_perf_event_reader::{EventRecord, SampleRecord};
use linux_perf_data::{PerfFileReader, PerfFileRecord};
use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufReader, Write};

fn number(out: &mut Vec<u8>, number: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

fn hexadecimal(out: &mut Vec<u8>, number: u64) {
    let mut digits = [0; 16];
    let mut rest = number;
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b"0123456789abcdef"[(rest & 15) as usize];
        rest >>= 4;
        if rest == 0 {
            return out.extend_from_slice(&digits[first..]);
        }
    }
}

fn word(payload: &[u8], at: usize) -> u64 {
    let bytes = payload
        .get(at..at + 8)
        .and_then(|word| word.try_into().ok());
    u64::from_ne_bytes(bytes.unwrap_or_default())
}

fn line(out: &mut Vec<u8>, sample: &SampleRecord<'_>, event: &[u8], comms: &HashMap<i32, Vec<u8>>) {
    let tid = sample.tid.unwrap_or(-1);
    out.extend_from_slice(comms.get(&tid).map_or(b":?".as_slice(), Vec::as_slice));
    out.push(b' ');
    number(out, tid);
    out.extend_from_slice(b" [");
    number(out, sample.cpu.unwrap_or(0));
    out.extend_from_slice(b"] ");
    let time = sample.timestamp.unwrap_or(0);
    number(out, time / 1_000_000_000);
    out.push(b'.');
    let micros = time % 1_000_000_000 / 1_000;
    out.extend_from_slice(&b"00000"[micros.max(1).ilog10() as usize..]);
    number(out, micros);
    out.extend_from_slice(b": ");
    out.extend_from_slice(event);
    out.extend_from_slice(b": NR ");
    let payload = sample.raw.map(|raw| raw.as_slice()).unwrap_or_default();
    number(out, word(&payload, 8) as i64);
    if event.ends_with(b"exit") {
        out.extend_from_slice(b" = ");
        number(out, word(&payload, 16) as i64);
    } else {
        for argument in 0..6 {
            out.extend_from_slice(if argument == 0 { b" (" } else { b", " });
            hexadecimal(out, word(&payload, 16 + 8 * argument));
        }
        out.push(b')');
    }
    out.push(b'\n');
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("linux_perf_data FILE")?;
    let reader = PerfFileReader::parse_file(BufReader::with_capacity(1 << 18, File::open(path)?))?;
    let (mut file, mut records) = (reader.perf_file, reader.record_iter);
    let attributes = file.event_attributes().iter();
    let names: Vec<Vec<u8>> = attributes
        .map(|attribute| attribute.name().unwrap_or("?").as_bytes().to_vec())
        .collect();
    let mut comms = HashMap::new();
    let mut out = Vec::new();
    let mut stdout = io::stdout().lock();
    while let Some(record) = records.next_record(&mut file)? {
        let PerfFileRecord::EventRecord { attr_index, record } = record else {
            continue;
        };
        match record.parse()? {
            EventRecord::Sample(sample) => line(&mut out, &sample, &names[attr_index], &comms),
            EventRecord::Comm(comm) => {
                comms.insert(comm.tid, comm.name.as_slice().into_owned());
            }
            _ => {}
        }
        if out.len() >= 1 << 16 {
            stdout.write_all(&out)?;
            out.clear();
        }
    }
    Ok(stdout.write_all(&out)?)
}
