//! Probes: what is read at them, and that none is left however the harness ends.

use std::io::Read;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use nix::sys::signal::Signal;
use perf_live::host::Host;

use crate::support::PATIENCE;
use crate::support::process::{self, Started, Watched};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

/// A function called five times, with arguments of all kinds that a probe reads, and of others.
const SOURCE: &str = r#"
#include <stdio.h>
#include <stdbool.h>
struct pair { long a; double b; };
struct big { long a, b, c; };
enum kind { ONE, TWO };
#define APART __attribute__((noinline, noclone))
APART int commit(const char *path, unsigned n, enum kind kind, bool ok, struct pair pair,
                 struct big big, long last, void *at, short beyond)
{
    __asm__ volatile("");
    return -(int)n;
}
APART double ratio(double share, int n) { __asm__ volatile(""); return share * n; }
APART struct big make(long x) { __asm__ volatile(""); struct big big = { x, x, x }; return big; }
int main(void)
{
    struct pair pair = { 1, 2 };
    struct big big = { 1, 2, 3 };
    int n = 0;
    for (unsigned i = 0; i < 5; i++)
        n += commit(i == 4 ? NULL : "/data/x", i, TWO, true, pair, big, -7, &pair, -3);
    n += (int)ratio(2.5, 3) + (int)make(42).a;
    printf("%d\n", n);
}
"#;

/// The program, made with these options of the compiler.
fn compiled(project: &Project, name: &str, options: &[&str]) -> Result<PathBuf, String> {
    program("cc")?;
    project.write(&format!("{name}.c"), SOURCE);
    let path = project.join(name);
    let mut compiler = project.command("cc");
    compiler.args(options).arg("-o").arg(&path);
    let output = compiler.arg(format!("{name}.c")).output();
    let output = output.map_err(|error| error.to_string())?;
    assert!(output.status.success(), "{output:?}");
    Ok(path)
}

/// The probes whose arguments have this name.
fn listed(mark: &str) -> Vec<String> {
    let mut text = String::new();
    let mut list = Host::running().probes().expect("the list of probes");
    list.read_to_string(&mut text).expect("the list of probes");
    let ours = text.lines().filter(|line| line.contains(mark));
    ours.map(str::to_owned).collect()
}

/// A name that no other probe has.
fn mark() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("mark_{}_{number}", std::process::id())
}

pub(crate) fn uprobes() -> Result<(), String> {
    right_to_trace()?;
    let probes = Host::running().probes();
    probes.map(drop).map_err(|error| error.to_string())
}

fn lines_of(project: &Project, events: &str, command: &str) -> Vec<String> {
    let run = project.harness(&["trace", "-e", events, command]);
    run.assert_status(0);
    let events = run.stderr.lines().filter_map(|line| line.split_once(' '));
    events.map(|(_, event)| event.to_owned()).collect()
}

const READ: &str = "kind=1 ok=1 last=-7 beyond=-3";

#[test]
fn arguments_are_read_by_the_names_of_parameters_however_it_was_compiled() {
    require!(uprobes());
    let project = Project::new();
    for (name, options) in [
        ("plain", &["-g", "-O0"][..]),
        ("optimised", &["-g", "-O2"]),
        ("old", &["-gdwarf-4", "-O1", "-no-pie"]),
        ("static", &["-g", "-O1", "-static"]),
        ("compressed", &["-g", "-O1", "-gz"]),
    ] {
        let path = require!(compiled(&project, name, options));
        let path = path.to_str().expect("letters");
        let events = format!(
            "uprobe:{path}:commit path n kind ok last beyond,uretprobe:{path}:commit $retval,\
             uprobe:{path}:ratio n,uprobe:{path}:make x"
        );
        let mut wanted = Vec::new();
        for n in 0..5 {
            let text = if n < 4 { "\"/data/x\"" } else { "<unread>" };
            wanted.push(format!("uprobe:commit path={text} n={n} {READ}"));
            wanted.push(format!("uretprobe:commit retval={}", -n));
        }
        wanted.extend(["uprobe:ratio n=3", "uprobe:make x=42"].map(str::to_owned));
        assert_eq!(lines_of(&project, &events, path), wanted, "{name}");
    }
}

#[test]
fn what_was_stripped_from_a_program_is_found_in_the_file_beside_it() {
    require!(uprobes());
    require!(program("objcopy"));
    let project = Project::new();
    let path = require!(compiled(&project, "it", &["-g", "-O1"]));
    let run = |words: &[&str]| {
        let (first, rest) = words.split_first().expect("a program");
        let output = project
            .command(first)
            .args(rest)
            .output()
            .expect("it starts");
        assert!(output.status.success(), "{output:?}");
    };
    run(&["objcopy", "--only-keep-debug", "it", "it.debug"]);
    run(&["strip", "it"]);
    let path = path.to_str().expect("letters");
    let events = format!("uprobe:{path}:commit n");
    let refused = project.harness(&["trace", "-e", &events, path]);
    refused.assert_status(125);
    assert!(refused.stderr.contains("it has no symbols"), "{refused:?}");
    run(&["objcopy", "--add-gnu-debuglink=it.debug", "it"]);
    let wanted: Vec<String> = (0..5).map(|n| format!("uprobe:commit n={n}")).collect();
    assert_eq!(lines_of(&project, &events, path), wanted);
}

