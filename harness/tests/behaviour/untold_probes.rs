//! What probes do not tell, and no counter of the kernel's either: such a run is incomplete.

use std::path::PathBuf;

use serde_json::Value;

use crate::probes::uprobes;
use crate::support::project::Project;
use crate::support::require::{program, require};

const SOURCE: &str = r#"
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define APART __attribute__((noinline, noclone))
static jmp_buf out;
static const char *what;
/* The innermost call returns 7. */
APART int f(int n)
{
    volatile int r;
    if (n <= 0) {
        if (!strcmp(what, "jump")) longjmp(out, 1);
        if (!strcmp(what, "exit")) { what = ""; r = f(0); _exit(0); }
        if (!strcmp(what, "fork")) { if (!fork()) { what = ""; r = f(0); _exit(0); } wait(NULL); }
        return 7;
    }
    r = f(n - 1);
    return r + 1;
}
/* Calls it at each depth, each call behind the other. */
APART int walk(int n)
{
    volatile int r;
    r = n ? walk(n - 1) : 0;
    r += f(1);
    return r;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[2]);
    what = argv[1];
    if (!strcmp(what, "walk")) return walk(n) < 0;
    if (!strcmp(what, "row")) { while (n--) f(1); return 0; }
    if (!strcmp(what, "jumps")) {
        volatile int left = n;
        what = "jump";
        while (left--) if (!setjmp(out)) f(1);
        return 0;
    }
    if (!setjmp(out)) f(n);
    if (!strcmp(what, "jump")) { what = ""; f(0); }
    return 0;
}
"#;

fn compiled(project: &Project) -> Result<PathBuf, String> {
    program("cc")?;
    project.write("rec.c", SOURCE);
    let path = project.join("rec");
    let mut compiler = project.command("cc");
    compiler.args(["-O1", "-fno-optimize-sibling-calls", "-o"]);
    let output = compiler.arg(&path).arg("rec.c").output();
    let output = output.map_err(|error| error.to_string())?;
    assert!(output.status.success(), "{output:?}");
    Ok(path)
}

const RETURNS: &str = "{ uretprobe: \"./rec:f\", args: [\"r=$retval:s32\"] }";
const ENTRIES: &str = "{ uprobe: \"./rec:f\" }";
const LAID: &str = "files: { rec: { from: ../rec, mode: 0755 } }";

/// Writes a scenario whose program never returns 7 from `f`, or never enters it.
fn scenario(project: &Project, run: &str, probe: &str) {
    let never = match probe == ENTRIES {
        true => "\"uprobe:f\"",
        false => "{ \"uretprobe:f\": { r: 7 } }",
    };
    let yaml = format!(
        "workload: {{ {run}, {LAID} }}\ntrace: {{ events: [{probe}] }}\n\
         expect: {{ never: [{never}] }}\nsnapshot: false"
    );
    project.scenario("it", &yaml);
}

/// The line of the scenario, of a run that these words make.
pub(crate) fn judged(project: &Project, words: &[&str]) -> Value {
    let run = project.harness(&[&["run", "--format", "json"], words].concat());
    let lines = run.json();
    let line = lines.iter().find(|line| line["type"] == "scenario");
    line.unwrap_or_else(|| panic!("{run:?}")).clone()
}

/// The verdict on a live run and on its recording, which is the same, and the findings.
pub(crate) fn both(project: &Project) -> (String, Vec<Value>) {
    let live = judged(project, &["--save", "kept", "scenarios"]);
    let again = judged(project, &["--from", "kept/it.data", "scenarios/it.yaml"]);
    let of = |line: &Value| (line["verdict"].clone(), line["findings"].clone());
    assert_eq!(of(&live), of(&again));
    let findings = live["findings"].as_array().cloned().unwrap_or_default();
    let verdict = live["verdict"].as_str().unwrap_or_default();
    (verdict.to_owned(), findings)
}

pub(crate) fn is_lost(finding: &Value, event: &str, said: &str) -> bool {
    let text = finding["text"].as_str().unwrap_or_default();
    finding["kind"] == "lost" && finding["event"] == event && text.contains(said)
}

