//! Programs that try to outlive their sandbox, to break out of it or to take it along: each run
//! ends with the word that it deserves, and nothing of it is left.
//!
//! Environment: `HARNESS_HOSTILE_ROUNDS` is how often each program runs, 2 unless told. Where it is
//! set, to 50 before a release, each run must also end within its timeout and a second, by the
//! clock of a machine that has nothing else to do; the longest is told.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::support::leavings::Leavings;
use crate::support::oracle::example;
use crate::support::process;
use crate::support::project::{Project, Run};
use crate::support::require::{require, right_to_trace};

/// How a program must end.
#[derive(Clone, Copy, Debug)]
enum End {
    /// By itself, with this for `exit`, and alone.
    Passes(&'static str),
    /// By itself, and others of its making live on.
    Leaks,
    /// The same; or by the limit of processes, where the CPUs are so busy that its dead go slower
    /// than new ones come.
    Hurries,
    /// By its time.
    TimesOut,
    /// By the limit of processes, or, where that only refuses it more of them, by its time.
    Strikes,
    /// By its time; or by the limit of processes, for the same reason.
    Storms,
}

use End::{Hurries, Leaks, Passes, Storms, Strikes, TimesOut};

/// The programs, in the order of `workloads/hostile.rs`.
const PROGRAMS: &[(&str, End)] = &[
    ("double-fork", Leaks),
    ("session-of-its-own", Leaks),
    ("daemon-closes-everything", Leaks),
    ("daemon-holds-output", Leaks),
    ("daemon-stops-itself", Leaks),
    ("daemon-hops", Hurries),
    ("daemon-is-not-dumpable", Leaks),
    ("daemon-holds-objects", Leaks),
    ("daemon-listens", Leaks),
    ("daemon-of-a-subreaper", Leaks),
    ("daemon-in-a-namespace", Leaks),
    ("daemon-in-nested-namespaces", Leaks),
    ("ignores-signals", TimesOut),
    ("handles-signals", TimesOut),
    ("stops-itself", TimesOut),
    ("stops-all", TimesOut),
    ("kills-all", Passes("0")),
    ("kills-its-group", Passes("{ signal: SIGKILL }")),
    ("kills-init", Passes("0")),
    ("segfaults", Passes("{ signal: SIGSEGV }")),
    ("aborts-in-a-thread", Passes("{ signal: SIGABRT }")),
    ("fork-bomb", Strikes),
    ("fork-storm", Storms),
    ("thread-bomb", Strikes),
    ("exec-loop", TimesOut),
    ("zombies", Passes("0")),
    ("orphans", Passes("0")),
    ("vfork-without-exec", TimesOut),
    ("leader-ends-first", Passes("5")),
    ("leader-ends-alone", TimesOut),
    ("ends-while-others-fork", Leaks),
    ("spins", TimesOut),
    ("sleeps", TimesOut),
    ("tracer-leaves", Leaks),
    ("tracer-of-init", Passes("0")),
    ("tracer-holds-the-exit", TimesOut),
    ("chroots-and-climbs", Passes("0")),
    ("mounts-over-its-directory", Passes("0")),
    ("binds-the-root", Passes("0")),
    ("unmounts-everything", Passes("0")),
    ("makes-control-groups", Passes("0")),
    ("fills-a-pipe", TimesOut),
    ("floods-output", TimesOut),
    ("sparse-file", Passes("0")),
    ("many-files", Passes("0")),
    ("deep-folders", Passes("0")),
    ("forbidden-folders", Passes("0")),
    ("odd-names", Passes("0")),
    ("special-files", Passes("0")),
    ("removes-its-directory", Passes("0")),
    ("removes-its-program", Passes("0")),
    ("uses-devices", Passes("0")),
    ("closes-descriptors", TimesOut),
    ("exhausts-descriptors", Passes("0")),
    ("plays-with-limits", Leaks),
    ("limits-init", Passes("0")),
    ("system-v-ipc", Passes("0")),
    ("posix-ipc", Passes("0")),
    ("keys", Passes("0")),
    ("pending-io-uring", Passes("0")),
    ("terminal", Passes("0")),
    ("faults-for-ever", TimesOut),
];

/// The time that a program has which never ends, and that which the others do not need.
const SHORT: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_secs(60);

/// What those others need at most, on a machine that does nothing else.
const ENOUGH: Duration = Duration::from_secs(1);

/// What a run may take beyond the time that its program has, on a machine that does nothing else.
const GRACE: Duration = Duration::from_secs(1);

impl End {
    fn timeout(self) -> Duration {
        match self {
            TimesOut | Strikes | Storms => SHORT,
            Passes(_) | Leaks | Hurries => LONG,
        }
    }

    fn verdicts(self) -> &'static [&'static str] {
        match self {
            Passes(_) => &["pass"],
            Leaks => &["leak"],
            Hurries => &["leak", "fail"],
            TimesOut => &["timeout"],
            Strikes | Storms => &["fail", "timeout"],
        }
    }
}

/// How many harnesses run at a time, and how many programs each of them.
const HARNESSES: usize = 2;
const JOBS: &str = "3";

/// How often each program runs, and whether by the clock.
fn rounds() -> (usize, bool) {
    match std::env::var("HARNESS_HOSTILE_ROUNDS") {
        Ok(rounds) => (rounds.parse().expect("a number"), true),
        Err(_) => (2, false),
    }
}

