//! Planted loss: records that find no room, records that the reader drops. Every one is caught,
//! with its number, and nothing is concluded from a trace that lacks one.

use std::io::{BufRead, BufReader, Read};
use std::ops::RangeInclusive;
use std::process::Stdio;

use nix::sched::{self, CpuSet};
use perf_live::host::Host;
use perf_live::ring::Bounds;
use serde_json::Value;
use trace_harness::plan::CallSource;
use trace_harness::run::{
    Bench, Control, Fault, Next, Options, ScenarioReport, Suite, Undisturbed, discover,
};
use trace_harness::verdict::{Finding, Kind, Verdict};

use crate::support::oracle;
use crate::support::project::{Project, Run};
use crate::support::require::{require, right_to_trace};
use crate::support::unread::{OnlyWhenOver, Unread};

/// What one event's line of the complaint says: counted, records, lost.
fn account(said: &str, event: &str) -> (u64, u64, u64) {
    let start = format!("`{event}`: ");
    let line = said
        .lines()
        .find_map(|line| line.trim().strip_prefix(start.as_str()));
    let line = line.unwrap_or_else(|| panic!("nothing about `{event}`: {said}"));
    let numbers: Vec<u64> = line
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|word| word.parse().ok())
        .collect();
    let [counted, records, lost] = numbers[..] else {
        panic!("not three numbers: {line}")
    };
    assert_eq!(
        line,
        format!("{counted} counted, {records} records, {lost} lost")
    );
    (counted, records, lost)
}

const GETPPID: &str = "syscalls:sys_enter_getppid";

/// How many records are missing by the complaint's own lines, those of tasks included, which no
/// event counts.
fn missing(said: &str) -> u64 {
    let lines = said.lines().map(str::trim);
    let lines =
        lines.filter(|line| line.starts_with('`') || line.starts_with("names, forks and exits"));
    let lost = |line: &str| {
        line.strip_suffix(" lost")?
            .rsplit(' ')
            .next()?
            .parse::<u64>()
            .ok()
    };
    lines
        .map(|line| lost(line).unwrap_or_else(|| panic!("no number at the end of: {line}")))
        .sum()
}

/// The trace has as many lines as there were records, and the summary knows of all the others.
fn assert_accounted(trace: &str, run: &Run, calls: RangeInclusive<u64>) {
    run.assert_status(125);
    let (counted, records, lost) = account(&run.stderr, GETPPID);
    assert!(calls.contains(&counted), "{}", run.stderr);
    assert!(counted == records + lost && lost > 0, "{}", run.stderr);
    let lines: Vec<Value> = trace
        .lines()
        .map(|line| serde_json::from_str(line).expect("a JSON line"))
        .collect();
    let (summary, events) = lines.split_last().expect("a summary");
    assert_eq!(events.len() as u64, records);
    let missing = missing(&run.stderr);
    assert!(missing >= lost);
    assert_eq!(
        (&summary["type"], &summary["events"]),
        (&"summary".into(), &records.into())
    );
    assert_eq!(
        (&summary["lost"], &summary["exit"]["code"]),
        (&missing.into(), &0.into())
    );
    let heading = format!("harness: the trace is incomplete: {missing} records lost");
    assert!(
        run.stderr.lines().any(|line| line == heading),
        "{}",
        run.stderr
    );
}

/// Traces a flood that nobody reads. The kernel tells of losses in the ring itself only where a
/// later record finds room, and here none does.
fn flood_that_nobody_reads(project: &Project, options: &[&str]) -> Run {
    let mut unread = Unread::new(project);
    let script = unread.shell(&format!("{} flood 100000", oracle::path()));
    let words = [
        &["trace", "-o", "trace"],
        options,
        &["--", "sh", "-c", &script],
    ]
    .concat();
    unread.run(&mut project.program(&words))
}