#[test]
fn what_no_probe_can_be_or_read_is_refused_with_the_reason() {
    require!(uprobes());
    let project = Project::new();
    let path = require!(compiled(&project, "it", &["-g", "-O1"]));
    let path = path.to_str().expect("letters");
    for (probe, said) in [
        (
            "comit",
            "it has no function `comit`; did you mean `commit`?",
        ),
        ("printf", "it calls `printf` and does not have it"),
        ("commit pair", "the parameter `pair` is a structure"),
        ("ratio share", "the parameter `share` is a float"),
        (
            "commit paths",
            "the function has no parameter `paths`: it has path, n, kind",
        ),
        ("commit+4 n", "only where the function begins"),
        ("commit+0x1000", "bytes, so that there is no 0x1000 in it"),
        ("0x10", "nothing is executed at 0x10"),
        (
            "commit a=%zz",
            "Invalid register name\n  |   a=%zz\n  |     ^",
        ),
        ("commit a=+0(%di", "at character "),
    ] {
        let run = project.harness(&["trace", "-e", &format!("uprobe:{path}:{probe}"), path]);
        run.assert_status(125);
        assert!(run.stderr.contains(said), "{probe}: {run:?}");
    }
}

const KILLS: u32 = 40;

#[test]
fn a_harness_killed_at_any_moment_leaves_no_probe() {
    require!(uprobes());
    let project = Project::new();
    let path = require!(compiled(&project, "it", &["-g", "-O1"]));
    let path = path.to_str().expect("letters");
    let mark = mark();
    let events = format!("uprobe:{path}:commit {mark}=n,uretprobe:{path}:commit {mark}=$retval");
    let words = ["trace", "-o", "/dev/null", "-e", &events, path];
    let start = Instant::now();
    project.harness(&words).assert_status(0);
    let life = start.elapsed() * 5 / 4;
    for round in 0..KILLS {
        let mut command = project.program(&words);
        let mut harness = Started::new(command.stdout(Stdio::null()).stderr(Stdio::null()));
        let watched = Watched::new(harness.id().cast_signed()).expect("a child of ours");
        watched.ends_within(life * round / KILLS);
        harness.end_by(Signal::SIGKILL);
        // After the end of its janitor, no process is left that could remove one.
        process::wait_for_all_in(project.path());
        assert_eq!(listed(&mark), [""; 0], "round {round}");
    }
}

/// A harness with a probe, whose command never ends.
fn begun(project: &Project, path: &str, mark: &str) -> Started {
    let events = format!("uprobe:{path}:commit {mark}=n");
    let words = [
        "trace",
        "-o",
        "/dev/null",
        "-e",
        &events,
        "sleep",
        "infinity",
    ];
    let mut command = project.program(&words);
    let harness = Started::new(command.stdout(Stdio::null()).stderr(Stdio::null()));
    let end = Instant::now() + PATIENCE;
    while listed(mark).is_empty() {
        assert!(Instant::now() < end, "no probe is made");
        std::thread::yield_now();
    }
    harness
}

/// The command of one that is killed lives on.
fn end(harness: &mut Started, project: &Project) {
    harness.end_by(Signal::SIGKILL);
    for process in process::all_in(project.path()) {
        if process.name() == "sleep" {
            process.kill();
        }
    }
}

#[test]
fn the_probes_of_a_harness_and_its_janitor_that_are_dead_the_next_harness_removes() {
    require!(uprobes());
    let project = Project::new();
    let path = require!(compiled(&project, "it", &["-g", "-O1"]));
    let path = path.to_str().expect("letters");
    let (dead, living) = (mark(), mark());
    let other = Project::new();
    let mut second = begun(&other, path, &living);
    let mut first = begun(&project, path, &dead);
    for process in process::all_in(project.path()) {
        if process.name() == "harness-janitor" {
            process.kill();
            process.wait();
        }
    }
    end(&mut first, &project);
    process::wait_for_all_in(project.path());
    // Any test may start the next harness.
    let events = format!("uprobe:{path}:commit");
    assert_eq!(lines_of(&project, &events, path).len(), 5);
    assert_eq!(listed(&dead), [""; 0]);
    assert_eq!(listed(&living).len(), 1, "that of a harness that lives");
    end(&mut second, &other);
    process::wait_for_all_in(other.path());
    assert_eq!(listed(&living), [""; 0]);
}

#[test]
fn many_harnesses_at_once_probe_the_same_function() {
    require!(uprobes());
    let project = Project::new();
    let path = require!(compiled(&project, "it", &["-g", "-O1"]));
    let path = path.to_str().expect("letters");
    let mark = mark();
    let events = format!("uprobe:{path}:commit {mark}=n,uretprobe:{path}:commit");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    assert_eq!(lines_of(&project, &events, path).len(), 10);
                }
            });
        }
    });
    assert_eq!(listed(&mark), [""; 0]);
}

