//! Calls that a BPF program records: the same as perf's, and as complete.

use std::collections::BTreeMap;
use std::time::Duration;

use perf_live::events::{EventSet, Origin};
use perf_live::host::Host;
use perf_live::sandbox::{World, launch};
use perf_records::record::{self, LayoutTable, Record};
use perf_records::units::Tid;
use syscall_model::Observation;
use trace_harness::plan::{self, CallSource, Wanted, WantedEvent};
use trace_harness::run::{Bench, Fired, Observer, Patience, Setting, Undisturbed, follow};
use trace_harness::verdict::Run as Ended;

use crate::cork::workload;
use crate::support::oracle;
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};
use crate::support::unread::Unread;

/// What programs of BPF need to record calls, beside the right to trace: tasks have the ids here
/// that they have in the machine's first namespace.
pub(crate) fn bpf_records_calls() -> Result<(), String> {
    right_to_trace()?;
    if !cfg!(target_arch = "x86_64") {
        return Err("programs record calls on x86_64 alone".to_owned());
    }
    let link = std::fs::read_link("/proc/self/ns/pid").map_err(|error| error.to_string())?;
    // PROC_PID_INIT_INO
    match link.to_str() {
        Some("pid:[4026531836]") => Ok(()),
        _ => Err("the tests are not in the first namespace of processes".to_owned()),
    }
}

const PATIENCE: Duration = Duration::from_secs(60);

/// Forks, threads, a signal, pipes, and calls that fail.
const MIXED: &str = r#"
import os, signal, subprocess, threading
signal.signal(signal.SIGUSR1, lambda *_: None)
os.kill(os.getpid(), signal.SIGUSR1)
for i in range(30):
    if os.fork() == 0:
        os.getppid()
        os._exit(i)
    os.wait()
def work():
    for i in range(20):
        try: os.open(f"/nonexistent/{i}", 0)
        except OSError: pass
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
    thread.join()
subprocess.run(["/bin/sh", "-c", "echo here | cat"], check=True)
"#;

/// What was recorded of each thread, by the request that it was recorded for: number and words.
#[derive(Default)]
struct Payloads {
    /// Where perf's payload of a request ends; behind it lies what a program has read of the task's
    /// memory.
    ends: Vec<usize>,
    n_contents: u64,
    of: BTreeMap<(usize, Tid), Vec<Vec<u8>>>,
}

