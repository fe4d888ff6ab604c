use super::*;
use crate::{scenario::Feature, trace::Naming};
use perf_live::units::Limit;
use perf_records::{format::Format, units::TracepointName};
use std::{collections::BTreeMap, path::Path, sync::Arc};

mod confined;
mod counters;
mod expected;
mod faults;
mod marks;
mod operations;
mod overwriting;
mod requires;
mod software;
mod spans;

/// A kernel with the captured events.
struct Kernel(BTreeMap<String, Arc<Format>>);

impl Kernel {
    fn captured() -> Self {
        let captures = [
            include_str!("../../harness/fixtures/payloads/raw_syscalls.sys_enter.txt"),
            include_str!("../../harness/fixtures/payloads/raw_syscalls.sys_exit.txt"),
            include_str!("../../harness/fixtures/payloads/sched.sched_process_exec.txt"),
            include_str!("../../harness/fixtures/payloads/sched.sched_process_fork.txt"),
            include_str!("../../harness/fixtures/payloads/sched.sched_switch.txt"),
        ];
        let systems = ["raw_syscalls", "raw_syscalls", "sched", "sched", "sched"];
        Self::of(&systems, &captures)
    }

    /// The same with io_uring.
    fn with_io_uring() -> Self {
        let mut kernel = Self::captured();
        let submission =
            include_str!("../../harness/fixtures/payloads/io_uring.io_uring_submit_req.txt");
        kernel
            .0
            .append(&mut Self::of(&["io_uring"], &[submission]).0);
        kernel
    }

    /// The same with copies of what `openat`, `renameat2` and `write` are given.
    fn with_copies() -> Self {
        let mut kernel = Self::captured();
        let calls = [
            include_str!("../../harness/fixtures/payloads/syscalls.sys_enter_openat@7.2.txt"),
            include_str!("../../harness/fixtures/payloads/syscalls.sys_enter_renameat2@7.2.txt"),
            include_str!("../../harness/fixtures/payloads/syscalls.sys_enter_write@7.2.txt"),
        ];
        kernel.0.append(&mut Self::of(&["syscalls"; 3], &calls).0);
        kernel
    }

    fn of(systems: &[&str], captures: &[&str]) -> Self {
        let formats = systems.iter().zip(captures).map(|(system, capture)| {
            let text = capture
                .get(capture.find("\nname: ").unwrap() + 1..)
                .unwrap();
            let format = perf_records::format::parse(text).unwrap();
            (format!("{system}:{}", format.name), Arc::new(format))
        });
        Self(formats.collect())
    }
}

impl Catalogue for Kernel {
    fn format(&self, name: &TracepointName) -> Result<Arc<Format>, HostError> {
        let missing = || HostError::NoTracepoint { name: name.clone() };
        self.0.get(name.as_str()).cloned().ok_or_else(missing)
    }
    fn systems(&self) -> Result<Vec<String>, HostError> {
        Ok(vec!["raw_syscalls".to_owned(), "sched".to_owned()])
    }
    fn events(&self, system: &str) -> Result<Vec<String>, HostError> {
        let names = self
            .0
            .keys()
            .filter_map(|name| name.strip_prefix(system)?.strip_prefix(':'));
        Ok(names.map(str::to_owned).collect())
    }
}

fn calls(words: &[&str]) -> Wanted {
    Wanted::Syscalls(words.iter().map(|word| (*word).to_owned()).collect())
}

fn tracepoint(name: &str) -> Wanted {
    Wanted::Event(WantedEvent {
        name: name.to_owned(),
        filter: None,
        ..WantedEvent::default()
    })
}

fn opened(wants: &[Wanted]) -> Vec<String> {
    let plan = events(wants, &Kernel::captured()).unwrap();
    plan.requests
        .into_iter()
        .map(|request| request.name)
        .collect()
}

#[test]
fn nothing_wanted_means_all_system_calls_without_a_filter() {
    let plan = events(&[], &Kernel::captured()).unwrap();
    assert!(
        plan.selection
            .is_some_and(|selection| selection.is_everything())
    );
    assert!(plan.requests.iter().all(|request| request.filter.is_none()));
    assert_eq!(plan.requests.len(), 2);
}

