//! What `perf script` says of the files and pipes that perf records, `harness script` says as well:
//! event by event, field by field.
//!
//! The two differ in the widths of columns, which are those of perf 7.2 in all versions of
//! `harness`, and in the user's addresses of call chains, which perf 6.1 shows as places in the
//! file. So runs of spaces are one, and of an address in a chain its place in the page counts. perf
//! 7.2 forgets the name of a thread at its end, though its last samples are yet to come; the kernel
//! and we do not.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use super::support::command::{PATH, Place};
use super::support::perf::{self, WITH_TRACEFS, recorded};
use super::support::require::{self, require};

/// Of tracepoints: what all of them have.
const TRACE: &[&str] = &["comm,pid,tid,cpu,time,event,trace"];
/// Of events on one task: its samples have no CPU.
const TASK: &[&str] = &["comm,pid,tid,time,event,ip,period"];

/// What `perf record` is told, the command, and the fields to be compared.
type Case = (&'static str, &'static str, &'static [&'static str]);

fn ours(file: &Path, fields: &[&str], more: &[&str]) -> Vec<String> {
    lines(env!("CARGO_BIN_EXE_harness"), file, fields, more)
}

fn theirs(file: &Path, fields: &[&str], more: &[&str]) -> Vec<String> {
    // A function that stands inside of another is known from what debuggers read, and not from what
    // was recorded.
    let more: Vec<&str> = more.iter().copied().chain(["--no-inline"]).collect();
    let mut theirs = lines(&perf::program(), file, fields, &more);
    if cfg!(target_arch = "aarch64") {
        let with_names = |list: &&str| list.replace(",ip,", ",ip,sym,");
        let fields: Vec<String> = fields.iter().map(with_names).collect();
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        let named = text(&perf::program(), file, &fields, &more);
        let mut are_callers = perf::are_callers(&named).into_iter();
        theirs.retain(|_| are_callers.next().unwrap_or(true));
    }
    theirs
}

fn lines(program: &str, file: &Path, fields: &[&str], more: &[&str]) -> Vec<String> {
    let text = text(program, file, fields, more);
    text.lines().map(alike).collect()
}

fn text(program: &str, file: &Path, fields: &[&str], more: &[&str]) -> String {
    let mut command = Command::new(program);
    command
        .args(["script", "--ns", "--show-task-events", "-i"])
        .arg(file)
        .args(more);
    for list in fields {
        command.args(["-F", list]);
    }
    let output = command
        .env("PATH", PATH)
        .env("HOME", "/nonexistent")
        .output()
        .expect("a program that starts");
    assert!(output.status.success(), "{program}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn alike(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    if line.starts_with('\t') {
        // Of a chain.
        let address = words.first().copied().unwrap_or_default();
        return address.chars().rev().take(3).collect();
    }
    words.join(" ")
}

/// The threads that have ended so far, where perf forgets who they were.
#[derive(Default)]
struct Forgotten(BTreeSet<String>);

impl Forgotten {
    fn look_at(&mut self, line: &str) {
        let tid = |event: &str| {
            let (_, ids) = line.split_once(event)?;
            Some(ids.split_once(')')?.0.split_once(':')?.1.to_owned())
        };
        if let Some(tid) = tid("PERF_RECORD_EXIT(") {
            self.0.insert(tid);
        }
        if let Some(tid) = tid("PERF_RECORD_FORK(") {
            self.0.remove(&tid);
        }
    }

    /// With the name that is forgotten, if it is one.
    fn with_name(&self, theirs: &str, ours: &str) -> Option<String> {
        let (tid, rest) = theirs.strip_prefix(':')?.split_once(' ')?;
        let name = ours.strip_suffix(rest)?;
        self.0.contains(tid).then(|| format!("{name}{rest}"))
    }
}

fn compare(ours: &[String], theirs: &[String], of_what: &str) {
    let is_forgetful = perf::version() >= perf::NEW;
    let mut forgotten = Forgotten::default();
    for (number, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        let known = forgotten.with_name(theirs, ours).filter(|_| is_forgetful);
        let theirs = known.as_ref().unwrap_or(theirs);
        assert_eq!(ours, theirs, "{of_what}: line {number}");
        forgotten.look_at(ours);
    }
    assert_eq!(ours.len(), theirs.len(), "{of_what}");
}

/// The time of an event.
fn time(line: &str) -> Option<&str> {
    let is_time = |word: &&str| {
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        word.split_once('.')
            .is_some_and(|(seconds, rest)| digits(seconds) && digits(rest))
    };
    let words = line.split_whitespace();
    words
        .filter_map(|word| word.strip_suffix(':'))
        .find(is_time)
}