#[test]
fn a_flood_that_nobody_reads_is_lost_to_the_last_record() {
    require!(right_to_trace());
    for size in ["4KiB", "64KiB"] {
        let project = Project::new();
        let options = ["-m", size, "--format", "json", "-e", GETPPID];
        let run = flood_that_nobody_reads(&project, &options);
        // Shells ask for their parent once.
        assert_accounted(&project.read("trace"), &run, 100_000..=100_001);
        let (_, records, _) = account(&run.stderr, GETPPID);
        assert!(
            records < 5_000,
            "more records than two rings hold: {records}"
        );
        project.assert_nothing_left();
    }
}

#[test]
fn what_a_program_wakes_the_reader_by_is_no_record_that_could_be_lost() {
    require!(right_to_trace());
    let project = Project::new();
    let mut unread = Unread::new(&project);
    // Perf's ring is full when the forks have filled a quarter of the ring that a program writes
    // calls into. The kernel tells in perf's ring what it dropped once a record finds room again:
    // the end of the shell, which waits until the ring has been read.
    let flood = format!("{} flood 100000", oracle::path());
    let forks = "i=0; while [ $i -lt 60 ]; do i=$((i+1)); (:); done";
    let script = unread.shell(&format!("{flood} > /dev/null; {forks}"));
    let trace = project.join("trace");
    let script = format!("{script}; until [ -s {} ]; do :; done", trace.display());
    let words = ["trace", "-o", "trace", "-m", "64KiB", "--format", "json"];
    let words = [&words[..], &["-e", GETPPID, "--", "sh", "-c", &script]].concat();
    let on_one_cpu = || {
        let myself = nix::unistd::Pid::from_raw(0);
        let allowed = sched::sched_getaffinity(myself).expect("the CPUs");
        let mut all = 0..CpuSet::count();
        let first = all.find(|cpu| allowed.is_set(*cpu).expect("a CPU"));
        let mut one = CpuSet::new();
        one.set(first.expect("a CPU")).expect("a CPU");
        sched::sched_setaffinity(myself, &one).expect("one CPU");
        unread.run(&mut project.program(&words))
    };
    let run = std::thread::scope(|scope| scope.spawn(on_one_cpu).join()).expect("a run");
    assert_accounted(&project.read("trace"), &run, 100_000..=100_061);
}

#[test]
fn loss_among_all_calls_is_counted_for_both_their_halves() {
    require!(right_to_trace());
    for source in ["auto", "perf"] {
        let project = Project::new();
        let run = flood_that_nobody_reads(&project, &["-m", "4KiB", "--source", source]);
        run.assert_status(125);
        for event in ["raw_syscalls:sys_enter", "raw_syscalls:sys_exit"] {
            let (counted, records, lost) = account(&run.stderr, event);
            assert_eq!(counted, records + lost, "{event}");
            assert!(counted > 100_000 && lost > 0, "{event}: {counted} {lost}");
        }
        let (_, heading) = run.stderr.split_once("incomplete: ").expect("a heading");
        let said: u64 = heading
            .split(' ')
            .next()
            .and_then(|word| word.parse().ok())
            .expect("a number");
        assert_eq!(said, missing(&run.stderr), "{}", run.stderr);
    }
}