/// A scenario of the program. All that it starts has the project's folder in its environment.
fn scenario(project: &Project, name: &str, end: End) -> String {
    let exit = match end {
        Passes(exit) => exit,
        Leaks | Hurries | TimesOut | Strikes | Storms => "0",
    };
    format!(
        "workload:\n  run: [./hostile, {name}]\n  env: {{ MARK: \"{}\" }}\n  files: {{ hostile: {{ from: ../../../hostile, mode: \"0755\" }} }}\n  \
         timeout: {}ms\ntrace: {{ events: [{{ syscalls: [exit_group] }}] }}\nsnapshot: false\n\
         sandbox: {{ limits: {{ processes: 100 }} }}\nexpect: {{ exit: {exit} }}",
        mark(project),
        end.timeout().as_millis(),
    )
}

/// What only workloads have in their environment.
fn mark(project: &Project) -> String {
    project.join("workload").display().to_string()
}

/// How a program of that name must end.
fn end_of(report: &Value) -> End {
    let name = report["name"].as_str().expect("a name");
    let program = name.rsplit('/').next().expect("a program");
    let known = PROGRAMS.iter().find(|(known, _)| *known == program);
    known.expect("a program").1
}

/// What the run took beyond the time that its program had; one that ends by itself and leaves
/// others needs less.
fn beyond(report: &Value) -> Duration {
    let took = Duration::from_millis(report["duration_ms"].as_u64().expect("a duration"));
    let end = end_of(report);
    took.saturating_sub(match end {
        Leaks | Hurries => ENOUGH,
        Passes(_) | TimesOut | Strikes | Storms => end.timeout(),
    })
}

/// What is wrong with the report of one run.
fn complaint(report: &Value, by_the_clock: bool) -> Option<String> {
    let (end, beyond) = (end_of(report), beyond(report));
    let is_late = by_the_clock && beyond > GRACE;
    let has_struck = |limit: &str| {
        let struck = report["struck"].as_array().into_iter().flatten();
        struck.into_iter().any(|struck| struck == limit)
    };
    let verdict = report["verdict"].as_str().unwrap_or_default();
    let has_to_strike = matches!(end, Strikes) || matches!(end, Storms) && verdict == "fail";
    let is_right = end.verdicts().contains(&verdict) && (!has_to_strike || has_struck("processes"));
    (!is_right || is_late)
        .then(|| format!("{}: {end:?}, but {report} {beyond:?} late", report["name"]))
}

#[test]
fn whatever_a_program_does_its_run_ends_in_time_and_leaves_nothing() {
    require!(right_to_trace());
    let (rounds, by_the_clock) = rounds();
    let project = match by_the_clock {
        true => Project::new().in_time(),
        false => Project::new(),
    };
    std::fs::copy(example("hostile"), project.join("hostile")).expect("a copy");
    for round in 0..rounds {
        for (name, end) in PROGRAMS {
            let folder = format!("{}/{round:02}/{name}", round % HARNESSES);
            project.scenario(&folder, &scenario(&project, name, *end));
        }
    }
    let before = Leavings::now();
    let harness = |number: usize| {
        let folder = format!("scenarios/{number}");
        let arguments = ["run", "--format", "json", "--jobs", JOBS, &folder];
        Run::from(project.program(&arguments).output().expect("the program"))
    };
    let runs: Vec<Run> = std::thread::scope(|scope| {
        let started = (0..HARNESSES.min(rounds)).map(|number| scope.spawn(move || harness(number)));
        let started: Vec<_> = started.collect();
        started
            .into_iter()
            .map(|run| run.join().expect("a run"))
            .collect()
    });
    // The harness is gone, and with it all that it started, this very moment.
    let left = process::all_in(mark(&project).as_ref());
    assert!(left.is_empty(), "{left:?}");
    let lines: Vec<Value> = runs.iter().flat_map(Run::json).collect();
    let reports: Vec<_> = lines
        .iter()
        .filter(|line| line["type"] == "scenario")
        .collect();
    let mut ran: BTreeMap<&str, usize> = BTreeMap::new();
    for report in &reports {
        let name = report["name"]
            .as_str()
            .and_then(|name| name.rsplit('/').next());
        *ran.entry(name.expect("a name")).or_default() += 1;
    }
    for (name, _) in PROGRAMS {
        assert_eq!(ran.get(name), Some(&rounds), "{name}: {runs:?}");
    }
    project.assert_nothing_left();
    before.assert_no_more();
    let complaints: Vec<String> = reports
        .iter()
        .filter_map(|report| complaint(report, by_the_clock))
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    if by_the_clock {
        let longest = reports.iter().max_by_key(|report| beyond(report));
        let longest = longest.expect("a run");
        println!(
            "{} runs; {} took {:?} beyond its timeout",
            reports.len(),
            longest["name"],
            beyond(longest)
        );
    }
}

#[test]
fn every_hostile_program_has_an_end_in_the_table() {
    let mut program = Command::new(example("hostile"));
    let output = program.output().expect("the program");
    let known = String::from_utf8(output.stdout).expect("text");
    // One is what another executes.
    let known: Vec<&str> = known
        .lines()
        .filter(|name| *name != "removed-program")
        .collect();
    let tabled: Vec<&str> = PROGRAMS.iter().map(|(name, _)| *name).collect();
    assert_eq!(known, tabled);
}