#[test]
fn returns_from_deeper_than_the_kernel_tells_make_a_run_incomplete() {
    require!(uprobes());
    let project = Project::new();
    require!(compiled(&project));
    for (what, n, said) in [
        ("deep", 64, "the return of 1 call was left out in thread"),
        (
            "deep",
            100,
            "the returns of 37 calls were left out in thread",
        ),
        // None of the calls around it returns.
        ("jump", 63, "the return of 1 call was left out"),
        ("exit", 63, "the return of 1 call was left out"),
        // The kernel waits for those of the parent in the child as well.
        ("fork", 63, "the return of 1 call was left out"),
    ] {
        scenario(&project, &format!("run: [./rec, {what}, \"{n}\"]"), RETURNS);
        let (verdict, findings) = both(&project);
        assert_eq!(verdict, "incomplete", "{what} {n}: {findings:?}");
        let [lost] = findings.as_slice() else {
            panic!("{what} {n}: {findings:?}")
        };
        assert!(is_lost(lost, "uretprobe:f", said), "{what} {n}: {lost}");
        assert!(is_lost(
            lost,
            "uretprobe:f",
            "a `uprobe` at the function's entry counts all"
        ));
    }
    let run = project.harness(&["run", "scenarios"]);
    assert!(run.stdout.contains("incomplete"), "{run:?}");
    assert!(run.stdout.contains("64 nested returns"), "{run:?}");
}

#[test]
fn returns_that_are_all_told_decide_however_deep_other_calls_are() {
    require!(uprobes());
    let project = Project::new();
    require!(compiled(&project));
    for (what, n, calls) in [("deep", 63, 64), ("walk", 200, 402), ("row", 200, 400)] {
        let yaml = format!(
            "workload: {{ run: [./rec, {what}, \"{n}\"], {LAID} }}\ntrace: {{ events: [{RETURNS}] }}\n\
             expect: {{ count: {{ \"uretprobe:f\": {calls} }} }}\nsnapshot: false"
        );
        project.scenario("it", &yaml);
        assert_eq!(both(&project), ("pass".to_owned(), Vec::new()), "{what}");
    }
    // What it jumps out of it forgets before it runs out of room.
    scenario(&project, "run: [./rec, jumps, \"200\"]", RETURNS);
    assert_eq!(both(&project).0, "pass");
    scenario(&project, "run: [./rec, deep, \"63\"]", RETURNS);
    assert_eq!(both(&project).0, "fail");
}

#[test]
fn two_probes_of_one_function_leave_as_much_room_as_one() {
    require!(uprobes());
    let project = Project::new();
    require!(compiled(&project));
    let yaml = |n: u32| {
        format!(
            "workload: {{ run: [./rec, deep, \"{n}\"], {LAID} }}\ntrace:\n  events:\n\
             \x20   - {RETURNS}\n    - {{ uretprobe: \"rec:f\", name: other }}\n\
             expect: {{ count: {{ \"uretprobe:f\": 64, \"uretprobe:other\": 64 }} }}\nsnapshot: false"
        )
    };
    project.scenario("it", &yaml(63).replace("\"rec:f\"", "\"./rec:f\""));
    assert_eq!(both(&project), ("pass".to_owned(), Vec::new()));
    project.scenario("it", &yaml(64).replace("\"rec:f\"", "\"./rec:f\""));
    let (verdict, findings) = both(&project);
    assert_eq!((verdict.as_str(), findings.len()), ("incomplete", 2));
}