/// Traces a flood into rings of a third of its records, and reads nothing of the trace before the
/// workload has ended.
fn flood_before_its_trace_is_read(arguments: &[&str]) -> Run {
    let project = Project::new();
    let mut command = project.program(&["trace", "-m", "16MiB"]);
    command.args(arguments);
    let script = "\"$0\" flood 300000; echo done";
    command.args(["--", "sh", "-c", script, &oracle::path()]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut harness = command.spawn().expect("the program");
    let mut stdout = BufReader::new(harness.stdout.take().expect("a pipe"));
    let mut said = String::new();
    stdout.read_line(&mut said).expect("a line");
    stdout.read_line(&mut said).expect("a line");
    assert!(said.ends_with("done\n"), "{said}");
    let mut rest = Vec::new();
    let reader = std::thread::spawn(move || stdout.read_to_end(&mut rest));
    let run = harness.wait_with_output().expect("the end").into();
    reader.join().expect("a thread").expect("no more output");
    run
}

#[test]
fn nothing_is_lost_while_the_reader_of_the_trace_waits() {
    require!(right_to_trace());
    let run = flood_before_its_trace_is_read(&[]);
    run.assert_status(0);
    let calls = run.stderr.lines().filter(|line| line.contains(" getppid("));
    assert!(calls.count() >= 300_000);
}

#[test]
fn a_backlog_that_is_full_makes_a_trace_incomplete_with_its_numbers() {
    require!(right_to_trace());
    let run = flood_before_its_trace_is_read(&["--backlog", "1KiB"]);
    run.assert_status(125);
    for event in ["raw_syscalls:sys_enter", "raw_syscalls:sys_exit"] {
        let (counted, records, lost) = account(&run.stderr, event);
        assert!(counted == records + lost && lost > 0, "{counted} {lost}");
    }
    let told = " MiB of records waited to be read, and there was no room for more";
    assert!(run.stderr.lines().any(|line| line.contains(told)));
}

#[test]
fn records_that_waited_in_a_file_are_as_good_as_those_that_waited_in_memory() {
    require!(right_to_trace());
    let host = Host::running();
    let bounds = Bounds {
        memory: 0,
        files: 1 << 30,
    };
    let bench = Bench::new(&host).expect("a bench");
    let bench = bench.with_backlog(Some(bounds));
    let yaml = format!(
        "workload: {{ run: [{}, flood, \"50000\"] }}\nsandbox: {{ root: host }}\n\
         trace: {{ ring: {{ size: 16MiB }} }}\nexpect: {{ count: {{ getppid: 50000 }} }}\n\
         snapshot: false",
        oracle::path()
    );
    let report = run_here(&Project::with("flood", &yaml), &bench, None);
    assert_eq!(report.verdict, Verdict::Pass, "{:?}", report.findings);
    assert!(report.events > 50_000);
}

/// A flood that nobody reads, as a scenario.
fn flood(unread: &Unread, project: &Project, extra: &str) {
    let script = unread.shell(&format!("{} flood 20000", oracle::path()));
    let yaml = format!(
        "sandbox: {{ root: host }}\nworkload: {{ shell: \"{script}\" }}\n\
         trace: {{ ring: {{ size: 4KiB }} }}\n{extra}"
    );
    project.scenario("flood", &yaml);
}

/// Neither what passes without a trace, nor what is known to fail, nor what would be accepted.
#[test]
fn an_incomplete_run_is_never_a_pass_and_never_a_snapshot() {
    require!(right_to_trace());
    let variants = [
        "",
        "snapshot: false",
        "expect_failure: it is known to lose",
        "expect: { exit: 3 }",
        "expect: { exit: 3 }\nexpect_failure: it is known to end otherwise",
        "expect: { count: { connect: 0 } }\nsnapshot: false",
    ];
    for extra in variants {
        let project = Project::new();
        let mut unread = Unread::new(&project);
        flood(&unread, &project, extra);
        for arguments in [&[][..], &["--update"], &["--repeat", "3"]] {
            let words = [&["run", "--format", "json"], arguments, &["scenarios"]].concat();
            let run = unread.run(&mut project.program(&words));
            run.assert_status(1);
            let report = &run.json()[0];
            assert_eq!(report["verdict"], "incomplete", "{extra}: {report}");
            let reasons: Vec<&str> = report["reasons"]
                .as_array()
                .expect("reasons")
                .iter()
                .filter_map(Value::as_str)
                .collect();
            let reasons = reasons.join("\n");
            for event in ["raw_syscalls:sys_enter", "raw_syscalls:sys_exit"] {
                let (counted, records, lost) = account(&reasons, event);
                assert!(counted == records + lost && lost > 0, "{reasons}");
            }
            assert_eq!(report["lost"], missing(&reasons), "{report}");
            assert_eq!(run.json()[1]["incomplete"], 1);
            assert_eq!(project.snapshots(), [""; 0], "{extra}: nothing is written");
        }
        project.assert_nothing_left();
    }
}

/// Runs the only scenario of a project in this process.
fn run_here(project: &Project, bench: &Bench<'_>, drop_sample: Option<u64>) -> ScenarioReport {
    run_under(project, bench, drop_sample, &|| Box::new(Undisturbed))
}

fn run_under(
    project: &Project,
    bench: &Bench<'_>,
    drop_sample: Option<u64>,
    control: &(dyn Fn() -> Box<dyn Control> + Sync),
) -> ScenarioReport {
    let options = Options {
        require_all: true,
        fault: Fault { drop_sample },
        ..Options::default()
    };
    let items = discover(&[project.join("scenarios")]).expect("scenarios");
    let item = items.first().expect("a scenario").clone();
    let suite = Suite::read(bench, items).expect("a suite");
    suite.run_one(&item, &options, control)
}

/// Drops each record in turn, from the first to the last of the run, until there is none to drop.
fn every_dropped_record_is_caught(bench: &Bench<'_>) {
    let project = Project::with("true", "workload: { run: [\"true\"] }\nsnapshot: false");
    let right = run_here(&project, bench, None);
    assert_eq!(right.verdict, Verdict::Pass, "{right:?}");
    let mut position = 0;
    let last = loop {
        let report = run_here(&project, bench, Some(position));
        if report.verdict == Verdict::Pass {
            break report;
        }
        assert_eq!(
            report.verdict,
            Verdict::Incomplete,
            "record {position}: {report:?}"
        );
        assert_eq!(report.lost, 1, "record {position}: {report:?}");
        let [Finding { kind, text, .. }] = report.findings.as_slice() else {
            panic!("{report:?}")
        };
        assert_eq!(*kind, Kind::Lost);
        assert!(text.starts_with("`raw_syscalls:sys_"), "{text}");
        position += 1;
    };
    // All calls have two halves in the ring, but for the first, which is entered before its events
    // are on, and the last, which does not return.
    let halves = 2 * last.events - 2;
    assert!(
        position >= halves,
        "only {position} of {halves} records could be dropped"
    );
    assert_eq!(last.events, right.events);
}

#[test]
fn a_record_that_the_reader_drops_is_caught_wherever_it_stands() {
    require!(right_to_trace());
    let host = Host::running();
    every_dropped_record_is_caught(&Bench::new(&host).expect("a bench"));
}

/// Before Linux 6.0 the kernel does not count what it drops: the counters alone are the witness.
#[test]
fn a_kernel_that_does_not_count_losses_hides_neither_kind() {
    require!(right_to_trace());
    let host = Host::running();
    let bench = Bench::new(&host).expect("a bench").without_lost_counts();
    assert!(!bench.has_lost_counts());
    every_dropped_record_is_caught(&bench);
    // A program counts what it drops on every kernel.
    let bench = bench.with_source(CallSource::Perf);
    let yaml = format!(
        "sandbox: {{ root: host }}\nworkload: {{ run: [{}, flood, \"20000\"] }}\n\
         trace: {{ ring: {{ size: 4KiB }} }}\nsnapshot: false",
        oracle::path()
    );
    let report = run_under(&Project::with("flood", &yaml), &bench, None, &|| {
        Box::new(OnlyWhenOver::new(Next::Follow))
    });
    assert_eq!(report.verdict, Verdict::Incomplete, "{report:?}");
    assert!(report.lost > 0);
    for event in ["raw_syscalls:sys_enter", "raw_syscalls:sys_exit"] {
        let start = format!("`{event}`: ");
        let mut findings = report.findings.iter();
        let reason = findings.find_map(|it| it.text.strip_prefix(start.as_str()));
        let reason = reason.unwrap_or_else(|| panic!("nothing about `{event}`: {report:?}"));
        assert!(reason.ends_with(" missing"), "{reason}");
    }
}