/// With the events of one moment in the order of what is told behind their time. Of such events in
/// several files perf has those first whose file the file system lists first
/// (`perf_data__open_dir()`), which differs from folder to folder; ours are in the order of the
/// files' numbers.
fn moments(mut lines: Vec<String>) -> Vec<String> {
    let are_one = |before: &String, after: &String| {
        time(before).is_some_and(|moment| time(after) == Some(moment))
    };
    for moment in lines.chunk_by_mut(are_one) {
        moment.sort_by_cached_key(|line| {
            let told = time(line).and_then(|time| line.split_once(time));
            told.map(|(_, told)| told.to_owned())
        });
    }
    lines
}

/// Records each case, to a file or by a pipe, and compares.
fn check(cases: &[Case], is_pipe: bool, more: &[&str]) {
    require!(require::right_to_trace());
    require!(require::perf());
    for (options, command, fields) in cases {
        let place = Place::new();
        let (file, recorded) = recorded(&place, options, command, is_pipe);
        let theirs = theirs(&file, fields, more);
        assert!(!theirs.is_empty(), "{options}: {recorded:?}");
        let ours = ours(&file, fields, more);
        if file.is_dir() {
            compare(&moments(ours), &moments(theirs), options);
        } else {
            compare(&ours, &theirs, options);
        }
    }
}

/// It uses a CPU for some ten milliseconds, so that clocks sample it at any frequency.
const BUSY: &str = "sh -c 'i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; ls -R'";

#[test]
fn tracepoints_have_the_values_that_perf_prints() {
    let cases: &[Case] = &[
        ("-e sched:sched_process_exec", "sh -c 'true; ls'", TRACE),
        ("-e sched:sched_switch", "sh -c 'ls | sort | cat'", TRACE),
        ("-e 'sched:*'", "sh -c 'ls | wc'", TRACE),
        ("-e raw_syscalls:sys_enter", "find . -type f", TRACE),
        (
            "-e raw_syscalls:sys_enter,raw_syscalls:sys_exit",
            "grep -r needle .",
            TRACE,
        ),
        ("-e 'syscalls:sys_*_openat'", "cat a.txt sub/c.txt", TRACE),
        (
            "-e sched:sched_wakeup,irq:softirq_entry -a",
            "sleep 0.1",
            TRACE,
        ),
        (
            "-s -e raw_syscalls:sys_enter",
            "sh -c 'ls & ls & wait'",
            TRACE,
        ),
        ("-m 1 -e raw_syscalls:sys_enter", "find .", TRACE),
        (
            "-e 'task:*,signal:*'",
            "sh -c 'ls | cat; kill -0 $$'",
            TRACE,
        ),
    ];
    check(cases, false, &[]);
}

#[test]
fn samples_have_the_values_that_perf_prints() {
    let cases: &[Case] = &[
        ("-e cpu-clock -F 999", BUSY, TASK),
        ("-e cpu-clock -c 100000", BUSY, TASK),
        ("-e task-clock", BUSY, TASK),
        (
            "-e page-faults -d",
            "ls",
            &["comm,tid,time,event,ip,addr,period"],
        ),
        ("-e page-faults -c 1", "ls", TASK),
        ("-e page-faults -c 1 --call-graph fp", "ls", TASK),
        (
            "-e context-switches,cpu-migrations",
            "sh -c 'ls | cat'",
            TASK,
        ),
        (
            match cfg!(target_arch = "aarch64") {
                true => "-e page-faults --intr-regs=pc,sp --user-regs=pc,sp",
                false => "-e page-faults --intr-regs=ip,sp --user-regs=ip,sp",
            },
            "ls",
            TASK,
        ),
        (
            "-e page-faults -d --phys-data --data-page-size",
            "ls",
            &["comm,tid,time,event,ip,addr,period"],
        ),
        ("-e '{cpu-clock,page-faults}:S'", BUSY, TASK),
        (
            "-a -e cpu-clock --all-cgroups",
            "sleep 0.1",
            &["comm,tid,cpu,time,event,ip,period"],
        ),
    ];
    check(cases, false, &[]);
}

#[test]
fn events_of_different_layouts_in_one_file_are_told_apart() {
    let fields: &[&str] = &[
        "sw:comm,tid,time,event,ip,period",
        "trace:comm,tid,cpu,time,event,trace",
    ];
    let cases: &[Case] = &[
        (
            "-e page-faults,sched:sched_switch,cpu-clock",
            "sh -c 'ls | cat'",
            fields,
        ),
        ("-e raw_syscalls:sys_enter,page-faults -d", "ls", fields),
        ("-a -e page-faults,sched:sched_switch -g", "ls", fields),
    ];
    check(cases, false, &[]);
}

