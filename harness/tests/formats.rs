//! Every event format of the captured kernels is understood, to the last field.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use flate2::read::GzDecoder;
use perf_live::host::{Catalogue, Host, HostError};
use perf_records::format::{self, Content, Extent, Field, Format, Shape};
use perf_records::units::TracepointName;
use syscall_model::memory;
use syscall_model::names::{self, Abi};
use trace_harness::plan::{self, MemoryPlan, MemoryReader, Reach, Wanted, WantedEvent};

/// The captured kernels by release, each with its events by `system/event`.
fn captured() -> BTreeMap<String, Vec<(String, String)>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/formats");
    let files = fs::read_dir(&folder).expect("the fixtures exist");
    let mut kernels = BTreeMap::new();
    for path in files.map(|file| file.expect("the folder is readable").path()) {
        let name = path.file_name().expect("a listed file has a name");
        if let Some(release) = name.to_string_lossy().strip_suffix(".txt.gz") {
            kernels.insert(release.to_owned(), events(&path));
        }
    }
    kernels
}

/// The events of one capture: lines `# system/event`, each followed by the text of a format file.
fn events(path: &Path) -> Vec<(String, String)> {
    let file = File::open(path).expect("the fixture is readable");
    let mut text = String::new();
    let read = GzDecoder::new(file).read_to_string(&mut text);
    read.expect("the fixture is compressed text");
    let bodies = text
        .strip_prefix("# ")
        .expect("the first line is a header")
        .split("\n# ");
    let events = bodies.map(|body| body.split_once('\n').expect("a header is a line"));
    events
        .map(|(event, text)| (event.to_owned(), text.to_owned()))
        .collect()
}

