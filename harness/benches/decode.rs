//! How fast a recorded stream is decoded, and in how much memory.
//!
//! A stream of real records is captured from a real run (`dd` with one-byte blocks), kept in
//! memory, and replayed through the very code that a live run goes through: merge, parse, pairing
//! and, for the last column, text. Prints records per second and the peak of resident memory
//! (`VmHWM`) before and after, so that what decoding itself needs can be told from what the stream
//! takes.

use perf_live::events::Origin;
use perf_live::host::Host;
use perf_live::sandbox::World;
use perf_live::sandbox::{self, Program, Stdio, Workload};
use perf_records::merge::{Merge, Source};
use perf_records::record::LayoutTable;
use perf_records::units::Cpu;
use std::ffi::{CString, OsStr};
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};
use syscall_model::{Observation, Signatures};
use trace_harness::plan::{self, EventsPlan, Wanted};
use trace_harness::report;
use trace_harness::run::{Bench, Fired, Observer, PATH, Reader, Setting};

const RECORDS: u64 = 10_000_000;

fn main() {
    // `cargo test --benches` and `cargo bench -- --list` only want to know that it starts.
    if std::env::args().any(|argument| argument == "--list" || argument == "--test") {
        return;
    }
    let host = Host::running();
    let bench = Bench::new(&host).expect("a host with procfs");
    if let Err(error) = bench.reach() {
        println!("skipped: {error}");
        return;
    }
    let plan = plan::events(&[Wanted::Syscalls(vec!["*".to_owned()])], &host).expect("all calls");
    let (stream, table) = capture(&bench, &plan);
    let before = peak_kib();
    println!("| what | records/s | peak memory, stream included | beyond the stream |");
    println!("|---|---|---|---|");
    for (what, text) in [("merge, parse, pairing", false), ("and text", true)] {
        let mut sink = Sink {
            signatures: &bench.signatures,
            text: text.then(String::new),
        };
        let start = Instant::now();
        let records = replay(&stream, &table, &plan, &mut sink);
        let rate = records as f64 / start.elapsed().as_secs_f64();
        let after = peak_kib();
        println!(
            "| {what}, {records} records | {:.2} M | {} KiB | {} KiB |",
            rate / 1e6,
            after,
            after - before
        );
    }
}

/// The records of a run, as the rings held them.
struct Stream {
    bytes: Vec<u8>,
    at: usize,
    end: usize,
}

impl Source for Stream {
    type Error = std::convert::Infallible;
    fn peek(&mut self) -> Result<Option<&[u8]>, Self::Error> {
        if self.at == self.bytes.len() {
            return Ok(None);
        }
        let size = u16::from_ne_bytes([self.bytes[self.at + 6], self.bytes[self.at + 7]]);
        self.end = self.at + usize::from(size);
        Ok(Some(&self.bytes[self.at..self.end]))
    }
    fn pop(&mut self) {
        self.at = self.end;
    }
}

fn capture(bench: &Bench<'_>, plan: &EventsPlan) -> (Vec<u8>, LayoutTable<Origin>) {
    let arguments = [
        "dd",
        "if=/dev/zero",
        "of=/dev/null",
        "bs=1",
        "count=15000",
        "status=none",
    ];
    let workload = Workload {
        program: Program::find(OsStr::new("dd"), OsStr::new(PATH), Path::new("."))
            .expect("coreutils"),
        arguments: arguments
            .map(|text| CString::new(text).expect("no zero byte"))
            .to_vec(),
        environment: Vec::new(),
        directory: None,
        stdio: Stdio::Captured { input: None },
        world: World::Host,
        umask: None,
        inherited: Vec::new(),
        fixed_addresses: true,
        limits: Vec::new(),
        group: None,
        held: Default::default(),
        allowed: None,
        ruled: None,
        lasts: None,
    };
    let corked = sandbox::launch(&workload).expect("a process");
    let pages = plan::ring_pages(8 << 20, perf_live::sys::page_size());
    let mut events = bench
        .open(plan, &corked, None, pages)
        .expect("the right to trace");
    let mut running = corked.uncork(Duration::from_secs(10)).expect("dd runs");
    while !running.is_gone() {
        running.collect().expect("its end");
        std::thread::yield_now();
    }
    let (drains, table) = events.parts();
    let mut stream = Vec::new();
    let mut merge = Merge::default();
    merge
        .pass(drains, table, None, |_, record| {
            stream.extend_from_slice(record)
        })
        .expect("whole records");
    (stream, table.clone())
}

/// Replays the stream until enough records have gone by; the thread that made them is the same in
/// each round.
fn replay(
    stream: &[u8],
    table: &LayoutTable<Origin>,
    plan: &EventsPlan,
    sink: &mut Sink<'_>,
) -> u64 {
    let mut reader = Reader::new(plan, plan.requests.len(), sink, Setting::default());
    let mut source = [Stream {
        bytes: stream.to_vec(),
        at: 0,
        end: 0,
    }];
    let mut records = 0;
    while records < RECORDS {
        source[0].at = 0;
        let mut merge = Merge::default();
        let deliver =
            |_: usize, record: &[u8]| reader.record(Cpu(0), table, record).expect("a record");
        let Ok(delivered) = merge.pass(&mut source, table, None, deliver);
        records += delivered;
    }
    reader.finish();
    records
}

struct Sink<'a> {
    signatures: &'a Signatures<'a>,
    text: Option<String>,
}

impl Observer for Sink<'_> {
    fn observe(&mut self, observation: &Observation) {
        if let (Observation::Call(call), Some(text)) = (observation, &mut self.text) {
            report::call_line(
                text,
                "",
                call,
                self.signatures,
                &mut report::Plain::default(),
            );
            if text.len() > 1 << 16 {
                black_box(&text);
                text.clear();
            }
        } else {
            black_box(observation);
        }
    }
    fn event(&mut self, _: &Fired<'_>) {}
}

/// The peak of resident memory so far, in KiB (`proc_pid_status(5)`).
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("procfs");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .expect("VmHWM");
    line.trim()
        .trim_end_matches(" kB")
        .parse()
        .expect("a number")
}