/// A recording of another kind has no entries: the stack pointers say what may have been nested.
#[test]
fn of_a_recording_without_entries_returns_from_64_depths_are_not_enough() {
    require!(uprobes());
    let project = Project::new();
    let path = require!(compiled(&project));
    let path = path.to_str().expect("letters");
    let event = format!("uretprobe:{path}:f r=$retval:s32");
    for n in ["40", "100"] {
        let calls = "raw_syscalls:*";
        let words = [
            "record", "-o", "it.data", "-e", calls, "-e", &event, path, "deep", n,
        ];
        project.harness(&words).assert_status(0);
        project.scenario(
            "it",
            &format!(
                "workload: {{ run: [{path}, deep, \"{n}\"] }}\n\
                 trace: {{ events: [{{ uretprobe: \"{path}:f\", args: [\"r=$retval:s32\"] }}] }}\n\
                 expect: {{ never: [{{ \"uretprobe:f\": {{ r: 7 }} }}] }}\nsnapshot: false"
            ),
        );
        let line = judged(&project, &["--from", "it.data", "scenarios/it.yaml"]);
        let findings = line["findings"].as_array().expect("findings");
        let is_it = |it: &Value| is_lost(it, "uretprobe:f", "may have been left out in thread");
        let wanted = if n == "100" { "incomplete" } else { "fail" };
        assert_eq!(findings.iter().any(is_it), n == "100", "{line}");
        assert_eq!(line["verdict"], wanted, "{line}");
    }
}

#[test]
fn a_trace_says_that_returns_were_left_out() {
    require!(uprobes());
    let project = Project::new();
    let path = require!(compiled(&project));
    let path = path.to_str().expect("letters");
    let event = format!("uretprobe:{path}:f");
    let deep = project.harness(&[
        "trace", "--save", "it.data", "-e", &event, path, "deep", "70",
    ]);
    let said = "the returns of 7 calls were left out";
    assert!(deep.stderr.contains(said), "{deep:?}");
    let again = project.harness(&["trace", "-i", "it.data"]);
    assert!((again.stdout + &again.stderr).contains(said));
    let flat = project.harness(&["trace", "-e", &event, path, "deep", "20"]);
    flat.assert_status(0);
    assert!(!flat.stderr.contains("left out"), "{flat:?}");
}

#[test]
fn a_program_that_the_run_puts_in_the_place_of_a_probed_one_makes_it_incomplete() {
    require!(uprobes());
    let project = Project::new();
    require!(compiled(&project));
    for (script, said) in [
        (
            "cp rec new; mv new rec; ./rec row 1",
            "mapped another file at `",
        ),
        (
            "cat rec > new; rm rec; cat new > rec; chmod +x rec; ./rec row 1",
            "mapped another file",
        ),
        (
            "mv rec old; cp old rec; ./old row 1; ./rec row 1",
            "mapped another file at `",
        ),
        // It is unlinked before it is mapped.
        (
            "cp rec new; mv new rec; exec 3<rec; rm rec; exec /proc/self/fd/3 row 1",
            "mapped another",
        ),
        (
            "echo >> rec; ./rec row 1",
            "was written to after its probe was made",
        ),
    ] {
        scenario(&project, &format!("shell: \"{script}\""), ENTRIES);
        let (verdict, findings) = both(&project);
        assert_eq!(verdict, "incomplete", "{script}: {findings:?}");
        let is_it = |it: &Value| is_lost(it, "uprobe:f", said);
        assert!(findings.iter().any(is_it), "{script}: {findings:?}");
    }
    let run = project.harness(&["run", "scenarios"]);
    assert!(run.stdout.contains("incomplete"), "{run:?}");
    assert!(
        run.stdout
            .contains("the probe is in the file that is there before"),
        "{run:?}"
    );
}

#[test]
fn a_probed_program_that_is_moved_unlinked_or_not_executed_any_more_decides() {
    require!(uprobes());
    let project = Project::new();
    require!(compiled(&project));
    for (script, verdict) in [
        ("./rec row 1", "fail"),
        ("mv rec old; ./old row 1", "fail"),
        ("exec 3<rec; rm rec; exec /proc/self/fd/3 row 1", "fail"),
        ("ln rec other; rm rec; mv other rec; ./rec row 1", "fail"),
        // What it holds is the same.
        ("cat rec > new; cat new > rec; ./rec row 1", "fail"),
        ("cp rec new; mv new rec", "pass"),
        ("true", "pass"),
    ] {
        scenario(&project, &format!("shell: \"{script}\""), ENTRIES);
        let (found, findings) = both(&project);
        assert_eq!(found, verdict, "{script}: {findings:?}");
    }
}