/// Calls `check` with each captured event that parses, and its text; fails on those that do not.
fn for_each_format(mut check: impl FnMut(&str, &Format, &str)) {
    let mut failures = Vec::new();
    for (release, events) in captured() {
        for (event, text) in events {
            match format::parse(&text) {
                Ok(format) => check(&format!("{release} {event}"), &format, &text),
                Err(error) => failures.push(format!("{release} {event}: {error}")),
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_captured_format_parses() {
    let mut parsed = BTreeMap::<String, (usize, usize)>::new();
    for_each_format(|event, format, text| {
        let (release, name) = event.split_once(' ').expect("an event has a release");
        let (_, name) = name.split_once('/').expect("an event has a system");
        assert_eq!(format.name, name, "{event}");
        let lines = text.lines().filter(|line| line.starts_with("\tfield:"));
        // Every probe has these, without being asked.
        let of_probes = lines.clone().filter(|line| line.contains(" __probe_"));
        assert_eq!(format.common.len(), 4 + of_probes.count(), "{event}");
        assert_eq!(
            format.common.len() + format.fields.len(),
            lines.count(),
            "{event}"
        );
        let (events, fields) = parsed.entry(release.to_owned()).or_default();
        *events += 1;
        *fields += format.fields.len();
    });
    for (release, (events, fields)) in &parsed {
        println!("{release}: {events} events, {fields} fields");
    }
    let captured = captured();
    let headers: BTreeMap<_, _> = captured
        .iter()
        .map(|(release, events)| (release, events.len()))
        .collect();
    let events: BTreeMap<_, _> = parsed
        .iter()
        .map(|(release, (events, _))| (release, *events))
        .collect();
    assert_eq!(events, headers);
    for series in ["5.10.", "6.1.", "6.12.", "6.18.", "7.2."] {
        assert!(
            events.keys().any(|release| release.starts_with(series)),
            "no capture of {series}"
        );
    }
}

#[test]
fn only_structures_and_byte_arrays_stay_bytes() {
    let mut unexplained = Vec::new();
    for_each_format(|event, format, _| {
        for field in &format.fields {
            if matches!(field.shape, Shape::Block(_, Content::Bytes)) && !is_bytes(field) {
                unexplained.push(format!("{event}: {} {}", field.c_type, field.name));
            }
        }
    });
    assert!(unexplained.is_empty(), "{}", unexplained.join("\n"));
}

/// Whether the kernel's own declaration means bytes, or locators in a row.
fn is_bytes(field: &Field) -> bool {
    let c_type = field.c_type.trim_start_matches("__data_loc ");
    let base = c_type.split('[').next().unwrap_or_default();
    let is_buffer_of_a_call = field.name.starts_with("__") && field.c_type == "__data_loc char[]";
    matches!(base, "u8" | "__u8" | "unsigned char" | "uuid_t" | "guid_t")
        || base.starts_with("struct ")
        || c_type == "char[][2]"
        || is_buffer_of_a_call
}

#[test]
fn every_fixed_field_lies_behind_the_common_ones_and_fills_its_size() {
    for_each_format(|event, format, _| {
        for field in &format.fields {
            assert!(field.offset >= 8, "{event}: {field:?}");
            let filled = match field.shape {
                Shape::Integer(integer) => integer.slot.bytes(),
                Shape::Pointer(width) => width.bytes(),
                // A synthetic event keeps its locators in slots of 8 bytes.
                Shape::Block(Extent::DataLoc | Extent::RelLoc, _)
                    if event.contains("synthetic/") =>
                {
                    8
                }
                Shape::Block(Extent::DataLoc | Extent::RelLoc, _) => 4,
                Shape::Block(Extent::Trailing, _) => 0,
                Shape::Block(Extent::Fixed, _) => field.size,
            };
            assert_eq!(filled, field.size, "{event}: {field:?}");
        }
    });
}

#[test]
fn every_format_of_the_running_kernel_parses() {
    let host = Host::running();
    let systems = match host.systems() {
        Ok(systems) => systems,
        Err(error) if std::env::var("HARNESS_REQUIRE").is_ok_and(|value| value == "all") => {
            panic!("{error}")
        }
        Err(error) => {
            eprintln!("skipped: {error}");
            return;
        }
    };
    let mut parsed = 0;
    for system in &systems {
        for event in host.events(system).expect("a folder of tracefs") {
            let name = TracepointName::parse(&format!("{system}:{event}")).expect("a name");
            match host.format(&name) {
                Ok(format) => assert_eq!(format.name, event),
                Err(error) => panic!("{}", perf_live::errors::chain(&error)),
            }
            parsed += 1;
        }
    }
    assert!(
        parsed > 700,
        "only {parsed}: the system calls alone are that many"
    );
}

/// A captured kernel as the plan sees it.
struct Captured(BTreeMap<String, Arc<Format>>);

impl Catalogue for Captured {
    fn format(&self, name: &TracepointName) -> Result<Arc<Format>, HostError> {
        let missing = || HostError::NoTracepoint { name: name.clone() };
        self.0.get(name.as_str()).cloned().ok_or_else(missing)
    }
    fn systems(&self) -> Result<Vec<String>, HostError> {
        Ok(Vec::new())
    }
    fn events(&self, _: &str) -> Result<Vec<String>, HostError> {
        Ok(Vec::new())
    }
}

#[test]
fn every_captured_kernel_shows_what_is_submitted_to_io_uring() {
    for (release, events) in captured() {
        let wanted = ["io_uring/", "raw_syscalls/"];
        let events = events
            .into_iter()
            .filter(|(event, _)| wanted.iter().any(|system| event.starts_with(system)));
        let formats = events.map(|(event, text)| {
            let format = format::parse(&text).expect("a captured format parses");
            (event.replace('/', ":"), Arc::new(format))
        });
        let kernel = Captured(formats.collect());
        let fsync = Wanted::Event(WantedEvent {
            name: "io_uring:IORING_OP_FSYNC".to_owned(),
            filter: None,
            ..WantedEvent::default()
        });
        let plan =
            plan::events(&[fsync], &kernel).unwrap_or_else(|error| panic!("{release}: {error}"));
        let submit = plan.requests.last().expect("an event");
        let is_old = release.starts_with("5.10.") || release.starts_with("6.1.");
        let name = if is_old {
            "io_uring_submit_sqe"
        } else {
            "io_uring_submit_req"
        };
        assert_eq!(submit.name, format!("io_uring:{name}"), "{release}");
        assert_eq!(submit.filter.as_deref(), Some("opcode == 3"), "{release}");
    }
}

/// Strings that no tracepoint of Linux 7.2 has: the calls whose own tracepoint lacks them all.
const NOT_COPIED: &[&str] = &[
    "stat",
    "lstat",
    "uselib",
    "prctl",
    "keyctl",
    "kexec_file_load",
    "file_getattr",
    "file_setattr",
];

#[test]
fn only_the_newest_kernel_copies_strings_into_the_tracepoints_of_calls() {
    for (release, events) in captured() {
        let systems = ["syscalls/", "raw_syscalls/", "cgroup/"];
        let of_calls = |event: &str| systems.iter().any(|system| event.starts_with(system));
        let formats = events.into_iter().filter(|(event, _)| of_calls(event));
        let formats = formats.map(|(event, text)| {
            let format = format::parse(&text).expect("a captured format parses");
            (event.replace('/', ":"), Arc::new(format))
        });
        let kernel = Captured(formats.collect());
        let plan = |reader| {
            let memory = MemoryPlan {
                reader,
                ..MemoryPlan::default()
            };
            plan::events_within(Reach::Everything, &[], memory, &kernel).expect("a plan")
        };
        let copies = plan(MemoryReader::Kernel).copies;
        let is_new = release.starts_with("7.2.");
        assert_eq!(plan::has_copies(&kernel).expect("formats"), is_new);
        assert_eq!(copies.is_empty(), !is_new, "{release}");
        if !is_new {
            continue;
        }
        let name = |number| names::name(Abi::native(), number).expect("a call");
        let has_string = |extent: &memory::Extent| {
            matches!(extent, memory::Extent::String | memory::Extent::Strings)
        };
        let fetches = plan(MemoryReader::Bpf).fetches;
        let native = fetches.iter().filter(|((abi, _), _)| *abi == Abi::native());
        let native: Vec<_> = native.map(|((_, number), it)| (*number, it)).collect();
        let strings: usize = native
            .iter()
            .flat_map(|(_, fetches)| fetches.iter())
            .filter(|fetch| has_string(&fetch.extent))
            .count();
        let copied: usize = copies.iter().map(|copies| copies.copied.len()).sum();
        println!(
            "{release}: {copied} of {strings} strings, of {} calls",
            copies.len()
        );
        let lacking = native.iter().filter(|(number, fetches)| {
            fetches.iter().any(|fetch| has_string(&fetch.extent))
                && copies.iter().all(|copies| copies.number != *number)
        });
        let lacking: Vec<_> = lacking.map(|(number, _)| name(*number)).collect();
        assert_eq!(lacking, NOT_COPIED);
    }
}