#[test]
fn two_hundred_calls_are_two_events() {
    assert_eq!(
        opened(&[calls(&["%file", "%network", "r*", "s*"])]),
        ["raw_syscalls:sys_enter", "raw_syscalls:sys_exit"]
    );
}

#[test]
fn calls_are_filtered_in_the_kernel_and_those_that_make_tasks_stay() {
    let plan = events(&[calls(&["close"])], &Kernel::captured()).unwrap();
    let filter = plan.requests[0].filter.clone().unwrap();
    for number in ["== 3", "56", "59"] {
        assert!(filter.contains(number), "{number} in {filter}");
    }
    let names: Vec<_> = plan.selection.unwrap().names().collect();
    assert_eq!(names, ["close"]);
}

#[test]
fn a_glob_opens_all_that_match_and_tracepoints_alone_still_follow_the_tasks() {
    let plan = events(&[tracepoint("sched:sched_switch")], &Kernel::captured()).unwrap();
    assert!(plan.selection.is_none());
    assert!(
        plan.requests[0]
            .filter
            .as_ref()
            .is_some_and(|filter| filter.contains("59"))
    );
    assert_eq!(
        opened(&[
            tracepoint("sched:sched_process_*"),
            tracepoint("sched:sched_process_exec")
        ]),
        [
            "raw_syscalls:sys_enter",
            "raw_syscalls:sys_exit",
            "sched:sched_process_exec",
            "sched:sched_process_fork"
        ]
    );
    assert_eq!(
        opened(&[tracepoint("sched:sched_process_[a-f]???")]),
        opened(&[tracepoint("sched:sched_process_*")])
    );
}

