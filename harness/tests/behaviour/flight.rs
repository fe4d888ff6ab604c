//! Rings that are overwritten: what they remember, and what becomes of all else.

use nix::sys::prctl;
use nix::unistd::gettid;
use perf_live::events::{self, EventRequest, EventSet, Origin, RingChoice, Subject};
use perf_live::host::{Catalogue, Host};
use perf_records::attr::{Attr, Maps, ReadFormat, SampleType, Sampling, Source};
use perf_records::record::{self, Record};
use perf_records::units::{Pid, TracepointName};
use std::ffi::CString;
use trace_harness::run::{Dump, FlightLog};

use crate::support::require::{require, right_to_trace};

const PRCTL: &str = "syscalls:sys_enter_prctl";

fn attr(source: Source) -> Attr {
    use SampleType as S;
    let sample_type = S::IDENTIFIER
        .and(S::TID)
        .and(S::TIME)
        .and(S::PERIOD)
        .and(S::RAW);
    Attr {
        source,
        sampling: Sampling::Period(1),
        sample_type,
        read_format: ReadFormat(ReadFormat::ID.0 | ReadFormat::LOST.0),
        write_backward: true,
        ..Attr::holding(0)
    }
}

/// The calls of this thread to `prctl(2)`, in rings of so many pages that are overwritten; with
/// `tells_names` also its names.
fn opened(pages: usize, tells_names: bool) -> EventSet {
    let host = Host::running();
    let name = TracepointName::parse(PRCTL).expect("a name");
    let id = host.format(&name).expect("a tracepoint").id;
    let told = Attr {
        side_band: tells_names,
        exclude_kernel: false,
        ..attr(Source::Tracepoint(id))
    };
    let recorded = EventRequest::new(PRCTL, told);
    let side_band = Attr {
        sampling: Sampling::Never,
        side_band: true,
        maps: Maps::No,
        write_backward: false,
        ..attr(Source::DUMMY)
    };
    let subject = Subject::Tasks(vec![Pid(gettid().as_raw().unsigned_abs())]);
    let cpus = host.online_cpus().expect("CPUs");
    let rings = RingChoice::New { cpus: &cpus, pages };
    let set = events::record(&[recorded], &subject, side_band, rings).expect("events");
    set.enable().expect("events that run");
    set
}

fn rename(numbers: std::ops::Range<u32>) {
    for number in numbers {
        let name = CString::new(format!("name-{number}")).expect("no zero");
        prctl::set_name(&name).expect("a new name");
    }
}

/// The arguments of the calls, and the names, in the order of the dump.
fn told(dump: &Dump, events: &mut EventSet) -> (usize, Vec<String>) {
    let (_, writers) = events.flight().expect("rings that are overwritten");
    let (mut n_calls, mut names) = (0, Vec::new());
    for bytes in dump.records() {
        let (layout, origin) = writers.table().resolve(bytes).expect("an event of ours");
        assert_eq!(origin, Origin::Request(0));
        match record::parse(bytes, layout).expect("a record") {
            Record::Sample(_) => n_calls += 1,
            Record::Comm(comm, _) => names.push(String::from_utf8_lossy(comm.name).into_owned()),
            other => panic!("neither a call nor a name: {other:?}"),
        }
    }
    (n_calls, names)
}

fn names(numbers: std::ops::Range<u32>) -> Vec<String> {
    numbers.map(|number| format!("name-{number}")).collect()
}

/// perf's own test of these rings (`tools/perf/tests/backward-ring-buffer.c`).
#[test]
fn as_many_calls_and_names_as_there_were_and_of_a_ring_of_one_page_the_last() {
    require!(right_to_trace());
    let mut set = opened(64, true);
    let mut log = FlightLog::begin(&mut set).expect("a flight");
    rename(0..111);
    let dump = log.dump(&mut set).expect("a dump");
    assert_eq!(told(&dump, &mut set), (111, names(0..111)));
    assert!(!dump.is_cut);
    let [account] = dump.events.as_slice() else {
        panic!("{:?}", dump.events)
    };
    assert_eq!(
        (account.counted, account.n_records, account.overwritten()),
        (Some(111), 111, Some(0))
    );

    let mut set = opened(1, true);
    let mut log = FlightLog::begin(&mut set).expect("a flight");
    rename(0..1000);
    let dump = log.dump(&mut set).expect("a dump");
    let (n_calls, told) = told(&dump, &mut set);
    assert!(dump.is_cut);
    assert!(!told.is_empty() && n_calls > 0, "{told:?}");
    let first = 1000 - told.len() as u32;
    assert_eq!(told, names(first..1000));
    let [account] = dump.events.as_slice() else {
        panic!("{:?}", dump.events)
    };
    assert_eq!(account.counted, Some(1000));
    assert_eq!(account.fallen, Some(0));
    assert_eq!(
        account.overwritten(),
        Some(1000 - n_calls as u64 - account.outside)
    );
}

#[test]
fn a_dump_begins_where_the_one_before_ended() {
    require!(right_to_trace());
    let mut set = opened(64, true);
    let mut log = FlightLog::begin(&mut set).expect("a flight");
    for start in (0..500).step_by(50) {
        rename(start..start + 50);
        let dump = log.dump(&mut set).expect("a dump");
        let (n_calls, told) = told(&dump, &mut set);
        assert_eq!((n_calls, told), (50, names(start..start + 50)));
    }
    let dump = log.dump(&mut set).expect("a dump");
    assert_eq!(told(&dump, &mut set), (0, Vec::new()));
}

#[test]
fn what_falls_while_the_rings_are_frozen_is_counted_and_is_not_overwritten() {
    require!(right_to_trace());
    let mut set = opened(64, false);
    rename(0..10);
    {
        let (flight, _) = set.flight().expect("a flight");
        let frozen = flight.freeze().expect("frozen");
        rename(10..17);
        let (stretches, empty) = frozen.read().expect("records");
        rename(17..20);
        let n_records: usize = stretches
            .iter()
            .map(|stretch| stretch.records().count())
            .sum();
        assert_eq!(n_records, 10);
        empty.resume().expect("rings that run");
    }
    rename(20..25);
    let (flight, writers) = set.flight().expect("a flight");
    let counts = writers
        .request(0)
        .expect("counts")
        .expect("the event")
        .counts;
    assert_eq!((counts.value, counts.lost), (25, Some(10)));
    let (stretches, _) = flight.freeze().expect("frozen").read().expect("records");
    let records = stretches.iter().flat_map(|stretch| stretch.records());
    let parsed = records.map(|bytes| {
        let (layout, _) = writers.table().resolve(bytes).expect("our event");
        record::parse(bytes, layout).expect("a record")
    });
    let (mut n_calls, mut said) = (0, 0);
    for record in parsed {
        match record {
            Record::Sample(_) => n_calls += 1,
            Record::Lost(lost, _) => said += lost.count,
            other => panic!("neither a call nor a loss: {other:?}"),
        }
    }
    // The kernel's record of it stands in front of the first that a ring takes.
    assert_eq!((n_calls, said), (5, 10));
}

#[test]
fn a_flight_that_is_dropped_while_it_is_frozen_runs_again() {
    require!(right_to_trace());
    let mut set = opened(64, false);
    let (flight, _) = set.flight().expect("a flight");
    drop(flight.freeze().expect("frozen"));
    drop(flight.freeze().expect("frozen").read().expect("records"));
    let before = flight.written();
    rename(0..5);
    let (flight, _) = set.flight().expect("a flight");
    assert!(flight.written() > before);
}