/// The file that is probed is the one that the run has laid out, which is another for every run.
#[test]
fn a_scenario_probes_the_program_in_its_own_directory() {
    require!(uprobes());
    let project = Project::new();
    require!(compiled(&project, "it", &["-g", "-O1"]));
    project.scenario(
        "it",
        "workload:\n  run: [./bin/save]\n  files: { bin/save: { from: ../it, mode: 0755 } }\n\
         trace:\n  events:\n\
         \x20   - syscalls: [write]\n\
         \x20   - { uprobe: \"./bin/save:commit\", args: [path, n], filter: \"n < 4\", name: begin }\n\
         \x20   - { uretprobe: \"bin/save:commit\", args: [$retval] }\n\
         \x20   - { uprobe: \"./bin/save:ratio\" }\n\
         \x20   - { uretprobe: \"./bin/save:ratio\" }\n\
         sections:\n  ratio: { from: { \"uprobe:ratio\": {} }, to: { \"uretprobe:ratio\": {} } }\n\
         expect:\n\
         \x20 count: { \"uprobe:begin\": 4, \"uretprobe:commit\": 5, write: 1 }\n\
         \x20 sequence: [{ \"uprobe:begin\": { path: /data/x, n: 3 } }, { \"uretprobe:commit\": { retval: -4 } }]\n\
         \x20 sections: { ratio: { never: [write] } }",
    );
    let words = ["run", "--repeat", "5", "--save", "kept", "scenarios"];
    project
        .harness(&["run", "--update", "scenarios"])
        .assert_status(0);
    let snapshot = project.read("snapshots/it.snap");
    assert!(
        snapshot.contains("uprobe:begin path=\"/data/x\" n=0"),
        "{snapshot}"
    );
    assert!(!snapshot.contains("__probe"), "{snapshot}");
    project.harness(&words).assert_status(0);
}

#[test]
fn what_a_probe_could_not_read_makes_a_run_incomplete() {
    require!(uprobes());
    let project = Project::new();
    require!(compiled(&project, "it", &["-g", "-O1"]));
    project.scenario(
        "it",
        "workload:\n  run: [./it]\n  files: { it: { from: ../it, mode: 0755 } }\n\
         trace: { events: [{ uprobe: \"./it:commit\", args: [path] }] }\n\
         expect: { never: [{ \"uprobe:commit\": { path: /other } }] }\n\
         snapshot: false",
    );
    let run = project.harness(&["run", "scenarios"]);
    assert!(run.stdout.contains("incomplete"), "{run:?}");
}

/// Whether the kernel was built with probes in itself: no package brings them, so that without them
/// there is nothing to be tested.
fn has_kprobes() -> bool {
    let sources = Host::running().event_sources();
    sources.iter().any(|source| source == "kprobe")
}

#[test]
fn functions_of_the_kernel_are_entered_as_often_as_they_return() {
    require!(uprobes());
    if !has_kprobes() {
        return;
    }
    let project = Project::new();
    let events = "kprobe:vfs_statfs a=$arg1:x64,kretprobe:vfs_statfs $retval:s32";
    let lines = lines_of(&project, events, "/bin/df");
    let count = |name: &str| lines.iter().filter(|line| line.starts_with(name)).count();
    let entered = count("kprobe:vfs_statfs a=");
    assert!(entered > 0, "{lines:?}");
    assert_eq!(count("kretprobe:vfs_statfs retval=0"), entered, "{lines:?}");
    let refused = project.harness(&["trace", "-e", "kprobe:no_such_function", "true"]);
    refused.assert_status(125);
    assert!(
        refused.stderr.contains("the kernel refuses it"),
        "{refused:?}"
    );
}

/// Each path that a call is given is one that the kernel copies.
#[test]
fn vfs_getname_tells_the_path_of_each_call() {
    require!(uprobes());
    if !has_kprobes() {
        return;
    }
    let project = Project::new();
    let lines = lines_of(&project, "probe:vfs_getname,openat,access", "/bin/ls");
    let mut last = None;
    let mut n_calls = 0;
    for line in &lines {
        if let Some(path) = line.strip_prefix("probe:vfs_getname pathname=") {
            last = Some(path);
        } else {
            let path = last.take().expect("a path before each call");
            assert!(line.contains(path), "{path} {line}");
            n_calls += 1;
        }
    }
    assert!(n_calls > 3, "{lines:?}");
}

#[test]
fn a_probe_that_this_kernel_does_not_take_is_a_requirement_that_is_not_met() {
    require!(uprobes());
    if has_kprobes() {
        return;
    }
    let project = Project::with(
        "it",
        "workload: { run: [\"true\"] }\ntrace: { events: [{ kprobe: vfs_open }] }\nsnapshot: false",
    );
    let run = project.harness(&["run", "scenarios"]);
    assert!(
        run.stdout
            .contains("needs kprobes: this kernel has no `kprobe_events`"),
        "{run:?}"
    );
}
