//! What is kept of a ring and read again is what lay in the ring: in a file and in a pipe's stream,
//! plain and compressed.

use std::fs::File;
use std::io::Cursor;
use std::time::Duration;

use perf_live::events::Origin;
use perf_live::host::Host;
use perf_live::sandbox::{World, launch};
use perf_records::perfdata::Reader;
use perf_records::record::{LayoutTable, kind};
use syscall_model::Observation;
use trace_harness::plan::{self, Wanted, WantedEvent};
use trace_harness::run::{
    Bench, Fired, Observer, Output, Patience, Setting, Store, StoreOptions, follow,
};

use crate::cork::workload;
use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};
use trace_harness::run::Undisturbed;

const PATIENCE: Duration = Duration::from_secs(60);

/// Of the kernel's code in front, and of the account behind, which is not in a ring.
const SAID_BESIDES: [u32; 3] = [kind::MMAP, kind::READ, kind::LOST_SAMPLES];

/// The records of the rings, as they are delivered, and those who keep them.
struct Keeper {
    ring: Vec<Vec<u8>>,
    stores: Vec<Store>,
}

impl Observer for Keeper {
    fn observe(&mut self, _: &Observation) {}
    fn event(&mut self, _: &Fired<'_>) {}
    fn record(&mut self, table: &LayoutTable<Origin>, bytes: &[u8]) {
        self.ring.push(bytes.to_vec());
        for store in &mut self.stores {
            store.record(table, bytes).expect("room");
        }
    }
    fn pause(&mut self) {
        for store in &mut self.stores {
            store.round().expect("room");
        }
    }
}

/// The kernel's records of a file or stream, but for those that are in no ring.
fn read(bytes: Vec<u8>) -> Vec<Vec<u8>> {
    let mut reader = Reader::file(Cursor::new(bytes)).expect("a recording");
    let mut records = Vec::new();
    while let Some(item) = reader.next().expect("records") {
        let of = item.header().kind;
        if of < kind::OWN && !SAID_BESIDES.contains(&of) {
            records.push(item.bytes.to_vec());
        }
    }
    records
}

#[test]
fn the_records_of_the_rings_are_those_of_the_file_and_of_the_pipe() {
    require!(right_to_trace());
    let project = Project::new();
    let host = Host::running();
    let bench = Bench::new(&host).expect("a bench");
    let wants = [
        Wanted::Syscalls(vec!["all".to_owned()]),
        Wanted::Event(WantedEvent {
            name: "sched:*".to_owned(),
            filter: None,
            ..WantedEvent::default()
        }),
    ];
    let plan = plan::events(&wants, &host).expect("a plan");
    let command = [
        "sh",
        "-c",
        "ls -lR /etc > /dev/null; for i in 1 2 3; do true & done; wait",
    ];
    let mut workload = workload(&command, &World::Host);
    workload.group = bench.group();
    let corked = launch(&workload).expect("a cork");
    let pages = plan::ring_pages(8 << 20, perf_live::sys::page_size());
    let mut events = bench
        .open(&plan, &corked, workload.group.as_deref(), pages)
        .expect("events");
    let paths = ["file", "file.z", "pipe", "pipe.z"].map(|name| project.join(name));
    let stores = paths.iter().map(|path| {
        let name = path.to_string_lossy();
        let file = File::create_new(path).expect("a file");
        let output = match name.contains("pipe") {
            true => Output::Pipe(file),
            false => Output::File(file),
        };
        let options = StoreOptions {
            compression: name.ends_with(".z").then_some(1),
            ..StoreOptions::default()
        };
        Store::begin(output, &options, &events, &bench).expect("a store")
    });
    let mut keeper = Keeper {
        ring: Vec::new(),
        stores: stores.collect(),
    };
    let running = corked.uncork(PATIENCE).expect("a running workload");
    let patience = Patience {
        timeout: Some(PATIENCE),
        tick: Duration::from_secs(1),
        watch: None,
    };
    let ended = follow(
        running,
        &mut events,
        &plan,
        patience,
        &mut Undisturbed,
        &mut keeper,
        Setting::default(),
    );
    assert!(ended.expect("an end").account.is_complete());
    for store in keeper.stores {
        store
            .end(&events, &host, |_| Default::default())
            .expect("an end");
    }
    assert!(keeper.ring.len() > 1000, "{}", keeper.ring.len());
    for path in &paths {
        let kept = read(std::fs::read(path).expect("what was kept"));
        assert_eq!(kept.len(), keeper.ring.len(), "{}", path.display());
        assert!(kept == keeper.ring, "{} is another", path.display());
    }
}
