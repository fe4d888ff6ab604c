//! The programs on a machine that others use as well, or that does not allow them.

use std::fs;
use std::process::Stdio;
use std::time::Instant;

use nix::sys::signal::Signal;
use perf_live::host::Host;
use trace_harness::plan::{self, Resolved, StringSource};
use trace_harness::run::{Bench, Extras, Subject, attempt, lay_out};
use trace_harness::scenario;
use trace_harness::snapshot::Place;
use trace_harness::verdict::Verdict;

use super::UNREAD;
use crate::support::PATIENCE;
use crate::support::fifo::Fifo;
use crate::support::machine::facts;
use crate::support::oracle;
use crate::support::process::{Started, Watched, all_in};
use crate::support::project::{Project, Run};
use crate::support::require::{program, require, right_to_trace};
use trace_harness::run::Undisturbed;

/// The numbers that the kernel gives to the maps which a process holds. No program can be there
/// without its maps.
fn maps_of(pid: u32) -> Vec<u32> {
    let entries = fs::read_dir(format!("/proc/{pid}/fdinfo")).expect("procfs");
    let texts = entries.filter_map(|entry| fs::read_to_string(entry.ok()?.path()).ok());
    let number = |line: &str| line.strip_prefix("map_id:")?.trim().parse().ok();
    texts
        .flat_map(|text| text.lines().filter_map(number).collect::<Vec<_>>())
        .collect()
}

/// Whether a map of that number is there. It is not opened for that: to open one that is being
/// taken down, as bpftool does, may keep it.
#[expect(unsafe_code, reason = "a call without a safe wrapper")]
fn is_there(map: u32) -> bool {
    const BPF_MAP_GET_NEXT_ID: i32 = 12;
    let mut request = [map - 1, 0, 0];
    // SAFETY: the kernel reads and writes the three numbers.
    let result = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            BPF_MAP_GET_NEXT_ID,
            request.as_mut_ptr(),
            size_of_val(&request),
        )
    };
    result == 0 && request[1] == map
}

#[test]
fn a_killed_harness_leaves_no_program_and_no_map_in_the_kernel() {
    require!(right_to_trace());
    let project = Project::new();
    let mut fifo = Fifo::new(&project.join("fifo"));
    let script = format!("echo here > {}; exec sleep 1000", fifo.path());
    let words = ["trace", "-o", "trace", "-e", "openat", "sh", "-c", &script];
    let mut command = project.program(&words);
    command.stdout(Stdio::null());
    let mut harness = Started::new(&mut command);
    fifo.wait_for_lines(1);
    let maps = maps_of(harness.id());
    assert!(maps.len() > 1 && maps.iter().all(|map| is_there(*map)));
    harness.end_by(Signal::SIGKILL);
    // The kernel frees them behind the end of the process, after a grace period.
    let end = Instant::now() + PATIENCE;
    while maps.iter().any(|map| is_there(*map)) {
        assert!(Instant::now() < end, "{maps:?} are still there");
        std::thread::yield_now();
    }
    all_in(project.path()).iter().for_each(Watched::kill);
    project.assert_nothing_left();
}

#[test]
fn others_count_and_record_what_they_do_without_the_programs() {
    require!(right_to_trace());
    require!(program("perf"));
    let project = Project::new();
    let events = "raw_syscalls:sys_enter,raw_syscalls:sys_exit,sched:sched_process_fork,sched:sched_process_exec,\
                  signal:signal_deliver";
    let script = "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done";
    let counts = || {
        let words = [
            "perf", "stat", "-x,", "-o", "counts", "-e", events, "sh", "-c", script,
        ];
        project.run(&[], &words).assert_status(0);
        let counts = project.read("counts");
        let counted = counts.lines().filter(|line| line.contains(",,"));
        let number = |line: &str| line.split(',').next().unwrap_or_default().to_owned();
        let counted: Vec<String> = counted.map(number).collect();
        assert!(
            counted.iter().all(|number| number.parse::<u64>().is_ok()),
            "{counts}"
        );
        let words = [
            "perf", "record", "-q", "-o", "data", "-e", events, "sh", "-c", script,
        ];
        project.run(&[], &words).assert_status(0);
        let recorded = project.run(&[], &["perf", "script", "-i", "data", "-F", "event"]);
        let mut recorded: Vec<String> = recorded.stdout.lines().map(str::to_owned).collect();
        recorded.sort_unstable();
        (counted, recorded)
    };
    let without = counts();
    let mut fifo = Fifo::new(&project.join("fifo"));
    let workload = format!("echo here > {}; exec sleep 1000", fifo.path());
    let words = ["trace", "-o", "trace", "sh", "-c", &workload];
    let mut harness = Started::new(&mut project.program(&words));
    fifo.wait_for_lines(1);
    assert_eq!(counts(), without);
    harness.end_by(Signal::SIGTERM);
    project.assert_nothing_left();
}

/// Executes its arguments where every bpf(2) fails with `EPERM`, as in most containers.
const WITHOUT_BPF: &str = r#"
import ctypes, os, struct, sys
number = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (6, 0, 0, 0x50001), (6, 0, 0, 0x7fff0000)]
code = b"".join(struct.pack("HBBI", *step) for step in steps)
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(Program(4, code))) == 0
os.execv(sys.argv[1], sys.argv[1:])
"#;

fn without_bpf(project: &Project, words: &[&str]) -> Run {
    let before = ["python3", "-c", WITHOUT_BPF, env!("CARGO_BIN_EXE_harness")];
    let words: Vec<&str> = before.iter().chain(words).copied().collect();
    project.run(&[], &words)
}