#[test]
fn an_unknown_name_comes_with_its_place_and_the_nearest() {
    let error = |wants: &[Wanted]| events(wants, &Kernel::captured()).unwrap_err();
    match error(&[tracepoint("sched:sched_switch"), calls(&["close", "opnat"])]) {
        EventsError::Syscall { at, unknown } => {
            assert_eq!(
                (at, unknown.nearest.first().map(String::as_str)),
                ((1, 1), Some("openat"))
            );
        }
        other => panic!("{other:?}"),
    }
    match error(&[tracepoint("sched:sched_swich")]) {
        EventsError::Tracepoint { at: 0, nearest, .. } => {
            assert_eq!(nearest.as_deref(), Some("sched:sched_switch"))
        }
        other => panic!("{other:?}"),
    }
    match error(&[tracepoint("shed:sched_switch")]) {
        EventsError::Tracepoint { nearest, .. } => {
            assert_eq!(nearest.as_deref(), Some("sched:sched_switch"))
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(
        error(&[tracepoint("sched:none*")]),
        EventsError::Tracepoint { .. }
    ));
    assert!(matches!(
        error(&[tracepoint("a/b:c*")]),
        EventsError::NoEvent { .. }
    ));
}

pub(crate) fn resolved(text: &str) -> Result<Resolved, PlanError> {
    resolved_on(&Kernel::captured(), None, text)
}

fn resolved_on(
    kernel: &Kernel,
    io_uring_disabled: Option<i64>,
    text: &str,
) -> Result<Resolved, PlanError> {
    resolved_by(MemoryReader::Bpf, kernel, io_uring_disabled, text)
}

fn resolved_by(
    reader: MemoryReader,
    kernel: &Kernel,
    io_uring_disabled: Option<i64>,
    text: &str,
) -> Result<Resolved, PlanError> {
    let scenario = crate::scenario::read(Path::new("x.yaml"), text).unwrap();
    let signatures = expected::signatures();
    let facts = Facts {
        untold: None,
        every_call: false,
        every_path: false,
        signatures: &signatures,
        lacks: &|feature| (feature == Feature::Uprobes).then(|| "there is no source".to_owned()),
        user: &|_| None,
        is_root: true,
        cannot_limit: &|limits| {
            let why = || "the hard limit is 9".to_owned();
            (limits.open_files > Some(9)).then(|| (Limit::OpenFiles, why()))
        },
        cannot_tell: &|limit| (limit == Limit::FileSize).then(|| "it is not counted".to_owned()),
        counting: Counting::Live(&|_| None),
        release: "6.1.0-18-amd64",
        has_command: &|command| command == "true",
        default_ring: default_ring(2),
        reach: Reach::Everything,
        page_size: 4096,
        io_uring_disabled,
        reader,
        without_bpf: (reader != MemoryReader::Bpf).then_some("it is forbidden"),
    };
    resolve(&scenario, &facts, kernel)
}

#[test]
fn a_limit_that_cannot_be_set_or_reached_is_pointed_at() {
    let whole = |text: &str| format!("description: x\nworkload: {{ run: ['true'] }}\n{text}\n");
    let limits = |limits: &str| whole(&format!("sandbox: {{ limits: {{ {limits} }} }}"));
    let refused = |text: String, at: (usize, usize), part: &str| {
        let (line, column, message) = complaint(&text);
        assert_eq!((line, column), at, "{text}: {message}");
        assert!(message.contains(part), "{text}: {message}");
    };
    refused(limits("memory: 1000"), (3, 30), "so little memory");
    refused(limits("open_files: 10"), (3, 34), "hard limit is 9");
    refused(whole("expect: { limit: cpu }"), (3, 18), "no limit of");
    let bare = |limit| whole(&format!("sandbox: none\nexpect: {{ limit: {limit} }}"));
    refused(bare("processes"), (4, 18), "no limit of `processes`");
    let set = limits("memory: 1MiB, open_files: 9");
    for text in [set, whole("expect: { limit: processes }"), bare("timeout")] {
        assert!(matches!(resolved(&text), Ok(Resolved::Plan(_))), "{text}");
    }
    let untold = limits("file_size: 9") + "expect: { limit: file_size }";
    let Ok(Resolved::Unmet(reasons)) = resolved(&untold) else {
        panic!("it can be told");
    };
    assert!(
        texts(reasons)
            .concat()
            .ends_with("for a limit: it is not counted")
    );
}

fn texts(lacks: Vec<Lack>) -> Vec<String> {
    lacks.into_iter().map(|lack| lack.text).collect()
}

fn complaint(text: &str) -> (usize, usize, String) {
    match resolved(text) {
        Err(PlanError::Invalid(diagnostic)) => {
            (diagnostic.line, diagnostic.column, diagnostic.message)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_can_never_occur_is_an_error_at_its_place() {
    let head =
        "description: d\nworkload: { run: [a] }\ntrace: { events: [{ syscalls: [close] }] }\n";
    assert_eq!(
        complaint(&format!("{head}expect: {{ count: {{ openat: 1 }} }}\n")),
        (
            4,
            20,
            "`openat` is not among the events of this scenario, so it can never occur".to_owned()
        )
    );
    assert_eq!(
        complaint(&format!(
            "{head}expect: {{ count: {{ 'sched:sched_switch': 1 }} }}\n"
        ))
        .2,
        "`sched:sched_switch` is not among the events of this scenario, so it can never occur"
    );
    assert_eq!(
        complaint(&format!("{head}snapshot: {{ hide: [close, clse] }}\n")),
        (4, 27, "unknown system call `clse`".to_owned())
    );
}

#[test]
fn a_count_of_calls_that_are_only_partly_traced_is_an_error() {
    let text = "description: d\nworkload: { run: [a] }\ntrace: { events: [{ syscalls: [unlink] }] }\nexpect: { count: { 'unlink*': 0 } }\n";
    assert_eq!(
        complaint(text).2,
        "`unlink*` also means `unlinkat`, which is not among the events of this scenario"
    );
}

#[test]
fn a_filter_is_checked_at_its_place() {
    let text = "description: d\nworkload: { run: [a] }\ntrace:\n  events:\n    - { event: 'sched:sched_switch', filter: 'prev_pri < 1' }\n";
    let (line, column, message) = complaint(text);
    assert_eq!((line, column), (5, 46));
    assert!(
        message.contains("the event has no field `prev_pri`"),
        "{message}"
    );
}

#[test]
fn a_count_of_a_class_adds_up_its_calls() {
    let text = "description: d\nworkload: { run: [a] }\nexpect: { count: { 'rename*': 1 } }\n";
    match resolved(text) {
        Ok(Resolved::Plan(plan)) => {
            let names = plan
                .expected
                .count
                .iter()
                .flat_map(|count| &count.step.names);
            assert_eq!(
                names.collect::<Vec<_>>(),
                ["rename", "renameat", "renameat2"]
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn rings_are_powers_of_two_of_pages_whatever_the_page() {
    assert_eq!(ring_pages(1, 4096), 1);
    assert_eq!(ring_pages(4097, 4096), 2);
    assert_eq!(ring_pages(3 << 20, 4096), 1024);
    assert_eq!(ring_pages(4096, 65536), 1);
    assert!(ring_pages(u64::MAX, 4096).is_power_of_two());
}

#[test]
fn many_cpus_share_what_few_have_for_themselves() {
    assert_eq!(default_ring(1), 16 << 20);
    assert_eq!(default_ring(2), 16 << 20);
    assert_eq!(default_ring(8), 8 << 20);
    assert_eq!(default_ring(64), 1 << 20);
    assert_eq!(default_ring(4096), 512 << 10);
}

#[test]
fn a_scenario_that_speaks_of_operations_needs_io_uring() {
    let head = "description: d\nworkload: { run: [a] }\n";
    for of_operations in [
        "trace: { events: ['io_uring:IORING_OP_FSYNC'] }",
        "expect: { count: { 'io_uring:IORING_OP_FSYNC': 1 } }",
        "snapshot: { show: ['io_uring:IORING_OP_*'] }",
    ] {
        let text = format!("{head}{of_operations}\n");
        let unmet = |kernel: &Kernel, disabled| match resolved_on(kernel, disabled, &text) {
            Ok(Resolved::Unmet(reasons)) => texts(reasons),
            Ok(Resolved::Plan(_)) => Vec::new(),
            other => panic!("{other:?}"),
        };
        let kernel = Kernel::with_io_uring();
        assert_eq!(
            unmet(&Kernel::captured(), None),
            ["needs tracepoint `io_uring:io_uring_submit_req`"]
        );
        assert_eq!(
            unmet(&kernel, Some(2)),
            ["needs io_uring, which `kernel.io_uring_disabled` forbids here"]
        );
        assert!(unmet(&kernel, Some(1)).is_empty() && unmet(&kernel, None).is_empty());
    }
}

#[test]
fn the_names_of_operations_are_resolved_as_those_of_calls() {
    let head =
        "description: d\nworkload: { run: [a] }\ntrace: { events: ['io_uring:IORING_OP_F*'] }\n";
    let resolved =
        |rest: &str| resolved_on(&Kernel::with_io_uring(), None, &format!("{head}{rest}\n"));
    let message = |rest: &str| match resolved(rest) {
        Err(PlanError::Invalid(diagnostic)) => diagnostic.message,
        other => panic!("{other:?}"),
    };
    match resolved(
        "expect: { count: { 'io_uring:IORING_OP_FSYNC': 1, 'io_uring:IORING_OP_FUTEX_*': 0 } }",
    ) {
        Ok(Resolved::Plan(plan)) => {
            let counts = plan.expected.count.iter();
            let lengths: Vec<_> = counts.map(|count| count.step.names.len()).collect();
            assert_eq!(lengths, [1, 3]);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(
        message("snapshot: { hide: ['io_uring:IORING_OP_NOP'] }"),
        "`io_uring:IORING_OP_NOP` is not among the events of this scenario, so it can never occur"
    );
    assert_eq!(
        message(
            "expect: { count: { 'io_uring:IORING_OP_*SYNC': 0, 'io_uring:IORING_OP_F*': 1, 'io_uring:IORING_OP_*': 1 } }"
        ),
        "`io_uring:IORING_OP_*` also means `io_uring:IORING_OP_NOP`, which is not among the events of this scenario"
    );
    assert_eq!(
        message("snapshot: { hide: ['io_uring:IORING_OP_FSNC'] }"),
        "io_uring has no operation `io_uring:IORING_OP_FSNC`"
    );
}

/// What is opened beside the two events of all calls, and how it is counted.
fn copied(words: &[&str], reader: MemoryReader, contents: u16) -> (Vec<String>, Grouping) {
    let memory = MemoryPlan {
        reader,
        contents,
        ..MemoryPlan::default()
    };
    let plan = events_within(
        Reach::Everything,
        &[calls(words)],
        memory,
        &Kernel::with_copies(),
    )
    .unwrap();
    assert_eq!(plan.fetches.is_empty(), reader != MemoryReader::Bpf);
    let beside = plan.requests.into_iter().skip(2);
    let beside: Vec<_> = beside
        .map(|request| (request.name, request.of_group))
        .collect();
    assert!(beside.iter().all(|(_, of_group)| *of_group));
    (
        beside.into_iter().map(|(name, _)| name).collect(),
        plan.grouping,
    )
}

#[test]
fn where_the_kernel_copies_strings_the_calls_that_have_some_are_opened_one_by_one() {
    let openat = "syscalls:sys_enter_openat".to_owned();
    let rename = "syscalls:sys_enter_renameat2".to_owned();
    let write = "syscalls:sys_enter_write".to_owned();
    let few = |names: &[&String]| (names.iter().copied().cloned().collect(), Grouping::No);
    let kernel = MemoryReader::Kernel;
    assert_eq!(copied(&["getpid"], kernel, 8), few(&[]));
    assert_eq!(copied(&["*"], kernel, 0), few(&[&openat, &rename]));
    assert_eq!(copied(&["*"], kernel, 8), few(&[&write, &openat, &rename]));
    for reader in [MemoryReader::Bpf, MemoryReader::Nobody] {
        assert_eq!(copied(&["*"], reader, 8), few(&[]));
    }
    assert!(has_copies(&Kernel::with_copies()).unwrap());
    assert!(!has_copies(&Kernel::captured()).unwrap());
}

#[test]
fn a_snapshot_that_shows_what_only_bpf_reads_is_an_unmet_requirement_without_it() {
    let unmet = |reader, events: &str, rest: &str| {
        let text = format!(
            "description: d\nworkload: {{ run: [a] }}\ntrace: {{ events: [{{ syscalls: [{events}] }}] }}\n{rest}\n"
        );
        match resolved_by(reader, &Kernel::with_copies(), None, &text) {
            Ok(Resolved::Unmet(reasons)) => texts(reasons).join("\n"),
            Ok(Resolved::Plan(_)) => String::new(),
            other => panic!("{other:?}"),
        }
    };
    let reason = |calls: &str| {
        format!(
            "its snapshot needs BPF, to read what the arguments of {calls} point to: it is forbidden"
        )
    };
    for reader in [MemoryReader::Kernel, MemoryReader::Nobody] {
        assert_eq!(unmet(reader, "sethostname", ""), reason("`sethostname`"));
        assert_eq!(
            unmet(reader, "sethostname, setdomainname, getpid", ""),
            reason("`setdomainname` and one more call")
        );
        // Descriptors have the names that other calls gave.
        assert!(unmet(reader, "fsync", "").contains("`accept` and "));
        for shows_none in [
            "snapshot: false",
            "snapshot: { level: counts }",
            "snapshot: { hide: [sethostname] }",
            "snapshot: { show: [getpid] }",
            "expect_failure: known",
        ] {
            assert_eq!(
                unmet(reader, "sethostname, getpid", shows_none),
                "",
                "{shows_none}"
            );
        }
        assert_eq!(unmet(reader, "getpid", ""), "");
    }
    assert_eq!(unmet(MemoryReader::Bpf, "sethostname", ""), "");
}