impl Observer for Payloads {
    fn observe(&mut self, _: &Observation) {}
    fn event(&mut self, _: &Fired<'_>) {}
    fn record(&mut self, table: &LayoutTable<Origin>, bytes: &[u8]) {
        if let Some((layout, Origin::Request(place))) = table.resolve(bytes)
            && let Ok(Record::Sample(sample)) = record::parse(bytes, layout)
        {
            let (_, tid) = sample.task.expect("a thread");
            let raw = sample.raw.expect("a payload");
            let common = u32::from_ne_bytes(*raw[4..].first_chunk().expect("common_pid"));
            assert_eq!(common, tid.0);
            assert!(sample.time.is_some());
            let end = self
                .ends
                .get(place)
                .map_or(raw.len(), |end| raw.len().min(*end));
            self.n_contents += u64::from(raw.len() > end);
            // Behind the flags, which tell of interrupts and preemption.
            let all = self.of.entry((place, tid)).or_default();
            all.push([&raw[..2], &raw[8..end]].concat());
        }
    }
}

/// Follows a command whose calls a program records, told of its events before it is let go.
fn followed(
    command: &[&str],
    wants: &[Wanted],
    observer: &mut dyn Observer,
    before: impl FnOnce(&EventSet, Tid),
) -> Ended<()> {
    let host = Host::running();
    let bench = Bench::new(&host)
        .expect("a bench")
        .with_source(CallSource::Bpf);
    bench
        .can_record_calls()
        .expect("programs that record calls");
    let plan = plan::events(wants, &host).expect("a plan");
    let workload = workload(command, &World::Host);
    let corked = launch(&workload).expect("a cork");
    let pages = plan::ring_pages(8 << 20, perf_live::sys::page_size());
    let mut events = bench.open(&plan, &corked, None, pages).expect("events");
    assert!(events.records_by_programs());
    let main = Tid(corked.pid().0);
    let running = corked.uncork(PATIENCE).expect("a running workload");
    before(&events, main);
    let patience = Patience {
        timeout: Some(PATIENCE),
        tick: Duration::from_millis(10),
        watch: None,
    };
    let setting = Setting::default();
    let control = &mut Undisturbed;
    follow(
        running,
        &mut events,
        &plan,
        patience,
        control,
        observer,
        setting,
    )
    .expect("an end")
}

fn all_calls() -> Wanted {
    Wanted::Syscalls(vec!["all".to_owned()])
}

#[test]
fn a_program_records_of_each_thread_what_perf_records() {
    require!(bpf_records_calls());
    require!(program("python3"));
    let event = |name: &str| {
        Wanted::Event(WantedEvent {
            name: name.to_owned(),
            ..WantedEvent::default()
        })
    };
    let wants = [
        all_calls(),
        event("raw_syscalls:sys_enter"),
        event("raw_syscalls:sys_exit"),
    ];
    let plan = plan::events(&wants, &Host::running()).expect("a plan");
    let places = |name: &str| {
        let all = plan.requests.iter().enumerate();
        let places = all
            .filter(|(_, request)| request.name == name)
            .map(|(place, _)| place);
        let [by_program, by_perf] = places.collect::<Vec<_>>()[..] else {
            panic!("not two requests of {name}")
        };
        assert!(plan.requests[by_program].calls.is_some());
        (by_program, by_perf)
    };
    let end = |name: &str| match name {
        "raw_syscalls:sys_enter" => 68,
        "raw_syscalls:sys_exit" => 28,
        _ => usize::MAX,
    };
    let mut payloads = Payloads {
        ends: plan.requests.iter().map(|it| end(&it.name)).collect(),
        ..Payloads::default()
    };
    let run = followed(&["python3", "-c", MIXED], &wants, &mut payloads, |_, _| {});
    assert_eq!(run.account.complaints(), [""; 0]);
    assert!(payloads.n_contents > 100, "{}", payloads.n_contents);
    for name in ["raw_syscalls:sys_enter", "raw_syscalls:sys_exit"] {
        let (by_program, by_perf) = places(name);
        let of = |place| {
            let all = payloads.of.iter().filter(move |((of, _), _)| *of == place);
            all.map(|((_, tid), all)| (*tid, all.clone()))
                .collect::<BTreeMap<_, _>>()
        };
        let (by_program, by_perf) = (of(by_program), of(by_perf));
        assert!(by_perf.len() > 30, "{} threads", by_perf.len());
        assert_eq!(by_program, by_perf, "{name}");
    }
}

#[test]
fn a_call_of_a_task_that_the_programs_do_not_know_is_missed_by_the_kernels_count() {
    require!(bpf_records_calls());
    let project = Project::new();
    let fifo = project.join("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).expect("mkfifo");
    let script = format!("read line < {}; exec true", fifo.display());
    let forget = |events: &EventSet, main: Tid| {
        events.forget(&[main]);
        // It waits for the shell, which makes calls that no program records.
        std::fs::write(&fifo, "go\n").expect("a reader");
    };
    let command = ["sh", "-c", &script];
    let run = followed(&command, &[all_calls()], &mut Payloads::default(), forget);
    let missing: u64 = run.account.events.iter().map(|event| event.missing()).sum();
    assert!(
        missing > 0 && !run.account.is_complete(),
        "{:?}",
        run.account
    );
    let said = run.account.complaints().join("\n");
    assert!(said.contains("(these do not add up)"), "{said}");
}

const SCENARIO: &str = "workload: { run: [perl, -e, 'for (1..3) { if (!fork) { getppid; open F, q{<}, q{/nonexistent/it}; exec q{true} } wait } exec q{ls}, q{-l}, q{/etc}'] }\n\
                        trace: { events: [{ syscalls: [all] }] }\n\
                        expect: { exit: 0 }";

#[test]
fn the_snapshot_of_a_run_is_the_same_by_either_source() {
    require!(bpf_records_calls());
    let snapshots = ["perf", "bpf"].map(|source| {
        let project = Project::with("it", SCENARIO);
        let run = project.harness(&["run", "--update", "--source", source, "scenarios"]);
        run.assert_status(0);
        for other in ["perf", "bpf"] {
            let again = ["run", "--repeat", "5", "--source", other, "scenarios"];
            project.harness(&again).assert_status(0);
        }
        let snapshots = project.files("snapshots");
        project.assert_nothing_left();
        snapshots
    });
    let [by_perf, by_bpf] = snapshots;
    assert_eq!(by_perf.len(), 1);
    assert_eq!(by_perf, by_bpf);
}

#[test]
fn what_is_kept_of_such_a_run_is_read_by_perf_and_replayed() {
    require!(bpf_records_calls());
    require!(program("perf"));
    let project = Project::new();
    let words = [
        "trace",
        "--source",
        "bpf",
        "--save",
        "data",
        "-o",
        "live",
        "--",
        "sh",
        "-c",
        "ls / | wc -l",
    ];
    project.harness(&words).assert_status(0);
    let replayed = project.harness(&["trace", "-i", "data", "-o", "replayed"]);
    replayed.assert_status(0);
    let live = project.read("live");
    assert_eq!(project.read("replayed"), live);
    let script = project.run(&[], &["perf", "script", "-i", "data", "-F", "event,trace"]);
    script.assert_status(0);
    let calls = |name: &str| script.stdout.matches(name).count();
    let (entered, left) = (
        calls("raw_syscalls:sys_enter: NR "),
        calls("raw_syscalls:sys_exit: NR "),
    );
    // The first exec has no entry, and the ends of three processes no exit.
    assert!(entered > 100 && left > 100, "{}", script.stdout);
    assert_eq!(entered - 3 + 1 + 2, left, "two forks leave twice");
    let whole = project.harness(&["script", "-i", "data"]);
    whole.assert_status(0);
}

#[test]
fn a_ring_that_is_too_small_loses_calls_and_says_how_many() {
    require!(bpf_records_calls());
    let project = Project::new();
    let mut unread = Unread::new(&project);
    let script = unread.shell(&format!("{} flood 100000", oracle::path()));
    let words = [
        "trace", "--source", "bpf", "-m", "4KiB", "--format", "json", "-o", "trace", "--", "sh",
        "-c", &script,
    ];
    let run = unread.run(&mut project.program(&words));
    run.assert_status(125);
    for half in ["raw_syscalls:sys_enter", "raw_syscalls:sys_exit"] {
        let start = format!("`{half}`: ");
        let lines = || run.stderr.lines().map(str::trim);
        let line = lines().find_map(|line| line.strip_prefix(&start));
        let line = line.unwrap_or_else(|| panic!("nothing about {half}: {}", run.stderr));
        let numbers = line.split(|c: char| !c.is_ascii_digit());
        let numbers: Vec<u64> = numbers.filter_map(|word| word.parse().ok()).collect();
        let [counted, records, lost] = numbers[..] else {
            panic!("not three numbers: {line}")
        };
        assert_eq!(
            line,
            format!("{counted} counted, {records} records, {lost} lost")
        );
        assert!(counted > 100_000 && lost > 0, "{line}");
        assert_eq!(counted, records + lost, "{line}");
    }
    project.assert_nothing_left();
}

#[test]
fn runs_side_by_side_have_their_own_calls_and_nobody_elses() {
    require!(bpf_records_calls());
    let project = Project::new();
    for run in 0..12 {
        let size = 64 << (run % 3);
        let yaml = format!(
            "workload: {{ run: [perl, -e, \"open F, '<', qq{{/nonexistent/of-{run:02}-$_}} for 1..10\"] }}\n\
             trace: {{ ring: {{ size: {size}KiB }}, events: [{{ syscalls: [openat] }}] }}"
        );
        project.scenario(&format!("s{run:02}"), &yaml);
    }
    for jobs in ["8", "1"] {
        let words = [
            "run",
            "--source",
            "bpf",
            "--update",
            "--jobs",
            jobs,
            "scenarios",
        ];
        project.harness(&words).assert_status(0);
        for (name, trace) in project.files("snapshots") {
            let trace = String::from_utf8(trace).expect("text");
            let own: String = name.chars().filter(char::is_ascii_digit).collect();
            let n = trace.matches("/nonexistent/of-").count();
            let of_own = trace.matches(&format!("/nonexistent/of-{own}-")).count();
            assert_eq!((n, of_own), (10, 10), "{name}: {trace}");
        }
    }
    project.assert_nothing_left();
}

#[test]
fn thousands_of_tasks_lose_no_call() {
    require!(bpf_records_calls());
    require!(program("python3"));
    let project = Project::new();
    let script = "import os\nfor i in range(3000):\n  if os.fork() == 0: os.getppid(); os._exit(0)\n  os.wait()";
    let words = [
        "trace", "--source", "bpf", "-e", "getppid", "-o", "trace", "--", "python3", "-c", script,
    ];
    project.harness(&words).assert_status(0);
    assert_eq!(project.read("trace").matches("getppid(").count(), 3000);
}

#[test]
fn what_bpf_does_not_record_is_refused_and_not_left_to_perf() {
    require!(bpf_records_calls());
    let project = Project::new();
    for words in [&["-k", "--", "true"][..], &["-p", "1"], &["-i", "nothing"]] {
        let run = project.harness(&[&["trace", "--source", "bpf"], words].concat());
        run.assert_status(125);
        assert!(run.stderr.contains("--source perf"), "{}", run.stderr);
    }
}

#[test]
fn a_scenario_whose_calls_bpf_cannot_record_says_that_perf_did() {
    require!(bpf_records_calls());
    let chain = "workload: { run: [mkdir, made] }\n\
                 trace: { events: [{ syscalls: [mkdir], callchain: fp }] }\n\
                 expect: { count: { mkdir: 1 } }\nsnapshot: false\n";
    let said = "perf records the calls of this run";
    let told = |yaml: &str, source: &str| {
        let project = Project::with("x", yaml);
        let run = project.harness(&["run", "--source", source, "scenarios"]);
        run.assert_status(0).stdout.contains(said)
    };
    assert!(told(chain, "bpf"));
    assert!(!told(chain, "perf"));
    assert!(!told(&chain.replace(", callchain: fp", ""), "bpf"));
}