#[test]
fn where_bpf_is_not_allowed_strings_are_unread_and_that_is_said_once_with_a_remedy() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    let words = [
        "trace",
        "-o",
        "trace",
        "-e",
        "openat",
        "--",
        "cat",
        "/dev/null",
    ];
    let run = without_bpf(&project, &words);
    run.assert_status(0);
    let said: Vec<&str> = run.stderr.lines().collect();
    let first = said.first().copied().unwrap_or_default();
    // From Linux 6.19 on the kernel has copies of some.
    let are_copied = first.starts_with("harness: strings are the kernel's own copies, ");
    let unread = "harness: strings are not read and shown as <unread>: ";
    assert!(are_copied || first.starts_with(unread), "{first}");
    let reason = ": cannot create a map (bpf(2)): operation not permitted";
    assert!(first.ends_with(reason), "{first}");
    assert!(said.get(1).is_some_and(|line| line.starts_with("hint: ")));
    assert_eq!(said.len(), 2, "{said:?}");
    let trace = project.read("trace");
    let opened = trace
        .lines()
        .filter(|line| line.contains("openat("))
        .count();
    assert!(opened > 0);
    let unread = if are_copied { 0 } else { opened };
    assert_eq!(trace.matches(UNREAD).count(), unread, "{trace}");
    assert_eq!(trace.contains("\"/dev/null\""), are_copied, "{trace}");

    let run = without_bpf(&project, &["doctor"]);
    let mut lines = run.stdout.lines();
    let line = lines.find(|line| line.contains("strings: "));
    assert!(
        line.is_some_and(|line| line.starts_with("  --  ")),
        "{run:?}"
    );
    assert!(lines.next().is_some_and(|line| line.contains("remedy: ")));

    // A trace of that kind is held against no snapshot.
    let project = Project::with("a", "workload: { run: [\"true\"] }");
    let run = without_bpf(&project, &["run", "scenarios"]);
    run.assert_status(77);
    let reason = "skipped  a: its snapshot needs BPF, to read what the arguments of `";
    assert!(run.stdout.contains(reason), "{run:?}");
    let nothing_read = "workload: { run: [\"true\"] }\ntrace: { events: [{ syscalls: [getpid] }] }";
    let project = Project::with("a", nothing_read);
    without_bpf(&project, &["run", "scenarios", "--update"]).assert_status(0);

    // Calls that have nothing to be read need nothing said.
    let run = without_bpf(
        &project,
        &["trace", "-o", "trace", "-e", "getpid", "--", "true"],
    );
    assert_eq!(run.assert_status(0).stderr, "");
}

#[test]
fn a_string_that_finds_no_room_is_lost_and_the_account_adds_up() {
    require!(right_to_trace());
    let project = Project::new();
    // The longer ones have no room even in an empty ring, however fast its reader is.
    let script = "open F, '<', '/nonexistent/' . 'x' x ($_ % 2 ? 200 : 4050) for 1..20000";
    // What a program records has the string in the record of its call.
    let words = [
        "trace", "--source", "perf", "-m", "4KiB", "-o", "trace", "-e", "openat", "perl", "-e",
        script,
    ];
    let run = project.harness(&words);
    run.assert_status(125);
    let line = run.stderr.lines().find(|line| line.contains("`memory`: "));
    let numbers = line
        .unwrap_or_default()
        .split(|c: char| !c.is_ascii_digit());
    let numbers: Vec<u64> = numbers.filter_map(|word| word.parse().ok()).collect();
    let [counted, records, lost] = numbers[..] else {
        panic!("{}", run.stderr);
    };
    assert!(counted >= 20000 && lost > 0, "{}", run.stderr);
    assert_eq!(counted, records + lost);
    // What is shown is right, or said to be unread.
    let trace = project.read("trace");
    let path = format!("\"/nonexistent/{}\"", "x".repeat(200));
    for line in trace.lines().filter(|line| line.contains("/nonexistent/")) {
        assert!(line.contains(&path), "{line}");
    }
}

#[test]
fn what_was_read_is_the_same_without_the_kernels_description_of_its_types_and_unread_is_incomplete()
{
    require!(right_to_trace());
    let project = Project::new();
    let host = Host::running();
    let oracle = oracle::path();
    let text = format!(
        "description: d\nsandbox: {{ root: host }}\nworkload: {{ run: [{oracle:?}, cold-execs, \"3\"] }}\ntrace: {{ events: [{{ syscalls: [execve, access] }}] }}\n"
    );
    let file = project.join("scenarios/it.yaml");
    let trace = |bench: &Bench<'_>| {
        let facts = facts(bench);
        let scenario = scenario::read(&file, &text).expect("a scenario");
        let Ok(Resolved::Plan(plan)) = plan::resolve(&scenario, &facts, &host) else {
            panic!("no plan for {text}");
        };
        let dir = lay_out(bench, &plan, &file).expect("a directory");
        let subject = Subject {
            file: &file,
            stored: &Place::of(&file).stored(bench.kernel()).expect("none"),
        };
        attempt(
            bench,
            &plan,
            subject,
            &mut Undisturbed,
            Extras::default(),
            &dir,
        )
        .expect("a run")
    };
    let bench = || Bench::new(&host).expect("this machine");
    let with = trace(&bench()).text.expect("a trace");
    let executed = "execve(\"/bin/../bin/true\", [\"cold-first\", \"cold-second\"]";
    assert_eq!(with.matches(executed).count(), 3, "{with}");
    assert!(!with.contains(UNREAD), "{with}");
    let without = trace(&bench().without_kernel_types());
    assert_eq!(without.text.expect("a trace"), with);
    let unread = trace(&bench().with_strings(StringSource::None));
    assert_eq!(unread.verdict, Verdict::Incomplete, "{:?}", unread.findings);
    assert_eq!((unread.text, unread.only_snapshot), (None, false));
}