#[test]
fn what_is_compressed_and_what_comes_by_a_pipe_is_the_same() {
    let cases: &[Case] = &[
        ("-e raw_syscalls:sys_enter", "find .", TRACE),
        ("-e page-faults,cpu-clock", "ls", TASK),
        (
            "-e sched:sched_switch,page-faults",
            "sh -c 'ls | cat'",
            &[
                "sw:comm,tid,time,event,ip,period",
                "trace:comm,tid,cpu,time,event,trace",
            ],
        ),
    ];
    check(cases, true, &[]);
    let compressed: &[Case] = &[
        ("-z -e raw_syscalls:sys_enter", "find .", TRACE),
        ("-z -e 'sched:*'", "sh -c 'ls | wc'", TRACE),
    ];
    check(compressed, false, &[]);
}

#[test]
fn records_of_tasks_mappings_switches_and_namespaces_read_as_perfs() {
    let all = [
        "--show-mmap-events",
        "--show-switch-events",
        "--show-namespace-events",
    ];
    let cases: &[Case] = &[
        ("-e page-faults", "sh -c 'ls | cat'", TASK),
        ("-e page-faults --buildid-mmap", "ls", TASK),
        ("-e page-faults -d --namespaces", "unshare -n true", TASK),
        ("-e page-faults --switch-events", "sh -c 'ls | cat'", TASK),
        ("-e raw_syscalls:sys_enter", "sh -c 'ls | cat'", TRACE),
    ];
    check(cases, false, &all);
}

#[test]
fn directories_with_a_file_of_each_thread_of_perf_are_read_as_one() {
    let fields: &[&str] = &[
        "sw:comm,tid,time,event,ip,period",
        "trace:comm,tid,cpu,time,event,trace",
    ];
    let cases: &[Case] = &[
        (
            "--threads -a -e sched:sched_switch,task-clock",
            "sh -c 'ls | cat; ls'",
            fields,
        ),
        (
            "--threads -z -a -e sched:sched_wakeup,cpu-clock",
            "find . -type f",
            fields,
        ),
    ];
    check(cases, false, &[]);
}

#[test]
fn recordings_in_which_only_samples_have_times_read_as_perfs() {
    require!(require::perf());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/perfdata");
    for name in ["untimed.data", "untimed-pipe.data"] {
        let file = folder.join(name);
        let fields = [
            "sw:comm,pid,tid,time,event,ip",
            "trace:comm,tid,cpu,time,event,trace",
        ];
        let theirs = theirs(&file, &fields, &["--show-mmap-events"]);
        assert!(theirs.len() > 20, "{name}: {theirs:?}");
        compare(
            &ours(&file, &fields, &["--show-mmap-events"]),
            &theirs,
            name,
        );
    }
}

#[test]
fn a_recording_of_the_other_byte_order_reads_as_perfs() {
    require!(require::perf());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/perfdata");
    let file = folder.join("foreign.data");
    let theirs = theirs(&file, TRACE, &[]);
    assert!(!theirs.is_empty());
    compare(&ours(&file, TRACE, &[]), &theirs, "foreign.data");
}

#[test]
fn a_probe_on_a_librarys_function_has_the_values_that_perf_prints() {
    require!(require::right_to_trace());
    require!(require::perf());
    let place = Place::new();
    let file = place.beside("perf.data");
    let path = file.to_str().expect("a path of letters");
    // The name of a group of probes is the whole machine's.
    let group = format!("harness_script_{}", std::process::id());
    let perf = perf::program();
    let record = format!(
        "library=$(ldd /bin/ls | sed -n 's/.*libc.so.6 => \\([^ ]*\\) .*/\\1/p') && \
         trap '{perf} probe -q -d \"{group}:*\"' EXIT && \
         {perf} probe -q -x $library '{group}:opened=readdir64 stream=%di:u64' && \
         {perf} record -q -o {path} -e {group}:opened -- ls"
    );
    let mut words = vec!["unshare"];
    words.extend(WITH_TRACEFS.iter().chain(&["sh", "-c", &record]));
    let recorded = place.run("", &words);
    if !file.exists() {
        return require::skip(&format!("perf makes no probe here: {recorded:?}"));
    }
    let theirs = theirs(&file, TRACE, &[]);
    assert!(!theirs.is_empty(), "{recorded:?}");
    compare(&ours(&file, TRACE, &[]), &theirs, "a probe");
}