#[test]
fn a_trace_says_that_another_program_was_executed_than_the_probed_one() {
    require!(uprobes());
    let project = Project::new();
    let path = require!(compiled(&project));
    let path = path.to_str().expect("letters");
    let event = format!("uprobe:{path}:f");
    let replace = format!("cp {path} {path}.new; mv {path}.new {path}; {path} row 1");
    let run = project.harness(&["trace", "-e", &event, "sh", "-c", &replace]);
    let said = format!("mapped another file at `{path}`");
    assert!(run.stderr.contains(&said), "{run:?}");
}

/// A function that is called out of line by its address, and is copied to where it is called.
const INLINED: &str = "
#include <unistd.h>
extern int f(int);
inline __attribute__((always_inline)) int f(int n) { return write(1, \"x\", n); }
__attribute__((noinline)) int g(int n) { return write(1, \"y\", n); }
int (*volatile by_address)(int) = f;
#ifdef UNUSED
int unused(int n) { return f(n); }
#define HERE(n) 1
#else
#define HERE(n) f(n)
#endif
int main(int n, char **all) { return (n > 1 ? by_address(1) : HERE(1)) + g(1) < 2; }
";

#[test]
fn that_a_function_was_not_called_is_not_known_where_the_compiler_copied_it() {
    require!(uprobes());
    require!(program("cc"));
    let project = Project::new();
    project.write("in.c", INLINED);
    let words = ["cc", "-O1", "-g", "-o", "in", "in.c"];
    project.run(&[], &words).assert_status(0);
    for (argument, expect, verdict) in [
        ("", "never: ['uprobe:f']", "incomplete"),
        ("", "only: ['uprobe:g']", "incomplete"),
        ("", "count: { 'uprobe:f': 0 }", "incomplete"),
        ("", "never: ['uprobe:h'], count: { 'uprobe:g': 1 }", "pass"),
        (", far", "never: ['uprobe:f']", "fail"),
        (", far", "any_order: ['uprobe:f', 'uprobe:g']", "pass"),
    ] {
        let text = format!(
            "workload: {{ run: [./in{argument}], files: {{ in: {{ from: ../in }} }} }}\n\
             trace: {{ events: [{{ uprobe: './in:f' }}, {{ uprobe: './in:g' }}, \
             {{ uprobe: './in:main', filter: 'common_pid == 0', name: h }}] }}\n\
             expect: {{ {expect} }}\nsnapshot: false"
        );
        project.scenario("it", &text);
        let (found, findings) = both(&project);
        assert_eq!(found, verdict, "{argument} {expect}: {findings:?}");
    }
    let run = project.harness(&["run", "scenarios"]);
    let said = "note: `uprobe:f` does not tell all calls";
    assert!(run.stdout.contains(said), "{run:?}");
    let run = project.harness(&["trace", "-o", "trace", "-e", "uprobe:./in:f", "./in"]);
    assert!(
        run.stderr.contains("`uprobe:f` does not tell all"),
        "{run:?}"
    );
    // What a trace shows is the same in each run.
    let text = "workload: { run: [./in, far], files: { in: { from: ../in } } }\n\
                trace: { events: [{ uprobe: './in:f' }, { uprobe: './in:g' }] }\n";
    project.scenario("it", text);
    project
        .harness(&["run", "--update", "scenarios"])
        .assert_status(0);
    assert_eq!(both(&project).0, "pass");
    // What the linker throws away is no copy.
    let thrown = ["-DUNUSED", "-ffunction-sections", "-Wl,--gc-sections"];
    project
        .run(&[], &[&words[..], &thrown].concat())
        .assert_status(0);
    let text = "workload: { run: [./in], files: { in: { from: ../in } } }\n\
                trace: { events: [{ uprobe: './in:f' }] }\n\
                expect: { never: ['uprobe:f'] }\nsnapshot: false";
    project.scenario("it", text);
    assert_eq!(both(&project), ("pass".to_owned(), Vec::new()));
}
